"""Hypothesis strategies for chains: what happens to one tile on one core.

A chain may start by popping a FIFO, goes through pipes that hand on to each other by buffers, events, unit flags or not
at all, and may end by pushing a FIFO. Some write and read a ring that no flag protects.
"""

from dataclasses import dataclass, field, replace
from itertools import pairwise

from hypothesis import strategies as st

from pto_tune.model.expr import Expr, expr, maximum, name
from pto_tune.model.nodes import (
    Buffer,
    Cost,
    Instr,
    Loop,
    Node,
    Ring,
    Token,
)
from pto_tune.model.vocabulary import (
    cycles,
    dma,
    drain,
    instr,
    loop,
    matmul,
    talloc,
    tfree,
    tpop,
    tpush,
    vector,
    when,
)

DURATIONS = tuple(f"d{i}" for i in range(6))
COPIES = ("copies0", "copies1", "copies2")
INNER, SUB = name("inner"), name("sub")

# pipes of a chain by core and by what it does with FIFOs
ROUTES: dict[tuple[str, bool, bool], tuple[tuple[str, ...], ...]] = {
    ("AIC", True, False): (("MTE2", "M"), ("MTE2", "MTE1", "M"), ("MTE2",)),
    ("AIC", False, True): (("M", "FIX"), ("MTE1", "M", "FIX"), ("FIX",)),
    ("AIC", True, True): (("MTE2", "M", "FIX"), ("MTE2", "MTE1", "M", "FIX")),
    ("AIC", False, False): (("MTE2", "MTE1", "M"), ("M", "FIX"), ("MTE1",)),
    ("AIV", True, False): (("MTE2", "V"), ("MTE2",)),
    ("AIV", False, True): (("V", "MTE3"), ("MTE3",)),
    ("AIV", True, True): (("MTE2", "V", "MTE3"),),
    ("AIV", False, False): (("MTE2", "V", "MTE3"), ("V",)),
}
PATHS = {"MTE1": ("l1_to_l0a",), "MTE3": ("ub_to_gm",)}


