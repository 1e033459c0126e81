"""Which way a space is searched, and how many configurations are looked at."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

BOUNDS = "bounds"
STRATEGIES = ("auto", "exhaustive", BOUNDS, "evolution", "tpe", "nsga2", "qmc", "random")
OBJECTIVES = ("time", "memory")
"""Time in cycles; memory is the sum of UB (of one vector sub-core), L1, L0A, L0B and L0C in bytes."""

EXHAUSTIVE_LIMIT = 1_000_000
"""Most configurations that "auto" goes through completely. In a space with more candidates, an exhaustive search
goes through those alone that no static rule refuses."""

DEFAULT_BUDGET = {"evolution": 20_000, "tpe": 2_000, "nsga2": 2_000, "qmc": 20_000, "random": 20_000}
"""Evaluations of a sampled search where none are given; "bounds" ends by itself."""

MAX_ROWS = 2**31 - 1
"""Most configurations of one run: the store numbers them with 32 bits."""

MAX_SPACE = 2**63 - 1
MAX_SEED = 2**32 - 1


class SearchError(ValueError):
    """A search that cannot be made as it is asked for."""


def passes_refused(strategy: str, size: int) -> bool:
    """Whether a search of a space of `size` passes over what static rules refuse: it is counted and not stored."""
    return strategy == "exhaustive" and size > EXHAUSTIVE_LIMIT


@dataclass(frozen=True)
class Plan:
    """A search: `strategy` (never "auto"), `objectives` in the order of OBJECTIVES, `budget` = configurations
    to look at, refused ones included where these are looked at at all (`passes_refused`). `warm`: rows of a sampled
    search that come first."""

    strategy: str
    objectives: tuple[str, ...]
    budget: int
    seed: int
    warm: tuple[int, ...] = ()


def make_plan(
    size: int,
    strategy: str = "auto",
    objectives: Sequence[str] = ("time",),
    budget: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
    legal: int | None = None,
    bounded: bool = True,
) -> Plan:
    """How a space of `size` configurations is searched, `legal` of which no static rule refuses (None: not
    known); `bounded`: there are lower bounds of times, as for all workloads without ranks.

    "auto" goes through the whole space where it has at most EXHAUSTIVE_LIMIT configurations, or so many
    legal ones, and the budget covers them; otherwise it takes what `pto-tune bench search` found best:
    "bounds" for the time alone where there are bounds (without a budget at most EXHAUSTIVE_LIMIT
    configurations), and "evolution" elsewhere. An explicit
    "exhaustive" with a smaller budget looks at the first rows, in a space of more than EXHAUSTIVE_LIMIT
    configurations at the first legal ones.

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
    if strategy == BOUNDS and "memory" in wanted:
        errors.append("strategy 'bounds' searches for the least time alone: leave out the objective 'memory', or take "
                      "'evolution'")  # fmt: skip
    if strategy == BOUNDS and not bounded:
        errors.append("there are no bounds for a workload with ranks: take the strategy 'evolution'")
    if size > MAX_SPACE:
        errors.append(f"the space has {size} configurations, at most {MAX_SPACE} can be numbered: give fewer values")
    if errors:
        raise SearchError("\n".join(errors))
    ordered = tuple(o for o in OBJECTIVES if o in wanted)
    most = size if legal is None or size <= EXHAUSTIVE_LIMIT else legal
    chosen = _chosen(strategy, most, bounded and len(ordered) == 1, budget)
    if not passes_refused(chosen, size):
        most = size
    if budget is None:
        budget = DEFAULT_BUDGET.get(chosen, most)
        if chosen == BOUNDS:
            budget = min(most, EXHAUSTIVE_LIMIT if strategy == "auto" else MAX_ROWS)
    looked_at = min(budget, most)
    if looked_at > MAX_ROWS:
        raise SearchError(
            f"{looked_at} configurations are too many for one run, which holds {MAX_ROWS}: "
            "give fewer values, a budget, or another strategy"
        )
    return Plan(chosen, ordered, looked_at, seed)


def _chosen(strategy: str, size: int, bounded: bool, budget: int | None) -> str:
    if strategy != "auto":
        return strategy
    if size <= EXHAUSTIVE_LIMIT and (budget is None or budget >= size):
        return "exhaustive"
    return BOUNDS if bounded else "evolution"
