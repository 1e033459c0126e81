"""What configurations cost in other settings, and one configuration for several of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cost_models.platform import load_platform
from dashboards.figures.cross import Choice, Setting, best_of, cross_data
from dashboards.figures.one_for_all import common, one_for_all, one_for_all_figure, ranked, regret_text
from pto_tune.api import evaluate
from pto_tune.evaluation import Problem
from pto_tune.workloads import workload

NAN = float("nan")
SIZES = {"s0": 256, "s1": 1024}


def setting(label: str, platform: str, rules: str | None = None, **more: Any) -> Setting:
    return Setting(label, Problem.of(workload("flash_attention"), load_platform(platform), rules), SIZES, **more)


def choice(label: str = "a", **values: int | str) -> Choice:
    return Choice(label, workload("flash_attention"), values)


def test_a_cell_is_what_the_configuration_takes_in_that_setting() -> None:
    found = cross_data(
        [choice(fifo_depth=4), choice(fifo_depth=8)], [setting("b2", "ascend910b2"), setting("950", "ascend950pr")]
    )
    for j, platform in enumerate(("ascend910b2", "ascend950pr")):
        expected = evaluate("flash_attention", {**SIZES, "fifo_depth": [4, 8]}, platform=platform)["time_us"]
        assert found.time_us[:, j] == pytest.approx(expected.to_numpy())
    assert found.verdict == (("ok", "ok"), ("ok", "ok"))


def test_labels_stand_for_values() -> None:
    by_label = cross_data([choice(split="UP_DOWN")], [setting("b2", "ascend910b2")])
    by_number = cross_data([choice(split=1)], [setting("b2", "ascend910b2")])
    assert np.isfinite(by_label.time_us[0, 0])
    assert by_label.time_us[0, 0] == by_number.time_us[0, 0]


def test_a_refused_cell_says_why_and_has_no_time() -> None:
    found = cross_data([choice(cube_s0=2048)], [setting("b2", "ascend910b2")])
    assert np.isnan(found.time_us[0, 0])
    assert found.why[0][0].startswith("refused: ")
    assert len(found.why[0][0]) > len("refused: ")


def test_an_older_revision_that_hangs_says_so() -> None:
    found = cross_data([choice(qk_preload=4, fifo_depth=8)], [setting("old", "ascend910b2", "a2a3-rendezvous")])
    assert found.verdict[0][0] == "hang"
    assert "waits" in found.why[0][0]
    assert np.isnan(found.time_us[0, 0])


def test_a_setting_of_another_workload_is_not_evaluated() -> None:
    gemm = Setting("gemm", Problem.of(workload("gemm"), load_platform("ascend910b2")), {})
    found = cross_data([choice()], [gemm])
    assert found.why[0][0] == "another workload"
    assert found.verdict[0][0] == ""


def test_a_setting_that_cannot_be_evaluated_says_why_and_keeps_what_is_stored() -> None:
    broken = Setting("old", None, SIZES, "the platform has changed", 10.0)
    found = cross_data([choice("a"), choice("b")], [broken], {(0, 0): 12.0})
    assert found.time_us[0, 0] == 12.0
    assert found.verdict == (("ok",), ("",))
    assert found.why[1][0] == "not evaluated: the platform has changed"
    assert found.regret[0, 0] == pytest.approx(0.2)


def test_regret_is_against_the_best_of_the_run_or_of_the_column() -> None:
    settings = [Setting("a", None, {}, "", 10.0), Setting("b", None, {}, "", 30.0), Setting("c", None, {}, "")]
    times = np.array([[11.0, 20.0, NAN], [15.0, 40.0, NAN]])
    assert best_of(times, settings) == pytest.approx([10.0, 20.0, NAN], nan_ok=True)


def test_the_least_worst_regret_comes_first() -> None:
    # 10 % and 60 %; 50 % and 50 %; the best of one that is not legal in the other
    times = np.array([[11.0, 16.0], [15.0, 15.0], [10.0, NAN]])
    order, regret = ranked(times, np.array([10.0, 10.0]))
    assert order.tolist() == [1, 0]
    assert regret[1] == pytest.approx([0.5, 0.5])


def test_of_equal_worst_regrets_the_smaller_sum_comes_first() -> None:
    order, _ = ranked(np.array([[15.0, 12.0], [15.0, 11.0], [15.0, 12.0]]), np.array([10.0, 10.0]))
    assert order.tolist() == [1, 0, 2]


def test_common_configurations_are_those_that_are_ok_in_every_run(make_view: Callable[..., Any]) -> None:
    values = make_view().values
    one = make_view(values={**values, "sync_period": np.array([1, 2, 4, 4, 2, 1])})
    # the same values in another order and with another order of the domains
    two = make_view(
        tunables=[("sync_period", (4, 2, 1)), ("fifo_depth", (8, 4, 2)), ("split", ("UP_DOWN",))],
        rows=np.arange(4),
        values={
            "fifo_depth": np.array([8, 4, 2, 2]),
            "sync_period": np.array([4, 2, 1, 2]),
            "split": np.array(["UP_DOWN"] * 4, dtype=object),
        },
        verdict=np.array([1, 0, 0, 0]),
        rule=np.array([0, -1, -1, -1]),
        cycles=np.array([np.nan, 5000.0, 6000.0, 1.0]),
        bytes={},
        bound=np.array([-1, 0, 0, 0]),
        accounts={},
        best_row=None,
    )
    found = common([one, two])
    # fifo_depth 2 with sync_period 1, and 4 with 2; 4 with 4 is not in the second run, 8 with 4 is refused there
    assert found.tolist() == [[0, 2], [1, 1]]


def test_where_a_tunable_does_not_apply_is_a_value_of_its_own(make_view: Callable[..., Any]) -> None:
    split = np.array(["UP_DOWN", None, "UP_DOWN", "UP_DOWN", "UP_DOWN", "UP_DOWN"], dtype=object)
    values = {**make_view().values, "sync_period": np.array([1, 2, 4, 4, 2, 1])}
    with_none, without = make_view(values={**values, "split": split}), make_view(values=values)
    assert common([with_none, with_none])[:, 0].tolist() == [0, 1, 2, 3]
    assert common([with_none, without])[:, 0].tolist() == [0, 2, 3]


def test_runs_with_other_tunables_have_nothing_in_common(make_view: Callable[..., Any]) -> None:
    other = make_view(
        name="other",
        tunables=[("depth", (2,))],
        values={"depth": np.full(6, 2)},
    )
    with pytest.raises(ValueError, match="'fa-ascend910b2-1' and 'other' do not have the same tunables"):
        common([make_view(), other])


def test_one_for_all_names_times_and_regrets_by_setting() -> None:
    times = np.array([[11.0, 16.0], [15.0, 15.0]])
    found = one_for_all(("a", "b"), [{"d": 1}, {"d": 2}], times, np.array([10.0, 10.0]), "two of them")
    assert [good.values for good in found.found] == [{"d": 2}, {"d": 1}]
    assert found.found[0].worst == pytest.approx(0.5)
    assert found.found[1].time_us == (11.0, 16.0)
    assert (found.looked_at, found.legal, found.why_not) == (2, 2, "")
    bars = [trace.x for trace in one_for_all_figure(found).data]
    assert list(bars[0]) == pytest.approx([50.0, 50.0])


def test_without_a_legal_candidate_the_reason_is_said() -> None:
    none = one_for_all(("a", "b"), [{}], np.array([[1.0, NAN]]), np.array([1.0, 1.0]), "")
    assert none.why_not == "None of the 1 candidates is ok in all 2 settings."
    empty = one_for_all(("a", "b"), [], np.zeros((0, 2)), np.array([1.0, 1.0]), "")
    assert empty.why_not == "There are no candidates: no configuration is ok in every run."
    assert not one_for_all_figure(empty).data


@pytest.mark.parametrize(("share", "text"), [(0.0, "best"), (0.0004, "best"), (0.032, "+3.2 %"), (NAN, "–")])
def test_a_regret_as_text(share: float, text: str) -> None:
    assert regret_text(share) == text
