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
def _number(r: int, canon: Ints, live_regs: Ints, live: int) -> int:
    """Number a register where it is new; returns how many have a number."""
    if r > 0 and canon[r] == 0:
        canon[r] = live + 1
        live_regs[live] = r
        return live + 1
    return live


@kernel
def _queues(
    line: Ints, k: int, live_regs: Ints, canon: Ints, live: int, ops: Ints, pipe_core: Ints, chan: Ints, s_at: Ints,
    s_add: Ints, q_head: Ints, q_tail: Ints, q_pc: Ints, q_reg: Ints, q_off: Ints, q_aux: Ints, q_val: Ints, head: Ints,
    tail: Ints, count: Ints, low: Ints,
) -> tuple[int, int]:  # fmt: skip
    """What waits in the queues of the pipes; `low` gets the lowest ticket that is still wanted from each channel."""
    mask = q_pc.shape[1] - 1
    for p in range(q_head.shape[0]):
        n = q_tail[p] - q_head[p]
        line[k] = n
        k += 1
        core = pipe_core[p]
        for j in range(n):
            slot = (q_head[p] + j) & mask
            i = q_pc[p, slot]
            last = ops[i, 2]
            if k + last - i + 8 >= line.shape[0]:
                return -1, 0
            r = q_reg[p, slot]
            live = _number(r, canon, live_regs, live)
            own = r == s_at[core]
            line[k] = i
            line[k + 1] = canon[r]
            line[k + 2] = 1 if own else 0
            line[k + 3] = q_off[p, slot] - (s_add[core] if own else 0)
            k += 4
            for m in range(i + 1, last):
                v = q_val[p, slot, m - i - 1]
                h = ops[m, 1]
                if v >= 0:
                    if ops[m, 0] == 5:
                        low[h] = min(low[h], v)
                        v = head[h] - v
                    elif ops[m, 0] == 9:
                        if chan[h, 5] >= 0:
                            line[k] = count[chan[h, 5]] - q_aux[p, slot]
                            k += 1
                        v = tail[h] - v
                    else:
                        v = count[ops[m, 2]] - v
                line[k] = v
                k += 1
    return k, live


@kernel
def _tiles(
    line: Ints, k: int, st: Ints, ends: Ints, pair: Ints, p_seq: Ints, count: Ints, rel: Ints, seen: Ints, w_tile: Ints,
    w_clock: Ints, w_seq: Ints,
) -> int:  # fmt: skip
    """In flight: a writer may gain on its reader, or signals on their waits, for longer than any lag shows."""
    mask = w_tile.shape[1] - 1
    for b in range(ends.shape[0]):
        if ends[b, 2] != 1:
            continue
        slots = st[ends[b, 3]]
        oldest = count[b]
        for e in range(ends.shape[0]):
            if ends[e, 2] == 0 and (ends[e, 0] == ends[b, 0] or (ends[b, 6] >= 0 and ends[e, 0] == ends[b, 6])):
                line[k] = min(count[b] - seen[b, e], slots + 1)
                k += 1
            if ends[e, 2] == 0 and ends[e, 0] == ends[b, 0]:
                oldest = min(oldest, count[e])
                if pair[b, e] >= 0:
                    line[k] = min(count[b] - rel[pair[b, e]], slots + 1)
                    k += 1
        if ends[b, 6] >= 0:
            line[k] = count[b] % slots if slots > 0 else 0
            k += 1
        n = count[b] - oldest
        if k + n + 4 >= line.shape[0]:
            return -1
        for j in range(n):  # how long ago the tiles that nobody has popped were written
            at = (oldest + j) & mask
            line[k] = p_seq[w_clock[b, at]] - w_seq[b, at] if w_tile[b, at] == oldest + j else -1
            k += 1
    return k


