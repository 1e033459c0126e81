"""Which numbers a time leans on."""

import numpy as np
import pytest
from platforms_unfitted import unfitted

from cost_models import load_platform
from pto_tune.evaluation import Problem, evaluate_columns
from pto_tune.uncertainty.leaning import in_file_unit, leaning, shares_of, swing
from pto_tune.workloads import workload

B2, PR = unfitted(load_platform("ascend910b2")), load_platform("ascend950pr")


def test_a_stream_with_cycles_of_its_own_leans_on_flags_and_issue_alone() -> None:
    problem = Problem.of(workload("stream"), B2, timing="device")
    given = {"tiles": 1, "store_cycles": 1000, "load_cycles": 900, "consumer_cycles": 200}
    found = leaning(problem, given)
    assert found[0].key == "flags.cross_core_latency"
    assert found[0].share > 0.95
    assert {lean.key for lean in found} == {"flags.cross_core_latency", "scalar.issue", "clock.core_mhz"}
    assert sum(lean.share for lean in found) == pytest.approx(1.0)


def test_a_number_is_told_with_kind_source_range_and_unit_of_its_file() -> None:
    found = leaning(Problem.of(workload("flash_attention"), PR), {})
    assert [lean.share for lean in found] == sorted((lean.share for lean in found), reverse=True)
    for lean in found:
        number = PR.numbers[lean.key]
        assert (lean.kind, lean.source, lean.value, lean.unit) == (
            number.kind, number.source, number.value, number.unit,
        )  # fmt: skip
        assert number.low is None or lean.low == pytest.approx(number.low)
        assert number.high is None or lean.high == pytest.approx(number.high)
        assert lean.as_plain()["key"] == lean.key


def test_the_swing_is_that_of_predictions_at_the_ends() -> None:
    problem = Problem.of(workload("gemm"), B2)
    (lean,) = [x for x in leaning(problem, {}) if x.key == "dma.gm_to_l1.rate"]
    # 90 % lie between value (low / value) ** 0.9 and value (high / value) ** 0.9
    number = B2.numbers[lean.key]
    ends = [number.base * ((end or 0) / number.base) ** 0.9 for end in (number.base_high, number.base_low)]
    times = [
        evaluate_columns(Problem.of(workload("gemm"), B2.with_values({lean.key: end})), {}).time_us[0] for end in ends
    ]
    assert lean.swing_us == pytest.approx(times[1] - times[0], rel=0.001)


def test_numbers_that_change_nothing_are_left_out() -> None:
    keys = {lean.key for lean in leaning(Problem.of(workload("gemm"), B2), {})}
    assert not [key for key in keys if key.startswith(("vector.", "link.", "signal."))]
    assert "launch.task" in keys
    assert "launch.event" not in keys


def test_a_workload_with_ranks_leans_on_its_links() -> None:
    found = leaning(Problem.of(workload("tget_bandwidth"), B2, timing="device"), {"bytes": 16384})
    assert found[0].key.startswith("link.hccs.get.")
    assert not [x for x in found if ".put." in x.key]


def test_what_has_no_times_leans_on_nothing() -> None:
    assert leaning(Problem.of(workload("stream"), B2), {"slot_bytes": 2**22}) == []


def test_shares_are_of_squares_and_swings_reach_over_the_prediction() -> None:
    assert shares_of(np.array([3.0, 4.0, 0.0])).tolist() == [0.36, 0.64, 0.0]
    assert shares_of(np.zeros(2)).tolist() == [0.0, 0.0]
    assert swing(np.array([[1.0, 6.0, 5.0], [9.0, 7.0, 5.0]]), 5.0).tolist() == [8.0, 2.0, 0.0]


@pytest.mark.parametrize("platform", [B2, PR])
def test_values_go_back_into_the_units_of_the_file(platform: object) -> None:
    assert platform in (B2, PR)
    for chip in (B2, PR):
        for key, number in chip.numbers.items():
            assert in_file_unit(chip, key, number.base) == pytest.approx(number.value)
