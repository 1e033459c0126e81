"""Writes and reads of slots: what is ordered and what is not.

A slot may be written again when every consumer is known to have read what was in it, and read when its write is known
to be complete. Both are decided by vector clocks at the moment in which an instruction is traced; the order of tracing
is one of those that the program allows, so whatever comes the wrong way round in it is not ordered either.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pto_tune.executor.jit import kernel
from pto_tune.executor.state import NEVER

Ints = NDArray[np.int64]
Counts = NDArray[np.int32]


@kernel
def _first(over: Ints, track: int, column: int, tile: int) -> None:
    if over[track, column] < 0 or tile < over[track, column]:
        over[track, column] = tile


@kernel
def first_pop(ends: Ints, st: Ints, written: Ints, w_rel: Ints, over: Ints, b: int) -> None:
    """Endpoint b pops its first tile: where the slot has been written again by now, nothing orders that."""
    slots = st[ends[b, 3]]
    for e in range(ends.shape[0]):
        if ends[e, 2] == 1 and ends[e, 0] == ends[b, 0] and written[e] > slots:
            over[ends[b, 0], 1] = max(over[ends[b, 0], 1], written[e])
            _first(over, ends[b, 0], 3 if w_rel[e, slots & (w_rel.shape[1] - 1)] >= 1 else 0, slots)


@kernel
def write_slot(
    ends: Ints, pair: Ints, st: Ints, rel: Ints, count: Ints, written: Ints, read_clock: Ints, read_seq: Ints,
    r_tile: Ints, w_tile: Ints, w_clock: Ints, w_seq: Ints, w_rel: Ints, owner: Ints, seen: Ints, over: Ints,
    clock: Counts, b: int, tile: int, pipe: int, number: int,
) -> None:  # fmt: skip
    """Endpoint b writes a tile by instruction `number` of `pipe`, which knows `clock`. Columns of `over` as in
    `trace`, the other arrays as in `state`."""
    mask = w_tile.shape[1] - 1
    track = ends[b, 0]
    shared = ends[b, 6]  # another ring on the same slots
    slots = st[ends[b, 3]]
    at = tile & mask
    written[b] = max(written[b], tile + 1)
    w_tile[b, at] = tile
    w_clock[b, at] = pipe
    w_seq[b, at] = number
    w_rel[b, at] = NEVER
    for e in range(ends.shape[0]):
        mine = ends[e, 0] == track
        if ends[e, 2] == 1 or not (mine or (shared >= 0 and ends[e, 0] == shared)):
            continue
        # tiles that the writer knows to be read
        known = seen[b, e]
        while known < count[e] and clock[read_clock[e, known & mask]] >= read_seq[e, known & mask]:
            known += 1
        seen[b, e] = known
        if mine:
            if r_tile[e, at] == tile:
                _first(over, track, 2, tile)  # it has been read already
            released = rel[pair[b, e]] if pair[b, e] >= 0 else 0
            w_rel[b, at] = min(w_rel[b, at], released)
            if count[e] == 0 and pair[b, e] >= 0:
                continue  # it may never pop: `first_pop` looks
            in_flight = tile + 1 - known
            over[track, 1] = max(over[track, 1], in_flight)
            if in_flight > slots:
                _first(over, track, 3 if tile + 1 - released <= slots else 0, tile)
            continue
        for w in range(ends.shape[0]):
            if ends[w, 0] == shared and ends[w, 2] == 1 and written[w] > 0:
                newest = written[w] - 1
                if newest - (newest - tile) % slots >= known:
                    _first(over, track, 0, tile)
    if shared >= 0:
        owner[min(track, shared), tile % slots] = 2 * tile + (1 if track > shared else 0)


@kernel
def read_slot(
    ends: Ints, st: Ints, written: Ints, read_clock: Ints, read_seq: Ints, r_tile: Ints, w_tile: Ints, w_clock: Ints,
    w_seq: Ints, w_rel: Ints, owner: Ints, seen: Ints, over: Ints, clock: Counts, b: int, tile: int, pipe: int,
    number: int,
) -> None:  # fmt: skip
    """Endpoint b reads a tile by instruction `number` of `pipe`, which knows `clock`."""
    mask = w_tile.shape[1] - 1
    track = ends[b, 0]
    shared = ends[b, 6]
    slots = st[ends[b, 3]]
    at = tile & mask
    read_clock[b, at] = pipe
    read_seq[b, at] = number
    r_tile[b, at] = tile
    for e in range(ends.shape[0]):
        if ends[e, 2] == 0:
            continue
        if ends[e, 0] == track:
            seen[e, b] = min(seen[e, b], tile)
            if w_tile[e, at] == tile and clock[w_clock[e, at]] < w_seq[e, at]:
                _first(over, track, 2, tile)
            if written[e] > tile + slots:
                over[track, 1] = max(over[track, 1], written[e] - tile)
                _first(over, track, 3 if tile + 1 <= w_rel[e, (tile + slots) & mask] else 0, tile + slots)
        elif shared >= 0 and ends[e, 0] == shared:
            seen[e, b] = min(seen[e, b], tile)
    if shared >= 0:
        last = owner[min(track, shared), tile % slots]
        if last >= 0 and last % 2 != (1 if track > shared else 0):
            _first(over, shared, 0, last // 2)
