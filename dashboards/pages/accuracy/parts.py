"""Tables and words of the page of accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any

from dashboards.figures.accuracy import MOST_DRAWN, Intervals, coverage
from dashboards.pages.wide import wide_table
from dashboards.site.parts import empty, html
from dashboards.text import percent

if TYPE_CHECKING:
    from dashboards.figures.store_cases import Joined
    from pto_tune.validating.leading import Leading
    from pto_tune.validating.report import Report
    from pto_tune.validating.running import Outcome

ALL = "all"
_NAMED = 8


def unseen_of(report: Report) -> tuple[Outcome, ...]:
    """The cases as predicted with numbers that never saw their table."""
    found: tuple[Outcome, ...] = getattr(report, "unseen", report.outcomes)
    return found


def chosen(outcomes: Sequence[Outcome], name: str) -> list[Outcome]:
    """The outcomes of one table, or of all."""
    return [o for o in outcomes if name in (ALL, o.case.table)]


def tables_of(report: Report) -> list[str]:
    """Names of the tables with cases."""
    return list(dict.fromkeys(o.case.table for o in report.outcomes))


def records(report: Report, name: str) -> list[dict[str, Any]]:
    """A row a case for the table of all cases: texts and numbers."""
    out = []
    for o, shipped in zip(unseen_of(report), report.outcomes, strict=True):
        c = o.case
        if name not in (ALL, c.table):
            continue
        share = c.quantity == "share"
        out.append(
            {
                "case": c.name,
                "used": c.use,
                "quantity": " ".join(filter(None, (c.quantity, c.pipe))) + (" (ratio)" if share else " (µs)"),
                "measured": _number(c.measured),
                "predicted": _number(o.predicted),
                "error": _number(o.error if share else 100 * o.error),
                "shipped": _number(shipped.error if share else 100 * shipped.error),
                "verdict": o.verdict,
                "bound": o.bound,
                "workload": c.workload,
                "platform": c.platform,
                "source": c.source,
            }
        )
    return out


def _number(value: float) -> float | None:
    return float(f"{value:.5g}") if isfinite(value) else None


COLUMNS: tuple[dict[str, Any], ...] = (
    {"field": "case", "headerName": "Case", "width": 290, "tooltipField": "case"},
    {"field": "used", "headerName": "Used", "width": 110},
    {"field": "quantity", "headerName": "Quantity", "width": 150},
    *(
        {"field": name, "headerName": title, "type": "rightAligned", "filter": "agNumberColumnFilter", "width": 125}
        for name, title in (("measured", "Measured"), ("predicted", "Predicted"), ("error", "Error (%, or diff.)"),
                            ("shipped", "Shipped (%, or diff.)"))
    ),
    {"field": "bound", "headerName": "Bound by", "width": 130},
    {"field": "platform", "headerName": "Platform", "width": 130},
    {"field": "source", "headerName": "Source", "width": 420, "tooltipField": "source"},
)  # fmt: skip


def summary_table(report: Report) -> Any:
    """Errors by table, with the headings of the command."""
    from pto_tune.validating import text

    right = [title for title in text.SUMMARY_TITLES if title not in ("table", "worst")]
    return wide_table(text.SUMMARY_TITLES, text.summary_rows(report), right, label="errors by table")


def limit_table(report: Report) -> Any:
    """What is aimed at, and whether it is met."""
    from pto_tune.validating import text

    return wide_table(text.LIMIT_TITLES, text.limit_rows(report.limits), label="what is aimed at")


def coverage_table(found: Intervals) -> Any:
    """How often what was measured lies in the interval."""
    rows = [
        (c.table, str(c.cases), str(c.inside), percent(c.inside, c.cases), f"{100 * c.width:.0f} %")
        for c in coverage(found.cases)
        if c.cases
    ]
    titles = ("Table", "Cases", "Measured inside", "Share", "Median width over the prediction")
    return wide_table(titles, rows, titles[1:], label="intervals by table")


def intervals_note(found: Intervals, name: str) -> list[Any]:
    """What of the intervals is drawn and what is not there."""
    h = html()
    here = [c for c in found.cases if name in (ALL, c.table)]
    out = []
    if len(here) > MOST_DRAWN:
        out.append(f"{MOST_DRAWN} of {len(here)} cases are drawn, evenly spread over the order of their errors.")
    late = [n for n in found.left_out if name == ALL or n.startswith(f"{name}/")]
    if late:
        out.append(f"Without intervals, as those take long to sample: {_some(late)}.")
    return [h.P(text, className="note") for text in out]


def leading_table(found: Leading, name: str) -> list[Any]:
    """Which numbers would close most of the error of a table, or of each."""
    from pto_tune.validating import leading_text as text

    rows = [row for row in text.leading_rows(found) if name in (ALL, row[0])]
    note = html().P(text.explanation(found), className="note")
    if not rows:
        return [empty("No case of this table has an error of a time to explain."), note]
    return [wide_table(text.LEADING_TITLES, rows, text.LEADING_TITLES[3:6], label="which numbers decide"), note]


def store_words(found: Joined, total: int) -> Any:
    """How the measurements of the store compare, and which have no prediction."""
    h = html()
    if not total:
        return empty(
            "The store holds no measurements yet. Those that are imported with pto-tune measure import stand here "
            "beside their predictions."
        )
    errors = sorted(abs(o.error) for o in found.outcomes)
    out = [f"{len(found.outcomes)} of {total} measurements of this store have a prediction."]
    if errors:
        out.append(f"Median error {100 * errors[len(errors) // 2]:.1f} %, worst {100 * errors[-1]:.1f} %.")
    left = [h.Li(sentence) for sentence in found.left_out[:_NAMED]]
    more = len(found.left_out) - len(left)
    return h.Div([
        h.P(" ".join(out)),
        *([h.P("Without a prediction:", className="note"), h.Ul(left, className="note")] if left else []),
        *([h.P(f"and {more} more.", className="note")] if more > 0 else []),
    ])  # fmt: skip


def _some(names: Sequence[str]) -> str:
    more = len(names) - _NAMED
    return ", ".join(names[:_NAMED]) + (f" and {more} more" if more > 0 else "")
