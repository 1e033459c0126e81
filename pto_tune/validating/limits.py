"""How near the predictions are meant to be: limits on tables, and whether they are met."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import Literal

from pto_tune.validating.running import Outcome
from pto_tune.validating.statistics import kendall, quantile

Statistic = Literal["median", "worst", "difference", "tau", "quotient"]
"""Median and largest size of the relative errors of times; largest size of the differences of shares; least Kendall's
tau of the series; quotient of the first case over the second."""


@dataclass(frozen=True)
class Limit:
    """A statistic of the cases of `table` whose series begins with one of `series` (none: all), and its bounds."""

    name: str
    table: str
    statistic: Statistic
    low: float
    high: float
    series: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    """Ids: of the two cases of a quotient."""


@dataclass(frozen=True)
class Result:
    """A limit with what it comes to, of `n` cases, of which `fitted` are such that a number was fitted to.

    `value` is of all of them, `unfitted` of the others; NaN where there are none, or one without a prediction.
    """

    limit: Limit
    value: float
    unfitted: float
    n: int
    fitted: int

    @property
    def met(self) -> bool:
        return isfinite(self.value) and self.limit.low <= self.value <= self.limit.high


def _most(name: str, table: str, statistic: Statistic, high: float, *series: str) -> Limit:
    return Limit(name, table, statistic, 0.0, high, series)


_FA = ("manual kernel", "A3, event")
_GEMM = ("manual kernel", "vendor kernel 8192, pipe")
LIMITS = (
    _most("flash_attention: manual kernel and A3 event times", "flash_attention", "median", 0.10, *_FA),
    _most("flash_attention: manual kernel and A3 event times", "flash_attention", "worst", 0.25, *_FA),
    _most("gemm, A2/A3: four sizes and pipe times of 8192", "gemm", "median", 0.08, *_GEMM),
    _most("gemm, A2/A3: four sizes and pipe times of 8192", "gemm", "worst", 0.15, *_GEMM),
    _most("gemm, A2/A3: shares of the pipes", "gemm", "difference", 0.08, "shares of"),
    _most("DataCopy, A2/A3", "datacopy", "median", 0.10, "a2,"),
    _most("DataCopy, 950", "datacopy", "median", 0.10, "a5,"),
    _most("cross_core_stream", "cross_core_stream", "median", 0.15),
    _most("tget", "tget", "median", 0.15),
    _most("gemm_ar", "gemm_ar", "median", 0.15),
    _most("allgather_gemm", "allgather_gemm", "median", 0.15),
    _most("matmul_mxfp8, 950", "matmul_mxfp8", "median", 0.10),
    Limit("matmul ladders", "matmul_ladder", "tau", 0.9, 1.0),
    Limit("flash_attention ladder, 950", "flash_attention_ladder", "tau", 0.9, 1.0),
    Limit(
        "spmd_paged_attention: rendezvous over no reverse dependency", "spmd_paged_attention", "quotient", 1.7, 2.0,
        cases=("rendezvous", "no-reverse-dependency"),
    ),
)  # fmt: skip

NOT_COVERED = (("link_hixl, by size and direction", "no workload keeps several copies between two ranks under way"),)
"""Limits on tables that no built-in workload covers, and what is missing."""


def results(outcomes: Sequence[Outcome]) -> list[Result]:
    """Every limit on a table of which there are outcomes."""
    tables = {o.case.table for o in outcomes}
    return [_result(limit, outcomes) for limit in LIMITS if limit.table in tables]


def _result(limit: Limit, outcomes: Sequence[Outcome]) -> Result:
    chosen = [
        o
        for o in outcomes
        if o.case.table == limit.table
        and (not limit.series or o.case.series.startswith(limit.series))
        and (not limit.cases or o.case.id in limit.cases)
        and (o.case.quantity == "share") == (limit.statistic == "difference")
        and (o.case.use != "order" or limit.statistic == "tau")
    ]
    others = [o for o in chosen if o.case.use != "fit"]
    return Result(limit, _value(limit, chosen), _value(limit, others), len(chosen), len(chosen) - len(others))


def _value(limit: Limit, chosen: Sequence[Outcome]) -> float:
    if not chosen or not all(isfinite(o.predicted) for o in chosen):
        return nan
    if limit.statistic == "quotient":
        by_id = {o.case.id: o.predicted for o in chosen}
        over, under = (by_id.get(name, nan) for name in limit.cases)
        return over / under
    if limit.statistic == "tau":
        series = dict.fromkeys(o.case.series for o in chosen)
        taus = [_tau([o for o in chosen if o.case.series == name]) for name in series]
        return min(taus) if all(map(isfinite, taus)) else nan
    return quantile([abs(o.error) for o in chosen], 0.5 if limit.statistic == "median" else 1.0)


def _tau(outcomes: Sequence[Outcome]) -> float:
    return kendall([o.case.measured for o in outcomes], [o.predicted for o in outcomes])
