"""What a bare stream shows of its pipe. t: cycles of a store and of a load, S: SlotNum, N: tiles."""

from collections.abc import Callable

import numpy as np
import pytest

from pto_tune.evaluation import Evaluation

Evaluate = Callable[..., Evaluation]
Verdict = Callable[..., str]

A2, A5 = "ascend910b2", "ascend950pr"
GLOBAL, TILE = 0, 1
T = 1000
both_families = pytest.mark.parametrize("family", ["a2a3", "a5"])
CHIP = {"a2a3": A2, "a5": A5}


def balanced(family: str, flow: int) -> dict[str, int]:
    """Store and load of T; into a ring in UB (950, TileData) the consumer's compute is what holds a slot."""
    in_ub = family == "a5" and flow == TILE
    return {
        "flow": flow,
        "slot_bytes": 16384,
        "store_cycles": T,
        **({"consumer_cycles": T} if in_ub else {"load_cycles": T}),
    }


@both_families
@pytest.mark.parametrize("flow", [GLOBAL, TILE])
@pytest.mark.parametrize("rounds", [1, 2, 25, 1000])
def test_period_eight_takes_nine_kt_and_period_four_eight_k_and_one(
    family: str, flow: int, rounds: int, evaluate: Evaluate
) -> None:
    config = {**balanced(family, flow), "tiles": 8 * rounds, "fifo_depth": 8}
    full = evaluate("stream", CHIP[family], config, f"{family}-full-period", free=True)
    half = evaluate("stream", CHIP[family], config, family, free=True)
    assert full.cycles[0] == 9 * rounds * T
    assert half.cycles[0] == (8 * rounds + 1) * T


@both_families
@pytest.mark.parametrize("flow", [GLOBAL, TILE])
def test_rendezvous_takes_both_stages_for_every_tile(family: str, flow: int, evaluate: Evaluate) -> None:
    config = {**balanced(family, flow), "tiles": 100, "fifo_depth": 8}
    assert evaluate("stream", CHIP[family], config, f"{family}-rendezvous", free=True).cycles[0] == 2 * 100 * T


@pytest.mark.parametrize("direction", [1, 2])
@pytest.mark.parametrize("split", [0, 1, 2])
def test_both_flows_take_the_same_time_on_a2a3_where_transfers_bind(
    direction: int, split: int, evaluate: Evaluate
) -> None:
    sizes = {"direction": direction, "split": split, "tiles": 1000}
    by_flow = [evaluate("stream", A2, {**sizes, "flow": flow}).cycles[0] for flow in (GLOBAL, TILE)]
    assert by_flow[0] == pytest.approx(by_flow[1], rel=0.01)


@pytest.mark.parametrize("flow", [GLOBAL, TILE])
@pytest.mark.parametrize("direction", [1, 2])
def test_local_slot_num_does_not_change_the_time(flow: int, direction: int, evaluate: Evaluate) -> None:
    config = {"flow": flow, "direction": direction, "slot_bytes": 8192, "consumer_cycles": 500}
    e = evaluate("stream", A2, {**config, "local_slot_num": np.array([2, 8])})
    assert list(e.verdict) == [0, 0]
    assert e.cycles[0] == e.cycles[1]


def test_nothing_protects_a_single_local_slot(verdict: Verdict) -> None:
    one = {"slot_bytes": 16384, "local_slot_num": 1}
    assert verdict("stream", A2, {**one, "flow": TILE}) == "overwrite"
    assert verdict("stream", A2, {**one, "flow": GLOBAL}) == "ok"
    assert verdict("stream", A5, {**one, "flow": TILE}) == "ok"  # nothing is loaded there


def test_a_950_slot_is_held_while_the_consumer_computes(evaluate: Evaluate) -> None:
    """One slot: on A2/A3 it is free again once it is loaded, so that the next store hides behind the compute."""
    config = {"flow": TILE, "tiles": 50, "fifo_depth": 1, "store_cycles": T, "load_cycles": 0, "consumer_cycles": T}
    assert evaluate("stream", A2, config, free=True).cycles[0] == 51 * T
    assert evaluate("stream", A5, config, free=True).cycles[0] == 100 * T


# switches


@pytest.mark.parametrize(
    ("tiles", "expected"), [(1, "ok"), (2, "hang"), (4, "hang, overwrite"), (5, "overwrite")], ids=str
)
@pytest.mark.parametrize("flow", [GLOBAL, TILE])
def test_without_back_pressure_two_slots_hang_for_even_numbers_of_tiles(
    tiles: int, expected: str, flow: int, verdict: Verdict
) -> None:
    config = {"flow": flow, "fifo_depth": 2, "tiles": tiles, "allocate": 0, "free": 0}
    assert verdict("stream", A2, config) == expected


