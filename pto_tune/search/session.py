"""One search from here to its end: without a store, in a new run, or in one that is there."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pto_tune.search.driving import STOPPED, Progress, drive
from pto_tune.search.heartbeat import beating
from pto_tune.search.result import TuneResult
from pto_tune.search.strategies import Plan, SearchError

if TYPE_CHECKING:
    import threading

    from db import Run, RunSpec, Store
    from pto_tune.evaluation import Problem
    from pto_tune.search.batches import Batch
    from pto_tune.search.distributed import Sweep
    from pto_tune.search.record import Recorder
    from pto_tune.search.replaying import Replay
    from pto_tune.search.tally import Tally
    from pto_tune.space import Space
    from pto_tune.spaces.legal import LegalSpace


_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Search:
    """A search that is asked for, and the three ways to its result: without a store, in a new run, in one that is
    there."""

    problem: Problem
    space: Space
    plan: Plan
    legal: LegalSpace | None
    top: int
    started: float
    seconds: float | None
    progress: Callable[[Progress], object] | None
    stop: threading.Event | None
    scheduler: str | None
    created: Callable[[Run], object] | None = None

    def without_store(self) -> TuneResult:
        """Search and keep nothing."""
        with self._shared_out() as sweep:
            return self._session(sweep).run(self.seconds, self.progress, self.stop)

    def anew(self, store: Store, spec: RunSpec, outdated: Run | None = None, why: str = "") -> TuneResult:
        """Search in a new run; `outdated`: the one that it takes the place of, and its name where it is asked for."""
        from pto_tune.search.record import Recorder

        origin = "" if outdated is None else f"started anew instead of run {outdated.id} ({outdated.name}): {why}"
        with self._shared_out() as sweep:
            if outdated is not None and outdated.name == spec.name:
                renamed = store.rename_run(outdated.id, _former_name(outdated))
                origin += f"; run {outdated.id} is now named {renamed.name!r}"
            run = store.create_run(spec)
            _log.info("kept as run %d, %s", run.id, run.name)
            if self.created is not None:
                self.created(run)
            recorder = Recorder(store, run, self.problem, self.space)
            with beating(store, run):
                return self._session(sweep, recorder, origin).run(self.seconds, self.progress, self.stop)

    def on(self, store: Store, run: Run, dead_after_s: float) -> TuneResult:
        """Answer from a run that is done; go on with any other."""
        from pto_tune.search.record import Recorder
        from pto_tune.search.restoring import restore

        def restored() -> Tally:
            return restore(store, run, self.problem, self.space, self.top, self.legal)

        if run.state == "done":
            origin = f"answered from run {run.id} ({run.name}), which is done"
            _log.info("%s", origin)
            return self._session(None, origin=origin).answer(run, restored())
        with self._shared_out() as sweep:
            run = store.resume_run(run.id, dead_after_s)
            if self.created is not None:
                self.created(run)
            recorder = Recorder(store, run, self.problem, self.space)
            session = self._session(sweep, recorder)
            with beating(store, run):
                with session.ending():
                    session.tally = restored()
                    recorder.kept = session.tally.done
                    session.origin = f"went on with run {run.id} ({run.name}) behind its first {recorder.kept:,} rows"
                    if self.plan.strategy != "exhaustive":
                        from pto_tune.search.replaying import Replay

                        session.replay = Replay(store, run, self.problem, self.space)
                return session.run(self.seconds, self.progress, self.stop)

    def _shared_out(self) -> AbstractContextManager[Sweep | None]:
        from pto_tune.search.distributed import shared_out

        return shared_out(self.scheduler, self.problem, self.space, self.plan, self.legal)

    def _session(self, sweep: Sweep | None, recorder: Recorder | None = None, origin: str = "") -> _Session:
        return _Session(
            self.problem, self.space, self.plan, self.top, self.started, recorder, self.legal, sweep, origin
        )


def _former_name(run: Run) -> str:
    from db.names import LONGEST_NAME

    ending = f" (run {run.id})"
    return run.name[: LONGEST_NAME - len(ending)] + ending


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
        legal: LegalSpace | None = None,
        sweep: Sweep | None = None,
        origin: str = "",
    ) -> None:
        from pto_tune.search.tally import Tally

        self._problem, self._space, self._plan = problem, space, plan
        self._started, self._recorder, self._legal, self._sweep = started, recorder, legal, sweep
        self.origin = origin
        self.replay: Replay | None = None
        self.tally = Tally(top)
        if legal is not None:
            from pto_tune.search.exhaustive import count_refused

            count_refused(self.tally, legal)

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
                from pto_tune.search.warm import sentence

                message = "; ".join(filter(None, (sentence(self._recorder.run.versions), message)))
                run = self._recorder.finish(self.tally, "stopped" if reason else "done", message)
        return self._result(run, reason, message)

    def answer(self, run: Run, tally: Tally) -> TuneResult:
        """The result of a finished run, from what the store has of it."""
        self.tally = tally
        return self._result(run, "", run.message)

    def _batches(self) -> tuple[Iterable[Batch], Callable[[], str]]:
        """The batches that are left, and what there is to say after them."""
        size, budget = self._space.size, self._plan.budget
        if self._plan.strategy == "exhaustive":
            from pto_tune.search.exhaustive import exhaustive

            legal = self._legal
            kind, most = ("configurations", size) if legal is None else ("legal configurations", legal.candidates)
            note = f"looked at the first {budget} of {most} {kind}, as the budget says" if budget < most else ""
            if legal is not None:
                passed = f"passed over {size - most:,} of {size:,} configurations, which static rules refuse"
                note = f"{note}; {passed}" if note else passed
            if self._sweep is not None:
                return self._sweep(self.tally.done, budget), lambda: note
            return exhaustive(self._problem, self._space, self.tally.done, budget, legal), lambda: note
        from pto_tune.search.sampled import SampledSearch

        search = SampledSearch(self._problem, self._space, self._plan, self.replay)
        return search, lambda: search.message

    def _result(self, run: Run | None, reason: str, message: str) -> TuneResult:
        return TuneResult(
            run=run,
            space=self._space,
            problem=self._problem,
            strategy=self._plan.strategy,
            n_candidates=self._plan.budget,
            n_evaluated=self.tally.done,
            counts=self.tally.counts,
            seconds=time.monotonic() - self._started,
            stopped=reason == STOPPED,
            message=message,
            origin=self.origin,
            _leaders=self.tally.leaders,
        )

    @contextmanager
    def ending(self) -> Iterator[None]:
        """End the run in the store where something goes wrong, and say what is kept."""
        from db.errors import StoreError, TakenOverError

        try:
            yield
        except BaseException as error:
            if self._recorder is None:
                raise
            interrupted = isinstance(error, KeyboardInterrupt)
            told = "interrupted" if interrupted else (str(error).partition("\n")[0] or type(error).__name__)
            self._recorder.give_up(self.tally, "stopped" if interrupted else "failed", told)
            if isinstance(error, TakenOverError):
                raise SearchError(str(error)) from error
            if isinstance(error, StoreError):
                kept = self._recorder.run
                raise SearchError(
                    f"run {kept.id} ({kept.name}) ended, {self._recorder.kept} of its {self._plan.budget} "
                    f"configurations are kept: {error}"
                ) from error
            raise
