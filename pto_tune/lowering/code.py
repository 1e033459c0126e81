"""The code that the executor runs: a flat table of operations for each core, shared by all configurations.

Everything that a configuration changes is a column: *structure* columns (trip counts, copies, SlotNum, SyncPeriod)
decide the order of events, *duration* columns (cycles) decide their times. Configurations with equal structure
columns share one schedule.

Semantics of an instruction on pipe p of a core, in program order
    issue   the scalar process goes on by `issue` cycles for each scalar instruction that it stands for; the first of
            them is when the pipe may see it, and it must find room in the pipe's queue: the instruction `queue depth`
            places earlier on that pipe has started. Its tokens are those next in the order of the program, wherever
            they come from.
    start   the latest of issue, pipe free, and its tokens
    end     start + duration: the pipe is free and released buffers are free; what it publishes is usable after the
            latency of its transfer
A wait for a flag of another core either holds the scalar process (A2/A3): it goes on at the later of its own time and
the flag's arrival, plus the cost of the wait; or it is an instruction of the pipe that it names (950). A signal leaves
when the last instruction on its pipe is complete (latency included) and reaches the other core after the cross-core
latency; it does not hold the pipe.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pto_tune.model.communication import Transfer
    from pto_tune.model.expr import Expr
    from pto_tune.model.nodes import Cost, Workload
    from pto_tune.rule_sets import RuleSet

# operations: (op, a, b, c, d)
HALT = 0  #                      the program of this core is at its end
LOOP = 1  # trips, end, steady   run to `end` when trips is 0
NEXT = 2  # loop                 back to the loop's body while trips remain
BEGIN = 3  # pipe, end           an instruction: its parts follow, up to `end`
SIGNAL = 4  # pipe, end          a signal: its parts follow, up to `end`
POP = 5  # channel, if           part: it needs (and takes) a token, if the structure column is not 0 (-1: always)
WRITE = 6  # track, endpoint     part: it writes the endpoint's current slot
READ = 7  # track, endpoint      part: it reads the endpoint's current slot
EXEC = 8  # duration, issues, latency      part: it runs
PUSH = 9  # channel, latency, if part: hand on a token, if the structure column is not 0 (-1: always)
SWAIT = 10  # channel, channel2  the scalar process waits for a token (of both)
IFWAIT = 11  # endpoint, skip, if          skip unless the rule set waits before this tile, and the switch is on
IFNOTIFY = 12  # endpoint, skip, if        skip unless the rule set notifies at this tile index, and the switch is on
ADVANCE = 13  # endpoint, pipe   the tile index goes on; the pipe's last instruction waited for it (-1: the core). Also
#                                a part, where a ring's index goes on with the instruction
DRAIN = 14  # endpoint, skip, by rule, column   skip unless credits are pending: those of the rule (1), and the column's
JUMP = 15  # to
RECORD = 16  # endpoint          a GlobalData tile is pushed

# operations of workloads with ranks; "program" is the start of a program of `RankCode.bytecode`
COUNTED = 17  # program, end, variable   a loop; the variable (-1: none) counts its trips from 0
AGAIN = 18  # loop
WHILE = 19  # program, end, program      while the first is not 0, at most as often as the second says at entry
LET = 20  # variable, program
TAKE = 21  # channel                     the scalar process waits for an event of its core
BARRIER = 22  # first pipe, last pipe, own cost       the scalar process waits until the pipes are done
NOTIFY = 23  # row of `RankCode.signal_calls`         and then a BARRIER of all pipes
POST = 24  # row
WAIT = 25  # row
TEST = 26  # row, variable
TRANSFER = 27  # call, end               its parts follow up to `end`: events that it needs, and gives

# the first structure columns of every code
ISSUE_COLUMN = 0
WAIT_COLUMN = 1


STRUCTURE_FIELDS = {LOOP: [1], POP: [2], PUSH: [3], IFWAIT: [3], IFNOTIFY: [3], DRAIN: [4]}
"""Fields of an operation that name a structure column."""


@dataclass(frozen=True)
class Channel:
    """A counted channel. `wait_name` is the name under which waiting for it is accounted."""

    name: str
    wait_name: str
    writer: int  # core
    reader: int
    initial: int  # structure column of tokens at the start, or -1
    counter: bool = False  # a hardware flag counter between cores
    released: int = -1  # endpoint of the consumer whose tile index its tokens carry


@dataclass(frozen=True)
class Endpoint:
    """One core's end of a FIFO or ring."""

    track: int
    core: int
    producer: bool
    slot_num: int  # structure columns
    period: int
    first: int
    shared: int = -1  # another track on the same slots
    unread: bool = False  # no instruction reads its tiles: they are read when they are popped
    fifo: str = ""  # "" for a ring of the workload


@dataclass(frozen=True)
class DurationColumn:
    """Where a duration comes from. kind: cost, flag_set, flag_wait, cross, latency, overlap."""

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
    structure: tuple[tuple[str, Expr | None, int], ...]  # label, expression, sub-core whose `sub` it sees
    durations: tuple[DurationColumn, ...]
    steady: tuple[int, ...]  # structure column of each core's steady trips, or -1
    names: tuple[str, ...]  # instruction name of each operation
    wait_names: tuple[str, ...]
    channel_table: NDArray[np.int64]
    endpoint_table: NDArray[np.int64]
    pair_table: NDArray[np.int64]  # (endpoints, endpoints) channel on which a producer hears from a consumer, or -1
    most_parts: int  # of an instruction
    ranks: RankCode | None = None
    built_in: bool = False  # whether the workload is one of the project's own, whose runs may be longer


@dataclass(frozen=True)
class TransferCall:
    """A TPUT or TGET in the program of a core. `peer` is a program of the bytecode; `tile` and `pong` number the
    staging tiles of the workload (-1: none); `loads` and `stores` are the pipes of the core (of the SDMA form both the
    engine)."""

    node: Transfer
    core: int
    sub: int
    peer: int
    tile: int
    pong: int
    loads: int
    stores: int


@dataclass(frozen=True)
class RankCode:
    """What workloads with ranks have beside the rest.

    `bytecode` (n, 2): operation and argument of stack programs over `scalars` and variables, each up to BC_END.
    `scalars`: expressions without variables, with the sub-core whose `sub` they see. `signal_calls` (n, 10): signal,
    element, value, peer, kind (0 Set, 1 AtomicAdd; or the comparison), announces, first of its `views`, number of
    them, and whether it is a TNOTIFY. `views` (n, 2): count and stride. Operands are programs of the bytecode.
    """

    bytecode: NDArray[np.int64]
    scalars: tuple[tuple[Expr, int], ...]
    variables: tuple[str, ...]
    signal_calls: NDArray[np.int64]
    views: NDArray[np.int64]
    transfers: tuple[TransferCall, ...]
    core_pipe: NDArray[np.int64]  # (cores + 1) first pipe of each core
    writes_gm: NDArray[np.int64]  # (operations) 1 where an instruction writes to GM


BC_END, BC_CONSTANT, BC_SCALAR, BC_VARIABLE = 0, 1, 2, 3
BC_OPERATORS = (
    "+", "-", "*", "//", "%", "ceildiv", "min", "max", "==", "!=", "<", "<=", ">", ">=", "and", "or", "not", "where",
)  # fmt: skip
"""Operators in the order of their numbers in the bytecode, from 4 on."""
