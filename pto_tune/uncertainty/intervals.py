"""Intervals of predicted times: the same samples of the platform for all configurations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pto_tune.uncertainty.running import MOST_COST, Configurations, Subject, default_samples, keys_used, times
from pto_tune.uncertainty.sampling import sampled_platforms

if TYPE_CHECKING:
    from pto_tune.evaluation import Evaluation, Problem

    Floats = NDArray[np.float64]

LEVELS = (0.05, 0.5, 0.95)
"""Probabilities of low, median and high."""


@dataclass(frozen=True)
class Intervals:
    """Low, median and high (5 %, 50 % and 95 %) of n configurations, NaN where one has no times.

    cycles, time_us: (3, n); cycles are counted at the clock of each sample, times include the launch overhead.
    sampled_us: (samples, n), a row a sample, so that differences of columns are differences under the same numbers.
    keys: the numbers that were sampled. unfinished: (n) samples in which a run did not end, which are left out.
    """

    cycles: Floats
    time_us: Floats
    sampled_us: Floats
    keys: tuple[str, ...]
    unfinished: NDArray[np.int64]

    @property
    def samples(self) -> int:
        return int(self.sampled_us.shape[0])

    def of(self, row: int) -> tuple[float, float] | None:
        """Low and high of a row in microseconds; None where it has no times."""
        low, _, high = (float(v) for v in self.time_us[:, row])
        return None if np.isnan(low) else (low, high)

    def as_plain(self, row: int) -> dict[str, Any] | None:
        """A row for JSON; None where it has no times."""
        if self.of(row) is None:
            return None
        return {
            "low_us": float(self.time_us[0, row]),
            "median_us": float(self.time_us[1, row]),
            "high_us": float(self.time_us[2, row]),
            "low_cycles": float(self.cycles[0, row]),
            "median_cycles": float(self.cycles[1, row]),
            "high_cycles": float(self.cycles[2, row]),
            "levels": list(LEVELS),
            "samples": self.samples,
            "unfinished": int(self.unfinished[row]),
        }


def intervals(problem: Problem, configurations: Configurations, samples: int | None = None, seed: int = 0) -> Intervals:
    """Sample the numbers of the platform and run every configuration with each sample.

    configurations: a table of columns or a list of configurations, up to some hundred. samples: 64 unless told
    otherwise, 16 of workloads with ranks. seed: the same one gives the same samples, whatever the configurations are.
    ValueError as by `Subject.of`, and for too few or too many samples.
    """
    return intervals_of(Subject.of(problem, configurations), samples, seed)


def intervals_of(subject: Subject, samples: int | None = None, seed: int = 0) -> Intervals:
    """As `intervals`, of configurations that have been evaluated."""
    n = len(subject.evaluation)
    count = default_samples(subject.problem) if samples is None else samples
    keys = keys_used(subject)
    cycles, time_us = times(subject, sampled_platforms(subject.problem.platform, keys, count, seed))
    sampled = np.full((count, n), np.nan)
    sampled[:, subject.rows] = time_us
    unfinished = np.zeros(n, dtype=np.int64)
    unfinished[subject.rows] = np.isnan(time_us).sum(axis=0)
    out = [np.full((len(LEVELS), n), np.nan) for _ in range(2)]
    for levels, found in zip(out, (cycles, time_us), strict=True):
        for i, row in enumerate(subject.rows):
            levels[:, row] = levels_of(found[:, i])
    return Intervals(out[0], out[1], sampled, tuple(keys), unfinished)


def quick_interval(evaluation: Evaluation, row: int = 0) -> tuple[tuple[float, float] | None, int]:
    """Low and high of a row in microseconds and the number of samples, for a page or file that shows them; (None, 0)
    where it has no times, or where they would take longer than some seconds."""
    rows = np.flatnonzero(evaluation.timed)
    subject = Subject(evaluation.problem, evaluation, rows[rows == row])
    if not subject.rows.size or subject.interval_cost > MOST_COST:
        return None, 0
    found = intervals_of(subject)
    return found.of(row), found.samples


def levels_of(values: Floats) -> Floats:
    """5 %, 50 % and 95 % of samples, those that did not end (NaN) left out; NaN where none did."""
    kept = values[~np.isnan(values)]
    return np.quantile(kept, LEVELS) if kept.size else np.full(len(LEVELS), np.nan)
