"""The oracle for workloads with ranks, against times worked out by hand."""

from dataclasses import replace
from typing import Any

import pytest
from oracle_examples import FREE, platform, workload
from oracle_ranks import RanksResult, simulate_ranks
from simulate import simulate

from cost_models import Platform, load_platform
from pto_tune.model.communication import (
    Barrier,
    Let,
    Post,
    Signal,
    Staging,
    Tget,
    Tnotify,
    Tput,
    Transfer,
    Ttest,
    Twait,
)
from pto_tune.model.expr import ExprLike, expr, name
from pto_tune.model.nodes import Launch, Loop, Node, While, Workload
from pto_tune.model.vocabulary import cycles, dma, instr, loop, when
from pto_tune.rule_sets import rule_set_for, rule_sets
from pto_tune.workloads import workload as built_in

RULES = rule_set_for("a2a3")

ROUND: dict[str, float] = {
    "scalar__issue": 4,
    # 4096 bytes: from GM in 74 cycles, and 5 until they are there; to GM in 74, and 3
    "dma__gm_to_ub__latency": 5,
    "dma__ub_to_gm__startup": 10,
    "dma__ub_to_gm__burst": 0,
    "dma__ub_to_gm__rate": 64,
    "dma__ub_to_gm__latency": 3,
    # put in 20 + 128, and 100; got in 30 + 256, and 200
    "link__hccs__put__startup": 20,
    "link__hccs__put__rate": 32,
    "link__hccs__put__latency": 100,
    "link__hccs__get__startup": 30,
    "link__hccs__get__rate": 16,
    "link__hccs__get__latency": 200,
    # by the copy engine in 1000 + 128
    "link__hccs__put__sdma_startup": 1000,
    "link__hccs__put__sdma_rate": 32,
    "link__atomic_factor": 2,
    # a value is set after 12 and added after 13, and 100 on the way to another rank, 11 in the own one
    "signal__cache_line": 5,
    "signal__store": 2,
    "signal__atomic": 3,
    "signal__fence": 7,
    "signal__barrier": 4,
    "signal__latency": 11,
    # one element is looked at in 7 cycles, every further one in 6
    "signal__sweep": 1,
    "signal__poll": 6,
}
WIDE = {f"link__hccs__{d}__{scope}_capacity": 1e9 for d in ("put", "get") for scope in ("pair", "out", "in")}


def on(**values: float) -> Platform:
    return platform(**(ROUND | WIDE | values))


def tensor(rows: int = 16, cols: int = 64) -> tuple[Any, ...]:
    return tuple(expr(extent) for extent in (1, 1, 1, rows, cols))


def staging(label: str = "ping", rows: int = 16, cols: int = 64, dynamic: int = 0) -> Staging:
    return Staging(label, expr(rows), expr(cols), dynamic_rows=expr(dynamic), dynamic_cols=expr(dynamic))


TILES = (staging("ping"), staging("pong"), staging("shrinking", dynamic=1))


def run(
    aic: tuple[Node, ...] = (),
    aiv: tuple[Node, ...] = (),
    *,
    ranks: ExprLike = 2,
    blocks: ExprLike = 1,
    size: int = 4,
    machine: Platform | None = None,
    **numbers: int,
) -> RanksResult:
    """With the signals `ready` and `count`."""
    example = replace(
        workload(aic, aiv, blocks=blocks),
        ranks=expr(ranks),
        signals=(Signal("ready", (expr(size),)), Signal("count", (expr(size),))),
        staging=TILES,
    )
    return simulate_ranks(example, machine or on(), RULES, numbers, with_events=True)


def put(peer: ExprLike = 1, rows: int = 16, tile: str = "ping", **more: Any) -> Tput:
    return Tput(tensor(rows), expr(peer), tile, **more)


def notify(peer: ExprLike = 1, value: ExprLike = 1, at: ExprLike = 0, op: str = "AtomicAdd", **more: Any) -> Tnotify:
    return Tnotify("ready", expr(peer), expr(value), expr(at), op, **more)


def wait(value: ExprLike = 1, at: ExprLike = 0, cmp: str = "GE", **more: Any) -> Twait:
    return Twait("ready", expr(value), cmp, expr(at), **more)


def on_rank(rank: int, *nodes: Node, sub: int = 0) -> Node:
    """On one core of one rank."""
    return when(name("rank").eq(rank).and_(name("sub").eq(sub)), *nodes)


