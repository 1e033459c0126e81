"""Measures of agreement: sizes of errors, order, and what a tuner would gain by the predicted order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, nan, sqrt


def quantile(values: Sequence[float], share: float) -> float:
    """The quantile of `values` (finite, any order), linear between neighbours; NaN of nothing."""
    if not values:
        return nan
    ordered = sorted(values)
    at = share * (len(ordered) - 1)
    low, high = ordered[floor(at)], ordered[ceil(at)]
    return low + (high - low) * (at - floor(at))


def kendall(measured: Sequence[float], predicted: Sequence[float]) -> float:
    """Kendall's tau-b: 1 for the same order, -1 for the opposite; pairs that are equal in one count for neither.

    O(n^2) comparisons. NaN where nothing measured differs: no order to agree with. 0 where nothing predicted differs.
    Raises ValueError for sequences of different lengths.
    """
    if len(measured) != len(predicted):
        raise ValueError(f"{len(measured)} measured values and {len(predicted)} predicted ones: give as many of both")
    agree = same_measured = same_predicted = pairs = 0
    for i in range(len(measured)):
        for j in range(i):
            a, b = _sign(measured[i] - measured[j]), _sign(predicted[i] - predicted[j])
            agree += a * b
            same_measured += a == 0
            same_predicted += b == 0
            pairs += 1
    if pairs == same_measured:
        return nan
    return agree / sqrt((pairs - same_measured) * (pairs - same_predicted)) if pairs > same_predicted else 0.0


def _sign(difference: float) -> int:
    return (difference > 0) - (difference < 0)


@dataclass(frozen=True)
class Choice:
    """What a tuner gets that takes the predicted order of `n` measured configurations for the true one.

    `regret`: how much longer, as a share, the configuration that is predicted best takes than the best, both as
    measured; `in_top`: whether the best is among the `top` that are predicted best.
    """

    n: int
    top: int
    in_top: bool
    regret: float


def choice(measured: Sequence[float], predicted: Sequence[float]) -> Choice:
    """The choice among configurations by their times (finite, at least two); `top` is a third of them.

    Where predictions are equal, nothing chooses between them: the slowest of the equal ones counts as picked, and the
    best is in the top only if all that are predicted as fast find room there.
    """
    n = len(measured)
    if n != len(predicted) or n < 2:
        raise ValueError(f"{n} measured times and {len(predicted)} predicted ones: give as many of both, at least two")
    top = max(1, n // 3)
    best = min(range(n), key=measured.__getitem__)
    fastest = min(predicted)
    picked = max(m for m, p in zip(measured, predicted, strict=True) if p == fastest)
    return Choice(n, top, sum(p <= predicted[best] for p in predicted) <= top, picked / measured[best] - 1.0)
