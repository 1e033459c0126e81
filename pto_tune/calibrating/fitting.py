"""Bounded least squares for few parameters and predictions that move in steps.

A damped Gauss-Newton search (Levenberg-Marquardt) projected onto the bounds, and behind it a search along each
parameter with shrinking steps. Times are whole cycles, so derivatives are taken over steps of 10 %; they are then means
over the kinks where another pipe becomes the bottleneck, and the last per cent has to be found without them. No step is
taken that makes the sum of squares larger.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pto_tune.calibrating.algebra import dot, norm, product, svd

if TYPE_CHECKING:
    from pto_tune.calibrating.parameters import Parameter

Floats = NDArray[np.float64]
Residuals = Callable[[Floats], Floats]

ITERATIONS = 25
_TRIES = 8
_CONVERGED = 1e-5
"""Relative decrease of the sum of squares below which the search ends."""

_LINE_STEPS = (0.04, 0.01, 0.0025)
"""Of a parameter's value: the steps of the search along it."""

_LINE_MOVES = 6
"""Most moves along one parameter at one step."""


def residual(predicted: Floats, measured: Floats) -> Floats:
    """(predicted - measured) / sqrt(predicted x measured), both in the same unit.

    The logarithm of their ratio but for terms of the third order (for a factor of 1.5 it is 0.408 instead of 0.405):
    too long and too short by the same factor count the same. Unlike a logarithm it has the same bits on every machine.
    """
    return (predicted - measured) / np.sqrt(predicted * measured)


@dataclass
class Fit:
    """Parameter values (base units), their sum of weighted squares, and the number of iterations."""

    values: Floats
    chi_square: float
    iterations: int


@dataclass
class Search:
    """Minimises the sum of squares of `residuals` over `parameters`, from their own values.

    Args:
        residuals: weighted residuals (n,) at values (k,) in base units; infinite where there is no prediction.
    """

    parameters: Sequence[Parameter]
    residuals: Residuals
    _known: dict[tuple[float, ...], Floats] = field(default_factory=dict)

    def at(self, values: Floats) -> Floats:
        """The residuals at `values`, each computed once."""
        key = tuple(values.tolist())
        if key not in self._known:
            self._known[key] = self.residuals(values)
        return self._known[key]

    def chi_square(self, values: Floats) -> float:
        """The sum of squares at `values`; infinite where a row has no prediction."""
        r = self.at(values)
        return dot(r, r) if np.isfinite(r).all() else math.inf

    def jacobian(self, values: Floats) -> Floats:
        """Derivatives (n, k) of the residuals per scale of each parameter, by differences over two steps (one where a
        bound is nearer than that)."""
        return np.stack([self._difference(values, j, 1.0, 1.0) for j in range(len(self.parameters))], axis=1)

    def one_sided(self, values: Floats) -> tuple[Floats, Floats]:
        """As `jacobian`, over the step down and over the step up; NaN where a bound leaves less than half."""
        columns = range(len(self.parameters))
        return (
            np.stack([self._difference(values, j, 1.0, 0.0) for j in columns], axis=1),
            np.stack([self._difference(values, j, 0.0, 1.0) for j in columns], axis=1),
        )

    def _difference(self, values: Floats, j: int, down: float, up: float) -> Floats:
        p, at = self.parameters[j], float(values[j])
        step = p.step(at)
        below, above = values.copy(), values.copy()
        below[j], above[j] = max(at - down * step, p.low), min(at + up * step, p.high)
        moved = float(above[j] - below[j])
        # over a fraction of a step, whole cycles may not change where the number does count
        if min(down, up) == 0 and moved < step / 2:
            return np.full_like(self.at(values), np.nan)
        change = (self.at(above) - self.at(below)) * (p.scale / moved)
        return np.where(np.isfinite(change), change, 0.0)

    def run(self) -> Fit:
        """Search from the parameters' own values."""
        low = np.array([p.low for p in self.parameters])
        high = np.array([p.high for p in self.parameters])
        values = np.clip(np.array([p.value for p in self.parameters]), low, high)
        best, iterations = self.chi_square(values), 0
        damping = 1e-3
        while iterations < ITERATIONS and best > 0:
            iterations += 1
            before = best
            values, best, damping = self._gauss_newton(values, best, damping, low, high)
            if best > before * (1 - _CONVERGED):
                values, best = self._along_each(values, best, low, high)
                if best > before * (1 - 10 * _CONVERGED):
                    break
        return Fit(values, best, iterations)

    def _gauss_newton(
        self, values: Floats, best: float, damping: float, low: Floats, high: Floats
    ) -> tuple[Floats, float, float]:
        """One step that makes the sum of squares smaller, if there is one, and the damping for the next."""
        r, j = self.at(values), self.jacobian(values)
        scale = np.array([p.scale for p in self.parameters])
        slope = np.array([dot(column, r) for column in j.T])
        free = ~((values <= low) & (slope > 0)) & ~((values >= high) & (slope < 0))
        size = np.array([norm(column) for column in j.T])
        free &= size > 0
        if not free.any():
            return values, best, damping
        u, s, v = svd(j[:, free] / size[free])
        along = np.array([dot(column, r) for column in u.T])
        for _ in range(_TRIES):
            move = np.zeros_like(values)
            move[free] = -product(v, along * s / (s * s + damping)) / size[free] * scale[free]
            trial = np.clip(values + move, low, high)
            found = self.chi_square(trial)
            if found < best:
                return trial, found, max(damping / 5, 1e-9)
            damping *= 6
        return values, best, min(damping, 1e3)

    def _along_each(self, values: Floats, best: float, low: Floats, high: Floats) -> tuple[Floats, float]:
        """Move one parameter after the other as long as that makes the sum of squares smaller."""
        for share in _LINE_STEPS:
            for j, p in enumerate(self.parameters):
                for sign in (1.0, -1.0):
                    for _ in range(_LINE_MOVES):
                        trial = values.copy()
                        step = share * max(abs(float(values[j])), 0.1 * p.scale)
                        trial[j] = min(max(float(values[j]) + sign * step, low[j]), high[j])
                        found = self.chi_square(trial)
                        if not found < best:
                            break
                        values, best = trial, found
        return values, best
