"""Every configuration of a space, or every legal one, in the order of its rows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from pto_tune import verdicts
from pto_tune.search import strategies
from pto_tune.search.batches import Batch, evaluated
from pto_tune.search.resources import has_bounds
from pto_tune.search.strategies import Plan, make_plan, passes_refused
from pto_tune.spaces.legal import MOST_ROWS, LegalSpace
from pto_tune.spaces.tables import TimeOver

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pto_tune.evaluation import Problem
    from pto_tune.search.tally import Tally
    from pto_tune.space import Space

CHUNK_ROWS = 65_536
"""Most rows of a batch, the unit of progress, stopping and storing."""

FIRST_ROWS = 8_192
FEWEST_ROWS = 4_096
SHORT_S, LONG_S = 0.4, 1.0
"""A batch that takes less is followed by one of twice the rows, one that takes more by one of half of them."""


COUNT_S = 5.0
"""Time for "auto" to find out how many configurations of a large space are legal."""


def plan_for(
    problem: Problem,
    space: Space,
    strategy: str = "auto",
    objectives: Sequence[str] = ("time",),
    budget: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
) -> tuple[Plan, LegalSpace | None]:
    """As `make_plan`, with the legal configurations counted where that matters. They come with the plan where the
    search passes over what static rules refuse."""
    legal = None
    if strategies.EXHAUSTIVE_LIMIT < space.size <= MOST_ROWS and strategy in ("auto", "exhaustive"):
        try:
            legal = LegalSpace.of(problem, space, seconds=COUNT_S if strategy == "auto" else None)
        except TimeOver:
            legal = None
    known = None if legal is None else legal.candidates
    bounded = has_bounds(problem.code)
    plan = make_plan(space.size, strategy, objectives, budget, seconds, seed, known, bounded)
    return plan, legal if passes_refused(plan.strategy, space.size) else None


def legal_of(problem: Problem, space: Space, plan: Plan) -> LegalSpace | None:
    """The legal configurations that a search goes through; None where it goes through all."""
    return LegalSpace.of(problem, space) if passes_refused(plan.strategy, space.size) else None


def count_refused(tally: Tally, legal: LegalSpace) -> None:
    """Count what static rules refuse and the search does not look at, by the first rule that refuses it."""
    refused = legal.refused()
    if refused:
        by_rule = tally.counts.setdefault(verdicts.VERDICTS[verdicts.REFUSED], {})
        for rule, n in refused.items():
            by_rule[rule] = by_rule.get(rule, 0) + n


def exhaustive(
    problem: Problem, space: Space, start: int = 0, end: int | None = None, legal: LegalSpace | None = None
) -> Iterator[Batch]:
    """Rows `start` .. `end` - 1 (default: all), each once; with `legal`, the legal rows of these numbers.

    Batches have up to CHUNK_ROWS rows, as many as keep them to a fraction of a second; the results do not
    depend on how rows fall into batches.
    """
    most = space.size if legal is None else legal.candidates
    end = most if end is None else min(end, most)
    rows = min(FIRST_ROWS, CHUNK_ROWS)
    while start < end:
        stop = min(start + rows, end)
        longest_s = 0.0
        numbers = np.arange(start, stop, dtype=np.int64)
        pieces = evaluated(problem, space, numbers if legal is None else legal.rows(numbers))
        while True:
            began = time.perf_counter()
            batch = next(pieces, None)
            if batch is None:
                break
            longest_s = max(longest_s, time.perf_counter() - began)
            yield batch
        start = stop
        if longest_s > LONG_S:
            rows = max(min(FEWEST_ROWS, CHUNK_ROWS), rows // 2)
        elif longest_s < SHORT_S:
            rows = min(CHUNK_ROWS, 2 * rows)
