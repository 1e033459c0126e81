"""Hypothesis strategies: workloads on one to four ranks, with everything that programs between ranks may contain.

A program is a row of phrases (`generated_phrases`). All cores of a kind run the same program; some phrases belong to
one rank, block or sub-core, or stand in a loop. Whether what one waits for is what another sends is mostly left to
chance, so that some programs hang. Sometimes the phrases stand between those of a program with FIFOs.
"""

from dataclasses import replace
from typing import Any

from generated_chains import COPIES, DURATIONS, Core
from generated_phrases import MOST_BLOCKS, SIGNALS, VARIABLES, World, body, seldom
from generated_pipes import pipe_configurations, piped_workloads
from generated_workloads import configurations, durations, workloads
from hypothesis import strategies as st

from pto_tune.model.communication import Signal, Staging
from pto_tune.model.expr import expr
from pto_tune.model.nodes import Launch, Loop, Node, Parameter, Tunable, Workload
from pto_tune.model.vocabulary_remote import let, staging

MOST_RANKS = 4
FAMILIES = {"a2a3": "ascend910b2", "a5": "ascend950pr"}

# Overrides


def _numbers(values: tuple[float, ...], *keys: str) -> dict[str, st.SearchStrategy[float]]:
    return {key: st.sampled_from(values) for key in keys}


MACHINES = ("as it is", "short queues", "scarce", "quick", "quick and scarce")


def overrides(family: str, machine: str) -> st.SearchStrategy[dict[str, float]]:
    """Of a platform: some numbers other than they are, capacities that do not suffice, or everything so quick that much
    happens at the same time."""
    link = "hccs" if family == "a2a3" else "ub"
    ways = [f"link.{link}.{direction}" for direction in ("put", "get")]
    local = [f"dma.{path}" for path in ("gm_to_ub", "ub_to_gm", "gm_to_l1")]
    queues = {
        **_numbers((0, 1, 3, 20), "scalar.issue"),
        **_numbers((1, 2, 3, 32), "scalar.queue_depth"),
        **_numbers((1, 2, 3, 64), "signal.sweeps_per_barrier"),
    }
    scarce = {
        **_numbers((1, 3, 3, 1000), *(f"{way}.{scope}_capacity" for way in ways for scope in ("pair", "out", "in"))),
        **_numbers((3, 20, 1000), "l2.bandwidth", "l2.read_bandwidth", "hbm.bandwidth"),
    }
    quick = {
        **_numbers((0, 1, 10, 37), "signal.cache_line", "signal.store", "signal.atomic", "signal.fence"),
        **_numbers((0, 1, 10), "signal.barrier", "signal.latency", "signal.sweep"),
        **_numbers((5, 10, 90), "signal.poll"),
        **_numbers((0, 10), *(f"{part}.startup" for part in (*ways, *local))),
        **_numbers((0, 1, 30), *(f"{part}.latency" for part in (*ways, *local))),
        **_numbers((8, 64), *(f"{way}.rate" for way in ways)),
        **_numbers((1, 40), *(f"{way}.sdma_startup" for way in ways)),
        **_numbers((0, 7), "flags.set", "flags.wait", "flags.cross_core_latency"),
    }
    if machine == "as it is":
        return st.just({})
    both = quick | scarce | _numbers((90, 100), "signal.poll")  # with long transfers, sweeps are not to be too many
    always = {"short queues": {}, "scarce": scarce, "quick": quick, "quick and scarce": both}[machine]
    return st.fixed_dictionaries(always, optional=queues)


# Workloads


@st.composite
def _tiles(draw: st.DrawFn) -> list[Staging]:
    sizes = st.sampled_from(((2, 4), (4, 4), (1, 8), (6, 2), (3, 5), (8, 8)))
    one, two = draw(sizes), draw(sizes)
    return [draw(_tile(label, *size)) for label, size in zip("abc", (one, one, two), strict=True)]


