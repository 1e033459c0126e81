"""Retention: which runs may go, and deleting them without holding up those who write."""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from sqlalchemy import Connection, delete, func, select, text, update

from db.engine import Database
from db.errors import StoreError
from db.health import is_live, one_state
from db.models import AccountRow, ConfigurationRow, DatabaseNow, RunRow
from db.opening import up_to_date
from db.runs import load_runs

if TYPE_CHECKING:
    from db.records import Run

GIVEN_UP_AFTER_S = 3600.0
"""A running run may go where it gave no sign of life for so long. Longer than it takes to call a run dead, because what
is deleted cannot be taken up again."""

_BEING_DELETED = "being deleted"
_ROWS = 100_000


@dataclass(frozen=True)
class Retention:
    """Which runs may go: those for which every condition that is given holds.

    Attributes:
        keep: at least so many finished runs of the same workload and platform are newer.
        older_than_s: created longer ago than this, in seconds by the database's clock.
        failed: ended by an error.
    """

    keep: int | None = None
    older_than_s: float | None = None
    failed: bool = False

    def __post_init__(self) -> None:
        if self.keep is None and self.older_than_s is None and not self.failed:
            raise StoreError("nothing says which runs may go: give a number to keep, an age, or failed runs")
        if self.keep is not None and self.keep < 0:
            raise StoreError(f"the number of runs to keep is {self.keep}: it must be 0 or more")
        if self.older_than_s is not None and not self.older_than_s >= 0:
            raise StoreError(f"the age of runs to delete is {self.older_than_s} s: it must be 0 or more")


@dataclass(frozen=True)
class Pruned:
    """What was deleted, or would be.

    Attributes:
        store: the database's URL, without its password.
        runs: the runs, oldest first.
        configurations: how many rows they had.
        about_bytes: estimate of the room that they took, from their share of all rows.
        skipped: runs that somebody took up or deleted in the meantime.
    """

    store: str
    runs: tuple["Run", ...]
    configurations: int
    about_bytes: int
    skipped: tuple["Run", ...] = ()


def choose(runs: Sequence["Run"], rule: Retention) -> list["Run"]:
    """The runs that may go by ``rule``, oldest first; never one that somebody is writing."""
    newer: Counter[tuple[str, str]] = Counter()
    chosen = []
    for run in sorted(runs, key=lambda r: (r.created_at, r.id), reverse=True):
        group = (run.workload, run.platform)
        now = run.heartbeat_at + timedelta(seconds=run.heartbeat_age_s)
        goes = (
            not is_live(run, GIVEN_UP_AFTER_S)
            and (rule.keep is None or newer[group] >= rule.keep)
            and (rule.older_than_s is None or (now - run.created_at).total_seconds() > rule.older_than_s)
            and (not rule.failed or run.state == "failed")
        )
        if goes:
            chosen.append(run)
        if run.state == "done":
            newer[group] += 1
    return chosen[::-1]


def prune(
    rule: Retention,
    url: str | None = None,
    *,
    dry_run: bool = False,
    deleted: Callable[["Run"], object] | None = None,
) -> Pruned:
    """Delete the runs that ``rule`` chooses, with their configurations and accounts.

    A run is marked first and then deleted in steps, so that other writers have their turn in between. If this ends
    half-way, the run it was at is left as failed, "being deleted", and the next pruning of failed runs takes it.

    Args:
        dry_run: only say what would be deleted.
        deleted: called with each run that is gone.

    Raises:
        StoreError: no store there, a read-only one, no connection.
    """
    with closing(up_to_date(url, create=False)) as database:
        with database.read() as connection:
            one_state(connection)
            runs = choose(load_runs(connection), rule)
            sizes, about = _sizes(connection, runs)
        if dry_run:
            return Pruned(database.shown, tuple(runs), sum(sizes.values()), sum(about.values()))
        gone, skipped = [], []
        for run in runs:
            if not _mark(database, run):
                skipped.append(run)
                continue
            delete_in_steps(database, run.id, _BEING_DELETED)
            gone.append(run)
            if deleted is not None:
                deleted(run)
        rows = sum(sizes[run.id] for run in gone)
        return Pruned(database.shown, tuple(gone), rows, sum(about[run.id] for run in gone), tuple(skipped))


def _sizes(connection: Connection, runs: Sequence["Run"]) -> tuple[dict[int, int], dict[int, int]]:
    """Rows and estimated bytes by run."""
    if not runs:
        return {}, {}
    count = select(func.count()).select_from(ConfigurationRow)
    sizes = {
        run.id: int(connection.execute(count.where(ConfigurationRow.run_id == run.id)).scalar_one()) for run in runs
    }
    total = int(connection.execute(count).scalar_one())
    used = used_bytes(connection)
    return sizes, {run_id: round(used * n / max(total, 1)) for run_id, n in sizes.items()}


def used_bytes(connection: Connection) -> int:
    """Bytes that the tables of a store take, free pages of an SQLite file left out."""
    if connection.dialect.name == "sqlite":
        page, pages, free = (
            int(connection.exec_driver_sql(f"PRAGMA {name}").scalar_one())
            for name in ("page_size", "page_count", "freelist_count")
        )
        return page * (pages - free)
    tables = ", ".join(f"('{name}')" for name in ("run", "configuration", "account", "measurement"))
    query = f"SELECT SUM(pg_total_relation_size(name::regclass)) FROM (VALUES {tables}) AS tables (name)"
    return int(connection.execute(text(query)).scalar_one())


def _mark(database: Database, run: "Run") -> bool:
    """Say of a run that it is being deleted, unless it is not any more what it was when it was chosen."""
    with database.write() as connection:
        connection.execute(select(RunRow.id).where(RunRow.id == run.id).with_for_update())
        # Compared here: SQLite writes one moment in several ways.
        found = load_runs(connection, RunRow.id == run.id)
        if not found or (found[0].state, found[0].heartbeat_at) != (run.state, run.heartbeat_at):
            return False
        values = {"state": "failed", "message": _BEING_DELETED, "finished_at": DatabaseNow()}
        connection.execute(update(RunRow).where(RunRow.id == run.id).values(**values))
        return True


def delete_in_steps(database: Database, run_id: int, message: str) -> None:
    """Delete a run that nobody writes and whose message is ``message``, its last rows first, a transaction a step.

    Raises:
        StoreError: somebody took the run up in between.
    """
    top = _last_row(database, run_id)
    while top >= 0:
        low = max(0, top - _ROWS + 1)
        with database.write() as connection:
            _still(connection, run_id, message)
            for table in (AccountRow, ConfigurationRow):
                connection.execute(delete(table).where(table.run_id == run_id, table.row >= low))
        top = low - 1
    with database.write() as connection:
        _still(connection, run_id, message)
        connection.execute(delete(RunRow).where(RunRow.id == run_id))


def _last_row(database: Database, run_id: int) -> int:
    with database.read() as connection:
        query = select(func.max(ConfigurationRow.row)).where(ConfigurationRow.run_id == run_id)
        last = connection.execute(query).scalar_one()
        return -1 if last is None else int(last)


def _still(connection: Connection, run_id: int, message: str) -> None:
    found = connection.execute(select(RunRow.message).where(RunRow.id == run_id).with_for_update()).scalar_one_or_none()
    if found != message:
        raise StoreError(f"run {run_id} was taken up by somebody while it was being deleted: look at it again")
