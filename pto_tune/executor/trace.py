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

# isort: off
from pto_tune.executor.clocks import CLOCKS, join
from pto_tune.executor.endings import finish, owed
from pto_tune.executor.jit import bare
from pto_tune.executor.layout import (
    FULL, HANG, I_FINAL, I_NEEDED, I_OPS, I_QUEUE, I_REGISTERS, I_ROUNDS, I_SOURCES, I_STATUS, I_WINDOW_END,
    I_WINDOW_START, MAX_ROUNDS, REMATERIALISED,
)  # fmt: skip
from pto_tune.executor.rounds import in_steady_loops, open_window, remember, same_state
from pto_tune.executor.slots import first_pop, read_slot, unread_pop, write_slot
from pto_tune.executor.snapshot import describe
from pto_tune.executor.state import (
    PC, DONE, S_AT, S_ADD, S_SEQ, P_AT, P_LAT, P_RUN, P_ISSUED, Q_HEAD, Q_TAIL, Q_PC, Q_REG, Q_OFF, Q_AUX, Q_PARTS,
    TAKEN, GIVEN, SENT, KNOWN, RELEASED, T_REG, T_TICKET, T_LATENCY, T_RELEASED, T_SEQ, T_CLOCK, E_TILES, E_PUSHED,
    E_WRITTEN, R_CLOCK, R_SEQ, R_TILE, W_TILE, W_CLOCK, W_SEQ, W_RELEASED, NEVER, State, reset,
)  # fmt: skip
from pto_tune.executor.tables import Found, Program, Schedule, Work
# isort: on

Ints = NDArray[np.int64]