@st.composite
def _tile(draw: st.DrawFn, label: str, rows: int, cols: int) -> Staging:
    """A staging tile whose axes are static or dynamic, of which maybe not all is valid."""
    dynamic = draw(st.sampled_from(((0, 0), (1, 1), (1, 1), (0, 1), (1, 0))))
    valid: dict[str, Any] = {}
    if seldom(draw, 4):
        valid = {"valid_rows": draw(st.integers(1, rows)), "valid_cols": draw(st.integers(1, cols))}
    return staging(label, rows, cols, dynamic_rows=dynamic[0], dynamic_cols=dynamic[1], **valid)


def _plain() -> Workload:
    """Without programs, with the parameters of chains."""
    return Workload(
        name="generated",
        doc="",
        problem=(Parameter("inner", 1, "", 0), *(Parameter(d, 100, "", 0) for d in DURATIONS)),
        tunables=(*(Tunable(c, (1, 2), 2, "") for c in COPIES), Tunable("slots", (2, 4), 4, "")),
        buffers=(),
        fifos=(),
        programs=(),
        launch=Launch(expr(1)),
    )


def _configurations() -> st.SearchStrategy[dict[str, int]]:
    fields: dict[str, st.SearchStrategy[int]] = {"inner": st.integers(0, 2), "slots": st.integers(1, 4)}
    fields |= {d: durations() for d in DURATIONS}
    fields |= {c: st.integers(1, 2) for c in COPIES}
    return st.fixed_dictionaries(fields)


@st.composite
def ranked(draw: st.DrawFn, family: str) -> tuple[Workload, dict[str, int]]:
    """A workload with ranks, and a configuration of it."""
    match draw(st.sampled_from(("plain", "plain", "plain", "plain", "pipes", "chains"))):
        case "pipes":
            base, config = draw(piped_workloads(family)), draw(pipe_configurations(4))
        case "chains" if family == "a2a3":
            base, config = draw(workloads(min_fifos=1)), draw(configurations(4))
        case _:
            base, config = _plain(), draw(_configurations())
    ranks, blocks = draw(st.sampled_from((1, 2, 2, 2, 3, 3, MOST_RANKS))), draw(st.sampled_from((1, 1, 2, MOST_BLOCKS)))
    world = World(family, ranks, blocks, draw(_tiles()), chains=not base.fifos)
    kinds = draw(st.sampled_from((("AIV",), ("AIV",), ("AIC", "AIV"), ("AIC",))))
    known = dict(base.programs) or dict.fromkeys(kinds, ())
    programs = []
    buffers, rings = list(base.buffers), list(base.rings)
    for kind, program in known.items():
        core = Core(kind, names=100)  # of buffers and events beyond those of the base
        programs.append((kind, _woven(draw, core, world, program)))
        buffers += core.buffers
        rings += core.rings
    return (
        replace(
            base,
            programs=tuple(programs),
            buffers=tuple(buffers),
            rings=tuple(rings),
            ranks=expr(ranks),
            ranks_per_node=draw(st.sampled_from((*4 * [expr(0)], expr(1), expr(2)))),
            launch=Launch(expr(blocks)),
            signals=tuple(Signal(label, dims) for label, dims in SIGNALS.items()),
            staging=tuple(world.tiles),
        ),
        config,
    )


def _woven(draw: st.DrawFn, core: Core, world: World, program: tuple[Node, ...]) -> tuple[Node, ...]:
    """Phrases before and behind a program, and in its loops at top level."""
    start = tuple(let(variable, 0) for variable in VARIABLES)
    if not program:
        return (*start, *draw(body(core, world, most=6)))
    woven: list[Node] = []
    for node in program:
        if isinstance(node, Loop) and draw(st.booleans()):
            inside = (*node.body, *draw(body(core, world, most=2)))
            node = replace(node, body=inside)
        woven.append(node)
    return (*start, *draw(body(core, world, most=2)), *woven, *draw(body(core, world, most=2)))
