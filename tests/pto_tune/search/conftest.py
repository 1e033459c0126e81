"""A small space with every verdict that a stream of tiles can have, and a watch on what is evaluated."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from cost_models import load_platform
from pto_tune import evaluation
from pto_tune.evaluation import Evaluation, Problem
from pto_tune.space import Space, space
from pto_tune.workloads import workload


@pytest.fixture(scope="session")
def problem() -> Problem:
    return Problem.of(workload("stream"), load_platform("ascend910b2"))


@pytest.fixture(scope="session")
def small(problem: Problem) -> Space:
    # two whole slots of 128 KiB are more than UB has: NO_SPLIT is refused
    sizes: dict[str, int | str] = {"direction": "V2C", "slot_bytes": 2**17, "tiles": 24}
    sizes |= {"producer_cycles": 100, "consumer_cycles": 150}
    return space(problem.workload, sizes)


@pytest.fixture(scope="session")
def everything(problem: Problem, small: Space) -> Evaluation:
    return evaluation.evaluate_columns(problem, small.table(np.arange(small.size)))


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Callable[[Space], Counter[int]]:
    """How often each row of a space has been evaluated since the test began."""
    tables: list[dict[str, list[int]]] = []
    original = evaluation.evaluate_columns

    def watched(problem: Problem, table: dict[str, np.ndarray], **options: object) -> Evaluation:
        tables.append({name: column.tolist() for name, column in table.items()})
        return original(problem, table, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(evaluation, "evaluate_columns", watched)

    def count(of: Space) -> Counter[int]:
        places = {name: {v: i for i, v in enumerate(values)} for name, values in of.domains}
        rows: Counter[int] = Counter()
        for table in tables:
            for i in range(len(next(iter(table.values())))):
                rows[of.row_of({name: at[table[name][i]] for name, at in places.items()})] += 1
        return rows

    return count
