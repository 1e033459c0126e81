"""The oracle on one core, against times worked out by hand."""

import pytest
from oracle_examples import buffer, platform, workload
from simulate import OracleResult, simulate

from cost_models import Platform
from pto_tune.model.expr import name
from pto_tune.model.nodes import Buffer, Node, Token
from pto_tune.model.vocabulary import cycles, dma, drain, instr, loop, sync, when
from pto_tune.rule_sets import rule_set_for

RULES = rule_set_for("a2a3")


def run(
    *program: Node,
    on: Platform | None = None,
    buffers: tuple[Buffer, ...] = (),
    n: int = 3,
    stretch: float = 1.0,
    stretch_resource: str | None = None,
) -> OracleResult:
    return simulate(
        workload(program, buffers=buffers),
        on or platform(),
        RULES,
        {"n": n},
        stretch=stretch,
        stretch_resource=stretch_resource,
        with_events=True,
    )


def spans(result: OracleResult) -> dict[str, list[tuple[int, int]]]:
    """Starts and ends by instruction."""
    found: dict[str, list[tuple[int, int]]] = {}
    for _, label, start, end in result.events:
        found.setdefault(label, []).append((start, end))
    return found


def test_pipes_run_in_order_and_beside_each_other() -> None:
    result = run(
        instr("A", "M", cycles(100)),
        instr("B", "M", cycles(50)),
        instr("C", "MTE1", cycles(10)),
        on=platform(scalar__issue=4),
    )
    assert spans(result) == {"A": [(4, 104)], "B": [(104, 154)], "C": [(12, 22)]}
    assert (result.status, result.cycles) == ("ok", 154)
    assert result.busy == {"AIC.MTE2": 0, "AIC.MTE1": 10, "AIC.M": 150, "AIC.FIX": 0}
    assert (result.waits, result.blocked) == ({}, {})


def test_an_instruction_is_seen_after_one_issue_and_the_next_after_all_of_its_own() -> None:
    result = run(instr("A", "M", cycles(1), issues=3), instr("B", "MTE1", cycles(1)), on=platform(scalar__issue=4))
    assert spans(result) == {"A": [(4, 5)], "B": [(16, 17)]}


def test_the_end_of_the_scalar_process_counts() -> None:
    assert run(instr("A", "M", cycles(1), issues=3), on=platform(scalar__issue=4)).cycles == 12


def test_costs_are_added_before_they_are_rounded_up() -> None:
    half = dma("gm_to_l1", 32, 32)  # 10.5 cycles
    assert run(instr("A", "MTE2", half, half, issues=1)).cycles == 21


def test_a_full_queue_holds_the_scalar_process_until_a_place_is_free() -> None:
    result = run(
        loop(4, instr("A", "M", cycles(100))),
        instr("B", "MTE1", cycles(10)),
        on=platform(scalar__queue_depth=2),
    )
    # The fourth A gets its place when the second one starts, at 100.
    assert spans(result)["B"] == [(100, 110)]
    assert result.waits == {"AIC.M.queue": 100}


def ping_pong(copies: int) -> OracleResult:
    return run(
        loop(
            4,
            instr("LOAD", "MTE2", cycles(30), acquires=["tile"], publishes=["tile"]),
            instr("USE", "M", cycles(100), takes=["tile"], releases=["tile"]),
        ),
        buffers=(buffer("tile", copies),),
    )


def test_two_copies_hide_the_load_behind_the_use() -> None:
    result = ping_pong(copies=2)
    assert spans(result) == {
        "LOAD": [(0, 30), (30, 60), (130, 160), (230, 260)],
        "USE": [(30, 130), (130, 230), (230, 330), (330, 430)],
    }
    # the first USE for 30, the third LOAD from 60 to 130 and the fourth from 160 to 230
    assert result.waits == {"AIC.tile": 30 + 70 + 70}


def test_one_copy_makes_load_and_use_take_turns() -> None:
    result = ping_pong(copies=1)
    assert result.cycles == 4 * 130
    assert result.waits == {"AIC.tile": 4 * 30 + 3 * 100}


def test_data_is_visible_after_the_latency_and_the_pipe_is_free_before() -> None:
    load = dma("gm_to_l1", 640, 640)  # 20 cycles
    result = run(
        instr("LOAD", "MTE2", load, publishes=["tile"], releases=["other"], event="loaded"),
        instr("NEXT", "MTE2", cycles(1)),
        instr("USE", "MTE1", cycles(5), takes=["tile"]),
        instr("ALSO", "M", cycles(5), waits=["loaded"]),
        instr("FREED", "FIX", cycles(5), acquires=["other"]),
        on=platform(dma__gm_to_l1__latency=30),
        buffers=(buffer("tile"), buffer("other", copies=0)),
    )
    assert {label: found[0][0] for label, found in spans(result).items()} == {
        "LOAD": 0,
        "NEXT": 20,
        "FREED": 20,  # a release does not wait for the data
        "USE": 50,
        "ALSO": 50,
    }
    assert result.waits == {"AIC.tile": 50, "AIC.loaded": 50, "AIC.other": 20}


def test_the_end_includes_the_latency_of_the_last_instruction() -> None:
    load = instr("LOAD", "MTE2", dma("gm_to_l1", 640, 640))
    assert run(load, on=platform(dma__gm_to_l1__latency=30)).cycles == 50
    assert run(instr("STORE", "FIX", drain(16, 16, 4)), on=platform(fixpipe__latency=7)).cycles == 116 + 7


