"""What the page of accuracy does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dashboards.figures.accuracy import coverage, errors_figure, intervals_figure
from dashboards.figures.parity import parity_data, parity_figure
from dashboards.figures.store_cases import MOST, Joined, joined
from dashboards.pages.accuracy import parts
from dashboards.pages.accuracy.work import DONE, SURE, Validation, validation
from dashboards.pages.keeping import Kept
from dashboards.site.parts import query, style_of, themed
from dashboards.theme import message_figure

if TYPE_CHECKING:
    from dashboards.site.page import Callbacks
    from dashboards.site.state import Site

_kept = Kept(4)


def callbacks(on: Callbacks, site: Site) -> None:
    """Registers them."""
    from dash import ALL, Input, Output, State, ctx, no_update
    from dash.exceptions import PreventUpdate

    theme, name, stage = Input("theme", "data"), Input("acc-table", "value"), Input("acc-stage", "data")

    @on(
        Output("acc-progress", "children"),
        Output("acc-stage", "data"),
        Output("acc-poll", "disabled"),
        Input("acc-poll", "n_intervals"),
        State("acc-stage", "data"),
        prevent_initial_call=True,
    )
    def poll(_n: int | None, seen: int | None) -> tuple[Any, ...]:
        now = validation()
        return now.doing(), no_update if now.stage == seen else now.stage, now.over

    @on(
        Output("acc-body", "children"),
        Output("acc-filled", "data"),
        stage,
        State("acc-filled", "data"),
        State("acc-wanted", "data"),
        prevent_initial_call=True,
    )
    def fill(reached: int | None, filled: bool, wanted: str | None) -> tuple[Any, bool]:
        from dashboards.pages.accuracy.page import body

        if not reached or filled:
            raise PreventUpdate
        now = validation()
        return body(now, wanted or parts.ALL), now.report is not None

    @on(
        Output("acc-parity", "figure"),
        Output("acc-parity", "style"),
        Output("acc-errors", "figure"),
        Output("acc-errors", "style"),
        theme,
        name,
    )
    def draw(light: str | None, chosen: str) -> tuple[Any, ...]:
        look, now = themed(light), validation()
        if now.report is None:
            raise PreventUpdate
        parity = parity_figure(points(site, now, chosen), look)
        errors = errors_figure(now.report.tables, look)
        return parity, style_of(parity), errors, style_of(errors)

    @on(Output("acc-store", "children"), Input("acc-filled", "data"))
    def store(filled: bool) -> Any:
        if not filled:
            raise PreventUpdate
        return parts.store_words(of_store(site), site.store.count_measurements())

    @on(
        Output("acc-coverage", "children"),
        Output("acc-intervals", "figure"),
        Output("acc-intervals", "style"),
        Output("acc-intervals-note", "children"),
        theme,
        name,
        stage,
    )
    def sure(light: str | None, chosen: str, _stage: int) -> tuple[Any, ...]:
        from dashboards.pages.accuracy.page import waiting

        look, now = themed(light), validation()
        if now.intervals is None:
            figure = message_figure(look, "Not there yet." if SURE not in now.failed else "There are no intervals.")
            return waiting(now, SURE), figure, style_of(figure), ""
        own = [c for c in now.intervals.cases if chosen in (parts.ALL, c.table)]
        figure = intervals_figure(own, look)
        return (
            parts.coverage_table(now.intervals), figure, style_of(figure), parts.intervals_note(now.intervals, chosen),
        )  # fmt: skip

    @on(Output("acc-leading", "children"), name, stage)
    def lead(chosen: str, _stage: int) -> Any:
        from dashboards.pages.accuracy.page import waiting

        now = validation()
        return waiting(now, DONE) if now.leading is None else parts.leading_table(now.leading, chosen)

    @on(
        Output("acc-cases", "rowData"),
        Output({"type": "address", "page": "accuracy"}, "data"),
        Output("acc-wanted", "data"),
        name,
        prevent_initial_call=True,
    )
    def choose(chosen: str) -> tuple[Any, ...]:
        now = validation()
        if now.report is None:
            raise PreventUpdate
        return parts.records(now.report, chosen), query({"table": None if chosen == parts.ALL else chosen}), chosen

    @on(
        Output("acc-download", "data"),
        Input({"type": "acc-file", "what": ALL}, "n_clicks"),
        State("acc-table", "value"),
        prevent_initial_call=True,
    )
    def get(clicks: list[Any], chosen: str) -> Any:
        from dashboards.pages.configuration.files import text_of

        if not any(clicks) or not ctx.triggered_id:
            raise PreventUpdate
        what = str(ctx.triggered_id["what"])
        text = text_of(lines_of(site, validation(), what, chosen))
        return {"content": text, "filename": f"accuracy-{what}.csv", "type": "text/csv"}


def points(site: Site, now: Validation, chosen: str) -> Any:
    """Points of the published cases of a table, or of all with the measurements of the store."""
    assert now.report is not None
    unseen = parts.chosen(parts.unseen_of(now.report), chosen)
    found = parity_data(unseen, parts.chosen(now.report.outcomes, chosen))
    return [*found, *(parity_data(of_store(site).outcomes) if chosen == parts.ALL else [])]


def of_store(site: Site) -> Joined:
    """The measurements of the store with predictions, anew where there are more of them."""
    count = site.store.count_measurements()
    found: Joined = _kept.get((site.store.url, count), lambda: joined(site.store.measurements(limit=MOST)))
    return found


def lines_of(site: Site, now: Validation, what: str, chosen: str) -> list[Sequence[Any]]:
    """Titles and lines of a part of the page. ValueError where it is not there (yet)."""
    from pto_tune.validating import leading_text, text

    if now.report is None:
        raise ValueError("the predictions are not there yet: wait for them, then download")
    if what == "cases":
        found = parts.records(now.report, chosen)
        titles = list(found[0]) if found else [c["field"] for c in parts.COLUMNS]
        return [titles, *([row[t] for t in titles] for row in found)]
    if what == "summary":
        return [text.SUMMARY_TITLES, *text.summary_rows(now.report)]
    if what == "limits":
        return [text.LIMIT_TITLES, *text.limit_rows(now.report.limits)]
    if what == "measurements":
        titles = ["measurement", "workload", "platform", "timing", "measured_us", "predicted_us", "error", "source"]
        return [titles, *(
            (o.case.id, o.case.workload, o.case.platform, o.case.timing, o.case.measured, o.predicted, o.error,
             o.case.source) for o in of_store(site).outcomes)]  # fmt: skip
    if what == "intervals" and now.intervals is not None:
        titles = ["case", "measured_us", "predicted_us", "low_us", "high_us", "inside"]
        return [titles, *(
            (c.name, c.measured_us, c.predicted_us, c.low_us, c.high_us, int(c.inside)) for c in now.intervals.cases
            if chosen in (parts.ALL, c.table))]  # fmt: skip
    if what == "coverage" and now.intervals is not None:
        return [("table", "cases", "inside"), *((c.table, c.cases, c.inside) for c in coverage(now.intervals.cases))]
    if what == "leading" and now.leading is not None:
        return [leading_text.LEADING_TITLES, *leading_text.leading_rows(now.leading)]
    raise ValueError(f"there is no part {what!r} to download (yet)")
