"""Symbolic integer expressions over problem sizes and tunables.

An expression is data: a number, a name, or an operation on expressions. It is evaluated over columns
(one value a configuration) with NumPy and written to JSON as nested lists; nothing is ever compiled or
`eval`-ed. Arithmetic is int64; sizes are bounded by `MAX_VALUE`, so that no product of two can wrap.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Union

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Column = NDArray[np.int64]

MAX_VALUE = 2**31
"""No problem size, tunable or literal may exceed this magnitude."""

MAX_PRODUCT = 2**62
"""No product may exceed this magnitude."""

MAX_SUM = 2**63 - 1
"""No sum or difference may exceed this magnitude: what goes on from there fits into 64 bits."""

MAX_DEPTH = 60
"""Deepest nesting that is read from JSON."""

MAX_SHOWN = 200
"""Most characters of an expression in an error."""

MAX_LISTED = 24
"""Most words that an error lists."""

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
        raise ExpressionError(f"an expression is made of integers and names, not of {brief(value)}")
    if abs(value) > MAX_VALUE:
        raise ExpressionError(f"the literal {brief(value)} is out of range: at most {MAX_VALUE} in magnitude")
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


def nearest_multiple(a: ExprLike, b: ExprLike) -> Expr:
    """The multiple of `b` (at least one) that is nearest to `a`, the larger of two."""
    return maximum((expr(a) + expr(b) // 2) // b, 1) * b


def not_(a: ExprLike) -> Expr:
    return _node("not", a)


def names_in(e: Expr) -> Iterator[str]:
    """Every name in the expression, repeats included."""
    if e.op == "name":
        yield e.args[0]
    elif e.op != "int":
        for a in e.args:
            yield from names_in(a)


def _largest(a: Column) -> int:
    """Largest magnitude in the column, as an integer of any size."""
    return max(abs(int(a.max(initial=0))), abs(int(a.min(initial=0))))


def evaluate(e: ExprLike, env: Mapping[str, Any]) -> Any:
    """Value of the expression: an int64 array (or NumPy scalar) broadcast over the columns of `env`.

    Division and remainder by zero give 0: the legality rules refuse such configurations by name, and the
    other columns of the same table must not be disturbed by them.

    ExpressionError: an unknown name, or a product or sum that is too large.
    """
    return _valued(expr(e), env)[0]


def _valued(e: Expr, env: Mapping[str, Any]) -> tuple[Any, int | None]:
    """The value, and a bound of its magnitude where one is known without looking at the values."""
    import numpy as np

    if e.op == "int":
        return np.int64(e.args[0]), abs(int(e.args[0]))
    if e.op == "name":
        try:
            return env[e.args[0]], None
        except KeyError:
            raise ExpressionError(f"unknown name {e.args[0]!r}: known are {', '.join(sorted(env))}") from None
    operands = [_valued(a, env) for a in e.args]
    v = [np.asarray(value, dtype=np.int64) for value, _ in operands]
    bound: int | None = 1
    r: Any
    match e.op:
        case "+" | "-":
            bound = _bounded(e, operands, MAX_SUM)
            r = v[0] + v[1] if e.op == "+" else v[0] - v[1]
        case "*":
            bound = _bounded(e, operands, MAX_PRODUCT)
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
            bound = operands[1 if e.op == "%" else 0][1]
        case "min":
            r = np.minimum(v[0], v[1])
            bound = _widest(operands)
        case "max":
            r = np.maximum(v[0], v[1])
            bound = _widest(operands)
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
            bound = _widest(operands[1:])
        case _:
            raise ExpressionError(f"unknown operator {e.op!r}: known are {', '.join(OPERATORS)}")
    return np.asarray(r, dtype=np.int64), bound


def _bounded(e: Expr, operands: Sequence[tuple[Any, int | None]], most: int) -> int:
    """A bound of a sum, difference or product. ExpressionError where it is above `most`, by the values themselves."""
    import numpy as np

    bound = most + 1
    if all(known is not None for _, known in operands):
        bound = _combined(e.op, [known or 0 for _, known in operands])
    if bound > most:
        bound = _combined(e.op, [_largest(np.asarray(value)) for value, _ in operands])
    if bound > most:
        what = "product" if e.op == "*" else "sum"
        raise ExpressionError(f"{_shown(e)}: a {what} is beyond {most}: the sizes are too large")
    return bound


def _combined(op: str, magnitudes: Sequence[int]) -> int:
    return magnitudes[0] * magnitudes[1] if op == "*" else magnitudes[0] + magnitudes[1]


def _widest(operands: Sequence[tuple[Any, int | None]]) -> int | None:
    known = [bound for _, bound in operands if bound is not None]
    return max(known) if len(known) == len(operands) else None


def _shown(e: Expr) -> str:
    """An expression in an error, cut short."""
    text = str(e)
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 3]}..."


def to_json(e: ExprLike) -> Any:
    """Nested lists: 3, ["name", "s1"], ["+", a, b]."""
    e = expr(e)
    if e.op == "int":
        return e.args[0]
    if e.op == "name":
        return ["name", e.args[0]]
    return [e.op, *(to_json(a) for a in e.args)]


def from_json(data: Any, where_: str = "expression") -> Expr:
    """Read what `to_json` wrote; ExpressionError has a line with the place for everything else."""
    faults: list[str] = []
    e = read(data, where_, faults)
    if faults:
        raise ExpressionError("\n".join(faults))
    return e


def read(data: Any, place: str, faults: list[str], depth: int = 0) -> Expr:
    """The expression that `data` stands for; what is none becomes 0, and a sentence in `faults`.

    Operands are named by their index in `data`: `place[1]` is the first one.
    """
    if depth > MAX_DEPTH:
        faults.append(f"{place}: is nested too deeply: expected at most {MAX_DEPTH} levels")
    elif isinstance(data, int) and not isinstance(data, bool):
        if abs(data) <= MAX_VALUE:
            return Expr("int", (data,))
        faults.append(f"{place}: {brief(data)} is out of range: expected at most {MAX_VALUE} in magnitude")
    elif isinstance(data, list) and len(data) == 2 and data[0] == "name" and isinstance(data[1], str):
        return name(data[1])
    elif isinstance(data, list) and data and isinstance(data[0], str) and data[0] in OPERATORS:
        op, arity = data[0], OPERATORS[data[0]]
        if len(data) - 1 == arity:
            return Expr(op, tuple(read(a, f"{place}[{i}]", faults, depth + 1) for i, a in enumerate(data[1:], 1)))
        faults.append(f"{place}: {op!r} has {len(data) - 1} operands: expected {arity}")
    else:
        what = brief(data)
        if isinstance(data, list) and data and isinstance(data[0], str):
            what = f"a list that starts with {brief(data[0])}"
        faults.append(
            f"{place}: {what} is no expression: expected an integer, "
            f'["name", NAME] or a list of operands after one of {" ".join(OPERATORS)}'
        )
    return Expr("int", (0,))


def brief(value: object) -> str:
    """A value of JSON in a few words for an error, whatever its size and depth."""
    match value:
        case str():
            return repr(value if len(value) <= 40 else value[:37] + "...")
        case None | bool():
            return {None: "null", True: "true", False: "false"}[value]
        case int():
            return str(value) if value.bit_length() <= 64 else f"an integer of {value.bit_length()} bits"
        case float():
            return repr(value)
        case list() | tuple():
            return "a list" if value else "an empty list"
        case dict():
            return "an object"
    return f"a {type(value).__name__}"


def one_of(words: Iterable[str]) -> str:
    """The words (at least one) as a choice for an error: `a, b or c`; many are cut short."""
    listed = list(islice(words, MAX_LISTED + 1))
    listed[MAX_LISTED:] = ["others"] if len(listed) > MAX_LISTED else []
    return " or ".join(part for part in (", ".join(listed[:-1]), listed[-1]) if part)
