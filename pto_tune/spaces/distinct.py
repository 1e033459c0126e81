"""How many configurations of a space are really different ones.

Two configurations are the same where every expression has the same value on both that lowering, legality or a cost
reads: their evaluations are equal by construction. A FifoDepth of its own that says what the shared one says is such a
case, and a SyncPeriod that is the derived one. What is not known to be the same counts as different.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pto_tune.lowering.pipe_rules import derived_period_expr
from pto_tune.model.expr import Expr, evaluate, names_in, where
from pto_tune.spaces.reading import stands_for

if TYPE_CHECKING:
    from pto_tune.evaluation import Problem
    from pto_tune.spaces.legal import LegalSpace

Ints = NDArray[np.int64]

MOST_ROWS = 20_000_000
"""Most legal configurations that are told apart: each takes 16 bytes."""

MOST_CELLS = 1_000_000
"""Largest product of domains over which values of expressions are numbered beforehand."""

CHUNK_ROWS = 262_144


@dataclass(frozen=True)
class Distinct:
    """`legal` configurations, `distinct` of them different; None where they are too many, or the time was over.
    Configurations are told apart by 128 bits made of their values: that two different ones have the same is possible
    and has a chance of about distinct ** 2 / 2 ** 129."""

    legal: int
    distinct: int | None


def count_distinct(problem: Problem, legal: LegalSpace, seconds: float | None = None) -> Distinct:
    """Tell all legal configurations apart."""
    total = legal.candidates
    if total > MOST_ROWS or legal.late:
        return Distinct(total, None)
    until = None if seconds is None else time.monotonic() + seconds
    signature = Signature(problem, legal)
    keys = np.empty((total, 2), dtype=np.uint64)
    at = 0
    for rows in legal.chunks(CHUNK_ROWS):
        if until is not None and time.monotonic() > until:
            return Distinct(total, None)
        keys[at : at + rows.shape[0]] = signature.keys(rows)
        at += rows.shape[0]
    return Distinct(total, _different(keys))


def _different(keys: NDArray[np.uint64]) -> int:
    """How many pairs of words are different."""
    if not keys.shape[0]:
        return 0
    order = np.argsort(keys[:, 0])
    first, second = keys[order, 0], keys[order, 1]
    step = first[1:] != first[:-1]
    if bool((second[1:] != second[:-1])[~step].any()):  # one first word, several second ones
        order = np.lexsort((keys[:, 1], keys[:, 0]))
        step = (keys[order][1:] != keys[order][:-1]).any(axis=1)
    return int(step.sum()) + 1


class Signature:
    """Values that decide an evaluation, as numbers: equal keys, equal values but for the chance of a collision."""

    def __init__(self, problem: Problem, legal: LegalSpace) -> None:
        self._space = legal.space
        self._at = {n: i for i, (n, _) in enumerate(self._space.domains)}
        self._problem = problem
        self._sizes = [len(values) for _, values in self._space.domains]
        by_names: dict[tuple[int, ...], list[Expr]] = {}
        for e in dict.fromkeys(_read(problem)):
            axes = self._axes(e)
            if axes:
                by_names.setdefault(axes, []).append(e)
        self._tables: list[tuple[tuple[int, ...], NDArray[np.int64]]] = []
        self._bare: set[int] = set()
        for axes in sorted(by_names, key=len, reverse=True):
            cells = int(np.prod([self._sizes[a] for a in axes], dtype=np.float64))
            if cells > MOST_CELLS:
                self._bare |= set(axes)  # the values themselves: certainly enough
            else:
                self._tables.append((axes, self._numbered(axes, cells, by_names[axes])))

    def _axes(self, e: Expr) -> tuple[int, ...]:
        """Tunables with a choice behind an expression."""
        names = stands_for(self._problem.workload, set(names_in(e)))
        return tuple(sorted(i for n in names if (i := self._at.get(n, -1)) >= 0 and self._sizes[i] > 1))

    def _numbered(self, axes: tuple[int, ...], cells: int, expressions: list[Expr]) -> NDArray[np.int64]:
        """The number of the values of some expressions, for each cell of their tunables."""
        columns = {n: np.full(cells, v, dtype=np.int64) for n, v in self._space.problem}
        columns |= {n: np.full(cells, values[0], dtype=np.int64) for n, values in self._space.domains}
        rest = np.arange(cells, dtype=np.int64)
        for a in reversed(axes):
            n, values = self._space.domains[a]
            rest, here = np.divmod(rest, len(values))
            columns[n] = np.asarray(values, dtype=np.int64)[here]
        workload = self._problem.workload
        env: dict[str, Any] = {**columns, "block": np.zeros(cells, dtype=np.int64)}
        for n, e in workload.derived:
            env[n] = evaluate(e, env)
        number = np.zeros(cells, dtype=np.int64)
        for e in expressions:
            if _of_places(self._problem, e):
                # what differs from block to block, rank to rank or trip to trip is known by its tunables alone
                return np.arange(cells, dtype=np.int64)
            for sub in (0, 1):
                value = np.broadcast_to(evaluate(e, {**env, "sub": np.int64(sub)}), cells)
                _, own = np.unique(value, return_inverse=True)
                _, number = np.unique(number * (int(own.max()) + 1) + own.reshape(-1), return_inverse=True)
                number = number.reshape(-1)
        return number.astype(np.int64)

    def keys(self, rows: Ints) -> NDArray[np.uint64]:
        """Two words a row."""
        columns = list(self._space.indices(rows).values())
        out = np.zeros((rows.shape[0], 2), dtype=np.uint64)
        numbers = [columns[a] for a in sorted(self._bare)]
        for axes, table in self._tables:
            cell = np.zeros(rows.shape[0], dtype=np.int64)
            for a in axes:
                cell = cell * self._sizes[a] + columns[a]
            numbers.append(table[cell])
        with np.errstate(over="ignore"):
            for number in numbers:
                for word, odd in ((0, 0x9E3779B97F4A7C15), (1, 0xC2B2AE3D27D4EB4F)):
                    mixed = (out[:, word] ^ number.astype(np.uint64)) * np.uint64(odd)
                    out[:, word] = mixed ^ (mixed >> np.uint64(29))
        return out


def _read(problem: Problem) -> Iterator[Expr]:
    """Everything in a workload that an evaluation of a legal configuration may read. What it keeps is legal already,
    and derived names are read through those that use them."""
    w = problem.workload
    fifos = tuple(
        replace(f, sync_period=where(f.sync_period.gt(0), f.sync_period, derived_period_expr(f, problem.rule_set)))
        for f in w.fifos
    )
    yield from _expressions(replace(w, derived=(), rules=(), fifos=fifos))
    for _, e, _ in problem.code.structure:
        if e is not None:
            yield e


def _expressions(node: Any) -> Iterator[Expr]:
    if isinstance(node, Expr):
        yield node
    elif is_dataclass(node):
        for f in fields(node):
            yield from _expressions(getattr(node, f.name))
    elif isinstance(node, tuple):
        for part in node:
            yield from _expressions(part)


def _of_places(problem: Problem, e: Expr) -> bool:
    """Whether an expression has names whose values a table does not have, or that differ from block to block."""
    known = {*problem.workload.parameter_names(), "sub", *(n for n, _ in problem.workload.derived)}
    names = set(names_in(e))
    for n, derived in reversed(problem.workload.derived):
        if n in names:
            names.update(names_in(derived))
    return not names <= known
