"""Hypothesis strategies: what a core does with one tile of one way of a pipe, as its producer or as its consumer.

Most stages are sound; some free before they read, store after they push, or forget a call.
"""

from dataclasses import dataclass

from generated_chains import DURATIONS, Core, costs
from hypothesis import strategies as st

from pto_tune.model.expr import Expr, expr, maximum, name
from pto_tune.model.fixpipe import ATOMICS
from pto_tune.model.nodes import Cost, Fifo, Node, TConfig, Tile
from pto_tune.model.vocabulary import cycles, half_cols, half_rows, instr, talloc, tfree, tile, tpop, tpush

COMPUTE = {"AIC": "M", "AIV": "V"}
STORE = {"AIC": "FIX", "AIV": "MTE3"}
SUB = name("sub")


def seldom(draw: st.DrawFn, one_in: int) -> bool:
    return draw(st.integers(0, one_in - 1)) == one_in - 1


@dataclass(frozen=True)
class Way:
    """One way of a pipe: how both sides of it handle tiles, and how many in a trip."""

    fifo: Fifo
    flow: str
    pushes_tiles: bool
    pops_tiles: bool
    tiles_a_trip: int
    rows: int
    cols: int
    elem_bytes: int
    both_sub_cores: bool
    """Whether the second one takes part without a split too."""

    @property
    def producer(self) -> str:
        return "AIC" if self.flow == "C2V" else "AIV"


def _some_price() -> st.SearchStrategy[tuple[Cost, ...]]:
    """The model's price of a transfer, or cycles that are given, maybe unequal on the two sub-cores."""
    unequal = st.builds(
        lambda one, two, k: (cycles(maximum(name(one) + SUB * k * name(two), 0)),),
        st.sampled_from(DURATIONS),
        st.sampled_from(DURATIONS),
        st.sampled_from((0, 0, 1, -1)),
    )
    return st.one_of(st.just(()), unequal, unequal)


@st.composite
def _split_of_call(draw: st.DrawFn, fifo: Fifo) -> Expr | None:
    if seldom(draw, 12):
        return draw(st.sampled_from((expr(0), expr(1), expr(2))))
    return fifo.split if draw(st.booleans()) else None


def _part(way: Way, core: str, kind: str, split: Expr, price: tuple[Cost, ...], **tokens: list[str]) -> Tile:
    """The part of the tile that this core has: all of it on the cube, a half by the split on a sub-core."""
    rows, cols = expr(way.rows), expr(way.cols)
    if core == "AIV":
        rows, cols = half_rows(rows, split), half_cols(cols, split)
    return tile(kind, rows, cols, way.elem_bytes, *price, **tokens)


@st.composite
def producing(draw: st.DrawFn, core: Core, way: Way) -> tuple[Node, ...]:
    """A tile is made, stored and announced."""
    fifo, pipe = way.fifo.name, COMPUTE[core.name]
    split = draw(_split_of_call(way.fifo))
    linked = draw(st.sampled_from(("buffer", "buffer", "event", "nothing")))
    made = core.buffer(name("copies")) if linked == "buffer" else ""
    event = core.fresh("e") if linked == "event" else ""
    ours, waits = [made] if made else [], [event] if event else []
    compute = instr("MAKE", pipe, *draw(costs(core.name, pipe)), acquires=ours, publishes=ours, event=event)
    price = draw(_some_price())
    if way.pushes_tiles:
        of_config = core.name == "AIC" and seldom(draw, 6)
        config = draw(_configs()) if of_config else None
        part = _part(
            way, core.name, "Acc" if core.name == "AIC" else "Vec", split or way.fifo.split, price,
            takes=ours, releases=ours,
        )  # fmt: skip
        stored, after = _asked_for(draw, core, pipe)
        push = tpush(
            fifo, part, config=config, simplified=way.fifo.kind == "TMPipe" and not of_config and draw(st.booleans()),
            split=split, waits=waits, event=stored,
        )  # fmt: skip
        return (compute, push, *after)
    space, _ = _asked_for(draw, core, "")
    told, after = _asked_for(draw, core, pipe)
    alloc_waits = draw(st.booleans())  # rather than the store
    store = instr(
        "TSTORE", STORE[core.name], *price, takes=ours, releases=ours, waits=[] if alloc_waits else waits, writes=[fifo]
    )
    alloc = talloc(fifo, split=split, waits=waits if alloc_waits else (), event=space)
    push = tpush(fifo, split=split, waits=[space] if space else (), event=told)
    orders: tuple[tuple[Node, ...], ...] = (
        (compute, alloc, store, push),
        # TALLOC first, but nothing waits for an event that only a later instruction gives
        (compute, alloc, store, push) if alloc_waits else (alloc, compute, store, push),
        (compute, store, alloc, push),
        (compute, alloc, push, store),
        (compute, alloc, *(() if alloc_waits else (alloc,)), store, push),
    )
    return (*orders[draw(st.sampled_from((*10 * [0], *4 * [1], 2, 3, 4)))], *after)


