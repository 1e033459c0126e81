"""Rounds of the steady loops: remember the state after each, and find the window that repeats."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pto_tune.executor.jit import bare, inlined
from pto_tune.executor.layout import (
    I_SKIPPED,
    I_STATE,
    I_TRIPS,
    I_WINDOW_END,
    I_WINDOW_START,
)
from pto_tune.executor.state import (
    DONE,
    PC,
    S_ADD,
    S_AT,
    State,
)  # fmt: skip
from pto_tune.executor.tables import Rounds, Schedule

Ints = NDArray[np.int64]


@inlined
def in_steady_loops(ops: Ints, cs: Ints, loop_left: Ints, steady_op: Ints, left_now: Ints) -> bool:
    """Whether some core runs and every running one is in its steady loop; `left_now` gets the trips left."""
    running = False
    for c in range(cs.shape[0]):
        if cs[c, DONE] == 0:
            q = steady_op[c]
            if q < 0 or cs[c, PC] <= q or cs[c, PC] >= ops[q, 2]:
                return False
            left_now[c] = loop_left[q]
            running = True
    return running


@inlined
def same_state(
    snaps: Ints, length: Ints, n: int, line: Ints, k: int, left: Ints, left_now: Ints, cs: Ints
) -> int:  # fmt: skip
    """The latest of n earlier rounds with this state in which every running core had at least as many trips left, and
    one had more; -1 where there is none."""
    for z in range(n - 1, -1, -1):
        if length[z] != k:
            continue
        same = True
        for q in range(k):
            if snaps[z, q] != line[q]:
                same = False
                break
        if same:
            moved = False
            for c in range(cs.shape[0]):
                if cs[c, DONE] == 0:
                    if left[z, c] < left_now[c]:
                        same = False
                    if left[z, c] > left_now[c]:
                        moved = True
            if same and moved:
                return z
    return -1


@inlined
def remember(
    snaps: Ints, length: Ints, op: Ints, counts: Ints, left: Ints, add: Ints, n: int, line: Ints, k: int, n_op: int,
    counts_now: Ints, left_now: Ints, cs: Ints,
) -> None:  # fmt: skip
    """Keep round n: its state, first operation, executions, steady trips left and constants."""
    for q in range(k):
        snaps[n, q] = line[q]
    length[n] = k
    op[n] = n_op
    for q in range(counts.shape[1]):
        counts[n, q] = counts_now[0, q]
    for c in range(left_now.shape[0]):
        left[n, c] = left_now[c]
        add[n, c] = cs[c, S_ADD]


@bare
def open_window(
    rounds: Rounds, z: int, n: int, live: int, n_op: int, skip: int, x: State, steady_op: Ints, left_now: Ints,
    out: Schedule, info: Ints,
) -> None:  # fmt: skip
    """Round n ends in the state of round z: fill in the window between them, and leave out whole windows (`skip`) so
    that at least one trip of every loop stays."""
    cs = x.cs
    n_cores = cs.shape[0]
    info[I_WINDOW_START] = rounds.op[z]
    info[I_WINDOW_END] = n_op
    info[I_STATE] = live
    info[I_TRIPS] = 0
    for j in range(live):
        out.in_regs[j] = rounds.regs[z, j]
        out.out_regs[j] = rounds.regs[n, j]
        out.adjust[j] = 0
    for c in range(n_cores):
        if cs[c, S_AT] > 0:
            out.adjust[rounds.canon[cs[c, S_AT]] - 1] = cs[c, S_ADD] - rounds.add[z, c]
        out.at_window[c, 1] = 0
        if cs[c, DONE] == 0:
            out.at_window[c, 1] = rounds.left[z, c] - left_now[c]
            out.at_window[c, 0] = left_now[c]
            info[I_TRIPS] = max(info[I_TRIPS], out.at_window[c, 1])
    for q in range(out.counts.shape[1]):
        out.counts[1, q] = out.counts[0, q] - rounds.counts[z, q]
    if skip:
        more = np.int64(2**62)
        for c in range(n_cores):
            if out.at_window[c, 1] > 0:
                more = min(more, (out.at_window[c, 0] - 1) // out.at_window[c, 1])
        info[I_SKIPPED] = more
        for c in range(n_cores):
            if cs[c, DONE] == 0:
                x.loop_left[steady_op[c]] -= more * out.at_window[c, 1]
