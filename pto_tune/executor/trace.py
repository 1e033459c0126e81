"""The tracer: run the code once without times, and write down a straight-line schedule of maxima and sums.

The network is a Kahn network: which event waits for which token does not depend on when anything happens. So the
order of evaluation, deadlocks, credits and happens-before depend on the structure columns alone. The tracer runs
the cores in turn: the scalar process issues instructions into the queues of its pipes, and every pipe runs what its
queue holds as far as the tokens are there. It names every time value (a register), and emits for each event

    destination = max over sources (register + constant + duration column) + duration column

A vector clock on every register (instructions known complete on every pipe, waits done by every scalar process)
decides what is ordered: overwrites of slots, reads of what is not written yet, overflow of flag counters, and which
queue limits can matter at all. When a round of the steady loops ends in the state in which an earlier round ended,
what lies between is a window that repeats; `lanes.py` runs it as often as each configuration needs.

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
    I_SOURCES,
    I_STATUS,
    I_WINDOW_END,
    I_WINDOW_START,
    MAX_ROUNDS,
    REMATERIALISED,
)
from pto_tune.executor.rounds import open_window, remember, same_state
from pto_tune.executor.slots import first_pop, read_slot, write_slot
from pto_tune.executor.snapshot import describe, find_loops
from pto_tune.executor.state import NEVER, State, reset
from pto_tune.executor.tables import Found, Program, Schedule, Work

Ints = NDArray[np.int64]


@kernel
def trace(
    program: Program, st: Ints, queue_depth: int, skip: int, out: Schedule, work: Work, x: State, found: Found
) -> None:
    """Trace one structure row `st`; `work` and `x` are space. What comes out, by name:

    o_*, s_*    operations (destination, duration column, kind, op of the code, first source) and sources;
                `kind` is the pipe, or -1-core for the scalar process; s_col >= 0 adds a duration column,
                s_col <= -2 subtracts column -s_col-2; s_chan is the wait name's channel, -1 for issue and pipe,
                -2-pipe for a full queue
    counts      (2, n_durations) executions outside the window and in it
    at_window   (cores, 2) steady trips left at the window's end (before windows are left out), and trips of one window
    blocked     (cores, then pipes) operation at which a core or pipe hangs, -1 when it is done
    over        (tracks, 4) first tile written too early (-1 none), most tiles in flight, first tile read before it is
                written, first tile written too early although enough was released (the release leaves too early)
    flight      (channels) most signals that may be outstanding
    end_count   (endpoints, 2) tile index at the end, first tile pushed without TALLOC (-1 none)
    taken       (channels) tokens taken by the end
    """
    ops, pipe_core, pipe_twin, chan, ends, pair = (
        program.ops, program.pipe_core, program.pipe_twin, program.chan, program.ends, program.pair,
    )  # fmt: skip
    o_dst, o_dur, o_kind, o_pc, o_ptr = out.o_dst, out.o_dur, out.o_kind, out.o_pc, out.o_ptr
    s_reg, s_off, s_col, s_chan = out.s_reg, out.s_off, out.s_col, out.s_chan
    counts, touched = out.counts, out.touched
    vc, queue_pipe = work.vc, work.queue_pipe
    info, over, flight = found.info, found.over, found.flight
    n_cores = program.starts.shape[0]
    n_pipes = pipe_core.shape[0]
    n_chan = chan.shape[0]
    n_ends = ends.shape[0]
    n_durations = counts.shape[1]
    max_ops = o_dst.shape[0]
    max_src = s_reg.shape[0]
    n_regs = vc.shape[0]
    cap = x.tok.shape[1]
    mask = cap - 1
    log = touched.shape[0] > 1
    info[:] = 0
    info[I_WINDOW_START] = -1
    info[I_WINDOW_END] = -1
    counts[:] = 0
    over[:] = -1
    over[:, 1] = 0
    flight[:] = 0
    out.at_window[:] = 0
    found.end_count[:, 0] = 0
    found.end_count[:, 1] = -1
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

    if not reset(x, program, st):
        info[I_STATUS] = FULL
        return
    pc, done, s_at, s_add, s_seq, loop_left = x.pc, x.done, x.s_at, x.s_add, x.s_seq, x.loop_left
    p_at, p_lat, p_seq, p_issued, hist, hist_dur = x.p_at, x.p_lat, x.p_seq, x.p_issued, x.hist, x.hist_dur
    q_head, q_tail, q_pc, q_reg, q_off, q_aux, q_val = (
        x.q_head, x.q_tail, x.q_pc, x.q_reg, x.q_off, x.q_aux, x.q_val,
    )  # fmt: skip
    head, tail, given, tok, tok_tick, tok_lat, tok_val = (
        x.head, x.tail, x.given, x.tok, x.tok_tick, x.tok_lat, x.tok_val,
    )  # fmt: skip
    pop_seq, pop_clock, known, rel, n_count, recorded, written, read_clock, read_seq, seen = (
        x.pop_seq, x.pop_clock, x.known, x.rel, x.count, x.recorded, x.written, x.read_clock, x.read_seq, x.seen,
    )  # fmt: skip
    r_tile, w_tile, w_clock, w_seq, w_rel, owner = x.r_tile, x.w_tile, x.w_clock, x.w_seq, x.w_rel, x.owner
    core_pipe, parts = program.core_pipe, program.parts
    n_wait = np.zeros(n_cores, np.int64)  # instructions and signals in the queues of a core
    cur_vc = np.zeros(CLOCKS, np.int32)
    for ch in range(n_chan):
        if chan[ch, 3] == 1:
            flight[ch] = given[ch]

    steady_op = np.zeros(n_cores, np.int64) - 1
    inner_loop = np.empty(ops.shape[0], np.int64)
    n_loops = find_loops(ops, program.starts, steady_op, inner_loop)
    rounds = work.rounds
    n_rounds = 0
    line, canon, snaps, snap_regs, snap_len, snap_op, snap_counts, snap_left, snap_add = (
        rounds.line, rounds.canon, rounds.snaps, rounds.regs, rounds.length, rounds.op, rounds.counts, rounds.left,
        rounds.add,
    )  # fmt: skip
    low = np.empty(n_chan, np.int64)
    search = True

    n_op = 0
    n_src = 0
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
                    line, snap_regs[n_rounds], canon, st, ops, pipe_core, chan, ends, pair, pc, done, s_at, s_add,
                    s_seq, loop_left, p_at, p_lat, p_seq, hist, hist_dur, q_head, q_tail, q_pc, q_reg, q_off, q_aux, q_val,
                    head, tail, given, tok, tok_tick, tok_lat, tok_val, known, rel, n_count, recorded, seen, w_tile,
                    w_clock, w_seq, queue_pipe, vc, inner_loop, n_loops, low,
                )  # fmt: skip
                if k < 0:
                    search = False
                else:
                    z = same_state(snaps, snap_len, n_rounds, line, k, snap_left, left_now, done)
                    if z >= 0:
                        open_window(rounds, z, n_rounds, live, n_op, skip, x, steady_op, left_now, out, info)
                        search = False
                    else:
                        n_rounds += 1
                        remember(
                            snaps, snap_len, snap_op, snap_counts, snap_left, snap_add, n_rounds - 1, line, k, n_op,
                            counts, left_now, s_add,
                        )  # fmt: skip
                        search = n_rounds < MAX_ROUNDS - 1
        info[I_ROUNDS] += 1

        progress = False
        all_done = True
        for core in range(n_cores):
            scan = n_wait[core] > 0  # run every pipe before the scalar process
            pipe = core_pipe[core] if scan else -1
            stale = False  # something ran since the last scan
            while True:
                # the pipe runs what its queue holds, as far as the tokens are there
                if pipe >= 0:
                    while q_head[pipe] < q_tail[pipe]:
                        slot = q_head[pipe] & mask
                        i = q_pc[pipe, slot]
                        last = ops[i, 2]
                        ready = True
                        for k in range(i + 1, last):
                            if ops[k, 0] != 5:
                                if ops[k, 0] == 8:
                                    break
                                continue
                            v = q_val[pipe, slot, k - i - 1]
                            if v >= 0 and tok_tick[ops[k, 1], v & mask] != v:
                                ready = False
                                break
                        if not ready:
                            break
                        if n_src + 2 * parts + 8 >= max_src or n_op + 4 >= max_ops or n_free < 4:
                            info[I_STATUS] = FULL
                            return
                        q_head[pipe] += 1
                        n_wait[core] -= 1
                        progress = True
                        stale = True
                        signal = ops[i, 0] == 4
                        r0 = q_reg[pipe, slot]
                        s_reg[n_src] = r0
                        s_off[n_src] = q_off[pipe, slot]
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
                        if r0 > 0:
                            refs[r0] -= 1
                            if refs[r0] == 0:
                                free[n_free] = r0
                                n_free += 1
                        n_free -= 1
                        r = free[n_free]
                        used = max(used, r)
                        refs[r] = 0
                        if log:
                            for q in range(4):
                                touched[n_op, q] = -1
                        for k in range(i + 1, last):
                            op = ops[k, 0]
                            a = ops[k, 1]
                            b = ops[k, 2]
                            v = q_val[pipe, slot, k - i - 1]
                            if v < 0 and op != 8:
                                continue
                            if op == 5:  # POP
                                at = v & mask
                                r1 = tok[a, at]
                                tok_tick[a, at] = -1
                                pop_seq[a, at] = p_seq[pipe] + 1
                                pop_clock[a, at] = pipe
                                rel[a] = max(rel[a], tok_val[a, at])
                                if r1 > 0:
                                    s_reg[n_src] = r1
                                    s_off[n_src] = 0
                                    s_col[n_src] = tok_lat[a, at]
                                    s_chan[n_src] = a
                                    n_src += 1
                                    join(cur_vc, cur_vc, vc[r1])
                                    refs[r1] -= 1
                                    if refs[r1] == 0:
                                        free[n_free] = r1
                                        n_free += 1
                            elif op == 6:  # WRITE track a, endpoint b, tile v
                                if log:
                                    touched[n_op, 0] = b
                                    touched[n_op, 1] = v
                                write_slot(
                                    ends, pair, st, rel, n_count, written, read_clock, read_seq, r_tile, w_tile,
                                    w_clock, w_seq, w_rel, owner, seen, over, cur_vc, b, v, pipe, p_seq[pipe] + 1,
                                )  # fmt: skip
                            elif op == 7:  # READ track a, endpoint b, tile v
                                if log:
                                    touched[n_op, 2] = b
                                    touched[n_op, 3] = v
                                read_slot(
                                    ends, st, written, read_clock, read_seq, r_tile, w_tile, w_clock, w_seq, w_rel,
                                    owner, seen, over, cur_vc, b, v, pipe, p_seq[pipe] + 1,
                                )  # fmt: skip
                            elif op == 8:  # EXEC duration a, issues b, latency
                                join(vc[r], cur_vc, cur_vc)
                                o_dst[n_op] = r
                                o_dur[n_op] = a
                                o_kind[n_op] = pipe
                                o_pc[n_op] = k
                                n_op += 1
                                o_ptr[n_op] = n_src
                                if a >= 0:
                                    counts[0, a] += 1
                                if signal:
                                    continue
                                if queue_pipe[pipe] == 1:
                                    at = p_seq[pipe] % queue_depth
                                    if p_seq[pipe] >= queue_depth:
                                        r1 = hist[pipe, at]
                                        refs[r1] -= 1
                                        if refs[r1] == 0:
                                            free[n_free] = r1
                                            n_free += 1
                                    hist[pipe, at] = r
                                    hist_dur[pipe, at] = a
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
                                p_lat[pipe] = ops[k, 3]
                                refs[r] += 1
                            elif op == 9:  # PUSH channel a, latency b, ticket v
                                at = v & mask
                                if tok_tick[a, at] >= 0:
                                    info[I_STATUS] = FULL
                                    return
                                tok[a, at] = r
                                tok_tick[a, at] = v
                                tok_lat[a, at] = b
                                tok_val[a, at] = q_aux[pipe, slot]
                                pop_seq[a, at] = NEVER
                                given[a] += 1
                                refs[r] += 1
                                if chan[a, 3] == 1:
                                    while (
                                        known[a] < given[a]
                                        and pop_seq[a, known[a] & mask] <= vc[r, pop_clock[a, known[a] & mask]]
                                    ):
                                        known[a] += 1
                                    flight[a] = max(flight[a], given[a] - known[a])
                        if refs[r] == 0:  # a signal for nobody
                            free[n_free] = r
                            n_free += 1
                    if scan:
                        pipe += 1
                        if pipe < core_pipe[core + 1]:
                            continue
                        scan = False
                        stale = False
                    pipe = -1
                # the scalar process
                stuck = False
                i = pc[core]
                op = ops[i, 0]
                a = ops[i, 1]
                b = ops[i, 2]
                if done[core] == 1:
                    stuck = True
                elif op == 0:  # HALT
                    done[core] = 1
                    progress = True
                    stuck = True
                elif op == 1:  # LOOP
                    loop_left[i] = st[a]
                    pc[core] = i + 1 if st[a] > 0 else b
                    progress = True
                elif op == 2:  # NEXT
                    loop_left[a] -= 1
                    progress = True
                    if loop_left[a] > 0:
                        pc[core] = a + 1
                        if ops[a, 3] == 1:
                            break  # one steady trip a turn
                    else:
                        pc[core] = i + 1
                elif op == 3 or op == 4:  # BEGIN, SIGNAL: issued to pipe a, parts up to b
                    p = a
                    at = p_issued[p] % queue_depth
                    if q_tail[p] - q_head[p] >= cap:
                        info[I_STATUS] = FULL
                        return
                    if op == 3 and p_issued[p] >= queue_depth:
                        # room in the queue: the instruction queue_depth places earlier has started
                        r0 = s_at[core]
                        if vc[r0, p] < p_issued[p] - queue_depth + 1:
                            info[I_NEEDED] |= 1 << p
                            if queue_pipe[p] == 0:
                                # start again with the limit; the sub-cores run one program
                                for q in range(n_pipes):
                                    if pipe_twin[q] == pipe_twin[p]:
                                        info[I_QUEUE] |= 1 << q
                                return
                        if p_seq[p] <= p_issued[p] - queue_depth:
                            stuck = True  # it has not even run
                        elif queue_pipe[p] == 1:
                            if n_src + 8 >= max_src or n_op + 2 >= max_ops or n_free < 2:
                                info[I_STATUS] = FULL
                                return
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
                            s_reg[n_src] = hist[p, at]
                            s_off[n_src] = 0
                            s_col[n_src] = -2 - hist_dur[p, at] if hist_dur[p, at] >= 0 else -1
                            s_chan[n_src] = -2 - p
                            n_src += 1
                            if log:
                                for q in range(4):
                                    touched[n_op, q] = -1
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
                    if not stuck:
                        slot = q_tail[p] & mask
                        q_pc[p, slot] = i
                        q_reg[p, slot] = s_at[core]
                        q_off[p, slot] = s_add[core] + issue
                        q_aux[p, slot] = 0
                        if s_at[core] > 0:
                            refs[s_at[core]] += 1
                        for k in range(i + 1, b):
                            v = -1
                            e = ops[k, 1]
                            if ops[k, 0] == 5:
                                if ops[k, 2] < 0 or st[ops[k, 2]] > 0:
                                    v = head[e]
                                    head[e] += 1
                            elif ops[k, 0] == 6 or ops[k, 0] == 7:
                                v = n_count[ops[k, 2]] - 1
                            elif ops[k, 0] == 8:
                                s_add[core] += ops[k, 2] * issue
                            elif ops[k, 0] == 9:
                                if ops[k, 3] < 0 or st[ops[k, 3]] > 0:
                                    v = tail[e]
                                    tail[e] += 1
                                if chan[e, 5] >= 0:
                                    q_aux[p, slot] = n_count[chan[e, 5]]
                            else:  # ADVANCE of a ring
                                if ends[e, 2] == 0:
                                    read_clock[e, n_count[e] & mask] = p
                                    read_seq[e, n_count[e] & mask] = p_issued[p] + 1
                                n_count[e] += 1
                            q_val[p, slot, k - i - 1] = v
                        q_tail[p] += 1
                        n_wait[core] += 1
                        if op == 3:
                            p_issued[p] += 1
                        pc[core] = b
                        progress = True
                        pipe = p
                elif op == 10:  # SWAIT channel a, channel b
                    if tok_tick[a, head[a] & mask] != head[a] or (b >= 0 and tok_tick[b, head[b] & mask] != head[b]):
                        stuck = True
                    else:
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
                            ch = a if half == 0 else b
                            if ch < 0:
                                continue
                            at = head[ch] & mask
                            r1 = tok[ch, at]
                            tok_tick[ch, at] = -1
                            pop_seq[ch, at] = s_seq[core]
                            pop_clock[ch, at] = n_pipes + core
                            rel[ch] = max(rel[ch], tok_val[ch, at])
                            head[ch] += 1
                            if r1 > 0:
                                s_reg[n_src] = r1
                                s_off[n_src] = 0
                                s_col[n_src] = tok_lat[ch, at]
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
                        if log:
                            for q in range(4):
                                touched[n_op, q] = -1
                        o_dst[n_op] = r
                        o_dur[n_op] = -1
                        o_kind[n_op] = -1 - core
                        o_pc[n_op] = i
                        n_op += 1
                        o_ptr[n_op] = n_src
                        s_at[core] = r
                        s_add[core] = wait_cost
                        progress = True
                        pc[core] = i + 1
                elif op == 11:  # IFWAIT endpoint a, else to b
                    per = st[ends[a, 4]]
                    tile = n_count[a]
                    due = tile >= st[ends[a, 5]] and per > 0 and tile % per == 0
                    pc[core] = i + 1 if due and (ops[i, 3] < 0 or st[ops[i, 3]] > 0) else b
                elif op == 12:  # IFNOTIFY endpoint a, else to b, tiles ahead
                    per = st[ends[a, 4]]
                    due = per > 0 and (n_count[a] + ops[i, 4]) % per == 0
                    pc[core] = i + 1 if due and (ops[i, 3] < 0 or st[ops[i, 3]] > 0) else b
                elif op == 13:  # ADVANCE endpoint a, pipe b whose last instruction has waited
                    if ends[a, 2] == 0:
                        if n_count[a] == 0:
                            first_pop(ends, st, written, w_rel, over, a)
                        tile = n_count[a] & mask
                        read_clock[a, tile] = n_pipes + core if b < 0 else b
                        read_seq[a, tile] = s_seq[core] if b < 0 else p_issued[b]
                    n_count[a] += 1
                    pc[core] = i + 1
                elif op == 14:  # DRAIN endpoint a, to b when nothing is pending, by rule, further ones
                    pending = -loop_left[i]
                    if ops[i, 3] == 1:
                        per = st[ends[a, 4]]
                        n = n_count[a]
                        lead = st[ends[a, 5]]
                        if per > 0:
                            due = (n - 1) // per - (lead - 1) // per if n > lead else 0
                            pending += max(0, n // per - due)
                    if ops[i, 4] >= 0:
                        pending += st[ops[i, 4]]
                    if pending > 0:
                        loop_left[i] += 1
                        pc[core] = i + 1
                    else:
                        pc[core] = b
                elif op == 15:  # JUMP
                    pc[core] = a
                else:  # RECORD endpoint a
                    recorded[a] += 1
                    if recorded[a] > n_count[a] and found.end_count[a, 1] < 0:
                        found.end_count[a, 1] = recorded[a] - 1
                    pc[core] = i + 1
                if stuck:
                    if n_wait[core] == 0 or not stale:
                        break
                    scan = True
                    pipe = core_pipe[core]
                    stale = False
            if done[core] == 0 or n_wait[core] > 0:
                all_done = False
        if all_done:
            break
        if not progress:
            info[I_STATUS] = HANG
            break

    for c in range(n_cores):
        found.blocked[c] = -1 if done[c] == 1 else pc[c]
    for p in range(n_pipes):
        found.blocked[n_cores + p] = -1
        if q_head[p] < q_tail[p]:
            slot = q_head[p] & mask
            i = q_pc[p, slot]
            for k in range(i + 1, ops[i, 2]):
                v = q_val[p, slot, k - i - 1]
                if ops[k, 0] == 5 and v >= 0 and tok_tick[ops[k, 1], v & mask] != v:
                    found.blocked[n_cores + p] = k
                    break
    for e in range(n_ends):
        found.end_count[e, 0] = n_count[e]
    for ch in range(n_chan):
        found.taken[ch] = head[ch]
        for p in range(n_pipes):  # less what stands in the queues
            for j in range(q_head[p], q_tail[p]):
                i = q_pc[p, j & mask]
                for k in range(i + 1, ops[i, 2]):
                    if ops[k, 0] == 5 and ops[k, 1] == ch and q_val[p, j & mask, k - i - 1] >= 0:
                        found.taken[ch] -= 1
        if chan[ch, 3] == 1:
            info[I_LEFT] += given[ch] - found.taken[ch]
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
    if log:
        for q in range(4):
            touched[n_op, q] = -1
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
