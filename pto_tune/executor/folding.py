"""Two vector sub-cores that do the same at the same times: run one, and know the other.

Where the programs of the last two cores are copies of one another (each with pipes, channels, endpoints and tracks of
its own), where every other core hands on to both in the same instruction and waits for both in the same one, and where
all lanes have equal structure and equal durations on both, each event of the last core is at the time of its twin's.
Leaving the last core out changes no time and no finding, and what would have been found there is copied. Kept are the
numbers of operations, tracks, structure and duration columns; pipes, channels and endpoints are counted anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pto_tune.executor.layout import I_LEFT
from pto_tune.executor.tables import Program, mates_of, program_of
from pto_tune.executor.twins import CHANNEL, DURATION, ENDPOINT, FIELDS, PIPE, STRUCTURE, TRACK, DifferentError, Twins
from pto_tune.lowering.remembered import for_each_code

if TYPE_CHECKING:
    from pto_tune.executor.engine import Schedules
    from pto_tune.lowering.code import Code
    from pto_tune.lowering.columns import Columns

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Folding:
    """A program without its last core. `*_source`: for each number of the whole program, that in the folded one of the
    same or of its twin."""

    code: Code
    program: Program
    steady: Ints
    cores: int  # of the whole program
    shift: int  # from an operation of the twin to that of the last core
    structure: Ints  # (n, 2) columns that must be equal: of the twin, of the last core
    durations: Ints  # (n, 2)
    pipe_source: Ints
    channel_source: Ints
    endpoint_source: Ints
    track_source: Ints

    def fits(self, columns: Columns, structure: Ints) -> bool:
        """Whether the last core and its twin have the same structure and durations in every lane; `structure` has a
        row of each kind that there is."""
        s, d = self.structure, self.durations
        return bool(
            np.array_equal(structure[:, s[:, 0]], structure[:, s[:, 1]])
            and np.array_equal(columns.kinds[d[:, 0]], columns.kinds[d[:, 1]])
            and np.array_equal(columns.kinds_bytes[:, d[:, 0]], columns.kinds_bytes[:, d[:, 1]])
        )

    def moved(self, columns: Columns) -> Ints:
        """Bytes by resource, duration and kind: those of the last core are its twin's."""
        out = columns.kinds_bytes.copy()
        out[:, self.durations[:, 0]] += out[:, self.durations[:, 1]]
        return out

    def pipes(self, columns: Columns) -> Ints:
        """The pipe of each duration, -1 where it is left out."""
        n = self.program.pipe_core.shape[0]
        return np.where(columns.pipe < n, columns.pipe, -1)

    def unfold(self, small: Schedules, found: Schedules) -> None:
        """From the findings of the folded program to those of the whole one."""
        cores, n = self.cores - 1, self.program.pipe_core.shape[0]
        pipes = self.pipe_source
        found.blocked[:, :cores] = small.blocked[:, :cores]
        last = small.blocked[:, cores - 1]
        found.blocked[:, cores] = np.where(last >= 0, last + self.shift, -1)
        of_pipes = small.blocked[:, cores:][:, pipes]
        of_pipes[:, n:] = np.where(of_pipes[:, n:] >= 0, of_pipes[:, n:] + self.shift, -1)
        found.blocked[:, cores + 1 :] = of_pipes
        found.over[:] = np.take(small.over, self.track_source, axis=1)
        found.flight[:] = np.take(small.flight, self.channel_source, axis=1)
        found.end_count[:] = np.take(small.end_count, self.endpoint_source, axis=1)
        found.taken[:] = np.take(small.taken, self.channel_source, axis=1)
        counters = self.code.channel_table[:, 3] == 1
        found.info[:, I_LEFT] = (found.taken[:, counters, 1] - found.taken[:, counters, 0]).sum(axis=1)


@for_each_code
def fold(code: Code) -> Folding | None:
    """The code without its last core; None where that has no twin."""
    if len(code.cores) < 3 or not code.channels or not code.endpoints or not code.tracks or code.ranks is not None:
        return None
    try:
        return _folding(Twins(code))
    except DifferentError:
        return None


def _folding(twins: Twins) -> Folding:
    code, twin, n_pipes = twins.code, twins.twin, twins.n_pipes
    ops, channels, endpoints = twins.ops, twins.channels, twins.endpoints
    whole = program_of(code)
    new_channel = np.full(len(code.channels) + 1, -1, dtype=np.int64)
    new_channel[channels] = np.arange(channels.shape[0])
    new_endpoint = np.full(len(code.endpoints) + 1, -1, dtype=np.int64)
    new_endpoint[endpoints] = np.arange(endpoints.shape[0])
    for op, kinds in FIELDS.items():
        here = ops[:, 0] == op
        for k, kind in enumerate(kinds, start=1):
            if kind == CHANNEL:
                ops[here, k] = new_channel[ops[here, k]]
            elif kind == ENDPOINT:
                ops[here, k] = new_endpoint[ops[here, k]]
    chan = code.channel_table[channels].copy()
    chan[:, 5] = new_endpoint[chan[:, 5]]
    ends = np.ascontiguousarray(code.endpoint_table[endpoints])
    unequal = {kind: [(a, b) for b, a in twin[kind].items() if a != b] for kind in (STRUCTURE, DURATION)}

    def source(kind: int, size: int, new: Ints) -> Ints:
        return np.array([new[twin[kind].get(n, n)] for n in range(size)], dtype=np.int64)

    return Folding(
        code=code,
        program=Program(
            ops=ops,
            starts=np.ascontiguousarray(code.starts[: twins.b]),
            pipe_core=np.ascontiguousarray(whole.pipe_core[:n_pipes]),
            core_pipe=np.ascontiguousarray(whole.core_pipe[: twins.b + 1]),
            pipe_twin=np.ascontiguousarray(whole.pipe_twin[:n_pipes]),
            chan=np.ascontiguousarray(chan),
            ends=ends,
            pair=np.ascontiguousarray(new_channel[code.pair_table[endpoints][:, endpoints]]),
            mates=mates_of(ends),
            n_tracks=whole.n_tracks,
            parts=whole.parts,
        ),
        steady=np.array(code.steady[: twins.b], dtype=np.int64),
        cores=len(code.cores),
        shift=twins.shift,
        structure=np.array(unequal[STRUCTURE], dtype=np.int64).reshape(-1, 2),
        durations=np.array(unequal[DURATION], dtype=np.int64).reshape(-1, 2),
        pipe_source=source(PIPE, len(code.pipes), np.arange(len(code.pipes))),
        channel_source=source(CHANNEL, len(code.channels), new_channel),
        endpoint_source=source(ENDPOINT, len(code.endpoints), new_endpoint),
        track_source=source(TRACK, len(code.tracks), np.arange(len(code.tracks))),
    )
