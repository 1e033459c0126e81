"""The state of the network while it is traced: cores, pipes and their queues, channels, endpoints.

Registers name time values. Tokens have tickets: the k-th token that a program takes from a channel is the k-th that a
program gives, in the order of the programs, however the pipes in between overtake one another.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pto_tune.executor.jit import kernel
from pto_tune.executor.tables import Program

Ints = NDArray[np.int64]

NEVER = 2**62


class State(NamedTuple):
    """Arrays by core (c), pipe (p), channel (h) and endpoint (e); `cap` places in every ring of them."""

    pc: Ints  # (c)
    done: Ints  # (c)
    s_at: Ints  # (c) register of the scalar process
    s_add: Ints  # (c) constant on top of it
    s_seq: Ints  # (c) waits done
    loop_left: Ints  # (ops)
    p_at: Ints  # (p) register of the end of the last instruction
    p_lat: Ints  # (p) duration column of its latency
    p_seq: Ints  # (p) instructions run
    p_issued: Ints  # (p) instructions issued
    hist: Ints  # (p, queue depth) registers of the last instructions
    hist_dur: Ints
    q_head: Ints  # (p) queue: instructions and signals run
    q_tail: Ints  # (p) ... and issued
    q_pc: Ints  # (p, cap)
    q_reg: Ints  # (p, cap) issued at register + constant
    q_off: Ints
    q_aux: Ints  # (p, cap) tiles popped at the issue, for tokens that say so
    q_val: Ints  # (p, cap, parts) ticket or tile of every part, -1 where it is left out
    head: Ints  # (h) tickets taken
    tail: Ints  # (h) tickets given
    given: Ints  # (h) tokens that have been handed on
    tok: Ints  # (h, cap) register
    tok_tick: Ints  # (h, cap) ticket of the token in this place, -1 none
    tok_lat: Ints
    tok_val: Ints  # (h, cap) tiles popped when it was sent
    pop_seq: Ints  # (h, cap) when it was taken: count of the clock ...
    pop_clock: Ints
    known: Ints  # (h) tokens known to be taken when the last one was given
    rel: Ints  # (h) tiles that the taker knows to be released
    count: Ints  # (e) tile index
    recorded: Ints  # (e) GlobalData tiles pushed
    written: Ints  # (e) tiles of which the write has begun
    read_clock: Ints  # (e, cap) when a tile is read: its pop, or the last instruction that reads it
    read_seq: Ints
    r_tile: Ints  # (e, cap) tile that an instruction has read from this place
    w_tile: Ints  # (e, cap) tile last written here ...
    w_clock: Ints
    w_seq: Ints
    w_rel: Ints  # (e, cap) tiles known to be released when it was written
    owner: Ints  # (tracks, cap) last writer of a slot that two rings share: endpoint + ends x tile
    seen: Ints  # (e, e) tiles known to be read, by writer and reader


@kernel
def state_space(program: Program, queue_depth: int, cap: int) -> State:
    """Space for the state, with `cap` (a power of two) places in every ring."""
    cores = program.starts.shape[0]
    pipes = program.pipe_core.shape[0]
    chans = program.chan.shape[0]
    ends = program.ends.shape[0]
    n = program.ops.shape[0]
    return State(
        np.empty(cores, np.int64),
        np.empty(cores, np.int64),
        np.empty(cores, np.int64),
        np.empty(cores, np.int64),
        np.empty(cores, np.int64),
        np.empty(n, np.int64),
        np.empty(pipes, np.int64),
        np.empty(pipes, np.int64),
        np.empty(pipes, np.int64),
        np.empty(pipes, np.int64),
        np.empty((pipes, queue_depth), np.int64),
        np.empty((pipes, queue_depth), np.int64),
        np.empty(pipes, np.int64),
        np.empty(pipes, np.int64),
        np.empty((pipes, cap), np.int64),
        np.empty((pipes, cap), np.int64),
        np.empty((pipes, cap), np.int64),
        np.empty((pipes, cap), np.int64),
        np.empty((pipes, cap, program.parts), np.int64),
        np.empty(chans, np.int64),
        np.empty(chans, np.int64),
        np.empty(chans, np.int64),
        np.empty((chans, cap), np.int64),
        np.empty((chans, cap), np.int64),
        np.empty((chans, cap), np.int64),
        np.empty((chans, cap), np.int64),
        np.empty((chans, cap), np.int64),
        np.empty((chans, cap), np.int64),
        np.empty(chans, np.int64),
        np.empty(chans, np.int64),
        np.empty(ends, np.int64),
        np.empty(ends, np.int64),
        np.empty(ends, np.int64),
        np.empty((ends, cap), np.int64),
        np.empty((ends, cap), np.int64),
        np.empty((ends, cap), np.int64),
        np.empty((ends, cap), np.int64),
        np.empty((ends, cap), np.int64),
        np.empty((ends, cap), np.int64),
        np.empty((ends, cap), np.int64),
        np.empty((max(1, program.n_tracks), cap), np.int64),
        np.empty((ends, ends), np.int64),
    )


@kernel
def reset(x: State, program: Program, st: Ints) -> bool:
    """Everything at its start: initial tokens have register 0 (time zero). False where there are too many of them."""
    x.pc[:] = program.starts
    x.done[:] = 0
    x.s_at[:] = 0
    x.s_add[:] = 0
    x.s_seq[:] = 0
    x.loop_left[:] = 0
    x.p_at[:] = 0
    x.p_lat[:] = -1
    x.p_seq[:] = 0
    x.p_issued[:] = 0
    x.q_head[:] = 0
    x.q_tail[:] = 0
    x.head[:] = 0
    x.tail[:] = 0
    x.given[:] = 0
    x.tok_tick[:] = -1
    x.pop_clock[:] = 0
    x.known[:] = 0
    x.rel[:] = 0
    x.count[:] = 0
    x.recorded[:] = 0
    x.written[:] = 0
    x.r_tile[:] = -1
    x.w_tile[:] = -1
    x.owner[:] = -1
    x.seen[:] = 0
    for ch in range(x.head.shape[0]):
        if program.chan[ch, 2] < 0:
            continue
        first = st[program.chan[ch, 2]]
        if first > x.tok.shape[1]:
            return False
        x.tail[ch] = first
        x.given[ch] = first
        for j in range(first):
            x.tok[ch, j] = 0
            x.tok_tick[ch, j] = j
            x.tok_lat[ch, j] = -1
            x.tok_val[ch, j] = 0
            x.pop_seq[ch, j] = NEVER
    return True
