"""Opening a store: what is made, what is read, what is refused and left as it is."""

import contextlib
import os
import shutil
import socket
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import inspect

import db
from db import RunSpec, StoreError
from db.engine import Database
from db.urls import parse_target

MakeSpec = Callable[..., RunSpec]


def one_sentence(error: BaseException) -> str:
    text = str(error)
    assert "\n" not in text
    assert "Traceback" not in text
    return text


@pytest.fixture
def public_folder(spec: MakeSpec) -> Iterator[Path]:
    """A folder that another user may look into, unlike pytest's."""
    folder = Path(tempfile.mkdtemp(prefix="pto-tune-test-"))
    # Load all that is loaded on first use, because that user need not be able to read the project.
    with db.open_store(f"sqlite:///{folder}/first-use.db") as store:
        run = store.create_run(spec())
        store.add_configurations(run.id, {"verdict": np.zeros(1, dtype=np.int64)}, 0)
        store.add_accounts(run.id, [(0, "busy", "AIC.M", 1)])
        store.configurations(run.id)
    (folder / "first-use.db").unlink()
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@contextlib.contextmanager
def nobody() -> Iterator[None]:
    """Act as a user without rights, if the tests run as the one to whom everything is allowed."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


class TestBothDatabases:
    def test_a_place_without_a_store_has_no_results_yet(self, url: str) -> None:
        with pytest.raises(StoreError, match=r"no results yet in .*: run 'pto-tune tune \.\.\.' first"):
            db.open_store(url, create=False)

    def test_opening_twice_changes_nothing(self, url: str, spec: MakeSpec) -> None:
        with db.open_store(url) as first, db.open_store(url) as second:
            run = first.create_run(spec())
            assert [found.id for found in second.runs()] == [run.id]

    def test_a_store_of_a_newer_release_is_refused(self, url: str) -> None:
        db.open_store(url).close()
        database = Database(parse_target(url), create=False)
        with database.write() as connection:
            connection.exec_driver_sql("UPDATE alembic_version SET version_num = 'v9.9.9'")
        database.close()
        for create in (True, False):
            with pytest.raises(StoreError, match=r"made by a newer version of pto-tune \(schema v9\.9\.9") as e:
                db.open_store(url, create=create)
            assert "install a newer pto-tune" in one_sentence(e.value)

    def test_a_store_that_lost_a_table_is_called_damaged(self, url: str) -> None:
        db.open_store(url).close()
        database = Database(parse_target(url), create=False)
        with database.write() as connection:
            connection.exec_driver_sql("DROP TABLE account")
        database.close()
        with pytest.raises(StoreError, match="is damaged, its table 'account' is gone"):
            db.open_store(url)

    def test_a_table_of_another_program_is_not_taken_over(self, url: str) -> None:
        database = Database(parse_target(url), create=True)
        with database.write() as connection:
            connection.exec_driver_sql("CREATE TABLE run (distance INTEGER)")
        database.close()
        with pytest.raises(StoreError, match=r"belongs to another program .*'run'.*choose another database"):
            db.open_store(url)

    def test_a_transaction_that_fails_leaves_nothing(self, url: str) -> None:
        db.open_store(url).close()
        database = Database(parse_target(url), create=False)

        def fail_half_way() -> None:
            with database.write() as connection:
                connection.exec_driver_sql("CREATE TABLE half (a INTEGER)")
                raise RuntimeError

        with pytest.raises(RuntimeError):
            fail_half_way()
        with database.read() as connection:
            assert not inspect(connection).has_table("half")
            assert inspect(connection).has_table("run")
        database.close()


class TestSqliteFiles:
    def test_the_store_is_one_file_in_write_ahead_mode(self, tmp_path: Path, spec: MakeSpec) -> None:
        path = tmp_path / "融合 a b#.db"
        with db.open_store(f"sqlite:///{path}") as store:
            store.create_run(spec())
        assert list(tmp_path.iterdir()) == [path]
        with contextlib.closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)

    def test_every_connection_checks_foreign_keys(self, tmp_path: Path) -> None:
        database = Database(parse_target(f"sqlite:///{tmp_path}/x.db"), create=True)
        with database.read() as first, database.read() as second:
            for connection in (first, second):
                assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1
                assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 1
                assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == 30_000
        database.close()

    def test_a_writer_takes_its_turn_at_the_start(self, tmp_path: Path) -> None:
        database = Database(parse_target(f"sqlite:///{tmp_path}/x.db"), create=True)
        path = tmp_path / "x.db"
        with (
            database.write(),
            contextlib.closing(sqlite3.connect(path, timeout=0)) as other,
            pytest.raises(sqlite3.OperationalError, match="locked"),
        ):
            other.execute("BEGIN IMMEDIATE")
        with database.read(), contextlib.closing(sqlite3.connect(path, timeout=0)) as other:
            other.execute("BEGIN IMMEDIATE")
        database.close()

    def test_a_writer_that_never_gets_its_turn_says_so(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: MakeSpec
    ) -> None:
        monkeypatch.setattr("db.engine.BUSY_TIMEOUT_S", 0.05)
        path = tmp_path / "x.db"
        with db.open_store(f"sqlite:///{path}") as store:
            with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                with pytest.raises(StoreError, match="was locked by another process") as caught:
                    store.create_run(spec())
                one_sentence(caught.value)
                assert store.runs() == []
                other.execute("ROLLBACK")
            assert store.create_run(spec()).state == "running"

    def test_an_empty_file_becomes_a_store(self, tmp_path: Path) -> None:
        path = tmp_path / "x.db"
        path.touch()
        with pytest.raises(StoreError, match="no results yet"):
            db.open_store(f"sqlite:///{path}", create=False)
        assert path.stat().st_size == 0
        with db.open_store(f"sqlite:///{path}") as store:
            assert store.runs() == []

    @pytest.mark.parametrize("content", [b"hello", b"not a database, but long enough to look at\n" * 300])
    def test_a_file_that_is_no_database_is_left_alone(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "notes.txt"
        path.write_bytes(content)
        for create in (True, False):
            with pytest.raises(StoreError, match="is not an SQLite database: name another file") as caught:
                db.open_store(f"sqlite:///{path}", create=create)
            one_sentence(caught.value)
        assert path.read_bytes() == content
        assert list(tmp_path.iterdir()) == [path]

    def test_a_database_of_another_program_is_left_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "x.db"
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE songs (name TEXT)")
        before = path.read_bytes()
        with pytest.raises(StoreError, match=r"belongs to another program .*'songs'"):
            db.open_store(f"sqlite:///{path}")
        assert path.read_bytes() == before
        assert list(tmp_path.iterdir()) == [path]

    def test_a_newer_store_is_left_alone(self, tmp_path: Path) -> None:
        path = tmp_path / "x.db"
        db.open_store(f"sqlite:///{path}").close()
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("UPDATE alembic_version SET version_num = 'v9.9.9'")
            connection.commit()
            connection.execute("PRAGMA journal_mode = DELETE")
        before = path.read_bytes()
        with pytest.raises(StoreError, match="newer version"):
            db.open_store(f"sqlite:///{path}")
        assert path.read_bytes() == before
        assert list(tmp_path.iterdir()) == [path]

    def test_a_damaged_store_says_so(self, tmp_path: Path) -> None:
        path = tmp_path / "x.db"
        db.open_store(f"sqlite:///{path}").close()
        path.write_bytes(path.read_bytes()[:100] + bytes(4000))
        with pytest.raises(StoreError, match=r"is damaged|is not an SQLite database") as caught:
            db.open_store(f"sqlite:///{path}")
        one_sentence(caught.value)

    def test_a_folder_and_a_missing_folder_and_a_device_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises(StoreError, match="is a folder: name a file in it"):
            db.open_store(f"sqlite:///{tmp_path}")
        with pytest.raises(StoreError, match=r"there is no folder .*missing: make it first"):
            db.open_store(f"sqlite:///{tmp_path}/missing/x.db")
        with pytest.raises(StoreError, match="no results yet"):
            db.open_store(f"sqlite:///{tmp_path}/missing/x.db", create=False)
        with pytest.raises(StoreError, match="is not a regular file"):
            db.open_store("sqlite:////dev/null")
        with pytest.raises(StoreError, match="cannot be opened"):
            db.open_store(f"sqlite:///{tmp_path}/{'x' * 300}.db")
        assert list(tmp_path.iterdir()) == []


class TestReadOnly:
    @pytest.fixture
    def kept(self, public_folder: Path, spec: MakeSpec) -> Path:
        path = public_folder / "kept.db"
        with db.open_store(f"sqlite:///{path}") as store:
            run = store.create_run(spec(name="kept"))
            store.add_configurations(run.id, {"verdict": np.zeros(3, dtype=np.int64)}, 0)
        return path

    @pytest.mark.parametrize(("file_mode", "folder_mode"), [(0o444, 0o555), (0o644, 0o555), (0o444, 0o755)])
    @pytest.mark.parametrize("create", [True, False])
    def test_a_store_that_may_not_be_written_can_be_read(
        self, kept: Path, spec: MakeSpec, file_mode: int, folder_mode: int, create: bool
    ) -> None:
        kept.chmod(file_mode)
        kept.parent.chmod(folder_mode)
        before = kept.read_bytes()
        with nobody(), db.open_store(f"sqlite:///{kept}", create=create) as store:
            assert store.read_only
            run = store.find_run("latest")
            assert run.name == "kept"
            assert store.configurations(run.id, ["row"])["row"].tolist() == [0, 1, 2]
            for write in (
                lambda: store.create_run(spec()),
                lambda: store.progress(run.id, 1),
                lambda: store.delete_run("kept"),
            ):
                with pytest.raises(StoreError, match="is read-only: make the file and its folder writable"):
                    write()
        assert kept.read_bytes() == before
        assert list(kept.parent.iterdir()) == [kept]

    @pytest.mark.skipif(os.geteuid() != 0, reason="needs two users")
    def test_a_reader_without_rights_sees_what_the_owner_writes_meanwhile(self, kept: Path, spec: MakeSpec) -> None:
        with db.open_store(f"sqlite:///{kept}") as owner:
            with nobody():
                reader = db.open_store(f"sqlite:///{kept}", create=False)
                assert len(reader.runs()) == 1
            owner.create_run(spec(name="second"))
            with nobody():
                assert [run.name for run in reader.runs()] == ["second", "kept"]
        with nobody():
            assert [run.name for run in reader.runs()] == ["second", "kept"]
            reader.close()

    def test_a_store_cannot_be_made_in_a_folder_that_may_not_be_written(self, public_folder: Path) -> None:
        public_folder.chmod(0o555)
        with nobody():
            with pytest.raises(StoreError, match="cannot be opened: its folder must exist, and") as caught:
                db.open_store(f"sqlite:///{public_folder}/new.db")
            one_sentence(caught.value)
        assert list(public_folder.iterdir()) == []

    def test_an_empty_file_that_may_not_be_written_holds_no_store(self, public_folder: Path) -> None:
        path = public_folder / "empty.db"
        path.touch()
        path.chmod(0o444)
        public_folder.chmod(0o555)
        with nobody():
            with pytest.raises(StoreError, match="holds no store and is read-only"):
                db.open_store(f"sqlite:///{path}")
            with pytest.raises(StoreError, match="no results yet"):
                db.open_store(f"sqlite:///{path}", create=False)

    def test_a_file_that_may_not_be_read_is_refused(self, kept: Path) -> None:
        kept.chmod(0o000)
        with nobody():
            with pytest.raises(StoreError, match="cannot be opened") as caught:
                db.open_store(f"sqlite:///{kept}")
            one_sentence(caught.value)


class TestPostgresql:
    def test_a_missing_driver_names_what_to_install(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "psycopg", None)
        with pytest.raises(StoreError, match=r"run pip install 'pto-tune\[postgres\]'") as caught:
            db.open_store("postgresql://me:secret@host/results")
        assert "secret" not in one_sentence(caught.value)

    def test_a_server_that_does_not_answer(self) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            port = taken.getsockname()[1]
            with pytest.raises(StoreError, match=rf"me:\*\*\*@127.0.0.1:{port}/results answered") as caught:
                db.open_store(f"postgresql://me:secret@127.0.0.1:{port}/results")
        assert "secret" not in one_sentence(caught.value)

    def test_a_database_that_is_not_there(self, postgres_url: str) -> None:
        with pytest.raises(StoreError, match='database "nowhere" does not exist') as caught:
            db.open_store(postgres_url.replace("/postgres?", "/nowhere?"))
        one_sentence(caught.value)

    def test_options_that_the_driver_does_not_know(self) -> None:
        with pytest.raises(StoreError) as caught:
            db.open_store("postgresql://me:secret@127.0.0.1/results?colour=blue")
        assert "secret" not in one_sentence(caught.value)

    def test_tables_of_other_programs_may_lie_beside_ours(self, postgres_place: Callable[[], str]) -> None:
        url = postgres_place()
        database = Database(parse_target(url), create=True)
        with database.write() as connection:
            connection.exec_driver_sql("CREATE TABLE songs (name TEXT)")
        database.close()
        with db.open_store(url) as store:
            assert store.runs() == []
