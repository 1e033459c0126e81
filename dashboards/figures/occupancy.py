"""How full each FIFO is over time, and which tile is in which slot, from the events of one block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dashboards.figures.timeline_spans import track_of_operations, tracks_of
from pto_tune.executor.layout import REMATERIALISED
from pto_tune.explaining.columns import AT, END, KIND, START
from pto_tune.lowering import code as c

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pto_tune.explaining.explanation import Explanation
    from pto_tune.explaining.timeline import Timeline

    Ints = NDArray[np.int64]

NEVER = -1


@dataclass(frozen=True, eq=False)
class FifoTiles:
    """One way of a FIFO, in cycles from the start of the block, all (tiles,).

    `taken`: the first write into the tile's slot begins; `full`: its last write has ended; `read`: its first read
    begins; `done`: the last consumer has read it; `freed`: the credit that frees its slot is sent by the last consumer.
    NEVER where it does not happen: a credit stands for `period` tiles, and the last tiles of a block may get none.
    `end` is the end of the block.
    """

    name: str
    slot_num: int
    period: int
    taken: Ints
    full: Ints
    read: Ints
    done: Ints
    freed: Ints
    end: int

    def __len__(self) -> int:
        return int(self.taken.shape[0])


@dataclass(frozen=True, eq=False)
class Steps:
    """A step line: `count[i]` holds from `time[i]` to `time[i + 1]`. Times are cycles, each once, from 0."""

    time: Ints
    count: Ints

    def at(self, time: int) -> int:
        """The count at a time, that from it on where it changes there."""
        return int(self.count[np.searchsorted(self.time, time, side="right") - 1])


def steps(begin: Ints, end: Ints, until: int) -> Steps:
    """How many of the stretches `begin` to `end` (cycles; NEVER as end is `until`) hold at each time."""
    stop = np.where(end == NEVER, until, end)
    time = np.concatenate([np.zeros(1, np.int64), begin, stop, np.array([until])])
    change = np.concatenate([[0], np.ones(len(begin), np.int64), -np.ones(len(stop), np.int64), [0]])
    times, group = np.unique(time, return_inverse=True)
    changes = np.zeros(len(times), dtype=np.int64)
    np.add.at(changes, group, change)
    return Steps(times, np.cumsum(changes))


def held(tiles: FifoTiles) -> Steps:
    """Slots that the producer may not use: from the first write of a tile to the credit that frees it."""
    return steps(tiles.taken, tiles.freed, tiles.end)


def filled(tiles: FifoTiles) -> Steps:
    """Slots with a tile that some consumer still has to read: from the end of its write to the end of its last read."""
    return steps(tiles.full, np.where(tiles.done == NEVER, NEVER, np.maximum(tiles.done, tiles.full)), tiles.end)


def fifos_of(explanation: Explanation) -> list[FifoTiles]:
    """Every FIFO that the first block uses; none where there are no times, or for a workload with ranks."""
    e = explanation.evaluation
    if not explanation.timed or e.execution is None or explanation.problem.workload.has_ranks:
        return []
    structure = e.execution.lanes.columns.structure[int(e.execution.first_lane[0])]
    return fifo_tiles(explanation.block, structure)


def fifo_tiles(t: Timeline, structure: Ints) -> list[FifoTiles]:
    """The tiles of every FIFO of a block; `structure` is its row of structure columns.

    Where several cores produce, or consume, the parts of a tile, the tile is written, read and freed when the last of
    them has done so.
    """
    code = t.code
    written, read = _touched(t, 0), _touched(t, 2)
    _add_pops(t, read)
    credits = _credits(t)
    out = []
    for track, name in enumerate(code.tracks):
        ends = [(i, e) for i, e in enumerate(code.endpoints) if e.track == track and e.fifo]
        producers, consumers = [i for i, e in ends if e.producer], [i for i, e in ends if not e.producer]
        writes = [written[i] for i in producers if i in written]
        if not writes or name.endswith(".local"):
            continue
        n = max(len(w[0]) for w in writes)
        reads = [read[i] for i in consumers if i in read]
        period = max(1, int(structure[code.endpoints[producers[0]].period]))
        out.append(
            FifoTiles(
                name=name,
                slot_num=int(structure[code.endpoints[producers[0]].slot_num]),
                period=period,
                taken=_joined([w[0] for w in writes], n, first=True),
                full=_joined([w[1] for w in writes], n, first=False),
                read=_joined([r[0] for r in reads], n, first=True),
                done=_joined([r[1] for r in reads], n, first=False),
                freed=_freed([credits.get(i, np.zeros(0, np.int64)) for i in consumers if i in read], period, n),
                end=t.cycles,
            )
        )
    return out


def _freed(credits: list[Ints], period: int, n: int) -> Ints:
    """When each tile's slot is freed: credit k of every consumer stands for tiles k * period to (k + 1) * period."""
    out = np.full(n, NEVER, dtype=np.int64)
    k = min((len(sent) for sent in credits), default=0)
    if k:
        times = np.max(np.stack([sent[:k] for sent in credits]), axis=0)
        given = np.repeat(times, period)[:n]
        out[: len(given)] = given
    return out


