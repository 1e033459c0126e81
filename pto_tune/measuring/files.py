"""Files as rows of text: CSV with titles, and JSON lines. What the rows mean is not known here."""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pto_tune.measuring.faults import MAX_COLUMNS, MAX_FILE_BYTES, MAX_ROWS, Fault, MeasurementFileError, quoted

_MAX_LINE = 100_000
"""Characters of a line of JSON, and of a cell of CSV."""


@dataclass
class Table:
    """Rows by number, the titles of a CSV file (none for JSON lines), and rows that could not be read."""

    titles: tuple[str, ...] = ()
    rows: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)


def read_text(path: str | os.PathLike[str], longest: int = MAX_FILE_BYTES) -> str:
    """The UTF-8 text of a file of at most `longest` bytes, without a byte order mark.

    Raises:
        MeasurementFileError: there is none, it is too long, or it is no such text.
    """
    file = Path(path)
    try:
        if not file.is_file():
            what = "is a folder" if file.is_dir() else "is no file" if file.exists() else "does not exist"
            raise MeasurementFileError(f"{file} {what}: give the path of a file")
        with file.open("rb") as stream:
            content = stream.read(longest + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, MeasurementFileError):
            raise
        reason = getattr(error, "strerror", None) or "the path is not usable"
        raise MeasurementFileError(f"{quoted(file, 200)} cannot be read: {reason}") from None
    if len(content) > longest:
        raise MeasurementFileError(f"{file} has more than {longest:,} bytes: split it")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise MeasurementFileError(f"{file} is no UTF-8 text, first in line {line}: save it as UTF-8") from None


def read_table(text: str, where: str) -> Table:
    """The rows of a text: JSON lines where it begins with an object, CSV otherwise.

    Raises:
        MeasurementFileError: no row, too many rows or columns, titles missing or given twice; all of them.
    """
    start = text.lstrip()[:1]
    if start == "[":
        raise MeasurementFileError(f"{where} is one JSON list: write one object a line (JSON lines)")
    table = _json_lines(text, where) if start == "{" else _csv(text, where)
    if not table.rows and not table.faults:
        raise MeasurementFileError(
            f"{where} has no rows: write titles and a row a measurement, or one JSON object a line"
        )
    return table


def _check_size(table: Table, where: str) -> None:
    if len(table.rows) + len(table.faults) >= MAX_ROWS:
        raise MeasurementFileError(f"{where} has more than {MAX_ROWS:,} rows: split it")


def _csv(text: str, where: str) -> Table:
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    table = Table()
    for row, cells in enumerate(_records(reader, where), 1):
        if not any(cells):
            continue
        if not table.titles:
            table.titles = _titles(cells, where)
            continue
        _check_size(table, where)
        while len(cells) > len(table.titles) and not cells[-1]:
            cells.pop()
        if len(cells) != len(table.titles):
            table.faults.append(
                Fault(row, f"it has {len(cells)} cells and there are {len(table.titles)} titles: give a cell for each")
            )
            continue
        nameless = [
            i + 1 for i, (title, cell) in enumerate(zip(table.titles, cells, strict=True)) if cell and not title
        ]
        if nameless:
            table.faults.append(Fault(row, f"column {nameless[0]} has a value and no title: give it one in row 1"))
            continue
        table.rows.append((row, {title: cell for title, cell in zip(table.titles, cells, strict=True) if title}))
    return table


def _records(reader: Any, where: str) -> Iterator[list[str]]:
    """The reader's records with blanks around cells removed; the profiler ends some of its cells with a tab."""
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise MeasurementFileError(
                f"{where} is no CSV from line {reader.line_num} on ({error}): close every quote, and double a quote "
                "inside of quotes"
            ) from None
        yield [cell.strip() for cell in cells]


def _titles(cells: list[str], where: str) -> tuple[str, ...]:
    while cells and not cells[-1]:
        cells.pop()
    wrong = []
    if len(cells) > MAX_COLUMNS:
        wrong.append(f"{where} has {len(cells)} columns: at most {MAX_COLUMNS} are read")
    named = [title for title in cells if title]
    twice = sorted({title for title in named if named.count(title) > 1}) if not wrong else []
    wrong += [f"{where} has the column {quoted(title)} twice: keep one" for title in twice]
    if len(cells) == 1 and (";" in cells[0] or "\t" in cells[0]):
        wrong.append(f"{where} has one column {quoted(cells[0])}: put commas between cells")
    if wrong:
        raise MeasurementFileError("\n".join(wrong))
    return tuple(cells)


def _json_lines(text: str, where: str) -> Table:
    table = Table()
    for row, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        _check_size(table, where)
        try:
            table.rows.append((row, _cells(json_object(line))))
        except ValueError as error:
            table.faults.append(Fault(row, str(error)))
    return table


def json_object(text: str) -> dict[str, Any]:
    """A JSON object that gives no name twice.

    Raises:
        ValueError: it is none, in one sentence.
    """
    if len(text) > _MAX_LINE:
        raise ValueError(f"the JSON has {len(text):,} characters: at most {_MAX_LINE:,} are read")

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        names = [name for name, _ in found]
        twice = [name for name in names if names.count(name) > 1]
        if twice:
            raise _Twice(f"the JSON gives {quoted(twice[0])} twice: give it once")
        return dict(found)

    def constant(word: str) -> Any:
        raise _Twice(f"the JSON has {word}, which is no number: leave it out")

    try:
        value = json.loads(text, object_pairs_hook=pairs, parse_constant=constant)
    except _Twice:
        raise
    except json.JSONDecodeError as error:
        raise ValueError(f"it is no JSON ({error.msg}, character {error.pos + 1}): write one object") from None
    except (ValueError, RecursionError):  # numbers of thousands of digits; lists in lists
        raise ValueError("the JSON has a number that is too long, or is nested too deeply: simplify it") from None
    if not isinstance(value, dict):
        raise ValueError(f"the JSON is {quoted(text.strip())}: write an object, {{...}}")
    return value


class _Twice(ValueError):
    pass


def _cells(value: dict[str, Any]) -> dict[str, str]:
    """An object as texts by name; what stands in an object `configuration` joins the others."""
    inner = value.pop("configuration", {})
    if not isinstance(inner, dict):
        raise ValueError('configuration is no object: write {"configuration": {"s0": 4096}, ...}')
    both = [name for name in inner if name in value]
    if both:
        raise ValueError(f"{quoted(both[0])} stands in configuration and beside it: give it once")
    return {name.strip(): cell_text(name, cell) for name, cell in {**value, **inner}.items()}


def cell_text(name: str, cell: object) -> str:
    """A JSON value as a cell of CSV would hold it.

    Raises:
        ValueError: it is a list or an object.
    """
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(int(cell))
    if isinstance(cell, str):
        return cell.strip()
    if isinstance(cell, float):
        if not math.isfinite(cell):
            raise ValueError(f"{quoted(name)} is too large a number: write one below 1e300")
        return repr(cell)
    if isinstance(cell, int):
        return str(cell)
    raise ValueError(f"{quoted(name)} is a list or an object: write a number or a text")
