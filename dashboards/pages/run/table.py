"""The table of all configurations of a run: its columns, what its own filter means, and the rows of a block."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from dashboards.filtering import NONE, Filter, select, tunable_key
from dashboards.runview import BYTE_COLUMNS, RunView
from dashboards.site.page import address

if TYPE_CHECKING:
    from db import Run

BLOCK = 100
"""Rows that the browser asks for at a time."""

MOST = 1_000
"""Rows of one answer."""

_KIB = {"on_chip_bytes": "On chip (KiB)", "ub": "UB (KiB)", "l1": "L1 (KiB)", "l0a": "L0A (KiB)", "l0b": "L0B (KiB)",
        "l0c": "L0C (KiB)", "gm_ring": "GM rings (KiB)", "gm_traffic": "GM traffic (KiB)"}  # fmt: skip
_NOTHING = "\N{EMPTY SET}"
_TEXT_OPTIONS = ["contains", "equals", "startsWith"]
_NUMBER_OPTIONS = ["greaterThanOrEqual", "lessThanOrEqual", "equals", "inRange"]


def names(tunables: Sequence[str]) -> dict[str, str]:
    """Names of the filter's columns by the fields of the table: tunables may have any name, a field may not."""
    out = {"row": "row", "verdict": "verdict", "rule": "rule", "bound": "bound", "time_us": "time_us"}
    return {**out, **{name: name for name in _KIB}, **{f"t{i}": tunable_key(t) for i, t in enumerate(tunables)}}


def columns(run: Run, sort: Sequence[tuple[str, bool]]) -> list[dict[str, Any]]:
    """Columns of the table, sorted as `sort` says: ok ones first, by time, where it says nothing."""
    number = {"type": "rightAligned", "filter": "agNumberColumnFilter",
              "filterParams": {"filterOptions": _NUMBER_OPTIONS, "maxNumConditions": 1, "debounceMs": 400}}  # fmt: skip
    text = {"filter": "agTextColumnFilter",
            "filterParams": {"filterOptions": _TEXT_OPTIONS, "maxNumConditions": 1, "debounceMs": 400}}  # fmt: skip
    digits = {"function": "params.value == null ? '–' : d3.format(',.4~r')(params.value)"}
    tunables = [str(t["name"]) for t in run.tunables]
    out: list[dict[str, Any]] = [
        {"field": "row", "headerName": "Row", "cellRenderer": "Link", **number, "width": 95, "pinned": "left"},
        {"field": "time_us", "headerName": "Time (µs)", **number, "width": 145, "valueFormatter": digits},
        {"field": "verdict", "headerName": "Verdict", **text, "width": 135},
        {"field": "rule", "headerName": "Rule", **text, "width": 130},
        {"field": "bound", "headerName": "Bound by", **text, "width": 115},
    ]
    for i, t in enumerate(run.tunables):
        if len(t["domain"]) > 1:
            whole = all(type(v) is int for v in t["domain"])
            # a head is text, a tooltip too: neither is read as markup
            out.append({"field": f"t{i}", "headerName": tunables[i], "headerTooltip": tunables[i], "width": 120,
                        **(number if whole else text)})  # fmt: skip
    out += [
        {"field": name, "headerName": title, **number, "width": 125, "valueFormatter": digits,
         "hide": name in ("l0a", "l0b", "l0c")}
        for name, title in _KIB.items()
    ]  # fmt: skip
    fields = {column: fieldname for fieldname, column in names(tunables).items()}
    order = {
        fields[name]: (i, down)
        for i, (name, down) in enumerate(sort or (("verdict", False), ("time_us", False)))
        if name in fields
    }
    for column in out:
        if column["field"] in order:
            i, down = order[column["field"]]
            column |= {"sort": "desc" if down else "asc", "sortIndex": i}
    return out


def sorting(model: Sequence[Mapping[str, Any]] | None, tunables: Sequence[str]) -> tuple[tuple[str, bool], ...]:
    """The order that the table asks for."""
    known = names(tunables)
    return tuple((known[m["colId"]], m.get("sort") == "desc") for m in model or () if m.get("colId") in known)


