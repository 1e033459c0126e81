"""Replaying a sampled search: the same seed proposes the same configurations, and the store answers for those that it
has. Nothing of them is executed or stored again; the search goes on behind the last one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pto_tune import verdicts
from pto_tune.search.batches import Batch, evaluated, pieces
from pto_tune.search.margins import static_violation
from pto_tune.search.proposers import Seen, seen_of
from pto_tune.search.restoring import ON_CHIP_COLUMNS, OutdatedError, check_rows
from pto_tune.search.shards import batch_of

if TYPE_CHECKING:
    from db import Run, Store
    from pto_tune.evaluation import Problem
    from pto_tune.space import Space

Ints = NDArray[np.int64]


class Replay:
    """What the store has of a sampled run, in the order in which it was proposed. `left`: how much of it has not been
    proposed again yet."""

    def __init__(self, store: Store, run: Run, problem: Problem, space: Space) -> None:
        tunables = [f"t{i}" for i in range(len(space.domains))]
        columns = store.configurations(run.id, ["row", "verdict", "cycles", *ON_CHIP_COLUMNS, *tunables])
        check_rows(run, columns["row"])
        n = columns["row"].shape[0]
        self._problem, self._space = problem, space
        self._where = f"run {run.id} ({run.name})"
        self._rows = space_rows(space, [np.ma.getdata(columns[name]) for name in tunables], n)
        codes = np.array([verdicts.VERDICTS.index(name) for name in run.verdicts], dtype=np.int64)
        self._verdict: Ints = codes[columns["verdict"]]
        self._cycles: Ints = np.ma.filled(columns["cycles"], 0)
        self._timed = ~np.ma.getmaskarray(columns["cycles"])
        self._memory = sum((np.ma.filled(columns[name], 0) for name in ON_CHIP_COLUMNS), np.zeros(n, dtype=np.int64))
        self._at = 0

    @property
    def left(self) -> int:
        """Stored configurations that have not been proposed again yet."""
        return int(self._rows.shape[0]) - self._at

    def answers(self, rows: Ints) -> Iterator[tuple[Seen, Batch]]:
        """For proposed rows in order, in the pieces in which they are evaluated: what a proposer learns, and the batch
        to keep, which is empty where the store has it already.

        OutdatedError where other rows are proposed than the store has.
        """
        for start, end in pieces(self._problem, self._space, rows):
            piece = rows[start:end]
            if self.left:
                yield self._stored(piece), batch_of(self._problem, piece[:0], None)
            else:
                for batch in evaluated(self._problem, self._space, piece):
                    yield seen_of(batch), batch

    def _stored(self, rows: Ints) -> Seen:
        at = slice(self._at, self._at + rows.shape[0])
        if not np.array_equal(self._rows[at], rows):
            raise OutdatedError(
                f"{self._where} has other configurations than this pto-tune proposes for its seed: tune again"
            )
        self._at = at.stop
        verdict, timed = self._verdict[at], self._timed[at]
        ok = verdict == verdicts.OK
        return Seen(rows, self._cycles[at], ok & timed, self._memory[at], self._violation(rows, verdict, ok))

    def _violation(self, rows: Ints, verdict: Ints, ok: NDArray[np.bool_]) -> NDArray[np.float64]:
        """As `margins.violation`, which reads more than the store has: every rule that a row breaks."""
        away = np.zeros(rows.shape[0])
        if self._problem.workload.has_ranks:
            # Which rules of ranks a row breaks is known from running it alone.
            unsafe = ~ok & (verdict != verdicts.REFUSED)
            away[unsafe] = np.concatenate(
                [away[:0], *(seen_of(b).violation for b in evaluated(self._problem, self._space, rows[unsafe]))]
            )
            wrong = ~ok & ~unsafe
        else:
            wrong = ~ok
        n = int(wrong.sum())
        static = static_violation(self._problem, self._space.table(rows[wrong]), n, every_rule=True)
        away[wrong] = np.where((static <= 0) & (verdict[wrong] != verdicts.OK), 1.0, static)
        return away


def space_rows(space: Space, indices: list[Ints], n: int) -> Ints:
    """(n,) row numbers of configurations that are given as an index into each domain, in the order of domains."""
    rows = np.zeros(n, dtype=np.int64)
    for (_, values), index in zip(space.domains, indices, strict=True):
        rows = rows * len(values) + index
    return rows
