"""Summaries of the profiler as measurements: `op_summary_*.csv` of msprof, `OpBasicInfo.csv` of msprof op.

Both have a row a task with `Op Name`, `OP Type` (`Op Type`), `Task Duration(us)` and `Block Dim` (`Block Num` in newer
versions); `op_summary` also has `Task Type`. Neither knows which workload and configuration an op was, so a JSON file
maps ops to them:

    {"platform": "ascend910b2",
     "ops": [{"op": "fa_depth8*", "workload": "flash_attention",
              "configuration": {"s0": 4096, "s1": 4096, "fifo_depth": 8}, "skip_first": 5}]}

`op` is a name with `*` and `?` for what varies; `op_type`, `task_type` and `block_dim` narrow the choice. `platform`,
`soc`, `pto_isa`, `source` and `note` stand beside `ops` for all, or in an entry for one. The rows of an entry are
repeats of one measurement: their mean, standard deviation (n - 1), shortest and longest; the first `skip_first` rows
in the order of the file (warm-up) are left out.

Sources: the pages op_summary and OpBasicInfo of the CANN documentation (hiascend.com, "AI Core和AI CPU算子数据" and
"OpBasicInfo"), and the titles in Ascend/msprof and in Ascend/pytorch torch_npu/profiler (Block Num).
Limits: the duration is that of the profiler's protocol, dispatch and response included, whatever a map says; rows of
several devices are repeats of each other.
"""

from __future__ import annotations

import os
import re
import statistics
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from db import Measurement
from pto_tune.measuring.faults import Fault, MeasurementFileError, RowError, listed, quoted
from pto_tune.measuring.files import Table, cell_text, json_object, read_text
from pto_tune.measuring.protocols import PROFILER
from pto_tune.measuring.rows import LARGEST_TIME, RESERVED, Rows, number

MAX_MAP_BYTES = 100_000
_SHARED = ("platform", "soc", "pto_isa", "source", "note")
_CHOICES = ("op", "op_type", "task_type")
_LONGEST_PATTERN = 200

# Titles without blanks, underscores and case, by what they are here.
_TITLES = {
    "op": ("opname",),
    "op_type": ("optype",),
    "task_type": ("tasktype",),
    "block_dim": ("blockdim", "blocknum"),
    "duration": ("taskduration(us)",),
}


@dataclass
class Entry:
    """An entry of a map: which rows it takes, what they measured, and the rows it took."""

    number: int
    patterns: dict[str, str]
    block_dim: int | None
    skip_first: int
    cells: dict[str, str]
    rows: list[tuple[int, float]] = field(default_factory=list)

    def __str__(self) -> str:
        named = [f"{name} {quoted(pattern)}" for name, pattern in self.patterns.items()]
        return f"entry {self.number} of the map ({', '.join(named)})"

    def takes(self, row: Mapping[str, str]) -> bool:
        """Whether a row, by the names of `_TITLES`, is one of this entry."""
        if self.block_dim is not None and number(row.get("block_dim", "")) != self.block_dim:
            return False
        return all(fnmatchcase(row.get(name, ""), pattern) for name, pattern in self.patterns.items())


def is_summary(titles: tuple[str, ...]) -> bool:
    """Whether a CSV file with these titles is a summary of the profiler."""
    return {"op", "duration"} <= _columns(titles).keys()


def read_map(path: str | os.PathLike[str]) -> list[Entry]:
    """The entries of a map file.

    Raises:
        MeasurementFileError: everything that is wrong with it, one sentence a line.
    """
    try:
        data = json_object(read_text(path, MAX_MAP_BYTES))
    except MeasurementFileError:
        raise
    except ValueError as error:
        raise MeasurementFileError(f"{path}: {error}") from None
    wrong = [_unknown("the map", name, (*_SHARED, "ops")) for name in data if name not in (*_SHARED, "ops")]
    shared = _texts(data, _SHARED, "the map", wrong)
    ops = data.get("ops")
    if not isinstance(ops, list) or not ops:
        wrong.append('"ops" must be a list of entries, such as {"op": "my_kernel*", "workload": "gemm"}')
        ops = []
    entries = [_entry(number, op, shared, wrong) for number, op in enumerate(ops, 1)]
    if wrong:
        raise MeasurementFileError("\n".join(f"{path}: {sentence}" for sentence in wrong))
    return [entry for entry in entries if entry is not None]


