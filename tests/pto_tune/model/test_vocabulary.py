"""The vocabulary is short for nodes, and nothing more."""

from dataclasses import replace

import pytest

from pto_tune.lowering.costs import MODELS
from pto_tune.model import vocabulary as v
from pto_tune.model.expr import ExpressionError, evaluate, expr, name
from pto_tune.model.nodes import SPLITS, Cost, Instr, Loop, Talloc, TConfig, Tfree, Tile, Token, Tpop, Tpush

N = name("n")


@pytest.mark.parametrize(
    "cost",
    [
        v.dma("gm_to_l1", 1, 2),
        v.matmul(1, 2, 3),
        v.drain(1, 2, 4),
        v.drain_ub(1, 2, 4),
        v.vector("exp", 1, 2),
        v.cycles(5),
    ],
)
def test_a_cost_has_the_arguments_of_its_model(cost: Cost) -> None:
    assert tuple(key for key, _ in cost.args) == MODELS[cost.model]


def test_every_model_has_a_word() -> None:
    assert set(MODELS) <= set(dir(v))


def test_numbers_become_expressions_and_texts_stay() -> None:
    assert v.dma("gm_to_ub", N * 2, 64) == Cost(
        "dma", (("path", "gm_to_ub"), ("bytes", N * 2), ("burst_bytes", expr(64)), ("hbm_bytes", expr(0)))
    )
    assert dict(v.matmul(1, 2, 3).args)["elem_bytes"] == expr(2)
    assert dict(v.vector("exp", 1, 2).args)["elem_bytes"] == expr(4)


def test_a_cost_takes_no_fraction() -> None:
    with pytest.raises(ExpressionError, match="made of integers and names"):
        v.cycles(1.5)  # type: ignore[arg-type]


def test_an_instruction_is_issued_once_for_each_cost() -> None:
    assert v.instr("A", "V").issues == 1
    assert v.instr("A", "V", v.cycles(1)).issues == 1
    assert v.instr("A", "V", v.cycles(1), v.cycles(2)).issues == 2
    assert v.instr("A", "V", v.cycles(1), issues=40).issues == 40


def test_tokens_are_handed_on_by_the_name_of_their_buffer() -> None:
    flagged = Token("acc", ("matmul", "store"))
    got = v.instr("A", "M", acquires=["a"], takes=["b"], publishes=["c", flagged], releases=["d"])
    assert got == Instr(
        "A", "M", acquires=("a",), takes=("b",), publishes=(Token("c"), flagged), releases=(Token("d"),)
    )


def test_a_sync_is_flags_without_work() -> None:
    got = v.sync("MTE1", acquires=["a"], takes=["b"], publishes=["c"], releases=["d"])
    assert replace(got, name="A") == v.instr("A", "MTE1", acquires=["a"], takes=["b"], publishes=["c"], releases=["d"])
    assert got.costs == ()


def test_loops_and_conditions() -> None:
    a = v.instr("A", "V")
    assert v.loop(3, a, a) == Loop(expr(3), (a, a))
    assert v.steady_loop(N, a) == Loop(N, (a,), steady=True)
    assert v.when(N.gt(1), a) == Loop(N.gt(1), (a,))


def test_pipe_calls() -> None:
    calls = (v.talloc("q"), v.tpush("q"), v.tpop("q"), v.tfree("q"))
    assert calls == (Talloc("q"), Tpush("q"), Tpop("q"), Tfree("q"))


def test_a_tile_is_handed_on_as_an_instruction_is() -> None:
    got = v.tile("Acc", N, 16, 4, v.cycles(5), acquires=["a"], takes=["b"], publishes=["c"], releases=["d"])
    assert got == Tile("Acc", N, expr(16), expr(4), ("a",), ("b",), (Token("c"),), (Token("d"),), (v.cycles(5),))
    assert v.tile("Vec", 8, 16) == Tile("Vec", expr(8), expr(16), expr(4))


def test_calls_take_a_tile_a_split_and_events() -> None:
    vec, config = v.tile("Vec", 8, 16), TConfig(relu="NormalRelu")
    assert v.talloc("q", split=N, waits=["a"], event="b") == Talloc("q", N, ("a",), "b")
    assert v.tpush("q", vec, config=config, split=N, waits=["a"], event="b") == Tpush(
        "q", vec, config, False, N, ("a",), "b"
    )
    assert v.tpush("q", vec, simplified=True) == Tpush("q", vec, simplified=True)
    assert v.tpop("q", vec, split=N, waits=["a"], event="b") == Tpop("q", vec, N, ("a",), "b")
    assert v.tfree("q", tile=True, split=N, waits=["a"], event="b") == Tfree("q", True, N, ("a",), "b")


@pytest.mark.parametrize(
    ("split", "rows", "cols"),
    [
        ("NO_SPLIT", (7, 7), (9, 9)),
        ("UP_DOWN", (3, 3), (9, 9)),
        ("LEFT_RIGHT", (7, 7), (4, 4)),
        ("UP_DOWN_ODD", (4, 3), (9, 9)),
        ("LEFT_RIGHT_ODD", (7, 7), (5, 4)),
    ],
)
def test_a_sub_core_has_its_part_of_a_tile_by_the_split(
    split: str, rows: tuple[int, int], cols: tuple[int, int]
) -> None:
    axis = expr(SPLITS.index(split))
    for sub in (0, 1):
        assert evaluate(v.half_rows(expr(7), axis), {"sub": sub}) == rows[sub]
        assert evaluate(v.half_cols(expr(9), axis), {"sub": sub}) == cols[sub]
