"""Which pipe an operation runs on and what it costs, by name and by the memories of its tiles.

Rules, where the file does not say enough for more:
- global memory is taken to be in L2; a transfer's burst is a row of its view (a column of a view of one column);
- an operation of the vector unit costs what the platform's family of it does: `FAMILIES` says which one stands for it;
- TMOV and TEXTRACT into the tables of bias and scaling factors cost what they would into L0B; out of L0C into L1 or UB,
  what the drain of the tile into GM does; from UB into L1, what the store of the tile into GM does;
- an operation that is not known, if it is to be priced: on tiles of UB one pass of the vector unit over the largest of
  them (as TMULS), with tiles of the cube one move of the largest from L1 to L0B; without tiles nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from pto_tune.kernels.types import element_bytes
from pto_tune.kernels.values import Tile, View, product
from pto_tune.model.expr import Expr, expr, maximum
from pto_tune.model.nodes import Cost
from pto_tune.model.vocabulary import dma, drain, matmul, vector

Priced = tuple[str, tuple[Cost, ...]]
"""Pipe and costs."""

FAMILIES = {
    "add": "tadd taddc tand tor txor tshl tshr tsel tcmp tpartadd taddrelu tsubrelu tdequant tfma",
    "sub": "tsub tsubc",
    "mul": "tmul tprelu tmula tpartmul",
    "div": "tdiv trem tfmod tpow",
    "max": "tmax tmin tpartmax tpartmin",
    "adds": "tadds tsubs tmaxs tmins tabs trelu tneg tnot tands tors txors tshls tshrs tcmps taddsc tsubsc tsels",
    "muls": "tmuls tlrelu taxpy tdivs trems tfmods tpows",
    "exp": "texp tlog tsqrt trsqrt trecip",
    "cvt": "tcvt tquant",
    "rowmax": "trowmax trowmin tcolmax tcolmin trowargmax trowargmin tcolargmax tcolargmin",
    "rowsum": "trowsum tcolsum trowprod tcolprod",
    "rowexpand": "trowexpand trowexpandadd trowexpandsub trowexpandmul trowexpanddiv trowexpandmax trowexpandmin "
    "trowexpandexpdif tcolexpand tcolexpandadd tcolexpandsub tcolexpandmul tcolexpanddiv tcolexpandmax tcolexpandmin "
    "tcolexpandexpdif",
    "dup": "texpands tci ttri",
    "copy": "tfillpad tfillpad_inplace tfillpad_expand tconcat ttrans",
}
"""Operations of the vector unit by the family that prices them."""
FAMILY_OF = {op: family for family, ops in FAMILIES.items() for op in ops.split()}
_OF_SOURCE = ("rowmax", "rowsum")

MATMULS = ("tmatmul", "tmatmul_acc", "tmatmul_bias", "tgemv", "tgemv_acc", "tgemv_bias")
MOVES = ("tmov", "textract", "tinsert", "tmov_fp", "textract_fp", "tinsert_fp")
LOADS, STORES = ("tload", "tprefetch"), ("tstore", "tstore_fp")
SCRATCH = "trowexpand"
"""Forms with a column-major second source write the library's scratch in UB on A2/A3."""


def stem(name: str) -> str:
    """`tmatmul_acc` of `pto.tmatmul.acc`."""
    return name.removeprefix("pto.").replace(".", "_")


def is_known(op: str) -> bool:
    """Whether an operation by its stem has a price of its own."""
    return op in FAMILY_OF or op in MATMULS or op in MOVES or op in LOADS or op in STORES


def price(op: str, ins: Sequence[Tile | View], outs: Sequence[Tile | View]) -> Priced:
    """The pipe and the costs of an operation that is known. ValueError where it does not go with its tiles."""
    tiles = [x for x in ins if isinstance(x, Tile)]
    into = next((x for x in outs if isinstance(x, Tile)), None)
    views = [x for x in (*ins, *outs) if isinstance(x, View)]
    if op in LOADS:
        if into is None or not views:
            raise ValueError(f"{op.upper()} goes from a view of global memory into a tile")
        return _load(op, into, views[0])
    if op in STORES:
        if not tiles or not views:
            raise ValueError(f"{op.upper()} goes from a tile into a view of global memory")
        return _store(op, tiles[0], views[-1])
    if into is None or (not tiles and FAMILY_OF.get(op) != "dup"):
        raise ValueError(f"{op.upper()} has no tile to read, or none to write")
    if op in MATMULS:
        return _matmul(op, tiles, into)
    if op in MOVES:
        return _move(op, tiles[0], into)
    for tile in (*tiles, into):
        if tile.type.loc not in ("vec", "scaling"):
            raise ValueError(f"{op.upper()} works on tiles of UB (loc=vec), not on one of loc={tile.type.loc}")
    family = FAMILY_OF[op]
    shape = tiles[0] if family in _OF_SOURCE else into
    wider = max(element_bytes(t.type.dtype) for t in ((tiles[0], into) if family == "cvt" else (shape,)))
    return "V", (vector(family, _least(shape.valid_rows), _least(shape.valid_cols), wider),)


