"""The state of the network while it is traced: cores, pipes and their queues, channels, endpoints.

Registers name time values. Tokens have tickets: the k-th token that a program takes from a channel is the k-th that a
program gives, in the order of the programs, however the pipes in between overtake one another.

Few arrays with many columns: the kernels pass them on in every round.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pto_tune.executor.jit import bare, kernel
from pto_tune.executor.tables import Program

Ints = NDArray[np.int64]

NEVER = 2**62

# columns of a core
PC = 0
DONE = 1
S_AT = 2  # register of the scalar process
S_ADD = 3  # constant on top of it
S_SEQ = 4  # waits done
# columns of a pipe
P_AT = 0  # register of the end of the last instruction
P_LAT = 1  # duration column of its latency
P_RUN = 2  # instructions run
P_ISSUED = 3  # instructions issued
Q_HEAD = 4  # instructions and signals of its queue run
Q_TAIL = 5  # ... and issued
# columns of a place in a queue; the parts' tickets and tiles follow, -1 where a part is left out
Q_PC = 0
Q_REG = 1  # issued at register + constant
Q_OFF = 2
Q_AUX = 3  # tiles popped at the issue, for tokens that say so
Q_PARTS = 4
# columns of a channel
TAKEN = 0  # tickets taken
GIVEN = 1  # tickets given
SENT = 2  # tokens that have been handed on
KNOWN = 3  # tokens known to be taken when the last one was handed on
RELEASED = 4  # tiles that the taker knows to be released
# columns of a token
T_REG = 0
T_TICKET = 1  # -1: no token in this place
T_LATENCY = 2
T_RELEASED = 3  # tiles popped when it was sent
T_SEQ = 4  # when it was taken: count of a clock
T_CLOCK = 5
# columns of an endpoint
E_TILES = 0  # tile index
E_PUSHED = 1  # GlobalData tiles pushed
E_WRITTEN = 2  # tiles of which the write has begun
# columns of a slot at an endpoint
R_CLOCK = 0  # when a tile is read: its pop, or the last instruction that reads it
R_SEQ = 1
R_TILE = 2  # tile that an instruction has read from this place
W_TILE = 3  # tile last written here
W_CLOCK = 4
W_SEQ = 5
W_RELEASED = 6  # tiles known to be released when it was written


class State(NamedTuple):
    """Rows by core (cs), pipe (ps), channel (hs) and endpoint (es); rings of `cap` places."""

    cs: Ints  # (cores, 5)
    ps: Ints  # (pipes, 6)
    hs: Ints  # (channels, 5)
    es: Ints  # (endpoints, 3)
    qs: Ints  # (pipes, cap, 4 + parts) queues
    ts: Ints  # (channels, cap, 6) tokens
    sl: Ints  # (endpoints, cap, 7) slots
    loop_left: Ints  # (operations)
    hist: Ints  # (2, pipes, queue depth) registers and duration columns of the last instructions
    owner: Ints  # (tracks, cap) last writer of a slot that two rings share
    seen: Ints  # (endpoints, endpoints) tiles known to be read, by writer and reader


@kernel
def state_space(program: Program, queue_depth: int, cap: int) -> State:
    """Space for the state, with `cap` (a power of two) places in every ring."""
    cores = program.starts.shape[0]
    pipes = program.pipe_core.shape[0]
    chans = program.chan.shape[0]
    ends = program.ends.shape[0]
    return State(
        np.empty((cores, 5), np.int64),
        np.empty((pipes, 6), np.int64),
        np.empty((chans, 5), np.int64),
        np.empty((ends, 3), np.int64),
        np.empty((pipes, cap, Q_PARTS + program.parts), np.int64),
        np.empty((chans, cap, 6), np.int64),
        np.empty((ends, cap, 7), np.int64),
        np.empty(program.ops.shape[0], np.int64),
        np.empty((2, pipes, queue_depth), np.int64),
        np.empty((max(1, program.n_tracks), cap), np.int64),
        np.empty((ends, ends), np.int64),
    )


@bare
def reset(x: State, program: Program, st: Ints) -> bool:
    """Everything at its start: initial tokens have register 0 (time zero). False where there are too many of them."""
    cs, ps, hs, ts, sl, chan = x.cs, x.ps, x.hs, x.ts, x.sl, program.chan
    cs[:] = 0
    for c in range(cs.shape[0]):
        cs[c, PC] = program.starts[c]
    ps[:] = 0
    ps[:, P_LAT] = -1
    hs[:] = 0
    x.es[:] = 0
    x.loop_left[:] = 0
    ts[:, :, T_TICKET] = -1
    ts[:, :, T_CLOCK] = 0
    sl[:, :, R_TILE] = -1
    sl[:, :, W_TILE] = -1
    x.owner[:] = -1
    x.seen[:] = 0
    for ch in range(hs.shape[0]):
        if chan[ch, 2] < 0:
            continue
        first = st[chan[ch, 2]]
        if first > ts.shape[1]:
            return False
        hs[ch, GIVEN] = first
        hs[ch, SENT] = first
        for j in range(first):
            ts[ch, j, T_REG] = 0
            ts[ch, j, T_TICKET] = j
            ts[ch, j, T_LATENCY] = -1
            ts[ch, j, T_RELEASED] = 0
            ts[ch, j, T_SEQ] = NEVER
    return True
