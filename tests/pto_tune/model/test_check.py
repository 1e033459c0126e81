"""A workload built in Python is checked as one that was read, and whatever its shape the check comes back."""

from dataclasses import replace
from typing import Any

import pytest

from pto_tune.model import serial
from pto_tune.model.expr import Expr, expr, name
from pto_tune.model.nodes import Buffer, Cost, Instr, Launch, Loop, Node, Parameter, Token, Workload
from pto_tune.model.vocabulary import cycles, drain, instr, loop, matmul, steady_loop


def built(*body: Node, **changes: Any) -> Workload:
    w = Workload(
        name="built",
        doc="",
        problem=(Parameter("n", 3, ""),),
        tunables=(),
        buffers=(),
        fifos=(),
        programs=(("AIC", body),),
        launch=Launch(expr(1)),
    )
    return replace(w, **changes)


def test_a_workload_built_in_python_is_checked_as_well() -> None:
    w = built(instr("A", "V", acquires=["x"], waits=["e"]), loop(name("m"), steady_loop(1)))
    assert serial.check(w) == [
        "programs.AIC[0].pipe: 'V' is no pipe of AIC: expected MTE2, MTE1, M or FIX",
        "programs.AIC[0].acquires[0]: 'x' is no buffer of AIC: there is none",
        "programs.AIC[1].trips: 'm' is no problem size, tunable or earlier derived name: expected n",
        "programs.AIC[1].body[0].steady: is true: expected it of one loop of a program, at top level",
        "programs.AIC[0].waits[0]: 'e' is no event of AIC: there is none",
    ]


@pytest.mark.parametrize(
    ("e", "sentence"),
    [
        (3, "3 is no expression: expected one of integers and names"),
        (Expr("pow", (expr(1), expr(2))), "'pow' of 2 is no operation: expected + of 2, - of 2"),
        (Expr("+", (expr(1),)), "'+' of 1 is no operation: expected + of 2, - of 2"),
        (Expr("+", (expr(1), 2)), "2 is no expression: expected one of integers and names"),
        (Expr("int", (True,)), "is true: expected an integer"),
        (Expr("int", (2**40,)), "1099511627776 is out of range: expected -2147483648 to 2147483648"),
        (Expr("name", (3,)), "'name' of 1 is no operation: expected + of 2, - of 2"),
    ],
)
def test_an_expression_built_by_hand_is_looked_into(e: Any, sentence: str) -> None:
    (found,) = serial.check(built(loop(1), l2_footprint=e))
    assert found.startswith(f"l2_footprint: {sentence}")


def test_an_expression_that_shares_its_parts_is_measured_as_a_tree() -> None:
    e = name("n")
    for _ in range(59):
        e = e + e
    (found,) = serial.check(built(instr("A", "M", cycles(e), label="a"), instr("A", "M", cycles(e), label="a")))
    assert found.startswith("programs.AIC[0].costs[0].cycles: brings all expressions above 100000 terms")


def test_a_deep_expression_is_found_without_going_deep() -> None:
    e = name("n")
    for _ in range(5000):
        e = e + 1
    (found,) = serial.check(built(instr("A", "M", cycles(e))))
    assert found == "programs.AIC[0].costs[0].cycles: is nested too deeply: expected at most 60 levels"


def test_loops_that_share_their_bodies_are_measured_unrolled() -> None:
    body: tuple[Node, ...] = (instr("A", "M"),)
    for _ in range(15):
        body = (Loop(expr(1), body * 10),)
    assert serial.check(built(*body)) == [
        "programs: have more than 10000 nodes: expected fewer, with loops",
    ]
    for _ in range(3):
        body = (Loop(expr(1), body),)
    assert "nested too deeply" in serial.check(built(*body))[0]


def test_what_json_cannot_say_is_refused() -> None:
    twice = built(programs=(("AIC", ()), ("AIC", ())))
    assert serial.check(twice) == ["programs: 'AIC' stands there twice: expected a core once"]
    cost = Cost("cycles", (("cycles", expr(1)), ("cycles", expr(2))))
    assert serial.check(built(Instr("A", "M", (cost,)))) == [
        "programs.AIC[0].costs[0].cycles: stands there 2 times: expected it once"
    ]
    assert "is no node" in serial.check(built("TLOAD"))[0]  # type: ignore[arg-type]


def test_a_label_stands_for_one_duration() -> None:
    assert serial.check(built(instr("A", "M", cycles(1), label="a"), instr("B", "M", cycles(1), label="a"))) == []
    (found,) = serial.check(built(instr("A", "M", cycles(1), label="a"), instr("B", "M", cycles(2), label="a")))
    assert found == (
        "programs.AIC[1].label: 'a' has another pipe or other costs at programs.AIC[0].label: expected the same"
    )


def test_a_unit_flag_may_stand_before_its_labels() -> None:
    acc = Buffer("acc", "AIC", "L0C", expr(64), expr(1))
    flag = Token("acc", ("mm", "st"))
    body = (
        instr("A", "M", publishes=[flag]),
        instr("B", "M", matmul(16, 16, 16), label="mm"),
        instr("C", "FIX", drain(16, 16, 4), label="st"),
    )
    assert serial.check(built(*body, buffers=(acc,))) == []
    no_costs = (instr("A", "M", publishes=[flag], label="mm"), body[2])
    assert serial.check(built(*no_costs, buffers=(acc,))) == [
        "programs.AIC[0].publishes[0].unit_flag[0]: 'mm' is no label of an instruction of AIC with costs: expected st"
    ]