def spans(result: RanksResult, rank: int = 0, core: str = "AIV0") -> list[tuple[str, int, int]]:
    found = [e for e in result.events if (e[0], e[2].partition(".")[0]) == (rank, core)]
    return [(label, start, end) for _, _, _, label, start, end in found]


def test_a_put_in_one_piece_loads_and_then_stores() -> None:
    result = run(aiv=(on_rank(0, put()),))
    # issued at 4 and 8; the data are there at 78 + 5
    assert spans(result) == [("TLOAD", 4, 78), ("TSTORE", 83, 231)]
    assert (result.status, result.cycles) == ("ok", 231 + 100)
    assert result.waits == {(0, 0, "AIV0.flags"): 83 - 8}
    assert {key: n for key, n in result.busy.items() if n} == {(0, 0, "AIV0.MTE2"): 74, (0, 0, "AIV0.MTE3"): 148}
    assert result.faults == []


def test_a_put_that_adds_takes_the_factor_for_what_it_moves() -> None:
    assert run(aiv=(on_rank(0, put(atomic="AtomicAdd")),)).cycles == 83 + 20 + 2 * 128 + 100


def test_a_get_in_one_piece_has_a_barrier() -> None:
    result = run(aiv=(on_rank(0, Tget(tensor(), expr(1), "ping")),))
    # there at 290 + 200; the scalar process goes on at 494 and the store is seen at 498
    assert spans(result) == [("TLOAD", 4, 290), ("TSTORE", 498, 572)]
    assert result.cycles == 572 + 3
    assert result.waits == {(0, 0, "AIV0.barrier"): 490 - 4}


def test_two_pieces_by_turns_store_one_beside_the_load_of_the_next() -> None:
    after = (instr("V", "V", cycles(1)), instr("LOAD", "MTE2", cycles(1)))
    result = run(aiv=(on_rank(0, put(rows=32, pong="pong"), *after),))
    assert spans(result) == [
        ("TLOAD", 4, 78),
        ("TSTORE", 91, 239),  # behind the barrier, at 83 + 4, and one issue
        ("TLOAD", 95, 169),
        ("TSTORE", 347, 495),  # behind the barrier, at 339 + 4
        ("V", 351, 352),  # the scalar process goes on
        ("LOAD", 595, 596),  # MTE2 waits for the store
    ]
    assert result.cycles == 596
    assert result.waits == {(0, 0, "AIV0.barrier"): (83 - 4) + (339 - 95), (0, 0, "AIV0.flags"): 595 - 355}


def test_without_pong_the_pieces_follow_each_other() -> None:
    result = run(aiv=(on_rank(0, put(rows=32, pong="pong", use_pong=expr(0))),))
    # each piece: load, barrier, store; the second load waits for the first store
    assert spans(result) == [("TLOAD", 4, 78), ("TSTORE", 91, 239), ("TLOAD", 339, 413), ("TSTORE", 426, 574)]


def test_a_tail_leaves_the_tile_smaller_for_the_next_call() -> None:
    def loads(calls: int) -> int:
        call = Tput(tensor(100, 100), expr(1), "shrinking")
        result = run(aiv=(loop(calls, on_rank(0, call)),))
        return sum(label == "TLOAD" for label, _, _ in spans(result))

    # 7 x 2 pieces, the 6 full ones of them by halves; then 25 x 3 of 4 x 36
    assert (loads(1), loads(2)) == (14 + 6, 14 + 6 + 75)


def test_events_hold_the_first_load_and_are_given_when_the_last_store_is_there() -> None:
    result = run(
        aiv=(
            on_rank(
                0,
                instr("BEFORE", "V", cycles(50), event="before"),
                put(waits=("before",), event="stored"),
                instr("AFTER", "V", cycles(1), waits=["stored"]),
            ),
        )
    )
    # BEFORE from 4 to 54; there at 128 + 5; the store takes 148 and 100
    assert spans(result) == [("BEFORE", 4, 54), ("TLOAD", 54, 128), ("TSTORE", 133, 281), ("AFTER", 381, 382)]
    assert result.waits == {
        (0, 0, "AIV0.before"): 54 - 8,
        (0, 0, "AIV0.flags"): 133 - 12,
        (0, 0, "AIV0.stored"): 381 - 54,
    }


