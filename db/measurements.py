"""Statements about measurements inside a caller's transaction."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import ColumnElement, Connection, func, insert, select

from db.errors import StoreError
from db.measured import StoredMeasurement, measurement_from_row
from db.models import DatabaseNow, MeasurementRow
from db.records import plain_text

# Values a statement: SQLite takes 999 in its older versions.
_CHUNK = 500

FILTERS = ("workload", "family", "platform", "soc", "timing", "metric", "pto_isa")


def insert_new(connection: Connection, values: Iterable[dict[str, Any]]) -> int:
    """Insert the measurements whose digest is not there yet, each once; how many that were.

    Nobody else may insert measurements until the transaction ends.
    """
    by_digest = {value["digest"]: value for value in reversed(list(values))}
    digests = list(reversed(by_digest))
    new = []
    for start in range(0, len(digests), _CHUNK):
        some = digests[start : start + _CHUNK]
        query = select(MeasurementRow.digest).where(MeasurementRow.digest.in_(some))
        there = set(connection.execute(query).scalars())
        new += [by_digest[digest] for digest in some if digest not in there]
    if new:
        connection.execute(insert(MeasurementRow).values(imported_at=DatabaseNow()), new)
    return len(new)


def conditions(filters: dict[str, str | None]) -> list[ColumnElement[bool]]:
    """What rows have to meet; a filter that is None is none.

    Raises:
        StoreError: a filter of another name.
    """
    unknown = [name for name in filters if name not in FILTERS]
    if unknown:
        raise StoreError(f"measurements have no {unknown[0]!r} to choose by: use {', '.join(FILTERS)}")
    return [getattr(MeasurementRow, name) == plain_text(text) for name, text in filters.items() if text is not None]


def load_measurements(
    connection: Connection, wanted: Iterable[ColumnElement[bool]], limit: int | None
) -> list[StoredMeasurement]:
    """The measurements that meet all conditions, in the order in which they came in."""
    query = select(MeasurementRow.__table__).where(*wanted).order_by(MeasurementRow.id)
    if limit is not None:
        query = query.limit(limit)
    return [measurement_from_row(dict(row)) for row in connection.execute(query).mappings()]


def count_measurements(connection: Connection, wanted: Iterable[ColumnElement[bool]]) -> int:
    """How many measurements meet all conditions."""
    found: int = connection.execute(select(func.count()).select_from(MeasurementRow).where(*wanted)).scalar_one()
    return found
