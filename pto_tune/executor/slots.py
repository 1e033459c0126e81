"""Writes and reads of slots: what is ordered and what is not.

A slot may be written again when every consumer is known to have read what was in it, and read when its write is known
to be complete. Both are decided by vector clocks at the moment in which an instruction is traced; the order of tracing
is one of those that the program allows, so whatever comes the wrong way round in it is not ordered either.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pto_tune.executor.jit import bare
from pto_tune.executor.state import (
    E_TILES,
    E_WRITTEN,
    R_TILE,
    RELEASED,
    W_CLOCK,
    W_RELEASED,
    W_SEQ,
    W_TILE,
)  # fmt: skip

Ints = NDArray[np.int64]
Counts = NDArray[np.int32]


@bare
def _first(over: Ints, track: int, column: int, tile: int) -> None:
    if over[track, column] < 0 or tile < over[track, column]:
        over[track, column] = tile


@bare
def first_pop(ends: Ints, mates: Ints, st: Ints, es: Ints, sl: Ints, over: Ints, b: int) -> None:
    """Endpoint b pops its first tile: where the slot has been written again by now, nothing orders that."""
    slots = st[ends[b, 3]]
    for j in range(mates.shape[1]):
        e = mates[b, j]
        if e < 0:
            break
        if ends[e, 0] == ends[b, 0] and es[e, E_WRITTEN] > slots:
            over[ends[b, 0], 1] = max(over[ends[b, 0], 1], es[e, E_WRITTEN])
            _first(over, ends[b, 0], 3 if sl[e, slots & (sl.shape[1] - 1), W_RELEASED] >= 1 else 0, slots)


@bare
def unread_pop(ends: Ints, mates: Ints, sl: Ints, over: Ints, vc: Counts, now: int, b: int, tile: int) -> None:
    """Endpoint b pops a tile that no instruction reads, with row `now` of `vc` known: that is its read."""
    at = tile & (sl.shape[1] - 1)
    sl[b, at, R_TILE] = tile
    for j in range(mates.shape[1]):
        e = mates[b, j]
        if e < 0:
            break
        if ends[e, 0] == ends[b, 0] and sl[e, at, W_TILE] == tile and vc[now, sl[e, at, W_CLOCK]] < sl[e, at, W_SEQ]:
            _first(over, ends[b, 0], 2, tile)


@bare
def write_slot(
    ends: Ints, pair: Ints, mates: Ints, st: Ints, hs: Ints, es: Ints, sl: Ints, owner: Ints, seen: Ints, over: Ints,
    b: int, tile: int,
) -> None:  # fmt: skip
    """Endpoint b writes a tile, and not all is well or two rings share the slots: find out what. The tracer has brought
    `seen` and the slot up to date. Columns of `over` as in `trace`, the other arrays as in `state`."""
    track = ends[b, 0]
    shared = ends[b, 6]  # another ring on the same slots
    slots = st[ends[b, 3]]
    at = tile & (sl.shape[1] - 1)
    for j in range(mates.shape[1]):
        e = mates[b, j]
        if e < 0:
            break
        known = seen[b, e]
        if ends[e, 0] == track:
            if sl[e, at, R_TILE] == tile:
                _first(over, track, 2, tile)  # it has been read already
            released = hs[pair[b, e], RELEASED] if pair[b, e] >= 0 else 0
            # one that has never popped may never do so: `first_pop` looks
            if tile + 1 - known > slots and (es[e, E_TILES] > 0 or pair[b, e] < 0):
                _first(over, track, 3 if tile + 1 - released <= slots else 0, tile)
            continue
        for w in range(ends.shape[0]):
            if ends[w, 0] == shared and ends[w, 2] == 1 and es[w, E_WRITTEN] > 0:
                newest = es[w, E_WRITTEN] - 1
                if newest - (newest - tile) % slots >= known:
                    _first(over, track, 0, tile)
    if shared >= 0:
        owner[min(track, shared), tile % slots] = 2 * tile + (1 if track > shared else 0)


@bare
def read_slot(
    ends: Ints, mates: Ints, st: Ints, es: Ints, sl: Ints, owner: Ints, over: Ints, vc: Counts, now: int, b: int,
    tile: int,
) -> None:  # fmt: skip
    """Endpoint b reads a tile with row `now` of `vc` known, and not all is well or two rings share the slots."""
    mask = sl.shape[1] - 1
    track = ends[b, 0]
    shared = ends[b, 6]
    slots = st[ends[b, 3]]
    at = tile & mask
    for j in range(mates.shape[1]):
        e = mates[b, j]
        if e < 0:
            break
        if ends[e, 0] == track:
            if sl[e, at, W_TILE] == tile and vc[now, sl[e, at, W_CLOCK]] < sl[e, at, W_SEQ]:
                _first(over, track, 2, tile)
            if es[e, E_WRITTEN] > tile + slots:
                over[track, 1] = max(over[track, 1], es[e, E_WRITTEN] - tile)
                early = tile + 1 <= sl[e, (tile + slots) & mask, W_RELEASED]
                _first(over, track, 3 if early else 0, tile + slots)
    if shared >= 0:
        last = owner[min(track, shared), tile % slots]
        if last >= 0 and last % 2 != (1 if track > shared else 0):
            _first(over, shared, 0, last // 2)
