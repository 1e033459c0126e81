"""Legality: named rules, evaluated as columns for all configurations at once.

Every refusal says rule, value, limit and, where there is one, the nearest legal value. Capacities follow
common/buffer_limits.hpp of pto-isa; UB loses its top 8 KiB where the program uses an operation that writes the library's
scratch there (common/constants.hpp:29-30). Flag ids: F + 1 < 16 (npu/a2a3/TPush.hpp:43-44). TMATMUL m, k, n in 1..4095
(npu/a2a3/TMatmul.hpp:101-106); the accumulator store takes 1..4095 columns and 1..8192 rows (TStore.hpp:222-227).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pto_tune.model.expr import Expr, evaluate
from pto_tune.model.nodes import Cost, Instr, Loop, Node, Workload

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cost_models.platform import Platform
    from pto_tune.rule_sets import RuleSet

MATMUL_LIMIT = 4095
DRAIN_ROWS, DRAIN_COLS = 8192, 4095
BURST = 32


@dataclass(frozen=True)
class RuleColumn:
    """One rule over N rows: where it is broken, and the sentence of a row."""

    name: str
    broken: NDArray[np.bool_]
    sentence: Callable[[int], str]


def rule_names(workload: Workload, platform: Platform, rule_set: RuleSet) -> list[str]:
    """Names of all static rules of a workload, in the order in which they are applied."""
    import numpy as np

    env = {
        **{p.name: np.array([p.default]) for p in workload.problem},
        **{t.name: np.array([t.default]) for t in workload.tunables},
        "block": np.array([0]),
    }
    from pto_tune.lowering.columns import environment

    return [r.name for r in check(workload, platform, rule_set, environment(workload, env), 1)]


def check(
    workload: Workload, platform: Platform, rule_set: RuleSet, env: Mapping[str, Any], n: int
) -> list[RuleColumn]:
    """All static rules over n rows of `env` (derived names included)."""
    rules = [*_workload_rules(workload, env, n), *_pipes(workload, rule_set, env, n)]
    rules += _capacities(workload, platform, env, n)
    rules += _alignment(workload, platform, env, n)
    rules += _shapes(workload, env, n)
    return rules


def _column(value: Any, n: int) -> NDArray[np.int64]:
    import numpy as np

    return np.broadcast_to(np.asarray(value, dtype=np.int64), n)


def _workload_rules(workload: Workload, env: Mapping[str, Any], n: int) -> Iterator[RuleColumn]:
    for rule in workload.rules:
        ok = _column(evaluate(rule.ok, env), n)
        value, limit = _column(evaluate(rule.value, env), n), _column(evaluate(rule.limit, env), n)
        nearest = None if rule.nearest is None else _column(evaluate(rule.nearest, env), n)

        def sentence(
            i: int, text: str = rule.sentence, value: Any = value, limit: Any = limit, nearest: Any = nearest
        ) -> str:
            near = "" if nearest is None else f"; nearest legal: {int(nearest[i])}"
            return text.format(value=int(value[i]), limit=int(limit[i])) + near

        yield RuleColumn(rule.name, ok == 0, sentence)


def _pipes(workload: Workload, rule_set: RuleSet, env: Mapping[str, Any], n: int) -> Iterator[RuleColumn]:
    import numpy as np

    for f in workload.fifos:
        slots = _column(evaluate(f.slot_num, env), n)
        bytes_, tile = _column(evaluate(f.slot_bytes, env), n), _column(evaluate(f.tile_bytes, env), n)
        yield RuleColumn(
            f"{f.name}-slot-num",
            slots < 1,
            lambda i, f=f, s=slots: f"FIFO {f.name}: FifoDepth {int(s[i])} is below 1; nearest legal: 1",  # type: ignore[misc]
        )
        yield RuleColumn(
            f"{f.name}-slot-size",
            bytes_ < tile,
            lambda i, f=f, b=bytes_, t=tile: (  # type: ignore[misc]
                f"FIFO {f.name}: a slot of {int(b[i])} bytes cannot hold a tile of {int(t[i])}; "
                f"nearest legal: {int(t[i])}"
            ),
        )
        last = f.flag_id + 1
        yield RuleColumn(
            f"{f.name}-flag-id",
            np.full(n, last >= rule_set.flag_ids),
            lambda i, f=f, last=last: (  # type: ignore[misc]
                f"FIFO {f.name}: flag ids {f.flag_id} and {last} are not below {rule_set.flag_ids}; "
                f"nearest legal FlagID: {rule_set.flag_ids - 2}"
            ),
        )


def _capacities(workload: Workload, platform: Platform, env: Mapping[str, Any], n: int) -> Iterator[RuleColumn]:
    for memory in ("L1", "L0A", "L0B", "L0C", "UB"):
        parts = memory_parts(workload, memory, env, n)
        if not parts:
            continue
        limit = int(platform[f"memory.{memory.lower()}"])
        note = ""
        if memory == "UB" and workload.uses_ub_scratch:
            limit -= int(platform["memory.ub_scratch_top"])
            note = f" (the top {int(platform['memory.ub_scratch_top'])} are the library's scratch)"
        total = sum(size for _, size in parts)

        def sentence(
            i: int, memory: str = memory, parts: Any = parts, total: Any = total, limit: int = limit, note: str = note
        ) -> str:
            top = sorted(((int(s[i]), name) for name, s in parts), reverse=True)[:3]
            return f"{memory} needs {int(total[i])} bytes and has {limit}{note}; largest: " + ", ".join(
                f"{name} {size}" for size, name in top
            )

        yield RuleColumn(f"capacity-{memory}", total > limit, sentence)


def memory_parts(
    workload: Workload, memory: str, env: Mapping[str, Any], n: int
) -> list[tuple[str, NDArray[np.int64]]]:
    """Bytes of every buffer and ring in a memory of one core: (name, column)."""
    parts = [(b.name, _column(evaluate(b.bytes * b.copies, env), n)) for b in workload.buffers if b.memory == memory]
    parts += [(r.name, _column(evaluate(r.bytes * r.slots, env), n)) for r in workload.rings if r.memory == memory]
    return parts


def _alignment(workload: Workload, platform: Platform, env: Mapping[str, Any], n: int) -> Iterator[RuleColumn]:
    align = int(platform["memory.align"])
    for kind, items in (("buffer", workload.buffers), ("FIFO slot", workload.fifos)):
        for item in items:
            size = _column(evaluate(item.bytes if kind == "buffer" else item.slot_bytes, env), n)  # type: ignore[attr-defined]
            yield RuleColumn(
                f"align-{item.name}",
                size % align != 0,
                lambda i, kind=kind, name=item.name, size=size: (  # type: ignore[misc]
                    f"{kind} {name}: {int(size[i])} bytes are not a multiple of {align}; "
                    f"nearest legal: {-(-int(size[i]) // align) * align}"
                ),
            )


def _costs(nodes: tuple[Node, ...]) -> Iterator[tuple[str, Cost]]:
    for node in nodes:
        if isinstance(node, Loop):
            yield from _costs(node.body)
        elif isinstance(node, Instr):
            for cost in node.costs:
                yield node.name, cost


def _shapes(workload: Workload, env: Mapping[str, Any], n: int) -> Iterator[RuleColumn]:
    """Ranges of matmul and accumulator-store shapes: one rule an instruction and argument."""
    import numpy as np

    found: dict[tuple[str, str, int], dict[Expr, NDArray[np.int64]]] = {}
    for _, program in workload.programs:
        for name, cost in _costs(program):
            limits = {
                "matmul": {"m": MATMUL_LIMIT, "k": MATMUL_LIMIT, "n": MATMUL_LIMIT},
                "drain": {"rows": DRAIN_ROWS, "cols": DRAIN_COLS},
            }.get(cost.model, {})
            args = dict(cost.args)
            for arg, limit in limits.items():
                e = args[arg]
                if not isinstance(e, str):
                    found.setdefault((name, arg, limit), {})[e] = _column(evaluate(e, env), n)
    for (name, arg, limit), columns in found.items():
        values = np.stack(list(columns.values()))
        out = (values < 1) | (values > limit)

        def sentence(
            i: int, name: str = name, arg: str = arg, limit: int = limit, values: Any = values, out: Any = out
        ) -> str:
            value = int(values[np.argmax(out[:, i]), i])
            return f"{name}: {arg} = {value} is outside 1..{limit}; nearest legal: {min(max(value, 1), limit)}"

        yield RuleColumn(f"{name.lower()}-{arg}", out.any(axis=0), sentence)
