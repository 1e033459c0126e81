"""Evolution: whole generations as columns of indices into the domains of the tunables.

Parents are the best of a tournament among the best so far; a child takes each tunable from one of two parents, and
now and then a neighbouring value, or any. Children that static rules refuse, or that are known, are left out; what
turned out unsafe ranks behind everything that is ok, by how far it is from legal.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Set
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pto_tune.search.proposers import Seen

if TYPE_CHECKING:
    from pto_tune.spaces.legal import LegalSpace

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

FIRST_GENERATION, LARGEST_GENERATION = 64, 5_000
"""A generation is half as large again as the one before: small ones learn sooner, large ones cost less each."""

PARENTS = 256
TOURNAMENT = 3
OFFSPRING = 3
"""Children made for one that is wanted."""

ROUNDS = 4
NEIGHBOUR = 0.7
"""Part of mutations that go to a neighbouring value, where the values have an order."""

_EVOLUTION = 4  # so that one seed gives every strategy its own stream


class EvolutionRows:
    """Proposes generations. The first one is drawn at random; the same seed gives the same rows."""

    finished = ""

    def __init__(self, legal: LegalSpace, objectives: tuple[str, ...], seed: int) -> None:
        self.batch = FIRST_GENERATION
        self._legal, self._space = legal, legal.space
        self._two = len(objectives) > 1
        self._rng = np.random.default_rng([seed, _EVOLUTION])
        labels = {t.name: bool(t.labels) for t in self._space.workload.tunables}
        # by rank of the value, so that neighbours are near each other whatever the order of the domain
        self._sorted = [np.argsort(np.asarray(values, dtype=np.int64)) for _, values in self._space.domains]
        self._sizes = np.array([len(values) for _, values in self._space.domains], dtype=np.int64)
        self._ordered = np.array([not labels[name] for name, _ in self._space.domains], dtype=bool)
        self._varied = np.flatnonzero(self._sizes > 1)
        self._parents = Seen(*(np.zeros(0, dtype=t) for t in (np.int64, np.int64, bool, np.int64, np.float64)))
        self._genes = np.zeros((0, self._sizes.shape[0]), dtype=np.int64)

    def propose(self, n: int, known: Set[int]) -> list[int]:
        """Up to n new children; none of them before anything was learnt."""
        found: dict[int, None] = {}
        if len(self._parents) and self._varied.shape[0]:
            for _ in range(ROUNDS):
                rows = self._rows(self._children(OFFSPRING * n))
                for row in rows[self._legal.contains(rows)].tolist():
                    if row not in known and len(found) < n:
                        found[row] = None
                if len(found) == n:
                    break
        elif self._legal.candidates:
            found = dict.fromkeys(row for row in self._legal.draw(n, self._rng).tolist() if row not in known)
        self.batch = min(LARGEST_GENERATION, self.batch + self.batch // 2)
        return list(found)

    def learn(self, seen: Seen) -> None:
        """Keep the best of what there was and what is new."""
        old = self._parents
        every = Seen(
            np.concatenate([old.rows, seen.rows]),
            np.concatenate([old.cycles, seen.cycles]),
            np.concatenate([old.ok, seen.ok]),
            np.concatenate([old.memory, seen.memory]),
            np.concatenate([old.violation, seen.violation]),
        )
        rank = fronts(every.cycles, every.memory) if self._two else every.cycles
        rank = np.where(every.ok, rank, 0)
        best = np.lexsort((every.rows, every.cycles, rank, every.violation))[:PARENTS]
        self._parents = Seen(
            every.rows[best], every.cycles[best], every.ok[best], every.memory[best], every.violation[best]
        )
        places = self._space.indices(self._parents.rows).values()
        ranks = [np.argsort(order)[at] for order, at in zip(self._sorted, places, strict=True)]
        self._genes = np.stack(ranks, axis=1)

    def _children(self, n: int) -> Ints:
        rng, genes = self._rng, self._genes
        # parents are sorted, best first: the least of some numbers is the winner of a tournament
        one, other = (rng.integers(0, genes.shape[0], (n, TOURNAMENT)).min(axis=1) for _ in range(2))
        children = np.where(rng.random((n, genes.shape[1])) < 0.5, genes[one], genes[other])
        varied = self._varied
        change = rng.random((n, varied.shape[0])) < 1.0 / varied.shape[0]
        change[np.arange(n), rng.integers(0, varied.shape[0], n)] |= rng.random(n) < 0.5
        step = rng.integers(1, 3, change.shape) * np.where(rng.random(change.shape) < 0.5, -1, 1)
        near = np.clip(children[:, varied] + step, 0, self._sizes[varied] - 1)
        anywhere = rng.integers(0, self._sizes[varied], change.shape)
        moved = np.where((rng.random(change.shape) < NEIGHBOUR) & self._ordered[varied], near, anywhere)
        children[:, varied] = np.where(change, moved, children[:, varied])
        return np.asarray(children, dtype=np.int64)

    def _rows(self, genes: Ints) -> Ints:
        row = np.zeros(genes.shape[0], dtype=np.int64)
        for t, order in enumerate(self._sorted):
            row = row * self._sizes[t] + order[genes[:, t]]
        return row


def fronts(first: Ints, second: Ints) -> Ints:
    """For each point the number of its Pareto front (0: nothing is better in both), both values to be small."""
    order = np.lexsort((second, first))
    out = np.zeros(first.shape[0], dtype=np.int64)
    least: list[int] = []  # of every front the least second value so far, which rises from front to front
    for i, value in zip(order.tolist(), second[order].tolist(), strict=True):
        front = bisect_right(least, value)
        least[front : front + 1] = [value]
        out[i] = front
    return out
