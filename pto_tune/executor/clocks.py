"""Vector clocks: what is known to be complete when a time value is.

A clock has one count for each pipe of a core group (instructions complete) and each scalar process (waits done).
Joining two clocks is on the innermost path of the tracer; it is written out by element, loads first, so that LLVM's
superword vectoriser makes two vector maxima of it (1.3 ns against 4 to 8 for a loop).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pto_tune.executor.jit import kernel

Counts = NDArray[np.int32]

CLOCKS = 16
"""Counts of a clock: 10 pipes and 3 scalar processes, rounded up to whole vector registers."""


@kernel
def join(to: Counts, x: Counts, y: Counts) -> None:
    """to = element-wise maximum of x and y (each CLOCKS int32)."""
    x0, y0 = x[0], y[0]
    x1, y1 = x[1], y[1]
    x2, y2 = x[2], y[2]
    x3, y3 = x[3], y[3]
    x4, y4 = x[4], y[4]
    x5, y5 = x[5], y[5]
    x6, y6 = x[6], y[6]
    x7, y7 = x[7], y[7]
    x8, y8 = x[8], y[8]
    x9, y9 = x[9], y[9]
    x10, y10 = x[10], y[10]
    x11, y11 = x[11], y[11]
    x12, y12 = x[12], y[12]
    x13, y13 = x[13], y[13]
    x14, y14 = x[14], y[14]
    x15, y15 = x[15], y[15]
    to[0] = x0 if x0 > y0 else y0
    to[1] = x1 if x1 > y1 else y1
    to[2] = x2 if x2 > y2 else y2
    to[3] = x3 if x3 > y3 else y3
    to[4] = x4 if x4 > y4 else y4
    to[5] = x5 if x5 > y5 else y5
    to[6] = x6 if x6 > y6 else y6
    to[7] = x7 if x7 > y7 else y7
    to[8] = x8 if x8 > y8 else y8
    to[9] = x9 if x9 > y9 else y9
    to[10] = x10 if x10 > y10 else y10
    to[11] = x11 if x11 > y11 else y11
    to[12] = x12 if x12 > y12 else y12
    to[13] = x13 if x13 > y13 else y13
    to[14] = x14 if x14 > y14 else y14
    to[15] = x15 if x15 > y15 else y15
