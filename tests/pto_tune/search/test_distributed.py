"""A sweep on a real scheduler with worker processes of its own: what it finds, and what becomes of failures.

Everything runs on ports of the loopback device that the system chooses.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pto_tune
from db import open_store
from pto_tune.search import distributed as shared
from pto_tune.search import shards
from pto_tune.search.strategies import SearchError
from pto_tune.tuning import Progress, TuneResult, resume, tune

dask = pytest.importorskip("distributed", reason="the extra 'distributed' is not installed")

START_S = 60.0
SPACE: dict[str, Any] = {
    "problem": {"direction": "V2C", "slot_bytes": 2**15, "tiles": 24, "producer_cycles": 100, "consumer_cycles": 150},
    "strategy": "exhaustive",
}


class Cluster:
    """A scheduler and workers with one thread each, as processes."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._started: list[subprocess.Popen[bytes]] = []
        self.workers: list[subprocess.Popen[bytes]] = []
        written = folder / "scheduler.json"
        self.scheduler = self._start(
            "dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(written)
        )
        # between the file and its whole content there is a moment
        self.wait(lambda: written.exists() and written.read_text("utf-8").rstrip().endswith("}"))
        self.address: str = json.loads(written.read_text("utf-8"))["address"]

    def _start(self, module: str, *options: str) -> subprocess.Popen[bytes]:
        root = str(Path(pto_tune.__file__).parent.parent)
        paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
        with (self._folder / f"{module}-{len(self._started)}.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{module}", "--no-dashboard", *options],
                stdout=log,
                stderr=log,
                cwd=self._folder,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
            )
        self._started.append(process)
        return process

    def wait(self, true: Callable[[], bool]) -> None:
        """Until something is true; fails where it does not come true, or a process ends."""
        until = time.monotonic() + START_S
        while not true():
            if time.monotonic() > until or any(p.poll() is not None for p in self._started):
                logs = [log.read_text("utf-8", "replace")[-2000:] for log in sorted(self._folder.glob("*.log"))]
                pytest.fail("\n".join(["Dask does not start:", *logs]))
            time.sleep(0.05)

    def add_workers(self, n: int) -> None:
        for _ in range(n):
            options = ("--nthreads", "1", "--no-nanny", "--memory-limit", "0", "--death-timeout", str(int(START_S)))
            folder = ("--local-directory", str(self._folder))
            self.workers.append(self._start("dask_worker", self.address, "--host", "127.0.0.1", *options, *folder))
        self.wait(lambda: self.threads() == len(self.workers))

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """kill -9"""
        process.send_signal(signal.SIGKILL)
        process.wait(10)
        self._started.remove(process)
        if process in self.workers:
            self.workers.remove(process)

    def threads(self) -> int:
        return sum(self.asked(lambda client: client.nthreads()).values())

    def tasks(self) -> int:
        """Tasks that the scheduler knows."""
        return int(self.asked(lambda client: client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))))

    def asked(self, question: Callable[[Any], Any]) -> Any:
        with dask.Client(self.address, timeout=START_S, set_as_default=False) as client:
            return question(client)

    def close(self) -> None:
        for process in reversed(self._started):
            process.kill()
        for process in self._started:
            process.wait(10)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    yield made
    made.close()


