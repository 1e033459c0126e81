"""What is wrong with a sweep that somebody wants, before it starts: for the API and the page of new runs alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboards.api.counting import checked_space
from dashboards.site.sweeps import Wish, check_size

if TYPE_CHECKING:
    from pto_tune.model.nodes import Workload
    from pto_tune.search.strategies import Plan
    from pto_tune.space import Space


def checked_wish(workload: Workload, wish: Wish) -> tuple[Space | None, Plan | None, list[tuple[str, str]]]:
    """Space and plan of a wish, and everything that is wrong with it: (`problem/NAME`, `domains/NAME`, `domains` or
    `name`, sentence) pairs. The space is None where a size or domain is wrong, the plan where anything of it is."""
    from cost_models.platform import load_platform
    from db.names import check_name
    from pto_tune.evaluation import Problem
    from pto_tune.search.exhaustive import plan_for
    from pto_tune.search.strategies import EXHAUSTIVE_LIMIT, make_plan

    space, faults = checked_space(workload, wish.problem, wish.domains)
    plan = None
    if space is not None:
        how = (wish.strategy, ("time",), wish.budget, wish.seconds, wish.seed)
        try:
            check_size(wish)
            if space.size > EXHAUSTIVE_LIMIT:  # what it does depends on how many are legal
                problem = Problem.of(workload, load_platform(wish.platform), wish.pto_isa, wish.timing)
                plan, _ = plan_for(problem, space, *how)
            else:
                plan = make_plan(space.size, *how, bounded=not workload.has_ranks)
        except ValueError as error:
            plan = None
            faults += [("domains", line) for line in str(error).splitlines()]
    if wish.name is not None:
        try:
            check_name(wish.name)
        except ValueError as error:
            faults.append(("name", str(error)))
    return space, plan, faults
