"""The parity plot and its page: points, the line and band, and text that cannot become code."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from dashboards.figures.parity import parity_data, parity_figure, render_parity
from dashboards.theme import DARK, LIGHT, Theme
from pto_tune.validating.report import Report, validate
from pto_tune.validating.running import Outcome


@pytest.fixture(scope="module")
def report() -> Report:
    return validate(["gemm", "datacopy"])


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


def test_the_page_stands_alone(report: Report) -> None:
    page = render_parity(report)
    assert len(page.encode()) < 7_000_000
    assert not re.search(r"<(?:script|link|img|iframe)[^>]*\s(?:src|href)=", page)
    figures = re.search(r'<script type="application/json" id="figure-data">(.*?)</script>', page, re.DOTALL)
    assert figures is not None
    assert set(json.loads(figures[1])) == {"parity"}
    assert "vendor-a2-1-MTE2" in page


def test_names_stay_text(report: Report) -> None:
    first = report.outcomes[0]
    evil = replace(first, case=replace(first.case, id="</script><script>alert(1)</script>"))
    page = render_parity(replace(report, outcomes=(evil, *report.outcomes[1:])))
    assert "<script>alert(1)" not in page
