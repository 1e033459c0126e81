"""Which numbers of the platform a predicted time leans on.

Each number is moved alone to the ends of its 90 % interval. The swing of the time squared is its share of the variance
that all of them make: exact for a sum of such effects, and the right order where they multiply. Correlations of numbers
that were fitted together are left out here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cost_models.keys import CLOCK_KEY, to_base
from pto_tune.uncertainty.kinds import range_of
from pto_tune.uncertainty.running import Subject, keys_used, times
from pto_tune.uncertainty.sampling import at_values, ends_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cost_models.platform import Platform
    from pto_tune.evaluation import Problem

    Floats = NDArray[np.float64]

ENDS = (0.05, 0.95)


@dataclass(frozen=True)
class Lean:
    """A number that moves the time. `value`, `low` and `high` are in `unit`, as the platform's file has it; `swing_us`
    is how far the time moves between the ends of its 90 % interval, `share` its part of the interval's variance."""

    key: str
    kind: str
    source: str
    share: float
    swing_us: float
    value: float
    low: float
    high: float
    unit: str

    def as_plain(self) -> dict[str, Any]:
        """For JSON."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


@dataclass(frozen=True)
class Swings:
    """Times with one number moved: time_us (2, keys, rows of the subject) at both ends, nominal_us (rows)."""

    subject: Subject
    keys: tuple[str, ...]
    time_us: Floats
    nominal_us: Floats


def leaning(problem: Problem, configuration: Mapping[str, int | str]) -> list[Lean]:
    """The numbers that the time of one configuration leans on, the largest share first; empty where it has no times.

    ValueError as by `evaluate_columns`.
    """
    return leaning_of(Subject.of(problem, dict(configuration)))


def leaning_of(subject: Subject, row: int = 0) -> list[Lean]:
    """As `leaning`, of row `row` of what has been evaluated."""
    if row not in subject.rows:
        return []
    one = Subject(subject.problem, subject.evaluation, np.array([row]))
    s = swings(one)
    moved = swing(s.time_us[:, :, 0], s.nominal_us[0])
    shares = shares_of(moved)
    order = np.lexsort((np.arange(len(s.keys)), -shares))
    return [_lean(subject.problem.platform, s.keys[k], shares[k], moved[k]) for k in order if moved[k] > 0]


def swings(subject: Subject) -> Swings:
    """Run the subject with every number that it uses at both ends of its 90 % interval, the others as they are."""
    platform = subject.problem.platform
    keys = keys_used(subject)
    ends = [ends_of(platform, key, ENDS) for key in keys]
    moved = [at_values(platform, {key: float(end[i])}) for i in range(2) for key, end in zip(keys, ends, strict=True)]
    _, time_us = times(subject, moved)
    nominal = subject.evaluation.time_us[subject.rows]
    return Swings(subject, tuple(keys), time_us.reshape(2, len(keys), -1), nominal)


def swing(ends_us: Floats, nominal_us: float) -> Floats:
    """How far a time, or a difference of two, moves: (2, keys) at the ends of each number, and as predicted."""
    low = np.fmin(np.fmin(ends_us[0], ends_us[1]), nominal_us)
    high = np.fmax(np.fmax(ends_us[0], ends_us[1]), nominal_us)
    return np.asarray(high - low, dtype=np.float64)


def shares_of(moved: Floats) -> Floats:
    """Shares of the variance, all 0 where nothing moves."""
    total = float((moved**2).sum())
    return np.asarray(moved**2 / total if total > 0 else np.zeros_like(moved), dtype=np.float64)


def _lean(platform: Platform, key: str, share: float, moved: float) -> Lean:
    number = platform.numbers[key]
    low, high = range_of(number)
    return Lean(
        key=key,
        kind=number.kind,
        source=number.source,
        share=float(share),
        swing_us=float(moved),
        value=number.value,
        low=in_file_unit(platform, key, low),
        high=in_file_unit(platform, key, high),
        unit=number.unit,
    )


def in_file_unit(platform: Platform, key: str, base: float) -> float:
    """A value in base units at the platform's clock in the unit of its file."""
    return base / to_base(1.0, platform.numbers[key].unit, platform[CLOCK_KEY])
