"""The best configurations so far and the Pareto front so far: what is kept of all batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pto_tune import verdicts
from pto_tune.evaluation import MEMORIES
from pto_tune.search.batches import Batch, on_chip_bytes
from pto_tune.search.pareto import front

if TYPE_CHECKING:
    from pto_tune.evaluation import Evaluation

Ints = NDArray[np.int64]
Columns = dict[str, NDArray[Any]]


class Leaders:
    """Of all configurations with the verdict ok: the `top` best, and the Pareto front of time and on-chip
    bytes.

    The order is: fewer cycles, exportable before not, fewer on-chip bytes, smaller GM_ring, lower number.
    `best` and `front` are columns with an entry a configuration: `number` in the run, `space_row`, `cycles`,
    `exportable`, `on_chip`, the memories of `evaluation.MEMORIES` in bytes, `bound`, `stretch`, and `busy`
    (n, pipes) in cycles.
    """

    def __init__(self, top: int) -> None:
        self._top = top
        self.best: Columns = {}
        self.front: Columns = {}

    def add(self, numbers: Ints, batch: Batch) -> None:
        """Take what is good of a batch whose configurations have these numbers in the run."""
        e = batch.evaluation
        ok = np.flatnonzero((e.verdict == verdicts.OK) & e.timed)
        if not ok.shape[0]:
            return
        memory = on_chip_bytes(e.bytes)[ok]
        order = _order(e.cycles[ok], e.derived_period[ok], memory, e.bytes["GM_ring"][ok], numbers[ok])
        ok, memory = ok[order], memory[order]
        edge = ok[front(e.cycles[ok], memory)]
        self.best = _head(_joined(self.best, _columns(e, batch.rows, numbers, ok[: self._top])), self._top)
        joined = _head(_joined(self.front, _columns(e, batch.rows, numbers, edge)))
        self.front = _taken(joined, front(joined["cycles"], joined["on_chip"]))

    def __len__(self) -> int:
        return len(self.best["number"]) if self.best else 0


def _order(cycles: Ints, exportable: NDArray[np.bool_], memory: Ints, ring: Ints, number: Ints) -> Ints:
    return np.lexsort((number, ring, memory, ~exportable, cycles)).astype(np.int64)


def _columns(e: Evaluation, rows: Ints, numbers: Ints, at: Ints) -> Columns:
    return {
        "number": numbers[at],
        "space_row": rows[at],
        "cycles": e.cycles[at],
        "exportable": e.derived_period[at],
        "on_chip": on_chip_bytes(e.bytes)[at],
        **{memory: e.bytes[memory][at] for memory in MEMORIES},
        "bound": e.bound[at],
        "stretch": e.stretch[at],
        "busy": e.busy[at],
    }


def _joined(one: Columns, other: Columns) -> Columns:
    return {name: np.concatenate([one[name], other[name]]) for name in other} if one else other


def _taken(columns: Columns, at: Ints) -> Columns:
    return {name: column[at] for name, column in columns.items()}


def _head(columns: Columns, n: int | None = None) -> Columns:
    """In order, the first n."""
    order = _order(columns["cycles"], columns["exportable"], columns["on_chip"], columns["GM_ring"], columns["number"])
    return _taken(columns, order[:n])
