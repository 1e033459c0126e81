"""Hypothesis strategies: workloads of every shape that the executor has to understand, and configurations.

A program is a row of chains. Those of a core run in a steady loop; some may run `ahead` tiles ahead in a prologue, and
the others catch up in an epilogue. Whether the two sides fit together (depths, periods, order, preload, trips) is left
to chance, so that many programs hang. Durations, depths, periods, copies and trip counts are parameters: one workload
serves many configurations.
"""

from collections.abc import Sequence
from dataclasses import replace

from generated_chains import COPIES, DURATIONS, Core, chains, without_latency
from hypothesis import strategies as st

from pto_tune.model.expr import expr, minimum, name
from pto_tune.model.nodes import Fifo, Launch, Loop, Node, Parameter, Tunable, Workload
from pto_tune.model.vocabulary import instr, loop

MOST_FIFOS = 3

TILES, AHEAD = name("tiles"), name("ahead")


def _fifo(i: int, direction: str) -> Fifo:
    return Fifo(f"f{i}", direction, expr(64), name(f"depth{i}"), name(f"period{i}"), expr(2), expr(1), 2 * i, expr(64))


@st.composite
def _program(draw: st.DrawFn, core: Core, fifos: Sequence[Fifo], tiles_a_trip: dict[str, int]) -> tuple[Node, ...]:
    """Chains for this core's side of every FIFO, in any order, and sometimes one without a FIFO."""
    producer = {"AIC": "C2V", "AIV": "V2C"}[core.name]
    order = list(fifos)
    if draw(st.integers(0, 2)) == 0:
        order = draw(st.permutations(order))
    ends = [(f.name, "") if f.direction != producer else ("", f.name) for f in order]
    wanted: list[tuple[str, str]] = []
    for popped, pushed in ends:  # pop and push in one chain where a push follows a pop
        last = wanted[-1] if wanted else ("", "")
        fits = pushed and last[0] and not last[1] and tiles_a_trip[pushed] == tiles_a_trip[last[0]]
        if fits and draw(st.booleans()):
            wanted[-1] = (last[0], pushed)
        else:
            wanted.append((popped, pushed))
    if not wanted or draw(st.integers(0, 4)) == 0:
        wanted.insert(draw(st.integers(0, len(wanted))), ("", ""))
    tiles = []
    for popped, pushed in wanted:
        times = tiles_a_trip.get(popped or pushed, 1)
        one = draw(chains(core, popped, pushed))
        tiles.append((loop(times, *one),) if times > 1 and draw(st.booleans()) else times * one)
    if len(tiles) > 1 and draw(st.integers(0, 3)) == 0:
        event = core.fresh("e")  # the second chain starts when the first is done
        tiles[0] += (instr("TSYNC", "MTE2", event=event),)
        tiles[1] = (instr("TSYNC", "MTE2", waits=[event]), *tiles[1])
    early = draw(st.integers(0, len(tiles)))
    steady = draw(st.integers(0, 5)) > 0
    tiles_in_all = TILES if core.name == "AIC" else TILES + name("more")
    ahead = minimum(AHEAD, tiles_in_all)
    whole = tuple(n for tile in tiles for n in tile)
    before = draw(chains(core, "", "")) if draw(st.integers(0, 3)) == 0 else ()
    after = draw(chains(core, "", "")) if draw(st.integers(0, 1)) == 0 else ()
    if draw(st.booleans()) or early in (0, len(tiles)):
        return (*before, Loop(tiles_in_all, whole, steady), *after)
    first = tuple(n for tile in tiles[:early] for n in tile)
    if draw(st.booleans()):
        first = without_latency(first)
    rest = tuple(n for tile in tiles[early:] for n in tile)
    return (*before, loop(ahead, *first), Loop(tiles_in_all - ahead, whole, steady), loop(ahead, *rest), *after)


@st.composite
def workloads(draw: st.DrawFn, min_fifos: int = 0) -> Workload:
    """AIC and AIV with up to three FIFOs in either direction."""
    directions = draw(st.lists(st.sampled_from(("C2V", "V2C")), min_size=min_fifos, max_size=MOST_FIFOS))
    fifos = tuple(_fifo(i, d) for i, d in enumerate(directions))
    tiles_a_trip = {f.name: draw(st.sampled_from((1, 1, 1, 2, 3))) for f in fifos}
    cores = (Core("AIC"), Core("AIV"))
    programs = tuple((core.name, draw(_program(core, fifos, tiles_a_trip))) for core in cores)
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
            Tunable("slots", (2, 4), 4, "entries of every ring"),
        ),
        buffers=tuple(b for core in cores for b in core.buffers),
        fifos=fifos,
        rings=tuple(r for core in cores for r in core.rings),
        programs=programs,
        launch=Launch(name("blocks")),
    )


def without_steady_loops(workload: Workload) -> Workload:
    """The same programs, in which the executor finds nothing to leave out."""
    programs = tuple(
        (core, tuple(replace(n, steady=False) if isinstance(n, Loop) else n for n in nodes))
        for core, nodes in workload.programs
    )
    return replace(workload, programs=programs)


def durations() -> st.SearchStrategy[int]:
    """Nothing, anything, or within 0.5 % of a thousand: nearly balanced stages drift for long."""
    return st.one_of(st.just(0), st.integers(0, 3000), st.integers(995, 1005), st.just(1000))


def configurations(most_tiles: int = 40) -> st.SearchStrategy[dict[str, int]]:
    """Values of all parameters of a generated workload."""
    fields: dict[str, st.SearchStrategy[int]] = {
        "tiles": st.one_of(*3 * [st.integers(most_tiles // 2, most_tiles)], st.integers(0, most_tiles)),
        "inner": st.integers(0, 3),
        "ahead": st.integers(0, 5),
        "slots": st.integers(1, 12),
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