def test_tokens_go_from_giver_to_taker_in_program_order() -> None:
    result = run(
        instr("SLOW", "MTE2", cycles(100), publishes=["tile"]),
        instr("FAST", "MTE1", cycles(10), publishes=["tile"]),
        instr("FIRST", "M", cycles(1), takes=["tile"]),
        instr("SECOND", "FIX", cycles(1), takes=["tile"]),
        buffers=(buffer("tile"),),
    )
    assert spans(result)["FIRST"] == [(100, 101)]
    assert spans(result)["SECOND"] == [(10, 11)]


def test_of_tokens_that_arrive_together_the_first_is_blamed() -> None:
    def waits(*taken: str) -> object:
        return run(
            instr("A", "MTE2", cycles(50), publishes=["a"]),
            instr("B", "MTE1", cycles(50), publishes=["b"]),
            instr("USE", "M", cycles(1), takes=taken),
            buffers=(buffer("a"), buffer("b")),
        ).waits

    assert waits("a", "b") == {"AIC.a": 50}
    assert waits("b", "a") == {"AIC.b": 50}


UNIT_FLAG = {"buffers": (buffer("acc"),), "on": platform(fixpipe__unit_flag_granule=512)}
"""A drain of 16 x 16 takes 116 cycles; a granule is half of its 1024 bytes."""
STORE = instr("ST", "FIX", drain(16, 16, 4), label="st", takes=["acc"], releases=[Token("acc", ("st", "mm"))])


def test_with_the_unit_flag_drain_and_matmul_follow_each_other_by_a_granule() -> None:
    matmul = instr("MM", "M", cycles(90), label="mm", acquires=["acc"], publishes=[Token("acc", ("mm", "st"))])
    result = run(loop(2, matmul, STORE), **UNIT_FLAG)  # type: ignore[arg-type]
    # min(90, 116) - 116 / 2 = 32 before the end of the matmul, 90 - 90 / 2 = 45 before the end of the drain
    assert spans(result) == {"MM": [(0, 90), (129, 219)], "ST": [(58, 174), (187, 303)]}
    assert result.waits == {"AIC.acc": 58 + (129 - 90) + (187 - 174)}


def test_a_token_of_a_flag_alone_may_leave_before_the_flag_is_set() -> None:
    result = run(
        instr("MM", "M", cycles(90), label="mm"),
        sync("M", publishes=[Token("acc", ("mm", "st"))]),
        STORE,
        **UNIT_FLAG,  # type: ignore[arg-type]
    )
    assert spans(result)["TSYNC"] == [(90, 90)]
    assert spans(result)["ST"] == [(58, 174)]


def test_stretching_rounds_up_and_spares_what_does_not_move_bytes() -> None:
    result = run(
        instr("LOAD", "MTE2", dma("gm_to_l1", 640, 640, 64)),
        instr("FROM_L2", "MTE2", dma("gm_to_l1", 640, 640)),
        instr("COMPUTE", "M", cycles(100)),
        instr("STORE", "FIX", drain(16, 16, 4)),
        stretch=1.23,
        stretch_resource="hbm",
    )
    assert result.busy == {"AIC.MTE2": 25 + 20, "AIC.MTE1": 0, "AIC.M": 100, "AIC.FIX": 116}
    assert (result.l2_bytes, result.hbm_bytes) == (2 * 640 + 1024, 64)
    assert result.moving == {
        "l2": {"AIC.MTE2": 45, "AIC.FIX": 116},
        "l2_read": {"AIC.MTE2": 45},
        "hbm": {"AIC.MTE2": 25},
    }


def test_the_unit_flag_overlaps_by_the_durations_without_stretching() -> None:
    result = run(
        instr("MM", "M", cycles(90), label="mm", publishes=[Token("acc", ("mm", "st"))]),
        STORE,
        stretch=2.0,
        stretch_resource="l2",
        **UNIT_FLAG,  # type: ignore[arg-type]
    )
    assert spans(result)["ST"] == [(58, 58 + 232)]


@pytest.mark.parametrize(("n", "times"), [(3, 6), (1, 2), (0, 0), (-1, 0)])
def test_loops_run_as_often_as_their_trips_say(n: int, times: int) -> None:
    body = loop(name("n"), when(name("n").gt(0), instr("A", "M", cycles(10))))
    assert run(loop(2, body), n=n).busy["AIC.M"] == times * 10


def test_who_waits_for_ever_hangs_and_says_for_what() -> None:
    twice = loop(2, instr("A", "M", cycles(10), acquires=["tile"]))
    result = run(twice, buffers=(buffer("tile"),))
    assert (result.status, result.cycles) == ("hang", None)
    assert result.blocked == {"AIC": "AIC.M waits for a free copy of tile for A"}
    assert result.busy["AIC.M"] == 10


def test_a_hanging_pipe_fills_its_queue_and_then_holds_the_scalar_process() -> None:
    result = run(loop(3, instr("A", "M", cycles(10), waits=["never"])), on=platform(scalar__queue_depth=2))
    assert result.blocked == {
        "AIC": "S waits for room for A in the queue of AIC.M; AIC.M waits for the event never for A"
    }


@pytest.mark.parametrize(
    ("node", "sentence"),
    [
        (instr("A", "V"), "A: AIC has no pipe 'V'"),
        (instr("A", "M", takes=["tile"]), "AIC has no buffer 'tile'; it has acc"),
        (instr("A", "M", event="e", label="x", releases=[Token("acc", ("x", "y"))]), "has the label 'y'"),
        (instr("A", "M", label="x", releases=[Token("acc", ("x", "x"))]), "neither has a drain"),
    ],
)
def test_a_program_that_makes_no_sense_is_named(node: Node, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        run(node, buffers=(buffer("acc"),))


def test_an_unknown_name_in_a_configuration_is_named() -> None:
    with pytest.raises(ValueError, match="workload 'example' has no m; it has n"):
        simulate(workload((instr("A", "M"),)), platform(), RULES, {"m": 1})
