"""What a workload is: cores with programs, tile buffers, FIFO pipes, and how blocks are launched.

All of it is data. A program is a tuple of nodes: `Loop`, `Instr` (anything that runs on a pipe) and the four
pipe calls `Talloc`, `Tpush`, `Tpop`, `Tfree`. `pto_tune.model.vocabulary` has short constructors under the
ISA's names; `pto_tune.model.serial` writes and reads JSON. A program of AIV runs on both sub-cores; loops, tiles and
costs may tell them apart by the name `sub` (0 or 1).

Pipes of a core: AIC has MTE2 (GM to L1), MTE1 (L1 to L0A/L0B), M (cube), FIX (L0C out); AIV has MTE2 (GM to UB),
V (vector), MTE3 (UB out). The scalar process issues in program order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pto_tune.model.communication import Barrier, Let, Post, Remote, Signal, Staging, Tget, Tnotify, Tput, Ttest, Twait
from pto_tune.model.expr import Expr, expr

AIC_PIPES = ("MTE2", "MTE1", "M", "FIX")
AIV_PIPES = ("MTE2", "V", "MTE3")
PIPES = {"AIC": AIC_PIPES, "AIV": AIV_PIPES}
MEMORIES = {"AIC": ("L1", "L0A", "L0B", "L0C"), "AIV": ("UB",)}

SPLITS = ("NO_SPLIT", "UP_DOWN", "LEFT_RIGHT", "UP_DOWN_ODD", "LEFT_RIGHT_ODD")
"""TileSplitAxis by its integer value."""
NO_SPLIT, UP_DOWN, LEFT_RIGHT, UP_DOWN_ODD, LEFT_RIGHT_ODD = range(5)
DIRECTIONS = ("C2V", "V2C", "BOTH", "V2C_CTRL", "C2V_GM", "V2C_GM", "BOTH_GM")
"""Directions of a pipe; the *_GM forms exist on Ascend 950 alone."""
FLOWS_OF = {d: tuple(h for h in ("C2V", "V2C") if h in d or "BOTH" in d) for d in DIRECTIONS}
"""Ways that tiles go in a pipe of each direction: cube to vector, vector to cube, or both."""
PIPE_KINDS = ("TPipe", "TMPipe")
TILE_KINDS = ("Acc", "Vec", "Mat", "Ctrl")


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


def _one() -> Expr:
    return expr(1)


def _zero() -> Expr:
    return expr(0)


@dataclass(frozen=True)
class Fifo:
    """One TPipe or TMPipe. `sync_period` 0 means: as the rule set derives it from SlotNum; a TPipe with any other
    value stands for one whose kernel gates the switches itself.

    `gm_form`: on 950 the DIR_*_GM form of the direction (A2/A3 rings are in GM anyway). `used` is 0 where a
    configuration does without the pipe. `is_no_split` is IsNoSplit (None: where `split` is NO_SPLIT). `gm_bytes` is
    what the kernel gives for rings in GM (0: what they need). `allocate`, `record`, `wait` and `free` are the four
    switches of producer and consumer. `gated`: the kernel gates the switches of a TMPipe by depth and period.
    `unit_flag` is EN_UNIT_FLAG, which only turns on the fixpipe unit flag of accumulator stores. `tile_bytes` is the
    logical FIFO entry of the GlobalData flow; tiles of the TileData flow have their own shapes. `part_slots`: slots of
    a ring in UB hold one sub-core's part of a split tile, which is all that is written and read there; the page of
    TPUSH asks for slots of a whole tile.
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
    used: Expr = field(default_factory=_one)
    kind: str = "TPipe"
    gm_form: bool = False
    is_no_split: Expr | None = None
    gm_bytes: Expr = field(default_factory=_zero)
    allocate: Expr = field(default_factory=_one)
    record: Expr = field(default_factory=_one)
    wait: Expr = field(default_factory=_one)
    free: Expr = field(default_factory=_one)
    gated: Expr = field(default_factory=_zero)
    part_slots: bool = False

    @property
    def flows(self) -> tuple[str, ...]:
        """C2V, V2C or both."""
        return FLOWS_OF[self.direction]

    def flow_of(self, core: str, producer: bool) -> str:
        """The way in which a core's calls move tiles: C2V or V2C."""
        return "C2V" if (core[:3] == "AIC") == producer else "V2C"

    def track(self, flow: str) -> str:
        """Name of the ring that carries this flow."""
        return f"{self.name}.{flow}" if len(self.flows) == 2 else self.name


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
class TConfig:
    """The fixpipe configuration of TPUSH(Pipe, Acc, TConfig), under the ISA's names; `model.fixpipe` lists them.

    ClipReluMode and IsChannelSplit are accepted and never read by the library.
    """

    layout: str = "NZ2ND"
    quant: str = "NoQuant"
    relu: str = "NoRelu"
    phase: str = "Unspecified"
    sub_block_id: int = 0
    atomic: str = "AtomicNone"
    clip_relu: str = ""
    channel_split: bool = False


