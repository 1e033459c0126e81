"""Expressions over any columns: the exact integer, or a refusal. Nothing wraps at 64 bits."""

from typing import Any

import numpy as np
from fuzzing import answer_or_clear_error, fuzz
from hypothesis import example, given
from hypothesis import strategies as st

from pto_tune.model import expr
from pto_tune.model.expr import MAX_VALUE, Expr, evaluate, from_json, name

NAMES = ("a", "b", "c")
numbers = st.integers(-MAX_VALUE, MAX_VALUE) | st.sampled_from([0, 1, -1, MAX_VALUE, -MAX_VALUE, MAX_VALUE - 1])
expressions = st.recursive(
    numbers.map(expr.expr) | st.sampled_from(NAMES).map(name),
    lambda inner: st.sampled_from(list(expr.OPERATORS)).flatmap(
        lambda op: st.tuples(*[inner] * expr.OPERATORS[op]).map(lambda args: Expr(op, args))
    ),
    max_leaves=24,
)


def exact(e: Expr, row: dict[str, int]) -> int:
    """The value by Python's own integers."""
    if e.op == "int":
        return int(e.args[0])
    if e.op == "name":
        return row[e.args[0]]
    v = [exact(a, row) for a in e.args]
    match e.op:
        case "+":
            return v[0] + v[1]
        case "-":
            return v[0] - v[1]
        case "*":
            return v[0] * v[1]
        case "//":
            return v[0] // v[1] if v[1] else 0
        case "%":
            return v[0] % v[1] if v[1] else 0
        case "ceildiv":
            return -(-v[0] // v[1]) if v[1] else 0
        case "min":
            return min(v)
        case "max":
            return max(v)
        case "and":
            return int(v[0] != 0 and v[1] != 0)
        case "or":
            return int(v[0] != 0 or v[1] != 0)
        case "not":
            return int(v[0] == 0)
        case "where":
            return v[1] if v[0] else v[2]
    compare = {"==": v[0] == v[1], "!=": v[0] != v[1], "<": v[0] < v[1], "<=": v[0] <= v[1], ">": v[0] > v[1]}
    return int({**compare, ">=": v[0] >= v[1]}[e.op])


LARGEST = expr.expr(MAX_VALUE) * MAX_VALUE
FOUR = (LARGEST + LARGEST) + (LARGEST + LARGEST)


@fuzz(250)
@given(e=expressions, rows=st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=4))
@example(e=FOUR, rows=[(0, 0, 0)])
@example(e=(FOUR - 1) - (name("a") * MAX_VALUE), rows=[(MAX_VALUE, 0, 0), (-MAX_VALUE, 0, 0)])
@example(e=Expr("//", (LARGEST + LARGEST - 1 + 1, expr.expr(-1))), rows=[(0, 0, 0)])
def test_a_value_is_exact_or_refused(e: Expr, rows: list[tuple[int, ...]]) -> None:
    columns: dict[str, Any] = {
        n: np.array(column, dtype=np.int64) for n, column in zip(NAMES, zip(*rows, strict=True), strict=True)
    }
    found, refused = answer_or_clear_error(lambda: evaluate(e, columns))
    if not refused:
        expected = [exact(e, dict(zip(NAMES, row, strict=True))) for row in rows]
        assert np.broadcast_to(found, len(rows)).tolist() == expected


@fuzz(100)
@given(e=expressions)
def test_what_is_written_is_read_back(e: Expr) -> None:
    assert from_json(expr.to_json(e)) == e
