"""Configurations, runs, platforms and pto-isa revisions side by side, and one configuration for several of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dashboards.pages.compare import parts
from dashboards.pages.compare.calls import callbacks
from dashboards.pages.compare.live import EVALUATED, METHODS, STORED
from dashboards.pages.compare.work import MOST_RUNS, Compared, compared, wish
from dashboards.site.page import Page, Place
from dashboards.site.parts import button, card, choice, empty, graph, html, link, state_store

if TYPE_CHECKING:
    from dashboards.site.state import Site

DIFFERENCES, ALL = "differences", "all"
OWN_RULES = ""


def layout(site: Site, place: Place) -> Any:
    """The page. What is computed live is filled in afterwards."""
    from dash import dcc

    h = html()
    of = compared(site, wish(place.query))
    shown = place.choice("show", (DIFFERENCES, ALL), ALL)
    method = place.choice("method", METHODS, STORED)
    live = of.further < len(of.settings)
    head = [
        h.H1("Compare"),
        *(h.P(c, className="warn", role="status") for c in of.complaints),
        dcc.Store(id="cmp-wish", data=of.wish.query()),
    ]
    if not of.items:
        return [*head, state_store("compare"), *_nothing(site)]
    return [
        *head,
        state_store("compare"),
        dcc.Download(id="cmp-download"),
        _form(site, of),
        card(
            "Side by side",
            h.Div(choice("cmp-show", "Show", [{"label": "everything", "value": ALL},
                                              {"label": "differences only", "value": DIFFERENCES}], shown),
                  className="controls"),
            h.Div(parts.side_by_side(of, shown == DIFFERENCES), id="cmp-side"),
            note="The best configuration of each run, or the one that was chosen. What differs stands out.",
            actions=[_csv("side")],
        ),
        h.Div(
            [
                card("Times", graph("cmp-times", "Predicted times of the configurations", height=240),
                     note="As stored, each in its own run."),
                card("Where the time goes",
                     graph("cmp-causes", "Time of the configurations by cause", height=240),
                     h.Div(id="cmp-causes-note", className="note"),
                     note="The critical path of each configuration by cause, computed live.",
                     actions=[_csv("causes")]),
            ],
            className="grid",
        ),
        card(
            "What the best of one costs on another",
            h.Div(h.P("Computing …", className="note"), id="cmp-cross", **{"aria-live": "polite"}),
            note="Every configuration evaluated live with the sizes, platform and rules of every run, and of the "
            "platforms and revisions that were added.",
            actions=[_csv("cross")],
        ),
        card(
            "One for all",
            h.Div(
                choice("cmp-method", "Candidates", [
                    {"label": "in common, stored times", "value": STORED},
                    {"label": "the fastest, evaluated everywhere", "value": EVALUATED},
                ], EVALUATED if live else method, disabled=live),
                className="controls",
            ),
            h.Div(h.P("Computing …", className="note"), id="cmp-good", **{"aria-live": "polite"}),
            graph("cmp-good-bars", "Regret of the one configuration in each setting", height=240),
            note="The configuration whose largest loss against the best of each setting is least.",
            actions=[_csv("good")],
        ),
        card(
            "Trade-offs",
            graph("cmp-fronts", "Pareto fronts of time against on-chip memory of the runs", height=440),
            note="The Pareto front of each run: what nothing beats in both time and on-chip memory. Stars are the "
            "configurations above.",
            actions=[_csv("fronts")],
        ),
    ]  # fmt: skip


def _csv(what: str) -> Any:
    return button({"type": "cmp-file", "what": what}, "CSV", title="Download the data of this part")


def _runs(site: Site) -> list[dict[str, Any]]:
    return [
        {"label": f"{run.id}: {run.name}, {run.workload} on {run.platform}", "value": str(run.id)}
        for run in sorted(site.store.runs(), key=lambda run: -run.id)
    ]


def _form(site: Site, of: Compared) -> Any:
    """Which runs, and where else they are to be evaluated."""
    h = html()
    chosen = list(dict.fromkeys(str(item.run.id) for item in of.items))
    return card(
        "What is compared",
        h.Div(
            [
                _run_menu(_runs(site), chosen),
                *_platform_menus(of),
                button("cmp-go", "Show", className="button primary"),
            ],
            className="controls",
        ),
        h.Div(parts.chips(of), className="actions"),
        note=f"Up to {MOST_RUNS} runs. A further platform or pto-isa revision needs no run: the configurations are "
        "evaluated there.",
    )  # fmt: skip


def _run_menu(options: list[dict[str, Any]], chosen: list[str]) -> Any:
    found = choice("cmp-runs", "Runs", options, chosen, multi=True, placeholder="Choose runs")
    found.style = {"flex": "1 1 320px"}
    return found


def _platform_menus(of: Compared) -> list[Any]:
    from cost_models.platform import platform_names

    none = {"label": "no further one", "value": ""}
    first = of.items[0].run
    return [
        choice("cmp-platform", "Also on platform", [none, *platform_names()], ""),
        choice("cmp-rules", "with pto-isa revision", rule_options(""), OWN_RULES),
        # where the revision is to change alone
        html().Div(first.platform, id="cmp-first", hidden=True),
    ]


def rule_options(platform: str) -> list[dict[str, str]]:
    """The rule sets of a platform's family, each with its revisions; of both families where none is chosen."""
    from cost_models.platform import load_platform, platform_names
    from pto_tune.rule_sets import rule_sets

    known = platform in platform_names()
    families = [load_platform(platform).family] if known else ["a2a3", "a5"]
    own = {"label": "as the run, or the default", "value": OWN_RULES}
    return [
        own,
        *(
            {"label": f"{r.name}: {'; '.join(map(str, r.revisions))}", "value": r.name}
            for family in families
            for r in rule_sets(family)
        ),
    ]


def _nothing(site: Site) -> list[Any]:
    """What to do where nothing is chosen."""
    h = html()
    options = _runs(site)
    if not options:
        return [card("Nothing to compare", empty("There are no runs yet.", link("What to do first", "/")))]
    return [
        card(
            "Choose what to compare",
            empty("Choose two or more runs here, or tick them on the page of all runs. Two configurations of one run "
                  "are compared from a configuration's page."),
            h.Div([_run_menu(options, []), button("cmp-go", "Compare", className="button primary")],
                  className="controls"),
            # the form's other fields, with nothing in them
            h.Div([choice("cmp-platform", "Platform", [""], ""), choice("cmp-rules", "Revision", [""], ""),
                   h.Div("", id="cmp-first")], hidden=True),
            h.P(link("All runs", "/"), className="note"),
        )
    ]  # fmt: skip


PAGE = Page("/compare", "Compare", layout, callbacks, nav="Compare")
