"""The state at the end of a round, written down without times: equal states repeat what follows.

Registers are numbered by first appearance, so that two states are equal where the same values are shared in the same
places. What each value is known to come after is part of it too: how far its vector clock lags behind every pipe and
scalar process, as far as that can matter (a lag of the queue's depth or more stays one), and how many tiles and signals
may be in flight (more than too many stays too many). So equal states not only repeat the same maxima, they also prove
the same: queue limits that cannot matter, and verdicts. Steady trips that are left, and
the constant on top of a scalar process, are not part of the state.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pto_tune.executor.jit import kernel

Ints = NDArray[np.int64]
Counts = NDArray[np.int32]

LAG_BITS = 6
"""Bits of one lag where many are packed into a number."""
LAGS = 10
"""Lags of one number."""
MOST_SIGNALS = 64
"""Signals in flight of which more make no difference: above the largest value of any flag counter."""


@kernel
def find_loops(ops: Ints, starts: Ints, steady_op: Ints, inner_loop: Ints) -> int:
    """Fill `steady_op` with the steady loop of each core (left alone where it has none) and `inner_loop` with all
    other loops; returns how many those are."""
    n_loops = 0
    for q in range(ops.shape[0]):
        if ops[q, 0] == 1 and ops[q, 3] != 1:
            inner_loop[n_loops] = q
            n_loops += 1
    for c in range(starts.shape[0]):
        for q in range(starts[c], ops.shape[0]):
            if ops[q, 0] == 0:
                break
            if ops[q, 0] == 1 and ops[q, 3] == 1:
                steady_op[c] = q
    return n_loops


@kernel
def describe(
    line: Ints, live_regs: Ints, canon: Ints, st: Ints, ends: Ints, pc: Ints, done: Ints, s_at: Ints, loop_left: Ints,
    inner_loop: Ints, n_loops: int, p_at: Ints, p_lat: Ints, p_seq: Ints, n_count: Ints, head: Ints, tail: Ints,
    tok: Ints, tok_lat: Ints, queue_pipe: Ints, hist: Ints, hist_dur: Ints, vc: Counts, s_seq: Ints,
    chan: Ints, known: Ints, seen: Ints,
) -> tuple[int, int]:  # fmt: skip
    """Fill `line` with the state and `live_regs` with its registers in order; `canon` gets the number of each register.
    Returns their counts, or -1 where the state is too long for `line`."""
    k = 0
    live = 0
    canon[:] = 0
    most = 2**LAG_BITS - 1
    depth = hist.shape[1]
    lag_width = 1 + (p_at.shape[0] if depth > most else p_at.shape[0] // LAGS)
    for c in range(pc.shape[0]):
        line[k] = pc[c]
        line[k + 1] = done[c]
        k += 2
        r = s_at[c]
        if r > 0 and canon[r] == 0:
            live += 1
            canon[r] = live
            live_regs[live - 1] = r
        line[k] = canon[r]
        k += 1
    for q in range(n_loops):
        line[k] = loop_left[inner_loop[q]]
        k += 1
    for p in range(p_at.shape[0]):
        r = p_at[p]
        if r > 0 and canon[r] == 0:
            live += 1
            canon[r] = live
            live_regs[live - 1] = r
        line[k] = canon[r]
        line[k + 1] = p_lat[p]
        k += 2
    for e in range(ends.shape[0]):
        if ends[e, 3] == ends[e, 4]:
            continue  # a ring has no flags: its index decides no wait
        per = st[ends[e, 4]]
        line[k] = 1 if n_count[e] >= st[ends[e, 5]] else 0
        line[k + 1] = n_count[e] % per if per > 0 else 0
        k += 2
    for ch in range(head.shape[0]):
        n_tok = tail[ch] - head[ch]
        line[k] = n_tok
        k += 1
        if k + 2 * n_tok + 2 * hist.size + lag_width * (live + n_tok) >= line.shape[0]:
            return -1, 0
        for j in range(n_tok):
            slot = (head[ch] + j) & (tok.shape[1] - 1)
            r = tok[ch, slot]
            if r > 0 and canon[r] == 0:
                live += 1
                canon[r] = live
                live_regs[live - 1] = r
            line[k] = canon[r]
            line[k + 1] = tok_lat[ch, slot]
            k += 2
    # in flight: a writer may gain on its reader, or signals on their waits, for longer than any lag shows
    if k + ends.shape[0] * ends.shape[0] + head.shape[0] + lag_width * live >= line.shape[0]:
        return -1, 0
    for b in range(ends.shape[0]):
        if ends[b, 2] == 1:
            for e in range(ends.shape[0]):
                if ends[e, 0] == ends[b, 0] and ends[e, 2] == 0:
                    line[k] = min(n_count[b] - seen[b, e], st[ends[b, 3]] + 1)
                    k += 1
    for ch in range(head.shape[0]):
        if chan[ch, 3] == 1:
            line[k] = min(tail[ch] - known[ch], MOST_SIGNALS)
            k += 1
    # lags, several packed into one number
    for j in range(live):
        row = vc[live_regs[j]]
        packed = 0
        n = 0
        for p in range(p_at.shape[0]):
            lag = min(p_seq[p] - row[p], depth)
            if depth > most:
                line[k] = lag
                k += 1
                continue
            packed = (packed << LAG_BITS) | lag
            n += 1
            if n == LAGS:
                line[k] = packed
                k += 1
                packed = 0
                n = 0
        for c in range(pc.shape[0]):
            packed = (packed << LAG_BITS) | min(s_seq[c] - row[p_at.shape[0] + c], most)
        line[k] = packed
        k += 1
    for p in range(p_at.shape[0]):
        if queue_pipe[p] == 1:
            n_hist = min(p_seq[p], hist.shape[1])
            for j in range(n_hist):
                slot = (p_seq[p] - n_hist + j) % hist.shape[1]
                r = hist[p, slot]
                if r > 0 and canon[r] == 0:
                    live += 1
                    canon[r] = live
                    live_regs[live - 1] = r
                line[k] = canon[r]
                line[k + 1] = hist_dur[p, slot]
                k += 2
    return k, live


@kernel
def same_state(
    snaps: Ints, snap_len: Ints, n_snaps: int, line: Ints, k: int, snap_left: Ints, left_now: Ints, done: Ints,
) -> int:  # fmt: skip
    """The latest earlier round with this state in which every running core had at least as many trips left, and one
    had more; -1 where there is none."""
    for z in range(n_snaps - 1, -1, -1):
        if snap_len[z] != k:
            continue
        same = True
        for q in range(k):
            if snaps[z, q] != line[q]:
                same = False
                break
        if same:
            moved = False
            for c in range(done.shape[0]):
                if done[c] == 0:
                    if snap_left[z, c] < left_now[c]:
                        same = False
                    if snap_left[z, c] > left_now[c]:
                        moved = True
            if same and moved:
                return z
    return -1
