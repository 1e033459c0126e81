"""Draining the accumulator L0C through the fixpipe."""

import numpy as np
from numpy.typing import ArrayLike

from cost_models.arrays import Floats, floats
from cost_models.platform import Platform

TARGETS = ("gm", "l1")

#: The accumulator holds float or int32.
_ACC_BYTES_PER_ELEMENT = 4.0


def _odd_part(numbers: Floats) -> Floats:
    """The largest odd divisor of each (whole, positive) number."""
    whole = numbers.astype(np.int64)
    return np.asarray(whole // (whole & -whole), dtype=np.float64)


def drain_cycles(
    platform: Platform,
    rows: ArrayLike,
    cols: ArrayLike,
    out_bytes_per_element: ArrayLike,
    target: str = "gm",
) -> Floats:
    """Cycles for which a drain of `rows` x `cols` accumulator elements occupies the fixpipe.

    fixed + max(row x rows, 4 x rows x cols / rate, output bytes / gm_write_rate)
    + odd_pass x rows x (odd part of ceil(4 x cols / cube.k0_bytes) - 1), where the output bytes count for
    target `gm` only. `rows`, `cols` (at least 1) and `out_bytes_per_element` (type of the output) broadcast.

    Assumptions: reading L0C and writing GM overlap; the penalty of an odd number of fractals does not depend
    on the output type, because the accumulator always has 4 bytes an element. Limits: fitted for 16 to 256
    rows and for columns that are a multiple of 16; the penalty was measured at few odd parts only; quantised
    outputs, ReLU and atomic addition cost nothing extra here. Source: drain model of hw-native-sys/pypto
    include/pypto/backend/common/backend_handler.h; GM side from the GEMM table of hw-native-sys/pto-isa.
    Raises ValueError for an unknown target and for sizes out of range.
    """
    if target not in TARGETS:
        raise ValueError(f"unknown drain target {target!r}; choose one of {', '.join(TARGETS)}")
    m = floats("rows", rows)
    n = floats("cols", cols)
    out_bytes = floats("out_bytes_per_element", out_bytes_per_element) * m * n
    moved = np.maximum(m * platform["fixpipe.row"], m * n * _ACC_BYTES_PER_ELEMENT / platform["fixpipe.rate"])
    if target == "gm":
        moved = np.maximum(moved, out_bytes / platform["fixpipe.gm_write_rate"])
    else:
        moved = moved + 0.0 * out_bytes  # the common shape, whatever the target
    extra_passes = _odd_part(np.ceil(n * _ACC_BYTES_PER_ELEMENT / platform["cube.k0_bytes"])) - 1.0
    penalty = platform["fixpipe.odd_pass"] * m * extra_passes
    return np.asarray(platform["fixpipe.fixed"] + moved + penalty, dtype=np.float64)


def latency_cycles(platform: Platform) -> Floats:
    """Cycles from the end of a drain on the pipe to its data being visible elsewhere (a scalar; assumed)."""
    return np.asarray(platform["fixpipe.latency"], dtype=np.float64)


def unit_flag_overlap(
    platform: Platform, matmul_cycles: ArrayLike, drain_cycles: ArrayLike, acc_bytes: ArrayLike
) -> Floats:
    """Cycles by which a drain with the unit flag overlaps the TMATMUL that fills its accumulator.

    max(0, min(matmul, drain) - time of one granule), the granule's time being its share of the drain: the
    fixpipe follows the cube one granule of `fixpipe.unit_flag_granule` bytes behind. `matmul_cycles` and
    `drain_cycles` (at least 0) and `acc_bytes` (bytes of the accumulator, at least 1) broadcast.

    Assumptions: the cube finishes granules at an even pace and in the order in which they are drained.
    Limit: an upper bound, never measured alone. Source of the granule: cannmirror/asc-devkit docs/zh.
    """
    matmul = floats("matmul_cycles", matmul_cycles, least=0.0)
    drain = floats("drain_cycles", drain_cycles, least=0.0)
    granule = drain * platform["fixpipe.unit_flag_granule"] / floats("acc_bytes", acc_bytes)
    return np.asarray(np.maximum(0.0, np.minimum(matmul, drain) - granule), dtype=np.float64)
