"""Proposers: what says which rows to look at next, and hears what they gave. Here those without a memory of results:
random rows, and a low-discrepancy sequence over the domains."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from pto_tune import verdicts
from pto_tune.search.batches import Batch, on_chip_bytes
from pto_tune.search.margins import violation

if TYPE_CHECKING:
    from pto_tune.space import Space
    from pto_tune.spaces.legal import LegalSpace

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

FIRST_BATCH, LARGE_BATCH = 64, 4_096
"""A batch is twice the one before: the first answer comes soon, and most of the work is done in large ones."""

_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97)
_TRIES = 32
_RANDOM, _HALTON = 1, 2  # so that one seed gives each its own stream


@dataclass(frozen=True)
class Seen:
    """Results of rows (n,), as far as a proposer learns from them: cycles (0 where there are none), whether the verdict
    is ok, on-chip bytes, and how far from legal each row is (0 where ok)."""

    rows: Ints
    cycles: Ints
    ok: NDArray[np.bool_]
    memory: Ints
    violation: Floats

    def __len__(self) -> int:
        return int(self.rows.shape[0])


def seen_of(batch: Batch) -> Seen:
    """What a proposer hears of a batch."""
    e = batch.evaluation
    ok = (e.verdict == verdicts.OK) & e.timed
    return Seen(batch.rows, e.cycles, ok, on_chip_bytes(e.bytes), violation(e))


class Proposer(Protocol):
    """Says which rows to look at next, and hears what they gave.

    batch: how many rows it would like to be asked for next. finished: "" while it may have more to propose, then a
    sentence on why there is no more.
    """

    batch: int
    finished: str

    def propose(self, n: int, known: Set[int]) -> list[int]:
        """At most n distinct rows that are not in `known`; fewer, or none, where it only repeats itself."""

    def learn(self, seen: Seen) -> None:
        """Hear the results of rows, its own or others."""


class RandomRows:
    """Rows drawn uniformly without repetition: legal ones as long as there are any, then refused ones."""

    finished = ""

    def __init__(self, size: int, seed: int, legal: LegalSpace | None = None) -> None:
        self.batch = FIRST_BATCH
        self._size, self._legal = size, legal
        self._rng = np.random.default_rng([seed, _RANDOM])

    def propose(self, n: int, known: Set[int]) -> list[int]:
        """n rows that are not known; fewer only where there are no more."""
        self.batch = min(LARGE_BATCH, 2 * self.batch)
        if n < 1:
            return []
        legal = [] if self._legal is None else self._of_legal(self._legal, n, known)
        return legal if len(legal) == n else legal + self._of_all(n - len(legal), known | set(legal))

    def _of_legal(self, legal: LegalSpace, n: int, known: Set[int]) -> list[int]:
        found: dict[int, None] = {}
        if legal.candidates > 2 * (len(known) + n):
            for _ in range(_TRIES):  # late rules may leave fewer than there seem to be
                for row in legal.draw(n - len(found), self._rng).tolist():
                    if row not in known:
                        found[row] = None
                if len(found) == n:
                    return list(found)
        every = np.concatenate([np.zeros(0, dtype=np.int64), *legal.chunks()])
        left = np.setdiff1d(every, _array(known | set(found)))
        return [*found, *self._rng.permutation(left)[: n - len(found)].tolist()]

    def _of_all(self, n: int, known: Set[int]) -> list[int]:
        if 2 * (len(known) + n) >= self._size:
            left = np.setdiff1d(np.arange(self._size), _array(known))
            chosen: list[int] = self._rng.permutation(left)[:n].tolist()
            return chosen
        found: dict[int, None] = {}
        while len(found) < n:
            for row in self._rng.integers(0, self._size, n - len(found)).tolist():
                if row not in known:
                    found[row] = None
        return list(found)

    def learn(self, seen: Seen) -> None:
        """Nothing: random rows do not depend on results."""


def _array(rows: Set[int]) -> Ints:
    return np.fromiter(rows, np.int64, len(rows))


class HaltonRows:
    """A scrambled Halton sequence over the domains that have a choice: even coverage of every pair of
    tunables, without the rows that static rules refuse.

    Made of integer arithmetic and one division, so that it is the same on every machine. A further tunable
    beyond the 25 first primes shares a prime with an earlier one.
    """

    finished = ""

    def __init__(self, space: Space, seed: int, legal: LegalSpace | None = None) -> None:
        rng = np.random.default_rng([seed, _HALTON])
        self._legal, self._space = legal, space
        self.batch = FIRST_BATCH
        self._at = 0
        self._axes: list[tuple[str, int, list[Ints]]] = []
        varied = [(name, len(values)) for name, values in self._space.domains if len(values) > 1]
        for i, (name, n) in enumerate(varied):
            prime = _PRIMES[i % len(_PRIMES)]
            digits = 1
            while prime**digits < 2**31:
                digits += 1
            self._axes.append((name, n, [rng.permutation(prime) for _ in range(digits)]))

    def propose(self, n: int, known: Set[int]) -> list[int]:
        """The next rows of the sequence that are new and legal; it gives up after some rounds of mere repeats."""
        self.batch = min(LARGE_BATCH, 2 * self.batch)
        found: dict[int, None] = {}
        for _ in range(_TRIES):
            rows = self._next(n)
            for row in (rows if self._legal is None else rows[self._legal.contains(rows)]).tolist():
                if row not in known and len(found) < n:
                    found[row] = None
            if len(found) == n:
                break
        return list(found)

    def learn(self, seen: Seen) -> None:
        """Nothing: the sequence does not depend on results."""

    def _next(self, n: int) -> Ints:
        numbers = np.arange(self._at, self._at + n, dtype=np.int64)
        self._at += n
        indices = {name: np.zeros(n, dtype=np.int64) for name, _ in self._space.domains}
        for name, choices, digits in self._axes:
            indices[name] = _radical_inverse(numbers, digits, choices)
        row = np.zeros(n, dtype=np.int64)
        for name, values in self._space.domains:
            row = row * len(values) + indices[name]
        return row


def _radical_inverse(numbers: Ints, digits: list[Ints], choices: int) -> Ints:
    """The digits of each number, permuted and mirrored at the point, as an index below `choices`."""
    prime = digits[0].shape[0]
    rest, mirrored, scale = numbers.copy(), np.zeros(numbers.shape, dtype=np.int64), 1
    for permutation in digits:
        if scale > 2**31:  # finer than any domain, and far from wrapping
            break
        mirrored = mirrored * prime + permutation[rest % prime]
        rest //= prime
        scale *= prime
    return np.minimum((mirrored / scale * choices).astype(np.int64), choices - 1)
