"""Hypothesis strategies: workloads of every shape that the executor has to understand, and configurations.

A program is a row of *chains*. A chain is what happens to one tile on one core: it may start by popping
a FIFO, goes through pipes that hand on to each other by buffers, events or unit flags, and may end by
pushing a FIFO. The chains of a core run in a steady loop; some may run `ahead` tiles ahead in a
prologue, and the others catch up in an epilogue. Whether the two sides fit together (depths, periods,
order, preload, trips) is left to chance, so that many programs hang. Durations, depths, periods, copies
and trip counts are parameters: one workload serves many configurations.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from hypothesis import strategies as st

from pto_tune.model.expr import Expr, expr, maximum, minimum, name
from pto_tune.model.nodes import (
    Buffer,
    Cost,
    Fifo,
    Instr,
    Launch,
    Loop,
    Node,
    Parameter,
    Token,
    Tunable,
    Workload,
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
MOST_FIFOS = 3

TILES, AHEAD, INNER, SUB = name("tiles"), name("ahead"), name("inner"), name("sub")

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
class _Core:
    """A core's programs under construction."""

    name: str
    buffers: list[Buffer] = field(default_factory=list)
    names: int = 0

    def fresh(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"

    def buffer(self, copies: Expr) -> str:
        buffer = Buffer(self.fresh("b"), self.name, "L1" if self.name == "AIC" else "UB", expr(32), copies)
        self.buffers.append(buffer)
        return buffer.name


@dataclass
class _Draft:
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
def chains(draw: st.DrawFn, core: _Core, popped: str, pushed: str) -> tuple[Node, ...]:
    """One tile through one core. `popped` and `pushed` are FIFOs, or empty."""
    route = draw(st.sampled_from(ROUTES[core.name, bool(popped), bool(pushed)]))
    issues = st.one_of(st.just(1), st.integers(1, 3), st.integers(1, 40))
    steps = [_Draft(pipe, draw(costs(core.name, pipe)), draw(issues)) for pipe in route]
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


def _link(draw: st.DrawFn, core: _Core, one: _Draft, two: _Draft) -> None:
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


def _fifo(i: int, direction: str) -> Fifo:
    return Fifo(f"f{i}", direction, expr(64), name(f"depth{i}"), name(f"period{i}"), expr(2), expr(1), 2 * i, expr(64))


@st.composite
def _program(draw: st.DrawFn, core: _Core, fifos: Sequence[Fifo]) -> tuple[Node, ...]:
    """Chains for this core's side of every FIFO, in any order, and sometimes one without a FIFO."""
    producer = {"AIC": "C2V", "AIV": "V2C"}[core.name]
    order = list(fifos)
    if draw(st.integers(0, 2)) == 0:
        order = draw(st.permutations(order))
    ends = [(f.name, "") if f.direction != producer else ("", f.name) for f in order]
    wanted: list[tuple[str, str]] = []
    for popped, pushed in ends:  # pop and push in one chain where a push follows a pop
        if pushed and wanted and wanted[-1][0] and not wanted[-1][1] and draw(st.booleans()):
            wanted[-1] = (wanted[-1][0], pushed)
        else:
            wanted.append((popped, pushed))
    if not wanted or draw(st.integers(0, 4)) == 0:
        wanted.insert(draw(st.integers(0, len(wanted))), ("", ""))
    tiles = [draw(chains(core, popped, pushed)) for popped, pushed in wanted]
    if len(tiles) > 1 and draw(st.integers(0, 3)) == 0:
        event = core.fresh("e")  # the second chain starts when the first is done
        tiles[0] += (instr("TSYNC", "MTE2", event=event),)
        tiles[1] = (instr("TSYNC", "MTE2", waits=[event]), *tiles[1])
    early = draw(st.integers(0, len(tiles)))
    steady = draw(st.integers(0, 5)) > 0
    tiles_in_all = TILES if core.name == "AIC" else TILES + name("more")
    ahead = minimum(AHEAD, tiles_in_all)
    whole = tuple(n for tile in tiles for n in tile)
    if draw(st.booleans()) or early in (0, len(tiles)):
        return (Loop(tiles_in_all, whole, steady),)
    first = tuple(n for tile in tiles[:early] for n in tile)
    last = tuple(n for tile in tiles[early:] for n in tile)
    return (loop(ahead, *first), Loop(tiles_in_all - ahead, whole, steady), loop(ahead, *last))


@st.composite
def workloads(draw: st.DrawFn, min_fifos: int = 0) -> Workload:
    """AIC and AIV with up to three FIFOs in either direction."""
    directions = draw(st.lists(st.sampled_from(("C2V", "V2C")), min_size=min_fifos, max_size=MOST_FIFOS))
    fifos = tuple(_fifo(i, d) for i, d in enumerate(directions))
    cores = (_Core("AIC"), _Core("AIV"))
    programs = tuple((core.name, draw(_program(core, fifos))) for core in cores)
    depths = [f"{kind}{i}" for i in range(MOST_FIFOS) for kind in ("depth", "period")]
    return Workload(
        name="generated",
        doc="",
        problem=(
            Parameter("tiles", 8, "", 0),
            Parameter("inner", 1, "", 0),
            Parameter("blocks", 1, ""),
            Parameter("more", 0, "tiles of AIV beyond those of AIC", 0),
            *(Parameter(d, 100, "", 0) for d in DURATIONS),
        ),
        tunables=(
            Tunable("ahead", (0, 1, 2), 0, "", 0),
            *(Tunable(d, (1, 2, 4, 8), 2, "", 0) for d in depths),
            *(Tunable(c, (1, 2), 2, "") for c in COPIES),
        ),
        buffers=tuple(b for core in cores for b in core.buffers),
        fifos=fifos,
        programs=programs,
        launch=Launch(name("blocks")),
    )


def durations() -> st.SearchStrategy[int]:
    """Nothing, anything, or within 0.5 % of a thousand: nearly balanced stages drift for long."""
    return st.one_of(st.just(0), st.integers(0, 3000), st.integers(995, 1005), st.just(1000))


def configurations(most_tiles: int = 40) -> st.SearchStrategy[dict[str, int]]:
    """Values of all parameters of a generated workload."""
    fields: dict[str, st.SearchStrategy[int]] = {
        "tiles": st.one_of(*3 * [st.integers(most_tiles // 2, most_tiles)], st.integers(0, most_tiles)),
        "inner": st.integers(0, 3),
        "ahead": st.integers(0, 5),
        "more": st.sampled_from((0, 0, 0, 0, 0, 0, 1, 20)),
    }
    fields |= {d: durations() for d in DURATIONS}
    fields |= {f"depth{i}": st.one_of(st.integers(1, 12), st.sampled_from((2, 4, 8))) for i in range(MOST_FIFOS)}
    fields |= {f"period{i}": st.sampled_from((0, 0, 0, 1, 2, 3, 5)) for i in range(MOST_FIFOS)}
    fields |= {c: st.integers(1, 4) for c in COPIES}
    return st.fixed_dictionaries(fields)


PLATFORM_NUMBERS = st.fixed_dictionaries(
    {},
    optional={
        "scalar.issue": st.sampled_from((0, 1, 5, 60)),
        "scalar.queue_depth": st.sampled_from((1, 2, 3, 4, 8)),
        "flags.set": st.sampled_from((0, 7, 200)),
        "flags.wait": st.sampled_from((0, 9, 300)),
        "flags.cross_core_latency": st.sampled_from((0, 50, 3000)),
        "fixpipe.latency": st.sampled_from((0, 500)),
        "dma.gm_to_ub.latency": st.sampled_from((0, 500)),
    },
)
"""Overrides of a platform."""

SHORT_QUEUES = st.fixed_dictionaries(
    {"scalar.queue_depth": st.sampled_from((1, 2, 3)), "scalar.issue": st.sampled_from((0, 1, 20))}
)
