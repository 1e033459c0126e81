"""The one place where a duration becomes an integer."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

#: Far above the noise of a few float64 operations on durations of up to 10^6 cycles, far below any cost.
_NOISE_CYCLES = 1e-9

#: largest integer up to which float64 holds every integer
_LARGEST_CYCLES = 9007199254740992.0


def to_cycles(cycles: ArrayLike) -> NDArray[np.int64]:
    """Whole cycles of the core clock: `cycles`, of any shape, rounded up.

    Noise of less than 1e-9 above a whole number does not cost a cycle. Raises ValueError for a negative or
    undefined duration and for one above 2^53 cycles, which float64 could not hold exactly.
    """
    array = np.asarray(cycles, dtype=np.float64)
    bad = ~((array >= 0.0) & (array <= _LARGEST_CYCLES))
    if bad.any():
        first = array[bad].flat[0]
        raise ValueError(f"a duration is {first:g} cycles; give one of 0 to 2^53 cycles")
    return np.asarray(np.ceil(np.maximum(array - _NOISE_CYCLES, 0.0)), dtype=np.int64)
