"""From a table of configurations to the executor's columns: structure, durations, bytes moved.

A table is a mapping from name to an int64 column of N values: problem sizes and tunables. Everything here is
vectorised over the N rows; a duration becomes an integer once, in `cost_models.rounding.to_cycles`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pto_tune.lowering.code import Code
from pto_tune.lowering.costs import cost_bytes, cost_cycles
from pto_tune.lowering.grouping import group_rows
from pto_tune.lowering.remembered import for_each_code
from pto_tune.model.expr import Expr, evaluate, names_in

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cost_models.platform import Platform
    from pto_tune.model.nodes import Workload

    Env = dict[str, Any]

FIXPIPE_PATHS = {"fixpipe": "gm", "fixpipe_ub": "ub"}
"""Targets of a drain by the path of a latency column."""

FEWEST_ROWS = 256
"""Fewer rows are evaluated as they are."""


@dataclass(frozen=True)
class Columns:
    """structure (N, s); durations (d, N); bytes moved by shared resource, in the order of `sharing.RESOURCES`
    (r, d, N); pipe of each duration column (-1 none).

    Many rows have the same durations: kept are U kinds, durations (d, U) and bytes (r, d, U), and the kind of each row
    (`place`, None: each row is its own). Rows with one number in `alike` (None: not known) have equal structure.
    """

    structure: NDArray[np.int64]
    kinds: NDArray[np.int64]
    kinds_bytes: NDArray[np.int64]
    pipe: NDArray[np.int64]
    place: NDArray[np.int64] | None = None
    alike: NDArray[np.int64] | None = None

    @cached_property
    def durations(self) -> NDArray[np.int64]:
        """Durations by row, (d, N)."""
        return self.kinds if self.place is None else self.kinds.take(self.place, axis=1)

    @cached_property
    def bytes(self) -> NDArray[np.int64]:
        """Bytes by row, (r, d, N)."""
        return self.kinds_bytes if self.place is None else self.kinds_bytes.take(self.place, axis=2)

    def kind_of(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The kinds of rows."""
        return rows if self.place is None else self.place[rows]


def environment(workload: Workload, table: Mapping[str, Any]) -> Env:
    """The table with the workload's derived expressions added, in order."""
    env: Env = dict(table)
    for name, e in workload.derived:
        env[name] = evaluate(e, env)
    return env


def columns_of(code: Code, platform: Platform, env: Mapping[str, Any], n: int, *, each_row: bool = False) -> Columns:
    """Evaluate all columns of the code for n rows of `env` (derived names included).

    Every model is a function of single rows, so what does not depend on all tunables is evaluated once for each
    choice of those that it depends on; not so with `each_row`, for a platform whose numbers have a value a row.
    """
    if n < FEWEST_ROWS or each_row:
        return Columns(_structure(code, platform, env, n), *_durations(code, platform, env, n))
    of_structure, of_durations = _dependencies(code)
    rows, alike = _distinct(env, of_structure, n)
    structure = _structure(code, platform, _picked(env, rows), rows.shape[0])[alike]
    rows, place = _distinct(env, of_durations, n)
    return Columns(structure, *_durations(code, platform, _picked(env, rows), rows.shape[0]), place, alike)


@for_each_code
def _dependencies(code: Code) -> tuple[frozenset[str], frozenset[str]]:
    """The names, none of them derived, on which structure and durations depend."""
    derived = dict(code.workload.derived)
    below: dict[str, frozenset[str]] = {}

    def names(expressions: Iterable[Any]) -> frozenset[str]:
        found: set[str] = set()
        for e in expressions:
            for n in names_in(e) if isinstance(e, Expr) else ():
                found |= below.get(n, {n})
        return frozenset(found)

    for name, e in derived.items():
        below[name] = names([e])
    costs = [value for column in code.durations for cost in column.costs for _, value in cost.args]
    return names(e for _, e, _ in code.structure), names(costs)


@for_each_code
def _equal_costs(code: Code) -> list[int]:
    """For each duration column the first one with equal costs, where the sub-core makes no difference to them."""
    first: dict[Any, int] = {}
    out = []
    for i, column in enumerate(code.durations):
        values = [v for cost in column.costs for _, v in cost.args if isinstance(v, Expr)]
        by_sub = any(name in _by_sub(code) for v in values for name in names_in(v))
        out.append(first.setdefault((column.kind, column.costs, column.sub if by_sub else 0), i))
    return out


