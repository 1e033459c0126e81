"""The code that the executor runs: a flat table of operations for each core, shared by all configurations.

Everything that a configuration changes is a column: *structure* columns (trip counts, copies, SlotNum, SyncPeriod)
decide the order of events, *duration* columns (cycles) decide their times. Configurations with equal structure
columns share one schedule.

Semantics of an instruction on pipe p of a core, in program order
    issue   the scalar process goes on by `issue` cycles for each scalar instruction that it stands for; the first of
            them is when the pipe may see it, and it must find room in the pipe's queue: the instruction `queue depth`
            places earlier on that pipe has started
    start   the latest of issue, pipe free, and its tokens
    end     start + duration: the pipe is free and released buffers are free; what it publishes is usable after the
            latency of its transfer
A wait for a flag of another core holds the scalar process: it goes on at the later of its own time and the flag's
arrival, plus the cost of the wait. A signal leaves when the last instruction on its pipe is complete (latency
included) and reaches the other core after the cross-core latency; it does not hold the pipe.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pto_tune.model.expr import Expr
    from pto_tune.model.nodes import Cost, Workload
    from pto_tune.rule_sets import RuleSet

# operations: (op, a, b, c, d)
HALT = 0  #                      the program of this core is at its end
LOOP = 1  # trips, end, steady   run to `end` when trips is 0
NEXT = 2  # loop                 back to the loop's body while trips remain
BEGIN = 3  # pipe                an instruction begins
SIGNAL = 4  # pipe               a signal begins
POP = 5  # channel               it needs (and takes) a token
WRITE = 6  # track, endpoint     it writes the endpoint's current slot
READ = 7  # track, endpoint      it reads the endpoint's current slot
EXEC = 8  # duration, issues, latency
PUSH = 9  # channel, latency     hand on a token
SWAIT = 10  # channel, channel2  the scalar process waits for a token (of both)
IFWAIT = 11  # endpoint, skip    skip unless the rule set waits before this tile
IFNOTIFY = 12  # endpoint, skip  skip unless the rule set notifies after this tile
ADVANCE = 13  # endpoint         the tile index goes on
DRAIN = 14  # endpoint, channel, channel2, mode (0 computed, 1 period)

# the first structure columns of every code
ISSUE_COLUMN = 0
WAIT_COLUMN = 1


@dataclass(frozen=True)
class Channel:
    """A counted channel. `wait_name` is the name under which waiting for it is accounted."""

    name: str
    wait_name: str
    writer: int  # core
    reader: int
    initial: int  # structure column of tokens at the start, or -1
    counter: bool = False  # a hardware flag counter between cores


@dataclass(frozen=True)
class Endpoint:
    """One core's end of a FIFO or ring."""

    track: int
    core: int
    producer: bool
    slot_num: int  # structure columns
    period: int
    first: int


@dataclass(frozen=True)
class DurationColumn:
    """Where a duration comes from. kind: cost, flag_set, cross, latency, overlap."""

    kind: str
    pipe: int = -1
    sub: int = 0
    costs: tuple[Cost, ...] = ()
    path: str = ""
    of: tuple[int, int] = (-1, -1)


@dataclass(frozen=True)
class Code:
    """A lowered workload. Arrays are int64 and C-contiguous."""

    workload: Workload
    rule_set: RuleSet
    ops: NDArray[np.int64]  # (n, 5)
    starts: NDArray[np.int64]  # first operation of each core
    cores: tuple[str, ...]
    pipes: tuple[str, ...]
    pipe_core: NDArray[np.int64]
    pipe_twin: NDArray[np.int64]  # equal for the same pipe of the two sub-cores
    channels: tuple[Channel, ...]
    endpoints: tuple[Endpoint, ...]
    tracks: tuple[str, ...]
    structure: tuple[tuple[str, Expr | None], ...]
    durations: tuple[DurationColumn, ...]
    steady: tuple[int, ...]  # structure column of each core's steady trips, or -1
    names: tuple[str, ...]  # instruction name of each operation
    wait_names: tuple[str, ...]
    channel_table: NDArray[np.int64]
    endpoint_table: NDArray[np.int64]
