"""The tables that the kernels pass to one another, and the work space of the tracer.

Named tuples of arrays: the kernels take a few of them in place of dozens of arrays. All arrays are int64 unless said
otherwise; n_* stand for the numbers of cores, pipes, channels, endpoints and tracks of a code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pto_tune.executor.clocks import CLOCKS
from pto_tune.executor.jit import kernel
from pto_tune.executor.layout import I_SIZE, MAX_ROUNDS, SNAPSHOT

if TYPE_CHECKING:
    from pto_tune.lowering.code import Code

Ints = NDArray[np.int64]
Counts = NDArray[np.int32]


class Program(NamedTuple):
    """A code as the kernels see it; `lowering.code` explains the columns."""

    ops: Ints  # (n, 5)
    starts: Ints  # (n_cores)
    pipe_core: Ints  # (n_pipes)
    core_pipe: Ints  # (n_cores + 1) first pipe of each core
    pipe_twin: Ints  # (n_pipes)
    chan: Ints  # (n_chan, 6)
    ends: Ints  # (n_ends, 7)
    pair: Ints  # (n_ends, n_ends) channel on which a producer learns what a consumer has released, or -1
    mates: Ints  # (n_ends, m) the other side of an endpoint's slots: consumers of a producer and the reverse, -1 after
    n_tracks: int
    parts: int  # most parts of an instruction


class Schedule(NamedTuple):
    """What the tracer emits: operations (o_*), their sources (s_*), and the window. `trace` explains the columns."""

    o_dst: Ints
    o_dur: Ints
    o_kind: Ints
    o_pc: Ints
    o_ptr: Ints
    s_reg: Ints
    s_off: Ints
    s_col: Ints
    s_chan: Ints
    in_regs: Ints
    out_regs: Ints
    adjust: Ints
    counts: Ints  # (2, n_durations)
    at_window: Ints  # (n_cores, 2)
    touched: Ints  # (n, 4): endpoint and tile of the slot that an operation writes, and reads; one row: not wanted


class Found(NamedTuple):
    """What the tracer finds out about a structure."""

    info: Ints
    blocked: Ints  # (n_cores + n_pipes)
    over: Ints  # (n_tracks, 4)
    flight: Ints  # (n_chan)
    end_count: Ints  # (n_ends, 2)
    taken: Ints  # (n_chan, 2) tokens taken by the end, and sent


class Rounds(NamedTuple):
    """What is remembered of every round: state, registers, first operation, executions, trips left, constants."""

    line: Ints  # the state that is being written down
    canon: Ints  # number of each register in it
    snaps: Ints
    regs: Ints
    length: Ints
    op: Ints
    counts: Ints
    left: Ints
    add: Ints


class Work(NamedTuple):
    """Space for the tracer, the same for every structure."""

    rounds: Rounds
    vc: Counts
    queue_pipe: Ints  # (n_pipes) 1 where the queue limit of a pipe is emitted
    refs: Ints  # (n_regs) uses of a register that are still to come
    free: Ints  # (n_regs) registers without any
    low: Ints  # (n_chan) lowest ticket that is still wanted from a channel
    n_wait: Ints  # (n_cores) instructions and signals in the queues of a core
    left_now: Ints  # (n_cores) steady trips left
    steady_op: Ints  # (n_cores) steady loop of a core, -1 where it has none
    inner_loop: Ints  # all other loops


def program_of(code: Code) -> Program:
    """The tables of a code."""
    core_pipe = np.searchsorted(code.pipe_core, np.arange(len(code.cores) + 1)).astype(np.int64)
    return Program(
        ops=code.ops,
        starts=code.starts,
        pipe_core=code.pipe_core,
        core_pipe=core_pipe,
        pipe_twin=code.pipe_twin,
        chan=code.channel_table,
        ends=code.endpoint_table,
        pair=code.pair_table,
        mates=mates_of(code.endpoint_table),
        n_tracks=len(code.tracks),
        parts=code.most_parts,
    )


def mates_of(ends: Ints) -> Ints:
    """For each endpoint the other side of its slots, -1 behind the last."""
    found = [
        [
            other
            for other in range(ends.shape[0])
            if ends[other, 2] != ends[e, 2]
            and (ends[other, 0] == ends[e, 0] or (ends[e, 6] >= 0 and ends[other, 0] == ends[e, 6]))
        ]
        for e in range(ends.shape[0])
    ]
    out = np.full((ends.shape[0], max([len(f) for f in found], default=0) + 1), -1, dtype=np.int64)
    for e, others in enumerate(found):
        out[e, : len(others)] = others
    return out


@kernel
def schedule_space(program: Program, max_ops: int, n_regs: int, n_dur: int, touched: bool) -> Schedule:
    """An empty schedule of up to `max_ops` operations."""
    return Schedule(
        np.empty(max_ops, np.int64),
        np.empty(max_ops, np.int64),
        np.empty(max_ops, np.int64),
        np.empty(max_ops, np.int64),
        np.empty(max_ops + 1, np.int64),
        np.empty(4 * max_ops, np.int64),
        np.empty(4 * max_ops, np.int64),
        np.empty(4 * max_ops, np.int64),
        np.empty(4 * max_ops, np.int64),
        np.empty(n_regs, np.int64),
        np.empty(n_regs, np.int64),
        np.empty(n_regs, np.int64),
        np.empty((2, n_dur), np.int64),
        np.empty((program.starts.shape[0], 2), np.int64),
        np.empty((max_ops if touched else 1, 4), np.int64),
    )


@kernel
def found_space(program: Program) -> Found:
    """Findings of one structure."""
    return Found(
        np.zeros(I_SIZE, np.int64),
        np.zeros(program.starts.shape[0] + program.pipe_core.shape[0], np.int64),
        np.zeros((max(1, program.n_tracks), 4), np.int64),
        np.zeros(max(1, program.chan.shape[0]), np.int64),
        np.zeros((max(1, program.ends.shape[0]), 2), np.int64),
        np.zeros((max(1, program.chan.shape[0]), 2), np.int64),
    )


@kernel
def find_loops(ops: Ints, starts: Ints, steady_op: Ints, inner_loop: Ints) -> int:
    """Fill `steady_op` with the steady loop of each core (left alone where it has none) and `inner_loop` with all
    other loops; returns how many those are."""
    n_loops = 0
    for q in range(ops.shape[0]):
        if ops[q, 0] == 1 and ops[q, 3] != 1:
            inner_loop[n_loops] = q
            n_loops += 1
    for c in range(starts.shape[0]):
        for q in range(starts[c], ops.shape[0]):
            if ops[q, 0] == 0:
                break
            if ops[q, 0] == 1 and ops[q, 3] == 1:
                steady_op[c] = q
    return n_loops


@kernel
def work_space(program: Program, n_regs: int, n_dur: int) -> Work:
    """Space for the tracer with up to `n_regs` registers."""
    cores = program.starts.shape[0]
    rounds = Rounds(
        np.zeros(SNAPSHOT, np.int64),
        np.zeros(n_regs, np.int64),
        np.empty((MAX_ROUNDS, SNAPSHOT), np.int64),
        np.empty((MAX_ROUNDS, n_regs), np.int64),
        np.zeros(MAX_ROUNDS, np.int64),
        np.zeros(MAX_ROUNDS, np.int64),
        np.empty((MAX_ROUNDS, n_dur), np.int64),
        np.empty((MAX_ROUNDS, cores), np.int64),
        np.empty((MAX_ROUNDS, cores), np.int64),
    )
    steady_op = np.full(cores, -1, np.int64)
    inner = np.empty(program.ops.shape[0], np.int64)
    n_inner = find_loops(program.ops, program.starts, steady_op, inner)
    return Work(
        rounds,
        np.empty((n_regs + 1, CLOCKS), np.int32),
        np.zeros(program.pipe_core.shape[0], np.int64),
        np.empty(n_regs, np.int64),
        np.empty(n_regs, np.int64),
        np.empty(program.chan.shape[0], np.int64),
        np.empty(cores, np.int64),
        np.empty(cores, np.int64),
        steady_op,
        inner[:n_inner].copy(),
    )
