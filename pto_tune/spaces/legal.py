"""The legal configurations of a space: those that no static rule refuses.

They have numbers of their own, in the order of their rows. Where a rule depends on too many values for a table (its
names are in `late`), it is evaluated row by row: the numbers then are those of what the other rules let through.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pto_tune.spaces.diagram import Diagram, TooLarge, build
from pto_tune.spaces.tables import Rules, Table, TimeOver, merged, tabulate

if TYPE_CHECKING:
    from pto_tune.evaluation import Problem
    from pto_tune.space import Space

Ints = NDArray[np.int64]

MEMORY_BYTES = 256 * 2**20
"""Memory that a diagram may take."""

MOST_ROWS = 2**63 - 1
CHUNK_ROWS = 65_536


class LegalError(ValueError):
    """A space whose legal configurations cannot be told apart as asked."""


@dataclass(frozen=True)
class Count:
    """How many configurations are legal: at least `low`, at most `high`; the number where these are equal.

    `refused`: the others by the first rule that refuses each; None where that is not known."""

    size: int
    low: int
    high: int
    refused: dict[str, int] | None

    @property
    def exact(self) -> bool:
        return self.low == self.high


Progress = Callable[[int, int], object]
"""Called with rows gone through and rows in all."""


@dataclass
class LegalSpace:
    """`candidates`: configurations that all tabulated rules let through, which are the legal ones unless `late`."""

    rules: Rules
    memory_bytes: int = MEMORY_BYTES
    _last: tuple[int, Diagram] | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls, problem: Problem, space: Space, *, seconds: float | None = None, memory_bytes: int = MEMORY_BYTES
    ) -> LegalSpace:
        """The legal configurations of a space of up to 2**63 - 1.

        seconds: TimeOver is raised after about so long. LegalError where the space has more configurations than 64
        bits number. The result does not depend on `memory_bytes`.
        """
        if space.size > MOST_ROWS:
            raise LegalError(f"the space has {space.size} configurations, at most {MOST_ROWS} can be numbered")
        until = None if seconds is None else time.monotonic() + seconds
        found = cls(tabulate(problem, space, until), memory_bytes)
        found._lay_out(until)
        return found

    @property
    def space(self) -> Space:
        return self.rules.space

    @property
    def size(self) -> int:
        return self.space.size

    @cached_property
    def late(self) -> tuple[str, ...]:
        """Names of the rules that are evaluated row by row."""
        return tuple(name for late in self.rules.late for name in late.names)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        return tuple(len(values) for _, values in self.space.domains)

    @cached_property
    def _tables(self) -> list[Table]:
        return merged(self.rules.tables)

    # blocks: beginnings of configurations whose diagram fits into the memory

    def _lay_out(self, until: float | None) -> None:
        self._beginnings: list[tuple[int, ...]] = []
        self._ends: list[int] = []
        self._blocks((), until)

    def _blocks(self, beginning: tuple[int, ...], until: float | None) -> None:
        if until is not None and time.monotonic() > until:
            raise TimeOver
        try:
            diagram = self._build(beginning)
        except TooLarge:
            for value in range(self.sizes[len(beginning)]):
                self._blocks((*beginning, value), until)
            return
        if diagram.count:
            self._last = (len(self._beginnings), diagram)
            self._beginnings.append(beginning)
            self._ends.append(self.candidates + diagram.count)

    def _build(self, beginning: tuple[int, ...]) -> Diagram:
        k = len(beginning)
        tables = []
        for t in self._tables:
            inside = sum(a < k for a in t.axes)
            ok = t.ok[tuple(beginning[a] for a in t.axes[:inside])]
            tables.append(Table(t.rule, t.place, tuple(a - k for a in t.axes[inside:]), np.asarray(ok)))
        return build(self.sizes[k:], tables, self.memory_bytes)

    def _diagram(self, block: int) -> Diagram:
        if self._last is None or self._last[0] != block:
            self._last = (block, self._build(self._beginnings[block]))
        return self._last[1]

    @property
    def blocks(self) -> int:
        """Pieces that the space was cut into so that each fits into the memory."""
        return len(self._beginnings)

    @property
    def candidates(self) -> int:
        return self._ends[-1] if self._ends else 0

    # going through, asking, drawing

    def rows(self, numbers: Ints) -> Ints:
        """Row numbers of candidates by their numbers (ascending where these are), 0 .. candidates - 1."""
        numbers = np.asarray(numbers, dtype=np.int64)
        if numbers.size and (int(numbers.min()) < 0 or int(numbers.max()) >= self.candidates):
            raise LegalError(f"numbers of candidates are 0 .. {self.candidates - 1}")
        out = np.empty(numbers.shape[0], dtype=np.int64)
        block_of = np.searchsorted(np.array(self._ends, dtype=np.int64), numbers, side="right")
        for block in np.unique(block_of).tolist():
            here = block_of == block
            first = self._ends[block - 1] if block else 0
            beginning = self._beginnings[block]
            base = 0
            for value, n in zip(beginning, self.sizes, strict=False):
                base = base * n + value
            base *= math.prod(self.sizes[len(beginning) :])
            out[here] = self._diagram(block).rows(numbers[here] - first) + base
        return out

    def chunks(self, chunk_rows: int = CHUNK_ROWS) -> Iterator[Ints]:
        """Row numbers of all legal configurations, ascending, up to `chunk_rows` at a time."""
        for start in range(0, self.candidates, chunk_rows):
            rows = self.rows(np.arange(start, min(start + chunk_rows, self.candidates), dtype=np.int64))
            yield rows[self.rules.kept_late(rows)] if self.rules.late else rows

    def contains(self, rows: Ints) -> NDArray[np.bool_]:
        """Which rows are legal."""
        columns = list(self.space.indices(rows).values())
        found = np.ones(rows.shape[0], dtype=bool)
        for table in self._tables:
            found &= table.of(columns)
        if self.rules.late:
            at = np.flatnonzero(found)
            found[at] = self.rules.kept_late(np.asarray(rows, dtype=np.int64)[at])
        return found

    def draw(self, n: int, random: np.random.Generator) -> Ints:
        """n legal rows, each drawn uniformly among all legal ones (a row may come twice). With late rules, draws that
        these refuse are drawn again; LegalError where none of a hundred times as many is legal."""
        if not self.candidates:
            raise LegalError("no configuration is legal: there is nothing to draw")
        out = np.empty(0, dtype=np.int64)
        tried = 0
        while out.shape[0] < n:
            rows = self.rows(random.integers(0, self.candidates, n - out.shape[0]))
            tried += rows.shape[0]
            out = np.concatenate([out, rows[self.rules.kept_late(rows)] if self.rules.late else rows])
            if not out.shape[0] and tried > 100 * n + 10_000:
                raise LegalError(f"none of {tried} draws is legal")
        return out

    # counting

    def count(self, seconds: float | None = None, progress: Progress | None = None) -> Count:
        """How many are legal. Exact, unless late rules had to be evaluated for longer than `seconds`."""
        until = None if seconds is None else time.monotonic() + seconds
        if not self.rules.late:
            return Count(self.size, self.candidates, self.candidates, self._refused(until))
        legal = done = 0
        for start in range(0, self.candidates, CHUNK_ROWS):
            if until is not None and time.monotonic() > until:
                break
            stop = min(start + CHUNK_ROWS, self.candidates)
            rows = self.rows(np.arange(start, stop, dtype=np.int64))
            legal += int(self.rules.kept_late(rows).sum())
            done = stop
            if progress is not None:
                progress(done, self.candidates)
        return Count(self.size, legal, legal + self.candidates - done, None)

    def refused(self) -> dict[str, int]:
        """The configurations that are no candidates, by the first tabulated rule that refuses each."""
        found = self._refused(None)
        assert found is not None
        return found

    def _refused(self, until: float | None) -> dict[str, int] | None:
        """From how many are left as rule after rule is applied."""
        out: dict[str, int] = {}
        left = self.size
        tables = sorted(self.rules.tables, key=lambda t: t.place)
        for i, table in enumerate(tables):
            if until is not None and time.monotonic() > until:
                return None
            if i + 1 == len(tables):
                after = self.candidates
            else:
                few = Rules(self.rules.problem, self.space, self.rules.names, tuple(tables[: i + 1]), ())
                some = LegalSpace(few, self.memory_bytes)
                try:
                    some._lay_out(until)
                except TimeOver:
                    return None
                after = some.candidates
            if left - after:
                out[table.rule] = out.get(table.rule, 0) + left - after
            left = after
        return out
