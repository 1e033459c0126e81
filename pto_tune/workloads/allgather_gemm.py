"""All-gather and GEMM on several ranks: each owns rows of A and all of B, and computes all of C = A x B (fp16, C fp32).

Vector cores push the rows of their rank to the others, each core chunks of tiles to one peer: TPUT of each tile of
`base_m` x (`base_k` x `step_k`), a barrier, and two signals at the peer: the flag of the chunk, and the summary of the
rank that it comes from. Cube cores compute row groups of `base_m` rows and all columns: first those of their own rank,
then the others, which they wait for by chunks. With `wait` TTEST, as in the kernel, a cube core waits before each tile
for a summary beyond what it has used of the row group, tests its chunks in turns, and computes with those that are
there; with TWAIT it waits for all chunks of a row group before the first tile of it.

`mode` compute_only leaves the vector cores out: everything is there. In `sequential` the cube cores start when all
vector cores of their rank have sent all, and the host has noticed and launched them (`host_cycles`, by default the
30 us of a launch with synchronisation at 1850 MHz). `pipelined` starts both at once.

Facts from hw-native-sys/pto-isa kernels/manual/a2a3/allgather_gemm (README and sources). One TLOAD brings step_k slices
of K of A or of B; there is one tile of L0C, and a barrier of all pipes after each row group. A chunk has 4 tiles, or
more where there would be more than 128 chunks. Peers have the same number of vector cores each, the rest is idle; each
sends a contiguous range. The first one marks the chunks of its own rank before it sends. Row group g is computed by
block g modulo blocks, own ones counted apart. TPUT is given two UB tiles, but a tile that fits one goes in one piece.
The kernel runs 24 and 48 cores; the defaults here are those of chips with 20. Of the eight published times (2 to 8
ranks of 910B1, between events) 2048 x 2048 x 1024 on 2 comes out 13 % too short and 16384 x 4096 x 4096 on 8 22 % too
long, the others within 12 %: too short on 2 ranks, too long on 4 and 8.

Simplified: a flag of the own rank is set by a scalar store and a barrier, since TNOTIFY is for other ranks; the address
of a flag is known without reading the header in the memory of the peer; compute_only tests no flags.
Assumed: A and B are read from HBM once, what is received is still in L2, C goes to HBM; communication core c is vector
core c // blocks of block c % blocks.
"""

from __future__ import annotations

from pto_tune.model.expr import Expr, ceildiv, expr, maximum, minimum, name, nearest_multiple, not_, where
from pto_tune.model.nodes import Launch, Node, Parameter, Rule, Tunable, Workload
from pto_tune.model.vocabulary import cycles, drain, instr, loop, sync, when
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
RANKS, MODE, WAIT = name("ranks"), name("mode"), name("wait")
CHUNK_TILES = name("chunk_tiles")
STAGE_ROWS = name("stage_rows")
RANK, BLOCK = name("rank"), name("block")

MOST_CHUNKS = 128
"""Chunks of a rank up to which `chunk_tiles` is what a chunk has."""
MOST_IN_A_GROUP = 60
"""Most chunks of a row group: the cube core keeps a bit of each."""

