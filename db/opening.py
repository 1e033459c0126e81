"""Opening a store: find the database, check whose it is, bring its schema to this release's.

Nothing is written before the schema's revision is known to be ours, so a store of a newer release and a
database of another program stay as they are.
"""

import contextlib
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect, text

from db.engine import BUSY_TIMEOUT_S, Database
from db.errors import StoreError, shorten
from db.revisions import HEAD, REVISIONS
from db.urls import Target, parse_target

if TYPE_CHECKING:
    from alembic.config import Config

    from db.store import Store

MIGRATIONS = Path(__file__).parent / "migrations"

_VERSION_TABLE = "alembic_version"
_FIRST_TABLES = frozenset({"run", "configuration", "account"})
_OUR_TABLES = _FIRST_TABLES | {"measurement"}
# What a store of each revision has.
_TABLES = {"v0.1.0": _FIRST_TABLES, "v0.2.0": _OUR_TABLES, "v0.3.0": _OUR_TABLES}

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

    return Store(up_to_date(url, create))


def up_to_date(place: str | Target | None, create: bool) -> Database:
    """The database behind :func:`open_store`, for what is done to a store as a whole. To be closed by the caller."""
    target = place if isinstance(place, Target) else parse_target(place)
    if target.path is not None:
        _check_file(target.path, target.shown, create)
        _refuse_newer_log(target.path, target.shown)
    database = Database(target, create=create)
    try:
        _bring_up_to_date(database, target, create)
    except BaseException:
        database.close()
        raise
    return database


@contextmanager
def as_it_is(place: str | Target | None) -> Iterator[tuple[Database, str]]:
    """The database of a store that is there, and the schema revision that it has: nothing is made or upgraded.

    Raises:
        StoreError: as :func:`open_store`.
    """
    target = place if isinstance(place, Target) else parse_target(place)
    if target.path is not None:
        _check_file(target.path, target.shown, create=False)
        _refuse_newer_log(target.path, target.shown)
    database = Database(target, create=False)
    try:
        with database.read() as connection:
            revision = _revision(connection, database)
        if revision is None:
            raise _no_results(target.shown)
        yield database, revision
    finally:
        database.close()


def upgrade_schema(database: Database, before: Callable[[str], None] | None = None) -> str:
    """Bring the schema to this release's; the revision that it had when its turn came, "" for none.

    Args:
        before: called with that revision while nobody else may write, before anything is changed.
    """
    with _one_migration, database.write() as connection:
        database.one_at_a_time(connection)
        # Another process may have been quicker.
        found = _revision(connection, database)
        if found != HEAD:
            if before is not None:
                before(found or "")
            _upgrade(connection)
    return found or ""


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
    upgrade_schema(database)


def _refuse_newer_log(path: Path, shown: str) -> None:
    """Refuse a store of a newer release whose last writer left its log behind.

    The last connection that closes such a file carries the log over into it, if it may write; so this is looked
    up by one that may only read. What it cannot read is left to the ordinary way, which says what is wrong.
    """
    log = path.with_name(f"{path.name}-wal")
    try:
        if not log.stat().st_size:
            return
    except OSError:
        return
    with contextlib.suppress(sqlite3.Error):
        connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True, isolation_level=None)
        with contextlib.closing(connection):
            found = [str(name) for (name,) in connection.execute(f"SELECT version_num FROM {_VERSION_TABLE}")]
        revision = ", ".join(sorted(found))
        if found and revision not in REVISIONS:
            raise _newer(shown, revision)


def _newer(shown: str, revision: str) -> StoreError:
    return StoreError(
        f"{shown} was made by a newer version of pto-tune (schema {shorten(revision, 60)}, this one knows {HEAD}): "
        "install a newer pto-tune or choose another database"
    )


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
        raise _newer(database.shown, revision)
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

    config = migration_config()
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def migration_config() -> "Config":
    """Alembic's configuration: where the revisions are."""
    from alembic.config import Config

    config = Config()
    # The configuration parser reads a per cent sign as the start of a reference.
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config
