"""The best configuration of a run: where its time goes, what bounds it, its timeline and FIFOs, how sure its time is,
and its exports."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dashboards.exports import format_named
from dashboards.figures.bounds import MEANING, bounds_data, bounds_figure
from dashboards.figures.causes import causes_data, causes_figure
from dashboards.figures.causes import legend as causes_legend
from dashboards.figures.occupancy import fifos_of
from dashboards.figures.occupancy_drawing import legend as slots_legend
from dashboards.figures.occupancy_drawing import occupancy_figure, occupancy_note
from dashboards.figures.stalls import stalls_data, stalls_figure
from dashboards.figures.timeline import MOST_TOKENS, timeline_data, window
from dashboards.figures.timeline_drawing import legend as timeline_legend
from dashboards.figures.timeline_drawing import timeline_figure
from dashboards.report.panels import DROPPED, OCCUPANCY, REST, TIMELINE, Code, Group, Panel
from dashboards.summary import Table
from dashboards.text import microseconds, percent

if TYPE_CHECKING:
    from dashboards.figures.occupancy import FifoTiles
    from dashboards.figures.timeline import TimelineData, Window
    from dashboards.report.panels import Subject
    from dashboards.theme import Theme
    from pto_tune.explaining.explanation import Explanation

SPANS = 500
"""Bars of the timeline: the first part of the block that has about so many."""

TILES = 40
"""Tiles of the FIFOs' figures: the first part of the block that has so many."""

_FIFOS_SHOWN = 4
_LEANS_SHOWN = 12
_PARTS_SHOWN = 12


def best_group(subject: Subject, later: bool = False, runs: int = 1) -> Group | None:
    """Panels of the best configuration; None where no configuration is ok.

    `later`: whether the run is not the first of the report, whose timelines give way first; the time that intervals may
    take is shared by the `runs` of the report.
    """
    view = subject.view
    if view.best is None:
        return None
    title = f"The best configuration, row {int(view.rows[view.best])}"
    try:
        explanation = subject.explanation
        timed = explanation.timed
    except ValueError as error:
        return Group(title, _stored(subject), (_missing(str(error)),))
    if not timed:
        return Group(title, _stored(subject), (_missing("evaluated today it has no times"),))
    panels = [
        _causes(explanation),
        _bounds(explanation),
        _timeline(explanation, later),
        *(_fifo(explanation, i, tiles, later) for i, tiles in enumerate(fifos_of(explanation)[:_FIFOS_SHOWN])),
        _sure(explanation, runs),
        _exports(subject, explanation),
    ]
    return Group(title, tuple(panels), tuple(f"To be noted: {note}." for note in explanation.notes()))


def _missing(why: str) -> str:
    return (
        "Timeline, FIFOs, bounds, the numbers that it leans on and the header are missing, because it has to be "
        f"evaluated again for them: {why}."
    )


def _stored(subject: Subject) -> tuple[Panel, ...]:
    """What the store kept of where its time goes."""
    data = stalls_data(subject.view)
    note = "Busy and waiting overlap in time, so the bars do not add up to the whole run."
    notes = (note,) if data.busy or data.waits else ()
    return (Panel("stalls", "Where its time goes", notes, lambda theme: stalls_figure(data, theme)),)


def _causes(explanation: Explanation) -> Panel:
    data = causes_data(explanation, "best")
    shown = [] if data is None else [data]
    notes, table = "", None
    if data is not None:
        notes = "The critical path of the first block; its parts add up to the block's time exactly."
        if not data.exact:
            notes = "Sums of the block that ends last, over all its pipes: what is done at the same time counts twice."
        elif data.whole != data.cycles:
            share = percent(data.cycles, data.whole)
            notes += f" The block takes {share} of the device's time: blocks follow each other in waves."
        rows = [(c, name, f"{k:,}", percent(k, data.cycles)) for c, name, k in data.parts[:_PARTS_SHOWN]]
        part = "Share" if data.exact else "Of the whole time"
        table = Table(("Cause", "Where", "Cycles", part), (False, False, True, True), tuple(rows))
    return Panel(
        "causes", "Where its time goes", (notes,), lambda theme: causes_figure(shown, theme),
        lambda theme: causes_legend(shown, theme), table,
    )  # fmt: skip


def _bounds(explanation: Explanation) -> Panel:
    data = bounds_data(explanation)
    return Panel(
        "bounds", "If only this limited it", (MEANING, data.sentence()), lambda theme: bounds_figure(data, theme)
    )


def first_part(data: TimelineData, most: int = SPANS) -> Window:
    """The first part of a timeline: at most about `most` bars, none merged where that can be, and no flag hidden."""
    end = data.cycles
    if len(data.spans) > most:
        end = int(np.partition(data.spans.start, most)[most])
    sent = data.tokens.sent
    if len(sent) > MOST_TOKENS:
        end = min(end, int(np.partition(sent, MOST_TOKENS)[MOST_TOKENS]) - 1)
    return window(data, 0, max(1, end))


