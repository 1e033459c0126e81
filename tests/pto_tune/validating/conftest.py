"""Outcomes made of plain numbers."""

from collections.abc import Callable
from typing import Any

import pytest

from pto_tune.published.cases import Case
from pto_tune.validating.running import Outcome


@pytest.fixture
def outcome() -> Callable[..., Outcome]:
    """`outcome(id, measured, predicted, size=, depth=, **fields of the case)`: `size` is a problem size of it, `depth`
    a tunable."""

    def make(name: str, measured: float, predicted: float, size: int = 1, depth: int = 1, **fields: Any) -> Outcome:
        case = Case(
            **{
                "table": "t", "id": name, "series": "s", "soc": "", "platform": "ascend910b2", "workload": "stream",
                "configuration": {}, "rules": None, "timing": "task", "quantity": "time", "pipe": "",
                "value": measured, "unit": "us", "work": 0, "use": "validate", "why": "", "slow": False,
                "source": "", "note": "", **fields,
            }
        )  # fmt: skip
        values = {"tiles": size, "fifo_depth": depth}
        return Outcome(case, predicted, "ok", "", "AIC.M", values, ("fifo_depth",))

    return make
