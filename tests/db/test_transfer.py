"""Runs out into one file and into any other store, each once, and nothing half."""

import contextlib
import hashlib
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import db
from db import Measurement, Run, RunSpec, Store, StoreError
from db.columns import COLUMNS
from db.health import check_store
from db.transfer import export_runs, import_runs

MakeSpec = Callable[..., RunSpec]
Place = Callable[[], str]
KEPT = Path(__file__).parent / "data"


@pytest.fixture(params=["sqlite", "postgresql"])
def other(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A second place, on each of the two databases."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'other.db'}"
    make: Place = request.getfixturevalue("postgres_place")
    return make()


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("db.streams.ROWS", 700)
    monkeypatch.setattr("db.copying._ACCOUNTS", 7)


def filled(store: Store, spec: RunSpec, n: int = 2_000, state: str = "done", seed: int = 0) -> Run:
    """A run with values and without them in all columns."""
    random = np.random.default_rng(seed)
    run = store.create_run(spec)
    lists = {"t0": 3, "t1": 2, "verdict": 3, "rule": 2, "bound": 2}
    columns = {
        c.name: random.integers(0, lists.get(c.name, min(c.largest, 2**62)), n)
        for c in COLUMNS[1:]
        if c.name in lists or not c.name.startswith("t")
    }
    valid = {name: random.integers(0, 2, n).astype(bool) for name in columns if name != "verdict"}
    store.add_configurations(run.id, columns, 0, valid)
    store.progress(run.id, n)
    pipes = ("AIC.M", "AIV0.V", "qk.准备", "Z", "a")
    store.add_accounts(run.id, [(row, "wait", name, row) for row in (5, 3, n - 1) for name in pipes])
    return store.finish_run(run.id, state, "a word", counts={"ok": {"": 1}}, best_row=3, best_cycles=7)


def assert_same(first: tuple[Store, Run], second: tuple[Store, Run]) -> None:
    """Two runs are one, whatever their numbers."""
    (here, run), (there, copy) = first, second
    for name in Run.__dataclass_fields__:
        if name not in ("id", "name", "heartbeat_age_s", "epoch"):
            assert getattr(run, name) == getattr(copy, name), name
    mine, its = here.configurations(run.id), there.configurations(copy.id)
    for name in mine:
        assert_array_equal(np.ma.filled(mine[name], -1), np.ma.filled(its[name], -1), err_msg=name)
    assert here.accounts(run.id) == there.accounts(copy.id)


@pytest.mark.usefixtures("small_pieces")
def test_a_run_arrives_as_it_was(url: str, other: str, tmp_path: Path, spec: MakeSpec) -> None:
    file = tmp_path / "融合 a%b.db"
    with db.open_store(url) as store:
        filled(store, spec(name="other one"), 10)
        filled(store, spec(), 2_000)
        store.create_run(spec())
        out = export_runs(["latest", 2, "gemm-ascend910b2-2"][1:], file, url)
        assert [run.name for run in out.runs] == ["gemm-ascend910b2-2"]
        assert (out.configurations, out.measurements, out.bytes) == (2_000, 0, file.stat().st_size)
        taken = import_runs(file, other)
        assert (len(taken.taken), taken.already, taken.configurations) == (1, (), 2_000)
        with db.open_store(other, create=False) as target, db.open_store(f"sqlite:///{tmp_path}/融合 a%25b.db") as copy:
            assert_same((store, store.find_run(2)), (target, target.find_run("latest")))
            assert_same((store, store.find_run(2)), (copy, copy.find_run("latest")))
            assert target.find_run("latest").name == "gemm-ascend910b2-2"


@pytest.mark.usefixtures("small_pieces")
def test_a_run_is_taken_once(url: str, tmp_path: Path, spec: MakeSpec) -> None:
    file = tmp_path / "x.db"
    with db.open_store(url) as store:
        filled(store, spec())
        filled(store, spec(), seed=1)  # the same specification, another run
        export_runs([1, 2], file, url)
        again = import_runs(file, url)
        assert (again.taken, [here.id for _, here in again.already]) == ((), [1, 2])
        store.rename_run(1, "another name")
        store.delete_run(2)
        once_more = import_runs(file, url)
        assert [there.id for there, _ in once_more.taken] == [2]
        assert [here.name for _, here in once_more.already] == ["another name"]
        assert len(store.runs()) == 2


def test_a_name_that_is_taken_gets_a_number(tmp_path: Path, url: str, spec: MakeSpec) -> None:
    file = tmp_path / "x.db"
    other = f"sqlite:///{tmp_path}/o.db"
    for place in (url, other):
        with db.open_store(place) as store:
            filled(store, spec(name="mine", spec_sha256=hashlib.sha256(place.encode()).hexdigest()), 10)
    export_runs(["mine"], file, url)
    ((_, here),) = import_runs(file, other).taken
    assert here.name == "mine (2)"


def test_another_state_of_progress_of_a_run_is_taken_beside_it(tmp_path: Path, url: str, spec: MakeSpec) -> None:
    before, after = tmp_path / "before.db", tmp_path / "after.db"
    with db.open_store(url) as store:
        run = filled(store, spec(), 100, "stopped")
        export_runs([run.id], before, url)
        store.resume_run(run.id)
        store.add_configurations(run.id, {"verdict": np.zeros(5, np.int64)}, 100)
        store.progress(run.id, 105)
        store.finish_run(run.id, "done")
        export_runs([run.id], after, url)
    other = f"sqlite:///{tmp_path}/other.db"
    import_runs(before, other)
    assert [here.name for _, here in import_runs(after, other).taken] == [f"{run.name} (2)"]
    assert import_runs(before, other).taken == import_runs(after, other).taken == ()


def test_measurements_go_along_when_asked(tmp_path: Path, url: str, other: str) -> None:
    measured = Measurement("gemm", {"m": 512}, "a2a3", "910B2", "event", 88.5, repeats=3, source="融合.csv")
    with db.open_store(url) as store:
        store.add_measurements([measured, Measurement("gemm", {"m": 9}, "a2a3", "910B2", "task", 1.0)])
    with pytest.raises(StoreError, match="nothing is to be exported"):
        export_runs([], tmp_path / "x.db", url)
    assert export_runs([], tmp_path / "x.db", url, measurements=True).measurements == 2
    assert import_runs(tmp_path / "x.db", other, measurements=False).measurements == 0
    taken = import_runs(tmp_path / "x.db", other)
    assert (taken.measurements, taken.known_measurements) == (2, 0)
    again = import_runs(tmp_path / "x.db", other)
    assert (again.measurements, again.known_measurements) == (0, 2)
    with db.open_store(other) as store:
        assert store.measurements()[0].digest == measured.digest
        assert store.measurements()[0].source == "融合.csv"


class TestExport:
    def test_a_file_that_is_there_stays(self, tmp_path: Path, url: str, spec: MakeSpec) -> None:
        file = tmp_path / "x.db"
        file.write_text("mine")
        with db.open_store(url) as store:
            filled(store, spec(), 10)
        with pytest.raises(StoreError, match="there already"):
            export_runs([1], file, url)
        assert file.read_text() == "mine"
        export_runs([1], file, url, force=True)
        assert check_store(f"sqlite:///{file}").runs == 1

    def test_it_is_one_file_complete_or_none(self, tmp_path: Path, spec: MakeSpec) -> None:
        url = f"sqlite:///{tmp_path}/store.db"
        folder = tmp_path / "out"
        folder.mkdir()
        with db.open_store(url) as store:
            filled(store, spec(), 10)
            live = store.create_run(spec())
        with pytest.raises(StoreError, match=f"run {live.id} .* is running: wait"):
            export_runs([1, live.id], folder / "x.db", url)
        with pytest.raises(StoreError, match="no run"):
            export_runs([77], folder / "x.db", url)
        with pytest.raises(StoreError, match="cannot be made"):
            export_runs([1], folder / "no" / "x.db", url)
        assert list(folder.iterdir()) == []
        export_runs([1, "1"], folder / "x.db", url)
        assert list(folder.iterdir()) == [folder / "x.db"]
        with contextlib.closing(sqlite3.connect(folder / "x.db")) as connection:
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)

    def test_a_run_whose_program_is_gone_goes_as_stopped(self, tmp_path: Path) -> None:
        store = tmp_path / "old.db"
        shutil.copy(KEPT / "v0.2.0.sqlite", store)  # its second run was left running
        out = export_runs([2], tmp_path / "x.db", f"sqlite:///{store}")
        assert [run.state for run in out.runs] == ["stopped"]


