"""`pto-tune explain`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pto_tune.rule_sets import rule_sets

Cli = Callable[..., Any]
Wrong = Callable[..., list[str]]


def test_the_parts_of_the_time_add_up(cli: Cli) -> None:
    done = cli("explain", "stream", "--set", "tiles=8", "--json")
    assert (done.exit_code, done.stderr) == (0, "")
    summary = json.loads(done.stdout)
    assert sum(s["cycles"] for s in summary["segments"]) == summary["block_cycles"]
    (record,) = json.loads(cli("evaluate", "stream", "--set", "tiles=8", "--json").stdout)
    assert summary["cycles"] == record["cycles"]
    assert summary["configuration"] == record["configuration"]


def test_the_screen_shows_path_bounds_and_waits(cli: Cli) -> None:
    shown = cli("explain", "stream", "--set", "tiles=8", "--timeline", "3").stdout
    for word in ("Where the time goes", "If only this limited you", "simulated", "Waits", "First 3", "AIC.FIX"):
        assert word in shown


def test_a_small_limit_keeps_the_sum(capsys: pytest.CaptureFixture[str]) -> None:
    from pto_tune.cli.answer import stall_account

    segments = [
        {"cause": "compute", "name": f"p{i}", "cycles": i, "share": i / 55} for i in range(1, 11)
    ]  # fmt: skip
    stall_account({"cycles": 110, "block_cycles": 55, "segments": segments, "bounds": []}, limit=3)
    rows = [line.split() for line in capsys.readouterr().out.split("If only")[0].splitlines()]
    assert [r[1] for r in rows if r and r[0] == "compute"] == ["p10", "p9"]
    assert ["others", "8", "more", "36"] in [r[:4] for r in rows]


def test_the_trace_is_a_file_for_perfetto(tmp_path: Path, cli: Cli) -> None:
    done = cli("explain", "stream", "--set", "tiles=8", "--trace", "out.json")
    assert done.exit_code == 0
    assert "out.json" in done.stdout
    assert json.loads((tmp_path / "out.json").read_text())["traceEvents"]


def test_a_run_is_explained_by_its_best_row_or_another(url: str, cli: Cli) -> None:
    shown = json.loads(cli("show", "first", "--db", url, "--json").stdout)
    best, other = shown["rows"][0], shown["rows"][-1]
    for words, row in (([], best), (["--row", other["row"]], other)):
        summary = json.loads(cli("explain", "latest", "--db", url, "--json", *words).stdout)
        assert summary["cycles"] == row["cycles"]
        assert summary["configuration"] == row["configuration"]
    assert f"row {best['row']}" in cli("explain", "first", "--db", url).stdout


def test_a_configuration_without_a_time_is_exit_code_1(tmp_path: Path, cli: Cli, wrong: Wrong) -> None:
    done = cli("explain", "flash_attention", "--set", "fifo_depth=2", "--trace", "out.json")
    (said,) = wrong(done, code=1)
    assert "hang" in said
    assert list(tmp_path.iterdir()) == []
    assert "Where the time goes" not in done.stdout


UNSAFE = {
    "overwrite": (["stream", "--set", "fifo_depth=5"], 0),
    "race": (["stream", "--platform", "ascend950pr", "--set", "direction=V2C"], 0),
    "two": (["stream", "--set", "fifo_depth=2", "--set", "tiles=4", "--set", "allocate=off", "--set", "free=off"], 1),
    "refused": (["stream", "--platform", "ascend950dt", "--set", "flow=TileData"], 1),
    "other headers": (["stream", "--pto-isa", "a2a3-ctor-credits", "--set", "fifo_depth=5"], 0),
}


@pytest.mark.parametrize("words", UNSAFE.values(), ids=UNSAFE)
def test_every_rule_that_is_broken_is_a_paragraph(words: tuple[list[str], int], cli: Cli) -> None:
    """Verdict, rule, sentence, whether the predicted timing reaches it, and revisions, with and without times."""
    arguments, code = words
    summary = json.loads(cli("explain", *arguments, "--json").stdout)
    shown = cli("explain", *arguments)
    assert shown.exit_code == code
    assert summary["findings"]
    assert (summary["cycles"] is None) == bool(code)
    paragraphs = shown.stdout.split("\n\n")
    every = rule_sets("a5" if summary["platform"].startswith("ascend950") else "a2a3")
    for finding in summary["findings"]:
        (found,) = [p for p in paragraphs if p.startswith(f"{finding['verdict']}, by rule {finding['rule']}\n")]
        assert finding["sentence"] in found
        reached = {True: "the predicted timing reaches it", False: "does not reach it", None: ""}
        assert reached[finding["reached"]] in found
        assert ("the predicted timing" in found) == (finding["reached"] is not None)
        if len(finding["rule_sets"]) == len(every):
            assert "every pto-isa revision" in found
        else:
            for r in every:
                assert (f"{r.name} ({r.revisions[0]}" in found) == (r.name in finding["rule_sets"])
    assert len([p for p in paragraphs if ", by rule " in p]) == len(summary["findings"])


def test_two_rules_broken_are_told_in_the_order_of_their_weight(cli: Cli) -> None:
    shown = cli("explain", *UNSAFE["two"][0]).stdout
    assert shown.index("hang, by rule deadlock") < shown.index("overwrite, by rule slot-reuse")


def test_a_sound_configuration_has_no_such_paragraph(cli: Cli) -> None:
    assert ", by rule " not in cli("explain", "stream", "--set", "tiles=8").stdout


def test_where_a_page_and_a_header_disagree_is_noted(cli: Cli) -> None:
    arguments = ("explain", "stream", "--set", "flow=TileData", "--set", "direction=V2C", "--set", "split=NO_SPLIT")
    (note,) = json.loads(cli(*arguments, "--json").stdout)["notes"]
    shown = cli(*arguments).stdout
    assert "TPUSH.md" in note
    assert f"To be noted\n{note}\n" in shown
    assert "To be noted" not in cli("explain", "stream").stdout


@pytest.mark.parametrize(("platform", "second"), [("ascend910b2", "on"), ("ascend950pr", "off")])
@pytest.mark.parametrize(
    ("direction", "free_side", "pipe", "instruction"),
    [("C2V", "store_cycles", "AIV0.MTE2", "TLOAD"), ("V2C", "load_cycles", "AIV0.MTE3", "TSTORE")],
)
def test_it_shows_why_half_a_tile_each_beats_the_whole_tile(
    direction: str, free_side: str, pipe: str, instruction: str, platform: str, second: str, cli: Cli
) -> None:
    """Bound by the sub-cores: their transfer is most of the time under NO_SPLIT, and takes less by more than 1.5 under
    UP_DOWN, on the critical path and as the limit of the pipe."""

    def told(split: str, second_sub_core: str) -> tuple[int, int, list[str]]:
        arguments = ["explain", "stream", "--platform", platform, "--set", f"split={split}"]
        for name, value in (("direction", direction), (free_side, 0), ("second_sub_core", second_sub_core)):
            arguments += ["--set", f"{name}={value}"]
        summary = json.loads(cli(*arguments, "--json").stdout)
        segments = {(s["cause"], s["name"]): s["cycles"] for s in summary["segments"]}
        bounds = {b["pipe"]: b["cycles"] for b in summary["bounds"]}
        return segments["DMA", f"{pipe} {instruction}"], bounds[pipe], cli(*arguments).stdout.splitlines()

    whole, whole_limit, shown = told("NO_SPLIT", second)
    half, half_limit, _ = told("UP_DOWN", "on")
    assert whole > 1.5 * half
    assert whole_limit > 1.5 * half_limit
    at = next(i for i, line in enumerate(shown) if line.startswith("Where the time goes"))
    assert shown[at + 2].startswith("DMA")
    assert f"{pipe} {instruction}" in shown[at + 2]
    at = next(i for i, line in enumerate(shown) if line.startswith("If only"))
    assert shown[at + 2].split()[0] == pipe


@pytest.mark.parametrize("platform", ["ascend910b2", "ascend950pr"])
def test_one_pipe_both_ways_reads_like_the_others(platform: str, cli: Cli) -> None:
    shown = cli("explain", "bidirectional", "--platform", platform)
    assert shown.exit_code == 0
    for word in ("both.C2V.ready", "both.V2C.ready", "AIV0.V SILU", "AIC.M TMATMUL"):
        assert word in shown.stdout


def test_a_default_run_says_that_other_headers_behave_otherwise(cli: Cli) -> None:
    for platform, last in (
        ("ascend910b2", "(see 'pto-tune rules a2a3')"),
        ("ascend950pr", "(see 'pto-tune rules a5')"),
    ):
        line = cli("explain", "stream", "--platform", platform).stdout.splitlines()[-1]
        assert line.startswith("headers of other pto-isa revisions behave otherwise")
        assert line.endswith(last)
    for arguments in (["stream", "--pto-isa", "a2a3-rendezvous"], ["gemm"]):
        assert "behave otherwise" not in cli("explain", *arguments).stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["flash_atention"], ["neither a workload", "flash_attention"]),
        (["latest"], ["no results yet"]),
        (["7"], ["no results yet"]),
        (["gemm", "--row", "3"], ["--row", "gemm"]),
        (["latest", "--set", "m=128"], ["--set", "--row"]),
        (["gemm", "--set", "m=1"], ["m = 1"]),
        (["gemm", "--trace", "no/folder/t.json"], ["no/folder"]),
        (["gemm", "--platform", "p"], ["'p'"]),
    ],
)
def test_wrong_input_is_one_sentence(
    arguments: list[str], words: list[str], tmp_path: Path, cli: Cli, wrong: Wrong
) -> None:
    (said,) = wrong(cli("explain", *arguments))
    for word in words:
        assert word in said
    assert list(tmp_path.iterdir()) == []
