"""Types of runs: to start one, one as the store has it, how far it is."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, StringConstraints

from dashboards.api.models import Domains, Model, Sizes, Strategy, Subject, utc

if TYPE_CHECKING:
    from db import Run
    from pto_tune.search.driving import Progress

MOST_RUNS = 1_000
State = Literal["running", "done", "stopped", "failed"]


class RunsQuery(Model):
    """Which runs are listed."""

    workload: Annotated[str | None, Field(max_length=200)] = None
    platform: Annotated[str | None, Field(max_length=200)] = None
    state: State | None = None
    limit: Annotated[int, Field(ge=1, le=MOST_RUNS)] = 100
    offset: Annotated[int, Field(ge=0, le=2**31 - 1)] = 0


class RunRequest(Subject):
    """A sweep to start."""

    problem: Sizes = Field(default_factory=dict)
    domains: Domains = Field(default_factory=dict)
    strategy: Strategy = "auto"
    budget: Annotated[int | None, Field(ge=1, le=20_000_000, description="Configurations to look at.")] = None
    seconds: Annotated[
        float | None, Field(gt=0, le=7 * 86_400, allow_inf_nan=False, description="Stop after so long.")
    ] = None
    seed: Annotated[int, Field(ge=0, le=2**32 - 1)] = 0
    name: Annotated[str, StringConstraints(min_length=1, max_length=200)] | None = None


class RunFacts(Model):
    """A run in short. Times in microseconds; `best_us` is None while there is no legal configuration."""

    id: int
    name: str
    state: str
    message: str
    created_at: datetime
    finished_at: datetime | None
    workload: str
    platform: str
    rule_set: str
    pto_isa: str | None
    timing: str
    problem: dict[str, int | str]
    strategy: str
    objectives: list[str]
    seed: int
    n_candidates: int
    n_evaluated: int
    best_row: int | None
    best_cycles: int | None
    best_us: float | None


class RunList(Model):
    """Runs, the newest first. `total`: how many there are with these filters."""

    total: int
    offset: int
    limit: int
    next_offset: int | None
    runs: list[RunFacts]


class RunTunable(Model):
    """A tunable of a run and the values that it takes there."""

    name: str
    domain: list[int | str]


class RunDetail(RunFacts):
    """A run. `counts`: configurations by verdict and rule ("" where ok), once it has ended."""

    tunables: list[RunTunable]
    verdicts: list[str]
    rules: list[str]
    counts: dict[str, Any]
    clock_mhz: float
    launch_us: float
    platform_sha256: str
    versions: dict[str, str]


class RunProgress(Model):
    """How far a run is. `here`: whether this server sweeps it, so that it can be stopped through it."""

    run: int
    state: str
    message: str
    done: int
    total: int
    legal: Annotated[int | None, Field(description="Configurations with verdict ok so far; null: not known.")]
    best_us: float | None
    best_row: int | None
    here: bool


def facts(run: Run) -> dict[str, Any]:
    """The fields of `RunFacts`."""
    best_us = None if run.best_cycles is None else run.best_cycles / run.clock_mhz + run.launch_us
    return {
        "id": run.id,
        "name": run.name,
        "state": run.state,
        "message": run.message,
        "created_at": utc(run.created_at),
        "finished_at": None if run.finished_at is None else utc(run.finished_at),
        "workload": run.workload,
        "platform": run.platform,
        "rule_set": run.rule_set,
        "pto_isa": run.pto_isa,
        "timing": run.timing,
        "problem": run.problem,
        "strategy": run.strategy,
        "objectives": list(run.objectives),
        "seed": run.seed,
        "n_candidates": run.n_candidates,
        "n_evaluated": run.n_evaluated,
        "best_row": run.best_row,
        "best_cycles": run.best_cycles,
        "best_us": best_us,
    }


def detail(run: Run) -> RunDetail:
    """Everything about a run but its configurations."""
    return RunDetail(
        **facts(run),
        tunables=[RunTunable(name=t["name"], domain=list(t["domain"])) for t in run.tunables],
        verdicts=list(run.verdicts),
        rules=list(run.rules),
        counts=run.counts,
        clock_mhz=run.clock_mhz,
        launch_us=run.launch_us,
        platform_sha256=run.platform_sha256,
        versions=run.versions,
    )


def progress(run: Run, now: Progress | None, here: bool) -> RunProgress:
    """How far `run` is; `now` is what this server knows of it, which may be newer than what the store has."""
    own = facts(run)
    ok = run.counts.get("ok")
    legal = sum(ok.values()) if isinstance(ok, dict) else 0 if run.state != "running" and run.counts else None
    done, best_us, best_row = run.n_evaluated, own["best_us"], run.best_row
    if now is not None and (run.state == "running" or now.done > done):
        done, legal, best_us, best_row = max(now.done, done), now.legal, now.best_us, now.best_row
    return RunProgress(
        run=run.id,
        state=run.state,
        message=run.message,
        done=done,
        total=run.n_candidates,
        legal=legal,
        best_us=best_us,
        best_row=best_row,
        here=here,
    )
