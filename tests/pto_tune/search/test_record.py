"""Batches as columns of the store."""

import numpy as np

from db.columns import BY_NAME
from pto_tune import verdicts
from pto_tune.evaluation import MEMORIES, Problem
from pto_tune.search.batches import evaluated
from pto_tune.search.record import columns_of
from pto_tune.search.spec import rule_names
from pto_tune.space import Space


def test_columns_hold_the_evaluation_and_nothing_where_there_is_none(problem: Problem, small: Space) -> None:
    (batch,) = evaluated(problem, small, np.arange(small.size))
    e = batch.evaluation
    rules = rule_names(problem)
    columns, valid = columns_of(batch, small, rules)
    assert set(columns) <= set(BY_NAME)
    assert all(column.shape == (small.size,) for column in columns.values())
    for i, (name, values) in enumerate(small.domains):
        assert np.array(values)[columns[f"t{i}"]].tolist() == e.table[name].tolist()
    timed, ok = e.timed, e.verdict == verdicts.OK
    assert not timed.all()
    assert valid["cycles"].tolist() == timed.tolist() == valid["gm_traffic"].tolist()
    assert columns["cycles"][timed].tolist() == e.cycles[timed].tolist()
    assert [rules[r] for r in columns["rule"][valid["rule"]]] == [e.rules[r] for r in e.rule if r >= 0]
    assert valid["rule"].tolist() == (~ok).tolist()
    for memory in MEMORIES[:6]:
        assert columns[memory.lower()].tolist() == e.bytes[memory].tolist()
    pipes = problem.code.pipes
    vectors = [i for i, p in enumerate(pipes) if p.endswith(".V")]
    assert columns["busy_cube"].tolist() == e.busy[:, pipes.index("AIC.M")].tolist()
    assert columns["busy_vector"].tolist() == (e.busy[:, vectors].sum(axis=1) // 2).tolist()
    assert columns["stretch_milli"].tolist() == np.rint(e.stretch * 1000).tolist()


def test_a_workload_without_vector_cores_has_no_such_column() -> None:
    from cost_models import load_platform
    from pto_tune.space import space
    from pto_tune.workloads import workload

    gemm = Problem.of(workload("gemm"), load_platform("ascend910b2"))
    (batch,) = evaluated(gemm, space(gemm.workload), np.arange(3))
    columns, _ = columns_of(batch, space(gemm.workload), rule_names(gemm))
    assert "busy_cube" in columns
    assert "busy_vector" not in columns


def test_rules_that_two_instructions_share_are_one(problem: Problem) -> None:
    from pto_tune.workloads import workload

    attention = Problem(workload("flash_attention"), problem.platform, problem.rule_set)
    names = rule_names(attention)
    assert len(names) == len(set(names))
    assert names.count("tmatmul-k") == 1
