"""Opening a store: find the database, check whose it is, bring its schema to this release's.

Nothing is written before the schema's revision is known to be ours, so a store of a newer release and a
database of another program stay as they are.
"""

import sqlite3
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect, text

from db.engine import BUSY_TIMEOUT_S, Database
from db.errors import StoreError, shorten
from db.revisions import HEAD, REVISIONS
from db.urls import Target, parse_target

if TYPE_CHECKING:
    from db.store import Store

MIGRATIONS = Path(__file__).parent / "migrations"

_VERSION_TABLE = "alembic_version"
_FIRST_TABLES = frozenset({"run", "configuration", "account"})
_OUR_TABLES = _FIRST_TABLES | {"measurement"}
# What a store of each revision has.
_TABLES = {"v0.1.0": _FIRST_TABLES, "v0.2.0": _OUR_TABLES}

# Alembic keeps its current context in module globals.
_one_migration = threading.Lock()


def open_store(url: str | None = None, create: bool = True) -> "Store":
    """Open the store at ``url``, making it or upgrading its schema where needed.

    Args:
        url: ``sqlite:///FILE`` or ``postgresql://USER@HOST/DATABASE``; None takes the environment variable
            PTO_TUNE_DB, or ``sqlite:///pto-tune.db`` in the current folder.
        create: make a store where there is none.

    Returns:
        The open store; a context manager. A file that may only be read opens for reading.

    Raises:
        StoreError: no store there and ``create`` is false; a malformed or unknown URL; not a database, or one
            of another program or a newer release (left untouched); no permission; no connection.
    """
    from db.store import Store

    target = parse_target(url)
    if target.path is not None:
        _check_file(target.path, target.shown, create)
    database = Database(target, create=create)
    try:
        _bring_up_to_date(database, target, create)
    except BaseException:
        database.close()
        raise
    return Store(database)


def _no_results(shown: str) -> StoreError:
    return StoreError(f"no results yet in {shown}: run 'pto-tune tune ...' first")


def _check_file(path: Path, shown: str, create: bool) -> None:
    try:
        if path.is_dir():
            raise StoreError(f"{shown} is a folder: name a file in it, such as {shown.rstrip('/')}/pto-tune.db")
        if path.exists():
            if not path.is_file():
                raise StoreError(f"{shown} is not a regular file: name another file")
            return
        if not create:
            raise _no_results(shown)
        if not path.parent.is_dir():
            raise StoreError(f"{shown} cannot be made, there is no folder {shorten(str(path.parent))}: make it first")
    except OSError as error:
        raise StoreError(f"{shown} cannot be opened: {error.strerror or 'the path is not usable'}") from None


def _bring_up_to_date(database: Database, target: Target, create: bool) -> None:
    with database.read() as connection:
        revision = _revision(connection, database)
    if revision == HEAD:
        return
    if revision is None and not create:
        raise _no_results(database.shown)
    if database.read_only:
        what = "holds no store" if revision is None else f"has the schema of {revision}, not yet {HEAD}"
        raise StoreError(
            f"{database.shown} {what} and is read-only: make the file and its folder writable, then open it again"
        )
    if target.path is not None:
        _write_ahead(database)
    with _one_migration, database.write() as connection:
        database.one_at_a_time(connection)
        # Another process may have been quicker.
        if _revision(connection, database) != HEAD:
            _upgrade(connection)


def _revision(connection: Connection, database: Database) -> str | None:
    """The schema's revision; None for a database without any table of ours.

    Raises:
        StoreError: a revision that this release does not know, tables of another program, missing tables.
    """
    tables = set(inspect(connection).get_table_names())
    if _VERSION_TABLE not in tables:
        foreign = tables if database.is_sqlite else tables & _OUR_TABLES
        if foreign:
            raise StoreError(
                f"{database.shown} belongs to another program (it has a table "
                f"'{shorten(min(foreign), 60)}'): choose another database"
            )
        return None
    found = list(connection.execute(text("SELECT version_num FROM alembic_version")).scalars())
    if not found and not tables & _OUR_TABLES:
        return None
    revision = ", ".join(sorted(map(str, found))) or "none"
    if revision not in REVISIONS:
        raise StoreError(
            f"{database.shown} was made by a newer version of pto-tune (schema {shorten(revision, 60)}, this "
            f"one knows {HEAD}): install a newer pto-tune or choose another database"
        )
    missing = sorted(_TABLES[revision] - tables)
    if missing:
        raise StoreError(
            f"{database.shown} is damaged, its table '{missing[0]}' is gone: put back a copy of it, or "
            "choose another database"
        )
    return revision


def _write_ahead(database: Database) -> None:
    """Switch an SQLite file to write-ahead logging, so that readers and a writer do not stop each other.

    The switch needs the file alone and does not wait by itself. A file system without shared memory keeps
    the old journal: slower, still correct.
    """
    deadline = time.monotonic() + BUSY_TIMEOUT_S
    with database.raw() as connection:
        while True:
            try:
                connection.execute("PRAGMA journal_mode = WAL").fetchall()
                return
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise
                time.sleep(0.05)


def _upgrade(connection: Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    # The configuration parser reads a per cent sign as the start of a reference.
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
