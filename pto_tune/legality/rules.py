"""A rule as columns over all configurations: where it is broken, and the sentence of a row.

Conditions are grids: a row of the grid for each block (one row where blocks do not differ), a column for each
configuration. A rule is broken where it is broken in some block; its sentence speaks of the first one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]
    Bools = NDArray[np.bool_]

Sentence = Callable[[int, int], str]
"""The sentence of a block and a configuration."""


@dataclass(frozen=True)
class RuleColumn:
    """One rule over N rows: where it is broken, and the sentence of a row. `verdict` is that of a broken row, as in
    `pto_tune.verdicts`: refused rows are not executed, others are; "ok" for a mere warning."""

    name: str
    broken: NDArray[np.bool_]
    sentence: Callable[[int], str]
    verdict: str = "refused"


@dataclass(frozen=True)
class Case:
    """One way to break a rule: a grid (blocks, N) and the sentence of a place in it."""

    broken: Bools
    sentence: Sentence


def grid(value: Any, n: int) -> Ints:
    """A value of an expression as a grid (blocks or 1, n)."""
    import numpy as np

    column = np.atleast_2d(np.asarray(value, dtype=np.int64))
    return np.broadcast_to(column, (column.shape[0], n))


def column(value: Any, n: int) -> Ints:
    """A value of an expression that no block changes as a column of n."""
    import numpy as np

    return np.broadcast_to(np.asarray(value, dtype=np.int64), n)


def at(values: NDArray[Any], block: int, row: int) -> int:
    """The value of a grid at a block and a configuration; grids of one block hold for all."""
    return int(values[min(block, values.shape[0] - 1), row])


def rule(name: str, n: int, cases: Sequence[Case], verdict: str = "refused") -> RuleColumn:
    """The rule that is broken where one of its cases is; the sentence is that of the first such case."""
    import numpy as np

    broken = np.zeros(n, dtype=bool)
    for case in cases:
        broken |= case.broken.any(axis=0)
    return RuleColumn(name, broken, partial(_sentence, cases), verdict)


def _sentence(cases: Sequence[Case], i: int) -> str:
    for case in cases:
        blocks = case.broken[:, i]
        if blocks.any():
            return case.sentence(int(blocks.argmax()), i)
    raise AssertionError("asked for the sentence of a row that keeps the rule")
