"""Symbolic integer expressions over problem sizes and tunables.

An expression is data: a number, a name, or an operation on expressions. It is evaluated over columns
(one value a configuration) with NumPy and written to JSON as nested lists; nothing is ever compiled or
`eval`-ed. Arithmetic is int64; sizes are bounded by `MAX_VALUE`, so that no product of two can wrap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Column = NDArray[np.int64]

MAX_VALUE = 2**31
"""No problem size, tunable or literal may exceed this magnitude."""

MAX_DEPTH = 60
"""Deepest nesting that is read from JSON."""

# operator -> number of operands; the words are the JSON spelling
OPERATORS: Mapping[str, int] = {
    "+": 2, "-": 2, "*": 2, "//": 2, "%": 2, "ceildiv": 2, "min": 2, "max": 2,
    "==": 2, "!=": 2, "<": 2, "<=": 2, ">": 2, ">=": 2, "and": 2, "or": 2, "not": 1, "where": 3,
}  # fmt: skip

ExprLike = Union["Expr", int]


class ExpressionError(ValueError):
    """An expression is malformed, names something unknown, or divides by zero."""


@dataclass(frozen=True, slots=True)
class Expr:
    """One node: `op` is "int" (args: the value), "name" (args: the name) or an operator."""

    op: str
    args: tuple[Any, ...]

    def __add__(self, other: ExprLike) -> Expr:
        return _node("+", self, other)

    def __radd__(self, other: ExprLike) -> Expr:
        return _node("+", other, self)

    def __sub__(self, other: ExprLike) -> Expr:
        return _node("-", self, other)

    def __rsub__(self, other: ExprLike) -> Expr:
        return _node("-", other, self)

    def __mul__(self, other: ExprLike) -> Expr:
        return _node("*", self, other)

    def __rmul__(self, other: ExprLike) -> Expr:
        return _node("*", other, self)

    def __floordiv__(self, other: ExprLike) -> Expr:
        return _node("//", self, other)

    def __mod__(self, other: ExprLike) -> Expr:
        return _node("%", self, other)

    def eq(self, other: ExprLike) -> Expr:
        """1 where equal, else 0 (`==` stays Python's own comparison of nodes)."""
        return _node("==", self, other)

    def ne(self, other: ExprLike) -> Expr:
        return _node("!=", self, other)

    def lt(self, other: ExprLike) -> Expr:
        return _node("<", self, other)

    def le(self, other: ExprLike) -> Expr:
        return _node("<=", self, other)

    def gt(self, other: ExprLike) -> Expr:
        return _node(">", self, other)

    def ge(self, other: ExprLike) -> Expr:
        return _node(">=", self, other)

    def and_(self, other: ExprLike) -> Expr:
        return _node("and", self, other)

    def or_(self, other: ExprLike) -> Expr:
        return _node("or", self, other)

    def __str__(self) -> str:
        if self.op in ("int", "name"):
            return str(self.args[0])
        if self.op in ("min", "max", "ceildiv", "where", "not"):
            return f"{self.op}({', '.join(map(str, self.args))})"
        return f"({self.args[0]} {self.op} {self.args[1]})"


def _node(op: str, *args: ExprLike) -> Expr:
    return Expr(op, tuple(expr(a) for a in args))


def expr(value: ExprLike) -> Expr:
    """Wrap an integer; an expression passes through."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, bool) or not isinstance(value, int):
        raise ExpressionError(f"an expression is made of integers and names, not of {value!r}")
    if abs(value) > MAX_VALUE:
        raise ExpressionError(f"the literal {value} is out of range: at most {MAX_VALUE} in magnitude")
    return Expr("int", (value,))


def name(text: str) -> Expr:
    """A problem size or tunable by its name."""
    return Expr("name", (text,))


def ceildiv(a: ExprLike, b: ExprLike) -> Expr:
    return _node("ceildiv", a, b)


def minimum(a: ExprLike, b: ExprLike) -> Expr:
    return _node("min", a, b)


def maximum(a: ExprLike, b: ExprLike) -> Expr:
    return _node("max", a, b)


def where(condition: ExprLike, a: ExprLike, b: ExprLike) -> Expr:
    """`a` where the condition is not 0, else `b`; both are evaluated."""
    return _node("where", condition, a, b)


def not_(a: ExprLike) -> Expr:
    return _node("not", a)


def names_in(e: Expr) -> Iterator[str]:
    """Every name in the expression, repeats included."""
    if e.op == "name":
        yield e.args[0]
    elif e.op != "int":
        for a in e.args:
            yield from names_in(a)


def evaluate(e: ExprLike, env: Mapping[str, Any]) -> Any:
    """Value of the expression: an int64 array (or NumPy scalar) broadcast over the columns of `env`.

    Division and remainder by zero give 0: the legality rules refuse such configurations by name, and the
    other columns of the same table must not be disturbed by them.
    """
    import numpy as np

    e = expr(e)
    if e.op == "int":
        return np.int64(e.args[0])
    if e.op == "name":
        try:
            return env[e.args[0]]
        except KeyError:
            raise ExpressionError(f"unknown name {e.args[0]!r}: known are {', '.join(sorted(env))}") from None
    v = [np.asarray(evaluate(a, env), dtype=np.int64) for a in e.args]
    match e.op:
        case "+":
            r = v[0] + v[1]
        case "-":
            r = v[0] - v[1]
        case "*":
            r = v[0] * v[1]
        case "//" | "%" | "ceildiv":
            safe = np.where(v[1] == 0, 1, v[1])
            if e.op == "//":
                r = v[0] // safe
            elif e.op == "%":
                r = v[0] % safe
            else:
                r = -((-v[0]) // safe)
            r = np.where(v[1] == 0, 0, r)
        case "min":
            r = np.minimum(v[0], v[1])
        case "max":
            r = np.maximum(v[0], v[1])
        case "==":
            r = v[0] == v[1]
        case "!=":
            r = v[0] != v[1]
        case "<":
            r = v[0] < v[1]
        case "<=":
            r = v[0] <= v[1]
        case ">":
            r = v[0] > v[1]
        case ">=":
            r = v[0] >= v[1]
        case "and":
            r = (v[0] != 0) & (v[1] != 0)
        case "or":
            r = (v[0] != 0) | (v[1] != 0)
        case "not":
            r = v[0] == 0
        case "where":
            r = np.where(v[0] != 0, v[1], v[2])
        case _:
            raise ExpressionError(f"unknown operator {e.op!r}: known are {', '.join(OPERATORS)}")
    return np.asarray(r, dtype=np.int64)


def to_json(e: ExprLike) -> Any:
    """Nested lists: 3, ["name", "s1"], ["+", a, b]."""
    e = expr(e)
    if e.op == "int":
        return e.args[0]
    if e.op == "name":
        return ["name", e.args[0]]
    return [e.op, *(to_json(a) for a in e.args)]


def from_json(data: Any, where_: str = "expression", depth: int = 0) -> Expr:
    """Read what `to_json` wrote; ExpressionError names the place of anything else."""
    if depth > MAX_DEPTH:
        raise ExpressionError(f"{where_}: nested deeper than {MAX_DEPTH} levels")
    if isinstance(data, int) and not isinstance(data, bool):
        return expr(data)
    if isinstance(data, list) and len(data) == 2 and data[0] == "name" and isinstance(data[1], str):
        return name(data[1])
    if isinstance(data, list) and data and isinstance(data[0], str) and data[0] in OPERATORS:
        if len(data) - 1 != OPERATORS[data[0]]:
            raise ExpressionError(
                f"{where_}: {data[0]!r} takes {OPERATORS[data[0]]} operands, not {len(data) - 1}"
            )
        return Expr(data[0], tuple(from_json(a, where_, depth + 1) for a in data[1:]))
    raise ExpressionError(
        f"{where_}: {str(data)[:80]!r} is no expression: expected an integer, "
        '["name", NAME] or [OPERATOR, operands...]'
    )
