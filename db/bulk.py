"""Many configurations at once: columns in, checked, and written the fastest way that each database has."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Any

from db.columns import TUNABLE_COLUMNS, Column, known_columns
from db.errors import StoreError
from db.staging import can_stage, insert_staged

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from sqlalchemy import Connection

    from db.records import Run

_CHUNK = 50_000
# Rows of one block on their way to PostgreSQL: it is laid out while the server still reads the one before.
_COPY_ROWS = 2_048
# PostgreSQL's binary COPY format: signature, no flags, no header extension; and its end.
_COPY_HEAD = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
_COPY_END = b"\xff\xff"


@dataclass(frozen=True)
class Batch:
    """Checked columns of ``n`` configurations, rows ``first_row`` to ``first_row + n - 1`` of one run.

    Attributes:
        columns: which columns are given; the others become NULL.
        arrays: one int64 array of shape (n,) a column.
        valid: one boolean array of shape (n,) a column, or None where every value is there.
    """

    run_id: int
    first_row: int
    n: int
    columns: tuple[Column, ...]
    arrays: tuple["NDArray[np.int64]", ...]
    valid: tuple["NDArray[np.bool_] | None", ...]

    @property
    def names(self) -> tuple[str, ...]:
        return ("run_id", "row", *(column.name for column in self.columns))


def check_batch(
    run: "Run",
    columns: Mapping[str, "NDArray[Any]"],
    first_row: int,
    valid: Mapping[str, "NDArray[np.bool_]"],
) -> Batch:
    """Columns as given by a caller, checked against the table and against the run's own lists.

    Raises:
        StoreError: an unknown or missing column, unequal lengths, values that are no integers, do not fit,
            or index beyond the run's tunables, domains, verdicts, rules or pipes; all of them at once.
    """
    given = known_columns(columns)
    stray = sorted(set(valid) - set(columns))
    problems = [f"a mask is given for '{name}' but no column" for name in stray]
    if "row" in columns:
        problems.append("the column 'row' is given, it follows from first_row")
    if "verdict" not in columns:
        problems.append("the column 'verdict' is missing, every configuration has one")
    if problems:
        raise StoreError(f"configurations of run {run.id} are refused: {'; '.join(problems)}")

    lengths = {column.name: len(columns[column.name]) for column in given}
    n = lengths["verdict"]
    if not 0 <= first_row <= first_row + n <= 2**31 - 1:
        problems.append(f"rows {first_row} to {first_row + n - 1} are not between 0 and 2**31-2")
    bounds = _index_bounds(run)
    arrays, masks = [], []
    for column in given:
        mask = valid.get(column.name)
        if lengths[column.name] != n or (mask is not None and mask.shape != (n,)):
            problems.append(f"'{column.name}' has not the {n} values (and mask) that 'verdict' has")
            continue
        array, mask, problem = _check_column(column, columns[column.name], mask, bounds.get(column.name))
        problems.extend(problem)
        arrays.append(array)
        masks.append(mask)
    if problems:
        raise StoreError(f"configurations of run {run.id} are refused: {'; '.join(problems)}")
    return Batch(run.id, first_row, n, given, tuple(arrays), tuple(masks))


def _index_bounds(run: "Run") -> dict[str, int]:
    """How many names or values the columns that are indices may point at."""
    bounds = dict.fromkeys(TUNABLE_COLUMNS, 0)
    bounds |= {f"t{index}": len(tunable["domain"]) for index, tunable in enumerate(run.tunables)}
    return bounds | {"verdict": len(run.verdicts), "rule": len(run.rules), "bound": len(run.pipes)}


def _check_column(
    column: Column, values: "NDArray[Any]", mask: "NDArray[np.bool_] | None", bound: int | None
) -> "tuple[NDArray[np.int64], NDArray[np.bool_] | None, list[str]]":
    import numpy as np

    name = column.name
    nothing: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
    if isinstance(values, np.ma.MaskedArray):
        own = ~np.ma.getmaskarray(values)
        mask = own if mask is None else own & mask
        values = np.ma.getdata(values)
    values = np.asarray(values)
    if values.ndim != 1 or values.dtype.kind not in "iub":
        return nothing, None, [f"'{name}' must be a flat array of integers, not {values.dtype}"]
    if mask is not None and mask.dtype != np.bool_:
        return nothing, None, [f"the mask of '{name}' must be boolean, not {mask.dtype}"]
    if mask is not None and mask.all():
        mask = None
    if mask is not None and not column.nullable:
        return nothing, None, [f"'{name}' must have a value in every row"]
    present = values if mask is None else values[mask]
    if present.size:
        lowest, highest = int(present.min()), int(present.max())
        if bound is not None and (lowest < 0 or highest >= bound):
            return (
                nothing,
                None,
                [f"'{name}' reaches from {lowest} to {highest}, the run lists {bound} for it"],
            )
        if lowest < 0 or highest > column.largest:
            return (
                nothing,
                None,
                [f"'{name}' reaches from {lowest} to {highest}, it must be 0 to {column.largest}"],
            )
    return np.ascontiguousarray(values, dtype=np.int64), mask, []


def insert_batch(connection: "Connection", batch: Batch) -> None:
    """Write ``batch`` inside the caller's transaction."""
    if batch.n == 0:
        return
    if connection.dialect.name != "sqlite":
        _copy_binary(connection, batch)
        return
    driver: Any = connection.connection.driver_connection
    if can_stage(driver, batch.n):
        insert_staged(driver, batch)
    else:
        _insert_tuples(connection, batch)


