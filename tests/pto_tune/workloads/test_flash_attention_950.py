"""Flash attention on Ascend 950: places of rings, schedules, copies, fused functions, masks, heads, few blocks."""

from collections.abc import Callable
from itertools import combinations, product

import numpy as np
import pytest
from executor_checks import differences, examples
from hypothesis import given
from hypothesis import strategies as st

from cost_models import load_platform
from cost_models.cube import matmul_cycles
from cost_models.vector import op_cycles
from pto_tune.evaluation import Evaluation, Problem, evaluate_columns
from pto_tune.model import serial
from pto_tune.rule_sets import RuleSet, rule_set_for, rule_sets
from pto_tune.workloads import workload

Evaluate = Callable[..., Evaluation]
Verdict = Callable[..., str]

NAME, A2, A5 = "flash_attention_950", "ascend910b2", "ascend950pr"
IN_GM = {"qk_in_gm": 1, "p_in_gm": 1, "pv_in_gm": 1}
PLAIN = {"preload": 0, "kv_copies": 1, "l0_copies": 1, "acc_copies": 1, "fused": 0}
ONE_SLOT = {**PLAIN, "fifo_depth": 1, "pv_fifo_depth": 1}


def cycles(evaluate: Evaluate, **config: object) -> list[int]:
    e = evaluate(NAME, A5, config)
    assert not e.verdict.any(), [e.reason(i) for i in range(len(e))]
    return [int(c) for c in e.cycles]


def test_the_default_is_sound_on_950_alone(evaluate: Evaluate) -> None:
    assert evaluate(NAME, A5).verdict[0] == 0
    assert evaluate(NAME, A2).reason(0).endswith("take flash_attention on A2/A3")


def test_it_goes_through_json_and_the_check() -> None:
    work = workload(NAME)
    assert serial.check(work) == []
    assert serial.from_json(serial.to_json(work)) == work


def test_the_domain_has_hundreds_of_sound_points_for_every_value(evaluate: Evaluate) -> None:
    tunables = workload(NAME).tunables
    points = np.array(list(product(*(t.domain for t in tunables))), dtype=np.int64)
    e = evaluate(NAME, A5, {"s0": 256, "s1": 1024, **{t.name: points[:, i] for i, t in enumerate(tunables)}})
    sound = e.verdict == 0
    assert 300 < sound.sum() < len(e)
    for i, t in enumerate(tunables):
        assert t.default in t.domain
        for value in t.domain:
            assert sound[points[:, i] == value].any(), (t.name, value)


def test_flag_ids_of_its_pipes_do_not_overlap() -> None:
    rules = rule_set_for("a5")
    taken = []
    for f in workload(NAME).fifos:
        direction = rules.direction_of(f.direction, f.gm_form)
        assert direction is not None
        taken.append(set(range(f.flag_id, f.flag_id + direction.flag_ids)))
        assert max(taken[-1]) < 16
    assert all(a.isdisjoint(b) for a, b in combinations(taken, 2))