def _joined(parts: list[Ints], n: int, *, first: bool) -> Ints:
    """The first, or last, of several cores' times by tile; NEVER where one of them has none."""
    if not parts:
        return np.full(n, NEVER, dtype=np.int64)
    table = np.full((len(parts), n), NEVER, dtype=np.int64)
    for row, part in zip(table, parts, strict=True):
        row[: min(n, len(part))] = part[:n]
    joined = table.min(axis=0) if first else table.max(axis=0)
    return np.where((table == NEVER).any(axis=0), NEVER, joined)


def _touched(t: Timeline, column: int) -> dict[int, tuple[Ints, Ints]]:
    """By endpoint: first start and last end of its writes (column 0) or reads (2), by tile."""
    at = np.flatnonzero((t.touched[:, column] >= 0) & (t.table[:, KIND] != REMATERIALISED))
    endpoint, tile = t.touched[at, column], t.touched[at, column + 1]
    out = {}
    for i in np.unique(endpoint).tolist():
        mine = at[endpoint == i]
        tiles = tile[endpoint == i]
        begin = np.full(int(tiles.max()) + 1, np.iinfo(np.int64).max)
        end = np.full(len(begin), NEVER, dtype=np.int64)
        np.minimum.at(begin, tiles, t.table[mine, START])
        np.maximum.at(end, tiles, t.table[mine, END])
        out[i] = np.where(end == NEVER, NEVER, begin), end
    return out


def _add_pops(t: Timeline, read: dict[int, tuple[Ints, Ints]]) -> None:
    """Tiles that no instruction reads are read when they are popped."""
    from pto_tune.explaining.reach import accesses

    unread = [i for i, e in enumerate(t.code.endpoints) if not e.producer and e.fifo and e.slot_num != e.period]
    if all(i in read for i in unread):
        return
    reads, _ = accesses(t)
    for i in unread:
        if i not in read and reads.get(i):
            times = reads[i]
            pairs = np.array([times.get(tile, (NEVER, NEVER)) for tile in range(max(times) + 1)], dtype=np.int64)
            read[i] = pairs[:, 0], pairs[:, 1]


def _credits(t: Timeline) -> dict[int, Ints]:
    """By endpoint of a consumer: when it sends its credits, in order."""
    channels = {int(at): _pushes(t, int(at)) for at in np.unique(t.table[:, AT])}
    ends = {at: {t.code.channels[ch].released for ch in found} - {-1} for at, found in channels.items()}
    own = track_of_operations(t.code, t.table[:, KIND], tracks_of(t.code)) >= 0
    out: dict[int, Ints] = {}
    for at, endpoints in ends.items():
        for endpoint in endpoints:
            times = t.table[np.flatnonzero((t.table[:, AT] == at) & own), START]
            out[endpoint] = np.sort(np.concatenate([out.get(endpoint, np.zeros(0, np.int64)), times]))
    return out


def _pushes(t: Timeline, at: int) -> list[int]:
    """Flag channels that an operation of the code hands tokens to when it runs."""
    ops, out = t.code.ops, []
    if ops[at, 0] != c.EXEC:
        return []
    for i in range(at + 1, ops.shape[0]):
        if ops[i, 0] not in (c.PUSH, c.WRITE, c.READ, c.ADVANCE, c.POP):
            break
        if ops[i, 0] == c.PUSH and t.code.channels[int(ops[i, 1])].counter:
            out.append(int(ops[i, 1]))
    return out
