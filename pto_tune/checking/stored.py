"""A stored run as an entry of a baseline, from what the store has of it."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from pto_tune.checking.baseline import BaselineError, Best, Entry
from pto_tune.checking.searches import Asked

if TYPE_CHECKING:
    from cost_models.platform import Platform
    from db import Run, Store


def entry_of_run(store: Store, run: Run, platform: str | None = None, name: str | None = None) -> Entry:
    """What a run asked and found.

    platform: name or path of the run's own where it is not built in. BaselineError: a run that is not done or has no
    best configuration.
    """
    from pto_tune.search.spec import OWN
    from pto_tune.workloads import workload_names

    if run.state != "done" or run.best_row is None or run.best_cycles is None:
        why = f"is {run.state}" if run.state != "done" else "has no best configuration"
        raise BaselineError(f"run {run.id} ({run.name}) {why}: one that is done and has a best would be right")
    text = platform or run.platform
    chip = Asked(run.workload, text, Path()).chip()
    revision = _revision(run, chip)
    return Entry(
        name=name or run.name,
        workload=run.workload if run.workload in workload_names() else json.loads(run.workload_json),
        workload_sha256=sha256(run.workload_json.encode("utf-8")).hexdigest(),
        problem=run.problem,
        domains={tunable["name"]: tunable["domain"] for tunable in run.tunables},
        platform=text,
        platform_sha256=run.platform_sha256,
        pto_isa=revision,
        rule_set=run.rule_set,
        timing=run.timing,
        strategy=run.strategy,
        objectives=list(run.objectives),
        budget=_budget(run, chip, revision),
        seed=run.seed,
        pto_tune=run.versions.get(OWN, "an unknown version"),
        n_evaluated=run.n_evaluated,
        best=Best(
            configuration={**run.problem, **_chosen(store, run, run.best_row)},
            cycles=run.best_cycles,
            time_us=run.best_cycles / run.clock_mhz + run.launch_us,
        ),
        counts={verdict: dict(sorted(rules.items())) for verdict, rules in sorted(run.counts.items())},
    )


def _revision(run: Run, chip: Platform) -> str | None:
    """What gives the run's rule set; None for the default one of the platform."""
    from pto_tune.rule_sets import rule_set_for

    if run.pto_isa is not None:
        return run.pto_isa
    return None if rule_set_for(chip.family).name == run.rule_set else run.rule_set


def _budget(run: Run, chip: Platform, revision: str | None) -> int | None:
    """None where the run looked at everything: then everything is looked at again, however much that is by now."""
    if run.strategy != "exhaustive":
        return run.n_candidates
    from pto_tune.evaluation import Problem
    from pto_tune.model.serial import from_json
    from pto_tune.search.exhaustive import plan_for
    from pto_tune.space import space

    kept = from_json(run.workload_json)
    found = space(kept, run.problem, {tunable["name"]: tunable["domain"] for tunable in run.tunables})
    plan, _ = plan_for(Problem.of(kept, chip, revision, run.timing), found, "exhaustive", run.objectives)
    return None if run.n_candidates >= plan.budget else run.n_candidates


def _chosen(store: Store, run: Run, row: int) -> dict[str, int | str]:
    """Tunables of one row."""
    names = [f"t{i}" for i in range(len(run.tunables))]
    columns = store.configurations(run.id, columns=["row", *names])
    at = int((columns["row"] == row).argmax())
    return {t["name"]: t["domain"][int(columns[n][at])] for n, t in zip(names, run.tunables, strict=True)}