def test_an_empty_call_waits_and_gives_its_event_at_once() -> None:
    result = run(
        aiv=(
            on_rank(
                0,
                instr("BEFORE", "V", cycles(50), event="before"),
                put(rows=0, peer=9, waits=("before",), event="stored"),
                instr("AFTER", "MTE2", cycles(1), waits=["stored"]),
            ),
        )
    )
    assert spans(result) == [("BEFORE", 4, 54), ("AFTER", 58, 59)]
    assert result.waits == {(0, 0, "AIV0.before"): 50}


def test_a_put_to_the_own_rank_is_a_local_copy() -> None:
    assert run(aiv=(on_rank(0, put(peer=0)),)).cycles == 83 + 74 + 3


def test_a_wait_goes_on_with_the_first_sweep_that_sees_the_value() -> None:
    result = run((on_rank(0, notify()), on_rank(1, wait())))
    # added at 113; 16 sweeps of 7 cycles fail, the one at 119 does not
    assert result.cycles == 119 + 7
    assert result.waits == {(1, 0, "signal.ready"): 119}
    assert result.signals["ready"] == [[0, 0, 0, 0], [1, 0, 0, 0]]


def test_a_value_that_arrives_when_a_sweep_starts_is_seen() -> None:
    result = run((on_rank(0, notify()), on_rank(1, wait())), machine=on(signal__atomic=2))
    assert result.waits == {(1, 0, "signal.ready"): 112}


def test_a_notify_holds_its_core_until_the_fence_and_all_pipes_are_through() -> None:
    after = instr("AFTER", "FIX", cycles(1))
    assert spans(run((on_rank(0, notify(), after),)), core="AIC") == [("AFTER", 113 + 7 + 4 + 4, 129)]
    busy = run((on_rank(0, instr("BEFORE", "M", cycles(200)), notify(), after),))
    assert spans(busy, core="AIC") == [("BEFORE", 4, 204), ("AFTER", 204 + 4 + 4, 213)]
    assert busy.waits == {(0, 0, "AIC.barrier"): 204 - (4 + 113 + 7)}


def test_a_notify_does_not_wait_for_what_is_under_way() -> None:
    result = run((on_rank(0, instr("BEFORE", "M", cycles(200)), notify()), on_rank(1, wait())))
    assert result.waits[1, 0, "signal.ready"] == 119  # from 4 on it takes 113 cycles


def test_a_sweep_reads_up_to_the_first_element_that_fails() -> None:
    view = ((expr(3), expr(1)),)
    result = run((on_rank(0, *(notify(at=k) for k in range(3))), on_rank(1, wait(view=view))))
    # values arrive at 113, 237 and 361: sweeps of 7 to 119, of 13 to 249, of 19 to 363, and that one passes
    assert result.cycles == 363 + 19


def test_a_view_has_strides() -> None:
    view = ((expr(2), expr(3)), (expr(2), expr(1)))
    result = run((on_rank(0, *(notify(at=k) for k in (0, 3, 4))), on_rank(1, wait(view=view))), size=5)
    assert result.status == "hang"
    assert "element 1 is 0, not GE 1" in result.blocked[1, 0, "AIC"]


def test_every_so_many_failed_sweeps_a_wait_has_a_barrier() -> None:
    rare = on(signal__sweeps_per_barrier=4)
    # sweeps at 0, 7, 14, 21 and then 4 later: at 32, 64, 96, 103, 110 and 117
    assert run((on_rank(0, notify()), on_rank(1, wait())), machine=rare).cycles == 117 + 7
    # the first barrier waits until 54 for M, the second one does not: sweeps at 4, 11, 18, 25, 54, 61, 68, 75, 86, 93,
    # 100, 107 and 118
    held = run((on_rank(0, notify()), on_rank(1, instr("M", "M", cycles(50)), wait())), machine=rare)
    assert held.cycles == 118 + 7
    assert held.waits == {(1, 0, "signal.ready"): 118 - 4}


@pytest.mark.parametrize(
    ("first", "second", "atomic", "value"),
    [
        (("Set", 5), ("AtomicAdd", 1), 2, 6),  # at the same time: rank 0 before rank 1
        (("AtomicAdd", 1), ("Set", 5), 2, 5),
        (("AtomicAdd", 1), ("Set", 5), 3, 6),  # adding takes a cycle more
    ],
)
def test_values_that_arrive_together_count_in_the_order_of_who_sent_them(
    first: tuple[str, int], second: tuple[str, int], atomic: int, value: int
) -> None:
    sends = [on_rank(rank, notify(2, v, op=op)) for rank, (op, v) in enumerate((first, second))]
    result = run((*sends,), ranks=3, machine=on(signal__atomic=atomic))
    assert result.signals["ready"] == [[0] * 4, [0] * 4, [value, 0, 0, 0]]


