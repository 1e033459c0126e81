"""Run whole tables: lanes, schedules, chunks over threads, and waves over cores.

A lane is one program at one set of durations: a configuration, or one of its blocks where blocks differ. Lanes with
equal structure share a schedule. Steady trip counts that differ by whole windows share one too: it is traced with the
fewest trips, and each lane runs its own number of windows.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cost_models import scalar
from cost_models.sharing import RESOURCES, capacity_bytes_per_cycle
from pto_tune.executor import lanes as k
from pto_tune.executor.jit import call
from pto_tune.executor.layout import FULL, I_SIZE, I_SKIPPED, I_STATUS, I_TRIPS, I_WINDOW_START
from pto_tune.executor.sampled import sampled_columns
from pto_tune.executor.tables import program_of
from pto_tune.lowering.code import Code
from pto_tune.lowering.columns import Columns, columns_of, environment
from pto_tune.model.expr import evaluate

if TYPE_CHECKING:
    from cost_models.platform import Platform

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

CHUNK = 4096
"""Lanes of one unit of work of a thread."""

MAX_OPERATIONS = 2**24
"""A longer schedule is refused: the program unrolls to more events than this."""

MAX_BLOCKS = 2**22
"""Most lanes that blocks of unequal length may unfold into in one call."""


class ExecutorError(ValueError):
    """A program is too large for the executor."""


def thread_count() -> int:
    """Threads of the pool: the processors that this process may use, or PTO_TUNE_THREADS."""
    given = os.environ.get("PTO_TUNE_THREADS", "")
    if given.isdigit() and int(given) > 0:
        return int(given)
    return len(os.sched_getaffinity(0))


@dataclass
class Schedules:
    """What tracing found, by schedule: the material of verdicts."""

    structure: Ints
    info: Ints
    blocked: Ints
    over: Ints
    flight: Ints
    end_count: Ints
    taken: Ints
    windows: Ints  # windows evaluated


@dataclass
class LaneResults:
    """Results by lane; `w` = wave kind: 0 full waves, 1 the last, partial one."""

    columns: Columns
    row: Ints  # configuration of each lane
    block: Ints
    schedule: Ints
    repeats: Ints
    active: Ints  # (lanes, 2)
    cycles: Ints  # (lanes, 2)
    stretch: Floats
    resource: Ints
    busy: Ints  # (lanes, 2, pipes)
    demand: Ints  # (lanes, resources) bytes
    schedules: Schedules


@dataclass
class Execution:
    """Results by configuration, n rows."""

    code: Code
    lanes: LaneResults
    first_lane: Ints
    last_lane: Ints
    hang: NDArray[np.bool_]
    cycles: Ints
    busy: Ints  # (n, pipes) of the core group that ends last
    stretch: Floats
    resource: Ints
    full_waves: Ints
    blocks: Ints
    cores: int
    windows_evaluated: int = 0
    iterations_simulated: float = 0.0


def execute(
    code: Code, platform: Platform, table: Mapping[str, Ints], n: int, *, jump: bool = True, threads: int | None = None
) -> Execution:
    """Run n configurations (columns of `table`). Every row must be free of rule violations.

    Returns exact integer cycles from the first instruction to the last, all waves included.
    """
    env = {name: np.asarray(v, dtype=np.int64) for name, v in table.items()}
    cores = int(platform["cores.cube"])
    launch = code.workload.launch
    env.setdefault("block", np.zeros(n, dtype=np.int64))
    full_env = environment(code.workload, env)
    blocks = np.broadcast_to(np.maximum(evaluate(launch.blocks, full_env), 1), n).astype(np.int64)
    varying = np.broadcast_to(evaluate(launch.varying, full_env), n) != 0
    full = blocks // cores
    rest = blocks % cores

    # lanes: one a configuration, or one a block
    count = np.where(varying, blocks, 1)
    if int(count.sum()) > MAX_BLOCKS + n:
        raise ExecutorError(
            f"{int(count.sum())} blocks of unequal length in one call; at most {MAX_BLOCKS}: "
            "evaluate fewer rows at once"
        )
    row = np.repeat(np.arange(n, dtype=np.int64), count)
    first = np.concatenate(([0], np.cumsum(count)))[:-1]
    block = np.arange(row.shape[0], dtype=np.int64) - first[row]
    active = np.empty((row.shape[0], 2), dtype=np.int64)
    active[:, 0] = np.where(full > 0, cores, 0)[row]
    active[:, 1] = rest[row]
    v = varying[row]
    in_full = block // cores < full[row]
    active[v, 0] = np.where(in_full, cores, rest[row])[v]
    active[v, 1] = 0
    if v.any():
        env = {name: (c[row] if np.ndim(c) else c) for name, c in env.items()}
        env["block"] = block
        full_env = environment(code.workload, env)
    columns = columns_of(code, platform, full_env, row.shape[0])
    results = _run_lanes(code, platform, columns, row, block, active, jump, threads or thread_count())
    return _by_configuration(code, results, n, first, count, varying, full, blocks, cores)


def execute_sampled(
    x: Execution, platforms: Sequence[Platform], table: Mapping[str, Ints], rows: Ints, *, threads: int | None = None
) -> Execution:
    """Run `rows` of an execution again on several platforms at once: row s * len(rows) + i is rows[i] on platform s.

    `table` has the columns of these rows. Platforms may differ in every number but the cores and the depth of the
    queues (ExecutorError). All lanes share one capacity, that of the first platform, to which bytes are scaled
    (`sampled_columns`): `lanes.demand` counts those.
    """
    if any(
        int(p["cores.cube"]) != x.cores or scalar.queue_depth(p) != scalar.queue_depth(platforms[0]) for p in platforms
    ):
        raise ExecutorError("platforms of one call differ in cores.cube or scalar.queue_depth: run them one by one")
    code, n, samples = x.code, rows.shape[0], len(platforms)
    count = x.last_lane[rows] - x.first_lane[rows]
    row = np.repeat(np.arange(n, dtype=np.int64), count)
    first = np.concatenate(([0], np.cumsum(count)))[:-1]
    at = x.first_lane[rows][row] + np.arange(row.shape[0], dtype=np.int64) - first[row]
    env = {name: np.asarray(v, dtype=np.int64) for name, v in table.items()}
    env = {name: np.tile(c[row], samples) if np.ndim(c) else c for name, c in env.items()}
    env["block"] = np.tile(x.lanes.block[at], samples)
    full_env = environment(code.workload, env)
    columns = sampled_columns(code, platforms, full_env, row.shape[0])
    start = row.shape[0] * np.arange(samples, dtype=np.int64)
    lanes = _run_lanes(
        code, platforms[0], columns, (row + n * np.arange(samples)[:, None]).reshape(-1), env["block"],
        np.tile(x.lanes.active[at], (samples, 1)), True, threads or thread_count(),
    )  # fmt: skip
    heads = (first + start[:, None]).reshape(-1)
    varying = np.broadcast_to(evaluate(code.workload.launch.varying, full_env), columns.structure.shape[0])[heads] != 0
    full, blocks = np.tile(x.full_waves[rows], samples), np.tile(x.blocks[rows], samples)
    return _by_configuration(code, lanes, n * samples, heads, np.tile(count, samples), varying, full, blocks, x.cores)


# grouping


def group_rows(rows: Ints) -> tuple[Ints, Ints]:
    """Distinct rows: indices of representatives, and for each row the number of its group."""
    mix = np.random.default_rng(12345).integers(1, 2**63 - 1, rows.shape[1], dtype=np.int64) | 1
    with np.errstate(over="ignore"):
        key = (rows * mix).sum(axis=1)
    _, representative, inverse = np.unique(key, return_index=True, return_inverse=True)
    if not np.array_equal(rows[representative][inverse], rows):  # two rows with one key
        _, representative, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    return representative.astype(np.int64), inverse.reshape(-1).astype(np.int64)


@dataclass
class Buffers:
    """Sizes of the tracer's buffers; grown where a program needs more."""

    operations: int = 1 << 14
    cap: int = 64
    registers: int = 512

    def grow(self) -> None:
        self.operations *= 4
        self.cap *= 2
        self.registers *= 2
        if self.operations > MAX_OPERATIONS:
            raise ExecutorError(
                f"the program unrolls to more than {MAX_OPERATIONS // 4} events: "
                "mark its main loop as steady, or make it shorter"
            )


