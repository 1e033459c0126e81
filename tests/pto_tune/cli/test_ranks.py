"""Workloads with ranks from the shell: shown, explained, traced, tuned and exported."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Cli = Callable[..., Any]

SMALL = ["tput_pingpong", "--set", "bytes=65536", "--set", "rounds=2"]


def test_signals_and_staging_tiles_are_shown(cli: Cli) -> None:
    shown = cli("workloads", "show", "gemm_allreduce").stdout
    assert "Ranks (at the defaults): 8, of 24 blocks each" in shown
    for word in ("ping", "queue", "added", "summary", "66"):
        assert word in shown.split("Ranks (at the defaults)")[1]


def test_an_explanation_prices_every_wait_both_ways(cli: Cli) -> None:
    shown = cli("explain", *SMALL).stdout
    assert "2 ranks of 1 blocks, all of them simulated (none folded), links: hccs; engine time-ordered" in shown
    assert "TWAIT" in shown
    assert "the times lean on" in shown


def test_the_summary_has_the_waits_and_what_is_assumed(cli: Cli) -> None:
    summary = json.loads(cli("explain", *SMALL, "--json").stdout)
    assert summary["engine"] == "time-ordered"
    waits = summary["waits_between_ranks"]
    assert {wait["instruction"] for wait in waits} == {"TWAIT"}
    assert sum(wait["passed"] for wait in waits) == 2 * 2
    assert all(wait["twait_cycles"] > wait["wait_cycles"] > 0 for wait in waits)
    assert "link.hccs.put.rate" in summary["assumed"]
    assert sum(summary["busy"].values()) > 0


def test_a_trace_has_a_process_for_every_core_of_every_rank(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    assert cli("explain", *SMALL, "--trace", str(path)).exit_code == 0
    events = json.loads(path.read_text())["traceEvents"]
    names = {e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert {"rank 0 block 0 AIV0", "rank 1 block 0 AIV0"} <= names
    assert sum(e["ph"] == "s" for e in events) == sum(e["ph"] == "f" for e in events) == 4
    assert {"TPUT TLOAD", "TPUT TSTORE"} <= {e["name"] for e in events}


def test_a_search_finds_the_staging_tile_and_exports_it(cli: Cli, tmp_path: Path) -> None:
    found = cli("tune", *SMALL, "--domain", "tile_rows=1,8", "--domain", "tile_cols=1024", "--json")
    assert found.exit_code == 0, found.stderr
    best = json.loads(found.stdout)["best"]
    header = tmp_path / "pipes.hpp"
    assert cli("export", "latest", "-o", str(header)).exit_code == 0
    assert f"TILE_ROWS = {best['configuration']['tile_rows']};" in header.read_text()


def test_a_tile_that_does_not_fit_is_refused_by_its_name(cli: Cli) -> None:
    done = cli("evaluate", *SMALL, "--set", "tile_rows=64", "--set", "tile_cols=4096")
    assert done.exit_code == 1
    assert "refused" in done.stdout
    assert "UB" in done.stdout
