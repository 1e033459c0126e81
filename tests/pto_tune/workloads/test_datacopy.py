"""Copies alone: what bounds them, and what the sizes mean."""

from collections.abc import Callable

import pytest

from cost_models import dma, load_platform, sharing
from pto_tune.evaluation import Evaluation
from pto_tune.model import serial
from pto_tune.workloads import workload

Evaluate = Callable[..., Evaluation]

CORES = {"ascend910b1": 24, "ascend950pr": 32}
PATHS = ("gm_to_ub", "gm_to_l1")
each_chip = pytest.mark.parametrize("chip", CORES)
each_target = pytest.mark.parametrize("target", [0, 1])


def test_it_goes_through_json_and_the_check() -> None:
    work = workload("datacopy")
    assert serial.check(work) == []
    assert serial.from_json(serial.to_json(work)) == work
    assert all(t.default in t.domain for t in work.tunables)


@each_chip
@each_target
def test_alone_an_instruction_takes_what_the_model_says(chip: str, target: int, evaluate: Evaluate) -> None:
    """From L2 by one block, which two vector cores are or one cube core: instructions follow each other."""
    n, rows, row_bytes = 500, 16, 256
    size = n * rows * row_bytes * (2, 1)[target]
    table = {"bytes": size, "hbm_reads": 0, "target": target, "blocks": 1, "rows": rows, "row_bytes": row_bytes}
    e = evaluate("datacopy", chip, table)
    one = float(dma.transfer_cycles(load_platform(chip), PATHS[target], rows * row_bytes, row_bytes))
    assert e.verdict[0] == 0
    assert e.cycles[0] == pytest.approx(n * one, rel=0.05)


@each_chip
@each_target
def test_long_bursts_of_all_cores_are_bound_by_hbm(chip: str, target: int, evaluate: Evaluate) -> None:
    size = 2**28
    e = evaluate("datacopy", chip, {"bytes": size, "target": target, "blocks": CORES[chip], "row_bytes": 1024})
    assert e.cycles[0] == pytest.approx(size / sharing.capacity_bytes_per_cycle(load_platform(chip), "hbm"), rel=0.02)
    assert e.bound_names()[0].startswith("HBM-bound")


@each_chip
def test_what_is_read_again_from_l2_takes_less_than_from_hbm(chip: str, evaluate: Evaluate) -> None:
    table = {"bytes": 2**26, "reads": 4, "hbm_reads": [4, 1], "blocks": CORES[chip], "row_bytes": 1024}
    e = evaluate("datacopy", chip, table)
    assert e.cycles[1] < 0.6 * e.cycles[0]


@each_chip
@each_target
def test_short_bursts_cost_more(chip: str, target: int, evaluate: Evaluate) -> None:
    table = {"bytes": 2**26, "hbm_reads": 0, "target": target, "blocks": CORES[chip], "rows": [1, 64, 64],
             "row_bytes": [128, 128, 1024]}  # fmt: skip
    one_row, short, long = evaluate("datacopy", chip, table).cycles
    assert one_row > short > long


def test_half_of_the_cores_take_twice_as_long_where_pipes_bind(evaluate: Evaluate) -> None:
    table = {"bytes": 2**26, "hbm_reads": 0, "rows": 64, "row_bytes": 128, "blocks": [12, 24]}
    few, all_ = evaluate("datacopy", "ascend910b1", table).cycles
    assert few == pytest.approx(2 * all_, rel=0.01)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        ({"hbm_reads": 2, "reads": 1}, "hbm_reads = 2 are more than the reads = 1; nearest legal: 1"),
        ({"row_bytes": 100}, "row_bytes = 100 is not a multiple of 32; nearest legal: 96"),
    ],
)
def test_what_is_refused(table: dict[str, int], reason: str, evaluate: Evaluate) -> None:
    e = evaluate("datacopy", "ascend910b1", table)
    assert e.reason(0) == reason


@each_target
def test_a_tile_has_to_fit(target: int, evaluate: Evaluate) -> None:
    e = evaluate("datacopy", "ascend910b1", {"target": target, "rows": 1024, "row_bytes": [64, 1024]})
    assert e.verdict[0] == 0
    assert "capacity" in e.rules[e.rule[1]]
