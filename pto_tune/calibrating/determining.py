"""What the rows of a fit cannot determine: numbers without influence, and combinations that cannot be told apart."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pto_tune.calibrating.advice import telling
from pto_tune.calibrating.algebra import norm, product, svd

if TYPE_CHECKING:
    from pto_tune.calibrating.parameters import Parameter

Floats = NDArray[np.float64]

CORRELATION = 0.99
"""Two numbers whose estimates are correlated above this are not told apart."""

LEAST_SINGULAR = math.sqrt(1 - CORRELATION)
"""Of the Jacobian with columns of length 1: two columns with this correlation have the singular values sqrt(1 + c) and
sqrt(1 - c). The same bound holds for combinations of more."""

LEAST_INFLUENCE = 1.0
"""Standard errors: what all rows together must change by when a number moves through its whole range (by its own size,
where it has none). Below it the rows say less of the number than is known already: its standard error is larger than
its range."""

_MEMBER = 0.3
"""Share of the largest part from which a number belongs to a combination."""


@dataclass(frozen=True)
class Slopes:
    """Weighted residuals per scale of each parameter, (n, k), at the fitted values: over a step either way, and over
    the step down and the step up alone (NaN where a bound leaves too little)."""

    both: Floats
    down: Floats
    up: Floats


@dataclass(frozen=True)
class Undetermined:
    """A number, or several that cannot be told apart, and a sentence that says so and what would tell."""

    keys: tuple[str, ...]
    sentence: str


def undetermined(
    parameters: Sequence[Parameter], slopes: Slopes, values: Floats, bounds: Sequence[str]
) -> list[Undetermined]:
    """What cannot be determined; empty where everything can.

    Looked at are, in this order: the influence of each number by itself, and that of moving it up and down alone (a
    pipe that is hidden behind another one from some rate on gives but a limit); combinations; and what the other
    numbers leave of the influence of each. The spreads of the rows count, not how well they are met.

    Args:
        values: the fitted values (k,) in base units.
        bounds: what bounds each row.
    """
    out: list[Undetermined] = []
    seen = []
    for j, p in enumerate(parameters):
        wrong = _by_itself(p, j, slopes, float(values[j]), bounds)
        if wrong:
            out.append(Undetermined((p.key,), wrong))
        else:
            seen.append(j)
    rest = [parameters[j] for j in seen]
    if len(seen) < 2:
        return out
    jacobian = slopes.both[:, seen]
    groups = _combinations(jacobian)
    for members in ([rest[j] for j in group] for group in groups):
        sentence = _not_apart(members, jacobian.shape[0], len(parameters))
        out.append(Undetermined(tuple(p.key for p in members), sentence))
    if not groups:
        spread = covariance(rest, jacobian, 0.0)
        for j, p in enumerate(rest):
            error = math.sqrt(float(spread[j, j]))
            if error * LEAST_INFLUENCE > p.width:
                others = [q.key for q in rest if q is not p]
                sentence = (
                    f"{p.key} is not determined beside {' and '.join(others)}: its standard error, "
                    f"{error / p.unit_worth:.2g} {p.number.unit}, is larger than {_known(p)}; leave it out, or add a "
                    f"measurement where {telling([p])}"
                )
                out.append(Undetermined((p.key,), sentence))
    return out


def _by_itself(p: Parameter, j: int, slopes: Slopes, value: float, bounds: Sequence[str]) -> str:
    """Why a number has no influence of its own, or has run away; "" where neither holds."""
    influence = norm(slopes.both[:, j]) * p.width / p.scale
    if influence < LEAST_INFLUENCE:
        return _without_influence(p, influence, bounds)
    if p.ran_away(value):
        return (
            f"{p.key} runs away from {p.number.value:g} to {value / p.unit_worth:.3g} {p.number.unit}, so something "
            "else must be wrong: fit other numbers with it or in its place, or give it low and high in a platform file"
        )
    for side, words in ((slopes.down, "most"), (slopes.up, "least")):
        column = side[:, j]
        if np.isfinite(column).all() and norm(column) * p.width / p.scale < LEAST_INFLUENCE:
            return (
                f"the measurements only say that {p.key} is at {words} about {value / p.unit_worth:.4g} "
                f"{p.number.unit}{_decided(bounds)}: leave it out, or add a measurement where {telling([p])}"
            )
    return ""


def _without_influence(p: Parameter, influence: float, bounds: Sequence[str]) -> str:
    how = "has no influence on" if influence == 0 else "has too little influence on"
    rows = "the one measurement" if len(bounds) == 1 else f"the {len(bounds)} measurements"
    return f"{p.key} {how} {rows}{_decided(bounds)}: leave it out, or add a measurement where {telling([p])}"


def _decided(bounds: Sequence[str]) -> str:
    """What bounds most rows, in brackets; the stretch of a shared resource is left out."""
    most = Counter(bound.partition("-bound")[0] for bound in bounds if bound).most_common(1)
    return f" ({most[0][0]} bounds {most[0][1]} of {len(bounds)})" if most else ""


def _not_apart(members: Sequence[Parameter], rows: int, numbers: int) -> str:
    names = " and ".join((", ".join(p.key for p in members[:-1]), members[-1].key))
    few = f" ({rows} {'row' if rows == 1 else 'rows'} for {numbers} numbers)" if rows < numbers else ""
    return (
        f"{names} cannot be told apart by these measurements{few}: fit one of them, or add a measurement where "
        f"{telling(members)}"
    )


def _known(p: Parameter) -> str:
    low, high = p.published_low, p.published_high
    if low is not None and high is not None:
        return f"its published range, {low:g} to {high:g}"
    return f"the number itself, {p.number.value:g}"


def _combinations(jacobian: Floats) -> list[list[int]]:
    """Groups of columns that are nearly dependent."""
    size = np.array([norm(column) for column in jacobian.T])
    _, s, v = svd(jacobian / size)
    groups: list[list[int]] = []
    for i in np.flatnonzero(s < LEAST_SINGULAR):
        part = np.abs(v[:, i])
        members = [int(j) for j in np.flatnonzero(part >= _MEMBER * part.max())]
        if members not in groups:
            groups.append(members)
    return groups


def covariance(parameters: Sequence[Parameter], jacobian: Floats, chi_square: float) -> Floats:
    """Covariance (k, k) of the fitted values in base units, from the Jacobian at them.

    Scaled by the sum of squares over the degrees of freedom where that is above 1: then the rows scatter more than
    their spreads say, as they do where the model lacks something. Bounds are not considered: a number at one has the
    error that it would have without.
    """
    n, k = jacobian.shape
    scale = np.array([p.scale for p in parameters])
    size = np.array([norm(column) for column in jacobian.T])
    _, s, v = svd(jacobian / size)
    inverse = product(v / (s * s), v.T)
    worth = scale / size
    more = max(1.0, chi_square / (n - k)) if n > k else 1.0
    found = inverse * worth[:, None] * worth[None, :] * more
    return np.asarray((found + found.T) / 2, dtype=np.float64)
