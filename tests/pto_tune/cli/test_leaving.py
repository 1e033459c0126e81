"""Ctrl-C: once to stop behind the batch in hand, twice to leave even where a worker never comes back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import pto_tune
from pto_tune.cli import leaving

# The command line with small batches; from the third one on, a thread of the executor waits for ever.
PROGRAM = """
import sys, threading, time
from pto_tune.executor import engine
from pto_tune.search import driving, exhaustive

KIND = sys.argv.pop(1)
exhaustive.CHUNK_ROWS = exhaustive.FIRST_ROWS = 30
calls, original, told = [], engine.execute, driving._progress
def progress(tally, *rest):
    print("done", tally.done, file=sys.stderr, flush=True)
    return told(tally, *rest)
driving._progress = progress
def execute(*given, **options):
    calls.append(1)
    if len(calls) == 3:
        if KIND == "stays":
            threading.Thread(target=threading.Event().wait).start()
            print(KIND, file=sys.stderr, flush=True)
            time.sleep(600)
        if KIND == "hangs":
            from concurrent.futures import ThreadPoolExecutor
            with ThreadPoolExecutor(1) as pool:
                hung = pool.submit(threading.Event().wait)
                print(KIND, file=sys.stderr, flush=True)
                hung.result()
        print(KIND, file=sys.stderr, flush=True)
        time.sleep(2)
    return original(*given, **options)
from pto_tune import evaluation
evaluation.execute = execute
from pto_tune.cli.main import main
main()
"""


@contextmanager
def command(kind: str, url: str) -> Iterator[subprocess.Popen[str]]:
    words = ["tune", "stream", "--set", "tiles=16", "--db", url, "--name", "cut", "--quiet", "--json"]
    root = str(Path(pto_tune.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([root, *sys.path])}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, kind, *words],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as child:
        late = threading.Timer(240, child.kill)
        late.start()
        try:
            yield child
        finally:
            late.cancel()
            child.kill()


def until(child: subprocess.Popen[str], word: str) -> list[str]:
    assert child.stderr is not None
    lines: list[str] = []
    for line in child.stderr:
        lines.append(line.strip())
        if word in line:
            return lines
    raise AssertionError(f"{word!r} was never said: {lines}")


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'results.db'}"


def test_one_stops_behind_the_batch_in_hand_and_says_so(url: str) -> None:
    from db import open_store

    with command("slow", url) as child:
        until(child, "slow")
        child.send_signal(signal.SIGINT)
        said = until(child, "Ctrl-C once more")
        out, _ = child.communicate(timeout=240)
    assert said[-1] == f"pto-tune: {leaving.FIRST}"
    assert child.returncode == 130
    assert '"stopped": true' in out
    with open_store(url) as store:
        run = store.find_run("cut")
        assert (run.state, run.n_evaluated, store.max_row(run.id)) == ("stopped", 90, 89)


@pytest.mark.parametrize(("kind", "state"), [("hangs", "running"), ("stays", "stopped")])
def test_two_leave_although_a_worker_hangs_and_what_was_reported_is_there(url: str, kind: str, state: str) -> None:
    from db import open_store
    from pto_tune.tuning import tune

    with command(kind, url) as child:
        lines = until(child, kind)
        child.send_signal(signal.SIGINT)
        until(child, "Ctrl-C once more")
        time.sleep(0.5)  # nobody presses faster, and two that nobody has heard yet count as one
        pressed = time.monotonic()
        child.send_signal(signal.SIGINT)
        said = until(child, leaving.LEFT[:20])
        child.wait(240)
    assert time.monotonic() - pressed < leaving.GRACE_S + 100
    assert said[-1] == f"pto-tune: {leaving.LEFT}"
    assert child.returncode == 130
    assert lines[-2] == "done 60"
    with open_store(url) as store:
        run = store.find_run("cut")
        assert (run.state, run.n_evaluated, store.max_row(run.id)) == (state, 60, 59)
        rest = tune("stream", problem={"tiles": 16}, store=store, name="cut", reuse="continue", dead_after_s=0)
        assert rest.n_evaluated == 135
        assert rest.top == tune("stream", problem={"tiles": 16}).top


class TestTheWatcher:
    @pytest.fixture
    def ended(self, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
        """Set where the process would end."""
        gone = threading.Event()
        monkeypatch.setattr(leaving, "GRACE_S", 0.05)
        monkeypatch.setattr(leaving.os, "_exit", lambda _: gone.set())
        return gone

    @pytest.fixture
    def interrupts(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
        """Ctrl-C, which the main thread does not mind."""
        before = signal.signal(signal.SIGINT, lambda *_: None)
        monkeypatch.setattr(leaving.errors, "complain", lambda _: None)
        yield lambda: signal.raise_signal(signal.SIGINT)
        signal.signal(signal.SIGINT, before)

    def test_it_ends_the_process_after_two(self, ended: threading.Event, interrupts: Callable[[], None]) -> None:
        with leaving.two_interrupts():
            interrupts()
            assert not ended.wait(0.3)
            interrupts()
            assert ended.wait(10)

    def test_it_ends_the_process_too_where_the_search_ends_and_a_thread_does_not(
        self, ended: threading.Event, interrupts: Callable[[], None]
    ) -> None:
        with leaving.two_interrupts():
            interrupts()
            interrupts()
        assert ended.wait(10)

    def test_after_one_a_search_that_ends_is_left_alone(
        self, ended: threading.Event, interrupts: Callable[[], None]
    ) -> None:
        with leaving.two_interrupts():
            interrupts()
        assert not ended.wait(0.3)
        assert not [t for t in threading.enumerate() if t.name == "Ctrl-C"]

    def test_nothing_stays_behind(self, ended: threading.Event) -> None:
        before = signal.set_wakeup_fd(-1)
        assert before == -1
        with leaving.two_interrupts():
            pass
        assert signal.set_wakeup_fd(-1) == -1
        assert not ended.is_set()