def _entry(number: int, op: Any, shared: dict[str, str], wrong: list[str]) -> Entry | None:
    where = f"entry {number}"
    known = (*_CHOICES, "block_dim", "skip_first", "workload", "configuration", *_SHARED)
    if not isinstance(op, dict):
        wrong.append(f'{where} is no object: write {{"op": "my_kernel*", "workload": "gemm"}}')
        return None
    before = len(wrong)
    wrong += [_unknown(where, name, known) for name in op if name not in known]
    patterns = _texts(op, _CHOICES, where, wrong)
    if not any(patterns.get(name) for name in ("op", "op_type")):
        wrong.append(f"{where} chooses no rows: give it an 'op' (or an 'op_type'), as the profiler names it")
    wrong += [
        f"{where}: {name} has {len(pattern)} characters, at most {_LONGEST_PATTERN} are taken"
        for name, pattern in patterns.items()
        if len(pattern) > _LONGEST_PATTERN
    ]
    for name in ("block_dim", "skip_first"):
        value = op.get(name, 0)
        if isinstance(value, bool) or not isinstance(value, int) or value < 0:
            wrong.append(f"{where}: {name} is {quoted(value)}, it must be a whole number")
    configuration = op.get("configuration", {})
    if not isinstance(configuration, dict):
        wrong.append(f'{where}: configuration must be an object, such as {{"fifo_depth": 8}}')
        configuration = {}
    cells = {**shared, **_texts(op, ("workload", *_SHARED), where, wrong)}
    for name, value in configuration.items():
        try:
            if name in RESERVED:
                raise ValueError(f"{name!r} is no problem size or tunable: put it beside configuration")
            cells[name] = cell_text(name, value)
        except ValueError as error:
            wrong.append(f"{where}: {error}")
    if len(wrong) > before:
        return None
    return Entry(number, {n: p for n, p in patterns.items() if p}, op.get("block_dim"), op.get("skip_first", 0), cells)


def _texts(data: Mapping[str, Any], names: tuple[str, ...], where: str, wrong: list[str]) -> dict[str, str]:
    found = {}
    for name in names:
        value = data.get(name)
        if isinstance(value, str):
            found[name] = value.strip()
        elif value is not None:
            wrong.append(f"{where}: {name} is {quoted(value)}, it must be a text")
    return found


def _unknown(where: str, name: str, known: tuple[str, ...]) -> str:
    return f"{where} has no {quoted(name)}: it takes {', '.join(known)}"


def _columns(titles: tuple[str, ...]) -> dict[str, str]:
    """Titles of the file by the names of `_TITLES`."""
    plain = {re.sub(r"[\s_]", "", title).casefold(): title for title in titles}
    return {
        name: plain[candidate] for name, candidates in _TITLES.items() for candidate in candidates if candidate in plain
    }


def summary_measurements(
    table: Table, entries: list[Entry], rows: Rows
) -> tuple[list[tuple[int | None, Measurement]], list[Fault]]:
    """The measurements of a summary, one an entry of the map, and what was left out."""
    columns = _columns(table.titles)
    faults = list(table.faults)
    others: dict[str, list[int]] = {}
    for row, cells in table.rows:
        known = {name: cells[title] for name, title in columns.items()}
        takers = [entry for entry in entries if entry.takes(known)]
        if not takers:
            others.setdefault(known["op"], []).append(row)
        elif len(takers) > 1:
            faults.append(Fault(row, f"{takers[0]} and {takers[1]} both take it: make them exclude each other"))
        else:
            _take(takers[0], row, known["duration"], faults)
    found = [(entry, _measurement(entry, rows, faults)) for entry in entries]
    if others:
        names = ", ".join(quoted(name) for name in list(others)[:3]) + (", ..." if len(others) > 3 else "")
        count = sum(map(len, others.values()))
        faults.append(
            Fault(None, f"{count} {'row' if count == 1 else 'rows'} of other ops left out ({names})", harmless=True)
        )
    return [(None, measurement) for _, measurement in found if measurement is not None], faults


def _take(entry: Entry, row: int, text: str, faults: list[Fault]) -> None:
    duration_us = number(text)
    if duration_us is None or not 0 < duration_us <= LARGEST_TIME:
        faults.append(
            Fault(row, f"its task duration is {quoted(text)}: expected microseconds above 0; profile the op again")
        )
    else:
        entry.rows.append((row, duration_us))


def _measurement(entry: Entry, rows: Rows, faults: list[Fault]) -> Measurement | None:
    times_us = [time for _, time in entry.rows[entry.skip_first :]]
    if not times_us:
        taken = listed([row for row, _ in entry.rows]) if entry.rows else ""
        why = (
            f"skips all that it fits, {taken}: lower skip_first"
            if taken
            else "fits no usable row: compare it with the column 'Op Name'"
        )
        faults.append(Fault(None, f"{entry} {why}"))
        return None
    least, most = min(times_us), max(times_us)
    cells = {
        **entry.cells,
        "timing": PROFILER,
        # A thousandth of what the profiler resolves; and a mean is never outside, whatever was rounded.
        "time_us": repr(min(max(round(statistics.fmean(times_us), 6), least), most)),
        "repeats": str(len(times_us)),
        "spread_us": repr(round(statistics.stdev(times_us), 6)) if len(times_us) > 1 else "",
        "min_us": repr(least),
        "max_us": repr(most),
    }
    try:
        return rows.measurement(cells)
    except RowError as error:
        taken = listed([row for row, _ in entry.rows])
        faults += [Fault(None, f"{entry}, {taken}: {sentence}") for sentence in str(error).splitlines()]
        return None
