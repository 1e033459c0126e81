"""A bulk copy between two ranks by a host library: a buffer goes block by block, with many blocks under way.

No core takes part: the times are those of HIXL and of the copy engines that it drives, and pipe MTE2 of one cube core
only stands for both. Each block takes what `cost_models.bulk.block_cycles` says, the last one with the bytes
that are left. `single_node` is the HCCS of a node and `dual_node` that between the nodes of a supernode, apart from
RoCE, which is the same for both.

Facts from hicann/hixl benchmarks/performance_en.md: one pair of ranks, 128 MiB in blocks of 16 KiB to 2 MiB, effective
bandwidth; times are taken without a launch (timing `device`). Assumed: in a node the pair is of two packages. Not
expressed: several pairs at once, other counts of streams, what it takes to connect and to register memory.
"""

from __future__ import annotations

from pto_tune.model.expr import expr, name, where
from pto_tune.model.nodes import Launch, Parameter, Tunable, Workload
from pto_tune.model.vocabulary import bulk, instr, steady_loop, when

BYTES, BLOCK, REST = name("bytes"), name("block_bytes"), name("rest")
TRANSPORT = name("transport")

TRANSPORTS = ("roce_hixl_cs", "roce_domain", "hccs_hixl_cs", "hccs_domain", "fabric_aicpu", "fabric_streams")
HCCS, SUPERNODE, ROCE = range(3)
"""Places in `cost_models.bulk.LINKS`."""

DERIVED = (
    ("link", where(TRANSPORT.lt(2), ROCE, where(name("scope").eq(0), HCCS, SUPERNODE))),
    ("how", where(TRANSPORT.lt(4), TRANSPORT % 2, TRANSPORT - 2)),
    ("rest", BYTES % BLOCK),
)


def build() -> Workload:
    link, how, direction = name("link"), name("how"), name("direction")
    return Workload(
        name="bulk_transfer",
        doc="A buffer copied between two ranks by a host library, block by block",
        problem=(
            Parameter("bytes", 2**27, "bytes of the buffer", 1, 2**31),
            Parameter("direction", 0, "from where to where: device or host memory, r of the other rank", 0, 7,
                      ("D2rD", "rD2D", "D2rH", "rH2D", "H2rD", "rD2H", "H2rH", "rH2H")),
            Parameter("scope", 0, "where the other rank is", 0, 1, ("single_node", "dual_node")),
        ),
        tunables=(
            Tunable("block_bytes", tuple(2**n for n in range(14, 22)), 2**20, "bytes of a block", 1, 2**31),
            Tunable("transport", tuple(range(len(TRANSPORTS))), 0, "link and interface", 0, len(TRANSPORTS) - 1,
                    TRANSPORTS),
        ),
        derived=DERIVED,
        buffers=(),
        fifos=(),
        programs=(
            ("AIC", (
                steady_loop(BYTES // BLOCK, instr("BLOCK", "MTE2", bulk(link, how, direction, BLOCK))),
                when(expr(0).lt(REST), instr("BLOCK", "MTE2", bulk(link, how, direction, REST))),
            )),
        ),
        launch=Launch(blocks=expr(1)),
    )  # fmt: skip
