"""A decision diagram over the tunables of a space: which configurations keep all tables, counted, listed and drawn.

A node of level k stands for all choices of the first k tunables that leave the same further choices. Every table is
first reduced by itself: two beginnings are one class where all that may follow is equal. A node is a class of each
table. Choices after which some table can no more be kept have no node, so that what is refused is never looked at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pto_tune.spaces.tables import Table

Ints = NDArray[np.int64]


class TooLarge(Exception):
    """The diagram needs more memory than it may have."""


@dataclass(frozen=True)
class Diagram:
    """`child[k]` (nodes, values) is the node of the next level or -1; `before[k]` (nodes, values + 1) counts the
    configurations below the values before each. Counts are exact below 2**63."""

    sizes: tuple[int, ...]
    child: tuple[NDArray[np.int32], ...]
    before: tuple[Ints, ...]

    @property
    def count(self) -> int:
        """How many configurations there are."""
        return int(self.before[0][0, -1]) if self.before else 1

    @property
    def nodes(self) -> int:
        return sum(c.shape[0] for c in self.child)

    def rows(self, numbers: Ints) -> Ints:
        """Row numbers of the configurations of these numbers (0 .. count - 1); ascending numbers, ascending rows."""
        rest = np.array(numbers, dtype=np.int64)
        node = np.zeros(rest.shape, dtype=np.int64)
        row = np.zeros(rest.shape, dtype=np.int64)
        for n, child, before in zip(self.sizes, self.child, self.before, strict=True):
            value = _last_at_most(before, node, rest, n)
            rest -= before[node, value]
            node = child[node, value].astype(np.int64)
            row = row * n + value
        return row

    def contains(self, columns: Sequence[Ints]) -> NDArray[np.bool_]:
        """Whether configurations are in it, by columns of indices into all domains."""
        node = np.zeros(columns[0].shape, dtype=np.int64)
        for child, at in zip(self.child, columns, strict=True):
            node = np.where(node >= 0, child[np.maximum(node, 0), at], -1)
        return node >= 0


def _last_at_most(before: Ints, node: Ints, number: Ints, n: int) -> Ints:
    """The last value of each node before which there are at most so many, by halving: the one with the number in it."""
    low = np.zeros(node.shape, dtype=np.int64)
    high = np.full(node.shape, n - 1, dtype=np.int64)
    for _ in range((n - 1).bit_length()):
        middle = (low + high + 1) >> 1
        inside = before[node, middle] <= number
        low = np.where(inside, middle, low)
        high = np.where(inside, high, middle - 1)
    return low


def build(sizes: Sequence[int], tables: Sequence[Table], memory_bytes: int) -> Diagram:
    """The diagram of all tables over domains of these sizes. TooLarge where it would need more than `memory_bytes`."""
    machines = [_machine(t) for t in tables]
    at = np.array([[m.start for m in machines]], dtype=np.int64)
    if any(m.start == 0 for m in machines):
        return _empty(sizes)
    children: list[NDArray[np.int32]] = []
    used = 0
    for level, n in enumerate(sizes):
        used += at.shape[0] * (12 * n + 8)
        # the next level's classes come on top while they are made
        if used + at.shape[0] * n * 8 * (len(machines) + 2) > memory_bytes and at.shape[0] > 1:
            raise TooLarge
        child, at = _level(level, n, at, machines)
        if not at.shape[0]:
            return _empty(sizes)
        children.append(child)
    counts = np.ones(at.shape[0], dtype=np.int64)
    befores: list[Ints] = []
    for child in reversed(children):
        before = np.zeros((child.shape[0], child.shape[1] + 1), dtype=np.int64)
        np.cumsum(np.where(child >= 0, counts[np.maximum(child, 0)], 0), axis=1, out=before[:, 1:])
        befores.append(before)
        counts = before[:, -1]
    return Diagram(tuple(sizes), tuple(children), tuple(reversed(befores)))


def _empty(sizes: Sequence[int]) -> Diagram:
    child = tuple(np.full((1, n), -1, dtype=np.int32) for n in sizes)
    return Diagram(tuple(sizes), child, tuple(np.zeros((1, n + 1), dtype=np.int64) for n in sizes))


@dataclass(frozen=True)
class _Machine:
    """A table as it is read tunable by tunable: `step[axis]` (classes, values) is the next class. Class 0 cannot be
    kept any more."""

    start: int
    step: dict[int, Ints]


def _machine(table: Table) -> _Machine:
    classes: NDArray[Any] = table.ok.reshape(-1)
    step: dict[int, Ints] = {}
    for axis, n in zip(reversed(table.axes), reversed(table.ok.shape), strict=True):
        rows = classes.reshape(-1, n)
        first, inverse = _distinct(rows)
        found = rows[first].astype(np.int64)
        dead = np.flatnonzero(~found.any(axis=1))
        number: NDArray[np.int32] = np.arange(1, found.shape[0] + 1, dtype=np.int32)
        if dead.shape[0]:
            number[dead[0] :] -= 1
            number[dead[0]] = 0
            found = np.delete(found, dead[0], axis=0)
        step[axis] = np.concatenate([np.zeros((1, n), dtype=np.int64), found])
        classes = number[inverse]
    return _Machine(int(classes[0]), step)


def _distinct(rows: NDArray[Any]) -> tuple[Ints, Ints]:
    """First places of distinct rows in order of appearance, and for each row its number among them."""
    mix: Ints = np.asarray(np.random.default_rng(2024).integers(1, 2**63 - 1, rows.shape[1], dtype=np.int64)) | 1
    key = np.zeros(rows.shape[0], dtype=np.int64)
    with np.errstate(over="ignore"):
        for j in range(rows.shape[1]):  # a column at a time: rows may be many and of one byte
            key += rows[:, j] * mix[j]
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    if not all(np.array_equal(rows[first, j][inverse], rows[:, j]) for j in range(rows.shape[1])):
        _, first, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)  # two rows had one key
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(order.shape[0])
    return first[order].astype(np.int64), rank[inverse.reshape(-1)].astype(np.int64)


def _level(level: int, n: int, at: Ints, machines: Sequence[_Machine]) -> tuple[NDArray[np.int32], Ints]:
    """Children of the nodes `at` (nodes, tables), and the classes of the next level's nodes."""
    reading = [i for i, m in enumerate(machines) if level in m.step]
    nodes = at.shape[0]
    child = np.full((nodes, n), -1, dtype=np.int32)
    if not reading:
        child[:] = np.arange(nodes, dtype=np.int32)[:, np.newaxis]
        return child, at
    alive = np.ones((nodes, n), dtype=bool)
    for i in reading:
        alive &= machines[i].step[level][at[:, i]] > 0
    node, value = np.nonzero(alive)
    following = at[node]
    for i in reading:
        following[:, i] = machines[i].step[level][at[node, i], value]
    if not following.shape[0]:
        return child, following
    first, inverse = _distinct(following)
    child[node, value] = inverse
    return child, following[first]
