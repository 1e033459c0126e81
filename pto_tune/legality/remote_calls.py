"""TPUT, TGET and the signal instructions of a workload's programs: where each of their rules is broken.

`pto_tune.remote.rules` has the sentences; here are the same rules as grids. A tile is looked at as it is at the start:
what calls before leave of a dynamic axis can be shrunk further, and a static axis never changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import partial
from typing import TYPE_CHECKING, Any

from pto_tune.legality.memory import extent_bytes
from pto_tune.legality.places import Places, gated, names_of
from pto_tune.legality.rules import Case, at
from pto_tune.model.communication import Signal, Staging, Tnotify, Tput, Transfer, Ttest, Twait
from pto_tune.model.expr import Expr

# As a module, because the one of `remote.rules` that is imported first brings this one.
from pto_tune.remote import rules as remote
from pto_tune.remote.staging import DIMS, MAX_EXTENT, TGET, TPUT, StagingTile, check_shape

if TYPE_CHECKING:
    from pto_tune.legality.rules import Bools, Ints
    from pto_tune.model.nodes import Workload

TRANSFER_RULES = (
    "remote-shape", "remote-element-type", "remote-layout", "remote-side", "staging-unused", "staging-memory",
    "ping-pong-shape", "ping-pong-overlap", "remote-atomic", "run-time-atomic", "static-valid-shape",
)  # fmt: skip
SIGNAL_RULES = ("signal-type", "signal-side", "signal-align", "signal-dims")
MOST_ELEMENTS = 2**53
"""Most elements of a GlobalTensor, as in `pto_tune.remote.columns`."""

Gates = tuple[Expr, ...]
Found = tuple[str, Case]
SignalNode = Tnotify | Twait | Ttest


def rule_names(workload: Workload) -> list[str]:
    """The rules that the calls of a workload may break, whatever the configuration."""
    calls = [node for _, program in workload.programs for node, _ in gated(program)]
    names = list(TRANSFER_RULES) if any(isinstance(node, Transfer) for node in calls) else []
    return names + (list(SIGNAL_RULES) if any(isinstance(node, SignalNode) for node in calls) else [])


def names_that_matter(workload: Workload) -> set[str]:
    """Names that decide which calls are made and what they move."""
    used: list[Expr] = []
    for node, gates in (found for _, program in workload.programs for found in gated(program)):
        if isinstance(node, Transfer):
            used += [*gates, *_operands(workload, node)]
        elif isinstance(node, SignalNode):
            used += gates
    return names_of(workload, used)


def cases(workload: Workload, env: Mapping[str, Any], n: int, names: set[str]) -> Iterator[Found]:
    """Every way to break a rule, with the rule's name; `names` are `names_that_matter`.

    Calls through unknown tiles and on unknown signals are left out: lowering refuses such a program.
    """
    places = Places(workload, env, n, names)
    signals = {s.name: s for s in workload.signals}
    for node, gates in (found for _, program in workload.programs for found in gated(program)):
        if isinstance(node, Transfer):
            matter = names_of(workload, [*gates, *_operands(workload, node)])
            for sub in (0, 1) if "sub" in matter else (0,):
                yield from _of_transfer(workload, places, node, gates, sub)
        elif isinstance(node, SignalNode) and node.signal in signals:
            for sub in (0, 1) if "sub" in names_of(workload, gates) else (0,):
                yield from _of_signal(places, node, signals[node.signal], places.runs(places.always(), gates, sub), sub)


def _operands(workload: Workload, node: Transfer) -> Iterator[Expr]:
    """What a transfer moves, and through which tiles."""
    yield from node.shape
    if node.pong:
        yield node.use_pong
    for tile in (s for s in workload.staging if s.name in (node.tile, node.pong)):
        yield from (value for f in fields(tile) if isinstance(value := getattr(tile, f.name), Expr))


# Transfers


@dataclass(frozen=True)
class _Tile:
    """A staging tile on a sub-core, as grids; `offset` is None where the tile has a place of its own."""

    spec: Staging
    rows: Ints
    cols: Ints
    valid_rows: Ints
    valid_cols: Ints
    dynamic_rows: Bools
    dynamic_cols: Bools
    offset: Ints | None
    used: Bools

    @property
    def extents_fit(self) -> Bools:
        """Where `StagingTile` takes it."""
        good = (self.rows >= 1) & (self.rows <= MAX_EXTENT) & (self.cols >= 1) & (self.cols <= MAX_EXTENT)
        valid = (self.valid_rows >= 1) & (self.valid_rows <= self.rows) & (self.valid_cols >= 1)
        fit: Bools = good & valid & (self.valid_cols <= self.cols)
        return fit

    @property
    def bytes(self) -> Ints:
        return extent_bytes(self.spec, self.rows, self.cols)

    def staging(self, place: int, i: int) -> StagingTile:
        """The tile of a configuration; ValueError where its extents do not fit."""
        s = self.spec
        return StagingTile(
            at(self.rows, place, i),
            at(self.cols, place, i),
            at(self.valid_rows, place, i),
            at(self.valid_cols, place, i),
            bool(at(self.dynamic_rows, place, i)),
            bool(at(self.dynamic_cols, place, i)),
            s.location,
            s.block_layout,
            s.fractal_layout,
        )

    def any_staging(self, place: int, i: int) -> StagingTile:
        """As `staging`, for sentences that say nothing of extents."""
        try:
            return self.staging(place, i)
        except ValueError:
            s = self.spec
            return StagingTile(1, 1, 1, 1, False, False, s.location, s.block_layout, s.fractal_layout)


def _tile(places: Places, spec: Staging, sub: int) -> _Tile:
    def value(e: Expr) -> Ints:
        return places.value(e, sub)

    return _Tile(
        spec,
        value(spec.rows),
        value(spec.cols),
        value(spec.rows if spec.valid_rows is None else spec.valid_rows),
        value(spec.cols if spec.valid_cols is None else spec.valid_cols),
        value(spec.dynamic_rows) != 0,
        value(spec.dynamic_cols) != 0,
        None if spec.offset_bytes is None else value(spec.offset_bytes),
        value(spec.used) != 0,
    )


def _of_transfer(workload: Workload, places: Places, node: Transfer, gates: Gates, sub: int) -> Iterator[Found]:
    """Cases of a TPUT or TGET on a sub-core."""
    op = TPUT if isinstance(node, Tput) else TGET
    active = places.runs(places.always(), gates, sub)
    if any(places.varies(e) for e in _operands(workload, node)):
        active = active & places.exists
    if len(node.shape) != DIMS:
        yield "remote-shape", _said(active, f"{op} of {len(node.shape)} extents: expected {DIMS}, d0 to d4")
        return
    shape = [places.value(e, sub) for e in node.shape]
    fits = _shape_fits(shape)
    yield "remote-shape", Case(active & ~fits, partial(_shape_sentence, op, shape))
    yield from _of_sides(op, node, active)
    if node.asynchronous:
        yield from _of_asynchronous(op, node, active)
        return
    tiles = {s.name: s for s in workload.staging}
    if node.tile not in tiles or (node.pong and node.pong not in tiles):
        return
    ping = _tile(places, tiles[node.tile], sub)
    pong = _tile(places, tiles[node.pong], sub) if node.pong else None
    paired = active & (places.value(node.use_pong, sub) != 0) if pong else active & False
    yield from _Staged(op, node, shape, active, active & fits, ping, pong, paired).cases()


def _shape_fits(shape: list[Ints]) -> Bools:
    import numpy as np

    fits, elements = np.ones((1, 1), dtype=bool), np.ones((1, 1))
    for extent in shape:
        fits = fits & (extent >= 0) & (extent <= MAX_EXTENT)
        elements = elements * np.maximum(extent, 1).astype(np.float64)
    return np.asarray(fits & (elements <= MOST_ELEMENTS), dtype=np.bool_)


def _shape_sentence(op: str, shape: list[Ints], place: int, i: int) -> str:
    extents = tuple(at(extent, place, i) for extent in shape)
    try:
        check_shape(extents)
    except ValueError as error:
        return f"{op}: {error}"
    return f"{op} of {' x '.join(map(str, extents))}: expected at most {MOST_ELEMENTS} elements"


def _sides(op: str, node: Transfer) -> tuple[remote.Side, remote.Side]:
    """Source and destination; a side that is not said is where the instruction demands it."""
    src_remote = op == TGET if node.src_remote is None else node.src_remote
    dst_remote = op == TPUT if node.dst_remote is None else node.dst_remote
    src = remote.Side(node.elem, node.layout, src_remote)
    return src, remote.Side(node.dst_elem or node.elem, node.dst_layout or node.layout, dst_remote)


def _of_sides(op: str, node: Transfer, active: Bools) -> Iterator[Found]:
    """What no number decides."""
    src, dst = _sides(op, node)
    yield from _if_said("remote-layout", active, remote.layouts(op, src.layout, dst.layout))
    yield from _if_said("remote-side", active, remote.sides(op, src.remote, dst.remote))
    if not node.asynchronous:
        yield from _if_said("remote-atomic", active, remote.atomic(op, node.atomic, node.elem))


def _of_asynchronous(op: str, node: Transfer, active: Bools) -> Iterator[Found]:
    """The SDMA form has no tile and copies bytes as they are."""
    src, dst = _sides(op, node)
    if src.elem != dst.elem:
        text = f"asynchronous {op} from {src.elem} to {dst.elem}: both must have the same element type"
        yield "remote-element-type", _said(active, f"{text}, such as {src.elem}")
    if node.atomic != remote.ATOMIC_NONE:
        text = f"asynchronous {op} with {node.atomic}: SDMA copies and does not add"
        yield "remote-atomic", _said(active, f"{text}; nearest: a {TPUT} through a staging tile")
    if node.atomic_at_run_time:
        text = f"asynchronous {op} with an atomic type at run time: only a single-tile {TPUT} takes one"
        yield "run-time-atomic", _said(active, text)


@dataclass(frozen=True)
class _Staged:
    """A call through one tile, or where `paired` through two. `sized` is where the shape fits, too."""

    op: str
    node: Transfer
    shape: list[Ints]
    active: Bools
    sized: Bools
    ping: _Tile
    pong: _Tile | None
    paired: Bools

    def cases(self) -> Iterator[Found]:
        for tile, made in self._tiles():
            text = f"{self.op} through staging tile {tile.spec.name}, which this configuration does not use"
            yield "staging-unused", _said(made & ~tile.used, f"{text}: expected a tile with `used` other than 0")
            wrong = made & tile.used & ~tile.extents_fit
            yield "remote-shape", Case(wrong, partial(self._extents_sentence, tile))
        src, dst = _sides(self.op, self.node)
        yield self._if("remote-element-type", self._made(lambda t: {t.spec.elem, src.elem, dst.elem} != {src.elem}))
        yield self._if("staging-memory", self._made(lambda t: t.spec.location != "Vec"))
        if self.node.atomic_at_run_time:
            yield self._if("run-time-atomic", self.active if self.op == TGET else self.paired)
        good = self.sized & self.ping.used & self.ping.extents_fit
        if self.pong is not None:
            both = self.paired & good & self.pong.used & self.pong.extents_fit
            yield self._if("ping-pong-shape", both & self._unlike(self.pong))
            yield self._if("ping-pong-overlap", both & self._overlaps(self.pong))
            good = good & (~self.paired | both)
        yield self._if("static-valid-shape", good & self._cut_short(good))

    def _tiles(self) -> Iterator[tuple[_Tile, Bools]]:
        """The tiles, and where the call goes through them."""
        yield self.ping, self.active
        if self.pong is not None:
            yield self.pong, self.paired

    def _made(self, wrong: Callable[[_Tile], bool]) -> Bools:
        """Where the call goes through a tile that is wrong in every configuration."""
        found: Bools = self.active & False
        for tile, made in self._tiles():
            found = found | made if wrong(tile) else found
        return found

    def _if(self, name: str, broken: Bools) -> Found:
        return name, Case(broken, partial(self._sentence, name))

    def _unlike(self, pong: _Tile) -> Bools:
        """Where ping and pong are of different types."""
        a, b = self.ping, pong
        if any(
            getattr(a.spec, x) != getattr(b.spec, x) for x in ("elem", "location", "block_layout", "fractal_layout")
        ):
            return self.active | True
        unlike: Bools = (a.rows != b.rows) | (a.cols != b.cols)
        for da, db, va, vb in (
            (a.dynamic_rows, b.dynamic_rows, a.valid_rows, b.valid_rows),
            (a.dynamic_cols, b.dynamic_cols, a.valid_cols, b.valid_cols),
        ):
            unlike = unlike | (da != db) | (~da & (va != vb))
        return unlike

    def _overlaps(self, pong: _Tile) -> Bools:
        """Where ping and pong share bytes of UB; a tile that finds its own place shares them with itself alone."""
        import numpy as np

        a, b = self.ping, pong
        if a.spec.name == b.spec.name:
            return self.active | True
        if a.offset is None or b.offset is None:
            return self.active & False
        shared = np.minimum(a.offset + a.bytes, b.offset + b.bytes) - np.maximum(a.offset, b.offset)
        overlap: Bools = (shared > 0) & (a.offset >= 0) & (b.offset >= 0)
        return overlap

    def _cut_short(self, good: Bools) -> Bools:
        """Where a static valid extent does not divide what is cut by it; looked at only where all sizes are good."""
        import numpy as np

        from pto_tune.remote.columns import calls, remainders

        t = self.ping
        numbers = (*self.shape, t.rows, t.cols, t.valid_rows, t.valid_cols, t.dynamic_rows, t.dynamic_cols, good)
        *sizes, dynamic_rows, dynamic_cols, asked = np.broadcast_arrays(*numbers)
        *shape, rows, cols, valid_rows, valid_cols = (np.where(asked, a, 1).ravel() for a in sizes)
        columns = calls(
            self.op,
            shape,
            rows,
            cols,
            valid_rows=valid_rows,
            valid_cols=valid_cols,
            dynamic_rows=dynamic_rows.ravel(),
            dynamic_cols=dynamic_cols.ravel(),
        )
        over_rows, over_cols = remainders(columns)
        short: Bools = ((over_rows != 0) | (over_cols != 0)).reshape(asked.shape)
        return short

    def _extents_sentence(self, tile: _Tile, place: int, i: int) -> str:
        try:
            tile.staging(place, i)
        except ValueError as error:
            return f"{self.op} through {tile.spec.name}: {error}"
        raise AssertionError("asked for the sentence of a tile that fits")

    def _sentence(self, name: str, place: int, i: int) -> str:
        """What `remote.rules` says of the call in a configuration that breaks one of its rules."""
        faults = remote.transfer_faults(self._call(place, i))
        return next(fault.sentence for fault in faults if fault.rule == name)

    def _call(self, place: int, i: int) -> remote.Transfer:
        shape = check_shape([min(max(at(extent, place, i), 0), MAX_EXTENT) for extent in self.shape])
        tiles = [self.ping]
        if self.pong is not None and at(self.paired, place, i):
            tiles.append(self.pong)
        placed: list[remote.Placed] = []
        free = 0  # where a tile without a place is put: behind what the other one takes
        for tile in sorted(tiles, key=lambda t: t.offset is None):
            offset = free if tile.offset is None else max(at(tile.offset, place, i), 0)
            placed.append(remote.Placed(tile.any_staging(place, i), tile.spec.elem, offset))
            free = placed[-1].byte_range[1]
        if len(tiles) == 2:
            ping, pong = tiles
            if ping.spec.name == pong.spec.name:
                placed[1] = placed[0]
            elif ping.offset is None and pong.offset is not None:
                placed.reverse()
        node = self.node
        sides = _sides(self.op, node)
        return remote.Transfer(self.op, shape, *sides, tuple(placed), node.atomic, node.atomic_at_run_time)


# Signals


def _of_signal(places: Places, node: SignalNode, signal: Signal, active: Bools, sub: int) -> Iterator[Found]:
    """Cases of a TNOTIFY, TWAIT or TTEST on a sub-core. `at` counts where it has no variables; whole elements
    change no alignment."""
    import numpy as np

    op = type(node).__name__.upper()
    offset = places.value(signal.offset_bytes, sub)
    address = places.value(signal.offset_bytes + node.at * 4, sub) if places.known(node.at) else offset
    view = () if isinstance(node, Tnotify) else node.view
    dims = view if len(view) > remote.SIGNAL_DIMS else signal.dims
    found = {
        "signal-type": remote.signal_type(op, signal.elem),
        "signal-side": remote.signal_side(op, node.remote),
        "signal-dims": remote.signal_dims(op, len(dims)),
    }
    for name, text in found.items():
        yield from _if_said(name, active, text)

    def sentence(place: int, i: int) -> str:
        faults = remote.signal_faults(op, signal.elem, node.remote, at(address, place, i), (1,) * len(dims))
        return next(fault.sentence for fault in faults if fault.rule == "signal-align")

    yield "signal-align", Case(np.asarray(active & (offset % remote.SIGNAL_ALIGN != 0)), sentence)


def _said(broken: Bools, text: str) -> Case:
    return Case(broken, lambda *_: text)


def _if_said(name: str, active: Bools, text: str | None) -> Iterable[Found]:
    return [] if text is None else [(name, _said(active, text))]
