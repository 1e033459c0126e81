"""The matrix product by type: what mx types load and where they go, and figures published for them."""

from collections.abc import Callable

import numpy as np
import pytest

from cost_models.dma import transfer_cycles
from pto_tune.evaluation import Evaluation
from pto_tune.model import serial
from pto_tune.workloads import workload

Evaluate = Callable[..., Evaluation]

SIZES = {"m": 1024, "k": 1024, "n": 2048, "grid_m": 4, "grid_n": 8, "base_m": 128, "base_k": 128, "base_n": 256}
FP16, BF16, MXFP8, MXFP4 = range(4)


def gemm(evaluate: Evaluate, chip: str = "ascend950pr", **table: object) -> Evaluation:
    return evaluate("gemm", chip, {**SIZES, "step_k": 2, **table})


def busy(e: Evaluation, pipe: str, row: int = 0) -> float:
    return float(e.busy[row, e.problem.code.pipes.index(f"AIC.{pipe}")])


def test_it_goes_through_json_and_the_check() -> None:
    assert serial.check(workload("gemm")) == []
    assert serial.from_json(serial.to_json(workload("gemm"))) == workload("gemm")


def test_types_of_two_bytes_cost_the_same(evaluate: Evaluate) -> None:
    e = gemm(evaluate, dtype=[FP16, BF16], base_k=64)
    assert e.cycles[0] == e.cycles[1] > 0


@pytest.mark.parametrize("dtype", [MXFP8, MXFP4])
def test_mx_types_are_for_950_alone(dtype: int, evaluate: Evaluate) -> None:
    assert gemm(evaluate, dtype=dtype).reason(0) == ""
    on_a2 = gemm(evaluate, "ascend910b1", dtype=[dtype, BF16], base_k=64)
    assert "TMATMUL_MX" in on_a2.reason(0)
    assert on_a2.rules[on_a2.rule[0]] == "mx-family"
    assert on_a2.reason(1) == ""


def test_scales_come_in_pairs_along_k(evaluate: Evaluate) -> None:
    e = gemm(evaluate, dtype=[MXFP8, MXFP8, FP16], base_k=[32, 96, 32], k=1152, n=2048)
    assert "base_k = 32 is not a multiple of 64" in e.reason(0)
    assert "nearest legal: 128" in e.reason(1)
    assert e.reason(2) == ""


def test_memory_of_data_and_scales(evaluate: Evaluate) -> None:
    e = gemm(evaluate, dtype=[FP16, MXFP8, MXFP4], base_k=64)
    slab = (128 + 256) * 128  # elements of A and B that a load brings
    assert list(e.bytes["L1"]) == [2 * slab * 2, 2 * (slab + slab // 32), 2 * (slab // 2 + slab // 32)]
    # scales lie beside L0A, which data may fill
    assert list(e.bytes["L0A"]) == [2 * 128 * 64 * 2, 2 * 128 * 64, 2 * 128 * 64 // 2]
    assert list(e.bytes["L0C"]) == [128 * 256 * 4] * 3


def test_the_cube_does_twice_and_four_times_as_much_a_cycle(evaluate: Evaluate) -> None:
    e = gemm(evaluate, dtype=[FP16, MXFP8, MXFP4], base_k=64)
    steps = 2 * 1 * 16  # base tiles of a core and slices of K
    head = e.problem.platform["cube.head"]
    fractals = 8 * 16 * np.array([64 // 16, 64 // 32, 64 // 64])
    assert [busy(e, "M", i) for i in range(3)] == [steps * (head + f) for f in fractals]


def test_scales_are_loaded_beside_the_data(evaluate: Evaluate) -> None:
    """Four loads a slab in place of two, and twice as many moves into L0."""
    e = gemm(evaluate, dtype=MXFP8)
    p = e.problem.platform
    slabs = 2 * 4
    nbytes, bursts = [128 * 256, 256 * 256, 128 * 8, 256 * 8], [256, 256, 16 * 8, 16 * 8]
    loads = float(transfer_cycles(p, "gm_to_l1", nbytes, bursts).sum())
    assert busy(e, "MTE2") == pytest.approx(slabs * loads, rel=0.01)
    moves = 2 * (p["dma.l1_to_l0a.startup"] + p["dma.l1_to_l0b.startup"])
    moved = (128 + 256) * (128 + 128 // 32)
    assert busy(e, "MTE1") == pytest.approx(2 * slabs * (moves + moved / p["dma.l1_to_l0a.rate"]), rel=0.01)


def test_an_output_of_two_bytes_halves_what_is_stored(evaluate: Evaluate) -> None:
    e = gemm(evaluate, out_type=[0, 1], base_k=64)
    fixed = 2 * e.problem.platform["fixpipe.fixed"]
    assert busy(e, "FIX") - fixed == pytest.approx(2 * (busy(e, "FIX", 1) - fixed), rel=0.01)
    assert e.cycles[1] < e.cycles[0]


def test_the_published_time_of_the_cube_for_mxfp4(evaluate: Evaluate) -> None:
    """640.16 us for 8192^3 in tiles of 256 x 256 x 256 on 32 cores at 1650 MHz: cannmirror/asc-devkit
    examples/01_simd_cpp_api/05_best_practices/01_matrix_compute/matmul_mxfp4_basic_api_high_performance."""
    size = {"m": 8192, "k": 8192, "n": 8192, "base_m": 256, "base_k": 256, "base_n": 256}
    e = gemm(evaluate, **size, dtype=MXFP4)
    assert e.reason(0) == ""
    assert busy(e, "M") / 1650 == pytest.approx(640.16, rel=0.01)
