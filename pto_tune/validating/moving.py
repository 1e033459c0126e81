"""Runs the cases of one problem again with every number that they use moved alone through its 90 % interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cost_models.keys import CLOCK_KEY
from pto_tune.executor.engine import execute_sampled
from pto_tune.uncertainty.leaning import ENDS, in_file_unit
from pto_tune.uncertainty.running import MOST_COST, MOST_LANES, QUICK, Subject, keys_used, times
from pto_tune.uncertainty.sampling import at_values, ends_of

if TYPE_CHECKING:
    from cost_models.number import Number
    from cost_models.platform import Platform
    from pto_tune.evaluation import Problem
    from pto_tune.validating.running import Outcome

    Floats = NDArray[np.float64]

LEVELS = (ENDS[0], 0.275, 0.725, ENDS[1])
"""Probabilities of the values that a number is moved to, besides its own; of workloads with ranks the ends alone."""


LONG_COST = 60 * QUICK
"""Cost from which numbers are chosen by one configuration before all are run."""


@dataclass(frozen=True)
class Response:
    """What one number does to some cases: `changes` (values, cases) of the logarithm of the prediction at `values`,
    which ascend, are in the unit of the platform's file, and hold the number's own value (change 0)."""

    number: Number
    platform: Platform
    cases: Sequence[int]
    values: Floats
    changes: Floats


def responses_of(problem: Problem, outcomes: Sequence[Outcome], at: Sequence[int], slow: bool) -> list[Response] | None:
    """The numbers that move the predictions of `outcomes[i]` for i in `at`, all of one problem and quantity.

    None where the runs would take more than about five seconds and `slow` is not set. Where they would take more than
    a minute, numbers that hardly move the configuration that is run fastest are taken to move none. Busy times
    of workloads with ranks are not followed: they have no responses.
    """
    chosen = [outcomes[i] for i in at]
    rows = [tuple(o.values.items()) for o in chosen]
    distinct = list(dict.fromkeys(rows))
    subject = Subject.of(problem, [dict(row) for row in distinct])
    chip, levels = problem.platform, ENDS if problem.workload.has_ranks else LEVELS
    moves: list[tuple[str, float]] = []
    for key in keys_used(subject):
        base = chip.numbers[key].base
        moves += [(key, float(v)) for v in np.unique(ends_of(chip, key, levels)) if v != base]
    cost = subject.cost * len(moves)
    if cost > MOST_COST and not slow:
        return None
    if cost > LONG_COST and problem.workload.has_ranks:
        moves = _screened(subject, moves)
    place = {int(row): i for i, row in enumerate(subject.rows)}
    columns = [place[distinct.index(row)] for row in rows]
    moved = _predictions(subject, [at_values(chip, {key: v}) for key, v in moves], chosen, columns)
    # a pipe that is left without work has no logarithm
    changes = np.log(np.where(moved > 0, moved, nan) / np.array([o.predicted for o in chosen]))
    changes[np.abs(changes) < _ROUNDING] = 0.0
    out = []
    for key in dict.fromkeys(key for key, _ in moves):
        # a value with which one of the cases does not end explains nothing
        kept = [m for m, (k, _) in enumerate(moves) if k == key and not np.isnan(changes[m]).any()]
        values = np.array([*(in_file_unit(chip, key, moves[m][1]) for m in kept), chip.numbers[key].value])
        table = np.concatenate((changes[kept], np.zeros((1, len(at)))))
        order = np.argsort(values)
        if table.any():
            out.append(Response(chip.numbers[key], chip, at, values[order], table[order]))
    return out


def _screened(subject: Subject, moves: list[tuple[str, float]]) -> list[tuple[str, float]]:
    """The moves of numbers that change the time of the row that costs least by `_HARDLY` or more."""
    problem, e = subject.problem, subject.evaluation
    one = min((Subject(problem, e, np.array([row])) for row in subject.rows), key=lambda s: s.cost)
    _, time_us = times(one, [at_values(problem.platform, {key: v}) for key, v in moves])
    changes = np.abs(np.log(time_us[:, 0] / e.time_us[one.rows[0]]))
    moving = {key for (key, _), change in zip(moves, changes, strict=True) if change >= _HARDLY}
    return [move for move in moves if move[0] in moving]


_HARDLY = 0.003
_ROUNDING = 1e-12
"""Equal cycles at another clock or capacity differ in the last bits."""


def _predictions(
    subject: Subject, platforms: Sequence[Platform], outcomes: Sequence[Outcome], columns: Sequence[int]
) -> Floats:
    """Microseconds (platforms, outcomes) of outcomes of one quantity; `columns` are their rows of the subject."""
    if outcomes[0].case.quantity == "time":
        return times(subject, platforms)[1][:, list(columns)]
    busy_us, pipes = _busy(subject, platforms), subject.problem.code.pipes
    return busy_us[:, list(columns), [pipes.index(o.case.pipe) for o in outcomes]]


def _busy(subject: Subject, platforms: Sequence[Platform]) -> Floats:
    """Busy microseconds (platforms, rows of the subject, pipes), NaN where a run does not end."""
    x = subject.evaluation.execution
    if x is None or not platforms:
        return np.full((len(platforms), subject.rows.shape[0], len(subject.problem.code.pipes)), nan)
    run = subject.evaluation.run_row[subject.rows]
    group = max(1, MOST_LANES // max(int((x.last_lane[run] - x.first_lane[run]).sum()), 1))
    parts = []
    for at in range(0, len(platforms), group):
        some = platforms[at : at + group]
        found = execute_sampled(x, some, subject.table, run)
        busy = np.where(found.hang[:, None], nan, found.busy)
        parts.append(busy.reshape(len(some), run.shape[0], -1))
    clock = np.array([p[CLOCK_KEY] for p in platforms])
    return np.asarray(np.concatenate(parts) / clock[:, None, None], dtype=np.float64)
