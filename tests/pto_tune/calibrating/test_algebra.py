"""The decomposition is one, and does not depend on how sums are ordered."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pto_tune.calibrating.algebra import dot, quantile, rounded, svd
from pto_tune.calibrating.fitting import residual


@settings(deadline=None)
@given(st.integers(1, 12), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_the_factors_give_the_matrix_again(n: int, k: int, seed: int) -> None:
    a = np.random.default_rng(seed).normal(size=(n, k))
    u, s, v = svd(a)
    assert np.allclose(u * s @ v.T, a)
    assert np.allclose(v.T @ v, np.eye(k))
    assert (np.diff(s) <= 0).all()
    assert np.allclose(s[: min(n, k)], np.linalg.svd(a, compute_uv=False))


def test_equal_columns_have_a_singular_value_of_zero() -> None:
    column = np.array([1.0, 2.0, 3.0])
    _, s, v = svd(np.stack([column, column], axis=1))
    assert s[1] == pytest.approx(0, abs=1e-12)
    assert abs(v[:, 1]) == pytest.approx([math.sqrt(0.5)] * 2)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=50), st.randoms(use_true_random=False))
def test_a_sum_does_not_depend_on_the_order(numbers: list[float], random: object) -> None:
    shuffled = list(numbers)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert dot(np.array(numbers), np.array(numbers)) == dot(np.array(shuffled), np.array(shuffled))


def test_quantiles_lie_between_neighbours() -> None:
    assert quantile([3, 1, 2], 0.5) == 2
    assert quantile([0, 10], 0.9) == pytest.approx(9)
    assert quantile([4], 0.9) == 4
    assert math.isnan(quantile([], 0.5))


def test_rounding_is_to_significant_digits() -> None:
    assert (rounded(123.456789, 4), rounded(0.00123456789, 3), rounded(-7.0)) == (123.5, 0.00123, -7.0)


def test_a_residual_is_nearly_the_logarithm_of_the_ratio() -> None:
    found = residual(np.array([110.0, 150.0, 100.0]), np.array([100.0, 100.0, 150.0]))
    assert found == pytest.approx(np.log([1.1, 1.5, 1 / 1.5]), rel=0.01)
    assert found[1] == -found[2]