def test_a_post_is_quicker_than_its_value() -> None:
    result = run((on_rank(0, Post("ready", expr(7), op="Set"), wait(7)),), ranks=1)
    # stored after 12 and there after 23; sweeps from 12 on: 19 fails, 26 does not
    assert result.cycles == 26 + 7
    assert result.waits == {(0, 0, "signal.ready"): 26 - 12}


@pytest.mark.parametrize(("most", "tests", "end"), [(100, 18, 126), (5, 5, 35), (0, 0, 0)])
def test_a_loop_polls_until_the_value_is_there_or_it_has_had_enough(most: int, tests: int, end: int) -> None:
    body = (Ttest("ready", expr(1), "seen"), Let("tests", name("tests") + 1))
    poll = While(name("seen").eq(0), expr(most), body)
    result = run((on_rank(0, notify()), on_rank(1, poll, Post("count", name("tests") + 100 * name("seen")))))
    assert result.signals["count"][1][0] == tests + 100 * (most == 100)
    assert result.cycles == max(end + 12, 124)  # rank 0 is through at 124
    assert not any("ready" in label for _, _, label in result.waits)


def test_ranks_that_wait_for_each_other_first_hang() -> None:
    other = 1 - name("rank")
    result = run((wait(), notify(other)))
    assert (result.status, result.cycles) == ("hang", None)
    assert result.blocked == {
        (rank, 0, "AIC"): f"S waits for signal ready of rank {rank}: element 0 is 0, not GE 1" for rank in (0, 1)
    }


def test_who_notifies_first_does_not_hang() -> None:
    # a notify takes 124 cycles, the value is there at 113
    assert run((notify(1 - name("rank")), wait())).cycles == 124 + 7


def test_a_value_that_passes_between_two_sweeps_is_missed() -> None:
    quick = on(signal__fence=0, signal__barrier=0, signal__poll=40)
    two = (Post("ready", expr(1)), Post("ready", expr(2)))
    sender, reader = when(name("block").eq(0), *two), when(name("block").eq(1), wait(1, cmp="EQ"))
    result = run((sender, reader), ranks=1, blocks=2, machine=quick)  # there at 23 and 35; swept at 0 and 41
    assert result.blocked == {(0, 1, "AIC"): "S waits for signal ready of rank 0: element 0 is 2, not EQ 1"}


def test_a_hang_behind_a_barrier_says_so() -> None:
    result = run((on_rank(0, instr("NEVER", "M", waits=["nothing"]), Barrier()),))
    assert result.blocked == {
        (0, 0, "AIC"): "S waits for NEVER on AIC.M (barrier); AIC.M waits for the event nothing for NEVER"
    }


def test_a_barrier_of_some_pipes_costs_nothing_but_the_wait() -> None:
    program = (
        instr("A", "M", cycles(100)),
        instr("B", "FIX", cycles(50)),
        Barrier(("FIX",)),
        instr("C", "MTE1", cycles(1)),
    )
    result = run(program, ranks=1)
    assert spans(result, core="AIC") == [("A", 4, 104), ("B", 8, 58), ("C", 62, 63)]
    assert result.waits == {(0, 0, "AIC.barrier"): 50}


def test_two_cores_take_turns_on_a_link() -> None:
    # 4096 bytes at 16 bytes a cycle: 256 cycles each, AIV0 first
    result = run(aiv=(when(name("rank").eq(0), put()),), machine=on(link__hccs__put__pair_capacity=16))
    assert [spans(result, core=core)[1] for core in ("AIV0", "AIV1")] == [("TSTORE", 83, 339), ("TSTORE", 83, 595)]
    assert result.cycles == 595 + 100
    waits = {key: n for key, n in result.waits.items() if key[2].endswith("link")}
    assert waits == {(0, 0, "AIV0.link"): 339 - 231, (0, 0, "AIV1.link"): 595 - 231}
    assert result.busy[0, 0, "AIV1.MTE3"] == 148


def test_adding_draws_more_from_a_link() -> None:
    result = run(aiv=(on_rank(0, put(atomic="AtomicAdd")),), machine=on(link__hccs__put__pair_capacity=16))
    assert result.cycles == 83 + 512 + 100


