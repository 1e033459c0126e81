"""What the address of a run's page says: the filter in the words of downloads, and what each view shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from dashboards.filtering import Filter, FilterError

if TYPE_CHECKING:
    from dashboards.site.page import Place

X, Y, COLOUR = "axis-x", "axis-y", "colour-by"
CELL_X, CELL_Y, CELL_SHOWS = "cell-x", "cell-y", "cell-shows"
SELECTED, TABLE = "selected-row", "table-filter"
OWN = (X, Y, COLOUR, CELL_X, CELL_Y, CELL_SHOWS, SELECTED, TABLE)
"""Names of the page's own; every other name of the query belongs to the filter."""

_LONGEST_TABLE = 4_000


@dataclass(frozen=True)
class Shown:
    """`filter` without an order, `sort` as a query has it; the page's choices by name; the selected row; the table's
    own filter as the table has it."""

    filter: Filter = field(default_factory=Filter)
    sort: tuple[tuple[str, bool], ...] = ()
    choices: Mapping[str, str] = field(default_factory=dict)
    selected: int | None = None
    table: Mapping[str, Any] = field(default_factory=dict)
    complaint: str = ""


def shown(place: Place) -> Shown:
    """What the address says; what cannot be read is left out and named in `complaint`."""
    complaint = ""
    try:
        found = Filter.from_query(place.query, ignore=OWN)
    except FilterError as error:
        found, complaint = Filter(), f"The address holds a filter that cannot be read: {error}"
    return Shown(
        Filter(found.any_of, found.ranges),
        found.sort,
        {name: place.query[name] for name in OWN[:6] if name in place.query},
        place.number(SELECTED),
        _table(place.text(TABLE)),
        complaint,
    )


def _table(text: str) -> dict[str, Any]:
    import json

    if not text or len(text) > _LONGEST_TABLE:
        return {}
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) and all(isinstance(v, dict) for v in found.values()) else {}


def table_text(model: Mapping[str, Any] | None) -> str:
    """The table's own filter for the address, "" for none."""
    import json

    return json.dumps(model, separators=(",", ":"), ensure_ascii=False) if model else ""
