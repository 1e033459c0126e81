"""Whether the predicted timing of a configuration reaches what its verdict warns of.

A verdict holds if some timing can reach it. Here the events of one block are looked at as they are predicted: a slot is
overwritten where a write starts before the last read of what was in it has ended, and read too early where a read
starts before the last write of its tile has ended. A tile that no instruction reads is read when it is popped.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from pto_tune.executor.layout import REMATERIALISED
from pto_tune.explaining.columns import AT, END, KIND, START
from pto_tune.lowering import code as c

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pto_tune.explaining.timeline import Timeline

Times = dict[int, dict[int, tuple[int, int]]]
"""Start and end in cycles, by endpoint and tile."""


def early_writes(code: c.Code, structure: NDArray[np.int64], reads: Times, writes: Times) -> dict[int, int]:
    """First tile written too early at the predicted times, by track; `structure` is the block's structure row."""
    out: dict[int, int] = {}
    for end, endpoint in enumerate(code.endpoints):
        if not endpoint.producer:
            continue
        slots = int(structure[endpoint.slot_num])
        for tile, (start, _) in sorted(writes[end].items()):
            for other in _consumers(code, endpoint.track):
                last = reads[other].get(tile - slots)
                if last is not None and start < last[1]:
                    out[endpoint.track] = min(tile, out.get(endpoint.track, tile))
    return out


def early_reads(code: c.Code, reads: Times, writes: Times) -> dict[int, int]:
    """First tile read before its last write has ended at the predicted times, by track."""
    out: dict[int, int] = {}
    for end, endpoint in enumerate(code.endpoints):
        if not endpoint.producer:
            continue
        for other in _consumers(code, endpoint.track):
            for tile, (start, _) in sorted(reads[other].items()):
                if tile in writes[end] and start < writes[end][tile][1]:
                    out[endpoint.track] = min(tile, out.get(endpoint.track, tile))
                    break
    return out


def _consumers(code: c.Code, track: int) -> list[int]:
    return [i for i, e in enumerate(code.endpoints) if e.track == track and not e.producer]


def accesses(t: Timeline) -> tuple[Times, Times]:
    """By endpoint and tile: first start and last end of its reads, and of its writes."""
    code = t.code
    reads: Times = defaultdict(dict)
    writes: Times = defaultdict(dict)
    pops: dict[int, list[int]] = defaultdict(list)
    by_call = {
        (e.core, f"TPOP {e.fifo}"): i
        for i, e in enumerate(code.endpoints)
        if not e.producer and e.fifo and e.slot_num != e.period
    }
    for i in range(t.table.shape[0]):
        kind = int(t.table[i, KIND])
        if kind == REMATERIALISED:
            continue
        start, end = int(t.table[i, START]), int(t.table[i, END])
        at = int(t.table[i, AT])
        core = int(code.pipe_core[kind]) if kind >= 0 else -1 - kind
        waited = by_call.get((core, code.names[at]))
        if waited is not None and not t.is_signal(i) and code.ops[at, 0] in (c.SWAIT, c.EXEC):
            pops[waited].append(end)
        for times, column in ((writes, 0), (reads, 2)):
            endpoint, tile = int(t.touched[i, column]), int(t.touched[i, column + 1])
            if endpoint >= 0:
                first, last = times[endpoint].get(tile, (start, end))
                times[endpoint][tile] = (min(first, start), max(last, end))
    for endpoint, ends in pops.items():
        for tile, end in enumerate(ends):
            reads[endpoint].setdefault(tile, (end, end))
    return reads, writes