def test_each_ring_lies_where_it_is_put(evaluate: Evaluate) -> None:
    """One block; slots of one tile of S and dO (fp32) and P (16 bit), a half of them in each UB."""
    e = evaluate(NAME, A5, {"s0": 128, "fifo_depth": 2, "pv_fifo_depth": 1, "qk_in_gm": [0, 1, 0, 0],
                            "p_in_gm": [0, 0, 1, 0], "pv_in_gm": [0, 0, 0, 1]})  # fmt: skip
    s, p = 128 * 128 * 4, 128 * 128 * 2
    assert list(e.bytes["GM_ring"]) == [0, 2 * s, 2 * p, s]
    # popped from GM into two local slots: as much as two slots on chip, and one more than one
    assert list(e.bytes["UB"] - e.bytes["UB"][0]) == [0, 0, 0, s // 2]
    traffic = e.bytes["GM_traffic"]
    assert (traffic[1:] > traffic[0]).all()


@pytest.mark.parametrize("fifo", ["qk", "p", "pv"])
def test_a_tile_at_a_time_every_ring_in_gm_takes_longer(fifo: str, evaluate: Evaluate) -> None:
    on_chip, in_gm = cycles(evaluate, **ONE_SLOT, **{f"{fifo}_in_gm": [0, 1]})
    assert in_gm > on_chip


def test_ub_has_no_room_for_four_slots_of_both_products(evaluate: Evaluate, verdict: Verdict) -> None:
    """Half a tile of 128 x 128 in fp32 is 32 KiB; 240 KiB are usable."""
    assert verdict(NAME, A5, {"fifo_depth": 4, "pv_fifo_depth": 1}) == "ok"
    e = evaluate(NAME, A5, {"fifo_depth": 4, "pv_fifo_depth": 4})
    assert e.reason(0).startswith("UB needs ")
    assert verdict(NAME, A5, {"fifo_depth": 4, "pv_fifo_depth": 4, "pv_in_gm": 1, "local_slot_num": 1}) == "ok"


def test_each_step_of_a_ladder_is_faster(evaluate: Evaluate) -> None:
    """One slot in GM; on chip; groups of two in two slots; two operands in L0 and K and V ahead; rolling; fused."""
    steps = [
        {**ONE_SLOT, **IN_GM},
        ONE_SLOT,
        {**PLAIN, "fifo_depth": 2, "pv_fifo_depth": 2, "group": 2},
        {**PLAIN, "fifo_depth": 2, "pv_fifo_depth": 2, "group": 2, "l0_copies": 2},
        {**PLAIN, "fifo_depth": 2, "pv_fifo_depth": 2, "group": 2, "l0_copies": 2, "kv_copies": 2},
        {"fused": 0},
        {},
    ]
    times = [cycles(evaluate, s0=128, **step)[0] for step in steps]
    assert times == sorted(times, reverse=True)
    assert times[0] > times[1] > times[2] > times[-2] > times[-1]


@pytest.mark.parametrize("copies", ["kv_copies", "l0_copies", "acc_copies"])
def test_a_second_copy_overlaps_load_product_and_drain(copies: str, evaluate: Evaluate) -> None:
    one, two = cycles(evaluate, **{copies: [1, 2]})
    assert two < one


def test_rolling_and_fused_it_is_bound_by_the_cube(evaluate: Evaluate) -> None:
    e = evaluate(NAME, A5, {"s0": 128, "s1": 32768})
    assert e.busy[0, e.problem.code.pipes.index("AIC.M")] > 0.97 * e.cycles[0]
    single = evaluate(NAME, A5, {"s0": 128, "s1": 32768, "fused": 0})
    assert single.busy[0, single.problem.code.pipes.index("AIV0.V")] > 0.97 * single.cycles[0]


def test_a_fused_softmax_is_as_fast_as_a_published_one() -> None:
    """128 x 128 fp32 in registers: 1785 cycles, cannmirror/asc-devkit examples/01_simd_cpp_api/05_best_practices/
    02_reg_compute/softmax_high_performance/README_en.md, case 5; it scales by the sum as well."""
    functions = ("rowmax", "exp", "muls")
    total = sum(float(op_cycles(load_platform(A5), f, 128, 128, 4)) for f in functions)
    assert total == pytest.approx(1785, rel=0.1)


def test_one_slot_hangs_where_products_run_far_ahead(verdict: Verdict) -> None:
    one = {"fifo_depth": 1, "pv_fifo_depth": 1}
    assert verdict(NAME, A5, {**one, "preload": 1}) == "ok"
    assert verdict(NAME, A5, {**one, "preload": 8}) == "hang"
    assert verdict(NAME, A5, {**ONE_SLOT, "group": 8}) == "hang"


@pytest.mark.parametrize(("tile_m", "tile_n"), [(128, 128), (128, 64), (64, 128)])
def test_a_causal_block_ends_with_the_tile_of_its_last_row(tile_m: int, tile_n: int) -> None:
    """All four or eight blocks on one core: two products a tile."""
    s, head = 512, 128
    platform = load_platform(A5, {"cores.cube": 1})
    config = {"s0": s, "s1": s, "causal": 1, "tile_m": tile_m, "tile_n": tile_n, "fifo_depth": 2, "acc_copies": 2}
    e = evaluate_columns(Problem.of(workload(NAME), platform, None), config)
    assert e.verdict[0] == 0, e.reason(0)
    tiles = sum(1 for row in range(0, s, tile_m) for key in range(0, s, tile_n) if key < row + tile_m)
    qk, pv = (float(matmul_cycles(platform, tile_m, k, n, 2)) for k, n in ((head, tile_n), (tile_n, head)))
    # beside the products there are flags
    assert tiles * (qk + pv) <= e.busy[0, e.problem.code.pipes.index("AIC.M")] < 1.05 * tiles * (qk + pv)


def test_a_causal_mask_saves_up_to_half(evaluate: Evaluate) -> None:
    """128 blocks on 32 cores."""
    full, masked = cycles(evaluate, s0=16384, s1=16384, causal=[0, 1])
    assert 0.5 < masked / full < 0.65


@pytest.mark.parametrize(("head", "more"), [(64, {}), (128, {}), (192, {"cube_k": 64}), (256, {"cube_k": 64})])
def test_heads_from_64_to_256(head: int, more: dict[str, int], verdict: Verdict) -> None:
    small = {"tile_m": 64, "fifo_depth": 2, "acc_copies": 2, **more}
    assert verdict(NAME, A5, {"head": head, **small}) == "ok"


def test_a_head_that_is_no_whole_number_of_products_is_refused(evaluate: Evaluate) -> None:
    e = evaluate(NAME, A5, {"head": 192, "fifo_depth": 1, "acc_copies": 1})
    assert e.reason(0) == "head = 192 is above cube_k = 128 and not a multiple; nearest legal: 256"


def test_fewer_blocks_than_cores_take_as_long_as_one_wave(evaluate: Evaluate) -> None:
    """32 cores: 1 and 32 blocks are a wave, 33 are two."""
    one, all_cores, more = cycles(evaluate, s0=[128, 32 * 128, 33 * 128], s1=8192)
    assert one <= all_cores < 1.05 * one
    assert 1.9 * one < more < 2.1 * one


@pytest.mark.parametrize("rules", rule_sets("a5"), ids=lambda r: r.name)
def test_cycles_and_hangs_are_the_oracles(rules: RuleSet) -> None:
    values = {
        "s0": [64, 128], "s1": [128, 256, 512], "head": [64, 128], "causal": [0, 0, 1], "tile_m": [64],
        "tile_n": [32, 64], "cube_k": [32, 64], "group": [1, 1, 2], "preload": [0, 1, 3], "fifo_depth": [1, 2, 4],
        "pv_fifo_depth": [1, 2], "kv_copies": [1, 2], "l0_copies": [1, 2], "acc_copies": [1, 2, 4],
        "qk_in_gm": [0, 1], "p_in_gm": [0, 1], "pv_in_gm": [0, 1], "fused": [0, 1], "local_slot_num": [1, 2],
    }  # fmt: skip

    @given(st.lists(st.fixed_dictionaries({k: st.sampled_from(v) for k, v in values.items()}), min_size=4, max_size=4))
    @examples(6)
    def agrees(rows: list[dict[str, int]]) -> None:
        assert differences(workload(NAME), load_platform(A5), rules, rows) == []

    agrees()
