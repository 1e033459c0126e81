"""Expressions are data: what they are worth, and how they are written and read."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pto_tune.model import expr as x
from pto_tune.model.expr import Expr, ExpressionError, expr, name

A, B = name("a"), name("b")

WORTH: dict[str, Any] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b if b else 0,
    "%": lambda a, b: a % b if b else 0,
    "ceildiv": lambda a, b: math.ceil(Fraction(a, b)) if b else 0,
    "min": min,
    "max": max,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "and": lambda a, b: bool(a and b),
    "or": lambda a, b: bool(a or b),
    "not": lambda a: not a,
    "where": lambda a, b, c: b if a else c,
}


def names_or_integers() -> st.SearchStrategy[Expr]:
    return st.integers(-99, 99).map(expr) | st.sampled_from("ab").map(name)


def deeper(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    return st.sampled_from(sorted(x.OPERATORS)).flatmap(
        lambda op: st.tuples(*[inner] * x.OPERATORS[op]).map(lambda args: Expr(op, args))
    )


EXPRESSIONS = st.recursive(names_or_integers(), deeper, max_leaves=20)


def worth(e: Expr, env: dict[str, int]) -> int:
    """The same in Python's own integers, one at a time."""
    if e.op in ("int", "name"):
        return int(env[e.args[0]] if e.op == "name" else e.args[0])
    return int(WORTH[e.op](*(worth(a, env) for a in e.args)))


def nested(depth: int) -> list[Any]:
    data: Any = 1
    for _ in range(depth):
        data = ["not", data]
    return list(data)


def test_every_operator_has_a_worth() -> None:
    assert WORTH.keys() == x.OPERATORS.keys()


@pytest.mark.parametrize("op", sorted(x.OPERATORS))
@given(st.tuples(*[st.integers(-(2**31), 2**31)] * 3))
def test_an_operator_is_worth_what_python_says(op: str, values: tuple[int, int, int]) -> None:
    operands = values[: x.OPERATORS[op]]
    assert x.evaluate(Expr(op, tuple(map(expr, operands))), {}) == int(WORTH[op](*operands))


