"""Measurements as values: a time that a board needed for one configuration, and what makes two of them one.

The room does not judge them: which workloads, chips and timing protocols there are is known elsewhere.
"""

import json
import math
import operator
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any

from db.errors import StoreError, shorten
from db.records import plain_text

METRICS = ("us", "cycles")
LONGEST_TEXT = 2_000
_LARGEST_REPEATS = 2**31 - 1

# What names a measurement, with whether it has to say something.
_TEXTS = {"workload": True, "family": True, "soc": True, "timing": True, "source": False, "note": False}
_OPTIONAL_TEXTS = ("platform", "pto_isa")


@dataclass(frozen=True)
class Measurement:
    """One measured time.

    Attributes:
        workload: the workload's name.
        configuration: problem sizes and tunables by name; labels where a value has one.
        family: the platform family, such as ``a2a3``.
        soc: the chip as it was written.
        timing: the timing protocol, such as ``event``.
        value: the measured time, above 0; the mean where there were several repeats.
        metric: its unit, ``us`` or ``cycles`` (of the core clock).
        platform: the platform that the chip was found to be, if one.
        pto_isa: revision of the pto-isa headers, if known.
        repeats: how many runs ``value`` stands for, if known.
        spread: their standard deviation in the unit of ``value``, if known.
        minimum, maximum: the shortest and the longest of them in that unit, if known.
        source, note: where it comes from, and what else is to be said.
    """

    workload: str
    configuration: Mapping[str, int | str]
    family: str
    soc: str
    timing: str
    value: float
    metric: str = "us"
    platform: str | None = None
    pto_isa: str | None = None
    repeats: int | None = None
    spread: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    source: str = ""
    note: str = ""

    @property
    def configuration_json(self) -> str:
        """The configuration as JSON text, the same for equal configurations."""
        return json.dumps(dict(self.configuration), sort_keys=True, separators=(",", ":"), default=operator.index)

    @property
    def digest(self) -> str:
        """Hash of what was measured and what came out; equal for a measurement that is met again.

        Source and note are left out, so that a result quoted in two places counts once, and so is the way the
        chip was written where it was found to be one of the platforms.
        """
        chip = self.platform or " ".join(self.soc.casefold().split())
        numbers = (self.value, self.spread, self.minimum, self.maximum)
        content = [
            *(plain_text(text) for text in (self.workload, self.configuration_json, self.family, chip)),
            plain_text(self.pto_isa or ""),
            plain_text(self.timing),
            self.metric,
            None if self.repeats is None else operator.index(self.repeats),
            *(None if number is None else float(number) for number in numbers),
        ]
        return sha256(json.dumps(content, separators=(",", ":")).encode("ascii")).hexdigest()


@dataclass(frozen=True)
class StoredMeasurement(Measurement):
    """A measurement as the store has it: with its number, and when it came in (UTC, the database's clock)."""

    id: int = 0
    imported_at: datetime = field(default_factory=lambda: datetime.min)


def measurement_values(measurement: Measurement, where: str) -> dict[str, Any]:
    """The column values of a measurement, without the time of its import.

    Raises:
        StoreError: values that the table cannot hold, all in one sentence that starts with ``where``.
    """
    problems = [*_text_problems(measurement), *_number_problems(measurement)]
    try:
        configuration_json = measurement.configuration_json
    except (TypeError, ValueError, RecursionError):
        problems.append("its configuration must be integers and texts by name, so that JSON holds it")
    else:
        wrong = [name for name, value in measurement.configuration.items() if not _is_setting(name, value)]
        if wrong:
            problems.append(f"its configuration has {shorten(repr(wrong[0]), 60)}, whose value is no integer or text")
    if problems:
        raise StoreError(f"{where} cannot be kept: {'; '.join(problems)}")
    return {
        **{name: plain_text(getattr(measurement, name)) for name in _TEXTS},
        **{name: _optional(getattr(measurement, name)) for name in _OPTIONAL_TEXTS},
        "configuration_json": configuration_json,
        "metric": measurement.metric,
        "value": float(measurement.value),
        "repeats": None if measurement.repeats is None else operator.index(measurement.repeats),
        **{
            name: None if number is None else float(number)
            for name, number in (
                ("spread", measurement.spread),
                ("minimum", measurement.minimum),
                ("maximum", measurement.maximum),
            )
        },
        "digest": measurement.digest,
    }


def measurement_from_row(row: Mapping[str, Any]) -> StoredMeasurement:
    """The measurement of one table row."""
    values = {name: value for name, value in row.items() if name not in ("configuration_json", "digest")}
    return StoredMeasurement(**values, configuration=json.loads(row["configuration_json"]))


def _optional(text: str | None) -> str | None:
    return None if text is None else plain_text(text)


def _is_setting(name: object, value: object) -> bool:
    if not isinstance(name, str) or isinstance(value, bool):
        return False
    return isinstance(value, str) or hasattr(value, "__index__")


def _text_problems(measurement: Measurement) -> list[str]:
    problems = []
    for name in (*_TEXTS, *_OPTIONAL_TEXTS):
        text = getattr(measurement, name)
        if text is None and name in _OPTIONAL_TEXTS:
            continue
        if not isinstance(text, str):
            problems.append(f"its {name} must be text, not {type(text).__name__}")
        elif not text.strip() and _TEXTS.get(name, True):
            problems.append(f"its {name} must not be empty")
        elif len(text) > LONGEST_TEXT:
            problems.append(f"its {name} has {len(text)} characters, at most {LONGEST_TEXT} fit")
    if measurement.metric not in METRICS:
        problems.append(f"its metric is {shorten(repr(measurement.metric), 60)}, it must be {' or '.join(METRICS)}")
    return problems


def _number_problems(measurement: Measurement) -> list[str]:
    problems = []
    value, repeats = measurement.value, measurement.repeats
    if not (math.isfinite(value) and value > 0):
        problems.append(f"its value is {value}, it must be above 0")
    if repeats is not None and not 1 <= repeats <= _LARGEST_REPEATS:
        problems.append(f"its repeats are {repeats}, they must be 1 to 2**31-1")
    spread, minimum, maximum = measurement.spread, measurement.minimum, measurement.maximum
    if spread is not None and not (math.isfinite(spread) and spread >= 0):
        problems.append(f"its spread is {spread}, it must be 0 or more")
    if minimum is not None and not 0 < minimum <= value:
        problems.append(f"its minimum is {minimum}, it must be above 0 and at most its value, {value}")
    if maximum is not None and not (math.isfinite(maximum) and maximum >= value):
        problems.append(f"its maximum is {maximum}, it must be at least its value, {value}")
    return problems
