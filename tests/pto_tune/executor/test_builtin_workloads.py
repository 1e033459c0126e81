"""On built-in workloads, the executor's cycles, busy cycles, stretch and hangs are the oracle's, exactly."""

from collections.abc import Mapping
from itertools import product
from typing import Any

import pytest
from executor_checks import RULE_SETS, differences, examples, expected, platform, run
from hypothesis import given
from hypothesis import strategies as st
from simulate import kernel_cycles

from pto_tune.rule_sets import RuleSet
from pto_tune.workloads import workload

every_rule_set = pytest.mark.parametrize("rules", RULE_SETS, ids=lambda r: r.name)
rule_sets = st.sampled_from(RULE_SETS)


def choice(**values: list[int]) -> st.SearchStrategy[dict[str, int]]:
    return st.fixed_dictionaries({name: st.sampled_from(v) for name, v in values.items()})


STREAMS = choice(
    direction=[1, 2],
    split=[0, 1, 2],
    tiles=[1, 2, 3, 7, 8, 9, 40, 41, 64, 113],
    slot_bytes=[32, 1024, 32768],
    fifo_depth=[1, 2, 3, 4, 5, 6, 7, 8, 9, 12],
    sync_period=[0, 0, 0, 1, 2, 3],
    producer_cycles=[0, 1, 700, 1000, 1001],
    store_cycles=[-1, 0, 999, 1000],
    load_cycles=[-1, 0, 1000, 1003],
    consumer_cycles=[0, 500, 1000, 2000],
)

FLASH = choice(
    s0=[128, 256],
    s1=[512, 768, 1024, 1280, 2048],
    head=[64, 128],
    cube_s0=[64, 128],
    cube_s1=[64, 128],
    tile_s1=[128, 256],
    qk_preload=[1, 2, 3, 4, 6],
    fifo_depth=[1, 2, 3, 4, 5, 8, 12],
    pv_fifo_depth=[0, 0, 2, 4],
    sync_period=[0, 0, 1, 2],
    split=[0, 1],
)

GEMM = choice(
    m=[256, 512],
    n=[512, 1024],
    k=[256, 512, 1024],
    base_m=[64, 128],
    base_n=[128, 256],
    base_k=[32, 64],
    step_k=[1, 2, 4],
    grid_m=[1, 2],
    grid_n=[1, 2],
)


@every_rule_set
def test_every_direction_split_and_depth_of_a_stream(rules: RuleSet) -> None:
    rows = [
        {"direction": d, "split": s, "fifo_depth": depth, "tiles": tiles}
        for d, s, depth, tiles in product((1, 2), (0, 1, 2), (1, 2, 3, 4, 7, 8), (1, 9, 24))
    ]
    assert differences(workload("stream"), platform(), rules, rows) == []


@given(rows=st.lists(STREAMS, min_size=1, max_size=8), rules=rule_sets)
@examples(25)
def test_streams(rows: list[dict[str, int]], rules: RuleSet) -> None:
    assert differences(workload("stream"), platform(), rules, rows) == []


@every_rule_set
def test_flash_attention_with_even_and_odd_tile_counts(rules: RuleSet) -> None:
    rows = [
        {"s0": 128, "s1": 256 * tiles, "qk_preload": preload, "fifo_depth": depth}
        for tiles, (preload, depth) in product((1, 2, 3, 4, 5, 9, 16), ((1, 4), (2, 4), (4, 8), (4, 2), (3, 5)))
    ]
    assert differences(workload("flash_attention"), platform(), rules, rows) == []


@given(rows=st.lists(FLASH, min_size=1, max_size=4), rules=rule_sets)
@examples(20)
def test_flash_attention(rows: list[dict[str, int]], rules: RuleSet) -> None:
    assert differences(workload("flash_attention"), platform(), rules, rows) == []


@every_rule_set
def test_flash_attention_with_a_causal_mask(rules: RuleSet) -> None:
    rows = [
        {"s0": 768, "s1": 768, "causal": 1, "tile_s1": tile, "fifo_depth": depth}
        for tile, depth in ((128, 8), (256, 8), (256, 4), (256, 2))
    ]
    assert differences(workload("flash_attention"), platform({"cores.cube": 4}), rules, rows) == []


