"""Spans and flags of a timeline as columns, from the tables of the engines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from pto_tune.executor.layout import REMATERIALISED
from pto_tune.explaining.columns import (
    AT,
    BASE,
    CHANNEL,
    DECIDER,
    DURATION,
    END,
    FIRST,
    KIND,
    PRODUCER,
    START,
)  # fmt: skip

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pto_tune.explaining.several import RankExplanation
    from pto_tune.explaining.timeline import Timeline
    from pto_tune.lowering.code import Code

    Ints = NDArray[np.int64]

KINDS = (
    "compute", "DMA", "fixpipe", "flag or scalar",
    "waits for data", "waits for free space", "waits for a flag", "waits in a queue",
)  # fmt: skip
"""What a pipe does, by code: the first four are work, the others stalls."""
COMPUTE, DMA, FIXPIPE, SCALAR, DATA, SPACE, FLAG, QUEUE = range(len(KINDS))
STALLS = (DATA, SPACE, FLAG, QUEUE)
OF_PIPE = {"M": COMPUTE, "V": COMPUTE, "MTE1": DMA, "MTE2": DMA, "MTE3": DMA, "SDMA": DMA, "FIX": FIXPIPE}


@dataclass(frozen=True, eq=False)
class Spans:
    """Stretches of time on tracks, sorted by track and start; those of one track do not overlap. `name` indexes
    `names`."""

    track: Ints
    start: Ints
    end: Ints
    kind: Ints
    name: Ints
    names: tuple[str, ...]

    def __len__(self) -> int:
        return int(self.track.shape[0])


@dataclass(frozen=True, eq=False)
class Tokens:
    """Flags between cores: sent on one track and taken on another, in cycles. `credit`: whether it says that slots are
    free, else that a tile is ready; `number` counts the flags of a channel from 0; `name` indexes `names`."""

    source: Ints
    sent: Ints
    target: Ints
    taken: Ints
    credit: NDArray[np.bool_]
    number: Ints
    name: Ints
    names: tuple[str, ...]

    def __len__(self) -> int:
        return int(self.sent.shape[0])

    def take(self, at: Ints) -> Tokens:
        """Those at positions `at`."""
        return replace(
            self,
            **{
                name: getattr(self, name)[at]
                for name in ("source", "sent", "target", "taken", "credit", "number", "name")
            },
        )


def tracks_of(code: Code) -> tuple[str, ...]:
    """The scalar process and the pipes of every core."""
    out = []
    for i, core in enumerate(code.cores):
        out.append(f"{core}.S")
        out += [pipe for pipe, owner in zip(code.pipes, code.pipe_core, strict=True) if owner == i]
    return tuple(out)


def block_spans(t: Timeline) -> tuple[tuple[str, ...], Spans]:
    """Work and stalls of a block, and its tracks. A stall is the time for which a pipe (or a scalar process) could have
    gone on but for the token that came last: what the stall account adds up."""
    tracks = tracks_of(t.code)
    kind, at = t.table[:, KIND], t.table[:, AT]
    names, signal = _per_operation(t)
    track = track_of_operations(t.code, kind, tracks)
    own = track >= 0
    d = t.table[:, DURATION]
    duration = np.where(d >= 0, t.durations[np.maximum(d, 0)], 0)
    start, base, end = t.table[:, START], t.table[:, BASE], t.table[:, END]
    on_pipe = own & (kind >= 0) & ~signal[at]
    channel = t.sources[t.table[:, DECIDER], CHANNEL] if len(kind) else np.zeros(0, np.int64)
    work = np.flatnonzero(on_pipe & (duration > 0))
    scalar = np.flatnonzero(own & (kind < 0) & (end > start))
    stall = np.flatnonzero(own & (on_pipe | (kind < 0)) & (start > base) & (channel != -1))
    causes, waits = _causes(t.code)
    table: dict[str, int] = {}
    pipe_kinds = np.array([OF_PIPE.get(name.rpartition(".")[2], SCALAR) for name in tracks])
    flag_wait = np.array([column.kind == "flag_wait" for column in t.code.durations] or [False])
    work_kind = np.where(flag_wait[np.maximum(d[work], 0)] & (d[work] >= 0), SCALAR, pipe_kinds[track[work]])
    words = [
        *(names[i] for i in at[work]),
        *(names[i] for i in at[scalar]),
        *(f"{names[i]}: {waits[ch]}" for i, ch in zip(at[stall], channel[stall], strict=True)),
    ]
    return tracks, _sorted(
        np.concatenate([track[work], track[scalar], track[stall]]),
        np.concatenate([start[work], start[scalar], base[stall]]),
        np.concatenate([start[work] + duration[work], end[scalar], start[stall]]),
        np.concatenate([work_kind, np.full(len(scalar), SCALAR), causes[channel[stall]]]),
        np.array([table.setdefault(word, len(table)) for word in words], dtype=np.int64),
        tuple(table),
    )


def block_tokens(t: Timeline, tracks: tuple[str, ...]) -> Tokens:
    """Every flag that a wait of the block takes from another core of its block."""
    n = t.sources.shape[0]
    owner = np.searchsorted(t.table[:, FIRST], np.arange(n), side="right") - 1
    channel, producer = t.sources[:, CHANNEL], t.sources[:, PRODUCER]
    counter = np.array([ch.counter for ch in t.code.channels] or [False])
    track = track_of_operations(t.code, t.table[:, KIND], tracks)
    flags = np.flatnonzero((channel >= 0) & (producer >= 0) & (track[owner] >= 0) & counter[np.maximum(channel, 0)])
    flags = flags[track[producer[flags]] >= 0]
    takes, gives, through = owner[flags], producer[flags], channel[flags]
    taken = np.where(t.table[takes, KIND] < 0, t.table[takes, END], t.table[takes, START])
    return Tokens(
        source=track[gives],
        sent=t.table[gives, START],
        target=track[takes],
        taken=taken,
        credit=np.array([ch.name.split(" ")[1:2] == ["free"] for ch in t.code.channels] or [False])[through],
        number=_counted(through),
        name=through,
        names=tuple(ch.name for ch in t.code.channels),
    )


def rank_spans(explanation: RankExplanation, instance: int) -> tuple[tuple[str, ...], Spans]:
    """Instructions of one block of a workload with ranks. The engine logs no stalls by place in time."""
    code = explanation.problem.code
    tracks = tracks_of(code)
    events = explanation.logged.events
    mine = events[(events[:, 0] // len(code.pipes) == instance) & (events[:, 3] > events[:, 2])]
    pipe = mine[:, 0] % len(code.pipes)
    track = np.array([tracks.index(p) for p in code.pipes] or [0])[pipe]
    kinds = np.array([OF_PIPE.get(p.rpartition(".")[2], SCALAR) for p in tracks])
    forms = ("", "TLOAD", "TSTORE", "")
    table: dict[str, int] = {}
    words = [f"{code.names[at]} {forms[form]}".rstrip() for at, form in mine[:, [1, 4]].tolist()]
    name = np.array([table.setdefault(word, len(table)) for word in words], dtype=np.int64)
    return tracks, _sorted(track, mine[:, 2], mine[:, 3], kinds[track], name, tuple(table))


def rank_tokens(explanation: RankExplanation, instance: int, tracks: tuple[str, ...]) -> Tokens:
    """Signals of the run that the block sends to other ranks, or that reach its rank; the other end is outside, and is
    drawn on the scalar process of the core that sends, or of the first core."""
    from pto_tune.ranks import tables as r

    code, run = explanation.problem.code, explanation.run
    rows, cores = run.arrivals, len(code.cores)
    rank = instance // run.blocks
    sends = rows[:, r.A_CORE] // cores == instance
    mine = rows[sends | (rows[:, r.A_RANK] == rank)] if len(rows) else rows
    scalars = np.array([tracks.index(f"{core}.S") for core in code.cores])
    return Tokens(
        source=scalars[mine[:, r.A_CORE] % cores],
        sent=mine[:, r.A_SENT],
        target=np.full(len(mine), scalars[0]),
        taken=mine[:, r.A_TIME],
        credit=np.zeros(len(mine), dtype=bool),
        number=np.arange(len(mine)),
        name=mine[:, r.A_OPERATION],
        names=code.names,
    )


def track_of_operations(code: Code, kind: Ints, tracks: tuple[str, ...]) -> Ints:
    """The track of every operation by its kind, -1 for those that stand for no event."""
    places = [tracks.index(pipe) for pipe in code.pipes] + [tracks.index(f"{core}.S") for core in reversed(code.cores)]
    # a kind below 0 counts from the end: -1 is the first core's scalar process
    known = (kind != REMATERIALISED) & (kind >= -len(code.cores))
    return np.where(known, np.array(places)[np.where(known, kind, 0)], -1)


def _per_operation(t: Timeline) -> tuple[list[str], NDArray[np.bool_]]:
    """Name of every operation of the code, and whether it is a signal."""
    names, signal = [""] * len(t.code.names), np.zeros(len(t.code.names), dtype=bool)
    for at, first in zip(*np.unique(t.table[:, AT], return_index=True), strict=True):
        names[int(at)], signal[int(at)] = t.name_of(int(first)), t.is_signal(int(first))
    return names, signal


def _causes(code: Code) -> tuple[Ints, list[str]]:
    """Kind and words of waiting for every channel; behind them, from the end, those of the pipes' queues: -2 is the
    first pipe's (and -1, issue, is none)."""
    kinds, words = [], []
    for channel in code.channels:
        what = channel.name.split(" ")[1]
        kinds.append({"ready": DATA, "free": SPACE}.get(what, FLAG))
        words.append(f"waits for {channel.name}")
    for pipe in reversed(code.pipes):
        kinds.append(QUEUE)
        words.append(f"waits for room in the queue of {pipe}")
    return np.array([*kinds, SCALAR]), [*words, ""]


def _counted(values: Ints) -> Ints:
    """How many equal values stand before each."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    begins = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if len(values) else order
    out = np.empty(len(values), dtype=np.int64)
    out[order] = np.arange(len(values)) - np.repeat(begins, np.diff(np.r_[begins, len(values)]))
    return out


def _sorted(track: Ints, start: Ints, end: Ints, kind: Ints, name: Ints, names: tuple[str, ...]) -> Spans:
    order = np.lexsort((start, track))
    return Spans(track[order], start[order], end[order], kind[order], name[order], names)