@bare
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
    taken       (channels, 2) tokens taken by the end, and sent
    """
    ops, pipe_core, pipe_twin, chan, ends, pair = (
        program.ops, program.pipe_core, program.pipe_twin, program.chan, program.ends, program.pair,
    )  # fmt: skip
    o_dst, o_dur, o_kind, o_pc, o_ptr = out.o_dst, out.o_dur, out.o_kind, out.o_pc, out.o_ptr
    s_reg, s_off, s_col, s_chan = out.s_reg, out.s_off, out.s_col, out.s_chan
    counts, touched = out.counts, out.touched
    vc, queue_pipe = work.vc, work.queue_pipe
    info, over, flight = found.info, found.over, found.flight
    n_cores, n_pipes, n_chan = program.starts.shape[0], pipe_core.shape[0], chan.shape[0]
    n_durations, n_regs = counts.shape[1], vc.shape[0] - 1
    max_ops, max_src = o_dst.shape[0], s_reg.shape[0]
    cap = x.ts.shape[1]
    mask = cap - 1
    log = touched.shape[0] > 1
    info[:] = 0
    info[I_WINDOW_START] = info[I_WINDOW_END] = -1
    counts[:] = 0
    over[:] = -1
    over[:, 1] = 0
    flight[:] = 0
    out.at_window[:] = 0
    if log:
        touched[:] = -1
    found.end_count[:, 0] = 0
    found.end_count[:, 1] = -1
    left_now, steady_op, inner_loop, low = work.left_now, work.steady_op, work.inner_loop, work.low
    left_now[:] = 0
    issue = st[0]
    wait_cost = st[1]

    # registers: 0 is time zero and never freed
    for q in range(CLOCKS):
        vc[0, q] = 0
    refs, free, n_wait = work.refs, work.free, work.n_wait
    refs[:] = 0
    refs[0] = NEVER
    n_free = 0
    for r in range(n_regs - 1, 0, -1):
        free[n_free] = r
        n_free += 1
    used = 0

    if not reset(x, program, st):
        info[I_STATUS] = FULL
        return
    cs, ps, hs, es, qs, ts, sl, loop_left, owner, seen = (
        x.cs, x.ps, x.hs, x.es, x.qs, x.ts, x.sl, x.loop_left, x.owner, x.seen,
    )  # fmt: skip
    hist, hist_dur = x.hist[0], x.hist[1]
    core_pipe, parts, mates = program.core_pipe, program.parts, program.mates
    n_wait[:] = 0
    now = n_regs  # row of `vc` for what the instruction in work knows
    for ch in range(n_chan):
        if chan[ch, 3] == 1:
            flight[ch] = hs[ch, SENT]

    rounds = work.rounds
    n_rounds = 0
    line, canon, snaps, snap_regs, snap_len, snap_op, snap_counts, snap_left, snap_add = (
        rounds.line, rounds.canon, rounds.snaps, rounds.regs, rounds.length, rounds.op, rounds.counts, rounds.left,
        rounds.add,
    )  # fmt: skip
    search = True

    n_op = 0
    n_src = 0
    core = 0
    fresh = False  # all tokens of the instruction that was just issued are there
    o_ptr[0] = 0

    while True:
        # a round starts: look for a window where every running core is in its steady loop
        if search and in_steady_loops(ops, cs, loop_left, steady_op, left_now):
            for c in range(n_cores):
                if cs[c, DONE] == 0 and cs[c, S_AT] == 0:
                    if n_op >= max_ops or n_src >= max_src or n_free == 0:
                        info[I_STATUS] = FULL
                        return
                    n_free -= 1
                    r = free[n_free]
                    used = max(used, r)
                    refs[r] = 1
                    for q in range(CLOCKS):
                        vc[r, q] = 0
                    s_reg[n_src], s_off[n_src], s_col[n_src], s_chan[n_src] = 0, cs[c, S_ADD], -1, -1
                    n_src += 1
                    o_dst[n_op], o_dur[n_op], o_kind[n_op], o_pc[n_op] = r, -1, REMATERIALISED, -1
                    n_op += 1
                    o_ptr[n_op] = n_src
                    cs[c, S_AT] = r
                    cs[c, S_ADD] = 0
            k, live = describe(
                line, snap_regs[n_rounds], canon, st, ops, pipe_core, chan, ends, pair, mates, cs, ps, hs, es, qs,
                ts, sl, loop_left, hist, hist_dur, seen, queue_pipe, vc, inner_loop, low,
            )  # fmt: skip
            if k < 0:
                search = False
            else:
                z = same_state(snaps, snap_len, n_rounds, line, k, snap_left, left_now, cs)
                if z >= 0:
                    open_window(rounds, z, n_rounds, live, n_op, skip, x, steady_op, left_now, out, info)
                    search = False
                else:
                    n_rounds += 1
                    remember(
                        snaps, snap_len, snap_op, snap_counts, snap_left, snap_add, n_rounds - 1, line, k, n_op,
                        counts, left_now, cs,
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
                    while ps[pipe, Q_HEAD] < ps[pipe, Q_TAIL]:
                        slot = ps[pipe, Q_HEAD] & mask
                        i = qs[pipe, slot, Q_PC]
                        last = ops[i, 2]
                        ready = True
                        for k in range(i + 1, last if ps[pipe, Q_TAIL] - ps[pipe, Q_HEAD] > 1 or not fresh else i + 1):
                            if ops[k, 0] != 5:
                                if ops[k, 0] == 8:
                                    break
                                continue
                            v = qs[pipe, slot, Q_PARTS + k - i - 1]
                            if v >= 0 and ts[ops[k, 1], v & mask, T_TICKET] != v:
                                ready = False
                                break
                        fresh = False
                        if not ready:
                            break
                        if n_src + 2 * parts + 8 >= max_src or n_op + 4 >= max_ops or n_free < 4:
                            info[I_STATUS] = FULL
                            return
                        ps[pipe, Q_HEAD] += 1
                        n_wait[core] -= 1
                        progress = True
                        stale = True
                        signal = ops[i, 0] == 4
                        r0 = qs[pipe, slot, Q_REG]
                        s_reg[n_src], s_off[n_src], s_col[n_src], s_chan[n_src] = r0, qs[pipe, slot, Q_OFF], -1, -1
                        n_src += 1
                        r1 = ps[pipe, P_AT]
                        if r1 > 0:
                            s_reg[n_src], s_off[n_src] = r1, 0
                            s_col[n_src], s_chan[n_src] = ps[pipe, P_LAT] if signal else -1, -1
                            n_src += 1
                        join(vc, now, r0, r1)
                        refs[r0] -= 1
                        if refs[r0] == 0:
                            free[n_free] = r0
                            n_free += 1
                        n_free -= 1
                        r = free[n_free]
                        used = max(used, r)
                        refs[r] = 0
                        for k in range(i + 1, last):
                            op = ops[k, 0]
                            a = ops[k, 1]
                            b = ops[k, 2]
                            v = qs[pipe, slot, Q_PARTS + k - i - 1]
                            if v < 0 and op != 8:
                                continue
                            if op == 5:  # POP
                                at = v & mask
                                r1 = ts[a, at, T_REG]
                                ts[a, at, T_TICKET] = -1
                                ts[a, at, T_SEQ] = ps[pipe, P_RUN] + 1
                                ts[a, at, T_CLOCK] = pipe
                                hs[a, RELEASED] = max(hs[a, RELEASED], ts[a, at, T_RELEASED])
                                if r1 > 0:
                                    s_reg[n_src], s_off[n_src] = r1, 0
                                    s_col[n_src], s_chan[n_src] = ts[a, at, T_LATENCY], a
                                    n_src += 1
                                    join(vc, now, now, r1)
                                    refs[r1] -= 1
                                    if refs[r1] == 0:
                                        free[n_free] = r1
                                        n_free += 1
                            elif op == 6:  # WRITE track a, endpoint b, tile v
                                if log:
                                    touched[n_op, 0] = b
                                    touched[n_op, 1] = v
                                at = v & mask
                                fine = ends[b, 6] < 0
                                es[b, E_WRITTEN] = max(es[b, E_WRITTEN], v + 1)
                                sl[b, at, W_TILE], sl[b, at, W_CLOCK] = v, pipe
                                sl[b, at, W_SEQ], sl[b, at, W_RELEASED] = ps[pipe, P_RUN] + 1, NEVER
                                for j in range(mates.shape[1]):
                                    e = mates[b, j]
                                    if e < 0:
                                        break
                                    q = seen[b, e]
                                    j2 = q & mask
                                    while q < es[e, E_TILES] and vc[now, sl[e, j2, R_CLOCK]] >= sl[e, j2, R_SEQ]:
                                        q += 1
                                        j2 = q & mask
                                    seen[b, e] = q
                                    if pair[b, e] >= 0:
                                        q = hs[pair[b, e], RELEASED]
                                        sl[b, at, W_RELEASED] = min(sl[b, at, W_RELEASED], q)
                                    if ends[e, 0] == a and (es[e, E_TILES] > 0 or pair[b, e] < 0):
                                        over[a, 1] = max(over[a, 1], v + 1 - seen[b, e])
                                    fine = fine and sl[e, at, R_TILE] != v and v + 1 - seen[b, e] <= st[ends[b, 3]]
                                if not fine:  # or nearly: look again
                                    write_slot(ends, pair, mates, st, hs, es, sl, owner, seen, over, b, v)
                            elif op == 7:  # READ track a, endpoint b, tile v
                                if log:
                                    touched[n_op, 2] = b
                                    touched[n_op, 3] = v
                                at = v & mask
                                fine = ends[b, 6] < 0
                                sl[b, at, R_CLOCK], sl[b, at, R_SEQ], sl[b, at, R_TILE] = pipe, ps[pipe, P_RUN] + 1, v
                                for j in range(mates.shape[1]):
                                    e = mates[b, j]
                                    if e < 0:
                                        break
                                    seen[e, b] = min(seen[e, b], v)
                                    if sl[e, at, W_TILE] == v and vc[now, sl[e, at, W_CLOCK]] < sl[e, at, W_SEQ]:
                                        fine = False
                                    fine = fine and es[e, E_WRITTEN] <= v + st[ends[b, 3]]
                                if not fine:
                                    read_slot(ends, mates, st, es, sl, owner, over, vc, now, b, v)
                            elif op == 8:  # EXEC duration a, issues b, latency
                                join(vc, r, now, now)
                                o_dst[n_op], o_dur[n_op], o_kind[n_op], o_pc[n_op] = r, a, pipe, k
                                n_op += 1
                                o_ptr[n_op] = n_src
                                if a >= 0:
                                    counts[0, a] += 1
                                if signal:
                                    continue
                                if queue_pipe[pipe] == 1:
                                    at = ps[pipe, P_RUN] % queue_depth
                                    if ps[pipe, P_RUN] >= queue_depth:
                                        r1 = hist[pipe, at]
                                        refs[r1] -= 1
                                        if refs[r1] == 0:
                                            free[n_free] = r1
                                            n_free += 1
                                    hist[pipe, at] = r
                                    hist_dur[pipe, at] = a
                                    refs[r] += 1
                                ps[pipe, P_RUN] += 1
                                vc[r, pipe] = ps[pipe, P_RUN]
                                r1 = ps[pipe, P_AT]
                                refs[r1] -= 1
                                if refs[r1] == 0:
                                    free[n_free] = r1
                                    n_free += 1
                                ps[pipe, P_AT] = r
                                ps[pipe, P_LAT] = ops[k, 3]
                                refs[r] += 1
                            elif op == 9:  # PUSH channel a, latency b, ticket v
                                at = v & mask
                                if ts[a, at, T_TICKET] >= 0:
                                    info[I_STATUS] = FULL
                                    return
                                ts[a, at, T_REG] = r
                                ts[a, at, T_TICKET] = v
                                ts[a, at, T_LATENCY] = b
                                ts[a, at, T_RELEASED] = qs[pipe, slot, Q_AUX]
                                ts[a, at, T_SEQ] = NEVER
                                hs[a, SENT] += 1
                                refs[r] += 1
                                if chan[a, 3] == 1:
                                    while (
                                        hs[a, KNOWN] < hs[a, SENT]
                                        and ts[a, hs[a, KNOWN] & mask, T_SEQ]
                                        <= vc[r, ts[a, hs[a, KNOWN] & mask, T_CLOCK]]
                                    ):
                                        hs[a, KNOWN] += 1
                                    flight[a] = max(flight[a], hs[a, SENT] - hs[a, KNOWN])
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
                i = cs[core, PC]
                op = ops[i, 0]
                a = ops[i, 1]
                b = ops[i, 2]
                if cs[core, DONE] == 1:
                    stuck = True
                elif op == 0:  # HALT
                    cs[core, DONE] = 1
                    progress = True
                    stuck = True
                elif op == 1:  # LOOP
                    loop_left[i] = st[a]
                    cs[core, PC] = i + 1 if st[a] > 0 else b
                    progress = True
                elif op == 2:  # NEXT
                    loop_left[a] -= 1
                    progress = True
                    if loop_left[a] > 0:
                        cs[core, PC] = a + 1
                        if ops[a, 3] == 1:
                            break  # one steady trip a turn
                    else:
                        cs[core, PC] = i + 1
                elif op == 3 or op == 4:  # BEGIN, SIGNAL: issued to pipe a, parts up to b
                    p = a
                    if ps[p, Q_TAIL] - ps[p, Q_HEAD] >= cap:
                        info[I_STATUS] = FULL
                        return
                    if op == 3 and ps[p, P_ISSUED] >= queue_depth:
                        # room in the queue: the instruction queue_depth places earlier has started
                        r0 = cs[core, S_AT]
                        if vc[r0, p] < ps[p, P_ISSUED] - queue_depth + 1:
                            info[I_NEEDED] |= 1 << p
                            if queue_pipe[p] == 0:
                                # start again with the limit; the sub-cores run one program
                                for q in range(n_pipes):
                                    if pipe_twin[q] == pipe_twin[p]:
                                        info[I_QUEUE] |= 1 << q
                                return
                        if ps[p, P_RUN] <= ps[p, P_ISSUED] - queue_depth:
                            stuck = True  # it has not even run
                        elif queue_pipe[p] == 1:
                            at = ps[p, P_ISSUED] % queue_depth
                            if n_src + 8 >= max_src or n_op + 2 >= max_ops or n_free < 2:
                                info[I_STATUS] = FULL
                                return
                            n_free -= 1
                            r = free[n_free]
                            used = max(used, r)
                            refs[r] = 1
                            join(vc, r, r0, r0)
                            s_reg[n_src], s_off[n_src], s_col[n_src], s_chan[n_src] = r0, cs[core, S_ADD], -1, -1
                            n_src += 1
                            s_reg[n_src], s_off[n_src] = hist[p, at], 0
                            s_col[n_src], s_chan[n_src] = -2 - hist_dur[p, at] if hist_dur[p, at] >= 0 else -1, -2 - p
                            n_src += 1
                            o_dst[n_op], o_dur[n_op], o_kind[n_op], o_pc[n_op] = r, -1, -1 - core, i
                            n_op += 1
                            o_ptr[n_op] = n_src
                            refs[r0] -= 1
                            if refs[r0] == 0:
                                free[n_free] = r0
                                n_free += 1
                            cs[core, S_AT] = r
                            cs[core, S_ADD] = 0
                    if not stuck:
                        slot = ps[p, Q_TAIL] & mask
                        qs[p, slot, Q_PC] = i
                        qs[p, slot, Q_REG] = cs[core, S_AT]
                        qs[p, slot, Q_OFF] = cs[core, S_ADD] + issue
                        qs[p, slot, Q_AUX] = 0
                        refs[cs[core, S_AT]] += 1
                        fresh = True
                        for k in range(i + 1, b):
                            v = -1
                            e = ops[k, 1]
                            if ops[k, 0] == 5:
                                if ops[k, 2] < 0 or st[ops[k, 2]] > 0:
                                    v = hs[e, TAKEN]
                                    hs[e, TAKEN] += 1
                                    fresh = fresh and ts[e, v & mask, T_TICKET] == v
                            elif ops[k, 0] == 6 or ops[k, 0] == 7:
                                v = es[ops[k, 2], E_TILES] - 1
                            elif ops[k, 0] == 8:
                                cs[core, S_ADD] += ops[k, 2] * issue
                            elif ops[k, 0] == 9:
                                if ops[k, 3] < 0 or st[ops[k, 3]] > 0:
                                    v = hs[e, GIVEN]
                                    hs[e, GIVEN] += 1
                                if chan[e, 5] >= 0:
                                    qs[p, slot, Q_AUX] = es[chan[e, 5], E_TILES]
                            else:  # ADVANCE of a ring, or with the wait of a pop
                                if ends[e, 2] == 0:
                                    if es[e, E_TILES] == 0:
                                        first_pop(ends, mates, st, es, sl, over, e)
                                    sl[e, es[e, E_TILES] & mask, R_CLOCK] = p
                                    sl[e, es[e, E_TILES] & mask, R_SEQ] = ps[p, P_ISSUED] + 1
                                es[e, E_TILES] += 1
                            qs[p, slot, Q_PARTS + k - i - 1] = v
                        ps[p, Q_TAIL] += 1
                        n_wait[core] += 1
                        if op == 3:
                            ps[p, P_ISSUED] += 1
                        cs[core, PC] = b
                        progress = True
                        pipe = p
                elif op == 10:  # SWAIT channel a, channel b
                    if ts[a, hs[a, TAKEN] & mask, T_TICKET] != hs[a, TAKEN] or (
                        b >= 0 and ts[b, hs[b, TAKEN] & mask, T_TICKET] != hs[b, TAKEN]
                    ):
                        stuck = True
                    else:
                        if n_src + 8 >= max_src or n_op + 2 >= max_ops or n_free < 2:
                            info[I_STATUS] = FULL
                            return
                        n_free -= 1
                        r = free[n_free]
                        used = max(used, r)
                        refs[r] = 1
                        r0 = cs[core, S_AT]
                        join(vc, r, r0, r0)
                        s_reg[n_src], s_off[n_src], s_col[n_src], s_chan[n_src] = r0, cs[core, S_ADD], -1, -1
                        n_src += 1
                        cs[core, S_SEQ] += 1
                        for half in range(2):
                            ch = a if half == 0 else b
                            if ch < 0:
                                continue
                            at = hs[ch, TAKEN] & mask
                            r1 = ts[ch, at, T_REG]
                            ts[ch, at, T_TICKET] = -1
                            ts[ch, at, T_SEQ] = cs[core, S_SEQ]
                            ts[ch, at, T_CLOCK] = n_pipes + core
                            hs[ch, RELEASED] = max(hs[ch, RELEASED], ts[ch, at, T_RELEASED])
                            hs[ch, TAKEN] += 1
                            if r1 > 0:
                                s_reg[n_src], s_off[n_src] = r1, 0
                                s_col[n_src], s_chan[n_src] = ts[ch, at, T_LATENCY], ch
                                n_src += 1
                                join(vc, r, r, r1)
                                refs[r1] -= 1
                                if refs[r1] == 0:
                                    free[n_free] = r1
                                    n_free += 1
                        vc[r, n_pipes + core] = cs[core, S_SEQ]
                        refs[r0] -= 1
                        if refs[r0] == 0:
                            free[n_free] = r0
                            n_free += 1
                        o_dst[n_op], o_dur[n_op], o_kind[n_op], o_pc[n_op] = r, -1, -1 - core, i
                        n_op += 1
                        o_ptr[n_op] = n_src
                        cs[core, S_AT] = r
                        cs[core, S_ADD] = wait_cost
                        progress = True
                        cs[core, PC] = i + 1
                elif op == 11:  # IFWAIT endpoint a, else to b
                    per = st[ends[a, 4]]
                    tile = es[a, E_TILES]
                    due = tile >= st[ends[a, 5]] and per > 0 and tile % per == 0
                    cs[core, PC] = i + 1 if due and (ops[i, 3] < 0 or st[ops[i, 3]] > 0) else b
                elif op == 12:  # IFNOTIFY endpoint a, else to b
                    per = st[ends[a, 4]]
                    due = per > 0 and es[a, E_TILES] % per == 0
                    cs[core, PC] = i + 1 if due and (ops[i, 3] < 0 or st[ops[i, 3]] > 0) else b
                elif op == 13:  # ADVANCE endpoint a, pipe b whose last instruction has waited
                    if ends[a, 2] == 0:
                        if es[a, E_TILES] == 0:
                            first_pop(ends, mates, st, es, sl, over, a)
                        tile = es[a, E_TILES] & mask
                        if ends[a, 7] == 1 and b < 0:
                            unread_pop(ends, mates, sl, over, vc, cs[core, S_AT], a, es[a, E_TILES])
                        sl[a, tile, R_CLOCK] = n_pipes + core if b < 0 else b
                        sl[a, tile, R_SEQ] = cs[core, S_SEQ] if b < 0 else ps[b, P_ISSUED]
                    es[a, E_TILES] += 1
                    cs[core, PC] = i + 1
                elif op == 14:  # DRAIN endpoint a, to b when nothing is pending, by rule, further ones
                    pending = -loop_left[i]
                    if ops[i, 3] == 1:
                        pending += owed(es[a, E_TILES], st[ends[a, 4]], st[ends[a, 5]])
                    if ops[i, 4] >= 0:
                        pending += st[ops[i, 4]]
                    if pending > 0:
                        loop_left[i] += 1
                        cs[core, PC] = i + 1
                    else:
                        cs[core, PC] = b
                elif op == 15:  # JUMP
                    cs[core, PC] = a
                else:  # RECORD endpoint a
                    es[a, E_PUSHED] += 1
                    if es[a, E_PUSHED] > es[a, E_TILES] and found.end_count[a, 1] < 0:
                        found.end_count[a, 1] = es[a, E_PUSHED] - 1
                    cs[core, PC] = i + 1
                if stuck:
                    if n_wait[core] == 0 or not stale:
                        break
                    scan = True
                    pipe = core_pipe[core]
                    stale = False
            all_done = all_done and cs[core, DONE] == 1 and n_wait[core] == 0
        if all_done or not progress:
            info[I_STATUS] = 0 if all_done else HANG
            break

    finish(program, x, found)
    # the end of the run: the last of everything
    if n_src + 4 * (n_pipes + n_cores) >= max_src or n_op + 1 >= max_ops or n_free < 1:
        info[I_STATUS] = FULL
        return
    for c in range(n_cores):
        s_reg[n_src], s_off[n_src], s_col[n_src], s_chan[n_src] = cs[c, S_AT], cs[c, S_ADD], -1, -1
        n_src += 1
    for p in range(n_pipes):
        if ps[p, P_AT] > 0:
            s_reg[n_src], s_off[n_src], s_col[n_src], s_chan[n_src] = ps[p, P_AT], 0, ps[p, P_LAT], -1
            n_src += 1
    n_free -= 1
    r = free[n_free]
    used = max(used, r)
    o_dst[n_op], o_dur[n_op], o_kind[n_op], o_pc[n_op] = r, -1, REMATERIALISED, -2
    n_op += 1
    o_ptr[n_op] = n_src
    for q in range(n_durations):
        counts[0, q] -= counts[1, q]
    info[I_OPS] = n_op
    info[I_SOURCES] = n_src
    info[I_REGISTERS] = used + 1
    info[I_FINAL] = r
