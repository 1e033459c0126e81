"""Every configuration of a space, in the order of its rows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from pto_tune.search.batches import Batch, evaluated

if TYPE_CHECKING:
    from pto_tune.evaluation import Problem
    from pto_tune.space import Space

CHUNK_ROWS = 65_536
"""Most rows of a batch, the unit of progress, stopping and storing."""

FIRST_ROWS = 4_096
FEWEST_ROWS = 4_096
SHORT_S, LONG_S = 0.12, 0.5
"""A batch that takes less is followed by one of twice the rows, one that takes more by one of half of them."""


def exhaustive(problem: Problem, space: Space, start: int = 0, end: int | None = None) -> Iterator[Batch]:
    """Rows `start` .. `end` - 1 (default: all), each once.

    Batches have up to CHUNK_ROWS rows, as many as keep them to a fraction of a second; the results do not
    depend on how rows fall into batches.
    """
    end = space.size if end is None else min(end, space.size)
    rows = min(FIRST_ROWS, CHUNK_ROWS)
    while start < end:
        stop = min(start + rows, end)
        longest_s = 0.0
        pieces = evaluated(problem, space, np.arange(start, stop, dtype=np.int64))
        while True:
            began = time.perf_counter()
            batch = next(pieces, None)
            if batch is None:
                break
            longest_s = max(longest_s, time.perf_counter() - began)
            yield batch
        start = stop
        if longest_s > LONG_S:
            rows = max(min(FEWEST_ROWS, CHUNK_ROWS), rows // 2)
        elif longest_s < SHORT_S:
            rows = min(CHUNK_ROWS, 2 * rows)
