"""The time-ordered kernel: every core and pipe of every rank, event by event, with times.

What depends on nothing but tokens is worked out at once; what depends on when it happens waits in a heap, in the order
(time, rank, block, core, pipe): transfers that draw on shared capacity, sweeps over signals, and, before both, the
arrivals of what was sent to signals. A core's scalar process comes after its pipes. A value that arrives in the
cycle of a sweep is seen.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# isort: off
from pto_tune.executor.jit import bare
from pto_tune.lowering.code import (
    ADVANCE, AGAIN, BARRIER, BEGIN, COUNTED, EXEC, LET, NOTIFY, POP, POST, PUSH, SIGNAL, TEST, TRANSFER, WAIT, WHILE,
)  # fmt: skip
from pto_tune.ranks.polling import next_sweep, poll_barrier, sweep
from pto_tune.ranks.scalars import drop_first, push, value_of
from pto_tune.ranks.servers import draws, serve_entry
from pto_tune.ranks.state import (
    ASKED, DIRTY, E_INSTRUCTION, E_STORE, ENDED, FREE, GIVEN, HEAD, HELD, HELD_STORE, HOLD_LOAD, ISSUED, LATENCY,
    NOTED, P_ASKED, P_ASLEEP, P_DRAINING, P_NONE, PC, POLL, POLL_AT, POLL_FAILED, POLL_FIRST, POLL_STEP, Q_FIRST,
    Q_FLAGS, Q_FORM, Q_PARTS, Q_PC, Q_SEEN, RUN, S, START, TAIL, TAKEN, WROTE, World, complete, drained,
)  # fmt: skip
from pto_tune.ranks.steps import (
    FAILED, MOVED, OVERFLOW, STUCK, blocked, duration_of, fault, finish, log_wait, plain, price, room, transfer,
)  # fmt: skip
from pto_tune.ranks.tables import (
    A_CORE, A_ELEMENT, A_KIND, A_OPERATION, A_RANK, A_SENT, A_THEN, A_TIME, A_VALUE,
    DONE, F_ELEMENT, F_LINK, F_PEER, F_VIEW, FAULT, FULL, GAVE_UP, HANG, P_BARRIER, P_BLOCKS, P_ISSUE, P_MOST_EVENTS,
    P_MOST_STEPS, P_POST_HOLD_SET, P_RANKS, P_SWEEPS_PER_BARRIER, P_WAIT, SEEN, SEEN_BY_TEST, TOO_LONG, W_BEGUN,
    W_COMPARISON, W_CORE, W_ELEMENT, W_ELEMENTS, W_HOW, W_OPERATION, W_POLLS, W_SEEN, W_VALUE, W_WORK, Log, Net,
    Numbers, Outcome,
)  # fmt: skip
# isort: on

Ints = NDArray[np.int64]

REQUESTS = 2**52
"""Keys from here on are requests and sweeps; below are arrivals."""


@bare
def _slot(core_pipe: Ints, c: int) -> int:
    """The key of a core's scalar process within its instance: behind its pipes."""
    return int(core_pipe[c + 1] + c)


