"""Flash attention as Ascend 950 is made for: rings in UB and L1, fused vector functions, one head, bf16 or fp16.

A block works on `tile_m` rows of Q and on all of K and V in tiles of `tile_n` keys. Three FIFOs carry a tile: `qk` (S,
fp32, cube to vector), `p` (16 bit, vector to cube), `pv` (dO, fp32, cube to vector). Each has a ring in its consumer's
own memory, and one in GM (`qk_gm`, ...) that is used in its place where `qk_in_gm`, ... say so.

Schedule: the cube makes QK of `group` tiles, then PV of `group` tiles, and QK runs `preload` groups ahead of PV; the
vector sub-cores follow with softmax and update. `group` 1 and `preload` 0 is one tile at a time, `group` 2 and
`preload` 0 two tiles at a time in two slots, `group` 1 and `preload` 3 a rolling pipeline of four tiles.

Vector: operations that are not fused are each a function of its own, with a start and a pass through UB. `fused` 1
makes three functions: maximum; exponential, conversion and sum; update. The operations of a function work on registers
side by side, so that it takes what its dearest operation takes (rates and dual issue: cannmirror/asc-devkit
docs/zh/api/附录 Reg矢量计算接口理论性能汇总.md and Reg矢量计算接口指令单双发汇总.md). A softmax of 128 x 128 comes
out at 1665 cycles by that, a scaling included; 1785 were measured (examples softmax_high_performance there, case 5).

Facts from hicann/cann-samples Samples/2_Performance/flash_attn_lite_story: tiles of 128 x 128, head 128, one slot in GM
(v0), groups of two tiles in two slots (v3), a rolling pipeline of four tiles with four slots, four accumulators in L0C
and fused functions (v8). Order of the calls: TFREE behind the last read of a slot; TPOP of a ring in GM frees.
Assumed: the operations of softmax and update, as in `flash_attention`; softmax works in place in the slot, P is stored
from two tiles of its own; K, V and Q hit in L2; no unit flag. Limits: against that kernel v8 comes out 2 % too fast
(cube-bound, 1046 of 1071 cycles a tile), v3 24 % and v0 49 %, whose descriptions say nothing of loads, waits and
vector functions; v8 without fused functions 59 % too slow, which suggests that some operations share one there too.
"""

from __future__ import annotations

from collections.abc import Callable

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
from pto_tune.workloads.softmax import softmax

S0, S1, HEAD, CAUSAL = name("s0"), name("s1"), name("head"), name("causal")
TILE_M, TILE_N, CUBE_K = name("tile_m"), name("tile_n"), name("cube_k")
GROUP, PRELOAD, FUSED = name("group"), name("preload"), name("fused")
LOCAL = name("local_slot_num")
TILES, GROUPS, AHEAD, ROWS = name("tiles"), name("groups"), name("ahead"), name("rows")
QK_STEP, PV_STEP = name("qk_step"), name("pv_step")

DERIVED: tuple[tuple[str, Expr], ...] = (
    # a causal block ends with the tile of its last row
    (
        "tiles",
        where(
            CAUSAL,
            minimum(ceildiv(S1, TILE_N), ceildiv((name("block") + 1) * TILE_M, TILE_N)),
            ceildiv(S1, TILE_N),
        ),
    ),
    ("groups", ceildiv(TILES, maximum(GROUP, 1))),
    ("ahead", minimum(PRELOAD, GROUPS)),
    ("rows", where(name("split").eq(NO_SPLIT), TILE_M, ceildiv(TILE_M, 2))),
    ("qk_step", maximum(minimum(HEAD, CUBE_K), 1)),
    ("pv_step", maximum(minimum(TILE_N, CUBE_K), 1)),
)


def _ring(fifo: str, nodes: Callable[[str, bool], tuple[Node, ...]]) -> tuple[Node, ...]:
    """The nodes for the ring in the consumer's memory and for the one in GM, of which one is used."""
    in_gm = name(f"{fifo}_in_gm")
    return when(in_gm.eq(0), *nodes(fifo, False)), when(in_gm, *nodes(f"{fifo}_gm", True))


def _load(buffer: str) -> Node:
    """A tile of K or V, into L1."""
    nbytes = TILE_N * HEAD * 2
    return instr("TLOAD", "MTE2", dma("gm_to_l1", nbytes, nbytes), acquires=[buffer], publishes=[buffer])


