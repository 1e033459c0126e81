"""A bare stream of tiles through one FIFO, for studying a pipe by itself.

GlobalData: the producer computes (`producer_cycles`), waits for space, fills the slot (`store_cycles`), records; the
consumer waits, empties the slot (`load_cycles`), notifies, computes (`consumer_cycles`). With `hold` above 1 the
consumer notifies for so many tiles at once, after the load of the last of them. The pipes are the *_GM ones on 950.
TileData: TPUSH stores, TPOP loads, the consumer computes on the tile and calls TFREE behind that. Into a ring in UB or
L1 (950) nothing is loaded: `load_cycles` then stands for nothing, and the slot stays held while the consumer computes.
The cube core reads such a tile on MTE1, out of L1, so that is where its consumer computes.

Store and load default to the model's price of `slot_bytes`. A slot is taken as rows of 512 bytes, so a half by columns
(LEFT_RIGHT) moves in bursts of 256. Each side works in two tiles, whatever LocalSlotNum is: it never changes the time,
and below 2 the second tile of the TileData flow lands on the first (A2/A3).
"""

from __future__ import annotations

from dataclasses import replace

from pto_tune.model.expr import Expr, expr, maximum, minimum, name, where
from pto_tune.model.nodes import (
    LEFT_RIGHT,
    LEFT_RIGHT_ODD,
    NO_SPLIT,
    SPLITS,
    Buffer,
    Cost,
    Fifo,
    Instr,
    Launch,
    Node,
    Parameter,
    Tpop,
    Tpush,
    Tunable,
    Workload,
)
from pto_tune.model.vocabulary import (
    cycles,
    dma,
    drain,
    half_cols,
    half_rows,
    instr,
    loop,
    steady_loop,
    talloc,
    tfree,
    tile,
    tpipe,
    tpop,
    tpush,
    when,
)

TILES, SLOT, SPLIT, HOLD = name("tiles"), name("slot_bytes"), name("split"), name("hold")
ELEM = name("elem_bytes")
ROW = 128
"""Elements of a row of a tile."""
NO_CYCLES = -1
"""Value of store_cycles and load_cycles that stands for the model's price."""

