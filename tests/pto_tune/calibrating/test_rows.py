"""Which measurements are fitted, and why the others are not."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from cost_models import Platform, load_platform
from db import Measurement
from pto_tune.calibrating.calibration import NothingFitted, calibrate
from pto_tune.calibrating.parameters import parameters
from pto_tune.calibrating.predicting import Predictor, ideal_platform
from pto_tune.calibrating.rows import FLOOR, UNKNOWN, CalibrationError, relative_error, usable

Board = Callable[..., list[Measurement]]
Located = Callable[[list[Measurement]], Any]

EVENT = "launch.event"


def left_out(b2: Platform, rows: list[Any], **options: Any) -> dict[str, str]:
    """Reasons by row, of a fit that still has some."""
    return {one.where: one.reason for one in calibrate(b2, [EVENT], rows, **options).left_out}


def test_protocols_are_not_mixed(b2: Platform, board: Board, located: Located) -> None:
    rows = located([*board({}), *board({}, {"tiles": 8}, timing="task")])
    with pytest.raises(CalibrationError) as raised:
        calibrate(b2, [EVENT], rows)
    assert str(raised.value) == (
        "the measurements were timed by different protocols, event (8 rows), task (1 row), which one fit cannot mix: "
        "choose one of them by --timing"
    )
    assert left_out(b2, rows, timing="event") == {"measurement 9": "it was timed by task, and the fit is of event"}


def test_another_protocol_of_another_chip_is_no_mixture(b2: Platform, board: Board, located: Located) -> None:
    (other,) = board({}, {"tiles": 8}, timing="task", platform="ascend910b1", soc="Ascend 910B1")
    assert list(left_out(b2, located([*board({}), other]))) == ["measurement 9"]


@pytest.mark.parametrize(
    ("platform", "soc", "words"),
    [
        ("ascend910b1", "Ascend 910B1", "its chip is platform ascend910b1, and the fit is of Ascend 910B2"),
        (None, "Ascend910B2C", "its chip is 'Ascend910B2C'"),
        (None, "910B", "its chip is '910B'"),
    ],
)
def test_another_chip_is_left_out(
    platform: str | None, soc: str, words: str, b2: Platform, board: Board, located: Located
) -> None:
    (odd,) = board({}, {"tiles": 8}, platform=platform, soc=soc)
    found = left_out(b2, located([*board({}), odd]))
    assert words in found["measurement 9"]


def test_the_chip_of_a_file_of_ones_own_is_that_of_its_parent(board: Board, located: Located, tmp_path: Any) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[platform]\nname = "mine"\ninherits = "ascend910b2"\n', encoding="utf-8")
    rows = board({EVENT: 8.0})
    rows += board({EVENT: 8.0}, {"tiles": 8}, platform="mine") + board({EVENT: 8.0}, {"tiles": 9}, platform=None)
    c = calibrate(load_platform(path), [EVENT], located(rows))
    assert (len(c.rows), c.left_out) == (10, ())


def test_a_time_below_the_ideal_is_left_out(b2: Platform, board: Board, located: Located) -> None:
    (slow,) = board({}, {"tiles": 1024})
    found = left_out(b2, located([*board({}), replace(slow, value=slow.value / 4)]))
    assert "less than the" in found["measurement 9"]
    assert "its chip, clock, configuration or protocol cannot be what it says" in found["measurement 9"]


def test_the_ideal_is_below_every_prediction(b2: Platform, board: Board, located: Located) -> None:
    fit_of = parameters(b2, ["dma.ub_to_gm.rate", "fixpipe.row"])
    rows, timing, _ = usable(located(board({})), b2, None, {})
    ideal = ideal_platform(b2, fit_of)
    assert ideal["dma.gm_to_ub.rate"] == 128
    assert (ideal["dma.gm_to_ub.startup"], ideal["launch.event"], ideal["fixpipe.row"]) == (0, 0, 0)
    assert ideal["dma.ub_to_gm.rate"] == 10900  # fitted here, without a published range
    assert ideal["cube.m0"] == b2["cube.m0"]
    assert ideal["signal.poll"] == b2["signal.poll"]
    predictor = Predictor(rows, timing)
    assert (predictor.predict(ideal).busiest_us < predictor.predict(b2).busiest_us).all()


def test_the_times_of_a_search_are_those_of_the_predictions(b2: Platform, board: Board, located: Located) -> None:
    rows = [*board({}), *board({}, {"bytes": [4096, 65536]}, "tget_bandwidth"), *board({}, {"m": 3072}, "gemm")]
    rows, timing, _ = usable(located(rows), b2, None, {})
    predictor = Predictor(rows, timing)
    other = b2.with_values({"dma.gm_to_ub.rate": 80.0, "link.hccs.get.rate": 5.0, "launch.event": 7.0})
    assert (predictor.predict(b2).time_us != predictor.predict(other).time_us).all()
    assert predictor.times_us(b2).tolist() == predictor.predict(b2).time_us.tolist()
    assert predictor.times_us(other).tolist() == predictor.predict(other).time_us.tolist()


def test_rows_that_cannot_be_predicted_are_left_out(b2: Platform, board: Board, located: Located) -> None:
    (one,) = board({}, {"tiles": 8})
    odd = [
        replace(one, configuration={**one.configuration, "fifo_depht": 4}),
        replace(one, workload="no_such_kernel"),
        replace(one, pto_isa="yesterday"),
        replace(one, configuration={**one.configuration, "slot_bytes": 2**24}),
    ]
    found = left_out(b2, located([*board({}), *odd]))
    words = ("did you mean 'fifo_depth'", "no_such_kernel", "unknown pto-isa revision", "it has no predicted time")
    assert len(found) == 4
    for number, said in enumerate(words, 9):
        assert said in found[f"measurement {number}"]


def test_a_measurement_counts_once(b2: Platform, board: Board, located: Located) -> None:
    rows = board({})
    found = left_out(b2, located([*rows, replace(rows[0], source="quoted elsewhere")]))
    assert found == {"measurement 9": "it says the same as measurement 1, which is enough"}


def test_where_nothing_is_left_the_first_reason_is_said(b2: Platform, board: Board, located: Located) -> None:
    rows = located(board({}, platform=None, soc="910B"))
    with pytest.raises(
        NothingFitted, match="all 8 are left out, the first, measurement 1, because its chip is '910B'"
    ) as raised:
        calibrate(b2, [EVENT], rows)
    assert len(raised.value.left_out) == 8


def test_cycles_are_times_of_the_core_clock(b2: Platform, board: Board, located: Located) -> None:
    true = {"dma.gm_to_ub.rate": 90.0}
    rows = board(true, timing="device")
    in_cycles = [replace(m, metric="cycles", value=m.value * 1800) for m in rows]
    fits = [calibrate(b2, list(true), located(some)) for some in (rows, in_cycles)]
    assert [c.numbers[0].after for c in fits] == pytest.approx([90, 90], rel=0.005)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"spread": 4.0, "repeats": 4}, 0.02),
        ({"spread": 4.0}, 0.04),
        ({"minimum": 98.0, "maximum": 106.0}, 0.04),
        ({"spread": 0.0, "repeats": 20}, 0.0),
        ({}, UNKNOWN),
    ],
)
def test_the_error_of_a_row(fields: dict[str, Any], expected: float, board: Board) -> None:
    (row,) = board({}, {"tiles": 8}, value=100.0, **fields)
    assert relative_error(row) == pytest.approx(math.hypot(expected, FLOOR))
