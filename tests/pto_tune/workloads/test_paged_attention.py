"""What paged attention shows: three pipes of tiles, pages, preload, and a ring without back-pressure."""

from collections.abc import Callable

import numpy as np
import pytest

from pto_tune.evaluation import Evaluation

Evaluate = Callable[..., Evaluation]
Verdict = Callable[..., str]

A2, A5 = "ascend910b2", "ascend950pr"
both_chips = pytest.mark.parametrize("chip", [A2, A5])
# the public kernel's first case: 256 sequences of 8192 tokens, 16 heads of Q on one of K and V, pages of 128
PUBLIC = {"batch": 256, "heads": 16, "q_rows": 16, "page": 128, "key_tile": 128, "store_wait": 1}
RENDEZVOUS = "a2a3-rendezvous"
"""The headers of that kernel's time."""


def test_the_public_kernel_without_back_pressure(evaluate: Evaluate) -> None:
    """1495 and 1507 us: hw-native-sys/simpler PR 671 (flags and a double buffer) and 694 (TPUSH/TPOP)."""
    e = evaluate("paged_attention", A2, {**PUBLIC, "back_pressure": 0, "context": 8192}, RENDEZVOUS)
    assert e.verdict[0] == 0
    assert e.time_us[0] == pytest.approx(1501, rel=0.2)


def test_one_tile_in_flight_is_enough_for_this_order_of_calls(evaluate: Evaluate) -> None:
    """The load that frees the slot of a tile is over before the next push, since QK runs a tile ahead of PV and softmax
    a tile ahead of the update. (The board takes 1.92 times as long, which this cannot explain.)"""
    e = evaluate("paged_attention", A2, {**PUBLIC, "back_pressure": np.array([1, 0])}, RENDEZVOUS)
    assert list(e.verdict) == [0, 0]
    assert e.cycles[0] == pytest.approx(e.cycles[1], rel=0.01)


@pytest.mark.parametrize("tiles", [63, 64])
def test_the_destructor_of_a_rendezvous_ends_without_back_pressure(tiles: int, evaluate: Evaluate) -> None:
    """It waits for the credit of the constructor alone; later headers count by the tiles that were pushed."""
    e = evaluate("paged_attention", A2, {**PUBLIC, "back_pressure": 0, "context": 128 * tiles}, RENDEZVOUS)
    assert e.verdict[0] == 0


@pytest.mark.parametrize(("tiles", "expected"), [(64, "hang"), (63, "ok")])
def test_preload_bounds_the_tiles_in_flight_but_not_the_drain(tiles: int, expected: str, verdict: Verdict) -> None:
    config = {**PUBLIC, "back_pressure": 0, "context": 128 * tiles}
    assert verdict("paged_attention", A2, config) == expected


def test_a_longer_preload_needs_back_pressure(verdict: Verdict) -> None:
    config = {**PUBLIC, "preload": 2, "context": 128 * 63}
    assert verdict("paged_attention", A2, {**config, "back_pressure": 0}).startswith("overwrite")
    assert verdict("paged_attention", A2, config) == "ok"


@both_chips
@pytest.mark.parametrize(("preload", "expected"), [(1, "ok"), (2, "ok"), (8, "hang")])
def test_a_long_preload_hangs_on_one_slot(chip: str, preload: int, expected: str, verdict: Verdict) -> None:
    assert verdict("paged_attention", chip, {"preload": preload, "fifo_depth": 1}) == expected


@both_chips
def test_small_pages_cost_look_ups_and_short_bursts(chip: str, evaluate: Evaluate) -> None:
    e = evaluate("paged_attention", chip, {"page": np.array([64, 32, 16])})
    loads = e.busy[:, e.problem.code.pipes.index("AIC.MTE2")]
    assert loads[0] < loads[1] < loads[2]
    assert e.cycles[0] <= e.cycles[1] <= e.cycles[2]


@both_chips
def test_a_tile_may_be_a_part_of_a_page_or_several_but_nothing_between(chip: str, verdict: Verdict) -> None:
    for key_tile, page in [(64, 128), (64, 64), (128, 32)]:
        assert verdict("paged_attention", chip, {"key_tile": key_tile, "page": page, "q_rows": 16}) == "ok"
    assert verdict("paged_attention", chip, {"key_tile": 96, "page": 64, "q_rows": 16}) == "refused"


def test_the_rule_says_what_would_be_right(evaluate: Evaluate) -> None:
    e = evaluate("paged_attention", A2, {"key_tile": 96, "page": 64})
    assert e.reason(0) == "key_tile = 96 is neither a multiple nor a divisor of a page of 64 tokens; nearest legal: 128"


@both_chips
def test_rows_beyond_those_that_share_a_kv_head_are_padding(chip: str, evaluate: Evaluate) -> None:
    e = evaluate("paged_attention", chip, {"heads": np.array([64, 16]), "q_rows": 64})
    assert e.cycles[0] == e.cycles[1]


@both_chips
def test_prefill_and_heads_fill_the_same_rows(chip: str, evaluate: Evaluate) -> None:
    e = evaluate("paged_attention", chip, {"heads": np.array([64, 16]), "q_len": np.array([1, 4]), "q_rows": 32})
    assert e.cycles[0] == e.cycles[1]


def test_tokens_of_several_kv_heads_are_bursts_of_their_own(evaluate: Evaluate) -> None:
    """One KV head for 8 times the sequences moves as much as eight heads, in longer bursts."""
    e = evaluate("paged_attention", A2, {"batch": [64, 8], "heads": [64, 512], "kv_heads": [1, 8]})
    assert e.cycles[0] < e.cycles[1]


def test_up_down_beats_no_split(evaluate: Evaluate) -> None:
    """By less than two: every operation of a half costs its start too, and both read the same pages from HBM."""
    e = evaluate("paged_attention", A2, {"split": np.array([1, 0]), "q_rows": 32, "key_tile": 128, "preload": 3,
                                         "fifo_depth": 4})  # fmt: skip
    assert list(e.verdict) == [0, 0]
    assert 1.2 < e.cycles[1] / e.cycles[0] < 2


def test_rings_lie_in_gm_or_in_the_consumers_memory(evaluate: Evaluate) -> None:
    per_block = 2 * (64 * 64 * 4 + 64 * 64 * 2 + 64 * 128 * 4)  # two slots of QK, P and PV
    a2, a5 = (evaluate("paged_attention", chip, {"batch": 1}) for chip in (A2, A5))
    assert (a2.bytes["GM_ring"][0], a5.bytes["GM_ring"][0]) == (per_block, 0)
    assert a5.bytes["GM_traffic"][0] < a2.bytes["GM_traffic"][0]


def test_waiting_for_every_store_takes_longer(evaluate: Evaluate) -> None:
    e = evaluate("paged_attention", A2, {"store_wait": np.array([0, 1])})
    assert e.cycles[0] < e.cycles[1]


def test_local_slots_take_memory_on_a2a3_alone(evaluate: Evaluate) -> None:
    grown = {}
    for chip in (A2, A5):
        e = evaluate("paged_attention", chip, {"local_slot_num": np.array([1, 2])})
        grown[chip] = e.bytes["UB"][1] - e.bytes["UB"][0]
    assert grown == {A2: 64 * 64 * 4 + 64 * 128 * 4, A5: 0}
