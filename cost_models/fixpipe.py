"""Draining the accumulator L0C through the fixpipe."""

import numpy as np
from numpy.typing import ArrayLike

from cost_models.arrays import Floats, floats
from cost_models.platform import Platform

#: targets of a drain and the number that bounds their output bytes
_WRITE_RATES = {"gm": "fixpipe.gm_write_rate", "l1": "fixpipe.l1_write_rate", "ub": "fixpipe.ub_write_rate"}

#: targets whose latency is a number of its own
_LATENCIES = {"ub": "fixpipe.ub_latency"}

TARGETS = tuple(_WRITE_RATES)
"""All targets; `ub` exists on platforms of family `a5` only."""

#: The accumulator holds float or int32.
_ACC_BYTES_PER_ELEMENT = 4.0


def _odd_part(numbers: Floats) -> Floats:
    """The largest odd divisor of each (whole, positive) number."""
    whole = numbers.astype(np.int64)
    return np.asarray(whole // (whole & -whole), dtype=np.float64)


def targets(platform: Platform) -> list[str]:
    """The targets to which `platform` can drain."""
    return [target for target in TARGETS if target != "ub" or _WRITE_RATES[target] in platform]


def _check_target(platform: Platform, target: str) -> None:
    if target not in _WRITE_RATES:
        raise ValueError(f"unknown drain target {target!r}; choose one of {', '.join(targets(platform))}")
    if target not in targets(platform):
        raise ValueError(
            f"platform {platform.name!r} (family {platform.family}) has no drain to target {target!r}; "
            f"choose one of {', '.join(targets(platform))}"
        )


def drain_cycles(
    platform: Platform,
    rows: ArrayLike,
    cols: ArrayLike,
    out_bytes_per_element: ArrayLike,
    target: str = "gm",
) -> Floats:
    """Cycles for which a drain of `rows` x `cols` accumulator elements occupies the fixpipe.

    fixed + max(row x rows, 4 x rows x cols / rate, output bytes / write rate)
    + odd_pass x rows x (odd part of ceil(4 x cols / cube.k0_bytes) - 1), where the write rate is
    that of the target: `gm_write_rate`, `l1_write_rate` or `ub_write_rate`. `rows`, `cols` (at least 1) and
    `out_bytes_per_element` (type of the output) broadcast.

    A drain into the UBs of both sub-cores at once costs what the part of one sub-core costs, because each is
    written at `ub_write_rate`: give the rows and columns of that part.

    Assumptions: reading L0C and writing the target overlap; the penalty of an odd number of fractals does not depend
    on the output type, because the accumulator always has 4 bytes an element. Limits: fitted for 16 to 256
    rows and for columns that are a multiple of 16; the penalty was measured at few odd parts only; quantised
    outputs, ReLU and atomic addition cost nothing extra here. With the unit flag the time that a board's counter shows
    for the fixpipe is longer: it seems to run from the issue of the drain, which waits in the pipe for the product.
    Source: drain model of hw-native-sys/pypto include/pypto/backend/common/backend_handler.h; GM side from the GEMM
    table of hw-native-sys/pto-isa; for 950 the Cube table of cannmirror/asc-devkit docs/zh and the streams of
    huawei-csl/pto-kernels.
    Raises ValueError for an unknown target, for one that the platform does not have and for sizes out of range.
    """
    _check_target(platform, target)
    m = floats("rows", rows)
    n = floats("cols", cols)
    out_bytes = floats("out_bytes_per_element", out_bytes_per_element) * m * n
    moved = np.maximum(m * platform["fixpipe.row"], m * n * _ACC_BYTES_PER_ELEMENT / platform["fixpipe.rate"])
    moved = np.maximum(moved, out_bytes / platform[_WRITE_RATES[target]])
    extra_passes = _odd_part(np.ceil(n * _ACC_BYTES_PER_ELEMENT / platform["cube.k0_bytes"])) - 1.0
    penalty = platform["fixpipe.odd_pass"] * m * extra_passes
    return np.asarray(platform["fixpipe.fixed"] + moved + penalty, dtype=np.float64)


def latency_cycles(platform: Platform, target: str = "gm") -> Floats:
    """Cycles from the end of a drain on the pipe to its data being visible in `target` (a scalar; assumed).

    Raises ValueError for an unknown target and for one that the platform does not have.
    """
    _check_target(platform, target)
    return np.asarray(platform[_LATENCIES.get(target, "fixpipe.latency")], dtype=np.float64)


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
