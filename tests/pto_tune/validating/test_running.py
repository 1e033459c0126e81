"""Cases are predicted as the evaluation of their configuration."""

from dataclasses import replace
from math import isnan

import pytest

from cost_models import launch, load_platform
from pto_tune.evaluation import Problem, evaluate_columns
from pto_tune.published.cases import Case, load_table
from pto_tune.validating.running import predict
from pto_tune.workloads import workload


def case(name: str) -> Case:
    table, _, row = name.partition("/")
    (found,) = [c for c in load_table(table) if c.id == row]
    return found


def test_times_busy_times_and_shares_by_hand() -> None:
    """GEMM 6144: the cube works 0.867 of 1506 us on the board, and by the model as long as the evaluation says."""
    share, time = case("gemm/manual-6144-M"), case("gemm/manual-6144")
    busy = replace(share, quantity="busy", unit="us")
    p = Problem.of(workload("gemm"), load_platform("ascend910b1"))
    e = evaluate_columns(p, dict(time.configuration))
    cube = float(e.busy[0, p.code.pipes.index("AIC.M")]) / 1850
    outcomes = predict([share, time, busy])
    assert [o.predicted for o in outcomes] == pytest.approx([cube / e.time_us[0], e.time_us[0], cube])
    assert outcomes[0].error == pytest.approx(cube / e.time_us[0] - 0.867)
    assert outcomes[1].error == pytest.approx(e.time_us[0] / 1506 - 1)


def test_each_case_has_its_own_protocol_rules_and_platform() -> None:
    base = case("cross_core_stream/c2v-flag-64")
    deep = replace(base, configuration={**base.configuration, "fifo_depth": 8})
    cases = [
        deep,
        replace(deep, timing="device"),
        replace(deep, rules="a2a3-rendezvous"),
        replace(deep, platform="ascend910b1"),
    ]
    by_event, by_device, one_by_one, faster = (o.predicted for o in predict(cases))
    assert by_event - by_device == pytest.approx(launch.overhead_us(load_platform("ascend910b2"), "event"))
    assert one_by_one > by_event > faster


def test_order_is_kept_and_excluded_cases_are_left_out() -> None:
    rows = [c for c in load_table("gemm") if not c.slow]
    outcomes = predict(rows)
    assert [o.case for o in outcomes] == [c for c in rows if c.use != "excluded"]
    assert len(outcomes) < len(rows)


def test_labels_stand_for_values() -> None:
    (outcome,) = predict([case("datacopy/a2-l1-64x512")])
    assert outcome.values["target"] == 1
    assert ("target", 1) in outcome.problem
    assert dict(outcome.choice) == {"rows": 64, "row_bytes": 512}


def test_a_platform_of_ones_own_takes_the_place_of_the_built_in_one() -> None:
    one = case("gemm/manual-6144")
    slow = load_platform("ascend910b1", {"dma.gm_to_l1.rate": 40})
    assert predict([one], {"ascend910b1": slow})[0].predicted > 1.5 * predict([one])[0].predicted


def test_a_refused_configuration_has_no_time_but_a_reason() -> None:
    one = case("gemm/manual-6144")
    (outcome,) = predict([replace(one, configuration={**one.configuration, "base_m": 256, "base_n": 512})])
    assert isnan(outcome.predicted)
    assert isnan(outcome.error)
    assert outcome.verdict == "refused"
    assert outcome.reason


def test_an_unknown_pipe_is_refused() -> None:
    with pytest.raises(ValueError, match=r"gemm has no pipe 'AIV0\.V': it has AIC\.MTE2"):
        predict([replace(case("gemm/manual-6144-M"), pipe="AIV0.V")])


def test_an_unknown_size_is_refused() -> None:
    with pytest.raises(ValueError, match="no problem size or tunable 'q'"):
        predict([replace(case("gemm/manual-6144"), configuration={"q": 1})])


def test_ranks_run_too() -> None:
    core, sdma = predict([case("tget/core-65536"), case("tget/sdma-65536")])
    assert core.error == pytest.approx(core.predicted / (579.62 * 0.02) - 1)
    assert sdma.predicted < core.predicted
