"""C = act(A x B + bias), fp16: accumulators go to the vector sub-cores through the fixpipe, TileData with a TConfig.

The cube core works as in the public GEMM kernel (see `gemm`) and pushes each finished base tile with
TPUSH(Pipe, Acc, TConfig): `quant` converts on the way out of L0C and so decides the bytes of the slots and of the
loads, `relu` clamps there, `atomic` adds onto what the slot holds (the same time is assumed for it). The vector
sub-cores convert back to fp32 where it was converted, add the bias of the columns, apply `activation`, convert to fp16
and store.

The pipe's ring lies in GM on 950 too (DIR_C2V_GM): into UB the TConfig overload writes and signals one sub-core alone
(pto-isa npu/a5/TPush.hpp:379-382, 773-784). TPOP of a ring in GM frees by itself, so that there is no TFREE; with one
the slots would be freed twice on 950. That the overload takes a ring in GM on 950 is taken from its source alone
(:366-369 hands on one type where another is declared).

Facts from hw-native-sys/pto-isa: common/fixpipe.hpp for the TConfig, kernels/manual/a2a3/gemm_performance for the cube,
tests/npu/a2a3/src/st/testcase/tpushpop_cv for the vector side (pop of a half, load of the bias, add, store).
Assumed: GELU as x times the sigmoid of 1.702 x; adding a row to all rows and ReLU cost what TROWEXPAND and TMULS do.
"""

from __future__ import annotations

from pto_tune.model.expr import ceildiv, expr, maximum, minimum, name, nearest_multiple, where
from pto_tune.model.fixpipe import ATOMICS, RELU_MODES, output_bytes
from pto_tune.model.nodes import (
    SPLITS,
    Buffer,
    Cost,
    Launch,
    Node,
    Parameter,
    Rule,
    TConfig,
    Tunable,
    Workload,
)
from pto_tune.model.vocabulary import (
    dma,
    half_cols,
    half_rows,
    instr,
    loop,
    matmul,
    steady_loop,
    sync,
    tile,
    tpipe,
    tpop,
    tpush,
    vector,
    when,
)

QUANTS = ("NoQuant", "F322F16", "F322BF16", "QF322B8_PRE")
ACTIVATIONS = ("none", "ReLU", "GELU")

M, K, N = name("m"), name("k"), name("n")
BASE_M, BASE_K, BASE_N, STEP_K = name("base_m"), name("base_k"), name("base_n"), name("step_k")
GRID_M, GRID_N, SLAB, SPLIT = name("grid_m"), name("grid_n"), name("slab_k"), name("split")
OUT_BYTES, PART = name("out_bytes"), name("part")
PART_M, PART_N = half_rows(BASE_M, SPLIT), half_cols(BASE_N, SPLIT)

DERIVED = (
    ("slab_k", BASE_K * STEP_K),
    ("tiles", ceildiv(ceildiv(M, maximum(GRID_M, 1)), BASE_M) * ceildiv(ceildiv(N, maximum(GRID_N, 1)), BASE_N)),
    ("slabs", ceildiv(K, maximum(SLAB, 1))),
    ("part", ceildiv(BASE_M * BASE_N, minimum(SPLIT, 1) + 1)),
    (
        "out_bytes",
        where(
            name("quant").eq(0),
            output_bytes(QUANTS[0]),
            where(name("quant").eq(3), output_bytes(QUANTS[3]), output_bytes(QUANTS[1])),
        ),
    ),
)


def _push() -> tuple[Node, ...]:
    """The push under each TConfig that the problem can ask for."""
    acc = tile("Acc", BASE_M, BASE_N, 4, takes=["acc"], releases=["acc"])
    return tuple(
        when(
            name("quant").eq(q),
            *(
                when(
                    name("relu").eq(r),
                    *(
                        when(
                            name("atomic").eq(a),
                            tpush("out", acc, config=TConfig(quant=quant, relu=relu, atomic=atomic)),
                        )
                        for a, atomic in enumerate(ATOMICS)
                    ),
                )
                for r, relu in enumerate(RELU_MODES)
            ),
        )
        for q, quant in enumerate(QUANTS)
    )


