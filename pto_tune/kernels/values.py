"""What the names of a kernel stand for while it is read: numbers, tiles, views, pointers, pipes, reserved buffers.

A number is an expression over problem sizes, or is unknown with the reason. Everything is folded, so that constants
stay constants.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from pto_tune.kernels.faults import Place
from pto_tune.kernels.types import TileType
from pto_tune.model.expr import MAX_VALUE, Expr, ceildiv, expr, maximum, minimum, where

MAX_SIZE = 24
"""Most operations of one number: more are taken as unknown, so that no expression grows out of bounds."""


@dataclass(frozen=True)
class Number:
    """An integer. `expr` None: it is not known before the kernel runs, because of `why`."""

    expr: Expr | None
    why: str = ""

    @property
    def constant(self) -> int | None:
        """Its value where it is the same for all problem sizes."""
        return int(self.expr.args[0]) if self.expr is not None and self.expr.op == "int" else None


@dataclass(frozen=True)
class Tile:
    """A tile in a core's memory. `roots` are the allocations that it may be part of, `popped` and `pushed` the pipe
    that gave it. Valid extents as far as they are known, else those of the type."""

    type: TileType
    roots: frozenset[str]
    valid_rows: Expr
    valid_cols: Expr
    popped: str = ""


@dataclass(frozen=True)
class View:
    """A view of global memory. `root` is the pointer's name, `slot` the pipe whose slot it is, `offset` its first
    element where that is known."""

    sizes: tuple[Expr | None, ...]
    dtype: str
    root: str = ""
    slot: str = ""
    strides: tuple[Expr | None, ...] = ()
    offset: Expr | None = None


@dataclass(frozen=True)
class Pointer:
    """A pointer into global memory."""

    root: str


@dataclass(frozen=True)
class Pipe:
    """A handle of a pipe, or of the pipe of an id."""

    key: str


@dataclass
class Reserved:
    """A buffer that a function reserves for a pipe's local slots, or a reference to one."""

    name: str
    function: str
    place: Place
    size: int = 0
    base: int | None = None
    location: str = ""
    imported: bool = False
    size_at: Place | None = None


@dataclass(frozen=True)
class Other:
    """Anything whose value decides nothing here."""

    what: str = "a value"


Value = Number | Tile | View | Pointer | Pipe | Reserved | Other


@dataclass
class Scope:
    """Names of a function and of the regions inside it; the last one is innermost."""

    levels: list[dict[str, Value]] = field(default_factory=lambda: [{}])

    def get(self, name: str) -> Value | None:
        """What a name stands for."""
        for level in reversed(self.levels):
            if name in level:
                return level[name]
        return None

    def set(self, name: str, value: Value) -> None:
        self.levels[-1][name] = value


def number(value: int | Expr) -> Number:
    """A number that is known. Constants beyond what the model counts with are not."""
    e = value if isinstance(value, Expr) else None
    if isinstance(value, int):
        if abs(value) > MAX_VALUE:
            return Number(None, f"{value} is beyond {MAX_VALUE}")
        e = expr(value)
    return Number(e)


def size_of(e: Expr) -> int:
    """Operations of an expression."""
    return 0 if e.op in ("int", "name") else 1 + sum(size_of(a) for a in e.args)


def _int(e: Expr) -> int | None:
    return int(e.args[0]) if e.op == "int" else None


def fold(op: str, a: Expr, b: Expr) -> Expr | None:
    """`a op b` with constants folded; None where it is beyond what the model counts with. Division is that of
    numbers that are not negative."""
    x, y = _int(a), _int(b)
    if x is not None and y is not None:
        value = _of_integers(op, x, y)
        return None if value is None or abs(value) > MAX_VALUE else expr(value)
    match op:
        case "+":
            e = b if x == 0 else a if y == 0 else a + b
        case "-":
            e = a if y == 0 else expr(0) if a == b else a - b
        case "*":
            e = expr(0) if 0 in (x, y) else b if x == 1 else a if y == 1 else a * b
        case "//":
            e = a if y == 1 else a // b
        case "%":
            e = expr(0) if y == 1 else a % b
        case "ceildiv":
            e = a if y == 1 else ceildiv(a, b)
        case "min":
            e = a if a == b else minimum(a, b)
        case "max":
            e = a if a == b else maximum(a, b)
        case "and":
            e = expr(0) if 0 in (x, y) else b.ne(0) if x is not None else a.ne(0) if y is not None else a.and_(b)
        case "or":
            e = b.ne(0) if x == 0 else a.ne(0) if y == 0 else expr(1) if x or y else a.or_(b)
        case _:
            e = {"==": a.eq, "!=": a.ne, "<": a.lt, "<=": a.le, ">": a.gt, ">=": a.ge}[op](b)
    return e if size_of(e) <= MAX_SIZE else None


def _of_integers(op: str, x: int, y: int) -> int | None:
    if op in ("//", "%", "ceildiv") and y == 0:
        return None
    match op:
        case "+":
            return x + y
        case "-":
            return x - y
        case "*":
            return x * y
        case "//":
            return x // y
        case "%":
            return x % y
        case "ceildiv":
            return -(-x // y)
        case "min":
            return min(x, y)
        case "max":
            return max(x, y)
        case "and":
            return int(bool(x) and bool(y))
        case "or":
            return int(bool(x) or bool(y))
    return int({"==": x == y, "!=": x != y, "<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y}[op])


def combine(op: str, a: Number, b: Number) -> Number:
    """`a op b` as a number."""
    if a.expr is None or b.expr is None:
        return Number(None, a.why or b.why)
    e = fold(op, a.expr, b.expr)
    return Number(e, "" if e is not None else "it is out of the range that is counted with")


def choose(condition: Number, a: Number, b: Number) -> Number:
    """`a` where the condition is not 0, else `b`."""
    if condition.constant is not None:
        return a if condition.constant else b
    if a.expr is not None and a.expr == b.expr:
        return a
    if condition.expr is None or a.expr is None or b.expr is None:
        return Number(None, condition.why or a.why or b.why)
    e = where(condition.expr, a.expr, b.expr)
    return Number(e) if size_of(e) <= MAX_SIZE else Number(None, "it is too long an expression")


def product(factors: list[Expr]) -> Expr | None:
    """The product; None where it is beyond what the model counts with."""
    out: Expr | None = expr(1)
    for f in factors:
        out = None if out is None else fold("*", out, f)
    return out
