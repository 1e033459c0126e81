"""How far from legal."""

import numpy as np

from cost_models import load_platform
from pto_tune import verdicts
from pto_tune.evaluation import Evaluation, Problem, evaluate_columns
from pto_tune.search.margins import violation
from pto_tune.space import space
from pto_tune.workloads import workload


def test_above_zero_exactly_where_not_ok(everything: Evaluation) -> None:
    margins = violation(everything)
    assert np.array_equal(margins > 0, everything.verdict != verdicts.OK)
    assert set(np.unique(everything.verdict)) >= {verdicts.OK, verdicts.REFUSED, verdicts.OVERWRITE}
    excess = 2**18 / everything.problem.platform["memory.ub"] - 1
    assert set(margins.tolist()) == {0.0, excess, 1.0}


def test_a_capacity_counts_by_its_excess() -> None:
    problem = Problem.of(workload("gemm"), load_platform("ascend910b2"))
    shape = {"m": 6144, "n": 6144, "k": 6144, "base_k": 64, "grid_m": 1, "grid_n": 1, "step_k": 1}
    table = {**shape, "base_m": [128, 256, 512], "base_n": [256, 256, 256]}
    e = evaluate_columns(problem, table)
    limit = problem.platform["memory.l0c"]
    over = [bytes_ / limit - 1 for bytes_ in (2 * limit, 4 * limit)]
    margins = violation(e)
    assert margins[0] == 0
    assert margins[1] == over[0]
    assert margins[2] > over[1]  # L0A overflows too
    broken = [rule for rule, row in zip(e.rules, e.broken[:, 2], strict=True) if row]
    assert broken == ["capacity-L0A", "capacity-L0C"]


def test_ub_loses_the_library_scratch() -> None:
    problem = Problem.of(workload("flash_attention"), load_platform("ascend910b2"))
    assert problem.workload.uses_ub_scratch
    of = space(problem.workload, {"s0": 512, "s1": 512}, {"qk_preload": [2], "sync_period": [0]})
    e = evaluate_columns(problem, of.table(np.arange(of.size)))
    rule = e.rules.index("capacity-UB")
    alone = e.broken[rule] & (e.broken.sum(axis=0) == 1)
    assert alone.any()
    usable = problem.platform["memory.ub"] - problem.platform["memory.ub_scratch_top"]
    assert np.array_equal(violation(e)[alone], e.bytes["UB"][alone] / usable - 1)
