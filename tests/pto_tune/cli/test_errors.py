"""How a command ends: sentences and exit codes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from pto_tune.cli import errors
from pto_tune.cli.main import Commands

ROOT = Path(__file__).resolve().parents[3]


def ending_with(error: BaseException) -> Any:
    """The result of a command that raises."""
    app = typer.Typer(cls=Commands, rich_markup_mode=None)

    def fail() -> None:
        raise error

    app.command("fail")(fail)
    app.command("other")(lambda: None)
    return CliRunner().invoke(app, ["fail"])


@pytest.fixture(autouse=True)
def no_debugging(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PTO_TUNE_DEBUG", raising=False)


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (ValueError("s1 = 0 is out of range"), 2, "pto-tune: s1 = 0 is out of range\n"),
        (ValueError("first\n\n  second"), 2, "pto-tune: first\npto-tune: second\n"),
        (ValueError(), 2, "pto-tune: ValueError\n"),
        (errors.CheckFailed("nothing is legal"), 1, "pto-tune: nothing is legal\n"),
        (FileNotFoundError(2, "No such file or directory", "a.json"), 2,
         "pto-tune: a.json: No such file or directory\n"),
        (OSError("no space"), 2, "pto-tune: no space\n"),
        (KeyboardInterrupt(), 130, "pto-tune: stopped\n"),
        (typer.Exit(1), 1, ""),
        (typer.Exit(0), 0, ""),
        (typer.BadParameter("odd."), 2, "pto-tune: invalid value: odd (see 'root fail --help')\n"),
        (ZeroDivisionError("by zero"), 3,
         "pto-tune: internal error, ZeroDivisionError: by zero (set PTO_TUNE_DEBUG=1 for the traceback)\n"),
        (ValueError("red \x1b[31m \udc80"), 2, "pto-tune: red ?[31m ?\n"),
    ],
)  # fmt: skip
def test_an_error_is_a_sentence_and_an_exit_code(error: BaseException, code: int, said: str) -> None:
    result = ending_with(error)
    assert (result.exit_code, result.stderr, result.stdout) == (code, said, "")


def test_debugging_shows_the_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PTO_TUNE_DEBUG", "1")
    assert isinstance(ending_with(ZeroDivisionError("by zero")).exception, ZeroDivisionError)
    assert isinstance(ending_with(ValueError("a defect in disguise")).exception, ValueError)
    assert ending_with(errors.CheckFailed("no")).exit_code == 1
    monkeypatch.setenv("PTO_TUNE_DEBUG", "0")
    assert ending_with(ZeroDivisionError("by zero")).exit_code == 3


@pytest.mark.skipif(sys.platform == "win32", reason="pipes close otherwise there")
def test_a_reader_that_leaves_is_no_error_to_talk_about(tmp_path: Path) -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "pto_tune.cli.main", "platforms", "show", "ascend910b2", "--json"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.close()
    said = child.stderr.read()
    child.stderr.close()
    assert child.wait(timeout=60) == 141
    assert said == ""


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["tune"], "missing argument"),
        (["tune", "gemm", "--bogus"], "--bogus"),
        (["nonsense"], "nonsense"),
        (["bench"], "Usage"),
        (["tune", "gemm", "--budget", "many"], "--budget"),
        (["tune", "gemm", "--budget", "0"], "--budget"),
        (["runs", "rename", "latest"], "missing argument"),
        (["show", "latest", "--top", "-1"], "--top"),
    ],
)
def test_words_that_cannot_be_read_are_wrong_use(arguments: list[str], word: str, cli: Callable[..., Any]) -> None:
    result = cli(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert word in result.stderr
    assert "Traceback" not in result.stderr
