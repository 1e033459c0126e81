"""What the page that compares does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dashboards.figures.causes import CAUSES, CausesData, causes_figure
from dashboards.figures.causes import legend as causes_legend
from dashboards.figures.one_for_all import one_for_all_figure
from dashboards.figures.tradeoffs import Mark, front_of, fronts_figure, times_figure
from dashboards.pages.compare import parts
from dashboards.pages.compare.live import STORED, cross_of, good_of
from dashboards.pages.compare.work import Compared, compared, item_causes, wish
from dashboards.pages.configuration.parts import legend
from dashboards.site.page import address
from dashboards.site.parts import html, query, style_of, themed
from dashboards.theme import Theme, message_figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dashboards.site.page import Callbacks
    from dashboards.site.state import Site

_LABEL = 26


def callbacks(on: Callbacks, site: Site) -> None:
    """Registers them."""
    from dash import ALL, Input, Output, State, ctx
    from dash.exceptions import PreventUpdate

    theme, wanted = Input("theme", "data"), State("cmp-wish", "data")

    @on(
        Output("url", "href", allow_duplicate=True),
        Input("cmp-go", "n_clicks"),
        State("cmp-runs", "value"),
        State("cmp-platform", "value"),
        State("cmp-rules", "value"),
        State("cmp-first", "children"),
        wanted,
        prevent_initial_call=True,
    )
    def go(clicks: int | None, runs: Any, platform: str | None, rules: str | None, first: Any, now: Any) -> str:
        if not clicks:
            raise PreventUpdate
        return next_address(now or {}, runs or [], platform or "", rules or "", str(first or ""))

    @on(Output("cmp-rules", "options"), Output("cmp-rules", "value"), Input("cmp-platform", "value"),
        prevent_initial_call=True)  # fmt: skip
    def offer(platform: str | None) -> tuple[Any, str]:
        from dashboards.pages.compare.page import OWN_RULES, rule_options

        return rule_options(platform or ""), OWN_RULES

    @on(
        Output("cmp-side", "children"),
        Output({"type": "address", "page": "compare"}, "data"),
        Input("cmp-show", "value"),
        Input("cmp-method", "value"),
        wanted,
        prevent_initial_call=True,
    )
    def keep(show: str, method: str, now: Any) -> tuple[Any, dict[str, str]]:
        of = compared(site, wish(now or {}))
        own = {"show": None if show == "all" else show, "method": None if method == STORED else method}
        return parts.side_by_side(of, show == "differences"), query({**of.wish.query(), **own})

    @on(
        Output("cmp-times", "figure"),
        Output("cmp-times", "style"),
        Output("cmp-fronts", "figure"),
        Output("cmp-fronts", "style"),
        theme,
        wanted,
    )
    def draw(light: str | None, now: Any) -> tuple[Any, ...]:
        of, look = _of(site, now, light)
        times = times_figure([(i.label, i.time_us) for i in of.items], look)
        runs = [run.id for run, _, _ in of.runs]
        fronts = fronts_figure([front_of(f"{r.id}: {r.name}", v) for r, v, _ in of.runs], marks(of, runs), look)
        return times, style_of(times), fronts, style_of(fronts)

    @on(
        Output("cmp-causes", "figure"),
        Output("cmp-causes", "style"),
        Output("cmp-causes-note", "children"),
        theme,
        wanted,
    )
    def causes(light: str | None, now: Any) -> tuple[Any, ...]:
        of, look = _of(site, now, light)
        shown, left = causes_of(site, of)
        figure = causes_figure(shown, look) if shown else message_figure(look, "No times can be divided.")
        exact = all(data.exact for data in shown)
        words = [] if exact else ["Of workloads with ranks these are sums that overlap, so bars differ from times."]
        shades = [legend(causes_legend(shown, look))] if shown else []
        return figure, style_of(figure), [*shades, *(html().P(text) for text in [*words, *left])]

    @on(Output("cmp-cross", "children"), Input("cmp-wish", "data"))
    def cross(now: Any) -> Any:
        of = compared(site, wish(now or {}))
        if not any(item.position is not None for item in of.items):
            return html().P("None of the runs has an ok configuration to evaluate.", className="note")
        return [parts.cross_table(cross_of(of), of), *parts.cross_notes(of)]

    @on(
        Output("cmp-good", "children"),
        Output("cmp-good-bars", "figure"),
        Output("cmp-good-bars", "style"),
        theme,
        Input("cmp-method", "value"),
        wanted,
    )
    def good(light: str | None, method: str, now: Any) -> tuple[Any, ...]:
        of, look = _of(site, now, light)
        try:
            found = good_of(of, method)
        except ValueError as error:
            figure = message_figure(look, str(error))
            return "", figure, style_of(figure)
        figure = one_for_all_figure(found, look)
        return parts.good_words(found, of), figure, style_of(figure)

    @on(
        Output("cmp-download", "data"),
        Input({"type": "cmp-file", "what": ALL}, "n_clicks"),
        State("cmp-method", "value"),
        wanted,
        prevent_initial_call=True,
    )
    def get(clicks: list[Any], method: str, now: Any) -> Any:
        if not any(clicks) or not ctx.triggered_id:
            raise PreventUpdate
        return file_of(site, compared(site, wish(now or {})), str(ctx.triggered_id["what"]), method)


def _of(site: Site, now: Any, light: str | None) -> tuple[Compared, Theme]:
    theme = themed(light)
    return compared(site, wish(now or {})), theme


def next_address(now: Any, runs: Sequence[str], platform: str, rules: str, first: str) -> str:
    """Where the form leads: the runs that it has, chosen configurations of those, and one more platform or revision.

    A revision without a platform is meant for `first`, the platform of the first run.
    """
    old = wish(now)
    pairs = [f"{run}:{row}" for run, row in old.configurations if run in runs]
    named = {run for run, _ in old.configurations}
    also = list(old.query()["also"])
    if platform or rules:
        more = platform or first
        also.append(f"{more}:{rules}" if rules else more)
    return address("compare", runs=[r for r in runs if r not in named], configurations=pairs,
                   also=list(dict.fromkeys(also)))  # fmt: skip


def marks(of: Compared, runs: Sequence[int]) -> list[Mark]:
    """The items as stars of the fronts' figure."""
    return [
        Mark(i.label, i.time_us, float(i.view.on_chip_bytes[i.position]), runs.index(i.run.id))
        for i in of.items
        if i.position is not None
    ]


