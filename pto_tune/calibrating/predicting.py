"""Predicted times of the rows of a fit, for any values of the fitted numbers, and the least time that is possible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cost_models import launch
from cost_models.keys import find_key
from pto_tune.calibrating.rows import LeftOut, Row
from pto_tune.evaluation import Evaluation, Problem, evaluate_columns
from pto_tune.executor.engine import execute

if TYPE_CHECKING:
    from cost_models.number import Number
    from cost_models.platform import Platform
    from pto_tune.calibrating.parameters import Parameter

Floats = NDArray[np.float64]

_OVERHEADS = ("cycles", "cycles a burst", "cycles a row", "time", "delay", "ratio")
_BETTER = {"spec": 1.0, "measured": 1.0, "fitted": 1.1, "assumed": 2.0, "override": 2.0}
"""By which factor a number without a published range may be better than the file has it, by kind."""


@dataclass(frozen=True)
class Prediction:
    """Predicted times of all rows (of their pipe, where they have one), in their order; NaN where there is none."""

    time_us: Floats
    busiest_us: Floats
    """Busy time of the row's pipe, or of the busiest one."""
    bounds: tuple[str, ...]
    """What bounds each row: `AIC.M`, `L2-bound, x1.38`."""
    reasons: tuple[str, ...]
    """Why there is no time."""


@dataclass
class Predictor:
    """Predicts rows on platforms. Rows of one workload and rule set are evaluated together."""

    rows: Sequence[Row]
    timing: str
    _groups: list[NDArray[np.int64]] = field(init=False)
    _tables: list[dict[str, NDArray[np.int64]]] = field(init=False)
    _problems: list[Problem] = field(default_factory=list, init=False)
    evaluations: int = field(default=0, init=False)
    """How often all rows were evaluated."""

    def __post_init__(self) -> None:
        # within one fit a name stands for one workload and one rule set
        by_kind: dict[tuple[str, str], list[int]] = {}
        for i, row in enumerate(self.rows):
            by_kind.setdefault((row.workload.name, row.rule_set.name), []).append(i)
        self._groups = [np.array(members, dtype=np.int64) for members in by_kind.values()]
        self._tables = [
            {
                name: np.array([self.rows[i].values[name] for i in members], dtype=np.int64)
                for name in self.rows[int(members[0])].values
            }
            for members in self._groups
        ]

    def predict(self, platform: Platform) -> Prediction:
        """The predicted times of all rows on `platform`.

        Raises:
            ValueError: a program is too large for the executor.
        """
        self.evaluations += 1
        self._problems = []
        n = len(self.rows)
        time, busiest = np.full(n, np.nan), np.full(n, np.nan)
        bounds, reasons = [""] * n, [""] * n
        for members, table in zip(self._groups, self._tables, strict=True):
            row = self.rows[int(members[0])]
            self._problems.append(Problem(row.workload, platform, row.rule_set, self.timing))
            e = evaluate_columns(self._problems[-1], table)
            busy_us = np.where(e.timed[:, None], e.busy, np.nan) / platform["clock.core_mhz"]
            names = e.bound_names()
            time[members] = self._of_pipes(members, e.problem.code.pipes, e.time_us, busy_us)
            busiest[members] = self._of_pipes(members, e.problem.code.pipes, busy_us.max(axis=1), busy_us)
            for at, i in enumerate(members):
                bounds[i] = names[at] if e.timed[at] else ""
                reasons[i] = _reason(e, at, self.rows[i].located.pipe)
        return Prediction(time, busiest, tuple(bounds), tuple(reasons))

    def _of_pipes(self, members: NDArray[np.int64], pipes: Sequence[str], time_us: Floats, busy_us: Floats) -> Floats:
        """Of each row of a group the busy time of its pipe, and of those without one `time_us`."""
        out = np.array(time_us, dtype=np.float64)
        for at, i in enumerate(members):
            pipe = self.rows[int(i)].located.pipe
            if pipe:
                # a pipe that never works has no time to compare with
                busy = float(busy_us[at, pipes.index(pipe)]) if pipe in pipes else np.nan
                out[at] = busy if busy > 0 else np.nan
        return out

    def times_us(self, platform: Platform) -> Floats:
        """The times of `predict` alone, for a search: whether a row is legal is not asked again, because sizes and
        counts are not fitted. Needs one `predict` before."""
        self.evaluations += 1
        time = np.full(len(self.rows), np.nan)
        for members, table, problem in zip(self._groups, self._tables, self._problems, strict=True):
            clock_mhz = platform["clock.core_mhz"]
            if problem.workload.has_ranks:
                row = self.rows[int(members[0])]
                e = evaluate_columns(Problem(row.workload, platform, row.rule_set, self.timing), table)
                time_us, busy_us = e.time_us, np.where(e.timed[:, None], e.busy, np.nan) / clock_mhz
            else:
                x = execute(problem.code, platform, table, members.shape[0])
                overhead_us = launch.overhead_us(platform, self.timing)
                time_us = np.where(x.hang, np.nan, x.cycles / clock_mhz + overhead_us)
                busy_us = np.where(x.hang[:, None], np.nan, x.busy) / clock_mhz
            time[members] = self._of_pipes(members, problem.code.pipes, time_us, busy_us)
        return time