def _product(k: Expr, step: Expr, n: Expr, reads: tuple[str, ...] = ()) -> Node:
    """tile_m x k by k x n in steps along K: operands to L0, matmul."""
    a, b = TILE_M * step * 2, step * n * 2
    return loop(
        ceildiv(k, step),
        instr("TMOV", "MTE1", dma("l1_to_l0a", a, a), acquires=["l0a"], publishes=["l0a"], reads=reads),
        instr("TMOV", "MTE1", dma("l1_to_l0b", b, b), acquires=["l0b"], publishes=["l0b"]),
        instr("TMATMUL", "M", matmul(TILE_M, step, n), takes=["l0a", "l0b"], releases=["l0a", "l0b"]),
    )


def _push_acc(fifo: str, cols: Expr) -> tuple[Node, ...]:
    acc = tile("Acc", TILE_M, cols, 4, takes=["acc"], releases=["acc"])
    return sync("M", publishes=["acc"]), *_ring(fifo, lambda ring, _: (tpush(ring, acc),))


def _qk_tile() -> tuple[Node, ...]:
    return (
        _load("k_l1"),
        sync("MTE1", takes=["k_l1"]),
        sync("M", acquires=["acc"]),
        _product(HEAD, QK_STEP, TILE_N),
        sync("MTE1", releases=["k_l1"]),
        *_push_acc("qk", TILE_N),
    )


def _pv_tile() -> tuple[Node, ...]:
    def product(ring: str, in_gm: bool) -> tuple[Node, ...]:
        popped = ("p_l1",) if in_gm else ()
        return (
            tpop(ring, tile("Mat", TILE_M, TILE_N, 2, acquires=popped, publishes=popped)),
            sync("MTE1", takes=["v_l1", *popped]),
            sync("M", acquires=["acc"]),
            _product(TILE_N, PV_STEP, HEAD, (ring,)),
            sync("MTE1", releases=["v_l1", *popped]),
            *(() if in_gm else (tfree(ring, tile=True),)),
        )

    return _load("v_l1"), *_ring("p", product), *_push_acc("pv", HEAD)


def _fused_softmax() -> tuple[Cost, ...]:
    """Two functions, by the dearest operation of each."""
    return vector("rowmax", ROWS, TILE_N), vector("exp", ROWS, TILE_N)


def _update() -> tuple[Cost, ...]:
    """Output times factor, plus PV."""
    return vector("rowexpand", ROWS, HEAD), vector("add", ROWS, HEAD)


def _fused_update() -> tuple[Cost, ...]:
    """One function with the three accesses to UB of an addition: output in, PV in, output out."""
    return (vector("add", ROWS, HEAD),)


def _softmax_tile() -> tuple[Node, ...]:
    def step(ring: str, in_gm: bool) -> tuple[Node, ...]:
        popped = ("qk_ub",) if in_gm else ()

        def work(costs: tuple[Cost, ...]) -> Node:
            return instr("SOFTMAX", "V", *costs, takes=popped, acquires=["p_ub"], releases=popped, publishes=["p_ub"],
                         reads=[ring], writes=["row_state"])  # fmt: skip

        return (
            tpop(ring, tile("Vec", ROWS, TILE_N, 4, acquires=popped, publishes=popped)),
            when(FUSED, work(_fused_softmax())),
            when(FUSED.eq(0), work(softmax(ROWS, TILE_N))),
            *(() if in_gm else (tfree(ring, tile=True),)),
        )

    p = tile("Vec", ROWS, TILE_N, 2, takes=["p_ub"], releases=["p_ub"])
    return *_ring("qk", step), *_ring("p", lambda ring, _: (tpush(ring, p),))


def _update_tile() -> tuple[Node, ...]:
    def update(ring: str, in_gm: bool) -> tuple[Node, ...]:
        popped = ("pv_ub",) if in_gm else ()

        def work(costs: tuple[Cost, ...]) -> Node:
            return instr("UPDATE", "V", *costs, takes=popped, releases=popped, reads=[ring, "row_state"])

        return (
            tpop(ring, tile("Vec", ROWS, HEAD, 4, acquires=popped, publishes=popped)),
            when(FUSED, work(_fused_update())),
            when(FUSED.eq(0), work(_update())),
            *(() if in_gm else (tfree(ring, tile=True),)),
        )

    return _ring("pv", update)


