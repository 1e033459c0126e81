"""Retention: which runs may go, that they go whole, and that nobody's running run does."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import db
from db import Run, RunSpec, Store, StoreError
from db.engine import Database
from db.health import check_store
from db.opening import as_it_is
from db.pruning import GIVEN_UP_AFTER_S, Retention, choose, prune
from db.urls import parse_target
from db.vacuuming import vacuum_store

MakeSpec = Callable[..., RunSpec]
NOW = datetime(2026, 6, 1, tzinfo=UTC)


@pytest.fixture
def run(tmp_path_factory: pytest.TempPathFactory, spec: MakeSpec) -> Callable[..., Run]:
    """Runs as the store would give them at NOW; `age_s`: since it was created, `silent_s`: since its sign of life."""
    with db.open_store(f"sqlite:///{tmp_path_factory.mktemp('runs')}/x.db") as store:
        base = store.create_run(spec())

    def make(number: int, state: str, age_s: float, silent_s: float = 0.0, **changes: object) -> Run:
        return replace(
            base, id=number, state=state, created_at=NOW - timedelta(seconds=age_s),
            heartbeat_at=NOW - timedelta(seconds=silent_s), heartbeat_age_s=silent_s, **changes,
        )  # fmt: skip

    return make


def chosen(runs: list[Run], **conditions: object) -> list[int]:
    return [run.id for run in choose(runs, Retention(**conditions))]  # type: ignore[arg-type]


class TestChoosing:
    def test_the_newest_finished_ones_of_each_workload_and_platform_stay(self, run: Callable[..., Run]) -> None:
        runs = [run(number, "done", age_s=100 - number) for number in range(1, 5)]
        runs += [run(5, "done", 95, platform="ascend910c"), run(6, "done", 96, workload="stream")]
        assert chosen(runs, keep=2) == [1, 2]
        assert chosen(runs, keep=0) == [1, 2, 3, 4, 6, 5]
        assert chosen(runs, keep=9) == []

    def test_what_did_not_finish_pushes_no_result_out(self, run: Callable[..., Run]) -> None:
        runs = [run(1, "done", 90), run(2, "done", 80), run(3, "failed", 70), run(4, "stopped", 60, 60)]
        assert chosen(runs, keep=1) == [1]
        assert chosen(runs, keep=2) == []

    def test_age_is_counted_from_creation_by_the_databases_clock(self, run: Callable[..., Run]) -> None:
        runs = [run(1, "done", 1001, 500), run(2, "done", 1000, 0), run(3, "done", 5)]
        assert chosen(runs, older_than_s=1000) == [1]

    def test_every_condition_has_to_hold(self, run: Callable[..., Run]) -> None:
        runs = [run(1, "failed", 90), run(2, "failed", 10), run(3, "done", 95), run(4, "done", 5)]
        assert chosen(runs, failed=True) == [1, 2]
        assert chosen(runs, failed=True, older_than_s=50) == [1]
        assert chosen(runs, keep=1, older_than_s=50) == [3, 1]
        assert chosen(runs, keep=1, failed=True) == [1, 2]
        assert chosen(runs, keep=2, failed=True) == []

    def test_a_run_that_is_being_written_stays(self, run: Callable[..., Run]) -> None:
        runs = [
            run(1, "running", 9e9, 0),
            run(2, "running", 9e9, GIVEN_UP_AFTER_S - 1),
            run(3, "running", 9e9, GIVEN_UP_AFTER_S + 1),
        ]
        assert chosen(runs, keep=0) == [3]

    @pytest.mark.parametrize("conditions", [{}, {"keep": -1}, {"older_than_s": -1.0}, {"older_than_s": float("nan")}])
    def test_conditions_that_are_none_are_refused(self, conditions: dict[str, float]) -> None:
        with pytest.raises(StoreError):
            Retention(**conditions)  # type: ignore[arg-type]


def filled(store: Store, spec: RunSpec, n: int, state: str | None = "done") -> Run:
    run = store.create_run(spec)
    store.add_configurations(run.id, {"verdict": np.zeros(n, np.int64), "cycles": np.arange(n)}, 0)
    store.progress(run.id, n)
    store.add_accounts(run.id, [(row, "busy", "AIC.M", 1) for row in range(0, n, 100)])
    if state is None:
        return run
    return store.finish_run(run.id, state, counts={"ok": {"": n}}, best_row=0, best_cycles=0)


def rows(url: str) -> tuple[int, int, int]:
    health = check_store(url)
    return health.runs, health.configurations, health.accounts


def test_runs_go_with_all_that_is_theirs(url: str, spec: MakeSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("db.pruning._ROWS", 300)
    with db.open_store(url) as store:
        filled(store, spec(), 1_000)
        live = filled(store, spec(), 10, state=None)
        last = filled(store, spec(), 500)
    would = prune(Retention(keep=1), url, dry_run=True)
    assert ([run.id for run in would.runs], would.configurations) == ([1], 1_000)
    assert would.about_bytes > 10_000
    assert rows(url) == (3, 1_510, 16)
    gone: list[int] = []
    done = prune(Retention(keep=1), url, deleted=lambda run: gone.append(run.id))
    assert (gone, [run.id for run in done.runs], done.configurations, done.skipped) == ([1], [1], 1_000, ())
    assert rows(url) == (2, 510, 6)
    assert check_store(url).findings == ()
    assert prune(Retention(keep=1), url).runs == ()
    prune(Retention(keep=0), url)
    with db.open_store(url) as store:
        assert [run.id for run in store.runs()] == [live.id]
        assert store.find_run(live.id).state == "running"
        store.finish_run(live.id, "done")
    assert last.id not in (live.id, 1)


def test_a_run_that_somebody_takes_up_in_the_meantime_stays(
    url: str, spec: MakeSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    from db import pruning

    with db.open_store(url) as store:
        first = filled(store, spec(), 10, "stopped")
        second = filled(store, spec(), 10, "stopped")
        mark = pruning._mark

        def taken_up(database: Database, run: Run) -> bool:
            if run.id == first.id:
                store.resume_run(first.id)
            return mark(database, run)

        monkeypatch.setattr(pruning, "_mark", taken_up)
        done = prune(Retention(keep=0), url)
        assert ([run.id for run in done.runs], [run.id for run in done.skipped]) == ([second.id], [first.id])
        assert store.find_run(first.id).state == "running"
        assert store.configurations(first.id, ["row"])["row"].size == 10


def test_pruning_that_ends_half_way_is_finished_by_the_next_one(
    url: str, spec: MakeSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    from db import pruning

    with db.open_store(url) as store:
        filled(store, spec(), 1_000)
    monkeypatch.setattr("db.pruning._ROWS", 300)
    still, calls = pruning._still, []

    def killed(*arguments: object) -> None:
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        still(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(pruning, "_still", killed)
    with pytest.raises(KeyboardInterrupt):
        prune(Retention(keep=0), url)
    monkeypatch.setattr(pruning, "_still", still)
    with db.open_store(url) as store:
        (left,) = store.runs()
        assert (left.state, left.message) == ("failed", "being deleted")
        # Its first rows are left, so that what is there follows each other.
        assert store.configurations(left.id, ["row"])["row"].tolist() == list(range(400))
    assert [run.id for run in prune(Retention(failed=True), url).runs] == [left.id]
    assert rows(url) == (0, 0, 0)


class TestVacuum:
    def test_the_room_of_deleted_runs_goes_back_to_the_disk(self, url: str, spec: MakeSpec) -> None:
        with db.open_store(url) as store:
            filled(store, spec(), 20_000)
            kept = filled(store, spec(name="kept"), 100)
            store.delete_run(1)
        done = vacuum_store(url, full=True)
        assert done.bytes_after < done.bytes_before / 2
        path = parse_target(url).path
        if path is not None:
            assert path.stat().st_size == done.bytes_after
            assert list(path.parent.iterdir()) == [path]
        with db.open_store(url) as store:
            assert store.find_run("kept").id == kept.id
            assert store.configurations(kept.id, ["row"])["row"].size == 100
        assert check_store(url).findings == ()

    def test_nobody_who_writes_is_shut_out(self, url: str, spec: MakeSpec) -> None:
        with db.open_store(url) as store:
            store.create_run(spec())
            with pytest.raises(StoreError, match="gave a sign of life"):
                vacuum_store(url, full=True)
        if parse_target(url).path is None:
            assert vacuum_store(url).bytes_after > 0

    def test_a_connection_is_as_before_after_it(self, postgres_place: Callable[[], str]) -> None:
        url = postgres_place()
        db.open_store(url).close()
        vacuum_store(url)
        with as_it_is(url) as (database, _), database.raw() as connection:
            assert connection.autocommit is False
