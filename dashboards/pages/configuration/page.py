"""One configuration: why it takes as long as it does, what a change would do, how sure that is, and its export."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dashboards.exports import FORMATS
from dashboards.figures.bounds import MEANING
from dashboards.pages.configuration import parts
from dashboards.pages.configuration.calls import callbacks
from dashboards.pages.configuration.work import parse_changes, stored
from dashboards.site.page import Page, Place
from dashboards.site.parts import button, card, graph, html, state_store

if TYPE_CHECKING:
    from dashboards.site.state import Site


def layout(site: Site, place: Place) -> Any:
    """The page. What has to be computed is filled in afterwards."""
    from dash import dcc

    h = html()
    of = stored(site, place.args["run"], place.args["row"])
    out = parts.head(of)
    neighbours = card(
        "One step away", parts.neighbour_table(of),
        note="Configurations of the run that differ from this one in one tunable, with their stored times.",
        actions=[button("cfg-neighbours", "CSV", title="Download the data of this part"),
                 dcc.Download(id="cfg-neighbours-file")],
    )  # fmt: skip
    at = dcc.Store(id="cfg-at", data={"run": of.run.id, "row": of.row})
    file = dcc.Download(id="cfg-download")
    if of.problem is None:
        why = f"Only what is stored can be shown: {of.why_not}."
        return [*out, at, h.Section(h.P(why, className="warn"), role="status"), neighbours]
    asked, fault = parse_changes(place.text("set")), ""
    try:
        changes = of.changed(asked)
    except ValueError as error:
        changes, fault = {}, f"The change in the address is left out: {error}."
    return [
        *out,
        at,
        file,
        state_store("configuration"),
        dcc.Store(id="cfg-set", data=changes),
        dcc.Store(id="cfg-window", data=_window(place)),
        dcc.Store(id="cfg-drawn"),
        h.P(fault, className="warn", role="status") if fault else "",
        h.Div(id="cfg-wrong", role="status"),
        card(
            "What if",
            *parts.controls(of, changes),
            h.Div(id="cfg-answer", **{"aria-live": "polite"}),
            h.Div(id="cfg-causes-note"),
            graph("cfg-causes", "Where the time goes: the critical path by cause, stored and changed", height=130),
            note="Change one tunable or several: the new time, the timeline and all that follows are computed at once.",
            actions=[button("cfg-reset", "Reset", disabled=not changes), _csv("causes")],
        ),
        card(
            "Timeline",
            h.Div(id="cfg-timeline-note", className="note", **{"aria-live": "polite"}),
            h.Div(
                [h.Label("Block", htmlFor="cfg-block"),
                 dcc.Dropdown(id="cfg-block", options=[], value=place.number("block"),
                                                clearable=False, placeholder="the one that ends last")],
                className="choice",
                style={} if of.problem.workload.has_ranks else {"display": "none"},
            ),
            graph("cfg-timeline", "Timeline by core and pipe", height=440),
            note="Drag over a stretch of time to zoom in, double-click to see all. Flags between cores are drawn where "
            "few enough are in view.",
            actions=[button("cfg-whole", "Whole block"), h.Span(id="cfg-trace"), _csv("timeline")],
        ),
        h.Div(
            [
                card("Where the time goes", h.Div(id="cfg-path"), actions=[_csv("path")]),
                card(
                    "If only this limited you",
                    h.P(id="cfg-bounds-note"),
                    graph("cfg-bounds", "Time that each pipe or shared resource would need alone", height=420),
                    note=MEANING,
                    actions=[_csv("bounds")],
                ),
            ],
            className="grid",
        ),
        card(
            "FIFOs over time",
            h.Div([h.Label("FIFO", htmlFor="cfg-fifo"),
                   dcc.Dropdown(id="cfg-fifo", options=[], value=place.text("fifo") or None,
                                                 clearable=False, searchable=False)], className="choice"),
            h.Div(id="cfg-fifo-note"),
            graph("cfg-slots", "Slots of the FIFO over time", height=420),
            note="A slot is not free from the first write of its tile up to the credit for it, which goes out once for "
            "SyncPeriod tiles. The stretch of time is that of the timeline.",
            actions=[_csv("fifo")],
        ),
        card(
            "How sure, and what it leans on",
            h.Div(h.P("Computing …", className="note"), id="cfg-sure"),
            actions=[button("cfg-sure-anyway", "Compute it all the same", style={"display": "none"}), _csv("leans")],
        ),
        card(
            "Export",
            h.Div([h.Label("Format", htmlFor="cfg-format"),
                   dcc.Dropdown(id="cfg-format", options=[{"label": f.title, "value": f.key} for f in FORMATS],
                                value=FORMATS[0].key, clearable=False, searchable=False)], className="choice"),
            h.Div(id="cfg-export", **{"aria-live": "polite"}),
        ),
        neighbours,
    ]  # fmt: skip


def _csv(what: str) -> Any:
    return button({"type": "cfg-file", "what": what}, "CSV", title="Download the data of this part")


def _window(place: Place) -> dict[str, float] | None:
    """The stretch of time in the address, in microseconds."""
    try:
        low, high = float(place.text("from")), float(place.text("to"))
    except ValueError:
        return None
    return {"from": low, "to": high} if 0 <= low < high < 1e12 else None


PAGE = Page("/runs/{run}/configurations/{row}", "Configuration", layout, callbacks)
