"""Dispatch of a mixture of experts: tokens are sent as rows to the ranks that have their experts (fp16).

A rank has `tokens` tokens, each with a row of `hidden` numbers and `top_k` experts; expert e is on rank
e // (experts / ranks). The first vector core of each block sends its share of the tokens, in batches of
`notify_tokens`: rank by rank, each block beginning with another one, a TPUT for each row that goes there, a barrier,
and one TNOTIFY that adds 65536 + rows to a counter that the peer has for this rank and block. So a counter says how
many batches came, and how many rows, which a receiver can not know otherwise. The second vector core receives: for each
batch of its block on all ranks it waits until the counters say that it is there, and moves its rows from where they
arrived to their experts. TWAIT waits for all ranks at once (every `blocks`-th counter); with TTEST it looks at them in
turns, and moves what is there.

That rows go one by one through UB into a window of the peer, that counts follow with a flag, and that the receiver
waits for all ranks and then copies the rows out of the window is as in CANN's operator (ops-transformer
mc2/moe_distribute_dispatch, kernel sources), whose row of 14 KB and two buffers are the defaults here; there all cores
send first and receive then, in one batch. That its transfers are PTO instructions, and batches, are choices of this
workload: nothing is published for it.

Assumed: the experts of token t of rank r are (((r x tokens + t) x top_k + j) x stride) modulo experts, j < top_k, which
spreads rows evenly where experts and stride have no common divisor; the routing is known (its cost is not in here, nor
that of finding the rows of a rank); a row is contiguous and TPUT sees it as rows as long as those of the staging tile,
which a tail leaves smaller for the rows that follow; rows for the own rank go the same way, and its counter is added to
by a scalar store and a barrier, since TNOTIFY is for other ranks; tokens and what is received are in L2.
"""

from __future__ import annotations

from pto_tune.model.expr import Expr, ceildiv, expr, maximum, minimum, name, nearest_multiple
from pto_tune.model.nodes import Buffer, Launch, Node, Parameter, Rule, Tunable, Workload
from pto_tune.model.vocabulary import dma, instr, when
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

TOKENS, HIDDEN, EXPERTS, TOP_K = name("tokens"), name("hidden"), name("experts"), name("top_k")
RANKS, STRIDE = name("ranks"), name("stride")
STAGE_ROWS, STAGE_COLS = name("stage_rows"), name("stage_cols")
BLOCKS, NOTIFY_TOKENS, WAIT = name("blocks"), name("notify_tokens"), name("wait")
RANK, BLOCK, SUB = name("rank"), name("block"), name("sub")

A_BATCH = 65536
"""What a batch adds to a counter beside its rows."""
MOST_RANKS = 60
"""Most ranks: a receiver keeps a bit of each."""
MOST_TURNS = 2**22
"""Bound of the loop that polls: some seconds."""

