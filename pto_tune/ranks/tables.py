"""What the time-ordered kernel reads: a lowered workload, the numbers of one configuration, and its state.

Named tuples of int64 arrays. An *instance* is a block of a rank: instance = rank * blocks + block. Cores and pipes are
numbered by instance, then as in the code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pto_tune.lowering.code import Code

Ints = NDArray[np.int64]

UNIT = 256
"""Parts of a cycle in which servers count."""

# forms of a variant of a transfer
EMPTY, ONCE, CUT, COPY = range(4)
# columns of `Numbers.variant`
(
    V_ROWS, V_COLS, V_FORM, V_CHUNKS, V_FULL_ROWS, V_FULL_COLS, V_ROW_TAIL, V_COL_TAIL, V_HALVED, V_PING_PONG,
    V_BARRIER_ONCE, V_PING_ROWS, V_PING_COLS, V_PONG_ROWS, V_PONG_COLS,
) = range(15)  # fmt: skip
V_SIZE = 15
# columns of `Net.calls`
T_CORE, T_PEER, T_TILE, T_PONG, T_LOADS, T_STORES, T_GET = range(7)
# units that a piece draws on servers
U_L2, U_L2_READ, U_OUT, U_IN, U_PAIR = range(5)
# scalars of `Numbers.params`
(
    P_ISSUE, P_WAIT, P_QUEUE, P_BARRIER, P_SWEEPS_PER_BARRIER, P_POST_HOLD_SET, P_POST_HOLD_ADD, P_RANKS, P_BLOCKS,
    P_MOST_EVENTS, P_MOST_STEPS,
) = range(11)  # fmt: skip
P_SIZE = 11


class Net(NamedTuple):
    """A lowered workload; `lowering.code` explains the columns."""

    ops: Ints
    starts: Ints
    core_pipe: Ints  # (cores + 1)
    chan_wait: Ints  # (channels) wait name
    chan_initial: Ints  # (channels) structure column of the tokens at the start, -1 none
    ends: Ints
    bytecode: Ints
    signal_calls: Ints
    views: Ints
    calls: Ints  # (transfers, 7)
    writes_gm: Ints
    core_waits: Ints  # (cores, 6) wait names: flags, l2, l2_read, hbm, link, barrier
    pipe_waits: Ints  # (pipes) wait name of a full queue
    signal_waits: Ints  # (signals)
    parts: int


class Numbers(NamedTuple):
    """One configuration: columns over its instances, and what transfers and signals cost."""

    params: Ints
    st: Ints  # (instances, structure columns)
    scalars: Ints  # (instances, scalars)
    dur: Ints  # (durations, instances)
    work: Ints  # (durations) 1 where the pipe is busy, 0 for waits and latencies
    draw: Ints  # (3, durations, instances) units on l2, l2_read, hbm
    kinds: Ints  # (ranks, ranks) kind of link; the last kind stands for the own rank, -1 for no link
    variant_of: Ints  # (instances, transfers, 2) first and last + 1
    variant: Ints  # (variants, 15)
    times: Ints  # (variants, kinds + 1, 6 pieces, 2: load, store)
    latency: Ints  # (kinds + 1, 2: put, get, 2: load, store)
    units: Ints  # (variants, kinds + 1, 6 pieces, 5)
    tile_start: Ints  # (instances, tiles, 2) valid rows and columns at the start
    arrival: Ints  # (kinds + 1, 2: Set, AtomicAdd)
    hold: Ints  # (kinds + 1, 2)
    sweep: Ints  # (elements + 1) cycles of a sweep over so many elements
    signal_at: Ints  # (signals + 1) first element of each in a rank's memory


class Log(NamedTuple):
    """What happened: signals always, instructions where there is room for them."""

    arrivals: Ints  # (n, 9): time, sent, rank, element, value sent, kind, sender, operation, value then
    waits: Ints  # (n, 21): begun, seen, core, operation, element, value, comparison, how, elements, counts and strides,
    # other work, polls
    loose: Ints  # (n, 5): core, operation, pipes under way, time, cycles until they are done (-1 unknown)
    barriers: Ints  # (cores of an instance, 2): barriers, cycles that they held the scalar process
    events: Ints  # (n, 6): pipe, operation, start, end, form of the entry, piece
    faults: Ints  # (n, 4): what, core, operation, value
    counts: Ints  # (5) rows used: arrivals, waits, loose, events, faults


class Outcome(NamedTuple):
    """Results of one configuration."""

    totals: Ints  # (4): status, cycles, events served, scalar steps
    busy: Ints  # (instances, pipes)
    waits: Ints  # (instances, wait names)
    core_end: Ints  # (instances) end of the last thing of each
    blocked: Ints  # (instances * cores, 4): what, operation, element, value waited for
    pipe_blocked: Ints  # (instances * pipes) operation whose token is missing, -1
    memory: Ints  # (ranks, elements) signals at the end
    lag: Ints  # (servers) units served


# columns of `Log.arrivals` and `Log.waits`
A_TIME, A_SENT, A_RANK, A_ELEMENT, A_VALUE, A_KIND, A_CORE, A_OPERATION, A_THEN = range(9)
W_BEGUN, W_SEEN, W_CORE, W_OPERATION, W_ELEMENT, W_VALUE, W_COMPARISON, W_HOW, W_ELEMENTS, W_VIEW = range(10)
SEEN, SEEN_BY_TEST, GAVE_UP = 1, 2, 3  # W_HOW
W_WORK, W_POLLS = 19, 20  # of a TTEST that passed: other work since the first that failed, and how many failed
# statuses
DONE, HANG, FAULT, FULL, TOO_LONG = range(5)
# what a core is blocked on
B_NOTHING, B_TOKEN, B_QUEUE, B_PIPES, B_SIGNAL = range(5)
# faults
F_PEER, F_LINK, F_ELEMENT, F_SELF, F_VIEW = range(5)


def net_of(code: Code) -> Net:
    """The tables of a code with ranks."""
    from pto_tune.lowering.ranks import CORE_WAITS
    from pto_tune.model.communication import Tget

    r = code.ranks
    assert r is not None
    names = code.wait_names
    calls = [(t.core, t.peer, t.tile, t.pong, t.loads, t.stores, int(isinstance(t.node, Tget))) for t in r.transfers]
    return Net(
        ops=code.ops,
        starts=code.starts,
        core_pipe=r.core_pipe,
        chan_wait=np.array([names.index(ch.wait_name) for ch in code.channels], dtype=np.int64),
        chan_initial=np.array([ch.initial for ch in code.channels], dtype=np.int64),
        ends=code.endpoint_table,
        bytecode=r.bytecode,
        signal_calls=r.signal_calls,
        views=r.views,
        calls=np.array(calls, dtype=np.int64).reshape(-1, 7),
        writes_gm=r.writes_gm,
        core_waits=np.array([[names.index(f"{c}.{w}") for w in CORE_WAITS] for c in code.cores], dtype=np.int64),
        pipe_waits=np.array([names.index(f"{p}.queue") for p in code.pipes], dtype=np.int64),
        signal_waits=np.array([names.index(f"signal.{s.name}") for s in code.workload.signals], dtype=np.int64),
        parts=max(1, code.most_parts),
    )
