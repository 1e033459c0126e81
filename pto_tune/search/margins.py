"""How far a configuration is from legal, so that a sampler can find its way back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pto_tune import legality, verdicts
from pto_tune.lowering.columns import environment

if TYPE_CHECKING:
    from pto_tune.evaluation import Evaluation, Problem

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

CAPACITY = "capacity-"
"""Prefix of the rules that a memory holds what is in it."""


def violation(evaluation: Evaluation) -> Floats:
    """(n,) 0 where the verdict is ok, above 0 elsewhere.

    Refused by static rules: the sum over the broken ones, where a capacity counts by how much it is exceeded
    (bytes over limit, less 1) and every other rule as 1, since divisibility and the like know no distance.
    Unsafe verdicts (hang, overwrite, race) and a flag counter that overflows count as 1.
    """
    static = [(rule, b) for rule, b in zip(evaluation.rules, evaluation.broken, strict=True) if not _of_structure(rule)]
    total = _sum(evaluation.problem, static, evaluation.bytes.__getitem__, len(evaluation))
    unsafe = (evaluation.verdict != verdicts.OK) & (total <= 0)
    return np.where(unsafe, 1.0, total)


def static_violation(problem: Problem, table: Mapping[str, Any], n: int, every_rule: bool = False) -> Floats:
    """(n,) as `violation`, of rows that static rules refuse; 0 for the others. Nothing is executed.

    every_rule: static rules that do not refuse count as well.
    """
    workload, rule_set = problem.workload, problem.rule_set
    env = environment(workload, {**table, "block": np.zeros(n, dtype=np.int64)})

    def size(memory: str) -> Ints:
        total = np.zeros(n, dtype=np.int64)
        for _, part in legality.memory_parts(workload, memory, env, n, rule_set):
            total += part
        return total

    found = legality.check(workload, problem.platform, rule_set, env, n)
    counted = [(rule.name, rule.broken) for rule in found if every_rule or rule.verdict == "refused"]
    return _sum(problem, counted, size, n)


def _of_structure(rule: str) -> bool:
    return rule in verdicts.STRUCTURE_RULES


def _sum(
    problem: Problem, rules: Iterable[tuple[str, NDArray[np.bool_]]], size: Callable[[str], Ints], n: int
) -> Floats:
    total = np.zeros(n)
    for rule, broken in rules:
        if rule.startswith(CAPACITY) and broken.any():
            memory = rule.removeprefix(CAPACITY)
            total += np.where(broken, size(memory) / _limit_bytes(problem, memory) - 1, 0)
        else:
            total += broken
    return total


def _limit_bytes(problem: Problem, memory: str) -> float:
    limit = problem.platform["memory.ub_usable" if memory == "UB" else f"memory.{memory.lower()}"]
    if memory == "UB" and problem.workload.uses_ub_scratch:
        limit -= problem.platform["memory.ub_scratch_top"]
    return limit
