"""The numbers of one configuration for the time-ordered kernel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cost_models import dma, link, scalar, signals
from cost_models.rounding import to_cycles
from cost_models.sharing import RESOURCES, capacity_bytes_per_cycle
from pto_tune.executor.extent import whole_units
from pto_tune.lowering.columns import columns_of, environment
from pto_tune.model.expr import evaluate
from pto_tune.ranks import tables as t
from pto_tune.ranks.variants import variants

if TYPE_CHECKING:
    from cost_models.platform import Platform
    from pto_tune.lowering.code import Code
    from pto_tune.model.nodes import Workload

    Ints = NDArray[np.int64]

MOST_ELEMENTS = 2**20
"""Most signals in the memory of a rank."""
MOST_SWEPT = 4096
"""Most elements of one view."""
MOST_EVENTS, MOST_STEPS = 2**21, 2**24
"""Requests, sweeps and arrivals of one run, and scalar operations of all its cores, loop ends included: a program that
has more is refused, which takes a few seconds to find out."""
MOST_EVENTS_BUILT_IN, MOST_STEPS_BUILT_IN = 2**26, 2**31
"""... of a built-in workload, which is known to end: half of gemm_allreduce's default space has more scalar operations
than the program of a stranger may have."""


def most(code: Code) -> tuple[int, int]:
    """Events and scalar operations that a run may have."""
    return (MOST_EVENTS_BUILT_IN, MOST_STEPS_BUILT_IN) if code.built_in else (MOST_EVENTS, MOST_STEPS)


def instances(workload: Workload, row: Mapping[str, int]) -> tuple[int, int, dict[str, Any]]:
    """Ranks, blocks, and the environment of all instances (rank * blocks + block) of one configuration."""
    plain = environment(workload, {**{k: np.int64(v) for k, v in row.items()}, "block": np.int64(0)})
    ranks = int(evaluate(workload.ranks, plain))
    blocks = max(1, int(evaluate(workload.launch.blocks, plain)))
    n = ranks * blocks
    env: dict[str, Any] = {k: np.full(n, v, dtype=np.int64) for k, v in row.items()}
    env["rank"] = np.repeat(np.arange(ranks, dtype=np.int64), blocks)
    env["block"] = np.tile(np.arange(blocks, dtype=np.int64), ranks)
    return ranks, blocks, environment(workload, env)


def link_kinds(workload: Workload, platform: Platform, ranks: int, env: Mapping[str, Any]) -> tuple[list[str], Ints]:
    """The kinds of link between the ranks, and for each pair its number (the own rank: the number of kinds; no link:
    -1)."""
    per_node = int(np.max(evaluate(workload.ranks_per_node, dict(env)))) or None
    kinds: list[str] = []
    table = np.full((ranks, ranks), -1, dtype=np.int64)
    for a in range(ranks):
        for b in range(ranks):
            if a == b:
                continue
            try:
                kind = link.kind_between(platform, a, b, per_node)
            except ValueError:
                continue
            if kind not in kinds:
                kinds.append(kind)
            table[a, b] = kinds.index(kind)
    np.fill_diagonal(table, len(kinds))
    return kinds, table


def numbers(code: Code, platform: Platform, row: Mapping[str, int]) -> tuple[t.Numbers, list[str]]:
    """Everything that the kernel needs for one configuration (problem sizes and tunables), and the kinds of link."""
    workload, ranked = code.workload, code.ranks
    assert ranked is not None
    ranks, blocks, env = instances(workload, row)
    n = ranks * blocks
    columns = columns_of(code, platform, env, n)
    kinds, table = link_kinds(workload, platform, ranks, env)
    cuts = variants(workload, ranked, platform, kinds, env, n)

    by_sub = [{**env, "sub": np.int64(s)} for s in (0, 1)]
    scalars = np.zeros((n, max(1, len(ranked.scalars))), dtype=np.int64)
    for i, (e, sub) in enumerate(ranked.scalars):
        scalars[:, i] = evaluate(e, by_sub[sub])
    draw = np.stack(
        [
            whole_units(t.UNIT * columns.bytes[r].astype(np.float64) / capacity_bytes_per_cycle(platform, name))
            for r, name in enumerate(RESOURCES)
        ]
    )

    params = np.zeros(t.P_SIZE, dtype=np.int64)
    params[t.P_ISSUE] = to_cycles(scalar.issue_cycles(platform))
    params[t.P_WAIT] = columns.structure[0, 1]
    params[t.P_QUEUE] = scalar.queue_depth(platform)
    params[t.P_BARRIER] = to_cycles(signals.barrier_cycles(platform))
    params[t.P_SWEEPS_PER_BARRIER] = int(platform["signal.sweeps_per_barrier"])
    for k, store in enumerate(("signal.store", "signal.atomic")):
        params[t.P_POST_HOLD_SET + k] = to_cycles(2.0 * platform["signal.cache_line"] + platform[store])
    params[t.P_RANKS], params[t.P_BLOCKS] = ranks, blocks
    params[t.P_MOST_EVENTS], params[t.P_MOST_STEPS] = most(code)

    latency = np.zeros((len(kinds) + 1, 2, 2), dtype=np.int64)
    arrival = np.zeros((len(kinds) + 1, 2), dtype=np.int64)
    hold = np.zeros((len(kinds) + 1, 2), dtype=np.int64)
    latency[:, :, 0] = to_cycles(dma.latency_cycles(platform, "gm_to_ub"))
    latency[:, :, 1] = to_cycles(dma.latency_cycles(platform, "ub_to_gm"))
    for j, kind in enumerate([*kinds, None]):
        if kind is not None:
            latency[j, 0, 1] = to_cycles(link.latency_cycles(platform, kind, "put"))
            latency[j, 1, 0] = to_cycles(link.latency_cycles(platform, kind, "get"))
        for k, operation in enumerate(signals.OPERATIONS):
            time = float(signals.arrival_cycles(platform, operation, kind))
            arrival[j, k] = to_cycles(time)
            hold[j, k] = to_cycles(time + platform["signal.fence"])

    sizes = [int(np.prod([int(np.max(evaluate(d, env))) for d in s.dims])) for s in workload.signals]
    if sum(sizes) > MOST_ELEMENTS:
        raise ValueError(f"{sum(sizes)} signals in the memory of a rank: expected at most {MOST_ELEMENTS}")
    sweep = np.concatenate([[0], to_cycles(signals.sweep_cycles(platform, np.arange(1, MOST_SWEPT + 1).astype(float)))])
    if sweep[1] < 1:
        raise ValueError("signal.sweep and signal.poll are 0: a look at a signal has to take time")
    return t.Numbers(
        params=params,
        st=columns.structure,
        scalars=scalars,
        dur=columns.durations,
        work=(columns.pipe >= 0).astype(np.int64),
        draw=draw,
        kinds=table,
        variant_of=cuts.of,
        variant=cuts.rows,
        times=cuts.times,
        latency=latency,
        units=cuts.units,
        tile_start=cuts.tile_start,
        arrival=arrival,
        hold=hold,
        sweep=sweep,
        signal_at=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
    ), kinds