@dataclass(frozen=True)
class Tile:
    """The tile of a TileData call: type, valid shape on this core (may use `sub`), element size, and what the transfer
    waits for and hands on, as in `Instr`. `costs` stand in place of the model's price."""

    kind: str
    rows: Expr
    cols: Expr
    elem_bytes: Expr
    acquires: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    publishes: tuple[Token, ...] = ()
    releases: tuple[Token, ...] = ()
    costs: tuple[Cost, ...] = ()


@dataclass(frozen=True)
class Talloc:
    """GlobalData: wait for space by the rule set, bind the slot, advance the producer's tile index.

    In every call `split` is its template argument (None: the pipe's), `waits` are events that it waits for first and
    `event` is the one that it returns.
    """

    fifo: str
    split: Expr | None = None
    waits: tuple[str, ...] = ()
    event: str = ""


@dataclass(frozen=True)
class Tpush:
    """GlobalData (no `tile`): record data-ready, nothing else. TileData: wait for space, store the tile, advance,
    record. `config` is the TConfig overload, `simplified` TPUSH(tile, pipe)."""

    fifo: str
    tile: Tile | None = None
    config: TConfig | None = None
    simplified: bool = False
    split: Expr | None = None
    waits: tuple[str, ...] = ()
    event: str = ""


@dataclass(frozen=True)
class Tpop:
    """GlobalData: wait for data, bind the slot, advance the consumer's tile index. TileData: wait, load (a ring in GM)
    or bind (a ring in local memory), advance, and free as the rule set says."""

    fifo: str
    tile: Tile | None = None
    split: Expr | None = None
    waits: tuple[str, ...] = ()
    event: str = ""


@dataclass(frozen=True)
class Tfree:
    """GlobalData: notify free space by the rule set, looking at the last popped index. TileData (`tile`): whatever the
    platform makes of TFREE(pipe)."""

    fifo: str
    tile: bool = False
    split: Expr | None = None
    waits: tuple[str, ...] = ()
    event: str = ""


@dataclass(frozen=True)
class Loop:
    """Run the body `trips` times; 0 skips it, so that a 0/1 expression is a condition.

    `steady` marks the main loop of a program (top level, at most one a core): the executor looks for its steady
    state and jumps over whole windows of it; every other loop is executed trip by trip. `index` is a scalar variable
    that counts the trips from 0, for workloads with ranks.
    """

    trips: Expr
    body: tuple[Node, ...]
    steady: bool = False
    index: str = ""


@dataclass(frozen=True)
class While:
    """Run the body while the condition is not 0, at most `most` times (evaluated at entry): the polling loop."""

    condition: Expr
    most: Expr
    body: tuple[Node, ...]


Call = Talloc | Tpush | Tpop | Tfree
Node = (
    Instr | Talloc | Tpush | Tpop | Tfree | Loop | While | Tput | Tget | Tnotify | Post | Twait | Ttest | Barrier | Let
)


def walk(nodes: Sequence[Node]) -> Iterator[Instr | Call | Remote]:
    """Instructions and calls of a program as written, loop bodies once."""
    for node in nodes:
        if isinstance(node, Loop | While):
            yield from walk(node.body)
        else:
            yield node


@dataclass(frozen=True)
class Rule:
    """A rule of this workload: legal where `ok` is not 0. The sentence may use {value}, {limit} and {nearest}.

    Its expressions may use the name `on_a5`: 1 on platforms of family a5, else 0."""

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
    are taken to be in L2. `ranks` (0: one device by itself): so many ranks run all blocks at the same time, each with
    the `signals` in its memory and the `staging` tiles in every UB; `ranks_per_node` 0 means the platform's own.
    `family`: of the platforms that it is written for, "" where it is for all; where no platform is named, one of these
    is taken. `source_sha256`: of the kernel file that it was read from (`kernels.guards.fingerprint`), "" where there
    is none.
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
    ranks: Expr = field(default_factory=_zero)
    ranks_per_node: Expr = field(default_factory=_zero)
    signals: tuple[Signal, ...] = ()
    staging: tuple[Staging, ...] = ()
    family: str = ""
    source_sha256: str = ""

    @property
    def cores(self) -> tuple[str, ...]:
        """AIC and AIV as far as the workload has programs for them."""
        return tuple(core for core, _ in self.programs)

    @property
    def has_ranks(self) -> bool:
        """Whether it runs on ranks, by the time-ordered engine."""
        return self.ranks != expr(0)

    def parameter_names(self) -> tuple[str, ...]:
        """Problem sizes, then tunables, in order."""
        return tuple(p.name for p in self.problem) + tuple(t.name for t in self.tunables)
