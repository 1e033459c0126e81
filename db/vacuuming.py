"""Giving the room of what was deleted back to the disk."""

import contextlib
from dataclasses import dataclass
from typing import Any

from db.engine import Database
from db.errors import StoreError
from db.health import is_live
from db.opening import up_to_date
from db.pruning import used_bytes
from db.runs import load_runs

_TABLES = "run, configuration, account, measurement"


@dataclass(frozen=True)
class Vacuumed:
    """Bytes of an SQLite file with its free pages, or of PostgreSQL's tables with their indexes."""

    store: str
    bytes_before: int
    bytes_after: int


def vacuum_store(url: str | None = None, full: bool = False) -> Vacuumed:
    """Give free room back.

    SQLite writes its file anew, for which it needs as much free disk as the file takes; PostgreSQL makes free room
    usable for later rows and renews the statistics of its planner, and with ``full`` it writes its tables anew.

    Raises:
        StoreError: no store there or a read-only one, no room on the disk; somebody is writing a run, who would be
            shut out for too long while the file is written anew.
    """
    with contextlib.closing(up_to_date(url, create=False)) as database:
        if database.read_only:
            raise StoreError(f"{database.shown} is read-only: make the file and its folder writable")
        before = _size(database)
        if database.is_sqlite or full:
            _refuse_writers(database)
        with database.raw() as connection:
            if database.is_sqlite:
                _vacuum_file(connection)
            else:
                _vacuum_tables(connection, full)
        return Vacuumed(database.shown, before, _size(database))


def _size(database: Database) -> int:
    with database.read() as connection:
        if database.is_sqlite:
            page, pages = (
                int(connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()) for name in ("page_size", "page_count")
            )
            return page * pages
        return used_bytes(connection)


def _refuse_writers(database: Database) -> None:
    with database.read() as connection:
        live = [run for run in load_runs(connection) if is_live(run)]
    if live:
        raise StoreError(
            f"run {live[0].id} in {database.shown} gave a sign of life {live[0].heartbeat_age_s:.0f} s ago and would "
            "be shut out: wait until it is done"
        )


def _vacuum_file(connection: Any) -> None:
    for statement in ("VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):
        connection.execute(statement).fetchall()


def _vacuum_tables(connection: Any, full: bool) -> None:
    # There is no VACUUM inside a transaction.
    connection.autocommit = True
    try:
        connection.execute(f"VACUUM ({'FULL, ' if full else ''}ANALYZE) {_TABLES}")
    finally:
        connection.autocommit = False
