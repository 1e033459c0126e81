"""All runs of the store: what was tuned, how far it is, what came out; and what to do where there are none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dashboards.site.page import Callbacks, Page, Place, address
from dashboards.site.parts import button, card, code, empty, html, link, query, state_store
from dashboards.text import microseconds

if TYPE_CHECKING:
    from dashboards.site.state import Site
    from db import Run

POLL_MS = 1000
DEMO = "pto-tune tune flash_attention --platform ascend910b2 --set s0=1024 --set s1=1024"


def records(site: Site) -> list[dict[str, Any]]:
    """A row a run, newest first: texts and numbers only."""
    return [record(run, site) for run in sorted(site.store.runs(), key=lambda r: -r.id)]


def record(run: Run, site: Site) -> dict[str, Any]:
    """What the table shows of a run. Times in microseconds, None where there is none; `share` is of its progress."""
    now = site.sweeps.progress(run.id) if run.state == "running" else None
    done = max(run.n_evaluated, 0 if now is None else now.done)
    best_us = None if run.best_cycles is None else run.best_cycles / run.clock_mhz + run.launch_us
    if now is not None and now.best_us is not None:
        best_us = now.best_us
    if run.state == "running":
        legal = None if now is None else now.legal
    else:
        legal = sum(run.counts.get("ok", {}).values()) if run.counts else None
    return {
        "id": run.id,
        "name": run.name,
        "name_href": address("runs", run.id),
        "workload": run.workload,
        "platform": run.platform,
        "rule_set": run.rule_set,
        "sizes": ", ".join(f"{name} {value}" for name, value in run.problem.items()),
        "best_us": best_us,
        "best": "–" if best_us is None else microseconds(best_us),
        "looked_at": done,
        "legal": legal,
        "state": run.status,
        "share": done / run.n_candidates if run.n_candidates else 1.0,
        "created": run.created_at.strftime("%Y-%m-%d %H:%M"),
    }


def columns() -> list[dict[str, Any]]:
    """Columns of the table."""
    number = {"type": "rightAligned", "filter": "agNumberColumnFilter"}
    grouped = {"function": "params.value == null ? '–' : d3.format(',')(params.value)"}
    return [
        {"field": "name", "headerName": "Run", "cellRenderer": "Link", "minWidth": 210, "flex": 2,
         "tooltipField": "name"},
        {"field": "state", "headerName": "State", "cellRenderer": "State", "width": 125},
        {"field": "best_us", "headerName": "Best (µs)", **number, "width": 115,
         "valueFormatter": {"function": "params.data.best"}},
        {"field": "workload", "width": 140},
        {"field": "platform", "width": 125},
        {"field": "rule_set", "headerName": "Rule set", "width": 115},
        {"field": "sizes", "headerName": "Sizes", "minWidth": 150, "flex": 2, "tooltipField": "sizes"},
        {"field": "looked_at", "headerName": "Configurations", **number, "width": 140, "valueFormatter": grouped},
        {"field": "legal", "headerName": "Legal", **number, "width": 100, "valueFormatter": grouped},
        {"field": "created", "headerName": "Created (UTC)", "width": 150},
    ]  # fmt: skip


def layout(site: Site, place: Place) -> Any:
    """The page."""
    from dash import dcc

    h = html()
    found = records(site)
    # the last part alone: where the store lies is nobody's business who only sees the page
    head = [h.H1("Runs"), h.P(f"Store {site.store.url.rpartition('/')[2]}", className="note")]
    if not found:
        return [*head, _empty(site)]
    from dash_ag_grid import AgGrid

    grid = AgGrid(
        id="runs-grid",
        rowData=found,
        columnDefs=columns(),
        defaultColDef={"filter": True, "sortable": True, "resizable": True},
        columnSize=None,
        getRowId="params.data.id + ''",
        filterModel={"name": {"filterType": "text", "type": "contains", "filter": place.text("name")}}
        if place.text("name")
        else {},
        dashGridOptions={
            "rowSelection": {"mode": "multiRow", "headerCheckbox": False, "enableClickSelection": False},
            "domLayout": "autoHeight" if len(found) < 16 else "normal",
            "animateRows": False,
            "tooltipShowDelay": 300,
            "enableCellTextSelection": True,
        },
        style={"height": None if len(found) < 16 else "70vh"},
        className="ag-theme-quartz",
    )
    return [
        *head,
        state_store("runs"),
        dcc.Interval(id="runs-poll", interval=POLL_MS, disabled=not _running(found)),
        card(
            f"{len(found)} runs" if len(found) > 1 else "1 run",
            grid,
            note="Tick two or more runs to compare them. Click a column's head to sort, its menu to filter.",
            actions=[
                button("runs-stop", "Stop", disabled=True),
                h.Div(id="runs-compare"),
                link("New run", "/new", className="button primary"),
            ],
        ),
    ]


def _running(found: Sequence[Mapping[str, Any]]) -> bool:
    return any(row["state"] == "running" for row in found)


def _empty(site: Site) -> Any:
    """What to do first."""
    h = html()
    if site.allow_runs:
        more: list[Any] = [
            h.P(["Start one here: ", link("choose a workload", "/new", className="button primary"), " or "]),
            button("runs-demo", "Run the demo", className="button primary"),
            h.P("The demo tunes Flash Attention of 1,024 x 1,024 on Ascend 910B2; it takes some seconds.",
                className="note"),
        ]  # fmt: skip
    else:
        more = [h.P("This server only reads: start it with --allow-runs to start runs here.", className="note")]
    return card(
        "No runs yet",
        empty("A run is a search over the configurations of a workload on a platform. Tune one in a terminal:"),
        code(DEMO, label="the command"),
        *more,
    )


def _compare(rows: Sequence[Mapping[str, Any]] | None) -> Any:
    ids = [row["id"] for row in rows or ()]
    if len(ids) < 2:
        return html().Button("Compare", className="button", disabled=True, type="button")
    return link(f"Compare {len(ids)}", address("compare", runs=ids), className="button primary")


def callbacks(on: Callbacks, site: Site) -> None:
    """What the page does."""
    from dash import Input, Output, State, no_update
    from dash.exceptions import PreventUpdate

    @on(Output("runs-grid", "rowData"), Output("runs-poll", "disabled"), Input("runs-poll", "n_intervals"))
    def poll(n: int | None) -> tuple[Any, bool]:
        if not n:
            raise PreventUpdate
        found = records(site)
        return found, not _running(found)

    @on(Output("runs-compare", "children"), Output("runs-stop", "disabled"), Input("runs-grid", "selectedRows"))
    def select(rows: list[dict[str, Any]] | None) -> tuple[Any, bool]:
        here = any(site.sweeps.running_here(row["id"]) for row in rows or ())
        return _compare(rows), not (here and site.allow_runs)

    @on(
        Output("runs-stop", "disabled", allow_duplicate=True),
        Input("runs-stop", "n_clicks"),
        State("runs-grid", "selectedRows"),
        prevent_initial_call=True,
    )
    def stop(clicks: int | None, rows: list[dict[str, Any]] | None) -> Any:
        if not clicks:
            return no_update
        for row in rows or ():
            if site.sweeps.running_here(row["id"]):
                site.sweeps.stop(row["id"])
        return True

    @on(Output("url", "href"), Input("runs-demo", "n_clicks"), prevent_initial_call=True)
    def demo(clicks: int | None) -> Any:
        from dashboards.site.sweeps import Wish

        if not clicks:
            raise PreventUpdate
        run = site.sweeps.start(Wish("flash_attention", "ascend910b2", {"s0": 1024, "s1": 1024}, name=None))
        return address("runs", run.id)

    @on(
        Output({"type": "address", "page": "runs"}, "data"),
        Input("runs-grid", "filterModel"),
        prevent_initial_call=True,
    )
    def keep(model: Mapping[str, Any] | None) -> dict[str, str]:
        return query({"name": ((model or {}).get("name") or {}).get("filter")})


PAGE = Page("/", "Runs", layout, callbacks, nav="Runs")
