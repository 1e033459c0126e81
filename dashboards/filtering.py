"""Which configurations of a run are meant, and in which order: read from a query string, applied to the run's columns.

Pages, downloads and the API share these names of query parameters (all may stand together; every one narrows):

- ``verdict=ok,hang``, ``rule=capacity-UB``, ``bound=AIC.M``: any of the names; ``–`` is "none".
- ``fifo_depth=4,8``: any of these values of the tunable ``fifo_depth``; ``–`` is "does not apply".
- ``row=17,18``: these rows.
- ``time_us_min=..`` and ``time_us_max=..``, both inclusive, in microseconds; likewise ``cycles_``, ``row_``,
  ``on_chip_bytes_``, ``ub_``, ``l1_``, ``l0a_``, ``l0b_``, ``l0c_``, ``gm_ring_``, ``gm_traffic_`` (bytes), and the
  name of any tunable of whole numbers. A configuration without a value is outside every range.
- ``sort=-time_us,row``: columns to sort by, the first counts most; ``-`` is descending. What has no value comes last
  in both directions, equal ones stand in order of rows. Names sort by alphabet, but verdicts as the run has them, ok
  first.

``t.NAME`` is always the tunable NAME, for those whose name is one of these or ends in ``_min`` or ``_max``; it takes
values, never a range. A comma or backslash inside a value follows a backslash.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from dashboards.runview import BYTE_COLUMNS, RunView
from dashboards.text import shorten

if TYPE_CHECKING:
    from numpy.typing import NDArray

NONE = "–"
NUMBERS = ("row", "time_us", "cycles", "on_chip_bytes", *BYTE_COLUMNS)
NAMES = ("verdict", "rule", "bound")
_RESERVED = {*NUMBERS, *NAMES, "sort", *(f"{n}_{end}" for n in NUMBERS for end in ("min", "max"))}
_MOST_KEPT = 6
_PREFIX = "t."


class FilterError(ValueError):
    """A filter that cannot be read or does not fit the run, in one sentence a line."""


@dataclass(frozen=True)
class Filter:
    """What is meant. Columns are named as in the module's text, tunables with `t.` in front where they would be taken
    for another column.

    Attributes:
        any_of: (column, texts of the values) pairs, for names, rows and tunables.
        ranges: (column, least or None, greatest or None) triples, both inclusive, in the column's unit.
        sort: (column, descending) pairs, the first counts most.
    """

    any_of: tuple[tuple[str, tuple[str, ...]], ...] = ()
    ranges: tuple[tuple[str, float | None, float | None], ...] = ()
    sort: tuple[tuple[str, bool], ...] = ()

    @classmethod
    def from_query(cls, query: Mapping[str, str], ignore: Sequence[str] = ()) -> Filter:
        """The filter that `query` says, without the names in `ignore`. Errors: FilterError for a bound that is no
        number; names are compared with a run by `select`."""
        any_of: list[tuple[str, tuple[str, ...]]] = []
        bounds: dict[str, list[float | None]] = {}
        sort: tuple[tuple[str, bool], ...] = ()
        wrong = []
        for name, text in query.items():
            if name in ignore or text == "":
                continue
            stem, _, end = name.rpartition("_")
            if name == "sort":
                sort = tuple((part.removeprefix("-"), part.startswith("-")) for part in text.split(",") if part)
            elif stem and end in ("min", "max") and not name.startswith(_PREFIX):
                number = _number(text)
                if number is None:
                    wrong.append(f"{shorten(name, 60)}={shorten(text, 60)} is not a number")
                    continue
                bounds.setdefault(stem, [None, None])[end == "max"] = number
            else:
                any_of.append((name, _split(text)))
        if wrong:
            raise FilterError("; ".join(wrong))
        return cls(tuple(any_of), tuple((name, low, high) for name, (low, high) in bounds.items()), sort)

    def to_query(self) -> dict[str, str]:
        """The query that `from_query` reads as this filter."""
        out = {name: ",".join(map(_escaped, values)) for name, values in self.any_of if values}
        for name, low, high in self.ranges:
            for end, bound in (("min", low), ("max", high)):
                if bound is not None:
                    out[f"{name}_{end}"] = str(int(bound)) if bound == int(bound) else repr(float(bound))
        if self.sort:
            out["sort"] = ",".join(("-" if down else "") + name for name, down in self.sort)
        return out

    def merged(self, other: Filter) -> Filter:
        """What both mean together: conditions on the same column hold both, `other` says the order if it has one."""
        any_of = dict(self.any_of)
        for name, values in other.any_of:
            any_of[name] = tuple(v for v in any_of[name] if v in values) or (_NOTHING,) if name in any_of else values
        ranges = {name: (low, high) for name, low, high in self.ranges}
        for name, low, high in other.ranges:
            own = ranges.get(name, (None, None))
            ranges[name] = (_tighter(own[0], low, max), _tighter(own[1], high, min))
        return Filter(
            tuple(any_of.items()), tuple((n, low, high) for n, (low, high) in ranges.items()), other.sort or self.sort
        )


_NOTHING = "\N{EMPTY SET}"


def _tighter(one: float | None, other: float | None, pick: Any) -> float | None:
    both = [bound for bound in (one, other) if bound is not None]
    return pick(both) if both else None


def tunable_key(name: str) -> str:
    """How a query names the tunable `name`, where it stands for itself and where it would be taken for another."""
    taken = name in _RESERVED or name.startswith(_PREFIX) or name.endswith(("_min", "_max"))
    return _PREFIX + name if taken else name


def select(view: RunView, wanted: Filter) -> NDArray[np.int64]:
    """Positions in `view` of what `wanted` means, in its order (by position where it has none); not to be written to.

    The answers for the last few filters of a view are kept. Errors: FilterError naming all that does not fit the run.
    """
    with _LOCK:
        known = _SELECTED.setdefault(view, OrderedDict())
        found = known.get(wanted)
        if found is not None:
            known.move_to_end(wanted)
            return found
    found = _select(view, wanted)
    found.setflags(write=False)
    with _LOCK:
        known[wanted] = found
        while len(known) > _MOST_KEPT:
            known.popitem(last=False)
    return found


def codes(view: RunView, name: str) -> NDArray[np.int16] | NDArray[np.int32]:
    """(n,) place of each configuration's value in the domain of the tunable `name`, -1 where it has none; kept."""
    with _LOCK:
        known = _CODES.setdefault(view, {})
        found = known.get(name)
    if found is None:
        domain = dict(view.tunables)[name]
        column = view.values[name]
        found = np.full(len(column), -1, dtype=np.int16 if len(domain) < 2**15 else np.int32)
        # a loop over the domain, not over the column
        for code, value in enumerate(domain):
            found[column == value] = code
        found.setflags(write=False)
        with _LOCK:
            known[name] = found
    return found


