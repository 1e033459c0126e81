"""What a run's page does when it is used: the filter, the selection, the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from dashboards.filtering import Filter
from dashboards.pages.run import figures
from dashboards.pages.run import parts as run_parts
from dashboards.pages.run import table as run_table
from dashboards.pages.run.filter import PICK, collected, end_of, sentence
from dashboards.site.parts import themed

if TYPE_CHECKING:
    from dashboards.site.page import Callbacks
    from dashboards.site.state import Site


def filtering(on: Callbacks, site: Site) -> None:
    """The controls and boxes make the filter."""
    from dash import ALL, Input, Output, State, no_update
    from dash.exceptions import PreventUpdate

    @on(
        Output("run-filter", "data"),
        Input({"type": PICK, "place": ALL}, "value"),
        Input("run-verdict", "value"),
        Input("run-rule", "value"),
        Input("run-time-min", "value"),
        Input("run-time-max", "value"),
        Input("run-brush", "data"),
        State("run-ref", "data"),
        State("run-filter", "data"),
        prevent_initial_call=True,
    )
    def collect(
        picks: Sequence[Any], verdicts: Any, rules: Any, low: Any, high: Any, brush: Any,
        run_id: int | None, known: Mapping[str, str] | None,
    ) -> Any:  # fmt: skip
        if run_id is None:
            raise PreventUpdate
        ends = (end_of(low, "Time from"), end_of(high, "Time to"))
        found = collected(site.views.run(run_id), picks, verdicts, rules, ends, brush).to_query()
        return no_update if found == (known or {}) else found

    @on(
        Output("run-count", "children"),
        Input("run-filter", "data"),
        Input("run-version", "data"),
        State("run-ref", "data"),
    )
    def count(asked: Any, _version: str, run_id: int | None) -> str:
        view, wanted, within = figures.asked_view(site, run_id, asked)
        return sentence(len(within), int(view.ok[within].sum()), len(view), wanted)

    cleared = [
        Output({"type": PICK, "place": ALL}, "value", allow_duplicate=True),
        Output("run-verdict", "value"),
        Output("run-rule", "value"),
        Output("run-time-min", "value", allow_duplicate=True),
        Output("run-time-max", "value", allow_duplicate=True),
        Output("run-brush", "data", allow_duplicate=True),
    ]

    @on(
        *cleared,
        Input("run-clear", "n_clicks"),
        State({"type": PICK, "place": ALL}, "value"),
        prevent_initial_call=True,
    )
    def clear(clicks: int | None, picks: Sequence[Any]) -> Any:
        if not clicks:
            raise PreventUpdate
        return [[] for _ in picks], [], [], "", "", {}

    @on(
        Output("run-time-min", "value", allow_duplicate=True),
        Output("run-time-max", "value", allow_duplicate=True),
        Output("run-brush", "data", allow_duplicate=True),
        Input("run-scatter", "selectedData"),
        State("run-x", "value"),
        State("run-y", "value"),
        State("run-scales", "data"),
        State("run-brush", "data"),
        prevent_initial_call=True,
    )
    def brush(selection: Any, x: str, y: str, scales: Any, known: Any) -> Any:
        found = figures.brushed_ranges(selection, (x, y), (bool(scales[0]), bool(scales[1])))
        if not found:
            if selection is not None:
                raise PreventUpdate
            # double-click: what boxes said is taken back
            return "", "", {}
        time_us = found.pop("time_us", None)
        both: tuple[Any, Any] = (
            (no_update, no_update) if time_us is None else (f"{time_us[0]:.6g}", f"{time_us[1]:.6g}")
        )
        return *both, {**(known or {}), **found}

    @on(
        Output({"type": PICK, "place": ALL}, "value", allow_duplicate=True),
        Output("run-time-min", "value", allow_duplicate=True),
        Output("run-time-max", "value", allow_duplicate=True),
        Input("run-parallel", "selectedData"),
        State({"type": PICK, "place": ALL}, "value"),
        State("run-ref", "data"),
        State("run-filter", "data"),
        prevent_initial_call=True,
    )
    def brush_values(selection: Any, picks: Sequence[Any], run_id: int | None, asked: Any) -> Any:
        if selection is None:
            return [[] for _ in picks], "", ""
        view, wanted, _ = figures.asked_view(site, run_id, asked)
        values, time_us = figures.brushed_values(view, wanted, selection.get("points") or ())
        if not values and not time_us:
            raise PreventUpdate
        both: list[Any] = [f"{end:.6g}" for end in time_us] or [no_update, no_update]
        return figures.picks_of(view, values, picks), both[0], both[1]


def selecting(on: Callbacks, site: Site) -> None:
    """A click anywhere selects a configuration, which is marked and described."""
    from dash import Input, Output, State, ctx, no_update
    from dash.exceptions import PreventUpdate

    @on(
        Output("run-selected", "data"),
        Input("run-scatter", "clickData"),
        Input("run-parallel", "clickData"),
        Input("run-heatmap", "clickData"),
        Input("run-grid", "selectedRows"),
        Input("run-best", "n_clicks"),
        State("run-ref", "data"),
        State("run-selected", "data"),
        State("run-filter", "data"),
        State("run-cell-x", "value"),
        State("run-cell-y", "value"),
        prevent_initial_call=True,
    )
    def choose(
        one: Any, two: Any, three: Any, rows: Any, _best: int | None, run_id: int | None, known: int | None, asked: Any,
        x: str | None, y: str | None,
    ) -> Any:  # fmt: skip
        by = ctx.triggered_id
        clicked: dict[Any, Callable[[], int | None]] = {
            "run-scatter": lambda: figures.clicked_row(one),
            "run-parallel": lambda: figures.clicked_row(two),
            "run-heatmap": lambda: _cell(site, run_id, asked, figures.pair_of(x, y), three),
            "run-grid": lambda: _row(rows),
            "run-best": lambda: _best_row(site, run_id),
        }
        row = clicked[by]() if by in clicked else None
        return no_update if row is None or row == known else row

    @on(
        Output("run-side", "children"),
        Input("run-selected", "data"),
        Input("run-version", "data"),
        State("run-ref", "data"),
    )
    def describe(row: int | None, _version: str, run_id: int | None) -> Any:
        if run_id is None:
            raise PreventUpdate
        view = site.views.view(run_id)
        return run_parts.side(site.views.run(run_id), view, figures.position_of(view, row))

    @on(
        Output("run-scatter", "figure", allow_duplicate=True),
        Output("run-parallel", "figure", allow_duplicate=True),
        Output("run-heatmap", "figure", allow_duplicate=True),
        Input("run-selected", "data"),
        State("theme", "data"),
        State("run-filter", "data"),
        State("run-x", "value"),
        State("run-y", "value"),
        State("run-cell-x", "value"),
        State("run-cell-y", "value"),
        State("run-ref", "data"),
        prevent_initial_call=True,
    )
    def mark(
        row: int | None, theme: Any, asked: Any, x: str, y: str, cell_x: str | None, cell_y: str | None,
        run_id: int | None,
    ) -> Any:  # fmt: skip
        palette = themed(theme)
        view, wanted, _ = figures.asked_view(site, run_id, asked)
        at = figures.position_of(view, row)
        assert run_id is not None
        return figures.marks(site, run_id, view, wanted, (x, y), figures.pair_of(cell_x, cell_y), at, palette)


def _cell(site: Site, run_id: int | None, asked: Any, pair: tuple[str, str] | None, click: Any) -> int | None:
    view, _, within = figures.asked_view(site, run_id, asked)
    return figures.cell_row(view, within, pair, click)


def _row(rows: Any) -> int | None:
    """The row that the table has selected."""
    first = rows[0] if isinstance(rows, list) and rows else None
    row = first.get("row") if isinstance(first, Mapping) else None
    return row if type(row) is int else None


def _best_row(site: Site, run_id: int | None) -> int | None:
    view = None if run_id is None else site.views.view(run_id)
    return None if view is None or view.best is None else int(view.rows[view.best])


def tabulating(on: Callbacks, site: Site) -> None:
    """Rows of the table, and the links that download them."""
    from dash import Input, Output, State, no_update
    from dash.exceptions import PreventUpdate

    @on(
        Output("run-grid", "getRowsResponse"),
        Output("run-table", "data"),
        Input("run-grid", "getRowsRequest"),
        State("run-filter", "data"),
        State("run-table", "data"),
        State("run-ref", "data"),
    )
    def rows(request: Mapping[str, Any] | None, asked: Any, known: Any, run_id: int | None) -> Any:
        if not request or run_id is None:
            raise PreventUpdate
        view, wanted, _ = figures.asked_view(site, run_id, asked)
        model = request.get("filterModel") or {}
        sort = run_table.sorting(request.get("sortModel"), [name for name, _ in view.tunables])
        own = run_table.table_filter(view, model)
        merged = wanted.merged(Filter(own.any_of, own.ranges, sort))
        start, end = int(request.get("startRow") or 0), int(request.get("endRow") or run_table.BLOCK)
        now = {"model": model, "query": merged.to_query(), "sort": Filter(sort=sort).to_query().get("sort", "")}
        with site.turns.first():
            return run_table.block(run_id, view, merged, start, end), no_update if now == known else now

    @on(
        Output("run-csv", "href"), Output("run-parquet", "href"),
        Input("run-table", "data"), State("run-ref", "data"),
    )  # fmt: skip
    def downloads(table: Mapping[str, Any] | None, run_id: int | None) -> tuple[str, str]:
        if run_id is None:
            raise PreventUpdate
        text = urlencode((table or {}).get("query") or {})
        base = f"/api/v1/runs/{run_id}/results"
        return tuple(f"{base}.{kind}" + (f"?{text}" if text else "") for kind in ("csv", "parquet"))  # type: ignore[return-value]

    on.client(
        "run.refill", Output("run-sink", "data"), Input("run-filter", "data"), Input("run-version", "data"),
        prevent_initial_call=True,
    )  # fmt: skip

    @on(
        Output("run-grid", "selectedRows"),
        Input("run-selected", "data"),
        State("run-grid", "selectedRows"),
        prevent_initial_call=True,
    )
    def highlight(row: int | None, known: Any) -> Any:
        if row is None or _row(known) == row:
            return no_update
        return {"ids": [str(row)]}
