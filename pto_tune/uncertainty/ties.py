"""Configurations that nothing known tells apart from the best, and what would."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pto_tune.uncertainty.experiments import experiment
from pto_tune.uncertainty.intervals import Intervals, intervals_of, levels_of
from pto_tune.uncertainty.leaning import ENDS, Swings, in_file_unit, shares_of, swing, swings
from pto_tune.uncertainty.running import Configurations, Subject, times
from pto_tune.uncertainty.sampling import at_values, ends_of
from pto_tune.verdicts import OK

if TYPE_CHECKING:
    from pto_tune.evaluation import Problem

    Floats = NDArray[np.float64]

CURVE_POINTS = 33
"""Values of a deciding number at which the configurations are run to find where they swap places."""


@dataclass(frozen=True)
class Tie:
    """Row `row` is not told apart from row `best`: the 90 % interval of the difference of their times contains 0.

    difference_us: low, median and high of row less best, under the same numbers. key: the number with the largest share
    of the difference's variance; "" where none moves it. break_even: the value of that number, in `unit`, at which the
    two swap places when the others stay as they are; None where they do not, or more than once, in its 90 % interval.
    `best_below`: whether the best stays faster below that value.
    """

    row: int
    best: int
    difference_us: tuple[float, float, float]
    key: str = ""
    kind: str = ""
    share: float = 0.0
    break_even: float | None = None
    best_below: bool = False
    unit: str = ""

    def decides(self, best: str = "the best", other: str = "the other") -> str:
        """Which number would decide, and where; `best` and `other` are what to call the two."""
        if not self.key:
            return "no number of the platform tells them apart"
        says = f"{self.key} ({self.kind}, {100 * self.share:.0f} % of the difference's variance)"
        if self.break_even is None:
            return says
        below, above = (best, other) if self.best_below else (other, best)
        return f"{says}: {below} is faster below about {self.break_even:.3g} {self.unit}, {above} above"

    @property
    def measurement(self) -> str:
        """What would settle it."""
        low, _, high = self.difference_us
        far = max(abs(low), abs(high))
        if not self.key:
            return "take either: they are predicted equal whatever the numbers are"
        pair = f"run both on a board with the same timing protocol: they are at most about {far:.3g} us apart"
        return f"{pair}; or {experiment(self.key)}"

    def as_plain(self) -> dict[str, Any]:
        """For JSON."""
        out = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {**out, "difference_us": list(self.difference_us), "measurement": self.measurement}


def ties(problem: Problem, configurations: Configurations, samples: int | None = None, seed: int = 0) -> list[Tie]:
    """The configurations with verdict ok that are tied with the fastest of them, in the order given.

    The best is the one with the least predicted time, the first of several; ValueError as by `intervals`.
    """
    subject = Subject.of(problem, configurations)
    return ties_of(subject, intervals_of(subject, samples, seed))


def best_of(subject: Subject) -> int | None:
    """The fastest row with verdict ok, the first of several; None where there is none."""
    e = subject.evaluation
    ok = np.flatnonzero(e.timed & (e.verdict == OK))
    return int(ok[np.argmin(e.time_us[ok])]) if ok.size else None


def tied_rows(subject: Subject, found: Intervals) -> list[int]:
    """Rows with verdict ok, but the best, whose paired difference to the best may be 0."""
    best = best_of(subject)
    if best is None:
        return []
    rows = [int(i) for i in subject.rows if i != best and subject.evaluation.verdict[i] == OK]
    return [i for i in rows if _contains_zero(_differences(found, i, best))]


def ties_of(subject: Subject, found: Intervals) -> list[Tie]:
    """As `ties`, of configurations that have been evaluated and sampled."""
    rows, best = tied_rows(subject, found), best_of(subject)
    if not rows or best is None:
        return []
    needed = Subject(subject.problem, subject.evaluation, np.array(sorted([best, *rows])))
    s = swings(needed)
    at = {int(row): i for i, row in enumerate(needed.rows)}
    decided = {row: _deciding(s, at[row], at[best]) for row in rows}
    curves = _curves(needed, {s.keys[k] for k, _ in decided.values() if k >= 0})
    out = []
    for row in rows:
        low, median, high = (float(v) for v in _differences(found, row, best))
        tie = Tie(row, best, (low, median, high))
        k, share = decided[row]
        if k >= 0:
            key = s.keys[k]
            number = subject.problem.platform.numbers[key]
            tie = replace(tie, key=key, kind=number.kind, share=share, unit=number.unit)
            if key in curves:
                values, time_us = curves[key]
                tie = _with_break_even(tie, subject.problem, values, time_us[:, at[row]] - time_us[:, at[best]])
        out.append(tie)
    return out


def _differences(found: Intervals, row: int, best: int) -> Floats:
    return levels_of(found.sampled_us[:, row] - found.sampled_us[:, best])


def _contains_zero(difference: Floats) -> bool:
    # equal cycles at different clocks differ in the last bits of a microsecond
    tolerance = 1e-9
    return bool(difference[0] <= tolerance and difference[2] >= -tolerance)


def _deciding(s: Swings, row: int, best: int) -> tuple[int, float]:
    """The number with the largest share of the variance of a difference, and the share; -1 where none moves it."""
    ends = s.time_us[:, :, row] - s.time_us[:, :, best]
    moved = swing(ends, float(s.nominal_us[row] - s.nominal_us[best]))
    moved[moved < 1e-9] = 0.0
    if not (moved > 0).any():
        return -1, 0.0
    shares = shares_of(moved)
    k = int(np.argmax(shares))
    return k, float(shares[k])


def _curves(subject: Subject, keys: set[str]) -> dict[str, tuple[Floats, Floats]]:
    """Times (points, rows) along the 90 % interval of each number by itself, and its values there. Not of workloads
    with ranks, whose runs are too dear for it."""
    if not keys or subject.problem.workload.has_ranks:
        return {}
    platform, levels = subject.problem.platform, np.linspace(*ENDS, CURVE_POINTS)
    ordered = sorted(keys)
    values = [np.unique(ends_of(platform, key, levels.tolist())) for key in ordered]
    moved = [at_values(platform, {key: float(v)}) for key, vs in zip(ordered, values, strict=True) for v in vs]
    _, time_us = times(subject, moved)
    parts = np.split(time_us, np.cumsum([v.shape[0] for v in values])[:-1])
    return {key: (v, part) for key, v, part in zip(ordered, values, parts, strict=True)}


def _with_break_even(tie: Tie, problem: Problem, values: Floats, difference: Floats) -> Tie:
    """The tie with the value at which the two swap places, where they do so once: on a straight line between the
    points of the curve on either side, or in the middle of where they are equal."""
    apart = np.flatnonzero(np.abs(difference) > 1e-9)
    signs = np.sign(difference[apart])
    swaps = np.flatnonzero(signs[1:] != signs[:-1])
    if swaps.shape[0] != 1:
        return tie
    i, j = (int(x) for x in apart[swaps[0] : swaps[0] + 2])
    share = difference[i] / (difference[i] - difference[j]) if j == i + 1 else 0.5
    value = in_file_unit(problem.platform, tie.key, float(values[i] + (values[j] - values[i]) * share))
    return replace(tie, break_even=value, best_below=bool(signs[0] > 0))
