"""Where the time goes, and what would limit it alone."""

from __future__ import annotations

import pytest

from dashboards.figures.bounds import BoundsData, bounds_data, bounds_figure
from dashboards.figures.causes import CAUSES, CausesData, causes_data, causes_figure, legend, wait_cause
from dashboards.theme import LIGHT
from pto_tune import api


@pytest.mark.parametrize(
    ("name", "values", "platform"),
    [
        ("flash_attention", {"s0": 1024, "s1": 1024}, "ascend910b2"),
        ("flash_attention_950", {}, "ascend950pr"),
        ("bidirectional", {}, "ascend910b2"),
        ("stream", {}, "ascend950pr"),
    ],
)
def test_causes_add_up_to_the_block_exactly(name: str, values: dict[str, int], platform: str) -> None:
    explanation = api.explain(name, values, platform)
    data = causes_data(explanation)
    assert data is not None
    assert sum(data.by_cause.values()) == data.cycles == explanation.block.cycles
    assert sum(cycles for _, _, cycles in data.parts) == data.cycles
    assert data.exact


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("qk.ready", "waiting for data"),
        ("both.V2C.free", "waiting for free space"),
        ("AIV0.link", "waiting for a link"),
        ("AIV0.l2_read", "waiting for L2 or HBM"),
        ("AIC.MTE1.queue", "scalar issue"),
        ("AIC.l0a", "waiting for a buffer"),
        ("signal.queue", "waiting for a flag"),
        ("AIV0.barrier", "waiting for a flag"),
        ("AIV0.V TPOP qk", "waiting for a flag"),
    ],
)
def test_a_wait_has_its_cause(name: str, cause: str) -> None:
    assert wait_cause(name) == cause


def test_workloads_with_ranks_have_sums_and_links() -> None:
    data = causes_data(api.explain("tput_pingpong", {"bytes": 65536, "blocks": 16}))
    assert data is not None
    assert not data.exact
    assert data.by_cause["waiting for a link"] > 0


def test_no_times_no_causes_and_no_bounds() -> None:
    explanation = api.explain("flash_attention", {"fifo_depth": 1, "qk_preload": 2})
    assert causes_data(explanation) is None
    assert bounds_data(explanation) == BoundsData((), None, explanation.problem.clock_mhz)
    assert "no times" in causes_figure([]).layout.annotations[0].text
    assert "no times" in bounds_figure(bounds_data(explanation)).layout.annotations[0].text


def test_before_and_after_stand_on_one_scale() -> None:
    before = CausesData("stored", {"compute": 600, "waiting for data": 400}, (), 1000, 1000, 100.0, True)
    after = CausesData("changed", {"compute": 600}, (), 600, 600, 100.0, True)
    figure = causes_figure([before, after])
    bars = {trace.name: list(trace.x) for trace in figure.data}
    assert bars == {"compute": [6.0, 6.0], "waiting for data": [4.0, 0.0]}
    assert list(figure.data[0].y) == ["stored", "changed"]
    assert [name for name, _, _ in legend([before, after], LIGHT)] == [c for c in CAUSES if c in bars]


def test_bounds_are_sorted_and_against_the_time() -> None:
    explanation = api.explain("stream", {})
    data = bounds_data(explanation)
    cycles = [c for _, c in data.bounds]
    assert cycles == sorted(cycles, reverse=True)
    assert cycles[0] <= int(explanation.evaluation.cycles[0]) == data.cycles
    assert dict(data.bounds) == dict(explanation.bounds())
    figure = bounds_figure(data)
    assert figure.layout.shapes[0].x0 == data.cycles


def test_the_sentence_names_the_largest_bound() -> None:
    words = BoundsData((("AIC.M", 500), ("L2", 200)), 1000, 100.0).sentence()
    assert words.startswith("AIC.M alone takes 50 % of the time")
    assert "5.000 µs" in words
