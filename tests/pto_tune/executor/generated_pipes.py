"""Hypothesis strategies: workloads of one to three pipes in every form that the families know.

Every pipe has a direction, a kind, switches and splits; each of its ways has a producer and a consumer stage in
the GlobalData or the TileData flow. A core goes through its stages in a steady loop, some of them ahead of the
others by a prologue. Whether all this fits together is left to chance: switches are off, splits differ, several
tiles are held and freed together, the second sub-core is left out.
"""

from typing import Any

from generated_chains import DURATIONS, Core
from generated_stages import SUB, Way, consuming, producing, seldom
from generated_workloads import durations
from hypothesis import strategies as st

from pto_tune.model.expr import expr, maximum, minimum, name
from pto_tune.model.nodes import FLOWS_OF, NO_SPLIT, Fifo, Launch, Loop, Node, Parameter, Tfree, Tunable, Workload
from pto_tune.model.vocabulary import loop, when
from pto_tune.rule_sets import rule_set_for

MOST_PIPES = 3
SLOT_BYTES = 4096
SWITCHES = ("allocate", "record", "wait", "free")
TILES, AHEAD = name("tiles"), name("ahead")

# directions by family with whether the GM form is asked for
DIRECTIONS = {
    "a2a3": tuple((d, False) for d in ("C2V", "V2C", "BOTH")),
    "a5": (
        *3 * [("C2V", False), ("V2C", False), ("BOTH", False), ("C2V", True), ("V2C_GM", False)],
        *[("C2V_GM", False), ("V2C", True), ("BOTH", True), ("BOTH_GM", False)],
    ),
}


def often(usual: int, other: int, one_in: int) -> st.SearchStrategy[int]:
    """`usual`, but for one time in `one_in`."""
    return st.integers(0, one_in - 1).map(lambda k: other if k == one_in - 1 else usual)


@st.composite
def fifos(draw: st.DrawFn, i: int, family: str) -> Fifo:
    direction, gm_form = draw(st.sampled_from(DIRECTIONS[family]))
    switches: dict[str, Any] = {switch: name(f"{switch}{i}") for switch in SWITCHES}
    return Fifo(
        name=f"p{i}",
        direction=direction,
        slot_bytes=expr(SLOT_BYTES),
        slot_num=name(f"depth{i}"),
        sync_period=name(f"period{i}"),
        local_slot_num=name("local_slots"),
        split=name(f"split{i}"),
        flag_id=4 * i,
        tile_bytes=expr(SLOT_BYTES),
        used=name(f"used{i}") if seldom(draw, 6) else expr(1),
        kind="TMPipe" if "BOTH" not in direction and seldom(draw, 4) else "TPipe",
        gm_form=gm_form,
        is_no_split=draw(st.sampled_from((expr(0), expr(1)))) if seldom(draw, 5) else None,
        gated=name("gated"),
        **switches,
    )


@st.composite
def ways(draw: st.DrawFn, fifo: Fifo, family: str) -> tuple[Way, ...]:
    form = rule_set_for(family).direction_of(fifo.direction, fifo.gm_form)
    assert form is not None
    found = []
    for flow in FLOWS_OF[fifo.direction]:
        global_data = form.global_data and draw(st.booleans())
        mixed = form.global_data and seldom(draw, 10)
        found.append(
            Way(
                fifo,
                flow,
                not global_data,
                global_data == mixed,
                draw(st.sampled_from((1, 1, 1, 2, 3))),
                draw(st.sampled_from((4, 16))),
                draw(st.sampled_from((32, 64))),
                draw(st.sampled_from((4, 4, 4, 2))),
                draw(st.booleans()) if family == "a2a3" else seldom(draw, 5),
            )
        )
    return tuple(found)


@st.composite
def _several(draw: st.DrawFn, nodes: tuple[Node, ...], way: Way) -> tuple[Node, ...]:
    """As many tiles as the way moves in a trip: one after the other, or held together and freed at the end."""
    if way.fifo.used != expr(1):
        nodes = (when(way.fifo.used, *nodes),)
    elif way.tiles_a_trip > 1 and isinstance(nodes[-1], Tfree) and seldom(draw, 3):
        return (loop(way.tiles_a_trip, *nodes[:-1]), loop(way.tiles_a_trip, nodes[-1]))
    return (loop(way.tiles_a_trip, *nodes),) if way.tiles_a_trip > 1 else nodes


