"""The state of all cores, pipes and channels while the time-ordered kernel runs.

As in the tracer, tokens have tickets: the k-th that a program takes from a channel is the k-th that a program gives.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pto_tune.executor.jit import bare, kernel
from pto_tune.ranks.scalars import STACK
from pto_tune.ranks.tables import P_QUEUE, P_RANKS, Net, Numbers

Ints = NDArray[np.int64]

VIEW = 6
"""Most dimensions of a view, and one."""

# columns of a core
PC = 0
ENDED = 1
S = 2  # the scalar process's own time
POLL = 3  # how it polls, see below
POLL_AT = 4  # start of the next sweep
POLL_FAILED = 5  # sweeps failed
POLL_STEP = 6  # cycles of a failing sweep
POLL_FIRST = 7  # start of the first sweep
X_STEP = 8  # of a transfer: see below
X_VARIANT = 9
X_CHUNK = 10
X_HALF = 11
X_PEER = 12
X_KIND = 13
HOLD_LOAD = 14  # flags up to this one hold the next instruction of MTE2
HOLD_LATER = 15  # ... and these the one behind the next load
HELD = 16  # flags of MTE3 that have been waited for
HELD_STORE = 17  # flags of MTE2 that have been waited for
DIRTY = 18  # pipes (bits) that may still be writing to GM, as far as the core knows
NOTED = 19  # row of the log whose lag the next barrier fills in, + 1
C_SIZE = 20
# polling
P_NONE, P_ASKED, P_ASLEEP, P_DRAINING = range(4)
# steps of a transfer
X_NONE, X_LOAD, X_BARRIER, X_STORE = range(4)
# columns of a pipe
FREE = 0  # end of the last instruction
LATENCY = 1  # of the last instruction
COMPLETE = 2  # latest end with latency
RUN = 3  # instructions run
ISSUED = 4  # instructions issued
HEAD = 5  # entries of the queue run
TAIL = 6  # ... and issued
ASKED = 7  # 1 while a request for shared capacity is under way
START = 8  # of the instruction that asks
WROTE = 9  # instructions issued up to the last one that writes to GM
P_COLUMNS = 10
# columns of an entry of a queue; tickets of its parts follow
Q_PC = 0
Q_SEEN = 1
Q_FORM = 2  # E_INSTRUCTION ...
Q_VARIANT = 3
Q_PIECE = 4
Q_KIND = 5
Q_PEER = 6
Q_FLAGS = 7  # flags of the other pipe up to this one must be set
Q_TICKET = 8  # flag that it sets
Q_FIRST = 9  # first load of a transfer: takes its events
Q_LAST = 10  # last store: gives its event
Q_PARTS = 11
E_INSTRUCTION, E_LOAD, E_STORE, E_COPY = range(4)
# columns of a channel
TAKEN = 0
GIVEN = 1


class World(NamedTuple):
    """Rows by core (cs), pipe (ps), channel (hs), endpoint (es)."""

    cs: Ints  # (instances * cores, C_SIZE)
    ps: Ints  # (instances * pipes, P_COLUMNS)
    qs: Ints  # (instances * pipes, places, Q_PARTS + parts)
    starts: Ints  # (instances * pipes, queue depth) starts of the last instructions
    hs: Ints  # (instances, channels, 2)
    ts: Ints  # (instances, channels, cap, 4): ticket (-1 none), arrival, pipe that gave it, instructions it had run
    es: Ints  # (instances, endpoints, 2): tile index, GlobalData tiles pushed
    loops: Ints  # (instances, operations) trips left
    trips: Ints  # (instances, operations) trips done
    tests: Ints  # (instances, operations, 5) of a TTEST that fails: since when + 1, cycles and number of its sweeps,
    # element and value that it looks for
    variables: Ints  # (instances, variables)
    tiles: Ints  # (instances * cores, tiles, 2) valid rows and columns
    flags: Ints  # (instances * cores, 2, cap) when loads and stores of transfers were complete
    flags_set: Ints  # (instances * cores, 2)
    flags_given: Ints  # (instances * cores, 2)
    heap: Ints  # (n, 2)
    stack: Ints  # of scalar programs
    indices: Ints  # (3, dimensions) of a sweep
    servers: Ints  # (2, servers): when each is free, and units served


@kernel
def world_space(net: Net, x: Numbers, n_variables: int, cap: int, heap: int) -> World:
    """Everything at its start, with `cap` (a power of two) places in every ring."""
    n_inst = x.st.shape[0]
    n_cores, n_pipes = net.starts.shape[0], net.core_pipe[-1]
    n_chan, n_ends, n_ops = net.chan_wait.shape[0], net.ends.shape[0], net.ops.shape[0]
    ranks, kinds = x.params[P_RANKS], x.latency.shape[0] - 1
    depth = x.params[P_QUEUE]
    w = World(
        np.zeros((n_inst * n_cores, C_SIZE), np.int64),
        np.zeros((n_inst * n_pipes, P_COLUMNS), np.int64),
        np.zeros((n_inst * n_pipes, cap, Q_PARTS + net.parts), np.int64),
        np.zeros((n_inst * n_pipes, depth), np.int64),
        np.zeros((n_inst, n_chan, 2), np.int64),
        np.full((n_inst, n_chan, cap, 4), -1, np.int64),
        np.zeros((n_inst, n_ends, 2), np.int64),
        np.zeros((n_inst, n_ops), np.int64),
        np.zeros((n_inst, n_ops), np.int64),
        np.zeros((n_inst, n_ops, 5), np.int64),
        np.zeros((n_inst, max(1, n_variables)), np.int64),
        np.zeros((n_inst * n_cores, x.tile_start.shape[1], 2), np.int64),
        np.zeros((n_inst * n_cores, 2, cap), np.int64),
        np.zeros((n_inst * n_cores, 2), np.int64),
        np.zeros((n_inst * n_cores, 2), np.int64),
        np.zeros((heap, 2), np.int64),
        np.zeros(STACK + 8, np.int64),
        np.zeros((3, VIEW), np.int64),
        np.zeros((2, 3 * ranks + kinds * 2 * 3 * ranks * ranks), np.int64),
    )
    for i in range(n_inst):
        for c in range(n_cores):
            w.cs[i * n_cores + c, PC] = net.starts[c]
            for t in range(x.tile_start.shape[1]):
                w.tiles[i * n_cores + c, t, 0] = x.tile_start[i, t, 0]
                w.tiles[i * n_cores + c, t, 1] = x.tile_start[i, t, 1]
        for ch in range(n_chan):
            if net.chan_initial[ch] < 0:
                continue
            first = x.st[i, net.chan_initial[ch]]
            w.hs[i, ch, GIVEN] = first
            for j in range(min(first, cap)):
                w.ts[i, ch, j, 0] = j
                w.ts[i, ch, j, 1] = 0
    return w


@bare
def drained(ps: Ints, base: int, first: int, last: int) -> bool:
    """Whether everything issued on pipes first..last of the instance at `base` has run."""
    for p in range(base + first, base + last + 1):  # noqa: SIM110 (Numba compiles no generators)
        if ps[p, HEAD] < ps[p, TAIL]:
            return False
    return True


@bare
def complete(ps: Ints, base: int, first: int, last: int) -> int:
    """When everything that has run on the pipes is complete."""
    t = 0
    for p in range(base + first, base + last + 1):
        t = max(t, ps[p, COMPLETE])
    return t
