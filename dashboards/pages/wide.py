"""Tables with many columns of words: cells keep a readable width, and the table scrolls sideways."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from dashboards.site.parts import html, table

SHORT = 34
"""Characters that stay on one line."""

_WORDS = {"minWidth": "210px"}
_LINE = {"whiteSpace": "nowrap"}


def wide_table(
    columns: Sequence[Any], rows: Iterable[Sequence[Any]], numbers: Iterable[str] = (), label: str = ""
) -> Any:
    """As `parts.table`; short texts are not broken and long ones have room."""
    found = table(columns, [[roomy(cell) for cell in row] for row in rows], numbers, label)
    return html().Div(found)


def roomy(cell: Any) -> Any:
    """A text in a place that is wide enough for it; anything else as it is."""
    if not isinstance(cell, str):
        return cell
    h = html()
    return h.Span(cell, style=_LINE) if len(cell) <= SHORT else h.Div(cell, style=_WORDS)
