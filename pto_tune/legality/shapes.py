"""Ranges of the shapes of matmuls and accumulator stores.

TMATMUL m, k, n in 1..4095 (npu/a2a3/TMatmul.hpp:101-106); the accumulator store takes 1..4095 columns and 1..8192 rows
(npu/a2a3/TStore.hpp:222-227).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from pto_tune.legality.rules import RuleColumn, column
from pto_tune.model.expr import Expr, evaluate
from pto_tune.model.nodes import Instr, Workload, walk

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pto_tune.legality.rules import Ints

MATMUL_LIMIT = 4095
DRAIN_ROWS, DRAIN_COLS = 8192, 4095


def shape_rules(workload: Workload, env: Mapping[str, Any], n: int) -> Iterator[RuleColumn]:
    """One rule an instruction and argument."""
    import numpy as np

    found: dict[tuple[str, str, int], dict[Expr, Ints]] = {}
    # Both instructions run on AIC. As of blocks, the first of the ranks is looked at.
    env = {**({"rank": np.int64(0)} if workload.has_ranks else {}), **env, "sub": np.int64(0)}
    for _, program in workload.programs:
        for name, cost in [(x.name, cost) for x in walk(program) if isinstance(x, Instr) for cost in x.costs]:
            limits = {
                "matmul": {"m": MATMUL_LIMIT, "k": MATMUL_LIMIT, "n": MATMUL_LIMIT},
                "drain": {"rows": DRAIN_ROWS, "cols": DRAIN_COLS},
            }.get(cost.model, {})
            args = dict(cost.args)
            for arg, limit in limits.items():
                e = args[arg]
                if not isinstance(e, str):
                    found.setdefault((name, arg, limit), {})[e] = column(evaluate(e, env), n)
    for (name, arg, limit), columns in found.items():
        values = np.stack(list(columns.values()))
        out = (values < 1) | (values > limit)
        broken: NDArray[np.bool_] = np.logical_or.reduce(out, axis=0)
        yield RuleColumn(f"{name.lower()}-{arg}", broken, partial(_shape_sentence, name, arg, limit, values, out))


def _shape_sentence(name: str, arg: str, limit: int, values: Ints, out: NDArray[np.bool_], i: int) -> str:
    value = int(values[out[:, i].argmax(), i])
    return f"{name}: {arg} = {value} is outside 1..{limit}; nearest legal: {min(max(value, 1), limit)}"
