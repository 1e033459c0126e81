"""Cases that generated workloads seldom reach: the engine says what the oracle says."""

from dataclasses import replace
from typing import Any

import pytest
from oracle_examples import fifo, workload
from rank_checks import Answer, differences, engine, oracle

from cost_models import load_platform
from pto_tune.model.communication import Signal, Staging
from pto_tune.model.expr import ExprLike, expr, name
from pto_tune.model.nodes import Fifo, Node
from pto_tune.model.vocabulary import cycles, instr, loop, tile, tpop, tpush, when
from pto_tune.model.vocabulary_remote import barrier, post, staging, tget, tnotify, tput, tput_async, twait
from pto_tune.rule_sets import rule_set_for

RANK, BLOCK, SUB = name("rank"), name("block"), name("sub")
RULES = rule_set_for("a2a3")


def same(
    aic: tuple[Node, ...] = (),
    aiv: tuple[Node, ...] = (),
    *,
    ranks: int = 2,
    blocks: int = 1,
    ranks_per_node: int = 0,
    tiles: tuple[Staging, ...] = (),
    fifos: tuple[Fifo, ...] = (),
    **numbers: float,
) -> Answer:
    """What both say, with a signal `s` of four elements; `numbers` of the platform, with `__` for a dot."""
    example = replace(
        workload(aic, aiv, blocks=blocks, fifos=fifos),
        ranks=expr(ranks),
        ranks_per_node=expr(ranks_per_node),
        signals=(Signal("s", (expr(4),)),),
        staging=tiles,
    )
    platform = load_platform("ascend910b2", {key.replace("__", "."): v for key, v in numbers.items()})
    expected = oracle(example, platform, RULES, {"n": 3})
    assert differences(engine(example, platform, RULES, {"n": 3}), expected) == []
    return expected


def tensor(rows: ExprLike, cols: ExprLike) -> tuple[ExprLike, ...]:
    return (1, 1, 1, rows, cols)


@pytest.mark.parametrize("sweeps", [1, 2, 64])
def test_a_wait_for_what_never_comes_ends_however_often_it_has_a_barrier(sweeps: int) -> None:
    program = (instr("M", "M", cycles(5000)), twait("s", 1))
    assert same(program, signal__sweeps_per_barrier=sweeps)["status"] == "hang"


@pytest.mark.parametrize("sweeps", [1, 2, 3, 64])
def test_a_value_that_comes_while_a_wait_is_in_its_barrier_is_seen(sweeps: int) -> None:
    held = (instr("M", "M", cycles(50000)), instr("FIX", "FIX", cycles(1)), twait("s", 1))
    tell = (instr("M", "M", cycles(20000)), barrier(), tnotify("s", 1))
    result = same((when(RANK.eq(0), *tell), when(RANK.eq(1), *held)), signal__sweeps_per_barrier=sweeps)
    assert result["status"] == "ok"
    assert (result["waits"][1, 0, "signal.s"] > 49000) == (sweeps < 64)


def test_a_value_that_passes_while_a_wait_is_in_its_barrier_is_missed() -> None:
    held = (instr("M", "M", cycles(50000)), twait("s", 1, cmp="EQ"))
    tell = (instr("M", "M", cycles(20000)), barrier(), tnotify("s", 1), tnotify("s", 1))
    programs = (when(RANK.eq(0), *tell), when(RANK.eq(1), *held))
    assert same(programs, signal__sweeps_per_barrier=1)["status"] == "hang"
    assert same(programs, signal__sweeps_per_barrier=64)["status"] == "ok"


@pytest.mark.parametrize("view", [((5, 1),), ((2, 4),), ((2, -1),), ((0, 1),), ((2, 1), (-1, 1))])
def test_a_view_beyond_the_signal_is_a_fault_whether_or_not_its_first_element_fails(view: Any) -> None:
    for value in (0, 1):
        assert same((twait("s", value, view=view),))["status"] == "fault"


def test_a_view_may_repeat_elements_and_go_backwards() -> None:
    tell = tuple(tnotify("s", 1 - RANK, at=k) for k in range(4))
    assert same((*tell, twait("s", 1, at=3, view=((2, 0), (4, -1)))))["status"] == "ok"


def test_a_notify_of_the_own_rank_stays_there() -> None:
    result = same((tnotify("s", RANK, RANK + 1), twait("s", 1)))
    assert (result["status"], [of_rank[0] for of_rank in result["signals"]["s"]]) == ("ok", [1, 2])


def test_the_copy_engine_serves_only_links_that_have_one() -> None:
    call = tput_async(1 - RANK, tensor(1, 100))
    assert same(aiv=(call,))["status"] == "ok"
    assert same(aiv=(call,), ranks_per_node=1)["status"] == "fault"
    assert same(aiv=(tput_async(1 - RANK, tensor(1, 0)),), ranks_per_node=1)["status"] == "ok"
    assert same(aiv=(tput_async(RANK, tensor(1, 100)),))["status"] == "fault"