@st.composite
def costs(draw: st.DrawFn, core: str, pipe: str) -> tuple[Cost, ...]:
    """Nothing, given cycles (maybe unequal on the two sub-cores), a model's price, or a sum."""
    given_cycles = st.builds(
        lambda d, other, k: cycles(maximum(name(d) + SUB * k * name(other), 0)),
        st.sampled_from(DURATIONS),
        st.sampled_from(DURATIONS),
        st.sampled_from((0, 0, 1, -1) if core == "AIV" else (0,)),
    )
    size = st.sampled_from((32, 4096, 65536))
    match core, pipe:
        case _, "FIX":
            model = st.builds(drain, st.sampled_from((16, 64)), st.sampled_from((16, 128)), st.just(4))
        case _, "M":
            model = st.builds(matmul, st.sampled_from((16, 128)), st.just(64), st.sampled_from((16, 128)))
        case _, "V":
            model = st.builds(vector, st.sampled_from(("exp", "add")), st.just(16), st.just(64))
        case _, "MTE2":
            path = "gm_to_l1" if core == "AIC" else "gm_to_ub"
            model = st.builds(lambda b: dma(path, b, 512, b // 2), size)
        case _:
            model = st.builds(lambda b: dma(PATHS[pipe][0], b, 512), size)
    one = st.one_of(given_cycles, given_cycles, model)
    return tuple(draw(st.one_of(st.lists(one, min_size=1, max_size=1), st.lists(one, max_size=3))))


@dataclass
class Core:
    """A core under construction."""

    name: str
    buffers: list[Buffer] = field(default_factory=list)
    rings: list[Ring] = field(default_factory=list)
    names: int = 0

    def fresh(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def buffer(self, copies: Expr) -> str:
        buffer = Buffer(self.fresh("b"), self.name, "L1" if self.name == "AIC" else "UB", expr(32), copies)
        self.buffers.append(buffer)
        return buffer.name

    def ring(self) -> str:
        ring = Ring(self.fresh("r"), self.name, "L1" if self.name == "AIC" else "UB", name("slots"), expr(32))
        self.rings.append(ring)
        return ring.name


@dataclass
class Draft:
    """Fields of an instruction that grow while its neighbours are drawn."""

    pipe: str
    costs: tuple[Cost, ...]
    issues: int
    label: str = ""
    acquires: list[str] = field(default_factory=list)
    takes: list[str] = field(default_factory=list)
    publishes: list[Token] = field(default_factory=list)
    releases: list[Token] = field(default_factory=list)
    waits: list[str] = field(default_factory=list)
    event: str = ""
    writes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()

    def node(self) -> Instr:
        return instr(
            self.pipe, self.pipe, *self.costs, label=self.label, acquires=self.acquires, takes=self.takes,
            publishes=self.publishes, releases=self.releases, waits=self.waits, event=self.event,
            writes=self.writes, reads=self.reads, issues=self.issues,
        )  # fmt: skip


@st.composite
def chains(draw: st.DrawFn, core: Core, popped: str, pushed: str) -> tuple[Node, ...]:
    """One tile through one core. `popped` and `pushed` are FIFOs, or empty."""
    route = draw(st.sampled_from(ROUTES[core.name, bool(popped), bool(pushed)]))
    issues = st.one_of(st.just(1), st.integers(1, 3), st.integers(1, 40))
    steps = [Draft(pipe, draw(costs(core.name, pipe)), draw(issues)) for pipe in route]
    if popped:
        steps[0].reads = (popped,)
    if pushed:
        steps[-1].writes = (pushed,)
    for one, two in pairwise(steps):
        _link(draw, core, one, two)
    for step in steps:
        if draw(st.integers(0, 5)) == 0:  # a tile that one instruction uses by itself
            own = core.buffer(name(draw(st.sampled_from(COPIES))))
            step.acquires.append(own)
            step.releases.append(Token(own))
    if draw(st.integers(0, 4)) == 0:
        ring = core.ring()
        writer = draw(st.integers(0, len(steps) - 1))
        reader = draw(st.integers(writer, len(steps) - 1))
        steps[writer].writes += (ring,)
        steps[reader].reads += (ring,)
    nodes: list[Node] = [s.node() for s in steps]
    early_free, late_alloc = draw(st.booleans()), draw(st.booleans())
    before: list[Node] = [tpop(popped)] if popped else []
    after: list[Node] = [tpush(pushed)] if pushed else []
    if draw(st.integers(0, 3)) == 0:  # sub-tiles
        trips = draw(st.sampled_from((expr(2), expr(3), maximum(INNER, 1), INNER)))
        nodes = [loop(trips, *nodes)]
    elif draw(st.integers(0, 7)) == 0:
        nodes = [when(INNER.gt(1), *nodes)]
    else:
        if popped and early_free:
            nodes = [nodes[0], tfree(popped), *nodes[1:]]
        if pushed and late_alloc:
            nodes = [*nodes[:-1], talloc(pushed), nodes[-1]]
        return (
            *before,
            *([talloc(pushed)] if pushed and not late_alloc else ()),
            *nodes,
            *([tfree(popped)] if popped and not early_free else ()),
            *after,
        )
    return (
        *before,
        *((talloc(pushed),) if pushed else ()),
        *nodes,
        *((tfree(popped),) if popped else ()),
        *after,
    )


def _link(draw: st.DrawFn, core: Core, one: Draft, two: Draft) -> None:
    """`two` works on what `one` made."""
    match draw(st.sampled_from(("buffer", "buffer", "buffer", "event", "unit flag", "nothing"))):
        case "event":
            one.event = core.fresh("e")
            two.waits.append(one.event)
        case "unit flag" if (one.pipe, two.pipe) == ("M", "FIX"):
            shared = core.buffer(name(draw(st.sampled_from(COPIES))))
            one.label, two.label = core.fresh("matmul"), core.fresh("drain")
            one.costs = (matmul(128, 64, 128), *one.costs)
            two.costs = (drain(128, 128, 4), *two.costs)
            one.acquires.append(shared)
            one.publishes.append(Token(shared, (one.label, two.label)))
            two.takes.append(shared)
            two.releases.append(Token(shared, (two.label, one.label)))
        case "buffer" | "unit flag":
            shared = core.buffer(name(draw(st.sampled_from(COPIES))))
            one.acquires.append(shared)
            one.publishes.append(Token(shared))
            two.takes.append(shared)
            two.releases.append(Token(shared))


def without_latency(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """The same program with every instruction at a given price, whose data is visible at once.

    Instructions with a label keep their price: unit flags refer to them.
    """
    return tuple(
        replace(n, body=without_latency(n.body))
        if isinstance(n, Loop)
        else replace(n, costs=(cycles(name(DURATIONS[0])),))
        if isinstance(n, Instr) and not n.label
        else n
        for n in nodes
    )
