"""Links: what transfers between ranks take, by size, staging tile, ping-pong and way of waiting. Evaluated live."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dashboards.figures.links import BLOCKS, SIZES, TILE_COLUMNS, TILE_ROWS, TIMING
from dashboards.figures.links_drawing import BANDWIDTH, TIME
from dashboards.pages.links.calls import Asked, callbacks, tunables_of, workloads_with_ranks
from dashboards.site.page import Page, Place
from dashboards.site.parts import button, card, choice, graph, html, link, state_store
from dashboards.text import byte_count

if TYPE_CHECKING:
    from dashboards.site.state import Site


def layout(site: Site, place: Place) -> Any:  # noqa: ARG001
    """The page. Its figures are filled in afterwards."""
    from dash import dcc

    from cost_models.platform import platform_names

    h = html()
    asked = Asked.of(place.query)
    names = tunables_of(asked.other)
    menus = [
        choice("lnk-platforms", "Platforms", platform_names(), list(asked.platforms), multi=True,
               placeholder="Choose platforms"),
        choice("lnk-view", "Show", [{"label": "time", "value": TIME},
                                    {"label": "effective bandwidth", "value": BANDWIDTH}], asked.view),
        choice("lnk-tile", "Staging tile", [
            {"label": byte_count(rows * TILE_COLUMNS * 4), "value": rows} for rows in TILE_ROWS], asked.tile),
        choice("lnk-size", "Size, where tiles vary", [
            {"label": byte_count(size), "value": size} for size in SIZES], asked.size),
        choice("lnk-blocks", "Blocks that send (TPUT)", list(BLOCKS), asked.blocks),
    ]  # fmt: skip
    return [
        h.H1("Links"),
        state_store("links"),
        dcc.Download(id="lnk-download"),
        *(h.P(c, className="warn", role="status") for c in asked.complaints),
        card(
            "What is shown",
            h.Div(menus, className="controls"),
            note=["Two ranks, evaluated live with the workloads ", h.Code("tget_bandwidth"), " and ",
                  h.Code("tput_pingpong"), f"; timing {TIMING}, without a launch. TPUT goes to and fro with a signal "
                  "behind each transfer: a time is that of one way. ", link("How near that is to measurements",
                                                                            "/accuracy"), "."],
        ),
        h.Div(
            [
                card("TGET against size", graph("lnk-get", "TGET against the size of the buffer", height=470),
                     h.P(id="lnk-get-note", className="note"), actions=[_csv("size")]),
                card("TPUT against size", graph("lnk-put", "TPUT against the size of the buffer", height=470),
                     h.P(id="lnk-put-note", className="note"), actions=[_csv("size")]),
                card("TWAIT against TTEST", graph("lnk-waits", "TWAIT and TTEST against size", height=460),
                     h.P(id="lnk-waits-note", className="note"), actions=[_csv("wait")]),
                card("TTEST less TWAIT", graph("lnk-less", "How much longer TTEST takes, by size", height=420),
                     note="Above 0: polling with TTEST takes longer, one way. The data of the times.",
                     actions=[_csv("wait")]),
                card("Staging tile and ping-pong",
                     graph("lnk-tiles", "Transfers against the size of the staging tile", height=500),
                     h.P(id="lnk-tiles-note", className="note"), actions=[_csv("tile")]),
                card(
                    "Other workloads with ranks",
                    h.Div(
                        [
                            choice("lnk-other", "Workload", workloads_with_ranks(), asked.other),
                            choice("lnk-x", "Over", names, asked.x),
                            choice("lnk-by", "A line for each", names, asked.by),
                        ],
                        className="controls",
                    ),
                    graph("lnk-any", "Time of a workload with ranks over a tunable", height=420),
                    h.P(id="lnk-any-note", className="note"),
                    note="Default sizes; the rest of the tunables have their defaults. The first platform alone.",
                    actions=[_csv("other")],
                ),
            ],
            className="grid",
        ),
    ]  # fmt: skip


def _csv(what: str) -> Any:
    return button({"type": "lnk-file", "what": what}, "CSV", title="Download the data of this part")


PAGE = Page("/links", "Links", layout, callbacks, nav="Links")
