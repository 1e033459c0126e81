"""Proposers without a memory of results: random rows, and a low-discrepancy sequence over the domains."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pto_tune.search.batches import Batch
    from pto_tune.space import Space

Ints = NDArray[np.int64]

LARGE_BATCH = 4_096
_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89, 97)
_TRIES = 8
_RANDOM, _HALTON = 1, 2  # so that one seed gives each its own stream


class Proposer(Protocol):
    """Says which rows to look at next, and hears what they gave."""

    batch: int

    def propose(self, n: int, known: Set[int]) -> list[int]:
        """At most n distinct rows that are not in `known`; fewer, or none, where it only repeats itself."""

    def learn(self, batch: Batch) -> None:
        """Hear the results of rows, its own or others."""


class RandomRows:
    """Rows drawn uniformly without repetition."""

    batch = LARGE_BATCH

    def __init__(self, size: int, seed: int) -> None:
        self._size = size
        self._rng = np.random.default_rng([seed, _RANDOM])

    def propose(self, n: int, known: Set[int]) -> list[int]:
        """n rows that are not known; fewer only where there are no more."""
        if 2 * (len(known) + n) >= self._size:
            left = np.setdiff1d(np.arange(self._size), np.fromiter(known, np.int64, len(known)))
            chosen: list[int] = self._rng.permutation(left)[:n].tolist()
            return chosen
        found: dict[int, None] = {}
        while len(found) < n:
            for row in self._rng.integers(0, self._size, n - len(found)).tolist():
                if row not in known:
                    found[row] = None
        return list(found)

    def learn(self, batch: Batch) -> None:
        """Nothing: random rows do not depend on results."""


class HaltonRows:
    """A scrambled Halton sequence over the domains that have a choice: even coverage of every pair of
    tunables.

    Made of integer arithmetic and one division, so that it is the same on every machine. A further tunable
    beyond the 25 first primes shares a prime with an earlier one.
    """

    batch = LARGE_BATCH

    def __init__(self, space: Space, seed: int) -> None:
        rng = np.random.default_rng([seed, _HALTON])
        self._space = space
        self._at = 0
        self._axes: list[tuple[str, int, list[Ints]]] = []
        varied = [(name, len(values)) for name, values in space.domains if len(values) > 1]
        for i, (name, n) in enumerate(varied):
            prime = _PRIMES[i % len(_PRIMES)]
            digits = 1
            while prime**digits < 2**31:
                digits += 1
            self._axes.append((name, n, [rng.permutation(prime) for _ in range(digits)]))

    def propose(self, n: int, known: Set[int]) -> list[int]:
        """The next rows of the sequence that are new; it gives up after some rounds of mere repeats."""
        found: dict[int, None] = {}
        for _ in range(_TRIES):
            for row in self._next(n).tolist():
                if row not in known and len(found) < n:
                    found[row] = None
            if len(found) == n:
                break
        return list(found)

    def learn(self, batch: Batch) -> None:
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
