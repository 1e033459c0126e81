"""Quantiles, Kendall's tau, and what a choice by the predicted order costs."""

from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pto_tune.validating.statistics import choice, kendall, quantile

distinct = st.lists(st.integers(0, 1000), min_size=2, max_size=12, unique=True)


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [([3, 1, 2], 0.5, 2), ([4, 1, 2, 3], 0.5, 2.5), ([1, 2, 3, 4, 5], 0.9, 4.6), ([7], 0.9, 7), ([1, 2], 1.0, 2)],
)
def test_quantiles_lie_between_neighbours(values: list[float], share: float, expected: float) -> None:
    assert quantile(values, share) == pytest.approx(expected)


def test_the_quantile_of_nothing_is_none() -> None:
    assert isnan(quantile([], 0.5))


@pytest.mark.parametrize(
    ("measured", "predicted", "tau"),
    [
        ([1, 2, 3, 4], [10, 20, 30, 40], 1.0),
        ([1, 2, 3, 4], [4, 3, 2, 1], -1.0),
        ([1, 2, 3, 4], [1, 2, 4, 3], 4 / 6),  # one pair of six the other way round
        ([1, 2, 3], [1, 1, 2], 2 / 6**0.5),  # two of three pairs agree, one is equal on one side
        ([1, 2, 3], [5, 5, 5], 0.0),
    ],
)
def test_tau_by_hand(measured: list[float], predicted: list[float], tau: float) -> None:
    assert kendall(measured, predicted) == pytest.approx(tau)


@pytest.mark.parametrize("values", [[], [1.0], [2.0, 2.0]])
def test_without_a_measured_order_there_is_no_tau(values: list[float]) -> None:
    assert isnan(kendall(values, list(range(len(values)))))


def test_sequences_are_of_one_length() -> None:
    with pytest.raises(ValueError, match="2 measured values and 1 predicted"):
        kendall([1, 2], [1])


@given(distinct)
def test_tau_depends_on_the_order_alone(values: list[int]) -> None:
    assert kendall(values, [v**3 for v in values]) == pytest.approx(1)
    assert kendall(values, [-v for v in values]) == pytest.approx(-1)


@given(distinct, st.randoms())
def test_tau_is_the_share_of_pairs_in_order_less_that_of_the_others(values: list[int], random: object) -> None:
    other = list(values)
    random.shuffle(other)  # type: ignore[attr-defined]
    pairs = [(i, j) for i in range(len(values)) for j in range(i)]
    in_order = sum((values[i] < values[j]) == (other[i] < other[j]) for i, j in pairs)
    assert kendall(values, other) == pytest.approx(2 * in_order / len(pairs) - 1)


def test_the_best_found_costs_nothing() -> None:
    found = choice([10, 12, 15], [100, 130, 140])
    assert (found.top, found.in_top, found.regret) == (1, True, 0.0)


def test_a_wrong_pick_costs_its_measured_excess() -> None:
    found = choice([10, 12, 15], [120, 100, 140])
    assert not found.in_top
    assert found.regret == pytest.approx(0.2)


def test_the_top_is_a_third() -> None:
    measured = [10, 11, 12, 13, 14, 15]
    found = choice(measured, [2, 1, 3, 4, 5, 6])
    assert (found.n, found.top, found.in_top) == (6, 2, True)
    assert found.regret == pytest.approx(0.1)
    assert not choice(measured, [3, 1, 2, 4, 5, 6]).in_top


def test_equal_predictions_choose_nothing() -> None:
    found = choice([10, 15, 30], [7, 7, 7])
    assert not found.in_top
    assert found.regret == pytest.approx(2.0)


def test_one_configuration_is_no_choice() -> None:
    with pytest.raises(ValueError, match="at least two"):
        choice([1], [1])