def _timeline(explanation: Explanation, later: bool) -> Panel:
    data = timeline_data(explanation)
    part = first_part(data)
    mhz = data.clock_mhz
    title = data.title[:1].upper() + data.title[1:]
    words = f"{title}: {microseconds(data.cycles / mhz)} µs, {data.cycles:,} cycles, without the launch."
    if part.end < data.cycles:
        words += f" Drawn are its first {microseconds(part.end / mhz)} µs."
    if part.merged:
        words += f" {part.merged:,} bars stand for several short instructions or stalls each."
    if explanation.problem.workload.has_ranks:
        words += " Stalls are not logged one by one: their sums are under “Where its time goes”."

    def draw(theme: Theme) -> Any:
        figure = timeline_figure(part, theme)
        # there is nothing to zoom out to
        figure.update_layout(xaxis={"maxallowed": part.end / mhz})
        return figure

    panel = Panel(
        "timeline", "Timeline by core and pipe", (words,), draw, lambda theme: timeline_legend(part, theme), wide=True
    )
    return _giving_way(panel, TIMELINE, later)


def _giving_way(panel: Panel, turn: int, later: bool) -> Panel:
    """The panel of a later run, which is left out before others get lighter; of the first run as it is."""
    return replace(panel, turn=turn if later else REST, lighter=lambda: panel.without_figure(DROPPED))


def _fifo(explanation: Explanation, i: int, tiles: FifoTiles, later: bool) -> Panel:
    mhz = explanation.problem.clock_mhz
    # a slot is taken in order of the tiles
    end = tiles.end if len(tiles) <= TILES else max(1, int(tiles.taken[TILES]))
    words = occupancy_note(tiles, 0, end)
    if end < tiles.end:
        words += f" Drawn are the first {microseconds(end / mhz)} µs."
    panel = Panel(
        f"fifo-{i + 1}", f"FIFO {tiles.name}", (words,),
        lambda theme: occupancy_figure(tiles, mhz, 0, end, theme), lambda theme: slots_legend(tiles.slot_num, theme),
    )  # fmt: skip
    return _giving_way(panel, OCCUPANCY, later)


def _sure(explanation: Explanation, runs: int) -> Panel:
    """The interval of its time, and the numbers behind it, where these can be had in a few seconds."""
    from dashboards.pages.configuration.parts import interval_words
    from pto_tune.uncertainty.running import MOST_COST, Subject

    title = "How sure its time is, and the numbers it leans on"
    e = explanation.evaluation
    cost = Subject(explanation.problem, e, np.flatnonzero(e.timed))
    if max(cost.interval_cost, cost.swing_cost) > MOST_COST / runs:
        return Panel("leans", title, ("Not computed, for it would take long here: pto-tune explain --sure does.",))
    interval = interval_words(explanation.interval, float(e.time_us[0]))
    leans = explanation.leans_on
    notes = [interval]
    if not leans:
        notes.append("No uncertain number of the platform moves this time.")
    elif len(leans) > _LEANS_SHOWN:
        notes.append(f"The {_LEANS_SHOWN} of {len(leans)} numbers with the largest shares:")
    titles = ("Number", "Value", "Range", "Kind", "Share of the interval", "Moves the time by (µs)", "Source")
    rows = tuple(
        (
            lean.key,
            f"{lean.value:.4g} {lean.unit}",
            f"{lean.low:.4g} to {lean.high:.4g}",
            lean.kind,
            percent(lean.share, 1.0),
            microseconds(lean.swing_us),
            lean.source,
        )
        for lean in leans[:_LEANS_SHOWN]
    )
    numeric = (False, True, False, False, True, True, False)
    return Panel("leans", title, tuple(notes), table=Table(titles, numeric, rows) if rows else None, wide=True)


def _exports(subject: Subject, explanation: Explanation) -> Panel:
    """Its header, to copy; why not where it cannot be exported."""
    from pto_tune.api import not_exportable_because, recommendation

    why = not_exportable_because(explanation.evaluation, 0)
    if why:
        return Panel("exports", "Export", (f"It is not exported: {why}.",), wide=True)
    view, p = subject.view, explanation.problem
    values = {**view.problem, **subject.values}
    form = format_named("header")
    try:
        rec = recommendation(p.workload, values, p.platform, subject.pto_isa or view.rule_set, p.timing, view.name)
        text = form.render(rec)
    except ValueError as error:
        return Panel("exports", "Export", tuple(str(error).splitlines()), wide=True)
    return Panel("exports", "Export", (), codes=(Code(form.title, text),), wide=True)