_LOCK = threading.Lock()
_SELECTED: WeakKeyDictionary[RunView, OrderedDict[Filter, NDArray[np.int64]]] = WeakKeyDictionary()
_CODES: WeakKeyDictionary[RunView, dict[str, Any]] = WeakKeyDictionary()


def _select(view: RunView, wanted: Filter) -> NDArray[np.int64]:
    wrong: list[str] = []
    keep = np.ones(len(view), dtype=bool)
    for name, values in wanted.any_of:
        try:
            keep &= _matches(view, name, values)
        except FilterError as error:
            wrong.append(str(error))
    for name, low, high in wanted.ranges:
        try:
            column = numbers(view, name)
        except FilterError as error:
            wrong.append(str(error))
            continue
        # NaN is in no range
        if low is not None:
            keep &= column >= low
        if high is not None:
            keep &= column <= high
    keys = []
    for name, down in wanted.sort:
        try:
            keys.append((_sort_key(view, name), down))
        except FilterError as error:
            wrong.append(str(error))
    if wrong:
        raise FilterError(f"run {view.name!r}: {'; '.join(dict.fromkeys(wrong))}")
    positions = np.flatnonzero(keep)
    if keys:
        levels: list[NDArray[Any]] = [view.rows[positions]]
        for key, down in reversed(keys):
            part = key[positions]
            levels.append(-part if down else part)
        positions = positions[np.lexsort(levels)]
    return positions


