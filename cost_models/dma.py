"""Transfers of the MTE pipes: GM, L1, UB and the operand buffers of the cube."""

import numpy as np
from numpy.typing import ArrayLike

from cost_models.arrays import Floats, floats
from cost_models.platform import Platform

#: paths and the factor that a misaligned row pitch costs on them, None where rows are always aligned
_MISALIGNED: dict[str, str | None] = {
    "gm_to_l1": "dma.misaligned_factor_l1",
    "gm_to_ub": "dma.misaligned_factor_ub",
    "ub_to_gm": "dma.misaligned_factor_ub",
    "l1_to_l0a": None,
    "l1_to_l0b": None,
    "ub_to_l1": None,
}

PATHS = tuple(_MISALIGNED)
"""All paths; `ub_to_l1` exists on platforms of family `a5` only."""


def paths(platform: Platform) -> list[str]:
    """The paths that `platform` has."""
    return [path for path in PATHS if f"dma.{path}.rate" in platform]


def _check_path(platform: Platform, path: str) -> None:
    if path not in _MISALIGNED:
        raise ValueError(f"unknown DMA path {path!r}; choose one of {', '.join(paths(platform))}")
    if f"dma.{path}.rate" not in platform:
        raise ValueError(
            f"platform {platform.name!r} (family {platform.family}) has no DMA path {path!r}; "
            f"choose one of {', '.join(paths(platform))}"
        )


def transfer_cycles(
    platform: Platform, path: str, bytes_: ArrayLike, burst_bytes: ArrayLike, aligned: ArrayLike = True
) -> Floats:
    """Cycles for which one instruction occupies its pipe, alone on the chip.

    startup + factor x max(bursts x burst, bytes / rate), with bursts = ceil(bytes / burst_bytes). `bytes_`
    (at least 0), `burst_bytes` (bytes of a contiguous run in GM, at least 1) and `aligned` (whether the row
    pitch is a multiple of `dma.align`) broadcast; the result has their common shape.

    Assumptions: bursts and bytes overlap, so that the slower of the two counts; misalignment costs a factor
    on GM paths and nothing between the buffers of a core. Limits: the rate is that of one core on data in L2; what many
    cores take from L2 or HBM together is bounded elsewhere (`cost_models.sharing`). Bank conflicts and
    accesses of several cores to one 512-byte line are not modelled. Source: the `dma` numbers of the
    platform, for A2/A3 the DataCopy tables of cannmirror/asc-devkit and the GEMM table of
    hw-native-sys/pto-isa. Raises ValueError for an unknown path, for one that the platform does not have and
    for sizes out of range.
    """
    _check_path(platform, path)
    size = floats("bytes_", bytes_, least=0.0)
    bursts = np.ceil(size / floats("burst_bytes", burst_bytes))
    moved = np.maximum(bursts * platform[f"dma.{path}.burst"], size / platform[f"dma.{path}.rate"])
    factor_key = _MISALIGNED[path]
    factor = np.float64(1.0 if factor_key is None else platform[factor_key])
    slowed = np.where(np.asarray(aligned, dtype=np.bool_), moved, moved * factor)
    return np.asarray(platform[f"dma.{path}.startup"] + slowed, dtype=np.float64)


def latency_cycles(platform: Platform, path: str) -> Floats:
    """Cycles from the end of a transfer on its pipe to its data being visible to a waiting pipe (a scalar).

    The pipe is free for the next instruction meanwhile. Assumed on GM paths: no microbenchmark of a single
    transfer is published. Raises ValueError for an unknown path and for one that the platform does not have.
    """
    _check_path(platform, path)
    return np.asarray(platform[f"dma.{path}.latency"], dtype=np.float64)
