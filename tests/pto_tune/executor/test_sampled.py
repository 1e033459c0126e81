"""Several platforms in one call give what each gives alone."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from cost_models import load_platform
from cost_models.platform import Platform
from pto_tune.evaluation import Problem, evaluate_columns
from pto_tune.executor.engine import Execution, ExecutorError, execute, execute_sampled
from pto_tune.executor.sampled import Stacked, sampled_columns
from pto_tune.lowering.columns import columns_of, environment
from pto_tune.uncertainty.sampling import sampled_platforms, uncertain_keys
from pto_tune.workloads import workload, workload_names

PLATFORMS = {name: load_platform(name) for name in ("ascend910b2", "ascend950pr")}


def samples(platform: Platform, n: int = 5) -> list[Platform]:
    return [platform, *sampled_platforms(platform, uncertain_keys(platform, platform), n, 7)]


def again(problem: Problem, table: Mapping[str, Any], platforms: list[Platform]) -> Execution:
    """All rows of a table on several platforms."""
    n = len(next(iter(table.values())))
    return execute_sampled(execute(problem.code, problem.platform, table, n), platforms, table, np.arange(n))


def problems() -> list[tuple[str, str]]:
    # no figure of bulk transfers is published for 950: legality refuses them there
    without = {("bulk_transfer", "ascend950pr")}
    found = [(name, chip) for name in workload_names() if not workload(name).has_ranks for chip in PLATFORMS]
    return [case for case in found if case not in without]


@pytest.mark.parametrize(("name", "chip"), problems())
def test_rows_are_those_of_each_platform_alone(name: str, chip: str) -> None:
    problem = Problem.of(workload(name), PLATFORMS[chip])
    table = evaluate_columns(problem, {}).table
    platforms = samples(PLATFORMS[chip])
    together = again(problem, table, platforms)
    alone = [execute(problem.code, p, table, 1) for p in platforms]
    stretched = np.array([x.stretch[0] > 1 for x in alone])
    expected = np.array([x.cycles[0] for x in alone])
    assert (together.cycles[~stretched] == expected[~stretched]).all()
    # a stretched run is accepted within 0.5 %, and half a byte of a transfer may decide which
    assert together.cycles == pytest.approx(expected, rel=0.006)
    assert together.cycles[0] == expected[0]
    assert (together.hang == [x.hang[0] for x in alone]).all()


@pytest.mark.parametrize(("name", "chip"), problems())
def test_latency_models_take_a_number_a_lane(name: str, chip: str) -> None:
    # where a model needs a plain number the result is the same, and ten times slower
    problem = Problem.of(workload(name), PLATFORMS[chip])
    platforms = samples(PLATFORMS[chip])
    table = evaluate_columns(problem, {}).table
    one = environment(problem.workload, {**table, "block": np.zeros(1, np.int64)})
    many = environment(
        problem.workload,
        {n: np.repeat(c, len(platforms)) for n, c in {**table, "block": np.zeros(1, np.int64)}.items()},
    )
    stacked = columns_of(problem.code, Stacked.of(platforms, 1), many, len(platforms))
    for i, p in enumerate(platforms):
        alone = columns_of(problem.code, p, one, 1)
        assert (stacked.durations[:, i] == alone.durations[:, 0]).all()
        assert (stacked.structure[i] == alone.structure[0]).all()
        assert (stacked.bytes[:, :, i] == alone.bytes[:, :, 0]).all()


def test_a_model_that_needs_a_plain_number_is_asked_one_platform_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    from cost_models import flags

    problem = Problem.of(workload("stream"), PLATFORMS["ascend910b2"])
    table = evaluate_columns(problem, {}).table
    platforms = samples(problem.platform)
    env = environment(
        problem.workload,
        {n: np.repeat(c, len(platforms)) for n, c in {**table, "block": np.zeros(1, np.int64)}.items()},
    )
    expected = sampled_columns(problem.code, platforms, env, 1)

    def plain(platform: Platform) -> Any:
        return np.float64(max(0.0, platform["flags.cross_core_latency"]))

    monkeypatch.setattr(flags, "cross_core_latency_cycles", plain)
    found = sampled_columns(problem.code, platforms, env, 1)
    for name in ("durations", "structure", "bytes"):
        assert (getattr(found, name) == getattr(expected, name)).all()


def test_several_configurations_and_blocks_of_unequal_length() -> None:
    problem = Problem.of(workload("flash_attention"), PLATFORMS["ascend910b2"])
    e = evaluate_columns(problem, {"s0": 2048, "s1": 2048, "causal": 1, "qk_preload": np.array([2, 4])})
    assert e.timed.all()
    platforms = samples(problem.platform, 3)
    found = again(problem, e.table, platforms)
    expected = np.concatenate([execute(problem.code, p, e.table, 2).cycles for p in platforms])
    assert found.cycles == pytest.approx(expected, rel=0.006)
    assert (found.cycles[:2] == e.cycles).all()


def test_some_rows_of_an_execution_and_rows_of_a_single_block() -> None:
    # one block of a causal workload is a row with blocks of unequal length all the same
    problem = Problem.of(workload("flash_attention"), PLATFORMS["ascend910b2"])
    e = evaluate_columns(problem, {"s0": [2048, 128, 1024], "s1": 2048, "causal": 1})
    assert e.timed.all()
    assert e.execution is not None
    platforms = samples(problem.platform, 2)
    rows = np.array([2, 1])
    found = execute_sampled(e.execution, platforms, {n: c[rows] for n, c in e.table.items()}, rows)
    expected = [execute(problem.code, p, e.table, 3).cycles[rows] for p in platforms]
    assert found.cycles.reshape(-1, 2) == pytest.approx(np.array(expected), rel=0.006)
    assert (found.cycles[:2] == e.cycles[rows]).all()


def test_demand_over_capacity_is_that_of_each_platform() -> None:
    b2 = PLATFORMS["ascend910b2"]
    problem = Problem.of(workload("flash_attention"), b2)
    table = evaluate_columns(problem, {}).table
    slow = b2.with_values({"l2.bandwidth": b2["l2.bandwidth"] / 8, "l2.read_bandwidth": b2["l2.read_bandwidth"] / 8})
    alone = execute(problem.code, slow, table, 1)
    together = again(problem, table, [b2, slow])
    assert alone.stretch[0] > 2
    assert together.cycles[1] == pytest.approx(alone.cycles[0], rel=0.006)
    assert together.stretch[1] == pytest.approx(alone.stretch[0], rel=0.01)
    assert together.resource[1] == alone.resource[0]


def test_cores_and_queues_are_the_same_on_all() -> None:
    b2 = PLATFORMS["ascend910b2"]
    problem = Problem.of(workload("stream"), b2)
    table = evaluate_columns(problem, {}).table
    for other in ({"cores.cube": 20.0}, {"scalar.queue_depth": 16.0}):
        with pytest.raises(ExecutorError, match=r"differ in cores\.cube or scalar\.queue_depth"):
            again(problem, table, [b2, b2.with_values(other)])