def causes_of(site: Site, of: Compared) -> tuple[list[CausesData], list[str]]:
    """Causes of every item that can be explained, and sentences on those that cannot."""
    from dashboards.pages.configuration.work import explained, stored

    return item_causes(of, lambda item: explained(stored(site, str(item.run.id), str(item.row)), {}))


def file_of(site: Site, of: Compared, what: str, method: str) -> dict[str, str]:
    """A file of one part of the page, as the browser's download takes it. ValueError where the part has no data."""
    from dashboards.pages.configuration.files import text_of

    if what == "side":
        titles = ["", *(i.label for i in of.items)]
        found = parts.csv_lines(titles, [[name, *values] for name, values in parts.lines(of)])
    elif what == "causes":
        found = parts.csv_lines(("configuration", "cause", "cycles", "us"), [
            (data.label, cause, data.by_cause[cause], data.by_cause[cause] / data.clock_mhz)
            for data in causes_of(site, of)[0] for cause in CAUSES if cause in data.by_cause
        ])  # fmt: skip
    elif what == "cross":
        found = parts.cross_lines(cross_of(of))
    elif what == "good":
        found = parts.good_lines(good_of(of, method))
    elif what == "fronts":
        rows: list[tuple[Any, ...]] = []
        for run, view, _ in of.runs:
            f = front_of(f"{run.id}: {run.name}", view)
            rows += [(f.label, int(r), float(t), float(b)) for r, t, b in
                     zip(f.rows, f.time_us, np.asarray(f.on_chip_bytes), strict=True)]  # fmt: skip
        found = parts.csv_lines(("run", "row", "time_us", "on_chip_bytes"), rows)
    else:
        raise ValueError(f"there is no part {what!r} to download")
    return {"content": text_of(found), "filename": f"compare-{what}.csv", "type": "text/csv"}
