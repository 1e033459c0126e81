"""A buffer to and fro between two ranks: TPUT, barrier, TNOTIFY; the other rank waits for the signal and sends it back.

Every block sends its share of the buffer's rows from its first vector core, and has a counter of its own at the other
rank: the replies of different blocks do not wait for each other. A counter grows by one a round. TWAIT polls until it
is reached; with TTEST the kernel polls itself, in a loop that is bounded.

The pattern is that of the pages of TPUT, TNOTIFY and TWAIT in the PTO ISA; nothing is published for it. Assumed: the
buffer is contiguous and seen as rows as long as those of the staging tile; nothing is computed between the transfers.
"""

from __future__ import annotations

from pto_tune.model.expr import Expr, expr, maximum, minimum, name, nearest_multiple
from pto_tune.model.nodes import Launch, Node, Parameter, Rule, Tunable, Workload
from pto_tune.model.vocabulary import when
from pto_tune.model.vocabulary_remote import barrier, loop_index, poll, signal, staging, tnotify, tput, twait

BYTES, ROUNDS, BLOCKS = name("bytes"), name("rounds"), name("blocks")
ROWS, COLS = name("tile_rows"), name("tile_cols")
ROW_BYTES = COLS * 4
BUFFER_ROWS = BYTES // ROW_BYTES
RANK, BLOCK = name("rank"), name("block")
PEER = expr(1) - RANK
MOST_POLLS = 2**20
"""Bound of the polling loop: some tenth of a second."""

SENT = BUFFER_ROWS // maximum(BLOCKS, 1) + BLOCK.lt(BUFFER_ROWS % BLOCKS)
"""Rows that a block sends."""


def _send() -> tuple[Node, ...]:
    move = tput(PEER, (1, 1, 1, SENT, COLS), "ping", pong="pong", use_pong=name("ping_pong"))
    return move, barrier(), tnotify("arrived", PEER, 1, at=BLOCK)


def _wait(until: Expr) -> tuple[Node, ...]:
    return (
        when(name("wait").eq(0), twait("arrived", until, at=BLOCK)),
        when(name("wait").eq(1), *poll("arrived", until, MOST_POLLS, at=BLOCK)),
    )


def build() -> Workload:
    done = name("round") + 1
    program = (
        when(
            name("sub").eq(0),
            loop_index(
                "round",
                ROUNDS,
                when(RANK.eq(0), *_send(), *_wait(done)),
                when(RANK.eq(1), *_wait(done), *_send()),
            ),
        ),
    )
    return Workload(
        name="tput_pingpong",
        doc="A buffer to and fro between two ranks by TPUT, with a signal behind each transfer",
        problem=(
            Parameter("bytes", 65536, "bytes of the buffer", 4, 2**30),
            Parameter("rounds", 8, "times that the buffer goes to and fro", 1, 4096),
        ),
        tunables=(
            Tunable("tile_rows", (1, 2, 4, 8, 16, 32), 8, "rows of the staging tile", 1, 4095),
            Tunable("tile_cols", (256, 512, 1024, 2048), 1024, "columns of the staging tile, floats", 8, 4095 * 8),
            Tunable("ping_pong", (0, 1), 0, "whether two staging tiles take turns", 0, 1, ("off", "on")),
            Tunable("blocks", (1, 2, 4, 8, 16), 1, "blocks that send, one vector core each", 1, 64),
            Tunable("wait", (0, 1), 0, "how a rank waits for the signal", 0, 1, ("TWAIT", "TTEST")),
        ),
        buffers=(),
        fifos=(),
        programs=(("AIV", program),),
        launch=Launch(blocks=BLOCKS),
        ranks=expr(2),
        signals=(signal("arrived", BLOCKS),),
        staging=(
            staging("ping", ROWS, COLS, dynamic_rows=1),
            staging("pong", ROWS, COLS, dynamic_rows=1, used=name("ping_pong")),
        ),
        rules=(
            Rule("whole-rows", (BYTES % maximum(ROW_BYTES, 1)).eq(0),
                 "bytes = {value} are not whole rows of the staging tile, of {limit} bytes each", BYTES, ROW_BYTES,
                 nearest_multiple(BYTES, ROW_BYTES)),
            Rule("a-row-each", BLOCKS.le(BUFFER_ROWS),
                 "blocks = {value} share a buffer of {limit} rows of the staging tile", BLOCKS, BUFFER_ROWS,
                 maximum(minimum(BLOCKS, BUFFER_ROWS), 1)),
        ),
    )  # fmt: skip
