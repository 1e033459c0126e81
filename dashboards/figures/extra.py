"""Quantities that a run does not keep: flag ids used, and how sure the times of a few configurations are."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dashboards.figures.pareto import pareto_data
from dashboards.filtering import codes
from dashboards.runview import RunView

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from pto_tune.evaluation import Problem

    Floats = NDArray[np.float64]

FEW = 24
"""Configurations whose intervals are computed for a figure: the Pareto front and the fastest, at most so many."""

MOST_COST = 8_000_000
"""Cost of all intervals of a figure, in units of about a microsecond (`pto_tune.uncertainty.running`)."""

_MOST_PATTERNS = 20_000
_BLOCK = "block"


def flags_used(view: RunView, problem: Problem) -> Floats | None:
    """(n,) flag ids that the pipes of each configuration occupy: 2 a one-way pipe, 4 a pipe both ways, ids that pipes
    share once (`pto_tune.exporters.pipe_checks.flags_used`).

    Which pipes a configuration has follows from few tunables as a rule: the workload's own expressions are evaluated
    once for each combination of the values of those. None for a workload without pipes, or with too many combinations.
    """
    from pto_tune.lowering.columns import environment
    from pto_tune.model.expr import evaluate

    workload, rules = problem.workload, problem.rule_set
    ids: list[tuple[Any, set[int]]] = []
    for f in workload.fifos:
        direction = rules.direction_of(f.direction, f.gm_form)
        if direction is not None and not direction.refused:
            ids.append((f.used, {f.flag_id + offset for offset in range(direction.flag_ids)}))
    if not ids:
        return None
    deciding = _deciding(problem, view)
    domains = {name: dict(view.tunables)[name] for name in deciding}
    size = int(np.prod([len(d) for d in domains.values()], dtype=float))
    if size > _MOST_PATTERNS or any((codes(view, name) < 0).any() for name in deciding):
        return None
    grid = (
        np.indices([len(d) for d in domains.values()]).reshape(len(domains), -1) if domains else np.zeros((0, 1), int)
    )
    table = _defaults(problem, view, grid.shape[1])
    for place, name in enumerate(domains):
        table[name] = _numbers(problem, name, domains[name])[grid[place]]
    env = environment(workload, {**table, _BLOCK: np.zeros(grid.shape[1], dtype=np.int64)})
    used = [np.broadcast_to(np.asarray(evaluate(e, env)), grid.shape[1]) != 0 for e, _ in ids]
    counts = np.zeros(grid.shape[1])
    for i in range(grid.shape[1]):
        counts[i] = len(set().union(*(own for on, (_, own) in zip(used, ids, strict=True) if on[i])))
    at = np.zeros(len(view), dtype=np.int64)
    for name in domains:
        at = at * len(domains[name]) + codes(view, name)
    return counts[at]


def _deciding(problem: Problem, view: RunView) -> list[str]:
    """Varied tunables that the use of a pipe depends on, by name, derived names followed."""
    from pto_tune.model.expr import names_in

    derived = dict(problem.workload.derived)
    seen: set[str] = set()
    todo = [name for f in problem.workload.fifos for name in names_in(f.used)]
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            if name in derived:
                todo += names_in(derived[name])
    return [name for name, _ in view.varied if name in seen]


def _defaults(problem: Problem, view: RunView, n: int) -> dict[str, NDArray[np.int64]]:
    """Columns of the problem's sizes and of the first value of each tunable."""
    from pto_tune.table import parameter, parse_value

    out = {p.name: np.full(n, p.default, dtype=np.int64) for p in problem.workload.problem}
    for name, value in view.problem.items():
        p = parameter(problem.workload, name)
        out[name] = np.full(n, parse_value(p, value) if isinstance(value, str) else value, dtype=np.int64)
    for name, domain in view.tunables:
        out[name] = np.full(n, _numbers(problem, name, domain[:1])[0], dtype=np.int64)
    return out


def table_of(problem: Problem, view: RunView, positions: Sequence[int]) -> dict[str, NDArray[np.int64]]:
    """Columns of the problem's sizes and of the tunables at some positions, at each of which every tunable applies."""
    out = _defaults(problem, view, len(positions))
    for name, _ in view.tunables:
        out[name] = _numbers(problem, name, [_plain(view.values[name][p]) for p in positions])
    return out


def _numbers(problem: Problem, name: str, values: Any) -> NDArray[np.int64]:
    from pto_tune.table import parameter, parse_value

    p = parameter(problem.workload, name)
    return np.array([parse_value(p, v) if isinstance(v, str) else int(v) for v in values], dtype=np.int64)


def few(view: RunView, within: NDArray[np.int64]) -> NDArray[np.int64]:
    """Positions whose intervals are worth computing: of those in `within` the Pareto front, then the fastest."""
    inside = np.zeros(len(view), dtype=bool)
    inside[within] = True
    front = pareto_data(view).front
    front = front[inside[front]]
    front = front[np.argsort(view.time_us[front], kind="stable")]
    ranked = view.ranked[inside[view.ranked]]
    return np.array(list(dict.fromkeys([*front[: FEW // 2].tolist(), *ranked[:FEW].tolist()]))[:FEW], dtype=np.int64)


class Widths:
    """Widths of 90 % intervals by run and row, computed when they are asked for. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[str, int], float] = OrderedDict()

    def of(self, key: str, view: RunView, positions: NDArray[np.int64], problem: Problem) -> tuple[Floats, str]:
        """(n,) widths in microseconds, NaN but at `positions`, and what has been left out, in a sentence or "".

        `key` tells runs of one store apart.
        """
        out = np.full(len(view), np.nan)
        with self._lock:
            wanted = [p for p in positions.tolist() if (key, int(view.rows[p])) not in self._known]
            left = self._compute(key, view, wanted, problem) if wanted else ""
            for p in positions.tolist():
                out[p] = self._known.get((key, int(view.rows[p])), np.nan)
            while len(self._known) > 20_000:
                self._known.popitem(last=False)
        return out, left

    def _compute(self, key: str, view: RunView, wanted: list[int], problem: Problem) -> str:
        from pto_tune.uncertainty.intervals import intervals_of
        from pto_tune.uncertainty.running import Subject

        subject = Subject.of(problem, table_of(problem, view, wanted))
        affordable = len(wanted)
        if subject.interval_cost > MOST_COST:
            affordable = int(len(wanted) * MOST_COST / subject.interval_cost)
            if not affordable:
                return "Intervals of this workload take too long to compute for a figure: see a configuration's page."
            subject = Subject(problem, subject.evaluation, subject.rows[:affordable])
        found = intervals_of(subject)
        for i in range(affordable):
            both = found.of(i)
            if both is not None:
                self._known[key, int(view.rows[wanted[i]])] = both[1] - both[0]
        return "" if affordable == len(wanted) else f"Only {affordable} intervals were computed: more take too long."


def _plain(value: Any) -> int | str:
    return value if isinstance(value, str) else int(value)
