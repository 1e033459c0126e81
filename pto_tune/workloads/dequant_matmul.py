"""C = A x dequant(W): the vector sub-cores turn int8 or int4 weights into fp16 tiles for the cube core (V2C, TileData).

A block makes `tile_m` x `tile_n` of C. For each `tile_k` rows of W the sub-cores load weights and scales, dequantise
(one scale and one offset a column for `group` rows) and push an fp16 tile; the cube core loads the activations from GM,
pops the weights and adds up in L0C, which leaves once, at the end. A2/A3: the fp16 weights go through a ring in GM and
come back into L1; Ascend 950: straight into a ring in L1, where TFREE behind the last move to L0B frees the slot.

Facts from hw-native-sys/pto-isa tests/npu/{a2a3,a5}/src/st/testcase/tpushpop_vc: each sub-core dequantises its half of
the rows of a K tile, loads in front of that, activations loaded before the TPOP, both moved to L0, product added up
over the K tiles and stored at the end; FIFO depth 2 there.
Assumed: dequantising is a conversion to fp16, an offset and a scale, int4 unpacked by one conversion more; weights and
scales come from HBM once for all that load them, activations from L2; each stage works in two tiles.
"""

from __future__ import annotations

from pto_tune.model.expr import Expr, ceildiv, expr, maximum, minimum, name, nearest_multiple, where
from pto_tune.model.nodes import (
    LEFT_RIGHT,
    NO_SPLIT,
    SPLITS,
    UP_DOWN,
    Buffer,
    Cost,
    Launch,
    Node,
    Parameter,
    Rule,
    Tunable,
    Workload,
)
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
    when,
)

M, K, N, GROUP = name("m"), name("k"), name("n"), name("group")
TILE_M, TILE_K, TILE_N, CUBE_K = name("tile_m"), name("tile_k"), name("tile_n"), name("cube_k")
SPLIT, INT4 = name("split"), name("weights").eq(1)
PART_K, PART_N = half_rows(TILE_K, SPLIT), half_cols(TILE_N, SPLIT)
PART, SCALES = name("part"), name("scales")
SCALE_BYTES = 2

