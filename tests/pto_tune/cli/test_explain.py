"""`pto-tune explain`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

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
