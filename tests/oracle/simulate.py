"""The oracle: a slow and plain simulation of a workload, to compare the executor with.

One SimPy process a pipe and a scalar process a core, advanced one instruction at a time; nothing is skipped,
merged or precomputed. Same semantics as the executor, written a second time: results have to be equal to the
cycle.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import simpy
from oracle_core import Core
from oracle_flags import SUB_CORES, Credits, Link
from oracle_machine import Ledger
from oracle_prices import Prices, names, number
from oracle_scalar import Timing

from cost_models.platform import Platform
from cost_models.sharing import RESOURCES, capacity_bytes_per_cycle
from pto_tune.model.nodes import Workload
from pto_tune.rule_sets import RuleSet

TOLERANCE = 0.005
"""How far a stretched run may exceed its goal, as a fraction."""

MOST_STRETCHED_RUNS = 7


@dataclass(frozen=True)
class FifoCounts:
    """Tiles by core, of one ring: allocated (a tile's push allocates), recorded as pushed, popped."""

    allocated: Mapping[str, int]
    pushed: Mapping[str, int]
    popped: Mapping[str, int]


@dataclass(frozen=True)
class OracleResult:
    """One block. `cycles` is None on a hang, and then `blocked` says for each core what it waits for.

    `busy` has every pipe of every core, `waits` only names with more than 0 cycles; a name that several cores
    share (`<fifo>.ready`) is their sum. `counts` and `credits` are by FIFO, or by FIFO and way (`<fifo>.C2V`) where it
    has both. `clashes` are (track, tile, slot) where the tile was written before its slot had been read for the last
    time, `torn` are (track, tile, reader) where it was read before it was there; tracks are FIFOs as in `counts`,
    `<fifo>.local` and the rings of the workload. `moved_bytes` is by shared resource, and `moving` is the part of
    `busy` in instructions that move bytes of a resource, by resource and pipe.
    `events` are (pipe, instruction, start, end), in order of their starts, and in program order on each pipe.
    """

    status: str
    cycles: int | None
    busy: Mapping[str, int]
    waits: Mapping[str, int]
    blocked: Mapping[str, str]
    counts: Mapping[str, FifoCounts]
    credits: Mapping[str, Credits]
    clashes: Sequence[tuple[str, int, int]]
    torn: Sequence[tuple[str, int, str]]
    credits_left: int
    moved_bytes: Mapping[str, int]
    moving: Mapping[str, Mapping[str, int]]
    events: list[tuple[str, str, int, int]] = field(default_factory=list)

    @property
    def l2_bytes(self) -> int:
        return self.moved_bytes["l2"]

    @property
    def hbm_bytes(self) -> int:
        return self.moved_bytes["hbm"]


@dataclass(frozen=True)
class SharedResult:
    """A block beside `active` - 1 others: the time, the stretch that it needed and the run that shows it.

    `resource` is None where the shared capacities suffice; `goal_cycles` is the demand on the scarcest one.
    """

    cycles: int | None
    stretch: float
    resource: str | None
    goal_cycles: float
    run: OracleResult


def simulate(
    workload: Workload,
    platform: Platform,
    rule_set: RuleSet,
    config: Mapping[str, int],
    *,
    stretch: float = 1.0,
    stretch_resource: str | None = None,
    block: int = 0,
    with_events: bool = False,
) -> OracleResult:
    """One block in one configuration, alone on the chip but for `stretch`.

    Raises ValueError for a program that makes no sense (an unknown name, pipe, buffer, FIFO or label, a
    direction that the rule set refuses).
    """
    world = simpy.Environment()
    ledger = Ledger()
    timing = Timing(platform)
    env = names(workload, config, block)
    links = {fifo.name: Link(world, fifo, rule_set, env) for fifo in workload.fifos}
    ways = [way for link in links.values() for way in link.ways.values()]
    cores = []
    for kind, program in workload.programs:
        for name in SUB_CORES if kind == "AIV" else (kind,):
            own = names(workload, config, block, sub=1 if name == "AIV1" else 0)
            prices = Prices(platform, program, own, stretch, stretch_resource)
            cores.append(Core(world, name, program, own, prices, timing, workload, links, rule_set, ledger))
    world.run()

    blocked = {core.name: reason for core in cores if (reason := held_up(core))}
    ends = [core.time for core in cores] + [pipe.completed_at for core in cores for pipe in core.pipes.values()]
    return OracleResult(
        status="hang" if blocked else "ok",
        cycles=None if blocked else max(ends, default=0),
        busy={pipe.name: ledger.busy[pipe.name] for core in cores for pipe in core.pipes.values()},
        waits=dict(ledger.waits),
        blocked=blocked,
        counts={way.track: FifoCounts(dict(way.allocated), dict(way.pushed), dict(way.popped)) for way in ways},
        credits={way.track: way.credits() for way in ways},
        clashes=ledger.slots.clashes(),
        torn=ledger.slots.torn(),
        credits_left=sum(link.flags_left() for link in links.values()),
        moved_bytes={resource: ledger.moved_bytes[resource] for resource in RESOURCES},
        moving={resource: dict(cycles) for resource, cycles in ledger.moving.items()},
        events=sorted(ledger.events, key=lambda e: (e[2], e[0])) if with_events else [],
    )


def held_up(core: Core) -> str:
    """What holds the core once nothing moves any more; empty if it is done.

    A pipe that waits for ever is a hang too, even where its scalar process has come to its end.
    """
    reasons = [] if core.finished else [f"S waits for {core.blocked_on}"]
    reasons += [f"{p.name} waits for {p.blocked_on}" for p in core.pipes.values() if p.blocked_on]
    return "; ".join(reasons)


def simulate_shared(
    workload: Workload,
    platform: Platform,
    rule_set: RuleSet,
    config: Mapping[str, int],
    active: int,
    block: int = 0,
) -> SharedResult:
    """One block while `active` blocks like it draw on the shared resources together.

    If their demand exceeds a capacity over the block's own time, transfers of the scarcest resource are
    stretched until the time reaches the demand. The last run that reaches it counts; the search ends within
    0.5 % of it or after 7 runs.
    """

    def run(stretch: float) -> OracleResult:
        return simulate(workload, platform, rule_set, config, stretch=stretch, stretch_resource=resource, block=block)

    resource: str | None = None
    alone = run(1.0)
    demand = {r: alone.moved_bytes[r] * active / capacity_bytes_per_cycle(platform, r) for r in RESOURCES}
    scarcest = max(RESOURCES, key=lambda r: demand[r])  # the first of equals
    goal = demand[scarcest]
    if alone.cycles is None or goal <= alone.cycles:
        return SharedResult(alone.cycles, 1.0, None, goal, alone)

    resource = scarcest
    stretch = _first_stretch(alone, resource, goal)
    best = SharedResult(alone.cycles, 1.0, resource, goal, alone)
    low = (1.0, alone.cycles)
    high: tuple[float, int] | None = None
    for _ in range(MOST_STRETCHED_RUNS):
        result = run(stretch)
        cycles = result.cycles
        if not cycles:  # nothing takes time, so that no stretch makes it longer
            break
        if cycles >= goal:
            best = SharedResult(cycles, stretch, resource, goal, result)
            high = (stretch, cycles)
            if cycles <= goal * (1 + TOLERANCE):
                break
        else:
            low = (stretch, cycles)
        if high is None:
            stretch = stretch * goal / cycles
        else:
            aim = goal * (1 + TOLERANCE / 2)
            part = (aim - low[1]) / (high[1] - low[1])
            stretch = low[0] + min(0.95, max(0.05, part)) * (high[0] - low[0])
    return best


def _first_stretch(alone: OracleResult, resource: str, goal: float) -> float:
    """The least stretch at which one pipe by itself would take as long as the goal."""
    candidates = [
        (goal - (alone.busy[pipe] - moved)) / moved for pipe, moved in alone.moving[resource].items() if moved > 0
    ]
    return max(1.0, min(candidates, default=1.0))


def kernel_cycles(workload: Workload, platform: Platform, rule_set: RuleSet, config: Mapping[str, int]) -> int | None:
    """All blocks over the cube cores of the platform, without launch overhead; None if a block hangs."""
    env = names(workload, config)
    blocks = max(0, number(workload.launch.blocks, env))
    cores = int(platform["cores.cube"])
    full, rest = divmod(blocks, cores)

    def time(active: int, block: int = 0) -> int | None:
        return simulate_shared(workload, platform, rule_set, config, active, block).cycles

    if number(workload.launch.varying, env) == 0:
        waves = [(full, cores), (1, rest)]
        times = [(count, time(active)) for count, active in waves if count > 0 and active > 0]
        return None if any(t is None for _, t in times) else sum(count * (t or 0) for count, t in times)

    free_at = [0] * cores
    for block in range(blocks):
        cycles = time(cores if block // cores < full else rest, block)
        if cycles is None:
            return None
        first = free_at.index(min(free_at))
        free_at[first] += cycles
    return max(free_at)
