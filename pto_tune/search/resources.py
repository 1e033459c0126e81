"""A lower bound of a configuration's time, made of resource sums only: what would be left if nothing ever waited.

A pipe cannot be done before the sum of its own durations, a scalar process not before the sum of its issues and waits,
and a wave not before the bytes of all its cores have passed every shared capacity. The sums need no schedule: how often
an instruction runs is the product of the trips of its loops. What only a schedule decides (waits for credits on a pipe,
drains at the end) counts as nothing, so that the bound holds for every configuration that ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cost_models.sharing import RESOURCES, capacity_bytes_per_cycle
from pto_tune.lowering import code as c
from pto_tune.lowering.columns import columns_of, environment
from pto_tune.model.expr import Expr, evaluate, names_in

if TYPE_CHECKING:
    from pto_tune.evaluation import Problem
    from pto_tune.lowering.code import Code
    from pto_tune.lowering.columns import Columns

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_LANES = 65_536
"""Programs of one call: one a configuration, or one a block where its blocks differ."""

NOISE = 1e-9
"""Relative, off a demand over a capacity, against rounding of the division."""


@dataclass(frozen=True)
class Runs:
    """How often things run, whatever the schedule: `executions` has (duration, structure columns whose product counts),
    `issues` and `waits` (core, how many, structure columns)."""

    executions: tuple[tuple[int, tuple[int, ...]], ...]
    issues: tuple[tuple[int, int, tuple[int, ...]], ...]
    waits: tuple[tuple[int, int, tuple[int, ...]], ...]


def runs_of(code: Code) -> Runs:
    """Read the operations of every core: loops multiply, what is skipped on conditions of the schedule counts as
    nothing."""
    executions: list[tuple[int, tuple[int, ...]]] = []
    issues: list[tuple[int, int, tuple[int, ...]]] = []
    waits: list[tuple[int, int, tuple[int, ...]]] = []
    for core, start in enumerate(code.starts.tolist()):
        loops: list[tuple[int, int]] = []  # (structure column, end)
        i = start
        while (op := code.ops[i].tolist())[0] != c.HALT:
            loops = [loop for loop in loops if i < loop[1]]
            inside = tuple(column for column, _ in loops)
            if op[0] == c.LOOP:
                loops.append((op[1], op[2]))
            elif op[0] in (c.IFWAIT, c.IFNOTIFY, c.DRAIN):
                i = op[2]
                continue
            elif op[0] == c.EXEC:
                if op[1] >= 0:
                    executions.append((op[1], inside))
                issues.append((core, op[2], inside))
            elif op[0] == c.SWAIT:
                waits.append((core, 1, inside))
            i += 1
    return Runs(tuple(executions), tuple(issues), tuple(waits))


def has_bounds(code: Code) -> bool:
    """Whether there is a bound: not for workloads with ranks, whose loops may depend on what arrives when."""
    return code.ranks is None


def names_behind(code: Code) -> set[str]:
    """Problem sizes and tunables that the bound depends on: those of every expression that it is made from."""
    runs, w = runs_of(code), code.workload
    names: set[str] = set()
    for e in (w.launch.blocks, w.launch.varying):
        names.update(names_in(e))
    columns = {column for _, inside in runs.executions for column in inside}
    columns |= {column for _, _, inside in (*runs.issues, *runs.waits) for column in inside}
    for column in columns:
        trips = code.structure[column][1]
        if trips is not None:
            names.update(names_in(trips))
    for duration, _ in runs.executions:
        for cost in code.durations[duration].costs:
            for _, value in cost.args:
                if isinstance(value, Expr):
                    names.update(names_in(value))
    for name, e in reversed(w.derived):
        if name in names:
            names.update(names_in(e))
    return names & set(w.parameter_names())


class Bounds:
    """Lower bounds of a problem's times, by columns."""

    def __init__(self, problem: Problem) -> None:
        if not has_bounds(problem.code):
            raise ValueError(f"{problem.workload.name} has ranks, and there is no bound for workloads with ranks")
        self._code, self._platform = problem.code, problem.platform
        self._runs = runs_of(problem.code)
        self._cores = int(problem.platform["cores.cube"])
        self._capacity = np.array([capacity_bytes_per_cycle(problem.platform, r) for r in RESOURCES], dtype=np.float64)

    def cycles(self, table: Mapping[str, Any], n: int) -> Ints:
        """(n,) whole cycles from the first instruction to the last that no configuration of `table` (columns of
        problem sizes and tunables) goes below. Where one does not end, or static rules refuse it, the number means
        nothing."""
        launch = self._code.workload.launch
        env = environment(self._code.workload, {**table, "block": np.zeros(n, dtype=np.int64)})
        blocks = np.broadcast_to(np.maximum(evaluate(launch.blocks, env), 1), n)
        varying = np.broadcast_to(evaluate(launch.varying, env), n) != 0
        out = np.zeros(n, dtype=np.int64)
        same = np.flatnonzero(~varying)
        for start in range(0, same.shape[0], MOST_LANES):
            at = same[start : start + MOST_LANES]
            out[at] = self._equal(_taken(table, at), blocks[at])
        differ = np.flatnonzero(varying)
        ends = np.cumsum(blocks[differ])
        start = 0
        while start < differ.shape[0]:
            before = int(ends[start - 1]) if start else 0
            stop = max(start + 1, int(np.searchsorted(ends, before + MOST_LANES, side="right")))
            at = differ[start:stop]
            out[at] = self._unequal(_taken(table, at), blocks[at])
            start = stop
        return out

    def _equal(self, table: Mapping[str, Any], blocks: Ints) -> Ints:
        """Where all blocks are alike: full waves, and one of what is left over."""
        own, demand_cycles = self._lanes({**table, "block": np.zeros(blocks.shape[0], dtype=np.int64)})
        full, rest = np.divmod(blocks, self._cores)
        wave = np.maximum(own, _whole(self._cores * demand_cycles))
        last = np.maximum(own, _whole(rest * demand_cycles))
        return np.asarray(full * wave + np.where(rest > 0, last, 0), dtype=np.int64)

    def _unequal(self, table: Mapping[str, Any], blocks: Ints) -> Ints:
        """Where blocks differ: the longest of them, and all of them spread evenly over the cores."""
        row = np.repeat(np.arange(blocks.shape[0]), blocks)
        first = np.cumsum(blocks) - blocks
        block = np.arange(row.shape[0], dtype=np.int64) - first[row]
        own, demand_cycles = self._lanes({**_taken(table, row), "block": block})
        full, rest = np.divmod(blocks, self._cores)
        active = np.where(block // self._cores < full[row], self._cores, rest[row])
        each = np.maximum(own, _whole(active * demand_cycles))
        spread = -(-np.add.reduceat(each, first) // self._cores)
        return np.asarray(np.maximum(np.maximum.reduceat(each, first), spread), dtype=np.int64)

    def _lanes(self, table: Mapping[str, Any]) -> tuple[Ints, Floats]:
        """Of one program: its longest sum over a pipe or scalar process, and the cycles for which it alone takes up the
        scarcest capacity."""
        code = self._code
        n = int(table["block"].shape[0])
        columns = columns_of(code, self._platform, environment(code.workload, table), n)
        times = np.zeros((len(code.durations), n), dtype=np.int64)
        product = _Products(columns, n)
        for duration, inside in self._runs.executions:
            times[duration] += product(inside)
        busy = np.zeros((len(code.pipes), n), dtype=np.int64)
        for q in np.flatnonzero(columns.pipe >= 0).tolist():
            busy[columns.pipe[q]] += times[q] * columns.durations[q]
        scalars = np.zeros((len(code.cores), n), dtype=np.int64)
        for column, counted in ((c.ISSUE_COLUMN, self._runs.issues), (c.WAIT_COLUMN, self._runs.waits)):
            for core, k, inside in counted:
                scalars[core] += k * product(inside) * columns.structure[:, column]
        own = np.maximum(busy.max(axis=0, initial=0), scalars.max(axis=0, initial=0))
        demand = np.zeros((len(RESOURCES), n), dtype=np.int64)
        slow = np.zeros((len(RESOURCES), n), dtype=np.int64)
        moving: list[list[int]] = np.argwhere(columns.bytes.any(axis=2)).tolist()
        for r, q in moving:
            demand[r] += times[q] * columns.bytes[r, q]
            # transfers that take no time cannot be stretched: then capacity says nothing
            slow[r] += np.where((columns.bytes[r, q] > 0) & (columns.pipe[q] >= 0), times[q] * columns.durations[q], 0)
        stretchable = ((demand == 0) | (slow > 0)).all(axis=0)
        needed = (demand / self._capacity[:, None]).max(axis=0)
        return own, np.where(stretchable, needed, 0.0)


class _Products:
    """Products of structure columns, each made once."""

    def __init__(self, columns: Columns, n: int) -> None:
        self._columns = columns
        self._known: dict[tuple[int, ...], Ints] = {(): np.ones(n, dtype=np.int64)}

    def __call__(self, inside: tuple[int, ...]) -> Ints:
        if inside not in self._known:
            self._known[inside] = self(inside[:-1]) * self._columns.structure[:, inside[-1]]
        return self._known[inside]


def _taken(table: Mapping[str, Any], at: Ints) -> dict[str, Any]:
    return {name: (column[at] if np.ndim(column) else column) for name, column in table.items()}


def _whole(cycles: Floats) -> Ints:
    return np.ceil(cycles * (1.0 - NOISE)).astype(np.int64)
