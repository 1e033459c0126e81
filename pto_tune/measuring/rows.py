"""One row of the simple form as a measurement: named columns, and every other one a problem size or tunable."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

from db import Measurement
from pto_tune.measuring.faults import MAX_CELL, RowError, quoted
from pto_tune.measuring.protocols import protocol

if TYPE_CHECKING:
    from pto_tune.measuring.chips import Chips
    from pto_tune.model.nodes import Workload

T = TypeVar("T")

TIMES = {"time_us": "us", "cycles": "cycles"}
"""The columns that hold the time, and its unit."""

SPREADS = {"us": ("spread_us", "min_us", "max_us"), "cycles": ("spread_cycles", "min_cycles", "max_cycles")}
"""Standard deviation, shortest and longest of the repeats, by unit."""

RESERVED = (
    "workload", "platform", "soc", "pto_isa", "timing", *TIMES, "repeats", *SPREADS["us"], *SPREADS["cycles"],
    "source", "note",
)  # fmt: skip
"""Columns with a meaning of their own."""

LARGEST_TIME = 1e15
_LARGEST_REPEATS = 2**31 - 1
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_WHOLE = re.compile(r"([+-]?\d+)\.0+", re.ASCII)
_UNPRINTABLE = frozenset({"Cc", "Cs", "Zl", "Zp"})


class NotMeasured(Exception):
    """The row has a place for a time and nothing in it."""


class Rows:
    """Turns rows into measurements.

    Args:
        chips: the chips that there are.
        workload, platform, timing: what holds where a row says nothing.
        own: a workload that is not built in; its name may stand in a column `workload`.
        source: where rows come from that do not say it.
    """

    def __init__(
        self,
        chips: Chips,
        workload: str = "",
        platform: str = "",
        timing: str = "",
        own: Workload | None = None,
        source: str = "",
    ) -> None:
        self._chips = chips
        self._defaults = {"workload": workload, "platform": platform, "timing": timing, "source": source}
        self._workloads: dict[str, Workload] = {} if own is None else {own.name: own}

    def measurement(self, cells: Mapping[str, str]) -> Measurement:
        """The measurement of a row.

        Args:
            cells: texts by column, without surrounding blanks; an empty one says nothing.

        Raises:
            NotMeasured: a column for the time is there and empty.
            RowError: everything that is wrong with the row.
        """
        if any(name in cells for name in TIMES) and not any(cells.get(name) for name in TIMES):
            raise NotMeasured
        wrong = [
            f"{name} has {len(text):,} characters: at most {MAX_CELL:,} are read"
            for name, text in cells.items()
            if len(text) > MAX_CELL
        ]
        wrong += [
            f"{name} has control characters: leave them out"
            for name, text in cells.items()
            if not text.isprintable() and any(unicodedata.category(c) in _UNPRINTABLE for c in text)
        ]
        if wrong:
            raise RowError("\n".join(wrong))
        said = {name: cells.get(name) or self._defaults.get(name, "") for name in RESERVED}
        workload = _try(wrong, self._workload, said["workload"])
        configuration = None if workload is None else _try(wrong, _configuration, workload, cells)
        chip = _try(wrong, self._chips.find, said["platform"], said["soc"])
        timing = _try(wrong, protocol, said["timing"])
        times = _try(wrong, _times, said)
        repeats = _try(wrong, _repeats, said, times)
        if wrong or workload is None or configuration is None or chip is None or timing is None or times is None:
            raise RowError("\n".join(wrong))
        unit, value, (spread, minimum, maximum) = times
        return Measurement(
            workload=workload.name,
            configuration=configuration,
            family=chip.family,
            soc=chip.soc,
            platform=chip.platform,
            pto_isa=said["pto_isa"] or None,
            timing=timing,
            metric=unit,
            value=value,
            repeats=repeats,
            spread=spread,
            minimum=minimum,
            maximum=maximum,
            source=said["source"],
            note=said["note"],
        )

    def _workload(self, name: str) -> Workload:
        from pto_tune.workloads import workload, workload_names

        if not name:
            raise RowError(
                "the workload is missing: give it in a column 'workload' or by --workload, one of "
                f"{', '.join((*self._workloads, *workload_names()))}"
            )
        if name not in self._workloads:
            try:
                self._workloads[name] = workload(name)
            except ValueError as error:
                raise RowError(f"{error}, or give a file of your own by --workload") from None
        return self._workloads[name]


def _try(wrong: list[str], call: Callable[..., T], *arguments: object) -> T | None:
    """What `call` answers; where it raises, None, and what it says joins `wrong`."""
    try:
        return call(*arguments)
    except RowError as error:
        wrong += str(error).splitlines()
        return None


def _configuration(workload: Workload, cells: Mapping[str, str]) -> dict[str, int | str]:
    """Every problem size and tunable with its value, as a label where it has one; defaults where the row is silent."""
    from pto_tune.table import TableError, label, parameters, parse_value, unknown_name

    given = {name: text for name, text in cells.items() if text and name not in RESERVED}
    found: dict[str, int | str] = {}
    wrong = [unknown_name(workload, name) for name in given if name not in workload.parameter_names()]
    for p in parameters(workload):
        text = given.get(p.name)
        if text is None:
            found[p.name] = label(p, p.default)
            continue
        whole = _WHOLE.fullmatch(text)
        try:
            value = parse_value(p, whole[1] if whole else text)
        except TableError as error:
            wrong.append(str(error))
            continue
        if p.minimum <= value <= p.maximum:
            found[p.name] = label(p, value)
        else:
            wrong.append(f"{p.name} = {value} is out of range: expected {p.minimum} to {p.maximum}")
    if wrong:
        raise RowError("\n".join(wrong))
    return found


def number(text: str) -> float | None:
    """A decimal number, or None where `text` is none."""
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


Times = tuple[str, float, tuple[float | None, float | None, float | None]]
"""Unit, time, and (spread, minimum, maximum) in that unit."""


def _times(said: Mapping[str, str]) -> Times:
    given = [name for name in TIMES if said[name]]
    if not given:
        raise RowError("the time is missing: give it in a column 'time_us' (microseconds) or 'cycles'")
    if len(given) > 1:
        raise RowError("both time_us and cycles are given: give one of them, the one that was measured")
    unit = TIMES[given[0]]
    wrong = [
        f"{name} does not go with {given[0]}: give {SPREADS[unit][i]}"
        for other, names in SPREADS.items()
        for i, name in enumerate(names)
        if other != unit and said[name]
    ]
    value = number(said[given[0]])
    if value is None or not 0 < value <= LARGEST_TIME:
        wrong.append(f"{given[0]} is {quoted(said[given[0]])}: expected a number above 0, such as 1506.2")
    found: list[float | None] = []
    for name in SPREADS[unit]:
        of = number(said[name]) if said[name] else None
        if said[name] and (of is None or not 0 <= of <= LARGEST_TIME):
            wrong.append(f"{name} is {quoted(said[name])}: expected a number of 0 or more, such as 0.4")
        found.append(of)
    if wrong or value is None:
        raise RowError("\n".join(wrong))
    spread, minimum, maximum = found
    if minimum is not None and not 0 < minimum <= value:
        wrong.append(f"{SPREADS[unit][1]} is {minimum:g}: expected a number above 0 and at most the time, {value:g}")
    if maximum is not None and maximum < value:
        wrong.append(f"{SPREADS[unit][2]} is {maximum:g}: expected a number of at least the time, {value:g}")
    if wrong:
        raise RowError("\n".join(wrong))
    return unit, value, (spread, minimum, maximum)


def _repeats(said: Mapping[str, str], times: Times | None) -> int | None:
    text = said["repeats"]
    if not text:
        return None
    value = number(text)
    if value is None or value != math.floor(value) or not 1 <= value <= _LARGEST_REPEATS:
        raise RowError(f"repeats is {quoted(text)}: expected a whole number from 1 to {_LARGEST_REPEATS}")
    if value == 1 and times is not None and times[2][0]:
        raise RowError("a spread is given and repeats is 1: a spread takes 2 repeats or more")
    return int(value)
