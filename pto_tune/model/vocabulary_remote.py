"""A small vocabulary for ranks: remote transfers, signals, and the scalar code around them.

Integers may stand wherever an expression is meant. Peers, elements and values may also use `rank`, `block`, `sub` and
the variables of the core's program.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypedDict, TypeVar, Unpack

from pto_tune.model.communication import (
    Barrier,
    Let,
    Post,
    Signal,
    Staging,
    Tget,
    Tnotify,
    Tput,
    Ttest,
    Twait,
)
from pto_tune.model.expr import Expr, ExprLike, expr, name, not_
from pto_tune.model.nodes import Loop, Node, While
from pto_tune.model.vocabulary import Names, when

View = Iterable[tuple[ExprLike, ExprLike]]
"""(count, stride) of each dimension, the first one outermost."""

_Transfer = TypeVar("_Transfer", Tput, Tget)


class Sides(TypedDict, total=False):
    """Further fields of `Transfer`, which every form of TPUT and TGET takes."""

    atomic: str
    elem: str
    dst_elem: str
    layout: str
    dst_layout: str
    src_remote: bool | None
    dst_remote: bool | None
    event: str


def signal(name: str, *dims: ExprLike, elem: str = "int32", offset_bytes: ExprLike = 0) -> Signal:
    """An array of signals in the memory of every rank."""
    return Signal(name, _exprs(dims), elem, expr(offset_bytes))


def staging(
    name: str,
    rows: ExprLike,
    cols: ExprLike,
    elem: str = "float",
    *,
    valid_rows: ExprLike | None = None,
    valid_cols: ExprLike | None = None,
    dynamic_rows: ExprLike = 0,
    dynamic_cols: ExprLike = 0,
    offset_bytes: ExprLike | None = None,
    used: ExprLike = 1,
    location: str = "Vec",
    block_layout: str = "RowMajor",
    fractal_layout: str = "NoneBox",
) -> Staging:
    """A staging tile in UB, valid all over unless said otherwise."""
    return Staging(
        name, expr(rows), expr(cols), elem, _optional(valid_rows), _optional(valid_cols), expr(dynamic_rows),
        expr(dynamic_cols), _optional(offset_bytes), expr(used), location, block_layout, fractal_layout,
    )  # fmt: skip


def tput(
    peer: ExprLike,
    shape: Sequence[ExprLike],
    tile: str,
    *,
    pong: str = "",
    use_pong: ExprLike = 1,
    atomic_at_run_time: bool = False,
    waits: Names = (),
    **sides: Unpack[Sides],
) -> Tput:
    """A remote write of a tensor of `shape` (d0 to d4) through `tile`, and by turns `pong`."""
    return _staged(Tput, peer, shape, tile, pong, use_pong, atomic_at_run_time, waits, sides)


def tget(
    peer: ExprLike,
    shape: Sequence[ExprLike],
    tile: str,
    *,
    pong: str = "",
    use_pong: ExprLike = 1,
    atomic_at_run_time: bool = False,
    waits: Names = (),
    **sides: Unpack[Sides],
) -> Tget:
    """A remote read of a tensor of `shape` (d0 to d4) through `tile`, and by turns `pong`."""
    return _staged(Tget, peer, shape, tile, pong, use_pong, atomic_at_run_time, waits, sides)


def tput_async(peer: ExprLike, shape: Sequence[ExprLike], *, waits: Names = (), **sides: Unpack[Sides]) -> Tput:
    """A remote write by SDMA, complete at its event."""
    return Tput(_exprs(shape), expr(peer), asynchronous=True, waits=tuple(waits), **sides)


def tget_async(peer: ExprLike, shape: Sequence[ExprLike], *, waits: Names = (), **sides: Unpack[Sides]) -> Tget:
    """A remote read by SDMA, complete at its event."""
    return Tget(_exprs(shape), expr(peer), asynchronous=True, waits=tuple(waits), **sides)


def tnotify(
    signal: str,
    peer: ExprLike,
    value: ExprLike = 1,
    *,
    at: ExprLike = 0,
    op: str = "AtomicAdd",
    remote: bool = True,
    announces: bool = True,
    waits: Names = (),
) -> Tnotify:
    """Add to element `at` of the peer's signal, or with the `op` Set replace it."""
    return Tnotify(signal, expr(peer), expr(value), expr(at), op, remote, announces, tuple(waits))


def post(signal: str, value: ExprLike, *, at: ExprLike = 0, op: str = "Set", announces: bool = True) -> Post:
    """A plain scalar store to the own rank's signal."""
    return Post(signal, expr(value), expr(at), op, announces)


def twait(
    signal: str,
    value: ExprLike,
    *,
    cmp: str = "GE",
    at: ExprLike = 0,
    view: View = (),
    remote: bool = False,
    waits: Names = (),
) -> Twait:
    """Poll until all elements of the view compare with the value."""
    return Twait(signal, expr(value), cmp, expr(at), _view(view), remote, tuple(waits))


def ttest(
    signal: str,
    value: ExprLike,
    *,
    into: str,
    cmp: str = "GE",
    at: ExprLike = 0,
    view: View = (),
    remote: bool = False,
    waits: Names = (),
) -> Ttest:
    """Look once: variable `into` becomes 1 where all elements of the view compare with the value, else 0."""
    return Ttest(signal, expr(value), into, cmp, expr(at), _view(view), remote, tuple(waits))


def barrier(*pipes: str) -> Barrier:
    """Wait for all pipes, or for those that are named."""
    return Barrier(pipes)


def let(name: str, value: ExprLike) -> Let:
    """Set a variable."""
    return Let(name, expr(value))


def loop_index(name: str, trips: ExprLike, *body: Node) -> Loop:
    """A loop with a variable that counts its trips from 0."""
    return Loop(expr(trips), body, index=name)


def while_loop(condition: ExprLike, most: ExprLike, *body: Node) -> While:
    """Run the body while the condition is not 0, at most `most` times."""
    return While(expr(condition), expr(most), body)


def poll(
    signal: str,
    value: ExprLike,
    polls: ExprLike,
    *meanwhile: Node,
    cmp: str = "GE",
    at: ExprLike = 0,
    view: View = (),
    into: str = "ready",
) -> tuple[Node, ...]:
    """At most `polls` TTESTs, until one passes, with the nodes `meanwhile` after each that fails.

    Variable `into` is 1 afterwards where one passed, else 0; `meanwhile` should leave it alone.
    """
    failed = not_(name(into))
    test = ttest(signal, value, into=into, cmp=cmp, at=at, view=view)
    return let(into, 0), while_loop(failed, polls, test, *([when(failed, *meanwhile)] if meanwhile else []))


def _staged(
    cls: type[_Transfer],
    peer: ExprLike,
    shape: Sequence[ExprLike],
    tile: str,
    pong: str,
    use_pong: ExprLike,
    atomic_at_run_time: bool,
    waits: Names,
    sides: Sides,
) -> _Transfer:
    return cls(
        _exprs(shape), expr(peer), tile, pong, expr(use_pong), atomic_at_run_time=atomic_at_run_time,
        waits=tuple(waits), **sides,
    )  # fmt: skip


def _exprs(values: Iterable[ExprLike]) -> tuple[Expr, ...]:
    return tuple(expr(value) for value in values)


def _optional(value: ExprLike | None) -> Expr | None:
    return None if value is None else expr(value)


def _view(view: View) -> tuple[tuple[Expr, Expr], ...]:
    return tuple((expr(count), expr(stride)) for count, stride in view)
