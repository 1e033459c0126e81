"""GEMM C = A x B: the public pto-isa performance kernels, fp16 on A2/A3 and mxfp8 on 950.

A grid of cores, each with a block of singleCoreM x singleCoreN, worked on in base tiles of base_m x base_n x base_k.
One TLOAD brings step_k slices of K at once, of A and of B, which sets the length of the DMA bursts. L1, L0A and L0B are
ping-pong; there is one L0C tile, so the cube stops during each drain, unless `unit_flag` lets the drain follow the last
product and the next product follow the drain.

What comes from HBM is counted once, evenly over all loads. Cores along M or N read the same lines at the same time, so
that all of them wait for HBM while one of them fetches a line (`hbm_wait`).

`dtype` is the type of A and B. The mx types (950) have a scale of 8 bits for every 32 elements along K. Scales are
loaded by instructions of their own, for `scale_loads` loads of data at once, in front of the first of these; a slice of
them goes to L0 in front of each slice of data. In L1 they have tiles of their own. Beside L0A and L0B they lie in a
space of their own at the data's address / 16 (SHIFT_MX_ADDR of npu/a5/utils.hpp): they are 1/32 (mxfp8) or 1/16 (mxfp4)
of the data, so that they fit where those do.

Facts from hw-native-sys/pto-isa kernels/manual/a2a3/gemm_performance (float outputs, rows of tiles outermost) and
kernels/manual/a5/matmul_mxfp8_performance (scales row by row like the data, mxScalePara 8, bfloat16 outputs); rates
of the types from the Cube table of cannmirror/asc-devkit (16 x 16 x 32 products a cycle for mxfp8, x 64 for mxfp4).
Assumed: B is stored with K contiguous, and a load of scales costs what one of data does on the same path. Not
expressed: inputs that are read from HBM again because L2 has no room for them until they are needed again, and inputs
that an earlier launch has left in L2.
"""

from __future__ import annotations

from pto_tune.model.expr import Expr, ceildiv, expr, maximum, minimum, name, nearest_multiple, not_, where
from pto_tune.model.nodes import Buffer, Instr, Launch, Node, Parameter, Rule, Token, Tunable, Workload
from pto_tune.model.vocabulary import Names, dma, drain, hbm_wait, instr, loop, matmul, steady_loop, sync, when

DTYPES = ("fp16", "bf16", "mxfp8", "mxfp4")
OUT_TYPES = ("fp32", "fp16")
SCALED = 32
"""Elements along K that share a scale of one byte."""

M, K, N = name("m"), name("k"), name("n")
BASE_M, BASE_K, BASE_N, STEP_K = name("base_m"), name("base_k"), name("base_n"), name("step_k")
GRID_M, GRID_N = name("grid_m"), name("grid_n")
BLOCKS = GRID_M * GRID_N
UNIT_FLAG, SLABS, GROUP, SCALE_ROW = name("unit_flag"), name("slabs"), name("group"), name("scale_row")
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
    # slabs that share a load of scales, and what such a load brings of a row
    ("group", maximum(where(MX, minimum(name("scale_loads"), SLABS), SLABS), 1)),
    ("scale_row", where(MX, ceildiv(GROUP * SLAB, SCALED), 0)),
    ("out_bytes", where(name("out_type").eq(OUT_TYPES.index("fp32")), 4, 2)),
)


def _data(rows: Expr, k: Expr) -> Expr:
    return rows * k * 2 // PACKED


def _scales(rows: Expr, k: Expr) -> Expr:
    """Bytes of the scales of a tile, 0 for types without."""
    return where(MX, rows * ceildiv(k, SCALED), 0)


def _cold(nbytes: Expr, reused: Expr, whole: Expr) -> Expr:
    """Of `nbytes`, what no other core has brought into L2 before: a share `reused` / `whole`."""
    return nbytes * reused // maximum(whole, 1)


