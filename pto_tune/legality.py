"""Legality: named rules, evaluated as columns for all configurations at once.

Every refusal says rule, value, limit and, where there is one, the nearest legal value. Capacities follow
common/buffer_limits.hpp of pto-isa; UB loses its top 8 KiB where the program uses an operation that writes the
library's scratch there (common/constants.hpp:29-30). Flag ids: F + 1 < 16 (npu/a2a3/TPush.hpp:43-44). TMATMUL m, k, n
in 1..4095 (npu/a2a3/TMatmul.hpp:101-106); the accumulator store takes 1..4095 columns and 1..8192 rows
(TStore.hpp:222-227).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from pto_tune.model.expr import Expr, evaluate
from pto_tune.model.nodes import Cost, Fifo, Instr, Loop, Node, Rule, Workload

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cost_models.platform import Platform
    from pto_tune.rule_sets import RuleSet

    Ints = NDArray[np.int64]

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


def _column(value: Any, n: int) -> Ints:
    import numpy as np

    return np.broadcast_to(np.asarray(value, dtype=np.int64), n)


def _workload_rules(workload: Workload, env: Mapping[str, Any], n: int) -> Iterator[RuleColumn]:
    for rule in workload.rules:
        ok = _column(evaluate(rule.ok, env), n)
        value, limit = _column(evaluate(rule.value, env), n), _column(evaluate(rule.limit, env), n)
        nearest = None if rule.nearest is None else _column(evaluate(rule.nearest, env), n)
        yield RuleColumn(rule.name, ok == 0, partial(_own_sentence, rule, value, limit, nearest))


def _own_sentence(rule: Rule, value: Ints, limit: Ints, nearest: Ints | None, i: int) -> str:
    near = None if nearest is None else int(nearest[i])
    text = rule.sentence.format(value=int(value[i]), limit=int(limit[i]), nearest=near)
    return text if near is None or "{nearest}" in rule.sentence else f"{text}; nearest legal: {near}"


def _pipes(workload: Workload, rule_set: RuleSet, env: Mapping[str, Any], n: int) -> Iterator[RuleColumn]:
    import numpy as np

    for f in workload.fifos:
        slots = _column(evaluate(f.slot_num, env), n)
        size, tile = _column(evaluate(f.slot_bytes, env), n), _column(evaluate(f.tile_bytes, env), n)
        yield RuleColumn(f"{f.name}-slot-num", slots < 1, partial(_slot_num_sentence, f, slots))
        yield RuleColumn(f"{f.name}-slot-size", size < tile, partial(_slot_size_sentence, f, size, tile))
        beyond = np.full(n, f.flag_id + 1 >= rule_set.flag_ids)
        yield RuleColumn(f"{f.name}-flag-id", beyond, partial(_flag_id_sentence, f, rule_set.flag_ids))


def _slot_num_sentence(fifo: Fifo, slots: Ints, i: int) -> str:
    return f"FIFO {fifo.name}: FifoDepth {int(slots[i])} is below 1; nearest legal: 1"


def _slot_size_sentence(fifo: Fifo, size: Ints, tile: Ints, i: int) -> str:
    return (
        f"FIFO {fifo.name}: a slot of {int(size[i])} bytes cannot hold a tile of {int(tile[i])}; "
        f"nearest legal: {int(tile[i])}"
    )


def _flag_id_sentence(fifo: Fifo, flag_ids: int, _: int) -> str:
    return (
        f"FIFO {fifo.name}: flag ids {fifo.flag_id} and {fifo.flag_id + 1} are not below {flag_ids}; "
        f"nearest legal FlagID: {flag_ids - 2}"
    )


def _capacities(workload: Workload, platform: Platform, env: Mapping[str, Any], n: int) -> Iterator[RuleColumn]:
    import numpy as np

    for memory in ("L1", "L0A", "L0B", "L0C", "UB"):
        parts = memory_parts(workload, memory, env, n)
        if not parts:
            continue
        limit = int(platform[f"memory.{memory.lower()}"])
        note = ""
        if memory == "UB" and workload.uses_ub_scratch:
            limit -= int(platform["memory.ub_scratch_top"])
            note = f" (the top {int(platform['memory.ub_scratch_top'])} are the library's scratch)"
        total: Ints = np.sum([size for _, size in parts], axis=0)
        has = f"{limit}{note}"
        yield RuleColumn(f"capacity-{memory}", total > limit, partial(_capacity_sentence, memory, parts, total, has))


def _capacity_sentence(memory: str, parts: list[tuple[str, Ints]], total: Ints, has: str, i: int) -> str:
    top = sorted(((int(s[i]), name) for name, s in parts), reverse=True)[:3]
    largest = ", ".join(f"{name} {size}" for size, name in top)
    return f"{memory} needs {int(total[i])} bytes and has {has}; largest: {largest}"


def memory_parts(workload: Workload, memory: str, env: Mapping[str, Any], n: int) -> list[tuple[str, Ints]]:
    """Bytes of every buffer and ring in a memory of one core: (name, column)."""
    parts = [(b.name, _column(evaluate(b.bytes * b.copies, env), n)) for b in workload.buffers if b.memory == memory]
    parts += [(r.name, _column(evaluate(r.bytes * r.slots, env), n)) for r in workload.rings if r.memory == memory]
    return parts


def _alignment(workload: Workload, platform: Platform, env: Mapping[str, Any], n: int) -> Iterator[RuleColumn]:
    align = int(platform["memory.align"])
    items = [("buffer", b.name, b.bytes) for b in workload.buffers]
    items += [("FIFO slot", f.name, f.slot_bytes) for f in workload.fifos]
    for kind, name, bytes_ in items:
        size = _column(evaluate(bytes_, env), n)
        yield RuleColumn(
            f"align-{name}", size % align != 0, partial(_alignment_sentence, f"{kind} {name}", size, align)
        )


def _alignment_sentence(what: str, size: Ints, align: int, i: int) -> str:
    return (
        f"{what}: {int(size[i])} bytes are not a multiple of {align}; "
        f"nearest legal: {-(-int(size[i]) // align) * align}"
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

    found: dict[tuple[str, str, int], dict[Expr, Ints]] = {}
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
        broken: NDArray[np.bool_] = np.logical_or.reduce(out, axis=0)
        yield RuleColumn(f"{name.lower()}-{arg}", broken, partial(_shape_sentence, name, arg, limit, values, out))


def _shape_sentence(name: str, arg: str, limit: int, values: Ints, out: NDArray[np.bool_], i: int) -> str:
    value = int(values[out[:, i].argmax(), i])
    return f"{name}: {arg} = {value} is outside 1..{limit}; nearest legal: {min(max(value, 1), limit)}"
