"""What a comparison computes live: items in each other's settings, and one configuration for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dashboards.figures.cross import Cross, best_of, cross_data, evaluated
from dashboards.figures.one_for_all import OneForAll, common, one_for_all, ranked
from dashboards.pages.compare.work import Compared, choices_of
from dashboards.pages.keeping import Kept

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dashboards.runview import RunView

    Value = int | str

TOP, RANK_TOP = 100, 8
"""Fastest configurations of each run that are evaluated everywhere; fewer of workloads with ranks."""

STORED, EVALUATED = METHODS = ("stored", "evaluated")

_crosses = Kept(16)
_goods = Kept(16)


def _key(of: Compared) -> tuple[object, ...]:
    items = tuple((i.run.id, i.label, i.run.spec_sha256, i.row, len(i.view)) for i in of.items)
    return items, tuple((s.label, s.why_not, s.best_us) for s in of.settings), of.wish.also


def cross_of(of: Compared) -> Cross:
    """Every item in every setting, evaluated live; the stored time where its own setting cannot be."""
    with_one = [item for item in of.items if item.position is not None]
    ok = [list(item.view.verdict_names).index("ok") == int(item.view.verdict[item.position or 0]) for item in with_one]
    known = {(i, item.setting): item.time_us for i, item in enumerate(with_one) if ok[i] and np.isfinite(item.time_us)}
    found: Cross = _crosses.get(_key(of), lambda: cross_data(choices_of(of), of.settings, known))
    return found


def good_of(of: Compared, method: str) -> OneForAll:
    """The configuration with the least worst regret over all settings. `method`: "stored", the configurations that all
    runs have in common, by their stored times; or "evaluated", the fastest of each run (and of the common ones)
    evaluated everywhere, which further platforms need. ValueError where the runs cannot be taken together."""
    method = EVALUATED if of.further < len(of.settings) else method
    made: OneForAll = _goods.get((_key(of), method), lambda: _good(of, method))
    return made


def _good(of: Compared, method: str) -> OneForAll:
    runs = of.runs
    if len({run.workload_json for run, _, _ in runs}) > 1:
        raise ValueError("The runs are of different workloads: one configuration cannot serve them all.")
    if len(of.settings) < 2:
        raise ValueError("There is one setting alone, whose best is the best: add a run or a platform.")
    views = [view for _, view, _ in runs]
    places = [at for _, _, at in runs]
    shared = common(views)
    stored = _stored_times(views, shared)
    if method == STORED:
        labels = [s.label for s in of.settings]
        # of two runs in one setting both times are the same
        first = [places.index(j) for j in range(len(of.settings))]
        times = stored[:, first]
        says = f"the {len(shared):,} configurations that are ok in every run, by their stored times"
        return one_for_all(labels, _Rows(views[0], shared[:, 0]), times, best_of(times, of.settings), says)
    settings = [s for s in of.settings if s.problem is not None]
    if len(settings) < 2:
        why = next(s.why_not for s in of.settings if s.problem is None)
        raise ValueError(f"Fewer than two settings can be evaluated: {why}.")
    assert settings[0].problem is not None
    top = RANK_TOP if settings[0].problem.workload.has_ranks else TOP
    candidates = {tuple(sorted(c.items())): c for c in _fastest(views, shared, stored, top)}
    rows = list(candidates.values())
    times = np.stack([evaluated(s, rows, reasons=False)[0] for s in settings], axis=1)
    says = f"the {top} fastest of each run and the {top} best of those in common: {len(rows):,}, evaluated everywhere"
    if len(settings) < len(of.settings):
        says += " but where nothing can be evaluated"
    return one_for_all([s.label for s in settings], rows, times, best_of(times, settings), says)


def _fastest(
    views: Sequence[RunView], shared: NDArray[np.int64], stored: NDArray[np.float64], top: int
) -> list[dict[str, Value]]:
    out = [_values(view, int(p)) for view in views for p in view.ranked[:top]]
    if len(shared):
        order, _ = ranked(stored, stored.min(axis=0))
        out += [_values(views[0], int(shared[i, 0])) for i in order[:top]]
    return out


def _stored_times(views: Sequence[RunView], shared: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.stack([view.time_us[shared[:, k]] for k, view in enumerate(views)], axis=1)


@dataclass(frozen=True, eq=False)
class _Rows:
    """Values of a configuration by its place in a list of positions, read only where they are asked for."""

    view: RunView
    positions: NDArray[np.int64]

    def __getitem__(self, i: int) -> dict[str, Value]:
        return _values(self.view, int(self.positions[i]))


def _values(view: RunView, position: int) -> dict[str, Value]:
    return {name: value for name, value in view.configuration(position).items() if value != "–"}


def row_of(view: RunView, values: Mapping[str, Value]) -> int | None:
    """The row of the run with these values (a tunable that is not named does not apply); None where it has none."""
    same = np.ones(len(view), dtype=bool)
    for name, _ in view.tunables:
        same &= np.asarray(view.values[name] == values.get(name), dtype=bool)
    found = np.flatnonzero(same)
    return int(view.rows[found[0]]) if len(found) else None
