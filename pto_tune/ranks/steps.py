"""What cores and pipes do one step at a time: prices and ends of instructions, scalar code, and the pieces of TPUT and
TGET."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# isort: off
from pto_tune.executor.endings import owed
from pto_tune.executor.jit import bare
from pto_tune.lowering.code import (
    ADVANCE, DRAIN, EXEC, HALT, IFNOTIFY, IFWAIT, JUMP, LOOP, NEXT, POP, PUSH, RECORD, SWAIT, TAKE,
)  # fmt: skip
from pto_tune.ranks.scalars import value_of
from pto_tune.ranks.state import (
    COMPLETE, DIRTY, E_COPY, E_INSTRUCTION, E_LOAD, E_STORE, ENDED, FREE, GIVEN, HEAD, HELD, HOLD_LATER, HOLD_LOAD,
    ISSUED, LATENCY, P_NONE, PC, POLL, Q_FIRST, Q_FLAGS, Q_FORM, Q_KIND, Q_LAST, Q_PARTS, Q_PC, Q_PEER,
    Q_PIECE, Q_SEEN, Q_TICKET, Q_VARIANT, RUN, S, TAIL, TAKEN, WROTE, X_BARRIER, X_CHUNK, X_HALF, X_KIND, X_LOAD,
    X_NONE, X_PEER, X_STEP, X_STORE, X_VARIANT, World, complete, drained,
)  # fmt: skip
from pto_tune.ranks.tables import (
    B_PIPES, B_QUEUE, B_SIGNAL, B_TOKEN, COPY, EMPTY, F_LINK, F_PEER, F_SELF, ONCE, P_BARRIER, P_ISSUE,
    P_QUEUE, P_RANKS, T_GET, T_LOADS, T_PEER, T_PONG, T_STORES, T_TILE, V_BARRIER_ONCE, V_CHUNKS, V_COLS, V_COL_TAIL,
    V_FORM, V_FULL_COLS, V_FULL_ROWS, V_HALVED, V_PING_COLS, V_PING_PONG, V_PING_ROWS, V_PONG_COLS, V_PONG_ROWS,
    V_ROW_TAIL, V_ROWS, W_BEGUN, W_COMPARISON, W_CORE, W_ELEMENT, W_ELEMENTS, W_HOW, W_OPERATION, W_SEEN, W_VALUE,
    W_VIEW, Log, Net, Numbers, Outcome,
)  # fmt: skip
# isort: on

Ints = NDArray[np.int64]

STUCK, MOVED, OVER, FAILED, OVERFLOW = range(5)
"""What came of a transfer's steps: none, some, all, a fault, or too little room for the queues' entries."""


@bare
def duration_of(ops: Ints, entry: Ints) -> int:
    """The duration column of an instruction or signal in a queue, -1 where it has none."""
    if entry[Q_FORM] != E_INSTRUCTION:
        return -1
    for k in range(entry[Q_PC] + 1, ops[entry[Q_PC], 2]):
        if ops[k, 0] == EXEC:
            return int(ops[k, 1])
    return -1


@bare
def price(net: Net, x: Numbers, entry: Ints, instance: int, duration: int) -> tuple[int, int]:
    """Cycles on the pipe, and until the data is there."""
    form = entry[Q_FORM]
    if form == E_INSTRUCTION:
        latency = 0
        for k in range(entry[Q_PC] + 1, net.ops[entry[Q_PC], 2]):
            if net.ops[k, 0] == EXEC:
                if net.ops[k, 3] >= 0:
                    latency = x.dur[net.ops[k, 3], instance]
                break
        return (x.dur[duration, instance] if duration >= 0 else 0), latency
    v, kind = entry[Q_VARIANT], entry[Q_KIND]
    get = net.calls[net.ops[entry[Q_PC], 1], T_GET]
    if form == E_COPY:
        return x.times[v, kind, 0, 0], 0
    side = 0 if form == E_LOAD else 1
    return x.times[v, kind, entry[Q_PIECE], side], x.latency[kind, get, side]


@bare
def finish(
    net: Net, x: Numbers, w: World, log: Log, instance: int, c: int, p: int, entry: Ints, start: int, end: int,
    latency: int,
) -> bool:  # fmt: skip
    """The first entry of a pipe's queue has run: hand on what it gives. False where a token would be lost."""
    ops, ps, ts = net.ops, w.ps, w.ts
    gp = instance * net.core_pipe[-1] + p
    g = instance * net.starts.shape[0] + c
    mask = ts.shape[2] - 1
    form = entry[Q_FORM]
    i = entry[Q_PC]
    first, last = i + 1, ops[i, 2]
    if form != E_INSTRUCTION and entry[Q_LAST] == 0:
        last = first
    for k in range(first, last):
        v = entry[Q_PARTS + k - first]
        if ops[k, 0] == PUSH and v >= 0:
            t = end + latency
            if form == E_INSTRUCTION:
                t = end + (x.dur[ops[k, 2], instance] if ops[k, 2] >= 0 else 0)
            if ts[instance, ops[k, 1], v & mask, 0] >= 0:
                return False
            token = ts[instance, ops[k, 1], v & mask]
            token[0], token[1], token[2], token[3] = v, t, p, ps[gp, RUN] + 1
    if form in (E_LOAD, E_STORE):
        side = 0 if form == E_LOAD else 1
        w.flags[g, side, entry[Q_TICKET] & (w.flags.shape[2] - 1)] = end + latency
        w.flags_set[g, side] = entry[Q_TICKET] + 1
    ps[gp, FREE] = end
    ps[gp, LATENCY] = latency
    ps[gp, COMPLETE] = max(ps[gp, COMPLETE], end + latency)
    w.starts[gp, ps[gp, RUN] % x.params[P_QUEUE]] = start
    ps[gp, RUN] += 1
    ps[gp, HEAD] += 1
    n = log.counts[3]
    if n < log.events.shape[0]:
        log.events[n, 0] = gp
        log.events[n, 1] = i
        log.events[n, 2] = start
        log.events[n, 3] = end
        log.events[n, 4] = form
        log.events[n, 5] = entry[Q_PIECE] if form != E_INSTRUCTION else -1
        log.counts[3] += 1
    return True


