"""A disk that is full, a file that is closed to writing, a connection that is cut: what was reported as done is there,
what was in hand is not, and the same call goes on to the same result."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import db
from db import Run, RunSpec, Store, StoreError, bulk
from db.bulk import Batch
from pto_tune.search import exhaustive
from pto_tune.tuning import Progress, SearchError, TuneResult, tune

MakeSpec = Callable[..., RunSpec]
DOMAINS = {"fifo_depth": list(range(1, 151))}
SIZE = 2_250

# Files of this process may not grow beyond so many bytes: what a full disk or a used-up quota looks like.
PROGRAM = """
import resource, sys
from pto_tune.search import exhaustive
from pto_tune.tuning import tune

exhaustive.CHUNK_ROWS = exhaustive.FIRST_ROWS = 100
def progress(p):
    print(p.done, flush=True)
    if p.done == 200:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    tune("stream", problem={"tiles": 16}, domains={"fifo_depth": list(range(1, 151))}, store=sys.argv[1],
         progress=progress)
except ValueError as error:
    print(error, file=sys.stderr)
"""


def sweep(store: str | Store, **options: Any) -> TuneResult:
    return tune("stream", problem={"tiles": 16}, domains=DOMAINS, store=store, **options)


def same(store: Store, one: TuneResult, other: TuneResult) -> bool:
    assert one.run is not None
    assert other.run is not None
    tables = [store.configurations(run.id) for run in (one.run, other.run)]
    return one.top == other.top and one.counts == other.counts and all(
        tables[0][name].tolist() == tables[1][name].tolist() for name in tables[0]
    )  # fmt: skip


@pytest.fixture
def hundreds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches of a hundred rows."""
    monkeypatch.setattr(exhaustive, "CHUNK_ROWS", 100)
    monkeypatch.setattr(exhaustive, "FIRST_ROWS", 100)


@pytest.mark.parametrize("limit", [110_000, 200_000])
def test_a_disk_that_is_full(tmp_path: Path, limit: int) -> None:
    url = f"sqlite:///{tmp_path / 'results.db'}"
    child = subprocess.run(
        [sys.executable, "-c", PROGRAM, url, str(limit)],
        env={**os.environ, "PYTHONPATH": str(Path(db.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=240,
        check=True,
    )
    reported = [int(line) for line in child.stdout.split()]
    assert 200 <= reported[-1] < SIZE
    (said,) = child.stderr.splitlines()
    assert f"run 1 (stream-ascend910b2-1) ended, {reported[-1]} of its {SIZE} configurations are kept" in said
    assert "disk" in said
    with db.open_store(url) as store:
        assert store.max_row(1) == reported[-1] - 1
        assert store.find_run(1).n_evaluated == reported[-1]
        rest = sweep(store, reuse="continue", dead_after_s=0)
        assert same(store, rest, sweep(store))
        assert rest.run is not None
        assert rest.run.id == 1


def test_a_file_that_is_closed_to_writing_in_mid_sweep(
    tmp_path: Path,
    hundreds: None,  # noqa: ARG001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As SQLite says it, since the user who runs tests may be root, who may write to every file."""
    import sqlite3

    with db.open_store(f"sqlite:///{tmp_path / 'results.db'}") as store:
        original = bulk.insert_batch

        def closed(connection: Any, batch: Batch) -> None:
            if batch.first_row == 300:
                raise sqlite3.OperationalError("attempt to write a readonly database")
            original(connection, batch)

        with monkeypatch.context() as patched:
            patched.setattr(bulk, "insert_batch", closed)
            with pytest.raises(SearchError, match=f"ended, 300 of its {SIZE} configurations are kept: .* is read-only"):
                sweep(store)
        assert store.max_row(1) == 299
        assert same(store, sweep(store, reuse="continue"), sweep(store))


class TestAConnectionThatIsCut:
    """PostgreSQL ends the session that writes, in the middle of a batch."""

    @pytest.fixture
    def postgres(self, postgres_place: Callable[[], str]) -> Iterator[Store]:
        with db.open_store(postgres_place()) as store:
            yield store

    @pytest.fixture
    def cut_at(self, postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
        """Cuts the session that writes the batch with this first row, once."""
        import psycopg

        left: list[int] = []
        original = bulk._copy_blocks

        def cut(batch: Batch) -> Iterator[bytes]:
            blocks = list(original(batch))
            yield blocks[0][: len(blocks[0]) // 2]
            if batch.first_row in left:
                left.clear()
                with psycopg.connect(postgres_url, autocommit=True) as other:
                    other.execute(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'COPY configuration%' "
                        "AND state = 'active'"
                    )
            yield blocks[0][len(blocks[0]) // 2 :]
            yield from blocks[1:]

        monkeypatch.setattr(bulk, "_copy_blocks", cut)
        return left.append

    def test_the_batch_is_not_there_and_the_store_can_be_used_on(
        self, postgres: Store, spec: MakeSpec, cut_at: Callable[[int], None]
    ) -> None:
        run: Run = postgres.create_run(spec())
        rows = {"verdict": np.zeros(20_000, dtype=np.int64)}
        postgres.add_configurations(run.id, rows, 0)
        cut_at(20_000)
        with pytest.raises(StoreError, match=r"answered with an error|connection"):
            postgres.add_configurations(run.id, rows, 20_000, n_evaluated=40_000)
        assert (postgres.max_row(run.id), postgres.find_run(run.id).n_evaluated) == (19_999, 0)
        postgres.add_configurations(run.id, rows, 20_000, n_evaluated=40_000)
        assert np.array_equal(postgres.configurations(run.id, ["row"])["row"], np.arange(40_000))

    def test_the_sweep_ends_with_what_it_had_and_goes_on(
        self,
        postgres: Store,
        hundreds: None,  # noqa: ARG002
        cut_at: Callable[[int], None],
    ) -> None:
        told: list[Progress] = []
        cut_at(300)
        with pytest.raises(SearchError, match=f"ended, 300 of its {SIZE} configurations are kept"):
            sweep(postgres, progress=told.append)
        run = postgres.find_run("latest")
        assert told[-1].done == 300
        assert (run.state, run.n_evaluated, postgres.max_row(run.id)) == ("failed", 300, 299)
        rest = sweep(postgres, reuse="continue")
        assert rest.origin == f"went on with run {run.id} ({run.name}) behind its first 300 rows"
        assert same(postgres, rest, sweep(postgres))


def test_a_worker_that_hangs_does_not_hold_up_who_takes_over(store: Store, hundreds: None) -> None:  # noqa: ARG001
    """Its program gives signs of life, so that it is taken over only by somebody who knows; then it is refused."""
    hangs, goes_on = threading.Event(), threading.Event()
    ended: list[Exception] = []

    def progress(p: Progress) -> None:
        if p.done == 500:
            hangs.set()
            goes_on.wait(60)

    def hanging() -> None:
        try:
            sweep(store, progress=progress)
        except ValueError as error:
            ended.append(error)

    worker = threading.Thread(target=hanging)
    worker.start()
    try:
        assert hangs.wait(60)
        with pytest.raises(StoreError, match="gave a sign of life"):
            sweep(store, reuse="continue")
        taken = sweep(store, reuse="continue", dead_after_s=0)
    finally:
        goes_on.set()
        worker.join(60)
    (error,) = ended
    assert "was taken up by another program" in str(error)
    assert same(store, taken, sweep(store))
    assert [run.state for run in store.runs()] == ["done", "done"]
