"""What the outcomes of a table, and of all, come to."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import isfinite

from pto_tune.validating.running import Outcome
from pto_tune.validating.statistics import Choice, choice, kendall, quantile


@dataclass(frozen=True)
class Errors:
    """Absolute errors of some cases: how many, median, 90th percentile, and the worst with its sign.

    Of times as shares of what was measured, of shares of a pipe as differences. NaN and None of no case.
    """

    n: int
    median: float
    p90: float
    worst: Outcome | None


@dataclass(frozen=True)
class Series:
    """The order of one series: Kendall's tau of predicted and measured times."""

    name: str
    n: int
    tau: float


@dataclass(frozen=True)
class Group:
    """A tuner's choice among the cases of one problem that differ in their tunables alone."""

    name: str
    cases: tuple[str, ...]
    choice: Choice


@dataclass(frozen=True)
class Summary:
    """Of one table, or of all ("all tables").

    `times`: all times, predicted with numbers that never saw their table; `shares`: of pipes, likewise. `shipped`:
    times that no number was fitted to, predicted with the numbers as they are; `fitted`: those that some was fitted to,
    likewise. `ordered`: cases that count for the order alone. `untimed`: those without a prediction. Series and groups
    are of numbers that never saw their table.
    """

    table: str
    times: Errors
    shares: Errors
    shipped: Errors
    fitted: Errors
    ordered: int
    untimed: tuple[Outcome, ...]
    series: tuple[Series, ...]
    groups: tuple[Group, ...]

    @property
    def tau(self) -> float:
        """Mean of the series that have an order."""
        found = [s.tau for s in self.series if isfinite(s.tau)]
        return sum(found) / len(found) if found else float("nan")

    @property
    def recall(self) -> float:
        """Share of the groups whose best is in the predicted top."""
        return sum(g.choice.in_top for g in self.groups) / len(self.groups) if self.groups else float("nan")

    @property
    def regret(self) -> float:
        """Mean over the groups."""
        return sum(g.choice.regret for g in self.groups) / len(self.groups) if self.groups else float("nan")


def summarise(table: str, unseen: Iterable[Outcome], shipped: Iterable[Outcome] | None = None) -> Summary:
    """The summary of outcomes, of one or several tables.

    unseen: predicted with numbers that never saw the table of each case. shipped: the same cases with the numbers as
    they are; None where they are the same.
    """
    every = list(unseen)
    as_they_are = _timed(every if shipped is None else shipped)
    timed = _timed(every)

    def errors_of(found: Sequence[Outcome], share: bool, *uses: str) -> Errors:
        return errors([o for o in found if (o.case.quantity == "share") == share and o.case.use in uses])

    return Summary(
        table,
        errors_of(timed, False, "validate", "fit"),
        errors_of(timed, True, "validate", "fit"),
        errors_of(as_they_are, False, "validate"),
        errors_of(as_they_are, False, "fit"),
        sum(o.case.use == "order" for o in timed),
        tuple(o for o in every if not isfinite(o.predicted)),
        _series(timed),
        _groups(timed),
    )


def _timed(outcomes: Iterable[Outcome]) -> list[Outcome]:
    return [o for o in outcomes if isfinite(o.predicted)]


def errors(outcomes: Sequence[Outcome]) -> Errors:
    """Their errors, which are finite."""
    sizes = [abs(o.error) for o in outcomes]
    worst = max(outcomes, key=lambda o: abs(o.error), default=None)
    return Errors(len(outcomes), quantile(sizes, 0.5), quantile(sizes, 0.9), worst)


def _series(outcomes: Sequence[Outcome]) -> tuple[Series, ...]:
    """Series of times with at least three different cases: of two, an order says little."""
    named: dict[str, list[Outcome]] = {}
    for o in outcomes:
        if o.case.quantity != "share":
            named.setdefault(f"{o.case.table}: {o.case.series}", []).append(o)
    found = []
    for name, group in named.items():
        measured, predicted = _once(group, lambda o: (o.case.quantity, o.case.pipe, *o.values.items()))
        if len(measured) >= 3:
            found.append(Series(name, len(measured), kendall(measured, predicted)))
    return tuple(found)


def _once(outcomes: Sequence[Outcome], key: Callable[[Outcome], Hashable]) -> tuple[list[float], list[float]]:
    """Measured and predicted times of what is different by `key`; what was measured several times has its mean."""
    alike: dict[Hashable, list[Outcome]] = {}
    for o in outcomes:
        alike.setdefault(key(o), []).append(o)
    measured = [sum(o.case.measured for o in same) / len(same) for same in alike.values()]
    return measured, [same[0].predicted for same in alike.values()]


def _groups(outcomes: Sequence[Outcome]) -> tuple[Group, ...]:
    """Cases of one table, platform, rule set, protocol and problem with at least two choices of tunables.

    A configuration that was measured several times counts once, with the mean.
    """
    alike: dict[tuple[object, ...], list[Outcome]] = {}
    for o in outcomes:
        c = o.case
        if c.quantity == "time":
            alike.setdefault((c.table, c.platform, c.rules, c.timing, c.workload, o.problem), []).append(o)
    groups = []
    for found in alike.values():
        measured, predicted = _once(found, lambda o: o.choice)
        if len(measured) >= 2:
            name = f"{found[0].case.table}: {found[0].case.series}"
            groups.append(Group(name, tuple(o.case.id for o in found), choice(measured, predicted)))
    return tuple(groups)
