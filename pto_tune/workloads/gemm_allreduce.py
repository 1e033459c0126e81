"""GEMM and all-reduce on several ranks: every rank computes a product of its own, and all get the sum (fp16).

Cube cores compute tiles of `base_m` x `base_n`, each a contiguous range of them in serpentine order, and announce each
in a ready queue. Vector cores take tiles from queues and add them to what their owner has (tile modulo ranks), in
subtiles of `comm_sub_m` rows: TPUT with AtomicAdd, barrier, and two signals at the owner: the counter of the subtile,
and the summary of the vector core that will pass it on. A subtile whose counter has reached the number of ranks is
complete: that vector core sends it to every other rank. Tiles of the own queue come first, complete subtiles when there
is none; there is no barrier between the two phases, nor between ranks.

`mode` compute_only leaves the vector cores out. In `sequential` they start when all blocks of their rank have computed,
and the host has noticed and launched them (`host_cycles`, by default the 30 us of a launch with synchronisation at
1850 MHz: the published time is the sum of two such measurements). `pipelined` starts both at once.

Facts from hw-native-sys/pto-isa kernels/manual/a2a3/gemm_ar (README and sources of commit 76fcaf40). M and N are padded
to whole tiles, which are computed and sent. One TLOAD brings step_k slices of K of A or of B. There is one tile of L0C;
the cube core drains it and has a barrier of all pipes before it announces the tile, so that nothing of the next tile
overlaps. Communication core c = block + blocks x sub serves the queues c, c + comm_blocks, ..., in turns.
A subtile is sent when the next one is there: the last one of a tile waits for the next tile.

Simplified: a subtile is loaded and stored within one TPUT, while in the kernel its load overlaps the store of the one
before. A counter of the own rank is added to by a scalar store and a barrier, since TNOTIFY is for other ranks. Each
search for complete subtiles starts at the first one. The queue's offset word is not read again on every visit.
Assumed: A and B are read from HBM once; the product and what is received stay in L2.
"""

from __future__ import annotations

from pto_tune.model.expr import Expr, ceildiv, expr, maximum, minimum, name, nearest_multiple, not_, where
from pto_tune.model.nodes import Launch, Node, Parameter, Rule, Tunable, Workload
from pto_tune.model.vocabulary import cycles, drain, instr, sync, when
from pto_tune.model.vocabulary_remote import (
    barrier,
    let,
    loop_index,
    post,
    signal,
    staging,
    tnotify,
    tput,
    ttest,
    twait,
    while_loop,
)
from pto_tune.workloads.base_tiles import (
    A_BYTES,
    B_BYTES,
    BASE_K,
    BASE_M,
    BASE_N,
    BLOCKS,
    BUFFERS,
    COMM,
    COMM_BLOCKS,
    COMM_CORES,
    FRACTAL,
    K_DIVISIBLE,
    MODES,
    MOST_TURNS,
    SEQUENTIAL,
    SLAB,
    STEP_K,
    K,
    k_steps,
    tunables,
)

M, N = name("m"), name("n")
RANKS, MODE = name("ranks"), name("mode")
SUB_M, STAGE_ROWS = name("comm_sub_m"), name("stage_rows")
RANK, BLOCK = name("rank"), name("block")

MOST_QUEUES = 4
"""Most ready queues that one communication core serves: it keeps a head of each."""
MOST_PASSED_ON = 60
"""Most subtiles that one communication core passes on: it keeps a bit of each."""

