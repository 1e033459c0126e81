"""From a table of configurations to the executor's columns: structure, durations, bytes moved.

A table is a mapping from name to an int64 column of N values: problem sizes and tunables. Everything here is
vectorised over the N rows; a duration becomes an integer once, in `cost_models.rounding.to_cycles`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pto_tune.lowering.code import Code
from pto_tune.lowering.costs import cost_bytes, cost_cycles
from pto_tune.model.expr import evaluate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cost_models.platform import Platform
    from pto_tune.model.nodes import Workload

    Env = dict[str, Any]

FIXPIPE_PATHS = {"fixpipe": "gm", "fixpipe_ub": "ub"}
"""Targets of a drain by the path of a latency column."""


@dataclass(frozen=True)
class Columns:
    """structure (N, s); durations (d, N); bytes moved by shared resource, in the order of `sharing.RESOURCES`
    (r, d, N); pipe of each duration column (-1 none)."""

    structure: NDArray[np.int64]
    durations: NDArray[np.int64]
    bytes: NDArray[np.int64]
    pipe: NDArray[np.int64]


def environment(workload: Workload, table: Mapping[str, Any]) -> Env:
    """The table with the workload's derived expressions added, in order."""
    env: Env = dict(table)
    for name, e in workload.derived:
        env[name] = evaluate(e, env)
    return env


def columns_of(code: Code, platform: Platform, env: Mapping[str, Any], n: int) -> Columns:
    """Evaluate all columns of the code for n rows of `env` (derived names included)."""
    import numpy as np

    from cost_models import dma, fixpipe, flags, scalar
    from cost_models.rounding import to_cycles
    from cost_models.sharing import RESOURCES

    structure = np.empty((n, len(code.structure)), dtype=np.int64)
    structure[:, 0] = to_cycles(scalar.issue_cycles(platform))
    structure[:, 1] = to_cycles(flags.wait_cycles(platform))
    sub_env = [{**env, "sub": np.int64(s)} for s in (0, 1)]
    for i, (_, expression, sub) in enumerate(code.structure):
        if expression is not None:
            structure[:, i] = np.maximum(evaluate(expression, sub_env[sub]), 0)

    d = len(code.durations)
    durations = np.zeros((d, n), dtype=np.int64)
    moved = np.zeros((len(RESOURCES), d, n), dtype=np.int64)
    pipe = np.full(d, -1, dtype=np.int64)
    seen: dict[Any, int] = {}
    for i, c in enumerate(code.durations):
        if c.kind == "cost":
            pipe[i] = c.pipe
            key = (c.costs, c.sub)
            if key in seen:
                j = seen[key]
                durations[i], moved[:, i] = durations[j], moved[:, j]
                continue
            seen[key] = i
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
            durations[i] = structure[:, 1]
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
    return Columns(structure, durations, moved, pipe)


def _acc_bytes(code: Code, pair: tuple[int, int], env: Mapping[str, Any]) -> Any:
    """Accumulator bytes (4 an element) of the drain of a matmul-and-drain pair."""
    for column in pair:
        for cost in code.durations[column].costs:
            if cost.model in ("drain", "drain_ub"):
                args: dict[str, Any] = dict(cost.args)
                return 4 * evaluate(args["rows"], env) * evaluate(args["cols"], env)
    raise ValueError("a unit flag pairs a matmul with a drain, and here is no drain")
