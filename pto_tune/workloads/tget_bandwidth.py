"""Bandwidth of TGET: one vector core of rank 0 reads a contiguous buffer of rank 1, by itself or through SDMA.

TGET moves the buffer in pieces of its staging tile, which in the published sweep is one row of 1024 floats: too small
for the half-tile window, so that every piece is read, a barrier follows, and it is stored before the next one is read.
With two tiles the store of a piece overlaps the read of the next one. TGET_ASYNC hands the whole buffer to the SDMA
engine and waits for its event.

Facts from hw-native-sys/pto-isa kernels/manual/a2a3/tget_bandwidth: two ranks, one core, float, 4 KB to 4 MB; times are
those of one transfer by the counter of the device, without a launch (timing `device`). Assumed: the buffer is seen as
rows as long as those of the tile, and the end is when the last store has arrived.
"""

from __future__ import annotations

from pto_tune.model.expr import expr, maximum, name, nearest_multiple
from pto_tune.model.nodes import Launch, Parameter, Rule, Tunable, Workload
from pto_tune.model.vocabulary import when
from pto_tune.model.vocabulary_remote import barrier, staging, tget, tget_async

BYTES = name("bytes")
ROWS, COLS = name("tile_rows"), name("tile_cols")
ROW_BYTES = COLS * 4
READS = name("rank").eq(0).and_(name("sub").eq(0))
BY_CORE, BY_SDMA = name("engine").eq(0), name("engine").eq(1)


def build() -> Workload:
    shape = (1, 1, 1, BYTES // ROW_BYTES, COLS)
    program = (
        when(READS.and_(BY_CORE), tget(1, shape, "ping", pong="pong", use_pong=name("ping_pong")), barrier()),
        when(READS.and_(BY_SDMA), tget_async(1, shape), barrier("SDMA")),
    )
    return Workload(
        name="tget_bandwidth",
        doc="Reading a buffer of another rank by TGET through a staging tile, or by TGET_ASYNC",
        problem=(Parameter("bytes", 65536, "bytes of the buffer", 4, 2**30),),
        tunables=(
            Tunable("tile_rows", (1, 2, 4, 8, 16, 32), 1, "rows of the staging tile", 1, 4095),
            Tunable("tile_cols", (256, 512, 1024, 2048, 4096), 1024, "floats of a row of the tile", 8, 4095 * 8),
            Tunable("ping_pong", (0, 1), 0, "whether two staging tiles take turns", 0, 1, ("off", "on")),
            Tunable("engine", (0, 1), 0, "what moves the bytes: TGET or TGET_ASYNC", 0, 1, ("core", "sdma")),
        ),
        buffers=(),
        fifos=(),
        programs=(("AIV", program),),
        launch=Launch(blocks=expr(1)),
        ranks=expr(2),
        staging=(
            staging("ping", ROWS, COLS, dynamic_rows=1, used=BY_CORE),
            staging("pong", ROWS, COLS, dynamic_rows=1, used=BY_CORE.and_(name("ping_pong"))),
        ),
        rules=(
            Rule("whole-rows", (BYTES % maximum(ROW_BYTES, 1)).eq(0),
                 "bytes = {value} are not whole rows of the staging tile, of {limit} bytes each", BYTES, ROW_BYTES,
                 nearest_multiple(BYTES, ROW_BYTES)),
        ),
    )  # fmt: skip
