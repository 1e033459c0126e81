"""The pipe calls of a workload's programs and all that decides them, as grids over blocks and configurations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pto_tune.legality.places import Places, gated, gates_of, names_of
from pto_tune.legality.rules import at, grid
from pto_tune.model.expr import Expr, evaluate
from pto_tune.model.fixpipe import BYTES, OUTPUT_TYPES
from pto_tune.model.nodes import Call, Fifo, Loop, Node, Talloc, TConfig, Tile, Tpop, Tpush, While, walk

if TYPE_CHECKING:
    from pto_tune.legality.rules import Bools, Ints
    from pto_tune.model.nodes import Workload
    from pto_tune.rule_sets import Direction, RuleSet


@dataclass(frozen=True)
class End:
    """A call as one core makes it. Grids: whether it is made at all, Split, valid rows and columns of the tile and
    bytes of an element in the slot (0 without a tile)."""

    core: str
    active: Bools
    split: Ints
    rows: Ints
    cols: Ints
    elem_bytes: Ints

    @property
    def sub(self) -> int:
        """0 or 1: the sub-core; 0 for AIC."""
        return 1 if self.core == "AIV1" else 0

    @property
    def elements(self) -> Ints:
        return self.rows * self.cols

    @property
    def bytes(self) -> Ints:
        return self.rows * self.cols * self.elem_bytes


@dataclass(frozen=True)
class Site:
    """A call in a program and its ends: one on AIC, two on AIV."""

    node: Call
    core: str
    way: str
    producer: bool
    ends: tuple[End, ...]

    @property
    def tile(self) -> Tile | None:
        """The tile of a TileData push or pop."""
        return self.node.tile if isinstance(self.node, Tpush | Tpop) else None

    @property
    def tile_data(self) -> bool:
        """Whether the call is of the TileData flow."""
        return not isinstance(self.node, Talloc) and bool(self.node.tile)

    @property
    def config(self) -> TConfig | None:
        return self.node.config if isinstance(self.node, Tpush) else None

    @property
    def simplified(self) -> bool:
        return isinstance(self.node, Tpush) and self.node.simplified

    @property
    def word(self) -> str:
        """Name of the instruction."""
        return type(self.node).__name__.upper()

    @property
    def active(self) -> Bools:
        """Where some core makes the call."""
        return some(end.active for end in self.ends)


@dataclass(frozen=True)
class PipeUse:
    """A pipe that some program calls: `direction` is what the platform makes of it (None: nothing), `used` (n) where a
    configuration has the pipe. Calls are active only there."""

    fifo: Fifo
    direction: Direction | None
    used: Bools
    sites: tuple[Site, ...]

    @property
    def possible(self) -> bool:
        """Whether the library has this direction on the platform."""
        return self.direction is not None and not self.direction.refused

    def ring(self, way: str) -> str:
        """Where the ring of a way lies: GM, UB or L1."""
        assert self.direction is not None
        return self.direction.ways[way].ring

    @property
    def ways(self) -> tuple[str, ...]:
        return tuple(self.direction.ways) if self.direction is not None else ()

    def tiles(self, way: str, producer: bool) -> list[Site]:
        """TileData pushes or pops of a way."""
        return [s for s in self.sites if s.way == way and s.producer == producer and s.tile is not None]


def some(columns: Iterable[Bools]) -> Bools:
    """Where one of the columns (at least one) is true."""
    import numpy as np

    found: Bools | None = None
    for c in columns:
        found = c if found is None else np.logical_or(found, c)
    assert found is not None
    return found


def lonely(active: Bools, partners: list[tuple[Bools, Bools]]) -> Bools:
    """Where a call is made, some call of the other side too, and none of these fits: (made, fits) for each of them.
    Which tile meets which is left open, so that tiles of several sizes may share a pipe."""
    lonely: Bools = active & some(made for made, _ in partners) & ~some(made & fits for made, fits in partners)
    return lonely


def first_made(partners: list[Site], block: int, i: int) -> Site:
    """The first of these calls that is made."""
    return next(s for s in partners if at(s.active, block, i))


def pipe_uses(
    workload: Workload, rule_set: RuleSet, env: Mapping[str, Any], n: int, only: Iterable[str] | None = None
) -> list[PipeUse]:
    """All pipes with calls, in the workload's order (`only` those names). Calls of unknown pipes and of sides that a
    pipe does not have are left out: lowering refuses such a program."""
    fifos = {f.name: f for f in workload.fifos if only is None or f.name in only}
    found: dict[str, list[Site]] = {name: [] for name in fifos}
    collector = _Collector(workload, env, n, fifos)
    for core, program in workload.programs:
        for site in collector.walk(core, program, collector.always(core)):
            found[site.node.fifo].append(site)
    uses = []
    for f in fifos.values():
        if not found[f.name]:
            continue
        used = grid(evaluate(f.used, env), n) != 0
        sites = tuple(replace(s, ends=tuple(replace(e, active=e.active & used) for e in s.ends)) for s in found[f.name])
        uses.append(PipeUse(f, rule_set.direction_of(f.direction, f.gm_form), used[0], sites))
    return uses


def fifos_with_tiles(workload: Workload) -> set[str]:
    """Names of the pipes that some program pops tiles from."""
    return {
        node.fifo for _, program in workload.programs for node in walk(program) if isinstance(node, Tpop) and node.tile
    }


class _Collector:
    """Walks programs for their pipe calls."""

    def __init__(self, workload: Workload, env: Mapping[str, Any], n: int, fifos: Mapping[str, Fifo]) -> None:
        self.n = n
        self.fifos = fifos
        self.places = Places(workload, env, n, _names(workload))

    def always(self, core: str) -> tuple[Bools, ...]:
        return (self.places.always(),) * (1 if core == "AIC" else 2)

    def walk(self, core: str, nodes: tuple[Node, ...], active: tuple[Bools, ...]) -> Iterator[Site]:
        for node in nodes:
            if isinstance(node, Loop | While):
                inside = tuple(self.places.runs(a, gates_of(node), k) for k, a in enumerate(active))
                yield from self.walk(core, node.body, inside)
            elif isinstance(node, Call) and node.fifo in self.fifos:
                fifo = self.fifos[node.fifo]
                producer = isinstance(node, Talloc | Tpush)
                way = fifo.flow_of(core, producer)
                if way in fifo.flows:
                    ends = tuple(self._end(core, k, a, node, fifo) for k, a in enumerate(active))
                    yield Site(node, core, way, producer, ends)

    def _end(self, core: str, sub: int, active: Bools, node: Call, fifo: Fifo) -> End:
        import numpy as np

        split = fifo.split if node.split is None else node.split
        tile = node.tile if isinstance(node, Tpush | Tpop) else None
        shape = () if tile is None else (tile.rows, tile.cols, tile.elem_bytes)
        if tile is not None:  # sizes whose bytes would not fit into 64 bits are an error here, not a wrong answer
            self.places.value(tile.rows * tile.cols * tile.elem_bytes * 4, sub)
        nothing = np.zeros((1, self.n), dtype=np.int64)
        rows, cols, elem = (np.maximum(self.places.value(e, sub), 0) for e in shape) if tile else (nothing,) * 3
        if isinstance(node, Tpush) and node.config is not None and node.config.quant != "NoQuant":
            out = BYTES[OUTPUT_TYPES[node.config.quant]] if node.config.quant in OUTPUT_TYPES else 0
            elem = np.full_like(nothing, out) if out else elem
        if any(self.places.varies(e) for e in (split, *shape)):
            active = np.asarray(active & self.places.exists)
        elif active.shape[0] > 1:
            active = np.asarray(active.any(axis=0, keepdims=True))
        return End(core if core == "AIC" else f"AIV{sub}", active, self.places.value(split, sub), rows, cols, elem)


def _names(workload: Workload) -> set[str]:
    """Names that decide which pipe calls are made, and with which split and tile."""
    used: list[Expr] = []
    for node, gates in (found for _, program in workload.programs for found in gated(program)):
        if isinstance(node, Call):
            used += [*gates, *([] if node.split is None else [node.split])]
            tile = node.tile if isinstance(node, Tpush | Tpop) else None
            used += [] if tile is None else [tile.rows, tile.cols, tile.elem_bytes]
    return names_of(workload, [*used, *(f.split for f in workload.fifos)])
