"""Scalar operations on indices and integers, as expressions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pto_tune.kernels.parsing import Op
from pto_tune.kernels.values import Number, Other, Value, choose, combine, number
from pto_tune.model.expr import not_

BINARY = {
    "addi": "+", "subi": "-", "muli": "*", "divsi": "//", "divui": "//", "floordivsi": "//", "ceildivsi": "ceildiv",
    "ceildivui": "ceildiv", "remsi": "%", "remui": "%", "minsi": "min", "minui": "min", "maxsi": "max",
    "maxui": "max", "andi": "and", "ori": "or", "add": "+", "sub": "-", "mul": "*", "divs": "//", "divu": "//",
    "rems": "%", "remu": "%", "mins": "min", "minu": "min", "maxs": "max", "maxu": "max", "ceildivs": "ceildiv",
    "ceildivu": "ceildiv",
}  # fmt: skip
"""Operations of the dialects arith and index. Numbers are taken as not negative where they are divided; `andi` and
`ori` are those of conditions (i1)."""
COMPARISONS = {
    "eq": "==", "ne": "!=", "slt": "<", "ult": "<", "sle": "<=", "ule": "<=", "sgt": ">", "ugt": ">", "sge": ">=",
    "uge": ">=",
}  # fmt: skip
CASTS = ("index_cast", "index_castui", "extsi", "extui", "trunci", "casts", "castu")
DIALECTS = ("arith.", "index.", "math.", "affine.apply", "affine.min", "affine.max")


def is_scalar(name: str) -> bool:
    """Whether an operation computes with scalars alone."""
    return name.startswith(DIALECTS) or name in ("pto.constant", "index.constant", "ub.poison")


def scalar(op: Op, look: Callable[[str], Value | None]) -> Sequence[Value]:
    """The results of a scalar operation. What is not followed is a number that is not known."""
    kind = op.name.rpartition(".")[2]
    if kind == "constant":
        return [_constant(op)]
    names = [t.text for t in op.tokens if t.kind == "value"]
    values = [look(n) for n in names]
    unknown = Number(None, f"{op.name} of line {op.place.line} is not followed")
    numbers = [v if isinstance(v, Number) else unknown for v in values]
    if kind in CASTS and numbers:
        return [numbers[0]]
    if kind in ("andi", "ori", "and", "or") and op.tokens[-1].text != "i1":
        return [_masked(kind, *numbers)] if len(numbers) == 2 else [unknown]
    if kind in BINARY and len(numbers) == 2:
        return [combine(BINARY[kind], *numbers)]
    if kind in ("cmpi", "cmp") and len(numbers) == 2:
        word = next((t.text for t in op.tokens if t.kind == "word" and t.text in COMPARISONS), "")
        return [combine(COMPARISONS[word], *numbers) if word else unknown]
    if kind == "xori" and len(numbers) == 2 and numbers[1].constant in (1, -1) and numbers[0].expr is not None:
        return [Number(not_(numbers[0].expr))]
    if kind == "select" and len(values) == 3:
        if isinstance(values[1], Number) and isinstance(values[2], Number):
            return [choose(numbers[0], values[1], values[2])]
        return [v for v in values[1:2] if v is not None] or [Other()]
    whole = any(isinstance(v, Number) for v in values)
    return [unknown if whole else Other() for _ in op.results]


def _masked(kind: str, a: Number, b: Number) -> Number:
    """The bits of a number that a mask leaves: its remainder, for a mask of the lowest bits."""
    x, y = a.constant, b.constant
    if x is not None and y is not None:
        return number(x & y if kind.startswith("and") else x | y)
    if kind.startswith("and") and y is not None and y >= 0 and y & (y + 1) == 0:
        return combine("%", a, number(y + 1))
    return Number(None, "it is masked bit by bit")


def _constant(op: Op) -> Value:
    for token in op.tokens:
        if token.text in ("true", "false"):
            return number(int(token.text == "true"))
        if token.kind == "number":
            text = token.text
            if text.lstrip("-").isdigit():
                return number(int(text)) if len(text) < 20 else Number(None, f"{text} is too large")
            if text.startswith("0x") and not op.tokens[-1].text.startswith(("f", "bf")):
                return number(int(text, 16)) if len(text) < 18 else Number(None, f"{text} is too large")
            return Other("a floating-point number")
    return Other("a constant")
