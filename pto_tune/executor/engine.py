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
from pto_tune.executor import folding
from pto_tune.executor import lanes as k
from pto_tune.executor.extent import check_cycles, check_places
from pto_tune.executor.jit import call
from pto_tune.executor.layout import FULL, I_SIZE, I_SKIPPED, I_STATUS, I_TRIPS, I_WINDOW_START
from pto_tune.executor.sampled import sampled_columns
from pto_tune.executor.tables import Program, program_of
from pto_tune.lowering.code import STRUCTURE_FIELDS, Code
from pto_tune.lowering.columns import Columns, columns_of, environment
from pto_tune.lowering.grouping import group_rows
from pto_tune.lowering.remembered import for_each_code
from pto_tune.model.expr import evaluate

if TYPE_CHECKING:
    from cost_models.platform import Platform

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

LANES_OF_A_TRACE = 8
"""Lanes that take about as long as tracing one structure."""

CHUNK = 16384
"""Most work of one piece of a thread, in lanes."""

PIECES = 8
"""Pieces for each thread: the last one leaves the others without work for as long as it takes."""

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
    check_cycles(code, platform, columns, (-(-blocks // cores))[row], cores)
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


@dataclass
class Buffers:
    """Sizes of the tracer's buffers; grown where a program needs more, up to `most` operations."""

    operations: int = 1 << 14
    cap: int = 64
    registers: int = 512
    most: int = MAX_OPERATIONS

    def grow(self) -> None:
        self.operations *= 4
        self.cap *= 2
        self.registers *= 2
        if self.operations > self.most:
            raise ExecutorError(
                f"the program unrolls to more than {self.most // 4} events: "
                "mark its main loop as steady, or make it shorter"
            )


def capacity_of_channels(structure: Ints, code: Code) -> int:
    """Tokens of a channel: a power of two above every number of copies and slots."""
    most = 32
    for ch in code.channels:
        if ch.initial >= 0 and structure.shape[0]:
            most = max(most, check_places(int(structure[:, ch.initial].max())))
    for end in code.endpoints:
        if structure.shape[0]:
            most = max(most, 2 * check_places(int(structure[:, end.slot_num].max())))
    return 1 << int(most).bit_length()


# running


def _run_lanes(
    code: Code, platform: Platform, columns: Columns, row: Ints, block: Ints, active: Ints, jump: bool, workers: int
) -> LaneResults:
    n = row.shape[0]
    queue_depth = scalar.queue_depth(platform)
    representative, variant = _variants(columns)
    rows = columns.structure[representative]
    folded = folding.fold(code)
    if folded is not None and not folded.fits(columns, rows):
        folded = None
    program = program_of(code) if folded is None else folded.program
    moved = columns.kinds_bytes if folded is None else folded.moved(columns)
    dur_pipe = columns.pipe if folded is None else folded.pipes(columns)
    capacity = np.array([capacity_bytes_per_cycle(platform, r) for r in RESOURCES], dtype=np.float64)
    steady = np.array(code.steady, dtype=np.int64)
    masked = rows.copy()
    masked[:, steady[steady >= 0]] = 0
    head, family = group_rows(masked)
    # neighbouring families are alike, which saves the tracer second runs, or even the first
    loose, exact = _loose_columns(code)
    varying = (masked != masked[0]).any(axis=0) if n else np.zeros(masked.shape[1], dtype=bool)
    exact = [c for c in exact if varying[c]]
    keys = [c for c in loose if varying[c]] + exact
    rank = np.lexsort(masked[head][:, keys].T) if keys else np.arange(head.shape[0])
    head = head[rank]
    last = np.append((np.diff(masked[head][:, exact], axis=0) != 0).any(axis=1), True)
    group_end = np.flatnonzero(last)[np.append(0, np.cumsum(last)[:-1])] + 1
    family = np.argsort(rank)[family]
    trips = np.where(steady >= 0, rows[:, np.maximum(steady, 0)], 0)
    # families in order, the variant with the most trips first: the others differ from it by whole windows
    by_family = np.lexsort((-trips.sum(axis=1), family))
    place = np.empty_like(by_family)
    place[by_family] = np.arange(by_family.shape[0])
    schedule = place[variant]
    # equal lanes run once
    some, same = _distinct_lanes(columns, schedule, active)
    order = some[np.argsort(schedule[some], kind="stable")]
    which = np.empty(n, dtype=np.int64)
    which[order] = np.arange(order.shape[0])
    which = which[some][same]
    rows, trips = rows[by_family], trips[by_family]
    v = rows.shape[0]
    first_lane = np.searchsorted(schedule[order], np.arange(v + 1))
    first_variant = np.searchsorted(family[by_family], np.arange(head.shape[0] + 1))
    families = masked[head]
    found = _schedules(rows, program_of(code))
    if folded is not None:
        families = np.append(families, np.zeros((families.shape[0], 1), np.int64), axis=1)
        steady, trips = folded.steady, trips[:, : folded.steady.shape[0]]
    families, trips = np.ascontiguousarray(families), np.ascontiguousarray(trips)
    # what the kernels fill in
    raw = found if folded is None else _schedules(rows, program)
    m, n_pipes = order.shape[0], program.pipe_core.shape[0]
    cycles, stretch = np.zeros((m, 2), np.int64), np.ones((m, 2))
    resource, busy = np.full((m, 2), -1, np.int64), np.zeros((m, 2, n_pipes), np.int64)
    demand, repeats = np.zeros((m, len(RESOURCES)), np.int64), np.ones(m, np.int64)

    def part(piece: tuple[int, int]) -> None:
        a, b = first_variant[piece[0]], first_variant[piece[1]]
        x, y = first_lane[a], first_lane[b]
        lane = order[x:y]
        kind = columns.kind_of(lane)
        buffers = Buffers(cap=capacity_of_channels(rows[a:b], code))
        while True:
            raw.windows[a:b] = 0
            raw.info[a:b] = 0
            full = call(
                k.evaluate_families,
                program, steady, families[piece[0] : piece[1]], np.minimum(group_end[piece[0] : piece[1]], piece[1])
                - piece[0], first_variant[piece[0] : piece[1] + 1] - a, trips[a:b],
                first_lane[a : b + 1] - first_lane[a], queue_depth,
                np.take(columns.kinds, kind, axis=1), dur_pipe,
                np.take(moved, kind, axis=2), active[lane], capacity, jump, buffers.operations,
                buffers.cap, buffers.registers, cycles[x:y], stretch[x:y], resource[x:y], busy[x:y], demand[x:y],
                repeats[x:y], raw.windows[a:b], raw.info[a:b], raw.blocked[a:b], raw.over[a:b],
                raw.flight[a:b], raw.end_count[a:b], raw.taken[a:b],
            )  # fmt: skip
            if full != FULL:
                break
            buffers.grow()

    pieces = _balanced(first_lane[first_variant] + LANES_OF_A_TRACE * first_variant, workers)
    if len(pieces) == 1 or workers == 1:
        for piece in pieces:
            part(piece)
    else:
        with ThreadPoolExecutor(workers) as pool:
            for future in [pool.submit(part, piece) for piece in pieces]:
                future.result()
    if folded is not None:
        found.info[:], found.windows[:] = raw.info, raw.windows
        folded.unfold(raw, found)
        busy = np.take(busy, folded.pipe_source, axis=2)
    return LaneResults(
        columns=columns,
        row=row,
        block=block,
        schedule=schedule,
        repeats=repeats[which],
        active=active,
        cycles=cycles[which],
        stretch=stretch[which],
        resource=resource[which],
        busy=busy[which],
        demand=demand[which],
        schedules=found,
    )


@for_each_code
def _loose_columns(code: Code) -> tuple[list[int], list[int]]:
    """Structure columns that only say how many slots an endpoint has and when it waits and notifies, slots last; and
    all others."""
    table, ops = code.endpoint_table, code.ops
    used = {0, 1, *code.steady, *code.channel_table[:, 2].tolist()}
    for op, columns in STRUCTURE_FIELDS.items():
        used |= set(ops[ops[:, 0] == op][:, columns].reshape(-1).tolist())
    loose = [c for k in (5, 4, 3) for c in dict.fromkeys(table[:, k].tolist()) if c not in used] if table.size else []
    loose = list(reversed(dict.fromkeys(reversed(loose))))
    return loose, [c for c in range(len(code.structure)) if c not in loose]


def _variants(columns: Columns) -> tuple[Ints, Ints]:
    """Distinct structures: a lane of each, and the structure of every lane."""
    if columns.alike is None:
        return group_rows(columns.structure)
    lane = np.zeros(int(columns.alike.max()) + 1, dtype=np.int64)
    lane[columns.alike] = np.arange(columns.alike.shape[0])
    some, variant = group_rows(columns.structure[lane])
    return lane[some], variant[columns.alike]


def _distinct_lanes(columns: Columns, schedule: Ints, active: Ints) -> tuple[Ints, Ints]:
    """Lanes that differ in schedule, durations or active cores: one of each, and that one for every lane."""
    n = schedule.shape[0]
    if columns.place is None:
        return np.arange(n, dtype=np.int64), np.arange(n, dtype=np.int64)
    return group_rows(np.stack([schedule, columns.place, active[:, 0], active[:, 1]], axis=1))


def _schedules(rows: Ints, program: Program) -> Schedules:
    """Space for the findings of the structure rows."""
    v = rows.shape[0]
    cores, pipes = program.starts.shape[0], program.pipe_core.shape[0]
    channels, ends = max(1, program.chan.shape[0]), max(1, program.ends.shape[0])
    return Schedules(
        structure=rows,
        info=np.zeros((v, I_SIZE), np.int64),
        blocked=np.zeros((v, cores + pipes), np.int64),
        over=np.zeros((v, max(1, program.n_tracks), 4), np.int64),
        flight=np.zeros((v, channels), np.int64),
        end_count=np.zeros((v, ends, 2), np.int64),
        taken=np.zeros((v, channels, 2), np.int64),
        windows=np.zeros(v, np.int64),
    )


def _balanced(starts: Ints, workers: int) -> list[tuple[int, int]]:
    """Ranges of families of about the same work, several for each worker; `starts` is the work before each family."""
    total = int(starts[-1])
    size = max(1, min(CHUNK, -(-total // (PIECES * workers))))
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
