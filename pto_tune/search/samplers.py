"""Optuna's samplers as proposers: ask and tell on in-memory storage, repeats and refusals handled."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from pto_tune.search.margins import static_violation
from pto_tune.search.proposers import Seen

if TYPE_CHECKING:
    from pto_tune.evaluation import Problem
    from pto_tune.space import Space
    from pto_tune.spaces.legal import LegalSpace

SMALL_BATCH = 50

MOST_ASKED = 4
"""Questions for a row of a batch, at most: what static rules refuse is answered at once and asked for again."""

LEGAL = "legal"
"""Name of the one constraint: above 0 where a configuration must not be recommended."""

Answer = tuple[tuple[float, ...], float]
"""Values of the objectives (infinite where not ok) and the violation."""


class OptunaRows:
    """Rows proposed by TPE or NSGA-II.

    A parameter is an index into a tunable's domain, in the order of its values; a tunable whose values have
    labels is a category. A row that was asked for before is told its known answer at once and proposed to
    nobody; with `problem` and `legal`, so is a row that static rules refuse.
    """

    batch = SMALL_BATCH
    finished = ""

    def __init__(
        self,
        space: Space,
        strategy: str,
        objectives: tuple[str, ...],
        seed: int,
        problem: Problem | None = None,
        legal: LegalSpace | None = None,
    ) -> None:
        import optuna

        self._problem, self._legal = problem, legal

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
        """What n questions to the sampler give that is new, or some more where rows are refused."""
        asked = 0
        fresh: dict[int, None] = {}
        while len(fresh) < n and asked < MOST_ASKED * n:
            count = n - len(fresh)
            asked += count
            trials = [self._study.ask(self._distributions) for _ in range(count)]
            rows = [self._row(trial.params) for trial in trials]
            refused = self._refused(rows)
            for trial, row in zip(trials, rows, strict=True):
                if row in refused:
                    self._answers[row] = refused[row]
                if row in self._answers:
                    self._tell(trial, self._answers[row])
                else:
                    self._open.setdefault(row, []).append(trial)
                    if row not in known:
                        fresh[row] = None
            if not refused:
                break  # mere repeats are for the caller to fill in
        return [row for row in self._open if row not in known]

    def _refused(self, rows: list[int]) -> dict[int, Answer]:
        """Answers of those rows that static rules refuse."""
        if self._problem is None or self._legal is None:
            return {}
        at = np.array(rows, dtype=np.int64)
        at = at[~self._legal.contains(at)]
        if not at.shape[0]:
            return {}
        margins = static_violation(self._problem, self._space.table(at), at.shape[0]).tolist()
        none = (math.inf, math.inf) if self._two else (math.inf,)
        return {row: (none, margin) for row, margin in zip(at.tolist(), margins, strict=True)}

    def learn(self, seen: Seen) -> None:
        """Tell the sampler results, those of rows that it did not ask for too."""
        for row, answer in self._results(seen):
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

    def _results(self, seen: Seen) -> Iterator[tuple[int, Answer]]:
        columns = (seen.rows, seen.cycles, seen.memory, seen.ok, seen.violation)
        for row, cycles, memory, ok, margin in zip(*(c.tolist() for c in columns), strict=True):
            time, size = (float(cycles), float(memory)) if ok else (math.inf, math.inf)
            yield row, ((time, size) if self._two else (time,), margin)

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
