"""The oracle on the TileData flow, the directions, TMPipe and Ascend 950, against times worked out by hand."""

import pytest
from oracle_examples import buffer, fifo, platform, workload
from simulate import OracleResult, simulate

from cost_models import Platform
from pto_tune.model.expr import expr, name
from pto_tune.model.nodes import NO_SPLIT, Buffer, Fifo, Node, TConfig
from pto_tune.model.vocabulary import (
    cycles,
    instr,
    loop,
    talloc,
    tfree,
    tile,
    tpop,
    tpush,
)
from pto_tune.rule_sets import RuleSet, rule_set_for

A2A3, A5 = rule_set_for("a2a3"), rule_set_for("a5", "a5")
SUB = name("sub")

STORE = tile("Acc", 16, 16, 4, cycles(20))
LOAD = tile("Vec", 8, 16, 4, cycles(10), publishes=["in"])
USE = instr("USE", "V", cycles(100), takes=["in"], reads=["pipe"])
IN_UB = (buffer("in", copies=0, core="AIV"),)


def run(
    aic: tuple[Node, ...],
    aiv: tuple[Node, ...],
    ring: Fifo,
    rules: RuleSet = A5,
    *,
    on: Platform | None = None,
    buffers: tuple[Buffer, ...] = IN_UB,
) -> OracleResult:
    example = workload(aic, aiv, fifos=(ring,), buffers=buffers)
    return simulate(example, on or platform(), rules, {}, with_events=True)


def starts(result: OracleResult, pipe: str, instruction: str) -> list[int]:
    return [start for where, what, start, _ in result.events if (where, what) == (pipe, instruction)]


def stream(tiles: int, ring: Fifo, rules: RuleSet, *, frees: bool = True) -> OracleResult:
    """Stores of 20 cycles, loads (rings in GM) of 10, uses of 100 in both sub-cores."""
    free = (tfree("pipe", tile=True),) if frees else ()
    return run((loop(tiles, tpush("pipe", STORE)),), (loop(tiles, tpop("pipe", LOAD), USE, *free),), ring, rules)


# Tiles on both families


def test_a_slot_in_ub_is_held_while_the_consumer_computes() -> None:
    result = stream(3, fifo(slots=1), A5)
    assert starts(result, "AIC.FIX", "TPUSH") == [0, 120, 240]
    assert starts(result, "AIV0.V", "USE") == starts(result, "AIV1.V", "USE") == [20, 140, 260]
    # The destructor waits for the third tile's flag, on FIX too.
    assert starts(result, "AIC.FIX", "drain pipe") == [360]
    assert result.cycles == 360
    assert result.waits == {"pipe.free": 3 * 100, "pipe.ready": 2 * 3 * 20}
    assert result.busy["AIC.FIX"] == 60
    assert (result.clashes, result.torn, result.credits_left) == ([], [], 0)


def test_a_slot_in_gm_is_free_when_the_load_ends() -> None:
    result = stream(3, fifo(slots=1), A2A3)
    assert starts(result, "AIC.FIX", "TPUSH") == [0, 30, 60]
    assert starts(result, "AIV0.MTE2", "TPOP") == [20, 50, 80]
    assert starts(result, "AIV0.V", "USE") == [30, 130, 230]
    assert (result.cycles, result.credits_left) == (330, 0)


def test_local_slots_in_ub_are_reused_without_any_protection() -> None:
    # Three tiles are loaded by 90 and used from 30 on: the third lands in the local slot of the first at 80.
    assert stream(3, fifo(slots=1, local_slots=2), A2A3).clashes == [("pipe.local", 2, 0)]
    assert stream(3, fifo(slots=1, local_slots=3), A2A3).clashes == []


def test_without_tfree_a_ring_in_ub_fills_up_for_ever() -> None:
    result = stream(3, fifo(slots=1), A5, frees=False)
    assert (result.status, result.cycles) == ("hang", None)
    assert result.blocked == {
        "AIC": "AIC.FIX waits for pipe.free from AIV0 (tile 1) for TPUSH pipe",
        "AIV0": "AIV0.V waits for pipe.ready from AIC (tile 1) for TPOP pipe",
        "AIV1": "AIV1.V waits for pipe.ready from AIC (tile 1) for TPOP pipe",
    }


def test_tfree_after_a_tile_pop_from_gm_frees_twice_on_950_and_does_nothing_on_a2a3() -> None:
    on_950 = stream(4, fifo(slots=1, gm_form=True), A5)
    assert on_950.credits["pipe"].notified == {"AIV0": 8, "AIV1": 8}
    assert on_950.credits_left == 2 * 4
    assert stream(4, fifo(slots=1), A2A3).credits["pipe"].notified == {"AIV0": 4, "AIV1": 4}


# Waiting on a pipe


