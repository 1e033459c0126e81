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

from pto_tune.executor.jit import inlined
from pto_tune.executor.state import (
    DONE,
    E_PUSHED,
    E_TILES,
    GIVEN,
    KNOWN,
    P_AT,
    P_LAT,
    P_RUN,
    PC,
    Q_AUX,
    Q_HEAD,
    Q_OFF,
    Q_PARTS,
    Q_PC,
    Q_REG,
    Q_TAIL,
    RELEASED,
    S_ADD,
    S_AT,
    S_SEQ,
    SENT,
    T_LATENCY,
    T_REG,
    T_RELEASED,
    T_TICKET,
    TAKEN,
    W_CLOCK,
    W_SEQ,
    W_TILE,
)  # fmt: skip

Ints = NDArray[np.int64]
Counts = NDArray[np.int32]

LAG_BITS = 6
"""Bits of one lag where many are packed into a number."""
LAGS = 10
"""Lags of one number."""
MOST_SIGNALS = 64
"""Signals in flight of which more make no difference: above the largest value of any flag counter."""


@inlined
def _number(r: int, canon: Ints, live_regs: Ints, live: int) -> int:
    """Number a register where it is new; returns how many have a number."""
    if r > 0 and canon[r] == 0:
        canon[r] = live + 1
        live_regs[live] = r
        return live + 1
    return live


@inlined
def _queues(
    line: Ints, k: int, live_regs: Ints, canon: Ints, live: int, ops: Ints, pipe_core: Ints, chan: Ints, cs: Ints,
    ps: Ints, hs: Ints, es: Ints, qs: Ints, low: Ints,
) -> tuple[int, int]:  # fmt: skip
    """What waits in the queues of the pipes; `low` gets the lowest ticket that is still wanted from each channel."""
    mask = qs.shape[1] - 1
    for p in range(ps.shape[0]):
        n = ps[p, Q_TAIL] - ps[p, Q_HEAD]
        line[k] = n
        k += 1
        core = pipe_core[p]
        for j in range(n):
            slot = (ps[p, Q_HEAD] + j) & mask
            i = qs[p, slot, Q_PC]
            last = ops[i, 2]
            if k + last - i + 8 >= line.shape[0]:
                return -1, 0
            r = qs[p, slot, Q_REG]
            live = _number(r, canon, live_regs, live)
            own = r == cs[core, S_AT]
            line[k] = i
            line[k + 1] = canon[r]
            line[k + 2] = 1 if own else 0
            line[k + 3] = qs[p, slot, Q_OFF] - (cs[core, S_ADD] if own else 0)
            k += 4
            for m in range(i + 1, last):
                v = qs[p, slot, Q_PARTS + m - i - 1]
                h = ops[m, 1]
                if v >= 0:
                    if ops[m, 0] == 5:
                        low[h] = min(low[h], v)
                        v = hs[h, TAKEN] - v
                    elif ops[m, 0] == 9:
                        if chan[h, 5] >= 0:
                            line[k] = es[chan[h, 5], E_TILES] - qs[p, slot, Q_AUX]
                            k += 1
                        v = hs[h, GIVEN] - v
                    else:
                        v = es[ops[m, 2], E_TILES] - v
                line[k] = v
                k += 1
    return k, live


@inlined
def _tiles(
    line: Ints, k: int, st: Ints, ends: Ints, pair: Ints, mates: Ints, ps: Ints, hs: Ints, es: Ints, sl: Ints,
    seen: Ints,
) -> int:  # fmt: skip
    """In flight: a writer may gain on its reader, or signals on their waits, for longer than any lag shows."""
    mask = sl.shape[1] - 1
    for b in range(ends.shape[0]):
        if ends[b, 2] != 1:
            continue
        slots = st[ends[b, 3]]
        oldest = es[b, E_TILES]
        for j in range(mates.shape[1]):
            e = mates[b, j]
            if e < 0:
                break
            line[k] = min(es[b, E_TILES] - seen[b, e], slots + 1)
            k += 1
            if ends[e, 0] == ends[b, 0]:
                oldest = min(oldest, es[e, E_TILES])
                if pair[b, e] >= 0:
                    line[k] = min(es[b, E_TILES] - hs[pair[b, e], RELEASED], slots + 1)
                    k += 1
        if ends[b, 6] >= 0:
            line[k] = es[b, E_TILES] % slots if slots > 0 else 0
            k += 1
        n = es[b, E_TILES] - oldest
        if k + n + 4 >= line.shape[0]:
            return -1
        for j in range(n):  # how long ago the tiles that nobody has popped were written
            at = (oldest + j) & mask
            line[k] = ps[sl[b, at, W_CLOCK], P_RUN] - sl[b, at, W_SEQ] if sl[b, at, W_TILE] == oldest + j else -1
            k += 1
    return k


