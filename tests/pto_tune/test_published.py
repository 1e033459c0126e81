"""Predictions beside published results. Figures with their sources; limits as wide as the model is today."""

import pytest

from cost_models import load_platform
from pto_tune.evaluation import Evaluation, Problem, evaluate_columns
from pto_tune.workloads import workload


def run(name: str, platform: str, **table: object) -> Evaluation:
    return evaluate_columns(Problem.of(workload(name), load_platform(platform)), table)


# hw-native-sys/pto-isa kernels/manual/common/flash_atten/README.md: 24 cores, head 128, 910B2
@pytest.mark.parametrize(("size", "us"), [(1024, 20.96), (4096, 88.902), (16384, 909.058)])
def test_flash_attention_within_a_quarter(size: int, us: float) -> None:
    e = run(
        "flash_attention", "ascend910b2", s0=size, s1=size, cube_s0=128, cube_s1=128, tile_s1=256, qk_preload=4,
        fifo_depth=8,
    )  # fmt: skip
    assert e.time_us[0] == pytest.approx(us, rel=0.25)


# hw-native-sys/pto-isa kernels/manual/a2a3/gemm_performance: 1506 us at 1850 MHz and the share of busy pipes
def test_gemm_6144() -> None:
    e = run(
        "gemm", "ascend910b1", m=6144, k=6144, n=6144, base_m=128, base_k=64, base_n=256, step_k=4, grid_m=4, grid_n=6
    )
    assert e.time_us[0] == pytest.approx(1506, rel=0.15)
    for pipe, share in (("M", 0.867), ("MTE1", 0.681), ("MTE2", 0.952)):
        assert float(e.utilisation(pipe)[0]) == pytest.approx(share, abs=0.1)


def test_preload_hides_the_dependency_of_qk_p_and_pv() -> None:
    e = run(
        "flash_attention", "ascend910b2", s0=4096, s1=4096, cube_s1=128, tile_s1=128, qk_preload=[1, 2, 4], fifo_depth=8
    )
    one, two, four = e.time_us
    assert one > 1.10 * two
    assert four <= 1.01 * two


# issue 103 of pto-isa: rendezvous against no reverse dependency 1.92 to 1.93; a period of SlotNum 10-12 % slower (172)
def test_rule_sets_in_the_published_order() -> None:
    work = workload("stream")
    b2 = load_platform("ascend910b2")
    table = {"tiles": 4000, "store_cycles": 20000, "load_cycles": 20000, "fifo_depth": 8}
    us = {
        name: float(evaluate_columns(Problem.of(work, b2, name, "device"), table).time_us[0])
        for name in ("a2a3", "a2a3-full-period", "a2a3-rendezvous")
    }
    assert us["a2a3-rendezvous"] / us["a2a3"] == pytest.approx(2.0, abs=0.12)
    assert us["a2a3-full-period"] / us["a2a3"] == pytest.approx(1.125, abs=0.02)
