"""Runs and measurements from one store into another: a portable file out, any store in.

The portable file is an SQLite store with the chosen runs only, so whatever reads a store reads it.
"""

import contextlib
import os
import secrets
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, select

from db.copying import COPYING, copy_run, same_runs
from db.engine import Database
from db.errors import StoreError, shorten
from db.health import is_live, one_state
from db.measured import measurement_values
from db.measurements import insert_new
from db.models import MeasurementRow
from db.opening import as_it_is, up_to_date
from db.pruning import delete_in_steps
from db.records import DEAD_AFTER_S
from db.revisions import HEAD
from db.runs import find_id, load_run, load_runs
from db.streams import content_sha256
from db.urls import Target, parse_target

if TYPE_CHECKING:
    from db.records import Run

_MEASUREMENTS = 1_000


@dataclass(frozen=True)
class Exported:
    """What a file was given: runs as they are in it, configurations, measurements; its bytes."""

    store: str
    path: Path
    runs: tuple["Run", ...]
    configurations: int
    measurements: int
    bytes: int


@dataclass(frozen=True)
class Imported:
    """What a store was given.

    Attributes:
        store, source: the two databases, without passwords.
        taken: (run of the source, run as it is here now).
        already: (run of the source, the same run here).
        configurations: rows taken.
        measurements, known_measurements: measurements taken, and those that were there already.
    """

    store: str
    source: str
    taken: tuple[tuple["Run", "Run"], ...]
    already: tuple[tuple["Run", "Run"], ...]
    configurations: int
    measurements: int
    known_measurements: int


def export_runs(
    refs: Sequence[str | int],
    path: str | Path,
    url: str | None = None,
    *,
    measurements: bool = False,
    force: bool = False,
    copied: Callable[["Run"], object] | None = None,
) -> Exported:
    """Write runs with their configurations and accounts into one new file, complete or not at all.

    Args:
        refs: numbers, names or ``latest``; a run named twice goes once.
        path: the file.
        measurements: all measurements of the store go along.
        force: replace a file that is there.
        copied: called with each run that is in the file.

    Raises:
        StoreError: no such run, or somebody is writing it; a file is there, or none can be made there.
    """
    target = Path(os.path.abspath(path))
    if target.exists() and not (force and target.is_file()):
        raise StoreError(f"{target} is there already: name another file, or have it replaced")
    if not refs and not measurements:
        raise StoreError("nothing is to be exported: name a run, or ask for the measurements")
    with closing(up_to_date(url, create=False)) as source, _new_file(target) as place:
        rows = n = 0
        with source.read() as connection, closing(up_to_date(place, create=True)) as out:
            one_state(connection)
            runs = [load_run(connection, i, source.shown) for i in _numbers(connection, refs, source.shown)]
            _refuse_live(runs, source.shown)
            made = []
            for run in runs:
                copy, of_run = copy_run(connection, run, source.shown, out)
                made.append(copy)
                rows += of_run
                if copied is not None:
                    copied(copy)
            if measurements:
                n, _ = _copy_measurements(connection, out)
        assert place.path is not None
        _settle(place.path)
        size = place.path.stat().st_size
    return Exported(source.shown, target, tuple(made), rows, n, size)


def import_runs(
    source: str | Path,
    url: str | None = None,
    *,
    measurements: bool = True,
    copied: Callable[["Run"], object] | None = None,
) -> Imported:
    """Take all runs of another store that are not here yet. What is there is neither changed nor upgraded.

    A run is here already where one with the same specification, time of creation, rows and accounts is. If the same
    run is here in another state of progress, that of the source is taken beside it. A name that is taken gets a number.

    Args:
        source: an SQLite file, one that :func:`export_runs` wrote or any other store's; or a database URL.
        url: the store that takes them, made where there is none.
        measurements: take measurements too; one that is here already is not taken again.
        copied: called with each run that was taken.

    Raises:
        StoreError: the source is no store, is of a newer release, or has what no store of ours has; somebody is
            importing the same run. Runs that were complete before the error stay, and are not taken again.
    """
    with _readable(source) as given, given.read() as connection, closing(up_to_date(url, create=True)) as target:
        one_state(connection)
        if given.is_sqlite:
            # The file may come from a stranger: nothing in its schema may call a function.
            connection.exec_driver_sql("PRAGMA trusted_schema = OFF")
        runs = sorted(_loaded(connection, given.shown), key=lambda run: run.id)
        _refuse_live(runs, given.shown)
        taken, already, rows = [], [], 0
        for run in runs:
            same, others = _same_run(connection, run, target)
            if same is not None:
                already.append((run, same))
                continue
            copy, of_run = copy_run(connection, run, given.shown, target, others)
            taken.append((run, copy))
            rows += of_run
            if copied is not None:
                copied(copy)
        added, known = _copy_measurements(connection, target) if measurements else (0, 0)
        return Imported(target.shown, given.shown, tuple(taken), tuple(already), rows, added, known)


