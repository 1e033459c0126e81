"""What a run is: everything that decides its results, as the store keeps it, and a hash over that."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from pto_tune import legality, verdicts
from pto_tune.evaluation import RESOURCE_NAMES
from pto_tune.table import label, parameter

if TYPE_CHECKING:
    from db import RunSpec
    from pto_tune.evaluation import Problem
    from pto_tune.search.strategies import Plan
    from pto_tune.space import Space

OWN = "pto-tune"
"""Key of our own version in a run's versions."""

_LIBRARIES = ("numpy", "numba", "optuna", "pandas", "sqlalchemy")


def versions() -> dict[str, str]:
    """Versions of pto-tune, Python and the libraries that a search uses."""
    import platform

    from pto_tune import __version__
    from pto_tune.installed import installed

    return {OWN: __version__, "python": platform.python_version(), **installed(_LIBRARIES)}


def rule_names(problem: Problem) -> list[str]:
    """Every rule that a configuration can break, each name once (two instructions may share a rule)."""
    static = legality.rule_names(problem.workload, problem.platform, problem.rule_set)
    of_ranks = verdicts.RANK_RULES if problem.workload.has_ranks else ()
    return list(dict.fromkeys([*static, *verdicts.STRUCTURE_RULES, *of_ranks]))


def spec_sha256(problem: Problem, space: Space, plan: Plan, workload_json: str, made_with: Mapping[str, str]) -> str:
    """Hash of all that decides the results; a budget that covers the space is the same as none."""
    content = {
        "workload": json.loads(workload_json),
        "problem": dict(space.problem),
        "domains": [[name, list(values)] for name, values in space.domains],
        "platform_sha256": problem.platform.sha256,
        "rule_set": problem.rule_set.name,
        "timing": problem.timing,
        "strategy": plan.strategy,
        "objectives": list(plan.objectives),
        "budget": plan.budget,
        "seed": plan.seed,
        "versions": dict(made_with),
    }
    if plan.warm:
        content["warm"] = list(plan.warm)
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return sha256(text.encode("utf-8")).hexdigest()


def run_spec(
    problem: Problem, space: Space, plan: Plan, name: str | None = None, made_from: Mapping[str, str] | None = None
) -> RunSpec:
    """The run as the store keeps it. Values that have labels (UP_DOWN) are kept as these. made_from: what stands
    beside the versions (`search.warm`)."""
    from db import RunSpec
    from pto_tune.model.serial import to_json

    workload = problem.workload
    workload_json = to_json(workload)
    made_with = {**versions(), **(made_from or {})}
    sizes: dict[str, Any] = {n: label(parameter(workload, n), value) for n, value in space.problem}
    return RunSpec(
        workload=workload.name,
        workload_json=workload_json,
        problem=sizes,
        platform=problem.platform.name,
        platform_sha256=problem.platform.sha256,
        rule_set=problem.rule_set.name,
        timing=problem.timing,
        strategy=plan.strategy,
        objectives=plan.objectives,
        spec_sha256=spec_sha256(problem, space, plan, workload_json, made_with),
        versions=made_with,
        tunables=[
            {"name": n, "domain": [label(parameter(workload, n), v) for v in values]} for n, values in space.domains
        ],
        rules=rule_names(problem),
        verdicts=verdicts.VERDICTS,
        pipes=[*problem.code.pipes, *RESOURCE_NAMES],
        clock_mhz=problem.clock_mhz,
        launch_us=problem.launch_us,
        n_candidates=plan.budget,
        seed=plan.seed,
        pto_isa=problem.rule_set.pto_isa,
        name=name,
    )
