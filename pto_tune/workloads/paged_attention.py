"""Paged attention: decode, or prefill of `q_len` tokens, on a KV cache of pages; the TileData flow, three pipes.

A block works on `q_rows` rows of Q that share one KV head and on all of its context, in tiles of `key_tile` keys. Three
FIFOs: `qk` (fp32, cube to vector), `p` (16 bit, vector to cube), `pv` (fp32, cube to vector). QK runs `preload` tiles
ahead of PV, and the softmax as many ahead of the update of the output. Pages are gathered one TLOAD each, behind a
look-up in the block table. A2/A3: the rings lie in GM, TPOP loads and frees. Ascend 950: they lie in UB (`qk`, `pv`)
and L1 (`p`), TPOP binds, and TFREE behind the last read of a tile frees it; the same program does both.

Facts from hw-native-sys/simpler tests/st/a2a3/tensormap_and_ringbuffer/spmd_paged_attention (the mix kernel of April
2026): order of the calls (QK of a tile before PV of the one before, softmax before update), FIFO depth 2, UP_DOWN, rows
of Q up to 64, pages of 64 or 128 tokens, Q in L1 for a whole block, V loaded before the TPOP of P, K and V ping-pong,
the operations of softmax and update, the last tile worked on in full (padded), fp32 output. That kernel is `preload` 1,
`back_pressure` 0 and `store_wait` 1: its scalar process waits for every store of the cube before it goes on, so that
one buffer each in L0A, L0B and L0C costs nothing. Its 24 blocks take the sequences in turn with one set of pipes; here
every sequence is a block with pipes of its own.
Assumed: two tiles in UB between vector and store, L0A and L0B ping-pong, matmuls of at most 128 keys; a look-up takes
the scalar process eight issues; K and V come from HBM once for all rows of Q that share them; with several KV heads a
token's row of one head is a burst of its own. No causal mask: every row of Q attends to the whole context.
"""

from __future__ import annotations

