"""Matrix products on the cube."""

import numpy as np
from numpy.typing import ArrayLike

from cost_models.arrays import Floats, floats
from cost_models.platform import Platform


def matmul_cycles(platform: Platform, m: ArrayLike, k: ArrayLike, n: ArrayLike, elem_bytes: ArrayLike) -> Floats:
    """Cycles for which one TMATMUL of (m x k) by (k x n) occupies the cube.

    head + passes x ceil(m / 16) x ceil(n / 16) x ceil(k / (32 B / elem_bytes)): one fractal a cycle and pass.
    `m`, `k`, `n` (elements, at least 1) and `elem_bytes` (operand type: 1, 2 or 4) broadcast.

    Assumptions: operands are in L0A and L0B; partial fractals cost whole ones; accumulating costs nothing
    extra. Limits: the head is that of a product inside a loop over K; sparse and int4 products and GEMV are
    not modelled. Source: hw-native-sys/pypto include/pypto/backend/common/backend_handler.h; head from the
    GEMM table of hw-native-sys/pto-isa. Raises ValueError for shapes out of range and other types.
    """
    size = floats("elem_bytes", elem_bytes)
    known = (size == 1.0) | (size == 2.0) | (size == 4.0)
    if not known.all():
        first = size[~known].flat[0]
        raise ValueError(f"elem_bytes contains {first:g}; give 1, 2 or 4 bytes an operand element")
    passes = np.where(size == 4.0, platform["cube.passes_4byte"], platform["cube.passes_2byte"])
    row_fractals = np.ceil(floats("m", m) / platform["cube.m0"])
    col_fractals = np.ceil(floats("n", n) / platform["cube.n0"])
    k_fractals = np.ceil(floats("k", k) * size / platform["cube.k0_bytes"])
    fractals = row_fractals * col_fractals * k_fractals
    return np.asarray(platform["cube.head"] + passes * fractals, dtype=np.float64)
