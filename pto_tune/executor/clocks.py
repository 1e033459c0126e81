"""Vector clocks: what is known to be complete when a time value is.

A clock has one count for each pipe of a core group (instructions complete) and each scalar process (waits done).
Joining two clocks is on the innermost path of the tracer; it is written out by element, loads first, so that LLVM's
superword vectoriser makes two vector maxima of it (1.3 ns against 4 to 8 for a loop).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pto_tune.executor.jit import bare

Counts = NDArray[np.int32]

CLOCKS = 16
"""Counts of a clock: 10 pipes and 3 scalar processes, rounded up to whole vector registers."""


@bare
def join(vc: Counts, to: int, x: int, y: int) -> None:
    """vc[to] = element-wise maximum of vc[x] and vc[y] (rows of CLOCKS int32). Rows are numbers: a row passed as an
    array of its own would be counted with a lock."""
    x0, y0 = vc[x, 0], vc[y, 0]
    x1, y1 = vc[x, 1], vc[y, 1]
    x2, y2 = vc[x, 2], vc[y, 2]
    x3, y3 = vc[x, 3], vc[y, 3]
    x4, y4 = vc[x, 4], vc[y, 4]
    x5, y5 = vc[x, 5], vc[y, 5]
    x6, y6 = vc[x, 6], vc[y, 6]
    x7, y7 = vc[x, 7], vc[y, 7]
    x8, y8 = vc[x, 8], vc[y, 8]
    x9, y9 = vc[x, 9], vc[y, 9]
    x10, y10 = vc[x, 10], vc[y, 10]
    x11, y11 = vc[x, 11], vc[y, 11]
    x12, y12 = vc[x, 12], vc[y, 12]
    x13, y13 = vc[x, 13], vc[y, 13]
    x14, y14 = vc[x, 14], vc[y, 14]
    x15, y15 = vc[x, 15], vc[y, 15]
    vc[to, 0] = x0 if x0 > y0 else y0
    vc[to, 1] = x1 if x1 > y1 else y1
    vc[to, 2] = x2 if x2 > y2 else y2
    vc[to, 3] = x3 if x3 > y3 else y3
    vc[to, 4] = x4 if x4 > y4 else y4
    vc[to, 5] = x5 if x5 > y5 else y5
    vc[to, 6] = x6 if x6 > y6 else y6
    vc[to, 7] = x7 if x7 > y7 else y7
    vc[to, 8] = x8 if x8 > y8 else y8
    vc[to, 9] = x9 if x9 > y9 else y9
    vc[to, 10] = x10 if x10 > y10 else y10
    vc[to, 11] = x11 if x11 > y11 else y11
    vc[to, 12] = x12 if x12 > y12 else y12
    vc[to, 13] = x13 if x13 > y13 else y13
    vc[to, 14] = x14 if x14 > y14 else y14
    vc[to, 15] = x15 if x15 > y15 else y15