@for_each_code
def _by_sub(code: Code) -> frozenset[str]:
    """Names whose value may depend on the sub-core."""
    return frozenset({"sub"} | {name for name, e in code.workload.derived if "sub" in names_in(e)})


def _distinct(env: Mapping[str, Any], names: frozenset[str], n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows that differ in `names`: one of each kind, and the kind of every row."""
    import numpy as np

    columns = [c for c in (np.asarray(env[name]) for name in sorted(names) if name in env) if c.ndim]
    differing = [c for c in columns if (c != c[0]).any()]
    if not differing:
        return np.zeros(1, dtype=np.int64), np.zeros(n, dtype=np.int64)
    return group_rows(np.stack(differing, axis=1))


def _picked(env: Mapping[str, Any], rows: NDArray[np.int64]) -> Env:
    return {name: c[rows] if getattr(c, "ndim", 0) else c for name, c in env.items()}


def _structure(code: Code, platform: Platform, env: Mapping[str, Any], n: int) -> NDArray[np.int64]:
    """Structure columns of n rows."""
    import numpy as np

    from cost_models import flags, scalar
    from cost_models.rounding import to_cycles

    structure = np.empty((n, len(code.structure)), dtype=np.int64)
    structure[:, 0] = to_cycles(scalar.issue_cycles(platform))
    structure[:, 1] = to_cycles(flags.wait_cycles(platform))
    sub_env = [{**env, "sub": np.int64(s)} for s in (0, 1)]
    for i, (_, expression, sub) in enumerate(code.structure):
        if expression is not None:
            structure[:, i] = np.maximum(evaluate(expression, sub_env[sub]), 0)
    return structure


def _durations(
    code: Code, platform: Platform, env: Mapping[str, Any], n: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Durations, bytes moved and pipes, as in `Columns`, of n rows."""
    import numpy as np

    from cost_models import dma, fixpipe, flags
    from cost_models.rounding import to_cycles
    from cost_models.sharing import RESOURCES

    sub_env = [{**env, "sub": np.int64(s)} for s in (0, 1)]
    d = len(code.durations)
    durations = np.zeros((d, n), dtype=np.int64)
    moved = np.zeros((len(RESOURCES), d, n), dtype=np.int64)
    pipe = np.full(d, -1, dtype=np.int64)
    equal = _equal_costs(code)
    for i, c in enumerate(code.durations):
        if c.kind == "cost":
            pipe[i] = c.pipe
            j = equal[i]
            if j < i:
                durations[i], moved[:, i] = durations[j], moved[:, j]
                continue
            e = sub_env[c.sub]
            total: Any = np.zeros(n)
            for cost in c.costs:
                total = total + cost_cycles(platform, cost, e)
                for r, b in enumerate(cost_bytes(platform, cost, e)):
                    moved[r, i] += b
            durations[i] = to_cycles(total)
        elif c.kind == "flag_set":
            durations[i] = to_cycles(flags.set_cycles(platform))
        elif c.kind == "flag_wait":
            durations[i] = to_cycles(flags.wait_cycles(platform))
        elif c.kind == "cross":
            durations[i] = to_cycles(flags.cross_core_latency_cycles(platform))
        elif c.kind == "latency":
            target = FIXPIPE_PATHS.get(c.path)
            model = dma.latency_cycles(platform, c.path) if target is None else fixpipe.latency_cycles(platform, target)
            durations[i] = to_cycles(model)
    for i, c in enumerate(code.durations):
        if c.kind == "overlap":
            a, b = (durations[j] for j in c.of)
            acc = _acc_bytes(code, c.of, env)
            overlap = fixpipe.unit_flag_overlap(platform, a, b, acc)
            durations[i] = -np.floor(overlap).astype(np.int64)
    return durations, moved, pipe


def _acc_bytes(code: Code, pair: tuple[int, int], env: Mapping[str, Any]) -> Any:
    """Accumulator bytes (4 an element) of the drain of a matmul-and-drain pair."""
    for column in pair:
        for cost in code.durations[column].costs:
            if cost.model in ("drain", "drain_ub"):
                args: dict[str, Any] = dict(cost.args)
                return 4 * evaluate(args["rows"], env) * evaluate(args["cols"], env)
    raise ValueError("a unit flag pairs a matmul with a drain, and here is no drain")
