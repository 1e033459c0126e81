"""Copying one run from a database into another, a piece at a time.

What is read may come from a stranger: everything passes the checks that a new run passes.
"""

import uuid
from collections.abc import Collection, Iterator
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, insert, select, update

from db.accounts import account_values, upsert_accounts
from db.engine import Database
from db.errors import StoreError, shorten
from db.models import RUN_STATES, DatabaseNow, RunRow
from db.names import LONGEST_NAME, check_name
from db.pruning import delete_in_steps
from db.records import Run, RunSpec, plain_text, spec_values, to_json
from db.runs import load_run, load_runs, whole_number
from db.streams import NULL, account_stream, columns_of, configuration_pieces

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

COPYING = "being copied"
"""How the message of a run begins that is not there completely yet."""

_ACCOUNTS = 5_000
_LARGEST = 2**63 - 1


def copy_run(
    source: Connection, run: Run, where: str, target: Database, known: Collection[int] = ()
) -> tuple[Run, int]:
    """Copy ``run`` and all that belongs to it into ``target``; the run there, and how many rows it has.

    It is there as running, with a sign of life a piece, until it is complete; each piece is a transaction, so that
    other writers have their turn. After an error or an interruption nothing of it is left.

    Args:
        source: a transaction that reads the database shown as ``where``.
        known: numbers of runs of the target that are known to be other states of this one.

    Raises:
        StoreError: values that no run of ours has, rows that are missing; the target cannot be written, or has got
            this run from somebody else by now.
    """
    values, ending = _checked(run, where)
    marker = f"{COPYING} ({uuid.uuid4()})"
    copy = _begin(target, run, {**values, "message": marker}, known)
    try:
        rows = 0
        for table in configuration_pieces(source, run):
            for first, part in _without_gaps(table):
                _add_rows(target, copy, marker, first, part, rows + len(part))
                rows += len(part)
        if rows < run.n_evaluated or (run.state == "done" and rows != run.n_evaluated):
            raise StoreError(f"run {run.id} in {where} says {run.n_evaluated:,} configurations and has {rows:,}")
        accounts = account_stream(source, run.id)
        while some := list(islice(accounts, _ACCOUNTS)):
            checked = account_values(copy.id, some)
            with target.write(
                conflict=f"run {run.id} in {where} has an account of a row that it has not"
            ) as connection:
                _alive(connection, copy.id, marker, rows)
                upsert_accounts(connection, checked)
        return _end(target, copy.id, marker, ending), rows
    except BaseException:
        with suppress(StoreError):
            delete_in_steps(target, copy.id, marker)
        raise


def same_runs(connection: Connection, run: Run) -> list[Run]:
    """The runs of one specification that were created at one moment: states of one run."""
    found = load_runs(connection, RunRow.spec_sha256 == run.spec_sha256)
    # Compared here: SQLite writes one moment in several ways.
    return [other for other in found if other.created_at == run.created_at]


def _begin(target: Database, run: Run, values: dict[str, Any], known: Collection[int]) -> Run:
    """A new running run of these values, under its name or one like it."""
    with target.write() as connection:
        target.one_at_a_time(connection)
        others = [other.id for other in same_runs(connection, run) if other.id not in known]
        if others:
            raise StoreError(f"somebody else has just copied run {others[0]} into {target.shown}: try again")
        values = {**values, "name": _free(connection, values["name"])}
        created = connection.execute(
            insert(RunRow).values(**values, state="running", heartbeat_at=DatabaseNow(), finished_at=None)
        )
        key = created.inserted_primary_key
        assert key is not None
        return load_run(connection, int(key[0]), target.shown)


def _free(connection: Connection, name: str) -> str:
    number = 1
    while True:
        ending = "" if number == 1 else f" ({number})"
        tried = name[: LONGEST_NAME - len(ending)] + ending
        if connection.execute(select(RunRow.id).where(RunRow.name == tried)).first() is None:
            return tried
        number += 1


def _checked(run: Run, where: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Values of the new run, and those that it gets once it is complete."""
    try:
        spec = RunSpec(**{name: getattr(run, name) for name in RunSpec.__dataclass_fields__})
        values = spec_values(spec) | {"name": check_name(run.name), "created_at": run.created_at}
        if run.state not in RUN_STATES:
            raise StoreError(f"its state is {shorten(repr(run.state), 60)}")
        # A run whose program is gone is not running anywhere else.
        stopped = run.state == "running"
        ending = {
            "state": "stopped" if stopped else run.state,
            "message": "its program ended before its time" if stopped else plain_text(run.message),
            "heartbeat_at": run.heartbeat_at,
            "finished_at": run.heartbeat_at if stopped else run.finished_at,
            "n_evaluated": whole_number(run.n_evaluated, "n_evaluated", _LARGEST),
            "counts_json": to_json(dict(run.counts), "the counts"),
            "best_row": None if run.best_row is None else whole_number(run.best_row, "best_row", 2**31 - 1),
            "best_cycles": None if run.best_cycles is None else whole_number(run.best_cycles, "best_cycles", _LARGEST),
        }
    except (AttributeError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise StoreError(f"run {run.id} in {where} cannot be taken: {shorten(str(error))}") from None
    return values, ending


def _without_gaps(table: "NDArray[np.int64]") -> "Iterator[tuple[int, NDArray[np.int64]]]":
    """Parts whose rows follow each other, with the first row of each."""
    import numpy as np

    cuts = np.flatnonzero(np.diff(table[:, 0]) != 1) + 1
    for part in np.split(table, cuts):
        yield int(part[0, 0]), part


def _add_rows(target: Database, copy: Run, marker: str, first: int, part: "NDArray[np.int64]", done: int) -> None:
    from db.bulk import check_batch, insert_batch

    there = part != NULL
    # The number of the row follows from that of the first.
    used = {c: i for i, c in enumerate(columns_of(copy)) if i and (not c.nullable or there[:, i].any())}
    columns = {c.name: part[:, i] for c, i in used.items()}
    batch = check_batch(copy, columns, first, {c.name: there[:, i] for c, i in used.items() if c.nullable})
    with target.write() as connection:
        _alive(connection, copy.id, marker, done)
        insert_batch(connection, batch)


def _alive(connection: Connection, run_id: int, marker: str, done: int) -> None:
    """Give a sign of life, and make sure that nobody else has taken the run up."""
    changed = connection.execute(
        update(RunRow)
        .where(RunRow.id == run_id, RunRow.message == marker)
        .values(n_evaluated=done, heartbeat_at=DatabaseNow())
    )
    if changed.rowcount != 1:
        raise StoreError(f"run {run_id} was deleted or taken up by somebody while it was being copied: try again")


def _end(target: Database, run_id: int, marker: str, ending: dict[str, Any]) -> Run:
    with target.write() as connection:
        _alive(connection, run_id, marker, ending["n_evaluated"])
        connection.execute(update(RunRow).where(RunRow.id == run_id).values(**ending))
        return load_run(connection, run_id, target.shown)
