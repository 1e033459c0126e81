"""The vocabulary for ranks is short for nodes, and nothing more."""

from typing import Any

import pytest

from pto_tune.model import vocabulary_remote as v
from pto_tune.model.communication import Barrier, Let, Post, Signal, Staging, Tget, Tnotify, Tput, Ttest, Twait
from pto_tune.model.expr import ExpressionError, evaluate, expr, name
from pto_tune.model.nodes import Loop, Node, While
from pto_tune.model.vocabulary import instr

N = name("n")
SHAPE = (1, 1, 1, N, 8)
EXTENTS = (expr(1), expr(1), expr(1), N, expr(8))
WORK = instr("A", "V")


def test_signals_and_staging_tiles() -> None:
    assert v.signal("s") == Signal("s", ())
    assert v.signal("s", N, 2, elem="int64", offset_bytes=4) == Signal("s", (N, expr(2)), "int64", expr(4))
    assert v.staging("t", N, 8) == Staging("t", N, expr(8))
    assert v.staging("t", 8, 16, "half", valid_rows=4, dynamic_cols=1, offset_bytes=0, used=N) == Staging(
        "t", expr(8), expr(16), "half", expr(4), None, expr(0), expr(1), expr(0), N
    )
    layouts: Any = {"location": "Mat", "block_layout": "ColMajor", "fractal_layout": "RowMajor"}
    assert v.staging("t", 8, 16, valid_cols=2, dynamic_rows=N, **layouts) == Staging(
        "t", expr(8), expr(16), valid_cols=expr(2), dynamic_rows=N, **layouts
    )


@pytest.mark.parametrize(("word", "by_sdma", "cls"), [(v.tput, v.tput_async, Tput), (v.tget, v.tget_async, Tget)])
def test_transfers(word: Any, by_sdma: Any, cls: Any) -> None:
    assert word(1, SHAPE, "a") == cls(EXTENTS, expr(1), "a")
    more = {"elem": "half", "dst_elem": "int8", "layout": "NZ", "dst_layout": "DN", "atomic": "AtomicAdd"}
    sides = {"src_remote": True, "dst_remote": False, "event": "e"}
    assert word(N, SHAPE, "a", pong="b", use_pong=0, atomic_at_run_time=True, waits=["w"], **more, **sides) == cls(
        EXTENTS, N, "a", "b", expr(0), atomic_at_run_time=True, waits=("w",), **more, **sides
    )
    assert by_sdma(1, SHAPE) == cls(EXTENTS, expr(1), asynchronous=True)
    assert by_sdma(1, SHAPE, waits=["w"], **more, **sides) == cls(
        EXTENTS, expr(1), asynchronous=True, waits=("w",), **more, **sides
    )


def test_signal_instructions() -> None:
    assert v.tnotify("s", N) == Tnotify("s", N, expr(1))
    assert v.tnotify("s", 1, 2, at=N, op="Set", remote=False, announces=False, waits=["w"]) == Tnotify(
        "s", expr(1), expr(2), N, "Set", False, False, ("w",)
    )
    assert v.post("s", 1) == Post("s", expr(1))
    assert v.post("s", N, at=2, op="AtomicAdd", announces=False) == Post("s", N, expr(2), "AtomicAdd", False)
    assert v.twait("s", 1) == Twait("s", expr(1))
    view = ((expr(2), N), (N, expr(1)))
    assert v.twait("s", N, cmp="EQ", at=3, view=[(2, N), (N, 1)], remote=True, waits=["w"]) == Twait(
        "s", N, "EQ", expr(3), view, True, ("w",)
    )
    assert v.ttest("s", 1, into="x") == Ttest("s", expr(1), "x")
    assert v.ttest("s", N, into="x", cmp="EQ", at=3, view=[(2, N), (N, 1)], remote=True, waits=["w"]) == Ttest(
        "s", N, "x", "EQ", expr(3), view, True, ("w",)
    )


def test_scalar_code() -> None:
    assert v.barrier() == Barrier()
    assert v.barrier("MTE2", "SDMA") == Barrier(("MTE2", "SDMA"))
    assert v.let("x", 3) == Let("x", expr(3))
    assert v.loop_index("i", 4, WORK) == Loop(expr(4), (WORK,), index="i")
    assert v.while_loop(N, 4, WORK) == While(N, expr(4), (WORK,))


def test_a_fraction_is_refused() -> None:
    with pytest.raises(ExpressionError, match="made of integers and names"):
        v.twait("s", 1.5)  # type: ignore[arg-type]


def polled(nodes: tuple[Node, ...], passes_at: int, polls: int) -> tuple[int, int, int]:
    """Tests made, times that the rest of the body ran, and the variable at the end, of a signal that is there from
    test `passes_at` on."""
    env, tests, idle = {"ready": 7, "polls": polls}, 0, 0

    def value(e: Any) -> int:
        return int(evaluate(e, env))

    def run(body: tuple[Node, ...]) -> None:
        nonlocal tests, idle
        for node in body:
            match node:
                case Let():
                    env[node.name] = value(node.value)
                case While():
                    left = value(node.most)
                    while left > 0 and value(node.condition):
                        left -= 1
                        run(node.body)
                case Loop():
                    for _ in range(value(node.trips)):
                        run(node.body)
                case Ttest():
                    tests += 1
                    env[node.into] = int(tests >= passes_at)
                case _:
                    idle += 1

    run(nodes)
    return tests, idle, env["ready"]


@pytest.mark.parametrize(
    ("passes_at", "polls", "outcome"),
    [(1, 5, (1, 0, 1)), (3, 5, (3, 2, 1)), (5, 5, (5, 4, 1)), (6, 5, (5, 5, 0)), (1, 0, (0, 0, 0)), (9, -1, (0, 0, 0))],
)
def test_a_poll_tests_until_one_passes_and_works_after_each_that_fails(
    passes_at: int, polls: int, outcome: tuple[int, int, int]
) -> None:
    assert polled(v.poll("s", 1, name("polls"), WORK), passes_at, polls) == outcome


def test_a_poll_takes_what_a_test_takes() -> None:
    first, polling = v.poll("s", N, 3, cmp="EQ", at=2, view=[(2, 1)], into="seen")
    assert first == v.let("seen", 0)
    assert isinstance(polling, While)
    assert polling.body == (v.ttest("s", N, cmp="EQ", at=2, view=[(2, 1)], into="seen"),)
