"""What the configuration page works on: a stored configuration, changes to it, and their explanations."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from dashboards.runview import RunView
    from dashboards.site.state import Site
    from db import Run
    from pto_tune.evaluation import Problem
    from pto_tune.explaining.explanation import Explanation
    from pto_tune.model.nodes import Tunable
    from pto_tune.space import Space

    Value = int | str

MOST_KEPT = 24
"""Explanations kept in memory."""

MOST_NEIGHBOURS = 200


@dataclass(frozen=True, eq=False)
class Stored:
    """A configuration of a run. `why_not` says why it cannot be evaluated again ("" where it can), and `problem` and
    `space` are None then."""

    run: Run
    view: RunView
    row: int
    position: int
    problem: Problem | None
    space: Space | None
    why_not: str

    @property
    def values(self) -> dict[str, Value]:
        """Value of every tunable that applies."""
        return {n: v for n, v in self.view.configuration(self.position).items() if v != "–"}

    @property
    def verdict(self) -> str:
        """The stored verdict."""
        return str(self.view.verdict_names[int(self.view.verdict[self.position])])

    @property
    def time_us(self) -> float | None:
        """The stored time."""
        time = float(self.view.time_us[self.position])
        return time if np.isfinite(time) else None

    def tunable(self, name: str) -> Tunable:
        """The workload's tunable of this name. ValueError where it has none."""
        from pto_tune.table import TableError, unknown_name

        assert self.problem is not None
        for tunable in self.problem.workload.tunables:
            if tunable.name == name:
                return tunable
        raise TableError(unknown_name(self.problem.workload, name))

    def changed(self, changes: Mapping[str, Any]) -> dict[str, Value]:
        """Those of `changes` that are one, as values or labels. ValueError for what is no tunable or no value of it."""
        from pto_tune.table import check_values, label, parse_value

        out: dict[str, Value] = {}
        own = self.values
        for name, given in changes.items():
            tunable = self.tunable(name)
            value = parse_value(tunable, str(given))
            assert self.problem is not None
            check_values(self.problem.workload, {name: value})
            shown = label(tunable, value)
            if shown != own.get(name, label(tunable, tunable.default)):
                out[name] = shown
        return out

    def domain(self, name: str) -> list[Value]:
        """Values to choose from: the run's, then those that the workload has by default."""
        from pto_tune.table import label

        tunable = self.tunable(name)
        domains = dict(self.view.tunables)
        found = [*domains.get(name, ()), *(label(tunable, value) for value in tunable.domain)]
        unique = list(dict.fromkeys(found))
        return sorted(unique, key=int) if all(isinstance(v, int) for v in unique) else unique

    def place(self) -> int | None:
        """The place among the ok configurations, from 0; None where it is not ok."""
        found = np.flatnonzero(self.view.ranked == self.position)
        return int(found[0]) if len(found) else None

    def row_of(self, changes: Mapping[str, Value]) -> int | None:
        """The row of the run that has these changes, None where none has."""
        wanted = {**self.view.configuration(self.position), **changes}
        same = np.ones(len(self.view), dtype=bool)
        for name, _ in self.view.tunables:
            column = self.view.values[name]
            same &= np.asarray(column == (None if wanted[name] == "–" else wanted[name]), dtype=bool)
        found = np.flatnonzero(same)
        return int(self.view.rows[found[0]]) if len(found) else None


def stored(site: Site, run_ref: str, row_text: str) -> Stored:
    """The configuration of an address. ValueError where there is no such run or row."""
    run = site.views.run(run_ref)
    view = site.views.view(run_ref)
    if not row_text.isdecimal() or len(row_text) > 17:
        raise ValueError(f"{row_text!r} is no row of run {run.id}: a whole number would be right")
    row = int(row_text)
    found = np.flatnonzero(view.rows == row)
    if not len(found):
        have = f"it has {len(view):,}, up to {int(view.rows.max())}" if len(view) else "it has none yet"
        raise ValueError(f"run {run.id} ({run.name}) has no configuration with the row {row}: {have}")
    problem, space, why_not = None, None, ""
    try:
        problem, space = site.views.search(run_ref)
    except ValueError as error:
        why_not = str(error)
    return Stored(run, view, row, int(found[0]), problem, space, why_not)


@dataclass(frozen=True, eq=False)
class Neighbour:
    """A stored configuration that differs in one tunable. `time_us` is None where it has no time."""

    tunable: str
    value: Value
    row: int
    verdict: str
    time_us: float | None


def neighbours(of: Stored) -> list[Neighbour]:
    """Configurations of the run that differ in exactly one tunable, by tunable and row; at most `MOST_NEIGHBOURS`."""
    view = of.view
    differs = np.zeros(len(view), dtype=np.int16)
    which = np.zeros(len(view), dtype=np.int16)
    for i, (name, domain) in enumerate(view.tunables):
        if len(domain) > 1:
            column = view.values[name]
            other = np.asarray(column != column[of.position], dtype=bool)
            differs += other
            which[other] = i
    at = np.flatnonzero(differs == 1)
    at = at[np.lexsort((view.rows[at], which[at]))][:MOST_NEIGHBOURS]
    out = []
    for position in at.tolist():
        name = view.tunables[int(which[position])][0]
        time = float(view.time_us[position])
        out.append(
            Neighbour(
                name,
                view.configuration(position)[name],
                int(view.rows[position]),
                str(view.verdict_names[int(view.verdict[position])]),
                time if np.isfinite(time) else None,
            )
        )
    return out


def parse_changes(text: str) -> dict[str, str]:
    """`fifo_depth:4,split:UP_DOWN` as a mapping; what has no colon is left out."""
    pairs = (part.rpartition(":") for part in text.split(",") if ":" in part)
    return {name: value for name, _, value in pairs if name}


def format_changes(changes: Mapping[str, Value]) -> str:
    """The text of `parse_changes`."""
    return ",".join(f"{name}:{value}" for name, value in changes.items())


@dataclass
class _Kept:
    lock: threading.Lock = field(default_factory=threading.Lock)
    explanation: Explanation | None = None


_kept: OrderedDict[tuple[object, ...], _Kept] = OrderedDict()
_lock = threading.Lock()


def explained(of: Stored, changes: Mapping[str, Value]) -> Explanation:
    """The configuration with changes, evaluated: once, however many parts of the page ask for it at the same time.

    ValueError where it cannot be evaluated (`Stored.why_not`), and as by `Stored.changed`.
    """
    from pto_tune.explaining.explanation import explain_configuration

    if of.problem is None:
        raise ValueError(of.why_not)
    values = {**of.run.problem, **of.values, **of.changed(changes)}
    # the description of a search names everything that its times depend on
    key = (of.run.spec_sha256, *sorted(values.items()))
    with _lock:
        kept = _kept.setdefault(key, _Kept())
        _kept.move_to_end(key)
        while len(_kept) > MOST_KEPT:
            _kept.popitem(last=False)
    with kept.lock:
        if kept.explanation is None:
            explanation = explain_configuration(of.problem, values)
            if explanation.timed and not of.problem.workload.has_ranks:
                _ = explanation.block, explanation.path
            kept.explanation = explanation
        return kept.explanation


def affordable(explanation: Explanation) -> bool:
    """Whether interval and leaning take some seconds at most."""
    from pto_tune.uncertainty.running import MOST_COST, Subject

    if not explanation.timed:
        return False
    e = explanation.evaluation
    subject = Subject(explanation.problem, e, np.flatnonzero(e.timed))
    return max(subject.interval_cost, subject.swing_cost) <= MOST_COST
