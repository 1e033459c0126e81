"""Runs made of plain columns, small enough to work out by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dashboards.runview import RunView
from pto_tune.validating.report import Report, validate

VERDICTS = ("ok", "refused", "hang", "overwrite", "race")
RULES = ("l1_capacity", "fifo.divisible")
PIPES = ("AIC.MTE2", "AIC.M", "AIV0.V")


def build_view(**changes: Any) -> RunView:
    """Six configurations of fifo_depth x sync_period: four ok, one refused, one hangs; 1000 MHz, 2 us."""
    nan = np.nan
    fields: dict[str, Any] = {
        "name": "fa-ascend910b2-1",
        "workload": "flash_attention",
        "platform": "ascend910b2",
        "rule_set": "a2a3",
        "timing": "task",
        "problem": {"s0": 4096, "s1": 4096},
        "clock_mhz": 1000.0,
        "launch_us": 2.0,
        "tunables": [("fifo_depth", (2, 4, 8)), ("sync_period", (1, 2, 4)), ("split", ("UP_DOWN",))],
        "rows": np.arange(10, 16),
        "values": {
            "fifo_depth": np.array([2, 4, 4, 8, 8, 8]),
            "sync_period": np.array([1, 2, 2, 4, 2, 1]),
            "split": np.array(["UP_DOWN"] * 6, dtype=object),
        },
        "verdict": np.array([0, 0, 0, 0, 1, 2]),
        "verdict_names": VERDICTS,
        "rule": np.array([-1, -1, -1, -1, 0, -1]),
        "rule_names": RULES,
        "cycles": np.array([9000.0, 7000.0, 8000.0, 6000.0, nan, nan]),
        "bytes": {
            "ub": np.array([1024.0, 2048, 2048, 4096, nan, nan]),
            "l1": np.array([1024.0, 2048, 1024, 4096, nan, nan]),
            "gm_traffic": np.array([10.0, 10, 10, 10, nan, nan]),
        },
        "bound": np.array([0, 1, 1, 2, -1, -1]),
        "bound_names": PIPES,
        "accounts": {13: [("busy", "AIC.M", 3000), ("wait", "qk.ready", 1500), ("busy", "AIV0.V", 5000)]},
        "best_row": 13,
    }
    return RunView(**{**fields, **changes})


@pytest.fixture
def make_view() -> Callable[..., RunView]:
    """`build_view`, handed to tests as a fixture because test folders are no packages."""
    return build_view


@pytest.fixture
def big_view() -> RunView:
    """200,000 ok configurations with random times and bytes, of four tunables."""
    random = np.random.default_rng(7)
    n = 200_000
    domains = {"fifo_depth": (2, 4, 6, 8), "sync_period": (1, 2, 3, 4), "cube_s0": (64, 128, 256)}
    values: dict[str, Any] = {name: random.choice(np.array(domain), n) for name, domain in domains.items()}
    values["split"] = random.choice(np.array(["TILE_UP_DOWN", "TILE_LEFT_RIGHT"], dtype=object), n)
    return build_view(
        tunables=[*domains.items(), ("split", ("TILE_UP_DOWN", "TILE_LEFT_RIGHT"))],
        rows=np.arange(n),
        values=values,
        verdict=np.zeros(n, dtype=np.int64),
        rule=np.full(n, -1),
        cycles=random.integers(100_000, 3_000_000, n).astype(float),
        bytes={"ub": random.integers(1_000, 190_000, n).astype(float), "l1": np.full(n, 65_536.0)},
        bound=random.integers(0, 3, n),
        accounts={},
        best_row=None,
    )


@pytest.fixture(scope="session")
def report() -> Report:
    """Two published tables, predicted."""
    return validate(["gemm", "datacopy"])
