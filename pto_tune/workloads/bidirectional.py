"""One pipe both ways: O = f(Q x K^T) x V with f value by value (SiLU attention, without a softmax), TileData.

The cube core pushes a product of `tile_m` x `tile_n` (fp32), the vector sub-cores apply f and push the result (16 bit)
back on the same DIR_BOTH pipe, and the cube core multiplies again and adds up in L0C; the first product runs `preload`
tiles ahead. Both ways share FifoDepth and SlotSize, which is that of the larger tile; a pipe takes four flag ids, and
in GM 2 x SlotNum x SlotSize bytes.

Facts from hw-native-sys/pto-isa tests/npu/{a2a3,a5}/src/st/testcase/tpushpop_dir_both: one TPipe with one SlotSize for
both ways, UP_DOWN or LEFT_RIGHT, the popped tile moved to L0 before TFREE and the matmul behind it, TFREE of the vector
behind its operation (there the vector pushes first and nothing runs ahead).
Assumed: the five vector operations of f; inputs in L2; one accumulator for each product; L0A and L0B ping-pong.
"""

from __future__ import annotations

from pto_tune.model.expr import ceildiv, expr, maximum, minimum, name, nearest_multiple
from pto_tune.model.nodes import SPLITS, Buffer, Launch, Node, Parameter, Rule, Tunable, Workload
from pto_tune.model.vocabulary import (
    dma,
    drain,
    half_cols,
    half_rows,
    instr,
    loop,
    matmul,
    steady_loop,
    sync,
    tfree,
    tile,
    tpipe,
    tpop,
    tpush,
    vector,
)

ROWS, KEYS, HEAD = name("rows"), name("keys"), name("head")
TILE_M, TILE_N, SPLIT = name("tile_m"), name("tile_n"), name("split")
TILES, AHEAD = name("tiles"), name("ahead")
PART_M, PART_N = half_rows(TILE_M, SPLIT), half_cols(TILE_N, SPLIT)
PART = ceildiv(TILE_M * TILE_N, minimum(SPLIT, 1) + 1)
"""Elements of the larger part of a sub-core."""


def _first_product() -> tuple[Node, ...]:
    a, b = TILE_M * HEAD * 2, TILE_N * HEAD * 2
    return (
        instr("TLOAD", "MTE2", dma("gm_to_l1", b, b), acquires=["k_l1"], publishes=["k_l1"]),
        instr("TMOV", "MTE1", dma("l1_to_l0a", a, a), acquires=["l0a"], publishes=["l0a"]),
        instr("TMOV", "MTE1", dma("l1_to_l0b", b, b), takes=["k_l1"], acquires=["l0b"], publishes=["l0b"],
              releases=["k_l1"]),
        instr("TMATMUL", "M", matmul(TILE_M, HEAD, TILE_N), takes=["l0a", "l0b"], acquires=["s_acc"],
              releases=["l0a", "l0b"], publishes=["s_acc"]),
        tpush("both", tile("Acc", TILE_M, TILE_N, 4, takes=["s_acc"], releases=["s_acc"])),
    )  # fmt: skip


def _second_product() -> tuple[Node, ...]:
    a, b = TILE_M * TILE_N * 2, TILE_N * HEAD * 2
    return (
        instr("TLOAD", "MTE2", dma("gm_to_l1", b, b), acquires=["v_l1"], publishes=["v_l1"]),
        tpop("both", tile("Mat", TILE_M, TILE_N, 2, acquires=["f_l1"], publishes=["f_l1"])),
        instr("TMOV", "MTE1", dma("l1_to_l0a", a, a), takes=["f_l1"], acquires=["l0a"], publishes=["l0a"],
              releases=["f_l1"], reads=["both"]),
        tfree("both", tile=True),
        instr("TMOV", "MTE1", dma("l1_to_l0b", b, b), takes=["v_l1"], acquires=["l0b"], publishes=["l0b"],
              releases=["v_l1"]),
        instr("TMATMUL", "M", matmul(TILE_M, TILE_N, HEAD), takes=["l0a", "l0b"], releases=["l0a", "l0b"]),
    )  # fmt: skip


def _cube() -> tuple[Node, ...]:
    q = TILE_M * HEAD * 2
    return (
        instr("TLOAD", "MTE2", dma("gm_to_l1", q, q), event="q_loaded"),
        instr("TSYNC", "MTE1", waits=["q_loaded"]),
        sync("M", acquires=["o_acc"]),
        loop(AHEAD, *_first_product()),
        steady_loop(TILES - AHEAD, *_first_product(), *_second_product()),
        loop(AHEAD, *_second_product()),
        sync("M", publishes=["o_acc"]),
        instr("TSTORE", "FIX", drain(TILE_M, HEAD, 4, TILE_M * HEAD * 4), takes=["o_acc"], releases=["o_acc"]),
    )


