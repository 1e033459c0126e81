"""Pipe calls: TALLOC, TPUSH, TPOP and TFREE in both spellings (by id, and by handle)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pto_tune.kernels import attributes as words
from pto_tune.kernels.items import POP
from pto_tune.kernels.parsing import Op
from pto_tune.kernels.types import KIND_OF, TileType, ViewType, element_bytes
from pto_tune.kernels.values import Other, Pipe, Tile, View
from pto_tune.model.expr import Expr, expr
from pto_tune.model.nodes import SPLITS, Talloc, Tfree, Tpop, Tpush
from pto_tune.model.vocabulary import tile as model_tile

if TYPE_CHECKING:
    from pto_tune.kernels.pipes import PipeOf
    from pto_tune.kernels.state import Core

KINDS = ("talloc", "tpush", "tpop", "tfree")
_SIDES = {
    "talloc_to_aiv": ("AIC", True), "tpush_to_aiv": ("AIC", True), "tpop_from_aiv": ("AIC", False),
    "tfree_from_aiv": ("AIC", False), "tfree_to_aiv": ("AIC", False), "talloc_to_aic": ("AIV", True),
    "tpush_to_aic": ("AIV", True), "tpop_from_aic": ("AIV", False), "tfree_from_aic": ("AIV", False),
    "tfree_to_aic": ("AIV", False),
}  # fmt: skip
"""Core and side (True: producer) of the calls by id."""


def is_call(stem: str) -> bool:
    """Whether an operation by its stem is a pipe call."""
    return stem in KINDS or stem in _SIDES


def pipe_call(core: Core, op: Op, stem: str) -> None:
    """One pipe call as a step."""
    kind = stem.partition("_")[0]
    producer = kind in ("talloc", "tpush")
    given_type = core.result_type(op) if op.results else None
    for result in op.results:  # whatever is wrong with the call, its tile is one
        entry = core.tile(result, given_type, op.place, popped="?") if isinstance(given_type, TileType) else None
        core.scope.set(result, entry or Other("a slot"))
    if stem in _SIDES and _SIDES[stem][0] != core.core:
        core.say(op.place, f"{stem} in a function for {core.core}: expected it in one for {_SIDES[stem][0]}")
        return
    a = words.attributes(op)
    names = words.operands(op.tokens)
    if stem in _SIDES:
        given = a.get("id")
        key = str(given.integer) if given is not None else "0"
        entries = [] if kind == "tpop" else names
    else:
        key, entries = (names[-1], names[:-1]) if names else ("", [])
        handle = core.look(key)
        key = handle.key if isinstance(handle, Pipe) else key
    pipe = core.kernel.ends.of.get((core.function, key))
    if pipe is None:
        known = ", ".join(k for f, k in core.kernel.ends.of if f == core.function)
        core.say(op.place, f"{stem} names the pipe {key}, which is not initialised here: there is {known or 'none'}")
        return
    way = "C2V" if (core.core == "AIC") == producer else "V2C"
    if pipe.direction not in (way, "BOTH"):
        core.say(op.place, f"{stem} moves tiles {way}, and {pipe.name} goes {pipe.direction}: expected its own way")
        return
    given = a.get("split")
    split = 0 if given is None else given.integer
    if split is None or not 0 <= split < len(SPLITS):
        listed = ", ".join(f"{i} {word}" for i, word in enumerate(SPLITS))
        core.say(op.place, f"{stem} has split = {given.text if given else 'none'}: expected one of {listed}")
        return
    pipe.splits.append((split, op.place))
    pipe.calls.append(op)
    pipe.uses.setdefault((way, producer), []).append((split, op.place))
    if pipe.first.nosplit and split != 0:
        where = given.place if given is not None else op.place
        core.say(where, f"{pipe.name} has nosplit = true, and split is {split} here: expected 0", "nosplit")
    own = expr(split)
    match kind:
        case "talloc":
            _entry(core, op, pipe, entries)
            core.step(Talloc(pipe.name, own), "", op.place)
        case "tpush":
            _push(core, op, pipe, own, entries)
        case "tpop":
            _pop(core, op, pipe, own, entries)
        case _:
            core.step(Tfree(pipe.name, tile=not pipe.global_data, split=own), "", op.place)


def _entry(core: Core, op: Op, pipe: PipeOf, entries: Sequence[str]) -> None:
    """The slot of a GlobalData call as a view."""
    result = core.result_type(op) if op.results else None
    for name in (*op.results, *entries):
        known = core.look(name)
        sizes, dtype = (known.sizes, known.dtype) if isinstance(known, View) else ((), "f32")
        if isinstance(result, ViewType):
            sizes, dtype = tuple(None if d is None else expr(d) for d in result.dims), result.dtype
        first = pipe.first.entry
        if not sizes and first is not None:
            sizes, dtype = tuple(None if d is None else expr(d) for d in first.dims), first.dtype
        core.scope.set(name, View(sizes, dtype, slot=pipe.name))


def _push(core: Core, op: Op, pipe: PipeOf, split: Expr, entries: Sequence[str]) -> None:
    entry = core.look(entries[0]) if entries else None
    if isinstance(entry, View):
        core.step(Tpush(pipe.name, split=split), "", op.place)
        return
    if not isinstance(entry, Tile):
        core.say(op.place, "TPUSH has no tile and no slot that is known: expected one")
        return
    kind = KIND_OF.get(entry.type.loc, "Ctrl")
    tile = model_tile(kind, entry.valid_rows, entry.valid_cols, element_bytes(entry.type.dtype))
    core.step(Tpush(pipe.name, tile, split=split), "FIX" if core.core == "AIC" else "MTE3", op.place, reads=[entry])


def _pop(core: Core, op: Op, pipe: PipeOf, split: Expr, entries: Sequence[str]) -> None:
    declared = core.look(entries[0]) if entries else None
    kind = core.result_type(op) if op.results else None
    if isinstance(kind, ViewType) or isinstance(declared, View):
        _entry(core, op, pipe, entries)
        core.step(Tpop(pipe.name, split=split), "", op.place)
        return
    if isinstance(declared, Tile):
        found = Tile(declared.type, declared.roots, declared.valid_rows, declared.valid_cols, pipe.name)
        name = entries[0]
        for root in declared.roots:  # its bytes are the pipe's own
            core.allocations[root].memory = ""
    elif isinstance(kind, TileType):
        name = op.results[0]
        found = core.tile(name, kind, op.place, popped=pipe.name)
    else:
        core.say(op.place, "TPOP gives no tile and no slot whose type is known: expected one")
        return
    sizes = core.numbers([t for t in op.tokens if t.kind == "value" and t.text not in entries])
    known = words.named_operands(op)
    if "valid_row" in known or "valid_col" in known:
        rows, cols = (core.number(known[k]).expr if k in known else None for k in ("valid_row", "valid_col"))
        found = Tile(found.type, found.roots, rows or found.valid_rows, cols or found.valid_cols, pipe.name)
    elif len(sizes) == 2 and all(s.expr is not None for s in sizes) and stem_has_sizes(op):
        rows, cols = sizes[0].expr, sizes[1].expr
        found = Tile(found.type, found.roots, rows or found.valid_rows, cols or found.valid_cols, pipe.name)
    core.scope.set(name, found)
    kind_ = KIND_OF.get(found.type.loc, "Ctrl")
    tile = model_tile(kind_, found.valid_rows, found.valid_cols, element_bytes(found.type.dtype))
    core.step(Tpop(pipe.name, tile, split=split), POP, op.place, writes=[found])


def stem_has_sizes(op: Op) -> bool:
    """Whether a call by id gives the valid extents of what it pops, as `tpop_from_aic(%rows, %cols)`."""
    return op.name.removeprefix("pto.").startswith("tpop_from_")
