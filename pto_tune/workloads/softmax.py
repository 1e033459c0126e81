"""The vector operations of one softmax step over a tile, as flash attention does it."""

from __future__ import annotations

from pto_tune.model.expr import Expr
from pto_tune.model.nodes import Cost
from pto_tune.model.vocabulary import vector


def softmax(rows: Expr, columns: Expr) -> tuple[Cost, ...]:
    """TROWMAX, running maximum, factor, TROWEXPANDSUB, scale, TEXP, TCVT to 16 bit, TROWSUM, running sum."""
    r, c = rows, columns
    return (
        vector("rowmax", r, c),
        vector("max", 1, r),
        vector("sub", 1, r),
        vector("muls", 1, r),
        vector("exp", 1, r),
        vector("rowexpand", r, c),
        vector("muls", r, c),
        vector("exp", r, c),
        vector("cvt", r, c),
        vector("rowsum", r, c),
        vector("mul", 1, r),
        vector("add", 1, r),
    )