@bare
def room(x: Numbers, w: World, out: Outcome, net: Net, instance: int, g: int, gp: int, p: int) -> bool:
    """Wait until the instruction `queue depth` places earlier on the pipe has started; False where it is not known
    when that is."""
    depth = x.params[P_QUEUE]
    ps = w.ps
    if ps[gp, ISSUED] < depth:
        return True
    if ps[gp, RUN] <= ps[gp, ISSUED] - depth:
        return False
    t = w.starts[gp, ps[gp, ISSUED] % depth]
    if t > w.cs[g, S]:
        out.waits[instance, net.pipe_waits[p]] += t - w.cs[g, S]
        w.cs[g, S] = t
    return True


@bare
def plain(net: Net, x: Numbers, w: World, out: Outcome, instance: int, c: int, i: int, wait_cost: int) -> bool:
    """A step of scalar code that is none of the other operations; False where it has to wait."""
    ops, cs, hs, ts, es = net.ops, w.cs, w.hs, w.ts, w.es
    g = instance * net.starts.shape[0] + c
    mask = ts.shape[2] - 1
    op, a, b = ops[i, 0], ops[i, 1], ops[i, 2]
    after = i + 1
    if op == HALT:
        cs[g, ENDED] = 1
        return True
    if op == LOOP:  # of a switch of a FIFO, or by rule
        n = x.st[instance, a]
        if n > 0:
            w.loops[instance, i] = n
        else:
            after = b
    elif op == NEXT:
        w.loops[instance, a] -= 1
        if w.loops[instance, a] > 0:
            after = a + 1
    elif op == TAKE:
        v = hs[instance, a, TAKEN]
        if ts[instance, a, v & mask, 0] != v:
            return False
        t = ts[instance, a, v & mask, 1]
        p = ts[instance, a, v & mask, 2]
        if p >= 0 and ts[instance, a, v & mask, 3] >= w.ps[instance * net.core_pipe[-1] + p, WROTE]:
            cs[g, DIRTY] &= ~(1 << (p - net.core_pipe[c]))
        ts[instance, a, v & mask, 0] = -1
        hs[instance, a, TAKEN] += 1
        if t > cs[g, S]:
            out.waits[instance, net.chan_wait[a]] += t - cs[g, S]
            cs[g, S] = t
    elif op == SWAIT:
        for half in range(2):
            ch = a if half == 0 else b
            if ch >= 0 and ts[instance, ch, hs[instance, ch, TAKEN] & mask, 0] != hs[instance, ch, TAKEN]:
                return False
        t = cs[g, S]
        name = a
        for half in range(2):
            ch = a if half == 0 else b
            if ch >= 0:
                v = hs[instance, ch, TAKEN]
                if ts[instance, ch, v & mask, 1] > t:
                    t, name = ts[instance, ch, v & mask, 1], ch
                ts[instance, ch, v & mask, 0] = -1
                hs[instance, ch, TAKEN] += 1
        out.waits[instance, net.chan_wait[name]] += t - cs[g, S]
        cs[g, S] = t + wait_cost
    elif op in (IFWAIT, IFNOTIFY):
        period = x.st[instance, net.ends[a, 4]]
        tile = es[instance, a, 0]
        due = period > 0 and tile % period == 0
        if op == IFWAIT:
            due = due and tile >= x.st[instance, net.ends[a, 5]]
        if not (due and (ops[i, 3] < 0 or x.st[instance, ops[i, 3]] > 0)):
            after = b
    elif op == ADVANCE:
        es[instance, a, 0] += 1
    elif op == DRAIN:
        pending = -w.loops[instance, i]
        if ops[i, 3] == 1:
            pending += owed(es[instance, a, 0], x.st[instance, net.ends[a, 4]], x.st[instance, net.ends[a, 5]])
        if ops[i, 4] >= 0:
            pending += x.st[instance, ops[i, 4]]
        if pending > 0:
            w.loops[instance, i] += 1
        else:
            after = b
    elif op == JUMP:
        after = a
    elif op == RECORD:
        es[instance, a, 1] += 1
    cs[g, PC] = after
    return True


