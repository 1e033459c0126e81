"""``pto-tune report``: what a user types and sees."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from dashboards.cli import register
from db import RunSpec, open_store


@pytest.fixture
def app() -> typer.Typer:
    made = typer.Typer(add_completion=False)
    register(made)
    made.command("other")(lambda: None)  # with two commands, typer asks for the name of one
    return made


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A store with one run of one ok configuration."""
    made = f"sqlite:///{tmp_path / 'runs.db'}"
    with open_store(made) as store:
        run = store.create_run(
            RunSpec(
                name="<b>first</b>", workload="stream", workload_json="{}", problem={},
                platform="ascend910b2",
                platform_sha256="0", rule_set="a2a3", timing="task", strategy="exhaustive", objectives=(),
                spec_sha256="1", versions={},
                tunables=[{"name": "fifo_depth", "domain": [8]}], rules=(),
                verdicts=("ok",), pipes=(), clock_mhz=1000.0, launch_us=1.0, n_candidates=1,
            )
        )  # fmt: skip
        columns = {
            "t0": np.array([0]),
            "verdict": np.array([0]),
            "cycles": np.array([5000]),
            "ub": np.array([64]),
        }
        store.add_configurations(run.id, columns, first_row=0)
    return made


def test_a_run_becomes_a_page(app: typer.Typer, url: str, tmp_path: Path) -> None:
    target = tmp_path / "out.html"
    result = CliRunner().invoke(app, ["report", "latest", "-o", str(target), "--db", url])
    assert result.exit_code == 0, result.output
    assert "out.html" in result.stdout
    page = target.read_text(encoding="utf-8")
    assert "<h1>&lt;b&gt;first&lt;/b&gt;</h1>" in page
    assert "6.000 µs" in page


def test_the_store_is_found_through_the_environment(app: typer.Typer, url: str, tmp_path: Path) -> None:
    target = tmp_path / "out.html"
    result = CliRunner().invoke(app, ["report", "1", "-o", str(target)], env={"PTO_TUNE_DB": url})
    assert result.exit_code == 0, result.output
    assert target.exists()


def test_wrong_use_is_one_sentence_and_exit_code_2(app: typer.Typer, url: str, tmp_path: Path) -> None:
    target = tmp_path / "out.html"
    existing = tmp_path / "there.html"
    existing.write_text("mine")
    missing = f"sqlite:///{tmp_path / 'none.db'}"
    for arguments, word in (
        (["nope", "-o", str(target), "--db", url], "nope"),
        (["latest", "-o", str(existing), "--db", url], "--force"),
        (["latest", "-o", str(target), "--db", missing], "none.db"),
        (["latest", "-o", str(tmp_path), "--db", url], "is a folder"),
    ):
        result = CliRunner().invoke(app, ["report", *arguments])
        assert result.exit_code == 2, arguments
        assert result.stdout == ""
        assert word in result.stderr
        assert len(result.stderr.strip().splitlines()) == 1
        assert not target.exists()
    assert existing.read_text() == "mine"
    assert not (tmp_path / "none.db").exists()


def test_unknown_runs_are_named_all_at_once(app: typer.Typer, url: str, tmp_path: Path) -> None:
    target = tmp_path / "out.html"
    result = CliRunner().invoke(app, ["report", "7", "latest", "nope", "7", "-o", str(target), "--db", url])
    assert result.exit_code == 2
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 2, lines
    assert "7" in lines[0]
    assert "nope" in lines[1]
    assert not target.exists()


def test_a_run_named_twice_is_there_once(app: typer.Typer, url: str, tmp_path: Path) -> None:
    target = tmp_path / "out.html"
    result = CliRunner().invoke(app, ["report", "1", "latest", "-o", str(target), "--db", url])
    assert result.exit_code == 0, result.output
    assert "The runs compared" not in target.read_text(encoding="utf-8")


def test_help_explains_a_run_and_gives_an_example(app: typer.Typer) -> None:
    result = CliRunner().invoke(app, ["report", "--help"], env={"COLUMNS": "200", "TERM": "dumb"})
    assert result.exit_code == 0
    for word in (
        "RUN",
        "--output",
        "--db",
        "--force",
        "PTO_TUNE_DB",
        "pto-tune report latest -o report.html",
    ):
        assert word in result.output


def test_registering_the_command_loads_nothing_heavy() -> None:
    code = (
        "import sys, typer, dashboards.cli; dashboards.cli.register(typer.Typer()); "
        "print([m for m in ('numpy', 'plotly', 'jinja2', 'sqlalchemy', 'pandas') if m in sys.modules])"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root)
    assert done.stdout.strip() == "[]"
