"""One lane at a time, with everything that happens: who waited for what, and every event.

`account_lanes` adds up waiting by name, exactly, over runs of any length: it jumps over windows by the same convexity
test as `lanes.py`, but asks that every event, not only the state, moves linearly and that every maximum keeps its
winner. `replay` gives the times of all events of a schedule that was traced without leaving windows out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pto_tune.executor.jit import kernel
from pto_tune.executor.layout import (
    FULL,
    I_OPS,
    I_QUEUE,
    I_SKIPPED,
    I_STATE,
    I_STATUS,
    I_WINDOW_END,
    I_WINDOW_START,
    REMATERIALISED,
)
from pto_tune.executor.state import state_space
from pto_tune.executor.tables import Program, found_space, schedule_space, work_space
from pto_tune.executor.trace import trace

Ints = NDArray[np.int64]

PERIODS = 12
"""Most windows of one period."""


@kernel
def _events(
    lo: int, hi: int, o_dst: Ints, o_dur: Ints, o_kind: Ints, o_ptr: Ints, s_reg: Ints, s_off: Ints, s_col: Ints,
    s_chan: Ints, regs: Ints, dur: Ints, full: Ints, base: Ints, win: Ints,
) -> None:  # fmt: skip
    """Run operations lo:hi on one lane; by operation (from 0): the maximum over all sources, that over issue and pipe,
    and the source that decides (-1: issue or pipe)."""
    for i in range(lo, hi):
        b = np.int64(-(2**62))
        t = np.int64(-(2**62))
        w = -1
        for s in range(o_ptr[i], o_ptr[i + 1]):
            v = regs[s_reg[s]] + s_off[s]
            c = s_col[s]
            if c >= 0:
                v += dur[c]
            elif c < -1:
                v -= dur[-2 - c]
            if s_chan[s] == -1:
                b = max(b, v)
            elif v > t:
                t = v
                w = s
        v = max(b, t)
        full[i - lo] = v
        base[i - lo] = b
        win[i - lo] = w if t > b and o_kind[i] != REMATERIALISED else -1
        d = o_dur[i]
        regs[o_dst[i]] = v + dur[d] if d >= 0 else v


@kernel
def _add(
    n: int, s_chan: Ints, chan: Ints, queue_wait: Ints, full: Ints, base: Ints, win: Ints, waits: Ints, times: int,
) -> None:  # fmt: skip
    for i in range(n):
        if win[i] >= 0:
            ch = s_chan[win[i]]
            name = chan[ch, 4] if ch >= 0 else queue_wait[-2 - ch]
            waits[name] += (full[i] - base[i]) * times


@kernel
def _account(
    info: Ints, o_dst: Ints, o_dur: Ints, o_kind: Ints, o_ptr: Ints, s_reg: Ints, s_off: Ints, s_col: Ints,
    s_chan: Ints, chan: Ints, queue_wait: Ints, in_regs: Ints, out_regs: Ints, adjust: Ints, regs: Ints, dur: Ints,
    reps: int, waits: Ints,
) -> int:  # fmt: skip
    """Waits by name of one lane that runs the window `reps` times; returns the cycles."""
    n_ops = info[I_OPS]
    lo = info[I_WINDOW_START]
    hi = info[I_WINDOW_END]
    full = np.empty(n_ops, np.int64)
    base = np.empty(n_ops, np.int64)
    win = np.empty(n_ops, np.int64)
    regs[0] = 0
    if lo < 0:
        _events(0, n_ops, o_dst, o_dur, o_kind, o_ptr, s_reg, s_off, s_col, s_chan, regs, dur, full, base, win)
        _add(n_ops, s_chan, chan, queue_wait, full, base, win, waits, 1)
        return int(full[n_ops - 1])
    _events(0, lo, o_dst, o_dur, o_kind, o_ptr, s_reg, s_off, s_col, s_chan, regs, dur, full, base, win)
    _add(lo, s_chan, chan, queue_wait, full, base, win, waits, 1)
    n = hi - lo
    ns = info[I_STATE]
    depth = 3 * PERIODS + 1
    x = np.empty(ns, np.int64)
    d = np.empty(ns, np.int64)
    past = np.empty((depth, ns), np.int64)
    fulls = np.empty((depth, n), np.int64)
    bases = np.empty((depth, n), np.int64)
    wins = np.empty((depth, n), np.int64)
    t_full = np.empty((PERIODS, n), np.int64)
    t_base = np.empty((PERIODS, n), np.int64)
    t_win = np.empty((PERIODS, n), np.int64)
    mark = np.zeros(depth, np.int64)
    for j in range(ns):
        x[j] = regs[in_regs[j]]
    left = reps
    seen = 0
    pause = 0
    while left > 0:
        for j in range(ns):
            regs[in_regs[j]] = x[j]
        slot = seen % depth
        _events(
            lo, hi, o_dst, o_dur, o_kind, o_ptr, s_reg, s_off, s_col, s_chan, regs, dur, fulls[slot], bases[slot],
            wins[slot],
        )  # fmt: skip
        _add(n, s_chan, chan, queue_wait, fulls[slot], bases[slot], wins[slot], waits, 1)
        before = (seen - 1) % depth
        h = 0
        for i in range(n):
            moved = fulls[slot, i] - fulls[before, i] if seen > 0 else 0
            h += (2 * i + 1) * (moved * 1000003 + wins[slot, i])
        mark[slot] = h
        for j in range(ns):
            x[j] = regs[out_regs[j]] + adjust[j]
            past[slot, j] = x[j]
        seen += 1
        left -= 1
        if pause > 0:
            pause -= 1
            continue
        m = 0
        for c in range(1, PERIODS + 1):
            if 2 * c + 1 > seen or left < 2 * c:
                break
            same = True
            for i in range(c):
                if mark[(slot - i) % depth] != mark[(slot - i - c) % depth]:
                    same = False
                    break
            if same:
                m = c
                break
        if m == 0:
            continue
        # every event of the last period and the one before moves by its own shift
        same = True
        for p in range(m):
            a = (slot - p) % depth
            b = (slot - p - m) % depth
            if seen < 3 * m:
                same = False
                break
            e = (slot - p - 2 * m) % depth
            for i in range(n):
                if (
                    fulls[a, i] - fulls[b, i] != fulls[b, i] - fulls[e, i]
                    or bases[a, i] - bases[b, i] != bases[b, i] - bases[e, i]
                    or wins[a, i] != wins[b, i]
                ):
                    same = False
                    break
            if not same:
                break
        if not same:
            continue
        # and so does what the window keeps of earlier ones
        for j in range(ns):
            d[j] = x[j] - past[(slot - m) % depth, j]
            if d[j] != past[(slot - m) % depth, j] - past[(slot - 2 * m) % depth, j]:
                same = False
                break
        if not same:
            continue
        k = left // m - 1
        leapt = False
        while k >= 1:
            for j in range(ns):
                regs[in_regs[j]] = x[j] + k * d[j]
            good = True
            for p in range(m):
                _events(
                    lo, hi, o_dst, o_dur, o_kind, o_ptr, s_reg, s_off, s_col, s_chan, regs, dur, t_full[p], t_base[p],
                    t_win[p],
                )  # fmt: skip
                a = (slot - m + 1 + p) % depth
                b = (slot - 2 * m + 1 + p) % depth
                for i in range(n):
                    if (
                        t_full[p, i] != fulls[a, i] + (k + 1) * (fulls[a, i] - fulls[b, i])
                        or t_base[p, i] != bases[a, i] + (k + 1) * (bases[a, i] - bases[b, i])
                        or t_win[p, i] != wins[a, i]
                    ):
                        good = False
                        break
                if not good:
                    break
                if p + 1 < m:
                    for j in range(ns):
                        past[(slot + 1) % depth, j] = regs[out_regs[j]] + adjust[j]
                    for j in range(ns):
                        regs[in_regs[j]] = past[(slot + 1) % depth, j]
            for j in range(ns):
                if good and regs[out_regs[j]] + adjust[j] != x[j] + (k + 1) * d[j]:
                    good = False
            if good:
                # waits of periods 1 .. k+1 after the last simulated one, each linear in its number
                for p in range(m):
                    a = (slot - m + 1 + p) % depth
                    b = (slot - 2 * m + 1 + p) % depth
                    for i in range(n):
                        if wins[a, i] >= 0:
                            ch = s_chan[wins[a, i]]
                            name = chan[ch, 4] if ch >= 0 else queue_wait[-2 - ch]
                            now = fulls[a, i] - bases[a, i]
                            more = now - (fulls[b, i] - bases[b, i])
                            waits[name] += (k + 1) * now + more * ((k + 1) * (k + 2) // 2)
                for j in range(ns):
                    x[j] += (k + 1) * d[j]
                left -= (k + 1) * m
                leapt = True
                break
            k = k // 2
        if leapt:
            seen = 0
        else:
            pause = 2 * m
    for j in range(ns):
        regs[out_regs[j]] = x[j] - adjust[j]
    _events(hi, n_ops, o_dst, o_dur, o_kind, o_ptr, s_reg, s_off, s_col, s_chan, regs, dur, full, base, win)
    _add(n_ops - hi, s_chan, chan, queue_wait, full, base, win, waits, 1)
    return int(full[n_ops - hi - 1])


@kernel
def account_lanes(
    program: Program, queue_wait: Ints, structure: Ints, first: Ints, queue_depth: int, dur: Ints, max_ops: int,
    cap: int, n_regs: int, waits: Ints, cycles: Ints,
) -> int:  # fmt: skip
    """Waits (lanes, names) and cycles of lanes first[i]:first[i+1] of every structure row, with durations
    dur (lanes, durations), stretched already. Rows that hang are left out. Returns FULL where a buffer was too
    small."""
    plan = schedule_space(program, max_ops, n_regs, dur.shape[1], False)
    work = work_space(program, n_regs, dur.shape[-1])
    x = state_space(program, queue_depth, cap)
    found = found_space(program)
    info = found.info
    regs = np.zeros(n_regs, np.int64)
    for i in range(structure.shape[0]):
        work.queue_pipe[:] = 0
        while True:
            trace(program, structure[i], queue_depth, True, plan, work, x, found)
            if info[I_STATUS] == FULL:
                return FULL
            if info[I_QUEUE] == 0:
                break
            for p in range(work.queue_pipe.shape[0]):
                if (info[I_QUEUE] >> p) & 1:
                    work.queue_pipe[p] = 1
        if info[I_STATUS] != 0:
            continue
        for lane in range(first[i], first[i + 1]):
            cycles[lane] = _account(
                info, plan.o_dst, plan.o_dur, plan.o_kind, plan.o_ptr, plan.s_reg, plan.s_off, plan.s_col,
                plan.s_chan, program.chan, queue_wait, plan.in_regs, plan.out_regs, plan.adjust, regs, dur[lane],
                1 + info[I_SKIPPED], waits[lane],
            )  # fmt: skip
    return 0


@kernel
def replay(
    program: Program, structure: Ints, queue_depth: int, dur: Ints, max_ops: int, cap: int, n_regs: int, table: Ints,
    sources: Ints, touched: Ints, out_info: Ints,
) -> int:  # fmt: skip
    """All events of one lane, windows not left out.

    table (max_ops, 8): kind, operation of the code, duration column, end, start (the maximum over all sources), that
    over issue and pipe alone, deciding source, first source. sources (4 * max_ops, 4): producing operation (-1: time
    zero), channel, constant, duration column. touched (max_ops, 4): endpoint and tile of the slot that it writes, and
    of the one that it reads, -1 none. out_info: status, operations, sources. Returns FULL where a buffer was too
    small."""
    plan = schedule_space(program, max_ops, n_regs, dur.shape[0], True)
    work = work_space(program, n_regs, dur.shape[-1])
    x = state_space(program, queue_depth, cap)
    found = found_space(program)
    info = found.info
    regs = np.zeros(n_regs, np.int64)
    writer = np.zeros(n_regs, np.int64) - 1
    o_dst, o_dur, o_kind, o_pc, o_ptr = plan.o_dst, plan.o_dur, plan.o_kind, plan.o_pc, plan.o_ptr
    s_reg, s_off, s_col, s_chan = plan.s_reg, plan.s_off, plan.s_col, plan.s_chan
    while True:
        trace(program, structure, queue_depth, False, plan, work, x, found)
        out_info[0] = info[I_STATUS]
        if info[I_STATUS] == FULL:
            return FULL
        if info[I_QUEUE] == 0:
            break
        for p in range(work.queue_pipe.shape[0]):
            if (info[I_QUEUE] >> p) & 1:
                work.queue_pipe[p] = 1
    n = info[I_OPS]
    full = np.empty(n, np.int64)
    base = np.empty(n, np.int64)
    win = np.empty(n, np.int64)
    out_info[1] = n
    out_info[2] = o_ptr[n]
    for i in range(n):
        for s in range(o_ptr[i], o_ptr[i + 1]):
            sources[s, 0] = writer[s_reg[s]] if s_reg[s] > 0 else -1
            sources[s, 1] = s_chan[s]
            sources[s, 2] = s_off[s]
            sources[s, 3] = s_col[s]
        _events(
            i, i + 1, o_dst, o_dur, o_kind, o_ptr, s_reg, s_off, s_col, s_chan, regs, dur, full[i:], base[i:], win[i:]
        )
        # the source that decides, issue and pipe included
        best = o_ptr[i]
        most = np.int64(-(2**62))
        for s in range(o_ptr[i], o_ptr[i + 1]):
            p = sources[s, 0]
            v = (table[p, 3] if p >= 0 else 0) + s_off[s]
            if s_col[s] >= 0:
                v += dur[s_col[s]]
            elif s_col[s] < -1:
                v -= dur[-2 - s_col[s]]
            if v > most:
                most = v
                best = s
        table[i, 0] = o_kind[i]
        table[i, 1] = o_pc[i]
        table[i, 2] = o_dur[i]
        table[i, 3] = regs[o_dst[i]]
        table[i, 4] = full[i]
        table[i, 5] = base[i]
        table[i, 6] = best
        table[i, 7] = o_ptr[i]
        for q in range(4):
            touched[i, q] = plan.touched[i, q]
        writer[o_dst[i]] = i
    return 0
