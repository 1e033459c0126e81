"""What ranks do with one another: remote transfers, signals, and the scalar code around them, as data.

A workload with `ranks` runs its blocks on every rank at the same time. Transfers (TPUT, TGET) go through staging tiles
in UB; signals are arrays of 32-bit counters, one in the memory of every rank. Operands that may differ from trip to
trip (peer, element, value) are expressions that may also use `rank`, `block`, `sub`, and scalar variables: the index of
a loop, and what `Let` and TTEST set.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pto_tune.model.expr import Expr, expr

NOTIFY_OPS = ("Set", "AtomicAdd")
COMPARISONS = ("EQ", "NE", "GT", "GE", "LT", "LE")


def _zero() -> Expr:
    return expr(0)


def _one() -> Expr:
    return expr(1)


@dataclass(frozen=True)
class Signal:
    """An array of signals: every rank has one in its memory, with all elements 0 at the start.

    `dims` are its extents (the ISA takes up to five), `elem` its element type, `offset_bytes` its place in memory.
    """

    name: str
    dims: tuple[Expr, ...]
    elem: str = "int32"
    offset_bytes: Expr = field(default_factory=_zero)


@dataclass(frozen=True)
class Staging:
    """A staging tile of each vector sub-core in UB: allocated `rows` x `cols` elements, and what of them is valid at
    the start (None: all). An axis is dynamic where `dynamic_rows`/`dynamic_cols` is not 0: then calls may shrink it,
    and leave it so. `offset_bytes` is its place in UB (None: beside everything else). `used` 0: this configuration has
    no such tile."""

    name: str
    rows: Expr
    cols: Expr
    elem: str = "float"
    valid_rows: Expr | None = None
    valid_cols: Expr | None = None
    dynamic_rows: Expr = field(default_factory=_zero)
    dynamic_cols: Expr = field(default_factory=_zero)
    offset_bytes: Expr | None = None
    used: Expr = field(default_factory=_one)
    location: str = "Vec"
    block_layout: str = "RowMajor"
    fractal_layout: str = "NoneBox"


@dataclass(frozen=True)
class Transfer:
    """TPUT or TGET of a GlobalTensor of `shape` (d0..d4) to or from rank `peer` through `tile`, and by turns `pong`
    where it is named and `use_pong` is not 0.

    `elem` and `layout` are those of the source, `dst_elem` and `dst_layout` of the destination ("": the same).
    `src_remote` and `dst_remote` say which side is in another rank's memory (None: as the instruction demands).
    `asynchronous` is the SDMA form, which needs no tile. `waits` and `event` as in `Instr`.
    """

    shape: tuple[Expr, ...]
    peer: Expr
    tile: str = ""
    pong: str = ""
    use_pong: Expr = field(default_factory=_one)
    atomic: str = "AtomicNone"
    atomic_at_run_time: bool = False
    asynchronous: bool = False
    elem: str = "float"
    dst_elem: str = ""
    layout: str = "ND"
    dst_layout: str = ""
    src_remote: bool | None = None
    dst_remote: bool | None = None
    waits: tuple[str, ...] = ()
    event: str = ""


@dataclass(frozen=True)
class Tput(Transfer):
    """Remote write: local GM to UB to remote GM."""


@dataclass(frozen=True)
class Tget(Transfer):
    """Remote read: remote GM to UB to local GM."""


@dataclass(frozen=True)
class Tnotify:
    """Set or add to element `at` of a signal in the memory of rank `peer`; `remote` False: a local address.

    The store is not ordered behind transfers that are under way; afterwards the core drains. `announces` False: nobody
    reads data because of it, so that its order does not matter.
    """

    signal: str
    peer: Expr
    value: Expr
    at: Expr = field(default_factory=_zero)
    op: str = "AtomicAdd"
    remote: bool = True
    announces: bool = True
    waits: tuple[str, ...] = ()


@dataclass(frozen=True)
class Post:
    """A plain scalar store (or atomic addition) to a signal of the own rank, as ready queues of kernels do it: no fence
    and no barrier. `announces` as in `Tnotify`."""

    signal: str
    value: Expr
    at: Expr = field(default_factory=_zero)
    op: str = "Set"
    announces: bool = True


@dataclass(frozen=True)
class Twait:
    """Poll until all elements of a view of the own rank's signal compare with `value`.

    The view starts at element `at`; its dimensions are (count, stride) in elements, the first one outermost; no
    dimension is one element. `remote` True: an address in another rank's memory.
    """

    signal: str
    value: Expr
    cmp: str = "GE"
    at: Expr = field(default_factory=_zero)
    view: tuple[tuple[Expr, Expr], ...] = ()
    remote: bool = False
    waits: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ttest:
    """One sweep over a view as in `Twait`: variable `into` becomes 1 where all elements compare, else 0."""

    signal: str
    value: Expr
    into: str
    cmp: str = "GE"
    at: Expr = field(default_factory=_zero)
    view: tuple[tuple[Expr, Expr], ...] = ()
    remote: bool = False
    waits: tuple[str, ...] = ()


@dataclass(frozen=True)
class Barrier:
    """pipe_barrier of all pipes, or with `pipes` set_flag and wait_flag from those to the scalar process: it goes on
    when what was issued on them is complete."""

    pipes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Let:
    """Set a scalar variable of the core."""

    name: str
    value: Expr


Remote = Tput | Tget | Tnotify | Post | Twait | Ttest | Barrier | Let
"""Everything here that may stand in a program."""
