"""Stall accounts: busy and waiting cycles of a configuration's pipes and channels."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, select

from db.errors import StoreError, shorten
from db.models import ACCOUNT_KINDS, AccountRow
from db.records import plain_text
from db.runs import whole_number

# Row, kind, name, cycles.
Account = tuple[int, str, str, int]


def account_values(run_id: int, rows: Iterable[Account]) -> list[dict[str, Any]]:
    """Accounts as column values.

    Raises:
        StoreError: a kind, row or number of cycles that the table does not hold, or one account twice.
    """
    values: dict[tuple[int, str, str], dict[str, Any]] = {}
    for row, kind, name, cycles in rows:
        if kind not in ACCOUNT_KINDS:
            raise StoreError(
                f"an account of run {run_id} has the kind {shorten(repr(kind), 60)}: use {' or '.join(ACCOUNT_KINDS)}"
            )
        key = (whole_number(row, "an account's row", 2**31 - 1), kind, plain_text(name))
        if key in values:
            raise StoreError(
                f"run {run_id} is given the account {kind} {shorten(repr(name), 60)} of row {row} twice: give it once"
            )
        values[key] = {
            "run_id": run_id,
            "row": key[0],
            "kind": kind,
            "name": key[2],
            "cycles": whole_number(cycles, "an account's cycles", 2**63 - 1),
        }
    return list(values.values())


def upsert_accounts(connection: Connection, values: list[dict[str, Any]]) -> None:
    """Write accounts; one that is there already gets the new cycles."""
    statement: Any
    if connection.dialect.name == "sqlite":
        from sqlalchemy.dialects.sqlite import insert as sqlite_insert

        statement = sqlite_insert(AccountRow)
    else:
        from sqlalchemy.dialects.postgresql import insert as postgresql_insert

        statement = postgresql_insert(AccountRow)
    statement = statement.on_conflict_do_update(
        index_elements=["run_id", "row", "kind", "name"], set_={"cycles": statement.excluded.cycles}
    )
    connection.execute(statement, values)


def load_accounts(connection: Connection, run_id: int, row: int | None) -> list[Account]:
    """A run's accounts in the order (row, kind, name), of one configuration where ``row`` is given."""
    query = select(AccountRow.row, AccountRow.kind, AccountRow.name, AccountRow.cycles)
    query = query.where(AccountRow.run_id == run_id)
    if row is not None:
        query = query.where(AccountRow.row == whole_number(row, "a row", 2**31 - 1))
    # Sorted here: the databases order text by rules of their own.
    return sorted((number, kind, name, cycles) for number, kind, name, cycles in connection.execute(query))
