"""The critical path: from the last event back through what decided each start. Its segments add up to the makespan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pto_tune.explaining.columns import CHANNEL, COLUMN, DECIDER, DURATION, END, KIND, PRODUCER, START
from pto_tune.explaining.timeline import Timeline

if TYPE_CHECKING:
    from collections.abc import Sequence

CAUSES = {"M": "compute", "V": "compute", "MTE1": "DMA", "MTE2": "DMA", "MTE3": "DMA", "FIX": "fixpipe"}


@dataclass(frozen=True)
class Segment:
    """A stretch of the critical path: `cause` is compute, DMA, fixpipe, flag, latency or issue; `name` says where."""

    cause: str
    name: str
    cycles: int


def critical_path(t: Timeline) -> list[Segment]:
    """Segments from the start of the block to its end; their cycles add up to `t.cycles` exactly."""
    out: list[Segment] = []
    i = t.table.shape[0] - 1
    end = t.cycles  # the time up to which the path is explained, from behind
    while i >= 0:
        start = int(t.table[i, START])
        if end > start:
            out.append(_own(t, i, end - start))
            end = start
        source = int(t.table[i, DECIDER])
        producer = int(t.sources[source, PRODUCER])
        at = int(t.table[producer, END]) if producer >= 0 else 0
        if end > at:
            out.append(_link(t, i, source, end - at))
            end = at
        i = producer
    out.reverse()
    return out


def _own(t: Timeline, i: int, cycles: int) -> Segment:
    pipe = t.pipe_of(i) if int(t.table[i, KIND]) > -100 else ""
    if not pipe or pipe.endswith(".S"):
        return Segment("issue", pipe, cycles)
    d = int(t.table[i, DURATION])
    if t.is_signal(i) or (d >= 0 and t.code.durations[d].kind == "flag_wait"):
        return Segment("flag", f"{pipe} {t.name_of(i)}", cycles)
    return Segment(CAUSES[pipe.rsplit(".", 1)[1]], f"{pipe} {t.name_of(i)}", cycles)


def _link(t: Timeline, i: int, source: int, cycles: int) -> Segment:
    """What lies between the producer's end and the arrival: issue, a transfer's latency, or a flag on its way."""
    channel, column = int(t.sources[source, CHANNEL]), int(t.sources[source, COLUMN])
    if channel >= 0 and t.code.channels[channel].counter:
        return Segment("flag", t.code.channels[channel].wait_name, cycles)
    if column >= 0:
        return Segment("latency", t.code.durations[column].path or "transfer", cycles)
    core = t.pipe_of(i).split(".")[0] if int(t.table[i, KIND]) > -100 else ""
    return Segment("issue", f"{core}.S" if core else "S", cycles)


def by_cause(segments: Sequence[Segment]) -> list[Segment]:
    """Segments merged by cause and name, the largest first."""
    total: dict[tuple[str, str], int] = {}
    for s in segments:
        total[s.cause, s.name] = total.get((s.cause, s.name), 0) + s.cycles
    return [Segment(c, n, k) for (c, n), k in sorted(total.items(), key=lambda item: -item[1])]