def test_an_expression_is_evaluated_over_whole_columns() -> None:
    env = {"a": np.array([1, 5, 9]), "b": np.array([2, 2, 3])}
    assert x.evaluate(A // B + x.maximum(A, 4), env).tolist() == [4, 7, 12]
    assert x.evaluate(x.where(A.gt(B), A, B), env).tolist() == [2, 5, 9]


def test_a_division_by_zero_is_zero_in_its_row_only() -> None:
    env = {"a": np.array([7, 7]), "b": np.array([0, 2])}
    assert x.evaluate(A // B, env).tolist() == [0, 3]
    assert x.evaluate(A % B, env).tolist() == [0, 1]
    assert x.evaluate(x.ceildiv(A, B), env).tolist() == [0, 4]


@pytest.mark.parametrize(
    ("built", "op", "operands"),
    [
        (A + 1, "+", (A, 1)),
        (1 + A, "+", (1, A)),
        (A - 1, "-", (A, 1)),
        (1 - A, "-", (1, A)),
        (A * 2, "*", (A, 2)),
        (2 * A, "*", (2, A)),
        (A // 2, "//", (A, 2)),
        (A % 2, "%", (A, 2)),
        (A.eq(B), "==", (A, B)),
        (A.ne(B), "!=", (A, B)),
        (A.lt(B), "<", (A, B)),
        (A.le(B), "<=", (A, B)),
        (A.gt(B), ">", (A, B)),
        (A.ge(B), ">=", (A, B)),
        (A.and_(B), "and", (A, B)),
        (A.or_(B), "or", (A, B)),
        (x.ceildiv(A, 2), "ceildiv", (A, 2)),
        (x.minimum(A, 2), "min", (A, 2)),
        (x.maximum(2, A), "max", (2, A)),
        (x.where(A, 1, 2), "where", (A, 1, 2)),
        (x.not_(A), "not", (A,)),
    ],
)
def test_python_operators_build_the_expression(built: Expr, op: str, operands: tuple[Any, ...]) -> None:
    assert built == Expr(op, tuple(expr(o) for o in operands))


def test_an_expression_reads_like_a_formula() -> None:
    assert str(x.ceildiv(A + 1, B) * x.minimum(2, A)) == "(ceildiv((a + 1), b) * min(2, a))"


def test_names_are_found_with_their_repeats() -> None:
    assert list(x.names_in(x.where(A, B + A, 3))) == ["a", "b", "a"]


@pytest.mark.parametrize("value", [True, 1.5, "a", None])
def test_only_integers_become_expressions(value: Any) -> None:
    with pytest.raises(ExpressionError, match="made of integers and names"):
        expr(value)


def test_an_unknown_name_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(ExpressionError, match=r"unknown name 'c': known are a, b"):
        x.evaluate(name("c"), {"a": 1, "b": 2})


@given(EXPRESSIONS)
def test_what_is_written_is_read_back(e: Expr) -> None:
    assert x.from_json(x.to_json(e)) == e


@given(EXPRESSIONS, st.integers(-99, 99), st.integers(-99, 99))
def test_every_expression_is_worth_what_its_operators_are(e: Expr, a: int, b: int) -> None:
    env = {"a": a, "b": b}
    assume(all(abs(worth(part, env)) <= x.MAX_VALUE for part in parts(e)))  # so that no product wraps
    assert x.evaluate(e, {"a": np.array([a]), "b": np.array([b])}) == worth(e, env)


def parts(e: Expr) -> list[Expr]:
    inner = [] if e.op in ("int", "name") else [p for a in e.args for p in parts(a)]
    return [e, *inner]


def test_the_json_is_nested_lists() -> None:
    assert x.to_json(x.ceildiv(A, 2) + 1) == ["+", ["ceildiv", ["name", "a"], 2], 1]


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (True, "e: true is no expression"),
        (1.0, "e: 1.0 is no expression"),
        ("s0", "e: 's0' is no expression"),
        (None, "e: null is no expression"),
        ({}, "e: an object is no expression"),
        ([], "e: an empty list is no expression"),
        ([3], "e: a list is no expression"),
        (["name", 3], "e: a list that starts with 'name' is no expression"),
        (["pow", 1, 2], "e: a list that starts with 'pow' is no expression"),
        (["+", 1], "e: '+' has 1 operands: expected 2"),
        (["+", 1, ["not", 2, 3]], "e[2]: 'not' has 2 operands: expected 1"),
        (["+", 1, ["not", 2**31 + 1]], "e[2][1]: 2147483649 is out of range"),
    ],
)
def test_what_is_no_expression_is_named_with_its_place(data: Any, sentence: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        x.from_json(data, "e")
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


def test_all_faults_are_reported_at_once() -> None:
    with pytest.raises(ExpressionError) as caught:
        x.from_json(["+", None, ["*", 1, "x"]], "e")
    assert [line.split(":")[0] for line in str(caught.value).split("\n")] == ["e[1]", "e[2][2]"]


def test_nesting_is_bounded() -> None:
    assert x.from_json(nested(x.MAX_DEPTH)).op == "not"
    with pytest.raises(ExpressionError, match="nested too deeply: expected at most 60 levels"):
        x.from_json(nested(x.MAX_DEPTH + 1))
    with pytest.raises(ExpressionError, match="nested too deeply"):
        x.from_json(nested(100_000))


@pytest.mark.parametrize("sign", [1, -1])
def test_an_integer_of_thousands_of_digits_is_out_of_range(sign: int) -> None:
    for read in (x.from_json, expr):
        with pytest.raises(ExpressionError, match="an integer of 16610 bits is out of range"):
            read(sign * 10**5000)


@pytest.mark.parametrize("data", [[[[[["x"]]]]], ["x" * 10**6], [list(range(10**5))]])
def test_a_sentence_stays_short(data: Any) -> None:
    with pytest.raises(ExpressionError) as caught:
        x.from_json(data)
    assert len(str(caught.value)) < 300


def test_a_choice_is_cut_short() -> None:
    assert x.one_of(["a"]) == "a"
    assert x.one_of(["a", "b", "c"]) == "a, b or c"
    assert x.one_of(str(i) for i in range(10**9)).endswith("22, 23 or others")


def test_a_product_that_could_wrap_is_refused_by_name() -> None:
    env = {"a": np.array([2**31, 1]), "b": np.array([2**31, 1])}
    assert x.evaluate(A * B, env)[0] == 2**62
    with pytest.raises(x.ExpressionError, match=r"\(\(a \* b\) \* 2\): a product is beyond"):
        x.evaluate(A * B * 2, env)
