"""What a run's page does: one filter and one selection, kept in the address, drive all its views."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dashboards.pages.run import figures
from dashboards.pages.run import parts as run_parts
from dashboards.pages.run import state as run_state
from dashboards.pages.run import use as run_use
from dashboards.site.parts import query, style_of, themed

if TYPE_CHECKING:
    from dashboards.site.page import Callbacks
    from dashboards.site.state import Site
    from db import Run


REDRAW_EVERY = 3
"""Figures of a run that is going on are drawn at every such look at how far it is."""


def version_of(run: Run) -> str:
    """Changes when the run has more to show."""
    return f"{run.state} {run.n_evaluated}"


def callbacks(on: Callbacks, site: Site) -> None:
    """Register all of them."""
    _running(on, site)
    run_use.filtering(on, site)
    _drawing(on, site)
    run_use.selecting(on, site)
    run_use.tabulating(on, site)
    _addressing(on)


def _running(on: Callbacks, site: Site) -> None:
    from dash import Input, Output, State, no_update
    from dash.exceptions import PreventUpdate

    @on(
        Output("run-head", "children"),
        Output("run-version", "data"),
        Output("run-poll", "disabled"),
        Output("run-stop", "hidden"),
        Input("run-poll", "n_intervals"),
        State("run-ref", "data"),
        State("run-version", "data"),
        # called at first and giving nothing, it would keep from being called what takes the version only
        prevent_initial_call=True,
    )
    def poll(n: int | None, run_id: int | None, known: str | None) -> tuple[Any, Any, bool, bool]:
        if not n or run_id is None:
            raise PreventUpdate
        run = site.views.run(run_id)
        now, ended = version_of(run), run.state != "running"
        # progress moves every time, the figures follow more slowly
        anew = now != known and (ended or n % REDRAW_EVERY == 0)
        return run_parts.head(site, run), now if anew else no_update, ended, not site.sweeps.running_here(run.id)

    @on(
        Output("run-stop", "disabled"),
        Input("run-stop", "n_clicks"),
        State("run-ref", "data"),
        prevent_initial_call=True,
    )
    def stop(clicks: int | None, run_id: int | None) -> bool:
        if not clicks or run_id is None:
            raise PreventUpdate
        if site.sweeps.running_here(run_id):
            site.sweeps.stop(run_id)
        return True

    @on(Output("run-summary", "children"), Input("run-version", "data"), State("run-ref", "data"))
    def summary(_version: str, run_id: int | None) -> Any:
        if run_id is None:
            raise PreventUpdate
        return run_parts.summary(site.views.run(run_id), site.views.view(run_id))


def _drawing(on: Callbacks, site: Site) -> None:
    from dash import Input, Output, State

    asked = (Input("theme", "data"), Input("run-filter", "data"), Input("run-version", "data"))
    later = (Input("run-later", "data"), State("theme", "data"), State("run-filter", "data"))
    known = (State("run-selected", "data"), State("run-ref", "data"))

    # Ten answers at once would all be as late as the last: the browser asks for what stands further down when what
    # stands on top is drawn.
    on.client("run.later", Output("run-later", "data"), *asked)

    @on(
        Output("run-scatter", "figure"), Output("run-scatter", "style"),
        Output("run-x", "options"), Output("run-y", "options"),
        Output("run-scatter-notes", "children"), Output("run-scales", "data"),
        *asked, Input("run-x", "value"), Input("run-y", "value"), Input("run-colour", "value"), *known,
    )  # fmt: skip
    def scatter(
        theme: Any, wanted: Any, _v: str, x: str, y: str, colour: str, row: int | None, run_id: int | None
    ) -> Any:
        palette = themed(theme)
        view, _, within = figures.asked_view(site, run_id, wanted)
        at = figures.position_of(view, row)
        assert run_id is not None
        axes = (x, y)
        with site.turns.first():
            figure, options, notes = figures.scatter_parts(
                site, run_id, view, within, axes, colour or None, at, palette
            )
        scales = [figure.layout.xaxis.type == "log", figure.layout.yaxis.type == "log"]
        return *_with_height(figure), options, options, notes, scales

    @on(
        Output("run-heatmap", "figure"), Output("run-heatmap", "style"),
        *later, Input("run-cell-x", "value"), Input("run-cell-y", "value"), Input("run-cell-shows", "value"), *known,
    )  # fmt: skip
    def heatmap(
        _now: Any,
        theme: Any,
        wanted: Any,
        x: str | None,
        y: str | None,
        shows: str,
        row: int | None,
        run_id: int | None,
    ) -> Any:
        palette = themed(theme)
        view, _, within = figures.asked_view(site, run_id, wanted)
        at = figures.position_of(view, row)
        with site.turns.later():
            return _with_height(figures.heatmap_figure(view, within, figures.pair_of(x, y), shows, at, palette))

    @on(Output("run-parallel", "figure"), Output("run-parallel", "style"), *later, *known)
    def parallel(_now: Any, theme: Any, wanted: Any, row: int | None, run_id: int | None) -> Any:
        from dashboards.figures.parallel import parallel_data
        from dashboards.figures.parallel_drawing import parallel_figure

        palette = themed(theme)
        view, _, within = figures.asked_view(site, run_id, wanted)
        at = figures.position_of(view, row)
        with site.turns.later():
            return _with_height(parallel_figure(view, parallel_data(view, within), palette, at))

    @on(
        Output("run-importance", "figure"), Output("run-importance", "style"),
        Output("run-importance-note", "children"),
        *later, State("run-ref", "data"),
    )  # fmt: skip
    def importance(_now: Any, theme: Any, wanted: Any, run_id: int | None) -> Any:
        palette = themed(theme)
        view, _, within = figures.asked_view(site, run_id, wanted)
        assert run_id is not None
        sampled = site.views.run(run_id).strategy != "exhaustive"
        with site.turns.later():
            figure, how = figures.importance_parts(view, sampled, within, palette)
        return *_with_height(figure), how

    @on(Output("run-refusals", "figure"), Output("run-refusals", "style"), *later, State("run-ref", "data"))
    def refusals(_now: Any, theme: Any, wanted: Any, run_id: int | None) -> Any:
        palette = themed(theme)
        view, found, _ = figures.asked_view(site, run_id, wanted)
        with site.turns.later():
            return _with_height(figures.refusals_of(view, found, palette))

    @on(Output("run-remedies", "children"), *later, State("run-ref", "data"))
    def remedies(_now: Any, _theme: Any, wanted: Any, run_id: int | None) -> Any:
        view, _, within = figures.asked_view(site, run_id, wanted)
        assert run_id is not None
        with site.turns.later():
            return run_parts.remedies(site, site.views.run(run_id), view, within)


def _with_height(figure: Any) -> tuple[Any, dict[str, str]]:
    """The figure and the style of its place: as high as the figure asks for."""
    return figure, style_of(figure)


def _addressing(on: Callbacks) -> None:
    from dash import Input, Output

    @on(
        Output({"type": "address", "page": "run"}, "data"),
        Input("run-filter", "data"),
        Input("run-table", "data"),
        Input("run-selected", "data"),
        Input("run-x", "value"),
        Input("run-y", "value"),
        Input("run-colour", "value"),
        Input("run-cell-x", "value"),
        Input("run-cell-y", "value"),
        Input("run-cell-shows", "value"),
        prevent_initial_call=True,
    )
    def keep(asked: Any, table: Any, row: int | None, *chosen: Any) -> dict[str, str]:
        names = (run_state.X, run_state.Y, run_state.COLOUR, run_state.CELL_X, run_state.CELL_Y, run_state.CELL_SHOWS)
        table = table or {}
        return query(
            {
                **(asked or {}),
                "sort": table.get("sort"),
                **dict(zip(names, chosen, strict=True)),
                run_state.SELECTED: row,
                run_state.TABLE: run_state.table_text(table.get("model")),
            }
        )