@st.composite
def _configs(draw: st.DrawFn) -> TConfig:
    return TConfig(
        quant=draw(st.sampled_from(("NoQuant", "NoQuant", "F322F16"))),
        sub_block_id=draw(st.sampled_from((0, 0, 1, 2))),
        atomic=draw(st.sampled_from(ATOMICS)),
    )


def _asked_for(draw: st.DrawFn, core: Core, pipe: str) -> tuple[str, tuple[Node, ...]]:
    """Sometimes the name of an event for a call to return, and a node that waits for it where a pipe is given."""
    if not seldom(draw, 5):
        return "", ()
    event = core.fresh("e")
    return event, (instr("AFTER", pipe, waits=[event]),) if pipe else ()


@st.composite
def consuming(draw: st.DrawFn, core: Core, way: Way) -> tuple[Node, ...]:
    """A tile is announced, loaded or bound, used and freed."""
    fifo, pipe = way.fifo.name, COMPUTE[core.name]
    split = draw(_split_of_call(way.fifo))
    linked = draw(st.sampled_from(("buffer", "buffer", "event", "nothing")))
    loaded = core.buffer(name("copies")) if linked == "buffer" else ""
    event = core.fresh("e") if linked == "event" else ""
    ours, waits = [loaded] if loaded else [], [event] if event else []
    gone, after = _asked_for(draw, core, pipe)
    free = tfree(fifo, tile=way.pops_tiles, split=split, event=gone)
    reads = draw(st.sampled_from((True, True, True, False)))
    price = draw(_some_price())
    if way.pops_tiles:
        part = _part(
            way, core.name, "Mat" if core.name == "AIC" else "Vec", split or way.fifo.split, price,
            acquires=ours, publishes=ours,
        )  # fmt: skip
        pop: Node = tpop(fifo, part, split=split, event=event)
        load: tuple[Node, ...] = ()
        use_reads = [fifo] if reads else []
    else:
        there, _ = _asked_for(draw, core, "")
        pop = tpop(fifo, split=split, event=there)
        needs = [there] if there else []
        own = [fifo] if reads else []
        load = (
            instr("TLOAD", "MTE2", *price, acquires=ours, publishes=ours, waits=needs, event=event, reads=own),
        )  # fmt: skip
        use_reads = []
    use = instr("USE", pipe, *draw(costs(core.name, pipe)), takes=ours, releases=ours, waits=waits, reads=use_reads)
    one: tuple[tuple[Node, ...], ...] = (
        (pop, *load, use, free),
        (pop, *load, free, use),
        (pop, free, *load, use),
        (pop, *load, use),
    )
    frees = (*9 * [0], 1, 2, 3) if way.pops_tiles else (*5 * [0], *5 * [1], 2, 3)
    return (*one[draw(st.sampled_from(frees))], *after)
