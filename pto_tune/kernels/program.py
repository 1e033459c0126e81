"""The operations of a function as steps of a core's program."""

from __future__ import annotations

from collections.abc import Sequence

from pto_tune.kernels import attributes as words
from pto_tune.kernels import control, prices
from pto_tune.kernels.calls import is_call, pipe_call
from pto_tune.kernels.flags import flag, is_flag
from pto_tune.kernels.parsing import Op, Token
from pto_tune.kernels.pipes import FRONTEND, HANDLES
from pto_tune.kernels.remote import is_remote, remote
from pto_tune.kernels.scalars import is_scalar, scalar
from pto_tune.kernels.state import MAX_READ, Core
from pto_tune.kernels.types import TileType, ViewType
from pto_tune.kernels.values import Number, Other, Pipe, Pointer, Tile, Value, View, combine, number
from pto_tune.model.expr import expr, name
from pto_tune.model.vocabulary import instr

WITHOUT_TIME = (
    "tprint", "print", "tassign", "taddr", "trap", "assert", "dcci", "sync_all_hint", "set_ffts", "trace", "nop",
    "import_reserved_buffer", "reserve_buffer", "set_quant_scalar", "set_quant_vector", "set_fmatrix", "tprint_view",
)  # fmt: skip
"""Operations that take no time here."""
ALIASES = ("treshape", "tbitcast", "bind_tile", "tile_cast", "pointer_cast", "tile_reinterpret")
REGIONS = ("fusion_region", "vecscope_hint", "scope")
"""Regions whose operations are those of the program around."""
SECTIONS = {"section_cube": "AIC", "section_vector": "AIV"}


def read_function(core: Core, function: Op) -> None:
    """Arguments, then the body."""
    for name_, kind in control.function_arguments(function):
        if core.scope.get(name_) is None:
            core.scope.set(name_, core.argument(name_, core.type_of(kind, function.place), function.place))
    read(core, function.regions[-1] if function.regions else ())


def read(core: Core, ops: Sequence[Op]) -> list[Value]:
    """Operations in order; what the last one yields."""
    yielded: list[Value] = []
    for op in ops:
        core.kernel.read += 1
        if core.kernel.read == MAX_READ + 1:
            said = f"more than {MAX_READ} operations are to be read, with loops taken apart and calls"
            core.say(op.place, f"{said}: expected fewer")
        if core.kernel.read > MAX_READ:
            break
        stem = prices.stem(op.name)
        if op.name in ("scf.yield", "pto.yield", "return", "func.return"):
            yielded = [core.look(t.text) or Other() for t in op.tokens if t.kind == "value"]
        else:
            _operation(core, op, stem)
    return yielded


def _operation(core: Core, op: Op, stem: str) -> None:
    def inside(body: Sequence[Op]) -> list[Value]:
        return read(core, body)

    if op.name == "scf.for":
        control.for_loop(core, op, inside)
    elif op.name == "scf.if":
        control.if_(core, op, inside)
    elif op.name in ("func.call", "call"):
        control.call(core, op, inside)
    elif op.name == "arith.select" and _select(core, op):
        return
    elif is_scalar(op.name):
        _bind(core, op, scalar(op, core.look))
    elif stem in SECTIONS:
        if SECTIONS[stem] == core.core:
            for body in op.regions:
                read(core, body)
    elif stem in REGIONS and op.regions:
        _bind(core, op, [v for body in op.regions for v in read(core, body)])
    elif op.name in FRONTEND or op.name in HANDLES:
        _bind(core, op, [Pipe(op.results[0])] if op.results else [])
    elif is_call(stem):
        pipe_call(core, op, stem)
    elif is_flag(stem):
        flag(core, op, stem)
    elif is_remote(stem):
        remote(core, op, stem)
    elif stem in WITHOUT_TIME:
        _bind(core, op, [])
    elif op.regions:
        _unknown(core, op, "with a part of its own")
    elif not _value(core, op, stem):
        _instruction(core, op, stem)


def _bind(core: Core, op: Op, values: Sequence[Value]) -> None:
    for i, result in enumerate(op.results):
        core.scope.set(result, values[i] if i < len(values) else Other(op.name))


def _select(core: Core, op: Op) -> bool:
    """A choice between tiles may be either of them."""
    values = [core.look(t.text) for t in op.tokens if t.kind == "value"]
    if len(values) != 3:
        return False
    condition, a, b = values
    if not (isinstance(a, Tile) and isinstance(b, Tile)):
        return False
    if isinstance(condition, Number) and condition.constant is not None:
        _bind(core, op, [a if condition.constant else b])
    else:
        _bind(core, op, [Tile(a.type, a.roots | b.roots, a.valid_rows, a.valid_cols, a.popped or b.popped)])
    return True


