"""What the configuration page does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dashboards.api.tracing import trace_of
from dashboards.figures.bounds import bounds_data, bounds_figure
from dashboards.figures.causes import causes_plot
from dashboards.figures.causes import legend as causes_legend
from dashboards.figures.occupancy import fifos_of
from dashboards.figures.occupancy_drawing import legend as slots_legend
from dashboards.figures.occupancy_drawing import occupancy_figure, occupancy_note
from dashboards.figures.timeline_drawing import legend as timeline_legend
from dashboards.figures.timeline_drawing import timeline_plot
from dashboards.pages.configuration import parts, text
from dashboards.pages.configuration.files import lines_of, text_of
from dashboards.pages.configuration.work import Stored, affordable, explained, format_changes, stored
from dashboards.site.parts import html, query, style_of
from dashboards.text import microseconds
from dashboards.theme import message_figure, theme_named

if TYPE_CHECKING:
    from dashboards.site.page import Callbacks
    from dashboards.site.state import Site
    from pto_tune.explaining.explanation import Explanation

    Changes = Mapping[str, int | str]
    WindowUs = Mapping[str, float] | None

STORED, CHANGED = "stored", "changed"


def callbacks(on: Callbacks, site: Site) -> None:
    """Registers them."""
    from dash import ALL, Input, Output, State, ctx, no_update, set_props
    from dash.exceptions import PreventUpdate

    at, theme, drawn_ = State("cfg-at", "data"), Input("theme", "data"), Input("cfg-drawn", "data")
    set_now = State("cfg-set", "data")
    menus = {"type": "cfg-tunable", "name": ALL}

    # One callback from the menus to the timeline: a second one behind the first would double the way to the server and
    # back, and what else there is to compute has to wait until the new timeline is drawn.
    @on(
        Output("cfg-set", "data"),
        Output(menus, "value"),
        Output(menus, "options"),
        Output("cfg-reset", "disabled"),
        Output("cfg-answer", "children"),
        Output("cfg-timeline", "figure"),
        Output("cfg-timeline", "style"),
        Output("cfg-window", "data"),
        Output("cfg-timeline-note", "children"),
        Output("cfg-drawn", "data"),
        Input(menus, "value"),
        Input("cfg-reset", "n_clicks"),
        Input("cfg-other-set", "n_clicks"),
        Input("cfg-timeline", "relayoutData"),
        Input("cfg-whole", "n_clicks"),
        Input("cfg-block", "value"),
        theme,
        State("cfg-other-name", "value"),
        State("cfg-other-value", "value"),
        State(menus, "id"),
        set_now,
        State("cfg-window", "data"),
        at,
    )
    def draw(
        values: list[Any], _reset: Any, _set: Any, moved: Any, whole: int | None, block: int | None, light: str | None,
        name: str, value: str | None, ids: list[dict[str, str]], now_set: Changes | None, shown: WindowUs, where: Any,
    ) -> tuple[Any, ...]:  # fmt: skip
        if light is None:
            raise PreventUpdate
        by = set(ctx.triggered_prop_ids or ())
        only_moved = by == {"cfg-timeline.relayoutData"}
        window_us: Any = no_update
        if only_moved:
            known, shown = text.stretch(moved)
            if not known:
                raise PreventUpdate
            window_us = shown
        elif by == {"cfg-whole.n_clicks"}:
            shown = window_us = None
        of = _stored(site, where)
        names = [id["name"] for id in ids]
        wanted = dict(zip(names, values, strict=True))
        if "cfg-reset.n_clicks" in by:
            wanted = {}
        elif "cfg-other-set.n_clicks" in by:
            wanted[name] = str(value or "")
        try:
            changes = of.changed(wanted)
            now = explained(of, changes)
        except ValueError as error:
            # what the site does with errors leaves single outputs as they are: those of the menus are lists
            set_props("notice", {"data": str(error)})
            same = [no_update] * len(names)
            return (no_update, same, same, *[no_update] * 7)
        # menus say themselves what was chosen in them
        told = by & {"cfg-reset.n_clicks", "cfg-other-set.n_clicks"}
        entries = parts.controls_values(of, changes) if told else {}
        if now.timed:
            w = text.view_of(now, shown, block)
            # a new text of the view makes the browser forget the stretch of time that it remembers
            figure = timeline_plot(w, theme_named(light), f"{where} {whole}")
            note = [text.timeline_note(now, w), parts.legend(timeline_legend(w, theme_named(light)))]
        else:
            figure = message_figure(theme_named(light), f"No timeline: {now.evaluation.reason(0)}")
            note = []
        zoomed = only_moved or by == {"cfg-whole.n_clicks"}
        return (
            changes if changes != now_set else no_update,
            [entries[n][0] if told else no_update for n in names],
            [entries[n][1] if told else no_update for n in names],
            not changes,
            no_update if zoomed else parts.answer(of, changes, now),
            figure,
            style_of(figure),
            window_us,
            note,
            no_update if zoomed else {"set": changes, "block": block},
        )

    @on(
        Output("cfg-causes", "figure"), Output("cfg-causes", "style"), Output("cfg-causes-note", "children"),
        drawn_, theme, set_now, at,
    )  # fmt: skip
    def divide(drawn: Any, light: str | None, set_: Changes | None, where: Any) -> tuple[Any, ...]:
        of, now = _now(site, where, set_, light, drawn)
        shown = text.shown_causes(of, set_ or {})
        figure = causes_plot(shown, theme_named(light))
        return figure, style_of(figure), [parts.legend(causes_legend(shown, theme_named(light))), text.causes_note(now)]

    @on(Output("cfg-wrong", "children"), drawn_, set_now, at)
    def judge(drawn: Any, set_: Changes | None, where: Any) -> Any:
        if drawn is None:
            raise PreventUpdate
        return parts.wrong(explained(_stored(site, where), set_ or {}))

    @on(
        Output("cfg-bounds", "figure"),
        Output("cfg-bounds", "style"),
        Output("cfg-bounds-note", "children"),
        Output("cfg-path", "children"),
        Output("cfg-trace", "children"),
        Output("cfg-block", "options"),
        drawn_,
        theme,
        set_now,
        at,
    )
    def more(drawn: Any, light: str | None, set_: Any, where: Any) -> tuple[Any, ...]:
        of, now = _now(site, where, set_, light, drawn)
        data = bounds_data(now)
        figure = bounds_figure(data, theme_named(light))
        return (
            figure,
            style_of(figure),
            data.sentence(),
            text.path_table(now),
            parts.trace(of, set_ or {}, now),
            text.blocks(now),
        )

    @on(
        Output("cfg-slots", "figure"),
        Output("cfg-slots", "style"),
        Output("cfg-fifo-note", "children"),
        Output("cfg-fifo", "options"),
        Output("cfg-fifo", "value"),
        drawn_,
        Input("cfg-window", "data"),
        Input("cfg-fifo", "value"),
        theme,
        set_now,
        at,
    )
    def fill(
        drawn: Any, shown: WindowUs, name: str | None, light: str | None, set_: Any, where: Any
    ) -> tuple[Any, ...]:
        _, now = _now(site, where, set_, light, drawn)
        found = {tiles.name: tiles for tiles in fifos_of(now)}
        if not found:
            figure = message_figure(theme_named(light), text.no_fifos(now))
            return figure, style_of(figure), [], [], name
        h = html()
        tiles = found.get(name or "") or next(iter(found.values()))
        mhz = now.problem.clock_mhz
        low, high = text.cycles_of(shown, mhz, tiles.end)
        figure = occupancy_figure(tiles, mhz, low, high, theme_named(light))
        note = [h.P(occupancy_note(tiles, low, high)), parts.legend(slots_legend(tiles.slot_num, theme_named(light)))]
        return figure, style_of(figure), note, list(found), tiles.name

    @on(
        Output("cfg-sure", "children"),
        Output("cfg-interval", "children"),
        Output("cfg-sure-anyway", "style"),
        drawn_,
        Input("cfg-sure-anyway", "n_clicks"),
        State("cfg-interval", "children"),
        set_now,
        at,
    )
    def sure(drawn: Any, _clicks: Any, there: Any, set_: Any, where: Any) -> tuple[Any, ...]:
        if drawn is None:
            raise PreventUpdate
        of = _stored(site, where)
        now = explained(of, set_ or {})
        h, hidden = html(), {"display": "none"}
        if not now.timed:
            return h.P("There is no time to be sure of.", className="note"), no_update, hidden
        if ctx.triggered_id != "cfg-sure-anyway" and not affordable(now):
            words = "It would take longer than some seconds, because every sample runs all ranks."
            return h.P(words, className="note"), no_update, {}
        interval = now.interval
        words = parts.interval_words(interval, float(now.evaluation.time_us[0]))
        beside: Any = no_update
        own = None if there else explained(of, {}).interval
        if own is not None:
            beside = f" ({microseconds(own['low_us'])} to {microseconds(own['high_us'])})"
        return [h.P(words), parts.leans_table(now.leans_on)], beside, hidden

    @on(Output("cfg-export", "children"), drawn_, Input("cfg-format", "value"), set_now, at)
    def export(drawn: Any, form: Any, set_: Any, where: Any) -> Any:
        if drawn is None:
            raise PreventUpdate
        of = _stored(site, where)
        return parts.export(of, set_ or {}, explained(of, set_ or {}), str(form))

    @on(
        Output("cfg-download", "data"),
        Input({"type": "cfg-file", "what": ALL}, "n_clicks"),
        set_now,
        State("cfg-window", "data"),
        State("cfg-block", "value"),
        at,
        prevent_initial_call=True,
    )
    def get(clicks: list[Any], set_: Any, shown: WindowUs, block: int | None, where: Any) -> Any:
        if not any(clicks) or not ctx.triggered_id:
            raise PreventUpdate
        return file_of(_stored(site, where), str(ctx.triggered_id["what"]), set_ or {}, shown, block)

    @on(Output("cfg-neighbours-file", "data"), Input("cfg-neighbours", "n_clicks"), at, prevent_initial_call=True)
    def get_neighbours(clicks: int | None, where: Any) -> Any:
        if not clicks:
            raise PreventUpdate
        return file_of(_stored(site, where), "neighbours", {}, None, None)

    @on(
        Output({"type": "address", "page": "configuration"}, "data"),
        Input("cfg-set", "data"),
        Input("cfg-window", "data"),
        Input("cfg-fifo", "value"),
        Input("cfg-block", "value"),
        prevent_initial_call=True,
    )
    def keep(set_: Any, shown: WindowUs, fifo: str | None, block: int | None) -> dict[str, str]:
        ends = {} if shown is None else {"from": f"{shown['from']:.4f}", "to": f"{shown['to']:.4f}"}
        return query({"set": format_changes(set_ or {}), **ends, "fifo": fifo, "block": block})


def _stored(site: Site, where: Any) -> Stored:
    return stored(site, str(where["run"]), str(where["row"]))


def _now(site: Site, where: Any, changes: Any, light: str | None, drawn: Any) -> tuple[Stored, Explanation]:
    """The configuration that is shown; nothing is done before the theme is known and the timeline is drawn."""
    from dash.exceptions import PreventUpdate

    if light is None or drawn is None:
        raise PreventUpdate
    of = _stored(site, where)
    return of, explained(of, changes or {})


def file_of(of: Stored, what: str, changes: Changes, shown: WindowUs, block: int | None) -> dict[str, str]:
    """A file for the browser: its name and content. ValueError where there is nothing to write."""
    name = f"run-{of.run.id}-row-{of.row}{'-changed' if changes else ''}-{what}"
    if what == "trace":
        content = trace_of(explained(of, changes)).decode("utf-8")
        return {"filename": f"{name}.json", "content": content, "type": "application/json"}
    both: list[tuple[str, Explanation]] = []
    if of.problem is not None and what != "neighbours":
        both = [(STORED, explained(of, {})), *([(CHANGED, explained(of, changes))] if changes else [])]
    return {
        "filename": f"{name}.csv",
        "content": text_of(lines_of(what, of, both, shown, block)),
        "type": "text/csv;charset=utf-8",
    }