ROW_BYTES, EXPERTS_A_RANK = name("row_bytes"), name("experts_a_rank")
DERIVED = (
    ("row_bytes", HIDDEN * 2),
    ("experts_a_rank", EXPERTS // maximum(RANKS, 1)),
)

SHARE = TOKENS // maximum(BLOCKS, 1) + BLOCK.lt(TOKENS % BLOCKS)
"""Tokens of a block."""
FIRST = BLOCK * (TOKENS // maximum(BLOCKS, 1)) + minimum(BLOCK, TOKENS % BLOCKS)
BATCHES = ceildiv(SHARE, maximum(NOTIFY_TOKENS, 1))

ROWS_MOST = ceildiv(TOKENS, maximum(BLOCKS, 1)) * TOP_K
MOST_COUNTED = 32767
"""Rows of a block, which are no fewer than its batches, that a counter holds: 32767 x 65536 + 32767 is below 2^31."""

Program = tuple[Node, ...]


def _rows(source: Expr, to: Expr, *each: Node) -> Node:
    """The nodes for each row that a batch of `source` has for rank `to`."""
    token = source * TOKENS + FIRST + name("batch") * NOTIFY_TOKENS + name("token")
    expert = (token * TOP_K + name("choice")) * STRIDE % EXPERTS
    return loop_index(
        "token",
        minimum(NOTIFY_TOKENS, SHARE - name("batch") * NOTIFY_TOKENS),
        loop_index("choice", TOP_K, when((expert // maximum(EXPERTS_A_RANK, 1)).eq(to), *each)),
    )


def _send() -> Program:
    peer, added = name("peer"), name("rows") + A_BATCH
    at = RANK * BLOCKS + BLOCK
    row = tput(peer, (1, 1, 1, HIDDEN // maximum(STAGE_COLS, 1), STAGE_COLS), "ping", pong="pong",
               use_pong=name("ping_pong"), elem="half")  # fmt: skip
    return (
        loop_index(
            "batch",
            BATCHES,
            loop_index(
                "step",
                RANKS,
                let("peer", (RANK + BLOCK + name("step") + 1) % RANKS),
                let("rows", 0),
                _rows(RANK, peer, row, let("rows", name("rows") + 1)),
                barrier(),
                when(peer.ne(RANK), tnotify("received", peer, added, at=at)),
                when(peer.eq(RANK), post("received", added, at=at, op="AtomicAdd"), barrier()),
            ),
        ),
    )


def _move(source: Expr) -> Node:
    return _rows(
        source,
        RANK,
        instr("TLOAD", "MTE2", dma("gm_to_ub", ROW_BYTES, ROW_BYTES), acquires=["row"], publishes=["row"]),
        instr("TSTORE", "MTE3", dma("ub_to_gm", ROW_BYTES, ROW_BYTES), takes=["row"], releases=["row"]),
    )


def _receive() -> Program:
    arrived = (name("batch") + 1) * A_BATCH
    source = name("source")
    return (
        loop_index(
            "batch",
            BATCHES,
            when(
                WAIT.eq(0),
                twait("received", arrived, at=BLOCK, view=[(RANKS, BLOCKS)]),
                loop_index("source", RANKS, _move(source)),
            ),
            when(
                WAIT.eq(1),
                let("left", RANKS),
                let("moved", 0),
                while_loop(
                    name("left"),
                    MOST_TURNS,
                    let("bit", 1),
                    loop_index(
                        "source",
                        RANKS,
                        when(
                            (name("moved") // name("bit") % 2).eq(0),
                            ttest("received", arrived, into="ready", at=source * BLOCKS + BLOCK),
                            when(
                                name("ready"),
                                let("moved", name("moved") + name("bit")),
                                let("left", name("left") - 1),
                                _move(source),
                            ),
                        ),
                        let("bit", name("bit") * 2),
                    ),
                ),
            ),
        ),
        barrier(),
    )


def build() -> Workload:
    return Workload(
        name="moe_dispatch",
        doc="Rows of tokens to the ranks of their experts by TPUT, counted by TNOTIFY, and moved on there (fp16)",
        problem=(
            Parameter("tokens", 128, "tokens of a rank", 1, 65536),
            Parameter("hidden", 7168, "numbers of a row", 16, 65536),
            Parameter("experts", 256, "experts of all ranks", 1, 65536),
            Parameter("top_k", 8, "experts of a token", 1, 64),
            Parameter("ranks", 8, "ranks, each with its share of the experts", 1, MOST_RANKS),
            Parameter("stride", 37, "from an expert of a token to its next one, modulo experts", 1, 65536),
        ),
        tunables=(
            Tunable("stage_rows", (1, 2, 4, 7, 14), 7, "rows of a staging tile", 1, 4095),
            Tunable("stage_cols", (512, 1024, 1792, 3584, 7168), 1024, "columns of a staging tile", 16, 4095 * 16),
            Tunable("ping_pong", (0, 1), 1, "whether two staging tiles take turns", 0, 1, ("off", "on")),
            Tunable("blocks", (4, 8, 16, 20, 24, 32), 16, "blocks: a vector core of each sends", 1, 64),
            Tunable("notify_tokens", (1, 2, 4, 8, 16, 32), 4, "tokens behind which there is a signal", 1, 65536),
            Tunable("wait", (0, 1), 0, "how a receiver waits: TWAIT for all ranks, or TTEST to begin with what is "
                    "there", 0, 1, ("TWAIT", "TTEST")),
        ),
        derived=DERIVED,
        buffers=(Buffer("row", "AIV", "UB", ROW_BYTES, expr(2)),),
        fifos=(),
        programs=(("AIV", (when(SUB.eq(0), *_send()), when(SUB.eq(1), *_receive()))),),
        launch=Launch(blocks=BLOCKS),
        ranks=RANKS,
        signals=(signal("received", RANKS, BLOCKS),),
        staging=(
            staging("ping", STAGE_ROWS, STAGE_COLS, "half", dynamic_rows=1),
            staging("pong", STAGE_ROWS, STAGE_COLS, "half", dynamic_rows=1, used=name("ping_pong")),
        ),
        rules=(
            Rule("experts-divisible", (EXPERTS % RANKS).eq(0),
                 "experts = {value} are not a multiple of ranks = {limit}", EXPERTS, RANKS,
                 nearest_multiple(EXPERTS, RANKS)),
            Rule("enough-experts", TOP_K.le(EXPERTS), "top_k = {value} is more than experts = {limit}", TOP_K, EXPERTS,
                 minimum(TOP_K, EXPERTS)),
            Rule("whole-rows", (HIDDEN % maximum(STAGE_COLS, 1)).eq(0),
                 "hidden = {value} is not a multiple of stage_cols = {limit}", HIDDEN, STAGE_COLS,
                 nearest_multiple(HIDDEN, STAGE_COLS)),
            Rule("a-token-each", BLOCKS.le(TOKENS), "blocks = {value} share {limit} tokens", BLOCKS, TOKENS,
                 minimum(BLOCKS, TOKENS)),
            Rule("counts-fit", ROWS_MOST.le(MOST_COUNTED),
                 "a block sends up to {value} rows: at most {limit}, or a counter of 32 bits does not hold them",
                 ROWS_MOST, expr(MOST_COUNTED)),
        ),
    )  # fmt: skip
