"""Errors by table of published results, and whether what was measured lies in the interval of its prediction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import TYPE_CHECKING, Any

import numpy as np

from dashboards.text import microseconds, plain
from dashboards.theme import BLUISH_GREEN, ORANGE, VERMILLION, Theme, axis, layout, message_figure

if TYPE_CHECKING:
    from pto_tune.validating.running import Outcome
    from pto_tune.validating.summary import Summary

MOST_DRAWN = 60
"""Cases of one figure of intervals; of more, so many evenly spread ones in the order of their error."""

_LEAST_PERCENT = 0.1
_LABEL = 34


@dataclass(frozen=True)
class CaseInterval:
    """A case with the 90 % interval of its prediction; all in microseconds."""

    table: str
    name: str
    measured_us: float
    predicted_us: float
    low_us: float
    high_us: float

    @property
    def inside(self) -> bool:
        """Whether what was measured lies in the interval."""
        return self.low_us <= self.measured_us <= self.high_us


@dataclass(frozen=True)
class Intervals:
    """Intervals of the cases that have one, and the names of those that would take long."""

    cases: tuple[CaseInterval, ...]
    left_out: tuple[str, ...]


def case_intervals(outcomes: Iterable[Outcome], most_cost: int | None = None) -> Intervals:
    """The intervals of cases that are times of whole runs, by the platforms as they are.

    most_cost: what the intervals of one workload, platform and protocol may cost together
    (`pto_tune.uncertainty.running`, about microseconds); None: twice what one configuration may.
    """
    from pto_tune.uncertainty.running import MOST_COST

    limit = 2 * MOST_COST if most_cost is None else most_cost
    groups: dict[tuple[str, str, str | None, str], list[Outcome]] = {}
    for o in outcomes:
        c = o.case
        if c.quantity == "time" and c.use != "order" and isfinite(o.predicted):
            groups.setdefault((c.workload, c.platform, c.rules, c.timing), []).append(o)
    found: list[CaseInterval] = []
    late: list[str] = []
    for (work, platform, rules, timing), own in groups.items():
        some, left = _of_group(work, platform, rules, timing, own, limit)
        found += some
        late += left
    return Intervals(tuple(found), tuple(late))


def _of_group(
    work: str, platform: str, rules: str | None, timing: str, own: Sequence[Outcome], limit: int
) -> tuple[list[CaseInterval], list[str]]:
    from cost_models.platform import load_platform
    from pto_tune.evaluation import Problem
    from pto_tune.uncertainty.intervals import intervals_of
    from pto_tune.uncertainty.running import MOST_CONFIGURATIONS, Subject
    from pto_tune.workloads import workload

    problem = Problem.of(workload(work), load_platform(platform), rules, timing)
    distinct = list(dict.fromkeys(tuple(o.values.items()) for o in own))
    place = {values: i for i, values in enumerate(distinct)}
    subject = Subject.of(problem, [dict(values) for values in distinct[:MOST_CONFIGURATIONS]])
    if subject.interval_cost > limit:
        return [], [o.case.name for o in own]
    both = intervals_of(subject)
    out, left = [], []
    for o in own:
        at = place[tuple(o.values.items())]
        interval = both.of(at) if at < MOST_CONFIGURATIONS else None
        if interval is None:
            left.append(o.case.name)
        else:
            out.append(CaseInterval(o.case.table, o.case.name, o.case.measured, o.predicted, *interval))
    return out, left


@dataclass(frozen=True)
class Coverage:
    """Of a table: cases with an interval, how many hold what was measured, the median of (high - low) / predicted."""

    table: str
    cases: int
    inside: int
    width: float


def coverage(intervals: Sequence[CaseInterval], all_name: str = "all tables") -> list[Coverage]:
    """By table, and of all last."""
    tables = dict.fromkeys(c.table for c in intervals)
    groups = [(table, [c for c in intervals if c.table == table]) for table in tables]
    return [
        Coverage(name, len(own), sum(c.inside for c in own),
                 float(np.median([(c.high_us - c.low_us) / c.predicted_us for c in own])) if own else nan)
        for name, own in [*groups, (all_name, list(intervals))]
    ]  # fmt: skip


def intervals_figure(intervals: Sequence[CaseInterval], theme: Theme) -> Any:
    """A line a case, in the order of its error: its interval over its prediction, and what was measured over it."""
    import plotly.graph_objects as go

    if not intervals:
        return message_figure(theme, "None of the chosen cases has an interval.")
    order = sorted(intervals, key=lambda c: c.measured_us / c.predicted_us)
    if len(order) > MOST_DRAWN:
        order = [order[int(i)] for i in np.unique(np.linspace(0, len(order) - 1, MOST_DRAWN).astype(np.int64))]
    names = [plain(c.name, _LABEL) for c in order]
    places = list(range(len(order)))
    figure = go.Figure()
    figure.add_scatter(
        x=[1.0] * len(order),
        y=places,
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [max(0.0, c.high_us / c.predicted_us - 1) for c in order],
            "arrayminus": [max(0.0, 1 - c.low_us / c.predicted_us) for c in order],
            "color": theme.muted,
            "thickness": 2,
            "width": 4,
        },
        mode="markers",
        marker={"color": theme.muted, "size": 5, "symbol": "line-ns-open"},
        name="90 % interval of the prediction",
        hovertemplate=[_hover(c) for c in order],
    )
    for inside, colour, symbol, name in (
        (True, BLUISH_GREEN, "circle", "measured, inside"),
        (False, VERMILLION, "x", "measured, outside"),
    ):
        at = [i for i in places if order[i].inside == inside]
        if at:
            figure.add_scatter(
                x=[order[i].measured_us / order[i].predicted_us for i in at],
                y=at,
                mode="markers",
                marker={"color": colour, "size": 9, "symbol": symbol},
                name=name,
                hovertemplate=[_hover(order[i]) for i in at],
            )
    figure.update_layout(
        layout(
            theme,
            150 + 17 * len(order),
            xaxis=axis(theme, "Over the prediction (ratio)", type="log", tickformat=".3~r", dtick="D2"),
            yaxis=axis(theme, "", tickvals=places, ticktext=names, range=[-0.7, len(order) - 0.3], showgrid=False,
                       tickfont={"size": 11}),
        )
    )  # fmt: skip
    return figure


def _hover(c: CaseInterval) -> str:
    name = plain(c.name).replace("%", "&#37;")
    return (
        f"<b>{name}</b><br>{microseconds(c.measured_us)} µs measured<br>{microseconds(c.predicted_us)} µs predicted, "
        f"{microseconds(c.low_us)} to {microseconds(c.high_us)}<extra></extra>"
    )


def errors_figure(summaries: Sequence[Summary], theme: Theme) -> Any:
    """By table median, 90th percentile and worst of the errors of times; logarithmic, in per cent."""
    import plotly.graph_objects as go

    known = [s for s in summaries if s.times.n]
    if not known:
        return message_figure(theme, "None of the chosen tables has a time and a prediction.")
    names = [plain(f"{s.table} ({s.times.n})", _LABEL) for s in known]
    medians = [_percent(s.times.median) for s in known]
    ninety = [_percent(s.times.p90) for s in known]
    worst = [_percent(abs(s.times.worst.error)) if s.times.worst is not None else nan for s in known]
    figure = go.Figure()
    for values, name, colour, symbol in (
        (medians, "median", theme.mark, "circle"),
        (ninety, "90th percentile", ORANGE, "diamond"),
        (worst, "worst", VERMILLION, "x"),
    ):
        figure.add_scatter(x=values, y=names, name=name, mode="markers",
                           marker={"color": colour, "size": 9, "symbol": symbol},
                           hovertemplate=f"%{{y}}<br>{name} %{{x:.1f}} %<extra></extra>")  # fmt: skip
    figure.update_layout(
        layout(
            theme,
            130 + 30 * len(known),
            xaxis=axis(theme, "Error of times (%)", type="log", tickformat=",~r", dtick=1),
            yaxis=axis(theme, "", autorange="reversed", showgrid=False),
        )
    )
    return figure


def _percent(share: float) -> float:
    # a logarithmic axis has no 0
    return max(_LEAST_PERCENT, 100 * share) if isfinite(share) else nan
