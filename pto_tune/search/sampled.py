"""A part of a space: what a sampler proposes, each row once, until the budget is used up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from pto_tune import verdicts
from pto_tune.search.batches import Batch, evaluated
from pto_tune.search.proposers import HaltonRows, Proposer, RandomRows
from pto_tune.search.samplers import OptunaRows

if TYPE_CHECKING:
    from pto_tune.evaluation import Problem
    from pto_tune.search.strategies import Plan
    from pto_tune.space import Space

PATIENCE = 20
"""Batches without a new legal configuration after which a search goes on at random, and as many more until it
ends."""


class SampledSearch:
    """Batches of new rows; `message` says after the last one why it ended before its budget, if it did.

    A batch that the sampler cannot fill, because it repeats itself, is filled with random rows. The same seed
    and versions give the same rows in the same order. No row comes twice, and what is refused is never
    executed.
    """

    def __init__(self, problem: Problem, space: Space, plan: Plan) -> None:
        self._problem = problem
        self._space = space
        self._plan = plan
        self._random = RandomRows(space.size, plan.seed)
        self.message = ""

    def __iter__(self) -> Iterator[Batch]:
        plan, space = self._plan, self._space
        proposer: Proposer = self._random if plan.strategy == "random" else _proposer(space, plan)
        known: set[int] = set()
        stale = 0
        while len(known) < plan.budget:
            if stale >= 2 * PATIENCE:
                self.message = (
                    f"ended after {len(known)} of {plan.budget} configurations: the last {stale} batches, "
                    "half of them at random, gave no new legal one"
                )
                return
            n = min(plan.budget - len(known), proposer.batch)
            rows = proposer.propose(n, known) if stale < PATIENCE else []
            known.update(rows)
            filling = self._random.propose(n - len(rows), known)
            known.update(filling)
            legal = 0
            for batch in evaluated(self._problem, space, np.array(rows + filling, dtype=np.int64)):
                proposer.learn(batch)
                legal += int(np.count_nonzero(batch.evaluation.verdict == verdicts.OK))
                yield batch
            stale = 0 if legal else stale + 1


def _proposer(space: Space, plan: Plan) -> Proposer:
    if plan.strategy == "qmc":
        return HaltonRows(space, plan.seed)
    return OptunaRows(space, plan.strategy, plan.objectives, plan.seed)
