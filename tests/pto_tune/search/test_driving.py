"""Stopping between batches, by event, by time and by Ctrl-C."""

import signal
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from pto_tune.evaluation import Problem
from pto_tune.search.batches import Batch, evaluated
from pto_tune.search.driving import STOPPED, Progress, drive
from pto_tune.search.tally import Tally
from pto_tune.space import Space

TENS = range(0, 100, 10)


@pytest.fixture(scope="session")
def tens(problem: Problem, small: Space) -> list[Batch]:
    """A hundred rows in batches of ten."""
    return [next(evaluated(problem, small, np.arange(a, a + 10))) for a in TENS]


def test_all_batches_are_taken_and_told(problem: Problem, tens: list[Batch]) -> None:
    told: list[Progress] = []
    tally = Tally(5)
    assert drive(tens, tally, None, problem, 100, progress=told.append) == ""
    assert [p.done for p in told] == [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]
    assert {p.total for p in told} == {100}
    assert told[-1].legal == tally.legal > 0
    assert told[-1].best_row == tally.leaders.best["number"][0]
    cycles = int(tally.leaders.best["cycles"][0])
    assert told[-1].best_us == cycles / problem.clock_mhz + problem.launch_us


def test_an_event_stops_it_behind_the_batch_in_hand(problem: Problem, tens: list[Batch]) -> None:
    stop, tally = threading.Event(), Tally(5)

    def progress(p: Progress) -> None:
        if p.done == 30:
            stop.set()

    assert drive(tens, tally, None, problem, 100, progress=progress, stop=stop) == STOPPED
    assert tally.done == 30


def test_an_event_that_is_set_lets_nothing_start(problem: Problem, tens: list[Batch]) -> None:
    stop, tally = threading.Event(), Tally(5)
    stop.set()
    assert drive(tens, tally, None, problem, 100, stop=stop) == STOPPED
    assert tally.done == 0


def test_who_stops_what_is_complete_stops_nothing(problem: Problem, tens: list[Batch]) -> None:
    stop, tally = threading.Event(), Tally(5)

    def progress(p: Progress) -> None:
        if p.done == 100:
            stop.set()

    assert drive(tens, tally, None, problem, 100, progress=progress, stop=stop) == ""


def test_time_ends_it_after_one_batch_at_least(problem: Problem, tens: list[Batch]) -> None:
    def slow() -> Iterator[Batch]:
        for batch in tens:
            time.sleep(0.01)
            yield batch

    tally = Tally(5)
    assert drive(slow(), tally, None, problem, 100, seconds=0.001) == "stopped after 0.001 s"
    assert tally.done == 10


def test_the_first_interrupt_finishes_the_batch_in_hand(problem: Problem, tens: list[Batch]) -> None:
    def interrupted() -> Iterator[Batch]:
        for i, batch in enumerate(tens):
            if i == 2:
                signal.raise_signal(signal.SIGINT)
            yield batch

    before, tally = signal.getsignal(signal.SIGINT), Tally(5)
    assert drive(interrupted(), tally, None, problem, 100) == STOPPED
    assert tally.done == 30
    assert signal.getsignal(signal.SIGINT) is before


def test_the_second_interrupt_raises_at_once(problem: Problem, tens: list[Batch]) -> None:
    def interrupted() -> Iterator[Batch]:
        yield tens[0]
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)
        yield tens[1]

    before, tally = signal.getsignal(signal.SIGINT), Tally(5)
    with pytest.raises(KeyboardInterrupt):
        drive(interrupted(), tally, None, problem, 100)
    assert tally.done == 10
    assert signal.getsignal(signal.SIGINT) is before


def test_an_interrupt_out_of_progress_keeps_the_batch(problem: Problem, tens: list[Batch]) -> None:
    def progress(p: Progress) -> None:
        if p.done == 20:
            raise KeyboardInterrupt

    tally = Tally(5)
    assert drive(tens, tally, None, problem, 100, progress=progress) == STOPPED
    assert tally.done == 20


def test_another_handler_of_interrupts_is_left_alone(problem: Problem, tens: list[Batch]) -> None:
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:

        def batches() -> Iterator[Batch]:
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
            yield from tens

        assert drive(batches(), Tally(5), None, problem, 100) == ""
    finally:
        signal.signal(signal.SIGINT, before)


def test_it_runs_in_other_threads(problem: Problem, tens: list[Batch]) -> None:
    reasons: list[str] = []
    thread = threading.Thread(target=lambda: reasons.append(drive(tens, Tally(5), None, problem, 100)))
    thread.start()
    thread.join()
    assert reasons == [""]
