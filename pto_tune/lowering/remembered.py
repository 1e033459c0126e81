"""What is derived from a code once, however often the code runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from pto_tune.lowering.code import Code

T = TypeVar("T")

MOST = 8
"""Codes that are remembered, the latest."""


def for_each_code(function: Callable[[Code], T]) -> Callable[[Code], T]:
    """Decorator: remember the results for the last few codes, which are told apart by identity: a code is never
    changed, and comparing two would cost more than most results."""
    known: list[tuple[Code, T]] = []

    @wraps(function)
    def remembered(code: Code) -> T:
        for other, result in list(known):
            if other is code:
                return result
        result = function(code)
        known.append((code, result))
        del known[:-MOST]
        return result

    return remembered
