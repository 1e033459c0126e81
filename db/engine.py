"""Connections: one engine a database, transactions that say beforehand whether they write.

On SQLite the driver's own BEGIN is off. A transaction that writes starts with BEGIN IMMEDIATE and so waits
for its turn at the start, where waiting is possible; one that reads starts with a plain BEGIN and sees one
state.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, NullPool, QueuePool, create_engine, event, text
from sqlalchemy.exc import SQLAlchemyError

from db.errors import StoreError, explain_driver_error, is_integrity_error
from db.staging import detach
from db.urls import Target, redact

BUSY_TIMEOUT_S = 30.0
CONNECT_TIMEOUT_S = 10
# At most, by connection: the index by cycles is written all over, and SQLite's own 2 MiB do not hold it.
CACHE_KIB = 65_536

# One key for everything that has to happen one process at a time on PostgreSQL: "pto-tune" in ASCII.
_ADVISORY_LOCK = int.from_bytes(b"pto-tune", "big")
_WRITES = "pto_tune_writes"


class Database:
    """An open database: hands out transactions and turns driver errors into :class:`StoreError`.

    Threads may share it. It is not carried across a fork: the child opens its own.

    Attributes:
        shown: the URL without a password.
        read_only: the database may be read but not written.
        is_sqlite: SQLite rather than PostgreSQL.
    """

    def __init__(self, target: Target, *, create: bool) -> None:
        self.shown = target.shown
        self.is_sqlite = target.path is not None
        self.read_only = target.path is not None and target.path.exists() and not _writable(target.path)
        self._secret = target.secret
        self._errors: tuple[type[Exception], ...]
        if target.path is not None:
            self._errors = (SQLAlchemyError, sqlite3.Error)
            self._engine = _sqlite_engine(target.path, create=create, read_only=self.read_only)
        else:
            self._engine, driver_error = _postgresql_engine(target)
            self._errors = (SQLAlchemyError, driver_error)
        self._writer = self._engine.execution_options(**{_WRITES: True})
        self._closed = False

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that only reads."""
        self._must_be_open()
        with self._told(None), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def write(self, conflict: str | None = None) -> Iterator[Connection]:
        """A transaction that writes: all of it is kept, or nothing.

        Args:
            conflict: the sentence to raise where a key is taken or missing.
        """
        self._must_be_open()
        if self.read_only:
            raise StoreError(
                f"{self.shown} is read-only: make the file and its folder writable, or choose another database"
            )
        with self._told(conflict), self._writer.begin() as connection:
            yield connection

    def one_at_a_time(self, connection: Connection) -> None:
        """Wait until no other process is in such a section; it ends with the transaction.

        On SQLite a write transaction is one already.
        """
        if not self.is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _ADVISORY_LOCK})

    @contextmanager
    def raw(self) -> Iterator[Any]:
        """The driver's connection outside any transaction, for what SQLite does only there."""
        with self._told(None):
            connection = self._engine.raw_connection()
            try:
                yield connection.driver_connection
            finally:
                connection.close()

    def close(self) -> None:
        """Close every connection; later use raises :class:`StoreError`."""
        self._closed = True
        self._engine.dispose()

    def _must_be_open(self) -> None:
        if self._closed:
            raise StoreError(f"the store {self.shown} is closed: open it again with open_store")

    @contextmanager
    def _told(self, conflict: str | None) -> Iterator[None]:
        try:
            yield
        except self._errors as error:
            cause = getattr(error, "orig", None) or error
            if conflict is not None and is_integrity_error(cause):
                raise StoreError(conflict) from error
            raise StoreError(explain_driver_error(error, self.shown, self._secret)) from error


def _writable(path: Path) -> bool:
    """Whether SQLite could write ``path``: the file, and its folder for the log beside it."""
    effective = os.access in os.supports_effective_ids
    return all(os.access(place, os.W_OK, effective_ids=effective) for place in (path, path.parent))


def _sqlite_engine(path: Path, *, create: bool, read_only: bool) -> Engine:
    def connect() -> sqlite3.Connection:
        mode = _read_only_mode(path) if read_only else ("mode=rwc" if create else "mode=rw")
        connection = sqlite3.connect(
            f"{path.as_uri()}?{mode}",
            uri=True,
            timeout=BUSY_TIMEOUT_S,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    if read_only:
        # A new connection each time: how such a file is read depends on whether somebody writes it now.
        engine = create_engine("sqlite://", creator=connect, poolclass=NullPool)
    else:
        engine = create_engine("sqlite://", creator=connect, poolclass=QueuePool, pool_size=5, max_overflow=-1)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get(_WRITES, False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    @event.listens_for(engine, "checkin")
    def checkin(driver: sqlite3.Connection | None, _record: Any) -> None:
        # What a transaction staged goes when it has ended, not before: it was read in it.
        if driver is not None:
            detach(driver)

    return engine


def _read_only_mode(path: Path) -> str:
    """How to open a file that cannot be written.

    While somebody else has it open, its log and index lie beside it and SQLite needs both. If they are not
    there, nobody writes and the file is complete; SQLite then has to be told so, as it cannot make an index.
    Limit: a writer that starts within one reading transaction is not noticed.
    """
    beside = [path.with_name(path.name + ending) for ending in ("-wal", "-shm")]
    return "mode=ro" if any(file.exists() for file in beside) else "mode=ro&immutable=1"


def _postgresql_engine(target: Target) -> tuple[Engine, type[Exception]]:
    assert target.url is not None
    try:
        import psycopg

        options = {} if "connect_timeout" in target.url.query else {"connect_timeout": CONNECT_TIMEOUT_S}
        engine = create_engine(target.url, pool_pre_ping=True, connect_args=options)
    except ImportError:
        raise StoreError(f"{target.shown} needs the PostgreSQL driver: run pip install 'pto-tune[postgres]'") from None
    except (SQLAlchemyError, ValueError, TypeError):
        raise StoreError(
            f"'{redact(target.shown)}' is not a URL of PostgreSQL: write postgresql://USER@HOST/DATABASE"
        ) from None
    return engine, psycopg.Error
