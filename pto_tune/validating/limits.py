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
    gap: str = ""
    """What the board does that the model does not, where the limit is missed, as far as the published rows say it."""


@dataclass(frozen=True)
class Result:
    """A limit with what it comes to, of `n` cases, of which `fitted` are such that a number was fitted to.

    `unseen` is of all of them, predicted with numbers that never saw the table; `value` of all of them with the numbers
    as they are, `unfitted` of those that none was fitted to. NaN where there are none, or one without a prediction.
    """

    limit: Limit
    unseen: float
    value: float
    unfitted: float
    n: int
    fitted: int

    @property
    def met(self) -> bool:
        """By numbers that never saw the table."""
        return self._holds(self.unseen)

    @property
    def met_as_shipped(self) -> bool:
        """By the numbers as they are, which were fitted to some of the cases."""
        return self._holds(self.value)

    def _holds(self, value: float) -> bool:
        return isfinite(value) and self.limit.low <= value <= self.limit.high


def _most(name: str, table: str, statistic: Statistic, high: float, *series: str, gap: str = "") -> Limit:
    return Limit(name, table, statistic, 0.0, high, series, gap=gap)


_FA = ("manual kernel", "A3, event")
_GEMM = ("manual kernel", "vendor kernel 8192, pipe")
_RENDEZVOUS = (
    "with one tile in flight, as the headers of April 2026 have it, QK still runs a tile ahead of PV, and each free "
    "signal has left before its push: the order of the calls serialises nothing, whatever a flag or the vector takes "
    "within what other rows allow (1.00; 1.35 with flags of 3000 cycles). The board loses 2 us a tile beside that. "
    "Rendezvous sends 9 signals a tile instead of 4, 51 a us over 24 cores, about as many as the streams of "
    "cross_core_stream (50 to 53): signals may be limited over the whole chip, where the model has a latency each"
)
_UNIT_FLAG = (
    "with the unit flag the counter of the fixpipe seems to run from the issue of a drain, which then waits in the "
    "pipe for its product: 3480 to 5910 cycles a tile on 910B by how far a kernel issues ahead, where the same drain "
    "without the flag takes 970 to 1030. The model counts the drain alone; the kernels' times are within the limit"
)
_SCALES = (
    "the published pipe times of 6144 leave the loads of the scales almost no time, and at 2048 every pipe is 5 to "
    "19 % slower a step than at 6144; tiles are published for 6144 only"
)
LIMITS = (
    _most("flash_attention: manual kernel and A3 event times", "flash_attention", "median", 0.10, *_FA),
    _most("flash_attention: manual kernel and A3 event times", "flash_attention", "worst", 0.25, *_FA),
    _most("gemm, A2/A3: four sizes and pipe times of 8192", "gemm", "median", 0.08, *_GEMM),
    _most("gemm, A2/A3: four sizes and pipe times of 8192", "gemm", "worst", 0.15, *_GEMM, gap=_UNIT_FLAG),
    _most("gemm, A2/A3: shares of the pipes", "gemm", "difference", 0.08, "shares of"),
    _most("DataCopy, A2/A3", "datacopy", "median", 0.10, "a2,"),
    _most("DataCopy, 950", "datacopy", "median", 0.10, "a5,"),
    _most("cross_core_stream", "cross_core_stream", "median", 0.15),
    _most("tget", "tget", "median", 0.15),
    _most("link_hixl, by size and direction", "link_hixl", "median", 0.15),
    _most("gemm_ar", "gemm_ar", "median", 0.15),
    _most("allgather_gemm", "allgather_gemm", "median", 0.15),
    _most("matmul_mxfp8, 950", "matmul_mxfp8", "median", 0.10, gap=_SCALES),
    Limit("matmul ladders", "matmul_ladder", "tau", 0.9, 1.0),
    Limit("flash_attention ladder, 950", "flash_attention_ladder", "tau", 0.9, 1.0),
    Limit(
        "spmd_paged_attention: rendezvous over no reverse dependency", "spmd_paged_attention", "quotient", 1.7, 2.0,
        cases=("rendezvous", "no-reverse-dependency"), gap=_RENDEZVOUS,
    ),
)  # fmt: skip

NOT_COVERED: tuple[tuple[str, str], ...] = ()
"""Limits on tables that no built-in workload covers, and what is missing."""


def results(unseen: Sequence[Outcome], shipped: Sequence[Outcome] | None = None) -> list[Result]:
    """Every limit on a table of which there are outcomes; arguments as of `summary.summarise`."""
    tables = {o.case.table for o in unseen}
    as_they_are = unseen if shipped is None else shipped
    return [_result(limit, unseen, as_they_are) for limit in LIMITS if limit.table in tables]


def _result(limit: Limit, unseen: Sequence[Outcome], shipped: Sequence[Outcome]) -> Result:
    chosen = _chosen(limit, shipped)
    others = [o for o in chosen if o.case.use != "fit"]
    blind, value, unfitted = (_value(limit, found) for found in (_chosen(limit, unseen), chosen, others))
    return Result(limit, blind, value, unfitted, len(chosen), len(chosen) - len(others))


def _chosen(limit: Limit, outcomes: Sequence[Outcome]) -> list[Outcome]:
    return [
        o
        for o in outcomes
        if o.case.table == limit.table
        and (not limit.series or o.case.series.startswith(limit.series))
        and (not limit.cases or o.case.id in limit.cases)
        and (o.case.quantity == "share") == (limit.statistic == "difference")
        and (o.case.use != "order" or limit.statistic == "tau")
    ]


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
