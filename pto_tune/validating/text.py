"""A report as the cells of tables, and as the Markdown that the README holds."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from pto_tune.validating.leading_text import LEADING_TITLES, explanation, leading_rows
from pto_tune.validating.limits import NOT_COVERED, Result
from pto_tune.validating.report import ALL_TABLES, Report
from pto_tune.validating.summary import Errors, Summary

NOTHING = "-"
Rows = list[list[str]]

SUMMARY_TITLES = ["table", "cases", "median", "90 %", "worst", "tau", "recall", "regret", "shipped", "fitted"]
LIMIT_TITLES = ["limit", "cases (fitted)", "at most", "is", "met", "shipped", "not fitted", "met as shipped"]
CASE_TITLES = ["case", "used", "quantity", "measured", "predicted", "error", "shipped", "verdict", "bound"]
_WORDS = {
    "median": "median error",
    "worst": "worst error",
    "difference": "largest difference",
    "tau": "Kendall's tau",
    "quotient": "quotient",
}


def percent(share: float, sign: bool = False) -> str:
    """A share as per cent with one digit below 10; a dash where there is none."""
    if not isfinite(share):
        return NOTHING
    digits = 1 if abs(share) < 0.0995 else 0
    return f"{100 * share:{'+' if sign else ''}.{digits}f} %"


def _number(value: float) -> str:
    return f"{value:.2f}" if isfinite(value) else NOTHING


def _count(n: int) -> str:
    return str(n) if n else NOTHING


def _worst(e: Errors) -> str:
    return NOTHING if e.worst is None else f"{percent(e.worst.error, sign=True)} ({e.worst.case.id})"


def summary_rows(report: Report) -> Rows:
    """Times by table (`SUMMARY_TITLES`), those of all tables last."""
    return [_summary_row(s) for s in (*report.tables, report.overall)]


def _summary_row(s: Summary) -> list[str]:
    return [
        s.table,
        _count(s.times.n),
        percent(s.times.median),
        percent(s.times.p90),
        _worst(s.times),
        _number(s.tau),
        percent(s.recall),
        percent(s.regret),
        _median(s.shipped),
        _median(s.fitted),
    ]


def _median(e: Errors) -> str:
    return f"{percent(e.median)} ({e.n})" if e.n else NOTHING


def limit_rows(results: Sequence[Result]) -> Rows:
    """Limits (`LIMIT_TITLES`) and whether they are met."""
    rows = []
    for r in results:
        limit = r.limit
        show = _number if limit.statistic in ("tau", "quotient", "difference") else percent
        if limit.statistic == "tau":
            bound = f"at least {limit.low:g}"
        elif limit.statistic == "quotient":
            bound = f"{limit.low:.1f} to {limit.high:.1f}"
        else:
            bound = show(limit.high)
        cases = f"{r.n} ({r.fitted})" if r.fitted else str(r.n)
        name = f"{limit.name}: {_WORDS[limit.statistic]}" if limit.statistic != "quotient" else limit.name
        met, met_as_shipped = ("yes" if there else "no" for there in (r.met, r.met_as_shipped))
        others = show(r.unfitted) if r.fitted else NOTHING
        rows.append([name, cases, bound, show(r.unseen), met, show(r.value), others, met_as_shipped])
    return rows


def case_rows(report: Report) -> Rows:
    """Every case (`CASE_TITLES`); times in microseconds, shares as they are. Predicted with numbers that never saw the
    table, and the error of the numbers as they are beside it."""
    rows = []
    for shipped, o in zip(report.outcomes, report.unseen, strict=True):
        c = o.case
        share = c.quantity == "share"
        rows.append(
            [
                c.name,
                c.use,
                " ".join(filter(None, (c.quantity, c.pipe))),
                *(f"{v:.3f}" if share or v < 100 else f"{v:,.1f}" for v in (c.measured, o.predicted)),
                *(f"{e:+.3f}" if share else percent(e, sign=True) for e in (o.error, shipped.error)),
                o.verdict,
                o.bound or NOTHING,
            ]
        )
    return rows


def left_out(report: Report) -> str:
    """What of the tables was not run, a sentence; empty where all was."""
    parts = []
    if report.excluded:
        parts.append(f"{len(report.excluded)} rows are left out, since no workload expresses them or they contradict")
    if report.slow:
        parts.append(f"{len(report.slow)} take long (--all)")
    return "; ".join(parts) + "." if parts else ""


def gap_lines(results: Sequence[Result]) -> list[str]:
    """Of limits that are missed: what the board does that the model does not, where the published rows say it."""
    return [f"{r.limit.name}: {r.limit.gap}." for r in results if r.limit.gap and not r.met]


def markdown(report: Report) -> str:
    """The summary by table and the limits, as Markdown tables, with what stands in their columns."""
    summaries = _table(SUMMARY_TITLES, summary_rows(report), left=("table", "worst"))
    limits = _table(LIMIT_TITLES, limit_rows(report.limits), left=("limit", "met", "met as shipped"))
    missing = "; ".join(f"{name} ({why})" for name, why in NOT_COVERED)
    return "\n".join(
        [
            "Times of published runs and of pipes in them, predicted by what they were timed by; errors are predicted "
            "over measured, less one.",
            "All cases of a table are predicted with numbers that never saw it: fitted again without the table, or as "
            "published where only it tells them (where nothing else is published, cases that were fitted to do not "
            "count).",
            "Beside that stand medians with the numbers as they are shipped, and of how many cases: `shipped` of those "
            "that no number was fitted to,",
            "`fitted` of the others, which prove nothing. tau: Kendall's, mean of the series; recall: how often the "
            "best configuration is in the predicted",
            "best third; regret: what the one that is predicted best takes longer.",
            left_out(report),
            "",
            *summaries,
            "",
            "What is aimed at, and where it is missed:",
            "",
            *limits,
            *(["", *(f"- {line}" for line in gaps)] if (gaps := gap_lines(report.limits)) else []),
            *(["", f"Without a workload: {missing}."] if missing else []),
            *_leading(report),
        ]
    )


def _leading(report: Report) -> list[str]:
    """The numbers that could explain the errors, where they were asked for."""
    if report.leading is None:
        return []
    rows = _table(LEADING_TITLES, leading_rows(report.leading), left=("table", "number", "kind", "unit", "range"))
    return ["", "What could explain the errors:", "", explanation(report.leading), "", *rows]


def _table(titles: Sequence[str], rows: Rows, left: Sequence[str]) -> list[str]:
    rule = ["---" if title in left else "--:" for title in titles]
    bold = [[f"**{cell}**" if row[0] == ALL_TABLES and cell != NOTHING else cell for cell in row] for row in rows]
    return [f"| {' | '.join(cells)} |" for cells in (titles, rule, *bold)]