def _vec() -> tuple[Node, ...]:
    r, c = PART_M, PART_N
    silu = (vector("muls", r, c), vector("exp", r, c), vector("adds", r, c), vector("div", r, c), vector("cvt", r, c))
    return (
        steady_loop(
            TILES,
            tpop("both", tile("Vec", r, c, 4, acquires=["s_ub"], publishes=["s_ub"])),
            instr("SILU", "V", *silu, takes=["s_ub"], acquires=["f_ub"], releases=["s_ub"], publishes=["f_ub"],
                  reads=["both"]),
            tfree("both", tile=True),
            tpush("both", tile("Vec", r, c, 2, takes=["f_ub"], releases=["f_ub"])),
        ),
    )  # fmt: skip


def build() -> Workload:
    local, slot = name("local_slot_num"), TILE_M * TILE_N * 4
    return Workload(
        name="bidirectional",
        doc="O = f(Q x K^T) x V through one DIR_BOTH pipe: product to the vector sub-cores, f, back to the cube",
        problem=(
            Parameter("rows", 4096, "rows of Q", 16),
            Parameter("keys", 4096, "rows of K and V", 16),
            Parameter("head", 128, "columns of Q, K and V", 16, 512),
        ),
        tunables=(
            Tunable("tile_m", (32, 64, 128), 128, "rows of Q that one block works on", 16, 4095),
            Tunable("tile_n", (32, 64, 128), 64, "rows of K and V a tile", 16, 4095),
            Tunable("preload", (1, 2, 3, 4), 2, "tiles that the first product runs ahead of the second", 1, 64),
            Tunable("fifo_depth", (1, 2, 3, 4, 6, 8), 4, "FifoDepth of the pipe, both ways", 1, 255),
            Tunable("sync_period", (0,), 0, "SyncPeriod of the pipe; 0: derived from FifoDepth", 0, 255),
            Tunable("local_slot_num", (2,), 2, "LocalSlotNum: popped tiles in UB and L1 (A2/A3)", 1, 64),
            Tunable("split", (0, 1, 2), 1, "TileSplitAxis between the two vector sub-cores", 0, 2, SPLITS[:3]),
        ),
        derived=(
            ("tiles", ceildiv(KEYS, TILE_N)),
            ("ahead", minimum(name("preload"), TILES)),
        ),
        buffers=(
            Buffer("q_l1", "AIC", "L1", TILE_M * HEAD * 2, expr(1)),
            Buffer("k_l1", "AIC", "L1", TILE_N * HEAD * 2, expr(2)),
            Buffer("v_l1", "AIC", "L1", TILE_N * HEAD * 2, expr(2)),
            Buffer("l0a", "AIC", "L0A", TILE_M * maximum(HEAD, TILE_N) * 2, expr(2)),
            Buffer("l0b", "AIC", "L0B", TILE_N * HEAD * 2, expr(2)),
            Buffer("s_acc", "AIC", "L0C", slot, expr(1)),
            Buffer("o_acc", "AIC", "L0C", TILE_M * HEAD * 4, expr(1)),
            Buffer("f_ub", "AIV", "UB", PART * 2, expr(2)),
            Buffer("work_ub", "AIV", "UB", PART * 4, expr(1)),
            # popped tiles: their bytes are the pipe's own local memory
            Buffer("f_l1", "AIC", "L1", expr(0), local),
            Buffer("s_ub", "AIV", "UB", expr(0), local),
        ),
        fifos=(tpipe("both", "BOTH", slot, 0),),
        programs=(("AIC", _cube()), ("AIV", _vec())),
        launch=Launch(blocks=ceildiv(ROWS, TILE_M)),
        l2_footprint=(ROWS + 2 * KEYS) * HEAD * 2,
        rules=(
            Rule("rows-divisible", (ROWS % TILE_M).eq(0), "rows = {value} is not a multiple of tile_m = {limit}",
                 ROWS, TILE_M, nearest_multiple(ROWS, TILE_M)),
            Rule("keys-divisible", (KEYS % TILE_N).eq(0), "keys = {value} is not a multiple of tile_n = {limit}",
                 KEYS, TILE_N, nearest_multiple(KEYS, TILE_N)),
            Rule("fractal", (TILE_M % 16 + TILE_N % 16 + HEAD % 16).eq(0),
                 "tile_m, tile_n and head have to be multiples of {limit} (off by {value} in all)",
                 TILE_M % 16 + TILE_N % 16 + HEAD % 16, expr(16)),
        ),
    )  # fmt: skip
