"""The table `[calibration]` of a platform file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from cost_models import load_platform
from cost_models.calibrated import Covariance, read_covariance
from cost_models.platform import check_file

Write = Callable[..., Path]

NUMBERS = """
[cube.head]
value = 11
unit = "cycles"
kind = "fitted"
source = "three measurements"

[launch.event]
value = 9
unit = "us"
kind = "fitted"
source = "three measurements"
"""
FIELDS = {
    "timing": '"event"',
    "parameters": '["cube.head", "launch.event"]',
    "units": '["cycles", "us"]',
    "covariance": "[[4, 0.5], [0.5, 1]]",
}
ROW = '\n[[calibration.rows]]\nworkload = "gemm"\n'


def table(**fields: str | None) -> str:
    """A sound table with `fields` replaced, or left out where None."""
    merged = {**FIELDS, **fields}
    lines = [f"{name} = {text}" for name, text in merged.items() if text is not None]
    return "\n".join([NUMBERS, "[calibration]", *lines, ""])


def test_a_sound_table_changes_no_number(write: Write) -> None:
    path = write(table() + ROW)
    assert check_file(path) == []
    without = write(NUMBERS, name="other.toml")
    assert load_platform(path) == load_platform(without)
    assert read_covariance(path) == Covariance(
        ("cube.head", "launch.event"), ("cycles", "us"), ((4.0, 0.5), (0.5, 1.0))
    )
    assert read_covariance(without) is None


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"timing": "3"}, "calibration.timing: is 3; give a text"),
        ({"colour": '"red"'}, "calibration.colour: unknown field; allowed are timing, "),
        ({"parameters": None}, "calibration.parameters: is None; give the keys of the fitted numbers"),
        ({"parameters": '["cube.head", "cube.head"]'}, "calibration.parameters: is ['cube.head', 'cube.head']; give"),
        ({"parameters": '["cube.head", "flags.set"]', "units": '["cycles", "cycles"]'}, "'flags.set' is no number of"),
        ({"units": '["cycles"]'}, "calibration.units: is ['cycles']; give the unit of each of the 2 parameters"),
        (
            {"units": '["cycles", "ns"]'},
            "calibration.units: is 'ns' for launch.event; give the number's own unit, 'us'",
        ),
        ({"covariance": None}, "calibration.covariance: give 2 x 2 finite numbers"),
        ({"covariance": "[[1, 2], [3, 1]]"}, "calibration.covariance: give 2 x 2 finite numbers, symmetric"),
        ({"covariance": "[[-1, 0], [0, 1]]"}, "calibration.covariance: give 2 x 2 finite numbers"),
        ({"covariance": "[[inf, 0], [0, 1]]"}, "calibration.covariance: give 2 x 2 finite numbers"),
        ({"covariance": "[1, 2]"}, "calibration.covariance: give 2 x 2 finite numbers"),
        ({"rows": "[1]"}, "calibration.rows: give a table for each row of the fit, [[calibration.rows]]"),
    ],
)
def test_what_may_not_stand_in_it(write: Write, fields: dict[str, str | None], words: str) -> None:
    (error,) = check_file(write(table(**fields)))
    assert words in error


def test_it_has_to_be_a_table(write: Write) -> None:
    path = write("", head='calibration = 3\n[platform]\nname = "mine"\ninherits = "ascend910b2"\n')
    (error,) = check_file(path)
    assert "calibration: is 3; give a table with timing, " in error
