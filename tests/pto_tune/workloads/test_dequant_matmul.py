"""Weights through a V2C pipe: what type, split and memory decide."""

from collections.abc import Callable

import numpy as np
import pytest

from pto_tune.evaluation import Evaluation

Evaluate = Callable[..., Evaluation]
Verdict = Callable[..., str]

A2, A5 = "ascend910b2", "ascend950pr"
both_chips = pytest.mark.parametrize("chip", [A2, A5])


@both_chips
def test_int4_weights_are_half_the_bytes_and_one_conversion_more(chip: str, evaluate: Evaluate) -> None:
    e = evaluate("dequant_matmul", chip, {"weights": np.array([0, 1])})
    pipes = e.problem.code.pipes
    assert e.bytes["GM_traffic"][0] - e.bytes["GM_traffic"][1] == 4096 * 12288 // 2
    vector = e.busy[:, pipes.index("AIV0.V")]
    assert vector[0] < vector[1]


def test_no_split_dequantises_everything_twice_on_a2a3(evaluate: Evaluate) -> None:
    e = evaluate("dequant_matmul", A2, {"split": np.array([1, 0])})
    vector = e.busy[:, e.problem.code.pipes.index("AIV0.V")]
    assert list(e.verdict) == [0, 0]
    assert vector[1] > 1.8 * vector[0]


def test_no_split_hangs_on_950_where_the_second_sub_core_gets_no_credits(verdict: Verdict) -> None:
    assert verdict("dequant_matmul", A5, {"split": 0}).startswith("hang")


def test_the_ring_lies_in_gm_or_in_l1(evaluate: Evaluate) -> None:
    slot = 128 * 128 * 2
    for chip, gm, l1 in [(A2, 4, 2), (A5, 0, 4)]:  # local slots on A2/A3
        e = evaluate("dequant_matmul", chip, {"n": 128})
        assert e.bytes["GM_ring"][0] == gm * slot
        assert e.bytes["L1"][0] == l1 * slot + 2 * 64 * 128 * 2


def test_a_deep_ring_of_large_tiles_does_not_fit_into_l1(evaluate: Evaluate) -> None:
    config = {"tile_k": 256, "tile_n": 128, "fifo_depth": 8}
    assert evaluate("dequant_matmul", A2, config).verdict[0] == 0
    refused = evaluate("dequant_matmul", A5, config)
    assert refused.rules[refused.rule[0]] == "capacity-L1"


@both_chips
def test_left_right_loads_short_rows(chip: str, evaluate: Evaluate) -> None:
    e = evaluate("dequant_matmul", chip, {"split": np.array([1, 2])})
    loads = e.busy[:, e.problem.code.pipes.index("AIV0.MTE2")]
    assert loads[0] < loads[1]


@both_chips
def test_small_tiles_of_rows_bring_the_weights_again(chip: str, evaluate: Evaluate) -> None:
    e = evaluate("dequant_matmul", chip, {"tile_m": np.array([64, 16])})
    assert e.bytes["GM_traffic"][1] > 2 * e.bytes["GM_traffic"][0]
