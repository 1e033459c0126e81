"""Which chip a text means."""

from __future__ import annotations

import pytest

from cost_models.platform import load_platform, platform_names
from pto_tune.measuring.chips import Chip, Chips
from pto_tune.measuring.faults import RowError


@pytest.fixture(scope="module")
def chips() -> Chips:
    return Chips()


@pytest.mark.parametrize("name", platform_names())
def test_a_platform_is_known_by_its_name_and_by_its_chip(name: str, chips: Chips) -> None:
    platform = load_platform(name)
    expected = Chip(platform.soc, platform.family, name)
    assert chips.find(name, "") == expected
    assert chips.find("", platform.soc) == expected
    assert chips.find(platform.family, platform.soc) == expected
    assert chips.find("", platform.soc.replace(" ", "").upper()).platform == name


@pytest.mark.parametrize(
    ("soc", "family", "platform"),
    [
        ("Ascend 910B2 (24 AIC/48 AIV)", "a2a3", "ascend910b2"),
        ("910b4", "a2a3", "ascend910b4"),
        ("board with Ascend_910B1", "a2a3", "ascend910b1"),
        ("Ascend910B2C", "a2a3", None),
        ("Ascend910B4-1", "a2a3", None),
        ("Ascend910_9391", "a2a3", None),
        ("Ascend 910C (A3)", "a2a3", "ascend910c"),
        ("910B class", "a2a3", None),
        ("910B2 or 910B3", "a2a3", None),
        ("Atlas A2 training", "a2a3", None),
        ("dav-2201", "a2a3", None),
        ("Ascend950PR_9579", "a5", None),
        ("Ascend 950 (DAV_3510)", "a5", None),
        ("A5", "a5", None),
    ],
)
def test_a_chip_is_a_platform_only_where_its_text_names_one(
    soc: str, family: str, platform: str | None, chips: Chips
) -> None:
    assert chips.find("", soc) == Chip(soc, family, platform)


def test_the_platform_decides_where_the_chip_alone_does_not(chips: Chips) -> None:
    assert chips.find("ascend950pr", "Ascend950PR_9589") == Chip("Ascend950PR_9589", "a5", "ascend950pr")
    assert chips.find("ascend910b2", "board 7") == Chip("board 7", "a2a3", "ascend910b2")
    assert chips.find("a2a3", "") == Chip("a2a3", "a2a3", None)
    assert chips.find("a2a3", "board 7") == Chip("board 7", "a2a3", None)


@pytest.mark.parametrize(
    ("platform", "soc", "sentence"),
    [
        ("", "", "the chip is missing"),
        ("", "H100", "'H100' names no family"),
        ("", "910B2 against 950PR", "names several families"),
        ("", "39500", "names no family"),
        ("ascend910b22", "", r"unknown platform 'ascend910b22' \(did you mean 'ascend910b2'\?\)"),
        ("../secret.toml", "", "unknown platform"),
        ("ascend910b2", "Ascend 910B3", "is not the chip of platform ascend910b2"),
        ("ascend910b2", "Ascend 950", "is not the chip of platform ascend910b2"),
        ("a5", "Ascend 910B2", "is not of the family a5"),
    ],
)
def test_what_is_unknown_or_contradicts_itself_is_refused(platform: str, soc: str, sentence: str, chips: Chips) -> None:
    with pytest.raises(RowError, match=sentence) as caught:
        chips.find(platform, soc)
    assert "\n" not in str(caught.value)


def test_a_platform_of_a_file_is_known_while_it_is_given() -> None:
    from dataclasses import replace

    base = load_platform("ascend910b2")
    own = type(base)("my-board", base.family, "Ascend 910B2, tuned", "", base.numbers, "my.toml")
    assert Chips(own).find("my-board", "Ascend 910B2").platform == "my-board"
    assert Chips(own).find("", "Ascend 910B2").platform == "ascend910b2"
    assert replace(Chips(own).find("my-board", ""), soc="x").family == "a2a3"
    with pytest.raises(RowError, match="unknown platform 'my-board'"):
        Chips().find("my-board", "")
