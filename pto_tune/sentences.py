"""Structure verdicts in words: which tile, which slot, who waits for what and from whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pto_tune import verdicts as v
from pto_tune.lowering import code as c

if TYPE_CHECKING:
    from pto_tune.executor.engine import Schedules
    from pto_tune.lowering.code import Code, Endpoint

OVER_COLUMN = {v.SLOT_RULE: 0, v.UNWRITTEN_RULE: 2, v.RELEASE_RULE: 3}
"""Column of the tracer's `over` in which a rule finds its first tile."""


def sentence(code: Code, schedules: Schedules, i: int, rule: str) -> str:
    """Why schedule i breaks the rule."""
    match rule:
        case v.COUNTER_RULE:
            return _overflow(code, schedules, i)
        case v.PUSH_RULE:
            return _push(code, schedules, i)
        case v.DEADLOCK_RULE:
            return _deadlock(code, schedules, i)
        case v.SLOT_RULE:
            return _slot(code, schedules, i)
        case v.RELEASE_RULE:
            return _release(code, schedules, i)
        case v.UNWRITTEN_RULE:
            track, tile = first_tile(code, schedules, i, rule)
            return (
                f"{code.tracks[track]}: tile {tile} may be read before it is written: nothing orders its last write "
                "before the read (the store has to come before the TPUSH of its tile, on the pipe that records)"
            )
        case _:
            return _left(code, schedules, i)


def first_tile(code: Code, schedules: Schedules, i: int, rule: str) -> tuple[int, int]:
    """Track and first tile at which schedule i breaks a rule about slots."""
    column = OVER_COLUMN[rule]
    track = next(t for t in range(len(code.tracks)) if schedules.over[i, t, column] >= 0)
    return track, int(schedules.over[i, track, column])


def _left(code: Code, schedules: Schedules, i: int) -> str:
    left: dict[str, int] = {}
    for ch, channel in enumerate(code.channels):
        if channel.counter:
            n = int(schedules.taken[i, ch, 1] - schedules.taken[i, ch, 0])
            left[channel.wait_name] = left.get(channel.wait_name, 0) + n
    credits = sum(n for name, n in left.items() if name.endswith(".free"))
    others = [f"{n} of {name}" for name, n in left.items() if n and not name.endswith(".free")]
    what = [f"{credits} credits"] * bool(credits) + [f"signals ({', '.join(others)})"] * bool(others)
    why = " (the drain at destruction waits for fewer than were sent)" if credits else ""
    return f"{' and '.join(what)} stay in the flag counters at the end and poison the next launch{why}"


def _overflow(code: Code, schedules: Schedules, i: int) -> str:
    most, name = max((int(schedules.flight[i, j]), ch.wait_name) for j, ch in enumerate(code.channels) if ch.counter)
    limit = code.rule_set.counter_max
    return (
        f"up to {most} signals of {name} can be outstanding and the flag counter holds {limit}: "
        f"the nearest legal FifoDepth is one that bounds the tiles in flight by {limit}"
    )


def _push(code: Code, schedules: Schedules, i: int) -> str:
    end = next(e for e in range(len(code.endpoints)) if schedules.end_count[i, e, 1] >= 0)
    endpoint = code.endpoints[end]
    return (
        f"{code.cores[endpoint.core]} pushes tile {int(schedules.end_count[i, end, 1])} of {endpoint.fifo} without "
        "TALLOC: TPUSH of a GlobalTensor only records, and takes the slot that TALLOC has given"
    )


def _deadlock(code: Code, schedules: Schedules, i: int) -> str:
    parts = []
    n = len(code.cores)
    for core, name in enumerate(code.cores):
        at = int(schedules.blocked[i, core])
        if at >= 0:
            parts.append(_blocked(code, schedules, i, core, name, at))
        for p, pipe in enumerate(code.pipes):
            at = int(schedules.blocked[i, n + p])
            if at >= 0 and code.pipe_core[p] == core:
                parts.append(_blocked(code, schedules, i, core, pipe, at))
    return "; ".join(parts)


def _blocked(code: Code, schedules: Schedules, i: int, core: int, who: str, at: int) -> str:
    op, a = int(code.ops[at, 0]), int(code.ops[at, 1])
    name = code.names[at]
    if op == c.BEGIN:
        return f"{who} waits for room in the queue of {code.pipes[a]} for {name}"
    channel = code.channels[a]
    senders = _missing(code, schedules, i, at)
    if not channel.counter:
        return f"{who} waits for {channel.wait_name}, which only a later instruction hands on"
    if name.startswith("drain"):
        return f"{who} waits in the destructor ({name}) for credits that {senders} never sends"
    call, fifo = name.split(" ", 1)
    producer = call in ("TALLOC", "TPUSH")
    end = next(
        e for e, p in enumerate(code.endpoints) if p.core == core and p.fifo == fifo and p.producer == producer
    )  # fmt: skip
    tile = _tile_of(code, schedules, i, end, at)
    what = "space" if producer else "data"
    return f"{who} waits in {name} for {what} from {senders} at tile {tile}"


