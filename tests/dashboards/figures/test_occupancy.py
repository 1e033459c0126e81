"""How full a FIFO is, counted step by step, and which tile is in which slot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboards.figures.occupancy import NEVER, FifoTiles, Steps, fifos_of, filled, held, steps
from dashboards.figures.occupancy_drawing import (
    MOST_STEPS,
    MOST_TILES,
    legend,
    occupancy_figure,
    occupancy_note,
    thinned,
    visible,
)
from dashboards.theme import LIGHT
from pto_tune import api


def tiles(**changes: Any) -> FifoTiles:
    """Four tiles in two slots, SyncPeriod 2: the first credit comes at 50, the second never."""
    fields: dict[str, Any] = {
        "name": "qk",
        "slot_num": 2,
        "period": 2,
        "taken": np.array([0, 10, 50, 60]),
        "full": np.array([5, 15, 55, 65]),
        "read": np.array([20, 30, 70, 80]),
        "done": np.array([25, 50, 75, 90]),
        "freed": np.array([50, 50, NEVER, NEVER]),
        "end": 100,
    }
    return FifoTiles(**{**fields, **changes})


def test_slots_are_held_from_the_write_to_the_credit() -> None:
    line = held(tiles())
    assert line.time.tolist() == [0, 10, 50, 60, 100]
    assert line.count.tolist() == [1, 2, 1, 2, 0]


def test_slots_are_filled_from_the_end_of_the_write_to_the_last_read() -> None:
    line = filled(tiles())
    assert line.time.tolist() == [0, 5, 15, 25, 50, 55, 65, 75, 90, 100]
    assert line.count.tolist() == [0, 1, 2, 1, 0, 1, 2, 1, 0, 0]


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 40)), max_size=12))
def test_a_step_line_counts_what_holds_at_each_time(pairs: list[tuple[int, int]]) -> None:
    begin = np.array([a for a, _ in pairs], dtype=np.int64)
    end = np.array([a + b for a, b in pairs], dtype=np.int64)
    line = steps(begin, end, 100)
    for time in range(101):
        assert line.at(time) == int(((begin <= time) & (time < end)).sum())


def test_a_stretch_without_end_holds_to_the_end_of_the_block() -> None:
    line = steps(np.array([3]), np.array([NEVER]), 9)
    assert [line.at(t) for t in (2, 3, 8, 9)] == [0, 1, 1, 0]


@pytest.mark.parametrize(("period", "depth"), [(1, 4), (2, 4), (4, 8)])
def test_credits_free_as_many_tiles_as_the_period_says(period: int, depth: int) -> None:
    found = {f.name: f for f in fifos_of(api.explain("stream", {"fifo_depth": depth, "sync_period": period}))}["c2v"]
    assert (found.slot_num, found.period) == (depth, period)
    groups = found.freed[: len(found) // period * period].reshape(-1, period)
    assert (groups == groups[:, :1]).all()
    assert (np.diff(groups[:, 0]) > 0).all()


@pytest.mark.parametrize(
    ("name", "values", "platform"),
    [
        ("flash_attention", {"s0": 128, "s1": 2048}, "ascend910b2"),
        ("bidirectional", {}, "ascend910b2"),
        ("flash_attention_950", {}, "ascend950pr"),
    ],
)
def test_a_safe_configuration_never_holds_more_than_its_slots(name: str, values: Any, platform: str) -> None:
    explanation = api.explain(name, values, platform)
    assert explanation.evaluation.reason(0) == ""
    found = fifos_of(explanation)
    assert found
    for fifo in found:
        assert int(held(fifo).count.max()) <= fifo.slot_num
        assert (fifo.full >= fifo.taken).all()
        assert (fifo.read >= fifo.full).all()
        assert (fifo.done >= fifo.read).all()
        again = np.arange(fifo.slot_num, len(fifo))
        assert (fifo.taken[again] >= fifo.freed[again - fifo.slot_num]).all()


def test_what_has_no_times_or_no_fifos_has_nothing_to_draw() -> None:
    assert fifos_of(api.explain("flash_attention", {"fifo_depth": 1, "qk_preload": 2})) == []
    assert fifos_of(api.explain("gemm", {"m": 256, "n": 256, "k": 256})) == []
    assert fifos_of(api.explain("tput_pingpong", {"bytes": 4096, "rounds": 1})) == []


def test_only_tiles_of_the_stretch_are_drawn_and_no_more_than_fit() -> None:
    assert visible(tiles(), 0, 100)[0].tolist() == [0, 1, 2, 3]
    assert visible(tiles(), 51, 59)[0].tolist() == [2]
    n = MOST_TILES + 7
    at = np.arange(n) * 10
    many = tiles(taken=at, full=at + 1, read=at + 2, done=at + 3, freed=at + 4, end=10 * n)
    shown, more = visible(many, 0, 10 * n)
    assert (len(shown), more) == (MOST_TILES, 7)
    assert "7 more are not drawn" in occupancy_note(many, 0, 10 * n)


def test_a_thinned_line_never_hides_the_highest_count() -> None:
    time = np.arange(50_000)
    count = np.zeros(50_000, dtype=np.int64)
    count[[123, 40_001]] = 9
    line = thinned(Steps(time, count), 0, 50_000)
    assert len(line.time) <= MOST_STEPS
    assert sorted(line.count.tolist())[-2:] == [9, 9]
    part = thinned(Steps(time, count), 100, 200)
    assert (part.time[0], part.time[-1], int(part.count.max())) == (100, 200, 9)


def test_the_figure_has_steps_ceiling_and_slots() -> None:
    figure = occupancy_figure(tiles(), 1000.0, 0, 100)
    ceiling = next(t for t in figure.data if t.name == "SlotNum 2")
    assert list(ceiling.y) == [2, 2]
    holds = next(t for t in figure.data if t.name.startswith("holds a tile"))
    assert list(holds.y) == [0, 1, 0, 1]
    assert list(holds.text) == ["0", "1", "2", "3"]
    assert list(holds.base) == [0.005, 0.015, 0.055, 0.065]
    assert "tile 3 in slot 1" in holds.customdata[3][0]
    assert len(legend(2, LIGHT)) == len(figure.data)


def test_a_note_says_which_slots_were_never_needed() -> None:
    words = occupancy_note(tiles(slot_num=6), 0, 100)
    assert "At most 2 slots were not free" in words
    assert "4 of the slots were never needed" in words


def test_no_fifo_is_said() -> None:
    assert "No FIFO" in occupancy_figure(None, 1000.0, 0, 1).layout.annotations[0].text