def _numbers(connection: Connection, refs: Sequence[str | int], where: str) -> list[int]:
    return sorted({find_id(connection, ref, where) for ref in refs})


def _refuse_live(runs: Sequence["Run"], where: str) -> None:
    for run in runs:
        if is_live(run):
            raise StoreError(f"run {run.id} ({shorten(run.name, 60)}) in {where} is running: wait until it is done")


def _loaded(connection: Connection, where: str) -> list["Run"]:
    try:
        return load_runs(connection)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise StoreError(f"the runs in {where} cannot be read: {shorten(str(error))}") from None


def _same_run(source: Connection, run: "Run", target: Database) -> "tuple[Run | None, list[int]]":
    """The run of ``target`` that is ``run``, and the numbers of those that are other states of it.

    What an import that was killed left of it is deleted.

    Raises:
        StoreError: another import of it is under way.
    """
    with target.read() as connection:
        here = same_runs(connection, run)
    digest = None
    for found in here:
        if found.state == "running" and found.message.startswith(COPYING):
            if is_live(found):
                raise StoreError(
                    f"run {found.id} in {target.shown} is a copy of it that gave a sign of life "
                    f"{found.heartbeat_age_s:.0f} s ago: wait for it, or try again after {DEAD_AFTER_S:.0f} s"
                )
            delete_in_steps(target, found.id, found.message)
            continue
        if found.n_evaluated != run.n_evaluated:
            continue
        digest = digest or content_sha256(source, run)
        with target.read() as connection:
            one_state(connection)
            if content_sha256(connection, found) == digest:
                return found, []
    return None, [found.id for found in here]


def _copy_measurements(source: Connection, target: Database) -> tuple[int, int]:
    """How many were added, and how many were there already."""
    from db.measured import measurement_from_row

    last = added = known = 0
    while True:
        query = select(MeasurementRow.__table__).where(MeasurementRow.id > last).order_by(MeasurementRow.id)
        found = [dict(row) for row in source.execute(query.limit(_MEASUREMENTS)).mappings()]
        if not found:
            return added, known
        last = found[-1]["id"]
        try:
            read = [measurement_from_row(row) for row in found]
            values = [measurement_values(m, f"measurement {m.id}") for m in read]
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise StoreError(f"the measurements cannot be read: {shorten(str(error))}") from None
        with target.write() as connection:
            target.one_at_a_time(connection)
            new = insert_new(connection, values)
        added, known = added + new, known + len(found) - new


@contextmanager
def _new_file(target: Path) -> Iterator[Target]:
    """A place beside ``target`` that takes its name in the end, or goes."""
    place = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}")
    try:
        try:
            place.open("xb").close()
        except OSError as error:
            raise StoreError(f"{target} cannot be made: {error.strerror or 'the path is not usable'}") from None
        yield Target(shown=str(target), path=place)
        os.replace(place, target)
    finally:
        for ending in ("", "-wal", "-shm", "-journal"):
            with contextlib.suppress(OSError):
                os.unlink(f"{place}{ending}")


def _settle(path: Path) -> None:
    """Let the file be all there is: without a log beside it, wherever it is read."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE").fetchall()


@contextmanager
def _readable(source: str | Path) -> Iterator[Database]:
    """The database of another store in this release's schema: an older file is copied and the copy upgraded."""
    word = str(source)
    if "\x00" in word:
        raise StoreError("a file's name has no NUL characters: name the file to import")
    place = parse_target(word) if "://" in word else Target(shown=shorten(word, 200), path=Path(os.path.abspath(word)))
    if place.path is not None and not place.path.exists():
        raise StoreError(f"there is no file {place.shown}: name one that 'pto-tune db export' wrote")
    with as_it_is(place) as (database, revision):
        if revision == HEAD:
            yield database
            return
        if place.path is None:
            raise StoreError(f"{place.shown} has the schema {revision}, not yet {HEAD}: upgrade it first")
        with tempfile.TemporaryDirectory(prefix="pto-tune-") as folder:
            copy = Target(shown=place.shown, path=Path(folder) / "copy.db")
            with database.raw() as connection, closing(sqlite3.connect(str(copy.path))) as made:
                connection.backup(made)
            with closing(up_to_date(copy, create=False)) as upgraded:
                yield upgraded