@bare
def fault(log: Log, what: int, g: int, operation: int, value: int) -> None:
    """Note something that no rule could see before the program runs; only as many as there is room for."""
    n = log.counts[4]
    if n < log.faults.shape[0]:
        log.faults[n, 0] = what
        log.faults[n, 1] = g
        log.faults[n, 2] = operation
        log.faults[n, 3] = value
    log.counts[4] += 1


@bare
def log_wait(
    net: Net, x: Numbers, w: World, log: Log, stack: Ints, instance: int, g: int, at: int, begun: int, seen: int,
    how: int, elements: int,
) -> None:  # fmt: skip
    """Note a TWAIT or TTEST that has passed (`how`: SEEN or SEEN_BY_TEST)."""
    call = net.signal_calls[net.ops[at, 1]]
    n = log.counts[1]
    row = log.waits[n]
    row[W_BEGUN], row[W_SEEN], row[W_CORE], row[W_OPERATION] = begun, seen, g, at
    row[W_ELEMENT] = x.signal_at[call[0]] + value_of(net.bytecode, call[1], x.scalars, instance, w.variables, stack)
    row[W_VALUE] = value_of(net.bytecode, call[2], x.scalars, instance, w.variables, stack)
    row[W_COMPARISON], row[W_HOW], row[W_ELEMENTS] = call[4], how, elements
    for k in range(call[7]):
        for j in range(2):
            part = net.views[call[6] + k, j]
            row[W_VIEW + 2 * k + j] = value_of(net.bytecode, part, x.scalars, instance, w.variables, stack)
    log.counts[1] += 1


@bare
def blocked(net: Net, x: Numbers, w: World, out: Outcome, stack: Ints, instance: int, c: int) -> None:
    """What a core that cannot go on waits for."""
    g = instance * net.starts.shape[0] + c
    i = w.cs[g, PC]
    out.blocked[g, 1] = i
    if w.cs[g, ENDED] == 1:
        out.blocked[g, 0] = B_PIPES
    elif w.cs[g, POLL] != P_NONE:
        call = net.signal_calls[net.ops[i, 1]]
        out.blocked[g, 0] = B_SIGNAL
        out.blocked[g, 2] = value_of(net.bytecode, call[1], x.scalars, instance, w.variables, stack)
        out.blocked[g, 3] = value_of(net.bytecode, call[2], x.scalars, instance, w.variables, stack)
    elif net.ops[i, 0] == SWAIT or net.ops[i, 0] == TAKE:
        out.blocked[g, 0] = B_TOKEN
    else:
        out.blocked[g, 0] = B_QUEUE


