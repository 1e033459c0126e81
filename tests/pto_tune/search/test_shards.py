"""Shards: any part of a sweep can be evaluated anywhere, with the same bits."""

import json
import pickle
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from cost_models import load_platform
from pto_tune.evaluation import MEMORIES, Evaluation, Problem
from pto_tune.search import shards
from pto_tune.search.batches import evaluated
from pto_tune.search.record import columns_of
from pto_tune.search.shards import ShardError, ShardResult, batch_of, job_of, run_shard
from pto_tune.search.spec import rule_names
from pto_tune.space import Space, space
from pto_tune.workloads import workload

COLUMNS = ("verdict", "rule", "cycles", "timed", "stretch", "bound", "derived_period", "busy")


def assert_equal(one: Evaluation, other: Evaluation) -> None:
    """All that store, tally and leaders read is equal, types included."""
    for name in COLUMNS:
        assert getattr(one, name).dtype == getattr(other, name).dtype, name
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)
    for memory in MEMORIES:
        np.testing.assert_array_equal(one.bytes[memory], other.bytes[memory], memory)
    assert one.rules == other.rules


def sent(result: ShardResult) -> ShardResult:
    """As it arrives from another process."""
    arrived: ShardResult = pickle.loads(pickle.dumps(result))
    return arrived


@pytest.mark.parametrize("seed", range(6))
def test_however_a_sweep_is_cut_its_shards_are_what_one_evaluation_gives(
    problem: Problem, small: Space, everything: Evaluation, seed: int
) -> None:
    cuts = sorted(np.random.default_rng(seed).choice(np.arange(1, small.size), 4, replace=False).tolist())
    job = job_of(problem, small)
    for start, stop in pairwise([0, *cuts, small.size]):
        rows = np.arange(start, stop, dtype=np.int64)
        batch = batch_of(problem, rows, sent(run_shard(job, start, stop)))
        (expected,) = evaluated(problem, small, rows)
        assert_equal(batch.evaluation, expected.evaluation)
        np.testing.assert_array_equal(batch.evaluation.cycles, everything.cycles[start:stop])


def test_rows_may_be_named_one_by_one(problem: Problem, small: Space) -> None:
    rows = np.array([5, 3, 70, 71], dtype=np.int64)
    (expected,) = evaluated(problem, small, rows)
    assert_equal(batch_of(problem, rows, run_shard(job_of(problem, small), 0, 4, rows)).evaluation, expected.evaluation)


@pytest.mark.parametrize(
    ("name", "platform", "n"), [("tput_pingpong", "ascend910b2", 6), ("flash_attention_950", "ascend950pr", 24)]
)
def test_what_the_store_keeps_of_a_shard_is_what_it_keeps_of_a_local_batch(name: str, platform: str, n: int) -> None:
    problem = Problem.of(workload(name), load_platform(platform))
    where = space(problem.workload)
    rows = np.arange(n, dtype=np.int64)
    (local,) = evaluated(problem, where, rows)
    names = rule_names(problem)
    shard = batch_of(problem, rows, sent(run_shard(job_of(problem, where), 0, len(rows))))
    ours, valid = columns_of(shard, where, names)
    expected, expected_valid = columns_of(local, where, names)
    assert ours.keys() == expected.keys()
    assert valid.keys() == expected_valid.keys()
    for column in expected:
        np.testing.assert_array_equal(ours[column], expected[column], column)
    for column in expected_valid:
        np.testing.assert_array_equal(valid[column], expected_valid[column], column)


def test_a_job_is_a_text_that_depends_on_the_search_alone(problem: Problem, small: Space) -> None:
    again = Problem.of(workload("stream"), load_platform("ascend910b2"))
    assert job_of(problem, small) == job_of(again, replace(small))
    other = Problem.of(problem.workload, problem.platform, timing="device")
    assert job_of(other, small) != job_of(problem, small)


def test_a_platform_that_the_caller_has_changed_goes_along_with_its_numbers(problem: Problem, small: Space) -> None:
    changed = problem.platform.with_values({"launch.task": 50.0, "clock.core_mhz": 900.0})
    rows = np.arange(40, dtype=np.int64)
    mine = replace(problem, platform=changed)
    (expected,) = evaluated(mine, small, rows)
    assert_equal(batch_of(mine, rows, run_shard(job_of(mine, small), 0, 40)).evaluation, expected.evaluation)


def test_integers_travel_in_the_smallest_type_that_holds_them(problem: Problem, small: Space) -> None:
    columns = run_shard(job_of(problem, small), 0, small.size).columns
    assert columns["verdict"].dtype == np.int8
    assert columns["L0A"].dtype == np.int8  # all zero
    assert columns["cycles"].dtype in (np.int16, np.int32)


@pytest.mark.parametrize("values", [[-128, 127], [-129], [128], [2**31], [-(2**63), 2**63 - 1], [0], []])
def test_no_value_is_lost_on_the_way(values: list[int]) -> None:
    column = np.array(values, dtype=np.int64)
    np.testing.assert_array_equal(shards._small(column).astype(np.int64), column)


def changed(job: str, **changes: object) -> str:
    return json.dumps({**json.loads(job), **changes})


def test_another_version_is_refused(problem: Problem, small: Space) -> None:
    job = job_of(problem, small)
    facts = {**shards.facts(), "numpy": "1.26.4"}
    with pytest.raises(ShardError, match=r"has numpy 2\.\S+ instead of 1\.26\.4: install the same versions there"):
        run_shard(changed(job, facts=facts), 0, 4)
    with pytest.raises(ShardError, match="has the format 'pto-tune-shard/9'"):
        run_shard(changed(job, format="pto-tune-shard/9"), 0, 4)


def test_another_platform_than_its_hash_says_is_refused(problem: Problem, small: Space) -> None:
    job = job_of(problem, small)
    platform = json.loads(job)["platform"]
    platform["numbers"][0]["base"] += 1
    with pytest.raises(ShardError, match="makes other numbers of platform 'ascend910b2'"):
        run_shard(changed(job, platform=platform), 0, 4)


def test_a_result_of_other_rows_is_refused(problem: Problem, small: Space) -> None:
    result = run_shard(job_of(problem, small), 0, 4)
    with pytest.raises(ShardError, match="a shard of 5 rows came back with other columns"):
        batch_of(problem, np.arange(5), result)
    lacking = {name: column for name, column in result.columns.items() if name != "UB"}
    with pytest.raises(ShardError, match="other columns \\(UB\\)"):
        batch_of(problem, np.arange(4), replace(result, columns=lacking))


def test_a_process_keeps_a_few_problems_and_no_more(problem: Problem, small: Space) -> None:
    name, values = small.domains[0]
    for value in values[: shards.KEPT + 2]:
        run_shard(job_of(problem, replace(small, domains=((name, (value,)), *small.domains[1:]))), 0, 1)
    assert len(shards._problems) <= shards.KEPT


def test_no_batch_is_a_batch_without_rows(problem: Problem) -> None:
    from pto_tune.search.tally import Tally

    tally = Tally(3)
    tally.add(batch_of(problem, np.zeros(0, dtype=np.int64), None))
    assert (tally.done, tally.counts, len(tally.leaders)) == (0, {}, 0)