from pto_tune.model.expr import Expr, ceildiv, expr, maximum, minimum, name, nearest_multiple, where
from pto_tune.model.nodes import (
    NO_SPLIT,
    SPLITS,
    Buffer,
    Cost,
    Fifo,
    Launch,
    Node,
    Parameter,
    Ring,
    Rule,
    Tile,
    Tunable,
    Workload,
)
from pto_tune.model.vocabulary import (
    dma,
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

HEADS, KV_HEADS, HEAD, CONTEXT, PAGE = name("heads"), name("kv_heads"), name("head"), name("context"), name("page")
KEYS, Q_ROWS, PRELOAD = name("key_tile"), name("q_rows"), name("preload")
DEPTH, SPLIT, LOCAL = name("fifo_depth"), name("split"), name("local_slot_num")
Q_TILES, TILES, AHEAD, ROWS = name("q_tiles"), name("tiles"), name("ahead"), name("rows")
PAGES, PAGE_BYTES, STEP, STEPS = name("pages"), name("page_bytes"), name("step"), name("steps")

STORE_WAIT = name("store_wait")

LOOKUP_ISSUES = 8
"""Scalar instructions of a look-up: load of the page's number, address of its rows."""
MATMUL_KEYS = 128

DERIVED: tuple[tuple[str, Expr], ...] = (
    ("q_tiles", maximum(ceildiv(HEADS // maximum(KV_HEADS, 1) * name("q_len"), Q_ROWS), 1)),
    ("tiles", ceildiv(CONTEXT, KEYS)),
    ("ahead", minimum(PRELOAD, TILES)),
    ("rows", where(SPLIT.eq(NO_SPLIT), Q_ROWS, Q_ROWS // 2)),
    ("pages", maximum(KEYS // PAGE, 1)),
    ("page_bytes", minimum(KEYS, PAGE) * HEAD * 2),
    ("step", minimum(KEYS, MATMUL_KEYS)),
    ("steps", maximum(KEYS // maximum(STEP, 1), 1)),
)


def _gather(buffer: str) -> tuple[Node, ...]:
    """The pages of a tile of K or V, into L1."""
    burst = where(KV_HEADS.eq(1), PAGE_BYTES, HEAD * 2)
    load = dma("gm_to_l1", PAGE_BYTES, burst, PAGE_BYTES // Q_TILES)
    lookup = instr("LOOKUP", "MTE2", issues=LOOKUP_ISSUES)
    return (
        sync("MTE2", acquires=[buffer]),
        loop(PAGES - 1, lookup, instr("TLOAD", "MTE2", load)),
        lookup,
        instr("TLOAD", "MTE2", load, publishes=[buffer]),
    )


def _push(fifo: str, acc: Tile) -> tuple[Node, ...]:
    """The push of an accumulator; with `store_wait` no later load starts before the store is done."""
    stored = f"{fifo}_stored"
    return (
        when(STORE_WAIT.eq(0), tpush(fifo, acc)),
        when(STORE_WAIT, tpush(fifo, acc, event=stored), instr("TSYNC", "MTE2", waits=[stored])),
    )


def _qk_tile() -> tuple[Node, ...]:
    q_bytes, k_bytes = Q_ROWS * HEAD * 2, STEP * HEAD * 2
    return (
        *_gather("k_l1"),
        sync("MTE1", takes=["k_l1"]),
        sync("M", acquires=["qk_acc"]),
        loop(
            STEPS,
            instr("TMOV", "MTE1", dma("l1_to_l0a", q_bytes, q_bytes), acquires=["l0a"], publishes=["l0a"]),
            instr("TMOV", "MTE1", dma("l1_to_l0b", k_bytes, k_bytes), acquires=["l0b"], publishes=["l0b"]),
            instr("TMATMUL", "M", matmul(Q_ROWS, HEAD, STEP), takes=["l0a", "l0b"], releases=["l0a", "l0b"]),
        ),
        sync("MTE1", releases=["k_l1"]),
        sync("M", publishes=["qk_acc"]),
        *_push("qk", tile("Acc", Q_ROWS, KEYS, 4, takes=["qk_acc"], releases=["qk_acc"])),
    )


def _pv_tile() -> tuple[Node, ...]:
    """P is read out of L1 on MTE1; TFREE stands behind that."""
    p_bytes, v_bytes = Q_ROWS * STEP * 2, STEP * HEAD * 2
    return (
        *_gather("v_l1"),
        tpop("p", tile("Mat", Q_ROWS, KEYS, 2, acquires=["p_l1"], publishes=["p_l1"])),
        sync("MTE1", takes=["v_l1", "p_l1"]),
        sync("M", acquires=["pv_acc"]),
        loop(
            STEPS,
            instr("TMOV", "MTE1", dma("l1_to_l0a", p_bytes, p_bytes), acquires=["l0a"], publishes=["l0a"],
                  reads=["p"]),
            instr("TMOV", "MTE1", dma("l1_to_l0b", v_bytes, v_bytes), acquires=["l0b"], publishes=["l0b"]),
            instr("TMATMUL", "M", matmul(Q_ROWS, STEP, HEAD), takes=["l0a", "l0b"], releases=["l0a", "l0b"]),
        ),
        sync("MTE1", releases=["v_l1", "p_l1"]),
        tfree("p", tile=True),
        sync("M", publishes=["pv_acc"]),
        *_push("pv", tile("Acc", Q_ROWS, HEAD, 4, takes=["pv_acc"], releases=["pv_acc"])),
    )  # fmt: skip


def _cube() -> tuple[Node, ...]:
    q_bytes = Q_ROWS * HEAD * 2
    return (
        instr("TLOAD", "MTE2", dma("gm_to_l1", q_bytes, q_bytes, q_bytes), event="q_loaded"),
        instr("TSYNC", "MTE1", waits=["q_loaded"]),
        loop(AHEAD, *_qk_tile()),
        steady_loop(TILES - AHEAD, *_qk_tile(), *_pv_tile()),
        loop(AHEAD, *_pv_tile()),
    )


def _softmax() -> tuple[Cost, ...]:
    """Three copies of the running values, TROWMAX, scale and running maximum, scale, TROWEXPANDSUB, TEXP, TCVT to 16
    bit and back, TROWSUM."""
    r, c = ROWS, KEYS
    return (
        *(vector("muls", 1, r),) * 3,
        vector("rowmax", r, c),
        vector("muls", 1, r),
        vector("max", 1, r),
        vector("muls", r, c),
        vector("rowexpand", r, c),
        vector("exp", r, c),
        *(vector("cvt", r, c),) * 2,
        vector("rowsum", r, c),
    )


def _update() -> tuple[Cost, ...]:
    """exp of the difference of the maxima, output times that plus PV, running sum."""
    r = ROWS
    return (
        vector("sub", 1, r),
        vector("exp", 1, r),
        vector("rowexpand", r, HEAD),
        vector("add", r, HEAD),
        vector("mul", 1, r),
        vector("add", 1, r),
    )


def _softmax_tile() -> tuple[Node, ...]:
    return (
        tpop("qk", tile("Vec", ROWS, KEYS, 4, acquires=["qk_ub"], publishes=["qk_ub"])),
        instr("SOFTMAX", "V", *_softmax(), takes=["qk_ub"], acquires=["p_ub"], releases=["qk_ub"],
              publishes=["p_ub"], reads=["qk"], writes=["row_state"]),
        tfree("qk", tile=True),
        tpush("p", tile("Vec", ROWS, KEYS, 2, takes=["p_ub"], releases=["p_ub"])),
    )  # fmt: skip


def _update_tile() -> tuple[Node, ...]:
    return (
        tpop("pv", tile("Vec", ROWS, HEAD, 4, acquires=["pv_ub"], publishes=["pv_ub"])),
        instr("UPDATE", "V", *_update(), takes=["pv_ub"], releases=["pv_ub"], reads=["pv", "row_state"]),
        tfree("pv", tile=True),
    )


def _vec() -> tuple[Node, ...]:
    o_bytes = ROWS * HEAD * 4
    return (
        loop(AHEAD, *_softmax_tile()),
        steady_loop(TILES - AHEAD, *_softmax_tile(), *_update_tile()),
        loop(AHEAD, *_update_tile()),
        instr("TROWEXPANDDIV", "V", vector("div", ROWS, HEAD), event="o_ready"),
        instr("TSTORE", "MTE3", dma("ub_to_gm", o_bytes, o_bytes, o_bytes), waits=["o_ready"]),
    )


def _fifo(fifo: str, direction: str, nbytes: Expr, flag_id: int) -> Fifo:
    back_pressure = name("back_pressure")
    return tpipe(fifo, direction, nbytes, flag_id, allocate=back_pressure, free=back_pressure)


def build() -> Workload:
    return Workload(
        name="paged_attention",
        doc="Paged attention: QK, softmax, PV, update through three FIFOs of tiles, K and V gathered page by page",
        problem=(
            Parameter("batch", 64, "sequences"),
            Parameter("heads", 64, "heads of Q"),
            Parameter("kv_heads", 1, "heads of K and V"),
            Parameter("q_len", 1, "tokens of Q a sequence: 1 for decode"),
            Parameter("head", 128, "head size", 16, 512),
            Parameter("context", 8192, "tokens of K and V a sequence"),
            Parameter("page", 64, "tokens of a page of the KV cache", 16, 4096),
            Parameter("store_wait", 0, "1: loads of the cube wait for its last store", 0, 1, ("off", "on")),
            Parameter("back_pressure", 1, "0 switches waits for space and free credits off", 0, 1, ("off", "on")),
        ),
        tunables=(
            Tunable("key_tile", (32, 64, 128, 256), 64, "keys of a FIFO tile", 16, 4080),
            Tunable("q_rows", (16, 32, 64), 64, "rows of Q that one block works on; rows beyond are padding", 16, 4080),
            Tunable("preload", (1, 2, 3, 4), 1, "tiles that QK runs ahead of PV", 1, 64),
            Tunable("fifo_depth", (1, 2, 3, 4, 6, 8), 2, "FifoDepth of the three FIFOs", 1, 255),
            Tunable("sync_period", (0,), 0, "SyncPeriod of the FIFOs; 0: derived from FifoDepth", 0, 255),
            Tunable("local_slot_num", (1, 2), 2, "LocalSlotNum: popped tiles in UB and L1 (A2/A3)", 1, 64),
            Tunable("split", (0, 1), 1, "TileSplitAxis between the two vector sub-cores", 0, 1, SPLITS[:2]),
        ),
        derived=DERIVED,
        buffers=(
            Buffer("q_l1", "AIC", "L1", Q_ROWS * HEAD * 2, expr(1)),
            Buffer("k_l1", "AIC", "L1", KEYS * HEAD * 2, expr(2)),
            Buffer("v_l1", "AIC", "L1", KEYS * HEAD * 2, expr(2)),
            Buffer("l0a", "AIC", "L0A", Q_ROWS * maximum(HEAD, STEP) * 2, expr(2)),
            Buffer("l0b", "AIC", "L0B", STEP * HEAD * 2, expr(2)),
            Buffer("qk_acc", "AIC", "L0C", Q_ROWS * KEYS * 4, expr(1)),
            Buffer("pv_acc", "AIC", "L0C", Q_ROWS * HEAD * 4, expr(1)),
            Buffer("p_ub", "AIV", "UB", ROWS * KEYS * 2, expr(2)),
            Buffer("work_ub", "AIV", "UB", ROWS * KEYS * 4, expr(2)),
            Buffer("o_ub", "AIV", "UB", ROWS * HEAD * 4, expr(1)),
            Buffer("reduce_ub", "AIV", "UB", ROWS * 4, expr(6)),
            # popped tiles: their bytes are the pipes' own local memory
            Buffer("p_l1", "AIC", "L1", expr(0), LOCAL),
            Buffer("qk_ub", "AIV", "UB", expr(0), LOCAL),
            Buffer("pv_ub", "AIV", "UB", expr(0), LOCAL),
        ),
        rings=(Ring("row_state", "AIV", "UB", PRELOAD + 1, ROWS * 8),),
        fifos=(
            _fifo("qk", "C2V", Q_ROWS * KEYS * 4, 0),
            _fifo("p", "V2C", Q_ROWS * KEYS * 2, 2),
            _fifo("pv", "C2V", Q_ROWS * HEAD * 4, 4),
        ),
        programs=(("AIC", _cube()), ("AIV", _vec())),
        launch=Launch(blocks=name("batch") * KV_HEADS * Q_TILES),
        uses_ub_scratch=True,
        rules=(
            Rule("whole-pages", (KEYS % PAGE).eq(0).or_((PAGE % KEYS).eq(0)),
                 "key_tile = {value} is neither a multiple nor a divisor of a page of {limit} tokens", KEYS, PAGE,
                 nearest_multiple(KEYS, PAGE)),
            Rule("whole-matmuls", (KEYS % maximum(STEP, 1)).eq(0),
                 "key_tile = {value} is above {limit} and not a multiple of it", KEYS, expr(MATMUL_KEYS),
                 nearest_multiple(KEYS, MATMUL_KEYS)),
            Rule("shared-heads", (HEADS % KV_HEADS).eq(0), "heads = {value} is not a multiple of kv_heads = {limit}",
                 HEADS, KV_HEADS, nearest_multiple(HEADS, KV_HEADS)),
            Rule("fractal", (Q_ROWS % 16 + KEYS % 16 + HEAD % 16).eq(0),
                 "q_rows, key_tile and head have to be multiples of {limit} (off by {value} in all)",
                 Q_ROWS % 16 + KEYS % 16 + HEAD % 16, expr(16)),
        ),
    )  # fmt: skip
