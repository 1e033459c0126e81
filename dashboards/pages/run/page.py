"""One run: its trade-offs as figures and a table, under one filter and with one configuration selected in all."""

from __future__ import annotations

from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Any

from dashboards.figures.heatmap import BEST, LEGAL, MEASURES, MEDIAN, PREFERRED
from dashboards.figures.scatter import axis_named
from dashboards.pages.run import callbacks as run_callbacks
from dashboards.pages.run import state as run_state
from dashboards.pages.run import table as run_table
from dashboards.pages.run.filter import bar, varied
from dashboards.pages.run.parts import head, links
from dashboards.site.page import Page, Place
from dashboards.site.parts import button, card, choice, empty, graph, html, state_store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dashboards.pages.run.state import Shown
    from dashboards.site.state import Site
    from db import Run

POLL_MS = 1000
DEFAULT_AXES = ("on_chip_bytes", "time_us")
_MEASURES = {BEST: "best time", MEDIAN: "median time", LEGAL: "share of ok ones"}


def layout(site: Site, place: Place) -> Any:
    """The page. It shows at once what the store says of the run; its columns are read for the figures."""
    from dash import dcc

    h = html()
    run = site.views.run(place.args["run"])
    shown = run_state.shown(place)
    # the browser takes a while to draw what is returned here: the columns can be read in the meantime
    Thread(target=_read, args=(site, run.id), name="columns", daemon=True).start()
    return [
        state_store("run"),
        dcc.Store(id="run-ref", data=run.id),
        dcc.Store(id="run-version", data=run_callbacks.version_of(run)),
        dcc.Store(id="run-filter", data=shown.filter.to_query()),
        dcc.Store(id="run-selected", data=shown.selected),
        dcc.Store(id="run-scales", data=[False, False]),
        dcc.Store(id="run-table", data={}),
        dcc.Store(id="run-sink"),
        dcc.Store(id="run-later"),
        dcc.Interval(id="run-poll", interval=POLL_MS, disabled=run.state != "running"),
        h.Div(
            [
                h.H1(run.name),
                h.Div(
                    [
                        button("run-stop", "Stop", hidden=not site.sweeps.running_here(run.id),
                               title="End the search after the batch in hand; what it has stays"),
                        *links(run, site.allow_runs),
                    ],
                    className="actions",
                ),
            ],
            className="card-head",
        ),
        *([h.P(shown.complaint, className="warn", role="alert")] if shown.complaint else []),
        h.Section([h.Div(head(site, run), id="run-head"), h.Div(id="run-summary", className="soon")],
                  **{"aria-label": "the run"}),
        card("Filter", *bar(run, shown.filter), note="It holds for everything below. Nothing chosen means everything.",
             className="filter"),
        h.Div([_scatter(run, shown), _selected()], className="beside"),
        _parallel(),
        h.Div([_heatmap(run, shown), _importance()], className="grid"),
        h.Div([_refusals(), _remedies()], className="verdicts"),
        _table(run, shown),
    ]  # fmt: skip


def _read(site: Site, run_id: int) -> None:
    """Read the columns of a run, so that they are there for the figures; what is wrong with them the figures say."""
    with suppress(ValueError):
        site.views.view(run_id)


def _titled(names: Sequence[str]) -> list[dict[str, str]]:
    return [{"label": axis_named(name).title, "value": name} for name in names]


def axes_of(shown: Shown) -> tuple[str, str]:
    """The axes that an address names, the usual ones where it names none."""
    out = []
    for key, usual in zip((run_state.X, run_state.Y), DEFAULT_AXES, strict=True):
        name = shown.choices.get(key, usual)
        try:
            axis_named(name)
        except ValueError:
            name = usual
        out.append(name)
    return out[0], out[1]


def _scatter(run: Run, shown: Shown) -> Any:
    h = html()
    x, y = axes_of(shown)
    names = [name for name, _ in varied(run)]
    colour = shown.choices.get(run_state.COLOUR, "")
    return card(
        "Trade-offs",
        h.Div(
            [
                choice("run-x", "Across", _titled(sorted({*DEFAULT_AXES, x})), x),
                choice("run-y", "Up", _titled(sorted({*DEFAULT_AXES, y})), y),
                choice("run-colour", "Colour", [{"label": "none", "value": ""}, *names],
                       colour if colour in names else ""),
            ],
            className="controls",
        ),
        graph("run-scatter", "scatter of two quantities of the ok configurations, with their Pareto front", height=440),
        h.Div(id="run-scatter-notes"),
        note="Every ok configuration; less is better on both axes. Drag a box to keep only what is in it, double-click "
        "to let all in again, click a point to select it.",
    )  # fmt: skip


