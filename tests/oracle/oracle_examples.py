"""Tiny workloads on a platform with round numbers, so that a time can be worked out by hand."""

from typing import Any

from cost_models import Platform, load_platform
from pto_tune.model.expr import Expr, ExprLike, expr
from pto_tune.model.nodes import UP_DOWN, Buffer, Fifo, Launch, Node, Parameter, Ring, Workload

FREE: dict[str, float] = {
    "scalar.issue": 0,
    "flags.set": 0,
    "flags.wait": 0,
    "flags.cross_core_latency": 0,
    # a transfer takes 10 cycles and a cycle for every 64 bytes, and is visible at once
    "dma.gm_to_l1.startup": 10,
    "dma.gm_to_l1.burst": 0,
    "dma.gm_to_l1.rate": 64,
    "dma.gm_to_l1.latency": 0,
    # the same into UB, for tiles of any number of bytes
    "dma.gm_to_ub.startup": 10,
    "dma.gm_to_ub.burst": 0,
    "dma.gm_to_ub.rate": 64,
    "dma.gm_to_ub.latency": 0,
    # a drain takes 100 cycles and a cycle a row, and is visible at once
    "fixpipe.fixed": 100,
    "fixpipe.row": 1,
    "fixpipe.rate": 1e9,
    "fixpipe.odd_pass": 0,
    "fixpipe.gm_write_rate": 1e9,
    "fixpipe.latency": 0,
    # nothing is scarce
    "l2.bandwidth": 1e9,
    "l2.read_bandwidth": 1e9,
    "hbm.bandwidth": 1e9,
}


def platform(**values: float) -> Platform:
    """Synchronisation is free and capacities do not matter; `values` with `__` for a dot."""
    return load_platform("ascend910b2", FREE | {key.replace("__", "."): v for key, v in values.items()})


def buffer(name: str, copies: int = 1, core: str = "AIC") -> Buffer:
    return Buffer(name, core, "L1" if core == "AIC" else "UB", expr(32), expr(copies))


def fifo(
    name: str = "pipe",
    direction: str = "C2V",
    slots: int = 2,
    period: int = 0,
    *,
    split: int = UP_DOWN,
    local_slots: int = 2,
    kind: str = "TPipe",
    gm_form: bool = False,
    **numbers: ExprLike,
) -> Fifo:
    """`numbers`: any of the switches, `gated`, `used` and `is_no_split`."""
    more: dict[str, Any] = {key: expr(value) for key, value in numbers.items()}
    return Fifo(
        name, direction, expr(64), expr(slots), expr(period), expr(local_slots), expr(split), 0, expr(64),
        kind=kind, gm_form=gm_form, **more,
    )  # fmt: skip


def workload(
    aic: tuple[Node, ...] = (),
    aiv: tuple[Node, ...] = (),
    *,
    buffers: tuple[Buffer, ...] = (),
    fifos: tuple[Fifo, ...] = (),
    rings: tuple[Ring, ...] = (),
    derived: tuple[tuple[str, Expr], ...] = (),
    blocks: ExprLike = 1,
    varying: ExprLike = 0,
) -> Workload:
    """With one parameter, `n`, which is 3 unless a configuration says otherwise."""
    return Workload(
        name="example",
        doc="",
        problem=(Parameter("n", 3, ""),),
        tunables=(),
        buffers=buffers,
        fifos=fifos,
        rings=rings,
        programs=tuple((core, nodes) for core, nodes in (("AIC", aic), ("AIV", aiv)) if nodes),
        launch=Launch(expr(blocks), expr(varying)),
        derived=derived,
    )
