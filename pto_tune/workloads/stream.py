"""A bare stream of tiles through one FIFO, for studying a pipe by itself.

The producer computes (`producer_cycles`), waits for space, fills the slot (`store_cycles`), records; the consumer
waits, empties the slot (`load_cycles`), notifies, computes (`consumer_cycles`). Store and load default to the model's
price of `slot_bytes`. A slot is taken as rows of 512 bytes, so a half by columns (LEFT_RIGHT) moves in bursts of 256.
"""

from __future__ import annotations

from dataclasses import replace

from pto_tune.model.expr import Expr, expr, maximum, minimum, name, where
from pto_tune.model.nodes import SPLITS, Buffer, Fifo, Instr, Launch, Node, Parameter, Tunable, Workload
from pto_tune.model.vocabulary import (
    cycles,
    dma,
    drain,
    instr,
    steady_loop,
    talloc,
    tfree,
    tpop,
    tpush,
    when,
)

TILES, SLOT, SPLIT = name("tiles"), name("slot_bytes"), name("split")
ROW_BYTES = 512
NO_CYCLES = -1
"""Value of store_cycles and load_cycles that stands for the model's price."""

_half = where(SPLIT.eq(SPLITS.index("NO_SPLIT")), SLOT, maximum(SLOT // 2, 1))
_burst = where(SPLIT.eq(SPLITS.index("LEFT_RIGHT")), expr(ROW_BYTES // 2), _half)


def _priced(given: str, modelled: Instr) -> tuple[Node, ...]:
    """The instruction at the given cycles, or at the model's price."""
    value = name(given)
    return (
        when(value.lt(0), modelled),
        when(value.ge(0), replace(modelled, costs=(cycles(maximum(value, 0)),))),
    )


def _c2v() -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    store = drain(maximum(SLOT // ROW_BYTES, 1), minimum(maximum(SLOT // 4, 1), ROW_BYTES // 4), 4)
    load = dma("gm_to_ub", _half, _burst)
    cube = (
        instr("COMPUTE", "M", cycles(name("producer_cycles")), acquires=["out_l0c"], publishes=["out_l0c"]),
        talloc("c2v"),
        *_priced(
            "store_cycles",
            instr("TSTORE", "FIX", store, takes=["out_l0c"], releases=["out_l0c"], writes=["c2v"]),
        ),
        tpush("c2v"),
    )
    vec = (
        tpop("c2v"),
        *_priced(
            "load_cycles",
            instr("TLOAD", "MTE2", load, acquires=["in_ub"], publishes=["in_ub"], reads=["c2v"]),
        ),
        tfree("c2v"),
        instr("COMPUTE", "V", cycles(name("consumer_cycles")), takes=["in_ub"], releases=["in_ub"]),
    )
    return cube, vec


def _v2c() -> tuple[tuple[Node, ...], tuple[Node, ...]]:
    store, load = dma("ub_to_gm", _half, _burst), dma("gm_to_l1", SLOT, SLOT)
    cube = (
        tpop("v2c"),
        *_priced(
            "load_cycles",
            instr("TLOAD", "MTE2", load, acquires=["in_l1"], publishes=["in_l1"], reads=["v2c"]),
        ),
        tfree("v2c"),
        instr("COMPUTE", "M", cycles(name("consumer_cycles")), takes=["in_l1"], releases=["in_l1"]),
    )
    vec = (
        instr("COMPUTE", "V", cycles(name("producer_cycles")), acquires=["out_ub"], publishes=["out_ub"]),
        talloc("v2c"),
        *_priced(
            "store_cycles",
            instr("TSTORE", "MTE3", store, takes=["out_ub"], releases=["out_ub"], writes=["v2c"]),
        ),
        tpush("v2c"),
    )
    return cube, vec


def _fifo(fifo: str, direction: str, flag_id: int, used: Expr) -> Fifo:
    return Fifo(
        name=fifo,
        direction=direction,
        slot_bytes=SLOT,
        slot_num=name("fifo_depth"),
        sync_period=name("sync_period"),
        local_slot_num=name("local_slot_num"),
        split=SPLIT,
        flag_id=flag_id,
        tile_bytes=SLOT,
        slot_num_name="fifo_depth",
        sync_period_name="sync_period",
        used=used,
    )


def build() -> Workload:
    c2v: Expr = name("direction").eq(1)
    v2c: Expr = name("direction").eq(2)
    (c2v_cube, c2v_vec), (v2c_cube, v2c_vec) = _c2v(), _v2c()
    return Workload(
        name="stream",
        doc="One FIFO between the cube core and the vector sub-cores, n tiles of b bytes",
        problem=(
            Parameter("direction", 1, "C2V (1) or V2C (2)", 1, 2, ("", "C2V", "V2C")),
            Parameter("tiles", 64, "tiles pushed"),
            Parameter("slot_bytes", 32768, "bytes of a slot (SlotSize)", 32, 2**24),
            Parameter("producer_cycles", 0, "compute before the space wait", 0, 2**24),
            Parameter("store_cycles", NO_CYCLES, "filling the slot; -1: the model's price", NO_CYCLES, 2**24),
            Parameter("load_cycles", NO_CYCLES, "emptying the slot; -1: the model's price", NO_CYCLES, 2**24),
            Parameter("consumer_cycles", 0, "compute after the slot is emptied", 0, 2**24),
        ),
        tunables=(
            Tunable("fifo_depth", (1, 2, 3, 4, 6, 8, 10, 12, 14), 8, "FifoDepth (SlotNum)", 1, 255),
            Tunable("sync_period", (0, 1, 2, 4, 8), 0, "SyncPeriod; 0: derived from FifoDepth", 0, 255),
            Tunable("local_slot_num", (2,), 2, "LocalSlotNum: tiles of the consumer in UB or L1", 1, 64),
            Tunable("split", (0, 1, 2), 1, "TileSplitAxis between the two vector sub-cores", 0, 2, SPLITS),
        ),
        buffers=(
            Buffer("out_l0c", "AIC", "L0C", where(c2v, SLOT, 0), expr(2)),
            Buffer("in_l1", "AIC", "L1", where(v2c, SLOT, 0), expr(2)),
            Buffer("in_ub", "AIV", "UB", where(c2v, _half, 0), expr(2)),
            Buffer("out_ub", "AIV", "UB", where(v2c, _half, 0), expr(2)),
        ),
        fifos=(_fifo("c2v", "C2V", 0, c2v), _fifo("v2c", "V2C", 2, v2c)),
        programs=(
            ("AIC", (steady_loop(TILES, when(c2v, *c2v_cube), when(v2c, *v2c_cube)),)),
            ("AIV", (steady_loop(TILES, when(c2v, *c2v_vec), when(v2c, *v2c_vec)),)),
        ),
        launch=Launch(blocks=expr(1)),
    )
