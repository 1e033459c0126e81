"""Which way a space is searched, and how many configurations are looked at."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

STRATEGIES = ("auto", "exhaustive", "tpe", "nsga2", "qmc", "random")
OBJECTIVES = ("time", "memory")
"""Time in cycles; memory is the sum of UB (of one vector sub-core), L1, L0A, L0B and L0C in bytes."""

EXHAUSTIVE_LIMIT = 1_000_000
"""Largest space, in configurations, that "auto" goes through completely."""

TPE_LIMIT = 2_000
"""Most evaluations for which "auto" takes TPE, whose cost grows with their square."""

DEFAULT_BUDGET = {"tpe": 2_000, "nsga2": 2_000, "qmc": 20_000, "random": 20_000}
"""Evaluations of a sampled search where none are given."""

MAX_ROWS = 2**31 - 1
"""Most configurations of one run: the store numbers them with 32 bits."""

MAX_SPACE = 2**63 - 1
MAX_SEED = 2**32 - 1


class SearchError(ValueError):
    """A search that cannot be made as it is asked for."""


@dataclass(frozen=True)
class Plan:
    """A search: `strategy` (never "auto"), `objectives` in the order of OBJECTIVES, `budget` = configurations
    to look at, refused ones included."""

    strategy: str
    objectives: tuple[str, ...]
    budget: int
    seed: int


def make_plan(
    size: int,
    strategy: str = "auto",
    objectives: Sequence[str] = ("time",),
    budget: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
) -> Plan:
    """How a space of `size` configurations is searched.

    "auto" goes through the whole space where it has at most EXHAUSTIVE_LIMIT configurations and the budget
    covers it; otherwise it takes NSGA-II for two objectives, TPE for one objective and up to TPE_LIMIT
    evaluations, and a low-discrepancy sequence beyond. An explicit "exhaustive" with a smaller budget looks
    at the first rows.

    SearchError lists everything that is wrong with the request.
    """
    wanted = (objectives,) if isinstance(objectives, str) else tuple(objectives)
    errors = []
    if strategy not in STRATEGIES:
        errors.append(f"unknown strategy {strategy!r}: choose one of {', '.join(STRATEGIES)}")
    if "time" not in wanted or not set(wanted) <= set(OBJECTIVES) or len(set(wanted)) != len(wanted):
        errors.append(f"objectives {', '.join(map(repr, wanted)) or 'none'}: expected 'time', or 'time' and 'memory'")
    if budget is not None and (not isinstance(budget, int) or isinstance(budget, bool) or budget < 1):
        errors.append(f"budget = {budget!r}: expected a number of evaluations, 1 or more")
    if seconds is not None and not (math.isfinite(seconds) and seconds > 0):
        errors.append(f"seconds = {seconds!r}: expected a time above 0")
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed <= MAX_SEED:
        errors.append(f"seed = {seed!r}: expected an integer from 0 to {MAX_SEED}")
    if size > MAX_SPACE:
        errors.append(f"the space has {size} configurations, at most {MAX_SPACE} can be numbered: give fewer values")
    if errors:
        raise SearchError("\n".join(errors))
    ordered = tuple(o for o in OBJECTIVES if o in wanted)
    chosen = _chosen(strategy, size, len(ordered), budget)
    if budget is None:
        budget = size if chosen == "exhaustive" else DEFAULT_BUDGET[chosen]
    looked_at = min(budget, size)
    if looked_at > MAX_ROWS:
        raise SearchError(
            f"{looked_at} configurations are too many for one run, which holds {MAX_ROWS}: "
            "give fewer values, a budget, or another strategy"
        )
    return Plan(chosen, ordered, looked_at, seed)


def _chosen(strategy: str, size: int, n_objectives: int, budget: int | None) -> str:
    if strategy != "auto":
        return strategy
    if size <= EXHAUSTIVE_LIMIT and (budget is None or budget >= size):
        return "exhaustive"
    if n_objectives > 1:
        return "nsga2"
    return "tpe" if budget is None or budget <= TPE_LIMIT else "qmc"