@bare
def transfer(
    net: Net, x: Numbers, w: World, log: Log, out: Outcome, stack: Ints, instance: int, rank: int, c: int, i: int
) -> int:
    """Steps of TPUT or TGET at operation i, as many as are possible now."""
    ops, cs, ps, hs = net.ops, w.cs, w.ps, w.hs
    g = instance * net.starts.shape[0] + c
    base = instance * net.core_pipe[-1]
    number = ops[i, 1]
    call = net.calls[number]
    ranks = x.params[P_RANKS]
    issue = x.params[P_ISSUE]
    places = w.qs.shape[1] - 1
    mask = w.ts.shape[2] - 1
    moved = STUCK
    if cs[g, X_STEP] == X_NONE:
        copies = call[T_LOADS] == call[T_STORES]
        v = x.variant_of[instance, number, 0]
        tile = call[T_TILE]
        if not copies:
            while x.variant[v, V_ROWS] != w.tiles[g, tile, 0] or x.variant[v, V_COLS] != w.tiles[g, tile, 1]:
                v += 1
        if x.variant[v, V_FORM] == EMPTY:
            # its events are waited for by the scalar process, and given at once
            for k in range(i + 1, ops[i, 2]):
                if ops[k, 0] == POP:
                    ticket = hs[instance, ops[k, 1], TAKEN]
                    if w.ts[instance, ops[k, 1], ticket & mask, 0] != ticket:
                        return STUCK
            for k in range(i + 1, ops[i, 2]):
                ch = ops[k, 1]
                if ops[k, 0] == POP:
                    ticket = hs[instance, ch, TAKEN]
                    hs[instance, ch, TAKEN] += 1
                    w.ts[instance, ch, ticket & mask, 0] = -1
                    t = w.ts[instance, ch, ticket & mask, 1]
                    if t > cs[g, S]:
                        out.waits[instance, net.chan_wait[ch]] += t - cs[g, S]
                        cs[g, S] = t
            for k in range(i + 1, ops[i, 2]):
                if ops[k, 0] == PUSH:
                    ticket = hs[instance, ops[k, 1], GIVEN]
                    hs[instance, ops[k, 1], GIVEN] += 1
                    w.ts[instance, ops[k, 1], ticket & mask, 0] = ticket
                    w.ts[instance, ops[k, 1], ticket & mask, 1] = cs[g, S]
                    w.ts[instance, ops[k, 1], ticket & mask, 2] = -1
            cs[g, PC] = ops[i, 2]
            return OVER
        peer = value_of(net.bytecode, call[T_PEER], x.scalars, instance, w.variables, stack)
        wrong = -1
        if peer < 0 or peer >= ranks:
            wrong = F_PEER
        elif copies and peer == rank:
            wrong = F_SELF
        elif x.kinds[rank, peer] < 0 or x.times[v, x.kinds[rank, peer], 0, 0] < 0:
            wrong = F_LINK
        if wrong >= 0:
            fault(log, wrong, g, i, peer)
            return FAILED
        cs[g, X_VARIANT], cs[g, X_PEER], cs[g, X_KIND] = v, peer, x.kinds[rank, peer]
        cs[g, X_STEP], cs[g, X_CHUNK], cs[g, X_HALF] = X_LOAD, 0, 0
        moved = MOVED
    v = cs[g, X_VARIANT]
    copies = x.variant[v, V_FORM] == COPY
    rows, cols = x.variant[v, V_FULL_ROWS], x.variant[v, V_FULL_COLS]
    bands, across = rows + x.variant[v, V_ROW_TAIL], cols + x.variant[v, V_COL_TAIL]
    chunks, two_tiles = x.variant[v, V_CHUNKS], x.variant[v, V_PING_PONG] == 1
    while True:
        chunk = cs[g, X_CHUNK]
        piece = 0
        if x.variant[v, V_FORM] != ONCE and not copies:
            short_row, short_col = (chunk // across) % bands >= rows, chunk % across >= cols
            piece = 1
            if short_row and short_col:
                piece = 5
            elif short_row:
                piece = 4
            elif short_col:
                piece = 3
            elif x.variant[v, V_HALVED] == 1:
                piece = 2
        last_half = piece != 2 or cs[g, X_HALF] == 1
        last_chunk = chunk == chunks - 1
        if cs[g, X_STEP] == X_BARRIER:
            if x.variant[v, V_FORM] != ONCE or x.variant[v, V_BARRIER_ONCE] == 1:
                a, b = net.core_pipe[c], net.core_pipe[c + 1] - 1
                if not drained(ps, base, a, b):
                    return moved
                lag = max(0, complete(ps, base, a, b) - cs[g, S])
                out.waits[instance, net.core_waits[c, 5]] += lag
                cs[g, S] += lag + x.params[P_BARRIER]
                log.barriers[c, 0] += 1
                log.barriers[c, 1] += lag + x.params[P_BARRIER]
                cs[g, DIRTY] = 0
            cs[g, X_STEP] = X_STORE
            moved = MOVED
            continue
        loads = cs[g, X_STEP] == X_LOAD
        p = call[T_LOADS] if loads else call[T_STORES]
        gp = base + p
        if not room(x, w, out, net, instance, g, gp, p):
            return moved
        if ps[gp, TAIL] - ps[gp, HEAD] > places:
            return OVERFLOW
        entry = w.qs[gp, ps[gp, TAIL] & places]
        entry[Q_PC] = i
        entry[Q_SEEN] = cs[g, S] + issue
        entry[Q_VARIANT], entry[Q_PIECE], entry[Q_KIND], entry[Q_PEER] = v, piece, cs[g, X_KIND], cs[g, X_PEER]
        first = loads and chunk == 0 and cs[g, X_HALF] == 0
        last = (not loads or copies) and last_chunk and last_half
        entry[Q_FIRST], entry[Q_LAST] = (1 if first else 0), (1 if last else 0)
        entry[Q_FLAGS] = 0
        for k in range(i + 1, ops[i, 2]):
            entry[Q_PARTS + k - i - 1] = -1
            if first and ops[k, 0] == POP:
                entry[Q_PARTS + k - i - 1] = hs[instance, ops[k, 1], TAKEN]
                hs[instance, ops[k, 1], TAKEN] += 1
            if last and ops[k, 0] == PUSH:
                entry[Q_PARTS + k - i - 1] = hs[instance, ops[k, 1], GIVEN]
                hs[instance, ops[k, 1], GIVEN] += 1
        cs[g, S] += issue
        ps[gp, TAIL] += 1
        ps[gp, ISSUED] += 1
        if not loads or copies:
            ps[gp, WROTE] = ps[gp, ISSUED]
        moved = MOVED
        if copies:
            entry[Q_FORM] = E_COPY
            cs[g, DIRTY] |= 1 << (p - net.core_pipe[c])
        elif loads:
            entry[Q_FORM] = E_LOAD
            entry[Q_TICKET] = w.flags_given[g, 0]
            w.flags_given[g, 0] += 1
            if cs[g, HOLD_LOAD] > cs[g, HELD]:
                entry[Q_FLAGS] = cs[g, HOLD_LOAD]
            # the flag of the store before this one is waited for behind this load
            cs[g, HOLD_LOAD] = max(cs[g, HOLD_LOAD], cs[g, HOLD_LATER])
            cs[g, X_STEP] = X_BARRIER
            continue
        else:
            entry[Q_FORM] = E_STORE
            entry[Q_FLAGS] = w.flags_given[g, 0]
            entry[Q_TICKET] = w.flags_given[g, 1]
            w.flags_given[g, 1] += 1
            cs[g, DIRTY] |= 1 << (p - net.core_pipe[c])
            if (piece == 2 and not last_half) or (two_tiles and not last_chunk):
                cs[g, HOLD_LATER] = w.flags_given[g, 1]
            else:
                cs[g, HOLD_LOAD] = w.flags_given[g, 1]
        # the next piece
        if piece == 2 and not last_half:
            cs[g, X_HALF] = 1
            cs[g, X_STEP] = X_LOAD
        elif not last_chunk and not copies:
            cs[g, X_CHUNK] += 1
            cs[g, X_HALF] = 0
            cs[g, X_STEP] = X_LOAD
        else:
            if not copies:
                w.tiles[g, call[T_TILE], 0] = x.variant[v, V_PING_ROWS]
                w.tiles[g, call[T_TILE], 1] = x.variant[v, V_PING_COLS]
                if two_tiles and x.variant[v, V_PONG_ROWS] > 0:
                    w.tiles[g, call[T_PONG], 0] = x.variant[v, V_PONG_ROWS]
                    w.tiles[g, call[T_PONG], 1] = x.variant[v, V_PONG_COLS]
            cs[g, X_STEP] = X_NONE
            cs[g, PC] = ops[i, 2]
            return OVER