@bare
def run(net: Net, x: Numbers, w: World, log: Log, out: Outcome) -> int:
    """Run one configuration; a status of `tables`. Fills in `log` and `out`, which come as zeros."""
    ops, bytecode = net.ops, net.bytecode
    cs, ps, qs, hs, ts, es = w.cs, w.ps, w.qs, w.hs, w.ts, w.es
    heap, memory, scalars, variables, loops, trips = w.heap, out.memory, x.scalars, w.variables, w.loops, w.trips
    tests = w.tests
    n_inst, n_cores, n_pipes = x.st.shape[0], net.starts.shape[0], net.core_pipe[-1]
    ranks, blocks = x.params[P_RANKS], x.params[P_BLOCKS]
    issue, wait_cost = x.params[P_ISSUE], x.params[P_WAIT]
    slots = n_pipes + n_cores  # keys of an instance: the pipes of a core, then its scalar process
    mask = ts.shape[2] - 1
    places = qs.shape[1] - 1
    flag_mask = w.flags.shape[2] - 1
    stack, indices = w.stack, w.indices
    counts = log.counts
    n_heap = 0
    served = 0
    steps = 0
    now = 0
    inst = -1
    starting = True

    while True:
        # the next thing that happens, once every instance has begun
        if starting:
            inst += 1
            if inst == n_inst:
                starting = False
        if not starting:
            if n_heap == 0:
                break
            served += 1
            if served > x.params[P_MOST_EVENTS]:
                return TOO_LONG
            now, key = heap[0, 0], heap[0, 1]
            n_heap = drop_first(heap, n_heap)
            if key < REQUESTS:
                row = key & (2**31 - 1)
                rank, element = log.arrivals[row, A_RANK], log.arrivals[row, A_ELEMENT]
                if log.arrivals[row, A_KIND] == 0:
                    memory[rank, element] = log.arrivals[row, A_VALUE]
                else:
                    memory[rank, element] += log.arrivals[row, A_VALUE]
                log.arrivals[row, A_THEN] = memory[rank, element]
                for g in range(rank * blocks * n_cores, (rank + 1) * blocks * n_cores):
                    if cs[g, POLL] == P_ASLEEP:
                        signal = net.signal_calls[ops[cs[g, PC], 1], 0]
                        if x.signal_at[signal] <= element < x.signal_at[signal + 1]:
                            next_sweep(net, x, cs, ps, g, now)
                            if cs[g, POLL] == P_ASKED:
                                key = REQUESTS + (g // n_cores) * slots + _slot(net.core_pipe, g % n_cores)
                                n_heap = push(heap, n_heap, cs[g, POLL_AT], key)
                continue
            inst = (key - REQUESTS) // slots
            slot = (key - REQUESTS) % slots
            c = 0
            while slot > net.core_pipe[c + 1] + c:
                c += 1
            g = inst * n_cores + c
            if slot == net.core_pipe[c + 1] + c:  # a sweep
                at = cs[g, PC]
                got = sweep(net, x, w, memory, stack, indices, inst, inst // blocks, ops[at, 1])
                if got == 0:
                    fault(log, F_VIEW, g, at, 0)
                    cs[g, ENDED] = 1
                    cs[g, POLL] = P_NONE
                    continue
                if counts[1] >= log.waits.shape[0]:
                    return FULL
                if ops[at, 0] == WAIT:
                    if got > 0:
                        log_wait(net, x, w, log, stack, inst, g, at, cs[g, POLL_FIRST], now, SEEN, got)
                        signal = net.signal_calls[ops[at, 1], 0]
                        out.waits[inst, net.signal_waits[signal]] += now - cs[g, POLL_FIRST]
                        cs[g, S] = now + x.sweep[got]
                        cs[g, POLL] = P_NONE
                        cs[g, PC] = at + 1
                    else:
                        cs[g, POLL_FAILED] += 1
                        cs[g, POLL_STEP] = x.sweep[-got]
                        cs[g, POLL_AT] = now + x.sweep[-got]
                        cs[g, POLL] = P_ASLEEP
                        if cs[g, POLL_FAILED] % x.params[P_SWEEPS_PER_BARRIER] == 0:
                            poll_barrier(net, x, cs, ps, g)
                else:
                    test = tests[inst, at]
                    if got < 0 and test[0] == 0:
                        test[0] = now + 1
                    if got > 0:
                        begun = test[0] - 1 if test[0] > 0 else now
                        log_wait(net, x, w, log, stack, inst, g, at, begun, now, SEEN_BY_TEST, got)
                        log.waits[counts[1] - 1, W_WORK] = now - begun - test[1]
                        log.waits[counts[1] - 1, W_POLLS] = test[2]
                        test[0], test[1], test[2] = 0, 0, 0
                    else:
                        test[1] += x.sweep[-got]
                        test[2] += 1
                        call = net.signal_calls[ops[at, 1]]
                        offset = value_of(bytecode, call[1], scalars, inst, variables, stack)
                        test[3] = x.signal_at[call[0]] + offset
                        test[4] = value_of(bytecode, call[2], scalars, inst, variables, stack)
                    variables[inst, ops[at, 2]] = 1 if got > 0 else 0
                    cs[g, S] = now + x.sweep[abs(got)]
                    cs[g, POLL] = P_NONE
                    cs[g, PC] = at + 1
            else:
                p = slot - c
                gp = inst * n_pipes + p
                ps[gp, ASKED] = 0
                entry = qs[gp, ps[gp, HEAD] & places]
                d = duration_of(ops, entry)
                length, latency = price(net, x, entry, inst, d)
                start = ps[gp, START]
                end, why = serve_entry(
                    net, x, w.servers, entry, inst, inst // blocks, ranks, d, start, start + length
                )  # fmt: skip
                if why > 0:
                    out.waits[inst, net.core_waits[c, why]] += end - start - length
                if d < 0 or x.work[d] == 1:
                    out.busy[inst, p] += length
                if not finish(net, x, w, log, inst, c, p, entry, start, end, latency):
                    return FULL

        # what follows from it in this instance
        progress = not starting or inst < n_inst
        rank = inst // blocks
        while progress:
            progress = False
            for c in range(n_cores):
                g = inst * n_cores + c
                # the pipes run what their queues hold, as far as the tokens are there
                for p in range(net.core_pipe[c], net.core_pipe[c + 1]):
                    gp = inst * n_pipes + p
                    while ps[gp, HEAD] < ps[gp, TAIL] and ps[gp, ASKED] == 0:
                        entry = qs[gp, ps[gp, HEAD] & places]
                        i = entry[Q_PC]
                        first, last = i + 1, ops[i, 2]
                        if entry[Q_FORM] != E_INSTRUCTION and entry[Q_FIRST] == 0:
                            last = first
                        ready = True
                        for k in range(first, last):
                            v = entry[Q_PARTS + k - first]
                            if ops[k, 0] == POP and v >= 0 and ts[inst, ops[k, 1], v & mask, 0] != v:
                                ready = False
                                break
                        side = 1 if entry[Q_FORM] != E_STORE else 0  # whose flags hold it
                        if ready and entry[Q_FLAGS] > w.flags_set[g, side]:
                            ready = False
                        if not ready:
                            break
                        signal_out = ops[i, 0] == SIGNAL
                        start = max(entry[Q_SEEN], ps[gp, FREE])
                        if signal_out and ps[gp, RUN] > 0:
                            start = max(entry[Q_SEEN], ps[gp, FREE] + ps[gp, LATENCY])
                        earliest = start
                        name = -1
                        held = HELD if side == 1 else HELD_STORE
                        while cs[g, held] < entry[Q_FLAGS]:
                            t = w.flags[g, side, cs[g, held] & flag_mask]
                            cs[g, held] += 1
                            if t > start:
                                start, name = t, net.core_waits[c, 0]
                        for k in range(first, last):
                            v = entry[Q_PARTS + k - first]
                            if ops[k, 0] == POP and v >= 0:
                                ch = ops[k, 1]
                                t = ts[inst, ch, v & mask, 1]
                                ts[inst, ch, v & mask, 0] = -1
                                if t > start:
                                    start, name = t, net.chan_wait[ch]
                        progress = True
                        if name >= 0:
                            out.waits[inst, name] += start - earliest
                        d = duration_of(ops, entry)
                        if signal_out:
                            length = x.dur[d, inst] if d >= 0 else 0
                            for k in range(first, last):
                                v = entry[Q_PARTS + k - first]
                                if ops[k, 0] == PUSH and v >= 0:
                                    t = start + length
                                    if ops[k, 2] >= 0:
                                        t += x.dur[ops[k, 2], inst]
                                    if ts[inst, ops[k, 1], v & mask, 0] >= 0:
                                        return FULL
                                    ts[inst, ops[k, 1], v & mask, 0] = v
                                    ts[inst, ops[k, 1], v & mask, 1] = t
                                    ts[inst, ops[k, 1], v & mask, 2] = -1
                            ps[gp, HEAD] += 1
                            continue
                        if draws(x, entry, inst, d):
                            ps[gp, ASKED] = 1
                            ps[gp, START] = start
                            n_heap = push(heap, n_heap, start, REQUESTS + inst * slots + p + c)
                            break
                        length, latency = price(net, x, entry, inst, d)
                        if d < 0 or x.work[d] == 1:
                            out.busy[inst, p] += length
                        if not finish(net, x, w, log, inst, c, p, entry, start, start + length, latency):
                            return FULL

                # the scalar process goes on as far as it can
                first_pipe, last_pipe = net.core_pipe[c], net.core_pipe[c + 1] - 1
                base = inst * n_pipes
                if cs[g, POLL] == P_DRAINING and drained(ps, base, first_pipe, last_pipe):
                    cs[g, POLL_AT] = max(cs[g, POLL_AT], complete(ps, base, first_pipe, last_pipe))
                    # what has arrived since the sweep that failed shows in the next one
                    cs[g, POLL] = P_ASKED
                    n_heap = push(heap, n_heap, cs[g, POLL_AT], REQUESTS + inst * slots + _slot(net.core_pipe, c))
                while cs[g, ENDED] == 0 and cs[g, POLL] == P_NONE:
                    steps += 1
                    if steps > x.params[P_MOST_STEPS]:
                        return TOO_LONG
                    i = cs[g, PC]
                    op, a, b = ops[i, 0], ops[i, 1], ops[i, 2]
                    if op == LET:
                        variables[inst, a] = value_of(bytecode, b, scalars, inst, variables, stack)
                        cs[g, PC] = i + 1
                        progress = True
                    elif op == COUNTED:
                        n = value_of(bytecode, a, scalars, inst, variables, stack)
                        cs[g, PC] = i + 1
                        if n <= 0:
                            cs[g, PC] = b
                        else:
                            loops[inst, i] = n
                            trips[inst, i] = 0
                            if ops[i, 3] >= 0:
                                variables[inst, ops[i, 3]] = 0
                        progress = True
                    elif op == AGAIN:
                        loops[inst, a] -= 1
                        trips[inst, a] += 1
                        cs[g, PC] = i + 1
                        if loops[inst, a] > 0:
                            if ops[a, 3] >= 0:
                                variables[inst, ops[a, 3]] = trips[inst, a]
                            cs[g, PC] = a + 1
                        progress = True
                    elif op == WHILE:
                        if loops[inst, i] == 0:  # at entry
                            n = value_of(bytecode, ops[i, 3], scalars, inst, variables, stack)
                            loops[inst, i] = max(0, n) + 1
                        loops[inst, i] -= 1
                        cs[g, PC] = i + 1
                        if loops[inst, i] == 0 or value_of(bytecode, a, scalars, inst, variables, stack) == 0:
                            loops[inst, i] = 0
                            cs[g, PC] = b
                        progress = True
                    elif op in (BEGIN, SIGNAL):  # on pipe a, up to b
                        gp = base + a
                        if op == BEGIN and not room(x, w, out, net, inst, g, gp, a):
                            break
                        if ps[gp, TAIL] - ps[gp, HEAD] > places:  # of signals, which take no place on the machine
                            return FULL
                        entry = qs[gp, ps[gp, TAIL] & places]
                        entry[Q_PC] = i
                        entry[Q_SEEN] = cs[g, S] + issue
                        entry[Q_FORM] = E_INSTRUCTION
                        entry[Q_FLAGS] = 0
                        if op == BEGIN and a == net.core_pipe[c] and cs[g, HOLD_LOAD] > cs[g, HELD]:
                            entry[Q_FLAGS] = cs[g, HOLD_LOAD]
                        for k in range(i + 1, b):
                            v = -1
                            part = ops[k, 0]
                            if part == POP:
                                if ops[k, 2] < 0 or x.st[inst, ops[k, 2]] > 0:
                                    v = hs[inst, ops[k, 1], TAKEN]
                                    hs[inst, ops[k, 1], TAKEN] += 1
                            elif part == PUSH:
                                if ops[k, 3] < 0 or x.st[inst, ops[k, 3]] > 0:
                                    v = hs[inst, ops[k, 1], GIVEN]
                                    hs[inst, ops[k, 1], GIVEN] += 1
                            elif part == EXEC:
                                cs[g, S] += ops[k, 2] * issue
                            elif part == ADVANCE:
                                es[inst, ops[k, 1], 0] += 1
                            entry[Q_PARTS + k - i - 1] = v
                        ps[gp, TAIL] += 1
                        if op == BEGIN:
                            ps[gp, ISSUED] += 1
                            if net.writes_gm[i] == 1:
                                ps[gp, WROTE] = ps[gp, ISSUED]
                                cs[g, DIRTY] |= 1 << (a - net.core_pipe[c])
                        cs[g, PC] = b
                        progress = True
                    elif op == TRANSFER:
                        came = transfer(net, x, w, log, out, stack, inst, rank, c, i)
                        if came == OVERFLOW:
                            return FULL
                        if came == FAILED:
                            cs[g, ENDED] = 1
                        progress = progress or came != STUCK
                        if came in (STUCK, MOVED):
                            break
                    elif op == BARRIER:  # of pipes a..b, perhaps with a cost of its own
                        if not drained(ps, base, a, b):
                            break
                        t = complete(ps, base, a, b)
                        lag = max(0, t - cs[g, S])
                        own = x.params[P_BARRIER] if ops[i, 3] == 1 else 0
                        out.waits[inst, net.core_waits[c, 5]] += lag
                        if ops[i, 3] == 1:
                            log.barriers[c, 0] += 1
                            log.barriers[c, 1] += lag + own
                            if cs[g, NOTED] > 0:
                                log.loose[cs[g, NOTED] - 1, 4] = max(0, t - log.loose[cs[g, NOTED] - 1, 3])
                                cs[g, NOTED] = 0
                        for p in range(a, b + 1):
                            cs[g, DIRTY] &= ~(1 << (p - net.core_pipe[c]))
                        cs[g, S] = max(cs[g, S], t) + own
                        cs[g, PC] = i + 1
                        progress = True
                    elif op in (NOTIFY, POST):
                        call = net.signal_calls[a]
                        peer = rank
                        if op == NOTIFY:
                            peer = value_of(bytecode, call[3], scalars, inst, variables, stack)
                        offset = value_of(bytecode, call[1], scalars, inst, variables, stack)
                        value = value_of(bytecode, call[2], scalars, inst, variables, stack)
                        size = x.signal_at[call[0] + 1] - x.signal_at[call[0]]
                        wrong = -1
                        if peer < 0 or peer >= ranks:
                            wrong = F_PEER
                        elif x.kinds[rank, peer] < 0:
                            wrong = F_LINK
                        elif offset < 0 or offset >= size:
                            wrong = F_ELEMENT
                        if wrong >= 0:
                            fault(log, wrong, g, i, offset if wrong == F_ELEMENT else peer)
                            cs[g, ENDED] = 1
                            progress = True
                            break
                        if counts[0] >= log.arrivals.shape[0] or counts[2] >= log.loose.shape[0]:
                            return FULL
                        kind = x.kinds[rank, peer]
                        t = cs[g, S] + x.arrival[kind, call[4]]
                        row = counts[0]
                        counts[0] += 1
                        log.arrivals[row, A_TIME] = t
                        log.arrivals[row, A_SENT] = cs[g, S]
                        log.arrivals[row, A_RANK] = peer
                        log.arrivals[row, A_ELEMENT] = x.signal_at[call[0]] + offset
                        log.arrivals[row, A_VALUE] = value
                        log.arrivals[row, A_KIND] = call[4]
                        log.arrivals[row, A_CORE] = g
                        log.arrivals[row, A_OPERATION] = i
                        n_heap = push(heap, n_heap, t, (g << 31) + row)
                        if call[5] == 1 and cs[g, DIRTY] != 0:
                            log.loose[counts[2], 0] = g
                            log.loose[counts[2], 1] = i
                            log.loose[counts[2], 2] = cs[g, DIRTY]
                            log.loose[counts[2], 3] = cs[g, S]
                            log.loose[counts[2], 4] = -1
                            counts[2] += 1
                            if op == NOTIFY:
                                cs[g, NOTED] = counts[2]
                        cs[g, S] += x.hold[kind, call[4]] if op == NOTIFY else x.params[P_POST_HOLD_SET + call[4]]
                        cs[g, PC] = i + 1
                        progress = True
                    elif op in (WAIT, TEST):
                        cs[g, POLL] = P_ASKED
                        cs[g, POLL_AT] = cs[g, S]
                        cs[g, POLL_FIRST] = cs[g, S]
                        cs[g, POLL_FAILED] = 0
                        n_heap = push(heap, n_heap, cs[g, S], REQUESTS + inst * slots + _slot(net.core_pipe, c))
                        progress = True
                    else:
                        if not plain(net, x, w, out, inst, c, i, wait_cost):
                            break
                        progress = True
        if counts[4] > 0:  # what is wrong is known
            break
        if starting:
            continue

    # polls that never saw what they looked for
    for i in range(n_inst):
        for at in range(ops.shape[0]):
            if tests[i, at, 0] > 0:
                if counts[1] >= log.waits.shape[0]:
                    return FULL
                row = log.waits[counts[1]]
                row[W_BEGUN], row[W_SEEN], row[W_OPERATION] = tests[i, at, 0] - 1, tests[i, at, 0] - 1, at
                call = net.signal_calls[ops[at, 1]]
                row[W_CORE] = i * n_cores + call[9]
                row[W_ELEMENT], row[W_VALUE], row[W_COMPARISON] = tests[i, at, 3], tests[i, at, 4], call[4]
                row[W_HOW], row[W_ELEMENTS], row[W_POLLS] = GAVE_UP, 1, tests[i, at, 2]
                counts[1] += 1

    status = DONE
    if counts[4] > 0:
        status = FAULT
    last = 0
    for i in range(n_inst):
        t = 0
        for c in range(n_cores):
            g = i * n_cores + c
            t = max(t, cs[g, S])
            if cs[g, ENDED] == 0 or not drained(ps, i * n_pipes, net.core_pipe[c], net.core_pipe[c + 1] - 1):
                if status == DONE:
                    status = HANG
                blocked(net, x, w, out, stack, i, c)
        t = max(t, complete(ps, i * n_pipes, 0, n_pipes - 1))
        out.core_end[i] = t
        last = max(last, t)
    out.totals[0] = status
    out.totals[1] = last
    out.totals[2] = served
    out.totals[3] = steps
    for i in range(out.lag.shape[0]):
        out.lag[i] = w.servers[1, i]
    for i in range(n_inst):
        for p in range(n_pipes):
            gp = i * n_pipes + p
            out.pipe_blocked[gp] = -1
            if ps[gp, HEAD] < ps[gp, TAIL]:
                entry = qs[gp, ps[gp, HEAD] & places]
                out.pipe_blocked[gp] = entry[Q_PC]
                if entry[Q_FORM] == E_INSTRUCTION or entry[Q_FIRST] == 1:
                    for k in range(entry[Q_PC] + 1, ops[entry[Q_PC], 2]):
                        v = entry[Q_PARTS + k - entry[Q_PC] - 1]
                        if ops[k, 0] == POP and v >= 0 and ts[i, ops[k, 1], v & mask, 0] != v:
                            out.pipe_blocked[gp] = k
                            break
    return status
