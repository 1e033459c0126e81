"""Static rules: every refusal says rule, value, limit and the nearest legal value."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cost_models import load_platform
from pto_tune import legality
from pto_tune.evaluation import Evaluation, Problem, evaluate_columns
from pto_tune.rule_sets import rule_set_for
from pto_tune.verdicts import VERDICTS
from pto_tune.workloads import workload

B2 = load_platform("ascend910b2")


def run(name: str, **table: object) -> Evaluation:
    return evaluate_columns(Problem.of(workload(name), B2), table)


@pytest.mark.parametrize(
    ("name", "table", "rule", "words"),
    [
        ("flash_attention", {"cube_s0": 256}, "capacity-L0A", ["131072 bytes", "has 65536", "l0 131072"]),
        ("flash_attention", {"s0": 4000}, "s0-divisible", ["s0 = 4000", "cube_s0 = 128"]),
        ("flash_attention", {"s1": 4100}, "s1-divisible", ["s1 = 4100", "tile_s1 = 256"]),
        ("flash_attention", {"tile_s1": 128, "cube_s1": 256}, "tile-divisible", ["cube_s1 = 256"]),
        ("flash_attention", {"qk_preload": 1}, "preload-one", ["qk_preload = 1", "nearest legal: 2"]),
        ("flash_attention", {"cube_s0": 24, "s0": 2400}, "fractal", ["multiples of 16"]),
        ("gemm", {"base_m": 256}, "capacity-L0C", ["262144", "131072"]),
        ("gemm", {"grid_m": 5}, "m-divisible", ["m = 6144", "640"]),
        ("gemm", {"step_k": 7}, "k-divisible", ["k = 6144", "448"]),
        ("gemm", {"dtype": 3}, "mx-family", ["TMATMUL_MX", "nearest legal: fp16 or bf16"]),
        ("gemm", {"dtype": 2, "base_k": 32}, "mx-scales", ["base_k = 32", "64"]),
        ("stream", {"slot_bytes": 100}, "align-out_l0c", ["100 bytes", "multiple of 32", "nearest legal: 128"]),
        ("stream", {"slot_bytes": 131072}, "capacity-L0C", ["262144"]),
    ],
)
def test_a_refusal_names_rule_value_and_limit(name: str, table: dict[str, int], rule: str, words: list[str]) -> None:
    e = run(name, **table)
    assert VERDICTS[e.verdict[0]] == "refused"
    broken = {e.rules[r]: e.sentence(0, int(r)) for r in np.flatnonzero(e.broken[:, 0])}
    assert rule in broken
    for word in words:
        assert word in broken[rule]
    assert "\n" not in broken[rule]


def test_ub_loses_the_scratch_where_the_program_writes_it() -> None:
    work = workload("flash_attention")
    problem = Problem.of(work, B2)
    e = evaluate_columns(problem, {"fifo_depth": 100})
    total = int(e.bytes["UB"][0])
    assert 184 * 1024 < total < 192 * 1024
    assert e.rules[e.rule[0]] == "capacity-UB"
    assert "the top 8192 are the library's scratch" in e.reason(0)
    from dataclasses import replace

    without = evaluate_columns(Problem.of(replace(work, uses_ub_scratch=False), B2), e.table)
    assert VERDICTS[without.verdict[0]] == "ok"


def test_the_three_largest_contributors_are_named_in_order() -> None:
    e = run("flash_attention", cube_s0=256)
    rule = e.rules.index("capacity-UB")
    assert "largest: qk_ub 131072, pv_ub 65536, p_ub 65536" in e.sentence(0, rule) or (
        "largest: qk_ub 131072, " in e.sentence(0, rule)
    )


def test_all_rules_that_apply_are_listed() -> None:
    e = run("flash_attention", cube_s0=256)
    rules = {e.rules[r] for r in np.flatnonzero(e.broken[:, 0])}
    assert {"capacity-L0A", "capacity-L0C", "capacity-UB"} <= rules
    assert len(e.also(0)) == len(rules) - 1


def test_a_refused_row_is_never_executed_and_does_not_disturb_the_others() -> None:
    mixed = run("flash_attention", cube_s0=[128, 256, 128], fifo_depth=[8, 8, 6])
    alone = run("flash_attention", cube_s0=[128, 128], fifo_depth=[8, 6])
    assert mixed.run_row.tolist() == [0, -1, 1]
    assert mixed.cycles[[0, 2]].tolist() == alone.cycles.tolist()
    assert np.isnan(mixed.time_us[1])


@given(st.integers(16, 512), st.integers(16, 512), st.integers(16, 512), st.sampled_from([16, 64, 128]))
@settings(max_examples=60, deadline=None)
def test_capacities_equal_a_count_by_hand(cube_s0: int, cube_s1: int, tile_s1: int, head: int) -> None:
    e = run("flash_attention", cube_s0=cube_s0, cube_s1=cube_s1, tile_s1=tile_s1, head=head, s0=cube_s0, s1=tile_s1)
    sub = max(1, tile_s1 // cube_s1)
    rows = math.ceil(cube_s0 / 2)
    slice_rows = max(1, rows // sub)
    ub = slice_rows * tile_s1 * (4 * 2 + 2 * 2) + rows * head * 4 * 2 + rows * 4 * 4 + 8 * rows * 4
    l0c = cube_s0 * cube_s1 * 4 + cube_s0 * head * 4
    assert (int(e.bytes["UB"][0]), int(e.bytes["L0C"][0])) == (ub, l0c)
    broken = {e.rules[r] for r in np.flatnonzero(e.broken[:, 0])}
    assert ("capacity-UB" in broken) == (ub > 184 * 1024)
    assert ("capacity-L0C" in broken) == (l0c > 128 * 1024)


def test_rule_names_are_those_that_an_evaluation_reports() -> None:
    for name in ("flash_attention", "gemm", "stream"):
        work = workload(name)
        names = legality.rule_names(work, B2, rule_set_for("a2a3"))
        e = run(name)
        assert e.rules[: len(names)] == names
        assert len(set(e.rules)) == len(e.rules)


def test_flag_ids_out_of_range_are_refused() -> None:
    from dataclasses import replace

    work = workload("stream")
    fifos = (replace(work.fifos[0], flag_id=15), *work.fifos[1:])
    e = evaluate_columns(Problem.of(replace(work, fifos=fifos), B2), {})
    assert e.rules[e.rule[0]] == "c2v-flag-id"
    assert "nearest legal FlagID: 14" in e.reason(0)


def test_counts_add_up_to_the_rows() -> None:
    grid = list(itertools.product([64, 128, 256], [64, 128], [2, 4, 8], [2, 4]))
    s0, s1, depth, preload = (list(c) for c in zip(*grid, strict=True))
    e = run("flash_attention", cube_s0=s0, cube_s1=s1, fifo_depth=depth, qk_preload=preload)
    counts = e.counts()
    assert sum(n for by_rule in counts.values() for n in by_rule.values()) == len(grid)
    assert set(counts) == {"ok", "refused", "hang", "overwrite"}