@pytest.mark.parametrize(
    ("scope", "senders", "second"),
    [("out", ((0, 1), (0, 2)), 595), ("in", ((0, 1), (2, 1)), 595), ("pair", ((0, 1), (0, 2)), 339)],
)
def test_a_link_has_what_leaves_a_rank_what_enters_it_and_what_joins_two(
    scope: str, senders: tuple[tuple[int, int], ...], second: int
) -> None:
    calls = [on_rank(rank, put(peer), sub=sub) for sub, (rank, peer) in enumerate(senders)]
    result = run(aiv=(*calls,), ranks=3, machine=on(**{f"link__hccs__put__{scope}_capacity": 16}))
    assert sorted(end for *_, label, _, end in result.events if label == "TSTORE") == [339, second]


def test_what_a_get_reads_leaves_the_other_rank() -> None:
    calls = [on_rank(rank, Tget(tensor(), expr(1), "ping")) for rank in (0, 2)]
    result = run(aiv=(*calls,), ranks=3, machine=on(link__hccs__get__out_capacity=8))
    assert [(e[4], e[5]) for e in result.events if e[3] == "TLOAD"] == [(4, 4 + 512), (4, 4 + 1024)]


def test_blocks_of_a_rank_share_its_memory_and_ranks_do_not() -> None:
    load = instr("LOAD", "MTE2", dma("gm_to_l1", 640, 640))  # 20 cycles, 40 by L2
    result = run((load,), blocks=2, machine=on(l2__bandwidth=16))
    assert [(e[0], e[1], e[5]) for e in result.events] == [(0, 0, 44), (0, 1, 84), (1, 0, 44), (1, 1, 84)]
    assert result.waits == {(rank, block, "AIC.l2"): 20 + 40 * block for rank in (0, 1) for block in (0, 1)}


def test_who_asks_earlier_is_served_first() -> None:
    load = instr("LOAD", "MTE2", dma("gm_to_l1", 640, 640))
    late = loop(1 - name("block"), instr("NEXT", "M", cycles(1)))
    result = run((late, load), ranks=1, blocks=2, machine=on(l2__bandwidth=16))
    assert {e[1]: e[5] for e in result.events if e[3] == "LOAD"} == {1: 44, 0: 84}


def test_parts_of_a_cycle_add_up() -> None:
    load = instr("LOAD", "MTE2", dma("gm_to_l1", 640, 640))
    # 640 / 60 are 2731 / 256 cycles: done after 10.7, 21.3, 32.01
    result = run((load,), ranks=1, blocks=3, machine=on(l2__bandwidth=60))
    assert [e[5] for e in result.events] == [24, 4 + 22, 4 + 33]


def test_the_copy_engine_works_beside_the_core() -> None:
    call = put(tile="", asynchronous=True, event="copied")
    after = (instr("V", "V", cycles(10)), Barrier(("SDMA",)), instr("LATE", "V", cycles(1)))
    result = run(aiv=(on_rank(0, call, *after, instr("USE", "MTE3", cycles(1), waits=["copied"])),))
    assert spans(result) == [
        ("TPUT_ASYNC", 4, 1132),
        ("V", 8, 18),
        ("LATE", 1136, 1137),
        ("USE", 1140, 1141),
    ]
    assert result.waits == {(0, 0, "AIV0.barrier"): 1132 - 8}
    assert result.busy[0, 0, "AIV0.SDMA"] == 1128


def test_the_copy_engine_draws_on_both_ranks() -> None:
    call = put(tile="", asynchronous=True)
    slow = on(link__hccs__put__out_capacity=1, hbm__bandwidth=1)  # 4096 cycles each
    result = run((on_rank(0, call),), aiv=(on_rank(0, call),), machine=slow)
    assert [e[5] for e in result.events] == [4 + 4096, 4 + 2 * 4096]
    assert result.waits == {(0, 0, "AIC.link"): 4096 - 1128, (0, 0, "AIV0.link"): 2 * 4096 - 1128}
    assert run((on_rank(0, call),), machine=on(l2__bandwidth=1)).waits == {(0, 0, "AIC.l2"): 4096 - 1128}


