"""The published cases, as typed records.

A table is a file beside this module, a row of it a case: what was run (`workload`, `configuration`, `platform`), how it
was timed, what came out, where that stands, and what the row is used for. `configuration` is a JSON object of problem
sizes and tunables, as numbers or labels; the rest are defaults. `rules` is a rule set or pto-isa revision, or empty.

`quantity`: `time`, from first to last instruction and what the protocol `timing` adds; `busy PIPE`, the time in which a
pipe is busy, mean of the cores; `share PIPE`, that time over `time`. `unit`: us, ticks (of 20 ns), ratio for shares, or
a rate, TFLOPS or GB/s; for a rate `work` is what was done in that time, in operations or bytes.

`use`: `validate`; `fit`, where a number of a platform file was derived from the row (or from a row that contains it);
`order: why`, where the workload expresses the row only so far that the order within its series can be compared; or
`excluded: why`. `slow` marks rows that take more than a few seconds.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from cost_models.launch import TIMINGS

COLUMNS = (
    "id", "series", "soc", "platform", "workload", "configuration", "rules", "timing", "quantity", "value", "unit",
    "work", "use", "slow", "source", "note",
)  # fmt: skip
TICK_US = 0.02
_UNITS = {"us": 1.0, "ticks": TICK_US}
_RATES = {"TFLOPS": 1e6, "GB/s": 1e3}
"""Work in a microsecond that one unit of a rate is."""
USES = ("validate", "fit", "order", "excluded")
QUANTITIES = ("time", "busy", "share")


class CaseError(ValueError):
    """A table of published cases has rows that say nothing usable; every reason is a line."""


@dataclass(frozen=True)
class Case:
    """One published result. `value` is in `unit` as published, `measured` in microseconds, or a share."""

    table: str
    id: str
    series: str
    soc: str
    platform: str
    workload: str
    configuration: Mapping[str, int | str]
    rules: str | None
    timing: str
    quantity: str
    pipe: str
    """The pipe of `busy` and `share`, as "AIC.M"; empty for `time`."""
    value: float
    unit: str
    work: int
    use: str
    why: str
    """Why a row is used for its order only, or not at all."""
    slow: bool
    source: str
    note: str

    @property
    def name(self) -> str:
        """Unique among all tables."""
        return f"{self.table}/{self.id}"

    @property
    def measured(self) -> float:
        """The published value in microseconds; a share as it is."""
        if self.unit in _RATES:
            return self.work / (self.value * _RATES[self.unit])
        return self.value * _UNITS.get(self.unit, 1.0)


def table_names() -> list[str]:
    """The tables, in alphabetical order."""
    return sorted(f.name.removesuffix(".csv") for f in files(__package__).iterdir() if f.name.endswith(".csv"))


def load_table(name: str) -> list[Case]:
    """The cases of a table, in order. ValueError names the known tables where there is no such one."""
    if name not in table_names():
        raise ValueError(f"unknown table {name!r}: choose one of {', '.join(table_names())}")
    text = files(__package__).joinpath(f"{name}.csv").read_text(encoding="utf-8")
    return parse_table(name, text.splitlines())


def read_table(path: str | Path) -> list[Case]:
    """The cases of a file in the form of these tables; the table is called as the file.

    Raises:
        CaseError: other columns, or rows that are wrong, all of them.
        OSError: the file cannot be read.
    """
    file = Path(path)
    return parse_table(file.stem, file.read_text(encoding="utf-8").splitlines())


def parse_table(name: str, lines: Iterable[str]) -> list[Case]:
    """The cases of a table whose first line has the titles; CaseError lists all that is wrong by line."""
    rows = csv.DictReader(lines, strict=True)
    if tuple(rows.fieldnames or ()) != COLUMNS:
        raise CaseError(f"{name}: the columns are {', '.join(rows.fieldnames or ())}: expected {', '.join(COLUMNS)}")
    cases: list[Case] = []
    wrong: list[str] = []
    for row in rows:
        try:
            case = _case(name, row)
        except ValueError as error:
            wrong += [f"{name}, line {rows.line_num}: {line}" for line in str(error).splitlines()]
            continue
        if any(case.id == other.id for other in cases):
            wrong.append(f"{name}, line {rows.line_num}: id {case.id!r} is there twice: give each row one of its own")
        cases.append(case)
    if wrong:
        raise CaseError("\n".join(wrong))
    return cases


def _case(table: str, row: Mapping[str, Any]) -> Case:
    errors = [f"column {c!r} is missing" for c in COLUMNS if row.get(c) is None]
    if errors or None in row:
        raise ValueError("\n".join(errors) or f"more cells than the {len(COLUMNS)} columns")
    errors += [f"{c} is empty" for c in ("id", "series", "platform", "workload", "source") if not row[c]]
    quantity, _, pipe = row["quantity"].partition(" ")
    use, _, why = row["use"].partition(": ")
    if quantity not in QUANTITIES or bool(pipe) == (quantity == "time"):
        errors.append(f"quantity {row['quantity']!r}: expected 'time', 'busy PIPE' or 'share PIPE'")
    if use not in USES or bool(why) != (use in ("order", "excluded")):
        errors.append(f"use {row['use']!r}: expected 'validate', 'fit', 'order: why' or 'excluded: why'")
    if row["timing"] not in TIMINGS:
        errors.append(f"timing {row['timing']!r}: expected one of {', '.join(TIMINGS)}")
    if row["slow"] not in ("", "yes"):
        errors.append(f"slow {row['slow']!r}: expected 'yes' or nothing")
    units = ("ratio",) if quantity == "share" else (*_UNITS, *_RATES)
    if row["unit"] not in units:
        errors.append(f"unit {row['unit']!r}: expected one of {', '.join(units)}")
    value, work = _positive(row["value"], float), _positive(row["work"] or "0", int)
    if not value:
        errors.append(f"value {row['value']!r}: expected a number above 0")
    if work is None or bool(work) != (row["unit"] in _RATES):
        errors.append(f"work {row['work']!r}: expected a whole number for a rate, and nothing otherwise")
    configuration = _configuration(row["configuration"])
    if configuration is None:
        errors.append(f"configuration {row['configuration']!r}: expected a JSON object of whole numbers and labels")
    if errors:
        raise ValueError("\n".join(errors))
    assert value is not None
    assert work is not None
    assert configuration is not None
    return Case(
        table, row["id"], row["series"], row["soc"], row["platform"], row["workload"], configuration,
        row["rules"] or None, row["timing"], quantity, pipe, float(value), row["unit"], int(work), use, why,
        row["slow"] == "yes", row["source"], row["note"],
    )  # fmt: skip


def _positive(text: str, kind: type[float] | type[int]) -> float | int | None:
    """The number, or None where it is none, not finite or below 0."""
    try:
        value = kind(text)
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def _configuration(text: str) -> dict[str, int | str] | None:
    try:
        found = json.loads(text)
    except ValueError:
        return None
    if not isinstance(found, dict):
        return None
    good = all(isinstance(v, int | str) and not isinstance(v, bool) for v in found.values())
    return found if good else None
