"""The oracle's rules for shared capacities and waves, against times worked out by hand."""

import pytest
from oracle_examples import buffer, platform, workload
from simulate import kernel_cycles, simulate_shared

from pto_tune.model.expr import name
from pto_tune.model.nodes import Workload
from pto_tune.model.vocabulary import cycles, dma, instr, loop
from pto_tune.rule_sets import rule_set_for

RULES = rule_set_for("a2a3")
LOAD = instr("LOAD", "MTE2", dma("gm_to_l1", 640, 640), publishes=["tile"])
"""640 bytes in 20 cycles."""
USE = instr("USE", "M", cycles(30), takes=["tile"])


def load_and_use() -> Workload:
    return workload((LOAD, USE), buffers=(buffer("tile"),))


def test_a_block_takes_its_own_time_as_long_as_the_capacity_suffices() -> None:
    result = simulate_shared(load_and_use(), platform(l2__bandwidth=64), RULES, {}, active=5)
    assert (result.cycles, result.stretch, result.resource) == (50, 1.0, None)
    assert result.goal_cycles == 640 * 5 / 64


def test_a_lone_transfer_is_stretched_by_demand_over_capacity() -> None:
    example = workload((LOAD,), buffers=(buffer("tile"),))
    result = simulate_shared(example, platform(l2__bandwidth=64), RULES, {}, active=4)
    assert (result.cycles, result.stretch, result.resource) == (40, 2.0, "l2")
    assert result.run.busy["AIC.MTE2"] == 40


def test_the_stretch_is_searched_where_transfers_are_only_a_part_of_the_time() -> None:
    result = simulate_shared(load_and_use(), platform(l2__bandwidth=64), RULES, {}, active=8)
    # The goal is 80. Loads of 20 s before a use of 30: s = 80 / 20 gives 110, and from there on between it
    # and (1, 50), aiming at 80.2: 2.51 gives 81; at most 95 % of the way, 2.4345, gives 79; 2.4798 gives 80.
    assert (result.cycles, result.resource, result.goal_cycles) == (80, "l2", 80.0)
    assert result.stretch == pytest.approx(2.4798)
    assert result.run.busy == {"AIC.MTE2": 50, "AIC.MTE1": 0, "AIC.M": 30, "AIC.FIX": 0}


def test_the_scarcest_resource_is_stretched() -> None:
    example = workload((LOAD, instr("HBM", "MTE2", dma("gm_to_l1", 640, 640, 640))), buffers=(buffer("tile"),))
    on = platform(l2__bandwidth=64, hbm__bandwidth=16)  # 20 cycles a block of L2, 40 of HBM
    result = simulate_shared(example, on, RULES, {}, active=2)
    # the cold read holds the way from L2 for its 80 cycles, and the warm one comes on top with next to nothing; both
    # loads of 20 are stretched to reach that, each rounded up
    assert (result.cycles, result.resource) == (82, "l2_read")
    assert result.stretch == pytest.approx(2.0)


def test_cold_reads_alone_are_limited_by_hbm() -> None:
    example = workload((instr("HBM", "MTE2", dma("gm_to_l1", 640, 640, 640)),))
    result = simulate_shared(example, platform(hbm__bandwidth=16), RULES, {}, active=2)
    assert (result.cycles, result.stretch, result.resource) == (80, 4.0, "hbm")


def test_of_equally_scarce_resources_the_first_is_stretched() -> None:
    on = platform(l2__bandwidth=64, l2__read_bandwidth=64)
    assert simulate_shared(load_and_use(), on, RULES, {}, active=8).resource == "l2"


def test_a_goal_out_of_reach_leaves_the_time_as_it_was() -> None:
    timeless = instr("FREE", "MTE2", dma("gm_to_l1", 1, 1))  # 1e-9 cycles are none
    on = platform(l2__bandwidth=64, dma__gm_to_l1__startup=0, dma__gm_to_l1__rate=1e9)
    result = simulate_shared(workload((timeless,)), on, RULES, {}, active=8)
    assert (result.cycles, result.stretch) == (0, 1.0)


def test_a_hang_is_a_hang_however_many_cores_are_active() -> None:
    example = workload((loop(2, instr("A", "M", acquires=["tile"])),), buffers=(buffer("tile"),))
    assert simulate_shared(example, platform(), RULES, {}, active=8).run.status == "hang"
    assert kernel_cycles(example, platform(), RULES, {}) is None


@pytest.mark.parametrize(("blocks", "expected"), [(0, 0), (2, 20), (4, 40), (10, 2 * 40 + 20)])
def test_equal_blocks_run_in_full_waves_and_a_rest(blocks: int, expected: int) -> None:
    example = workload((LOAD,), buffers=(buffer("tile"),), blocks=name("n"))
    on = platform(l2__bandwidth=64, cores__cube=4)  # four share 64 B/cycle: 40 cycles; two are not held up: 20
    assert kernel_cycles(example, on, RULES, {"n": blocks}) == expected


@pytest.mark.parametrize(("blocks", "expected"), [(1, 10), (2, 20), (3, 10 + 30), (4, 20 + 40), (5, 40 + 50)])
def test_unequal_blocks_go_to_the_core_that_is_free_first(blocks: int, expected: int) -> None:
    compute = instr("A", "M", cycles(10 * (name("block") + 1)))
    example = workload((compute,), blocks=blocks, varying=1)
    assert kernel_cycles(example, platform(cores__cube=2), RULES, {}) == expected


def test_unequal_blocks_share_with_those_of_their_wave() -> None:
    example = workload((LOAD,), buffers=(buffer("tile"),), blocks=6, varying=1)
    on = platform(l2__bandwidth=64, cores__cube=4)
    assert kernel_cycles(example, on, RULES, {}) == 40 + 20


def test_derived_names_may_use_the_block() -> None:
    derived = (("trips", name("block") + name("n")), ("twice", 2 * name("trips")))
    example = workload(
        (loop(name("twice"), instr("A", "M", cycles(10))),), derived=derived, blocks=2, varying=name("n")
    )
    assert kernel_cycles(example, platform(cores__cube=1), RULES, {"n": 2}) == 40 + 60
