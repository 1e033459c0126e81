"""The oracle for workloads with ranks: all blocks of all ranks at the same time, in one world."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

import simpy
from oracle_flags import SUB_CORES, Link
from oracle_links import Servers
from oracle_machine import Ledger
from oracle_notify import Machine, Place
from oracle_prices import Prices, names, number
from oracle_remote import RankCore
from oracle_scalar import Timing
from oracle_signals import Fault, Signals, Turns
from simulate import held_up

from cost_models.platform import Platform
from pto_tune.model.nodes import Workload
from pto_tune.rule_sets import RuleSet

Named = tuple[int, int, str]
"""Rank, block, and a name within the block."""


@dataclass(frozen=True)
class RanksResult:
    """`status` is ok, hang or fault; `cycles` is None unless it is ok.

    `busy` is by pipe and `waits` by what was waited for, only names with more than 0 cycles. On a hang `blocked` says
    for each core that cannot go on what it waits for. A run ends at its first fault, which `faults` names. `signals`
    are the values of every rank at the end. `events` are (rank, block, pipe, instruction, start, end) in the order of
    their starts.
    """

    status: str
    cycles: int | None
    busy: Mapping[Named, int]
    waits: Mapping[Named, int]
    blocked: Mapping[Named, str]
    signals: Mapping[str, Sequence[Sequence[int]]]
    events: list[tuple[int, int, str, str, int, int]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def simulate_ranks(
    workload: Workload,
    platform: Platform,
    rule_set: RuleSet,
    config: Mapping[str, int],
    with_events: bool = False,
) -> RanksResult:
    """All ranks in one configuration.

    Raises ValueError for a program that makes no sense, as `simulate` does, for a workload without ranks, and for more
    blocks than cores.
    """
    env = names(workload, config, rank=0)
    ranks, blocks = number(workload.ranks, env), number(workload.launch.blocks, env)
    if ranks < 1:
        raise ValueError(f"workload {workload.name!r} has {ranks} ranks; give at least 1")
    if blocks > platform["cores.cube"]:
        raise ValueError(f"workload {workload.name!r} has {blocks} blocks; give at most {platform['cores.cube']:g}")
    world = simpy.Environment()
    turns = Turns(world)
    sizes = {signal.name: prod(number(extent, env) for extent in signal.dims) for signal in workload.signals}
    machine = Machine(
        platform, turns, Servers(platform), Signals(turns, sizes, ranks), ranks, number(workload.ranks_per_node, env)
    )
    timing = Timing(platform)
    ledgers: dict[tuple[int, int], Ledger] = {}
    cores: dict[Named, RankCore] = {}
    for rank in range(ranks):
        for block in range(blocks):
            ledger = ledgers[rank, block] = Ledger()
            of_block = names(workload, config, block, rank=rank)
            links = {fifo.name: Link(world, fifo, rule_set, of_block) for fifo in workload.fifos}
            number_of_core = 0
            for kind, program in workload.programs:
                for name in SUB_CORES if kind == "AIV" else (kind,):
                    own = names(workload, config, block, sub=1 if name == "AIV1" else 0, rank=rank)
                    prices = Prices(platform, program, own)
                    place = Place(rank, block, number_of_core)
                    cores[rank, block, name] = RankCore(
                        world, name, program, own, prices, timing, workload, links, rule_set, ledger, place, machine
                    )
                    number_of_core += 1
    faults = []
    try:
        turns.run()
    except Fault as fault:
        faults.append(str(fault))

    blocked = {} if faults else {where: reason for where, core in cores.items() if (reason := held_up(core))}
    ends = [core.time for core in cores.values()]
    ends += [pipe.all_completed_at for core in cores.values() for pipe in core.pipes.values()]
    status = "fault" if faults else "hang" if blocked else "ok"
    events = [(*where, *event) for where, ledger in ledgers.items() for event in ledger.events]
    return RanksResult(
        status=status,
        cycles=max(ends, default=0) if status == "ok" else None,
        busy={
            (rank, block, pipe.name): ledgers[rank, block].busy[pipe.name]
            for (rank, block, _), core in cores.items()
            for pipe in core.pipes.values()
        },
        waits={(*where, name): cycles for where, ledger in ledgers.items() for name, cycles in ledger.waits.items()},
        blocked=blocked,
        signals=machine.signals.values,
        events=sorted(events, key=lambda e: (e[4], e[:3])) if with_events else [],
        faults=faults,
    )