K_TILES = name("k_tiles")
OWN_GROUPS, ROW_TILES = name("own_groups"), name("row_tiles")
TILES, IN_CHUNK, CHUNKS = name("tiles"), name("in_chunk"), name("chunks")
CORES_A_PEER = name("cores_a_peer")
_GROWN = ceildiv(ceildiv(TILES, MOST_CHUNKS), 4) * 4
DERIVED = (
    ("slab_k", BASE_K * STEP_K),
    ("k_tiles", K // maximum(SLAB, 1)),
    ("own_groups", M // maximum(RANKS * BASE_M, 1)),
    ("row_tiles", N // maximum(BASE_N, 1)),
    ("tiles", OWN_GROUPS * K_TILES),
    ("in_chunk", where(TILES.gt(CHUNK_TILES * MOST_CHUNKS), maximum(CHUNK_TILES, minimum(_GROWN, 64)), CHUNK_TILES)),
    ("chunks", ceildiv(TILES, maximum(IN_CHUNK, 1))),
    ("cores_a_peer", COMM_BLOCKS // maximum(RANKS - 1, 1)),
)

SENDERS = CORES_A_PEER * (RANKS - 1)

Program = tuple[Node, ...]


def _k_steps(trips: Expr, own: bool) -> Node:
    """Tiles of A and of B, and their products; A of the own rank is in HBM."""
    return k_steps(trips, A_BYTES // maximum(ROW_TILES, 1) if own else 0, B_BYTES // maximum(OWN_GROUPS * RANKS, 1))


def _row_group(k_steps: Program) -> Program:
    return (
        loop(
            ROW_TILES,
            sync("M", acquires=["acc"]),
            *k_steps,
            sync("M", publishes=["acc"]),
            instr("TSTORE", "FIX", drain(BASE_M, BASE_N, 4, BASE_M * BASE_N * 4), takes=["acc"], releases=["acc"]),
        ),
        barrier(),
    )


def _as_they_come(source: Expr, first_tile: Expr, first_chunk: Expr, chunks: Expr) -> Program:
    """The products of one tile with the chunks of its row group that are there, until all were. `used` has a bit for
    each."""
    chunk = first_chunk + name("nth")
    begin = maximum(chunk * IN_CHUNK, first_tile)
    end = minimum((chunk + 1) * IN_CHUNK, first_tile + K_TILES)
    return (
        let("left", chunks),
        let("used", 0),
        while_loop(
            name("left"),
            MOST_TURNS,
            twait("summary", chunks - name("left") + 1, at=source),
            let("bit", 1),
            loop_index(
                "nth",
                chunks,
                when(
                    (name("used") // name("bit") % 2).eq(0),
                    ttest("flag", 1, into="ready", at=source * CHUNKS + chunk),
                    when(
                        name("ready"),
                        let("used", name("used") + name("bit")),
                        let("left", name("left") - 1),
                        _k_steps(end - begin, own=False),
                    ),
                ),
                let("bit", name("bit") * 2),
            ),
        ),
    )


def _cube() -> Program:
    group = BLOCK + name("turn") * BLOCKS
    source, first_tile = group // maximum(OWN_GROUPS, 1), group % OWN_GROUPS * K_TILES
    first_chunk = first_tile // maximum(IN_CHUNK, 1)
    chunks = (first_tile + K_TILES - 1) // maximum(IN_CHUNK, 1) - first_chunk + 1
    by_test = MODE.ne(0).and_(WAIT.eq(1))
    return (
        when(
            MODE.eq(SEQUENTIAL),
            twait("sent", SENDERS),
            instr("HOST", "MTE1", cycles(name("host_cycles"))),
            barrier("MTE1"),
        ),
        loop(ceildiv(OWN_GROUPS - BLOCK, BLOCKS), *_row_group((_k_steps(K_TILES, own=True),))),
        loop_index(
            "turn",
            ceildiv(OWN_GROUPS * RANKS - BLOCK, BLOCKS),
            when(
                source.ne(RANK),
                when(MODE.ne(0).and_(WAIT.eq(0)),
                     twait("flag", 1, at=source * CHUNKS + first_chunk, view=[(chunks, 1)])),
                when(by_test, *_row_group(_as_they_come(source, first_tile, first_chunk, chunks))),
                when(not_(by_test), *_row_group((_k_steps(K_TILES, own=False),))),
            ),
        ),
    )  # fmt: skip


def _mark_own() -> Program:
    return (
        loop_index("chunk", CHUNKS, post("flag", 1, at=RANK * CHUNKS + name("chunk"), op="AtomicAdd"), barrier()),
        post("summary", CHUNKS, at=RANK, op="AtomicAdd"),
        barrier(),
    )


def _vector() -> Program:
    nth_peer = COMM // maximum(CORES_A_PEER, 1)
    peer = nth_peer + nth_peer.ge(RANK)
    share = ceildiv(CHUNKS, maximum(CORES_A_PEER, 1))
    chunk = COMM % CORES_A_PEER * share + name("mine")
    return (
        when(
            MODE.ne(0).and_(COMM.lt(SENDERS)),
            when(COMM.eq(0), *_mark_own()),
            loop_index(
                "mine",
                share,
                when(
                    chunk.lt(CHUNKS),
                    loop(
                        minimum(IN_CHUNK, TILES - chunk * IN_CHUNK),
                        tput(peer, (1, 1, 1, BASE_M, SLAB), "ping", pong="pong", use_pong=name("ping_pong"),
                             elem="half"),
                    ),
                    barrier(),
                    tnotify("flag", peer, at=RANK * CHUNKS + chunk),
                    tnotify("summary", peer, at=RANK),
                ),
            ),
            when(MODE.eq(SEQUENTIAL), post("sent", 1, op="AtomicAdd")),
        ),
    )  # fmt: skip


def build() -> Workload:
    in_a_group = ceildiv(K_TILES, maximum(IN_CHUNK, 1)) + 1
    return Workload(
        name="allgather_gemm",
        doc="Matrix product with A in parts on several ranks: vector cores gather it while cube cores compute (fp16)",
        problem=(
            Parameter("m", 2048, "rows of A and C, of all ranks", 16),
            Parameter("k", 2048, "columns of A, rows of B", 16),
            Parameter("n", 1024, "columns of B and C", 16),
            Parameter("ranks", 2, "ranks, each with its share of the rows of A", 2, 16),
            Parameter("mode", 2, "what runs when", 0, 2, MODES),
            Parameter("host_cycles", 55500, "sequential: cycles from the end of sending to the launch behind it", 0),
        ),
        tunables=(
            *tunables("K slices that one TLOAD, and one TPUT, brings"),
            Tunable("blocks", (20, 24), 20, "blocks that compute", 1, 64),
            Tunable("comm_blocks", (8, 16, 24, 40, 48), 40, "vector cores that send", 1, 128),
            Tunable("chunk_tiles", (1, 2, 4, 8), 4, "tiles of A behind which there is a signal", 1, 64),
            Tunable("stage_rows", (16, 32, 64, 128), 128, "rows of a staging tile", 1, 4095),
            Tunable("ping_pong", (0, 1), 1, "whether two staging tiles take turns", 0, 1, ("off", "on")),
            Tunable("wait", (0, 1), 1, "how a cube core waits: TWAIT for a whole row group, or TTEST of its chunks to "
                    "begin with what is there", 0, 1, ("TWAIT", "TTEST")),
        ),
        derived=DERIVED,
        buffers=BUFFERS,
        fifos=(),
        programs=(("AIC", _cube()), ("AIV", _vector())),
        launch=Launch(blocks=BLOCKS),
        l2_footprint=(M * K + K * N) * 2,
        ranks=RANKS,
        signals=(
            signal("flag", RANKS, maximum(CHUNKS, 1)),
            signal("summary", RANKS),
            signal("sent", 1),
        ),
        staging=(
            staging("ping", STAGE_ROWS, SLAB, "half"),
            staging("pong", STAGE_ROWS, SLAB, "half", used=name("ping_pong")),
        ),
        rules=(
            Rule("m-divisible", (M % (RANKS * BASE_M)).eq(0),
                 "m = {value} is not a multiple of ranks x base_m = {limit}", M, RANKS * BASE_M,
                 nearest_multiple(M, RANKS * BASE_M)),
            K_DIVISIBLE,
            Rule("n-divisible", (N % BASE_N).eq(0),
                 "n = {value} is not a multiple of base_n = {limit}", N, BASE_N, nearest_multiple(N, BASE_N)),
            FRACTAL,
            Rule("stage-divisible", (BASE_M % STAGE_ROWS).eq(0).and_(STAGE_ROWS.le(BASE_M)),
                 "base_m = {value} is not a multiple of stage_rows = {limit}", BASE_M, STAGE_ROWS,
                 nearest_multiple(BASE_M, STAGE_ROWS)),
            COMM_CORES,
            Rule("core-a-peer", COMM_BLOCKS.ge(RANKS - 1),
                 "comm_blocks = {value} are fewer than the other ranks: {limit}", COMM_BLOCKS, RANKS - 1, RANKS - 1),
            Rule("chunks-of-a-group", in_a_group.le(MOST_IN_A_GROUP),
                 "a row group has up to {value} chunks: at most {limit}", in_a_group, expr(MOST_IN_A_GROUP)),
        ),
    )  # fmt: skip
