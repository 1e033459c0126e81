"""One configuration for several settings: the one whose worst loss against the best of each is least."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dashboards.figures.bars import Bar, Look, bars_figure
from dashboards.filtering import codes
from dashboards.runview import RunView
from dashboards.text import microseconds
from dashboards.theme import LIGHT, Theme, message_figure
from pto_tune.search.comparing import Good, best_few, ranked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Value = int | str

__all__ = ["Good", "OneForAll", "common", "one_for_all", "one_for_all_figure", "ranked", "regret_text"]

SHOWN = 5
_LARGEST_KEY = 2**62


@dataclass(frozen=True)
class OneForAll:
    """The best few, the one with the least worst regret first; `method` says in a sentence where candidates come from.

    `looked_at` candidates, of which `legal` are ok in every setting; `best_us` is the best known of each setting.
    `why_not` says why there is none, "" where there is one.
    """

    settings: tuple[str, ...]
    best_us: tuple[float, ...]
    looked_at: int
    legal: int
    method: str
    found: tuple[Good, ...]
    why_not: str = ""


def common(views: Sequence[RunView]) -> Ints:
    """(n, runs) positions of the configurations that are in every run with verdict ok, the same values in a row.

    Rows are in the order of the first run. ValueError where the runs do not have the same tunables.
    """
    names = sorted(name for name, _ in views[0].tunables)
    for view in views[1:]:
        if sorted(name for name, _ in view.tunables) != names:
            raise ValueError(f"the runs {views[0].name!r} and {view.name!r} do not have the same tunables")
    unions = {name: _union(views, name) for name in names}
    if np.prod([float(len(u)) for u in unions.values()]) > _LARGEST_KEY:
        raise ValueError("the tunables have more combinations of values than can be numbered")
    positions = [np.flatnonzero(view.ok) for view in views]
    keys = [_keys(view, at, unions) for view, at in zip(views, positions, strict=True)]
    shared = keys[0]
    for own in keys[1:]:
        shared = shared[np.isin(shared, own)]
    out = np.empty((len(shared), len(views)), dtype=np.int64)
    for column, (own, at) in enumerate(zip(keys, positions, strict=True)):
        order = np.argsort(own, kind="stable")
        out[:, column] = at[order[np.searchsorted(own[order], shared)]]
    return out


def _union(views: Sequence[RunView], name: str) -> dict[Value | None, int]:
    """A number for every value that a tunable has in any run, and for where it does not apply."""
    values: list[Value | None] = [None, *(v for view in views for v in dict(view.tunables)[name])]
    return {value: i for i, value in enumerate(dict.fromkeys(values))}


def _keys(view: RunView, at: Ints, unions: Mapping[str, Mapping[Any, int]]) -> Ints:
    """One number for the values of all tunables, in mixed radix."""
    keys = np.zeros(len(at), dtype=np.int64)
    domains = dict(view.tunables)
    for name, union in unions.items():
        place = np.array([*(union[value] for value in domains[name]), union[None]], dtype=np.int64)
        keys = keys * len(union) + place[codes(view, name)[at]]
    return keys


def one_for_all(
    settings: Sequence[str],
    configurations: Sequence[Mapping[str, Value]] | Any,
    time_us: Floats,
    best_us: Floats,
    method: str,
    looked_at: int | None = None,
) -> OneForAll:
    """The best few of candidates with times (n, m) in m settings, NaN where one is not ok.

    configurations: by row, anything that `[row]` gives a mapping of values for. best_us (m,): what regrets are against.
    """
    order, regret = ranked(time_us, best_us)
    known = tuple(map(float, best_us))
    total = len(time_us) if looked_at is None else looked_at
    found = best_few(configurations, time_us, regret, order, SHOWN)
    if found:
        why_not = ""
    elif total:
        why_not = f"None of the {total:,} candidates is ok in all {len(settings)} settings."
    else:
        why_not = "There are no candidates: no configuration is ok in every run."
    return OneForAll(tuple(settings), known, total, len(order), method, found, why_not)


def regret_text(share: float) -> str:
    """A regret as "best" or "+3.2 %"."""
    if not np.isfinite(share):
        return "–"
    return "best" if abs(share) < 5e-4 else f"{100 * share:+.1f} %"


def one_for_all_figure(data: OneForAll, theme: Theme = LIGHT) -> Any:
    """Bars of the regret of the first configuration, one a setting."""
    if not data.found:
        return message_figure(theme, data.why_not)
    first = data.found[0]
    bars = [
        Bar("regret", label, f"{regret_text(share)}, {microseconds(time)} µs", 100 * share)
        for label, time, share in zip(data.settings, first.time_us, first.regret, strict=True)
    ]
    figure = bars_figure(bars, {"regret": Look(theme.mark)}, "Longer than the best known (%)", theme)
    figure.update_layout(showlegend=False)
    return figure
