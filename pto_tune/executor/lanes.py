"""Run schedules over lanes of configurations, in exact integers, jumping over what repeats.

One schedule serves every configuration with the same structure, so its operations are interpreted once for a block
of lanes, and the inner loops are plain maxima and sums over contiguous arrays.

The jump
--------
A window maps the state X (live times at its start) to F(X), and F is a composition of maxima and sums: every
component is convex and piecewise linear along a line X + w D. Two successive windows that moved the state by the same
D fix F at two points of that line. If one evaluation of F at X + k D also gives X + (k+1) D, then by convexity F is
linear on all that lies between: no maximum that reaches the state changes its winner in k+1 windows, and they may be
skipped exactly. Balanced configurations drift (each event by its own shift) long before they repeat; the same test
covers both. Where the state comes round only after m windows, m windows count as one. Where the evaluation fails, the
failing components bound k: a chord through two failing points of a convex function meets zero at or beyond the place
where it leaves zero.

Shared capacity
---------------
Where the demand of all active cores over the run exceeds a shared capacity, the transfers that use it are stretched
by one factor. The run cannot end before demand / capacity; the factor is found between 1 and the one at which the
busiest pipe alone would take that long, by regula falsi, in at most `MAX_RUNS` runs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pto_tune.executor.endings import owed
from pto_tune.executor.jit import bare, kernel
from pto_tune.executor.layout import (
    FULL,
    I_FINAL,
    I_NEEDED,
    I_OPS,
    I_QUEUE,
    I_RUNS,
    I_SKIPPED,
    I_SOURCES,
    I_STATE,
    I_STATUS,
    I_WINDOW_END,
    I_WINDOW_START,
)
from pto_tune.executor.state import state_space
from pto_tune.executor.tables import Found, Program, schedule_space, work_space
from pto_tune.executor.trace import trace

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

LANES = 32
"""Lanes of a block: registers of a block stay in the second-level cache."""

GROUP = 8
"""Lanes that are held in vector registers together."""

MAX_PERIOD = 12
"""Most windows after which a state is looked for to move by the same amounts again."""

MAX_RUNS = 8
"""Runs of one configuration at one number of active cores, the unstretched one included."""

MOST_TILES = 4096
"""Tiles of an endpoint up to which it is looked at one by one whether two structures have the same trace."""

KEPT_LIMITS = 4
"""Structures for which a queue limit that was needed is written down although it may not be needed any more: a trace
that has to start again costs more than a limit."""

TOLERANCE = 0.005
"""A run that takes up to this much longer than demand / capacity is accepted."""


@bare
def _span(
    lo: int, hi: int, o_dst: Ints, o_dur: Ints, o_ptr: Ints, s_reg: Ints, s_off: Ints, s_col: Ints, regs: Ints,
    dur: Ints, n: int,
) -> None:  # fmt: skip
    """Run operations lo:hi on n lanes. `regs` and `dur` are (rows, groups, GROUP): the lanes of a group stay in vector
    registers, the names a..h. `o_dur` and `s_col` are rows of `dur`, as `_rows` makes them."""
    groups = (n + GROUP - 1) // GROUP
    for i in range(lo, hi):
        first = o_ptr[i]
        last = o_ptr[i + 1]
        for x in range(groups):
            s = first
            r = regs[s_reg[s], x]
            off = s_off[s]
            t = dur[s_col[s], x]
            a = r[0] + off + t[0]
            b = r[1] + off + t[1]
            c = r[2] + off + t[2]
            d = r[3] + off + t[3]
            e = r[4] + off + t[4]
            f = r[5] + off + t[5]
            g = r[6] + off + t[6]
            h = r[7] + off + t[7]
            for s in range(first + 1, last):
                r = regs[s_reg[s], x]
                off = s_off[s]
                t = dur[s_col[s], x]
                a = max(a, r[0] + off + t[0])
                b = max(b, r[1] + off + t[1])
                c = max(c, r[2] + off + t[2])
                d = max(d, r[3] + off + t[3])
                e = max(e, r[4] + off + t[4])
                f = max(f, r[5] + off + t[5])
                g = max(g, r[6] + off + t[6])
                h = max(h, r[7] + off + t[7])
            r = regs[o_dst[i], x]
            t = dur[o_dur[i], x]
            r[0] = a + t[0]
            r[1] = b + t[1]
            r[2] = c + t[2]
            r[3] = d + t[3]
            r[4] = e + t[4]
            r[5] = f + t[5]
            r[6] = g + t[6]
            r[7] = h + t[7]


@bare
def _rows(n_ops: int, n_sources: int, n_dur: int, o_dur: Ints, s_col: Ints) -> None:
    """From duration columns to rows of a block: durations, one row of zeros, negated durations."""
    for i in range(n_ops):
        if o_dur[i] < 0:
            o_dur[i] = n_dur
    for s in range(n_sources):
        if s_col[s] == -1:
            s_col[s] = n_dur
        elif s_col[s] < -1:
            s_col[s] = n_dur - 1 - s_col[s]


@kernel
def _windows(
    info: Ints, o_dst: Ints, o_dur: Ints, o_ptr: Ints, s_reg: Ints, s_off: Ints, s_col: Ints, in_regs: Ints,
    out_regs: Ints, adjust: Ints, regs: Ints, dur: Ints, reps: Ints, n: int, jump: int,
) -> int:  # fmt: skip
    """Run the window `reps` times a lane. Returns how many windows were evaluated.

    Every lane goes its own way through the same evaluations: it either simulates the next window or tries a leap. A
    leap spans `period` windows at a time: the smallest number after which the state moves by the same amounts.
    """
    ns = info[I_STATE]
    lo = info[I_WINDOW_START]
    hi = info[I_WINDOW_END]
    depth = 2 * MAX_PERIOD + 1
    x0 = np.empty((ns, n), np.int64)  # state reached
    now = np.empty((ns, n), np.int64)  # state put in
    past = np.empty((depth, ns, n), np.int64)  # the last states reached
    mark = np.zeros((depth, n), np.int64)  # a mixed sum of what each window moved
    d0 = np.zeros((ns, n), np.int64)
    g0 = np.zeros((ns, n), np.int64)
    left = reps[:n].copy()
    seen = np.zeros(n, np.int64)  # states in `past`
    period = np.zeros(n, np.int64)
    phase = np.zeros(n, np.int64)  # windows of the leap done
    trial = np.zeros(n, np.int64)  # periods that the leap tries, 0 = none
    failed = np.zeros(n, np.int64)
    tries = np.zeros(n, np.int64)
    pause = np.zeros(n, np.int64)
    mix = np.empty(ns, np.int64)
    for j in range(ns):
        mix[j] = 2 * ((j * 7919 + 104729) * (j + 31) % 1000003) + 1
        for x in range(n):
            x0[j, x] = regs[in_regs[j], x]
            now[j, x] = x0[j, x]
            past[0, j, x] = x0[j, x]
    for x in range(n):
        seen[x] = 1
    regs3 = regs.reshape((regs.shape[0], regs.shape[1] // GROUP, GROUP))
    steps = 0
    while True:
        busy = False
        for x in range(n):
            if left[x] > 0:
                busy = True
                break
        if not busy:
            break
        for j in range(ns):
            r = in_regs[j]
            for x in range(n):
                regs[r, x] = now[j, x]
        _span(lo, hi, o_dst, o_dur, o_ptr, s_reg, s_off, s_col, regs3, dur, n)
        steps += 1
        for j in range(ns):
            r = out_regs[j]
            a = adjust[j]
            for x in range(n):
                now[j, x] = regs[r, x] + a
        for x in range(n):
            if left[x] <= 0:
                for j in range(ns):
                    now[j, x] = x0[j, x]
                continue
            k = trial[x]
            m = period[x]
            if k == 0:
                h = 0
                slot = seen[x] % depth
                for j in range(ns):
                    h += mix[j] * (now[j, x] - x0[j, x])
                    x0[j, x] = now[j, x]
                    past[slot, j, x] = now[j, x]
                mark[slot, x] = h
                seen[x] += 1
                left[x] -= 1
                if pause[x] > 0:
                    pause[x] -= 1
                    continue
                if not jump:
                    continue
                # the smallest period: the last m marks are the m before
                m = 0
                for c in range(1, MAX_PERIOD + 1):
                    if 2 * c + 1 > seen[x] or left[x] < 2 * c:
                        break
                    same = True
                    for i in range(c):
                        if mark[(slot - i) % depth, x] != mark[(slot - i - c) % depth, x]:
                            same = False
                            break
                    if same:
                        m = c
                        break
                if m > 0:
                    one = (slot - m) % depth
                    two = (slot - 2 * m) % depth
                    same = True
                    for j in range(ns):
                        d = x0[j, x] - past[one, j, x]
                        if d != past[one, j, x] - past[two, j, x]:
                            same = False
                            break
                        d0[j, x] = d
                    if same:
                        period[x] = m
                        trial[x] = left[x] // m - 1
                        failed[x] = 0
                        tries[x] = 0
                        phase[x] = 0
                        for j in range(ns):
                            now[j, x] = x0[j, x] + trial[x] * d0[j, x]
                continue
            phase[x] += 1
            if phase[x] < m:
                continue
            linear = True
            bound = k
            for j in range(ns):
                g = now[j, x] - x0[j, x] - (k + 1) * d0[j, x]
                if g != 0:
                    linear = False
                    if failed[x] > 0:
                        rise = g0[j, x] - g
                        if rise > 0:
                            bound = min(bound, k - (g * (failed[x] - k) + rise - 1) // rise)
                        else:
                            bound = 0
                g0[j, x] = g
            phase[x] = 0
            if linear:
                for j in range(ns):
                    x0[j, x] = now[j, x]
                    past[0, j, x] = now[j, x]
                seen[x] = 1
                left[x] -= (k + 1) * m
                trial[x] = 0
                continue
            trial[x] = min(bound, k - 1) if failed[x] > 0 else k // 2
            failed[x] = k
            tries[x] += 1
            if trial[x] < 1 or tries[x] > 12:
                trial[x] = 0
                pause[x] = 2 * m
            for j in range(ns):
                now[j, x] = x0[j, x] + trial[x] * d0[j, x]
    for j in range(ns):
        r = out_regs[j]
        for x in range(n):
            regs[r, x] = x0[j, x] - adjust[j]
    return steps


@kernel
def _run(
    info: Ints, o_dst: Ints, o_dur: Ints, o_ptr: Ints, s_reg: Ints, s_off: Ints, s_col: Ints, in_regs: Ints,
    out_regs: Ints, adjust: Ints, regs: Ints, dur: Ints, reps: Ints, n: int, jump: int, out: Ints,
) -> int:  # fmt: skip
    """One run of a schedule over n lanes: `out` gets the cycles. Returns windows evaluated."""
    steps = 0
    regs3 = regs.reshape((regs.shape[0], regs.shape[1] // GROUP, GROUP))
    for x in range(n):
        regs[0, x] = 0
    if info[I_WINDOW_START] >= 0:
        _span(0, info[I_WINDOW_START], o_dst, o_dur, o_ptr, s_reg, s_off, s_col, regs3, dur, n)
        steps = _windows(
            info, o_dst, o_dur, o_ptr, s_reg, s_off, s_col, in_regs, out_regs, adjust, regs, dur, reps, n, jump
        )
        _span(info[I_WINDOW_END], info[I_OPS], o_dst, o_dur, o_ptr, s_reg, s_off, s_col, regs3, dur, n)
    else:
        _span(0, info[I_OPS], o_dst, o_dur, o_ptr, s_reg, s_off, s_col, regs3, dur, n)
    f = info[I_FINAL]
    for x in range(n):
        out[x] = regs[f, x]
    return steps


@bare
def _same_trace(ends: Ints, over: Ints, end_count: Ints, hung: bool, a: Ints, b: Ints) -> bool:
    """Whether structure b has the trace and the findings of structure a. They differ at most in slots, periods and
    first waits of endpoints. These are the findings of a, which was traced to its end, or until it hung, with no window
    left out.

    Slots only decide whether a write or a read is too early: where no tile of a track is, none is with as many slots or
    more. Periods and first waits only decide before which tiles a producer waits, after which ones a consumer notifies,
    and how many credits are left for its destructor, which runs when all its tiles are done. A producer goes on to the
    next tile right after it has waited, so it has asked for one more than it has done only where it hangs.
    """
    for e in range(ends.shape[0]):
        more = b[ends[e, 3]] - a[ends[e, 3]]
        if more < 0:
            return False
        if more > 0:
            t = ends[e, 0]
            if ends[e, 6] >= 0 or over[t, 0] >= 0 or over[t, 2] >= 0 or over[t, 3] >= 0:
                return False
    for e in range(ends.shape[0]):
        p, q, f, g = a[ends[e, 4]], b[ends[e, 4]], a[ends[e, 5]], b[ends[e, 5]]
        if ends[e, 3] == ends[e, 4] or (p == q and f == g):  # a ring without flags, or nothing differs
            continue
        tiles = end_count[e, 0]
        if tiles > MOST_TILES or owed(tiles, p, f) != owed(tiles, q, g):
            return False
        producer = ends[e, 2] == 1
        for tile in range(tiles if producer and not hung else tiles + 1):
            one = p > 0 and tile % p == 0 and (not producer or tile >= f)
            other = q > 0 and tile % q == 0 and (not producer or tile >= g)
            if one != other:
                return False
    return True


@kernel
def evaluate_families(
    program: Program, steady: Ints, families: Ints, group_end: Ints, first_variant: Ints, variants: Ints, first: Ints,
    queue_depth: int, dur: Ints, dur_pipe: Ints, use: Ints, active: Ints,
    capacity: Floats, jump: int, max_ops: int, cap: int, n_regs: int, cycles: Ints, stretch: Floats,
    resource: Ints, busy: Ints, demand: Ints, repeats: Ints, steps: Ints, infos: Ints, blocked: Ints, over: Ints,
    flight: Ints, end_count: Ints, taken: Ints,
) -> int:  # fmt: skip
    """Trace every family of structures and run its lanes.

    A family is a structure row but for the steady trips (columns `steady`); its variants first_variant[i]:[i+1] have
    trips `variants` (variants, cores) and lanes first[v]:first[v+1]. Variants whose trips differ by whole windows share
    one schedule. Families up to group_end[i] differ from family i at most in what endpoints say; those that prove to
    have the same trace share one too.

    dur (durations, lanes); use (resources, durations, lanes) bytes; active (lanes, 2) active cores of the full and of
    the last wave, 0 = none; capacity (resources) bytes a cycle. Outputs by lane and wave kind: cycles, stretch,
    resource, busy; by lane: demand (bytes by resource), repeats (windows run); by variant: windows evaluated (steps),
    and the material of verdicts. Returns FULL where a buffer was too small (the caller grows it and calls again).
    """
    n_dur = dur.shape[0]
    n_res = use.shape[0]
    n_pipes = program.pipe_core.shape[0]
    plan = schedule_space(program, max_ops, n_regs, n_dur, False)
    o_dst, o_dur, o_ptr = plan.o_dst, plan.o_dur, plan.o_ptr
    s_reg, s_off, s_col = plan.s_reg, plan.s_off, plan.s_col
    in_regs, out_regs, adjust = plan.in_regs, plan.out_regs, plan.adjust
    counts, at_window = plan.counts, plan.at_window
    work = work_space(program, n_regs, n_dur)
    space = state_space(program, queue_depth, cap)
    queue_pipe = work.queue_pipe
    unused = np.full(n_pipes, KEPT_LIMITS, np.int64)  # structures since the queue limit of a pipe was needed
    regs = np.zeros((n_regs, LANES), np.int64)
    block = np.zeros((2 * n_dur + 1, LANES), np.int64)  # durations, a row of zeros, negated durations
    block3 = block.reshape((2 * n_dur + 1, LANES // GROUP, GROUP))
    out = np.empty(LANES, np.int64)
    # of a pair (lane, wave kind) that is stretched
    p_lane = np.empty(2 * LANES, np.int64)
    p_kind = np.empty(2 * LANES, np.int64)
    p_res = np.empty(2 * LANES + 1, np.int64)
    p_goal = np.empty(2 * LANES, np.float64)
    p_s = np.empty(2 * LANES, np.float64)
    lo_s = np.empty(LANES, np.float64)
    lo_t = np.empty(LANES, np.float64)
    hi_s = np.empty(LANES, np.float64)
    hi_t = np.empty(LANES, np.float64)
    final = np.empty(LANES, np.int64)
    b_reps = np.empty(LANES, np.int64)
    ids = np.empty(dur.shape[1], np.int64)
    st = np.empty(families.shape[1], np.int64)

    for i in range(families.shape[0]):
        for v in range(first_variant[i], first_variant[i + 1]):
            if infos[v, I_OPS] != 0:
                continue
            for q in range(families.shape[1]):
                st[q] = families[i, q]
            for c in range(steady.shape[0]):
                if steady[c] >= 0:
                    st[steady[c]] = variants[v, c]
            runs = 0
            while True:
                runs += 1
                found = Found(infos[v], blocked[v], over[v], flight[v], end_count[v], taken[v])
                trace(program, st, queue_depth, True, plan, work, space, found)
                if infos[v, I_STATUS] == FULL:
                    return FULL
                infos[v, I_RUNS] = runs
                if infos[v, I_QUEUE] == 0:
                    break
                for p in range(n_pipes):
                    if (infos[v, I_QUEUE] >> p) & 1:
                        queue_pipe[p] = 1
            info = infos[v]
            # neighbours need much the same: start from what the last few needed
            for p in range(n_pipes):
                unused[p] = 0 if (info[I_NEEDED] >> p) & 1 else unused[p] + 1
                queue_pipe[p] = 1 if unused[p] <= KEPT_LIMITS else 0
            # the lanes of this variant, and of those that differ by whole windows
            n_ids = 0
            for u in range(v, first_variant[i + 1]):
                if u != v:
                    if info[I_WINDOW_START] < 0 or infos[u, I_OPS] != 0:
                        continue
                    more: int = 2**62
                    for c in range(steady.shape[0]):
                        if at_window[c, 1] > 0:
                            left = variants[u, c] - variants[v, c] + at_window[c, 0]
                            more = min(more, (left - 1) // at_window[c, 1] if left > 0 else -1)
                    fits = more >= 0
                    for c in range(steady.shape[0]):
                        if steady[c] >= 0:
                            apart = variants[u, c] - variants[v, c]
                            if apart != (more - info[I_SKIPPED]) * at_window[c, 1]:
                                fits = False
                    if not fits:
                        continue
                    infos[u] = info
                    infos[u, I_RUNS] = 0
                    infos[u, I_SKIPPED] = more
                    blocked[u] = blocked[v]
                    over[u] = over[v]
                    flight[u] = flight[v]
                    end_count[u] = end_count[v]
                    taken[u] = taken[v]
                for lane in range(first[u], first[u + 1]):
                    repeats[lane] = 1 + infos[u, I_SKIPPED]
                    ids[n_ids] = lane
                    n_ids += 1
            if info[I_WINDOW_START] < 0:
                for i2 in range(i + 1, group_end[i]):
                    for u in range(first_variant[i2], first_variant[i2 + 1]):
                        same = infos[u, I_OPS] == 0
                        for c in range(steady.shape[0]):
                            same = same and variants[u, c] == variants[v, c]
                        if not same or not _same_trace(
                            program.ends, over[v], end_count[v], info[I_STATUS] != 0, families[i], families[i2]
                        ):
                            continue
                        infos[u] = info
                        infos[u, I_RUNS] = 0
                        blocked[u] = blocked[v]
                        over[u] = over[v]
                        flight[u] = flight[v]
                        end_count[u] = end_count[v]
                        taken[u] = taken[v]
                        for lane in range(first[u], first[u + 1]):
                            repeats[lane] = 1 + info[I_SKIPPED]
                            ids[n_ids] = lane
                            n_ids += 1
            if info[I_STATUS] != 0:
                continue
            _rows(info[I_OPS], info[I_SOURCES], n_dur, o_dur, s_col)
            for l0 in range(0, n_ids, LANES):
                n = min(LANES, n_ids - l0)
                for x in range(n):
                    b_reps[x] = repeats[ids[l0 + x]]
                for q in range(n_dur):
                    for x in range(n):
                        block[q, x] = dur[q, ids[l0 + x]]
                        block[n_dur + 1 + q, x] = -block[q, x]
                steps[v] += _run(
                    info, o_dst, o_dur, o_ptr, s_reg, s_off, s_col, in_regs, out_regs, adjust, regs, block3,
                    b_reps, n, jump, out,
                )  # fmt: skip
                n_pairs = 0
                for x in range(n):
                    lane = ids[l0 + x]
                    for res in range(n_res):
                        total = 0
                        for q in range(n_dur):
                            total += (counts[0, q] + counts[1, q] * repeats[lane]) * use[res, q, lane]
                        demand[lane, res] = total
                    for w in range(2):
                        cycles[lane, w] = out[x]
                        stretch[lane, w] = 1.0
                        resource[lane, w] = -1
                        if active[lane, w] == 0:
                            continue
                        goal = 0.0
                        for res in range(n_res):
                            g = active[lane, w] * demand[lane, res] / capacity[res]
                            if g > goal:
                                goal = g
                                p_res[n_pairs] = res
                        if goal > out[x]:
                            p_lane[n_pairs] = lane
                            p_kind[n_pairs] = w
                            p_goal[n_pairs] = goal
                            n_pairs += 1
                for p0 in range(0, n_pairs, LANES):
                    m = min(LANES, n_pairs - p0)
                    for x in range(m):
                        lane = p_lane[p0 + x]
                        b_reps[x] = repeats[lane]
                        # smallest factor at which one pipe alone takes as long as the goal
                        best = np.inf
                        for p in range(n_pipes):
                            fixed = 0.0
                            moved = 0.0
                            for q in range(n_dur):
                                if dur_pipe[q] == p:
                                    times = counts[0, q] + counts[1, q] * repeats[lane]
                                    if use[p_res[p0 + x], q, lane] > 0:
                                        moved += times * dur[q, lane]
                                    else:
                                        fixed += times * dur[q, lane]
                            if moved > 0:
                                best = min(best, (p_goal[p0 + x] - fixed) / moved)
                        lo_s[x] = 1.0
                        lo_t[x] = cycles[lane, p_kind[p0 + x]]
                        hi_s[x] = -1.0
                        p_s[p0 + x] = max(1.0, best) if best < np.inf else 1.0
                        final[x] = 0 if best < np.inf else 1
                    for _turn in range(MAX_RUNS - 1):
                        open_ = 0
                        for x in range(m):
                            lane = p_lane[p0 + x]
                            s = p_s[p0 + x]
                            if final[x] == 0:
                                open_ += 1
                            for q in range(n_dur):
                                if use[p_res[p0 + x], q, lane] > 0:
                                    block[q, x] = np.int64(np.ceil(dur[q, lane] * s))
                                else:
                                    block[q, x] = dur[q, lane]
                                block[n_dur + 1 + q, x] = -block[q, x]
                        if open_ == 0:
                            break
                        steps[v] += _run(
                            info, o_dst, o_dur, o_ptr, s_reg, s_off, s_col, in_regs, out_regs, adjust, regs, block3,
                            b_reps, m, jump, out,
                        )  # fmt: skip
                        for x in range(m):
                            if final[x] == 1:
                                continue
                            lane = p_lane[p0 + x]
                            w = p_kind[p0 + x]
                            goal = p_goal[p0 + x]
                            s = p_s[p0 + x]
                            t = float(out[x])
                            if t >= goal:
                                # the best run so far that needs no more than the capacity
                                cycles[lane, w] = out[x]
                                stretch[lane, w] = s
                                resource[lane, w] = p_res[p0 + x]
                                hi_s[x] = s
                                hi_t[x] = t
                                if t <= goal * (1.0 + TOLERANCE):
                                    final[x] = 1
                                    continue
                            else:
                                lo_s[x] = s
                                lo_t[x] = t
                            if hi_s[x] < 0.0:
                                p_s[p0 + x] = s * goal / t
                            else:
                                # aim a little above the goal, so that the next run may be the last
                                aim = goal * (1.0 + TOLERANCE / 2.0)
                                part = (aim - lo_t[x]) / (hi_t[x] - lo_t[x])
                                p_s[p0 + x] = lo_s[x] + min(0.95, max(0.05, part)) * (hi_s[x] - lo_s[x])
                for x in range(n):
                    lane = ids[l0 + x]
                    for w in range(2):
                        s = stretch[lane, w]
                        for p in range(n_pipes):
                            busy[lane, w, p] = 0
                        for q in range(n_dur):
                            if dur_pipe[q] >= 0:
                                d = dur[q, lane]
                                if resource[lane, w] >= 0 and use[resource[lane, w], q, lane] > 0:
                                    d = np.int64(np.ceil(d * s))
                                busy[lane, w, dur_pipe[q]] += d * (counts[0, q] + counts[1, q] * repeats[lane])
    return 0
