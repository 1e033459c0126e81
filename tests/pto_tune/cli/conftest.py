"""A command line to type into: `cli("tune", ...)` gives exit code, stdout and stderr."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from pto_tune.cli.main import build_app

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def app() -> typer.Typer:
    return build_app()


@pytest.fixture
def cli(app: typer.Typer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Runs a command in an empty folder, with no store named by the environment."""
    monkeypatch.chdir(tmp_path)
    for name in ("PTO_TUNE_DB", "PTO_TUNE_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PTO_TUNE_CONFIG", "")

    def invoke(*arguments: object, **options: Any) -> Any:
        return CliRunner().invoke(app, [str(a) for a in arguments], prog_name="pto-tune", **options)

    return invoke


@pytest.fixture
def process(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs a command as a process of its own, from another folder."""

    def start(*arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
        own = {key: value for key, value in os.environ.items() if not key.startswith("PTO_TUNE")}
        return subprocess.run(
            [sys.executable, "-m", "pto_tune.cli.main", *map(str, arguments)],
            cwd=tmp_path,
            env={**own, "PTO_TUNE_CONFIG": "", "PYTHONPATH": str(ROOT), **environment},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return start


@pytest.fixture(scope="session")
def url(app: typer.Typer, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store with one finished run, named 'first', of a small stream. To be read only."""
    made = f"sqlite:///{tmp_path_factory.mktemp('store') / 'runs.db'}"
    result = CliRunner().invoke(
        app, ["tune", "stream", "--set", "tiles=16", "--db", made, "--name", "first", "--quiet"]
    )
    assert result.exit_code == 0, result.output
    return made


@pytest.fixture
def own_url(cli: Callable[..., Any], tmp_path: Path) -> str:
    """As `url`, for a test that changes it."""
    made = f"sqlite:///{tmp_path / 'own.db'}"
    done = cli("tune", "stream", "--set", "tiles=16", "--db", made, "--name", "first", "--quiet")
    assert done.exit_code == 0, done.output
    return made


@pytest.fixture
def wrong() -> Callable[..., list[str]]:
    """`wrong(result)`: the complaints of a command that was used wrongly, which prints no result."""

    def check(result: Any, code: int = 2) -> list[str]:
        assert result.exit_code == code, result.output
        lines = str(result.stderr).splitlines()
        assert lines, "it says nothing"
        assert all(line.startswith("pto-tune: ") for line in lines), result.stderr
        assert "Traceback" not in result.stderr
        assert code != 2 or result.stdout == ""
        return [line.removeprefix("pto-tune: ") for line in lines]

    return check
