"""`pto-tune bench` and `pto-tune demo`."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from pto_tune import bench, bench_sweep
from pto_tune.cli.main import build_app

Cli = Callable[..., Any]


def test_bench_prints_what_was_measured(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []
    row = {
        "workload": "flash_attention", "set": "default", "s0": 256, "s1": 256, "configurations": 10,
        "configurations_per_s": 123456, "iterations_simulated": 7.5, "threads": 1,
    }  # fmt: skip

    def measured(**options: Any) -> list[dict[str, Any]]:
        asked.append(options)
        return [row]

    monkeypatch.setattr(bench, "executor", measured)
    done = cli("bench", "executor", "--s1", "256", "--s1", "512", "--threads", "1", "--json")
    assert json.loads(done.stdout) == [row]
    assert "123,456" in cli("bench", "executor").stdout
    assert asked == [{"threads": 1, "s1": (256, 512)}, {"threads": None}]


def test_the_table_of_strategies_is_markdown(cli: Cli) -> None:
    done = cli("bench", "search", "--problem", "paged", "--strategy", "bounds", "--seeds", "1", "--markdown", "-q")
    head, rule, *rows = done.stdout.splitlines()
    assert head.startswith("| problem | legal | within 1 % | bounds |")
    assert set(rule) == set("|-:")
    assert [row.split(" | ")[0] for row in rows] == ["| paged_attention 64 x 2048"]


def test_bench_measures_the_real_thing(cli: Cli) -> None:
    rows = json.loads(cli("bench", "executor", "--s1", "1024", "--threads", "1", "--json").stdout)
    for row in rows:
        assert {"workload", "s1", "configurations_per_s", "iterations_simulated", "threads"} <= row.keys()
        assert row["configurations_per_s"] > 0
        assert (row["s1"], row["threads"]) == (1024, 1)


def test_the_demo_goes_the_whole_way(tmp_path: Path, cli: Cli) -> None:
    out = tmp_path / "a %20?b"
    done = cli("demo", "--out", out)
    assert (done.exit_code, done.stderr) == (0, "")
    for word in ("s0=4096", "Best configurations", "Pareto front", "Where the time goes", "Written", "Next"):
        assert word in done.stdout
    written = {f.name for f in out.iterdir()}
    assert written - {"report.html"} == {"pto-tune.db", "pto_tune_flash_attention.hpp"}
    assert ("report.html" in written) == any(c.name == "report" for c in entry_points(group="pto_tune.commands"))
    header = (out / "pto_tune_flash_attention.hpp").read_text()
    assert "FifoDepth" in header
    # what it proposes to do next works as printed
    proposed = [line.strip() for line in done.stdout.split("Next\n")[1].splitlines() if line.strip()]
    assert len(proposed) == 3
    for line in proposed:
        assert cli(*shlex.split(line)[1:]).exit_code == 0, line
    assert (out / "best.json").is_file()
    again = cli("demo", "--out", out)
    assert again.exit_code == 0
    assert (out / "pto_tune_flash_attention.hpp").exists()


def test_the_demo_writes_a_report_where_there_is_a_command_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = build_app()
    called: list[tuple[str, str, str, bool]] = []

    def report(
        run: str,
        output: str = typer.Option("report.html", "--output", "-o"),
        db: str = typer.Option("", "--db"),
        force: bool = typer.Option(False, "--force"),
    ) -> None:
        called.append((run, output, db, force))

    app.registered_commands = [c for c in app.registered_commands if c.name != "report"]
    app.command("report")(report)
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["demo"], prog_name="pto-tune")
    assert done.exit_code == 0, done.output
    ((run, output, db, force),) = called
    assert (run, Path(output), db, force) == (
        "1",
        Path("demo-out/report.html"),
        "sqlite:///demo-out/pto-tune.db",
        True,
    )
    assert "report.html" in done.stdout


def test_bench_prints_rates_and_memory_of_searches(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def measured(rows: tuple[int, ...], *, million: bool, store: bool) -> list[dict[str, Any]]:
        asked.append((list(rows), million, store))
        versions = {"python": "3.11.0", "sqlite": "3.40.0"}
        return [{"set": "default", "configurations": 22400, "executed": 9352, "store": "sqlite" if store else "",
                 "seconds": 0.5, "configurations_per_s": 44800, "peak_mib": 200.5, "cores": 2,
                 "versions": versions}]  # fmt: skip

    monkeypatch.setattr(bench_sweep, "sweep", measured)
    shown = cli("bench", "sweep", "--rows", "5", "--rows", "7").stdout
    assert "44,800" in shown
    assert "200.5" in shown
    assert "2 cores; python 3.11.0, sqlite 3.40.0" in shown
    assert json.loads(cli("bench", "sweep", "--no-million", "--no-store", "--json").stdout)[0]["store"] == ""
    assert asked == [([5, 7], True, True), ([], False, False)]


def test_bench_measures_intervals_and_ties(cli: Cli) -> None:
    rows = json.loads(cli("bench", "uncertainty", "--configurations", "2", "--json").stdout)
    assert {row["workload"] for row in rows} >= {"flash_attention", "tget_bandwidth"}
    for row in rows:
        assert 1 <= row["configurations"] <= 2
        assert row["samples"] in (16, 64)
        assert min(row["intervals_s"], row["ties_s"], row["leaning_s"]) >= 0
