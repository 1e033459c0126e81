"""Every configuration of a space, in the order of its rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from pto_tune.search.batches import Batch, evaluated

if TYPE_CHECKING:
    from pto_tune.evaluation import Problem
    from pto_tune.space import Space

CHUNK_ROWS = 65_536
"""Rows of a batch: the unit of progress, stopping and storing."""


def exhaustive(problem: Problem, space: Space, start: int = 0, end: int | None = None) -> Iterator[Batch]:
    """Rows `start` .. `end` - 1 (default: all), each once, in batches of at most CHUNK_ROWS."""
    end = space.size if end is None else min(end, space.size)
    for first in range(start, end, CHUNK_ROWS):
        yield from evaluated(problem, space, np.arange(first, min(first + CHUNK_ROWS, end), dtype=np.int64))
