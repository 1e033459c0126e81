"""Verdicts: what a structure can do whatever the durations are.

A verdict holds if some timing of the same program can reach it, so it is found once for each structure, from the trace:
deadlocks, happens-before between the last read of a tile and the write SlotNum tiles later, the most signals that can
be outstanding, and tokens left in flag counters at the end. Precedence: refused, hang, overwrite, race, ok.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pto_tune.lowering import code as c

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pto_tune.executor.engine import Schedules
    from pto_tune.lowering.code import Code

VERDICTS = ("ok", "refused", "hang", "overwrite", "race")
"""Verdicts by code."""
OK, REFUSED, HANG, OVERWRITE, RACE = range(5)
PRECEDENCE = (REFUSED, HANG, OVERWRITE, RACE, OK)

DEADLOCK_RULE = "deadlock"
COUNTER_RULE = "flag-counter"
SLOT_RULE = "slot-reuse"
LEFT_RULE = "flag-left"
STRUCTURE_RULES = (COUNTER_RULE, DEADLOCK_RULE, SLOT_RULE, LEFT_RULE)
RULE_VERDICT = {COUNTER_RULE: REFUSED, DEADLOCK_RULE: HANG, SLOT_RULE: OVERWRITE, LEFT_RULE: OVERWRITE}


@dataclass(frozen=True)
class Findings:
    """Which structure rules each schedule breaks: rules in the order of STRUCTURE_RULES, (rules, schedules)."""

    broken: NDArray[np.bool_]


def find(code: Code, schedules: Schedules) -> Findings:
    """Apply the structure rules to what the tracer recorded."""
    import numpy as np

    from pto_tune.executor.layout import HANG as TRACE_HANG
    from pto_tune.executor.layout import I_LEFT, I_STATUS

    hang = schedules.info[:, I_STATUS] == TRACE_HANG
    counters = [i for i, ch in enumerate(code.channels) if ch.counter]
    overflow = (schedules.flight[:, counters] > code.rule_set.counter_max).any(axis=1)
    slots = (schedules.over[:, : len(code.tracks), 0] >= 0).any(axis=1)
    left = (schedules.info[:, I_LEFT] > 0) & ~hang
    return Findings(np.stack([overflow, hang, slots, left]))


def sentence(code: Code, schedules: Schedules, i: int, rule: str) -> str:
    """Why schedule i breaks the rule: which tile, which slot, who waits for what."""
    if rule == COUNTER_RULE:
        return _overflow(code, schedules, i)
    if rule == DEADLOCK_RULE:
        return _deadlock(code, schedules, i)
    if rule == SLOT_RULE:
        return _slot(code, schedules, i)
    from pto_tune.executor.layout import I_LEFT

    return (
        f"{int(schedules.info[i, I_LEFT])} credits stay in the flag counters at the end and poison the next launch"
        " (the drain at destruction waits for fewer than were sent)"
    )


def _overflow(code: Code, schedules: Schedules, i: int) -> str:
    most, name = max((int(schedules.flight[i, j]), ch.wait_name) for j, ch in enumerate(code.channels) if ch.counter)
    limit = code.rule_set.counter_max
    return (
        f"up to {most} signals of {name} can be outstanding and the flag counter holds {limit}: "
        f"the nearest legal FifoDepth is one that bounds the tiles in flight by {limit}"
    )


def _deadlock(code: Code, schedules: Schedules, i: int) -> str:
    parts = []
    for core, at in enumerate(schedules.blocked[i]):
        if at < 0:
            continue
        op, a, b, _, _ = (int(x) for x in code.ops[at])
        name = code.cores[core]
        if op == c.SWAIT:
            channel = code.channels[a]
            end = _endpoint(code, core, code.names[at].split(" ", 1)[1])
            tile = int(schedules.end_count[i, end])
            what = "space" if code.names[at].startswith("TALLOC") else "data"
            parts.append(
                f"{name} waits in {code.names[at]} for {what} from {code.cores[channel.writer]} at tile {tile}"
            )
        elif op == c.DRAIN:
            channel = code.channels[b]
            parts.append(
                f"{name} waits in the destructor ({code.names[at]}) for credits that "
                f"{code.cores[channel.writer]} never sends"
            )
        else:
            parts.append(f"{name} waits for {code.channels[a].wait_name}, which only a later instruction hands on")
    return "; ".join(parts)


def _endpoint(code: Code, core: int, track: str) -> int:
    return next(i for i, e in enumerate(code.endpoints) if e.core == core and code.tracks[e.track] == track)


def _slot(code: Code, schedules: Schedules, i: int) -> str:
    track = next(t for t in range(len(code.tracks)) if schedules.over[i, t, 0] >= 0)
    tile, in_flight = (int(x) for x in schedules.over[i, track])
    end = next(e for e in code.endpoints if e.track == track and e.producer)
    slots = int(schedules.structure[i, end.slot_num])
    period = int(schedules.structure[i, end.period])
    text = (
        f"{code.tracks[track]}: tile {tile} may be written into slot {tile % slots} before tile {tile - slots} is read"
        f" ({in_flight} tiles in flight, {slots} slots)"
    )
    is_ring = end.slot_num == end.period
    if is_ring:
        return f"{text}: no flag protects this ring, it needs a slot for every tile in flight"
    if period and slots % period:
        derive = code.rule_set.derived_period
        if period == derive(slots):  # the period moves with the depth
            down = next((d for d in range(slots - 1, 0, -1) if d % derive(d) == 0), 1)
            up = next(d for d in range(slots + 1, 2 * slots + 2) if d % derive(d) == 0)
        else:
            down, up = slots // period * period, -(-slots // period) * period
        text += f": FifoDepth {slots} is not a multiple of SyncPeriod {period}; nearest sound depths {down} and {up}"
    return text
