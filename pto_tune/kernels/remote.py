"""Communication between ranks: TPUT, TGET, TNOTIFY, TWAIT and TTEST.

Two spellings are read: that of the ISA pages (`tput %dst, %src : (...)`), which names no staging tile, and that of
PTOAS (`pto.comm.tput(%dst, %src, buf(%ping, %pong) : ...)`, or the same as a generic operation). Where no tile is
named, one of `STAGING_BYTES` or of what the transfer needs, whichever is less, is priced: whole rows of the transfer.

A file does not say which rank a pointer belongs to, nor which signal of one rank is which of another. Taken are: the
next rank as the peer of everything remote; and one array of signals a pointer, or one for all where what is notified
and what is waited for are two pointers (the same memory, seen from two ranks).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pto_tune.kernels import attributes as words
from pto_tune.kernels.parsing import Op
from pto_tune.kernels.state import plain_name
from pto_tune.kernels.types import ELEMENTS, element_bytes
from pto_tune.kernels.values import Number, Other, Tile, View, fold, product
from pto_tune.model.communication import COMPARISONS
from pto_tune.model.expr import Expr, expr, name
from pto_tune.model.vocabulary_remote import signal, staging, tget, tnotify, tput, ttest, twait

if TYPE_CHECKING:
    from pto_tune.kernels.state import Core, Kernel

STAGING_BYTES = 64 * 1024
"""A third of the UB of A2/A3: what the ISA's examples stage through lies below."""
PEER = (name("rank") + 1) % name("ranks")

_TRANSFERS = ("tput", "tget")
_SIGNALS = ("tnotify", "twait", "ttest")


def is_remote(stem: str) -> bool:
    """Whether an operation by its stem is of this module."""
    return stem.removeprefix("comm_") in (*_TRANSFERS, *_SIGNALS)


def remote(core: Core, op: Op, stem: str) -> None:
    """One operation between ranks."""
    kind = stem.removeprefix("comm_")
    for result in op.results:
        core.scope.set(result, Other("a test"))
    if core.core != "AIV" and kind in _TRANSFERS:
        core.say(op.place, f"{kind.upper()} in a function for {core.core}: expected it in one for AIV")
        return
    core.kernel.note("the peer of every remote access is taken to be the next rank, (rank + 1) % ranks")
    if kind in _TRANSFERS:
        _transfer(core, op, kind)
    else:
        _signal(core, op, kind)


def _transfer(core: Core, op: Op, kind: str) -> None:
    values = [core.look(v) for v in words.operands(op.tokens)]
    views = [v for v in values if isinstance(v, View)]
    tiles = [v for v in values if isinstance(v, Tile)]
    if len(views) < 2:
        core.say(op.place, f"{kind.upper()} needs a destination and a source in global memory that are known views")
        return
    target, source = views[:2]
    if source.dtype not in ELEMENTS or any(s is None for s in source.sizes) or not source.sizes:
        core.say(op.place, f"{kind.upper()} moves a view whose extents or elements ({source.dtype}) are not known")
        return
    sizes = [s for s in source.sizes if s is not None]
    for s in sizes:
        core.needed(s, 1024, op.place, "an extent of a transfer")
    shape = [expr(1)] * max(5 - len(sizes), 0) + sizes
    if len(shape) > 5:
        folded = product(shape[: len(shape) - 4])
        if folded is None:
            core.say(op.place, f"{kind.upper()} moves more than is counted with")
            return
        shape = [folded, *shape[len(shape) - 4 :]]
    names = [_tile(core, t) for t in tiles[:2]] or [_default(core.kernel, shape, source.dtype)]
    atomic = words.attributes(op).get("atomicType")
    add = atomic is not None and atomic.last_word == "atomic_add"
    build = tput if kind == "tput" else tget
    core.step(
        build(PEER, shape, names[0], pong=names[1] if len(names) > 1 else "",
              atomic="AtomicAdd" if add else "AtomicNone", elem=ELEMENTS[source.dtype],
              dst_elem=ELEMENTS.get(target.dtype, "")),
        "", op.place, writes=tiles[:2],
    )  # fmt: skip


def _tile(core: Core, tile: Tile) -> str:
    """The staging tile of an operand. Its bytes are counted there, and no longer among the tiles."""
    root = min(tile.roots)
    own = core.allocations.get(root)
    title = f"staging_{own.name if own is not None else 'tile'}_{plain_name(root)}"[:60]
    if title not in core.kernel.staging:
        kind = tile.type
        core.kernel.staging[title] = staging(
            title, kind.rows, kind.cols, ELEMENTS.get(kind.dtype, "float"), valid_rows=tile.valid_rows,
            valid_cols=tile.valid_cols, dynamic_rows=int(kind.valid_rows is None),
            dynamic_cols=int(kind.valid_cols is None),
        )  # fmt: skip
        if own is not None:
            own.memory = ""
    return title