def _reason(e: Evaluation, row: int, pipe: str) -> str:
    """Why a row has no time to compare with; "" where it has one."""
    if not e.timed[row]:
        return f"it has no predicted time: {e.reason(row)}"
    pipes = e.problem.code.pipes
    if pipe and pipe not in pipes:
        return f"{e.problem.workload.name} has no pipe {pipe!r}: it has {', '.join(pipes)}"
    if pipe and e.busy[row, pipes.index(pipe)] <= 0:
        return f"its pipe {pipe} does nothing by the prediction"
    return ""


def ideal_platform(platform: Platform, fitted: Sequence[Parameter]) -> Platform:
    """`platform` at its best: no overheads, every rate and slope at the good end of its range.

    A number to be fitted is at the good end of what the fit may give it. Signals between ranks stay as they are: a
    poll that costs nothing never ends.
    """
    best = {name: _best(n) for name, n in platform.numbers.items() if not name.startswith("signal.")}
    for p in fitted:
        for n in p.numbers:
            if not n.key.startswith("signal."):
                best[n.key] = p.high if _is_rate(n) else min(p.low, best[n.key])
    return platform.with_values({name: value for name, value in best.items() if value != platform[name]})


def _is_rate(n: Number) -> bool:
    key = find_key(n.key)
    return key is not None and key.dimension == "rate"


def _best(n: Number) -> float:
    key = find_key(n.key)
    if key is None or (n.kind == "spec" and n.base_low is None and n.base_high is None):
        return n.base
    if key.dimension == "rate":
        return n.base_high if n.base_high is not None else n.base * _BETTER[n.kind]
    if key.dimension in _OVERHEADS:
        return key.minimum if not key.above else n.base
    if key.dimension == "cycles a repeat":
        return n.base_low if n.base_low is not None else n.base / _BETTER[n.kind]
    return n.base


def possible(
    rows: Sequence[Row], timing: str, platform: Platform, fitted: Sequence[Parameter]
) -> tuple[list[Row], list[LeftOut]]:
    """The rows whose time can be right, and the others.

    A row is left out that has no predicted time (refused, or it hangs), that the executor cannot take, or whose
    measured time is below the busy time of one pipe (of its own, where it has one) on the ideal platform by more than
    twice its standard error.
    """
    kept: list[Row] = []
    out: list[LeftOut] = []
    for row, least, reason in _one_by_one(rows, timing, ideal_platform(platform, fitted)):
        if not reason and row.measured_us * (1 + 2 * row.error) < least:
            pipe = row.located.pipe or "its busiest pipe"
            reason = (
                f"{row.measured_us:.4g} us is less than the {least:.4g} us that {pipe} needs without any "
                "overhead: its chip, clock, configuration or protocol cannot be what it says"
            )
        if reason:
            out.append(LeftOut(row.located.where, reason))
        else:
            kept.append(row)
    return kept, out


def _one_by_one(rows: Sequence[Row], timing: str, platform: Platform) -> list[tuple[Row, float, str]]:
    """Each row with the busy time of its busiest pipe (us) and why it has none; evaluated together where that works."""
    if not rows:
        return []
    try:
        found = Predictor(rows, timing).predict(platform)
    except ValueError as error:  # a program that is too large for the executor
        if len(rows) == 1:
            return [(rows[0], 0.0, str(error).splitlines()[0])]
        return [one for row in rows for one in _one_by_one([row], timing, platform)]
    return list(zip(rows, found.busiest_us.tolist(), found.reasons, strict=True))


def at_values(platform: Platform, fitted: Sequence[Parameter], values: Floats) -> Platform:
    """`platform` with the numbers of each parameter at its value (k,), in base units."""
    pairs = zip(fitted, values.tolist(), strict=True)
    return with_numbers(platform, {n.key: value for p, value in pairs for n in p.numbers})


def with_numbers(platform: Platform, values: Mapping[str, float]) -> Platform:
    """`platform` with values in base units; itself where they are its own."""
    changed = {key: value for key, value in values.items() if value != platform[key]}
    return platform.with_values(changed) if changed else platform
