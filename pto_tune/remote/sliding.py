"""The plan of one TPUT or TGET: which pieces it moves, in which order, and what it leaves in the staging tile.

The library cuts what does not fit: for every d0, d1 and d2 it slides over the rows d3 in steps of the valid rows of the
tile, and within them over the columns d4 in steps of the valid columns. Rows never merge across d2. A dynamic valid
shape is written for every chunk, and nobody puts it back, so the last chunk decides how the next call with this tile is
cut. Source: comm/a2a3/TPut.hpp:87-155, 202-296, 399-462 and TGet.hpp:214-280 of pto-isa.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pto_tune.remote.rules import divisibility
from pto_tune.remote.staging import BARRIERS_ONCE, HALF_TILE_CHUNKS, StagingTile, check_op, check_shape, fits, is_empty

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

EMPTY, ONCE, CHUNKS, PING_PONG = FORMS = ("empty", "once", "chunks", "ping-pong")
"""Nothing to move; one transfer; chunks through one tile; chunks through two tiles by turns."""

MAX_PIECES = 2**20
"""Most pieces of a plan that is written out; `columns` counts and times any number."""


@dataclass(frozen=True)
class Plan:
    """The n pieces of a call, in order.

    `origin` (n, 5) is the index d0..d4 of a piece's first element in both GlobalTensors, `rows` and `cols` (n) its
    extents: of the one transfer of form "once" all d0 d1 d2 d3 rows. Where `halves` (n), a piece is moved as two
    transfers of half its rows: load 1, then store 1 while load 2 runs, then store 2. `tile` (n) is 0 where a piece goes
    through the (ping) tile and 1 through pong. `barriers` (n) counts the barriers of all pipes for a piece, each before
    a store. `left` are the tiles as the call leaves them.
    """

    op: str
    form: str
    origin: Ints
    rows: Ints
    cols: Ints
    halves: Bools
    tile: Ints
    barriers: Ints
    left: tuple[StagingTile, ...]

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def transfers(self) -> int:
        """Loads, which are as many as stores: two for a piece that is moved by halves."""
        return len(self) + int(self.halves.sum())

    def offsets(self, strides: ArrayLike) -> Ints:
        """Offset of each piece (n) in elements, by the five strides of one side in elements; each side has its own."""
        steps = np.asarray(strides)
        if steps.shape != (5,) or steps.dtype.kind not in "iu":
            raise ValueError(f"strides {strides!r} of a GlobalTensor: expected five integers")
        if (self.origin.astype(np.float64) * np.abs(steps.astype(np.float64))).sum(axis=1).max(initial=0.0) >= 2.0**62:
            raise ValueError(f"strides {strides!r} of a GlobalTensor reach beyond 2^62 elements: expected less")
        return np.asarray(self.origin @ steps.astype(np.int64), dtype=np.int64)


def plan(op: str, shape: Sequence[int], tile: StagingTile, pong: StagingTile | None = None) -> Plan:
    """The pieces of TPUT or TGET of a source GlobalTensor (d0..d4) through one tile, or with `pong` through two.

    With two tiles the valid shape of the first one sets the steps, whatever that of `pong` is. Each tile takes the
    extents of the last chunk that went through it.

    Raises ValueError for values out of range, for a static valid shape that would have to be shrunk (naming both
    remainders), and for more than `MAX_PIECES` pieces.
    """
    check_op(op)
    dims = check_shape(shape)
    tiles = (tile,) if pong is None else (tile, pong)
    if is_empty(dims):
        return _uncut(op, EMPTY, 0, 0, 0, tiles)
    if fits(dims, tile):
        # The ping-pong form moves it through ping like any chunk, with a barrier (comm/a2a3/TPut.hpp:459-462).
        barriers = BARRIERS_ONCE[op] if pong is None else 1
        return _uncut(op, ONCE, dims[0] * dims[1] * dims[2] * dims[3], dims[4], barriers, tiles)
    fault = divisibility(op, dims, tile)
    if fault is not None:
        raise ValueError(fault)
    return _cut(op, dims, tiles)


def _uncut(op: str, form: str, rows: int, cols: int, barriers: int, tiles: tuple[StagingTile, ...]) -> Plan:
    n = int(form == ONCE)

    def column(value: int) -> Ints:
        return np.full(n, value, dtype=np.int64)

    return Plan(
        op, form, np.zeros((n, 5), dtype=np.int64), column(rows), column(cols), np.zeros(n, dtype=bool), column(0),
        column(barriers), tiles,
    )  # fmt: skip


def _cut(op: str, dims: tuple[int, int, int, int, int], tiles: tuple[StagingTile, ...]) -> Plan:
    step_rows, step_cols = tiles[0].valid_rows, tiles[0].valid_cols
    grid = (*dims[:3], -(-dims[3] // step_rows), -(-dims[4] // step_cols))
    n = grid[0] * grid[1] * grid[2] * grid[3] * grid[4]
    if n > MAX_PIECES:
        raise ValueError(f"{op} of {dims} through a tile of {tiles[0]} has {n} pieces: expected at most {MAX_PIECES}")
    origin = np.stack(np.unravel_index(np.arange(n), grid), axis=1).astype(np.int64)
    origin[:, 3] *= step_rows
    origin[:, 4] *= step_cols
    rows = np.minimum(step_rows, dims[3] - origin[:, 3])
    cols = np.minimum(step_cols, dims[4] - origin[:, 4])
    halves = np.zeros(n, dtype=bool)
    least, most = HALF_TILE_CHUNKS[op]
    if len(tiles) == 1 and tiles[0].can_halve and n >= least and (most is None or n <= most):
        halves = (rows == tiles[0].rows) & (cols == tiles[0].cols)
    through = np.arange(n, dtype=np.int64) % len(tiles)
    left = []
    for k, tile in enumerate(tiles):
        last = int(np.flatnonzero(through == k)[-1])  # a call that is cut has at least two pieces
        left.append(tile.after(int(rows[last]), int(cols[last])))
    form = CHUNKS if len(tiles) == 1 else PING_PONG
    barriers = np.where(halves, 2, 1).astype(np.int64)
    return Plan(op, form, origin, rows, cols, halves, through, barriers, tuple(left))
