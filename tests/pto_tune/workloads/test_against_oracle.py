"""Cycles, busy cycles and hangs of these workloads are the oracle's, exactly, on both families."""

from functools import cache

import pytest
from executor_checks import differences, examples
from hypothesis import given
from hypothesis import strategies as st

from cost_models import Platform, load_platform
from pto_tune.rule_sets import RuleSet, rule_sets
from pto_tune.workloads import workload

FAMILIES = {"a2a3": "ascend910b2", "a5": "ascend950pr"}
ALL_RULE_SETS = [r for family in FAMILIES for r in rule_sets(family)]

SMALL = {
    "paged_attention": {
        "batch": [1], "heads": [16, 64], "context": [64, 192, 512], "page": [16, 64], "key_tile": [32, 64, 128],
        "q_rows": [16, 32], "preload": [1, 2, 4], "fifo_depth": [1, 2, 3, 4], "split": [0, 1],
        "local_slot_num": [1, 2], "sync_period": [0, 0, 1], "back_pressure": [1, 1, 0], "store_wait": [0, 1],
    },
    "matmul_epilogue": {
        "m": [256], "n": [512], "k": [256, 512], "grid_m": [1], "grid_n": [1, 2], "base_m": [64, 128],
        "base_n": [64, 128], "base_k": [64], "step_k": [2, 4], "quant": [0, 1, 2, 3], "relu": [0, 1],
        "atomic": [0, 1], "activation": [0, 1, 2], "fifo_depth": [1, 2, 3], "split": [0, 1, 2],
        "local_slot_num": [1, 2],
    },
    "dequant_matmul": {
        "m": [16, 64], "n": [128], "k": [256, 1024], "tile_m": [16], "tile_n": [64, 128], "tile_k": [64, 128],
        "cube_k": [64], "weights": [0, 1], "fifo_depth": [1, 2, 3, 4], "split": [0, 1, 2], "sync_period": [0, 0, 1],
    },
    "bidirectional": {
        "rows": [64], "keys": [64, 192, 512], "head": [64, 128], "tile_m": [32, 64], "tile_n": [32, 64],
        "preload": [1, 2, 4], "fifo_depth": [1, 2, 3, 4], "split": [0, 1, 2], "sync_period": [0, 0, 1],
    },
    "stream": {
        "direction": [1, 2], "flow": [0, 1], "tiles": [1, 3, 8, 25], "slot_bytes": [2048, 16896],
        "fifo_depth": [1, 2, 4], "split": [0, 1, 2], "hold": [1, 1, 2, 3], "second_sub_core": [1, 1, 0],
        "allocate": [1, 1, 0], "free": [1, 1, 0], "store_cycles": [-1, 900], "load_cycles": [-1, 1000],
        "consumer_cycles": [0, 700], "local_slot_num": [1, 2],
    },
}  # fmt: skip


@cache
def platform(family: str) -> Platform:
    return load_platform(FAMILIES[family])


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("rules", ALL_RULE_SETS, ids=lambda r: r.name)
def test_every_rule_set(name: str, rules: RuleSet) -> None:
    @given(
        st.lists(st.fixed_dictionaries({k: st.sampled_from(v) for k, v in SMALL[name].items()}), min_size=4, max_size=4)
    )
    @examples(4)
    def agrees(rows: list[dict[str, int]]) -> None:
        assert differences(workload(name), platform(rules.family), rules, rows) == []

    agrees()
