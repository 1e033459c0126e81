"""The figures of a run's page: each drawn anew for a filter, and only its mark for a selection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dashboards import theme
from dashboards.figures import extra, heatmap, importance, parallel, parallel_drawing, scatter, scatter_drawing
from dashboards.figures.refusals import refusals_data, refusals_figure
from dashboards.filtering import Filter, codes, select
from dashboards.site.parts import html

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dashboards.runview import RunView
    from dashboards.site.state import Site

WIDTHS = extra.Widths()
"""Intervals that have been computed for figures of this process."""


def position_of(view: RunView, row: int | None) -> int | None:
    """Where a row stands in the columns, None where it does not."""
    if row is None:
        return None
    found = np.flatnonzero(view.rows == row)
    return int(found[0]) if len(found) else None


def extra_columns(
    site: Site, run_id: int, view: RunView, within: NDArray[np.int64], axes: Sequence[str]
) -> tuple[dict[str, NDArray[np.float64]], str]:
    """Columns that the run does not keep, of those that `axes` name and of the flags; a sentence on what is missing."""
    try:
        problem, _ = site.views.search(run_id)
    except ValueError as error:
        return {}, f"No flag ids and no intervals: {error}."
    out = {}
    flags = extra.flags_used(view, problem)
    if flags is not None:
        out["flags"] = flags
    note = ""
    if "width_us" in axes:
        few = extra.few(view, within)
        out["width_us"], left = WIDTHS.of(f"{site.store.url} {run_id}", view, few, problem)
        note = left or f"Intervals take many runs each: they are computed for {len(few)} configurations only, the " + (
            "Pareto front of time against on-chip bytes and the fastest."
        )
    return out, note


def scatter_parts(
    site: Site,
    run_id: int,
    view: RunView,
    within: NDArray[np.int64],
    axes: tuple[str, str],
    colour: str | None,
    selected: int | None,
    palette: theme.Theme,
) -> tuple[Any, list[dict[str, Any]], Any]:
    """The figure, the choices of its axes, and the sentences below it."""  # fmt: skip
    h = html()
    columns, note = extra_columns(site, run_id, view, within, axes)
    data = scatter.scatter_data(view, *axes, colour_by=colour, within=within, extra=columns)
    figure = scatter_drawing.scatter_figure(view, data, palette, selected, columns)
    usable, left_out = scatter.axes_with_data(view, {k: v for k, v in columns.items() if k == "flags"})
    names = [a.name for a in usable]
    options = [{"label": a.title, "value": a.name} for a in usable]
    if columns or "width_us" in axes:
        options.append({"label": scatter.axis_named("width_us").title, "value": "width_us"})
    for chosen in axes:
        if chosen not in names and chosen != "width_us":
            options.append({"label": scatter.axis_named(chosen).title, "value": chosen})
    notes = [note]
    if data.thinned:
        drawn = len(data.positions)
        notes.append(f"{data.total:,} configurations are drawn as {drawn:,} points: each stands for those near it.")
    if left_out and view.ok.any():
        notes.append("No axis: " + "; ".join(f"{a.title.partition(' (')[0]}, {why}" for a, why in left_out) + ".")
    return figure, options, [h.P(text, className="note") for text in notes if text]


def heatmap_figure(
    view: RunView,
    within: NDArray[np.int64],
    pair: tuple[str, str] | None,
    measure: str,
    selected: int | None,
    palette: theme.Theme,
) -> Any:
    """The grid of the pair; None: the run has fewer than two tunables."""  # fmt: skip
    if pair is None or pair[0] == pair[1]:
        if pair is not None:
            return theme.message_figure(palette, "Choose two different tunables.")
        return heatmap.heatmap_figure(view, None, palette)
    data = heatmap.heatmap_data(view, *pair, measure, within)
    return heatmap.heatmap_figure(view, data, palette, selected)


def marks(
    site: Site,
    run_id: int,
    view: RunView,
    wanted: Filter,
    axes: tuple[str, str],
    pair: tuple[str, str] | None,
    selected: int | None,
    palette: theme.Theme,
) -> tuple[Any, Any, Any]:
    """Patches of scatter, parallel coordinates and heatmap that move the mark of the selected one."""  # fmt: skip
    from dash import Patch

    within = select(view, wanted)
    columns: Mapping[str, Any] = {}
    if {"flags", "width_us"} & set(axes):
        columns, _ = extra_columns(site, run_id, view, within, axes)
    one = Patch()
    trace = scatter_drawing.marked(view, axes, selected, palette, columns)
    one["data"][scatter_drawing.MARKED]["x"], one["data"][scatter_drawing.MARKED]["y"] = trace["x"], trace["y"]
    two = Patch()
    line = parallel_drawing.marked(view, parallel.parallel_data(view, within), selected, palette)
    two["data"][parallel_drawing.MARKED]["x"], two["data"][parallel_drawing.MARKED]["y"] = line["x"], line["y"]
    three = Patch()
    if pair is not None and pair[0] != pair[1]:
        best = None
        if view.best is not None and view.best in within:
            best = (int(codes(view, pair[1])[view.best]), int(codes(view, pair[0])[view.best]))
        three["layout"]["shapes"] = heatmap.outlines(view, *pair, best, selected, palette)
    return one, two, three


def clicked_row(click: Any) -> int | None:
    """The row of what was clicked in a figure, None where it stands for none."""
    points = click.get("points") if isinstance(click, Mapping) else None
    custom = points[0].get("customdata") if points and isinstance(points[0], Mapping) else None
    if isinstance(custom, list) and custom:
        custom = custom[3] if custom[0] == "node" and len(custom) == 4 else None
    return custom if type(custom) is int else None


def cell_row(view: RunView, within: NDArray[np.int64], pair: tuple[str, str] | None, click: Any) -> int | None:
    """The row of the fastest ok configuration, among those `within`, behind the cell of the heatmap that was clicked.

    The browser tells of a cell only where it is, not what it carries.
    """
    points = click.get("points") if isinstance(click, Mapping) else None
    if not points or pair is None:
        return None
    cell = [points[0].get(key) for key in ("x", "y")]
    inside = np.zeros(len(view), dtype=bool)
    inside[within] = True
    ranked = view.ranked[inside[view.ranked]]
    for name, place in zip(pair, cell, strict=True):
        ranked = ranked[codes(view, name)[ranked] == place]
    return int(view.rows[ranked[0]]) if len(ranked) else None


def brushed_ranges(selection: Any, axes: tuple[str, str], logarithmic: tuple[bool, bool]) -> dict[str, list[float]]:
    """Ranges, in base units, of a box in the scatter, of the axes that a filter knows."""
    box = selection.get("range") if isinstance(selection, Mapping) else None
    out: dict[str, list[float]] = {}
    if not isinstance(box, Mapping):
        return out
    for name, key, log in zip(axes, ("x", "y"), logarithmic, strict=True):
        ends = box.get(key)
        if name in ("flags", "width_us") or not isinstance(ends, list) or len(ends) != 2:
            continue
        divisor = scatter.axis_named(name).divisor
        low, high = sorted((10.0 ** float(e) if log else float(e)) * divisor for e in ends)
        out[name] = [float(f"{low:.6g}"), float(f"{high:.6g}")]
    return out


def brushed_values(view: RunView, wanted: Filter, points: Sequence[Any]) -> tuple[dict[str, list[str]], list[float]]:
    """Values by tunable, and least and greatest time in microseconds ([] for none), of a box in the parallels."""
    data = parallel.parallel_data(view, select(view, wanted))
    values: dict[str, list[str]] = {}
    time_us: list[float] = []
    for name, found in parallel.brushed(data, [p for p in points if isinstance(p, dict)]).items():
        labels = data.labels[data.names.index(name)]
        if name == parallel.TIME:
            ends = (min(found) / len(labels), (max(found) + 1) / len(labels))
            time_us = [float(f"{parallel.time_at(e, data.span_us):.6g}") for e in ends]
        else:
            values[name] = [labels[code] for code in found if 0 <= code < len(labels)]
    return values, time_us


def importance_parts(view: RunView, sampled: bool, within: NDArray[np.int64], palette: theme.Theme) -> tuple[Any, str]:
    """The figure, and how to read it."""
    data = importance.importance_data(view, sampled, within)
    return importance.importance_figure(data, palette), "" if data.why_not else data.explained


def refusals_of(view: RunView, wanted: Filter, palette: theme.Theme) -> Any:
    """Counts by verdict and rule of what passes the filter."""
    return refusals_figure(refusals_data(view, select(view, wanted) if wanted != Filter() else None), palette)


def picks_of(view: RunView, values: Mapping[str, Sequence[str]], now: Sequence[Any]) -> list[list[str]]:
    """What the menus of the tunables hold after a box in parallel coordinates, from what they hold now."""
    out = []
    for (name, _), chosen in zip(view.varied, now, strict=False):
        brushed = values.get(name)
        out.append(list(chosen or ()) if brushed is None else [v for v in brushed if v])
    return out


def asked_view(site: Site, run_id: int | None, asked: Mapping[str, str] | None) -> tuple[RunView, Filter, Any]:
    """The columns, the filter and the positions that pass it, in the order of the run."""
    from dash.exceptions import PreventUpdate

    if run_id is None:
        raise PreventUpdate
    view = site.views.view(run_id)
    wanted = Filter.from_query(asked or {})
    return view, wanted, select(view, wanted)


def pair_of(x: str | None, y: str | None) -> tuple[str, str] | None:
    """The two tunables of the heatmap, None where the run has too few."""
    return None if x is None or y is None else (x, y)
