"""Measurements as a board would give them whose numbers are known: made by the executor with other numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from cost_models import Platform, load_platform
from db import Measurement
from pto_tune.calibrating.rows import Located
from pto_tune.evaluation import Problem, evaluate_columns
from pto_tune.table import label, parameters
from pto_tune.workloads import workload

Board = Callable[..., list[Measurement]]

TILES: Mapping[str, Any] = {
    "tiles": [16, 64, 256, 1024] * 2,
    "slot_bytes": [8192] * 4 + [32768] * 4,
    "store_cycles": [0] * 8,
}
"""Streams whose time the loads of the vector sub-cores decide."""


@pytest.fixture(scope="session")
def b2() -> Platform:
    return load_platform("ascend910b2")


@pytest.fixture(scope="session")
def board(b2: Platform) -> Board:
    """`board(numbers, table=..., work=..., timing=..., noise=...)`: what a board with these numbers measures."""

    def measure(
        numbers: Mapping[str, float],
        table: Mapping[str, Any] = TILES,
        work: str = "stream",
        timing: str = "event",
        noise: float = 0.0,
        **fields: Any,
    ) -> list[Measurement]:
        model = workload(work)
        e = evaluate_columns(Problem.of(model, b2.with_values(numbers), timing=timing), table)
        assert e.timed.all()
        factor = 1 + noise * np.random.default_rng(7).standard_normal(len(e))
        rows = []
        for i in range(len(e)):
            value = float(e.time_us[i] * factor[i])
            stated = {"family": b2.family, "soc": b2.soc, "platform": b2.name, "timing": timing, "value": value}
            configuration = {p.name: label(p, int(e.table[p.name][i])) for p in parameters(model)}
            rows.append(Measurement(workload=work, configuration=configuration, **{**stated, **fields}))
        return rows

    return measure


@pytest.fixture(scope="session")
def located() -> Callable[[list[Measurement]], list[Located]]:
    def number(measurements: list[Measurement]) -> list[Located]:
        return [Located(f"measurement {i}", m) for i, m in enumerate(measurements, 1)]

    return number