def capacity_of_channels(structure: Ints, code: Code) -> int:
    """Tokens of a channel: a power of two above every number of copies and slots."""
    most = 32
    for ch in code.channels:
        if ch.initial >= 0 and structure.shape[0]:
            most = max(most, int(structure[:, ch.initial].max()))
    for end in code.endpoints:
        if structure.shape[0]:
            most = max(most, 2 * int(structure[:, end.slot_num].max()))
    return 1 << int(most).bit_length()


# running


def _run_lanes(
    code: Code, platform: Platform, columns: Columns, row: Ints, block: Ints, active: Ints, jump: bool, workers: int
) -> LaneResults:
    n, n_pipes = row.shape[0], len(code.pipes)
    queue_depth = scalar.queue_depth(platform)
    program = program_of(code)
    capacity = np.array([capacity_bytes_per_cycle(platform, r) for r in RESOURCES], dtype=np.float64)
    representative, variant = group_rows(columns.structure)
    rows = columns.structure[representative]
    steady = np.array(code.steady, dtype=np.int64)
    masked = rows.copy()
    masked[:, steady[steady >= 0]] = 0
    head, family = group_rows(masked)
    # neighbouring families are alike, which saves the tracer second runs
    rank = np.lexsort(masked[head].T)
    head = head[rank]
    family = np.argsort(rank)[family]
    trips = np.where(steady >= 0, rows[:, np.maximum(steady, 0)], 0)
    # families in order, the variant with the most trips first: the others differ from it by whole windows
    by_family = np.lexsort((-trips.sum(axis=1), family))
    place = np.empty_like(by_family)
    place[by_family] = np.arange(by_family.shape[0])
    schedule = place[variant]
    order = np.argsort(schedule, kind="stable")
    rows, trips = rows[by_family], np.ascontiguousarray(trips[by_family])
    v = rows.shape[0]
    first_lane = np.searchsorted(schedule[order], np.arange(v + 1))
    first_variant = np.searchsorted(family[by_family], np.arange(head.shape[0] + 1))
    families = np.ascontiguousarray(masked[head])
    found = Schedules(
        structure=rows,
        info=np.zeros((v, I_SIZE), np.int64),
        blocked=np.zeros((v, len(code.cores) + len(code.pipes)), np.int64),
        over=np.zeros((v, max(1, len(code.tracks)), 4), np.int64),
        flight=np.zeros((v, max(1, len(code.channels))), np.int64),
        end_count=np.zeros((v, max(1, len(code.endpoints)), 2), np.int64),
        taken=np.zeros((v, max(1, len(code.channels)), 2), np.int64),
        windows=np.zeros(v, np.int64),
    )
    out = LaneResults(
        columns=columns,
        row=row,
        block=block,
        schedule=schedule,
        repeats=np.ones(n, np.int64),
        active=active,
        cycles=np.zeros((n, 2), np.int64),
        stretch=np.ones((n, 2)),
        resource=np.full((n, 2), -1, np.int64),
        busy=np.zeros((n, 2, n_pipes), np.int64),
        demand=np.zeros((n, len(RESOURCES)), np.int64),
        schedules=found,
    )

    def part(piece: tuple[int, int]) -> None:
        a, b = first_variant[piece[0]], first_variant[piece[1]]
        lane = order[first_lane[a] : first_lane[b]]
        m = lane.shape[0]
        cycles, stretch = np.zeros((m, 2), np.int64), np.ones((m, 2))
        resource, busy = np.full((m, 2), -1, np.int64), np.zeros((m, 2, n_pipes), np.int64)
        demand, repeats = np.zeros((m, len(RESOURCES)), np.int64), np.ones(m, np.int64)
        buffers = Buffers(cap=capacity_of_channels(rows[a:b], code))
        while True:
            found.windows[a:b] = 0
            found.info[a:b] = 0
            full = call(
                k.evaluate_families,
                program, steady, families[piece[0] : piece[1]], first_variant[piece[0] : piece[1] + 1] - a, trips[a:b],
                first_lane[a : b + 1] - first_lane[a], queue_depth,
                np.ascontiguousarray(columns.durations[:, lane]), columns.pipe,
                np.ascontiguousarray(columns.bytes[:, :, lane]), active[lane], capacity, jump, buffers.operations,
                buffers.cap, buffers.registers, cycles, stretch, resource, busy, demand, repeats, found.windows[a:b],
                found.info[a:b], found.blocked[a:b], found.over[a:b], found.flight[a:b], found.end_count[a:b],
                found.taken[a:b],
            )  # fmt: skip
            if full != FULL:
                break
            buffers.grow()
        out.cycles[lane], out.stretch[lane], out.resource[lane] = cycles, stretch, resource
        out.busy[lane], out.demand[lane], out.repeats[lane] = busy, demand, repeats

    pieces = _balanced(first_lane[first_variant], workers)
    if len(pieces) == 1 or workers == 1:
        for piece in pieces:
            part(piece)
    else:
        with ThreadPoolExecutor(workers) as pool:
            for future in [pool.submit(part, piece) for piece in pieces]:
                future.result()
    return out


