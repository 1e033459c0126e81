"""How much each tunable decides the time: exact shares of variance from a full table, PED-ANOVA from a sample."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from dashboards.figures.bars import Bar, Look, bars_figure
from dashboards.filtering import codes
from dashboards.runview import RunView
from dashboards.text import percent
from dashboards.theme import BLUE, LIGHT, ORANGE, SKY_BLUE, Theme, message_figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

ANOVA = "share of the variance of log time, weighted cell means"
PED_ANOVA = "PED-ANOVA, importance for the fastest tenth"

MOST_LEVELS = 600
"""Values of two tunables together above which their interaction is left out."""

MOST_TRIALS = 4_000
"""Configurations of a sample that PED-ANOVA looks at."""

_PAIRS_SHOWN = 8
_LEAST = 5


@dataclass(frozen=True)
class Share:
    """What one tunable, or two beyond what they do one by one, decide: a share from 0 to 1."""

    names: tuple[str, ...]
    share: float


@dataclass(frozen=True)
class ImportanceData:
    """`method`: ANOVA or PED_ANOVA; `main` and `pairs`: largest first; `configurations`: how many ok ones it rests on;
    `left_out`: pairs with too many values; `why_not`: why there are no shares, "" where there are."""

    method: str
    main: tuple[Share, ...]
    pairs: tuple[Share, ...]
    configurations: int
    left_out: int = 0
    why_not: str = ""

    @property
    def explained(self) -> str:
        """How to read the figure, in a sentence or two."""
        if self.method == PED_ANOVA:
            return (
                f"The run is a sample, so the shares are those of PED-ANOVA over {self.configurations:,} of its ok "
                "configurations: how much a tunable decides whether one is among the fastest tenth, all shares "
                "together 100 %. It knows no interactions."
            )
        text = (
            f"Exact, from the {self.configurations:,} ok configurations of the table. A tunable's share is the "
            "variance of the mean log time of its values, each weighted by how many ok configurations have it; an "
            "interaction is what the means of all pairs of values explain beyond the best sum of one term a tunable. "
            "Illegal configurations leave the table unbalanced, so shares can overlap and need not add up to 100 %."
        )
        if self.left_out:
            text += f" Left out: {self.left_out} pairs with more than {MOST_LEVELS} values together."
        return text


def importance_data(view: RunView, sampled: bool, within: NDArray[np.int64] | None = None) -> ImportanceData:
    """Shares over the ok configurations in `within` (None: all). `sampled`: whether the run looked at part of its space
    only, chosen by a strategy."""
    positions = np.flatnonzero(view.ok) if within is None else np.sort(within[view.ok[within]])
    method = PED_ANOVA if sampled else ANOVA
    names = [name for name, _ in view.varied]
    n = len(positions)
    if not names:
        return ImportanceData(method, (), (), n, why_not="The run varies no tunable.")
    if n < _LEAST:
        return ImportanceData(
            method,
            (),
            (),
            n,
            why_not=f"{n} ok configurations: too few to compare." if n else "No ok configuration: nothing to compare.",
        )
    times = view.time_us[positions]
    if not (times > 0).all() or times.min() == times.max():
        return ImportanceData(
            method, (), (), n, why_not="All ok configurations take the same time: nothing decides it."
        )
    if sampled:
        return _ped_anova(view, names, positions)
    main, pairs, left_out = anova([codes(view, name)[positions] for name in names], np.log(times))
    return ImportanceData(
        method,
        _largest(Share((names[i],), share) for i, share in enumerate(main)),
        _largest(Share((names[i], names[j]), share) for (i, j), share in pairs.items()),
        n,
        left_out,
    )


def _largest(shares: Any) -> tuple[Share, ...]:
    return tuple(sorted(shares, key=lambda s: (-s.share, s.names)))


def anova(
    columns: Sequence[NDArray[Any]], y: NDArray[np.float64]
) -> tuple[list[float], dict[tuple[int, int], float], int]:
    """Shares of the variance of `y` (n,) that the codes in each column, and each pair of columns beyond the two alone,
    explain; and how many pairs have too many values to be looked at.

    Main effect: the sum over the values of n_a (mean_a - mean)^2. Interaction: the same for all pairs of values, less
    that of the additive model a + b fitted to them by weighted least squares. In a balanced table these are the
    functional ANOVA's terms. Codes may hold -1, which counts as a value.
    """
    centred = y - y.mean()
    total = float(centred @ centred)
    levels = []
    for column in columns:
        _, coded = np.unique(column, return_inverse=True)
        levels.append((coded.reshape(-1), int(coded.max()) + 1))
    sums = [(np.bincount(c, weights=centred, minlength=k), np.bincount(c, minlength=k)) for c, k in levels]
    main = [float((s * s / m).sum()) / total for s, m in sums]
    pairs: dict[tuple[int, int], float] = {}
    left_out = 0
    for i, j in combinations(range(len(columns)), 2):
        (a, n_a), (b, n_b) = levels[i], levels[j]
        if n_a < 2 or n_b < 2:
            continue
        if n_a + n_b > MOST_LEVELS:
            left_out += 1
            continue
        cell = a * n_b + b
        counts = np.bincount(cell, minlength=n_a * n_b).reshape(n_a, n_b).astype(float)
        sum_y = np.bincount(cell, weights=centred, minlength=n_a * n_b).reshape(n_a, n_b)
        inside = counts > 0
        explained = float((sum_y[inside] ** 2 / counts[inside]).sum())
        normal = np.block([[np.diag(counts.sum(axis=1)), counts], [counts.T, np.diag(counts.sum(axis=0))]])
        right = np.concatenate([sum_y.sum(axis=1), sum_y.sum(axis=0)])
        # a + c and b - c fit alike: any solution explains the same
        solution = np.linalg.lstsq(normal, right, rcond=None)[0]
        pairs[i, j] = max(0.0, explained - float(solution @ right)) / total
    return main, pairs, left_out


def _ped_anova(view: RunView, names: list[str], positions: NDArray[np.int64]) -> ImportanceData:
    import warnings

    import optuna
    from optuna.distributions import CategoricalDistribution, IntDistribution

    if len(positions) > MOST_TRIALS:
        positions = positions[np.linspace(0, len(positions) - 1, MOST_TRIALS).astype(np.int64)]
    columns = {name: codes(view, name)[positions].tolist() for name in names}
    domains = dict(view.tunables)
    distributions: dict[str, Any] = {}
    for name in names:
        size = len(domains[name])
        whole = all(type(value) is int for value in domains[name])
        # places of ordered values are near each other where the values are; words have no order
        distributions[name] = IntDistribution(0, size - 1) if whole else CategoricalDistribution(list(range(size)))
    trials = []
    for k, time_us in enumerate(view.time_us[positions].tolist()):
        params = {name: columns[name][k] for name in names if columns[name][k] >= 0}
        trials.append(
            optuna.trial.create_trial(
                params=params, distributions={name: distributions[name] for name in params}, value=time_us
            )
        )
    level = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        study = optuna.create_study(direction="minimize")
        study.add_trials(trials)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = optuna.importance.get_param_importances(
                study, evaluator=optuna.importance.PedAnovaImportanceEvaluator(), normalize=True
            )
    finally:
        optuna.logging.set_verbosity(level)
    main = _largest(Share((name,), float(found.get(name, 0.0))) for name in names)
    return ImportanceData(PED_ANOVA, main, (), len(positions))


def importance_figure(data: ImportanceData, theme: Theme = LIGHT) -> Any:
    """A bar a tunable, then the largest interactions."""
    if data.why_not:
        return message_figure(theme, data.why_not)
    shown = [("one tunable", s) for s in data.main]
    shown += [("two together", s) for s in data.pairs[:_PAIRS_SHOWN] if s.share >= 0.0005]
    bars = [Bar(group, " × ".join(s.names), percent(s.share, 1.0), 100 * s.share) for group, s in shown]
    looks = {"one tunable": Look(BLUE if theme.name == "light" else SKY_BLUE), "two together": Look(ORANGE, "/")}
    title = "Importance (%)" if data.method == PED_ANOVA else "Share of variance of log time (%)"
    return bars_figure(bars, looks, title, theme)