def test_a_wait_on_a_pipe_holds_that_pipe_alone() -> None:
    consumer = (tpop("pipe", LOAD), USE, instr("BESIDE", "MTE2", cycles(5)))
    on = platform(flags__wait=3, flags__set=2, flags__cross_core_latency=10, scalar__issue=1)
    result = run((tpush("pipe", STORE),), consumer, fifo(slots=2), on=on)
    # The store is issued at 1 and ends at 21, the flag is seen at 33, the wait is over at 36.
    assert [e for e in result.events if e[0] == "AIV0.V"] == [
        ("AIV0.V", "TPOP pipe", 33, 36),
        ("AIV0.V", "TPOP", 36, 36),
        ("AIV0.V", "USE", 36, 136),
    ]
    assert starts(result, "AIV0.MTE2", "BESIDE") == [4]
    assert result.busy["AIV0.V"] == 100
    assert result.waits == {"pipe.ready": 2 * 32}


def test_a_wait_on_a_pipe_takes_a_place_in_its_queue() -> None:
    consumer = (tpop("pipe"), instr("LOAD", "MTE2"), instr("BESIDE", "V", cycles(5)))
    producer = (talloc("pipe"), instr("STORE", "FIX", cycles(20)), tpush("pipe"))
    result = run(producer, consumer, fifo(gm_form=True), on=platform(scalar__queue_depth=1))
    assert starts(result, "AIV0.V", "BESIDE") == [20]  # LOAD gets its place when the wait is over
    assert result.waits["AIV0.MTE2.queue"] == 20


def test_the_cube_waits_for_both_sub_cores_with_one_instruction() -> None:
    vec = tile("Vec", 8, 16, 4, cycles(10 + 30 * SUB))
    mat = tile("Mat", 16, 16, 4)
    consumer = (tpop("pipe", mat), instr("USE", "MTE1", cycles(7), reads=["pipe"]), tfree("pipe", tile=True))
    result = run((loop(2, *consumer),), (loop(2, tpush("pipe", vec)),), fifo(direction="V2C", slots=1))
    # Sub-core 1 stores until 40; the cube is done at 47; both sub-cores wait for that.
    assert starts(result, "AIC.MTE1", "USE") == [40, 87]
    assert starts(result, "AIV0.MTE3", "TPUSH") == starts(result, "AIV1.MTE3", "TPUSH") == [0, 47]
    assert starts(result, "AIC.MTE1", "TPOP pipe") == [40, 87]
    assert result.cycles == 94


# Reach


def left_out(rules: RuleSet, *, gm_form: bool = False, kind: str = "TPipe") -> OracleResult:
    own = expr(3) * (1 - SUB)
    consumer = loop(own, tpop("pipe", LOAD), USE, tfree("pipe", tile=True))
    return run((loop(3, tpush("pipe", STORE)),), (consumer,), fifo(split=NO_SPLIT, gm_form=gm_form, kind=kind), rules)


def test_no_split_without_the_second_sub_core() -> None:
    assert left_out(A2A3).blocked["AIC"] == "S waits for pipe.free from AIV1 (tile 2)"
    assert left_out(A5).status == "ok"
    assert left_out(A5, gm_form=True).status == "ok"


def test_a_tile_that_only_one_sub_core_is_told_of_hangs_the_other() -> None:
    config = TConfig(sub_block_id=2)
    producer = loop(3, tpush("pipe", STORE, config=config))
    consumer = loop(3, tpop("pipe", LOAD), USE, tfree("pipe", tile=True))
    result = run((producer,), (consumer,), fifo(slots=4))
    assert result.blocked["AIV1"] == "AIV1.V waits for pipe.ready from AIC (tile 0) for TPOP pipe"
    assert "AIV0" not in result.blocked
    assert result.counts["pipe"].popped == {"AIV0": 3, "AIV1": 3}  # S goes on: only V waits
    assert run((producer,), (consumer,), fifo(slots=4, gm_form=True)).status == "ok"
    assert run((producer,), (consumer,), fifo(slots=4), A2A3).status == "ok"


def test_the_split_of_a_call_decides_whom_the_cube_tells() -> None:
    producer = loop(2, tpush("pipe", STORE, split=expr(NO_SPLIT)))
    consumer = loop(2, tpop("pipe", LOAD), USE, tfree("pipe", tile=True))
    assert "AIV1.V waits for pipe.ready" in run((producer,), (consumer,), fifo()).blocked["AIV1"]
    assert run((producer,), (consumer,), fifo(), A2A3).status == "ok"


def test_both_in_gm_waits_for_a_flag_that_is_never_set() -> None:
    producer = (talloc("pipe"), instr("STORE", "FIX", writes=["pipe"]), tpush("pipe"))
    result = run(producer, (tpop("pipe"),), fifo(direction="BOTH", gm_form=True))
    assert result.blocked["AIV0"] == "AIV0.MTE2 waits for pipe.C2V.ready from AIC (tile 0) for TPOP pipe"


