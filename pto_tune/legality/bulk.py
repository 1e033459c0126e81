"""Bulk copies that a platform has no numbers for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from pto_tune.legality.rules import RuleColumn, column
from pto_tune.model.expr import evaluate
from pto_tune.model.nodes import Instr, Workload, walk

if TYPE_CHECKING:
    from cost_models.platform import Platform
    from pto_tune.legality.rules import Ints

WORDS = ("link", "transport", "direction")


def bulk_rules(workload: Workload, platform: Platform, env: Mapping[str, Any], n: int) -> Iterator[RuleColumn]:
    """One rule a workload with bulk copies: link, transport and direction have to be among the platform's."""
    import numpy as np

    from cost_models import bulk

    lists = (bulk.LINKS, bulk.TRANSPORTS, bulk.DIRECTIONS)
    env = {**env, "sub": np.int64(0)}
    costs = [
        cost
        for _, program in workload.programs
        for x in walk(program)
        if isinstance(x, Instr)
        for cost in x.costs
        if cost.model == "bulk"
    ]
    broken = np.zeros(n, dtype=bool)
    places = np.zeros((3, n), dtype=np.int64)  # of the first cost that is broken
    for cost in dict.fromkeys(costs):
        args = {key: e for key, e in cost.args if not isinstance(e, str)}
        here = np.stack([column(evaluate(args[w], env), n) for w in WORDS])
        lost = np.zeros(n, dtype=bool)
        for place in np.unique(here, axis=1).T:
            same = (here == place[:, None]).all(axis=0)
            inside = all(0 <= p < len(known) for p, known in zip(place, lists, strict=True))
            lost |= same & (not inside or not bulk.has(platform, *(k[p] for k, p in zip(lists, place, strict=True))))
        places[:, lost & ~broken] = here[:, lost & ~broken]
        broken |= lost
    if costs:
        yield RuleColumn("bulk-numbers", broken, partial(_sentence, platform, places))


def _sentence(platform: Platform, places: Ints, i: int) -> str:
    from cost_models import bulk

    link, transport, direction = (int(p) for p in places[:, i])
    for what, place, known in (
        ("link", link, bulk.LINKS), ("transport", transport, bulk.TRANSPORTS), ("direction", direction, bulk.DIRECTIONS)
    ):  # fmt: skip
        if not 0 <= place < len(known):
            return f"{what} {place} of a bulk copy is outside 0..{len(known) - 1}"
    return bulk.missing(platform, bulk.LINKS[link], bulk.TRANSPORTS[transport], bulk.DIRECTIONS[direction])
