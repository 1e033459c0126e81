"""The cube's part of the products with ranks: base tiles, their K loop, buffers, tunables and rules (fp16 in).

One TLOAD brings step_k slices of K of A or of B; L1, L0A and L0B are ping-pong, and there is one L0C tile.
"""

from __future__ import annotations

from pto_tune.model.expr import Expr, ExprLike, expr, maximum, name, nearest_multiple
from pto_tune.model.nodes import Buffer, Node, Rule, Tunable
from pto_tune.model.vocabulary import dma, instr, loop, matmul, sync

K = name("k")
BASE_M, BASE_K, BASE_N, STEP_K = name("base_m"), name("base_k"), name("base_n"), name("step_k")
BLOCKS, COMM_BLOCKS = name("blocks"), name("comm_blocks")
SLAB = name("slab_k")
"""K of one TLOAD: a derived name of the workload."""
A_BYTES, B_BYTES = BASE_M * SLAB * 2, BASE_N * SLAB * 2
COMM = name("block") + BLOCKS * name("sub")
"""Number of the communication core that a vector core is."""

MODES = ("compute_only", "sequential", "pipelined")
SEQUENTIAL = MODES.index("sequential")
MOST_TURNS = 2**22
"""Bound of the loops that poll: some seconds."""


def k_steps(trips: ExprLike, a_from_hbm: ExprLike, b_from_hbm: ExprLike) -> Node:
    """`trips` slabs of A and of B, and their products; so many bytes of each slab come from HBM."""
    return loop(
        trips,
        instr("TLOAD", "MTE2", dma("gm_to_l1", A_BYTES, SLAB * 2, a_from_hbm), acquires=["a_l1"], publishes=["a_l1"]),
        instr("TLOAD", "MTE2", dma("gm_to_l1", B_BYTES, SLAB * 2, b_from_hbm), acquires=["b_l1"], publishes=["b_l1"]),
        sync("MTE1", takes=["a_l1", "b_l1"]),
        loop(
            STEP_K,
            instr("TEXTRACT", "MTE1", dma("l1_to_l0a", BASE_M * BASE_K * 2, BASE_M * BASE_K * 2),
                  acquires=["l0a"], publishes=["l0a"]),
            instr("TEXTRACT", "MTE1", dma("l1_to_l0b", BASE_N * BASE_K * 2, BASE_N * BASE_K * 2),
                  acquires=["l0b"], publishes=["l0b"]),
            instr("TMATMUL", "M", matmul(BASE_M, BASE_K, BASE_N), takes=["l0a", "l0b"], releases=["l0a", "l0b"]),
        ),
        sync("MTE1", releases=["a_l1", "b_l1"]),
    )  # fmt: skip


def tunables(step_k: str) -> tuple[Tunable, ...]:
    """Base tiles; `step_k` says what a step brings."""
    return (
        Tunable("base_m", (64, 128, 256), 128, "rows of a tile", 16, 4095),
        Tunable("base_n", (64, 128, 256), 256, "columns of a tile", 16, 4095),
        Tunable("base_k", (32, 64, 128), 64, "K of one TMATMUL", 16, 4095),
        Tunable("step_k", (1, 2, 4, 8), 4, step_k, 1, 64),
    )


BUFFERS = (
    Buffer("a_l1", "AIC", "L1", A_BYTES, expr(2)),
    Buffer("b_l1", "AIC", "L1", B_BYTES, expr(2)),
    Buffer("l0a", "AIC", "L0A", BASE_M * BASE_K * 2, expr(2)),
    Buffer("l0b", "AIC", "L0B", BASE_N * BASE_K * 2, expr(2)),
    Buffer("acc", "AIC", "L0C", BASE_M * BASE_N * 4, expr(1)),
)
_OFF: Expr = BASE_M % 16 + BASE_K % 16 + BASE_N % 16
K_DIVISIBLE = Rule(
    "k-divisible", (K % maximum(SLAB, 1)).eq(0), "k = {value} is not a multiple of base_k x step_k = {limit}", K, SLAB,
    nearest_multiple(K, SLAB),
)  # fmt: skip
FRACTAL = Rule(
    "fractal", _OFF.eq(0), "base_m, base_k and base_n have to be multiples of {limit} (off by {value} in all)", _OFF,
    expr(16),
)  # fmt: skip
COMM_CORES = Rule(
    "comm-cores", COMM_BLOCKS.le(BLOCKS * 2),
    "comm_blocks = {value} are more than the vector cores of all blocks: {limit}", COMM_BLOCKS, BLOCKS * 2, BLOCKS * 2,
)  # fmt: skip
