"""GEMM C = A x B, fp16 in, fp32 out: the public pto-isa performance kernel on A2/A3.

A grid of cores, each with a block of singleCoreM x singleCoreN, worked on in base tiles of base_m x base_n x base_k.
One TLOAD brings step_k slices of K at once, of A and of B, which sets the length of the DMA bursts. L1, L0A and L0B are
ping-pong; there is one L0C tile, so the cube stops during each drain.

Facts from hw-native-sys/pto-isa kernels/manual/a2a3/gemm_performance. Assumed: B is stored with K contiguous, each
operand is read from HBM once, the output is fp32.
"""

from __future__ import annotations

from pto_tune.model.expr import ceildiv, expr, maximum, name, nearest_multiple
from pto_tune.model.nodes import Buffer, Launch, Parameter, Rule, Tunable, Workload
from pto_tune.model.vocabulary import dma, drain, instr, loop, matmul, steady_loop, sync

M, K, N = name("m"), name("k"), name("n")
BASE_M, BASE_K, BASE_N, STEP_K = name("base_m"), name("base_k"), name("base_n"), name("step_k")
GRID_M, GRID_N = name("grid_m"), name("grid_n")
SLAB = name("slab_k")

DERIVED = (
    ("single_m", ceildiv(M, maximum(GRID_M, 1))),
    ("single_n", ceildiv(N, maximum(GRID_N, 1))),
    ("slab_k", BASE_K * STEP_K),
    ("tiles", ceildiv(name("single_m"), BASE_M) * ceildiv(name("single_n"), BASE_N)),
    ("slabs", ceildiv(K, maximum(SLAB, 1))),
)


def build() -> Workload:
    a_bytes, b_bytes, c_bytes = BASE_M * SLAB * 2, BASE_N * SLAB * 2, BASE_M * BASE_N * 4
    cube = (
        steady_loop(
            name("tiles"),
            sync("M", acquires=["acc"]),
            loop(
                name("slabs"),
                instr("TLOAD", "MTE2", dma("gm_to_l1", a_bytes, SLAB * 2, a_bytes * BASE_N // maximum(N, 1)),
                      acquires=["a_l1"], publishes=["a_l1"]),
                instr("TLOAD", "MTE2", dma("gm_to_l1", b_bytes, SLAB * 2, b_bytes * BASE_M // maximum(M, 1)),
                      acquires=["b_l1"], publishes=["b_l1"]),
                sync("MTE1", takes=["a_l1", "b_l1"]),
                loop(
                    STEP_K,
                    instr("TEXTRACT", "MTE1", dma("l1_to_l0a", BASE_M * BASE_K * 2, BASE_M * BASE_K * 2),
                          acquires=["l0a"], publishes=["l0a"]),
                    instr("TEXTRACT", "MTE1", dma("l1_to_l0b", BASE_N * BASE_K * 2, BASE_N * BASE_K * 2),
                          acquires=["l0b"], publishes=["l0b"]),
                    instr("TMATMUL", "M", matmul(BASE_M, BASE_K, BASE_N), takes=["l0a", "l0b"],
                          releases=["l0a", "l0b"]),
                ),
                sync("MTE1", releases=["a_l1", "b_l1"]),
            ),
            sync("M", publishes=["acc"]),
            instr("TSTORE", "FIX", drain(BASE_M, BASE_N, 4, c_bytes), takes=["acc"], releases=["acc"]),
        ),
    )  # fmt: skip
    return Workload(
        name="gemm",
        doc="Matrix product C = A x B on the cube cores alone (fp16 in, fp32 out), a grid of cores and base tiles",
        problem=(
            Parameter("m", 6144, "rows of A and C", 16),
            Parameter("k", 6144, "columns of A, rows of B", 16),
            Parameter("n", 6144, "columns of B and C", 16),
        ),
        tunables=(
            Tunable("base_m", (64, 128, 256), 128, "rows of a base tile", 16, 4095),
            Tunable("base_k", (32, 64, 128), 64, "K of a base tile: one TMATMUL", 16, 4095),
            Tunable("base_n", (64, 128, 256), 256, "columns of a base tile", 16, 4095),
            Tunable("step_k", (1, 2, 4, 8), 4, "K slices that one TLOAD brings", 1, 64),
            Tunable("grid_m", (1, 2, 3, 4, 6, 8, 12, 24), 4, "cores along M", 1, 4096),
            Tunable("grid_n", (1, 2, 3, 4, 6, 8, 12, 24), 6, "cores along N", 1, 4096),
        ),
        derived=DERIVED,
        buffers=(
            Buffer("a_l1", "AIC", "L1", a_bytes, expr(2)),
            Buffer("b_l1", "AIC", "L1", b_bytes, expr(2)),
            Buffer("l0a", "AIC", "L0A", BASE_M * BASE_K * 2, expr(2)),
            Buffer("l0b", "AIC", "L0B", BASE_N * BASE_K * 2, expr(2)),
            Buffer("acc", "AIC", "L0C", c_bytes, expr(1)),
        ),
        fifos=(),
        programs=(("AIC", cube),),
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
                 "k = {value} is not a multiple of base_k x step_k = {limit}", K, SLAB,
                 nearest_multiple(K, SLAB)),
            Rule("fractal", (BASE_M % 16 + BASE_K % 16 + BASE_N % 16).eq(0),
                 "base_m, base_k and base_n have to be multiples of {limit} (off by {value} in all)",
                 BASE_M % 16 + BASE_K % 16 + BASE_N % 16, expr(16)),
        ),
    )  # fmt: skip
