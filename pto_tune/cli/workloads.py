"""`pto-tune workloads`: which kernels are known, and what can be set about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pto_tune.cli import options, output, text

if TYPE_CHECKING:
    from pto_tune.model.expr import Expr
    from pto_tune.model.nodes import Fifo, Parameter, Tunable, Workload


def register(app: typer.Typer) -> None:
    """Add the command group `workloads` to `app`."""
    group = typer.Typer(rich_markup_mode=None)
    group.callback(invoke_without_command=True)(workloads)
    group.command(name="list", short_help="The built-in workloads.")(list_workloads)
    group.command(name="show", short_help="Problem sizes, tunables, FIFOs and buffers of one.")(show)
    app.add_typer(group, name="workloads", short_help="The kernels: list, show what can be set.")


def workloads(ctx: typer.Context, as_json: options.Json = False) -> None:
    """The kernels that pto-tune knows: list them, show what can be set about one.

    \b
    Example:
      pto-tune workloads
      pto-tune workloads show flash_attention
    """
    if ctx.invoked_subcommand is None:
        list_workloads(as_json)
    else:
        options.options_follow_the_command(ctx)


def list_workloads(as_json: options.Json = False) -> None:
    """List the built-in workloads.

    \b
    Example:
      pto-tune workloads list --json
    """
    from pto_tune.workloads import workload, workload_names

    found = [workload(name) for name in workload_names()]
    if as_json:
        output.as_json(
            [
                {
                    "name": w.name,
                    "doc": w.doc,
                    "problem": [p.name for p in w.problem],
                    "tunables": [t.name for t in w.tunables],
                }
                for w in found
            ]
        )
        return
    output.table(["name", "what it is"], ([w.name, w.doc] for w in found))


def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A workload's name, or the path of a workload's JSON.")],
    as_json: options.Json = False,
) -> None:
    """Show a workload: problem sizes, tunables with their domains and meaning, FIFOs, buffers.

    --json prints the whole workload in the form that other commands read as a file, programs included.

    \b
    Example:
      pto-tune workloads show flash_attention
      pto-tune workloads show gemm --json > my-kernel.json
    """
    model = options.workload_named(name)
    if as_json:
        from pto_tune.model.serial import to_dict

        output.as_json(to_dict(model))
        return
    output.say(f"{model.name}: {model.doc}")
    output.heading("Problem sizes")
    output.table(
        ["name", "default", "from", "to", "meaning"],
        ([p.name, _label(p, p.default), p.minimum, p.maximum, p.doc] for p in model.problem),
        right=["from", "to"],
    )
    output.heading("Tunables")
    output.table(
        ["name", "default", "domain", "meaning"],
        ([t.name, _label(t, t.default), _domain(t), t.doc] for t in model.tunables),
    )
    _memories(model)


def _memories(model: Workload) -> None:
    env = _defaults(model)
    fifos = [f for f in model.fifos if _value(f.used, env)]
    if fifos:
        output.heading("FIFOs (at the defaults)")
        output.table(
            ["name", "kind", "direction", "flag id", "slot", "slots"],
            (
                [f.name, f.kind, _direction(f), f.flag_id, _size(f.slot_bytes, env), _value(f.slot_num, env)]
                for f in fifos
            ),
            right=["flag id", "slot", "slots"],
        )
    output.heading("Buffers (at the defaults)")
    rows: list[list[object]] = [
        [b.name, b.core, b.memory, _size(b.bytes, env), _value(b.copies, env)] for b in model.buffers
    ]
    rows += [[r.name, r.core, r.memory, _size(r.bytes, env), _value(r.slots, env)] for r in model.rings]
    used = [row for row in rows if row[3] != text.size(0)]
    if used or not model.has_ranks:
        output.table(["name", "core", "memory", "bytes", "copies"], used, right=["bytes", "copies"])
    else:
        output.say("none")
    if model.has_ranks:
        _ranks(model, env)


def _ranks(model: Workload, env: dict[str, Any]) -> None:
    blocks = _value(model.launch.blocks, env)
    output.heading(f"Ranks (at the defaults): {_value(model.ranks, env)}, of {blocks} blocks each")
    output.table(
        ["staging tile", "rows", "cols", "element", "in UB at"],
        (
            [
                s.name, _value(s.rows, env), _value(s.cols, env), s.elem,
                "beside the rest" if s.offset_bytes is None else _value(s.offset_bytes, env),
            ]
            for s in model.staging if _value(s.used, env)
        ),
        right=["rows", "cols"],
    )  # fmt: skip
    if model.signals:
        output.say()
        output.table(
            ["signal", "elements", "type"],
            ([s.name, " x ".join(str(_value(d, env)) for d in s.dims), s.elem] for s in model.signals),
        )


def _defaults(model: Workload) -> dict[str, Any]:
    import numpy as np

    from pto_tune.lowering.columns import environment
    from pto_tune.table import check_values

    columns, n = check_values(model, {})
    return environment(model, {**columns, "block": np.zeros(n, dtype=np.int64)})


def _direction(fifo: Fifo) -> str:
    return f"{fifo.direction}, in GM" if fifo.gm_form else fifo.direction


def _value(e: Expr, env: dict[str, Any]) -> int:
    import numpy as np

    from pto_tune.model.expr import evaluate

    return int(np.ravel(evaluate(e, env))[0])


def _size(e: Expr, env: dict[str, Any]) -> str:
    return text.size(_value(e, env))


def _label(p: Parameter | Tunable, value: int) -> int | str:
    from pto_tune.table import label

    return label(p, value)


def _domain(t: Tunable) -> str:
    return " ".join(str(_label(t, value)) for value in t.domain)
