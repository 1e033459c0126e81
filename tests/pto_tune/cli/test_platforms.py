"""`pto-tune platforms`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
Wrong = Callable[..., list[str]]

INHERITING = """\
[platform]
name = "mine"
soc = "My board"
description = "ascend910b2 at another clock"
inherits = "ascend910b2"

[clock.core_mhz]
value = {value}
unit = "MHz"
kind = "measured"
source = "my board"
"""


@pytest.fixture
def good(tmp_path: Path) -> Path:
    file = tmp_path / "mine.toml"
    file.write_text(INHERITING.format(value=1700))
    return file


@pytest.mark.parametrize("words", [["platforms"], ["platforms", "list"]])
def test_the_platforms_are_listed(words: list[str], cli: Cli) -> None:
    shown = cli(*words)
    assert shown.exit_code == 0
    assert shown.stdout.splitlines()[0].split() == ["name", "family", "chip", "description"]
    assert "ascend910b2" in shown.stdout
    found = json.loads(cli(*words, "--json").stdout)
    assert [p["name"] for p in found] == [
        "ascend910b1", "ascend910b2", "ascend910b3", "ascend910b4", "ascend910c", "ascend950dt", "ascend950pr"
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["ascend910b2", "ascend950pr"])
def test_every_number_is_shown_with_unit_kind_and_source(name: str, cli: Cli) -> None:
    from cost_models.platform import load_platform

    shown = cli("platforms", "show", name).stdout
    described = json.loads(cli("platforms", "show", name, "--json").stdout)
    numbers = load_platform(name).numbers
    assert [n["key"] for n in described["numbers"]] == list(numbers)
    for n in described["numbers"]:
        assert n["unit"]
        assert n["source"]
        (line,) = (line for line in shown.splitlines() if line.startswith(f"{n['key']} "))
        assert n["unit"] in line
        assert n["kind"] in line
        assert n["source"] in line


def test_numbers_are_shown_where_a_family_has_them(cli: Cli) -> None:
    shown = {name: cli("platforms", "show", name).stdout for name in ("ascend910b2", "ascend950pr")}
    for key in ("dma.ub_to_l1.rate", "fixpipe.ub_write_rate"):
        assert key not in shown["ascend910b2"]
        assert key in shown["ascend950pr"]
    assert "flags.counter_max" in shown["ascend910b2"]
    assert "flags.counter_max" not in shown["ascend950pr"]


def test_a_file_of_ones_own_works_by_its_path(good: Path, cli: Cli) -> None:
    assert "clock.core_mhz" in cli("platforms", "show", good).stdout
    checked = cli("platforms", "check", good)
    assert (checked.exit_code, checked.stderr) == (0, "")
    assert json.loads(cli("platforms", "check", good, "--json").stdout) == {"file": str(good), "errors": []}


def test_a_check_that_fails_names_everything_and_exits_with_1(tmp_path: Path, cli: Cli, wrong: Wrong) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(INHERITING.format(value=-5).replace('unit = "MHz"', 'unit = "furlongs"\nvalu = 3'))
    said = wrong(cli("platforms", "check", file), code=1)
    assert len(said) >= 2
    assert all("bad.toml" in line for line in said)
    as_json = cli("platforms", "check", file, "--json")
    assert as_json.exit_code == 1
    assert json.loads(as_json.stdout)["errors"] == said


def test_wrong_names_and_files_are_named(tmp_path: Path, cli: Cli, wrong: Wrong) -> None:
    (said,) = wrong(cli("platforms", "show", "ascend910b9"))
    assert "ascend910b9" in said
    assert "ascend910b2" in said
    (said,) = wrong(cli("platforms", "check", tmp_path / "none.toml"))
    assert "none.toml" in said
    broken = tmp_path / "broken.toml"
    broken.write_text("[platform\nname = ")
    (said,) = wrong(cli("evaluate", "gemm", "--platform", broken))
    assert "broken.toml" in said
