"""All events of one block of one configuration, with their times and what decided them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cost_models import scalar
from pto_tune.executor import detail
from pto_tune.executor.accounts import stretched
from pto_tune.executor.engine import Buffers, capacity_of_channels
from pto_tune.executor.jit import call
from pto_tune.executor.layout import FULL, REMATERIALISED
from pto_tune.executor.tables import program_of
from pto_tune.explaining.columns import AT, BASE, DURATION, END, KIND, START
from pto_tune.lowering import code as c

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from cost_models.platform import Platform
    from pto_tune.executor.engine import Execution
    from pto_tune.lowering.code import Code

    Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Event:
    """Something that takes time on a pipe, or a wait of a scalar process (pipe "AIC.S"). Cycles from the start."""

    pipe: str
    name: str
    start: int
    end: int
    operation: int


@dataclass(frozen=True)
class Timeline:
    """Operations in the order of evaluation: `table` (n, 8), `sources` (m, 4) and `touched` (n, 4) as `detail.replay`
    describes them."""

    code: Code
    table: Ints
    sources: Ints
    touched: Ints
    durations: Ints

    @property
    def cycles(self) -> int:
        """The end of the block."""
        return int(self.table[-1, END])

    def pipe_of(self, operation: int) -> str:
        """The pipe, or "AIC.S" for a scalar process."""
        kind = int(self.table[operation, KIND])
        return self.code.pipes[kind] if kind >= 0 else f"{self.code.cores[-1 - kind]}.S"

    def name_of(self, operation: int) -> str:
        """The instruction or pipe call, by its ISA name."""
        at = int(self.table[operation, AT])
        if self.code.ops[at, 0] == c.BEGIN:
            return "queue"
        return self.code.names[at]

    def is_signal(self, operation: int) -> bool:
        """Whether the operation is a flag set for another core: it does not hold its pipe."""
        at = int(self.table[operation, AT])
        if self.code.ops[at, 0] != c.EXEC:
            return False
        while self.code.ops[at, 0] not in (c.BEGIN, c.SIGNAL):
            at -= 1
        return bool(self.code.ops[at, 0] == c.SIGNAL)

    def duration(self, operation: int) -> int:
        d = int(self.table[operation, DURATION])
        return int(self.durations[d]) if d >= 0 else 0

    def events(self) -> Iterator[Event]:
        """Instructions on pipes and waits of scalar processes, in the order of evaluation."""
        for i in range(self.table.shape[0]):
            kind = int(self.table[i, KIND])
            if kind == REMATERIALISED:
                continue
            end, start = int(self.table[i, END]), int(self.table[i, START])
            if kind < 0:
                start = int(self.table[i, BASE])
                if end > start:
                    yield Event(self.pipe_of(i), f"wait {self.name_of(i)}", start, end, i)
            elif self.is_signal(i) or self.duration(i) > 0:
                yield Event(self.pipe_of(i), self.name_of(i), start, end, i)

    def source_time(self, source: int) -> int:
        """Arrival of a source: its producer's end with constant and latency."""
        producer, _, constant, column = (int(v) for v in self.sources[source])
        t = (int(self.table[producer, END]) if producer >= 0 else 0) + constant
        if column >= 0:
            t += int(self.durations[column])
        elif column < -1:
            t -= int(self.durations[-2 - column])
        return t


MOST_OPERATIONS = 2**22
"""A longer timeline is refused: this one takes most of a gigabyte."""


def timeline(code: Code, platform: Platform, x: Execution, row: int, block: int = 0, wave: int = 0) -> Timeline:
    """The events of a block of a row: of block 0 in a full wave unless said otherwise. ValueError where it hangs."""
    lanes = x.lanes
    first, last = int(x.first_lane[row]), int(x.last_lane[row])
    lane = first + (block if last - first > 1 else 0)
    if x.hang[row]:
        raise ValueError("a configuration that hangs has no timeline")
    if lanes.active[lane, wave] == 0:
        wave = 1 - wave
    dur = stretched(x, lane, wave)
    structure = np.ascontiguousarray(lanes.columns.structure[lane])
    buffers = Buffers(cap=capacity_of_channels(structure[None, :], code), most=MOST_OPERATIONS)
    while True:
        table = np.zeros((buffers.operations, 8), dtype=np.int64)
        sources = np.zeros((4 * buffers.operations, 4), dtype=np.int64)
        touched = np.full((buffers.operations, 4), -1, dtype=np.int64)
        info = np.zeros(4, dtype=np.int64)
        status = call(
            detail.replay, program_of(code), structure, scalar.queue_depth(platform), dur,
            buffers.operations, buffers.cap, buffers.registers, table, sources, touched, info,
        )  # fmt: skip
        if status != FULL:
            break
        buffers.grow()
    return Timeline(code, table[: info[1]], sources[: info[2]], touched[: info[1]], dur)
