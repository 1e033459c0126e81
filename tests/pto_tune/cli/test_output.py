"""Tables, numbers and JSON."""

from __future__ import annotations

import json

import numpy as np
import pytest

from pto_tune.cli import output, text


class Terminal:
    """A stdout that says it is a terminal."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None: ...

    def isatty(self) -> bool:
        return True


def test_a_pipe_gets_columns_without_frames(capsys: pytest.CaptureFixture[str]) -> None:
    output.table(["name", "n"], [["a", 1], ["long name", 1000]], right=["n"])
    assert capsys.readouterr().out == "name          n\na             1\nlong name  1000\n"


def test_wide_characters_keep_the_columns_straight(capsys: pytest.CaptureFixture[str]) -> None:
    output.table(["name", "n"], [["注意", 1], ["abcd", 2]])
    assert capsys.readouterr().out == "name  n\n注意  1\nabcd  2\n"


def test_a_line_of_a_plain_table_is_never_cut(capsys: pytest.CaptureFixture[str]) -> None:
    output.table(["why"], [["x" * 500]])
    assert "x" * 500 in capsys.readouterr().out


def test_a_terminal_gets_frames_and_no_color_takes_them_away(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    assert not output.is_plain()
    output.heading("Title")
    output.table(["name"], [["[bold]not markup[/bold]"]])
    assert "\x1b[1mTitle" in terminal.text
    assert "─" in terminal.text
    assert "[bold]not markup[/bold]" in terminal.text
    monkeypatch.setenv("NO_COLOR", "1")
    assert output.is_plain()
    monkeypatch.setenv("NO_COLOR", "")
    monkeypatch.setenv("TERM", "dumb")
    assert output.is_plain()


def test_names_cannot_command_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    output.say("a\x1b[2Jb\nc\u2028d")
    output.table(["t"], [["x\ry"]])
    assert capsys.readouterr().out == "a?[2Jb?c?d\nt\nx?y\n"


def test_json_has_plain_numbers_and_no_nan(capsys: pytest.CaptureFixture[str]) -> None:
    output.as_json(
        {
            "i": np.int64(3),
            "f": np.float32(0.5),
            "nan": float("nan"),
            "inf": np.float64("inf"),
            "a": np.arange(3),
            "b": np.bool_(True),
            "s": "注\x1b",
            "t": (1, None),
            7: True,
        }
    )
    printed = capsys.readouterr().out
    assert printed.isascii()
    assert json.loads(printed) == {
        "i": 3,
        "f": 0.5,
        "nan": None,
        "inf": None,
        "a": [0, 1, 2],
        "b": True,
        "s": "注\x1b",
        "t": [1, None],
        "7": True,
    }


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (88.934, "88.93"),
        (1506.24, "1,506.2"),
        (1.23456, "1.235"),
        (0.0, "0.000"),
        (None, "-"),
        (float("nan"), "-"),
    ],
)
def test_microseconds(value: float | None, shown: str) -> None:
    assert text.microseconds(value) == shown


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0 B"), (640, "640 B"), (1024, "1 KiB"), (98304, "96 KiB"), (13 * 2**19, "6.5 MiB"), (None, "-")],
)
def test_sizes(value: int | None, shown: str) -> None:
    assert text.size(value) == shown


def test_a_bar_ends_at_its_width() -> None:
    assert text.bar(0.5, 10) == "#####"
    assert text.bar(7.0, 10) == "#" * 10
    assert text.bar(-1.0, 10) == ""
    assert text.bar(float("nan"), 10) == ""