@pytest.mark.parametrize("rules", [A2A3, A5])
def test_both_has_a_ring_and_flags_for_each_way(rules: RuleSet) -> None:
    mat, vec = tile("Mat", 16, 16, 4, cycles(5)), tile("Vec", 8, 16, 4, cycles(40))
    cube = (tpush("pipe", STORE), tpop("pipe", mat), tfree("pipe", tile=True))
    vector = (tpop("pipe", LOAD), USE, tfree("pipe", tile=True), tpush("pipe", vec))
    result = run((loop(2, *cube),), (loop(2, *vector),), fifo(direction="BOTH", slots=2), rules)
    assert (result.status, result.credits_left) == ("ok", 0)
    assert {*result.counts} == {*result.credits} == {"pipe.C2V", "pipe.V2C"}
    assert result.counts["pipe.V2C"].allocated == {"AIV0": 2, "AIV1": 2}
    assert result.waits["pipe.C2V.ready"] > 0 < result.waits["pipe.V2C.ready"]
    for way in result.credits.values():
        assert (way.notified, way.waited, way.drained) == tuple({"AIV0": n, "AIV1": n} for n in (1, 0, 1))


def test_a_direction_that_the_library_refuses_is_named() -> None:
    with pytest.raises(ValueError, match="FIFO 'pipe': direction V2C_CTRL: the A2/A3 library cannot"):
        run((), (), fifo(direction="V2C_CTRL"), A2A3)
    with pytest.raises(ValueError, match="direction C2V_GM: a2a3 does not have it"):
        run((), (), fifo(direction="C2V_GM"), A2A3)


# TMPipe


def test_a_tmpipe_has_one_credit_whatever_its_depth_is() -> None:
    result = stream(3, fifo(slots=8, kind="TMPipe"), A2A3)
    assert starts(result, "AIC.FIX", "TPUSH") == [0, 30, 60]
    credits = result.credits["pipe"]
    assert [c["AIV0"] for c in (credits.constructed, credits.notified, credits.waited, credits.drained)] == [1, 3, 3, 1]
    assert result.credits_left == 0


def test_a_gated_tmpipe_waits_by_depth_and_period() -> None:
    result = stream(8, fifo(slots=8, period=4, kind="TMPipe", gated=1), A2A3)
    assert starts(result, "AIC.FIX", "TPUSH") == [20 * i for i in range(8)]
    credits = result.credits["pipe"]
    assert [c["AIV1"] for c in (credits.constructed, credits.notified, credits.waited, credits.drained)] == [1, 2, 0, 3]
    assert result.credits_left == 0


def test_a_tmpipe_tells_both_sub_cores_on_950_too() -> None:
    assert left_out(A5, kind="TMPipe").blocked["AIC"].startswith("AIC.FIX waits for pipe.free from AIV1 (tile 1)")


# Events


def test_events_of_calls() -> None:
    producer = (
        instr("SLOW", "M", cycles(50), event="made"),
        tpush("pipe", STORE, waits=["made"], event="stored"),
        instr("AFTER", "MTE1", cycles(1), waits=["stored"]),
    )
    consumer = (
        tpop("pipe", tile("Vec", 8, 16, 4), event="there"),
        instr("USE", "MTE3", cycles(1), waits=["there"]),
        tfree("pipe", tile=True, event="gone"),
        instr("END", "MTE3", cycles(1), waits=["gone"]),
    )
    on_950 = run(producer, consumer, fifo())
    assert starts(on_950, "AIC.FIX", "TPUSH") == [50]
    assert starts(on_950, "AIC.MTE1", "AFTER") == [70]
    assert starts(on_950, "AIV0.V", "TPOP") == [70]
    assert starts(on_950, "AIV0.V", "TSYNC") == [70]
    assert starts(on_950, "AIV0.MTE3", "END") == [71]
    # On A2/A3 the event of TPOP is that of its load (10 + 512 / 64 cycles, seen 40 later), and TFREE is nothing.
    on_910b = run(producer, consumer, fifo(), A2A3, on=platform(dma__gm_to_ub__latency=40))
    assert starts(on_910b, "AIV0.MTE3", "USE") == [70 + 18 + 40]
    assert starts(on_910b, "AIV0.MTE3", "END") == [70 + 18 + 40 + 1]


def test_events_of_global_data_calls() -> None:
    producer = (
        instr("SLOW", "M", cycles(50), event="made"),
        talloc("pipe", waits=["made"], event="space"),
        instr("STORE", "FIX", cycles(20), waits=["space"], event="stored"),
        tpush("pipe", waits=["stored"], event="told"),
        instr("AFTER", "MTE1", cycles(1), waits=["told"]),
    )
    consumer = (tpop("pipe", event="there"), instr("LOAD", "MTE2", cycles(5), waits=["there"]))
    for rules, ring in ((A2A3, fifo()), (A5, fifo(gm_form=True))):
        result = run(producer, consumer, ring, rules)
        # TALLOC's TSYNC stands on FIX on both; the event of a scalar wait is no event to wait for.
        assert starts(result, "AIC.FIX", "STORE") == [50]
        assert starts(result, "AIC.MTE1", "AFTER") == [70]
        assert starts(result, "AIV1.MTE2", "LOAD") == [70]
        assert len(starts(result, "AIC.FIX", "TSYNC")) == (3 if rules is A2A3 else 4)
