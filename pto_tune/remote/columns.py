"""Counts and times of TPUT and TGET in closed form, for many configurations at once.

`sliding.plan` writes one call out; here a call is a row of columns and costs the same however many pieces it has. A cut
call has at most four distinct chunks (full, column tail, row tail, corner), full ones perhaps by halves, so that a time
is a sum of products. Everything is an exact integer.

Columns say what the library's loops do. A row whose static valid shape does not divide the tensor has the counts of
those loops, but is to be refused: `remainders` finds it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pto_tune.remote.staging import BARRIERS_ONCE, DIMS, HALF_TILE_CHUNKS, MAX_EXTENT, check_op

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
Times = Callable[[Ints, Ints], ArrayLike] | ArrayLike
"""Cycles of one transfer: a function of its rows and columns, or values for each shape of `PIECES` that broadcast to
(6, N)."""

ONCE, FULL, HALF, COLUMN_TAIL, ROW_TAIL, CORNER = range(6)
PIECES = ("once", "full", "half", "column tail", "row tail", "corner")
"""The distinct shapes of a call: all of it, a chunk as large as the valid shape, half of such a chunk, and chunks cut
short in columns, in rows and in both."""

_CHUNK = ((FULL, COLUMN_TAIL), (ROW_TAIL, CORNER))  # by: in the row tail, in the column tail

_MOST_ELEMENTS = 2**53
_MOST_CYCLES = 2**62


@dataclass(frozen=True)
class Calls:
    """N calls of one instruction as columns of length N; made by `calls`."""

    op: str
    shape: tuple[Ints, Ints, Ints, Ints, Ints]
    rows: Ints
    cols: Ints
    valid_rows: Ints
    valid_cols: Ints
    dynamic_rows: Bools
    dynamic_cols: Bools
    ping_pong: Bools
    half_tile: Bools

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def slices(self) -> Ints:
        """d0 d1 d2: how often rows and columns are slid over."""
        return self.shape[0] * self.shape[1] * self.shape[2]

    @property
    def empty(self) -> Bools:
        return np.asarray(self.slices * self.shape[3] * self.shape[4] == 0, dtype=np.bool_)

    @property
    def once(self) -> Bools:
        """Where the valid part of the tile holds everything."""
        fits = (self.slices * self.shape[3] <= self.valid_rows) & (self.shape[4] <= self.valid_cols)
        return np.asarray(fits & ~self.empty, dtype=np.bool_)

    @property
    def cut(self) -> Bools:
        return ~self.empty & ~self.once


def calls(
    op: str,
    shape: Sequence[ArrayLike],
    rows: ArrayLike,
    cols: ArrayLike,
    *,
    valid_rows: ArrayLike | None = None,
    valid_cols: ArrayLike | None = None,
    dynamic_rows: ArrayLike = True,
    dynamic_cols: ArrayLike = True,
    ping_pong: ArrayLike = False,
    half_tile: ArrayLike = True,
) -> Calls:
    """Columns of calls of `op` (TPUT or TGET); all arguments broadcast to one dimension N.

    `shape` are the extents d0..d4 of the source, `rows` and `cols` those of the staging tile, `valid_rows` and
    `valid_cols` what is valid of it (default: all), `dynamic_rows` and `dynamic_cols` whether a call may shrink that,
    `ping_pong` whether there are two tiles, and `half_tile` whether the tile is Vec, RowMajor and NoneBox and the
    library has the form by halves. Raises ValueError for values out of range and for more than 2^53 elements a call.
    """
    check_op(op)
    if len(shape) != DIMS:
        raise ValueError(f"a GlobalTensor of {len(shape)} dimensions: expected {DIMS}")
    numbers = [_integers(f"d{k}", extent, 0) for k, extent in enumerate(shape)]
    numbers += [_integers("tile rows", rows, 1), _integers("tile columns", cols, 1)]
    numbers.append(_integers("valid rows", rows if valid_rows is None else valid_rows, 1))
    numbers.append(_integers("valid columns", cols if valid_cols is None else valid_cols, 1))
    flags = [np.asarray(flag, dtype=np.bool_) for flag in (dynamic_rows, dynamic_cols, ping_pong, half_tile)]
    n = np.broadcast_shapes((1,), *(a.shape for a in (*numbers, *flags)))
    if len(n) != 1:
        raise ValueError(f"columns of {len(n)} dimensions: expected 1")
    d0, d1, d2, d3, d4, r, c, vr, vc = (np.broadcast_to(a, n) for a in numbers)
    for what, valid, extent in (("rows", vr, r), ("columns", vc, c)):
        if (valid > extent).any():
            i = int((valid > extent).argmax())
            raise ValueError(f"{int(valid[i])} valid {what} of a tile of {int(extent[i])}: expected at most as many")
    elements = np.prod([np.maximum(d, 1).astype(np.float64) for d in (d0, d1, d2, d3, d4)], axis=0)
    if (elements > _MOST_ELEMENTS).any():
        raise ValueError(f"a GlobalTensor of {elements.max():.4g} elements: expected at most {_MOST_ELEMENTS}")
    return Calls(op, (d0, d1, d2, d3, d4), r, c, vr, vc, *(np.broadcast_to(flag, n) for flag in flags))


def chunk_count(c: Calls) -> Ints:
    """Pieces of each call (N): 0 where it is empty, 1 where it fits, else d0 d1 d2 ceil(d3/rows) ceil(d4/columns)."""
    chunks = c.slices * -(-c.shape[3] // c.valid_rows) * -(-c.shape[4] // c.valid_cols)
    return np.asarray(np.select([c.empty, c.once], [0, 1], chunks), dtype=np.int64)


def full_chunks(c: Calls) -> Ints:
    """Chunks of cut calls (N) that are as large as the valid shape."""
    return np.where(c.cut, c.slices * (c.shape[3] // c.valid_rows) * (c.shape[4] // c.valid_cols), 0)


def halved_chunks(c: Calls) -> Ints:
    """Chunks (N) that are moved as two half-row transfers: the full ones of single-tile calls in the window of
    `HALF_TILE_CHUNKS`."""
    n, (least, most) = chunk_count(c), HALF_TILE_CHUNKS[c.op]
    window = (n >= least) & (n <= (most if most is not None else n))
    full = (c.valid_rows == c.rows) & (c.valid_cols == c.cols) & (c.rows >= 2) & (c.rows % 2 == 0)
    return np.where(window & full & c.half_tile & ~c.ping_pong, full_chunks(c), 0)


def barrier_count(c: Calls) -> Ints:
    """Barriers of all pipes in each call (N): one a piece, two a halved one, and none in an uncut single-tile TPUT."""
    none = c.once & ~c.ping_pong & (BARRIERS_ONCE[c.op] == 0)
    return np.where(none, 0, chunk_count(c) + halved_chunks(c))


def remainders(c: Calls) -> tuple[Ints, Ints]:
    """d3 modulo valid rows and d4 modulo valid columns (N each) where the axis is static and the call is cut, else 0;
    a call with one that is not 0 is illegal (`rules.divisibility`)."""
    over_rows = np.where(c.cut & ~c.dynamic_rows, c.shape[3] % c.valid_rows, 0)
    over_cols = np.where(c.cut & ~c.dynamic_cols, c.shape[4] % c.valid_cols, 0)
    return over_rows, over_cols


def valid_after(c: Calls) -> tuple[Ints, Ints]:
    """Valid rows and columns (N each) that a call leaves in its tile; with two, in ping, which cuts the next call."""
    last_rows, last_cols = (_tail_or_step(c.shape[k], step) for k, step in ((3, c.valid_rows), (4, c.valid_cols)))
    # Of an even number of chunks, ping has had the last but one: a column before it, or a row where there is no other.
    before = c.ping_pong & (chunk_count(c) % 2 == 0)
    one_column, one_row = c.shape[4] <= c.valid_cols, c.shape[3] <= c.valid_rows
    rows = np.where(before & one_column & ~one_row, c.valid_rows, last_rows)
    cols = np.where(before & ~one_column, c.valid_cols, last_cols)
    return (
        np.where(c.cut & c.dynamic_rows, rows, c.valid_rows),
        np.where(c.cut & c.dynamic_cols, cols, c.valid_cols),
    )


def piece_shapes(c: Calls) -> tuple[Ints, Ints, Ints]:
    """Count, rows and columns of each distinct shape: three arrays (6, N) in the order of `PIECES`.

    A halved chunk counts twice under "half" and not under "full". A shape that a call does not have counts 0 and is
    given as 1 x 1, so that a cost model has something to price.
    """
    fr, fc = c.shape[3] // c.valid_rows, c.shape[4] // c.valid_cols
    rt, ct = c.shape[3] % c.valid_rows, c.shape[4] % c.valid_cols
    groups, halved = np.where(c.cut, c.slices, 0), halved_chunks(c)
    count = np.stack(
        [
            c.once.astype(np.int64), groups * fr * fc - halved, 2 * halved,
            groups * fr * (ct > 0), groups * (rt > 0) * fc, groups * (rt > 0) * (ct > 0),
        ]
    )  # fmt: skip
    rows = np.stack([c.slices * c.shape[3], c.valid_rows, c.rows // 2, c.valid_rows, rt, rt])
    cols = np.stack([c.shape[4], c.valid_cols, c.valid_cols, ct, c.valid_cols, ct])
    there = count > 0
    return count, np.where(there, rows, 1), np.where(there, cols, 1)


def call_cycles(c: Calls, load: Times, store: Times, barrier: ArrayLike = 0) -> Ints:
    """Cycles of each call (N), from its first load to the end of its last store, alone on its pipes.

    `load` and `store` are cycles of one transfer, as functions of rows and columns that take arrays (6, N) or as values
    that broadcast to (6, N) in the order of `PIECES`; `barrier` is that of one barrier of all pipes. All are integers,
    at least 0. Raises ValueError where they are not, or where the result could pass 2^62.

    Single tile: load + barrier + store a piece; a halved chunk h + b + max(h, s) + b + s with the times h and s of its
    halves. Two tiles: the first load, for each next piece a barrier and the longer of its load and the store before it,
    and a barrier and the last store. Assumed: what runs at the same time does not slow each other down, and issuing
    costs nothing.
    """
    count, rows, cols = piece_shapes(c)
    loads, stores = (_times(name, t, rows, cols) for name, t in (("load", load), ("store", store)))
    wall = np.broadcast_to(_integers("barrier cycles", barrier, 0, _MOST_CYCLES), len(c))
    pieces, barriers = chunk_count(c).astype(np.float64), barrier_count(c)
    bound = pieces * (2.0 * loads.max(axis=0) + 2.0 * stores.max(axis=0)) + barriers * wall.astype(np.float64)
    if (bound > _MOST_CYCLES).any():
        raise ValueError(f"a call of up to {bound.max():.4g} cycles: expected at most 2^62")
    apart = loads + stores
    apart[HALF] = 0
    halves = count[HALF] // 2 * (loads[HALF] + np.maximum(loads[HALF], stores[HALF]) + stores[HALF])
    one_by_one = (count * apart).sum(axis=0) + halves
    moving = np.where(c.ping_pong & c.cut, _overlapped(c, loads, stores), one_by_one)
    return np.asarray(moving + barriers * wall, dtype=np.int64)


def _overlapped(c: Calls, loads: Ints, stores: Ints) -> Ints:
    """First load, the longer of store and load at every change of chunk, last store."""
    fr, fc = c.shape[3] // c.valid_rows, c.shape[4] // c.valid_cols
    row_tail, col_tail = c.shape[3] % c.valid_rows > 0, c.shape[4] % c.valid_cols > 0
    # A band is a row of chunks; (a, b) are the kinds of neighbours, 1 for a tail.
    bands = {0: c.slices * fr, 1: c.slices * row_tail}
    along = {(0, 0): np.maximum(fc - 1, 0), (0, 1): ((fc > 0) & col_tail).astype(np.int64)}
    slices = np.maximum(c.slices - 1, 0)
    down = {
        (0, 0): c.slices * np.maximum(fr - 1, 0) + slices * ~row_tail,
        (0, 1): c.slices * ((fr > 0) & row_tail),
        (1, 0): slices * (row_tail & (fr > 0)),
        (1, 1): slices * (row_tail & (fr == 0)),
    }
    # By row kind: the first and last chunk of a band.
    first = {k: [np.where(fc > 0, t[_CHUNK[k][0]], t[_CHUNK[k][1]]) for t in (loads, stores)] for k in (0, 1)}
    last = {k: [np.where(col_tail, t[_CHUNK[k][1]], t[_CHUNK[k][0]]) for t in (loads, stores)] for k in (0, 1)}
    total = np.where(fr > 0, first[0][0], first[1][0]) + np.where(row_tail, last[1][1], last[0][1])
    for k in (0, 1):
        for (a, b), times in along.items():
            total = total + bands[k] * times * np.maximum(stores[_CHUNK[k][a]], loads[_CHUNK[k][b]])
    for (a, b), times in down.items():
        total = total + times * np.maximum(last[a][1], first[b][0])
    return np.asarray(total, dtype=np.int64)


def _tail_or_step(extent: Ints, step: Ints) -> Ints:
    """Extent of the last chunk along an axis."""
    return np.where(extent % step > 0, extent % step, step)


def _times(what: str, times: Times, rows: Ints, cols: Ints) -> Ints:
    values = times(rows, cols) if callable(times) else times
    return np.broadcast_to(_integers(f"{what} cycles", values, 0, _MOST_CYCLES), rows.shape)


def _integers(what: str, values: ArrayLike, least: int, most: int = MAX_EXTENT) -> Ints:
    a = np.asarray(values)
    if a.size and a.dtype.kind not in "iu":
        raise ValueError(f"{what} of type {a.dtype}: expected integers")
    if a.size and (a.min() < least or a.max() > most):
        bad = int(a.min()) if a.min() < least else int(a.max())
        raise ValueError(f"{what} {bad}: expected {least} to {most}")
    return a.astype(np.int64)
