"""Where each sub-core's part of a tile lies in a slot, by way, ring and split.

A slot holds the whole tile densely, its valid columns being the row stride (npu/a2a3/TPush.hpp:192-207, 396-418;
npu/a5/TPush.hpp:289-310, 584-623). Every sub-core computes where its part begins from its own valid shape.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pto_tune.model.nodes import LEFT_RIGHT, LEFT_RIGHT_ODD, NO_SPLIT, UP_DOWN, UP_DOWN_ODD, TConfig

if TYPE_CHECKING:
    from pto_tune.legality.calls import End
    from pto_tune.legality.rules import Ints


@dataclass(frozen=True)
class Part:
    """What a core reads or writes of a slot: `rows` rows of `row_bytes`, `stride` apart, `offset` bytes from the slot's
    start. All grids."""

    offset: Ints
    rows: Ints
    row_bytes: Ints
    stride: Ints

    @property
    def bytes(self) -> Ints:
        return self.rows * self.row_bytes

    @property
    def end(self) -> Ints:
        """The byte behind the last one; 0 where the part is empty."""
        import numpy as np

        return np.where(self.bytes > 0, self.offset + (self.rows - 1) * self.stride + self.row_bytes, 0)


def slot_part(core: str, producer: bool, ring: str, split: Ints, rows: Ints, cols: Ints, elem_bytes: Ints) -> Part:
    """The part that a TileData call of AIC, AIV0 or AIV1 touches, by its own valid shape.

    AIC pushes and AIV pops in C2V, and the other way round in V2C. Rings in L1 are addressed by row and column
    (TINSERT, npu/a5/TPush.hpp:252-265): here as if the rows were dense. In a ring in UB every sub-core has a slot of
    its own (npu/a5/TPush.hpp:569-571); `ub_parts` says what AIC writes there. The odd splits of a V2C push are those of
    a ring in GM: LEFT_RIGHT's offset with the stride of the part (npu/a2a3/TPush.hpp:191, 200).
    """
    import numpy as np

    k = 1 if core == "AIV1" else 0
    row, nothing = cols * elem_bytes, np.zeros_like(rows * cols)
    if core == "AIC" or ring == "UB":
        return Part(nothing, rows, row, row)
    up_down, left_right = k * rows * row, k * row
    if producer:
        offset = np.select([split == NO_SPLIT, split == UP_DOWN], [nothing, up_down], left_right)
        return Part(offset, rows, row, np.where(split == LEFT_RIGHT, 2 * row, row))
    offset = np.select(
        [split == UP_DOWN, split == LEFT_RIGHT, split == UP_DOWN_ODD, split == LEFT_RIGHT_ODD],
        [up_down, left_right, k * (rows + k) * row, k * (cols + k) * elem_bytes],
        nothing,
    )
    odd_stride = (2 * cols + 2 * k - 1) * elem_bytes
    stride = np.select([split == LEFT_RIGHT, split == LEFT_RIGHT_ODD], [2 * row, odd_stride], row)
    return Part(offset, rows, row, stride)


def ub_parts(pushed: End, config: TConfig | None) -> tuple[Part, Part]:
    """What AIC's push leaves in the UB of AIV0 and of AIV1 on 950 (npu/a5/TPush.hpp:213-236; with a TConfig by its
    SubBlockId, :379-382). Odd splits leave nothing."""
    import numpy as np

    rows, cols, elem = pushed.rows, pushed.cols, pushed.elem_bytes
    mode = np.full_like(pushed.split, 4)
    for split, value in ((NO_SPLIT, 0), (UP_DOWN, 2), (LEFT_RIGHT, 3)):
        mode = np.where(pushed.split == split, value, mode)
    if config is not None:
        mode = np.full_like(pushed.split, config.sub_block_id)
    parts = []
    for k in (0, 1):
        r = np.select([mode == k, mode == 2, mode == 3], [rows, rows // 2, rows], 0)
        row = np.where(mode == 3, cols // 2, cols) * elem
        parts.append(Part(np.zeros_like(r), r, row, row))
    return parts[0], parts[1]
