"""The page of `pto-tune trace --html`: both timelines, one above the other, and how they differ by pipe."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from dashboards.figures.measured import both_timelines
from dashboards.figures.timeline import window
from dashboards.figures.timeline_drawing import legend, timeline_figure
from dashboards.rendering import environment
from dashboards.report.fitting import difference, script_json
from dashboards.theme import DARK, LIGHT

if TYPE_CHECKING:
    from typing import Any

    from dashboards.figures.timeline import TimelineData
    from pto_tune.explaining.explanation import Explanation
    from pto_tune.tracing.comparing import Comparison


def render_trace(comparison: Comparison, explanation: Explanation, file: str, title: str) -> str:
    """The page as text: it opens offline and asks no host for anything. `file` and `title` are shown as they are."""
    from markupsafe import Markup
    from plotly.offline import get_plotlyjs

    from pto_tune import __version__
    from pto_tune.tracing.text import sentences, table

    both = both_timelines(comparison, explanation)
    drawn = {} if both is None else {"run": _figure(both[0]), "prediction": _figure(both[1])}
    titles, rows = table(comparison)
    early = 0.0 if comparison.measured is None else -float(comparison.measured.start.min()) / comparison.clock_mhz
    return (
        environment()
        .get_template("trace.html.j2")
        .render(
            title=title,
            file=file,
            sentences=sentences(comparison),
            # nothing is drawn before 0
            moved=f"In the figures everything is {early:.3f} µs later than in the table." if early > 0 else "",
            titles=titles,
            rows=rows,
            legends={key: entries for key, (_, entries) in drawn.items()},
            version=__version__,
            plotly=Markup(get_plotlyjs()),
            figures=Markup(script_json({key: figure for key, (figure, _) in drawn.items()})),
        )
    )


def _figure(data: TimelineData) -> tuple[dict[str, Any], list[tuple[str, str, str, str]]]:
    w = window(data)
    light, dark = (json.loads(timeline_figure(w, theme).to_json()) for theme in (LIGHT, DARK))
    pairs = zip(legend(w, LIGHT), legend(w, DARK), strict=True)
    entries = [(name, colour, other, style) for (name, colour, style), (_, other, _) in pairs]
    return {"light": light, "dark": difference(light, dark)}, entries
