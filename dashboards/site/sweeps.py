"""Sweeps that were started from a page or the API: each a thread of this process, with its progress."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from db import Run, Store
    from pto_tune.search.driving import Progress

MOST_AT_ONCE = 2
"""Sweeps at the same time."""

MOST_CANDIDATES = 20_000_000
"""Configurations that one sweep may look at."""

_STARTING_S = 120.0


class SweepError(ValueError):
    """A sweep that cannot be started or stopped, in one sentence a line."""


@dataclass(frozen=True)
class Wish:
    """What to sweep: a built-in workload and platform, sizes and domains by name, and how."""

    workload: str
    platform: str
    problem: Mapping[str, int | str] = field(default_factory=dict)
    domains: Mapping[str, Sequence[int | str]] = field(default_factory=dict)
    pto_isa: str | None = None
    timing: str = "task"
    strategy: str = "auto"
    budget: int | None = None
    seconds: float | None = None
    seed: int = 0
    name: str | None = None


@dataclass
class _Sweep:
    stop: threading.Event = field(default_factory=threading.Event)
    created: threading.Event = field(default_factory=threading.Event)
    run: Run | None = None
    progress: Progress | None = None
    error: str = ""
    thread: threading.Thread | None = None

    @property
    def alive(self) -> bool:
        return self.thread is not None and self.thread.is_alive()


class Sweeps:
    """The sweeps of this process. Threads may share it."""

    def __init__(self, store: Store, allowed: bool) -> None:
        self._store = store
        self.allowed = allowed
        self._lock = threading.Lock()
        self._sweeps: list[_Sweep] = []

    def start(self, wish: Wish) -> Run:
        """Start a sweep and return its run, which is in the store already.

        Errors: SweepError where sweeps are not allowed, too many run or the space is too large; whatever `tune` raises
        (ValueError) where the wish is wrong.
        """
        if not self.allowed:
            raise SweepError("this server only reads: start it with --allow-runs to start sweeps from it")
        check_size(wish)
        sweep = _Sweep()
        with self._lock:
            self._sweeps = [s for s in self._sweeps if s.alive or s.run is not None][-200:]
            if sum(s.alive for s in self._sweeps) >= MOST_AT_ONCE:
                raise SweepError(f"{MOST_AT_ONCE} sweeps run already: wait for one to end, or stop it")
            sweep.thread = threading.Thread(target=self._work, args=(sweep, wish), name="sweep", daemon=True)
            self._sweeps.append(sweep)
            sweep.thread.start()
        sweep.created.wait(_STARTING_S)
        if sweep.run is None:
            raise SweepError(sweep.error or "the sweep has not started: see the server's messages")
        return sweep.run

    def _work(self, sweep: _Sweep, wish: Wish) -> None:
        from pto_tune.tuning import tune

        def created(run: Run) -> None:
            sweep.run = run
            sweep.created.set()

        def progress(now: Progress) -> None:
            sweep.progress = now

        try:
            tune(
                wish.workload,
                platform=wish.platform,
                pto_isa=wish.pto_isa,
                timing=wish.timing,
                problem=wish.problem,
                domains=wish.domains,
                strategy=wish.strategy,
                budget=wish.budget,
                seconds=wish.seconds,
                seed=wish.seed,
                name=wish.name,
                store=self._store,
                progress=progress,
                stop=sweep.stop,
                created=created,
            )
        except Exception as error:  # a thread has nobody to raise to; the run itself is ended by `tune`
            sweep.error = str(error) if isinstance(error, ValueError) else f"the sweep failed: {error!r}"
        finally:
            sweep.created.set()

    def progress(self, run_id: int) -> Progress | None:
        """How far a sweep of this process is, None for runs of others."""
        sweep = self._find(run_id)
        return None if sweep is None else sweep.progress

    def running_here(self, run_id: int) -> bool:
        """Whether this process is sweeping the run, so that `stop` can end it."""
        sweep = self._find(run_id)
        return sweep is not None and sweep.alive

    def stop(self, run_id: int) -> None:
        """End a sweep after the batch in hand; what it has stays. Errors: SweepError where it is not running here."""
        if not self.allowed:
            raise SweepError("this server only reads: start it with --allow-runs to stop sweeps from it")
        sweep = self._find(run_id)
        if sweep is None or not sweep.alive:
            raise SweepError(f"run {run_id} is not running in this server, so it cannot be stopped from here")
        sweep.stop.set()

    def wait(self, run_id: int, seconds: float) -> bool:
        """Wait for a sweep to end; False where it has not by then."""
        sweep = self._find(run_id)
        if sweep is not None and sweep.thread is not None:
            sweep.thread.join(seconds)
        return not self.running_here(run_id)

    def close(self, seconds: float = 30.0) -> None:
        """Stop all sweeps and wait for them."""
        with self._lock:
            alive = [s for s in self._sweeps if s.alive]
        for sweep in alive:
            sweep.stop.set()
        for sweep in alive:
            assert sweep.thread is not None
            sweep.thread.join(seconds)

    def _find(self, run_id: int) -> _Sweep | None:
        with self._lock:
            return next((s for s in reversed(self._sweeps) if s.run is not None and s.run.id == run_id), None)


def check_size(wish: Wish) -> None:
    """Refuse what would take the server too long; legal configurations count, where they are counted within COUNT_S.
    Errors: SweepError, and those of `space`."""
    from pto_tune.space import space
    from pto_tune.workloads import workload

    model = workload(wish.workload)
    found = space(model, wish.problem, wish.domains)
    looked_at = min(found.size, wish.budget or found.size)
    if wish.strategy not in ("exhaustive", "bounds") or looked_at <= MOST_CANDIDATES:
        return  # the others end by themselves, or at their budget
    from cost_models.platform import load_platform
    from pto_tune.evaluation import Problem
    from pto_tune.search.exhaustive import COUNT_S
    from pto_tune.spaces.legal import LegalError, LegalSpace
    from pto_tune.spaces.tables import TimeOver

    try:
        problem = Problem.of(model, load_platform(wish.platform), wish.pto_isa, wish.timing)
        legal = LegalSpace.of(problem, found, seconds=COUNT_S).candidates
        kind = "legal configurations"
    except (TimeOver, LegalError):
        legal, kind = found.size, "configurations"
    if min(legal, wish.budget or legal) > MOST_CANDIDATES:
        raise SweepError(
            f"the space has {legal:,} {kind}, and a server looks at no more than {MOST_CANDIDATES:,}: "
            "leave values out, or give a budget"
        )
