"""Flash attention: the four-stage QK, P, PV, GU pipeline of the public pto-isa kernel, fp16 in, fp32 accumulation.

Cube and vector work on tiles of CUBE_S0 x TILE_S1 through three FIFOs: `qk` (fp32, cube to vector), `p` (fp16, vector
to cube), `pv` (fp32, cube to vector), all in the GlobalData flow. QK runs `qk_preload` tiles ahead of PV. A tile is
worked on in TILE_S1 / CUBE_S1 sub-tiles; in the steady loop the sub-tiles of QK and PV alternate. The running exp-max
factors live in a ring of FifoDepth entries in UB that no flag protects. On Ascend 950 too the rings lie in GM;
`flash_attention_950` has them on chip.

Facts from hw-native-sys/pto-isa kernels/manual/common/flash_atten: TALLOC of QK before the K load, TPOP of P before the
V load, TFREE after the last load of a tile, TALLOC of P after the first softmax slice, TALLOC of PV before its store;
two K, V and P tiles in L1; L0A and L0B share one token; fixpipe unit flag on; inputs in L2 before the launch, and the
FIFO rings of all cores stay there.
Assumed: the vector operations of a softmax slice as listed in `_softmax`; Q, K and V hits in L2.
"""

from __future__ import annotations

from pto_tune.model.expr import Expr, ceildiv, expr, maximum, minimum, name, nearest_multiple, where
from pto_tune.model.nodes import (
    SPLITS,
    Buffer,
    Fifo,
    Launch,
    Node,
    Parameter,
    Ring,
    Rule,
    Token,
    Tunable,
    Workload,
)
from pto_tune.model.vocabulary import (
    dma,
    drain,
    instr,
    loop,
    matmul,
    steady_loop,
    sync,
    talloc,
    tfree,
    tpipe,
    tpop,
    tpush,
    vector,
    when,
)
from pto_tune.workloads.softmax import softmax

S0, S1, HEAD, CAUSAL = name("s0"), name("s1"), name("head"), name("causal")
CUBE_S0, CUBE_S1, TILE_S1 = name("cube_s0"), name("cube_s1"), name("tile_s1")
PRELOAD, DEPTH = name("qk_preload"), name("fifo_depth")
SUBTILES, TILES, AHEAD, ROWS, PV_DEPTH = (
    name("subtiles"), name("tiles"), name("ahead"), name("rows"), name("pv_depth"),
)  # fmt: skip
SLICE = name("slice_rows")