class TestImport:
    @pytest.mark.parametrize("release", ["v0.1.0", "v0.2.0"])
    def test_a_file_of_an_older_release_is_read_and_left(self, tmp_path: Path, url: str, release: str) -> None:
        file = tmp_path / "old.sqlite"
        shutil.copy(KEPT / f"{release}.sqlite", file)
        before = file.read_bytes()
        taken = import_runs(file, url)
        assert ([here.name for _, here in taken.taken], taken.configurations) == (
            ['融合 "one" 🚀', "gemm-ascend910b2-2"],
            3,
        )
        assert file.read_bytes() == before
        assert import_runs(file, url).taken == ()
        assert check_store(url).findings == ()

    def test_what_is_no_store_is_refused(self, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path}/x.db"
        (tmp_path / "text").write_text("no database at all " * 100)
        (tmp_path / "empty").touch()
        with contextlib.closing(sqlite3.connect(tmp_path / "foreign")) as connection:
            connection.execute("CREATE TABLE run (distance INTEGER)")
        for name, says in (
            ("text", "is not an SQLite database"),
            ("empty", "no results yet"),
            ("foreign", "belongs to another program"),
            ("missing", "there is no file"),
            ("a\x00b", "NUL"),
        ):
            with pytest.raises(StoreError, match=says):
                import_runs(tmp_path / name if "\x00" not in name else name, url)
        assert not (tmp_path / "x.db").exists()

    @pytest.mark.usefixtures("small_pieces")
    @pytest.mark.parametrize(
        "statement",
        [
            "UPDATE configuration SET t0 = 77 WHERE row = 1500",
            "UPDATE configuration SET cycles = 'fast' WHERE row = 1500",
            "UPDATE configuration SET verdict = -5 WHERE row = 1500",
            "DELETE FROM configuration WHERE row = 1999",
            "UPDATE run SET tunables_json = '[1]'",
            "UPDATE run SET problem_json = '{'",
            "UPDATE run SET n_evaluated = -1",
            "UPDATE run SET created_at = 'yesterday'",
            "UPDATE run SET name = 'a' || char(27) || '[31m'",
            "UPDATE run SET best_cycles = 1e300",
            "UPDATE run SET verdicts_json = '[]'",
            "UPDATE account SET row = 5000 WHERE row = 5",
        ],
    )
    def test_what_no_store_of_ours_has_is_refused_whole(
        self, tmp_path: Path, url: str, spec: MakeSpec, statement: str
    ) -> None:
        file, other = tmp_path / "x.db", f"sqlite:///{tmp_path}/other.db"
        with db.open_store(url) as store:
            filled(store, spec())
        export_runs([1], file, url)
        with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as connection:
            connection.execute(statement)
        with pytest.raises(StoreError) as refused:
            import_runs(file, other)
        assert "\n" not in str(refused.value)
        health = check_store(other)
        assert (health.runs, health.configurations, health.accounts, health.findings) == (0, 0, 0, ())

    @pytest.mark.usefixtures("small_pieces")
    def test_an_interruption_leaves_nothing_and_a_kill_is_made_good(
        self, tmp_path: Path, url: str, other: str, spec: MakeSpec, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from db import copying

        with db.open_store(url) as store:
            filled(store, spec())
        file = tmp_path / "x.db"
        export_runs([1], file, url)
        end = copying._end

        def interrupted(*_: object) -> None:
            raise KeyboardInterrupt

        monkeypatch.setattr(copying, "_end", interrupted)
        with pytest.raises(KeyboardInterrupt):
            import_runs(file, other)
        assert check_store(other).runs == 0
        with monkeypatch.context() as killed:
            killed.setattr(copying, "delete_in_steps", lambda *_: None)
            with pytest.raises(KeyboardInterrupt):
                import_runs(file, other)
        monkeypatch.setattr(copying, "_end", end)
        with db.open_store(other) as target:
            (left,) = target.runs()
            assert (left.state, left.message.startswith(copying.COPYING)) == ("running", True)
            with pytest.raises(StoreError, match="gave a sign of life"):
                import_runs(file, other)
            monkeypatch.setattr("db.transfer.is_live", lambda _: False)
            ((_, taken),) = import_runs(file, other).taken
            assert [run.id for run in target.runs()] == [taken.id]
            with db.open_store(url) as store:
                assert_same((store, store.find_run(1)), (target, taken))

    @pytest.mark.usefixtures("small_pieces")
    def test_a_copy_that_somebody_takes_up_is_not_written_on(
        self, tmp_path: Path, url: str, spec: MakeSpec, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from db import copying

        other = f"sqlite:///{tmp_path}/other.db"
        with db.open_store(url) as store:
            filled(store, spec())
        export_runs([1], tmp_path / "x.db", url)
        begin = copying._begin

        def taken_up(*arguments: object) -> Run:
            copy = begin(*arguments)  # type: ignore[arg-type]
            with db.open_store(other) as target:
                return target.resume_run(copy.id, dead_after_s=0)

        monkeypatch.setattr(copying, "_begin", taken_up)
        with pytest.raises(StoreError, match="taken up by somebody"):
            import_runs(tmp_path / "x.db", other)
