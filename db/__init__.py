"""What is known: runs, their configurations and stall accounts, and measurements, kept in an SQL database.

The room knows no physics: it stores integers and names and gives them back. Everything public is loaded
on first use, so that ``import db`` costs nothing.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from db.errors import StoreError
    from db.measured import Measurement, StoredMeasurement
    from db.opening import open_store
    from db.records import Run, RunSpec
    from db.store import Store

PTO_TUNE_ROOM = "db"

__all__ = [
    "PTO_TUNE_ROOM",
    "Measurement",
    "Run",
    "RunSpec",
    "Store",
    "StoreError",
    "StoredMeasurement",
    "open_store",
]

_HOMES = {
    "Measurement": "db.measured",
    "Run": "db.records",
    "RunSpec": "db.records",
    "Store": "db.store",
    "StoreError": "db.errors",
    "StoredMeasurement": "db.measured",
    "open_store": "db.opening",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
