"""Legality: named rules, evaluated as columns for all configurations at once.

Every refusal says rule, value, limit and, where there is one, the nearest legal value. `pto_tune.legality.warnings`
has what no rule forbids but a page or a header has something to say about.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from pto_tune.legality.bulk import bulk_rules
from pto_tune.legality.calls import pipe_uses
from pto_tune.legality.memory import alignment_rules, capacity_rules, gm_ring_bytes, memory_parts
from pto_tune.legality.parts import part_rules
from pto_tune.legality.pipes import pipe_rules
from pto_tune.legality.remote import remote_rules
from pto_tune.legality.rules import RuleColumn, column
from pto_tune.legality.shapes import shape_rules
from pto_tune.legality.tiles import tile_rules
from pto_tune.model.expr import evaluate
from pto_tune.model.nodes import Rule, Workload

if TYPE_CHECKING:
    from cost_models.platform import Platform
    from pto_tune.legality.rules import Ints
    from pto_tune.rule_sets import RuleSet

__all__ = ["RuleColumn", "check", "gm_ring_bytes", "memory_parts", "rule_names"]


def rule_names(workload: Workload, platform: Platform, rule_set: RuleSet) -> list[str]:
    """Names of all static rules of a workload, in the order in which they are applied."""
    import numpy as np

    env = {
        **{p.name: np.array([p.default]) for p in workload.problem},
        **{t.name: np.array([t.default]) for t in workload.tunables},
        "block": np.array([0]),
    }
    from pto_tune.lowering.columns import environment

    return [r.name for r in check(workload, platform, rule_set, environment(workload, env), 1)]


def check(
    workload: Workload, platform: Platform, rule_set: RuleSet, env: Mapping[str, Any], n: int
) -> list[RuleColumn]:
    """All static rules over n rows of `env` (derived names included).

    Which rules there are, and their names, does not depend on the rows. A rule whose `verdict` is "race" does not keep
    a row from being executed.
    """
    import numpy as np

    uses = pipe_uses(workload, rule_set, env, n)
    facts = {"on_a5": np.int64(platform.family == "a5")}
    rules = [*_workload_rules(workload, {**env, **facts}, n)]
    rules += pipe_rules(uses, platform, rule_set, env, n)
    for use in uses:
        if use.possible:
            rules += tile_rules(use, rule_set, env, n)
            rules += part_rules(use, env, n)
    rules += capacity_rules(workload, platform, rule_set, uses, env, n)
    rules += alignment_rules(workload, platform, env, n)
    rules += shape_rules(workload, env, n)
    rules += bulk_rules(workload, platform, env, n)
    if workload.has_ranks:
        rules += remote_rules(workload, platform, env, n)
    return rules


def _workload_rules(workload: Workload, env: Mapping[str, Any], n: int) -> Iterator[RuleColumn]:
    for rule in workload.rules:
        ok = column(evaluate(rule.ok, env), n)
        value, limit = column(evaluate(rule.value, env), n), column(evaluate(rule.limit, env), n)
        nearest = None if rule.nearest is None else column(evaluate(rule.nearest, env), n)
        yield RuleColumn(rule.name, ok == 0, partial(_own_sentence, rule, value, limit, nearest))


def _own_sentence(rule: Rule, value: Ints, limit: Ints, nearest: Ints | None, i: int) -> str:
    near = None if nearest is None else int(nearest[i])
    text = rule.sentence.format(value=int(value[i]), limit=int(limit[i]), nearest=near)
    return text if near is None or "{nearest}" in rule.sentence else f"{text}; nearest legal: {near}"