def table_filter(view: RunView, model: Mapping[str, Any] | None) -> Filter:
    """What the filters in the heads of the columns mean. What is not one of the table's own is left out."""
    known = names([name for name, _ in view.tunables])
    any_of: list[tuple[str, tuple[str, ...]]] = []
    ranges: list[tuple[str, float | None, float | None]] = []
    for fieldname, asked in (model or {}).items():
        column = known.get(fieldname)
        if column is None or not isinstance(asked, Mapping):
            continue
        if fieldname in ("verdict", "rule", "bound"):
            have = {"verdict": view.verdict_names, "rule": view.rule_names, "bound": view.bound_names}[fieldname]
            any_of.append((column, _texts(asked, have)))
            continue
        if fieldname not in ("row", "time_us", *_KIB):
            domain = view.tunables[int(fieldname[1:])][1]
            if any(type(v) is not int for v in domain):
                any_of.append((column, _texts(asked, [str(v) for v in domain])))
                continue
            low, high = _ends(asked)
            whole = [int(v) for v in domain]
            inside = tuple(str(v) for v in whole if (low is None or v >= low) and (high is None or v <= high))
            any_of.append((column, inside or (_NOTHING,)))
            continue
        low, high = _ends(asked)
        unit = 1024.0 if fieldname in _KIB else 1.0
        if low is not None or high is not None:
            ranges.append((column, None if low is None else low * unit, None if high is None else high * unit))
    return Filter(tuple(any_of), tuple(ranges))


def _texts(asked: Mapping[str, Any], have: Sequence[str]) -> tuple[str, ...]:
    """The names that a text filter means."""
    wanted = str(asked.get("filter", "")).casefold()
    kind = asked.get("type")
    matches = [
        name for name in (*have, NONE)
        if (wanted == name.casefold() if kind == "equals" else
            name.casefold().startswith(wanted) if kind == "startsWith" else wanted in name.casefold())
    ]  # fmt: skip
    return tuple(matches) or (_NOTHING,)


def _ends(asked: Mapping[str, Any]) -> tuple[float | None, float | None]:
    """Least and greatest value of a number filter."""
    one, two = (_finite(asked.get(key)) for key in ("filter", "filterTo"))
    kind = asked.get("type")
    if kind == "equals":
        return one, one
    if kind == "inRange":
        return one, two
    return (one, None) if kind == "greaterThanOrEqual" else (None, one) if kind == "lessThanOrEqual" else (None, None)


def _finite(value: Any) -> float | None:
    return float(value) if isinstance(value, (int, float)) and isfinite(value) else None


def block(run_id: int, view: RunView, wanted: Filter, start: int, end: int) -> dict[str, Any]:
    """Rows `start` to `end` of what `wanted` means, and how many there are in all, as the grid takes them."""
    positions = select(view, wanted)
    start = max(0, start)
    part = positions[start : min(end, start + MOST)]
    return {"rowData": [record(run_id, view, int(p)) for p in part], "rowCount": len(positions)}


def record(run_id: int, view: RunView, position: int) -> dict[str, Any]:
    """A row of the table: numbers and texts."""
    row, rule = int(view.rows[position]), int(view.rule[position])
    out: dict[str, Any] = {
        "row": row,
        "row_href": address("runs", run_id, "configurations", row),
        "verdict": view.verdict_names[int(view.verdict[position])],
        "rule": view.rule_names[rule] if rule >= 0 else NONE,
        "bound": view.bound_name(position),
        "time_us": _number(view.time_us[position]),
        "on_chip_bytes": _number(view.on_chip_bytes[position] / 1024),
    }
    out |= {name: _number(view.bytes[name][position] / 1024) for name in BYTE_COLUMNS if name in view.bytes}
    for i, (name, _) in enumerate(view.tunables):
        value = view.values[name][position]
        out[f"t{i}"] = NONE if value is None else value.item() if isinstance(value, np.generic) else value
    return out


def _number(value: float) -> float | None:
    return float(f"{value:.7g}") if isfinite(value) else None
