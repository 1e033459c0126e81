"""Accuracy: predictions beside published results and the store's measurements, intervals, which number decides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dashboards.pages.accuracy import parts
from dashboards.pages.accuracy.calls import callbacks
from dashboards.pages.accuracy.work import DONE, SURE, Validation, validation
from dashboards.site.page import Page, Place
from dashboards.site.parts import button, card, choice, graph, html, state_store

if TYPE_CHECKING:
    from dashboards.site.state import Site
    from pto_tune.validating.report import Report

POLL_MS = 1000


def layout(site: Site, place: Place) -> Any:  # noqa: ARG001
    """The page: as far as the validation is; the rest comes by itself."""
    from dash import dcc

    h = html()
    now = validation()
    name = place.text("table", parts.ALL)
    filled = now.report is not None
    return [
        h.H1("Accuracy"),
        state_store("accuracy"),
        dcc.Store(id="acc-wanted", data=name),
        dcc.Store(id="acc-stage", data=now.stage),
        dcc.Store(id="acc-filled", data=filled),
        dcc.Download(id="acc-download"),
        dcc.Interval(id="acc-poll", interval=POLL_MS, disabled=now.over),
        h.Div(now.doing(), id="acc-progress", className="note", role="status"),
        h.Div(body(now, name), id="acc-body"),
    ]


def body(now: Validation, name: str) -> list[Any]:
    """Everything that needs the predictions; nothing before they are there. What failed is said."""
    h = html()
    if now.report is None:
        failed = "; ".join(now.failed.values())
        text = f"The published cases could not be predicted: {failed}. Reload the page to try again." if failed else ""
        return [h.P(text, className="warn")] if text else []
    return _cards(now, now.report, name)


def _cards(now: Validation, report: Report, name: str) -> list[Any]:
    from dash_ag_grid import AgGrid

    h = html()
    names = parts.tables_of(report)
    value = name if name in names else parts.ALL
    options = [{"label": "all tables", "value": parts.ALL}, *names]
    complaint = "" if value == name else f"There is no table {name!r} with cases: all are shown."
    return [
        h.P(complaint, className="warn", role="status") if complaint else "",
        card(
            "Predicted against measured",
            h.Div(choice("acc-table", "Table", options, value), className="controls"),
            graph("acc-parity", "Predicted against measured times", height=720),
            note="Each point is a published result or a measurement of this store. Predictions are made with numbers "
            "that never saw the table of the result, beside those of the numbers as shipped where some was fitted to "
            "it. Dotted: 15 % away.",
            actions=[_csv("cases")],
        ),
        card("Measurements of this store", h.Div(id="acc-store"), actions=[_csv("measurements")]),
        card(
            "Error by table",
            graph("acc-errors", "Median, 90th percentile and worst error of times by table", height=500),
            parts.summary_table(report),
            note="Predicted over measured, less one. In brackets: times of the table.",
            actions=[_csv("summary")],
        ),
        card("What is aimed at", parts.limit_table(report), actions=[_csv("limits")]),
        card(
            "How sure: intervals",
            h.Div(waiting(now, SURE), id="acc-coverage"),
            graph("acc-intervals", "Intervals of predictions, and what was measured", height=480),
            h.Div(id="acc-intervals-note"),
            note="A 90 % interval follows from the kinds of the numbers that a time leans on; nine of ten measurements "
            "should lie inside.",
            actions=[_csv("intervals")],
        ),
        card(
            "Which parameter decides",
            h.Div(waiting(now, DONE), id="acc-leading"),
            actions=[_csv("leading")],
        ),
        card(
            "Cases",
            AgGrid(
                id="acc-cases",
                rowData=parts.records(report, value),
                columnDefs=list(parts.COLUMNS),
                defaultColDef={"filter": True, "sortable": True, "resizable": True, "cellDataType": False},
                columnSize=None,
                getRowId="params.data.case",
                dashGridOptions={"animateRows": False, "tooltipShowDelay": 300, "enableCellTextSelection": True},
                style={"height": "560px"},
                className="ag-theme-quartz",
            ),
            note="Errors of times in per cent, of shares as differences.",
            actions=[_csv("cases")],
        ),
    ]


def waiting(now: Validation, stage: int) -> Any:
    """What stands in the place of what a later stage brings."""
    h = html()
    if stage in now.failed:
        return h.P(f"This could not be computed: {now.failed[stage]}.", className="warn")
    return h.P("Computing …", className="note") if now.stage < stage else ""


def _csv(what: str) -> Any:
    return button({"type": "acc-file", "what": what}, "CSV", title="Download the data of this part")


PAGE = Page("/accuracy", "Accuracy", layout, callbacks, nav="Accuracy")