@kernel
def describe(
    line: Ints, live_regs: Ints, canon: Ints, st: Ints, ops: Ints, pipe_core: Ints, chan: Ints, ends: Ints, pair: Ints,
    pc: Ints, done: Ints, s_at: Ints, s_add: Ints, s_seq: Ints, loop_left: Ints, p_at: Ints, p_lat: Ints, p_seq: Ints,
    hist: Ints, hist_dur: Ints, q_head: Ints, q_tail: Ints, q_pc: Ints, q_reg: Ints, q_off: Ints, q_aux: Ints,
    q_val: Ints, head: Ints, tail: Ints, given: Ints, tok: Ints, tok_tick: Ints, tok_lat: Ints, tok_val: Ints,
    known: Ints, rel: Ints, count: Ints, recorded: Ints, seen: Ints, w_tile: Ints, w_clock: Ints, w_seq: Ints,
    queue_pipe: Ints, vc: Counts, inner_loop: Ints, n_loops: int, low: Ints,
) -> tuple[int, int]:  # fmt: skip
    """Fill `line` with the state and `live_regs` with its registers in order; `canon` gets the number of each register.
    Returns their counts, or -1 where the state is too long for `line`."""
    k = 0
    live = 0
    canon[:] = 0
    most = 2**LAG_BITS - 1
    n_pipes = p_at.shape[0]
    n_chan = chan.shape[0]
    mask = tok.shape[1] - 1
    depth = hist.shape[1]
    lag_width = 1 + (n_pipes if depth > most else n_pipes // LAGS)
    for c in range(pc.shape[0]):
        line[k] = pc[c]
        line[k + 1] = done[c]
        live = _number(s_at[c], canon, live_regs, live)
        line[k + 2] = canon[s_at[c]]
        k += 3
    for q in range(n_loops):
        line[k] = loop_left[inner_loop[q]]
        k += 1
    for p in range(n_pipes):
        live = _number(p_at[p], canon, live_regs, live)
        line[k] = canon[p_at[p]]
        line[k + 1] = p_lat[p]
        k += 2
    low[:] = head
    k, live = _queues(
        line, k, live_regs, canon, live, ops, pipe_core, chan, s_at, s_add, q_head, q_tail, q_pc, q_reg, q_off, q_aux,
        q_val, head, tail, count, low,
    )  # fmt: skip
    if k < 0:
        return -1, 0
    for e in range(ends.shape[0]):
        if ends[e, 3] == ends[e, 4]:
            continue  # a ring has no flags: its index decides no wait
        per = st[ends[e, 4]]
        line[k] = 1 if count[e] >= st[ends[e, 5]] else 0
        line[k + 1] = count[e] % per if per > 0 else 0
        line[k + 2] = max(recorded[e] - count[e], -MOST_SIGNALS) if ends[e, 2] == 1 else 0
        k += 3
    for ch in range(n_chan):
        line[k] = tail[ch] - head[ch]
        line[k + 1] = head[ch] - low[ch]
        k += 2
        n_tok = max(0, tail[ch] - low[ch])
        if k + 3 * n_tok + 2 * hist.size + lag_width * (live + n_tok) >= line.shape[0]:
            return -1, 0
        for j in range(n_tok):
            slot = (low[ch] + j) & mask
            if tok_tick[ch, slot] != low[ch] + j:
                line[k] = -1  # taken, or not yet there
                k += 1
                continue
            r = tok[ch, slot]
            live = _number(r, canon, live_regs, live)
            line[k] = canon[r]
            line[k + 1] = tok_lat[ch, slot]
            k += 2
            if chan[ch, 5] >= 0:
                line[k] = count[chan[ch, 5]] - tok_val[ch, slot]
                k += 1
    if k + 3 * ends.shape[0] * ends.shape[0] + n_chan + lag_width * live >= line.shape[0]:
        return -1, 0
    k = _tiles(line, k, st, ends, pair, p_seq, count, rel, seen, w_tile, w_clock, w_seq)
    if k < 0 or k + n_chan + lag_width * live >= line.shape[0]:
        return -1, 0
    for ch in range(n_chan):
        if chan[ch, 3] == 1:
            line[k] = min(given[ch] - known[ch], MOST_SIGNALS)
            k += 1
    # lags, several packed into one number
    for j in range(live):
        row = vc[live_regs[j]]
        packed = 0
        n = 0
        for p in range(n_pipes):
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
            packed = (packed << LAG_BITS) | min(s_seq[c] - row[n_pipes + c], most)
        line[k] = packed
        k += 1
    for p in range(n_pipes):
        if queue_pipe[p] == 1:
            n_hist = min(p_seq[p], depth)
            for j in range(n_hist):
                slot = (p_seq[p] - n_hist + j) % depth
                r = hist[p, slot]
                live = _number(r, canon, live_regs, live)
                line[k] = canon[r]
                line[k + 1] = hist_dur[p, slot]
                k += 2
    return k, live
