"""Comparing the executor with the oracle: what the oracle says of a configuration, and tables of them."""

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from oracle_prices import names, number
from simulate import SharedResult, simulate_shared

from cost_models import Platform, load_platform
from pto_tune.executor.engine import Execution, execute
from pto_tune.lowering.compile import lower
from pto_tune.model.nodes import Workload
from pto_tune.rule_sets import RuleSet, rule_sets

RULE_SETS: tuple[RuleSet, ...] = rule_sets("a2a3")
MORE_EXAMPLES = int(os.environ.get("PTO_TUNE_MORE_EXAMPLES", "1"))
"""Factor on the number of generated examples; above 1 they are drawn anew each time."""

Config = Mapping[str, int]

FREE_SYNCHRONISATION: Mapping[str, float] = {
    "scalar.issue": 0,
    "flags.set": 0,
    "flags.wait": 0,
    "flags.cross_core_latency": 0,
    "fixpipe.latency": 0,
    "dma.gm_to_l1.latency": 0,
    "dma.gm_to_ub.latency": 0,
    "dma.ub_to_gm.latency": 0,
    "dma.l1_to_l0a.latency": 0,
    "dma.l1_to_l0b.latency": 0,
}
"""Overrides that leave nothing but the durations of instructions."""


def examples(count: int) -> settings:
    """Settings of a property: `count` examples, the same ones each time."""
    return settings(
        max_examples=count * MORE_EXAMPLES,
        derandomize=MORE_EXAMPLES == 1,
        database=None,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


def platform(overrides: Mapping[str, float] | None = None) -> Platform:
    """ascend910b2 with some numbers replaced."""
    return _platform(tuple(sorted((overrides or {}).items())))


@cache
def _platform(overrides: tuple[tuple[str, float], ...]) -> Platform:
    return load_platform("ascend910b2", dict(overrides))


def table(workload: Workload, rows: Sequence[Config]) -> dict[str, np.ndarray[Any, np.dtype[np.int64]]]:
    """Columns of all parameters, defaults where a row says nothing. KeyError for an unknown name."""
    defaults = {p.name: p.default for p in workload.problem} | {t.name: t.default for t in workload.tunables}
    unknown = {name for row in rows for name in row} - set(defaults)
    if unknown:
        raise KeyError(f"{workload.name} has no {sorted(unknown)}")
    return {
        name: np.array([row.get(name, default) for row in rows], dtype=np.int64) for name, default in defaults.items()
    }


def run(workload: Workload, chip: Platform, rules: RuleSet, rows: Sequence[Config], **options: Any) -> Execution:
    return execute(lower(workload, rules), chip, table(workload, rows), len(rows), **options)


@dataclass(frozen=True)
class Outcome:
    """What is compared, of all waves. `cycles` is None on a hang, and then nothing else counts."""

    cycles: int | None
    stretch: float = 1.0
    busy: Mapping[str, int] | None = None
    waits: Mapping[str, int] | None = field(default=None, compare=False)  # the oracle's only


def outcomes(execution: Execution) -> list[Outcome]:
    """The executor's answers, by row."""
    return [
        Outcome(None)
        if execution.hang[i]
        else Outcome(
            int(execution.cycles[i]),
            float(execution.stretch[i]),
            dict(zip(execution.code.pipes, map(int, execution.busy[i]), strict=True)),
        )
        for i in range(execution.cycles.shape[0])
    ]


def expected(workload: Workload, chip: Platform, rules: RuleSet, config: Config) -> Outcome:
    """The oracle's answer: every block simulated beside its neighbours, on the core that is free first.

    Busy cycles are those of the core that ends last, the stretch is the first wave's, or the largest of all
    where blocks differ.
    """
    env = names(workload, config)
    blocks, cores = number(workload.launch.blocks, env), int(chip["cores.cube"])
    varying = number(workload.launch.varying, env) != 0
    full, rest = divmod(blocks, cores)
    known: dict[tuple[int, int], SharedResult] = {}

    def beside(block: int) -> SharedResult:
        active = cores if block // cores < full else rest
        key = (active, block if varying else 0)
        if key not in known:
            known[key] = simulate_shared(workload, chip, rules, config, *key)
        return known[key]

    if not varying:
        waves = [beside(wave * cores) for wave in range(full + (rest > 0))]
        if any(w.cycles is None for w in waves):
            return Outcome(None)
        return Outcome(sum(w.cycles or 0 for w in waves), waves[0].stretch, *_busy_and_waits(waves))
    free_at = [0] * min(cores, blocks)
    done: list[list[SharedResult]] = [[] for _ in free_at]
    for block in range(blocks):
        result = beside(block)
        if result.cycles is None:
            return Outcome(None)
        core = free_at.index(min(free_at))
        free_at[core] += result.cycles
        done[core].append(result)
    last = free_at.index(max(free_at))
    return Outcome(max(free_at), max(r.stretch for r in known.values()), *_busy_and_waits(done[last]))


def _busy_and_waits(results: Iterable[SharedResult]) -> tuple[dict[str, int], dict[str, int]]:
    busy: Counter[str] = Counter()
    waits: Counter[str] = Counter()
    for result in results:
        busy.update(result.run.busy)  # adds up
        waits.update(result.run.waits)
    return dict(busy), dict(waits)


def differences(
    workload: Workload, chip: Platform, rules: RuleSet, rows: Sequence[Config], **options: Any
) -> list[str]:
    """One line a row where executor and oracle disagree; all rows run in one call of the executor."""
    found = outcomes(run(workload, chip, rules, rows, **options))
    lines = []
    for config, executor in zip(rows, found, strict=True):
        oracle = expected(workload, chip, rules, config)
        if executor != oracle:
            lines.append(f"{workload.name} {rules.name} {dict(config)}: executor {executor}, oracle {oracle}")
    return lines
