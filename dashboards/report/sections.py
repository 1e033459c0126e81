"""The section of one run: what was found, what decides the time, what was refused and what would make it legal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dashboards.figures.heatmap import default_pair, heatmap_data, heatmap_figure
from dashboards.figures.importance import importance_data, importance_figure
from dashboards.figures.parallel import parallel_data
from dashboards.figures.parallel_drawing import parallel_figure
from dashboards.figures.pareto import SVG_POINTS
from dashboards.figures.refusals import refusals_data, refusals_figure
from dashboards.figures.remedies import memory_limits, other_changes, remedies_data, sentence
from dashboards.figures.scatter import scatter_data
from dashboards.figures.scatter_drawing import scatter_figure
from dashboards.report.best import best_group
from dashboards.report.panels import POINTS, REST, Group, Panel, Section
from dashboards.summary import Table, on_chip_note, summary_data

if TYPE_CHECKING:
    from dashboards.figures.importance import ImportanceData
    from dashboards.report.panels import Subject

FEWER_POINTS = (2_000, 500, 100)
"""Points of a scatter, tried in turn where the page is too large: their texts weigh more than they do."""

_RULES_SHOWN = 12


def run_section(subject: Subject, place: int = 0, runs: int = 1) -> Section:
    """The section of run number `place` of a report on `runs` runs: of more runs each has fewer points."""
    view = subject.view
    decides = importance_data(view, subject.sampled)
    limit = SVG_POINTS if runs == 1 else FEWER_POINTS[0 if runs <= 3 else 1]
    found = (
        _scatter(subject, decides, limit),
        _heatmap(subject),
        _parallel(subject),
        _importance(decides),
        _refusals(subject),
        _remedies(subject),
    )
    groups = [Group("", found)]
    best = best_group(subject, later=place > 0, runs=runs)
    if best is not None:
        groups.append(best)
    return Section(f"run-{place + 1}", view.name, tuple(groups), summary_data(view))


def _scatter(subject: Subject, decides: ImportanceData, limit: int) -> Panel:
    view = subject.view
    colour = decides.main[0].names[0] if decides.main else None
    data = scatter_data(view, colour_by=colour, limit=limit)
    notes = []
    if data.total:
        words = f"Lower left is better. {data.total:,} ok configurations"
        if data.thinned:
            words += f", drawn as {len(data.positions):,} points: each stands for those near it"
        notes.append(f"{words}. {on_chip_note()}")
        if colour is not None:
            notes.append(f"Coloured by {colour}, which decides most.")
    fewer = next((n for n in FEWER_POINTS if n < min(limit, data.total)), None)
    return Panel(
        "scatter",
        "Time against on-chip memory",
        tuple(notes),
        lambda theme: scatter_figure(view, data, theme),
        lighter=None if fewer is None else lambda: _scatter(subject, decides, fewer),
        turn=REST if fewer is None else POINTS,
    )


def _heatmap(subject: Subject) -> Panel:
    view = subject.view
    pair = default_pair(view)
    data = heatmap_data(view, *pair) if pair else None
    notes: tuple[str, ...] = ()
    # a figure that only says why it is empty needs no word on how to read it
    if data is not None and view.best is not None:
        words = "Colour is the best time behind each pair, whatever the other tunables are."
        if data.best is not None:
            words += " The cell of the best configuration is outlined."
        notes = (words,)
    title = f"Best time by {pair[0]} and {pair[1]}" if pair else "Best time by two tunables"
    return Panel("heatmap", title, notes, lambda theme: heatmap_figure(view, data, theme))


def _parallel(subject: Subject) -> Panel:
    view = subject.view
    data = parallel_data(view)
    notes: tuple[str, ...] = ()
    if data.total:
        notes = (
            f"Bands stand for all {data.total:,} ok configurations, the wider the more; lines are the "
            f"{len(data.lines):,} fastest.",
        )
    return Panel(
        "parallel", "From tunables to time", notes, lambda theme: parallel_figure(view, data, theme), wide=True
    )


def _importance(data: ImportanceData) -> Panel:
    notes = () if data.why_not else (data.explained,)
    return Panel("importance", "What decides the time", notes, lambda theme: importance_figure(data, theme))


def _refusals(subject: Subject) -> Panel:
    counts = refusals_data(subject.view)
    note = (
        "Only ok configurations are recommended. A refused one breaks a static rule; the others can hang or corrupt "
        "data under some timing."
    )
    title = "What was ok, refused or unsafe, and by which rule"
    return Panel("refusals", title, (note,), lambda theme: refusals_figure(counts, theme))


def _remedies(subject: Subject) -> Panel:
    """A line a verdict and rule: how far off, and the single change that leads to an ok configuration."""
    view = subject.view
    data = remedies_data(view, None, None if subject.problem is None else memory_limits(subject.problem))
    title = "What it would take to become legal"
    if not data.remedies:
        why = "Every configuration that the run holds is ok." if len(view) else "The run holds no configurations yet."
        return Panel("remedies", title, (why,), wide=True)
    shown = data.remedies[:_RULES_SHOWN]
    rows = []
    for remedy in shown:
        more = other_changes(remedy)
        takes = "; ".join(part for part in (sentence(remedy), f"also {more}" if more else "") if part)
        row = str(int(view.rows[remedy.example]))
        rows.append((remedy.verdict, remedy.rule or "–", f"{remedy.count:,}", takes or "–", row))
    notes = [data.why_no_changes]
    if subject.sampled and not data.why_no_changes:
        notes.append("The run is a sample: only changes to configurations that it looked at are known.")
    if len(data.remedies) > len(shown):
        notes.append(f"{len(data.remedies) - len(shown)} rarer rules are not in the table.")
    if subject.problem is None:
        notes.append(f"By how many bytes a memory is over is missing: {subject.why_not}.")
    titles = ("Verdict", "Rule", "Configurations", "What it would take", "Row of one")
    table = Table(titles, (False, False, True, False, True), tuple(rows))
    return Panel("remedies", title, tuple(notes), table=table, wide=True)