@inlined
def describe(
    line: Ints, live_regs: Ints, canon: Ints, st: Ints, ops: Ints, pipe_core: Ints, chan: Ints, ends: Ints, pair: Ints,
    mates: Ints, cs: Ints, ps: Ints, hs: Ints, es: Ints, qs: Ints, ts: Ints, sl: Ints, loop_left: Ints, hist: Ints,
    hist_dur: Ints, seen: Ints, queue_pipe: Ints, vc: Counts, inner_loop: Ints, low: Ints,
) -> tuple[int, int]:  # fmt: skip
    """Fill `line` with the state and `live_regs` with its registers in order; `canon` gets the number of each register.
    Returns their counts, or -1 where the state is too long for `line`."""
    k = 0
    live = 0
    canon[:] = 0
    most = 2**LAG_BITS - 1
    n_pipes = ps.shape[0]
    n_chan = chan.shape[0]
    mask = ts.shape[1] - 1
    depth = hist.shape[1]
    lag_width = 1 + (n_pipes if depth > most else n_pipes // LAGS)
    for c in range(cs.shape[0]):
        line[k] = cs[c, PC]
        line[k + 1] = cs[c, DONE]
        live = _number(cs[c, S_AT], canon, live_regs, live)
        line[k + 2] = canon[cs[c, S_AT]]
        k += 3
    for q in range(inner_loop.shape[0]):
        line[k] = loop_left[inner_loop[q]]
        k += 1
    for p in range(n_pipes):
        live = _number(ps[p, P_AT], canon, live_regs, live)
        line[k] = canon[ps[p, P_AT]]
        line[k + 1] = ps[p, P_LAT]
        k += 2
    for ch in range(hs.shape[0]):
        low[ch] = hs[ch, TAKEN]
    k, live = _queues(line, k, live_regs, canon, live, ops, pipe_core, chan, cs, ps, hs, es, qs, low)
    if k < 0:
        return -1, 0
    for e in range(ends.shape[0]):
        if ends[e, 3] == ends[e, 4]:
            continue  # a ring has no flags: its index decides no wait
        per = st[ends[e, 4]]
        line[k] = 1 if es[e, E_TILES] >= st[ends[e, 5]] else 0
        line[k + 1] = es[e, E_TILES] % per if per > 0 else 0
        line[k + 2] = max(es[e, E_PUSHED] - es[e, E_TILES], -MOST_SIGNALS) if ends[e, 2] == 1 else 0
        k += 3
    for ch in range(n_chan):
        line[k] = hs[ch, GIVEN] - hs[ch, TAKEN]
        line[k + 1] = hs[ch, TAKEN] - low[ch]
        k += 2
        n_tok = max(0, hs[ch, GIVEN] - low[ch])
        if k + 3 * n_tok + 2 * hist.size + lag_width * (live + n_tok) >= line.shape[0]:
            return -1, 0
        for j in range(n_tok):
            slot = (low[ch] + j) & mask
            if ts[ch, slot, T_TICKET] != low[ch] + j:
                line[k] = -1  # taken, or not yet there
                k += 1
                continue
            r = ts[ch, slot, T_REG]
            live = _number(r, canon, live_regs, live)
            line[k] = canon[r]
            line[k + 1] = ts[ch, slot, T_LATENCY]
            k += 2
            if chan[ch, 5] >= 0:
                line[k] = es[chan[ch, 5], E_TILES] - ts[ch, slot, T_RELEASED]
                k += 1
    if k + 3 * ends.shape[0] * ends.shape[0] + n_chan + lag_width * live >= line.shape[0]:
        return -1, 0
    k = _tiles(line, k, st, ends, pair, mates, ps, hs, es, sl, seen)
    if k < 0 or k + n_chan + lag_width * live >= line.shape[0]:
        return -1, 0
    for ch in range(n_chan):
        if chan[ch, 3] == 1:
            line[k] = min(hs[ch, SENT] - hs[ch, KNOWN], MOST_SIGNALS)
            k += 1
    # lags, several packed into one number
    for j in range(live):
        row = live_regs[j]
        packed = 0
        n = 0
        for p in range(n_pipes):
            lag = min(ps[p, P_RUN] - vc[row, p], depth)
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
        for c in range(cs.shape[0]):
            packed = (packed << LAG_BITS) | min(cs[c, S_SEQ] - vc[row, n_pipes + c], most)
        line[k] = packed
        k += 1
    for p in range(n_pipes):
        if queue_pipe[p] == 1:
            n_hist = min(ps[p, P_RUN], depth)
            for j in range(n_hist):
                slot = (ps[p, P_RUN] - n_hist + j) % depth
                r = hist[p, slot]
                live = _number(r, canon, live_regs, live)
                line[k] = canon[r]
                line[k + 1] = hist_dur[p, slot]
                k += 2
    return k, live
