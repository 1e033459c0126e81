"""The tracer: run the code once without times, and write down a straight-line schedule of maxima and sums.

The network is a Kahn network: which event waits for which token does not depend on when anything happens. So the
order of evaluation, deadlocks, credits and happens-before depend on the structure columns alone. The tracer runs
the cores in turn, names every time value (a register), and emits for each event

    destination = max over sources (register + constant + duration column) + duration column

A vector clock on every register (instructions known complete on every pipe, waits done by every scalar process)
decides what is ordered: overwrites of slots, overflow of flag counters, and which queue limits can matter at all.
When a round of the steady loops ends in the state in which an earlier round ended, what lies between is a window
that repeats; `lanes.py` runs it as often as each configuration needs.

All arrays are int64. Nothing here allocates by configuration: the caller gives the buffers and grows them on
`FULL`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pto_tune.executor.clocks import CLOCKS, join
from pto_tune.executor.jit import kernel
from pto_tune.executor.layout import (
    FULL,
    HANG,
    I_FINAL,
    I_LEFT,
    I_NEEDED,
    I_OPS,
    I_QUEUE,
    I_REGISTERS,
    I_ROUNDS,
    I_SKIPPED,
    I_SOURCES,
    I_STATE,
    I_STATUS,
    I_TRIPS,
    I_WINDOW_END,
    I_WINDOW_START,
    MAX_ROUNDS,
    REMATERIALISED,
)
from pto_tune.executor.snapshot import describe, find_loops, same_state

Ints = NDArray[np.int64]
Counts = NDArray[np.int32]


@kernel
def trace(
    ops: Ints, starts: Ints, pipe_core: Ints, pipe_twin: Ints, chan: Ints, ends: Ints, n_durations: int, st: Ints,
    queue_depth: int, queue_pipe: Ints, skip: int, o_dst: Ints, o_dur: Ints, o_kind: Ints, o_pc: Ints, o_ptr: Ints,
    s_reg: Ints, s_off: Ints, s_col: Ints, s_chan: Ints, cap: int, n_regs: int, snaps: Ints, snap_regs: Ints,
    vc: Counts, info: Ints, in_regs: Ints, out_regs: Ints, adjust: Ints, counts: Ints, at_window: Ints, blocked: Ints,
    over: Ints, flight: Ints, end_count: Ints,
) -> None:  # fmt: skip
    """Trace one structure row `st`. See the module for what comes out; outputs by name:

    o_*, s_*    operations (destination, duration column, kind, op of the code, first source) and sources;
                `kind` is the pipe, or -1-core for the scalar process; s_col >= 0 adds a duration column,
                s_col <= -2 subtracts column -s_col-2; s_chan is the wait name's channel, -1 for issue and pipe,
                -2-pipe for a full queue
    counts      (2, n_durations) executions outside the window and in it
    at_window   (cores, 2) steady trips left at the window's end (before windows are left out), and trips of one window
    blocked     (cores) operation at which a core hangs, -1 when it is done
    over        (tracks, 2) first tile written too early (-1 none), most tiles in flight
    flight      (channels) most signals that may be outstanding
    end_count   (endpoints) tile index at the end
    """
    n_cores = starts.shape[0]
    n_pipes = pipe_core.shape[0]
    n_chan = chan.shape[0]
    n_ends = ends.shape[0]
    max_ops = o_dst.shape[0]
    max_src = s_reg.shape[0]
    mask = cap - 1
    info[:] = 0
    info[I_WINDOW_START] = -1
    info[I_WINDOW_END] = -1
    counts[:] = 0
    over[:] = 0
    over[:, 0] = -1
    flight[:] = 0
    at_window[:] = 0
    left_now = np.zeros(n_cores, np.int64)
    issue = st[0]
    wait_cost = st[1]

    # registers: 0 is time zero and never freed
    for q in range(CLOCKS):
        vc[0, q] = 0
    refs = np.zeros(n_regs, np.int64)
    free = np.zeros(n_regs, np.int64)
    n_free = 0
    for r in range(n_regs - 1, 0, -1):
        free[n_free] = r
        n_free += 1
    used = 0

    pc = starts.copy()
    done = np.zeros(n_cores, np.int64)
    s_at = np.zeros(n_cores, np.int64)  # register of the scalar process
    s_add = np.zeros(n_cores, np.int64)  # constant on top of it
    s_seq = np.zeros(n_cores, np.int64)  # waits done
    p_at = np.zeros(n_pipes, np.int64)
    p_lat = np.zeros(n_pipes, np.int64) - 1
    p_seq = np.zeros(n_pipes, np.int64)
    hist = np.zeros((n_pipes, queue_depth), np.int64)  # registers of the last instructions of a pipe
    hist_dur = np.zeros((n_pipes, queue_depth), np.int64) - 1
    loop_left = np.zeros(ops.shape[0], np.int64)
    head = np.zeros(n_chan, np.int64)
    tail = np.zeros(n_chan, np.int64)
    tok = np.zeros((n_chan, cap), np.int64)
    tok_lat = np.empty((n_chan, cap), np.int64)
    pop_seq = np.empty((n_chan, cap), np.int64)
    known = np.zeros(n_chan, np.int64)
    n_count = np.zeros(n_ends, np.int64)
    written = np.zeros(n_ends, np.int64)
    read_clock = np.empty((n_ends, cap), np.int64)
    read_seq = np.empty((n_ends, cap), np.int64)
    seen = np.zeros((n_ends, n_ends), np.int64)  # tiles known to be read, by writer and reader
    cur_vc = np.zeros(CLOCKS, np.int32)
    in_flight_instr = np.zeros(n_cores, np.int64)  # a blocked instruction keeps its begin
    for ch in range(n_chan):
        if chan[ch, 2] >= 0:
            tail[ch] = st[chan[ch, 2]]
            if tail[ch] > cap:
                info[I_STATUS] = FULL
                return
            for j in range(tail[ch]):
                tok_lat[ch, j] = -1
            if chan[ch, 3] == 1 and tail[ch] > flight[ch]:
                flight[ch] = tail[ch]

    steady_op = np.zeros(n_cores, np.int64) - 1
    inner_loop = np.empty(ops.shape[0], np.int64)
    n_loops = find_loops(ops, starts, steady_op, inner_loop)
    # snapshots of rounds
    snap_len = np.zeros(MAX_ROUNDS, np.int64)
    snap_op = np.zeros(MAX_ROUNDS, np.int64)
    snap_counts = np.empty((MAX_ROUNDS, n_durations), np.int64)
    snap_left = np.empty((MAX_ROUNDS, n_cores), np.int64)
    snap_add = np.empty((MAX_ROUNDS, n_cores), np.int64)
    canon = np.zeros(n_regs, np.int64)
    n_snaps = 0
    search = True
    line = np.zeros(snaps.shape[1], np.int64)

    n_op = 0
    n_src = 0
    pipe = -1
    signal = False
    core = 0
    o_ptr[0] = 0

    while True:
        # a round starts: look for a window where every running core is in its steady loop
        if search:
            steady_all = True
            any_running = False
            for c in range(n_cores):
                if done[c] == 0:
                    any_running = True
                    q = steady_op[c]
                    if q >= 0 and q < pc[c] and pc[c] < ops[q, 2]:
                        left_now[c] = loop_left[q]
                    else:
                        steady_all = False
            if steady_all and any_running:
                for c in range(n_cores):
                    if done[c] == 0 and s_at[c] == 0:
                        if n_op >= max_ops or n_src >= max_src or n_free == 0:
                            info[I_STATUS] = FULL
                            return
                        n_free -= 1
                        r = free[n_free]
                        used = max(used, r)
                        refs[r] = 1
                        for q in range(CLOCKS):
                            vc[r, q] = 0
                        s_reg[n_src] = 0
                        s_off[n_src] = s_add[c]
                        s_col[n_src] = -1
                        s_chan[n_src] = -1
                        n_src += 1
                        o_dst[n_op] = r
                        o_dur[n_op] = -1
                        o_kind[n_op] = REMATERIALISED
                        o_pc[n_op] = -1
                        n_op += 1
                        o_ptr[n_op] = n_src
                        s_at[c] = r
                        s_add[c] = 0
                k, live = describe(
                    line, snap_regs[n_snaps], canon, st, ends, pc, done, s_at, loop_left, inner_loop, n_loops, p_at,
                    p_lat, p_seq, n_count, head, tail, tok, tok_lat, queue_pipe, hist, hist_dur, vc, s_seq,
                    chan, known, seen,
                )  # fmt: skip
                if k < 0:
                    search = False
                else:
                    z = same_state(snaps, snap_len, n_snaps, line, k, snap_left, left_now, done)
                    if z >= 0:
                        info[I_WINDOW_START] = snap_op[z]
                        info[I_WINDOW_END] = n_op
                        info[I_STATE] = live
                        info[I_TRIPS] = 0
                        for j in range(live):
                            in_regs[j] = snap_regs[z, j]
                            out_regs[j] = snap_regs[n_snaps, j]
                            adjust[j] = 0
                        for c in range(n_cores):
                            if s_at[c] > 0:
                                adjust[canon[s_at[c]] - 1] = s_add[c] - snap_add[z, c]
                            at_window[c, 1] = 0
                            if done[c] == 0:
                                at_window[c, 1] = snap_left[z, c] - left_now[c]
                                at_window[c, 0] = left_now[c]
                                info[I_TRIPS] = max(info[I_TRIPS], at_window[c, 1])
                        for q in range(n_durations):
                            counts[1, q] = counts[0, q] - snap_counts[z, q]
                        search = False
                        if skip:
                            # leave out whole windows, at least one trip of every loop stays
                            more = np.int64(2**62)
                            for c in range(n_cores):
                                if at_window[c, 1] > 0:
                                    more = min(more, (at_window[c, 0] - 1) // at_window[c, 1])
                            info[I_SKIPPED] = more
                            for c in range(n_cores):
                                if done[c] == 0:
                                    loop_left[steady_op[c]] -= more * at_window[c, 1]
                    else:
                        for q in range(k):
                            snaps[n_snaps, q] = line[q]
                        snap_len[n_snaps] = k
                        snap_op[n_snaps] = n_op
                        for q in range(n_durations):
                            snap_counts[n_snaps, q] = counts[0, q]
                        for c in range(n_cores):
                            snap_left[n_snaps, c] = left_now[c]
                            snap_add[n_snaps, c] = s_add[c]
                        n_snaps += 1
                        if n_snaps >= MAX_ROUNDS - 1:
                            search = False
        info[I_ROUNDS] += 1

        progress = False
        all_done = True
        for core in range(n_cores):
            if done[core] == 1:
                continue
            while True:
                i = pc[core]
                op = ops[i, 0]
                a = ops[i, 1]
                b = ops[i, 2]
                if op == 0:  # HALT
                    done[core] = 1
                    progress = True
                    break
                if op == 1:  # LOOP
                    loop_left[i] = st[a]
                    pc[core] = i + 1 if st[a] > 0 else b
                    progress = True
                    continue
                if op == 2:  # NEXT
                    loop_left[a] -= 1
                    progress = True
                    if loop_left[a] > 0:
                        pc[core] = a + 1
                        if ops[a, 3] == 1:
                            break  # one steady trip a turn
                    else:
                        pc[core] = i + 1
                    continue
                if op == 3 or op == 4:  # BEGIN, SIGNAL
                    pipe = a
                    signal = op == 4
                    if n_src + 64 >= max_src or n_op + 4 >= max_ops or n_free < 4:
                        info[I_STATUS] = FULL
                        return
                    # room in the queue: the instruction queue_depth places earlier has started
                    if not signal and p_seq[pipe] >= queue_depth:
                        slot = p_seq[pipe] % queue_depth
                        r0 = s_at[core]
                        if vc[r0, pipe] < p_seq[pipe] - queue_depth + 1:
                            info[I_NEEDED] |= 1 << pipe
                            if queue_pipe[pipe] == 0:
                                # start again with the limit; the sub-cores run one program
                                for q in range(n_pipes):
                                    if pipe_twin[q] == pipe_twin[pipe]:
                                        info[I_QUEUE] |= 1 << q
                                return
                        if queue_pipe[pipe] == 1:
                            n_free -= 1
                            r = free[n_free]
                            used = max(used, r)
                            refs[r] = 1
                            join(vc[r], vc[r0], vc[r0])
                            s_reg[n_src] = r0
                            s_off[n_src] = s_add[core]
                            s_col[n_src] = -1
                            s_chan[n_src] = -1
                            n_src += 1
                            s_reg[n_src] = hist[pipe, slot]
                            s_off[n_src] = 0
                            s_col[n_src] = -2 - hist_dur[pipe, slot] if hist_dur[pipe, slot] >= 0 else -1
                            s_chan[n_src] = -2 - pipe
                            n_src += 1
                            o_dst[n_op] = r
                            o_dur[n_op] = -1
                            o_kind[n_op] = -1 - core
                            o_pc[n_op] = i
                            n_op += 1
                            o_ptr[n_op] = n_src
                            if r0 > 0:
                                refs[r0] -= 1
                                if refs[r0] == 0:
                                    free[n_free] = r0
                                    n_free += 1
                            s_at[core] = r
                            s_add[core] = 0
                    # sources: issue, pipe
                    r0 = s_at[core]
                    s_reg[n_src] = r0
                    s_off[n_src] = s_add[core] + issue
                    s_col[n_src] = -1
                    s_chan[n_src] = -1
                    n_src += 1
                    r1 = p_at[pipe]
                    if r1 > 0:
                        s_reg[n_src] = r1
                        s_off[n_src] = 0
                        s_col[n_src] = p_lat[pipe] if signal else -1
                        s_chan[n_src] = -1
                        n_src += 1
                    join(cur_vc, vc[r0], vc[r1])
                    pc[core] = i + 1
                    progress = True
                    continue
                if op == 5:  # POP
                    if tail[a] == head[a]:
                        break
                    slot = head[a] & mask
                    r = tok[a, slot]
                    head[a] += 1
                    if r > 0:
                        s_reg[n_src] = r
                        s_off[n_src] = 0
                        s_col[n_src] = tok_lat[a, slot]
                        s_chan[n_src] = a
                        n_src += 1
                        join(cur_vc, cur_vc, vc[r])
                        refs[r] -= 1
                        if refs[r] == 0:
                            free[n_free] = r
                            n_free += 1
                    pc[core] = i + 1
                    progress = True
                    continue
                if op == 6:  # WRITE track a, endpoint b
                    tile = n_count[b] - 1
                    slots = st[ends[b, 3]]
                    written[b] = max(written[b], tile + 1)
                    for e in range(n_ends):
                        if ends[e, 0] == a and ends[e, 2] == 0:
                            while (
                                seen[b, e] < n_count[e]
                                and cur_vc[read_clock[e, seen[b, e] & mask]] >= read_seq[e, seen[b, e] & mask]
                            ):
                                seen[b, e] += 1
                            in_flight = tile + 1 - seen[b, e]
                            over[a, 1] = max(over[a, 1], in_flight)
                            if in_flight > slots and (over[a, 0] < 0 or tile < over[a, 0]):
                                over[a, 0] = tile
                    pc[core] = i + 1
                    continue
                if op == 7:  # READ track a, endpoint b
                    tile = n_count[b] - 1
                    slots = st[ends[b, 3]]
                    read_clock[b, tile & mask] = pipe
                    read_seq[b, tile & mask] = p_seq[pipe] + 1
                    for e in range(n_ends):
                        if ends[e, 0] == a and ends[e, 2] == 1 and written[e] > tile + slots:
                            over[a, 1] = max(over[a, 1], written[e] - tile)
                            if over[a, 0] < 0 or tile + slots < over[a, 0]:
                                over[a, 0] = tile + slots
                    pc[core] = i + 1
                    continue
                if op == 8:  # EXEC duration a, issues b, latency
                    n_free -= 1
                    r = free[n_free]
                    used = max(used, r)
                    refs[r] = 0
                    join(vc[r], cur_vc, cur_vc)
                    o_dst[n_op] = r
                    o_dur[n_op] = a
                    o_kind[n_op] = pipe
                    o_pc[n_op] = i
                    n_op += 1
                    o_ptr[n_op] = n_src
                    s_add[core] += b * issue
                    if a >= 0:
                        counts[0, a] += 1
                    if not signal:
                        if queue_pipe[pipe] == 1:
                            slot = p_seq[pipe] % queue_depth
                            if p_seq[pipe] >= queue_depth:
                                r1 = hist[pipe, slot]
                                refs[r1] -= 1
                                if refs[r1] == 0:
                                    free[n_free] = r1
                                    n_free += 1
                            hist[pipe, slot] = r
                            hist_dur[pipe, slot] = a
                            refs[r] += 1
                        p_seq[pipe] += 1
                        vc[r, pipe] = p_seq[pipe]
                        r1 = p_at[pipe]
                        if r1 > 0:
                            refs[r1] -= 1
                            if refs[r1] == 0:
                                free[n_free] = r1
                                n_free += 1
                        p_at[pipe] = r
                        p_lat[pipe] = ops[i, 3]
                        refs[r] += 1
                    pc[core] = i + 1
                    # a signal's value is held by the tokens that follow
                    in_flight_instr[core] = r
                    continue
                if op == 9:  # PUSH channel a, latency b
                    r = in_flight_instr[core]
                    if tail[a] - head[a] >= cap:
                        info[I_STATUS] = FULL
                        return
                    slot = tail[a] & mask
                    tok[a, slot] = r
                    tok_lat[a, slot] = b
                    tail[a] += 1
                    refs[r] += 1
                    if chan[a, 3] == 1:
                        other = n_pipes + chan[a, 1]
                        while known[a] < head[a] and pop_seq[a, known[a] & mask] <= vc[r, other]:
                            known[a] += 1
                        flight[a] = max(flight[a], tail[a] - known[a])
                    pc[core] = i + 1
                    continue
                if op == 10 or op == 14:  # SWAIT, DRAIN
                    ch0 = a if op == 10 else b
                    ch1 = b if op == 10 else ops[i, 3]
                    if op == 14:
                        per = st[ends[a, 4]]
                        pending = per
                        if ops[i, 4] == 0:
                            pending = (n_count[a] // per if per > 0 else 0) - head[ch0]
                        else:
                            # SyncPeriod waits in all: loop_left counts those done
                            pending = per - loop_left[i]
                        if pending <= 0:
                            pc[core] = i + 1
                            continue
                    if tail[ch0] == head[ch0]:
                        break
                    if ch1 >= 0 and tail[ch1] == head[ch1]:
                        break
                    if n_src + 8 >= max_src or n_op + 2 >= max_ops or n_free < 2:
                        info[I_STATUS] = FULL
                        return
                    n_free -= 1
                    r = free[n_free]
                    used = max(used, r)
                    refs[r] = 1
                    r0 = s_at[core]
                    join(vc[r], vc[r0], vc[r0])
                    s_reg[n_src] = r0
                    s_off[n_src] = s_add[core]
                    s_col[n_src] = -1
                    s_chan[n_src] = -1
                    n_src += 1
                    s_seq[core] += 1
                    for half in range(2):
                        ch = ch0 if half == 0 else ch1
                        if ch < 0:
                            continue
                        slot = head[ch] & mask
                        r1 = tok[ch, slot]
                        pop_seq[ch, slot] = s_seq[core]
                        head[ch] += 1
                        if r1 > 0:
                            s_reg[n_src] = r1
                            s_off[n_src] = 0
                            s_col[n_src] = tok_lat[ch, slot]
                            s_chan[n_src] = ch
                            n_src += 1
                            join(vc[r], vc[r], vc[r1])
                            refs[r1] -= 1
                            if refs[r1] == 0:
                                free[n_free] = r1
                                n_free += 1
                    vc[r, n_pipes + core] = s_seq[core]
                    if r0 > 0:
                        refs[r0] -= 1
                        if refs[r0] == 0:
                            free[n_free] = r0
                            n_free += 1
                    o_dst[n_op] = r
                    o_dur[n_op] = -1
                    o_kind[n_op] = -1 - core
                    o_pc[n_op] = i
                    n_op += 1
                    o_ptr[n_op] = n_src
                    s_at[core] = r
                    s_add[core] = wait_cost
                    progress = True
                    if op == 14:
                        loop_left[i] += 1
                    else:
                        pc[core] = i + 1
                    continue
                if op == 11:  # IFWAIT endpoint a
                    per = st[ends[a, 4]]
                    tile = n_count[a]
                    if tile >= st[ends[a, 5]] and per > 0 and tile % per == 0:
                        pc[core] = i + 1
                    else:
                        pc[core] = b
                    continue
                if op == 12:  # IFNOTIFY endpoint a
                    per = st[ends[a, 4]]
                    if per > 0 and n_count[a] % per == 0:
                        pc[core] = i + 1
                    else:
                        pc[core] = b
                    continue
                # ADVANCE endpoint a
                tile = n_count[a]
                if ends[a, 2] == 0:
                    read_clock[a, tile & mask] = n_pipes + core
                    read_seq[a, tile & mask] = s_seq[core]
                n_count[a] = tile + 1
                pc[core] = i + 1
            if done[core] == 0:
                all_done = False
        if all_done:
            break
        if not progress:
            info[I_STATUS] = HANG
            break

    for c in range(n_cores):
        blocked[c] = -1 if done[c] == 1 else pc[c]
    for e in range(n_ends):
        end_count[e] = n_count[e]
    for ch in range(n_chan):
        if chan[ch, 3] == 1:
            info[I_LEFT] += tail[ch] - head[ch]
    # the end of the run: the last of everything
    if n_src + 4 * (n_pipes + n_cores) >= max_src or n_op + 1 >= max_ops or n_free < 1:
        info[I_STATUS] = FULL
        return
    for c in range(n_cores):
        s_reg[n_src] = s_at[c]
        s_off[n_src] = s_add[c]
        s_col[n_src] = -1
        s_chan[n_src] = -1
        n_src += 1
    for p in range(n_pipes):
        if p_at[p] > 0:
            s_reg[n_src] = p_at[p]
            s_off[n_src] = 0
            s_col[n_src] = p_lat[p]
            s_chan[n_src] = -1
            n_src += 1
    n_free -= 1
    r = free[n_free]
    used = max(used, r)
    o_dst[n_op] = r
    o_dur[n_op] = -1
    o_kind[n_op] = REMATERIALISED
    o_pc[n_op] = -2
    n_op += 1
    o_ptr[n_op] = n_src
    for q in range(n_durations):
        counts[0, q] -= counts[1, q]
    info[I_OPS] = n_op
    info[I_SOURCES] = n_src
    info[I_REGISTERS] = used + 1
    info[I_FINAL] = r
