"""Intervals of published cases, errors by table, and measurements of a store as cases."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from dashboards.figures.accuracy import (
    MOST_DRAWN,
    CaseInterval,
    case_intervals,
    coverage,
    errors_figure,
    intervals_figure,
)
from dashboards.figures.store_cases import joined
from dashboards.theme import LIGHT
from db import StoredMeasurement
from pto_tune.api import evaluate
from pto_tune.published.cases import load_table
from pto_tune.validating.running import predict
from pto_tune.validating.summary import summarise


def interval(name: str, measured: float, low: float, high: float, table: str = "t") -> CaseInterval:
    return CaseInterval(table, name, measured, 10.0, low, high)


def test_an_interval_holds_what_lies_between_its_ends() -> None:
    assert interval("a", 9.0, 9.0, 12.0).inside
    assert not interval("a", 8.9, 9.0, 12.0).inside
    assert not interval("a", 12.1, 9.0, 12.0).inside


def test_coverage_counts_by_table_and_of_all() -> None:
    cases = [interval("a", 10, 9, 12), interval("b", 20, 9, 14), interval("c", 10, 9, 11, "u")]
    found = [(c.table, c.cases, c.inside, round(c.width, 2)) for c in coverage(cases)]
    # widths over the prediction: 0.3, 0.5 and 0.2
    assert found == [("t", 2, 1, 0.4), ("u", 1, 1, 0.2), ("all tables", 3, 2, 0.3)]


def test_published_times_get_intervals_around_their_predictions() -> None:
    outcomes = predict(load_table("tget"))
    found = case_intervals(outcomes, most_cost=10**9)
    timed = [o for o in outcomes if o.case.quantity == "time" and o.case.use != "order"]
    assert [c.name for c in found.cases] == [o.case.name for o in timed]
    assert found.left_out == ()
    assert all(c.low_us < c.high_us for c in found.cases)


def test_what_takes_long_is_left_out_by_name() -> None:
    outcomes = predict(load_table("tget"))
    found = case_intervals(outcomes, most_cost=0)
    assert found.cases == ()
    assert set(found.left_out) <= {o.case.name for o in outcomes}
    assert found.left_out


def test_cases_are_drawn_in_the_order_of_their_error_inside_and_outside_apart() -> None:
    figure = intervals_figure([interval("x <b>", 30, 9, 12), interval("y", 10, 9, 12)], LIGHT)
    assert list(figure.layout.yaxis.ticktext) == ["y", "x &lt;b&gt;"]
    named = {trace.name: list(trace.x) for trace in figure.data}
    assert named["measured, inside"] == [1.0]
    assert named["measured, outside"] == [3.0]


def test_many_cases_are_drawn_evenly_with_both_ends() -> None:
    figure = intervals_figure([interval(f"c{i}", 5 + i, 9, 12) for i in range(500)], LIGHT)
    names = list(figure.layout.yaxis.ticktext)
    assert len(names) == MOST_DRAWN
    assert (names[0], names[-1]) == ("c0", "c499")


def test_without_intervals_the_figure_says_so() -> None:
    assert "interval" in intervals_figure([], LIGHT).layout.annotations[0].text


def test_errors_by_table_are_per_cent() -> None:
    outcomes = predict(load_table("tget"))
    summary = summarise("tget", outcomes)
    figure = errors_figure([summary], LIGHT)
    named: dict[str, Any] = {trace.name: trace.x[0] for trace in figure.data}
    assert named["median"] == pytest.approx(100 * summary.times.median)
    assert named["90th percentile"] == pytest.approx(100 * summary.times.p90)
    assert summary.times.worst is not None
    assert named["worst"] == pytest.approx(100 * abs(summary.times.worst.error))


def measurement(number: int, **more: Any) -> StoredMeasurement:
    fields: dict[str, Any] = {
        "workload": "flash_attention", "configuration": {"s0": 256, "s1": 1024, "split": "UP_DOWN"}, "family": "a2a3",
        "soc": "Ascend 910B2", "timing": "task", "value": 20.0, "platform": "ascend910b2", "id": number,
        "imported_at": datetime(2026, 1, 1),
    }  # fmt: skip
    return StoredMeasurement(**{**fields, **more})


def test_a_measurement_is_joined_with_its_prediction() -> None:
    found = joined([measurement(7)])
    (o,) = found.outcomes
    expected = evaluate("flash_attention", {"s0": [256], "s1": [1024], "split": [1]})["time_us"][0]
    assert o.predicted == pytest.approx(expected)
    assert (o.case.measured, o.case.id, o.case.table) == (20.0, "7", "this store: flash_attention")


def test_cycles_become_microseconds_by_the_clock() -> None:
    (o,) = joined([measurement(1, metric="cycles", value=18_000.0)]).outcomes
    # 1800 MHz
    assert o.case.measured == pytest.approx(10.0)


def test_what_cannot_be_predicted_is_named_with_its_reason() -> None:
    found = joined(
        [
            measurement(1, workload="gone"),
            measurement(2, platform=None, soc="910Z"),
            measurement(3, configuration={"nope": 1}),
            measurement(4, configuration={"cube_s0": 2048}),
            measurement(5, pto_isa="not-a-revision"),
            measurement(6),
        ]
    )
    assert [o.case.id for o in found.outcomes] == ["6"]
    starts = {sentence.partition(":")[0] for sentence in found.left_out}
    assert starts == {f"measurement {i}" for i in (1, 2, 3, 4, 5)}
    by_number = {sentence.split(":")[0]: sentence for sentence in found.left_out}
    assert "unknown workload 'gone'" in by_number["measurement 1"]
    assert "'910Z' is none of the built-in platforms" in by_number["measurement 2"]
    assert "'nope'" in by_number["measurement 3"]
    assert "refused" in by_number["measurement 4"]
