"""Optuna's samplers as proposers: ask and tell on in-memory storage, repeats and refusals handled."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from pto_tune import verdicts
from pto_tune.search.batches import Batch, on_chip_bytes
from pto_tune.search.margins import violation

if TYPE_CHECKING:
    from pto_tune.space import Space

SMALL_BATCH = 50
LEGAL = "legal"
"""Name of the one constraint: above 0 where a configuration must not be recommended."""

Answer = tuple[tuple[float, ...], float]
"""Values of the objectives (infinite where not ok) and the violation."""


class OptunaRows:
    """Rows proposed by TPE or NSGA-II.

    A parameter is an index into a tunable's domain, in the order of its values; a tunable whose values have
    labels is a category. A row that was asked for before is told its known answer at once and proposed to
    nobody.
    """

    batch = SMALL_BATCH

    def __init__(self, space: Space, strategy: str, objectives: tuple[str, ...], seed: int) -> None:
        import optuna

        self._optuna = optuna
        self._space = space
        self._two = len(objectives) > 1
        labels = {t.name: t.labels for t in space.workload.tunables}
        self._order = {
            name: sorted(range(len(values)), key=values.__getitem__)
            for name, values in space.domains
            if len(values) > 1
        }
        self._distributions: dict[str, Any] = {
            name: optuna.distributions.CategoricalDistribution(list(range(len(order))))
            if labels.get(name)
            else optuna.distributions.IntDistribution(0, len(order) - 1)
            for name, order in self._order.items()
        }
        sampler = (
            optuna.samplers.TPESampler(seed=seed)
            if strategy == "tpe"
            else optuna.samplers.NSGAIISampler(seed=seed, population_size=SMALL_BATCH)
        )
        with _quiet(optuna):
            self._study = optuna.create_study(
                storage=optuna.storages.InMemoryStorage(),
                sampler=sampler,
                directions=["minimize"] * len(objectives),
            )
        self._answers: dict[int, Answer] = {}
        self._open: dict[int, list[Any]] = {}

    def propose(self, n: int, known: Set[int]) -> list[int]:
        """What n questions to the sampler give that is new."""
        trials = [self._study.ask(self._distributions) for _ in range(n)]
        for trial in trials:
            row = self._row(trial.params)
            if row in self._answers:
                self._tell(trial, self._answers[row])
            else:
                self._open.setdefault(row, []).append(trial)
        return [row for row in self._open if row not in known]

    def learn(self, batch: Batch) -> None:
        """Tell the sampler results, those of rows that it did not ask for too."""
        for row, answer in self._results(batch):
            self._answers[row] = answer
            asked = self._open.pop(row, [])
            for trial in asked:
                self._tell(trial, answer)
            if not asked:
                values, margin = answer
                self._study.add_trial(
                    self._optuna.trial.create_trial(
                        values=list(values),
                        params=self._params(row),
                        distributions=self._distributions,
                        constraints={LEGAL: margin},
                    )
                )

    def _tell(self, trial: Any, answer: Answer) -> None:
        values, margin = answer
        trial.set_constraint(LEGAL, margin)
        self._study.tell(trial, list(values))

    def _results(self, batch: Batch) -> Iterator[tuple[int, Answer]]:
        e = batch.evaluation
        margins = violation(e).tolist()
        memory = on_chip_bytes(e.bytes).tolist()
        cycles, ok = e.cycles.tolist(), (e.verdict == verdicts.OK).tolist()
        for i, row in enumerate(batch.rows.tolist()):
            time = float(cycles[i]) if ok[i] else math.inf
            size = float(memory[i]) if ok[i] else math.inf
            yield row, ((time, size) if self._two else (time,), margins[i])

    def _row(self, params: Mapping[str, int]) -> int:
        indices = {name: 0 for name, _ in self._space.domains}
        indices.update({name: self._order[name][at] for name, at in params.items()})
        return self._space.row_of(indices)

    def _params(self, row: int) -> dict[str, int]:
        at = self._space.indices(np.array([row], dtype=np.int64))
        return {name: order.index(int(at[name][0])) for name, order in self._order.items()}


@contextmanager
def _quiet(optuna: Any) -> Iterator[None]:
    """Without Optuna's line about a new study; its verbosity is the host program's and is put back."""
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(max(verbosity, optuna.logging.WARNING))
    try:
        yield
    finally:
        optuna.logging.set_verbosity(verbosity)
