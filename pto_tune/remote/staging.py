"""The staging tile of TPUT and TGET, and the figures that decide how a call is cut.

Both families run the same code (comm/a5/TPut.hpp:10 and TGet.hpp:10 of pto-isa include that of A2/A3).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

TPUT, TGET = OPS = ("TPUT", "TGET")

HALF_TILE_CHUNKS: dict[str, tuple[int, int | None]] = {TPUT: (8, 16), TGET: (8, None)}
"""Least and most chunks of a single-tile call that moves full chunks by halves (comm/a2a3/TPut.hpp:215-230,
TGet.hpp:214-230)."""

BARRIERS_ONCE = {TPUT: 0, TGET: 1}
"""Barriers of a single-tile call that is not cut (comm/a2a3/TPut.hpp:288-296, TGet.hpp:277-280)."""

DIMS = 5
MAX_EXTENT = 2**31 - 1
"""Largest extent of a dimension: the library computes with 32-bit integers (comm/a2a3/TPut.hpp:110-117)."""


@dataclass(frozen=True)
class StagingTile:
    """A staging tile: allocated `rows` x `cols` elements and the valid part of them that is in force.

    An axis with a dynamic valid extent can be shrunk by a call, which is how a tail is moved; a static one cannot.
    `location`, `block_layout` and `fractal_layout` are TileType, BLayout and SLayout of the ISA. Raises ValueError for
    extents out of range, all at once.
    """

    rows: int
    cols: int
    valid_rows: int
    valid_cols: int
    dynamic_rows: bool = False
    dynamic_cols: bool = False
    location: str = "Vec"
    block_layout: str = "RowMajor"
    fractal_layout: str = "NoneBox"

    def __post_init__(self) -> None:
        faults = []
        for axis, valid, extent in (("rows", self.valid_rows, self.rows), ("columns", self.valid_cols, self.cols)):
            if not 1 <= extent <= MAX_EXTENT:
                faults.append(f"a staging tile of {extent} {axis}: expected 1 to {MAX_EXTENT}")
            elif not 1 <= valid <= extent:
                faults.append(f"a staging tile with {valid} valid {axis} of {extent}: expected 1 to {extent}")
        if faults:
            raise ValueError("; ".join(faults))

    @classmethod
    def full(cls, rows: int, cols: int, *, dynamic: bool = False) -> StagingTile:
        """A tile of type Vec, RowMajor and NoneBox that is valid all over; `dynamic` holds for both axes."""
        return cls(rows, cols, rows, cols, dynamic, dynamic)

    @property
    def can_halve(self) -> bool:
        """Whether the tile can be used as two half tiles: Vec, RowMajor, NoneBox, an even number of rows, and the valid
        part is the whole tile (comm/a2a3/TPut.hpp:215-230)."""
        kind = (self.location, self.block_layout, self.fractal_layout) == ("Vec", "RowMajor", "NoneBox")
        full = (self.valid_rows, self.valid_cols) == (self.rows, self.cols)
        return kind and full and self.rows >= 2 and self.rows % 2 == 0

    def after(self, rows: int, cols: int) -> StagingTile:
        """The tile once a chunk of rows x cols has gone through it: dynamic axes have the chunk's extent."""
        return replace(
            self,
            valid_rows=rows if self.dynamic_rows else self.valid_rows,
            valid_cols=cols if self.dynamic_cols else self.valid_cols,
        )

    def __str__(self) -> str:
        """Valid and allocated extents, as in "4 x 36 of 16 x 64"."""
        valid, whole = f"{self.valid_rows} x {self.valid_cols}", f"{self.rows} x {self.cols}"
        return valid if valid == whole else f"{valid} of {whole}"


def check_op(op: str) -> str:
    """TPUT or TGET, or ValueError."""
    if op not in OPS:
        raise ValueError(f"unknown remote transfer {op!r}: choose one of {', '.join(OPS)}")
    return op


def check_shape(shape: Sequence[int]) -> tuple[int, int, int, int, int]:
    """The five extents of a GlobalTensor, d0 first, or ValueError."""
    if len(shape) != DIMS or not all(0 <= extent <= MAX_EXTENT for extent in shape):
        raise ValueError(f"shape {tuple(shape)} of a GlobalTensor: expected {DIMS} extents of 0 to {MAX_EXTENT}")
    d0, d1, d2, d3, d4 = map(int, shape)
    return d0, d1, d2, d3, d4


def is_empty(shape: Sequence[int]) -> bool:
    """Whether there is nothing to move (comm/a2a3/TPut.hpp:284-286)."""
    return 0 in shape


def fits(shape: Sequence[int], tile: StagingTile) -> bool:
    """Whether the valid part of the tile holds all rows d0 d1 d2 d3 and all columns d4 at once."""
    d0, d1, d2, d3, d4 = shape
    return d0 * d1 * d2 * d3 <= tile.valid_rows and d4 <= tile.valid_cols
