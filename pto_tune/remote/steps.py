"""The instructions of a planned TPUT or TGET in the order in which the library issues them.

Flags are those of the core's own pipes: set_flag runs on the first pipe when everything before it there is done, and
wait_flag holds the second one alone. The last wait of a call is MTE3 to MTE2, so that the scalar process goes on while
the last store still runs: what has to come behind it needs a barrier of its own. Source: comm/a2a3/TPut.hpp:47-87,
303-372 of pto-isa, which TGET follows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pto_tune.remote.sliding import PING_PONG, Plan

TLOAD, TSTORE, SET_FLAG, WAIT_FLAG, BARRIER = NAMES = ("TLOAD", "TSTORE", "set_flag", "wait_flag", "pipe_barrier")
MTE2, MTE3, ALL = "MTE2", "MTE3", "ALL"


@dataclass(frozen=True)
class Step:
    """One instruction.

    TLOAD and TSTORE move `rows` x `cols` of piece `piece` from the index `origin`, through half `half` (0, 1) of the
    tile or the whole of it (None), `tile` being 0 or 1. Flags go from `pipe`, which sets them, to `to`, which waits for
    them, with event `event`. Fields that say nothing about an instruction are -1, None or empty.
    """

    name: str
    pipe: str
    to: str = ""
    event: int = -1
    piece: int = -1
    half: int | None = None
    tile: int = -1
    origin: tuple[int, ...] = ()
    rows: int = -1
    cols: int = -1


@dataclass(frozen=True)
class _Transfer:
    """What one load and one store move, and the event that belongs to its tile."""

    event: int
    piece: int
    half: int | None
    tile: int
    origin: tuple[int, ...]
    rows: int
    cols: int

    def step(self, name: str, pipe: str) -> Step:
        place = (self.piece, self.half, self.tile, self.origin, self.rows, self.cols)
        return Step(name, pipe, "", -1, *place)


def steps(plan: Plan) -> Iterator[Step]:
    """All instructions of the call; none where there is nothing to move."""
    if plan.form == PING_PONG:
        yield from _overlapped([_whole(plan, k, event=int(plan.tile[k])) for k in range(len(plan))])
        return
    for k in range(len(plan)):
        if plan.halves[k]:
            yield from _overlapped(_halves(plan, k))
        else:
            yield from _one_by_one(_whole(plan, k, event=0), barrier=bool(plan.barriers[k]))


def _whole(plan: Plan, k: int, event: int) -> _Transfer:
    origin = tuple(plan.origin[k].tolist())
    return _Transfer(event, k, None, int(plan.tile[k]), origin, int(plan.rows[k]), int(plan.cols[k]))


def _halves(plan: Plan, k: int) -> list[_Transfer]:
    rows, cols = int(plan.rows[k]) // 2, int(plan.cols[k])
    d0, d1, d2, d3, d4 = plan.origin[k].tolist()
    return [_Transfer(half, k, half, 0, (d0, d1, d2, d3 + half * rows, d4), rows, cols) for half in (0, 1)]


def _one_by_one(transfer: _Transfer, barrier: bool) -> Iterator[Step]:
    """Load, then store: nothing runs at the same time."""
    yield transfer.step(TLOAD, MTE2)
    yield Step(SET_FLAG, MTE2, MTE3, transfer.event)
    yield Step(WAIT_FLAG, MTE2, MTE3, transfer.event)
    if barrier:
        yield Step(BARRIER, ALL)
    yield transfer.step(TSTORE, MTE3)
    yield Step(SET_FLAG, MTE3, MTE2, transfer.event)
    yield Step(WAIT_FLAG, MTE3, MTE2, transfer.event)


def _overlapped(transfers: list[_Transfer]) -> Iterator[Step]:
    """Each store beside the next load, in lock-step, and the last store flushed."""
    for k, transfer in enumerate(transfers):
        if k:
            stored = transfers[k - 1]
            yield Step(WAIT_FLAG, MTE2, MTE3, stored.event)
            yield Step(BARRIER, ALL)
            yield stored.step(TSTORE, MTE3)
        yield transfer.step(TLOAD, MTE2)
        if k:
            yield Step(SET_FLAG, MTE3, MTE2, transfers[k - 1].event)
        yield Step(SET_FLAG, MTE2, MTE3, transfer.event)
        if k:
            yield Step(WAIT_FLAG, MTE3, MTE2, transfers[k - 1].event)
    last = transfers[-1]
    yield Step(WAIT_FLAG, MTE2, MTE3, last.event)
    yield Step(BARRIER, ALL)
    yield last.step(TSTORE, MTE3)
    yield Step(SET_FLAG, MTE3, MTE2, last.event)
    yield Step(WAIT_FLAG, MTE3, MTE2, last.event)
