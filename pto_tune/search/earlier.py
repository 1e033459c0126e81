"""Runs of the same search that the store has already: which one answers or goes on, or what has changed since."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pto_tune.search.spec import OWN, spec_sha256

if TYPE_CHECKING:
    from db import Run, RunSpec, Store
    from pto_tune.evaluation import Problem
    from pto_tune.search.strategies import Plan
    from pto_tune.space import Space

NEVER, FINISHED, CONTINUE = REUSES = ("never", "finished", "continue")
"""What becomes of an earlier run of the same search: nothing, an answer where it is done, or that and otherwise its
continuation."""


@dataclass(frozen=True)
class Earlier:
    """`same`: the run of this very search that is best taken up, a finished one before any other. `outdated`: where
    there is none, the newest run that the same request made when something else stood behind a name; `changed`:
    what."""

    same: Run | None = None
    outdated: Run | None = None
    changed: str = ""


def earlier(store: Store, spec: RunSpec, problem: Problem, space: Space, plan: Plan) -> Earlier:
    """What the store has of this search. With a name, only the run of that name counts."""
    runs = [r for r in store.runs(spec.workload, spec.platform) if spec.name is None or r.name == spec.name]
    same = [r for r in runs if _is_same(r, spec, problem, space, plan)]
    if same:
        return Earlier(same=next((r for r in same if r.state == "done"), same[0]))
    for run in runs:
        changed = _changed(run, spec, plan)
        if changed:
            return Earlier(outdated=run, changed=" and ".join(changed))
    return Earlier()


def _is_same(run: Run, spec: RunSpec, problem: Problem, space: Space, plan: Plan) -> bool:
    """Whether a run has the results that this search has; versions that decide nothing may differ."""
    if _deciding(run.versions, plan) != _deciding(spec.versions, plan):
        return False
    return run.spec_sha256 == spec_sha256(problem, space, plan, spec.workload_json, run.versions)


def _deciding(versions: Mapping[str, str], plan: Plan) -> dict[str, str]:
    """The versions that results depend on: our own, and of a sampled search those of what draws and proposes."""
    names = (OWN,) if plan.strategy == "exhaustive" else (OWN, "numpy", "optuna")
    return {name: versions.get(name, "an unknown version") for name in names}


def _changed(run: Run, spec: RunSpec, plan: Plan) -> list[str]:
    """What is different behind the names of an equal request; nothing where the request is another one, or equal."""
    other_workload = run.workload_json != spec.workload_json
    request = ("timing", "problem", "strategy", "seed", "objectives")
    if any(_plain(getattr(run, name)) != _plain(getattr(spec, name)) for name in request):
        return []
    # Other tunables, and with them another number of candidates, may be what has changed in the workload.
    if not other_workload and (_plain(run.tunables), run.n_candidates) != (_plain(spec.tunables), spec.n_candidates):
        return []
    now, then = _deciding(spec.versions, plan), _deciding(run.versions, plan)
    changed = [f"{name} was {then[name]} and is {now[name]}" for name in now if now[name] != then[name]]
    if run.platform_sha256 != spec.platform_sha256:
        changed.append(
            f"the numbers of platform {spec.platform!r} have changed (sha256 {run.platform_sha256[:12]} then, "
            f"{spec.platform_sha256[:12]} now)"
        )
    if other_workload:
        changed.append(f"the workload {spec.workload!r} has changed")
    if run.rule_set != spec.rule_set:
        changed.append(f"the rule set was {run.rule_set!r} and is {spec.rule_set!r}")
    return changed


def _plain(value: object) -> object:
    """Lists and tuples alike, so that what went through JSON compares equal."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
