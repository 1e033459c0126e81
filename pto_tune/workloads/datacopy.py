"""Copies from GM alone: every core reads its part of a buffer on MTE2, and nothing is computed.

All cores together read `bytes` distinct bytes `reads` times, `hbm_reads` times of these from HBM and the others from
L2. So a buffer that is read once is `reads` 1; one that does not fit into L2 and is read four times is 4 and 4; slices
that stay in L2 while they are read four times are 4 and 1; and a small one that each of 48 cores reads as a whole is 48
and 1. Each of `blocks` blocks takes an equal share, into L1 by its cube core or into UB by both vector cores. An
instruction brings `rows` rows of `row_bytes`, each a burst of its own; the last one of a core is taken as full.

Facts from cannmirror/asc-devkit 04_memory_access/data_copy: the tensors and tiles of its tables, copies without compute
or synchronisation between them. Assumed: whether data is found in L2 is known beforehand; HBM is drawn on evenly by all
instructions. Not expressed: rows whose pitch is not a multiple of 32 bytes; cores that read the same line at the same
time (all in one order); vector cores without their neighbour; L2 modes of a transfer; stores.
"""

from __future__ import annotations

from pto_tune.model.expr import ceildiv, expr, maximum, name
from pto_tune.model.nodes import Buffer, Instr, Launch, Parameter, Rule, Tunable, Workload
from pto_tune.model.vocabulary import dma, instr, steady_loop

BYTES, READS, HBM_READS, BLOCKS = name("bytes"), name("reads"), name("hbm_reads"), name("blocks")
ROWS, ROW_BYTES = name("rows"), name("row_bytes")
COPY, COPIES = name("copy_bytes"), name("copies")
TO_UB, TO_L1 = name("target").eq(0), name("target").eq(1)
VECTOR_CORES = 2

DERIVED = (
    ("copy_bytes", ROWS * ROW_BYTES),
    ("core_bytes", ceildiv(BYTES * READS, maximum(BLOCKS * (1 + TO_UB * (VECTOR_CORES - 1)), 1))),
    ("copies", ceildiv(name("core_bytes"), maximum(COPY, 1))),
)


def _copy(path: str) -> Instr:
    return instr("TLOAD", "MTE2", dma(path, COPY, ROW_BYTES, COPY * HBM_READS // maximum(READS, 1)))


def build() -> Workload:
    return Workload(
        name="datacopy",
        doc="Copies from GM to UB or L1 by all cores, from HBM or L2, without compute",
        problem=(
            Parameter("bytes", 2**26, "distinct bytes that are read", 32, 2**30),
            Parameter("reads", 1, "times that each byte is read, by all cores together", 1, 4096),
            Parameter("hbm_reads", 1, "times of these that it comes from HBM, not from L2", 0, 4096),
            Parameter("target", 0, "where to: UB of both vector cores, or L1", 0, 1, ("UB", "L1")),
            Parameter("blocks", 24, "blocks that read: a cube core, or two vector cores", 1, 64),
        ),
        tunables=(
            Tunable("rows", (1, 4, 16, 64, 128, 256), 64, "rows of an instruction (blockCount)", 1, 4095),
            Tunable("row_bytes", (128, 256, 512, 1024, 2048), 512, "bytes of a row, a burst (blockLen)", 32, 65504),
        ),
        derived=DERIVED,
        buffers=(
            Buffer("tile_ub", "AIV", "UB", COPY * TO_UB, expr(1)),
            Buffer("tile_l1", "AIC", "L1", COPY * TO_L1, expr(1)),
        ),
        fifos=(),
        programs=(
            ("AIC", (steady_loop(COPIES * TO_L1, _copy("gm_to_l1")),)),
            ("AIV", (steady_loop(COPIES * TO_UB, _copy("gm_to_ub")),)),
        ),
        launch=Launch(blocks=BLOCKS),
        rules=(
            Rule("hbm-reads", HBM_READS.le(READS), "hbm_reads = {value} are more than the reads = {limit}", HBM_READS,
                 READS, READS),
            Rule("aligned-rows", (ROW_BYTES % 32).eq(0), "row_bytes = {value} is not a multiple of {limit}", ROW_BYTES,
                 expr(32), maximum(ROW_BYTES // 32 * 32, 32)),
        ),
    )  # fmt: skip
