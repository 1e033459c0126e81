"""The oracle on FIFOs between cores, against times worked out by hand."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_examples import fifo, platform, workload
from simulate import FifoCounts, OracleResult, simulate

from cost_models import Platform, load_platform
from pto_tune.model.expr import name
from pto_tune.model.nodes import Node
from pto_tune.model.vocabulary import cycles, instr, loop, talloc, tfree, tpop, tpush
from pto_tune.rule_sets import rule_set_for
from pto_tune.workloads import workload as built_in

SUB = name("sub")


def c2v(
    tiles: int,
    *,
    load: int = 30,
    rules: str = "a2a3",
    slots: int = 2,
    period: int = 0,
    on: Platform | None = None,
) -> OracleResult:
    """Stores of 20 cycles, loads of `load` in both sub-cores."""
    producer = (talloc("pipe"), instr("STORE", "FIX", cycles(20)), tpush("pipe"))
    consumer = (tpop("pipe"), instr("LOAD", "MTE2", cycles(load)), tfree("pipe"))
    return simulate(
        workload((loop(tiles, *producer),), (loop(tiles, *consumer),), fifos=(fifo("pipe", "C2V", slots, period),)),
        on or platform(),
        rule_set_for("a2a3", rules),
        {},
        with_events=True,
    )


def v2c(tiles: int, *, on: Platform | None = None) -> OracleResult:
    """Stores of 10 cycles in AIV0 and 40 in AIV1, loads of 5."""
    producer = (talloc("pipe"), instr("STORE", "MTE3", cycles(10 + 30 * SUB)), tpush("pipe"))
    consumer = (tpop("pipe"), instr("LOAD", "MTE2", cycles(5)), tfree("pipe"))
    return simulate(
        workload((loop(tiles, *consumer),), (loop(tiles, *producer),), fifos=(fifo("pipe", "V2C"),)),
        on or platform(),
        rule_set_for("a2a3"),
        {},
        with_events=True,
    )


def starts(result: OracleResult, pipe: str) -> list[int]:
    return [start for where, _, start, _ in result.events if where == pipe]


def test_two_slots_with_every_cost_of_synchronisation() -> None:
    result = c2v(4, on=platform(scalar__issue=1, flags__set=2, flags__wait=3, flags__cross_core_latency=10))
    # Cube: stores 1-21 and 21-41; flags set at 23 and 43, seen at 33 and 53. One credit stands for two tiles.
    # Vector: goes on at 33 + 3 and 53 + 3; loads 37-67 and 67-97; credit set at 99, seen at 109.
    # Cube: goes on at 109 + 3; stores 113-133 and 133-153; flags seen at 145 and 165.
    # Vector: loads 149-179 and 179-209; credit seen at 221, for which the destructor waits: 221 + 3.
    assert starts(result, "AIC.FIX") == [1, 21, 113, 133]
    assert starts(result, "AIV0.MTE2") == starts(result, "AIV1.MTE2") == [37, 67, 149, 179]
    assert result.cycles == 224
    assert result.waits == {
        "pipe.free": (109 - 4) + (221 - 116),
        "pipe.ready": 2 * ((33 - 0) + (53 - 37) + (145 - 58) + (165 - 149)),
    }
    assert result.counts == {"pipe": FifoCounts({"AIC": 4}, {"AIC": 4}, {"AIV0": 4, "AIV1": 4})}
    assert result.credits_left == 0


def test_the_cube_takes_a_tile_when_both_sub_cores_have_signalled() -> None:
    result = v2c(2)
    assert starts(result, "AIC.MTE2") == [40, 80]
    assert result.waits == {"pipe.ready": 40 + 40, "pipe.free": 85 + 85}  # free: at destruction, in both
    assert result.cycles == 85


def test_a_signal_leaves_when_the_last_instruction_before_it_is_complete() -> None:
    producer = (instr("BEFORE", "FIX", cycles(20)), tpush("pipe"), instr("AFTER", "FIX", cycles(500)))
    consumer = (tpop("pipe"), instr("LOAD", "MTE2", cycles(1)))
    example = workload(producer, consumer, fifos=(fifo(),))
    result = simulate(example, platform(), rule_set_for("a2a3"), {}, with_events=True)
    assert starts(result, "AIV0.MTE2") == [20]
    assert starts(result, "AIC.FIX") == [0, 20]


def test_a_signal_behind_nothing_leaves_when_it_is_issued() -> None:
    example = workload((tpush("pipe"),), (tpop("pipe"),), fifos=(fifo(),))
    on = platform(scalar__issue=4, flags__set=2, flags__cross_core_latency=10)
    assert simulate(example, on, rule_set_for("a2a3"), {}).cycles == 4 + 2 + 10


@pytest.mark.parametrize(
    ("rules", "slots", "period", "stores"),
    [
        # As long as four slots suffice, tile i is loaded from 20 + 50 i to 70 + 50 i.
        ("a2a3", 4, 0, [0, 20, 40, 60, 120, 140]),  # tile 4 waits for tile 1, tile 5 for nothing
        ("a2a3", 4, 1, [0, 20, 40, 60, 80, 120]),  # tile 4 for tile 0 (at 70), tile 5 for tile 1
        ("a2a3-full-period", 4, 0, [0, 20, 40, 60, 220, 240]),  # tile 4 for tile 3
        ("a2a3-rendezvous", 4, 0, [0, 70, 140, 210, 280, 350]),  # every tile for the one before
    ],
)
def test_the_rule_set_decides_when_the_producer_waits(rules: str, slots: int, period: int, stores: list[int]) -> None:
    assert starts(c2v(6, load=50, rules=rules, slots=slots, period=period), "AIC.FIX") == stores


def test_credits_at_construction_let_the_producer_run_ahead_and_poison_the_next_launch() -> None:
    result = c2v(4, rules="a2a3-ctor-credits")
    assert starts(result, "AIC.FIX") == [0, 20, 40, 60]
    # two credits at construction and two for four tiles; tile 2 takes one, the destructor two
    assert result.credits_left == 2 * (2 + 2 - 1 - 2)


def test_a_fixed_drain_hangs_where_fewer_credits_are_pending() -> None:
    result = c2v(1, rules="a2a3-fixed-drain")
    assert (result.status, result.cycles) == ("hang", None)
    assert result.blocked == {"AIC": "S waits for pipe.free from AIV0 (credit 1 of 2 at destruction)"}
    assert c2v(1).status == "ok"


def test_who_pops_more_than_is_pushed_hangs() -> None:
    example = workload(
        (loop(2, talloc("pipe"), tpush("pipe")),), (loop(3, tpop("pipe")),), fifos=(fifo("pipe", "C2V", 8),)
    )
    result = simulate(example, platform(), rule_set_for("a2a3"), {})
    assert result.blocked == {
        "AIV0": "S waits for pipe.ready from AIC (tile 2)",
        "AIV1": "S waits for pipe.ready from AIC (tile 2)",
    }
    assert result.counts["pipe"].popped == {"AIV0": 2, "AIV1": 2}


@pytest.mark.parametrize(
    ("node", "sentence"),
    [
        (tpop("pipe"), "AIC is the producer of FIFO 'pipe'"),
        (tpush("pope"), "AIC uses FIFO 'pope'; known are pipe"),
    ],
)
def test_a_call_that_makes_no_sense_is_named(node: Node, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        simulate(workload((node,), fifos=(fifo(),)), platform(), rule_set_for("a2a3"), {})


def test_a_ring_without_slots_is_named() -> None:
    with pytest.raises(ValueError, match="FIFO 'pipe': SlotNum is 0"):
        c2v(1, slots=0)


@settings(max_examples=40, deadline=None)
@given(
    direction=st.sampled_from([1, 2]),
    tiles=st.integers(1, 24),
    depth=st.integers(1, 9),
    durations=st.tuples(*[st.integers(0, 400)] * 4),
)
def test_a_stream_of_any_shape_delivers_every_tile_and_leaves_no_flag_set(
    direction: int, tiles: int, depth: int, durations: tuple[int, int, int, int]
) -> None:
    producer, store, load, consumer = durations
    config = {
        "direction": direction,
        "tiles": tiles,
        "fifo_depth": depth,
        "producer_cycles": producer,
        "store_cycles": store,
        "load_cycles": load,
        "consumer_cycles": consumer,
    }
    result = simulate(built_in("stream"), load_platform("ascend910b2"), rule_set_for("a2a3"), config, with_events=True)
    assert (result.status, result.credits_left) == ("ok", 0)
    assert result.cycles is not None
    assert result.cycles >= max(result.busy.values())
    counts = result.counts["c2v" if direction == 1 else "v2c"]
    assert {*counts.allocated.values(), *counts.pushed.values(), *counts.popped.values()} == {tiles}
    for pipe, busy in result.busy.items():
        runs = [(start, end) for where, _, start, end in result.events if where == pipe]
        assert sum(end - start for start, end in runs) == busy
        assert all(before[1] <= after[0] for before, after in pairwise(runs))


def test_flash_attention_runs_and_hangs_where_the_rings_are_shorter_than_the_preload() -> None:
    def status(depth: int) -> tuple[str, int]:
        config = {"s1": 2048, "qk_preload": 4, "fifo_depth": depth}
        result = simulate(built_in("flash_attention"), load_platform("ascend910b2"), rule_set_for("a2a3"), config)
        return result.status, result.credits_left

    assert status(8) == ("ok", 0)
    assert status(2)[0] == "hang"
