"""Batches: rows of a space with their evaluation, cut so that one call stays small where blocks unfold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pto_tune import evaluation
from pto_tune.lowering.columns import environment
from pto_tune.model.expr import evaluate

if TYPE_CHECKING:
    from pto_tune.evaluation import Evaluation, Problem
    from pto_tune.space import Space

Ints = NDArray[np.int64]

ON_CHIP = ("UB", "L1", "L0A", "L0B", "L0C")
MAX_LANES = 65_536
"""Most programs of one call. A configuration is one program, or one a block where its blocks differ (causal
masks)."""
RANK_LANES = 64
"""Programs that one block of a rank counts for: it runs event by event."""


@dataclass(frozen=True)
class Batch:
    """`rows`: int64 (n,) row numbers of the space; `evaluation`: the results of these rows, in the same
    order."""

    rows: Ints
    evaluation: Evaluation

    def __len__(self) -> int:
        return int(self.rows.shape[0])


def on_chip_bytes(by_memory: Mapping[str, Ints]) -> Ints:
    """UB (of one vector sub-core), L1, L0A, L0B and L0C together, in bytes."""
    total = by_memory[ON_CHIP[0]].copy()
    for memory in ON_CHIP[1:]:
        total += by_memory[memory]
    return total


def evaluated(problem: Problem, space: Space, rows: Ints, threads: int | None = None) -> Iterator[Batch]:
    """Evaluate rows of a space, in order, in as few calls as MAX_LANES allows, on so many threads (None: one a
    processor)."""
    table = space.table(rows)
    for start, end in _pieces(_lanes(problem, table, rows.shape[0])):
        piece = {name: column[start:end] for name, column in table.items()}
        yield Batch(rows[start:end], evaluation.evaluate_columns(problem, piece, threads=threads))


def pieces(problem: Problem, space: Space, rows: Ints) -> Iterator[tuple[int, int]]:
    """The ranges, start and end, in which `evaluated` takes these rows."""
    return _pieces(_lanes(problem, space.table(rows), rows.shape[0]))


def _lanes(problem: Problem, table: Mapping[str, Any], n: int) -> Ints:
    """Programs that each row unfolds to; an upper bound, as refused rows are not executed."""
    launch = problem.workload.launch
    if problem.workload.has_ranks:
        env = environment(problem.workload, {**table, "block": np.zeros(n, dtype=np.int64)})
        cores = evaluate(launch.blocks, env) * evaluate(problem.workload.ranks, env)
        return np.broadcast_to(np.clip(RANK_LANES * cores, 1, MAX_LANES), n).astype(np.int64)
    env = environment(problem.workload, {**table, "block": np.zeros(n, dtype=np.int64)})
    varying = np.broadcast_to(evaluate(launch.varying, env), n) != 0
    blocks = np.broadcast_to(evaluate(launch.blocks, env), n)
    return np.where(varying, np.maximum(blocks, 1), 1).astype(np.int64)


def _pieces(lanes: Ints) -> Iterator[tuple[int, int]]:
    """Ranges of rows with at most MAX_LANES programs each, but at least one row."""
    ends = np.cumsum(lanes)
    start = 0
    while start < lanes.shape[0]:
        before = int(ends[start - 1]) if start else 0
        end = max(start + 1, int(np.searchsorted(ends, before + MAX_LANES, side="right")))
        yield start, end
        start = end
