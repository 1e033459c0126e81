"""The legal rows of a space as the full table says them."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from cost_models import load_platform
from pto_tune import legality
from pto_tune.evaluation import Problem
from pto_tune.lowering.columns import environment
from pto_tune.space import Space
from pto_tune.workloads import workload

FirstRefusal = Callable[[Problem, Space], NDArray[np.int64]]


@pytest.fixture(scope="session")
def attention() -> Problem:
    return Problem.of(workload("flash_attention"), load_platform("ascend910b2"))


def _first_refusal(problem: Problem, space: Space) -> NDArray[np.int64]:
    n = space.size
    table = space.table(np.arange(n))
    env = environment(problem.workload, {**table, "block": np.zeros(n, dtype=np.int64)})
    first = np.full(n, -1, dtype=np.int64)
    rules = legality.check(problem.workload, problem.platform, problem.rule_set, env, n)
    for i in reversed(range(len(rules))):
        if rules[i].verdict == "refused":
            first[rules[i].broken] = i
    return first


@pytest.fixture(scope="session")
def first_refusal() -> FirstRefusal:
    """Number of the first rule that refuses each row of a space, -1 where none does, by a check of the whole table."""
    return _first_refusal


@pytest.fixture(scope="session")
def refused_by_rule() -> Callable[[Problem, Space], dict[str, int]]:
    """The same, counted by the rules' names."""

    def count(problem: Problem, space: Space) -> dict[str, int]:
        names = legality.rule_names(problem.workload, problem.platform, problem.rule_set)
        first = _first_refusal(problem, space)
        return dict(Counter(names[i] for i in first[first >= 0].tolist()))

    return count
