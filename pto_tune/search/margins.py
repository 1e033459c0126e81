"""How far a configuration is from legal, so that a sampler can find its way back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pto_tune import verdicts

if TYPE_CHECKING:
    from pto_tune.evaluation import Evaluation, Problem

CAPACITY = "capacity-"
"""Prefix of the rules that a memory holds what is in it."""


def violation(evaluation: Evaluation) -> NDArray[np.float64]:
    """(n,) 0 where the verdict is ok, above 0 elsewhere.

    Refused by static rules: the sum over the broken ones, where a capacity counts by how much it is exceeded
    (bytes over limit, less 1) and every other rule as 1, since divisibility and the like know no distance.
    Unsafe verdicts (hang, overwrite, race) and a flag counter that overflows count as 1.
    """
    total = np.zeros(len(evaluation))
    for i, rule in enumerate(evaluation.rules):
        if rule in verdicts.STRUCTURE_RULES:
            continue
        broken = evaluation.broken[i]
        if rule.startswith(CAPACITY) and broken.any():
            memory = rule.removeprefix(CAPACITY)
            excess = evaluation.bytes[memory] / _limit_bytes(evaluation.problem, memory) - 1
            total += np.where(broken, excess, 0)
        else:
            total += broken
    unsafe = (evaluation.verdict != verdicts.OK) & (total <= 0)
    return np.where(unsafe, 1.0, total)


def _limit_bytes(problem: Problem, memory: str) -> float:
    limit = problem.platform["memory.ub_usable" if memory == "UB" else f"memory.{memory.lower()}"]
    if memory == "UB" and problem.workload.uses_ub_scratch:
        limit -= problem.platform["memory.ub_scratch_top"]
    return limit