_rows = maximum(SLOT // maximum(ROW * ELEM, 1), 1)
_cols = minimum(maximum(SLOT // maximum(ELEM, 1), 1), ROW)
_half = where(SPLIT.eq(NO_SPLIT), SLOT, maximum(SLOT // 2, 1))
_burst = where(SPLIT.eq(LEFT_RIGHT).or_(SPLIT.eq(LEFT_RIGHT_ODD)), ROW // 2 * ELEM, _half)
_part = (maximum(half_rows(_rows, SPLIT), 1), maximum(half_cols(_cols, SPLIT), 1))

C2V, V2C = name("direction").eq(1), name("direction").eq(2)
GLOBAL, TILE = name("flow").eq(0), name("flow").eq(1)
RUNS = where(name("sub").eq(1), name("second_sub_core"), 1)
"""Whether a sub-core takes part."""

Program = tuple[Node, ...]


def _priced(given: str, modelled: Instr | Tpush | Tpop) -> Program:
    """The instruction or TileData call at the given cycles, or at the model's price."""
    value = name(given)
    costs: tuple[Cost, ...] = (cycles(maximum(value, 0)),)
    if isinstance(modelled, Instr):
        fixed: Node = replace(modelled, costs=costs)
    else:
        assert modelled.tile is not None
        fixed = replace(modelled, tile=replace(modelled.tile, costs=costs))
    return when(value.lt(0), modelled), when(value.ge(0), fixed)


def _holding(fifo: str, load: Program, compute: Node, tiles: Expr) -> Program:
    """`tiles` tiles (at least one) popped and emptied, then freed together."""
    one = (tpop(fifo), *load)
    return loop(tiles - 1, *one, compute), *one, loop(tiles, tfree(fifo)), compute


def _producer(fifo: str, pipe: str, store_pipe: str, store: Cost, buffer: str, kind: str) -> tuple[Program, Program]:
    """One tile in the GlobalData and in the TileData flow."""
    compute = instr("COMPUTE", pipe, cycles(name("producer_cycles")), acquires=[buffer], publishes=[buffer])
    rows, cols = (_rows, _cols) if kind == "Acc" else _part
    stored = instr("TSTORE", store_pipe, store, takes=[buffer], releases=[buffer], writes=[fifo])
    pushed = tpush(f"{fifo}_tiles", tile(kind, rows, cols, ELEM, takes=[buffer], releases=[buffer]))
    return (
        (compute, talloc(fifo), *_priced("store_cycles", stored), tpush(fifo)),
        (compute, *_priced("store_cycles", pushed)),
    )


def _consumer(
    fifo: str, pipe: str, tile_pipe: str, load: Cost, buffer: str, kind: str
) -> tuple[Program, Program, Program]:
    """`hold` tiles in the GlobalData flow, what they leave over at the end, one tile in the TileData flow."""
    compute = instr("COMPUTE", pipe, cycles(name("consumer_cycles")), takes=[buffer], releases=[buffer])
    rows, cols = _part if kind == "Vec" else (_rows, _cols)
    loaded = instr("TLOAD", "MTE2", load, acquires=[buffer], publishes=[buffer], reads=[fifo])
    popped = tpop(f"{fifo}_tiles", tile(kind, rows, cols, ELEM, acquires=[buffer], publishes=[buffer]))
    load_one, rest = _priced("load_cycles", loaded), TILES % HOLD
    return (
        _holding(fifo, load_one, compute, HOLD),
        (when(rest.gt(0), *_holding(fifo, load_one, compute, rest)),),
        (
            *_priced("load_cycles", popped),
            replace(compute, pipe=tile_pipe, reads=(f"{fifo}_tiles",)),
            tfree(f"{fifo}_tiles", tile=True),
        ),
    )


def _fifo(fifo: str, direction: str, flag_id: int, used: Expr, gm_form: bool) -> Fifo:
    allocate, free = name("allocate"), name("free")
    return tpipe(fifo, direction, SLOT, flag_id, used=used, gm_form=gm_form, allocate=allocate, free=free)


def _programs() -> tuple[tuple[str, Program], ...]:
    rows_of_l0c = drain(_rows, _cols, ELEM)
    c2v_push, c2v_tpush = _producer("c2v", "M", "FIX", rows_of_l0c, "out_l0c", "Acc")
    c2v_pop, c2v_rest, c2v_tpop = _consumer("c2v", "V", "V", dma("gm_to_ub", _half, _burst), "in_ub", "Vec")
    v2c_push, v2c_tpush = _producer("v2c", "V", "MTE3", dma("ub_to_gm", _half, _burst), "out_ub", "Vec")
    v2c_pop, v2c_rest, v2c_tpop = _consumer("v2c", "M", "MTE1", dma("gm_to_l1", SLOT, SLOT), "in_l1", "Mat")

    def core(c2v: Program, c2v_tile: Program, v2c: Program, v2c_tile: Program) -> Program:
        return (
            when(C2V.and_(GLOBAL), *c2v),
            when(C2V.and_(TILE), *c2v_tile),
            when(V2C.and_(GLOBAL), *v2c),
            when(V2C.and_(TILE), *v2c_tile),
        )

    held = TILES // HOLD
    return (
        ("AIC", (
            steady_loop(where(V2C.and_(GLOBAL), held, TILES), *core(c2v_push, c2v_tpush, v2c_pop, v2c_tpop)),
            when(V2C.and_(GLOBAL), *v2c_rest),
        )),
        ("AIV", (
            steady_loop(where(C2V.and_(GLOBAL), held, TILES) * RUNS, *core(c2v_pop, c2v_tpop, v2c_push, v2c_tpush)),
            when(C2V.and_(GLOBAL).and_(RUNS), *c2v_rest),
        )),
    )  # fmt: skip


def build() -> Workload:
    on_off = ("off", "on")
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
            Parameter("flow", 0, "GlobalData (0) or TileData (1)", 0, 1, ("GlobalData", "TileData")),
            Parameter("allocate", 1, "whether the producer waits for space (setAllocateStatus)", 0, 1, on_off),
            Parameter("free", 1, "whether the consumer notifies free space (setFreeStatus)", 0, 1, on_off),
            Parameter("second_sub_core", 1, "0 leaves AIV1 out of the calls", 0, 1, on_off),
            Parameter("elem_bytes", 4, "bytes of an element in the FIFO (of 128 in a row)", 1, 4),
            Parameter("hold", 1, "tiles that a GlobalData consumer holds and frees together", 1, 255),
        ),
        tunables=(
            Tunable("fifo_depth", (1, 2, 3, 4, 6, 8, 10, 12, 14), 8, "FifoDepth (SlotNum)", 1, 255),
            Tunable("sync_period", (0, 1, 2, 4, 8), 0, "SyncPeriod; 0: derived from FifoDepth", 0, 255),
            Tunable("local_slot_num", (2,), 2, "LocalSlotNum: tiles of the consumer in UB or L1", 1, 64),
            Tunable("split", (0, 1, 2), 1, "TileSplitAxis between the two vector sub-cores", 0, 4, SPLITS),
        ),
        buffers=(
            # the tiles that a TileData consumer pops lie in the pipe's own local memory
            Buffer("out_l0c", "AIC", "L0C", where(C2V, SLOT, 0), expr(2)),
            Buffer("in_l1", "AIC", "L1", where(V2C.and_(GLOBAL), SLOT, 0), expr(2)),
            Buffer("in_ub", "AIV", "UB", where(C2V.and_(GLOBAL), _half, 0), expr(2)),
            Buffer("out_ub", "AIV", "UB", where(V2C, _half, 0), expr(2)),
        ),
        fifos=(
            _fifo("c2v", "C2V", 0, C2V.and_(GLOBAL), gm_form=True),
            _fifo("v2c", "V2C", 2, V2C.and_(GLOBAL), gm_form=True),
            _fifo("c2v_tiles", "C2V", 4, C2V.and_(TILE), gm_form=False),
            _fifo("v2c_tiles", "V2C", 6, V2C.and_(TILE), gm_form=False),
        ),
        programs=_programs(),
        launch=Launch(blocks=expr(1)),
    )
