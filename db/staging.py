"""Rows for SQLite without a call a row: a database in memory, laid out with NumPy, that one statement copies from.

Binding some 25 values a row takes the driver three times as long as SQLite takes to insert them. So the rows become
the bytes of a small database of their own (sqlite.org/fileformat2.html: a table of fixed-width records), which is
attached for the transaction and read by ``INSERT ... SELECT``.
"""

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from db.bulk import Batch

LEAST_ROWS = 1_000
"""Fewer rows are inserted one by one: an image takes about a millisecond whatever is in it."""

MOST_ROWS = 1_000_000
"""Rows of one image: their numbers have varints of three bytes, and one page holds the pointers to all leaves."""

PREFIX = "staged_"
_MOST_ATTACHED = 8  # of the ten that SQLite allows where it is built as usual

_PAGE = 65_536
_FIRST_ROWID = 1 << 14  # from here to 2**21 - 1 a varint has three bytes
_LEAF, _INTERIOR = 13, 5
_WIDTHS = ((1, 1), (2, 2), (4, 4), (8, 6))  # bytes of an integer, and the serial type that says so


def can_stage(driver: Any, n: int) -> bool:
    """Whether ``n`` rows are inserted in this way over this connection of the driver."""
    return LEAST_ROWS <= n <= MOST_ROWS and hasattr(driver, "deserialize") and len(_attached(driver)) < _MOST_ATTACHED


def insert_staged(driver: Any, batch: "Batch") -> None:
    """Insert ``batch`` inside the open transaction of ``driver``. The image stays attached until :func:`detach`."""
    image, columns = image_of(batch)
    place = f"{PREFIX}{len(_attached(driver))}"
    driver.execute(f"ATTACH ':memory:' AS {place}")
    driver.deserialize(image, name=place)
    driver.execute(
        f"INSERT INTO configuration ({', '.join(batch.names)}) "
        f"SELECT ?, ? + rowid, {', '.join(columns)} FROM {place}.staged",
        (batch.run_id, batch.first_row - _FIRST_ROWID),
    )


def detach(driver: Any) -> None:
    """Free the images of the transaction before; to be called outside any."""
    for place in _attached(driver):
        driver.execute(f"DETACH {place}")


def _attached(driver: Any) -> list[str]:
    return [name for _, name, _ in driver.execute("PRAGMA database_list") if name.startswith(PREFIX)]


