"""A small vocabulary to write programs with: the ISA's instruction names, costs and tokens."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pto_tune.model.expr import Expr, ExprLike, expr, name, where
from pto_tune.model.nodes import (
    LEFT_RIGHT,
    LEFT_RIGHT_ODD,
    UP_DOWN,
    UP_DOWN_ODD,
    Cost,
    Fifo,
    Instr,
    Loop,
    Node,
    Talloc,
    TConfig,
    Tfree,
    Tile,
    Token,
    Tpop,
    Tpush,
)

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


def drain_ub(rows: ExprLike, cols: ExprLike, out_bytes: ExprLike) -> Cost:
    """L0C to UB through fixpipe (950)."""
    return _cost("drain_ub", rows=rows, cols=cols, out_bytes=out_bytes)


def vector(family: str, rows: ExprLike, cols: ExprLike, elem_bytes: ExprLike = 4) -> Cost:
    return _cost("vector", family=family, rows=rows, cols=cols, elem_bytes=elem_bytes)


def hbm_wait(nbytes: ExprLike, blocks: ExprLike) -> Cost:
    """What a core waits, beside its transfers, while the cores of `blocks` bring lines that they share from HBM, each
    `nbytes` of them."""
    return _cost("hbm_wait", bytes=nbytes, blocks=blocks)


def bulk(link: ExprLike, transport: ExprLike, direction: ExprLike, nbytes: ExprLike) -> Cost:
    """A block of a bulk copy between ranks; the first three are places in the lists of `cost_models.bulk`."""
    return _cost("bulk", link=link, transport=transport, direction=direction, bytes=nbytes)


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


def tile(
    kind: str,
    rows: ExprLike,
    cols: ExprLike,
    elem_bytes: ExprLike = 4,
    *costs: Cost,
    acquires: Names = (),
    takes: Names = (),
    publishes: Iterable[str | Token] = (),
    releases: Iterable[str | Token] = (),
) -> Tile:
    """The tile of a TileData call: Acc, Vec, Mat or Ctrl, with its valid shape on the core that calls."""
    return Tile(
        kind, expr(rows), expr(cols), expr(elem_bytes), tuple(acquires), tuple(takes), _tokens(publishes),
        _tokens(releases), costs,
    )  # fmt: skip


def half_rows(rows: Expr, split: Expr) -> Expr:
    """Rows of a sub-core's part of a tile: all of them, half, or by UP_DOWN_ODD the odd one to AIV0."""
    sub = name("sub")
    return where(split.eq(UP_DOWN), rows // 2, where(split.eq(UP_DOWN_ODD), (rows + 1 - sub) // 2, rows))


def half_cols(cols: Expr, split: Expr) -> Expr:
    """Columns of a sub-core's part of a tile: all of them, half, or by LEFT_RIGHT_ODD the odd one to AIV0."""
    sub = name("sub")
    return where(split.eq(LEFT_RIGHT), cols // 2, where(split.eq(LEFT_RIGHT_ODD), (cols + 1 - sub) // 2, cols))


_DEPTH, _SPLIT, _LOCAL_SLOT_NUM = name("fifo_depth"), name("split"), name("local_slot_num")


def tpipe(
    fifo: str,
    direction: str,
    slot_bytes: Expr,
    flag_id: int,
    *,
    slot_num: Expr = _DEPTH,
    slot_num_name: str = "fifo_depth",
    local_slot_num: Expr = _LOCAL_SLOT_NUM,
    **more: Any,
) -> Fifo:
    """A TPipe under the tunables fifo_depth, sync_period, local_slot_num and split, with a slot for one tile; `more`
    are further fields of `Fifo`."""
    return Fifo(
        name=fifo,
        direction=direction,
        slot_bytes=slot_bytes,
        slot_num=slot_num,
        sync_period=name("sync_period"),
        local_slot_num=local_slot_num,
        split=_SPLIT,
        flag_id=flag_id,
        tile_bytes=slot_bytes,
        slot_num_name=slot_num_name,
        sync_period_name="sync_period",
        **more,
    )


def talloc(fifo: str, *, split: Expr | None = None, waits: Names = (), event: str = "") -> Talloc:
    return Talloc(fifo, split, tuple(waits), event)


def tpush(
    fifo: str,
    tile: Tile | None = None,
    *,
    config: TConfig | None = None,
    simplified: bool = False,
    split: Expr | None = None,
    waits: Names = (),
    event: str = "",
) -> Tpush:
    """GlobalData without a tile, TileData with one."""
    return Tpush(fifo, tile, config, simplified, split, tuple(waits), event)


def tpop(fifo: str, tile: Tile | None = None, *, split: Expr | None = None, waits: Names = (), event: str = "") -> Tpop:
    """GlobalData without a tile, TileData with one."""
    return Tpop(fifo, tile, split, tuple(waits), event)


def tfree(fifo: str, *, tile: bool = False, split: Expr | None = None, waits: Names = (), event: str = "") -> Tfree:
    """GlobalData, or with `tile` TFREE(pipe) of the TileData flow."""
    return Tfree(fifo, tile, split, tuple(waits), event)
