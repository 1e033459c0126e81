"""The Pareto front of two columns."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pto_tune.search.pareto import front

POINTS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=40)


@given(POINTS)
def test_the_front_is_what_nothing_dominates_with_each_point_once(points: list[tuple[int, int]]) -> None:
    a, b = np.array([p[0] for p in points], int), np.array([p[1] for p in points], int)
    at = front(a, b).tolist()

    def dominated(p: tuple[int, int]) -> bool:
        return any(q[0] <= p[0] and q[1] <= p[1] and q != p for q in points)

    first_of = {p: i for i, p in reversed(list(enumerate(points)))}
    assert at == sorted((i for p, i in first_of.items() if not dominated(p)), key=lambda i: points[i])


def test_no_points_no_front() -> None:
    assert front(np.zeros(0), np.zeros(0)).tolist() == []
