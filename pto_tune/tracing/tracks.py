"""Work of pipes over time, as columns: of a prediction, and of one core group of a trace."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from pto_tune.tracing.naming import TraceError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from pto_tune.explaining.explanation import Explanation

MOST_EVENTS = 500_000
"""Events of a predicted timeline of several blocks."""

_INSTANCE = re.compile(r"rank (\d{1,6}) block (\d{1,6})")


@dataclass(frozen=True, eq=False)
class Tracks:
    """n events, sorted by pipe and start. `pipe` and `name` index `pipes` and `names`; times are cycles."""

    pipes: tuple[str, ...]
    names: tuple[str, ...]
    pipe: NDArray[np.int64]
    name: NDArray[np.int64]
    start: NDArray[np.float64]
    end: NDArray[np.float64]

    def __len__(self) -> int:
        return int(self.pipe.shape[0])

    @property
    def used(self) -> tuple[str, ...]:
        """Pipes that have events, in the order of `pipes`."""
        return tuple(self.pipes[i] for i in np.unique(self.pipe).tolist())

    def of(self, pipe: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Starts and ends of a pipe's events."""
        if pipe not in self.pipes:
            return np.zeros(0), np.zeros(0)
        at = self.pipe == self.pipes.index(pipe)
        return self.start[at], self.end[at]

    def moved(self, cycles: float) -> Tracks:
        """The same, later by so many cycles."""
        return Tracks(self.pipes, self.names, self.pipe, self.name, self.start + cycles, self.end + cycles)


@dataclass(frozen=True, eq=False)
class Recorded:
    """What a trace has of one core group.

    group, groups: the one that is compared ("" where nothing names one), and all that there are.
    others: names of what belongs to no pipe that is known, with their events. op_us: the duration of the op that was
    asked for, of `ops` with that name.
    """

    tracks: Tracks
    group: str
    groups: tuple[str, ...]
    others: Mapping[str, int] = field(default_factory=dict)
    op_us: float | None = None
    ops: int = 0


def tracks_of(rows: Iterable[tuple[str, str, float, float]], first: Sequence[str] = ()) -> Tracks:
    """Columns of (pipe, name, start, end); pipes in the order of `first`, then by name."""
    found = list(rows)
    have = {row[0] for row in found}
    pipes = (*first, *sorted(have - set(first)))
    place = {pipe: i for i, pipe in enumerate(pipes)}
    names: dict[str, int] = {}
    pipe = np.array([place[row[0]] for row in found], dtype=np.int64)
    name = np.array([names.setdefault(row[1], len(names)) for row in found], dtype=np.int64)
    start = np.array([row[2] for row in found], dtype=np.float64)
    end = np.array([row[3] for row in found], dtype=np.float64)
    order = np.lexsort((end, start, pipe))
    return Tracks(pipes, tuple(names), pipe[order], name[order], start[order], end[order])


def preferred_group(explanation: Explanation) -> str:
    """The core group of a trace of this project that the timeline of an explanation shows."""
    from pto_tune.explaining.several import RankExplanation

    if not isinstance(explanation, RankExplanation):
        return ""
    run = explanation.run
    return f"rank {run.last_instance // run.blocks} block {run.last_instance % run.blocks}"


def predicted(explanation: Explanation, group: str = "", all_blocks: bool = False) -> Tracks:
    """The work of the pipes of a prediction: the first block of a full wave, with `all_blocks` every block that the
    first core runs, one behind the other; with ranks the block that `group` names ("rank 1 block 0"), else the one
    that ends last.

    Raises:
        TraceError: no times, or blocks that cannot be laid out.
    """
    from pto_tune.explaining.several import RankExplanation

    pipes = explanation.problem.code.pipes
    if not explanation.timed:
        raise TraceError(f"there is no predicted timeline: {explanation.evaluation.reason(0)}")
    if isinstance(explanation, RankExplanation):
        if all_blocks:
            raise TraceError("the blocks of a workload with ranks run side by side: choose one by its group")
        run = explanation.run
        named = _INSTANCE.fullmatch(group)
        instance = int(named[1]) * run.blocks + int(named[2]) if named else run.last_instance
        if not instance < run.ranks * run.blocks or (named and int(named[2]) >= run.blocks):
            raise TraceError(f"the prediction has no {group}: it has {run.ranks} ranks with {run.blocks} blocks each")
        events = explanation.events_of(instance)
        return tracks_of(((e.pipe, e.name, e.start, e.end) for e in events if e.end > e.start), pipes)
    rows = _block(explanation, 0) if not all_blocks else _core(explanation)
    return tracks_of(rows, pipes)


def blocks_of_a_core(explanation: Explanation) -> int:
    """How many blocks the first core runs one after the other (at least; unequal blocks are spread by their times)."""
    x = explanation.evaluation.execution
    return 1 if x is None else max(1, -(-int(x.blocks[0]) // x.cores))


def _block(explanation: Explanation, wave: int) -> list[tuple[str, str, float, float]]:
    from pto_tune.explaining.timeline import timeline

    x = explanation.evaluation.execution
    assert x is not None
    t = timeline(explanation.problem.code, explanation.problem.platform, x, 0, 0, wave)
    pipes = set(explanation.problem.code.pipes)
    return [
        (e.pipe, e.name, float(e.start), float(e.end))
        for e in t.events()
        if e.pipe in pipes and e.end > e.start and not t.is_signal(e.operation)
    ]


def _core(explanation: Explanation) -> list[tuple[str, str, float, float]]:
    x = explanation.evaluation.execution
    assert x is not None
    lane = int(x.first_lane[0])
    if int(x.last_lane[0]) - lane > 1:
        raise TraceError("the blocks of this configuration are unequal, and which core runs which is not known")
    full, rest = int(x.full_waves[0]), int(x.lanes.active[lane, 1] > 0)
    out: list[tuple[str, str, float, float]] = []
    begin = 0.0
    for wave, times in ((0, full), (1, rest)):
        block = _block(explanation, wave) if times else []
        if len(out) + times * len(block) > MOST_EVENTS:
            raise TraceError(f"{times} blocks have more than {MOST_EVENTS:,} events: compare the first one")
        for _ in range(times):
            out += [(pipe, name, begin + start, begin + end) for pipe, name, start, end in block]
            begin += float(x.lanes.cycles[lane, wave])
    return out