def _missing(code: Code, schedules: Schedules, i: int, at: int) -> str:
    """The cores whose signals a wait still lacks: an AIC may wait for both sub-cores at once."""
    channels = [int(code.ops[at, 1])]
    if code.ops[at, 0] == c.SWAIT:
        channels += [int(code.ops[at, 2])] if code.ops[at, 2] >= 0 else []
        channels = [ch for ch in channels if schedules.taken[i, ch, 1] <= schedules.taken[i, ch, 0]] or channels
    return " and ".join(dict.fromkeys(code.cores[code.channels[ch].writer] for ch in channels))


def _tile_of(code: Code, schedules: Schedules, i: int, end: int, at: int) -> int:
    """The tile at which a core's wait stands. A pipe's wait may stand behind what its core has issued since: then the
    tiles that it has got are counted."""
    op, a = int(code.ops[at, 0]), int(code.ops[at, 1])
    index = int(schedules.end_count[i, end, 0])
    if op == c.SWAIT:
        return index
    taken = int(schedules.taken[i, a, 0])
    endpoint = code.endpoints[end]
    if not endpoint.producer:
        return taken
    period = int(schedules.structure[i, endpoint.period])
    first = int(schedules.structure[i, endpoint.first])
    return (-(-first // period) + taken) * period if period else index


def _endpoint(code: Code, track: int) -> Endpoint:
    return next(e for e in code.endpoints if e.track == track and e.producer)


def _slot(code: Code, schedules: Schedules, i: int) -> str:
    track, tile = first_tile(code, schedules, i, v.SLOT_RULE)
    in_flight = int(schedules.over[i, track, 1])
    end = _endpoint(code, track)
    slots = int(schedules.structure[i, end.slot_num])
    period = int(schedules.structure[i, end.period])
    name = code.tracks[track]
    if end.shared >= 0 and (in_flight <= slots or tile < slots):
        return (
            f"{name}: tile {tile} may be written into slot {tile % slots} while {code.tracks[end.shared]} uses it: "
            "the GlobalData calls put the rings of both ways on the same slots"
        )
    text = (
        f"{name}: tile {tile} may be written into slot {tile % slots} before tile {tile - slots} is read"
        f" ({in_flight} tiles in flight, {slots} slots)"
    )
    if end.slot_num == end.period:
        what = "LocalSlotNum rotates without any flag" if end.fifo else "no flag protects this ring"
        return f"{text}: {what}, it needs a slot for every tile in flight"
    credits = _constructor_credits(code, schedules, i, track)
    if credits:
        what = f"{credits} credit{'s' * (credits > 1)}"
        return f"{text}: the constructor's {what} let the producer run ahead of the ring, and no FifoDepth is sound"
    if period and slots % period:
        derive = code.rule_set.derived_period
        if period == derive(slots):  # the period moves with the depth
            down = next((d for d in range(slots - 1, 0, -1) if d % derive(d) == 0), 1)
            up = next(d for d in range(slots + 1, 2 * slots + 2) if d % derive(d) == 0)
        else:
            down, up = slots // period * period, -(-slots // period) * period
        most = code.rule_set.counter_max
        sound = f"depths {down} and {up}" if not most or up <= most else f"depth {down}"
        text += f": FifoDepth {slots} is not a multiple of SyncPeriod {period}; nearest sound {sound}"
    return text


def _constructor_credits(code: Code, schedules: Schedules, i: int, track: int) -> int:
    """Credits that the constructors of a ring's consumers send: the most of one of them."""
    most = 0
    for end, endpoint in enumerate(code.endpoints):
        if endpoint.track == track and endpoint.producer:
            columns = [code.channels[ch].initial for ch in code.pair_table[end] if ch >= 0]
            most = max([most, *(int(schedules.structure[i, column]) for column in columns if column >= 0)])
    return most


def _release(code: Code, schedules: Schedules, i: int) -> str:
    track, tile = first_tile(code, schedules, i, v.RELEASE_RULE)
    end = _endpoint(code, track)
    slots = int(schedules.structure[i, end.slot_num])
    if not end.fifo:
        return (
            f"{code.tracks[track]}: tile {tile} may be written into slot {tile % slots} while tile {tile - slots} is "
            "still read: no flag protects this ring, it needs a slot for every tile in flight and one for the tile "
            "that is read"
        )
    fifo = next(f for f in code.workload.fifos if f.name == end.fifo)
    direction = code.rule_set.direction_of(fifo.direction, fifo.gm_form)
    flow = fifo.flow_of(code.cores[end.core], producer=True)
    pipe = direction.ways[flow].free.pipe if direction else "?"
    return (
        f"{code.tracks[track]}: tile {tile} may be written into slot {tile % slots} while tile {tile - slots} is still "
        f"read: the free signal leaves on {pipe} without waiting for that read (it has to come before the release, on "
        f"{pipe})"
    )