def _value(core: Core, op: Op, stem: str) -> bool:
    """Operations that give a value and take no time; whether it is one."""
    named = words.named_operands(op)
    match stem:
        case "alloc_tile" | "declare_tile":
            _alloc(core, op, named)
        case "declare_global":
            kind = core.result_type(op)
            if isinstance(kind, ViewType):
                _bind(core, op, [View(tuple(None if d is None else expr(d) for d in kind.dims), kind.dtype)])
        case "make_tensor_view":
            _bind(core, op, [_tensor_view(core, op)])
        case "partition_view" | "partition_tensor_view":
            _bind(core, op, [_partition(core, op)])
        case "subview" | "tile_subview":
            _bind(core, op, [_subview(core, op)])
        case "addptr" | "add_ptr":
            base = core.look(words.operands(op.tokens)[0]) if words.operands(op.tokens) else None
            _bind(core, op, [base if isinstance(base, Pointer) else Other()])
        case "castptr" | "inttoptr" | "ptrtoint" | "tile_buf_addr":
            base = core.look(words.operands(op.tokens)[0]) if words.operands(op.tokens) else None
            _bind(core, op, [base if isinstance(base, Pointer | Number) else Other()])
        case "set_validshape":
            _set_valid(core, op)
        case "get_block_idx":
            core.kernel.uses_block = True
            _bind(core, op, [Number(name("block"))])
        case "get_block_num":
            _bind(core, op, [Number(name("blocks"))])
        case "get_subblock_idx" | "get_subblockid":
            _bind(core, op, [Number(name("sub")) if core.core == "AIV" else number(0)])
        case "get_subblock_num" | "get_subblockdim":
            _bind(core, op, [number(2)])
        case "load_scalar" | "tgetval" | "load" | "get_validshape" | "tile_valid_shape":
            _bind(core, op, [Number(None, f"{r} is read from memory at line {op.place.line}") for r in op.results])
        case "store_scalar" | "store":
            pass
        case _ if stem in ALIASES and op.results:
            _alias(core, op)
        case _:
            return False
    return True


def _alloc(core: Core, op: Op, named: dict[str, str]) -> None:
    kind = core.result_type(op)
    if not isinstance(kind, TileType):
        core.say(op.place, f"{op.name} has no type of a tile: expected !pto.tile_buf<...>")
        return
    given = core.number(named["addr"]).constant if "addr" in named else None
    tile = core.tile(op.results[0] if op.results else "%tile", kind, op.place, given)
    rows, cols = (core.number(named[k]).expr if k in named else None for k in ("valid_row", "valid_col"))
    for e in (rows, cols):
        if e is not None:
            core.needed(e, 16, op.place, "a valid extent of a tile")
    _bind(core, op, [Tile(kind, tile.roots, rows or tile.valid_rows, cols or tile.valid_cols)])


def _tensor_view(core: Core, op: Op) -> View:
    operands = words.operands(op.tokens)
    base = core.look(operands[0]) if operands else None
    kind = core.result_type(op)
    sizes = [n.expr for n in core.numbers(words.group(op, "shape"))]
    dtype = kind.dtype if isinstance(kind, ViewType) else "f32"
    if not sizes and isinstance(kind, ViewType):
        sizes = [None if d is None else expr(d) for d in kind.dims]
    strides = tuple(n.expr for n in core.numbers(words.group(op, "strides")))
    root = base.root if isinstance(base, Pointer) else ""
    return View(tuple(sizes), dtype, root, "", strides, expr(0))


def _partition(core: Core, op: Op) -> View:
    operands = words.operands(op.tokens)
    base = core.look(operands[0]) if operands else None
    view = base if isinstance(base, View) else View((), "f32")
    kind = core.result_type(op)
    given = core.numbers(words.group(op, "sizes"))
    sizes = [n.expr for n in given]
    if isinstance(kind, ViewType) and len(kind.dims) == len(sizes):
        sizes = [expr(d) if s is None and d is not None else s for s, d in zip(sizes, kind.dims, strict=True)]
    elif isinstance(kind, ViewType) and not sizes:
        sizes = [None if d is None else expr(d) for d in kind.dims]
    for s in sizes:
        if s is not None:
            core.needed(s, 1024, op.place, "an extent of a view")
    offset: Number = number(0) if view.offset is not None else Number(None, "")
    for at, stride in zip(core.numbers(words.group(op, "offsets")), view.strides, strict=False):
        step = combine("*", at, Number(stride) if stride is not None else Number(None, ""))
        offset = combine("+", offset, step)
    return View(tuple(sizes), view.dtype, view.root, view.slot, view.strides, offset.expr)


def _subview(core: Core, op: Op) -> Value:
    operands = words.operands(op.tokens)
    base = core.look(operands[0]) if operands else None
    kind = core.result_type(op)
    if not isinstance(base, Tile) or not isinstance(kind, TileType):
        return Other("a part of a tile")
    rows = kind.rows if kind.valid_rows is None else kind.valid_rows
    cols = kind.cols if kind.valid_cols is None else kind.valid_cols
    return Tile(kind, base.roots, expr(rows), expr(cols), base.popped)