def _tload(nbytes: Expr, burst: Expr, cold: Expr, acquires: Names = (), publishes: Names = ()) -> Instr:
    """From GM to L1. The other cores along M or N read the same lines at the same time, so that all wait for HBM."""
    costs = (dma("gm_to_l1", nbytes, burst, cold), hbm_wait(cold, BLOCKS))
    return instr("TLOAD", "MTE2", *costs, acquires=acquires, publishes=publishes, issues=1)


def _loads(first: bool) -> tuple[Node, ...]:
    """A slab of A and of B into L1; the `first` of a group with the scales of the whole group in front, mx types."""
    data = SLAB * 2 // PACKED
    out: list[Node] = []
    for buffer, rows, reused, whole in (("a_l1", BASE_M, BASE_N, N), ("b_l1", BASE_N, BASE_M, M)):
        size, scales = _data(rows, SLAB), rows * SCALE_ROW
        load = _tload(size, data, _cold(size, reused, whole), [buffer], [buffer])
        if first:
            of_scales = _tload(scales, SCALE_ROW, _cold(scales, reused, whole), [buffer])
            behind = _tload(size, data, _cold(size, reused, whole), publishes=[buffer])
            out += [when(not_(MX), load), when(MX, of_scales, behind)]
        else:
            out.append(load)
    return tuple(out)


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


def _slab(first: bool) -> tuple[Node, ...]:
    # two mxfp4 elements in a byte: the fractal of 32 bytes along K then has 64
    k = where(PACKED.eq(4), ceildiv(BASE_K, 2), BASE_K)
    return (
        *_loads(first),
        sync("MTE1", takes=["a_l1", "b_l1"]),
        loop(
            STEP_K,
            *_extract("l0a", BASE_M),
            *_extract("l0b", BASE_N),
            instr("TMATMUL", "M", matmul(BASE_M, k, BASE_N, where(MX, 1, 2)), label="matmul", takes=["l0a", "l0b"],
                  releases=["l0a", "l0b"]),
        ),
        sync("MTE1", releases=["a_l1", "b_l1"]),
    )  # fmt: skip


def _group(slabs: Expr) -> tuple[Node, ...]:
    """Slabs that share a load of scales."""
    return (*_slab(first=True), loop(slabs - 1, *_slab(first=False)))


def _store(unit_flag: bool) -> tuple[Node, ...]:
    store = drain(BASE_M, BASE_N, OUT_BYTES, BASE_M * BASE_N * OUT_BYTES)
    filled = Token("acc", ("matmul", "store")) if unit_flag else "acc"
    drained = Token("acc", ("store", "matmul")) if unit_flag else "acc"
    return (
        sync("M", publishes=[filled]),
        instr("TSTORE", "FIX", store, label="store", takes=["acc"], releases=[drained]),
    )


def _cube() -> tuple[Node, ...]:
    last = SLABS % maximum(GROUP, 1)
    return (
        steady_loop(
            name("tiles"),
            sync("M", acquires=["acc"]),
            loop(SLABS // maximum(GROUP, 1), *_group(GROUP)),
            when(last.gt(0), *_group(last)),
            when(not_(UNIT_FLAG), *_store(unit_flag=False)),
            when(UNIT_FLAG, *_store(unit_flag=True)),
        ),
    )


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
            Parameter("unit_flag", 0, "1: the fixpipe's unit flag, with which a drain follows the last product", 0, 1),
            Parameter("scale_loads", 8, "loads of data that one load of scales serves, mx types", 1, 4095),
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
            Buffer("a_scales_l1", "AIC", "L1", BASE_M * SCALE_ROW, expr(2)),
            Buffer("b_scales_l1", "AIC", "L1", BASE_N * SCALE_ROW, expr(2)),
            Buffer("l0a", "AIC", "L0A", _data(BASE_M, BASE_K), expr(2)),
            Buffer("l0b", "AIC", "L0B", _data(BASE_N, BASE_K), expr(2)),
            Buffer("acc", "AIC", "L0C", BASE_M * BASE_N * 4, expr(1)),
        ),
        fifos=(),
        programs=(("AIC", _cube()),),
        launch=Launch(blocks=BLOCKS),
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