@every_rule_set
def test_gemm_has_no_pipes_and_no_rule_set_changes_it(rules: RuleSet) -> None:
    config = {"m": 512, "k": 512, "n": 1024, "grid_m": 2, "grid_n": 2}
    assert differences(workload("gemm"), platform(), rules, [config]) == []
    assert (
        run(workload("gemm"), platform(), rules, [config]).cycles[0]
        == (run(workload("gemm"), platform(), RULE_SETS[0], [config]).cycles[0])
    )


@given(rows=st.lists(GEMM, min_size=1, max_size=4))
@examples(15)
def test_gemm(rows: list[dict[str, int]]) -> None:
    assert differences(workload("gemm"), platform(), RULE_SETS[0], rows) == []


# Shared capacity and waves

SCARCE = [
    ("stream", {"tiles": 40}, {"l2.bandwidth": 20}),
    ("stream", {"tiles": 40, "direction": 2}, {"l2.bandwidth": 7}),
    ("flash_attention", {"s0": 512, "s1": 1024}, {"l2.bandwidth": 60, "cores.cube": 4}),
    ("flash_attention", {"s0": 512, "s1": 1280, "fifo_depth": 5}, {"l2.bandwidth": 150, "cores.cube": 4}),
    ("flash_attention", {"s0": 768, "s1": 768, "causal": 1}, {"l2.bandwidth": 60, "cores.cube": 4}),
    ("gemm", {"m": 768, "k": 512, "n": 1536}, {"l2.bandwidth": 500}),
    ("gemm", {"m": 768, "k": 512, "n": 1536}, {"hbm.bandwidth": 50}),
]


@every_rule_set
@pytest.mark.parametrize(("name", "config", "overrides"), SCARCE)
def test_transfers_stretch_where_a_shared_capacity_is_scarce(
    name: str, config: dict[str, int], overrides: dict[str, float], rules: RuleSet
) -> None:
    chip = platform(overrides)
    oracle = expected(workload(name), chip, rules, config)
    if rules is RULE_SETS[0]:
        assert oracle.cycles is not None
    assert oracle.cycles is None or oracle.stretch > 1
    assert differences(workload(name), chip, rules, [config]) == []


@given(
    rows=st.lists(FLASH, min_size=1, max_size=2),
    rules=rule_sets,
    bandwidth=st.floats(50, 2000),
    resource=st.sampled_from(["l2.bandwidth", "l2.read_bandwidth", "hbm.bandwidth"]),
)
@examples(12)
def test_flash_attention_at_any_capacity(
    rows: list[dict[str, int]], rules: RuleSet, bandwidth: float, resource: str
) -> None:
    assert differences(workload("flash_attention"), platform({resource: bandwidth}), rules, rows) == []


WAVES: list[tuple[str, Mapping[str, int], int]] = [
    ("flash_attention", {"s0": 1024, "s1": 512}, 3),  # 8 blocks: two full waves and 2
    ("flash_attention", {"s0": 1024, "s1": 512}, 8),  # one full wave
    ("flash_attention", {"s0": 1024, "s1": 512}, 24),  # a part of a wave
    ("flash_attention", {"s0": 1024, "s1": 1024, "causal": 1}, 3),
    ("flash_attention", {"s0": 1024, "s1": 1024, "causal": 1, "tile_s1": 128}, 5),
    ("gemm", {"m": 512, "k": 256, "n": 1536, "grid_m": 2, "grid_n": 3}, 4),
]


@pytest.mark.parametrize("bandwidth", [1e9, 60.0])
@pytest.mark.parametrize(("name", "config", "cores"), WAVES)
def test_blocks_run_in_waves(name: str, config: Mapping[str, int], cores: int, bandwidth: float) -> None:
    chip, rules = platform({"cores.cube": cores, "l2.bandwidth": bandwidth}), RULE_SETS[0]
    assert differences(workload(name), chip, rules, [config]) == []
    cycles: Any = run(workload(name), chip, rules, [config]).cycles[0]
    assert cycles == kernel_cycles(workload(name), chip, rules, config)
