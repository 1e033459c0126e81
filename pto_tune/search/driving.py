"""Driving a search: batch after batch into tally and store, until it is done or somebody stops it."""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pto_tune.evaluation import Problem
    from pto_tune.search.batches import Batch
    from pto_tune.search.record import Recorder
    from pto_tune.search.tally import Tally

_log = logging.getLogger(__name__)

STOPPED = "stopped on request"
"""Reason of a search that `stop` or Ctrl-C ended."""


@dataclass(frozen=True)
class Progress:
    """How far a search is: configurations looked at, to look at, and legal among them; the best time in
    microseconds and the number of that configuration in the run (None while there is none)."""

    done: int
    total: int
    legal: int
    best_us: float | None
    best_row: int | None


def drive(
    batches: Iterable[Batch],
    tally: Tally,
    recorder: Recorder | None,
    problem: Problem,
    total: int,
    *,
    seconds: float | None = None,
    progress: Callable[[Progress], object] | None = None,
    stop: threading.Event | None = None,
) -> str:
    """Take batches until there are no more. Returns "" then, or why it stopped before.

    `stop`, the first Ctrl-C and the time (after one batch at least) act between batches: the batch in hand is
    finished and kept. A second Ctrl-C raises KeyboardInterrupt at once.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    source = iter(batches)
    first = True
    with _first_interrupt() as interrupted:
        while True:
            if tally.done < total:
                if interrupted.is_set() or (stop is not None and stop.is_set()):
                    return STOPPED
                if deadline is not None and not first and time.monotonic() >= deadline:
                    return f"stopped after {seconds:g} s"
            try:
                batch = next(source, None)
                if batch is None:
                    return ""
                if recorder is not None:
                    recorder.add(tally.done, batch)
                tally.add(batch)
                _log.debug("%d of %d looked at, %d ok", tally.done, total, tally.legal)
                first = False
                if progress is not None:
                    progress(_progress(tally, problem, total))
            except KeyboardInterrupt:
                if interrupted.is_set():  # the second one
                    raise
                return STOPPED if tally.done < total else ""


def _progress(tally: Tally, problem: Problem, total: int) -> Progress:
    best = tally.leaders.best
    if not best:
        return Progress(tally.done, total, tally.legal, None, None)
    best_us = float(best["cycles"][0]) / problem.clock_mhz + problem.launch_us
    return Progress(tally.done, total, tally.legal, best_us, int(best["number"][0]))


@contextmanager
def _first_interrupt() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C sets instead of raising; the next one raises.

    Only in the main thread and where Python's own handler is in place: what a program has put there stays.
    """
    seen = threading.Event()

    def handler(number: int, frame: Any) -> None:
        if seen.is_set():
            signal.default_int_handler(number, frame)
        seen.set()

    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield seen
        return
    signal.signal(signal.SIGINT, handler)
    try:
        yield seen
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
