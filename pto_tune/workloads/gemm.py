"""GEMM C = A x B: the public pto-isa performance kernels, fp16 on A2/A3 and mxfp8 on 950.

A grid of cores, each with a block of singleCoreM x singleCoreN, worked on in base tiles of base_m x base_n x base_k.
One TLOAD brings step_k slices of K at once, of A and of B, which sets the length of the DMA bursts. L1, L0A and L0B are
ping-pong; there is one L0C tile, so the cube stops during each drain.

`dtype` is the type of A and B. The mx types (950) have a scale of 8 bits for every 32 elements along K. Scales are
loaded in front of their data by instructions of their own, on each way, and are ready when the data are. In L1 they
have tiles of their own. Beside L0A and L0B they lie in a space of their own at the data's address / 16
(SHIFT_MX_ADDR of npu/a5/utils.hpp): they are 1/32 (mxfp8) or 1/16 (mxfp4) of the data, so that they fit where those do.

Facts from hw-native-sys/pto-isa kernels/manual/a2a3/gemm_performance; rates of the types from the Cube table of
cannmirror/asc-devkit (16 x 16 x 32 products a cycle for mxfp8, 16 x 16 x 64 for mxfp4). Assumed: B is stored with K
contiguous, each operand is read from HBM once, 16 rows of scales are stored together (layouts MX_A_ZZ and MX_B_NN of
pto-isa) and brought with every load of data, and a load of scales costs what one of data does on the same path.
"""

from __future__ import annotations

from pto_tune.model.expr import Expr, ceildiv, expr, maximum, name, nearest_multiple, not_, where
from pto_tune.model.nodes import Buffer, Launch, Node, Parameter, Rule, Tunable, Workload
from pto_tune.model.vocabulary import dma, drain, instr, loop, matmul, steady_loop, sync, when

DTYPES = ("fp16", "bf16", "mxfp8", "mxfp4")
OUT_TYPES = ("fp32", "fp16")
SCALED = 32
"""Elements along K that share a scale of one byte."""
SCALE_ROWS = 16
"""Rows whose scales are stored together, two of each row at a time."""

M, K, N = name("m"), name("k"), name("n")
BASE_M, BASE_K, BASE_N, STEP_K = name("base_m"), name("base_k"), name("base_n"), name("step_k")
GRID_M, GRID_N = name("grid_m"), name("grid_n")
SLAB, PACKED, MX, OUT_BYTES = name("slab_k"), name("packed"), name("mx"), name("out_bytes")

DERIVED = (
    ("single_m", ceildiv(M, maximum(GRID_M, 1))),
    ("single_n", ceildiv(N, maximum(GRID_N, 1))),
    ("slab_k", BASE_K * STEP_K),
    ("tiles", ceildiv(name("single_m"), BASE_M) * ceildiv(name("single_n"), BASE_N)),
    ("slabs", ceildiv(K, maximum(SLAB, 1))),
    ("mx", name("dtype").ge(DTYPES.index("mxfp8"))),
    # elements in two bytes
    ("packed", where(MX, where(name("dtype").eq(DTYPES.index("mxfp4")), 4, 2), 1)),
    ("out_bytes", where(name("out_type").eq(OUT_TYPES.index("fp32")), 4, 2)),
)


def _data(rows: Expr, k: Expr) -> Expr:
    return rows * k * 2 // PACKED


def _scales(rows: Expr, k: Expr) -> Expr:
    """Bytes of the scales of a tile, 0 for types without."""
    return where(MX, rows * ceildiv(k, SCALED), 0)