def test_variables_say_whom_to_notify_of_what() -> None:
    tell = Loop(name("n"), (notify(name("i") + 1, 10 * name("i") + name("rank"), at=name("i"), op="Set"),), index="i")
    result = run((on_rank(0, tell),), ranks=4)
    assert result.signals["ready"] == [[0] * 4, [0] * 4, [0, 10, 0, 0], [0, 0, 20, 0]]


def test_loops_and_variables() -> None:
    inner = Loop(name("i"), (Let("sum", name("sum") + name("j")),), index="j")
    program = (Loop(expr(5), (inner,), index="i"), Post("ready", name("sum")), Post("count", name("i") // name("zero")))
    # 0 + (0) + (0 + 1) + (0 + 1 + 2) + (0 + 1 + 2 + 3)
    result = run((Let("zero", expr(0)), *program), ranks=1)
    assert (result.signals["ready"][0][0], result.signals["count"][0][0]) == (10, 0)


def test_a_variable_that_nobody_sets_is_unknown() -> None:
    with pytest.raises(ValueError, match="unknown name 'i'"):
        run((notify(name("i")),))


@pytest.mark.parametrize(
    ("node", "fault"),
    [
        (notify(2), "rank 0, block 0, AIV0: TNOTIFY with rank 2: expected 0 to 1"),
        (put(-1), "rank 0, block 0, AIV0: TPUT with rank -1: expected 0 to 1"),
        (notify(1, at=4), "rank 0, block 0, AIV0: TNOTIFY: element 4 of signal ready: expected 0 to 3"),
        (wait(at=-1), "rank 0, block 0, AIV0: TWAIT: element -1 of signal ready: expected 0 to 3"),
        (put(0, tile="", asynchronous=True), "an asynchronous transfer to rank 0, which is its own"),
        (put(rows=20), "rank 0, block 0, AIV0: TPUT: .*20"),
    ],
)
def test_faults(node: Transfer | Tnotify | Twait, fault: str) -> None:
    result = run(aiv=(on_rank(0, node),))  # type: ignore[arg-type]
    assert (result.status, result.cycles, result.blocked, len(result.faults)) == ("fault", None, {}, 1)
    with pytest.raises(AssertionError, match=fault):
        raise AssertionError(result.faults[0])


def test_ranks_without_a_link_are_a_fault() -> None:
    far = load_platform("ascend950pr")
    nodes = int(far["topology.nodes_per_supernode"])
    example = replace(
        workload((on_rank(0, notify(nodes)),)),
        ranks=expr(nodes + 1),
        ranks_per_node=expr(1),
        signals=(Signal("ready", (expr(1),)),),
    )
    result = simulate_ranks(example, far, rule_set_for("a5"), {})
    assert result.status == "fault"
    assert "no link" in result.faults[0]


def test_more_blocks_than_cores_are_refused() -> None:
    with pytest.raises(ValueError, match="has 3 blocks; give at most 2"):
        run((wait(),), blocks=3, machine=on(cores__cube=2))


def wide(family: str) -> Platform:
    device = {"a2a3": "ascend910b2", "a5": "ascend950pr"}[family]
    return load_platform(device, {key: FREE[key] for key in FREE if key.endswith("bandwidth")})


@pytest.mark.parametrize("rules", [r for family in ("a2a3", "a5") for r in rule_sets(family)], ids=lambda r: r.name)
@pytest.mark.parametrize(
    ("example", "config"),
    [
        ("stream", {"tiles": 8, "fifo_depth": 2}),
        ("stream", {"tiles": 8, "fifo_depth": 2, "direction": 2, "flow": 1}),
        ("bidirectional", {"rows": 64, "keys": 192, "head": 64, "tile_m": 32, "tile_n": 32}),
    ],
)
def test_one_rank_with_nothing_scarce_is_a_block_by_itself(example: str, config: dict[str, int], rules: Any) -> None:
    plain: Workload = built_in(example)
    alone = simulate(plain, wide(rules.family), rules, config, with_events=True)
    ranked = replace(plain, ranks=expr(1), launch=Launch(expr(1)))
    result = simulate_ranks(ranked, wide(rules.family), rules, config, with_events=True)
    assert result.status == alone.status
    assert sorted(e[2:] for e in result.events) == sorted(alone.events)
    assert {key[2]: n for key, n in result.busy.items()} == alone.busy
    assert {key[2]: n for key, n in result.waits.items()} == alone.waits
    assert {key[2]: text for key, text in result.blocked.items()} == alone.blocked
    if example == "stream":
        assert result.cycles == alone.cycles
