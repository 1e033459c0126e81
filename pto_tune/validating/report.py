"""The published cases of some tables and platforms, predicted and summed up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pto_tune.published.cases import Case, load_table, table_names
from pto_tune.validating.limits import Result, results
from pto_tune.validating.running import Outcome, predict
from pto_tune.validating.summary import Errors, Summary, summarise

if TYPE_CHECKING:
    from cost_models.platform import Platform

ALL_TABLES = "all tables"


@dataclass(frozen=True)
class Report:
    """Outcomes of the cases that were run, summaries by table and of all, and the limits on these tables.

    `excluded` were left out for a reason of their own, `slow` because they take long.
    """

    outcomes: tuple[Outcome, ...]
    tables: tuple[Summary, ...]
    overall: Summary
    limits: tuple[Result, ...]
    excluded: tuple[Case, ...]
    slow: tuple[Case, ...]


def validate(tables: Sequence[str] = (), platform: str | Platform | None = None, *, slow: bool = False) -> Report:
    """Predict the published cases and sum them up.

    tables: which ones (none: all). platform: the cases of one built-in platform alone, by its name; or a platform of
    one's own, which takes the place of the built-in one of the same SoC. slow: also those that take long.

    Raises:
        ValueError: an unknown table or platform, or a platform whose SoC is that of no built-in one.
    """
    found = [case for name in (tables or table_names()) for case in load_table(name)]
    stands_in: dict[str, Platform] = {}
    if platform is not None:
        name, own = _platform(platform)
        found = [case for case in found if case.platform == name]
        stands_in = {} if own is None else {name: own}
    excluded = [c for c in found if c.use == "excluded"]
    late = [c for c in found if c.slow and not slow and c.use != "excluded"]
    outcomes = predict([c for c in found if slow or not c.slow], stands_in)
    by_table: dict[str, list[Outcome]] = {}
    for o in outcomes:
        by_table.setdefault(o.case.table, []).append(o)
    return Report(
        tuple(outcomes),
        tuple(summarise(name, group) for name, group in by_table.items()),
        summarise(ALL_TABLES, outcomes),
        tuple(results(outcomes)),
        tuple(excluded),
        tuple(late),
    )


def _platform(reference: str | Platform) -> tuple[str, Platform | None]:
    """The built-in platform whose cases are meant, and what to take in its place."""
    from cost_models.platform import Platform, load_platform, platform_names

    own = reference if isinstance(reference, Platform) else load_platform(reference)
    built_in = {name: load_platform(name) for name in platform_names()}
    if built_in.get(own.name) == own:
        return own.name, None
    for name, chip in built_in.items():
        if chip.soc == own.soc:
            return name, own
    known = ", ".join(chip.soc for chip in built_in.values())
    raise ValueError(f"platform {own.name!r}: published cases are of {known}, and its soc is {own.soc!r}")


def as_record(report: Report) -> dict[str, Any]:
    """The report as plain data, ready for JSON; what there is not is NaN."""
    return {
        "overall": _summary(report.overall),
        "tables": [_summary(s) for s in report.tables],
        "limits": [
            {
                "name": r.limit.name,
                "statistic": r.limit.statistic,
                "low": r.limit.low,
                "high": r.limit.high,
                "value": r.value,
                "value_without_fitted": r.unfitted,
                "cases": r.n,
                "fitted": r.fitted,
                "met": r.met,
            }
            for r in report.limits
        ],
        "cases": [
            {
                "case": o.case.name,
                "series": o.case.series,
                "workload": o.case.workload,
                "platform": o.case.platform,
                "configuration": dict(o.case.configuration),
                "rules": o.case.rules,
                "timing": o.case.timing,
                "quantity": " ".join(filter(None, (o.case.quantity, o.case.pipe))),
                "use": o.case.use,
                "measured": o.case.measured,
                "predicted": o.predicted,
                "error": o.error,
                "verdict": o.verdict,
                "reason": o.reason,
                "bound": o.bound,
                "source": o.case.source,
                "note": o.case.note,
            }
            for o in report.outcomes
        ],
        "excluded": [{"case": c.name, "why": c.why} for c in report.excluded],
        "slow": [c.name for c in report.slow],
    }


def _summary(s: Summary) -> dict[str, Any]:
    return {
        "table": s.table,
        "times": _errors(s.times),
        "fitted": _errors(s.fitted),
        "shares": _errors(s.shares),
        "fitted_shares": _errors(s.fitted_shares),
        "ordered": s.ordered,
        "untimed": [o.case.name for o in s.untimed],
        "tau": s.tau,
        "recall": s.recall,
        "regret": s.regret,
        "series": [{"name": x.name, "cases": x.n, "tau": x.tau} for x in s.series],
        "choices": [
            {"name": g.name, "cases": g.cases, "configurations": g.choice.n, "top": g.choice.top,
             "in_top": g.choice.in_top, "regret": g.choice.regret}
            for g in s.groups
        ],
    }  # fmt: skip


def _errors(e: Errors) -> dict[str, Any]:
    worst = None if e.worst is None else {"case": e.worst.case.name, "error": e.worst.error}
    return {"cases": e.n, "median": e.median, "p90": e.p90, "worst": worst}
