"""Upgrading a store that an earlier release left, on both databases; one of a later release stays as it is."""

import contextlib
import hashlib
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import db
from db import StoreError
from db.engine import Database
from db.health import check_store
from db.opening import as_it_is
from db.revisions import HEAD, REVISIONS
from db.upgrading import upgrade_store
from db.urls import parse_target

Kept = Callable[[str], str]
KEPT = Path(__file__).parent / "data"
OLD = REVISIONS[:-1]


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def revision(url: str) -> str:
    with as_it_is(url) as (_, found):
        return found


@pytest.mark.parametrize("release", REVISIONS)
def test_a_store_of_each_release_is_read_as_it_was(release: str, kept: Kept) -> None:
    url = kept(release)
    assert revision(url) == release
    with db.open_store(url, create=False) as store:
        second, first = store.runs()
        assert (first.name, first.state, first.counts) == ('融合 "one" 🚀', "done", {"ok": 2, "refused": 1})
        assert (first.best_row, first.best_cycles, first.clock_mhz) == (2, 300, 1850.0)
        assert first.tunables == ({"name": "fifo_depth", "domain": [2, 4, 8]},)
        assert first.finished_at is None or first.created_at <= first.finished_at
        got = store.configurations(first.id, ["row", "t0", "verdict", "rule", "cycles", "gm_traffic"])
        assert {name: column.tolist() for name, column in got.items()} == {
            "row": [0, 1, 2],
            "t0": [0, 1, 2],
            "verdict": [0, 1, 0],
            "rule": [None, 0, None],
            "cycles": [500, None, 300],
            "gm_traffic": [2**40, None, 2**41],
        }
        assert store.accounts(first.id) == [(2, "busy", "AIC.M", 200), (2, "wait", "qk.ready", 100)]
        assert (second.name, second.state, second.pto_isa) == ("gemm-ascend910b2-2", "running", None)
        assert len(store.measurements()) == (0 if release == "v0.1.0" else 2)
        store.finish_run(second.id, "stopped")
        store.delete_run(first.id)
    assert revision(url) == HEAD
    assert check_store(url).findings == ()


@pytest.mark.parametrize("release", OLD)
def test_an_upgrade_says_what_it_did(release: str, kept: Kept) -> None:
    url = kept(release)
    done = upgrade_store(url, backup=False)
    assert (done.before, done.after, done.backup) == (release, HEAD, None)
    assert [step.partition(":")[0] for step in done.steps] == list(REVISIONS[REVISIONS.index(release) + 1 :])
    assert all(len(step) > 20 for step in done.steps)
    assert revision(url) == HEAD
    again = upgrade_store(url)
    assert (again.before, again.after, again.steps, again.backup) == (HEAD, HEAD, (), None)


@pytest.mark.parametrize("release", OLD)
def test_the_file_as_it_was_is_kept(release: str, tmp_path: Path) -> None:
    path = tmp_path / "融合 100%.db"
    shutil.copy(KEPT / f"{release}.sqlite", path)
    (tmp_path / f"融合 100%.db.{release}.bak").write_text("somebody else's")
    done = upgrade_store(f"sqlite:///{tmp_path}/融合 100%25.db")
    assert done.backup == tmp_path / f"融合 100%.db.{release}-2.bak"
    assert (tmp_path / f"融合 100%.db.{release}.bak").read_text() == "somebody else's"
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(
        ["融合 100%.db", f"融合 100%.db.{release}.bak", f"融合 100%.db.{release}-2.bak"]
    )
    with contextlib.closing(sqlite3.connect(done.backup)) as copy:
        assert copy.execute("SELECT version_num FROM alembic_version").fetchall() == [(release,)]
        assert copy.execute("SELECT COUNT(*) FROM configuration").fetchone() == (3,)
        assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_an_upgrade_that_fails_leaves_the_store_and_its_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.db"
    shutil.copy(KEPT / "v0.1.0.sqlite", path)

    def fail(_connection: object) -> None:
        raise StoreError("half-way")

    monkeypatch.setattr("db.opening._upgrade", fail)
    with pytest.raises(StoreError, match="half-way"):
        upgrade_store(f"sqlite:///{path}")
    monkeypatch.undo()
    assert revision(f"sqlite:///{path}") == "v0.1.0"
    assert (tmp_path / "x.db.v0.1.0.bak").exists()


def test_looking_at_an_older_store_does_not_upgrade_it(kept: Kept) -> None:
    url = kept("v0.1.0")
    assert [finding.kind for finding in check_store(url).findings] == ["schema"]
    assert revision(url) == "v0.1.0"


def test_a_place_without_a_store_is_not_upgraded(url: str) -> None:
    with pytest.raises(StoreError, match="no results yet"):
        upgrade_store(url)
    path = parse_target(url).path
    assert path is None or not path.exists()


class TestNewerStores:
    @pytest.fixture
    def newer(self, url: str) -> str:
        db.open_store(url).close()
        database = Database(parse_target(url), create=False)
        with database.write() as connection:
            connection.exec_driver_sql("UPDATE alembic_version SET version_num = 'v9.9.9'")
            connection.exec_driver_sql("ALTER TABLE run ADD COLUMN of_later INTEGER")
        database.close()
        return url

    @pytest.mark.parametrize("do", [db.open_store, upgrade_store, check_store], ids=["open", "upgrade", "check"])
    def test_it_is_refused_without_being_touched(self, do: Callable[[str], object], newer: str) -> None:
        path = parse_target(newer).path
        before = None if path is None else (digest(path), path.stat().st_mtime_ns)
        with pytest.raises(StoreError, match=r"newer version of pto-tune \(schema v9\.9\.9"):
            do(newer)
        database = Database(parse_target(newer), create=False)
        with database.read() as connection:
            assert connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar() == "v9.9.9"
            assert connection.exec_driver_sql("SELECT of_later FROM run").all() == []
        database.close()
        if path is not None:
            assert (digest(path), path.stat().st_mtime_ns) == before
            assert [file for file in path.parent.iterdir() if file.name.startswith(path.name)] == [path]

    def test_the_log_that_its_killed_writer_left_stays_too(self, tmp_path: Path) -> None:
        path = tmp_path / "x.db"
        db.open_store(f"sqlite:///{path}").close()
        program = (
            "import os, sqlite3, sys\n"
            "connection = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
            "connection.execute(\"UPDATE alembic_version SET version_num = 'v9.9.9'\")\n"
            "os._exit(0)\n"
        )
        subprocess.run([sys.executable, "-c", program, str(path)], check=True)
        log = tmp_path / "x.db-wal"
        before = digest(path), digest(log)
        assert log.stat().st_size > 0
        for do in (db.open_store, upgrade_store, check_store):
            with pytest.raises(StoreError, match=r"newer version of pto-tune \(schema v9\.9\.9"):
                do(f"sqlite:///{path}")
            assert (digest(path), digest(log)) == before
