"""Configurations over several settings: which one loses least against the best of each, in the worst of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

    Value = int | str


@dataclass(frozen=True)
class Good:
    """A configuration: its values, and for every setting its time in microseconds and its regret, the share by which
    that is above the best known."""

    values: Mapping[str, Value]
    time_us: tuple[float, ...]
    regret: tuple[float, ...]

    @property
    def worst(self) -> float:
        """The largest regret."""
        return max(self.regret)


def ranked(time_us: Floats, best_us: Floats) -> tuple[Ints, Floats]:
    """Rows of `time_us` (n, m) without NaN, the least worst regret first (ties: least sum, then order), and all
    regrets (n, m)."""
    regret = time_us / best_us[None, :] - 1.0
    return in_order(regret), regret


def in_order(regret: Floats) -> Ints:
    """Rows of regrets (n, m) without NaN, the least worst one first (ties: least sum, then order)."""
    rows = np.flatnonzero(np.isfinite(regret).all(axis=1))
    worst, total = regret[rows].max(axis=1, initial=-np.inf), regret[rows].sum(axis=1)
    found: Ints = rows[np.lexsort((rows, total, worst))]
    return found


def best_few(
    configurations: Sequence[Mapping[str, Value]] | Any, time_us: Floats, regret: Floats, order: Ints, few: int
) -> tuple[Good, ...]:
    """The first of an order. configurations: by row, anything that `[row]` gives a mapping of values for."""
    return tuple(
        Good(configurations[int(i)], tuple(time_us[i].tolist()), tuple(regret[i].tolist())) for i in order[:few]
    )