def _selected() -> Any:
    h = html()
    return card(
        "Selected configuration", h.Div(id="run-side", **{"aria-live": "polite"}), actions=[button("run-best", "Best")],
        className="side",
    )  # fmt: skip


def _parallel() -> Any:
    return card(
        "Parallel coordinates",
        graph("run-parallel", "parallel coordinates of the tunables and the time", height=430),
        note="All ok configurations as bands (the wider, the more), the 60 fastest as lines. Drag a box over values to "
        "keep only these, click a line to select it or a value for the fastest that has it.",
    )


def pair_of(run: Run, shown: Shown) -> tuple[str, str] | None:
    """The two tunables of the heatmap: those of the address, else FifoDepth and SyncPeriod, else the first two."""
    names = [str(t["name"]) for t in run.tunables]
    changing = [name for name, _ in varied(run)]
    usual = (changing + [name for name in names if name not in changing])[:2]
    if all(name in names for name in PREFERRED) and any(name in changing for name in PREFERRED):
        usual = list(PREFERRED)
    if len(usual) < 2:
        return None
    x, y = (shown.choices.get(key, "") for key in (run_state.CELL_X, run_state.CELL_Y))
    return (x if x in names else usual[0]), (y if y in names else usual[1])


def _heatmap(run: Run, shown: Shown) -> Any:
    h = html()
    names = [str(t["name"]) for t in run.tunables]
    x, y = pair_of(run, shown) or (None, None)
    measure = shown.choices.get(run_state.CELL_SHOWS, BEST)
    return card(
        "Two tunables",
        h.Div(
            [
                choice("run-cell-x", "Across", names, x),
                choice("run-cell-y", "Up", names, y),
                choice("run-cell-shows", "Cells show", [{"label": t, "value": m} for m, t in _MEASURES.items()],
                       measure if measure in MEASURES else BEST),
            ],
            className="controls",
        ),
        graph("run-heatmap", "grid of two tunables with the time or the share of ok configurations in each cell",
              height=430),
        note="A click on a cell selects the fastest configuration behind it.",
    )  # fmt: skip


def _importance() -> Any:
    h = html()
    return card(
        "What decides the time",
        graph("run-importance", "importance of each tunable and of pairs", height=430),
        h.P(id="run-importance-note", className="note"),
    )


def _refusals() -> Any:
    return card("Verdicts and rules", graph("run-refusals", "configurations by verdict and rule", height=430))


def _remedies() -> Any:
    h = html()
    return card(
        "What it would take",
        h.Div(empty("Looking for the nearest ok configurations …"), id="run-remedies"),
        note="For each rule the single change of one tunable, to its nearest value that gives an ok configuration.",
    )


def _table(run: Run, shown: Shown) -> Any:
    from dash_ag_grid import AgGrid

    h = html()
    grid = AgGrid(
        id="run-grid",
        columnDefs=run_table.columns(run, shown.sort),
        defaultColDef={"sortable": True, "resizable": True, "minWidth": 80},
        rowModelType="infinite",
        columnSize=None,
        getRowId="params.data.row + ''",
        filterModel=dict(shown.table),
        selectedRows={"ids": [str(shown.selected)]} if shown.selected is not None else [],
        dashGridOptions={
            "rowSelection": {"mode": "singleRow", "checkboxes": False, "enableClickSelection": True},
            "cacheBlockSize": run_table.BLOCK,
            "maxConcurrentDatasourceRequests": 1,
            "maxBlocksInCache": 20,
            "infiniteInitialRowCount": 1,
            "animateRows": False,
            "tooltipShowDelay": 300,
        },
        style={"height": "480px"},
        className="ag-theme-quartz",
    )
    return card(
        "All configurations",
        grid,
        note="Click a row, or press the space bar on it, to select it; a column's head to sort; its menu to filter "
        "further.",
        actions=[h.A("CSV", id="run-csv", className="button", download=""),
                 h.A("Parquet", id="run-parquet", className="button", download="")],
    )  # fmt: skip


PAGE = Page("/runs/{run}", "Run", layout, run_callbacks.callbacks)
