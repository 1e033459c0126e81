"""Time against on-chip memory: the points, the front, and how many points are drawn."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dashboards.figures.pareto import pareto_data, pareto_front
from dashboards.runview import RunView

MakeView = Callable[..., RunView]


def test_points_front_and_best(make_view: MakeView) -> None:
    data = pareto_data(make_view())
    assert data.positions.tolist() == [0, 1, 2, 3]
    assert data.time_us.tolist() == [11.0, 9.0, 10.0, 8.0]
    assert data.on_chip_bytes.tolist() == [2048.0, 4096.0, 3072.0, 8192.0]
    assert data.front.tolist() == [0, 2, 1, 3]
    assert (data.best, data.total, data.thinned) == (3, 4, False)


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=40))
def test_the_front_is_what_comparing_every_pair_finds(points: list[tuple[int, int]]) -> None:
    time, memory = (np.array([p[axis] for p in points], dtype=float) for axis in (0, 1))
    expected = {(t, m) for t, m in points if not any(a <= t and b <= m and (a, b) != (t, m) for a, b in points)}
    front = pareto_front(time, memory)
    found = [(int(time[i]), int(memory[i])) for i in front]
    assert set(found) == expected
    assert len(found) == len(expected), "of equal points one is kept"
    assert memory[front].tolist() == sorted(memory[front].tolist())
    assert all(points.index(p) == i for p, i in zip(found, front.tolist(), strict=True)), "the first of equals"


def test_200_000_points_are_thinned_but_the_front_and_the_best_stay(big_view: RunView) -> None:
    data = pareto_data(big_view)
    front = pareto_front(big_view.time_us, big_view.on_chip_bytes)
    assert data.thinned
    assert 1_000 < len(data.positions) <= 5_000
    assert data.front.tolist() == front.tolist()
    assert set(front.tolist()) <= set(data.positions.tolist())
    assert big_view.best in data.positions
    assert int(data.stands_for.sum()) == data.total == 200_000
    assert int(data.stands_for.min()) >= 1


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=80), st.integers(1, 20))
def test_every_configuration_is_stood_for_once_whatever_the_limit(points: list[tuple[int, int]], limit: int) -> None:
    n = len(points)
    view = RunView(
        name="r", workload="w", platform="p", rule_set="a2a3", timing="task", problem={}, clock_mhz=1.0,
        launch_us=0.0, tunables=[], rows=np.arange(n), values={}, verdict=np.zeros(n, dtype=np.int64),
        verdict_names=("ok",), rule=np.full(n, -1), rule_names=(),
        cycles=np.array([float(t) for t, _ in points]),
        bytes={"ub": np.array([float(m) for _, m in points])},
        bound=np.full(n, -1), bound_names=(),
    )  # fmt: skip
    data = pareto_data(view, limit)
    assert int(data.stands_for.sum()) == n
    assert int(data.stands_for.min()) >= 1
    assert len(set(data.positions.tolist())) == len(data.positions)
    assert len(data.positions) <= max(limit, len(data.front) + 2)
    assert {*data.front.tolist(), data.best} <= set(data.positions.tolist())
