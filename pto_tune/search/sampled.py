"""A part of a space: what a sampler proposes, each row once, until the budget is used up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pto_tune.search.batches import Batch, evaluated
from pto_tune.search.bounds import BoundRows
from pto_tune.search.evolution import EvolutionRows
from pto_tune.search.proposers import HaltonRows, Proposer, RandomRows, Seen, seen_of
from pto_tune.search.samplers import OptunaRows
from pto_tune.spaces.legal import LegalSpace

if TYPE_CHECKING:
    from pto_tune.evaluation import Problem
    from pto_tune.search.replaying import Replay
    from pto_tune.search.strategies import Plan
    from pto_tune.space import Space

PATIENCE = 20
"""Batches without a new legal configuration after which a search goes on at random, and as many more until it
ends."""


class SampledSearch:
    """Batches of new rows; `message` says after the last one why it ended before its budget, if it did.

    What earlier runs found best (`plan.warm`) comes first. A batch that the sampler cannot fill, because it
    repeats itself, is filled with random rows, but not one of "bounds", which ends when it has nothing more
    to propose. Rows are legal ones as long as there are any. The same seed and versions give the same rows in
    the same order. No row comes twice, and what is refused is never executed.
    """

    def __init__(self, problem: Problem, space: Space, plan: Plan, replay: Replay | None = None) -> None:
        """`replay`: what a store has of this search already, which is answered with empty batches."""
        self._replay = replay
        self._problem = problem
        self._space = space
        self._plan = plan
        # that a row is refused by a static rule is known without an evaluation
        self._legal = LegalSpace.of(problem, space)
        self._random = RandomRows(space.size, plan.seed, self._legal)
        self.message = ""

    def __iter__(self) -> Iterator[Batch]:
        plan = self._plan
        proposer = self._random if plan.strategy == "random" else proposer_for(self._problem, self._legal, plan)
        warm = list(dict.fromkeys(plan.warm))[: plan.budget]
        known = set(warm)
        for seen, batch in self._answers(np.array(warm, dtype=np.int64)) if warm else ():
            proposer.learn(seen)
            yield batch
        exact = isinstance(proposer, BoundRows)
        stale = 0
        while len(known) < plan.budget:
            if stale >= 2 * PATIENCE:
                self.message = (
                    f"ended after {len(known)} of {plan.budget} configurations: the last {stale} batches, "
                    "half of them at random, gave no new legal one"
                )
                return
            n = min(plan.budget - len(known), proposer.batch)
            rows = proposer.propose(n, known) if exact or stale < PATIENCE else []
            if proposer.finished:
                self.message = proposer.finished
                return
            known.update(rows)
            filling = [] if exact else self._random.propose(n - len(rows), known)
            known.update(filling)
            legal = 0
            for seen, batch in self._answers(np.array(rows + filling, dtype=np.int64)):
                proposer.learn(seen)
                legal += int(np.count_nonzero(seen.ok))
                yield batch
            stale = 0 if legal or exact else stale + 1
        if isinstance(proposer, BoundRows):
            # the last batch may have been all that there was to look at
            proposer.propose(1, known)
            self.message = proposer.finished or proposer.unfinished()

    def _answers(self, rows: NDArray[np.int64]) -> Iterator[tuple[Seen, Batch]]:
        """What proposed rows gave, and the batches to keep."""
        if self._replay is not None:
            return self._replay.answers(rows)
        return ((seen_of(batch), batch) for batch in evaluated(self._problem, self._space, rows))


def proposer_for(problem: Problem, legal: LegalSpace, plan: Plan) -> Proposer:
    """What proposes the rows of a plan."""
    space = legal.space
    match plan.strategy:
        case "random":
            return RandomRows(space.size, plan.seed, legal)
        case "qmc":
            return HaltonRows(space, plan.seed, legal)
        case "evolution":
            return EvolutionRows(legal, plan.objectives, plan.seed)
        case "bounds":
            return BoundRows(problem, legal, plan.seed)
        case _:
            return OptunaRows(space, plan.strategy, plan.objectives, plan.seed, problem, legal)
