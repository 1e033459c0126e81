"""Static rules as tables over the tunables that they depend on."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pto_tune.legality.places import places_needed
from pto_tune.spaces.diagram import TooLarge, build
from pto_tune.spaces.parts import Part, Read, facts_of, parts, whole
from pto_tune.spaces.reading import Reader

if TYPE_CHECKING:
    from pto_tune.evaluation import Problem
    from pto_tune.space import Space

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MOST_CELLS = 4_000_000
"""Most cells of a table for which a rule is evaluated; more make it late."""

MOST_CELLS_RANKS = 200_000
"""The same of workloads with ranks, whose rules are checked at some thousand rows a second."""

WIDEST = 2**26
"""Largest product of domains of a table, cells included that an earlier rule refuses. A cell takes a byte."""

TOGETHER = 65_536
"""Rules of one part share a table up to this many cells."""

CHUNK = 65_536
"""Rows that a rule is evaluated for at a time."""

MOST_PLACES = 2**22
"""Rows times blocks (of those that differ) that a rule is evaluated for at a time."""

TABLE_BYTES = 2**26
"""Memory of the diagram that says which cells of a table are open."""


class TimeOver(Exception):
    """The time that was given for a count is over."""


@dataclass(frozen=True)
class Table:
    """Where a rule is kept: `ok` has an axis for each tunable of `axes` (places in the space's domains, ascending).
    Cells that the table of an earlier rule refuses may say either."""

    rule: str
    place: int  # among all rules, in the order in which they are applied
    axes: tuple[int, ...]
    ok: Bools

    def of(self, columns: Sequence[Ints]) -> Bools:
        """Where configurations keep the rule, by columns of indices into all domains."""
        found: Bools = self.ok[tuple(columns[a] for a in self.axes)]
        return found


@dataclass(frozen=True)
class Late:
    """Rules of a part that depend on too many values for a table: they are evaluated row by row. `places`: position of
    each in the part, and among all rules."""

    part: Part
    names: tuple[str, ...]
    places: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Rules:
    """All static rules of a space that refuse: `tables` of those that are broken somewhere, and what is `late`.
    `names`: all of them in order, those that nothing breaks included."""

    problem: Problem
    space: Space
    names: tuple[str, ...]
    tables: tuple[Table, ...]
    late: tuple[Late, ...]

    def kept_late(self, rows: Ints) -> Bools:
        """Where rows keep all late rules."""
        broken: Bools = self.first_late(rows) < 0
        return broken

    def first_late(self, rows: Ints) -> Ints:
        """Place of the first late rule that each row breaks, -1 where none."""
        first = np.full(rows.shape[0], len(self.names), dtype=np.int64)
        start = 0
        while start < rows.shape[0]:
            reader = _fitting(lambda at: self._reader(rows[at]), start, rows.shape[0])
            here = first[start : start + reader.n]
            for late in self.late:
                found = late.part.rules(reader)
                for inside, place in late.places:
                    broken = np.broadcast_to(found[inside].broken, reader.n)
                    here[broken] = np.minimum(here[broken], place)
            start += reader.n
        return np.where(first == len(self.names), -1, first)

    def _reader(self, rows: Ints) -> Reader:
        return Reader(self.problem.workload, self.space.table(rows), rows.shape[0], facts_of(self.problem))


def _fitting(make: Callable[[slice], Reader], start: int, stop: int) -> Reader:
    """A reader of the next rows, fewer where blocks differ, as a rule then has a grid of them."""
    reader = make(slice(start, min(start + CHUNK, stop)))
    places = places_needed(reader.workload, reader.env, reader.n, ("block", "rank"))
    fit = max(MOST_PLACES // places, 1)
    return reader if reader.n <= fit else make(slice(start, start + fit))


def tabulate(problem: Problem, space: Space, until: float | None = None) -> Rules:
    """The rules of a space as tables.

    until: `time.monotonic()` after which it gives up with TimeOver. ValueError where sizes are too large for 64 bits,
    as in an evaluation.
    """
    maker = _Maker(problem, space, until)
    pieces = parts(problem)
    if not maker.complete(pieces):
        pieces = [whole(problem)]
    place = 0
    for part in pieces:
        place += maker.add(part, place)
    return Rules(problem, space, tuple(maker.names), tuple(maker.tables), tuple(maker.late))


class _Maker:
    def __init__(self, problem: Problem, space: Space, until: float | None) -> None:
        self._problem, self._space, self._until = problem, space, until
        self._at = {name: i for i, (name, _) in enumerate(space.domains)}
        self._sizes = [len(values) for _, values in space.domains]
        self._most = MOST_CELLS_RANKS if problem.workload.has_ranks else MOST_CELLS
        self.names: list[str] = []
        self.tables: list[Table] = []
        self.late: list[Late] = []

    def complete(self, pieces: Sequence[Part]) -> bool:
        """Whether the parts have exactly the rules that an evaluation has."""
        from pto_tune.legality import rule_names

        found = [r.name for part in pieces for r in part.rules(self._reader((), np.zeros(1, dtype=np.int64)))]
        p = self._problem
        return found == rule_names(p.workload, p.platform, p.rule_set)

    def add(self, part: Part, place: int) -> int:
        """Take the rules of a part; returns how many it has."""
        first = part.rules(self._reader((), np.zeros(1, dtype=np.int64)))
        self.names += [r.name for r in first]
        open_ = {i: self._axes(r) for i, r in enumerate(first) if r.refuses}
        late: dict[int, int] = {}
        while open_:
            every = tuple(sorted(set().union(*open_.values())))
            if self._cells(every) <= TOGETHER:
                group, axes = list(open_), every
            else:
                # the rules that one of them covers go with it
                widest = max(open_, key=lambda i: self._cells(open_[i]))
                axes = open_[widest]
                group = [i for i, own in open_.items() if set(own) <= set(axes)]
            cells = self._open_cells(axes, place)
            if cells is None:
                # a smaller one of the group may still have a table of its own
                late |= {i: place + i for i in group if open_[i] == axes}
                open_ = {i: own for i, own in open_.items() if i not in late}
                continue
            known = np.zeros(self._cells(axes), dtype=bool)
            known[cells] = True
            known = known.reshape([self._sizes[a] for a in axes])
            found = self._evaluate(part, group, axes, cells)
            for i, (ok, own) in found.items():
                if not set(own) <= set(axes):
                    open_[i] = tuple(sorted({*axes, *own}))  # it reads more than its first row did
                    continue
                del open_[i]
                table = _reduced(first[i].name, place + i, axes, ok, known)
                if not table.ok.all():
                    self.tables.append(table)
        if late:
            self.late.append(Late(part, tuple(first[i].name for i in late), tuple(late.items())))
        return len(first)

    def _cells(self, axes: Sequence[int]) -> int:
        cells = 1
        for a in axes:
            cells *= self._sizes[a]
        return cells

    def _axes(self, rule: Read) -> tuple[int, ...]:
        """Tunables with a choice that a rule has read."""
        return tuple(sorted(i for n in rule.names if (i := self._at.get(n, -1)) >= 0 and self._sizes[i] > 1))

    def _reader(self, axes: Sequence[int], cells: Ints) -> Reader:
        """Columns for cells of a table; tunables without an axis have their first value."""
        n = cells.shape[0]
        columns = {name: np.full(n, value, dtype=np.int64) for name, value in self._space.problem}
        columns |= {name: np.full(n, values[0], dtype=np.int64) for name, values in self._space.domains}
        rest = cells
        for a in reversed(axes):
            name, values = self._space.domains[a]
            rest, at = np.divmod(rest, len(values))
            columns[name] = np.asarray(values, dtype=np.int64)[at]
        return Reader(self._problem.workload, columns, n, facts_of(self._problem))

    def _open_cells(self, axes: tuple[int, ...], place: int) -> Ints | None:
        """Cells over axes that no table of an earlier rule refuses; None where they are too many."""
        cells = self._cells(axes)
        if cells <= TOGETHER:
            return np.arange(cells, dtype=np.int64)
        if cells > WIDEST:
            return None
        at = {a: i for i, a in enumerate(axes)}
        inside = [t for t in self.tables if t.place < place and set(t.axes) <= set(axes)]
        moved = [Table(t.rule, t.place, tuple(at[a] for a in t.axes), t.ok) for t in inside]
        try:
            diagram = build([self._sizes[a] for a in axes], merged(moved), TABLE_BYTES)
        except TooLarge:
            return None
        return diagram.rows(np.arange(diagram.count, dtype=np.int64)) if diagram.count <= self._most else None

    def _evaluate(
        self, part: Part, group: Sequence[int], axes: tuple[int, ...], cells: Ints
    ) -> dict[int, tuple[Bools, tuple[int, ...]]]:
        """The tables of some rules of a part over axes, evaluated for some cells, and what each has read."""
        ok = {i: np.ones(self._cells(axes), dtype=bool) for i in group}
        read: dict[int, set[int]] = {i: set() for i in group}
        start = 0
        while start < cells.shape[0]:
            if self._until is not None and time.monotonic() > self._until:
                raise TimeOver
            reader = _fitting(lambda at: self._reader(axes, cells[at]), start, cells.shape[0])
            here = cells[start : start + reader.n]
            start += reader.n
            found = part.rules(reader)
            for i in group:
                ok[i][here] = ~np.broadcast_to(found[i].broken, here.shape[0])
                read[i].update(self._axes(found[i]))
        shape = tuple(self._sizes[a] for a in axes)
        return {i: (ok[i].reshape(shape), tuple(sorted(read[i]))) for i in group}


def _reduced(rule: str, place: int, axes: tuple[int, ...], ok: Bools, known: Bools) -> Table:
    """Without the axes along which nothing changes, as far as it is `known`: every open cell was evaluated, so that
    this is no guess."""
    kept = list(axes)
    for a in axes:
        k = kept.index(a)
        broken: Bools = np.asarray((~ok & known).any(axis=k))
        if not bool((broken & (ok & known).any(axis=k)).any()):
            ok, known = ~broken, np.asarray(known.any(axis=k))
            kept.remove(a)
    return Table(rule, place, tuple(kept), np.array(ok, order="C"))


def merged(tables: Sequence[Table]) -> list[Table]:
    """Fewer tables for the same: those whose axes another one has too are taken into that one."""
    out: list[Table] = []
    for table in sorted(tables, key=lambda t: (-len(t.axes), t.place)):
        for i, other in enumerate(out):
            if set(table.axes) <= set(other.axes):
                shape = tuple(n if a in table.axes else 1 for a, n in zip(other.axes, other.ok.shape, strict=True))
                out[i] = Table(other.rule, other.place, other.axes, other.ok & table.ok.reshape(shape))
                break
        else:
            out.append(table)
    return out
