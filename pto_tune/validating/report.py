"""The published cases of some tables and platforms, predicted and summed up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pto_tune.published.cases import Case, load_table, table_names
from pto_tune.published.left_out import tables_fitted_to
from pto_tune.validating.leading import Leading, leading
from pto_tune.validating.limits import Result, results
from pto_tune.validating.running import Outcome, predict, predict_unseen
from pto_tune.validating.summary import Errors, Summary, summarise

if TYPE_CHECKING:
    from cost_models.platform import Platform

ALL_TABLES = "all tables"


@dataclass(frozen=True)
class Report:
    """Outcomes of the cases that were run, summaries by table and of all, and the limits on these tables.

    `outcomes` are predicted with the platforms as they are; `unseen` are the same cases, in the same order, predicted
    with numbers that never saw the table of each (leave-one-table-out). Summaries and limits are of these, without the
    cases that a number was fitted to which no published figure outside of their table tells.

    `excluded` were left out for a reason of their own, `slow` because they take long. `leading`: the numbers that could
    explain the errors, None where they were not asked for.
    """

    outcomes: tuple[Outcome, ...]
    unseen: tuple[Outcome, ...]
    tables: tuple[Summary, ...]
    overall: Summary
    limits: tuple[Result, ...]
    excluded: tuple[Case, ...]
    slow: tuple[Case, ...]
    leading: Leading | None = None


def validate(
    tables: Sequence[str] = (), platform: str | Platform | None = None, *, slow: bool = False, lead: bool = False
) -> Report:
    """Predict the published cases and sum them up.

    tables: which ones (none: all). platform: the cases of one built-in platform alone, by its name; or a platform of
    one's own, which takes the place of the built-in one of the same SoC. slow: also those that take long.
    lead: also the numbers that could explain the errors, which takes several times as long.

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
    unseen = predict_unseen(outcomes, stands_in)
    told = tables_fitted_to()
    blind = [o for o in unseen if o.case.use != "fit" or o.case.table in told]
    return Report(
        tuple(outcomes),
        tuple(unseen),
        tuple(
            summarise(name, *([o for o in found if o.case.table == name] for found in (blind, outcomes)))
            for name in dict.fromkeys(o.case.table for o in outcomes)
        ),
        summarise(ALL_TABLES, blind, outcomes),
        tuple(results(blind, outcomes)),
        tuple(excluded),
        tuple(late),
        leading(outcomes, stands_in, slow=slow) if lead else None,
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
    """The report as plain data, ready for JSON; what there is not is NaN.

    What is not said to be as shipped is of numbers that never saw the table.
    """
    return {
        "overall": _summary(report.overall),
        "tables": [_summary(s) for s in report.tables],
        "limits": [
            {
                "name": r.limit.name,
                "statistic": r.limit.statistic,
                "low": r.limit.low,
                "high": r.limit.high,
                "value": r.unseen,
                "met": r.met,
                "value_as_shipped": r.value,
                "value_as_shipped_without_fitted": r.unfitted,
                "met_as_shipped": r.met_as_shipped,
                "cases": r.n,
                "fitted": r.fitted,
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
                "predicted": u.predicted,
                "error": u.error,
                "predicted_as_shipped": o.predicted,
                "error_as_shipped": o.error,
                "verdict": o.verdict,
                "reason": o.reason,
                "bound": o.bound,
                "source": o.case.source,
                "note": o.case.note,
            }
            for o, u in zip(report.outcomes, report.unseen, strict=True)
        ],
        "excluded": [{"case": c.name, "why": c.why} for c in report.excluded],
        "slow": [c.name for c in report.slow],
        "leading": None if report.leading is None else report.leading.as_plain(),
    }


def _summary(s: Summary) -> dict[str, Any]:
    return {
        "table": s.table,
        "times": _errors(s.times),
        "shares": _errors(s.shares),
        "as_shipped_not_fitted": _errors(s.shipped),
        "as_shipped_fitted": _errors(s.fitted),
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
