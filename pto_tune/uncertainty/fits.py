"""Numbers that were fitted together: normal around their values, with the covariance that their file states.

Every file behind a platform may state one; fits of several files are independent of each other. A number counts where
it still stands as that file states it. What a file ties to another number varies as that one does.

Cut off at the ends of each number's own range. Assumption: the fit is linear near its optimum, which is where a
covariance comes from.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cost_models.keys import CLOCK_KEY, to_base
from cost_models.platform import standing_fits
from pto_tune.uncertainty.kinds import range_of, whole_where_stated

if TYPE_CHECKING:
    from cost_models.number import Number
    from cost_models.platform import Platform

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Fit:
    """Standard deviations in base units at the platform's clock, and the lower triangle that gives the correlations:
    independent standard normals x become correlated ones by `triangle @ x`."""

    keys: tuple[str, ...]
    deviations: tuple[float, ...]
    triangle: Floats

    def values(self, number: Number, z: Floats) -> Floats:
        """The number at standard normal deviates, inside its range."""
        low, high = range_of(number)
        sd = self.deviations[self.keys.index(number.key)]
        return whole_where_stated(number, np.clip(number.base + sd * z, low, high))


def normals(u: Floats) -> Floats:
    """Standard normal quantiles of probabilities, of any shape; rounded, because tails need a logarithm."""
    inverse = NormalDist().inv_cdf
    return np.array([round(inverse(float(p)), 9) for p in u.ravel()], dtype=np.float64).reshape(u.shape)


def fit_of(platform: Platform) -> Fit | None:
    """The fits that the platform's numbers come from, as one; None where there are none, or all were replaced."""
    return _fit(platform)


@lru_cache(maxsize=8)
def _fit(platform: Platform) -> Fit | None:
    clock = platform[CLOCK_KEY]
    keys: list[str] = []
    deviations: list[float] = []
    blocks: list[Floats] = []
    for fit in standing_fits(platform):
        found = fit.covariance
        at = [i for i in fit.standing if found.values[i][i] > 0]
        sd = [sqrt(found.values[i][i]) for i in at]
        pairs = list(zip(at, sd, strict=True))
        keys += [found.keys[i] for i in at]
        deviations += [to_base(s, found.units[i], clock) for i, s in pairs]
        blocks.append(cholesky([[found.values[i][j] / (a * b) for j, b in pairs] for i, a in pairs]))
    if not keys:
        return None
    triangle, n = np.zeros((len(keys), len(keys))), 0
    for block in blocks:
        m = n + block.shape[0]
        triangle[n:m, n:m] = block
        n = m
    return Fit(tuple(keys), tuple(deviations), triangle)


def cholesky(matrix: list[list[float]]) -> Floats:
    """The lower triangle L with L L' = matrix; a direction in which the matrix has no extent gets none."""
    n = len(matrix)
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            rest = matrix[i][j] - float((out[i, :j] * out[j, :j]).sum())
            if i == j:
                out[i, i] = sqrt(max(rest, 0.0))
            elif out[j, j] > 1e-9:
                out[i, j] = rest / out[j, j]
    return out