@st.composite
def _program(draw: st.DrawFn, core: Core, all_ways: list[Way]) -> tuple[Node, ...]:
    stages = []
    order = draw(st.permutations(all_ways)) if draw(st.integers(0, 2)) == 0 else all_ways
    for way in order:
        side = producing(core, way) if way.producer == core.name else consuming(core, way)
        stage = draw(_several(draw(side), way))
        if core.name == "AIV" and not way.both_sub_cores:
            stage = (when(maximum(way.fifo.split.gt(NO_SPLIT), 1 - SUB), *stage),)
        stages.append(stage)
    trips = TILES if core.name == "AIC" else TILES * (1 - SUB * name("alone"))
    steady = draw(st.integers(0, 5)) > 0
    early = draw(st.integers(0, len(stages)))
    whole = tuple(node for stage in stages for node in stage)
    if early in (0, len(stages)) or draw(st.booleans()):
        return (Loop(trips, whole, steady),)
    ahead = minimum(AHEAD, trips)
    first = tuple(node for stage in stages[:early] for node in stage)
    rest = tuple(node for stage in stages[early:] for node in stage)
    return (loop(ahead, *first), Loop(trips - ahead, whole, steady), loop(ahead, *rest))


@st.composite
def piped_workloads(draw: st.DrawFn, family: str) -> Workload:
    """AIC and AIV with one to three pipes of a platform family."""
    pipes = [draw(fifos(i, family)) for i in range(draw(st.integers(1, MOST_PIPES)))]
    all_ways = [way for fifo in pipes for way in draw(ways(fifo, family))]
    cores = (Core("AIC"), Core("AIV"))
    programs = tuple((core.name, draw(_program(core, all_ways))) for core in cores)
    numbers = range(MOST_PIPES)
    return Workload(
        name="piped",
        doc="",
        problem=(
            Parameter("tiles", 8, "", 0),
            Parameter("inner", 1, "", 0),
            Parameter("alone", 0, "whether the second sub-core does nothing", 0, 1),
            Parameter("gated", 0, "", 0, 1),
            *(Parameter(f"used{i}", 1, "", 0, 1) for i in numbers),
            *(Parameter(f"{switch}{i}", 1, "", 0, 1) for i in numbers for switch in SWITCHES),
            *(Parameter(d, 100, "", 0) for d in DURATIONS),
        ),
        tunables=(
            Tunable("ahead", (0, 1, 2), 0, "", 0),
            *(Tunable(f"depth{i}", (1, 2, 4, 8), 2, "") for i in numbers),
            *(Tunable(f"period{i}", (0, 1, 2), 0, "", 0) for i in numbers),
            *(Tunable(f"split{i}", (0, 1, 2), 1, "", 0, 4) for i in numbers),
            Tunable("copies", (1, 2), 2, ""),
            *(Tunable(f"copies{i}", (1, 2), 2, "") for i in numbers),
            Tunable("local_slots", (2, 4), 2, ""),
        ),
        buffers=tuple(b for core in cores for b in core.buffers),
        fifos=tuple(pipes),
        programs=programs,
        launch=Launch(expr(1)),
    )


def pipe_configurations(most_tiles: int = 24) -> st.SearchStrategy[dict[str, int]]:
    """Values of all parameters of a piped workload."""
    fields: dict[str, st.SearchStrategy[int]] = {
        "tiles": st.integers(0, most_tiles),
        "alone": often(0, 1, 15),
        "gated": st.integers(0, 1),
        "ahead": st.integers(0, 4),
        "copies": st.integers(1, 4),
        "local_slots": st.integers(1, 8),
    }
    fields |= {d: durations() for d in DURATIONS}
    for i in range(MOST_PIPES):
        fields |= {
            f"used{i}": st.sampled_from((1, 1, 1, 0)),
            f"depth{i}": st.one_of(st.integers(1, 12), st.sampled_from((2, 4, 8))),
            f"period{i}": st.sampled_from((0, 0, 0, 0, 1, 2, 3)),
            f"split{i}": st.sampled_from((*7 * [1], 0, 0, 0, *4 * [2], 3, 4)),
            **{f"{switch}{i}": often(1, 0, 25) for switch in SWITCHES},
        }
    return st.fixed_dictionaries(fields)