def _schedule(first: tuple[Node, ...], second: tuple[Node, ...]) -> tuple[Node, ...]:
    """The first stage `preload` groups ahead of the second."""
    return (
        loop(AHEAD, loop(GROUP, *first)),
        steady_loop(GROUPS - AHEAD, loop(GROUP, *first), loop(GROUP, *second)),
        loop(AHEAD, loop(GROUP, *second)),
    )


def _cube() -> tuple[Node, ...]:
    q_bytes = TILE_M * HEAD * 2
    return (
        instr("TLOAD", "MTE2", dma("gm_to_l1", q_bytes, q_bytes), event="q_loaded"),
        instr("TSYNC", "MTE1", waits=["q_loaded"]),
        *_schedule(_qk_tile(), _pv_tile()),
    )


def _vec() -> tuple[Node, ...]:
    o_bytes = ROWS * HEAD * 4
    return (
        *_schedule(_softmax_tile(), _update_tile()),
        instr("TROWEXPANDDIV", "V", vector("div", ROWS, HEAD), event="o_ready"),
        instr("TSTORE", "MTE3", dma("ub_to_gm", o_bytes, o_bytes, o_bytes), waits=["o_ready"]),
    )


PLACES = ("on_chip", "GM")


def _tunables() -> tuple[Tunable, ...]:
    def place(fifo: str, where_to: str) -> Tunable:
        return Tunable(f"{fifo}_in_gm", (0,), 0, f"place of the ring of {fifo}: {where_to}, or GM", 0, 1, PLACES)

    return (
        Tunable("tile_m", (64, 128), 128, "rows of Q that one block works on", 16, 4080),
        Tunable("tile_n", (64, 128, 256), 128, "keys of a FIFO tile", 16, 4080),
        Tunable("cube_k", (64, 128), 128, "K of one TMATMUL", 16, 4080),
        Tunable("group", (1,), 1, "tiles of QK, and then of PV, in a row", 1, 64),
        Tunable("preload", (0, 1, 2, 3), 3, "groups that QK runs ahead of PV", 0, 64),
        Tunable("fifo_depth", (1, 2, 4), 4, "FifoDepth of the FIFOs of QK and P", 1, 255),
        Tunable("pv_fifo_depth", (1, 2), 1, "FifoDepth of the FIFO of PV", 1, 255),
        Tunable("sync_period", (0,), 0, "SyncPeriod of the FIFOs; 0: derived from FifoDepth", 0, 255),
        Tunable("local_slot_num", (2,), 2, "LocalSlotNum: tiles popped from rings in GM", 1, 64),
        Tunable("split", (1,), 1, "TileSplitAxis between the two vector sub-cores", 0, 1, SPLITS[:2]),
        Tunable("kv_copies", (1, 2), 2, "tiles of K, and of V, in L1: 2 and more load ahead", 1, 16),
        Tunable("l0_copies", (1, 2), 2, "operands in L0A and L0B: 2 is ping-pong", 1, 4),
        Tunable("acc_copies", (1, 2, 4), 4, "accumulators in L0C, which QK and PV take in turn", 1, 16),
        place("qk", "UB"),
        place("p", "L1"),
        place("pv", "UB"),
    )


def _fifos(fifo: str, direction: str, row_bytes: Expr, depth: str, flag_id: int) -> tuple[Fifo, Fifo]:
    """The pipe with its ring on chip, in UB with slots for the rows of one sub-core, and that with its ring in GM."""
    in_gm, in_ub = name(f"{fifo}_in_gm"), direction == "C2V"
    return (
        tpipe(fifo, direction, (ROWS if in_ub else TILE_M) * row_bytes, flag_id, slot_num=name(depth),
              slot_num_name=depth, used=in_gm.eq(0), part_slots=in_ub),
        tpipe(f"{fifo}_gm", direction, TILE_M * row_bytes, flag_id + 2, slot_num=name(depth), slot_num_name=depth,
              used=in_gm, gm_form=True),
    )  # fmt: skip


