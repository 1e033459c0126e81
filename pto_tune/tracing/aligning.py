"""A measured timeline laid over a predicted one: by how much it is moved, and how much longer it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pto_tune.tracing.naming import TraceError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pto_tune.tracing.tracks import Tracks

    Floats = NDArray[np.float64]

START, LEAST_SQUARES = "start", "least-squares"
METHODS = (START, LEAST_SQUARES)


@dataclass(frozen=True)
class Alignment:
    """How a measured timeline was laid over the predicted one.

    Attributes:
        method: "start", the first events of pipes that both have coincide; or "least-squares", the sum of the squared
            differences of the marks is least.
        shift_cycles: what was added to every measured time.
        scale: slope of the measured marks over the predicted ones, by least squares: 1.08 is a run that takes 8 %
            longer throughout. It is told, and nothing is stretched by it. None where all marks are one.
        marks: moments that were compared: every start and end of a pipe that has as many events in both, else its first
            start and last end.
        rms_cycles: root of the mean squared difference of the marks that is left.
    """

    method: str
    shift_cycles: float
    scale: float | None
    marks: int
    rms_cycles: float


def check_method(method: str) -> None:
    """TraceError where it is none."""
    if method not in METHODS:
        raise TraceError(f"the alignment {method!r} is none of {', '.join(METHODS)}")


def marks(measured: Tracks, predicted: Tracks) -> tuple[Floats, Floats]:
    """Moments that belong together, measured and predicted, in cycles; none where no pipe has events in both."""
    pairs: list[tuple[Floats, Floats]] = []
    for pipe in predicted.used:
        (ms, me), (ps, pe) = measured.of(pipe), predicted.of(pipe)
        if not len(ms):
            continue
        if len(ms) == len(ps):
            pairs += [(ms, ps), (me, pe)]
        else:
            pairs.append((np.array([ms.min(), me.max()]), np.array([ps.min(), pe.max()])))
    if not pairs:
        return np.zeros(0), np.zeros(0)
    return np.concatenate([m for m, _ in pairs]), np.concatenate([p for _, p in pairs])


def align(measured: Tracks, predicted: Tracks, method: str = START) -> Alignment:
    """Lay `measured` over `predicted`.

    Raises:
        TraceError: an unknown method, or no pipe has events in both.
    """
    check_method(method)
    m, p = marks(measured, predicted)
    if not len(m):
        raise TraceError(
            f"no pipe has events in both: measured are {', '.join(measured.used) or 'none'}, "
            f"predicted {', '.join(predicted.used) or 'none'}"
        )
    shift = float(p.min() - m.min()) if method == START else float((p - m).mean())
    spread = p - p.mean()
    square = float((spread * spread).sum())
    scale = float((spread * (m - m.mean())).sum()) / square if square else None
    return Alignment(method, shift, scale, len(m), float(np.sqrt(((m + shift - p) ** 2).mean())))
