"""Busy times of pipes from summaries of the profiler: `op_summary_*.csv` of msprof, `PipeUtilization.csv` of msprof op.

Both have columns such as `aic_mte2_time(us)` and `aiv_vec_time(us)`; a row is an op in the first, a core of one op in
the second (`block_id`, `sub_block_id` as "cube0" or "vector1"). Neither says when a pipe was busy.

Sources: the pages op_summary and PipeUtilization of the CANN documentation (hiascend.com).
Limits: the times of an op summary are means over its cores, those of the vector cores together; means of all rows
that are taken.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from statistics import fmean

from pto_tune.measuring.faults import MeasurementFileError, quoted
from pto_tune.measuring.files import Table, read_table, read_text
from pto_tune.measuring.rows import LARGEST_TIME, number
from pto_tune.tracing.naming import LONGEST, TraceError

COLUMNS: Mapping[str, tuple[str, str]] = {
    "aic_mac_time(us)": ("AIC", "M"),
    "aic_cube_time(us)": ("AIC", "M"),
    "aic_mte1_time(us)": ("AIC", "MTE1"),
    "aic_mte2_time(us)": ("AIC", "MTE2"),
    "aic_fixpipe_time(us)": ("AIC", "FIX"),
    "aiv_vec_time(us)": ("AIV", "V"),
    "aiv_mte2_time(us)": ("AIV", "MTE2"),
    "aiv_mte3_time(us)": ("AIV", "MTE3"),
}
"""Columns by core and pipe. Scalar times are not compared: the model counts no scalar instructions as work."""

_DURATIONS = ("taskduration(us)",)
_SUB_BLOCK = re.compile(r"vector(\d)")


@dataclass(frozen=True)
class Summary:
    """busy_us: mean busy time by pipe; what is of all vector cores together is "AIV.V". duration_us: mean duration of
    the op, None where the file does not have it. rows: how many were taken."""

    busy_us: Mapping[str, float]
    duration_us: float | None
    rows: int


def is_summary(path: str | os.PathLike[str]) -> bool:
    """Whether a file is taken for a summary, by its name."""
    return str(path).lower().endswith(".csv")


def read_summary(path: str | os.PathLike[str], op: str | None = None) -> Summary:
    """The busy times of a summary.

    Args:
        op: the op to take, by the column `Op Name` (`*` and `?` for what varies).

    Raises:
        TraceError: no such file, no CSV, no column of a pipe, several ops and none is named, no such op, or a cell that
            is no time.
    """
    file = Path(path)
    try:
        table = read_table(read_text(file), str(file))
    except MeasurementFileError as error:
        raise TraceError(str(error)) from None
    columns = {_plain(title): title for title in table.titles}
    pipes = {title: COLUMNS[name] for name in COLUMNS if (title := columns.get(_plain(name)))}
    if not pipes:
        raise TraceError(
            f"{file} has no busy time of a pipe: expected columns such as aic_mte2_time(us), which msprof writes with "
            "--aic-metrics=PipeUtilization"
        )
    if table.faults:
        raise TraceError(f"{file}: {table.faults[0]}")
    rows = _rows(table, columns.get("opname"), op, file)
    sub_block = columns.get(_plain("sub_block_id"))
    times: dict[str, list[float]] = {}
    for at, row in rows:
        part = _SUB_BLOCK.fullmatch(row[sub_block].lower()) if sub_block else None
        for title, (core, pipe) in pipes.items():
            time = _time(row[title], f"{file}: row {at}: {title}")
            if time is not None and not (sub_block and row[sub_block].lower().startswith(_OTHER[core])):
                own = core + part[1] if part and core == "AIV" else core
                times.setdefault(f"{own}.{pipe}", []).append(time)
    title = next((columns[name] for name in _DURATIONS if name in columns), None)
    durations = [_time(row[title], f"{file}: row {at}: {title}") for at, row in rows] if title else []
    known = [time for time in durations if time is not None]
    return Summary({pipe: fmean(found) for pipe, found in times.items()}, fmean(known) if known else None, len(rows))


_OTHER = {"AIC": "vector", "AIV": "cube"}
"""Rows of the other kind of core say nothing about a pipe, and have a 0 or nothing there."""


def _rows(table: Table, title: str | None, op: str | None, file: Path) -> Sequence[tuple[int, Mapping[str, str]]]:
    if title is None:
        if op is not None:
            raise TraceError(f"{file} has no column 'Op Name': leave the op out")
        return table.rows
    names = list(dict.fromkeys(row[title] for _, row in table.rows))
    shown = ", ".join(quoted(name) for name in names[:6]) + (", ..." if len(names) > 6 else "")
    if op is None:
        if len(names) > 1:
            raise TraceError(f"{file} has several ops: name the one to compare, of {shown}")
        return table.rows
    pattern = op[:LONGEST].casefold()
    found = [(at, row) for at, row in table.rows if fnmatchcase(row[title][:LONGEST].casefold(), pattern)]
    if not found:
        raise TraceError(f"{file} has no op {quoted(op)}; it has {shown}")
    return found


def _time(cell: str, where: str) -> float | None:
    if cell.upper() in ("", "NA", "N/A"):
        return None
    value = number(cell)
    if value is None or not 0 <= value <= LARGEST_TIME:
        raise TraceError(f"{where} is {quoted(cell)}: expected microseconds")
    return float(value)


def _plain(title: str) -> str:
    return re.sub(r"[\s_]", "", title).casefold()