DERIVED = (
    ("k_tiles", ceildiv(K, TILE_K)),
    ("m_tiles", ceildiv(M, TILE_M)),
    ("part", ceildiv(TILE_K * TILE_N, minimum(SPLIT, 1) + 1)),
    # rows of scales, and as many of offsets, that a sub-core needs for a tile
    ("scales", maximum(ceildiv(where(SPLIT.eq(UP_DOWN), TILE_K // 2, TILE_K), GROUP), 1)),
)


def _vec() -> tuple[Node, ...]:
    r, c = PART_K, PART_N
    nbytes, burst = ceildiv(r * c, INT4 + 1), ceildiv(where(SPLIT.eq(LEFT_RIGHT), c, r * c), INT4 + 1)
    factors = SCALES * c * SCALE_BYTES
    offset_and_scale = (vector("sub", r, c, 2), vector("mul", r, c, 2))
    convert = vector("cvt", r, c, 2)

    def load(nbytes_: Expr, burst_: Expr) -> Cost:
        loads = name("m_tiles") * where(SPLIT.eq(NO_SPLIT), 2, 1)
        return dma("gm_to_ub", nbytes_, burst_, nbytes_ // loads)

    def dequantise(*costs: Cost) -> Node:
        return instr("TDEQUANT", "V", *costs, takes=["w_ub"], acquires=["f_ub"], releases=["w_ub"],
                     publishes=["f_ub"])  # fmt: skip

    return (
        steady_loop(
            name("k_tiles"),
            instr("TLOAD", "MTE2", load(nbytes, burst), acquires=["w_ub"]),
            instr("TLOAD", "MTE2", load(factors, c * SCALE_BYTES)),
            instr("TLOAD", "MTE2", load(factors, c * SCALE_BYTES), publishes=["w_ub"]),
            when(INT4.eq(0), dequantise(convert, *offset_and_scale)),
            when(INT4, dequantise(convert, convert, *offset_and_scale)),
            tpush("w", tile("Vec", r, c, 2, takes=["f_ub"], releases=["f_ub"])),
        ),
    )


def _cube() -> tuple[Node, ...]:
    a, a_part, w_part = TILE_M * TILE_K * 2, TILE_M * CUBE_K * 2, CUBE_K * TILE_N * 2
    c = TILE_M * TILE_N * 4
    return (
        sync("M", acquires=["acc"]),
        steady_loop(
            name("k_tiles"),
            instr("TLOAD", "MTE2", dma("gm_to_l1", a, TILE_K * 2), acquires=["a_l1"], publishes=["a_l1"]),
            tpop("w", tile("Mat", TILE_K, TILE_N, 2, acquires=["w_l1"], publishes=["w_l1"])),
            sync("MTE1", takes=["a_l1", "w_l1"]),
            loop(
                TILE_K // maximum(CUBE_K, 1),
                instr("TMOV", "MTE1", dma("l1_to_l0a", a_part, a_part), acquires=["l0a"], publishes=["l0a"]),
                instr("TMOV", "MTE1", dma("l1_to_l0b", w_part, w_part), acquires=["l0b"], publishes=["l0b"],
                      reads=["w"]),
                instr("TMATMUL", "M", matmul(TILE_M, CUBE_K, TILE_N), takes=["l0a", "l0b"],
                      releases=["l0a", "l0b"]),
            ),
            sync("MTE1", releases=["a_l1", "w_l1"]),
            tfree("w", tile=True),
        ),
        sync("M", publishes=["acc"]),
        instr("TSTORE", "FIX", drain(TILE_M, TILE_N, 4, c), takes=["acc"], releases=["acc"]),
    )  # fmt: skip


def build() -> Workload:
    local, slot = name("local_slot_num"), TILE_K * TILE_N * 2
    return Workload(
        name="dequant_matmul",
        doc="C = A x dequant(W): int8 or int4 weights dequantised by the vector sub-cores, pushed to the cube core",
        problem=(
            Parameter("m", 64, "rows of A and C: tokens", 16),
            Parameter("k", 4096, "columns of A, rows of W", 16),
            Parameter("n", 12288, "columns of W and C", 16),
            Parameter("weights", 0, "type of the weights", 0, 1, ("int8", "int4")),
            Parameter("group", 128, "rows of W that share a scale and an offset", 16),
        ),
        tunables=(
            Tunable("tile_m", (16, 32, 64), 64, "rows of C that one block makes", 16, 4095),
            Tunable("tile_n", (64, 128, 256), 128, "columns of C that one block makes", 16, 4095),
            Tunable("tile_k", (64, 128, 256), 128, "rows of W in a FIFO tile", 16, 4096),
            Tunable("cube_k", (64, 128), 64, "K of one TMATMUL", 16, 4095),
            Tunable("fifo_depth", (1, 2, 3, 4, 6, 8), 4, "FifoDepth of the pipe", 1, 255),
            Tunable("sync_period", (0,), 0, "SyncPeriod of the pipe; 0: derived from FifoDepth", 0, 255),
            Tunable("local_slot_num", (2,), 2, "LocalSlotNum: popped tiles in L1 (A2/A3)", 1, 64),
            Tunable("split", (0, 1, 2), 1, "TileSplitAxis between the two vector sub-cores", 0, 2, SPLITS[:3]),
        ),
        derived=DERIVED,
        buffers=(
            Buffer("a_l1", "AIC", "L1", TILE_M * TILE_K * 2, expr(2)),
            Buffer("l0a", "AIC", "L0A", TILE_M * CUBE_K * 2, expr(2)),
            Buffer("l0b", "AIC", "L0B", CUBE_K * TILE_N * 2, expr(2)),
            Buffer("acc", "AIC", "L0C", TILE_M * TILE_N * 4, expr(1)),
            Buffer("w_ub", "AIV", "UB", ceildiv(PART, INT4 + 1) + SCALES * TILE_N * (2 * SCALE_BYTES), expr(2)),
            Buffer("f_ub", "AIV", "UB", PART * 2, expr(2)),
            # popped tiles: their bytes are the pipe's own local memory
            Buffer("w_l1", "AIC", "L1", expr(0), local),
        ),
        fifos=(tpipe("w", "V2C", slot, 0),),
        programs=(("AIC", _cube()), ("AIV", _vec())),
        launch=Launch(blocks=name("m_tiles") * ceildiv(N, TILE_N)),
        l2_footprint=M * K * 2,
        rules=(
            Rule("m-divisible", (M % TILE_M).eq(0), "m = {value} is not a multiple of tile_m = {limit}", M, TILE_M,
                 nearest_multiple(M, TILE_M)),
            Rule("n-divisible", (N % TILE_N).eq(0), "n = {value} is not a multiple of tile_n = {limit}", N, TILE_N,
                 nearest_multiple(N, TILE_N)),
            Rule("k-divisible", (K % TILE_K).eq(0), "k = {value} is not a multiple of tile_k = {limit}", K, TILE_K,
                 nearest_multiple(K, TILE_K)),
            Rule("tile-divisible", (TILE_K % maximum(CUBE_K, 1)).eq(0),
                 "tile_k = {value} is not a multiple of cube_k = {limit}", TILE_K, CUBE_K,
                 nearest_multiple(TILE_K, CUBE_K)),
            Rule("group-divisible", (GROUP % TILE_K).eq(0).or_((TILE_K % GROUP).eq(0)),
                 "tile_k = {value} is neither a multiple nor a divisor of group = {limit}", TILE_K, GROUP,
                 nearest_multiple(TILE_K, GROUP)),
            Rule("fractal", (TILE_M % 16 + TILE_K % 16 + TILE_N % 16 + CUBE_K % 16).eq(0),
                 "tile_m, tile_k, tile_n and cube_k have to be multiples of {limit} (off by {value} in all)",
                 TILE_M % 16 + TILE_K % 16 + TILE_N % 16 + CUBE_K % 16, expr(16)),
        ),
    )  # fmt: skip
