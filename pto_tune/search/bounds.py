"""Bounds: rows in the order of what they could be at best, and none that could not be better than the best so far.

Every legal row gets a lower bound of its time, made of resource sums (`search.resources`); rows that differ only in
what the bound does not depend on share one, so that a whole subspace is passed over at once. One half of a batch is
what has the least bound, in random order where bounds are equal; the other half are children of the best so far
(`search.evolution`) whose bound leaves them a chance. When no row is left whose bound is at most the best time, the
best is proven, ties included.
"""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pto_tune.search.evolution import EvolutionRows
from pto_tune.search.proposers import Seen
from pto_tune.search.resources import Bounds, names_behind

if TYPE_CHECKING:
    from pto_tune.evaluation import Problem
    from pto_tune.space import Space
    from pto_tune.spaces.legal import LegalSpace

Ints = NDArray[np.int64]

MOST_ROWS = 20_000_000
"""Legal rows of which all are held with their bounds, about 40 bytes each. Of more, some are drawn, and nothing is
proven."""

DRAWN_ROWS = 1_000_000
"""Rows that are drawn at a time where there are too many."""

MOST_DRAWS = 20
"""Times that rows are drawn."""

LOOK_ROWS, LOOK_RUNS = 4_096, 96
"""Rows that are drawn for a first look before all get their bounds, and how many of them are run."""

FIRST_BATCH, LARGEST_BATCH = 32, 4_096
"""A batch is twice the one before: small ones learn sooner, large ones run faster."""

CHILDREN = 4
"""Children asked for, for each that is wanted: bounds leave out many."""

GROUPS = 16_384
"""Bounds that are made in one call: their columns stay in the cache."""

_BOUNDS = 3  # so that one seed gives every strategy its own stream


class BoundRows:
    """Proposes rows by their bounds. `finished` says what is proven when there are no more."""

    def __init__(self, problem: Problem, legal: LegalSpace, seed: int) -> None:
        self.batch = FIRST_BATCH
        self.finished = ""
        self._legal = legal
        self._bounds_of = Shared(problem, legal.space).of
        self._rng = np.random.default_rng([seed, _BOUNDS])
        self._children = EvolutionRows(legal, ("time",), seed)
        self._best: int | None = None
        self._draws = self._run = 0
        self._whole = legal.candidates <= MOST_ROWS
        self._looking = legal.candidates > 4 * LOOK_ROWS
        self._fill()

    def _fill(self) -> None:
        """The rows to choose from: some for a first look, then all legal ones, or as many as are drawn at a time."""
        legal = self._legal
        if self._looking:
            rows = np.unique(legal.draw(LOOK_ROWS, self._rng))
        elif self._whole:
            rows = np.concatenate([np.zeros(0, dtype=np.int64), *legal.chunks()])
        else:
            rows = np.unique(legal.draw(DRAWN_ROWS, self._rng))
            self._draws += 1
        bound = self._bounds_of(rows)
        order = self._rng.permutation(rows.shape[0])
        order = order[np.argsort(bound[order], kind="stable")]
        self._rows, self._bound = rows[order], bound[order]
        self._at = 0

    def propose(self, n: int, known: Set[int]) -> list[int]:
        """The next n rows; fewer, or none, when no other can be better than the best."""
        if self._looking and self._run >= LOOK_RUNS:
            self._looking = False
            self._fill()
        found = dict.fromkeys(self._born(n // 2, known))
        while len(found) < n:
            end = self._end_of_open()
            if self._at >= end:
                if (self._whole and not self._looking) or self._draws >= MOST_DRAWS:
                    break
                self._looking = False
                self._fill()
                continue
            stop = min(end, self._at + n - len(found))
            found.update(dict.fromkeys(row for row in self._rows[self._at : stop].tolist() if row not in known))
            self._at = stop
        self.batch = min(LARGEST_BATCH, 2 * self.batch)
        if not found:
            self.finished = self._end()
        return list(found)

    def _born(self, n: int, known: Set[int]) -> list[int]:
        """Children of the best rows that may be better than the best, up to n, those of least bound first."""
        if self._best is None:
            return []
        rows = np.array(self._children.propose(CHILDREN * n, known), dtype=np.int64)
        bound = self._bounds_of(rows)
        order = np.lexsort((rows, bound))
        chosen: list[int] = rows[order][bound[order] <= self._best][:n].tolist()
        return chosen

    def learn(self, seen: Seen) -> None:
        """Take note of the best rows."""
        self._run += len(seen)
        self._children.learn(seen)
        if seen.ok.any():
            best = int(seen.cycles[seen.ok].min())
            self._best = best if self._best is None else min(self._best, best)

    def unfinished(self) -> str:
        """A sentence for a search that ends although rows are left."""
        return (
            "no proof that the best is the optimum: as many configurations were run as the budget says, and others may "
            "be better by their bounds"
        )

    def _end_of_open(self) -> int:
        """Place behind the last row whose bound is at most the best time."""
        if self._best is None:
            return int(self._rows.shape[0])
        return int(np.searchsorted(self._bound, self._best, side="right"))

    def _end(self) -> str:
        legal = self._legal.candidates
        if not self._whole:
            looked = min(legal, DRAWN_ROWS * self._draws)
            return (
                f"no proof that the best is the optimum: of {legal:,} configurations that static rules let through, "
                f"bounds were made for about {looked:,} drawn at random"
            )
        if self._best is None:
            return f"all {self._run:,} configurations that static rules let through were run, and none is ok"
        return (
            f"the best is the optimum: {max(0, legal - self._run):,} of {legal:,} configurations that static rules let "
            "through did not have to be run, since by their resource sums alone they take longer"
        )


class Shared:
    """Lower bounds of rows of a space; rows that differ in nothing that the bound depends on share one."""

    def __init__(self, problem: Problem, space: Space) -> None:
        self._space = space
        self._behind = names_behind(problem.code)
        self._bounds = Bounds(problem)

    def of(self, rows: Ints) -> Ints:
        """(n,) bounds of legal rows in cycles."""
        if not rows.shape[0]:
            return np.zeros(0, dtype=np.int64)
        group = np.zeros(rows.shape[0], dtype=np.int64)
        rest, scale = rows, 1
        for name, values in reversed(self._space.domains):
            rest, at = np.divmod(rest, len(values))
            if name in self._behind:
                group += at * scale
                scale *= len(values)
        _, first, inverse = np.unique(group, return_index=True, return_inverse=True)
        own = np.empty(first.shape[0], dtype=np.int64)
        for start in range(0, first.shape[0], GROUPS):
            some = rows[first[start : start + GROUPS]]
            own[start : start + GROUPS] = self._bounds.cycles(self._space.table(some), some.shape[0])
        found: Ints = own[inverse.reshape(-1)]
        return found
