"""The page of `pto-tune validate --html`: predicted against measured times, and what they lean on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from dashboards.figures.parity import parity_data, parity_figure
from dashboards.rendering import environment
from dashboards.report.page import difference, script_json
from dashboards.theme import DARK, LIGHT

if TYPE_CHECKING:
    from pto_tune.validating.report import Report


def render_parity(report: Report) -> str:
    """The page as text: limits, summary by table, and the figure; it opens offline and asks no host for anything."""
    from markupsafe import Markup
    from plotly.offline import get_plotlyjs

    from pto_tune import __version__
    from pto_tune.validating import leading_text, text

    data = parity_data(report.unseen, report.outcomes)
    light, dark = (json.loads(parity_figure(data, theme).to_json()) for theme in (LIGHT, DARK))
    tables = [
        ("limits", "What is aimed at", text.LIMIT_TITLES, text.limit_rows(report.limits)),
        ("summary", "Errors by table", text.SUMMARY_TITLES, text.summary_rows(report)),
        ("cases", "Cases", text.CASE_TITLES, text.case_rows(report)),
    ]
    if report.leading is not None:
        rows = leading_text.leading_rows(report.leading)
        tables.insert(2, ("leading", "What could explain the errors", leading_text.LEADING_TITLES, rows))
    return (
        environment()
        .get_template("parity.html.j2")
        .render(
            tables=tables,
            left_out=text.left_out(report),
            version=__version__,
            plotly=Markup(get_plotlyjs()),
            leading=None if report.leading is None else Markup(script_json(report.leading.as_plain())),
            leading_note="" if report.leading is None else leading_text.explanation(report.leading),
            figures=Markup(script_json({"parity": {"light": light, "dark": difference(light, dark)}})),
        )
    )
