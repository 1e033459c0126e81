"""The table `[calibration]` of a platform file: which rows its fitted numbers come from, and their covariance.

The table is of the file that states it: a file that inherits takes the numbers and not the table. It changes no number.
"""

import math
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

CALIBRATION = "calibration"

_TEXTS = ("timing", "platform", "rows_sha256", "parent_sha256")
_FIELDS = (
    *_TEXTS, "degrees_of_freedom", "chi_square", "median_error", "p90_error", "parameters", "units", "covariance",
    "rows",
)  # fmt: skip


@dataclass(frozen=True)
class Covariance:
    """Covariance of fitted numbers: `values[i][j]` of `keys[i]` and `keys[j]`, in `units[i]` times `units[j]`."""

    keys: tuple[str, ...]
    units: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]


def calibration_errors(where: str, table: object, stated: Mapping[str, object]) -> Iterator[str]:
    """What is wrong with the table, a sentence each.

    Args:
        where: the file.
        stated: the tables of the numbers that the file itself states, by key.
    """
    where = f"{where}: {CALIBRATION}"
    if not isinstance(table, dict):
        yield f"{where}: is {table!r}; give a table with {', '.join(_FIELDS)}"
        return
    for name in sorted(table.keys() - set(_FIELDS)):
        yield f"{where}.{name}: unknown field; allowed are {', '.join(_FIELDS)}"
    for name in _TEXTS:
        if not isinstance(table.get(name, ""), str):
            yield f"{where}.{name}: is {table[name]!r}; give a text"
    keys, units = _texts(table.get("parameters")), _texts(table.get("units"))
    if not keys or len(set(keys)) != len(keys):
        yield f"{where}.parameters: is {table.get('parameters')!r}; give the keys of the fitted numbers, each once"
        return
    for key in keys:
        if key not in stated:
            yield f"{where}.parameters: {key!r} is no number of this file; name the numbers that it states"
    if len(units) != len(keys):
        yield f"{where}.units: is {table.get('units')!r}; give the unit of each of the {len(keys)} parameters"
    else:
        for key, unit in zip(keys, units, strict=True):
            number = stated.get(key)
            if isinstance(number, dict) and number.get("unit") != unit:
                yield f"{where}.units: is {unit!r} for {key}; give the number's own unit, {number.get('unit')!r}"
    if not _covariance(table.get("covariance"), len(keys)):
        size = len(keys)
        yield f"{where}.covariance: give {size} x {size} finite numbers, symmetric, none below 0 in the diagonal"
    rows = table.get("rows", [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        yield f"{where}.rows: give a table for each row of the fit, [[{CALIBRATION}.rows]]"


def _texts(value: object) -> list[str]:
    """A list of texts, empty where it is none."""
    return value if isinstance(value, list) and all(isinstance(x, str) for x in value) else []


def _covariance(value: object, size: int) -> bool:
    if not isinstance(value, list) or len(value) != size:
        return False
    for row in value:
        if not isinstance(row, list) or len(row) != size or not all(_finite(x) for x in row):
            return False
    return all(value[i][i] >= 0 and value[i][j] == value[j][i] for i in range(size) for j in range(size))


def _finite(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def read_covariance(path: Path) -> Covariance | None:
    """The covariance of the numbers that the file at `path` states as fitted; None where it has no such table.

    The file must be sound (`cost_models.platform.check_file`). Raises OSError where it cannot be read.
    """
    table = tomllib.loads(path.read_text("utf-8")).get(CALIBRATION)
    if table is None:
        return None
    values = tuple(tuple(float(x) for x in row) for row in table["covariance"])
    return Covariance(tuple(table["parameters"]), tuple(table["units"]), values)
