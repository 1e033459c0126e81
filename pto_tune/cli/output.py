"""Where results go: tables on a terminal, plain columns in a pipe or with NO_COLOR, JSON for machines.

Only results go to stdout; progress and errors go to stderr.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

from pto_tune.cli.text import printable


def is_plain(stream: TextIO | None = None) -> bool:
    """Whether `stream` (default stdout) gets text without frames and colours."""
    stream = stream or sys.stdout
    return not stream.isatty() or bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"


def say(line: str = "") -> None:
    """A line of the result."""
    sys.stdout.write(f"{printable(line)}\n")


def heading(text: str) -> None:
    """A title with an empty line before it."""
    if is_plain():
        sys.stdout.write(f"\n{printable(text)}\n")
    else:
        sys.stdout.write(f"\n\x1b[1m{printable(text)}\x1b[0m\n")


def table(titles: Sequence[str], rows: Iterable[Sequence[object]], right: Iterable[str] = ()) -> None:
    """Rows under titles; columns named in `right` are aligned to the right."""
    cells = [[printable(cell) for cell in row] for row in rows]
    to_right = set(right)
    if is_plain():
        _plain_table(titles, cells, to_right)
    else:
        _framed_table(titles, cells, to_right)


def _plain_table(titles: Sequence[str], cells: list[list[str]], to_right: set[str]) -> None:
    from rich.cells import cell_len  # a Chinese character takes two places

    lines = [list(titles), *cells]
    widths = [max(cell_len(line[i]) for line in lines) for i in range(len(titles))]
    for line in lines:
        parts = []
        for title, cell, width in zip(titles, line, widths, strict=True):
            gap = " " * (width - cell_len(cell))
            parts.append(gap + cell if title in to_right else cell + gap)
        sys.stdout.write("  ".join(parts).rstrip() + "\n")


def _framed_table(titles: Sequence[str], cells: list[list[str]], to_right: set[str]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for title in titles:
        drawn.add_column(Text(title), justify="right" if title in to_right else "left", overflow="fold")
    for row in cells:
        drawn.add_row(*map(Text, row))
    Console(file=sys.stdout, highlight=False).print(drawn)


def as_json(value: object) -> None:
    """`value` on stdout as JSON in ASCII; NumPy numbers become numbers, NaN and infinities null."""
    sys.stdout.write(json.dumps(to_plain(value), indent=2, allow_nan=False) + "\n")


def to_plain(value: Any) -> Any:
    """Numbers, texts, lists and dictionaries only, as JSON has them."""
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_plain(item) for item in value]
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if hasattr(value, "tolist"):  # a NumPy scalar or array
        return to_plain(value.tolist())
    return str(value)
