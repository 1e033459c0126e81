"""What belongs to a run as streams: rows and accounts a piece at a time, however many, and a hash over them."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from itertools import chain, groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, select

from db.accounts import Account
from db.columns import COLUMNS, TUNABLE_COLUMNS, Column
from db.errors import StoreError
from db.models import AccountRow

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from db.records import Run

ROWS = 100_000
"""Configurations a piece: 25 MB as numbers."""

NULL = -1
"""Stands for a value that is not there; no column has a value below 0."""

_BLOCK = 1_024


def columns_of(run: "Run") -> tuple[Column, ...]:
    """The columns that a run can fill: all but the tunables that it has not; ``row`` first."""
    absent = TUNABLE_COLUMNS[len(run.tunables) :]
    return tuple(column for column in COLUMNS if column.name not in absent)


def configuration_pieces(connection: Connection, run: "Run") -> "Iterator[NDArray[np.int64]]":
    """A run's configurations in the order of rows, as int64 tables of shape (at most ROWS, len(columns_of(run))).

    Raises:
        StoreError: a value that is no integer.
    """
    import numpy as np

    columns = columns_of(run)
    cells = ", ".join(f'COALESCE("{c.name}", {NULL})' if c.nullable else f'"{c.name}"' for c in columns)
    query = f'SELECT {cells} FROM configuration WHERE run_id = ? AND "row" > ? ORDER BY "row" LIMIT {ROWS}'
    driver: Any = connection.connection.driver_connection
    if connection.dialect.name == "sqlite":
        cursor = driver.cursor()
    else:
        query = query.replace("?", "%s")
        cursor = driver.cursor(binary=True)
    last = -1
    try:
        while True:
            cursor.execute(query, (run.id, last))
            blocks = []
            while rows := cursor.fetchmany(_BLOCK):
                blocks.append(np.fromiter(chain.from_iterable(rows), np.int64, len(rows) * len(columns)))
            if not blocks:
                return
            table = np.concatenate(blocks).reshape(-1, len(columns))
            last = int(table[-1, 0])
            yield table
    except (TypeError, ValueError, OverflowError):
        raise StoreError(f"run {run.id} has rows behind row {last} whose values are no integers of 64 bits") from None
    finally:
        cursor.close()


def account_stream(connection: Connection, run_id: int) -> Iterator[Account]:
    """A run's accounts in the order (row, kind, name)."""
    query = select(AccountRow.row, AccountRow.kind, AccountRow.name, AccountRow.cycles)
    query = query.where(AccountRow.run_id == run_id).order_by(AccountRow.row)
    found = connection.execute(query, execution_options={"yield_per": _BLOCK})
    plain = ((row, kind, name, cycles) for row, kind, name, cycles in found)
    # Within a row sorted here: the databases order text by rules of their own.
    for _, of_row in groupby(plain, key=itemgetter(0)):
        yield from sorted(of_row)


def content_sha256(connection: Connection, run: "Run") -> str:
    """Hash of a run's rows and accounts and of the lists that give them their meaning.

    Equal for the same run in two databases, whatever its number, name and state there.
    """
    meaning = [
        run.spec_sha256,
        moment(run.created_at),
        run.workload_json,
        run.problem,
        *(list(getattr(run, name)) for name in ("tunables", "rules", "verdicts", "pipes")),
    ]
    digest = sha256(json.dumps(meaning, sort_keys=True).encode("ascii"))
    for table in configuration_pieces(connection, run):
        digest.update(table.astype("<i8", copy=False).tobytes())
    for account in account_stream(connection, run.id):
        digest.update(json.dumps(account).encode("ascii"))
    return digest.hexdigest()


def moment(value: datetime) -> str:
    """A time as text, the same in every zone and database."""
    return value.astimezone(UTC).isoformat(timespec="microseconds")
