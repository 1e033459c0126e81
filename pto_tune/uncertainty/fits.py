"""Numbers that were fitted together: normal around their values, with the covariance that their file states.

Cut off at the ends of each number's own range. Assumption: the fit is linear near its optimum, which is where a
covariance comes from.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cost_models.calibrated import read_covariance
from cost_models.keys import CLOCK_KEY, to_base
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
    """The fit that the platform's own file states; None where it states none, or all its numbers were replaced."""
    return _fit(platform)


@lru_cache(maxsize=8)
def _fit(platform: Platform) -> Fit | None:
    try:
        found = read_covariance(Path(platform.source_path))
    except OSError:
        return None
    if found is None:
        return None
    at = [i for i, key in enumerate(found.keys) if platform.numbers[key].kind == "fitted"]
    at = [i for i in at if found.values[i][i] > 0]
    if not at:
        return None
    clock = platform[CLOCK_KEY]
    sd = [sqrt(found.values[i][i]) for i in at]
    correlation = [
        [found.values[i][j] / (a * b) for j, b in zip(at, sd, strict=True)] for i, a in zip(at, sd, strict=True)
    ]
    return Fit(
        keys=tuple(found.keys[i] for i in at),
        deviations=tuple(to_base(s, found.units[i], clock) for i, s in zip(at, sd, strict=True)),
        triangle=cholesky(correlation),
    )


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