def _balanced(starts: Ints, workers: int) -> list[tuple[int, int]]:
    """Ranges of schedules with up to CHUNK lanes, several for each worker."""
    total = int(starts[-1])
    size = max(1, min(CHUNK, -(-total // (4 * workers))))
    pieces, a = [], 0
    n = starts.shape[0] - 1
    while a < n:
        b = int(np.searchsorted(starts, starts[a] + size, side="left"))
        b = min(n, max(a + 1, b))
        pieces.append((a, b))
        a = b
    return pieces


def _by_configuration(
    code: Code,
    lanes: LaneResults,
    n: int,
    first: Ints,
    count: Ints,
    varying: NDArray[np.bool_],
    full: Ints,
    blocks: Ints,
    cores: int,
) -> Execution:
    info = lanes.schedules.info
    lane_hang = info[lanes.schedule, I_STATUS] != 0
    hang = np.zeros(n, dtype=bool)
    np.logical_or.at(hang, lanes.row, lane_hang)
    waves = np.stack([full, (lanes.active[first, 1] > 0).astype(np.int64)], axis=1)
    cycles = (lanes.cycles[first] * waves).sum(axis=1)
    busy = (lanes.busy[first] * waves[:, :, None]).sum(axis=1)
    lead = np.where(waves[:, 0] > 0, 0, 1)
    stretch = lanes.stretch[first, lead]
    resource = lanes.resource[first, lead]
    for i in np.flatnonzero(varying & ~hang):
        at = slice(int(first[i]), int(first[i] + count[i]))
        cycles[i], busy[i] = list_schedule(lanes.cycles[at, 0], lanes.busy[at, 0], cores)
        slowest = int(np.argmax(lanes.stretch[at, 0]))
        stretch[i], resource[i] = lanes.stretch[at, 0][slowest], lanes.resource[at, 0][slowest]
    # steady trips that were evaluated: those outside the window once, those of the window as often as it ran
    steady = [c for c in code.steady if c >= 0]
    trips = lanes.schedules.structure[:, steady].max(axis=1) if steady else np.zeros(info.shape[0], np.int64)
    outside = trips - (1 + info[:, I_SKIPPED]) * info[:, I_TRIPS]
    evaluated = outside + lanes.schedules.windows * info[:, I_TRIPS]
    ran = (info[:, I_STATUS] == 0) & ((lanes.schedules.windows > 0) | (info[:, I_WINDOW_START] < 0))
    return Execution(
        code=code,
        lanes=lanes,
        first_lane=first,
        last_lane=first + count,
        hang=hang,
        cycles=cycles,
        busy=busy,
        stretch=stretch,
        resource=resource,
        full_waves=full,
        blocks=blocks,
        cores=cores,
        windows_evaluated=int(lanes.schedules.windows.sum()),
        iterations_simulated=float(evaluated[ran].mean()) if ran.any() else 0.0,
    )


def list_schedule(cycles: Ints, busy: Ints, cores: int) -> tuple[int, Ints]:
    """Blocks in order, each on the core that is free first (the lowest on ties): the last end, and the busy cycles of
    the core that ends last."""
    import heapq

    free = [(0, c) for c in range(min(cores, cycles.shape[0]))]
    of = np.zeros((len(free), busy.shape[1]), dtype=np.int64)
    for b in range(cycles.shape[0]):
        at, c = heapq.heappop(free)
        of[c] += busy[b]
        heapq.heappush(free, (at + int(cycles[b]), c))
    end, c = max(free, key=lambda f: (f[0], -f[1]))
    return end, of[c]