@pytest.mark.parametrize("flow", [GLOBAL, TILE])
def test_leaving_the_second_sub_core_out(flow: int, verdict: Verdict) -> None:
    config = {"flow": flow, "slot_bytes": 16384, "split": 0, "second_sub_core": 0}
    assert verdict("stream", A2, config) == "hang"
    assert verdict("stream", A5, config) == "ok"
    assert verdict("stream", A5, {**config, "split": 1}) == "hang"


# a consumer that holds h tiles and frees them together


@pytest.mark.parametrize("depth", [4, 8])
@pytest.mark.parametrize(("hold", "expected"), [(1, "ok"), (2, "overwrite"), (3, "hang"), (4, "overwrite")])
def test_tiles_freed_together_give_the_wrong_number_of_credits(
    depth: int, hold: int, expected: str, verdict: Verdict
) -> None:
    """TFREE looks at the last popped tile, h times: too many credits where that ends a period, none otherwise."""
    assert verdict("stream", A2, {"fifo_depth": depth, "hold": hold, "tiles": 12}) == expected


@pytest.mark.parametrize("hold", [2, 3, 4, 5])
@pytest.mark.parametrize("tiles", [1, 2, 7, 12])
def test_every_tile_is_popped_whatever_is_held(hold: int, tiles: int, evaluate: Evaluate) -> None:
    """A ring that never fills: the same loads, whoever frees when."""
    config = {"tiles": tiles, "fifo_depth": 250, "load_cycles": T, "free": 0, "consumer_cycles": 10}
    held = evaluate("stream", A2, {**config, "hold": hold})
    one = evaluate("stream", A2, config)
    loads = held.problem.code.pipes.index("AIV0.MTE2")
    assert held.busy[0, loads] == one.busy[0, loads] == tiles * T


# splits


def test_up_down_odd_needs_an_odd_number_of_rows_and_a_tile_through_gm(verdict: Verdict) -> None:
    odd = {"flow": TILE, "split": 3, "slot_bytes": 33 * 512}
    assert verdict("stream", A2, odd) == "ok"
    assert verdict("stream", A2, {**odd, "split": 1}).startswith("refused")  # 16 rows each would leave one out
    assert verdict("stream", A2, {**odd, "flow": GLOBAL}).startswith("refused")
    assert verdict("stream", A2, {**odd, "direction": 2}).startswith("refused")
    assert verdict("stream", A5, odd).startswith("refused")


def test_the_two_sub_cores_of_an_odd_split_load_their_own_rows(evaluate: Evaluate) -> None:
    e = evaluate("stream", A2, {"flow": TILE, "split": 3, "slot_bytes": 9 * 512, "tiles": 10})
    first, second = (e.busy[0, e.problem.code.pipes.index(f"AIV{i}.MTE2")] for i in (0, 1))
    assert first > second


def test_up_down_beats_left_right_and_no_split_where_loads_bind(evaluate: Evaluate) -> None:
    """A half in one burst, a half in a burst a row, the whole tile on both sub-cores."""
    sizes = {"tiles": 200, "slot_bytes": 65536, "store_cycles": 0}
    e = evaluate("stream", A2, {**sizes, "split": np.array([1, 2, 0])})
    assert e.cycles[0] < min(e.cycles[1], e.cycles[2])


# what the platforms make of a flow and a direction


def test_a_950_v2c_ring_in_gm_is_a_race_and_in_l1_it_is_not(verdict: Verdict) -> None:
    assert verdict("stream", A5, {"flow": GLOBAL, "direction": 2}) == "race"
    assert verdict("stream", A5, {"flow": TILE, "direction": 2}) == "ok"


def test_only_rings_in_gm_take_memory_there(evaluate: Evaluate) -> None:
    for flow, chip, nbytes in [(GLOBAL, A2, 8), (TILE, A2, 8), (GLOBAL, A5, 8), (TILE, A5, 0)]:
        assert evaluate("stream", chip, {"flow": flow}).bytes["GM_ring"][0] == nbytes * 32768
    assert evaluate("stream", A5, {"flow": TILE, "fifo_depth": 4}).bytes["UB"][0] == 4 * 32768
    assert evaluate("stream", A2, {"flow": TILE}).bytes["UB"][0] == 2 * 32768


def test_buffers_stand_only_where_they_are_used(evaluate: Evaluate) -> None:
    for direction, used, unused in [(1, "L0C", "L1"), (2, "L1", "L0C")]:
        e = evaluate("stream", A2, {"direction": direction})
        assert e.bytes[used][0] > 0
        assert e.bytes[unused][0] == 0
