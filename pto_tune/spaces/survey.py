"""What is to be known of a space before a run: its sizes, and what "auto" would do with it."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pto_tune.search.exhaustive import plan_for
from pto_tune.spaces.distinct import count_distinct
from pto_tune.spaces.legal import LegalSpace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pto_tune.evaluation import Problem
    from pto_tune.search.strategies import Plan
    from pto_tune.space import Space
    from pto_tune.spaces.legal import Count, Progress

SAMPLE_S = 1.0
"""About so long a sample is timed for, if one configuration does not take longer."""

MOST_SAMPLED = 2**15


@dataclass(frozen=True)
class Survey:
    """`count`: the legal configurations; `distinct` of them differ (None: not told apart); `late`: rules that had to be
    looked at row by row. `plan`: what "auto" does. `rate_per_s`: configurations a second, measured on `sampled` legal
    ones drawn uniformly (0: there are none). `seconds`: what the counting took."""

    count: Count
    distinct: int | None
    late: tuple[str, ...]
    plan: Plan
    rate_per_s: float
    sampled: int
    seconds: float

    @property
    def about_s(self) -> float | None:
        """How long it takes to execute what the plan looks at, as far as it is legal, at that rate; the sampler's own
        time and that of a store are not in it."""
        return min(self.plan.budget, self.count.high) / self.rate_per_s if self.rate_per_s else None


def survey(
    problem: Problem,
    space: Space,
    objectives: Sequence[str] = ("time",),
    budget: int | None = None,
    seconds: float | None = None,
    progress: Progress | None = None,
) -> Survey:
    """Count a space of up to 2**63 - 1 configurations, and time a sample of it.

    seconds: for what cannot be counted at once: rules that are looked at row by row, and telling configurations apart.
    """
    began = time.perf_counter()
    legal = LegalSpace.of(problem, space)
    count = legal.count(seconds, progress)
    distinct = count_distinct(problem, legal, seconds).distinct
    took_s = time.perf_counter() - began
    plan, _ = plan_for(problem, space, "auto", objectives, budget)
    rate, sampled = _rate(problem, space, legal) if count.low else (0.0, 0)
    return Survey(count, distinct, legal.late, plan, rate, sampled, took_s)


def _rate(problem: Problem, space: Space, legal: LegalSpace) -> tuple[float, int]:
    """Configurations a second, kernels loaded; and how many of them were timed."""
    from pto_tune.search.batches import evaluated

    rows = legal.draw(MOST_SAMPLED, np.random.default_rng(0))
    deque(evaluated(problem, space, rows[:1]), maxlen=0)  # the first call loads kernels
    n, took_s, done = 1, 0.0, 0
    while True:
        piece = np.sort(rows[done : done + n])
        began = time.perf_counter()
        deque(evaluated(problem, space, piece), maxlen=0)
        took_s = time.perf_counter() - began
        done += n
        n *= 2
        if 2 * took_s > SAMPLE_S or done + n > rows.shape[0]:
            return piece.shape[0] / took_s, int(piece.shape[0])