def _alias(core: Core, op: Op) -> None:
    operands = words.operands(op.tokens)
    base = core.look(operands[0]) if operands else None
    kind = core.result_type(op)
    if isinstance(base, Tile) and isinstance(kind, TileType):
        rows = kind.rows if kind.valid_rows is None else kind.valid_rows
        cols = kind.cols if kind.valid_cols is None else kind.valid_cols
        _bind(core, op, [Tile(kind, base.roots, expr(rows), expr(cols), base.popped)])
    else:
        _bind(core, op, [base] if base is not None else [])


def _set_valid(core: Core, op: Op) -> None:
    operands = words.operands(op.tokens)
    tile = core.look(operands[0]) if operands else None
    if not isinstance(tile, Tile) or len(operands) != 3:
        core.say(op.place, "set_validshape has no tile with two extents: expected '%tile, %rows, %cols'")
        return
    rows, cols = core.number(operands[1]).expr, core.number(operands[2]).expr
    for e in (rows, cols):
        if e is not None:
            core.needed(e, 16, op.place, "a valid extent of a tile")
    changed = Tile(tile.type, tile.roots, rows or tile.valid_rows, cols or tile.valid_cols, tile.popped)
    for level in reversed(core.scope.levels):  # the tile itself changes
        if operands[0] in level:
            level[operands[0]] = changed
            return


def _instruction(core: Core, op: Op, stem: str) -> None:
    """An instruction on a pipe, by its tiles and views."""
    ins, outs = _operands(core, op)
    if not prices.is_known(stem):
        _unknown(core, op, "")
        if core.kernel.price_unknown:
            tiles = [t for t in (*ins, *outs) if isinstance(t, Tile)]
            _append(core, op, stem, prices.guess(tiles), ins, outs)
        _bind(core, op, [])
        return
    try:
        priced = prices.price(stem, ins, outs)
    except ValueError as e:
        core.say(op.place, str(e))
        return
    _append(core, op, stem, priced, ins, outs)


def _operands(core: Core, op: Op) -> tuple[list[Tile | View], list[Tile | View]]:
    """Tiles and views that are read, and those that are written; the last operand where nothing says which."""
    groups = [words.group(op, "ins"), words.group(op, "outs")]

    def known(tokens: Sequence[Token]) -> list[Tile | View]:
        values = (core.look(t.text) for t in tokens if t.kind == "value")
        return [v for v in values if isinstance(v, Tile | View)]

    if groups[1] is not None:
        return known(groups[0] or ()), known(groups[1])
    found = known(op.tokens)
    return found[:-1], found[-1:]


def _append(
    core: Core, op: Op, stem: str, priced: prices.Priced, ins: Sequence[Tile | View], outs: Sequence[Tile | View]
) -> None:
    pipe, costs = priced
    if not pipe:
        return
    if pipe not in ("M", "MTE1", "FIX") if core.core == "AIC" else pipe not in ("V", "MTE3"):
        wrong = pipe != "MTE2"
        if wrong:
            core.say(op.place, f"{stem.upper()} runs on {pipe}, which {core.core} does not have")
            return
    read_tiles = [t for t in ins if isinstance(t, Tile)]
    written = [t for t in outs if isinstance(t, Tile)]
    slots = tuple(dict.fromkeys(v.slot for v in ins if isinstance(v, View) and v.slot))
    filled = tuple(dict.fromkeys(v.slot for v in outs if isinstance(v, View) and v.slot))
    popped = tuple(dict.fromkeys(t.popped for t in read_tiles if t.popped))
    if stem.startswith(prices.SCRATCH) and any(t.type.layout == "col_major" for t in read_tiles[1:]):
        core.kernel.uses_scratch = True
    for cost in costs:
        for _, e in cost.args:
            if not isinstance(e, str):
                core.needed(e, 1024, op.place, f"an extent of {stem.upper()}")
    node = instr(
        stem.upper(), pipe, *costs, reads=tuple(dict.fromkeys((*slots, *popped))), writes=filled,
    )  # fmt: skip
    core.step(node, pipe, op.place, reads=read_tiles, writes=written)


def _unknown(core: Core, op: Op, more: str) -> None:
    """An operation that is not known: refused or priced, as the user chooses; always listed."""
    core.kernel.unknown.setdefault(op.name, []).append(op.place)
    if not core.kernel.price_unknown or op.regions:
        what = f"{op.name} is no operation that is known{' ' + more if more else ''}"
        also = "" if op.regions else "; --unknown price takes it at a stated rule"
        core.say(op.place, what + also, "unknown")
    _bind(core, op, [])
