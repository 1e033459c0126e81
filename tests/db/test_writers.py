"""Who writes a run: signs of life by the database's clock, one writer at a time, an earlier one refused."""

import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import db
from db import Run, RunSpec, Store, StoreError
from db.errors import TakenOverError
from db.records import DEAD_AFTER_S

MakeSpec = Callable[..., RunSpec]
VERDICT = {"verdict": np.zeros(10, dtype=np.int64)}


def silent_for(store: Store, run: Run, seconds: float) -> None:
    """Let the last sign of life be so old."""
    from sqlalchemy import text

    with store._database.write() as connection:
        if connection.dialect.name == "sqlite":
            query = f"UPDATE run SET heartbeat_at = strftime('%Y-%m-%d %H:%M:%f', 'now', '{-seconds:+} seconds') "
        else:
            query = f"UPDATE run SET heartbeat_at = clock_timestamp() - interval '{seconds} seconds' "
        connection.execute(text(query + "WHERE id = :id"), {"id": run.id})


def test_rows_and_how_far_the_run_is_are_noted_together(store: Store, spec: MakeSpec) -> None:
    run = store.create_run(spec())
    silent_for(store, run, 40)
    store.add_configurations(run.id, VERDICT, 0, epoch=run.epoch, n_evaluated=10)
    found = store.find_run(run.id)
    assert (found.n_evaluated, store.max_row(run.id)) == (10, 9)
    assert found.heartbeat_age_s < 20
    with pytest.raises(StoreError, match="already has some of the rows"):
        store.add_configurations(run.id, VERDICT, 5, epoch=run.epoch, n_evaluated=15)
    assert (store.find_run(run.id).n_evaluated, store.max_row(run.id)) == (10, 9)


def test_a_run_whose_program_is_gone_is_interrupted(store: Store, spec: MakeSpec) -> None:
    run = store.create_run(spec())
    assert store.find_run(run.id).status == "running"
    silent_for(store, run, DEAD_AFTER_S + 5)
    assert (store.find_run(run.id).state, store.find_run(run.id).status) == ("running", "interrupted")
    store.sign_of_life(run.id, run.epoch)
    assert store.find_run(run.id).status == "running"
    assert store.finish_run(run.id, "stopped", epoch=run.epoch).status == "stopped"


def test_a_writer_that_was_taken_over_is_refused_whatever_it_writes(store: Store, spec: MakeSpec) -> None:
    first = store.create_run(spec())
    store.add_configurations(first.id, VERDICT, 0, epoch=first.epoch, n_evaluated=10)
    second = store.resume_run(first.id, dead_after_s=0)
    assert (first.epoch, second.epoch) == (0, 1)
    writes: list[Callable[[], object]] = [
        lambda: store.add_configurations(first.id, VERDICT, 10, epoch=first.epoch, n_evaluated=20),
        lambda: store.add_configurations(first.id, VERDICT, 10, epoch=first.epoch),
        lambda: store.progress(first.id, 20, first.epoch),
        lambda: store.sign_of_life(first.id, first.epoch),
        lambda: store.add_accounts(first.id, [(0, "busy", "AIC.M", 1)], first.epoch),
        lambda: store.finish_run(first.id, "done", epoch=first.epoch),
    ]
    for write in writes:
        with pytest.raises(TakenOverError, match="was taken up by another program"):
            write()
    assert store.find_run(first.id).n_evaluated == 10
    assert store.accounts(first.id) == []
    store.add_configurations(second.id, VERDICT, 10, epoch=second.epoch, n_evaluated=20)
    assert store.finish_run(second.id, "done", epoch=second.epoch).n_evaluated == 20
    assert store.max_row(first.id) == 19


def test_the_second_of_two_who_take_a_run_up_is_refused(store: Store, spec: MakeSpec) -> None:
    run = store.create_run(spec())
    silent_for(store, run, DEAD_AFTER_S + 5)
    assert store.resume_run(run.id).epoch == 1
    with pytest.raises(StoreError, match="gave a sign of life 0 s ago: wait for it"):
        store.resume_run(run.id)


@pytest.mark.parametrize("shift_s", [-86_400.0, 86_400.0])
def test_the_clock_of_this_machine_decides_nothing(
    store: Store, spec: MakeSpec, monkeypatch: pytest.MonkeyPatch, shift_s: float
) -> None:
    run = store.create_run(spec())
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + shift_s)
    assert store.find_run(run.id).status == "running"
    with pytest.raises(StoreError, match="gave a sign of life"):
        store.resume_run(run.id)
    silent_for(store, run, DEAD_AFTER_S + 5)
    assert store.find_run(run.id).status == "interrupted"
    assert store.resume_run(run.id).heartbeat_age_s < 20


def test_a_sign_of_life_from_before_the_databases_clock_was_set_back_does_not_keep_a_run_alive(
    store: Store, spec: MakeSpec
) -> None:
    living, dead = store.create_run(spec()), store.create_run(spec())
    for run in (living, dead):
        silent_for(store, run, -3_600)
    store.sign_of_life(living.id, living.epoch)
    assert store.find_run(living.id).status == "running"
    assert store.find_run(dead.id).status == "interrupted"
    assert store.resume_run(dead.id).epoch == 1


def test_a_run_is_deleted_with_all_that_belongs_to_it(store: Store, spec: MakeSpec) -> None:
    from sqlalchemy import text

    kept, gone = store.create_run(spec()), store.create_run(spec())
    for run in (kept, gone):
        store.add_configurations(run.id, {"verdict": np.zeros(2_000, dtype=np.int64)}, 0)
        store.add_accounts(run.id, [(3, "busy", "AIC.M", 5)])
    store.delete_run(gone.id)
    with store._database.read() as connection:
        for table, n in (("configuration", 2_000), ("account", 1)):
            counted = connection.execute(text(f"SELECT run_id, COUNT(*) FROM {table} GROUP BY run_id")).all()
            assert [tuple(row) for row in counted] == [(kept.id, n)], table


def test_a_store_of_an_older_release_gets_its_epochs(tmp_path: Path) -> None:
    import shutil

    path = tmp_path / "old.db"
    shutil.copy(Path(__file__).parent / "data" / "v0.2.0.sqlite", path)
    with db.open_store(f"sqlite:///{path}", create=False) as store:
        second, first = store.runs()
        assert (first.epoch, second.epoch, second.state, second.status) == (0, 0, "running", "interrupted")
        assert store.resume_run(second.id).epoch == 1
    with sqlite3.connect(path) as raw:
        assert raw.execute("SELECT epoch FROM run ORDER BY id").fetchall() == [(0,), (1,)]
    raw.close()


def test_runs_of_a_workload_and_a_platform(store: Store, spec: MakeSpec) -> None:
    gemm = store.create_run(spec())
    other = store.create_run(spec(platform="ascend950pr"))
    fa = store.create_run(spec(workload="flash_attention"))
    assert [run.id for run in store.runs()] == [fa.id, other.id, gemm.id]
    assert [run.id for run in store.runs("gemm")] == [other.id, gemm.id]
    assert [run.id for run in store.runs("gemm", "ascend910b2")] == [gemm.id]
    assert store.runs(platform="x") == []
