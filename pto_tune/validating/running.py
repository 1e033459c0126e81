"""Predicts the published cases: those of one workload, platform, rule set and protocol in one call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cost_models.platform import load_platform
from pto_tune.evaluation import Problem, evaluate_columns
from pto_tune.published.left_out import tables_fitted_to, without
from pto_tune.table import parameter, parameters, parse_value
from pto_tune.verdicts import VERDICTS
from pto_tune.workloads import workload

if TYPE_CHECKING:
    from cost_models.platform import Platform
    from pto_tune.evaluation import Evaluation
    from pto_tune.published.cases import Case


@dataclass(frozen=True)
class Outcome:
    """A case with what is predicted for it.

    `predicted` is in the unit of `case.measured` (microseconds, or a share), NaN where the configuration is refused or
    hangs; `reason` then says why, and what else is wrong with a configuration that has a time.
    """

    case: Case
    predicted: float
    verdict: str
    reason: str
    bound: str
    values: Mapping[str, int]
    """Every problem size and tunable, defaults included."""
    tunables: tuple[str, ...]

    @property
    def error(self) -> float:
        """Predicted over measured, less one; of a share the difference."""
        if self.case.quantity == "share":
            return self.predicted - self.case.measured
        return self.predicted / self.case.measured - 1.0

    @property
    def problem(self) -> tuple[tuple[str, int], ...]:
        """Problem sizes: what configurations have to share to be compared by a tuner."""
        return tuple((n, v) for n, v in self.values.items() if n not in self.tunables)

    @property
    def choice(self) -> tuple[tuple[str, int], ...]:
        """Tunables."""
        return tuple((n, v) for n, v in self.values.items() if n in self.tunables)


def predict(cases: Iterable[Case], platforms: Mapping[str, Platform] | None = None) -> list[Outcome]:
    """The outcomes of cases, in their order; excluded ones are left out.

    `platforms`: what to take in place of the built-in platform of a name.

    Raises:
        ValueError: a case names an unknown workload, platform, rule set, size, tunable or pipe.
    """
    wanted = [case for case in cases if case.use != "excluded"]
    groups: dict[tuple[str, str, str | None, str], list[int]] = {}
    for i, case in enumerate(wanted):
        groups.setdefault((case.workload, case.platform, case.rules, case.timing), []).append(i)
    found: dict[int, Outcome] = {}
    for (name, platform, rules, timing), at in groups.items():
        chip = (platforms or {}).get(platform) or load_platform(platform)
        problem = Problem.of(workload(name), chip, rules, timing)
        group = [wanted[i] for i in at]
        found |= dict(zip(at, _outcomes(problem, group), strict=True))
    return [found[i] for i in range(len(wanted))]


def predict_unseen(shipped: Sequence[Outcome], platforms: Mapping[str, Platform] | None = None) -> list[Outcome]:
    """The same cases, predicted with numbers that never saw the table of each; where nothing was fitted to that, the
    outcome as it is. `platforms` as of `predict`."""
    own = platforms or {}
    out = list(shipped)
    for table in tables_fitted_to():
        at = [i for i, o in enumerate(shipped) if o.case.table == table]
        chips = {name: own.get(name) or load_platform(name) for name in {shipped[i].case.platform for i in at}}
        others = {name: without(chip, table) for name, chip in chips.items()}
        moved = [i for i in at if others[shipped[i].case.platform] != chips[shipped[i].case.platform]]
        for i, outcome in zip(moved, predict([shipped[i].case for i in moved], others), strict=True):
            out[i] = outcome
    return out


def _outcomes(problem: Problem, cases: Sequence[Case]) -> list[Outcome]:
    """Cases that differ in their configurations and quantities only. Equal configurations are evaluated once."""
    w = problem.workload
    rows = []
    for case in cases:
        row = {p.name: p.default for p in parameters(w)}
        for name, value in case.configuration.items():
            row[name] = parse_value(parameter(w, name), str(value))
        rows.append(row)
    distinct = list({tuple(row.items()): row for row in rows}.values())
    e = evaluate_columns(problem, {name: np.array([row[name] for row in distinct]) for name in distinct[0]})
    bounds, tunables = e.bound_names(), tuple(t.name for t in w.tunables)
    out = []
    for case, row in zip(cases, rows, strict=True):
        i = distinct.index(row)
        predicted = _quantity(e, i, case)
        out.append(Outcome(case, predicted, VERDICTS[e.verdict[i]], e.reason(i), bounds[i], row, tunables))
    return out


def _quantity(e: Evaluation, row: int, case: Case) -> float:
    if not e.timed[row]:
        return float("nan")
    time_us = float(e.time_us[row])
    if case.quantity == "time":
        return time_us
    pipes = e.problem.code.pipes
    if case.pipe not in pipes:
        raise ValueError(f"{case.name}: {case.workload} has no pipe {case.pipe!r}: it has {', '.join(pipes)}")
    busy_us = float(e.busy[row, pipes.index(case.pipe)]) / e.problem.clock_mhz
    return busy_us / time_us if case.quantity == "share" else busy_us
