"""A small vocabulary to write programs with: the ISA's instruction names, costs and tokens."""

from __future__ import annotations

from collections.abc import Iterable

from pto_tune.model.expr import Expr, ExprLike, expr
from pto_tune.model.nodes import Cost, Instr, Loop, Node, Talloc, Tfree, Token, Tpop, Tpush

Names = Iterable[str]


def _cost(model: str, **args: ExprLike | str) -> Cost:
    return Cost(model, tuple((k, v if isinstance(v, str) else expr(v)) for k, v in args.items()))


def dma(path: str, nbytes: ExprLike, burst_bytes: ExprLike, hbm_bytes: ExprLike = 0) -> Cost:
    """A transfer of `nbytes` in bursts; `hbm_bytes` of them come from or go to HBM rather than L2."""
    return _cost("dma", path=path, bytes=nbytes, burst_bytes=burst_bytes, hbm_bytes=hbm_bytes)


def matmul(m: ExprLike, k: ExprLike, n: ExprLike, elem_bytes: ExprLike = 2) -> Cost:
    return _cost("matmul", m=m, k=k, n=n, elem_bytes=elem_bytes)


def drain(rows: ExprLike, cols: ExprLike, out_bytes: ExprLike, hbm_bytes: ExprLike = 0) -> Cost:
    """L0C to GM through fixpipe; `out_bytes` an element of the output."""
    return _cost("drain", rows=rows, cols=cols, out_bytes=out_bytes, hbm_bytes=hbm_bytes)


def vector(family: str, rows: ExprLike, cols: ExprLike, elem_bytes: ExprLike = 4) -> Cost:
    return _cost("vector", family=family, rows=rows, cols=cols, elem_bytes=elem_bytes)


def cycles(value: ExprLike) -> Cost:
    """A duration that the user gives."""
    return _cost("cycles", cycles=value)


def _tokens(items: Iterable[str | Token]) -> tuple[Token, ...]:
    return tuple(t if isinstance(t, Token) else Token(t) for t in items)


def instr(
    name: str,
    pipe: str,
    *costs: Cost,
    label: str = "",
    acquires: Names = (),
    takes: Names = (),
    publishes: Iterable[str | Token] = (),
    releases: Iterable[str | Token] = (),
    waits: Names = (),
    event: str = "",
    writes: Names = (),
    reads: Names = (),
    issues: int | None = None,
) -> Instr:
    """Any instruction; `issues` defaults to one for each cost (at least one)."""
    return Instr(
        name=name,
        pipe=pipe,
        costs=costs,
        label=label,
        acquires=tuple(acquires),
        takes=tuple(takes),
        publishes=_tokens(publishes),
        releases=_tokens(releases),
        waits=tuple(waits),
        event=event,
        writes=tuple(writes),
        reads=tuple(reads),
        issues=max(1, len(costs)) if issues is None else issues,
    )


def sync(
    pipe: str,
    acquires: Names = (),
    takes: Names = (),
    publishes: Iterable[str | Token] = (),
    releases: Iterable[str | Token] = (),
) -> Instr:
    """Flags alone: wait_flag and set_flag on a pipe, without work."""
    return instr("TSYNC", pipe, acquires=acquires, takes=takes, publishes=publishes, releases=releases)


def loop(trips: ExprLike, *body: Node) -> Loop:
    return Loop(expr(trips), body)


def steady_loop(trips: ExprLike, *body: Node) -> Loop:
    """The main loop of a program."""
    return Loop(expr(trips), body, steady=True)


def when(condition: Expr, *body: Node) -> Loop:
    """The body where the condition (0 or 1) holds."""
    return Loop(condition, body)


def talloc(fifo: str) -> Talloc:
    return Talloc(fifo)


def tpush(fifo: str) -> Tpush:
    return Tpush(fifo)


def tpop(fifo: str) -> Tpop:
    return Tpop(fifo)


def tfree(fifo: str) -> Tfree:
    return Tfree(fifo)
