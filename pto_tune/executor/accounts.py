"""Accounts of evaluated rows: busy cycles by pipe and waiting by name, of the core group that ends last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cost_models import scalar
from pto_tune.executor import detail
from pto_tune.executor.engine import Buffers, capacity_of_channels, list_schedule
from pto_tune.executor.jit import call
from pto_tune.executor.layout import FULL
from pto_tune.executor.tables import program_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from cost_models.platform import Platform
    from pto_tune.executor.engine import Execution
    from pto_tune.lowering.code import Code

    Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Accounts:
    """busy: cycles by pipe ("AIC.MTE2"); waits: cycles by name ("qk.ready", "AIC.k_l1"), zeros left out."""

    busy: dict[str, int]
    waits: dict[str, int]


def queue_waits(code: Code) -> Ints:
    """Wait name of a full queue, by pipe."""
    return np.array([code.wait_names.index(f"{p}.queue") for p in code.pipes], dtype=np.int64)


def stretched(x: Execution, lane: int, wave: int) -> Ints:
    """Durations of a lane as it ran: the transfers of the stretched resource rounded up to a cycle."""
    lanes = x.lanes
    dur = lanes.columns.durations[:, lane].copy()
    resource = int(lanes.resource[lane, wave])
    if resource >= 0:
        used = lanes.columns.bytes[resource, :, lane] > 0
        dur[used] = np.ceil(dur[used] * lanes.stretch[lane, wave]).astype(np.int64)
    return dur


def accounts(code: Code, platform: Platform, x: Execution, rows: Sequence[int]) -> list[Accounts]:
    """Accounts of rows of an execution that did not hang. The cycles found on the way equal those of the execution:
    AssertionError otherwise."""
    if not len(rows):
        return []
    lanes = x.lanes
    tasks: list[tuple[int, int]] = []  # (lane, wave kind)
    for row in rows:
        for lane in range(int(x.first_lane[row]), int(x.last_lane[row])):
            tasks += [(lane, w) for w in (0, 1) if lanes.active[lane, w] > 0]
    if not tasks:
        return []
    schedule = lanes.schedule[[t[0] for t in tasks]]
    order = np.argsort(schedule, kind="stable")
    distinct, first = np.unique(schedule[order], return_index=True)
    structure = np.ascontiguousarray(lanes.schedules.structure[distinct])
    dur = np.array([stretched(x, *tasks[t]) for t in order], dtype=np.int64).reshape(len(tasks), -1)
    bounds = np.append(first, len(tasks)).astype(np.int64)
    buffers = Buffers(cap=capacity_of_channels(structure, code))
    while True:
        waits = np.zeros((len(tasks), len(code.wait_names)), dtype=np.int64)
        cycles = np.zeros(len(tasks), dtype=np.int64)
        status = call(
            detail.account_lanes, program_of(code), queue_waits(code), structure, bounds, scalar.queue_depth(platform),
            dur, buffers.operations, buffers.cap, buffers.registers, waits, cycles,
        )  # fmt: skip
        if status != FULL:
            break
        buffers.grow()
    found = {tasks[t]: (waits[i], int(cycles[i])) for i, t in enumerate(order)}
    for (lane, w), (_, c) in found.items():
        assert c == lanes.cycles[lane, w], (lane, w, c, int(lanes.cycles[lane, w]))
    return [_of_row(code, x, row, found) for row in rows]


def _of_row(code: Code, x: Execution, row: int, found: dict[tuple[int, int], tuple[Ints, int]]) -> Accounts:
    lanes = x.lanes
    first, last = int(x.first_lane[row]), int(x.last_lane[row])
    if last - first == 1:
        waves = {0: int(x.full_waves[row]), 1: 1}
        total = sum(
            (found[first, w][0] * n for w, n in waves.items() if (first, w) in found),
            np.zeros(len(code.wait_names), dtype=np.int64),
        )
    else:
        by_block = np.array([found[lane, 0][0] for lane in range(first, last)])
        _, total = list_schedule(lanes.cycles[first:last, 0], by_block, x.cores)
    return Accounts(
        busy={p: int(v) for p, v in zip(code.pipes, x.busy[row], strict=True)},
        waits={n: int(v) for n, v in zip(code.wait_names, total, strict=True) if v > 0},
    )