def numbers(view: RunView, name: str) -> NDArray[Any]:
    """(n,) the column `name` as numbers, NaN where there is none. Errors: FilterError."""
    if name == "row":
        return view.rows
    if name in ("time_us", "cycles", "on_chip_bytes"):
        column: NDArray[Any] = getattr(view, name)
        return column
    if name in BYTE_COLUMNS:
        return view.bytes[name] if name in view.bytes else np.full(len(view), np.nan)
    tunable = _tunable(view, name)
    column = view.values[tunable]
    if column.dtype.kind == "i":
        return column
    domain = dict(view.tunables)[tunable]
    if any(type(value) is not int for value in domain):
        raise FilterError(f"{name} holds words, so it has no range: name the values instead")
    return np.append(np.array(domain, dtype=float), np.nan)[codes(view, tunable)]


def _matches(view: RunView, name: str, values: Sequence[str]) -> NDArray[np.bool_]:
    if name in NAMES:
        column, names = _coded(view, name)
        unknown = [v for v in values if v not in names and v not in (NONE, _NOTHING)]
        if unknown:
            raise FilterError(f"no {name} {shorten(unknown[0], 60)!r}; there are {', '.join(names)}")
        wanted = [names.index(v) for v in values if v in names] + ([-1] if NONE in values else [])
        return _among(column, wanted, len(names))
    if name == "row":
        rows = [int(v) for v in values if v.isdecimal() and len(v) < 18]
        if len(rows) != len([v for v in values if v != _NOTHING]):
            raise FilterError("row takes whole numbers")
        return np.isin(view.rows, np.array(rows, dtype=np.int64))
    if name in NUMBERS:
        raise FilterError(f"{name} takes a range: {name}_min=.. or {name}_max=..")
    tunable = _tunable(view, name)
    texts = [str(v) for v in dict(view.tunables)[tunable]]
    unknown = [v for v in values if v not in texts and v not in (NONE, _NOTHING)]
    if unknown:
        raise FilterError(f"{name} is never {shorten(unknown[0], 60)!r}; it is one of {shorten(', '.join(texts), 200)}")
    wanted = [texts.index(v) for v in values if v in texts] + ([-1] if NONE in values else [])
    return _among(codes(view, tunable), wanted, len(texts))


def _among(column: NDArray[Any], wanted: Sequence[int], size: int) -> NDArray[np.bool_]:
    """Whether each code is wanted; -1 finds the last place of the table."""
    table = np.zeros(size + 1, dtype=bool)
    table[list(wanted)] = True
    found: NDArray[np.bool_] = table[column]
    return found


def _coded(view: RunView, name: str) -> tuple[NDArray[Any], list[str]]:
    if name == "verdict":
        return view.verdict, list(view.verdict_names)
    return (view.rule, list(view.rule_names)) if name == "rule" else (view.bound, list(view.bound_names))


def _sort_key(view: RunView, name: str) -> NDArray[Any]:
    """(n,) floats in the order to sort by, NaN where there is nothing; text by alphabet."""
    if name in NAMES:
        column, names = _coded(view, name)
        if name == "verdict":
            return column.astype(np.float64)
    elif name in NUMBERS:
        return np.asarray(numbers(view, name), dtype=np.float64)
    else:
        tunable = _tunable(view, name)
        domain = dict(view.tunables)[tunable]
        if all(type(value) is int for value in domain):
            return np.asarray(numbers(view, name), dtype=np.float64)
        column, names = codes(view, tunable), [str(v) for v in domain]
    rank = np.full(len(names) + 1, np.nan)
    rank[np.argsort(np.array(names, dtype=object), kind="stable")] = np.arange(len(names))
    order: NDArray[Any] = rank[column]
    return order


def _tunable(view: RunView, name: str) -> str:
    known = [tunable for tunable, _ in view.tunables]
    found = name.removeprefix(_PREFIX)
    if found not in known or (found == name and tunable_key(name) != name):
        columns = ", ".join([*NAMES, *NUMBERS, *map(tunable_key, known)])
        raise FilterError(f"no column {shorten(name, 60)!r}; there are {shorten(columns, 400)}")
    return found


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None


def _split(text: str) -> tuple[str, ...]:
    """Values between commas, in the order given, each once."""
    parts = re.findall(r"(?:\\.|[^,\\])+", text)
    return tuple(dict.fromkeys(re.sub(r"\\(.)", r"\1", part) for part in parts))


def _escaped(value: str) -> str:
    return re.sub(r"([,\\])", r"\\\1", value)
