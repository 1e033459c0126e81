"""A singular value decomposition and order statistics that give the same bits on every machine.

The linear algebra of NumPy sums in an order that depends on the processor. Here every sum is the correctly rounded one
(`math.fsum`) and everything else is done element by element, so that a fit is reproducible to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_SWEEPS = 60
_ORTHOGONAL = 1e-14


def dot(a: Floats, b: Floats) -> float:
    """The inner product of two vectors, correctly rounded sum of rounded products."""
    return math.fsum((a * b).tolist())


def norm(a: Floats) -> float:
    """The Euclidean length of a vector."""
    return math.sqrt(dot(a, a))


def product(a: Floats, b: Floats) -> Floats:
    """The matrix product of (n, k) and (k,) or (k, m)."""
    if b.ndim == 1:
        return np.array([dot(row, b) for row in a])
    return np.array([[dot(row, column) for column in b.T] for row in a]).reshape(a.shape[0], b.shape[1])


def svd(a: Floats) -> tuple[Floats, Floats, Floats]:
    """Singular value decomposition `a = u diag(s) v^T` by one-sided Jacobi rotations.

    Args:
        a: (n, k), finite; n may be smaller than k.

    Returns:
        u (n, k) whose columns have length 1, or 0 where the singular value is 0; s (k,), largest first; v (k, k),
        orthogonal.

    Limits: for few columns (k up to some tens); time grows with n k^2 a sweep, of which there are about six.
    """
    k = a.shape[1]
    u, v = np.array(a, dtype=np.float64), np.eye(k)
    for _ in range(_SWEEPS):
        turned = False
        for p in range(k - 1):
            for q in range(p + 1, k):
                turned |= _rotate(u, v, p, q)
        if not turned:
            break
    s = np.array([norm(u[:, j]) for j in range(k)])
    order = np.argsort(-s, kind="stable")
    u, s, v = u[:, order], s[order], v[:, order]
    for j in range(k):
        if s[j] > 0:
            u[:, j] /= s[j]
    return u, s, v


def _rotate(u: Floats, v: Floats, p: int, q: int) -> bool:
    """Make columns p and q of `u` orthogonal; whether they were not."""
    pp, qq, pq = dot(u[:, p], u[:, p]), dot(u[:, q], u[:, q]), dot(u[:, p], u[:, q])
    if abs(pq) <= _ORTHOGONAL * math.sqrt(pp) * math.sqrt(qq):
        return False
    zeta = (qq - pp) / (2 * pq)
    tangent = math.copysign(1.0, zeta) / (abs(zeta) + math.sqrt(1 + zeta * zeta))
    cosine = 1 / math.sqrt(1 + tangent * tangent)
    sine = cosine * tangent
    for m in (u, v):
        left, right = m[:, p].copy(), m[:, q].copy()
        m[:, p] = cosine * left - sine * right
        m[:, q] = sine * left + cosine * right
    return True


def quantile(values: Sequence[float], share: float) -> float:
    """The quantile of `values` at `share` (0 to 1), between neighbours in proportion; NaN of nothing."""
    if not values:
        return math.nan
    ordered = sorted(values)
    at = share * (len(ordered) - 1)
    below = math.floor(at)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (at - below) * (ordered[above] - ordered[below])


def rounded(value: float, digits: int = 6) -> float:
    """`value` to so many significant decimal digits."""
    return float(f"{value:.{digits}g}")
