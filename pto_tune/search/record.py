"""Writing a search into the store as it goes."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pto_tune.evaluation import MEMORIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from db import Run, Store
    from pto_tune.evaluation import Evaluation, Problem
    from pto_tune.search.batches import Batch
    from pto_tune.search.tally import Tally
    from pto_tune.space import Space

Columns = dict[str, NDArray[Any]]
Masks = dict[str, NDArray[np.bool_]]

MAX_STRETCH_MILLI = 2**31 - 1


class Recorder:
    """Keeps one run up to date: configurations, progress, stall accounts of the best, the end. `kept`:
    configurations that the store has for certain."""

    def __init__(self, store: Store, run: Run, problem: Problem, space: Space) -> None:
        self._store = store
        self._problem = problem
        self._space = space
        self.run = run
        self.kept = 0

    def add(self, first_number: int, batch: Batch) -> None:
        """Keep a batch as the configurations `first_number`, ... of the run, and give a sign of life."""
        if len(batch):
            columns, valid = columns_of(batch, self._space, self.run.rules)
            self._store.add_configurations(
                self.run.id, columns, first_number, valid, epoch=self.run.epoch, n_evaluated=first_number + len(batch)
            )
        else:
            self._store.progress(self.run.id, first_number, self.run.epoch)
        self.kept = first_number + len(batch)

    def finish(self, tally: Tally, state: str, message: str) -> Run:
        """Keep the accounts of the leaders, then end the run."""
        best = tally.leaders.best
        self._store.add_accounts(self.run.id, self._accounts(tally), self.run.epoch)
        self.run = self._store.finish_run(
            self.run.id,
            state,
            message,
            counts=tally.counts,
            best_row=int(best["number"][0]) if best else None,
            best_cycles=int(best["cycles"][0]) if best else None,
            epoch=self.run.epoch,
        )
        return self.run

    def give_up(self, tally: Tally, state: str, message: str) -> None:
        """End the run after an error as far as the store still takes it; the error itself is what counts."""
        best = tally.leaders.best
        number = int(best["number"][0]) if best else None
        cycles = int(best["cycles"][0]) if best else None
        with suppress(ValueError):
            self._store.finish_run(self.run.id, state, message, tally.counts, number, cycles, self.run.epoch)

    def _accounts(self, tally: Tally) -> list[tuple[int, str, str, int]]:
        from pto_tune.executor.accounts import accounts
        from pto_tune.executor.engine import execute

        best = tally.leaders.best
        if not best:
            return []
        code, platform, n = self._problem.code, self._problem.platform, len(tally.leaders)
        # Waits are counted only for the few that are explained, by running these once more.
        table = self._space.table(best["space_row"])
        if code.ranks is not None:
            from functools import partial

            from pto_tune.ranks.engine import run_rows
            from pto_tune.ranks.evaluating import accounts_of

            rows = [{name: int(column[i]) for name, column in table.items()} for i in range(n)]
            every = run_rows(code, platform, rows, partial(accounts_of, code))
        else:
            every = accounts(code, platform, execute(code, platform, table, n), range(n))
        out: list[tuple[int, str, str, int]] = []
        for number, found in zip(best["number"].tolist(), every, strict=True):
            out += [(number, "busy", pipe, cycles) for pipe, cycles in found.busy.items()]
            out += [(number, "wait", channel, cycles) for channel, cycles in found.waits.items()]
        return out


def columns_of(batch: Batch, space: Space, rules: Sequence[str]) -> tuple[Columns, Masks]:
    """A batch as columns of the store, and where a column has a value.

    No time, no bound and no GM traffic where nothing was timed; no rule where the verdict is ok. `rules` are
    the rule names of the run.
    """
    e = batch.evaluation
    at = np.array([rules.index(name) for name in e.rules], dtype=np.int64)
    columns: Columns = {f"t{i}": index for i, index in enumerate(space.indices(batch.rows).values())}
    valid: Masks = {"rule": e.rule >= 0, "cycles": e.timed, "bound": e.bound >= 0, "stretch_milli": e.timed}
    columns["verdict"] = e.verdict.astype(np.int64)
    columns["rule"] = at[np.maximum(e.rule, 0)]
    columns["cycles"] = e.cycles
    for memory in MEMORIES:
        columns[memory.lower()] = e.bytes[memory]
    # the shapes of a refused configuration can make a negative size, which is no size
    valid |= {memory.lower(): e.bytes[memory] >= 0 for memory in MEMORIES}
    valid["gm_traffic"] &= e.timed
    columns["bound"] = np.maximum(e.bound, 0).astype(np.int64)
    columns["stretch_milli"] = np.minimum(np.rint(e.stretch * 1000), MAX_STRETCH_MILLI).astype(np.int64)
    for name, pipe in (("busy_cube", "M"), ("busy_vector", "V")):
        busy = _mean_busy(e, pipe)
        if busy is not None:
            columns[name], valid[name] = busy, e.timed
    return columns, valid


def _mean_busy(e: Evaluation, pipe: str) -> NDArray[np.int64] | None:
    """Busy cycles of a pipe, rounded down to a cycle over the cores that have it; None where none has."""
    at = [i for i, name in enumerate(e.problem.code.pipes) if name.endswith("." + pipe)]
    return e.busy[:, at].sum(axis=1) // len(at) if at else None