def image_of(batch: "Batch") -> tuple[bytearray, tuple[str, ...]]:
    """The bytes of a database whose table ``staged`` has the rows of ``batch`` by rowid, and its column a column."""
    import numpy as np

    cells, names = _cells(batch)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as template:
        template.execute(f"PRAGMA page_size = {_PAGE}")
        template.execute("PRAGMA auto_vacuum = 0")
        template.execute(f"CREATE TABLE staged ({', '.join(names)})")
        head = template.serialize()[:_PAGE]

    size = cells.dtype.itemsize
    each = (_PAGE - 8) // (size + 2)
    leaves = -(-batch.n // each)
    n_pages = 2 if leaves == 1 else 2 + leaves
    image = bytearray(n_pages * _PAGE)
    image[:_PAGE] = head
    image[28:32] = n_pages.to_bytes(4, "big")
    pages = np.frombuffer(image, dtype=np.uint8).reshape(n_pages, _PAGE)
    plain = cells.view(np.uint8).reshape(batch.n, size)
    full = batch.n // each
    first = n_pages - leaves
    if full:
        _fill(pages[first : first + full], plain[: full * each], each)
    if full < leaves:
        _fill(pages[first + full :], plain[full * each :], batch.n - full * each)
    if leaves > 1:
        _root(pages[1], leaves, each)
    return image, tuple(name for name in names if not name.endswith("_pad"))


def _cells(batch: "Batch") -> "tuple[NDArray[Any], list[str]]":
    """A table's cells, all equally long, and the names of their columns.

    A value that may be NULL stands in two columns, of which the second, ``_pad``, is NULL where the value is there and
    takes its place where it is not: so the record keeps its length.
    """
    import numpy as np

    fields: list[tuple[str, str]] = []
    body: list[tuple[str, str]] = []
    fills: list[tuple[str, Any]] = []
    names = []
    for column, array, mask in zip(batch.columns, batch.arrays, batch.valid, strict=True):
        present = array if mask is None else array[mask]
        top = int(present.max()) if present.size else 0
        width, kind = next(pair for pair in _WIDTHS if top < 1 << (8 * pair[0] - 1))
        names.append(column.name)
        fields.append((f"{column.name}_type", "u1"))
        if mask is None:
            fills.append((f"{column.name}_type", kind))
        else:
            names.append(f"{column.name}_pad")
            fields.append((f"{column.name}_pad_type", "u1"))
            of_value = mask.view(np.uint8) * np.uint8(kind)
            fills += [(f"{column.name}_type", of_value), (f"{column.name}_pad_type", np.uint8(kind) - of_value)]
        body.append((column.name, f">i{width}"))
        fills.append((column.name, array))
    header = 1 + len(fields)
    length = header + sum(int(kind[-1]) for _, kind in body)
    rowid = np.arange(_FIRST_ROWID, _FIRST_ROWID + batch.n)
    record = np.dtype([("length", "u1", (1 if length < 128 else 2,)), ("rowid", "u1", (3,)), ("header", "u1"), *fields,
                       *body])  # fmt: skip
    cells = np.empty(batch.n, dtype=record)
    cells["length"] = _varint(length)
    for at, byte in enumerate(_varint3(rowid)):
        cells["rowid"][:, at] = byte
    cells["header"] = header
    for name, values in fills:
        # Where there is no value, whatever fits will do.
        cells[name] = values if isinstance(values, int) else values.astype(cells.dtype[name], casting="unsafe")
    return cells, names


def _fill(pages: "NDArray[np.uint8]", plain: "NDArray[np.uint8]", each: int) -> None:
    """Write leaves with ``each`` cells."""
    import numpy as np

    size = plain.shape[1]
    start = _PAGE - each * size
    pages[:, 0] = _LEAF
    pages[:, 3:7] = _be16([each, start]).ravel()
    pages[:, 8 : 8 + 2 * each] = _be16(start + size * np.arange(each)).ravel()
    pages[:, start:] = plain.reshape(len(pages), each * size)


def _root(page: "NDArray[np.uint8]", leaves: int, each: int) -> None:
    """Write the page that points at the leaves, which are pages 3, 4, ..."""
    import numpy as np

    n, size = leaves - 1, 7
    start = _PAGE - n * size
    cells = np.zeros((n, size), dtype=np.uint8)
    cells[:, :4] = np.arange(3, 3 + n, dtype=">u4").view(np.uint8).reshape(n, 4)
    for at, byte in enumerate(_varint3(_FIRST_ROWID - 1 + each * np.arange(1, n + 1))):
        cells[:, 4 + at] = byte
    page[0] = _INTERIOR
    page[3:7] = _be16([n, start]).ravel()
    page[8:12] = np.frombuffer((2 + leaves).to_bytes(4, "big"), dtype=np.uint8)
    page[12 : 12 + 2 * n] = _be16(start + size * np.arange(n)).ravel()
    page[start:] = cells.ravel()


def _be16(values: Any) -> "NDArray[np.uint8]":
    import numpy as np

    return np.asarray(values).astype(">u2").view(np.uint8)


def _varint(value: int) -> list[int]:
    return [value] if value < 128 else [128 | value >> 7, value & 127]


def _varint3(values: "NDArray[np.int64]") -> "tuple[NDArray[Any], ...]":
    return 128 | values >> 14, 128 | values >> 7 & 127, values & 127