def test_an_empty_call_has_no_peer() -> None:
    tiles = (staging("t", 4, 4),)
    assert same(aiv=(tput(9, tensor(0, 4), "t"), tget(-1, tensor(4, 0), "t")), tiles=tiles)["status"] == "ok"
    assert same(aiv=(tput(9, tensor(1, 4), "t"),), tiles=tiles)["status"] == "fault"


def test_pong_is_left_in_another_shape_on_some_blocks_alone() -> None:
    tiles = (
        staging("ping", 4, 4, valid_rows=1, dynamic_rows=1),
        staging("pong", 4, 4, dynamic_rows=1, dynamic_cols=1),
    )
    calls = (
        tput(1 - RANK, tensor(2, 8), "ping", pong="pong", use_pong=BLOCK % 2),
        tput(1 - RANK, tensor(8, 4), "pong", pong="ping"),
    )
    result = same(aiv=calls, tiles=tiles, blocks=2)
    stores = [len(result["spans"][0, block, "AIV0.MTE3"]) for block in (0, 1)]
    assert stores == [4 + 2, 4 + 8]


def test_a_static_axis_of_pong_stays_as_it_is() -> None:
    tiles = (staging("ping", 4, 4, dynamic_rows=1, dynamic_cols=1), staging("pong", 4, 4, valid_rows=2))
    calls = (
        tput(1 - RANK, tensor(9, 4), "ping", pong="pong"),
        tget(1 - RANK, tensor(8, 4), "pong"),
        tget(1 - RANK, tensor(8, 4), "ping"),
    )
    result = same(aiv=calls, tiles=tiles)
    assert len(result["spans"][0, 0, "AIV0.MTE3"]) == 3 + 4 + 8


def test_flags_hold_the_next_instruction_of_their_pipe_and_know_what_came_before_them() -> None:
    after = (instr("STORE", "MTE3", cycles(3000)), instr("LOAD", "MTE2", cycles(1)))
    result = same(aiv=(tget(1 - RANK, tensor(1, 4), "t"), *after), tiles=(staging("t", 4, 4),), scalar__issue=0)
    assert result["spans"][0, 0, "AIV0.MTE2"][-1][0] < result["spans"][0, 0, "AIV0.MTE3"][-1][1]


@pytest.mark.parametrize("switch", ["allocate", "record", "wait", "free"])
@pytest.mark.parametrize("value", [0, 1])
def test_switches_of_a_pipe(switch: str, value: int) -> None:
    part = tile("Acc", 16, 16)
    pops = loop(6, tpop("pipe", tile("Vec", 8, 16)), instr("V", "V", cycles(3)))
    pushes = loop(6, instr("M", "M", cycles(7)), tpush("pipe", part))
    # a switch that only the configuration knows
    result = same((pushes,), (pops,), fifos=(fifo(**{switch: name("n") - 3 + value}),))
    assert result["status"] == ("ok" if value or switch in ("allocate", "wait") else "hang")


def test_any_number_of_signals_may_wait_behind_an_instruction() -> None:
    late = (instr("V", "V", cycles(30000), event="e"), instr("STORE", "MTE3", cycles(5), waits=["e"]))
    result = same(
        (loop(100, tpop("pipe")),), (*late, loop(100, tpush("pipe"))), fifos=(fifo(direction="V2C"),), ranks=1,
        scalar__queue_depth=2,
    )  # fmt: skip
    assert result["status"] == "ok"
    assert result["waits"][0, 0, "pipe.ready"] > 29000


def me_of(core: int) -> int:
    return 100 * (core // 4) + 10 * (core // 2 % 2) + core % 2


def test_what_happens_at_the_same_time_goes_by_rank_block_and_core() -> None:
    parts = ("cache_line", "store", "atomic", "fence", "barrier", "latency", "sweep")
    at_once = dict.fromkeys((*(f"signal__{part}" for part in parts), "scalar__issue", "link__hccs__put__latency"), 0.0)
    me = 100 * RANK + 10 * BLOCK + SUB
    tell = tuple(tnotify("s", to, me, op=op, at=k) for to in range(3) for k, op in enumerate(("Set", "AtomicAdd")))
    program = (post("s", me, at=2), *tell, twait("s", 1, at=1), post("s", 1, at=3, op="AtomicAdd"))
    result = same(aiv=program, ranks=3, blocks=2, **at_once)
    assert result["signals"]["s"] == [[211, sum(me_of(k) for k in range(12)), 100 * rank + 11, 4] for rank in range(3)]
