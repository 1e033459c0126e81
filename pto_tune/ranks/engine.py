"""Run configurations of workloads with ranks on a pool of threads, each with all its ranks and blocks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from numpy.typing import NDArray

from pto_tune.executor.engine import ExecutorError, thread_count
from pto_tune.executor.extent import check_places, check_steps
from pto_tune.executor.jit import call
from pto_tune.lowering.code import EXEC
from pto_tune.ranks import kernel, state
from pto_tune.ranks import tables as t
from pto_tune.ranks.numbers import most, numbers

if TYPE_CHECKING:
    from cost_models.platform import Platform
    from pto_tune.lowering.code import Code

    Ints = NDArray[np.int64]

T = TypeVar("T")

MOST_LOGGED = 2**24
"""Most rows of a log: a run that sends or sees more signals is refused."""


@dataclass(frozen=True)
class RankRun:
    """One configuration on all its ranks. `status` as in `tables` (DONE, HANG, FAULT); arrays as in `tables.Outcome`
    and `tables.Log`, cut to what was used."""

    status: int
    cycles: int
    ranks: int
    blocks: int
    kinds: tuple[str, ...]
    served: int
    busy: Ints
    waits: Ints
    core_end: Ints
    blocked: Ints
    pipe_blocked: Ints
    memory: Ints
    served_units: Ints
    arrivals: Ints
    swept: Ints
    loose: Ints
    barriers: Ints
    faults: Ints
    events: Ints
    signal_at: Ints

    def brief(self) -> RankRun:
        """Without its logs, and only the block that ends last: what a result keeps of one of many runs."""
        i = slice(self.last_instance, self.last_instance + 1)
        return replace(
            self, busy=self.busy[i], waits=self.waits[i], core_end=self.core_end[i], arrivals=self.arrivals[:0].copy(),
            swept=self.swept[:0].copy(), events=self.events[:0].copy(),
        )  # fmt: skip

    @property
    def last_instance(self) -> int:
        """The block that ends last, the first of several."""
        return int(np.argmax(self.core_end))


def run_row(code: Code, platform: Platform, row: Mapping[str, int], *, events: int = 0) -> RankRun:
    """Run one configuration (problem sizes and tunables), with up to `events` instructions logged.

    ExecutorError where the program has more events or scalar operations than `numbers.most` allows.
    """
    assert code.ranks is not None
    net = t.net_of(code)
    x, kinds = numbers(code, platform, row)
    n, cores, pipes = x.st.shape[0], len(code.cores), len(code.pipes)
    ranks, blocks = int(x.params[t.P_RANKS]), int(x.params[t.P_BLOCKS])
    cap, logged = _capacity(code, x), 1 << 14
    while True:
        log = t.Log(
            arrivals=np.zeros((logged, 9), np.int64),
            waits=np.zeros((logged, 21), np.int64),
            loose=np.zeros((logged, 5), np.int64),
            barriers=np.zeros((cores, 2), np.int64),
            events=np.zeros((events, 6), np.int64),
            faults=np.zeros((16, 4), np.int64),
            counts=np.zeros(5, np.int64),
        )
        world = call(state.world_space, net, x, len(code.ranks.variables), cap, n * (cores + pipes) + logged + 8)
        out = t.Outcome(
            totals=np.zeros(4, np.int64),
            busy=np.zeros((n, pipes), np.int64),
            waits=np.zeros((n, len(code.wait_names)), np.int64),
            core_end=np.zeros(n, np.int64),
            blocked=np.zeros((n * cores, 4), np.int64),
            pipe_blocked=np.full(n * pipes, -1, np.int64),
            memory=np.zeros((ranks, max(1, int(x.signal_at[-1]))), np.int64),
            lag=np.zeros(world.servers.shape[1], np.int64),
        )
        status = int(call(kernel.run, net, x, world, log, out))
        if status != t.FULL:
            break
        cap, logged = 2 * cap, 4 * logged
        if logged > MOST_LOGGED:
            raise ExecutorError(f"the program sends or sees more than {MOST_LOGGED // 4} signals: make it shorter")
    if status == t.TOO_LONG:
        events, steps = most(code)
        raise ExecutorError(
            f"the program does not end within {events} transfers and sweeps over signals and {steps} scalar "
            "operations: make it shorter, or bound its polling"
        )
    check_steps(int(out.totals[2] + out.totals[3]) + 1, _longest(code, x), t.UNIT)
    a, s, loose, ev, faults = (int(v) for v in log.counts)
    return RankRun(
        status=status,
        cycles=int(out.totals[1]),
        ranks=ranks,
        blocks=blocks,
        kinds=tuple(kinds),
        served=int(out.totals[2]),
        busy=out.busy,
        waits=out.waits,
        core_end=out.core_end,
        blocked=out.blocked.reshape(n, cores, 4),
        pipe_blocked=out.pipe_blocked.reshape(n, pipes),
        memory=out.memory,
        served_units=out.lag,
        arrivals=log.arrivals[:a],
        swept=log.waits[:s],
        loose=log.loose[:loose],
        barriers=log.barriers,
        faults=log.faults[: min(faults, 16)],
        events=log.events[:ev],
        signal_at=x.signal_at,
    )


def run_rows(
    code: Code,
    platform: Platform,
    rows: Sequence[Mapping[str, int]],
    keep: Callable[[RankRun], T],
    threads: int | None = None,
) -> list[T]:
    """Run several configurations side by side; `keep` says what is kept of each run."""
    workers = min(threads or thread_count(), len(rows))
    if workers <= 1:
        return [keep(run_row(code, platform, row)) for row in rows]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(lambda row: keep(run_row(code, platform, row)), rows))


def _longest(code: Code, x: t.Numbers) -> float:
    """Most cycles that one step can add to a time, by everything that has a price together."""
    issues = int(code.ops[code.ops[:, 0] == EXEC, 2].max(initial=1))
    parts = [
        x.dur,
        x.times,
        x.latency,
        x.arrival,
        x.hold,
        x.sweep,
        x.params[[t.P_WAIT, t.P_BARRIER, t.P_POST_HOLD_SET, t.P_POST_HOLD_ADD]],
    ]
    units = [x.draw, x.units]
    return (
        sum(float(a.max(initial=0)) for a in parts)
        + sum(float(a.max(initial=0)) for a in units) / t.UNIT
        + (float(issues) * float(x.params[t.P_ISSUE]))
    )


def _capacity(code: Code, x: t.Numbers) -> int:
    """Places of a ring: a power of two above every number of copies and slots, and twice the queues' depth."""
    most = 2 * int(x.params[t.P_QUEUE]) + 8
    columns = [ch.initial for ch in code.channels if ch.initial >= 0] + [e.slot_num for e in code.endpoints]
    if columns:
        most = max(most, 2 * check_places(int(x.st[:, columns].max(initial=0))))
    return 1 << most.bit_length()