def _cube() -> tuple[Node, ...]:
    a, b = BASE_M * SLAB * 2, BASE_N * SLAB * 2
    a_part, b_part = BASE_M * BASE_K * 2, BASE_N * BASE_K * 2
    return (
        steady_loop(
            name("tiles"),
            sync("M", acquires=["acc"]),
            loop(
                name("slabs"),
                instr("TLOAD", "MTE2", dma("gm_to_l1", a, SLAB * 2, a * BASE_N // maximum(N, 1)), acquires=["a_l1"],
                      publishes=["a_l1"]),
                instr("TLOAD", "MTE2", dma("gm_to_l1", b, SLAB * 2, b * BASE_M // maximum(M, 1)), acquires=["b_l1"],
                      publishes=["b_l1"]),
                sync("MTE1", takes=["a_l1", "b_l1"]),
                loop(
                    STEP_K,
                    instr("TEXTRACT", "MTE1", dma("l1_to_l0a", a_part, a_part), acquires=["l0a"], publishes=["l0a"]),
                    instr("TEXTRACT", "MTE1", dma("l1_to_l0b", b_part, b_part), acquires=["l0b"], publishes=["l0b"]),
                    instr("TMATMUL", "M", matmul(BASE_M, BASE_K, BASE_N), takes=["l0a", "l0b"],
                          releases=["l0a", "l0b"]),
                ),
                sync("MTE1", releases=["a_l1", "b_l1"]),
            ),
            sync("M", publishes=["acc"]),
            *_push(),
        ),
    )  # fmt: skip


def _activation(which: str) -> tuple[Cost, ...]:
    r, c = PART_M, PART_N
    if which == "ReLU":
        return (vector("muls", r, c),)
    if which == "GELU":
        return (vector("muls", r, c), vector("exp", r, c), vector("adds", r, c), vector("div", r, c))
    return ()


def _epilogue() -> tuple[Node, ...]:
    """One macro on the vector pipe for each activation, with and without the conversion to fp32 in front."""
    r, c = PART_M, PART_N
    back, bias, out = vector("cvt", r, c), vector("rowexpand", r, c), vector("cvt", r, c)
    return tuple(
        when(
            name("activation").eq(i).and_(OUT_BYTES.lt(4) if narrow else OUT_BYTES.eq(4)),
            instr("EPILOGUE", "V", *((back,) if narrow else ()), bias, *_activation(activation), out,
                  takes=["sum_ub", "bias_ub"], acquires=["c_ub"], releases=["sum_ub", "bias_ub"],
                  publishes=["c_ub"], reads=["out"]),
        )
        for i, activation in enumerate(ACTIVATIONS)
        for narrow in (False, True)
    )  # fmt: skip


def _vec() -> tuple[Node, ...]:
    c_bytes = PART_M * PART_N * 2
    return (
        steady_loop(
            name("tiles"),
            instr("TLOAD", "MTE2", dma("gm_to_ub", PART_N * 4, PART_N * 4), acquires=["bias_ub"],
                  publishes=["bias_ub"]),
            tpop("out", tile("Vec", PART_M, PART_N, OUT_BYTES, acquires=["sum_ub"], publishes=["sum_ub"])),
            *_epilogue(),
            instr("TSTORE", "MTE3", dma("ub_to_gm", c_bytes, PART_N * 2, c_bytes), takes=["c_ub"],
                  releases=["c_ub"]),
        ),
    )  # fmt: skip


def build() -> Workload:
    local, slot = name("local_slot_num"), BASE_M * BASE_N * OUT_BYTES
    return Workload(
        name="matmul_epilogue",
        doc="C = act(A x B + bias): matrix product whose tiles leave through a C2V pipe with a fixpipe configuration",
        problem=(
            Parameter("m", 2048, "rows of A and C", 16),
            Parameter("k", 4096, "columns of A, rows of B", 16),
            Parameter("n", 6144, "columns of B and C", 16),
            Parameter("quant", 1, "QuantPre of the TConfig: type of the pushed tile", 0, 3, QUANTS),
            Parameter("relu", 0, "ReluMode of the TConfig", 0, 1, RELU_MODES),
            Parameter("atomic", 0, "AtomicT of the TConfig", 0, 1, ATOMICS),
            Parameter("activation", 2, "activation of the vector sub-cores", 0, 2, ACTIVATIONS),
        ),
        tunables=(
            Tunable("base_m", (64, 128), 128, "rows of a base tile", 16, 4095),
            Tunable("base_k", (64, 128), 64, "K of a base tile: one TMATMUL", 16, 4095),
            Tunable("base_n", (64, 128, 256), 128, "columns of a base tile", 16, 4095),
            Tunable("step_k", (2, 4), 4, "K slices that one TLOAD brings", 1, 64),
            Tunable("grid_m", (2, 4), 4, "cores along M", 1, 4096),
            Tunable("grid_n", (6, 8, 12), 6, "cores along N", 1, 4096),
            Tunable("fifo_depth", (1, 2, 3, 4, 8), 4, "FifoDepth of the pipe", 1, 255),
            Tunable("sync_period", (0,), 0, "SyncPeriod of the pipe; 0: derived from FifoDepth", 0, 255),
            Tunable("local_slot_num", (1, 2), 2, "LocalSlotNum: popped tiles in UB", 1, 64),
            Tunable("split", (0, 1, 2), 1, "TileSplitAxis between the two vector sub-cores", 0, 2, SPLITS[:3]),
        ),
        derived=DERIVED,
        buffers=(
            Buffer("a_l1", "AIC", "L1", BASE_M * SLAB * 2, expr(2)),
            Buffer("b_l1", "AIC", "L1", BASE_N * SLAB * 2, expr(2)),
            Buffer("l0a", "AIC", "L0A", BASE_M * BASE_K * 2, expr(2)),
            Buffer("l0b", "AIC", "L0B", BASE_N * BASE_K * 2, expr(2)),
            Buffer("acc", "AIC", "L0C", BASE_M * BASE_N * 4, expr(1)),
            Buffer("bias_ub", "AIV", "UB", BASE_N * 4, expr(2)),
            Buffer("work_ub", "AIV", "UB", PART * 4, expr(1)),
            Buffer("c_ub", "AIV", "UB", PART * 2, expr(2)),
            # popped tiles: their bytes are the pipe's own local memory
            Buffer("sum_ub", "AIV", "UB", expr(0), local),
        ),
        fifos=(tpipe("out", "C2V", slot, 0, gm_form=True),),
        programs=(("AIC", _cube()), ("AIV", _vec())),
        launch=Launch(blocks=GRID_M * GRID_N),
        l2_footprint=(M * K + K * N) * 2,
        rules=(
            Rule("m-divisible", (M % (GRID_M * BASE_M)).eq(0),
                 "m = {value} is not a multiple of grid_m x base_m = {limit}", M, GRID_M * BASE_M,
                 nearest_multiple(M, GRID_M * BASE_M)),
            Rule("n-divisible", (N % (GRID_N * BASE_N)).eq(0),
                 "n = {value} is not a multiple of grid_n x base_n = {limit}", N, GRID_N * BASE_N,
                 nearest_multiple(N, GRID_N * BASE_N)),
            Rule("k-divisible", (K % maximum(SLAB, 1)).eq(0),
                 "k = {value} is not a multiple of base_k x step_k = {limit}", K, SLAB, nearest_multiple(K, SLAB)),
            Rule("fractal", (BASE_M % 16 + BASE_K % 16 + BASE_N % 16).eq(0),
                 "base_m, base_k and base_n have to be multiples of {limit} (off by {value} in all)",
                 BASE_M % 16 + BASE_K % 16 + BASE_N % 16, expr(16)),
        ),
    )  # fmt: skip