def _load(buffer: str, rows: Expr, reused: Expr) -> tuple[Node, ...]:
    """A slab into L1, of which `reused` is the share that no other core has brought into L2 before."""
    data, scales = _data(rows, SLAB), _scales(rows, SLAB)
    loaded = dma("gm_to_l1", data, SLAB * 2 // PACKED, data * reused // maximum(N if buffer == "a_l1" else M, 1))
    return (
        when(not_(MX), instr("TLOAD", "MTE2", loaded, acquires=[buffer], publishes=[buffer])),
        when(
            MX,
            instr(
                "TLOAD", "MTE2",
                dma("gm_to_l1", scales, SCALE_ROWS * ceildiv(SLAB, SCALED),
                    scales * reused // maximum(N if buffer == "a_l1" else M, 1)),
                acquires=[buffer],
            ),
            instr("TLOAD", "MTE2", loaded, publishes=[buffer]),
        ),
    )  # fmt: skip


def _extract(buffer: str, rows: Expr) -> tuple[Node, ...]:
    """A slice of the slab into L0A or L0B."""
    path, data, scales = f"l1_to_{buffer}", _data(rows, BASE_K), _scales(rows, BASE_K)
    moved = dma(path, data, data)
    return (
        when(not_(MX), instr("TEXTRACT", "MTE1", moved, acquires=[buffer], publishes=[buffer])),
        when(
            MX,
            instr("TEXTRACT", "MTE1", dma(path, scales, scales), acquires=[buffer]),
            instr("TEXTRACT", "MTE1", moved, publishes=[buffer]),
        ),
    )


def _cube() -> tuple[Node, ...]:
    # two mxfp4 elements in a byte: the fractal of 32 bytes along K then has 64
    k = where(PACKED.eq(4), ceildiv(BASE_K, 2), BASE_K)
    return (
        steady_loop(
            name("tiles"),
            sync("M", acquires=["acc"]),
            loop(
                name("slabs"),
                *_load("a_l1", BASE_M, BASE_N),
                *_load("b_l1", BASE_N, BASE_M),
                sync("MTE1", takes=["a_l1", "b_l1"]),
                loop(
                    STEP_K,
                    *_extract("l0a", BASE_M),
                    *_extract("l0b", BASE_N),
                    instr("TMATMUL", "M", matmul(BASE_M, k, BASE_N, where(MX, 1, 2)), takes=["l0a", "l0b"],
                          releases=["l0a", "l0b"]),
                ),
                sync("MTE1", releases=["a_l1", "b_l1"]),
            ),
            sync("M", publishes=["acc"]),
            instr("TSTORE", "FIX", drain(BASE_M, BASE_N, OUT_BYTES, BASE_M * BASE_N * OUT_BYTES), takes=["acc"],
                  releases=["acc"]),
        ),
    )  # fmt: skip


def build() -> Workload:
    return Workload(
        name="gemm",
        doc="Matrix product C = A x B on the cube cores alone (fp16, bf16 or mx types), a grid of cores and base tiles",
        problem=(
            Parameter("m", 6144, "rows of A and C", 16),
            Parameter("k", 6144, "columns of A, rows of B", 16),
            Parameter("n", 6144, "columns of B and C", 16),
            Parameter("dtype", 0, "type of A and B; mx types, with scales, on 950 alone", 0, 3, DTYPES),
            Parameter("out_type", 0, "type of C", 0, 1, OUT_TYPES),
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
            Buffer("a_l1", "AIC", "L1", _data(BASE_M, SLAB), expr(2)),
            Buffer("b_l1", "AIC", "L1", _data(BASE_N, SLAB), expr(2)),
            Buffer("a_scales_l1", "AIC", "L1", _scales(BASE_M, SLAB), expr(2)),
            Buffer("b_scales_l1", "AIC", "L1", _scales(BASE_N, SLAB), expr(2)),
            Buffer("l0a", "AIC", "L0A", _data(BASE_M, BASE_K), expr(2)),
            Buffer("l0b", "AIC", "L0B", _data(BASE_N, BASE_K), expr(2)),
            Buffer("acc", "AIC", "L0C", BASE_M * BASE_N * 4, expr(1)),
        ),
        fifos=(),
        programs=(("AIC", _cube()),),
        launch=Launch(blocks=GRID_M * GRID_N),
        l2_footprint=(M * K + K * N) * 2 // PACKED + where(MX, (M + N) * ceildiv(K, SCALED), 0),
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
            # docs/isa/TMATMUL_MX.md of pto-isa: implemented on 950 alone
            Rule("mx-family", not_(MX).or_(name("on_a5")),
                 "dtype is an mx type, which needs TMATMUL_MX: A2/A3 do not have it; nearest legal: fp16 or bf16",
                 name("dtype"), expr(DTYPES.index("bf16"))),
            Rule("mx-scales", not_(MX).or_((BASE_K % (2 * SCALED)).eq(0)),
                 "base_k = {value} is not a multiple of {limit}: scales are stored in pairs along K", BASE_K,
                 expr(2 * SCALED), nearest_multiple(BASE_K, 2 * SCALED)),
        ),
    )  # fmt: skip
