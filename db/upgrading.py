"""Upgrading a store's schema when somebody asks for it, with a copy of the file as it was."""

import contextlib
import os
import sqlite3
import tempfile
from dataclasses import dataclass
from pathlib import Path

from db.engine import Database
from db.errors import StoreError
from db.opening import as_it_is, migration_config, upgrade_schema
from db.revisions import HEAD, REVISIONS
from db.urls import parse_target

_COPIES = 1_000


@dataclass(frozen=True)
class Upgrade:
    """What an upgrade did.

    Attributes:
        store: the database's URL, without its password.
        before, after: schema revisions; the same where there was nothing to do.
        steps: what each revision between them brought, oldest first.
        backup: the copy of the file as it was, if one was made.
    """

    store: str
    before: str
    after: str
    steps: tuple[str, ...]
    backup: Path | None


def upgrade_store(url: str | None = None, backup: bool = True) -> Upgrade:
    """Bring the schema of a store that is there to this release's, in one transaction.

    Args:
        url: as for :func:`db.open_store`.
        backup: copy an SQLite file beside itself before, as ``FILE.REVISION.bak``. A PostgreSQL database is not
            copied: that is what ``pg_dump`` is for.

    Raises:
        StoreError: no store there, one of a newer release or another program, a read-only one, a full disk. The
            store is then as it was.
    """
    path = parse_target(url).path
    copies: list[Path] = []
    with as_it_is(url) as (database, found):
        if found == HEAD:
            return Upgrade(database.shown, HEAD, HEAD, (), None)

        def keep(revision: str) -> None:
            if backup and path is not None:
                copies.append(copy_beside(database, path, revision))

        before = upgrade_schema(database, keep)
        return Upgrade(database.shown, before, HEAD, _steps(before), copies[0] if copies else None)


def copy_beside(database: Database, path: Path, revision: str) -> Path:
    """Copy an SQLite database into a new file beside it, complete or not at all."""
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        os.close(handle)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be copied beside itself: {error.strerror}; free its folder, or go without"
        ) from (error)
    try:
        with database.raw() as source, contextlib.closing(sqlite3.connect(temporary)) as target:
            source.backup(target)
        os.chmod(temporary, path.stat().st_mode & 0o777)
        for number in range(1, _COPIES):
            name = path.with_name(f"{path.name}.{revision}{'' if number == 1 else f'-{number}'}.bak")
            with contextlib.suppress(FileExistsError):
                name.open("xb").close()
                os.replace(temporary, name)
                return name
        raise StoreError(f"{path} has {_COPIES} copies beside it: move them away")
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)


def _steps(before: str) -> tuple[str, ...]:
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory.from_config(migration_config())
    docs = ((revision, scripts.get_revision(revision)) for revision in REVISIONS[REVISIONS.index(before) + 1 :])
    return tuple(f"{revision}: {script.doc.splitlines()[0] if script else ''}" for revision, script in docs)
