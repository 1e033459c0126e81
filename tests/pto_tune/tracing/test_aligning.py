"""How a run is laid over its prediction."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pto_tune.tracing.aligning import align, marks
from pto_tune.tracing.naming import TraceError
from pto_tune.tracing.tracks import Tracks, tracks_of

PREDICTED = [("M", "a", 10.0, 20.0), ("M", "a", 30.0, 50.0), ("V", "b", 15.0, 70.0)]


def tracks(rows: list[tuple[str, str, float, float]]) -> Tracks:
    return tracks_of(rows, ("M", "V"))


def moved(shift: float, scale: float) -> Tracks:
    return tracks([(p, n, s * scale + shift, e * scale + shift) for p, n, s, e in PREDICTED])


@given(st.integers(-10_000, 10_000), st.sampled_from([0.5, 1.0, 1.25, 3.0]))
def test_shift_and_scale_of_a_run_that_is_the_prediction_moved_and_stretched(shift: int, scale: float) -> None:
    found = align(moved(shift, scale), tracks(PREDICTED))
    assert found.scale == pytest.approx(scale)
    assert found.shift_cycles == pytest.approx(10 - (10 * scale + shift))
    least = align(moved(shift, scale), tracks(PREDICTED), "least-squares")
    assert least.scale == pytest.approx(scale)
    assert least.rms_cycles <= found.rms_cycles + 1e-9
    assert (found.marks, least.marks) == (6, 6)
    if scale == 1:
        assert found.rms_cycles == pytest.approx(0, abs=1e-9)


def test_no_other_shift_has_less_left_than_least_squares() -> None:
    run = tracks([("M", "a", 0.0, 7.0), ("M", "a", 33.0, 44.0), ("V", "b", 9.0, 95.0)])
    found = align(run, tracks(PREDICTED), "least-squares")
    m, p = marks(run, tracks(PREDICTED))
    for off in (-1.0, -0.1, 0.1, 1.0):
        assert np.sqrt(((m + found.shift_cycles + off - p) ** 2).mean()) > found.rms_cycles


def test_a_pipe_with_another_number_of_events_counts_by_its_ends() -> None:
    run = tracks([("M", "a", 0.0, 1.0), ("M", "a", 2.0, 3.0), ("M", "a", 4.0, 8.0)])
    m, p = marks(run, tracks(PREDICTED))
    assert (m.tolist(), p.tolist()) == ([0, 8], [10, 50])


def test_pipes_of_one_side_do_not_move_the_other() -> None:
    run = tracks([("MTE3", "c", 0.0, 1.0), ("V", "b", 100.0, 155.0)])
    found = align(run, tracks(PREDICTED))
    assert found.shift_cycles == -85
    assert found.marks == 2


def test_one_moment_has_no_scale() -> None:
    one = tracks([("M", "a", 5.0, 5.0)])
    assert align(one, one).scale is None


def test_nothing_in_common_and_unknown_methods_are_refused() -> None:
    with pytest.raises(TraceError, match="no pipe has events in both: measured are MTE3, predicted M, V"):
        align(tracks([("MTE3", "c", 0.0, 1.0)]), tracks(PREDICTED))
    with pytest.raises(TraceError, match="measured are none"):
        align(tracks([]), tracks(PREDICTED))
    with pytest.raises(TraceError, match="'best' is none of start, least-squares"):
        align(tracks(PREDICTED), tracks(PREDICTED), "best")