DERIVED: tuple[tuple[str, Expr], ...] = (
    ("subtiles", maximum(1, TILE_S1 // CUBE_S1)),
    (
        "tiles",
        where(CAUSAL, minimum(ceildiv(S1, TILE_S1), 1 + (name("block") * CUBE_S0) // TILE_S1), ceildiv(S1, TILE_S1)),
    ),
    ("ahead", minimum(PRELOAD, TILES)),
    ("rows", where(name("split").eq(SPLITS.index("NO_SPLIT")), CUBE_S0, ceildiv(CUBE_S0, 2))),
    ("slice_rows", maximum(1, ROWS // SUBTILES)),
    ("pv_depth", where(name("pv_fifo_depth").gt(0), name("pv_fifo_depth"), DEPTH)),
)


def _qk_load_and_matmul() -> tuple[Node, ...]:
    """One QK sub-tile: K to L1, operands to L0, matmul, drain into the slot behind the matmul."""
    return (
        instr("TLOAD", "MTE2", dma("gm_to_l1", CUBE_S1 * HEAD * 2, CUBE_S1 * HEAD * 2), acquires=["k_l1"],
              publishes=["k_l1"]),
        instr("TEXTRACT", "MTE1", dma("l1_to_l0a", CUBE_S0 * HEAD * 2, CUBE_S0 * HEAD * 2), acquires=["l0"],
              takes=["k_l1"]),
        instr("TEXTRACT", "MTE1", dma("l1_to_l0b", CUBE_S1 * HEAD * 2, CUBE_S1 * HEAD * 2), publishes=["l0"],
              releases=["k_l1"]),
        instr("TMATMUL", "M", matmul(CUBE_S0, HEAD, CUBE_S1), label="qk_matmul", takes=["l0"],
              acquires=["qk_acc"], releases=["l0"], publishes=[Token("qk_acc", ("qk_matmul", "qk_store"))]),
        instr("TSTORE", "FIX", drain(CUBE_S0, CUBE_S1, 4), label="qk_store", takes=["qk_acc"], writes=["qk"],
              releases=[Token("qk_acc", ("qk_store", "qk_matmul"))]),
    )  # fmt: skip


def _pv_loads() -> tuple[Node, ...]:
    return (
        instr("TLOAD", "MTE2", dma("gm_to_l1", CUBE_S1 * HEAD * 2, HEAD * 2 * CUBE_S1), acquires=["pv_l1"]),
        instr("TLOAD", "MTE2", dma("gm_to_l1", CUBE_S0 * CUBE_S1 * 2, CUBE_S1 * 2 * CUBE_S0), reads=["p"],
              publishes=["pv_l1"]),
    )  # fmt: skip


def _pv_matmul() -> tuple[Node, ...]:
    return (
        instr("TEXTRACT", "MTE1", dma("l1_to_l0a", CUBE_S0 * CUBE_S1 * 2, CUBE_S0 * CUBE_S1 * 2), acquires=["l0"],
              takes=["pv_l1"]),
        instr("TEXTRACT", "MTE1", dma("l1_to_l0b", CUBE_S1 * HEAD * 2, CUBE_S1 * HEAD * 2), publishes=["l0"],
              releases=["pv_l1"]),
        instr("TMATMUL", "M", matmul(CUBE_S0, CUBE_S1, HEAD), label="pv_matmul", takes=["l0"], releases=["l0"]),
    )  # fmt: skip


def _pv_end() -> tuple[Node, ...]:
    return (
        sync("M", publishes=[Token("pv_acc", ("pv_matmul", "pv_store"))]),
        talloc("pv"),
        instr("TSTORE", "FIX", drain(CUBE_S0, HEAD, 4), label="pv_store", takes=["pv_acc"], writes=["pv"],
              releases=[Token("pv_acc", ("pv_store", "pv_matmul"))]),
        tpush("pv"),
    )  # fmt: skip


def _pv_tile() -> tuple[Node, ...]:
    """PV of one tile without QK beside it (the last `ahead` tiles)."""
    return (
        tpop("p"),
        sync("M", acquires=["pv_acc"]),
        loop(SUBTILES - 1, *_pv_loads(), *_pv_matmul()),
        *_pv_loads(),
        tfree("p"),
        *_pv_matmul(),
        *_pv_end(),
    )


def _cube() -> tuple[Node, ...]:
    one, more = SUBTILES.eq(1), SUBTILES.gt(1)
    return (
        instr("TLOAD", "MTE2", dma("gm_to_l1", CUBE_S0 * HEAD * 2, CUBE_S0 * HEAD * 2), event="q_loaded"),
        instr("TSYNC", "MTE1", waits=["q_loaded"]),
        loop(AHEAD, talloc("qk"), loop(SUBTILES, *_qk_load_and_matmul()), tpush("qk")),
        steady_loop(
            TILES - AHEAD,
            talloc("qk"),
            *_qk_load_and_matmul(),
            when(one, tpush("qk")),
            tpop("p"),
            sync("M", acquires=["pv_acc"]),
            *_pv_loads(),
            when(one, tfree("p")),
            *_pv_matmul(),
            loop(maximum(SUBTILES - 2, 0), *_qk_load_and_matmul(), *_pv_loads(), *_pv_matmul()),
            when(more, *_qk_load_and_matmul(), tpush("qk"), *_pv_loads(), tfree("p"), *_pv_matmul()),
            *_pv_end(),
        ),
        loop(AHEAD, *_pv_tile()),
    )


def _p_slice(first: bool) -> tuple[Node, ...]:
    load = dma("gm_to_ub", SLICE * TILE_S1 * 4, SLICE * CUBE_S1 * 4)
    store = dma("ub_to_gm", SLICE * TILE_S1 * 2, SLICE * CUBE_S1 * 2)
    return (
        instr("TLOAD", "MTE2", load, acquires=["qk_ub"], publishes=["qk_ub"], reads=["qk"]),
        instr("SOFTMAX", "V", *softmax(SLICE, TILE_S1), takes=["qk_ub"], acquires=["p_ub"], releases=["qk_ub"],
              publishes=["p_ub"]),
        *((talloc("p"),) if first else ()),
        instr("TSTORE", "MTE3", store, takes=["p_ub"], releases=["p_ub"], writes=["p"]),
    )  # fmt: skip


def _p_tile() -> tuple[Node, ...]:
    """P of one tile by slices; QK is freed behind the loads of the last slice."""
    first = _p_slice(first=True)
    last = _p_slice(first=False)
    return (
        tpop("qk"),
        first[0],
        when(SUBTILES.eq(1), tfree("qk")),
        *first[1:],
        loop(maximum(SUBTILES - 2, 0), *_p_slice(first=False)),
        when(SUBTILES.gt(1), last[0], tfree("qk"), *last[1:]),
        instr("TSYNC", "V", writes=["exp_max"]),
        tpush("p"),
    )


def _gu_tile() -> tuple[Node, ...]:
    return (
        tpop("pv"),
        instr("TLOAD", "MTE2", dma("gm_to_ub", ROWS * HEAD * 4, ROWS * HEAD * 4), acquires=["pv_ub"],
              publishes=["pv_ub"], reads=["pv"]),
        tfree("pv"),
        instr("GU", "V", vector("rowexpand", ROWS, HEAD), vector("add", ROWS, HEAD), takes=["pv_ub"],
              releases=["pv_ub"], reads=["exp_max"]),
    )  # fmt: skip


def _vec() -> tuple[Node, ...]:
    return (
        loop(AHEAD, *_p_tile()),
        steady_loop(TILES - AHEAD, *_p_tile(), *_gu_tile()),
        loop(AHEAD, *_gu_tile()),
        instr("TROWEXPANDDIV", "V", vector("div", ROWS, HEAD), event="o_ready"),
        instr("TSTORE", "MTE3", dma("ub_to_gm", ROWS * HEAD * 4, ROWS * HEAD * 4, ROWS * HEAD * 4), waits=["o_ready"]),
    )


def _fifo(fifo: str, direction: str, nbytes: Expr, depth: Expr, depth_name: str, flag_id: int) -> Fifo:
    return tpipe(
        fifo,
        direction,
        nbytes,
        flag_id,
        slot_num=depth,
        slot_num_name=depth_name,
        local_slot_num=expr(2),
        unit_flag=direction == "C2V",
        gm_form=True,
    )


def build() -> Workload:
    return Workload(
        name="flash_attention",
        doc="Flash attention, one head: QK, P, PV, GU through three FIFOs (fp16 in, fp32 accumulation)",
        problem=(
            Parameter("s0", 4096, "rows of Q: the sequence length of the queries", 16),
            Parameter("s1", 4096, "rows of K and V: the sequence length of the keys", 16),
            Parameter("head", 128, "head size", 16, 512),
            Parameter("causal", 0, "1 for a causal mask: blocks have unequal trip counts", 0, 1),
        ),
        tunables=(
            Tunable("cube_s0", (16, 32, 64, 128, 256), 128, "rows of Q that one block works on (CUBE_S0)", 16, 4095),
            Tunable("cube_s1", (32, 64, 128, 256), 128, "columns of one cube sub-tile (CUBE_S1)", 16, 4095),
            Tunable("tile_s1", (64, 128, 256, 512), 256, "columns of one FIFO tile (TILE_S1)", 16, 65536),
            Tunable("qk_preload", (1, 2, 3, 4, 6), 4, "tiles that QK runs ahead of PV (QK_PRELOAD)", 1, 64),
            Tunable("fifo_depth", (1, 2, 3, 4, 6, 8, 12), 8, "FifoDepth of the QK and P FIFOs, and of PV", 1, 255),
            Tunable("sync_period", (0, 1, 2, 4), 0, "SyncPeriod of the FIFOs; 0: derived from FifoDepth", 0, 255),
            Tunable("split", (0, 1), 1, "TileSplitAxis between the two vector sub-cores", 0, 1, SPLITS[:2]),
            Tunable("pv_fifo_depth", (0,), 0, "FifoDepth of the PV FIFO where it differs; 0: as fifo_depth", 0, 255),
        ),
        derived=DERIVED,
        buffers=(
            Buffer("q_l1", "AIC", "L1", CUBE_S0 * HEAD * 2, expr(1)),
            Buffer("k_l1", "AIC", "L1", CUBE_S1 * HEAD * 2, expr(2)),
            Buffer("pv_l1", "AIC", "L1", (CUBE_S0 + HEAD) * CUBE_S1 * 2, expr(2)),
            Buffer("l0", "AIC", "L0A", CUBE_S0 * maximum(HEAD, CUBE_S1) * 2, expr(2)),
            Buffer("l0b", "AIC", "L0B", CUBE_S1 * HEAD * 2, expr(2)),
            Buffer("qk_acc", "AIC", "L0C", CUBE_S0 * CUBE_S1 * 4, expr(1)),
            Buffer("pv_acc", "AIC", "L0C", CUBE_S0 * HEAD * 4, expr(1)),
            Buffer("qk_ub", "AIV", "UB", SLICE * TILE_S1 * 4, expr(2)),
            Buffer("p_ub", "AIV", "UB", SLICE * TILE_S1 * 2, expr(2)),
            Buffer("pv_ub", "AIV", "UB", ROWS * HEAD * 4, expr(1)),
            Buffer("o_ub", "AIV", "UB", ROWS * HEAD * 4, expr(1)),
            Buffer("reduce_ub", "AIV", "UB", ROWS * 4, expr(4)),
        ),
        rings=(Ring("exp_max", "AIV", "UB", DEPTH, ROWS * 4),),
        fifos=(
            _fifo("qk", "C2V", CUBE_S0 * TILE_S1 * 4, DEPTH, "fifo_depth", 0),
            _fifo("p", "V2C", CUBE_S0 * TILE_S1 * 2, DEPTH, "fifo_depth", 2),
            _fifo("pv", "C2V", CUBE_S0 * HEAD * 4, PV_DEPTH, "pv_fifo_depth", 4),
        ),
        programs=(("AIC", _cube()), ("AIV", _vec())),
        launch=Launch(blocks=ceildiv(S0, CUBE_S0), varying=CAUSAL),
        uses_ub_scratch=True,
        l2_footprint=(S0 + 2 * S1) * HEAD * 2,
        rules=(
            Rule("s0-divisible", (S0 % CUBE_S0).eq(0), "s0 = {value} is not a multiple of cube_s0 = {limit}",
                 S0, CUBE_S0, nearest_multiple(S0, CUBE_S0)),
            Rule("s1-divisible", (S1 % TILE_S1).eq(0), "s1 = {value} is not a multiple of tile_s1 = {limit}",
                 S1, TILE_S1, nearest_multiple(S1, TILE_S1)),
            Rule("tile-divisible", (TILE_S1 % CUBE_S1).eq(0),
                 "tile_s1 = {value} is not a multiple of cube_s1 = {limit}", TILE_S1, CUBE_S1,
                 nearest_multiple(TILE_S1, CUBE_S1)),
            Rule("slice-rows", (ROWS % SUBTILES).eq(0).and_(ROWS.ge(SUBTILES)),
                 "the {value} rows of a vector core do not divide into tile_s1 / cube_s1 = {limit} slices",
                 ROWS, SUBTILES),
            Rule("preload-one", PRELOAD.gt(1).or_(TILE_S1.eq(CUBE_S1)),
                 "qk_preload = {value} needs tile_s1 = cube_s1; otherwise it is at least {limit}", PRELOAD, expr(2),
                 expr(2)),
            Rule("fractal", (CUBE_S0 % 16 + CUBE_S1 % 16 + HEAD % 16).eq(0),
                 "cube_s0, cube_s1 and head have to be multiples of {limit} (off by {value} in all)",
                 CUBE_S0 % 16 + CUBE_S1 % 16 + HEAD % 16, expr(16)),
        ),
    )  # fmt: skip
