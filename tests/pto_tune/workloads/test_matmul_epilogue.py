"""What the fixpipe configuration of a pushed accumulator decides."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from pto_tune.evaluation import Evaluation
from pto_tune.model.nodes import Loop, Node, Tpush
from pto_tune.workloads import workload

Evaluate = Callable[..., Evaluation]
Verdict = Callable[..., str]

A2, A5 = "ascend910b2", "ascend950pr"
both_chips = pytest.mark.parametrize("chip", [A2, A5])


@both_chips
def test_the_output_type_decides_the_bytes_of_the_ring(chip: str, evaluate: Evaluate) -> None:
    e = evaluate("matmul_epilogue", chip, {"quant": np.arange(4), "base_m": 64, "grid_m": 2, "grid_n": 6})
    assert list(e.verdict) == [0] * 4
    tile = 64 * 128
    assert list(e.bytes["GM_ring"] // (2 * 6 * 4)) == [tile * 4, tile * 2, tile * 2, tile]
    assert e.bytes["GM_traffic"][0] > e.bytes["GM_traffic"][1] > e.bytes["GM_traffic"][3]


@both_chips
def test_both_16_bit_types_take_the_same_time_and_more_bytes_take_longer_stores(chip: str, evaluate: Evaluate) -> None:
    e = evaluate("matmul_epilogue", chip, {"quant": np.arange(4), "base_m": 64})
    loads = e.busy[:, e.problem.code.pipes.index("AIV0.MTE2")]
    assert loads[0] > loads[1] == loads[2] > loads[3]
    assert e.cycles[1] == e.cycles[2]


@both_chips
def test_relu_and_atomic_addition_cost_nothing_more(chip: str, evaluate: Evaluate) -> None:
    e = evaluate("matmul_epilogue", chip, {"relu": np.array([0, 1, 0, 1]), "atomic": np.array([0, 0, 1, 1])})
    assert len(set(e.cycles)) == 1


@both_chips
def test_each_activation_costs_its_operations(chip: str, evaluate: Evaluate) -> None:
    e = evaluate("matmul_epilogue", chip, {"activation": np.arange(3)})
    vector = e.busy[:, e.problem.code.pipes.index("AIV0.V")]
    assert vector[0] < vector[1] < vector[2]


def test_an_fp32_tile_needs_no_conversion_back(evaluate: Evaluate) -> None:
    e = evaluate("matmul_epilogue", A2, {"quant": np.array([0, 1]), "base_m": 64})
    vector = e.busy[:, e.problem.code.pipes.index("AIV0.V")]
    assert vector[0] < vector[1]


def test_no_split_leaves_the_second_sub_core_of_a_950_without_a_signal(verdict: Verdict) -> None:
    assert verdict("matmul_epilogue", A5, {"split": 0}).startswith("hang")
    assert verdict("matmul_epilogue", A2, {"split": 0, "base_n": 64}) == "ok"


def test_every_configuration_of_the_problem_is_a_push_of_its_own() -> None:
    def pushes(nodes: tuple[Node, ...]) -> Iterator[Tpush]:
        for n in nodes:
            if isinstance(n, Loop):
                yield from pushes(n.body)
            elif isinstance(n, Tpush):
                yield n

    configs = [p.config for p in pushes(dict(workload("matmul_epilogue").programs)["AIC"])]
    assert len(configs) == len(set(configs)) == 4 * 2 * 2
    assert {c.quant for c in configs if c} == {"NoQuant", "F322F16", "F322BF16", "QF322B8_PRE"}


@both_chips
def test_tiles_that_do_not_divide_the_matrix_are_refused_with_the_nearest_size(chip: str, evaluate: Evaluate) -> None:
    e = evaluate("matmul_epilogue", chip, {"m": 2000})
    assert e.reason(0) == "m = 2000 is not a multiple of grid_m x base_m = 512; nearest legal: 2048"
