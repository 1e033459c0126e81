"""Configurations back as NumPy columns, read in blocks so that a million rows fit in memory as arrays."""

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from db.columns import Column

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from sqlalchemy import Connection

# Rows a block: few enough that the interpreter's garbage collector does not walk through a million tuples.
_BLOCK = 1_024
# On the way from the cursor to a mask only: no column has a value below 0.
_NULL = -1


def read_configurations(
    connection: "Connection",
    run_id: int,
    columns: Sequence[Column],
    where_verdict: int | None,
    order_by_cycles: bool,
    limit: int | None,
) -> "dict[str, NDArray[Any]]":
    """Columns of a run's configurations by row, or by cycles with those that have none last.

    Returns:
        int64 arrays of shape (rows,), one a column; of type ``np.ma.MaskedArray`` where a column may be NULL.
    """
    import numpy as np

    if not columns:
        return {}
    blocks: list[NDArray[np.int64]] = []
    left = limit
    # The index by cycles has those rows alone that have any, so that the others are a question of their own.
    for timed in (True, False) if order_by_cycles else (None,):
        blocks += _blocks(connection, columns, *_query(columns, run_id, where_verdict, timed, left))
        left = None if limit is None else limit - sum(map(len, blocks))
        if left == 0:
            break
    table = np.concatenate(blocks) if blocks else np.zeros((0, len(columns)), dtype=np.int64)
    return {column.name: _column(table[:, index], column) for index, column in enumerate(columns)}


def _blocks(
    connection: "Connection", columns: Sequence[Column], query: str, values: list[int]
) -> "list[NDArray[np.int64]]":
    """What a query gives, as tables of a few rows each."""
    import numpy as np

    blocks: list[NDArray[np.int64]] = []
    # The drivers' own cursors: SQLAlchemy's row objects take longer than SQLite does.
    driver: Any = connection.connection.driver_connection
    if connection.dialect.name == "sqlite":
        cursor = driver.cursor()
    else:
        query = query.replace("?", "%s")
        cursor = driver.cursor(name="configurations", binary=True)
    try:
        cursor.execute(query, values)
        while rows := cursor.fetchmany(_BLOCK):
            cells = np.fromiter(chain.from_iterable(rows), np.int64, len(rows) * len(columns))
            blocks.append(cells.reshape(len(rows), len(columns)))
    finally:
        cursor.close()
    return blocks


def _query(
    columns: Sequence[Column],
    run_id: int,
    where_verdict: int | None,
    timed: bool | None,
    limit: int | None,
) -> tuple[str, list[int]]:
    """The statement, made of fixed names only, and the values for its question marks.

    Args:
        timed: rows with cycles, fastest first; rows without; None for all. By row otherwise.
    """
    cells = (f"COALESCE({column.name}, {_NULL})" if column.nullable else column.name for column in columns)
    query = f"SELECT {', '.join(cells)} FROM configuration WHERE run_id = ?"
    values = [run_id]
    if where_verdict is not None:
        query += " AND verdict = ?"
        values.append(where_verdict)
    if timed is not None:
        query += f" AND cycles IS {'NOT ' if timed else ''}NULL"
    query += " ORDER BY cycles, row" if timed else " ORDER BY row"
    if limit is not None:
        query += " LIMIT ?"
        values.append(limit)
    return query, values


def _column(values: "NDArray[np.int64]", column: Column) -> "NDArray[Any]":
    import numpy as np

    if not column.nullable:
        return np.ascontiguousarray(values)
    mask = values == _NULL
    return np.ma.MaskedArray(np.where(mask, 0, values), mask=mask)
