"""Columns that note who reads them: what a rule depends on is found by watching it, never by guessing."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pto_tune.model.expr import evaluate, names_in

if TYPE_CHECKING:
    from pto_tune.model.nodes import Workload

Ints = NDArray[np.int64]


class Reader:
    """Columns of n rows for all problem sizes, tunables and derived names of a workload, for whoever reads them.

    `env` is what rules take for an environment. `seen` are the problem sizes and tunables that were read since it was
    last cleared, those that a derived name stands for included. Facts (such as `on_a5`) are not noted.
    """

    def __init__(
        self, workload: Workload, columns: Mapping[str, Ints], n: int, facts: Mapping[str, int] | None = None
    ) -> None:
        self.workload = workload
        self.n = n
        self.seen: set[str] = set()
        self.env: dict[str, Any] = {"block": np.zeros(n, dtype=np.int64)}
        self.env |= {name: np.int64(value) for name, value in (facts or {}).items()}
        stands_for: dict[str, frozenset[str]] = {}
        for name, column in columns.items():
            stands_for[name] = frozenset((name,))
            self.env[name] = _Given(self, stands_for[name], n, column)
        for name, e in workload.derived:
            stands_for[name] = frozenset().union(*(stands_for.get(used, frozenset()) for used in names_in(e)))
            self.env[name] = _Derived(self, stands_for[name], n, e)

    def take(self) -> set[str]:
        """What was read so far; from here on it is noted anew."""
        seen = self.seen
        self.seen = set()
        return seen


class _Noted:
    """A column that notes when it becomes an array. It is no array before, so that copies of an environment read
    nothing."""

    def __init__(self, reader: Reader, names: frozenset[str], n: int) -> None:
        self._reader, self._names = reader, names
        self.shape = (n,)
        self.ndim = 1

    def _values(self) -> Ints:
        raise NotImplementedError

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        self._reader.seen |= self._names
        return np.array(self._values(), dtype=dtype, copy=True if copy else None)

    def __getitem__(self, at: slice) -> _Noted:
        return _Some(self, at)


class _Given(_Noted):
    def __init__(self, reader: Reader, names: frozenset[str], n: int, column: Ints) -> None:
        super().__init__(reader, names, n)
        self._column = column

    def _values(self) -> Ints:
        return self._column


class _Some(_Noted):
    """Some rows of a column."""

    def __init__(self, of: _Noted, at: slice) -> None:
        super().__init__(of._reader, of._names, len(range(*at.indices(of.shape[0]))))
        self._of, self._at = of, at

    def _values(self) -> Ints:
        return self._of._values()[self._at]


class _Derived(_Noted):
    def __init__(self, reader: Reader, names: frozenset[str], n: int, e: Any) -> None:
        super().__init__(reader, names, n)
        self._e = e

    @cached_property
    def _column(self) -> Ints:
        return np.broadcast_to(np.asarray(evaluate(self._e, self._reader.env), dtype=np.int64), self.shape)

    def _values(self) -> Ints:
        return self._column


def stands_for(workload: Workload, names: set[str]) -> set[str]:
    """Problem sizes and tunables behind names, derived ones followed to their ends."""
    found = set(names)
    for name, e in reversed(workload.derived):
        if name in found:
            found.update(names_in(e))
    return found & set(workload.parameter_names())
