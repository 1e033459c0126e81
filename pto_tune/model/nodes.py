"""What a workload is: cores with programs, tile buffers, FIFO pipes, and how blocks are launched.

All of it is data. A program is a tuple of nodes: `Loop`, `Instr` (anything that runs on a pipe) and the four
pipe calls `Talloc`, `Tpush`, `Tpop`, `Tfree`. `pto_tune.model.vocabulary` has short constructors under the
ISA's names; `pto_tune.model.serial` writes and reads JSON.

Pipes of a core: AIC has MTE2 (GM to L1), MTE1 (L1 to L0A/L0B), M (cube), FIX (L0C out); AIV has MTE2 (GM to UB),
V (vector), MTE3 (UB out). The scalar process issues in program order.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pto_tune.model.expr import Expr, expr

AIC_PIPES = ("MTE2", "MTE1", "M", "FIX")
AIV_PIPES = ("MTE2", "V", "MTE3")
PIPES = {"AIC": AIC_PIPES, "AIV": AIV_PIPES}
MEMORIES = {"AIC": ("L1", "L0A", "L0B", "L0C"), "AIV": ("UB",)}

SPLITS = ("NO_SPLIT", "UP_DOWN", "LEFT_RIGHT")
"""TileSplitAxis by its integer value."""
DIRECTIONS = ("C2V", "V2C")
"""Directions of a TPipe: cube to vector, vector to cube."""


@dataclass(frozen=True)
class Parameter:
    """A problem size. `labels` names the values of a size that is really a choice."""

    name: str
    default: int
    doc: str
    minimum: int = 1
    maximum: int = 2**31
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Tunable:
    """A tunable: its default domain (values in order), its default value and what it means."""

    name: str
    domain: tuple[int, ...]
    default: int
    doc: str
    minimum: int = 1
    maximum: int = 2**31
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Buffer:
    """A tile buffer of one core: `copies` tiles of `bytes` each (2 = ping-pong).

    Every copy is a token: an instruction that `acquires` waits for a free copy, one that `takes` waits for a
    filled one; `publishes` and `releases` give them on.
    """

    name: str
    core: str
    memory: str
    bytes: Expr
    copies: Expr


@dataclass(frozen=True)
class Ring:
    """A ring in a core's memory that no flag protects; `slots` entries, reused in order."""

    name: str
    core: str
    memory: str
    slots: Expr
    bytes: Expr


@dataclass(frozen=True)
class Fifo:
    """One TPipe. `sync_period` 0 means: as the rule set derives it from SlotNum. `unit_flag` is EN_UNIT_FLAG, which
    only turns on the fixpipe unit flag of accumulator stores. `used` is 0 where a configuration does without the pipe.
    """

    name: str
    direction: str
    slot_bytes: Expr
    slot_num: Expr
    sync_period: Expr
    local_slot_num: Expr
    split: Expr
    flag_id: int
    tile_bytes: Expr
    slot_num_name: str = ""
    sync_period_name: str = ""
    unit_flag: bool = False
    used: Expr = field(default_factory=lambda: expr(1))


@dataclass(frozen=True)
class Cost:
    """A latency model by name with its arguments; `pto_tune.lowering.costs` lists models and arguments."""

    model: str
    args: tuple[tuple[str, Expr | str], ...]


@dataclass(frozen=True)
class Token:
    """A buffer handed on by an instruction. `unit_flag` = (matmul label, drain label): with the fixpipe unit flag
    the drain runs behind the matmul, so the token leaves early by what the two overlap."""

    buffer: str
    unit_flag: tuple[str, str] | None = None


@dataclass(frozen=True)
class Instr:
    """An instruction on a pipe: starts at the latest of issue, pipe free and its tokens, runs for its costs.

    `acquires`, `takes`: buffers waited for (free copy, filled copy). `publishes`, `releases`: buffers handed on at
    the end. `waits`, `event`: events of this core, by name. `writes`, `reads`: FIFOs and rings whose current slot
    it touches. `issues`: scalar instructions that it stands for (a macro on the vector pipe stands for many).
    """

    name: str
    pipe: str
    costs: tuple[Cost, ...] = ()
    label: str = ""
    acquires: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    publishes: tuple[Token, ...] = ()
    releases: tuple[Token, ...] = ()
    waits: tuple[str, ...] = ()
    event: str = ""
    writes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    issues: int = 1


@dataclass(frozen=True)
class Talloc:
    """Wait for space by the rule set, bind the slot, advance the producer's tile index."""

    fifo: str


@dataclass(frozen=True)
class Tpush:
    """Record data-ready on the producer's pipe."""

    fifo: str


@dataclass(frozen=True)
class Tpop:
    """Wait for data-ready, bind the slot, advance the consumer's tile index."""

    fifo: str


@dataclass(frozen=True)
class Tfree:
    """Notify free space by the rule set, looking at the last popped index."""

    fifo: str


@dataclass(frozen=True)
class Loop:
    """Run the body `trips` times; 0 skips it, so that a 0/1 expression is a condition.

    `steady` marks the main loop of a program (top level, at most one a core): the executor looks for its steady
    state and jumps over whole windows of it; every other loop is executed trip by trip.
    """

    trips: Expr
    body: tuple[Node, ...]
    steady: bool = False


Node = Instr | Talloc | Tpush | Tpop | Tfree | Loop


@dataclass(frozen=True)
class Rule:
    """A rule of this workload: legal where `ok` is not 0. The sentence may use {value}, {limit} and {nearest}."""

    name: str
    ok: Expr
    sentence: str
    value: Expr
    limit: Expr
    nearest: Expr | None = None


@dataclass(frozen=True)
class Launch:
    """`blocks` blocks over the cores. Where `varying` is not 0, blocks differ and expressions of the programs may
    use the name `block`."""

    blocks: Expr
    varying: Expr = field(default_factory=lambda: expr(0))


@dataclass(frozen=True)
class Workload:
    """A kernel with everything that decides its time. `derived` are named expressions, evaluated in order.

    `uses_ub_scratch`: an operation writes the library's scratch at the top of UB. `l2_footprint`: bytes of inputs that
    are taken to be in L2.
    """

    name: str
    doc: str
    problem: tuple[Parameter, ...]
    tunables: tuple[Tunable, ...]
    buffers: tuple[Buffer, ...]
    fifos: tuple[Fifo, ...]
    programs: tuple[tuple[str, tuple[Node, ...]], ...]
    launch: Launch
    derived: tuple[tuple[str, Expr], ...] = ()
    rings: tuple[Ring, ...] = ()
    rules: tuple[Rule, ...] = ()
    uses_ub_scratch: bool = False
    l2_footprint: Expr = field(default_factory=lambda: expr(0))

    @property
    def cores(self) -> tuple[str, ...]:
        """AIC and AIV as far as the workload has programs for them."""
        return tuple(core for core, _ in self.programs)

    def parameter_names(self) -> tuple[str, ...]:
        """Problem sizes, then tunables, in order."""
        return tuple(p.name for p in self.problem) + tuple(t.name for t in self.tunables)
