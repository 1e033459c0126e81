"""Tune: search the space of a workload for the best configurations, and keep what was found."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pto_tune.search.driving import STOPPED, Progress, drive
from pto_tune.search.result import TuneResult
from pto_tune.search.strategies import Plan, SearchError, make_plan

if TYPE_CHECKING:
    import threading

    from cost_models.platform import Platform
    from db import Run, Store
    from pto_tune.evaluation import Problem
    from pto_tune.model.nodes import Workload
    from pto_tune.search.batches import Batch
    from pto_tune.search.record import Recorder
    from pto_tune.search.tally import Tally
    from pto_tune.space import Space

_log = logging.getLogger(__name__)

__all__ = ["Progress", "SearchError", "TuneResult", "resume", "tune"]

Values = Sequence[int | str] | int | str


def tune(
    workload: str | Workload,
    *,
    platform: str | Path | Platform = "ascend910b2",
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
    reuse: bool = False,
    created: Callable[[Run], object] | None = None,
) -> TuneResult:
    """Search for the fastest configurations of a workload.

    Args:
        workload: a built-in workload's name, or a workload.
        platform: a platform's name, the path of its file, or a platform.
        problem, domains: problem sizes, and values to try for tunables instead of their default domains.
        strategy: see `search.strategies.make_plan`.
        objectives: ("time",) or ("time", "memory"); the Pareto front of both is found either way.
        budget: configurations to look at, refused ones included.
        seconds: the search ends with the batch in which this time is over. Its run can then be resumed.
        seed: same seed, same versions, same configurations in the same order.
        store: where the run is kept as it goes: a database URL or an open store. None keeps nothing.
        progress: called after every batch.
        stop: set it to end the search after the batch in hand. Ctrl-C does the same; a second Ctrl-C raises
            KeyboardInterrupt at once, and what was stored stays.
        top: how many of the best configurations the result lists and the store has stall accounts of.
        reuse: answer from a finished run of exactly this search where the store has one.
        created: called with the new run as soon as the store has it.

    Raises:
        ValueError: (SearchError, TableError, PlatformError, StoreError ...) with everything that is wrong. A
        store
            that fails during the search leaves the batches that it has.
    """
    from pto_tune.evaluation import Problem
    from pto_tune.space import space
    from pto_tune.workloads import workload as built_in

    started = time.monotonic()
    _check_top(top)
    what = Problem.of(
        built_in(workload) if isinstance(workload, str) else workload, _platform(platform), pto_isa, timing
    )
    found = space(what.workload, problem, domains)
    plan = make_plan(found.size, strategy, objectives, budget, seconds, seed)
    _log.info(
        "%s on %s, rule set %s: %d of %d configurations by %s, seed %d",
        what.workload.name, what.platform.name, what.rule_set.name, plan.budget, found.size, plan.strategy, plan.seed,
    )  # fmt: skip
    with _opened(store) as opened:
        if opened is None:
            session = _Session(what, found, plan, top, started)
            return session.run(seconds, progress, stop)
        from pto_tune.search.record import Recorder
        from pto_tune.search.spec import run_spec

        spec = run_spec(what, found, plan, name)
        if reuse:
            for run in opened.find_spec(spec.spec_sha256):
                if run.state == "done":
                    return _answer(opened, run, what, found, plan, top, started)
        run = opened.create_run(spec)
        _log.info("kept as run %d, %s", run.id, run.name)
        if created is not None:
            created(run)
        recorder = Recorder(opened, run, what, found)
        return _Session(what, found, plan, top, started, recorder).run(seconds, progress, stop)


def resume(
    store: str | Store,
    ref: str | int,
    *,
    progress: Callable[[Progress], object] | None = None,
    stop: threading.Event | None = None,
    top: int = 20,
    platform: str | Path | Platform | None = None,
    workload: Workload | None = None,
) -> TuneResult:
    """Go on with an interrupted exhaustive run behind its last stored row; a finished run of any strategy is
    answered from the store. The result is that of an uninterrupted search.

    Args:
        ref: the run's number, its name, or "latest".
        platform, workload: the run's own where they are not built in.

    Raises:
        SearchError: version, platform, workload or rules are not those of the run any more; it was sampled (a
        sampler's
            state is not kept). StoreError: unknown run, or somebody is still writing it.
    """
    from pto_tune.search.record import Recorder
    from pto_tune.search.restoring import restore, same_search

    started = time.monotonic()
    _check_top(top)
    with _opened(store) as opened:
        assert opened is not None
        run = opened.find_run(ref)
        what, found, plan = same_search(run, workload, None if platform is None else _platform(platform))
        if run.state == "done":
            return _answer(opened, run, what, found, plan, top, started)
        if plan.strategy != "exhaustive":
            raise SearchError(
                f"run {run.id} ({run.name}) was searched by {plan.strategy!r}, and only an exhaustive run "
                f"can be resumed: tune again with seed {run.seed}, which gives the same configurations"
            )
        recorder = Recorder(opened, opened.resume_run(run.id), what, found)
        session = _Session(what, found, plan, top, started, recorder)
        with session.ending():
            session.tally = restore(opened, run, what, found, top)
        return session.run(None, progress, stop)


class _Session:
    """One search from here to its end, with its run in the store if there is one."""

    def __init__(
        self,
        problem: Problem,
        space: Space,
        plan: Plan,
        top: int,
        started: float,
        recorder: Recorder | None = None,
    ) -> None:
        from pto_tune.search.tally import Tally

        self._problem, self._space, self._plan = problem, space, plan
        self._started, self._recorder = started, recorder
        self.tally = Tally(top)

    def run(
        self,
        seconds: float | None,
        progress: Callable[[Progress], object] | None,
        stop: threading.Event | None,
    ) -> TuneResult:
        """Search, then end the run: done, or stopped where stop, Ctrl-C or the time came first."""
        run = None
        with self.ending():
            batches, says = self._batches()
            reason = drive(
                batches,
                self.tally,
                self._recorder,
                self._problem,
                self._plan.budget,
                seconds=seconds,
                progress=progress,
                stop=stop,
            )
            message = says()
            if reason:
                message = f"{reason}, with {self.tally.done} of {self._plan.budget} configurations looked at"
            if self._recorder is not None:
                run = self._recorder.finish(self.tally, "stopped" if reason else "done", message)
        return _result(run, self._problem, self._space, self._plan, self.tally, self._started, reason, message)

    def _batches(self) -> tuple[Iterable[Batch], Callable[[], str]]:
        """The batches that are left, and what there is to say after them."""
        size, budget = self._space.size, self._plan.budget
        if self._plan.strategy == "exhaustive":
            from pto_tune.search.exhaustive import exhaustive

            note = f"looked at the first {budget} of {size} configurations, as the budget says" if budget < size else ""
            return exhaustive(self._problem, self._space, self.tally.done, budget), lambda: note
        from pto_tune.search.sampled import SampledSearch

        search = SampledSearch(self._problem, self._space, self._plan)
        return search, lambda: search.message

    @contextmanager
    def ending(self) -> Iterator[None]:
        """End the run in the store where something goes wrong, and say what is kept."""
        from db.errors import StoreError

        try:
            yield
        except BaseException as error:
            if self._recorder is None:
                raise
            interrupted = isinstance(error, KeyboardInterrupt)
            told = "interrupted" if interrupted else (str(error).partition("\n")[0] or type(error).__name__)
            self._recorder.give_up(self.tally, "stopped" if interrupted else "failed", told)
            if isinstance(error, StoreError):
                kept = self._recorder.run
                raise SearchError(
                    f"run {kept.id} ({kept.name}) ended, {self._recorder.kept} of its {self._plan.budget} "
                    f"configurations are kept: {error}"
                ) from error
            raise


def _answer(store: Store, run: Run, problem: Problem, space: Space, plan: Plan, top: int, started: float) -> TuneResult:
    """The result of a finished run, from the store."""
    from pto_tune.search.restoring import restore

    tally = restore(store, run, problem, space, top)
    return _result(run, problem, space, plan, tally, started, "", run.message)


def _result(
    run: Run | None,
    problem: Problem,
    space: Space,
    plan: Plan,
    tally: Tally,
    started: float,
    reason: str,
    message: str,
) -> TuneResult:
    return TuneResult(
        run=run,
        space=space,
        problem=problem,
        strategy=plan.strategy,
        n_candidates=plan.budget,
        n_evaluated=tally.done,
        counts=tally.counts,
        seconds=time.monotonic() - started,
        stopped=reason == STOPPED,
        message=message,
        _leaders=tally.leaders,
    )


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