@pytest.fixture
def small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a short sweep has many of them, and what is late does not take long."""
    monkeypatch.setattr(shared, "FIRST_ROWS", 16)
    monkeypatch.setattr(shared, "MOST_ROWS", 16)
    monkeypatch.setattr(shared, "FIRST_WORKER_S", 1.0)
    monkeypatch.setattr(shared, "NO_WORKER_S", 1.0)


def url(folder: Path) -> str:
    return f"sqlite:///{folder / 'runs.db'}"


def stored(where: str, result: TuneResult) -> dict[str, Any]:
    """The rows of a run as the store has them, and its accounts."""
    assert result.run is not None
    with open_store(where) as store:
        run = store.find_run(result.run.id)
        columns = dict(store.configurations(run.id))
        return {"columns": columns, "counts": result.counts, "best": (run.best_row, run.best_cycles), "top": result.top}


def assert_equal(one: dict[str, Any], other: dict[str, Any]) -> None:
    """Bit for bit: values, types and where there are none."""
    assert one["columns"].keys() == other["columns"].keys()
    for name, column in one["columns"].items():
        assert column.dtype == other["columns"][name].dtype, name
        np.testing.assert_array_equal(np.ma.getmaskarray(column), np.ma.getmaskarray(other["columns"][name]), name)
        np.testing.assert_array_equal(np.ma.filled(column, 0), np.ma.filled(other["columns"][name], 0), name)
    assert {k: v for k, v in one.items() if k != "columns"} == {k: v for k, v in other.items() if k != "columns"}


@pytest.mark.usefixtures("small_shards")
def test_a_killed_worker_a_stop_and_a_resume_leave_the_table_of_a_local_sweep(
    cluster: Cluster,
    tmp_path: Path,
) -> None:
    where = url(tmp_path)
    local = stored(where, tune("stream", **SPACE, store=where))
    n = local["columns"]["row"].shape[0]
    cluster.add_workers(2)

    # one of two workers dies in mid-sweep, with shards in hand
    seen: list[Progress] = []

    def killing(progress: Progress) -> None:
        seen.append(progress)
        if len(cluster.workers) == 2 and progress.done >= 48:
            assert progress.done < n / 2
            cluster.kill(cluster.workers[0])

    found = tune("stream", **SPACE, store=where, scheduler=cluster.address, progress=killing)
    cluster.wait(lambda: cluster.threads() == 1)
    assert_equal(stored(where, found), local)
    assert (found.n_evaluated, seen[-1].done, found.stopped) == (n, n, False)

    # a stop keeps a beginning, nothing is left in flight, and the other way of searching goes on with it
    stop = threading.Event()
    stopped = tune("stream", **SPACE, store=where, scheduler=cluster.address, stop=stop, progress=lambda _: stop.set())
    assert stopped.stopped
    assert 0 <= stopped.n_evaluated < n
    cluster.wait(lambda: cluster.tasks() == 0)
    assert stopped.run is not None
    assert_equal(stored(where, resume(where, stopped.run.id, scheduler=cluster.address)), local)

    # the last worker dies: what is written is kept, for a sweep without a scheduler to go on with
    def ending(progress: Progress) -> None:
        if cluster.workers and progress.done:
            cluster.kill(cluster.workers[0])

    with pytest.raises(SearchError, match="has had no workers for 1 s: start some by 'dask worker tcp://"):
        tune("stream", **SPACE, store=where, scheduler=cluster.address, progress=ending)
    with open_store(where) as store:
        broken = store.find_run("latest")
    assert 0 < broken.n_evaluated < n
    assert_equal(stored(where, resume(where, broken.id)), local)


@pytest.mark.usefixtures("small_shards")
def test_a_worker_of_another_version_is_refused_before_there_is_a_run(
    cluster: Cluster,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    where = url(tmp_path)
    with pytest.raises(SearchError, match="has had no workers for 1 s"):
        tune("stream", **SPACE, store=where, scheduler=cluster.address)
    cluster.add_workers(1)
    ours = {**shards.facts(), "numpy": "1.26.4"}
    with monkeypatch.context() as patched:
        patched.setattr(shards, "facts", lambda: ours)
        with pytest.raises(
            SearchError, match=r"worker tcp://\S+: has numpy 2\.\S+ instead of 1\.26\.4: install the same"
        ):
            tune("stream", **SPACE, store=where, scheduler=cluster.address)

    # the scheduler itself goes away in mid-sweep
    def ending(progress: Progress) -> None:
        if progress.done and cluster.scheduler.poll() is None:
            cluster.kill(cluster.scheduler)

    with pytest.raises(SearchError, match=r"does not answer any more .* what is stored is kept"):
        tune("stream", **SPACE, store=where, scheduler=cluster.address, progress=ending)
    with open_store(where) as store:
        (run,) = store.runs()
        assert run.state == "failed"
        assert run.n_evaluated > 0


@pytest.mark.parametrize(
    "address", ["", "localhost", "tcp://", "tcp://x", "inproc://1", "http://a:1", "tcp://a:1/../b"]
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(SearchError, match=r"expected an address such as tcp://127\.0\.0\.1:8786"):
        tune("stream", **SPACE, scheduler=address)


def test_an_address_where_nobody_answers_is_refused_before_there_is_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shared, "CONNECT_S", 0.3)
    with socket.socket() as taken:  # bound and not listening
        taken.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(
            SearchError, match=f"no Dask scheduler answers at {address} .*start one by 'dask scheduler'"
        ):
            tune("stream", **SPACE, store=url(tmp_path), scheduler=address)
    with open_store(url(tmp_path)) as store:
        assert store.runs() == []


def test_a_sampled_search_is_not_shared_out() -> None:
    with pytest.raises(SearchError, match="shares out exhaustive searches, and this one is 'random'"):
        tune("stream", **{**SPACE, "strategy": "random"}, budget=5, scheduler="tcp://127.0.0.1:1")


def test_without_dask_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SearchError, match=r"install it by pip install 'pto-tune\[distributed\]'"):
        tune("stream", **SPACE, scheduler="tcp://127.0.0.1:1")