def build() -> Workload:
    return Workload(
        name="flash_attention_950",
        doc="Flash attention on Ascend 950, one head: rings on chip or in GM, rolling schedule, fused vector functions",
        problem=(
            Parameter("s0", 4096, "rows of Q: the sequence length of the queries", 16),
            Parameter("s1", 4096, "rows of K and V: the sequence length of the keys", 16),
            Parameter("head", 128, "head size", 16, 512),
            Parameter("causal", 0, "1 for a causal mask: blocks have unequal trip counts", 0, 1),
            Parameter("fused", 1, "vector operations: each a pass through UB, or fused", 0, 1, ("single", "fused")),
        ),
        tunables=_tunables(),
        derived=DERIVED,
        buffers=(
            Buffer("q_l1", "AIC", "L1", TILE_M * HEAD * 2, expr(1)),
            Buffer("k_l1", "AIC", "L1", TILE_N * HEAD * 2, name("kv_copies")),
            Buffer("v_l1", "AIC", "L1", TILE_N * HEAD * 2, name("kv_copies")),
            Buffer("l0a", "AIC", "L0A", TILE_M * maximum(QK_STEP, PV_STEP) * 2, name("l0_copies")),
            Buffer("l0b", "AIC", "L0B", maximum(QK_STEP * TILE_N, PV_STEP * HEAD) * 2, name("l0_copies")),
            Buffer("acc", "AIC", "L0C", TILE_M * maximum(TILE_N, HEAD) * 4, name("acc_copies")),
            Buffer("p_ub", "AIV", "UB", ROWS * TILE_N * 2, expr(2)),
            Buffer("o_ub", "AIV", "UB", ROWS * HEAD * 4, expr(1)),
            Buffer("reduce_ub", "AIV", "UB", ROWS * 4, expr(4)),
            # tiles popped from rings in GM: their bytes are the pipes' own local memory
            Buffer("p_l1", "AIC", "L1", expr(0), LOCAL),
            Buffer("qk_ub", "AIV", "UB", expr(0), LOCAL),
            Buffer("pv_ub", "AIV", "UB", expr(0), LOCAL),
        ),
        rings=(Ring("row_state", "AIV", "UB", GROUP * (PRELOAD + 1), ROWS * 4),),
        fifos=(
            *_fifos("qk", "C2V", TILE_N * 4, "fifo_depth", 0),
            *_fifos("p", "V2C", TILE_N * 2, "fifo_depth", 4),
            *_fifos("pv", "C2V", HEAD * 4, "pv_fifo_depth", 8),
        ),
        programs=(("AIC", _cube()), ("AIV", _vec())),
        launch=Launch(blocks=ceildiv(S0, TILE_M), varying=CAUSAL),
        family="a5",
        l2_footprint=(S0 + 2 * S1) * HEAD * 2,
        rules=(
            Rule("ascend-950", name("on_a5").ne(0),
                 "rings in UB and L1 and fused vector functions are Ascend 950's: take flash_attention on A2/A3",
                 name("on_a5"), expr(1)),
            Rule("s0-divisible", (S0 % TILE_M).eq(0), "s0 = {value} is not a multiple of tile_m = {limit}",
                 S0, TILE_M, nearest_multiple(S0, TILE_M)),
            Rule("s1-divisible", (S1 % (TILE_N * GROUP)).eq(0),
                 "s1 = {value} is not a multiple of tile_n x group = {limit}", S1, TILE_N * GROUP,
                 nearest_multiple(S1, TILE_N * GROUP)),
            Rule("head-in-steps", (HEAD % QK_STEP).eq(0), "head = {value} is above cube_k = {limit} and not a multiple",
                 HEAD, CUBE_K, nearest_multiple(HEAD, CUBE_K)),
            Rule("tile-in-steps", (TILE_N % PV_STEP).eq(0),
                 "tile_n = {value} is above cube_k = {limit} and not a multiple", TILE_N, CUBE_K,
                 nearest_multiple(TILE_N, CUBE_K)),
            Rule("fractal", (TILE_M % 16 + TILE_N % 16 + CUBE_K % 16 + HEAD % 16).eq(0),
                 "tile_m, tile_n, cube_k and head have to be multiples of {limit} (off by {value} in all)",
                 TILE_M % 16 + TILE_N % 16 + CUBE_K % 16 + HEAD % 16, expr(16)),
        ),
    )  # fmt: skip
