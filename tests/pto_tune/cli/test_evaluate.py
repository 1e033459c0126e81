"""`pto-tune evaluate`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pto_tune import api
from pto_tune.cli.evaluate import MAX_ROWS, product, warnings
from pto_tune.workloads import workload

Cli = Callable[..., Any]
Wrong = Callable[..., list[str]]

KEYS = {
    "configuration", "verdict", "reason", "also", "warnings", "rule_set", "engine", "timing", "cycles", "time_us",
    "busy", "waits", "bytes", "exportable", "not_exportable_because", "bound", "stretch",
}  # fmt: skip


def test_json_is_a_list_with_one_object_a_configuration(cli: Cli) -> None:
    done = cli("evaluate", "stream", "--set", "tiles=8", "--json")
    assert (done.exit_code, done.stderr) == (0, "")
    (record,) = json.loads(done.stdout)
    assert record.keys() == KEYS
    assert record["configuration"]["tiles"] == 8
    assert record["configuration"]["split"] == "UP_DOWN"
    assert record["verdict"] == "ok"
    assert record["timing"] == "task"
    assert record["cycles"] > 0
    assert set(record["bytes"]) == {"UB", "L1", "L0A", "L0B", "L0C", "GM_ring", "GM_traffic"}
    assert [record] == api.evaluate_records("stream", {"tiles": 8}, platform="ascend910b2")


def test_grids_make_every_combination_in_order(cli: Cli) -> None:
    done = cli(
        "evaluate", "stream", "--set", "tiles=8", "--grid", "fifo_depth=8,2", "--grid", "split=NO_SPLIT,1", "--json"
    )
    found = [r["configuration"] for r in json.loads(done.stdout)]
    assert [(c["fifo_depth"], c["split"]) for c in found] == [
        (8, "NO_SPLIT"),
        (8, "UP_DOWN"),
        (2, "NO_SPLIT"),
        (2, "UP_DOWN"),
    ]
    assert {c["tiles"] for c in found} == {8}


def test_the_timing_adds_its_launch_overhead(cli: Cli) -> None:
    def time_us(timing: str) -> Any:
        return json.loads(cli("evaluate", "stream", "--timing", timing, "--json").stdout)[0]["time_us"]

    assert time_us("device") < time_us("task")


def test_the_headers_decide_the_rule_set(cli: Cli) -> None:
    (record,) = json.loads(cli("evaluate", "stream", "--pto-isa", "2026-06-01", "--json").stdout)
    assert record["rule_set"] == "a2a3-full-period"


def test_a_refused_configuration_among_others_is_no_failure(cli: Cli) -> None:
    words = ["evaluate", "flash_attention", "--set", "qk_preload=4", "--grid", "fifo_depth=2,8"]
    done = cli(*words, "--json")
    assert done.exit_code == 0
    hang, ok = json.loads(done.stdout)
    assert (hang["verdict"], hang["cycles"], hang["time_us"]) == ("hang", None, None)
    assert ok["verdict"] == "ok"
    table = cli(*words).stdout
    assert hang["reason"] in table
    assert f"{ok['cycles']:,}" in table


def test_only_unsafe_configurations_are_exit_code_1(cli: Cli) -> None:
    for extra in ([], ["--json"]):
        done = cli("evaluate", "flash_attention", "--set", "fifo_depth=2", *extra)
        assert done.exit_code == 1
        assert "hang" in done.stdout


def test_one_configuration_is_shown_in_full(cli: Cli) -> None:
    shown = cli("evaluate", "gemm", "--platform", "ascend910b1").stdout
    for word in ("verdict     ok", "time ", "bound by", "GM_traffic", "AIC.MTE2", "Waits"):
        assert word in shown


def test_a_workload_and_a_platform_of_ones_own_work_by_path(tmp_path: Path, cli: Cli) -> None:
    file = tmp_path / "mine.json"
    file.write_text(cli("workloads", "show", "stream", "--json").stdout)
    platform = tmp_path / "mine.toml"
    platform.write_text('[platform]\nname = "mine"\nsoc = "x"\ndescription = "y"\ninherits = "ascend910b2"\n')
    done = cli("evaluate", file, "--platform", platform, "--json")
    assert json.loads(done.stdout)[0] == json.loads(cli("evaluate", "stream", "--json").stdout)[0]


PUSHED_WHOLE = ("evaluate", "stream", "--set", "flow=TileData", "--set", "direction=V2C")


def test_what_a_page_forbids_is_a_warning_and_no_verdict(cli: Cli) -> None:
    done = cli(*PUSHED_WHOLE, "--set", "split=NO_SPLIT")
    assert done.exit_code == 0
    assert "verdict     ok" in done.stdout
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("warning     ")]
    assert "TPUSH.md:61" in line
    assert "warning" not in cli(*PUSHED_WHOLE).stdout


def test_warnings_of_several_rows_name_those_that_they_are_about(cli: Cli) -> None:
    some = cli(*PUSHED_WHOLE, "--grid", "split=NO_SPLIT,UP_DOWN", "--grid", "fifo_depth=4,8").stdout
    (line,) = [line for line in some.splitlines() if "TPUSH.md:61" in line]
    assert line.startswith("fifo_depth=4; split=NO_SPLIT and fifo_depth=8; split=NO_SPLIT: FIFO v2c_tiles: ")
    every = cli(*PUSHED_WHOLE, "--set", "split=NO_SPLIT", "--grid", "fifo_depth=4,8").stdout
    (line,) = [line for line in every.splitlines() if "TPUSH.md:61" in line]
    assert line.startswith("FIFO v2c_tiles: ")


def test_warnings_are_for_a_handful_of_rows(cli: Cli) -> None:
    many = cli(*PUSHED_WHOLE, "--set", "split=NO_SPLIT", "--grid", f"tiles={','.join(map(str, range(1, 7)))}").stdout
    assert "TPUSH.md" not in many


@pytest.mark.parametrize(("platform", "pto_isa"), [("ascend910b2", None), ("ascend950pr", "a5-ctor-credits")])
def test_warnings_are_those_of_the_library(platform: str, pto_isa: str | None) -> None:
    from pto_tune.evaluation import evaluate_columns
    from pto_tune.rule_sets import rule_set_for

    table = {"flow": 1, "direction": 2, "split": [0, 1, 1], "sync_period": [0, 0, 2]}
    problem = api.problem_of("stream", platform, pto_isa)
    found = evaluate_columns(problem, table)
    rule_set = rule_set_for(problem.platform.family, pto_isa)
    said = warnings(problem.workload, problem.platform, rule_set, table)
    assert said == [found.warnings(row) for row in range(3)]
    assert any(said)


def test_a_default_run_says_that_other_headers_behave_otherwise(cli: Cli) -> None:
    for more in ([], ["--grid", "fifo_depth=4,8"]):
        shown = cli("evaluate", "stream", "--platform", "ascend950pr", *more).stdout
        assert shown.splitlines()[-1].startswith("headers of other pto-isa revisions behave otherwise: a5-rendezvous")
        assert "behave otherwise" not in cli("evaluate", "stream", "--pto-isa", "2026-06-01", *more).stdout
        assert "behave otherwise" not in cli("evaluate", "gemm").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["streem"], ["did you mean 'stream'", "bidirectional"]),
        (["stream", "--set", "direction=DIAGONAL"], ["direction", "'DIAGONAL'", "C2V, V2C"]),
        (["stream", "--set", "direction=3"], ["direction = 3", "1 to 2"]),
        (["stream", "--set", "flow=Tiles"], ["flow", "'Tiles'", "TileData"]),
        (["stream", "--set", "second_subcore=off"], ["did you mean 'second_sub_core'"]),
        (["paged_attention", "--set", "key_tiles=64"], ["did you mean 'key_tile'"]),
        (["matmul_epilogue", "--set", "quant=int5"], ["quant", "'int5'", "F322F16"]),
        (["dequant_matmul", "--grid", "weights=int8,int3"], ["weights", "'int3'", "int4"]),
        (["bidirectional", "--set", "preloads=1"], ["did you mean 'preload'"]),
        (["stream", "--platform", "ascend950"], ["did you mean 'ascend950pr'"]),
        (["stream", "--pto-isa", "a5"], ["'a5'", "a2a3-rendezvous", "a2a3-fixed-drain"]),
        (["stream", "--platform", "ascend950dt", "--pto-isa", "a2a3"], ["'a2a3'", "a5-ctor-credits", "a5-local-drain"]),
    ],
)
def test_wrong_names_of_pipes_and_their_workloads_are_one_sentence(
    arguments: list[str], words: list[str], cli: Cli, wrong: Wrong
) -> None:
    (said,) = wrong(cli("evaluate", *arguments))
    for word in words:
        assert word in said


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["flash_attention", "--set", "fifo_dept=8"], ["fifo_dept", "fifo_depth"]),
        (["flash_atention"], ["flash_atention", "flash_attention"]),
        (["gemm", "--platform", "ascend910b9"], ["ascend910b9", "ascend910b2"]),
        (["gemm", "--platform", "no/such.toml"], ["such.toml"]),
        (["gemm", "--set", "m=0"], ["m = 0", "16"]),
        (["gemm", "--set", "m=-128"], ["m = -128"]),
        (["gemm", "--set", "m=big"], ["m", "big"]),
        (["gemm", "--set", "m=99999999999999999999999999"], ["m = 9999", "2147483648"]),
        (["gemm", "--set", "m"], ["'m'", "NAME=VALUE"]),
        (["gemm", "--set", "m=128", "--set", "m=256"], ["'m'", "twice"]),
        (["gemm", "--set", "m=128", "--grid", "m=256"], ["'m'", "--grid"]),
        (["gemm", "--grid", "base_m="], ["base_m", "no value"]),
        (["gemm", "--timing", "wrist"], ["wrist", "task"]),
        (["gemm", "--pto-isa", "deadbeef"], ["deadbeef"]),
        (["stream", "--set", "split=SIDEWAYS"], ["SIDEWAYS", "UP_DOWN"]),
        (["no.json"], ["no.json"]),
    ],
)
def test_wrong_input_is_one_sentence_that_names_it(
    arguments: list[str], words: list[str], cli: Cli, wrong: Wrong, tmp_path: Path
) -> None:
    (said,) = wrong(cli("evaluate", *arguments))
    for word in words:
        assert word in said
    assert list(tmp_path.iterdir()) == []


def test_all_that_is_wrong_is_said_at_once(cli: Cli, wrong: Wrong) -> None:
    said = wrong(cli("evaluate", "gemm", "--set", "mm=1", "--set", "k=x", "--grid", "n="))
    assert len(said) == 3


def test_too_many_combinations_are_refused_before_any_is_evaluated(cli: Cli, wrong: Wrong) -> None:
    many = ",".join(map(str, range(1, 401)))
    (said,) = wrong(cli("evaluate", "stream", "--grid", f"tiles={many}", "--grid", f"producer_cycles={many}"))
    assert "160,000" in said
    assert f"{MAX_ROWS:,}" in said


def test_a_product_repeats_the_first_and_cycles_the_last() -> None:
    grid = {"fifo_depth": ["1", "2"], "split": ["UP_DOWN", "0", "2"]}
    columns, n = product(workload("stream"), {"tiles": "9"}, grid)
    assert n == 6
    assert {name: column.tolist() for name, column in columns.items()} == {
        "fifo_depth": [1, 1, 1, 2, 2, 2],
        "split": [1, 0, 2, 1, 0, 2],
        "tiles": [9] * 6,
    }
