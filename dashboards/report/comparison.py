"""The first section of a report on several runs: side by side, in each other's settings, and one for all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from dashboards.figures.causes import causes_figure
from dashboards.figures.causes import legend as causes_legend
from dashboards.figures.one_for_all import one_for_all_figure, regret_text
from dashboards.figures.tradeoffs import Mark, front_of, fronts_figure, times_figure
from dashboards.pages.compare.live import STORED, cross_of, good_of
from dashboards.pages.compare.parts import lines
from dashboards.pages.compare.work import item_causes
from dashboards.report.panels import Group, Panel, Section
from dashboards.summary import Table
from dashboards.text import microseconds
from dashboards.theme import message_figure

if TYPE_CHECKING:
    from dashboards.figures.one_for_all import OneForAll
    from dashboards.pages.compare.work import Compared
    from dashboards.report.panels import Subject

_NONE = "–"


def compare_section(of: Compared, subjects: Sequence[Subject]) -> Section:
    """What the page that compares shows of the best configurations of runs; `subjects` are the runs, by number."""
    by_number = {subject.number: subject for subject in subjects if subject.number is not None}
    panels = (_side(of), _times(of), _causes(of, by_number), _fronts(of), _cross(of), _good(of))
    return Section("compare", "The runs compared", (Group("", panels),), notes=of.complaints)


def _side(of: Compared) -> Panel:
    rows = tuple((name, *values) for name, values in lines(of) if len(set(values)) > 1)
    alike = [f"{name} {values[0]}" for name, values in lines(of) if len(set(values)) == 1 and values[0] != _NONE]
    notes = ["The best configuration of each run; what differs."]
    if alike and len(of.items) > 1:
        notes.append(f"The same in all: {', '.join(alike)}.")
    titles = ("What", *(item.label for item in of.items))
    table = Table(titles, (False,) * len(titles), rows) if rows else None
    return Panel("side", "Side by side", tuple(notes), table=table, wide=True)


def _times(of: Compared) -> Panel:
    times = [(item.label, item.time_us) for item in of.items]
    return Panel("times", "Times of the best", (), lambda theme: times_figure(times, theme))


def _fronts(of: Compared) -> Panel:
    runs = [run.id for run, _, _ in of.runs]
    fronts = [front_of(f"{run.id}: {run.name}", view) for run, view, _ in of.runs]
    marks = [
        Mark(item.label, item.time_us, float(item.view.on_chip_bytes[item.position]), runs.index(item.run.id))
        for item in of.items
        if item.position is not None
    ]
    notes = ("The Pareto front of each run: lower left is better. A star is the best of its run.",)
    return Panel(
        "fronts", "Time against on-chip memory", notes, lambda theme: fronts_figure(fronts, marks, theme), wide=True
    )


def _causes(of: Compared, subjects: Mapping[int, Subject]) -> Panel:
    shown, notes = item_causes(of, lambda item: subjects[item.run.id].explanation)
    if not all(data.exact for data in shown):
        notes.insert(0, "Of workloads with ranks these are sums that overlap, so bars differ from times.")
    elif shown:
        notes.insert(0, "The critical path of the first block of each, by cause.")
    return Panel(
        "causes",
        "Where the time goes",
        tuple(notes),
        lambda theme: causes_figure(shown, theme) if shown else message_figure(theme, "No times can be divided."),
        lambda theme: causes_legend(shown, theme),
    )


def _cross(of: Compared) -> Panel:
    title = "The best of each run in the settings of the others"
    if all(item.position is None for item in of.items):
        return Panel("cross", title, ("None of the runs has an ok configuration to evaluate.",), wide=True)
    found = cross_of(of)
    rows = []
    for i, label in enumerate(found.rows):
        cells = [label]
        for j in range(len(found.columns)):
            time = float(found.time_us[i, j])
            if np.isfinite(time):
                cells.append(f"{microseconds(time)} µs ({regret_text(float(found.regret[i, j]))})")
            else:
                lost = of.settings[j].problem is None
                cells.append("not evaluated, see above" if lost else found.why[i][j] or _NONE)
        rows.append(tuple(cells))
    best = (f"{microseconds(float(t))} µs" if np.isfinite(t) else _NONE for t in found.best_us)
    rows.append(("Best known", *best))
    notes = [
        "Each row is the best configuration of a run, each column a setting. Best known: the best that a run in this "
        "setting found, or the best of this column; beside each time, how much longer than that it is."
    ]
    notes += [f"Not evaluated in {s.label}: {s.why_not}." for s in of.settings if s.problem is None]
    titles = ("Configuration", *found.columns)
    return Panel("cross", title, tuple(notes), table=Table(titles, (False,) * len(titles), tuple(rows)), wide=True)


def _good(of: Compared) -> Panel:
    title = "One configuration for all of them"
    try:
        found = good_of(of, STORED)
    except ValueError as error:
        return Panel("one-for-all", title, (str(error),), wide=True)
    notes = []
    if found.found:
        first = found.found[0]
        worst = found.settings[int(np.argmax(first.regret))]
        notes.append(
            f"At most {100 * first.worst:.1f} % longer than the best of every setting (worst in {worst})."
            if first.worst >= 5e-4
            else "As fast as the best of every setting."
        )
    notes.append(
        f"Candidates: {found.method}; {found.legal:,} are ok in every setting. Regret: how much longer than the best "
        "known of a setting."
    )
    return Panel(
        "one-for-all", title, tuple(notes), lambda theme: one_for_all_figure(found, theme), table=_few(found), wide=True
    )


def _few(found: OneForAll) -> Table | None:
    """The best few; what they have in common stands in the first alone."""
    if not found.found:
        return None
    names = list(found.found[0].values)
    rows = tuple(
        (
            str(place),
            f"{100 * good.worst:.1f} %",
            *(f"{microseconds(t)} µs ({regret_text(r)})" for t, r in zip(good.time_us, good.regret, strict=True)),
            ", ".join(f"{name}={good.values.get(name, _NONE)}" for name in names),
        )
        for place, good in enumerate(found.found, 1)
    )
    titles = ("Place", "Worst regret", *found.settings, "Configuration")
    return Table(titles, (True, True, *(False for _ in found.settings), False), rows)