def _default(kernel: Kernel, shape: list[Expr], dtype: str) -> str:
    """The staging tile that is priced where none is named."""
    size = element_bytes(dtype)
    most, lanes = expr(STAGING_BYTES // size), expr(32 // size)
    cols = _folded("min", _folded("max", shape[4], expr(1)), most)
    wide = _folded("*", _folded("ceildiv", cols, lanes), lanes)
    rows = _folded("max", _folded("min", _folded("max", shape[3], expr(1)), _folded("//", most, wide)), expr(1))
    title = f"staging_default_{len(kernel.staging)}"
    kernel.staging[title] = staging(title, rows, wide, ELEMENTS[dtype], valid_cols=cols, dynamic_rows=1, dynamic_cols=1)
    kernel.note(
        f"TPUT and TGET of the ISA's spelling name no staging tile: priced is one of whole rows of the transfer, at "
        f"most {STAGING_BYTES // 1024} KiB of UB"
    )
    return title


def _folded(op: str, a: Expr, b: Expr) -> Expr:
    e = fold(op, a, b)
    assert e is not None  # few operations on numbers in range
    return e


def _signal(core: Core, op: Op, kind: str) -> None:
    names = words.operands(op.tokens)
    view = core.look(names[0]) if names else None
    value = core.number(names[1]) if len(names) > 1 else _literal(op)
    if not isinstance(view, View) or not view.root:
        core.say(op.place, f"{kind.upper()} needs a signal in global memory that is a known view")
        return
    if value.expr is None:
        core.say(op.place, f"{kind.upper()} has a value that is not known, because {value.why}")
        return
    core.needed(value.expr, 1, op.place, "the value of a signal")
    title = _signal_name(core.kernel, view.root)
    sizes = [s for s in view.sizes if s is not None]
    if kind == "tnotify":
        found = words.attributes(op).get("notifyOp") or words.attributes(op).get("op")
        add = found is not None and found.last_word.lower() in ("atomic_add", "atomicadd")
        core.step(tnotify(title, PEER, value.expr, at=_element(view), op="AtomicAdd" if add else "Set"), "", op.place)
        return
    a = words.attributes(op).get("cmp")
    word = a.last_word.upper() if a is not None else "GE"
    if word not in COMPARISONS:
        core.say(op.place, f"{kind.upper()} compares by {word}: expected one of {', '.join(COMPARISONS)}")
        return
    dims = [(s, st) for s, st in zip(sizes, _strides(view, sizes), strict=False) if s != expr(1)]
    if kind == "twait":
        core.step(twait(title, value.expr, cmp=word, at=_element(view), view=dims), "", op.place)
    else:
        into = plain_name(op.results[0]) if op.results else f"tested_{op.place.line}"
        core.step(ttest(title, value.expr, into=f"{into}_t", cmp=word, at=_element(view), view=dims), "", op.place)


def _literal(op: Op) -> Number:
    from pto_tune.kernels.values import number

    text = next((t.text for t in op.tokens if t.kind == "number"), "")
    return number(int(text)) if text.lstrip("-").isdigit() else Number(None, "it has none")


def _strides(view: View, sizes: list[Expr]) -> list[Expr]:
    known = [s for s in view.strides if s is not None]
    if len(known) == len(sizes):
        return known
    out, step = list[Expr](), expr(1)
    for s in reversed(sizes):
        out.insert(0, step)
        step = product([step, s]) or step
    return out


def _element(view: View) -> Expr:
    return view.offset if view.offset is not None else expr(0)


def _signal_name(kernel: Kernel, root: str) -> str:
    title = f"signal_{root}"[:60]
    kernel.signals.setdefault(title, signal(title, 1))
    return title


def finish_signals(kernel: Kernel, notified: set[str], waited: set[str], extents: dict[str, int]) -> dict[str, str]:
    """Names of signals that stand for the same array. KernelError material where that cannot be told."""
    lonely_n, lonely_w = sorted(notified - waited), sorted(waited - notified)
    same: dict[str, str] = {}
    if len(lonely_n) == 1 and len(lonely_w) == 1:
        same[lonely_n[0]] = lonely_w[0]
        kernel.note(
            f"{lonely_n[0]} and {lonely_w[0]} are taken to be one array of signals: what is notified at the peer is "
            "what is waited for here"
        )
    for title in list(kernel.signals):
        merged = same.get(title, title)
        size = max(extents.get(title, 1), extents.get(merged, 1))
        extents[merged] = size
        kernel.signals[merged] = signal(merged, size)
        if merged != title:
            del kernel.signals[title]
    return same