def guess(tiles: Sequence[Tile]) -> Priced:
    """The stated rule for an operation that is not known."""
    if not tiles:
        return "", ()
    largest = max(tiles, key=lambda t: t.type.bytes)
    if any(t.type.loc != "vec" for t in tiles):
        return "MTE1", (dma("l1_to_l0b", _bytes(largest), _bytes(largest)),)
    elem = element_bytes(largest.type.dtype)
    return "V", (vector("muls", _least(largest.valid_rows), _least(largest.valid_cols), elem),)


def view_bytes(view: View) -> tuple[Expr, Expr] | None:
    """Bytes of a view and of its burst; None where its extents are not known."""
    if not view.sizes or any(s is None for s in view.sizes):
        return None
    sizes = [s for s in view.sizes if s is not None]
    total = product([*sizes, expr(element_bytes(view.dtype))])
    column = len(sizes) > 1 and sizes[-1] == expr(1)
    burst = product([sizes[-2] if column else sizes[-1], expr(element_bytes(view.dtype))])
    return None if total is None or burst is None else (_least(total), _least(burst))


def _least(e: Expr) -> Expr:
    """At least 1: the cost models take no empty shape."""
    return e if e.op == "int" and e.args[0] >= 1 else maximum(e, 1)


def _bytes(tile: Tile) -> Expr:
    size = product([tile.valid_rows, tile.valid_cols, expr(element_bytes(tile.type.dtype))])
    return _least(size) if size is not None else expr(tile.type.bytes)


def _row_bytes(tile: Tile) -> Expr:
    size = product([tile.valid_cols, expr(element_bytes(tile.type.dtype))])
    return _least(size) if size is not None else expr(tile.type.cols)


def _load(op: str, into: Tile, view: View) -> Priced:
    paths = {"mat": "gm_to_l1", "vec": "gm_to_ub"}
    if into.type.loc not in paths:
        raise ValueError(f"{op.upper()} loads into L1 or UB (loc=mat or vec), not into loc={into.type.loc}")
    size, burst = view_bytes(view) or (_bytes(into), _row_bytes(into))
    return "MTE2", (dma(paths[into.type.loc], size, burst),)


def _store(op: str, tile: Tile, view: View) -> Priced:
    if tile.type.loc == "acc":
        return "FIX", (drain(_least(tile.valid_rows), _least(tile.valid_cols), element_bytes(view.dtype)),)
    if tile.type.loc != "vec":
        raise ValueError(f"{op.upper()} stores out of L0C or UB (loc=acc or vec), not out of loc={tile.type.loc}")
    size, burst = view_bytes(view) or (_bytes(tile), _row_bytes(tile))
    return "MTE3", (dma("ub_to_gm", size, burst),)


def _matmul(op: str, tiles: Sequence[Tile], into: Tile) -> Priced:
    left = next((t for t in tiles if t.type.loc == "left"), None)
    right = next((t for t in tiles if t.type.loc == "right"), None)
    if left is None or right is None or into.type.loc != "acc":
        raise ValueError(f"{op.upper()} multiplies a tile of loc=left by one of loc=right into one of loc=acc")
    elem = max(element_bytes(left.type.dtype), element_bytes(right.type.dtype))
    return "M", (matmul(_least(left.valid_rows), _least(left.valid_cols), _least(right.valid_cols), elem),)


def _move(op: str, tile: Tile, into: Tile) -> Priced:
    way = (tile.type.loc, into.type.loc)
    if way[0] == "mat" and way[1] in ("left", "right", "bias", "scaling"):
        size = _bytes(into)
        return "MTE1", (dma("l1_to_l0a" if way[1] == "left" else "l1_to_l0b", size, size),)
    if way[0] == "acc" and way[1] in ("mat", "vec"):
        out = element_bytes(into.type.dtype)
        return "FIX", (drain(_least(into.valid_rows), _least(into.valid_cols), out),)
    if way == ("vec", "vec"):
        elem = element_bytes(into.type.dtype)
        return "V", (vector("copy", _least(into.valid_rows), _least(into.valid_cols), elem),)
    if way == ("vec", "mat"):
        return "MTE3", (dma("ub_to_gm", _bytes(tile), _row_bytes(tile)),)
    if way == ("mat", "mat"):
        size = _bytes(into)
        return "MTE1", (dma("l1_to_l0b", size, size),)
    raise ValueError(f"{op.upper()} from loc={way[0]} to loc={way[1]} is no way that a tile can go")
