"""The pages of workloads: problem sizes, tunables with their domains, pipes and buffers, from the workloads."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from site_parts.markdown import code, docstring, prose, table

if TYPE_CHECKING:
    from pto_tune.model.expr import Expr
    from pto_tune.model.nodes import Parameter, Tunable, Workload

_MANY = 12
"""Values of a domain that are listed one by one."""


def names() -> list[str]:
    """The built-in workloads."""
    from pto_tune.workloads import workload_names

    return workload_names()


def overview() -> str:
    """All workloads with what can be set about them."""
    from pto_tune.workloads import workload

    rows = []
    for work in map(workload, names()):
        sizes, tunables = (" ".join(code(p.name) for p in some) for some in (work.problem, work.tunables))
        rows.append((f"[{code(work.name)}]({work.name}.md)", prose(work.doc), sizes, tunables))
    return table(("workload", "what it is", "problem sizes", "tunables"), rows)


def page(name: str) -> str:
    """One workload: what it assumes, and what can be set."""
    from pto_tune.workloads import workload

    work = workload(name)
    env = _defaults(work)
    module = import_module(f"pto_tune.workloads.{name}")
    parts = [
        f"# {name}",
        f"{prose(work.doc)}.",
        f"The same by the command: `pto-tune workloads show {name}`.",
        "## What it is",
        docstring(inspect.getdoc(module)),
        "## Problem sizes",
        table(("size", "default", "range", "meaning"), map(_size, work.problem)),
        "## Tunables",
        table(("tunable", "default", "values that are tried", "range", "meaning"), map(_tunable, work.tunables)),
        "## Pipes",
        _pipes(work, env) or "It has none.",
        "## Buffers",
        _buffers(work, env) or "It has none.",
        "## Rules of its own",
        _rules(work) or "It has none: those of hardware and library hold for every workload.",
    ]
    return "\n\n".join(parts)


def _defaults(work: Workload) -> Mapping[str, Any]:
    import numpy as np

    from pto_tune.lowering.columns import environment
    from pto_tune.table import check_values

    columns, n = check_values(work, {})
    return environment(work, {**columns, "block": np.zeros(n, dtype=np.int64)})


def _value(e: Expr, env: Mapping[str, Any]) -> int:
    import numpy as np

    from pto_tune.model.expr import evaluate

    return int(np.ravel(evaluate(e, env))[0])


def _label(p: Parameter | Tunable, value: int) -> str:
    from pto_tune.table import label

    return code(label(p, value))


def _range(p: Parameter | Tunable) -> str:
    if p.labels:
        return ", ".join(code(word) for word in p.labels if word)
    return f"{p.minimum:,} to {p.maximum:,}"


def _size(p: Parameter) -> tuple[str, ...]:
    return code(p.name), _label(p, p.default), _range(p), prose(p.doc)


def _tunable(t: Tunable) -> tuple[str, ...]:
    shown = ", ".join(_label(t, value) for value in t.domain[:_MANY])
    more = f" and {len(t.domain) - _MANY} more" if len(t.domain) > _MANY else ""
    return code(t.name), _label(t, t.default), shown + more, _range(t), prose(t.doc)


def _pipes(work: Workload, env: Mapping[str, Any]) -> str:
    from pto_tune.cli import text

    rows = [
        (
            code(f.name),
            f.kind,
            f"{code(f.direction)}{', in GM' if f.gm_form else ''}",
            str(f.flag_id),
            text.size(_value(f.slot_bytes, env)),
            str(_value(f.slot_num, env)),
            "yes" if _value(f.used, env) else "no",
        )
        for f in work.fifos
    ]
    titles = ("pipe", "kind", "direction", "FlagID", "slot", "slots", "used at the defaults")
    return table(titles, rows, right=("FlagID", "slot", "slots"))


def _buffers(work: Workload, env: Mapping[str, Any]) -> str:
    from pto_tune.cli import text

    found = [(b.name, b.core, b.memory, b.bytes, b.copies) for b in work.buffers]
    found += [(r.name, r.core, r.memory, r.bytes, r.slots) for r in work.rings]
    rows = [
        (code(name), core, memory, text.size(_value(size, env)), str(_value(copies, env)))
        for name, core, memory, size, copies in found
    ]
    return table(("buffer", "core", "memory", "bytes of a copy", "copies"), rows, right=("bytes of a copy", "copies"))


def _rules(work: Workload) -> str:
    return table(("rule", "what is said where it is broken"), ((code(r.name), prose(r.sentence)) for r in work.rules))
