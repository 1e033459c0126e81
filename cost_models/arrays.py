"""Arguments of the latency models: scalars and arrays become float64, and wrong shapes are named."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def floats(name: str, values: ArrayLike, least: float = 1.0) -> Floats:
    """`values` as float64 of the same shape. ValueError: not finite, or below `least`."""
    array = np.asarray(values, dtype=np.float64)
    bad = ~(np.isfinite(array) & (array >= least))
    if bad.any():
        first = array[bad].flat[0]
        raise ValueError(f"{name} contains {first:g}; give finite numbers of at least {least:g}")
    return array