ROW_TILES, TILES = name("row_tiles"), name("tiles")
SUBTILES = name("subtiles")
DERIVED = (
    ("row_tiles", ceildiv(N, maximum(BASE_N, 1))),
    ("tiles", ceildiv(M, maximum(BASE_M, 1)) * name("row_tiles")),
    ("slab_k", BASE_K * STEP_K),
    ("subtiles", BASE_M // maximum(SUB_M, 1)),
)

QUEUES = maximum(ceildiv(BLOCKS - COMM, COMM_BLOCKS), 0)
OWNED = (TILES // RANKS + RANK.lt(TILES % RANKS)) * SUBTILES
"""Subtiles that a rank owns; they are numbered in the order of its tiles."""
OWNED_MOST = ceildiv(TILES, maximum(RANKS, 1)) * SUBTILES
FIRST_OWNED = COMM_BLOCKS - 1 - COMM
PASSED_ON = maximum(ceildiv(OWNED - FIRST_OWNED, COMM_BLOCKS), 0)
"""Subtiles that a communication core sends to all others: FIRST_OWNED, and on in steps of `comm_blocks`."""

Program = tuple[Node, ...]


def _tiles_of(block: Expr) -> Expr:
    return TILES // maximum(BLOCKS, 1) + block.lt(TILES % BLOCKS)


def _first_tile_of(block: Expr) -> Expr:
    return block * (TILES // maximum(BLOCKS, 1)) + minimum(block, TILES % BLOCKS)


def _cube() -> Program:
    column_tiles = TILES // maximum(ROW_TILES, 1)
    return (
        loop_index(
            "done",
            _tiles_of(BLOCK),
            k_steps(K // maximum(SLAB, 1), A_BYTES // maximum(ROW_TILES, 1), B_BYTES // maximum(column_tiles, 1)),
            sync("M", acquires=["acc"], publishes=["acc"]),
            instr("TSTORE", "FIX", drain(BASE_M, BASE_N, 2), takes=["acc"], releases=["acc"]),
            barrier(),
            post("queue", name("done") + 1, at=BLOCK),
        ),
        when(MODE.eq(SEQUENTIAL), post("computed", 1, op="AtomicAdd")),
    )  # fmt: skip


def _by_queue(queue: Expr, values: list[Expr]) -> Expr:
    """The value of a queue by its place among those of a core."""
    chosen = values[-1]
    for k in range(len(values) - 2, -1, -1):
        chosen = where(queue.eq(k), values[k], chosen)
    return chosen


def _put(peer: Expr, atomic: str) -> Node:
    return tput(peer, (1, 1, 1, SUB_M, BASE_N), "ping", pong="pong", use_pong=name("ping_pong"), elem="half",
                atomic=atomic)  # fmt: skip


def _add_pending() -> Program:
    """The subtile that was left behind to its owner, who is told of it."""
    tile, own = name("pending") // maximum(SUBTILES, 1), name("own")
    owner, summary = tile % RANKS, COMM_BLOCKS - 1 - own % COMM_BLOCKS
    return (
        let("own", tile // RANKS * SUBTILES + name("pending") % SUBTILES),
        _put(owner, "AtomicAdd"),
        barrier(),
        when(owner.ne(RANK), tnotify("added", owner, at=own), tnotify("summary", owner, at=summary)),
        when(
            owner.eq(RANK),
            post("added", 1, at=own, op="AtomicAdd"),
            post("summary", 1, at=summary, op="AtomicAdd"),
            barrier(),
        ),
    )


def _reduce_scatter() -> Program:
    """At most one tile, from the first queue that has one, beginning behind the queue that had the last.

    Each subtile goes when the next one is there; the very last one has none behind it.
    """
    heads = [name(f"head_{k}") for k in range(MOST_QUEUES)]
    queue, found = name("queue_at"), name("found")
    block = COMM + queue * COMM_BLOCKS
    head = name("head")
    linear = _first_tile_of(block) + head
    row, column = linear // maximum(ROW_TILES, 1), linear % ROW_TILES
    return (
        let("found", 0),
        let("tried", 0),
        while_loop(
            not_(found).and_(name("tried").lt(QUEUES)),
            QUEUES,
            let("queue_at", (name("last") + 1 + name("tried")) % QUEUES),
            let("head", _by_queue(queue, heads)),
            # the head moves on, then the slot is read
            when(head.lt(_tiles_of(block)), ttest("queue", head + 1, into="found", at=block, view=[(2, 0)])),
            let("tried", name("tried") + 1),
        ),
        when(
            found,
            let("last", queue),
            let("to_add", name("to_add") - 1),
            *(when(queue.eq(k), let(f"head_{k}", head + 1)) for k in range(MOST_QUEUES)),
            let("tile", row * ROW_TILES + where((row % 2).eq(0), column, ROW_TILES - 1 - column)),
            loop_index(
                "part",
                SUBTILES + name("to_add").eq(0),
                when(name("pending").ge(0), *_add_pending()),
                let("pending", name("tile") * SUBTILES + name("part")),
            ),
        ),
    )


def _all_gather() -> Program:
    """All complete subtiles of this core that are not sent yet, each to every other rank. `sent` has a bit for each."""
    subtile = FIRST_OWNED + name("nth") * COMM_BLOCKS
    away = (subtile + name("step")) % maximum(RANKS - 1, 1)
    return (
        let("passed", 0),
        let("bit", 1),
        loop_index(
            "nth",
            PASSED_ON,
            when(
                (name("sent") // name("bit") % 2).eq(0),
                ttest("added", RANKS, into="complete", at=subtile),
                when(
                    name("complete"),
                    when(name("passed").eq(0), barrier()),
                    let("passed", 1),
                    let("sent", name("sent") + name("bit")),
                    let("to_pass_on", name("to_pass_on") - 1),
                    loop_index("step", RANKS - 1, _put((RANK + 1 + away) % RANKS, "AtomicNone")),
                ),
            ),
            let("bit", name("bit") * 2),
        ),
    )


def _wait() -> Program:
    """For a tile of the first queue that is not empty for good; when all are, for a signal of a subtile."""
    heads = [name(f"head_{k}") for k in range(MOST_QUEUES)]
    head, block = _by_queue(name("nth"), heads), COMM + name("queue_at") * COMM_BLOCKS
    return (
        when(
            name("to_add").gt(0),
            let("queue_at", -1),
            loop_index(
                "nth",
                QUEUES,
                when(
                    name("queue_at").lt(0).and_(head.lt(_tiles_of(COMM + name("nth") * COMM_BLOCKS))),
                    let("queue_at", name("nth")),
                ),
            ),
            twait("queue", _by_queue(name("queue_at"), heads) + 1, at=block),
        ),
        when(
            name("to_add").eq(0).and_(name("to_pass_on").gt(0)),
            twait("summary", PASSED_ON - name("to_pass_on") + 1, at=COMM),
        ),
    )


def _vector() -> Program:
    tiles = expr(0)
    for k in range(MOST_QUEUES):
        block = COMM + k * COMM_BLOCKS
        tiles = tiles + where(block.lt(BLOCKS), _tiles_of(block), 0)
    return (
        when(
            MODE.ne(0).and_(COMM.lt(COMM_BLOCKS)),
            when(
                MODE.eq(SEQUENTIAL),
                twait("computed", BLOCKS),
                instr("HOST", "V", cycles(name("host_cycles"))),
                barrier("V"),
            ),
            let("last", QUEUES - 1),
            let("pending", -1),
            let("to_add", tiles),
            let("to_pass_on", where(RANKS.gt(1), PASSED_ON, 0)),
            while_loop(
                name("to_add") + name("to_pass_on"),
                MOST_TURNS,
                *_reduce_scatter(),
                when(
                    not_(name("found")),
                    *_all_gather(),
                    when(not_(name("passed")).and_(name("wait").eq(0)), *_wait()),
                ),
            ),
            barrier(),
        ),
    )


def build() -> Workload:
    return Workload(
        name="gemm_allreduce",
        doc="Matrix product on every rank and the sum of all: cube cores compute, vector cores communicate (fp16)",
        problem=(
            Parameter("m", 5416, "rows of A and C"),
            Parameter("k", 6144, "columns of A, rows of B", 16),
            Parameter("n", 1408, "columns of B and C"),
            Parameter("ranks", 8, "ranks, each with an A and a B of its own", 1, 64),
            Parameter("mode", 2, "what runs when", 0, 2, MODES),
            Parameter("host_cycles", 55500, "sequential: cycles from the end of computing to the launch behind it", 0),
        ),
        tunables=(
            *tunables("K slices that one TLOAD brings"),
            Tunable("blocks", (20, 24), 24, "blocks that compute", 1, 64),
            Tunable("comm_blocks", (12, 24, 48), 24, "vector cores that communicate", 1, 128),
            Tunable("comm_sub_m", (32, 64, 128), 64, "rows of a subtile", 1, 4095),
            Tunable("stage_rows", (16, 32, 64, 128), 64, "rows of a staging tile", 1, 4095),
            Tunable("ping_pong", (0, 1), 0, "whether two staging tiles take turns", 0, 1, ("off", "on")),
            Tunable("wait", (0, 1), 0, "what a vector core does when nothing is ready: TWAIT for its first queue, or "
                    "TTEST all again", 0, 1, ("TWAIT", "TTEST")),
        ),
        derived=DERIVED,
        buffers=BUFFERS,
        fifos=(),
        programs=(("AIC", _cube()), ("AIV", _vector())),
        launch=Launch(blocks=BLOCKS),
        l2_footprint=(M * K + K * N) * 2,
        ranks=RANKS,
        signals=(
            signal("queue", BLOCKS),
            signal("computed", 1),
            signal("added", maximum(OWNED_MOST, 1)),
            signal("summary", COMM_BLOCKS),
        ),
        staging=(
            staging("ping", STAGE_ROWS, BASE_N, "half"),
            staging("pong", STAGE_ROWS, BASE_N, "half", used=name("ping_pong")),
        ),
        rules=(
            K_DIVISIBLE,
            FRACTAL,
            Rule("subtile-divisible", (BASE_M % SUB_M).eq(0).and_(SUB_M.le(BASE_M)),
                 "base_m = {value} is not a multiple of comm_sub_m = {limit}", BASE_M, SUB_M,
                 nearest_multiple(BASE_M, SUB_M)),
            Rule("stage-divisible", (SUB_M % STAGE_ROWS).eq(0).and_(STAGE_ROWS.le(SUB_M)),
                 "comm_sub_m = {value} is not a multiple of stage_rows = {limit}", SUB_M, STAGE_ROWS,
                 nearest_multiple(SUB_M, STAGE_ROWS)),
            COMM_CORES,
            Rule("queues", (COMM_BLOCKS * MOST_QUEUES).ge(BLOCKS),
                 "comm_blocks = {value} leave more than 4 queues to a vector core: at least {limit}", COMM_BLOCKS,
                 ceildiv(BLOCKS, MOST_QUEUES), ceildiv(BLOCKS, MOST_QUEUES)),
            Rule("passed-on", ceildiv(OWNED_MOST, maximum(COMM_BLOCKS, 1)).le(MOST_PASSED_ON),
                 "a vector core would pass {value} subtiles on: at most {limit}",
                 ceildiv(OWNED_MOST, maximum(COMM_BLOCKS, 1)), expr(MOST_PASSED_ON)),
        ),
    )  # fmt: skip
