"""What was found wrong with a file of measurements, row by row, and the limits of what is read."""

from __future__ import annotations

from dataclasses import dataclass

MAX_FILE_BYTES = 64 * 1024 * 1024
MAX_ROWS = 200_000
MAX_COLUMNS = 500
MAX_CELL = 2_000
"""Characters of a cell that is used; cells of a profiler's summary that are not used may be longer."""


class MeasurementFileError(ValueError):
    """Nothing can be read from a file: one sentence a line, what is wrong and what would be right."""


class RowError(ValueError):
    """A row is no measurement: one sentence a line."""


@dataclass(frozen=True)
class Fault:
    """Rows that were left out, and why.

    Attributes:
        row: the row's number: in a CSV file the titles are row 1, as in a spreadsheet; in JSON lines the line's
            number. None where it is about the file or several rows.
        text: what is wrong and what would be right, in one sentence.
        harmless: the rows are rightly left out: not measured yet, a repetition, or ops that nobody asked for.
    """

    row: int | None
    text: str
    harmless: bool = False

    def __str__(self) -> str:
        return self.text if self.row is None else f"row {self.row}: {self.text}"


def quoted(text: object, longest: int = 60) -> str:
    """`text` in quotes on one line, cut to `longest` characters."""
    shown = " ".join(str(text).split())
    return repr(shown if len(shown) <= longest else shown[: longest - 3] + "...")


def listed(numbers: list[int], most: int = 8) -> str:
    """Row numbers in words: `row 3`, `rows 3, 4 and 5`, `rows 3, 4, 5, ... (120 rows)`."""
    if len(numbers) == 1:
        return f"row {numbers[0]}"
    if len(numbers) > most:
        return f"rows {', '.join(map(str, numbers[:most]))}, ... ({len(numbers)} rows)"
    return f"rows {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"