def _insert_tuples(connection: "Connection", batch: Batch) -> None:
    marks = ", ".join("?" * len(batch.names))
    statement = f"INSERT INTO configuration ({', '.join(batch.names)}) VALUES ({marks})"
    for start in range(0, batch.n, _CHUNK):
        stop = min(start + _CHUNK, batch.n)
        cells = [_cells(array, mask, start, stop) for array, mask in zip(batch.arrays, batch.valid, strict=True)]
        rows = range(batch.first_row + start, batch.first_row + stop)
        connection.exec_driver_sql(statement, list(zip(repeat(batch.run_id), rows, *cells, strict=False)))


def _cells(array: "NDArray[np.int64]", mask: "NDArray[np.bool_] | None", start: int, stop: int) -> list[int | None]:
    if mask is None:
        plain: list[int | None] = array[start:stop].tolist()
        return plain
    objects = array[start:stop].astype(object)
    objects[~mask[start:stop]] = None
    cells: list[int | None] = objects.tolist()
    return cells


def _copy_binary(connection: "Connection", batch: Batch) -> None:
    driver: Any = connection.connection.driver_connection
    statement = f"COPY configuration ({', '.join(batch.names)}) FROM STDIN (FORMAT BINARY)"
    with driver.cursor() as cursor, cursor.copy(statement) as copy:
        copy.write(_COPY_HEAD)
        for block in _copy_blocks(batch):
            copy.write(block)
        copy.write(_COPY_END)


def _copy_blocks(batch: Batch) -> Iterator[bytes]:
    """Rows in PostgreSQL's binary COPY format, a chunk of rows a block.

    A row is its number of fields, then for each field its length in bytes and the value, all big-endian; NULL
    has length -1 and no value. Every row is laid out at full width; then the bytes of NULLs are cut out.
    """
    import numpy as np

    fields = [("count", ">i2"), ("run_id_len", ">i4"), ("run_id", ">i4"), ("row_len", ">i4"), ("row", ">i4")]
    for column in batch.columns:
        fields += [(f"{column.name}_len", ">i4"), (column.name, f">i{column.bits // 8}")]
    layout = np.dtype(fields)
    for start in range(0, batch.n, _COPY_ROWS):
        stop = min(start + _COPY_ROWS, batch.n)
        table = np.zeros(stop - start, dtype=layout)
        table["count"] = len(batch.names)
        table["run_id_len"] = table["row_len"] = 4
        table["run_id"] = batch.run_id
        table["row"] = np.arange(batch.first_row + start, batch.first_row + stop)
        keep = None
        for column, array, mask in zip(batch.columns, batch.arrays, batch.valid, strict=True):
            size = column.bits // 8
            if mask is None:
                table[f"{column.name}_len"] = size
                table[column.name] = array[start:stop]
                continue
            here = mask[start:stop]
            table[f"{column.name}_len"] = np.where(here, size, -1)
            table[column.name] = np.where(here, array[start:stop], 0)
            if keep is None:
                keep = np.ones((stop - start, layout.itemsize), dtype=np.bool_)
            offset = layout.fields[column.name][1]  # type: ignore[index]
            keep[:, offset : offset + size] = here[:, np.newaxis]
        if keep is None:
            yield table.tobytes()
        else:
            yield table.view(np.uint8).reshape(keep.shape)[keep].tobytes()
