"""The parity plot: points, the line and band."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from dashboards.figures.parity import parity_data, parity_figure
from dashboards.theme import DARK, LIGHT, Theme
from pto_tune.validating.report import Report
from pto_tune.validating.running import Outcome


def points(outcomes: Sequence[Outcome]) -> int:
    return sum(len(p.measured_us) for p in parity_data(outcomes))


def test_every_time_with_a_prediction_is_a_point(report: Report) -> None:
    assert points(report.outcomes) == sum(o.case.quantity != "share" for o in report.outcomes)
    without = [replace(o, predicted=float("nan")) for o in report.outcomes[:3]]
    assert points([*without, *report.outcomes[3:]]) == points(report.outcomes) - 3


def test_tables_and_uses_are_traces_of_their_own(report: Report) -> None:
    data = parity_data(report.unseen, report.outcomes)
    assert {(p.table, p.use) for p in data} >= {("gemm", "validate"), ("gemm", "fit"), ("datacopy", "validate")}
    (p,) = [p for p in data if (p.table, p.use) == ("gemm", "validate")]
    assert (p.measured_us[0], p.predicted_us[0]) == (38.8, report.unseen[0].predicted)
    assert "gemm/manual-1536" in p.texts[0]


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_the_figure_has_the_line_of_equality_and_logarithmic_axes(report: Report, theme: Theme) -> None:
    figure = parity_figure(parity_data(report.unseen, report.outcomes), theme)
    line, low, high = figure.data[:3]
    assert tuple(line.x) == tuple(line.y)
    assert [y / x for x, y in zip(low.x, low.y, strict=True)] == pytest.approx([0.85, 0.85])
    assert [y / x for x, y in zip(high.x, high.y, strict=True)] == pytest.approx([1.15, 1.15])
    assert (figure.layout.xaxis.type, figure.layout.yaxis.type) == ("log", "log")
    fitted = [t for t in figure.data[3:] if t.name.endswith("fitted to")]
    assert fitted
    assert all(t.marker.symbol.endswith("-open") for t in fitted)


def test_without_points_it_says_why() -> None:
    assert "None of the chosen cases" in parity_figure([]).to_json()
