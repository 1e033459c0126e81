"""How far each number of a platform may be from the value that its file states, by its kind.

Every number is the median of its distribution: half the probability lies below it and half above, log-uniform between
the value and the end of its range on that side. Log-uniform, because costs are scales (half and twice are equally far),
and because a range is what published figures leave open: no place in it is better founded than another. The value stays
the median, because it is what the file's author took to be best; a lopsided range moves the interval and not the value.
Where a range ends at the value, that half of the probability stays at the value; where it ends at 0, that half is
uniform. Numbers with a covariance (`uncertainty.fits`) have that of their fit instead.

Limit: numbers are taken as independent but for that covariance, although some are stated as copies of others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cost_models.keys import OVERRIDE, find_key

if TYPE_CHECKING:
    from cost_models.number import Number

    Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Spread:
    """A number without a range of its own lies between value / factor and value x factor."""

    factor: float
    reason: str


SPREADS: Mapping[str, Spread] = {
    "spec": Spread(1.01, "published by the vendor: rounded, and met by the hardware to about a per cent"),
    "measured": Spread(1.05, "read off one table of one board: repeats and hosts differ by some per cent"),
    "fitted": Spread(1.10, "from measurements of something that contains it: carries the model's error too"),
    "assumed": Spread(2.0, "nothing published stands behind it: the order of size is all that is claimed"),
    OVERRIDE: Spread(1.0, "given by the caller, who is taken at their word"),
}
"""Used on each side of a number for which its file states no end of the range; judgements, not measurements."""

STRUCTURAL = ("topology.", "cores.", "memory.", "flags.ids", "flags.counter_max", "scalar.queue_depth")
"""Beginnings of keys that decide what a program is and whether it is legal, not how long it takes: never sampled."""

_BITS = 24


def is_structural(key: str) -> bool:
    """Whether a number is exact here, whatever its file says of it."""
    return key.startswith(STRUCTURAL)


def range_of(number: Number) -> tuple[float, float]:
    """The least and the greatest value of a number, in base units at the platform's clock.

    Its own range where the file states one; on a side without, what `SPREADS` says of its kind, but not less than its
    key allows. Whole numbers (counts, sizes) without a range are exact.
    """
    key = find_key(number.key)
    if key is None:
        raise ValueError(f"{number.key}: unknown key; choose one that cost_models.keys lists")
    factor = 1.0 if key.whole else SPREADS[number.kind].factor
    low = max(number.base / factor, key.minimum) if number.base_low is None else number.base_low
    high = number.base * factor if number.base_high is None else number.base_high
    return min(low, number.base), max(high, number.base)


def quantiles(number: Number, u: Floats) -> Floats:
    """Values of the number, in base units at the platform's clock, below which its probability is `u` (0 < u < 1).

    Square roots and products only: the same bits on every machine.
    """
    low, high = range_of(number)
    below = _towards(number.base, low, np.maximum(1.0 - 2.0 * u, 0.0))
    above = _towards(number.base, high, np.maximum(2.0 * u - 1.0, 0.0))
    return whole_where_stated(number, np.where(u < 0.5, below, above))


def whole_where_stated(number: Number, values: Floats) -> Floats:
    """Whole values of a number that its file states in whole things or whole cycles, inside its range.

    A duration is rounded up once, so that 1.05 cycles would cost 2.
    """
    key = find_key(number.key)
    if key is None or not (key.whole or key.base_unit == "cycles") or number.base != int(number.base):
        return values
    low, high = range_of(number)
    return np.asarray(np.clip(np.rint(values), np.ceil(low), np.floor(high)), dtype=np.float64)


def _towards(value: float, end: float, share: Floats) -> Floats:
    """From `value` (share 0) to `end` (share 1): in equal ratios, or in equal steps where one of them is 0."""
    if value <= 0.0 or end <= 0.0:
        return np.asarray(value + (end - value) * share, dtype=np.float64)
    out = np.full(share.shape, value)
    root, left = end / value, share.copy()
    for _ in range(_BITS):
        # (end / value) ** share, a binary digit of the share at a time
        root = float(np.sqrt(root))
        left = left * 2.0
        digit = left >= 1.0
        out = np.where(digit, out * root, out)
        left = left - digit
    return out
