"""Tune: search the space of a workload for the best configurations, and keep what was found."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from db.records import DEAD_AFTER_S
from pto_tune.search.driving import Progress
from pto_tune.search.result import TuneResult
from pto_tune.search.session import Search
from pto_tune.search.strategies import SearchError

if TYPE_CHECKING:
    import threading

    from cost_models.platform import Platform
    from db import Run, Store
    from pto_tune.model.nodes import Workload

_log = logging.getLogger(__name__)

__all__ = ["Progress", "SearchError", "TuneResult", "resume", "tune"]

Values = Sequence[int | str] | int | str


def tune(
    workload: str | Workload,
    *,
    platform: str | Path | Platform | None = None,
    pto_isa: str | None = None,
    timing: str = "task",
    problem: Mapping[str, int | str] | None = None,
    domains: Mapping[str, Values] | None = None,
    strategy: str = "auto",
    objectives: Sequence[str] = ("time",),
    budget: int | None = None,
    seconds: float | None = None,
    seed: int = 0,
    store: str | Store | None = None,
    name: str | None = None,
    progress: Callable[[Progress], object] | None = None,
    stop: threading.Event | None = None,
    top: int = 20,
    reuse: bool | Literal["never", "finished", "continue"] = "never",
    dead_after_s: float = DEAD_AFTER_S,
    created: Callable[[Run], object] | None = None,
    scheduler: str | None = None,
    warm_start: str = "none",
) -> TuneResult:
    """Search for the fastest configurations of a workload.

    Args:
        workload: a built-in workload's name, or a workload.
        platform: a platform's name, the path of its file, or a platform; None: ascend950pr for a workload of family a5,
            else ascend910b2.
        problem, domains: problem sizes, and values to try for tunables instead of their default domains.
        strategy: see `search.strategies.make_plan`. An exhaustive search of more than EXHAUSTIVE_LIMIT candidates goes
            through those alone that no static rule refuses; the others are counted by rule and not stored.
        objectives: ("time",) or ("time", "memory"); the Pareto front of both is found either way.
        budget: configurations to look at, refused ones included.
        seconds: the search ends with the batch in which this time is over. Its run can then be resumed.
        seed: same seed, same versions, same configurations in the same order.
        store: where the run is kept as it goes: a database URL or an open store. None keeps nothing.
        progress: called after every batch.
        stop: set it to end the search after the batch in hand. Ctrl-C does the same; a second Ctrl-C raises
            KeyboardInterrupt at once, and what was stored stays.
        top: how many of the best configurations the result lists and the store has stall accounts of.
        reuse: what becomes of a run of exactly this search that the store has. "never" (False): nothing, a new run
            is made; "finished" (True): it answers where it is done; "continue": it answers where it is done, and
            otherwise the search goes on where it ended, with the same result as in one go. A run that was made when
            another pto-tune, other numbers of the platform or another workload stood behind the same names is not
            taken: a new one is made, and `TuneResult.origin` says what has changed. With `name`, only the run of that
            name counts, and an outdated one gives its name to the new one. An exhaustive search goes on behind its
            last stored row. A sampled one proposes again from its seed; what the store has of it is not executed or
            stored again.
        dead_after_s: with "continue", a run that is running is taken over once its last sign of life is so many
            seconds old, by the database's clock. Its writer, should it live, is refused from then on.
        created: called with the run as soon as the store has it, a new one or one that goes on.
        scheduler: address of a Dask scheduler ("tcp://host:8786") on whose workers an exhaustive search runs; the
            results are the same. It has to be trusted: see `search.distributed`.
        warm_start: what a sampled search looks at first: "none", "auto" (the best of the newest runs of this workload
            in the store, whatever their sizes and platforms), or a run of it by number, name or "latest". An exhaustive
            search is the same either way. The same contents of the store give the same search.

    Raises:
        ValueError: (SearchError, TableError, PlatformError, StoreError ...) with everything that is wrong. A
        store
            that fails during the search leaves the batches that it has.
    """
    from pto_tune.evaluation import Problem
    from pto_tune.search.earlier import REUSES
    from pto_tune.search.exhaustive import plan_for
    from pto_tune.space import space
    from pto_tune.workloads import default_platform
    from pto_tune.workloads import workload as built_in

    started = time.monotonic()
    _check_top(top)
    if isinstance(reuse, bool):
        reuse = "finished" if reuse else "never"
    if reuse not in REUSES:
        raise SearchError(f"reuse = {reuse!r}: choose one of {', '.join(REUSES)}")
    model = built_in(workload) if isinstance(workload, str) else workload
    chip = _platform(default_platform(model) if platform is None else platform)
    what = Problem.of(model, chip, pto_isa, timing)
    found = space(what.workload, problem, domains)
    plan, legal = plan_for(what, found, strategy, objectives, budget, seconds, seed)
    _log.info(
        "%s on %s, rule set %s: %d of %d configurations by %s, seed %d",
        what.workload.name, what.platform.name, what.rule_set.name, plan.budget, found.size, plan.strategy, plan.seed,
    )  # fmt: skip
    go = Search(what, found, plan, legal, top, started, seconds, progress, stop, scheduler, created)
    with _opened(store) as opened:
        if opened is None:
            if warm_start != "none":
                raise SearchError(f"warm_start = {warm_start!r} takes runs of a store, and there is none: give a store")
            return go.without_store()
        from pto_tune.search.earlier import CONTINUE, NEVER, earlier
        from pto_tune.search.restoring import OutdatedError
        from pto_tune.search.spec import run_spec

        started_from: dict[str, str] = {}
        if warm_start != "none":
            from pto_tune.search.warm import taken_up, warmed
            from pto_tune.spaces.legal import LegalSpace

            if reuse != NEVER:
                plan, started_from = taken_up(plan, opened, what, found, warm_start)
            if not plan.warm:
                plan, started_from = warmed(plan, opened, found, LegalSpace.of(what, found), warm_start)
            go = replace(go, plan=plan)
        spec = run_spec(what, found, plan, name, started_from)
        if reuse == NEVER:
            return go.anew(opened, spec)
        before = earlier(opened, spec, what, found, plan)
        if before.same is not None and (before.same.state == "done" or reuse == CONTINUE):
            try:
                return go.on(opened, before.same, dead_after_s)
            except OutdatedError as error:
                return go.anew(opened, spec, before.same, str(error))
        return go.anew(opened, spec, before.outdated, before.changed)


def resume(
    store: str | Store,
    ref: str | int,
    *,
    progress: Callable[[Progress], object] | None = None,
    stop: threading.Event | None = None,
    top: int = 20,
    platform: str | Path | Platform | None = None,
    workload: Workload | None = None,
    scheduler: str | None = None,
    dead_after_s: float = DEAD_AFTER_S,
) -> TuneResult:
    """Go on with an interrupted run behind its last stored row; a finished one is answered from the store. The result
    is that of an uninterrupted search. A sampled run proposes again from its seed up to there.

    Args:
        ref: the run's number, its name, or "latest".
        platform, workload: the run's own where they are not built in.
        scheduler: as for `tune`; the run may have been made with or without one.
        dead_after_s: as for `tune`.

    Raises:
        SearchError: version, platform, workload or rules are not those of the run any more, or what the store has of
            it is not what would be found now. StoreError: unknown run, or somebody is still writing it.
    """
    from pto_tune.search.exhaustive import legal_of
    from pto_tune.search.restoring import same_search

    started = time.monotonic()
    _check_top(top)
    with _opened(store) as opened:
        assert opened is not None
        run = opened.find_run(ref)
        what, found, plan = same_search(run, workload, None if platform is None else _platform(platform))
        legal = legal_of(what, found, plan)
        go = Search(what, found, plan, legal, top, started, None, progress, stop, scheduler)
        return go.on(opened, run, dead_after_s)


def _check_top(top: int) -> None:
    if not isinstance(top, int) or isinstance(top, bool) or top < 1:
        raise SearchError(f"top = {top!r}: expected a number of configurations, 1 or more")


def _platform(given: str | Path | Platform) -> Platform:
    from cost_models.platform import Platform, load_platform

    return given if isinstance(given, Platform) else load_platform(given)


@contextmanager
def _opened(store: str | Store | None) -> Iterator[Store | None]:
    """The store; one that is opened here is closed here."""
    if not isinstance(store, str):
        yield store
        return
    from db import open_store

    with open_store(store) as opened:
        yield opened
