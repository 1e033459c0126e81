"""Operations of the vector unit on tiles in UB."""

import numpy as np
from numpy.typing import ArrayLike

from cost_models.arrays import Floats, floats
from cost_models.keys import vector_families
from cost_models.platform import Platform


def families(platform: Platform) -> list[str]:
    """The operation families that `platform` prices."""
    return vector_families(platform)


def op_cycles(platform: Platform, family: str, rows: ArrayLike, cols: ArrayLike, elem_bytes: ArrayLike) -> Floats:
    """Cycles for which one tile operation on `rows` x `cols` elements occupies the vector unit.

    fixed + slope x repeats, plus the count-mode floor where the elements are not a whole number of repeats.
    A row takes up whole blocks of `memory.align` bytes in UB; repeats = ceil(bytes of all rows / 256).
    `rows`, `cols` (valid elements, at least 1) and `elem_bytes` (bytes an element; of the wider type in a
    conversion; of the source in a reduction) broadcast.

    Assumptions: the tile is contiguous in UB and one instruction covers it; a partial repeat costs a whole
    one. Limits: two-source operations on 16-bit tiles with rows of 128 bytes were measured at one repeat a
    row, up to twice what this gives (64 x 64: 167 cycles measured, 92 here); row reductions take no account
    of how the row length splits; UB bank conflicts are not modelled; operations that one vector function of
    a 950 fuses are priced apart. Source: the 910B3 instruction fits of hw-native-sys/pto-isa
    include/pto/costmodel/a2a3/cce_costmodel; for 950, whose functions loop over 256-byte registers, the Reg
    tables of cannmirror/asc-devkit docs/zh and VfSim of pto-isa. Raises ValueError for an unknown family
    and for shapes out of range.
    """
    if f"vector.{family}.slope" not in platform:
        raise ValueError(f"unknown vector family {family!r}; choose one of {', '.join(families(platform))}")
    size = floats("elem_bytes", elem_bytes)
    row_bytes = floats("cols", cols) * size
    block = platform["memory.align"]
    padded_row_bytes = np.ceil(row_bytes / block) * block
    total_bytes = floats("rows", rows) * padded_row_bytes
    repeats = np.ceil(total_bytes / platform["vector.repeat_bytes"])
    whole = (repeats * platform["vector.repeat_bytes"] == total_bytes) & (padded_row_bytes == row_bytes)
    floor = np.where(whole, 0.0, platform["vector.count_mode_floor"])
    cycles = platform[f"vector.{family}.fixed"] + platform[f"vector.{family}.slope"] * repeats + floor
    return np.asarray(cycles, dtype=np.float64)
