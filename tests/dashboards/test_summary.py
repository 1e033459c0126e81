"""The words and the table at the head of a report."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dashboards.runview import RunView
from dashboards.summary import summary_data

MakeView = Callable[..., RunView]


def test_the_best_configurations_fastest_first(make_view: MakeView) -> None:
    table = summary_data(make_view(), top=2).table
    assert table.titles == (
        "Time (µs)", "Cycles", "Bound by", "fifo_depth", "sync_period",
        "On chip (KiB)", "UB per AIV (KiB)", "L1 (KiB)", "GM traffic", "Row",
    )  # fmt: skip
    assert table.rows == (
        ("8.000", "6,000", "AIV0.V", "8", "4", "8", "4", "4", "10 B", "13"),
        ("9.000", "7,000", "AIC.M", "4", "2", "4", "2", "2", "10 B", "11"),
    )
    assert len(table.numeric) == len(table.titles)


def test_headline_counts_and_what_never_varies(make_view: MakeView) -> None:
    summary = summary_data(make_view(candidates=9))
    assert summary.headline == "8.000 µs with fifo_depth=8, sync_period=4."
    assert summary.counts == (
        ("configurations", "6 of 9"),
        ("ok", "4 (66.7 %)"),
        ("refused", "1 (16.7 %)"),
        ("hang", "1 (16.7 %)"),
    )
    assert summary.fixed == (("split", "UP_DOWN"),)
    assert ("Timing", "task (launch 2 µs)") in summary.facts


def test_nothing_is_recommended_where_nothing_is_ok(make_view: MakeView) -> None:
    summary = summary_data(make_view(verdict=np.full(6, 1)))
    assert summary.headline == "None of the 6 configurations is ok, so nothing is recommended."
    assert summary.table.rows == ()
    assert summary.counts[1] == ("ok", "0 (0 %)")
