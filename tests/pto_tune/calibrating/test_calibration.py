"""A fit finds the numbers of the board that was measured, and says how sure it is of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cost_models import Platform
from db import Measurement
from pto_tune.calibrating.calibration import Calibration, NothingFitted, calibrate
from pto_tune.calibrating.parameters import ParameterError
from pto_tune.calibrating.rows import CalibrationError

Board = Callable[..., list[Measurement]]
Located = Callable[[list[Measurement]], Any]

RATE, EVENT = "dma.gm_to_ub.rate", "launch.event"
TRUE = {RATE: 120.0, EVENT: 8.0}


def values(c: Calibration) -> dict[str, float]:
    return {n.key: n.after for n in c.numbers}


def test_it_recovers_the_numbers_that_the_board_has(b2: Platform, board: Board, located: Located) -> None:
    c = calibrate(b2, list(TRUE), located(board(TRUE)))
    assert c.improved
    assert values(c) == pytest.approx(TRUE, rel=0.005)
    assert c.before.median > 0.03
    assert c.after.worst < 0.001
    assert c.after.chi_square < c.before.chi_square
    assert [n.before for n in c.numbers] == [b2.numbers[key].value for key in TRUE]
    assert (len(c.rows), c.left_out, c.timing, c.degrees_of_freedom) == (8, (), "event", 6)


def test_it_recovers_them_within_its_standard_errors_from_noisy_times(
    b2: Platform, board: Board, located: Located
) -> None:
    c = calibrate(b2, list(TRUE), located(board(TRUE, noise=0.02, spread=None)))
    for n in c.numbers:
        assert abs(n.after - TRUE[n.key]) < 3 * n.standard_error
        assert 0 < n.standard_error < 0.2 * n.after
    # the relative error of a row without a spread is 3.2 %, more than was put in
    assert c.scatter < 1


def test_the_kernels_of_flash_attention_give_a_vector_slope(b2: Platform, board: Board, located: Located) -> None:
    true = {"vector.exp.slope": 2.6, EVENT: 8.5}
    table = {"s0": [1024, 2048, 4096] * 2, "s1": [1024, 2048, 4096] * 2, "tile_s1": [256] * 3 + [128] * 3}
    c = calibrate(b2, list(true), located(board(true, table, "flash_attention")))
    assert values(c) == pytest.approx(true, rel=0.01)


def test_ranks_are_fitted_too(b2: Platform, board: Board, located: Located) -> None:
    # the platform states GB/s, 5 B/cycle are 9 of them at 1800 MHz
    rows = board({"link.hccs.get.rate": 5.0}, {"bytes": [4096, 65536, 1048576]}, "tget_bandwidth")
    c = calibrate(b2, ["link.hccs.get.rate"], located(rows))
    assert values(c) == pytest.approx({"link.hccs.get.rate": 9.0}, rel=0.005)
    assert c.numbers[0].unit == "GB/s"


def test_what_is_left_out_of_the_fit_stays_as_it_is_and_shows_in_the_errors(
    b2: Platform, board: Board, located: Located
) -> None:
    c = calibrate(b2, [EVENT], located(board(TRUE)))
    assert c.fitted[RATE] == b2[RATE]
    assert c.fitted[EVENT] != b2[EVENT]
    assert c.after.chi_square < c.before.chi_square
    assert c.scatter > 1
    alone, both = c, calibrate(b2, list(TRUE), located(board(TRUE)))
    assert alone.after.chi_square > 10 * both.after.chi_square


def test_a_published_range_is_not_left_and_its_end_is_named(b2: Platform, board: Board, located: Located) -> None:
    c = calibrate(b2, [EVENT], located(board({EVENT: 20.0})))
    (n,) = c.numbers
    assert (n.after, n.bound_hit, n.high) == (12.8, "high", 12.8)
    assert n.standard_error > 0
    (low,) = calibrate(b2, [EVENT], located(board({EVENT: 1.0}))).numbers
    assert (low.after, low.bound_hit) == (5.9, "low")


def test_numbers_that_are_right_already_are_not_moved(b2: Platform, board: Board, located: Located) -> None:
    c = calibrate(b2, list(TRUE), located(board({})))
    assert not c.improved
    assert values(c) == {key: b2.numbers[key].value for key in TRUE}
    assert c.fitted == b2


def test_the_order_of_the_measurements_does_not_count(b2: Platform, board: Board, located: Located) -> None:
    rows = board(TRUE, noise=0.02)
    first, second = (calibrate(b2, list(TRUE), located(some)) for some in (rows, rows[::-1]))
    assert first.numbers == second.numbers
    assert np.array_equal(first.covariance, second.covariance)


def test_a_row_with_a_small_spread_weighs_more(b2: Platform, board: Board, located: Located) -> None:
    slow = board({EVENT: 12.0}, {"tiles": 16})
    fast = board({EVENT: 8.0}, {"tiles": 17})

    def fitted(of_slow: float, of_fast: float) -> float:
        rows = [replace(slow[0], spread=of_slow, repeats=1), replace(fast[0], spread=of_fast, repeats=1)]
        return calibrate(b2, [EVENT], located(rows)).numbers[0].after

    assert 8 < fitted(1.0, 0.01) < 9
    assert 11 < fitted(0.01, 1.0) < 12


def test_the_standard_error_shrinks_with_the_number_of_rows(b2: Platform, board: Board, located: Located) -> None:
    few, many = (
        calibrate(b2, [EVENT], located(board({EVENT: 8.0}, {"tiles": list(range(16, 16 + n))}))).numbers[0]
        for n in (3, 12)
    )
    assert many.standard_error == pytest.approx(few.standard_error / 2, rel=0.1)


class TestRefusals:
    @pytest.mark.parametrize(
        ("key", "words"),
        [
            ("vector.cvt.slope", "it is a specification"),
            ("link.hccs.get.rte", "did you mean 'link.hccs.get.rate'"),
            ("cube.passes_2byte", "it is a count"),
        ],
    )
    def test_numbers_that_are_not_fitted(
        self, key: str, words: str, b2: Platform, board: Board, located: Located
    ) -> None:
        with pytest.raises(ParameterError, match=words) as raised:
            calibrate(b2, [key], located(board({})))
        assert str(raised.value).startswith(f"--fit {key}: ")

    def test_all_of_them_at_once(self, b2: Platform) -> None:
        with pytest.raises(ParameterError) as raised:
            calibrate(b2, ["cores.cube", RATE, RATE, "nothing"], [])
        assert len(str(raised.value).splitlines()) == 3

    def test_no_number_at_all(self, b2: Platform) -> None:
        with pytest.raises(ParameterError, match="give --fit KEY"):
            calibrate(b2, [], [])

    def test_numbers_that_stand_in_no_file(self, b2: Platform) -> None:
        with pytest.raises(CalibrationError, match=r"stand in no file, cube\.head"):
            calibrate(b2.with_values({"cube.head": 10.0}), [RATE], [])

    def test_a_number_without_influence(self, b2: Platform, board: Board, located: Located) -> None:
        with pytest.raises(NothingFitted) as raised:
            calibrate(b2, [EVENT, "vector.exp.slope"], located(board(TRUE)))
        assert str(raised.value) == (
            "vector.exp.slope has no influence on the 8 measurements (AIV0.MTE2 bounds 8 of 8): leave it out, or add "
            "a measurement where large tiles of the vector family exp decide the time"
        )

    def test_two_numbers_that_cannot_be_told_apart(self, b2: Platform, board: Board, located: Located) -> None:
        table = {"s0": [1024, 2048, 4096], "s1": [1024, 2048, 4096]}
        with pytest.raises(NothingFitted) as raised:
            calibrate(
                b2,
                ["vector.exp.slope", EVENT, "vector.rowmax.slope"],
                located(board({EVENT: 9.0}, table, "flash_attention")),
            )
        (sentence,) = str(raised.value).splitlines()
        assert sentence.startswith("vector.exp.slope and vector.rowmax.slope cannot be told apart")
        assert "family exp" in sentence
        assert "family rowmax" in sentence

    def test_more_numbers_than_rows(self, b2: Platform, board: Board, located: Located) -> None:
        with pytest.raises(NothingFitted, match=r"cannot be told apart .*\(1 row for 2 numbers\)"):
            calibrate(b2, [RATE, EVENT], located(board(TRUE, {"tiles": 64, "store_cycles": 0})))

    def test_a_number_that_the_rows_only_bound(self, b2: Platform, board: Board, located: Located) -> None:
        # all 24 cores share L2, which decides from some rate of one core on
        table = {"m": [1536, 3072, 6144], "n": [1536, 3072, 6144], "k": [1024, 4096, 4096]}
        with pytest.raises(NothingFitted, match=r"only say that dma\.gm_to_l1\.rate is at least about"):
            calibrate(b2, ["dma.gm_to_l1.rate"], located(board({"dma.gm_to_l1.rate": 110.0}, table, "gemm")))

    def test_a_number_whose_error_is_larger_than_its_range(self, b2: Platform, board: Board, located: Located) -> None:
        # in the middle of its range, so that moving it either way is seen
        numbers = dict(b2.numbers)
        for key, value in ((RATE, 114.0), ("dma.gm_to_ub.startup", 14.6), ("flags.cross_core_latency", 350.0)):
            numbers[key] = replace(numbers[key], value=value, base=value)
        keys = [RATE, EVENT, "dma.gm_to_ub.startup"]
        rows = located(board({RATE: 90.0, EVENT: 8.0, "dma.gm_to_ub.startup": 14.6, "flags.cross_core_latency": 350.0}))
        with pytest.raises(NothingFitted, match=r"dma\.gm_to_ub\.startup is not determined beside .*12 to 20\.6"):
            calibrate(replace(b2, numbers=numbers), keys, rows)

    def test_a_number_that_runs_away(self, b2: Platform, board: Board, located: Located) -> None:
        # a board that computes far faster, and one number of several that is blamed for it
        families = ("exp", "rowmax", "rowsum", "max", "sub", "muls", "rowexpand", "cvt")
        true = {f"vector.{family}.slope": b2[f"vector.{family}.slope"] / 2 for family in families}
        rows = board(true, {"s0": [2048, 4096], "s1": [2048, 4096]}, "flash_attention")
        with pytest.raises(NothingFitted, match=r"vector\.exp\.slope runs away from 2 to 0\.02 cycles/repeat"):
            calibrate(b2, ["vector.exp.slope"], located(rows))

    def test_no_measurement(self, b2: Platform) -> None:
        with pytest.raises(NothingFitted, match="there is no measurement to fit: give measurements of Ascend 910B2"):
            calibrate(b2, [RATE], [])
