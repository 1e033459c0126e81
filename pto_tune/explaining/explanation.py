"""Why a configuration takes as long as it does: one object for scripts, the command line and pages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from pto_tune.evaluation import SHARED_NAMES, Evaluation, Problem, evaluate_columns
from pto_tune.executor.accounts import Accounts, accounts
from pto_tune.explaining.critical import by_cause, critical_path
from pto_tune.explaining.findings import Finding, findings
from pto_tune.explaining.timeline import Event, Timeline, timeline
from pto_tune.explaining.tracefile import write_trace
from pto_tune.lowering.columns import environment
from pto_tune.model.expr import evaluate as value_of
from pto_tune.table import label, parameter
from pto_tune.verdicts import HANG, VERDICTS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pto_tune.explaining.critical import Segment
    from pto_tune.uncertainty.leaning import Lean
    from pto_tune.uncertainty.running import Subject

LEANS = 5
"""Numbers that a summary names."""


@dataclass(frozen=True)
class Explanation:
    """One configuration, evaluated. Timeline and critical path are those of the first block in a full wave."""

    problem: Problem
    evaluation: Evaluation

    @property
    def timed(self) -> bool:
        """Whether it runs to its end: a refused or hanging configuration has no times."""
        return bool(self.evaluation.timed[0])

    @cached_property
    def block(self) -> Timeline:
        """All events of the first block. ValueError where there are no times."""
        if not self.timed or self.evaluation.execution is None:
            raise ValueError(f"there is no timeline: {self.evaluation.reason(0)}")
        return timeline(self.problem.code, self.problem.platform, self.evaluation.execution, 0)

    @cached_property
    def accounts(self) -> Accounts:
        """Busy and waiting cycles of the core group that ends last."""
        if not self.timed or self.evaluation.execution is None:
            return Accounts({}, {})
        return accounts(self.problem.code, self.problem.platform, self.evaluation.execution, [0])[0]

    @cached_property
    def path(self) -> list[Segment]:
        """The critical path of the first block; its cycles add up to `block.cycles`."""
        return critical_path(self.block)

    def timeline(self, limit: int | None = None) -> list[Event]:
        """Events of the first block, the first `limit` of them."""
        out: list[Event] = []
        for event in self.block.events():
            if limit is not None and len(out) >= limit:
                break
            out.append(event)
        return out

    def write_trace(self, path: str | Path) -> None:
        """A Chrome/Perfetto trace of the first block: microseconds, one track a pipe, arrows for FIFO tokens."""
        write_trace(self.block, self.problem.clock_mhz, path)

    def bounds(self) -> list[tuple[str, int]]:
        """If only this limited you: cycles of every pipe's work, and of every shared resource's demand."""
        e = self.evaluation
        if not self.timed or e.execution is None:
            return []
        out = [(p, int(v)) for p, v in zip(self.problem.code.pipes, e.busy[0], strict=True) if v > 0]
        out += resource_bounds(self.problem, e)
        return sorted(out, key=lambda b: -b[1])

    @cached_property
    def findings(self) -> list[Finding]:
        """Every rule that it breaks, the verdict's first."""
        return findings(self.evaluation)

    def notes(self) -> list[str]:
        """Where an assumption of the workload does not hold, and what pages and headers say: sentences."""
        w, e = self.problem.workload, self.evaluation
        env = environment(w, {**{n: c[:1] for n, c in e.table.items()}, "block": 0})
        inputs = int(np.max(value_of(w.l2_footprint, env)))
        need, size = inputs + int(e.bytes["GM_ring"][0]), int(self.problem.platform["memory.l2"])
        warnings = e.warnings(0)
        if need <= size:
            return warnings
        return [
            *warnings,
            f"inputs ({inputs} bytes) and FIFO rings ({need - inputs} bytes) do not fit into L2 ({size} bytes), "
            "and transfers are priced as L2 hits: the real time is longer",
        ]

    @cached_property
    def _subject(self) -> Subject:
        from pto_tune.uncertainty.running import Subject

        return Subject(self.problem, self.evaluation, np.flatnonzero(self.evaluation.timed))

    @cached_property
    def interval(self) -> dict[str, Any] | None:
        """Low, median and high of the time from samples of the platform's numbers (`Intervals.as_plain`); None where
        there are no times."""
        from pto_tune.uncertainty.intervals import intervals_of

        return intervals_of(self._subject).as_plain(0) if self.timed else None

    @cached_property
    def leans_on(self) -> list[Lean]:
        """Every number of the platform that moves the time, the largest share of the interval's variance first."""
        from pto_tune.uncertainty.leaning import leaning_of

        return leaning_of(self._subject) if self.timed else []

    def _affordable(self, cost: str, sure: bool | None) -> bool:
        from pto_tune.uncertainty.running import MOST_COST

        return sure if sure is not None else bool(self.timed and getattr(self._subject, cost) <= MOST_COST)

    def summary(self, sure: bool | None = None) -> dict[str, Any]:
        """Everything as plain data; see `Segment`, `bounds` and `Accounts` for the parts.

        `interval`, and `leans_on` (the first five), are None where they would take longer than some seconds,
        which only large workloads with ranks do; `sure` says to compute them, or not to, whatever they take.
        """
        e = self.evaluation
        w = self.problem.workload
        out: dict[str, Any] = {
            "workload": w.name,
            "platform": self.problem.platform.name,
            "rule_set": self.problem.rule_set.name,
            "timing": self.problem.timing,
            "configuration": {n: label(parameter(w, n), int(c[0])) for n, c in e.table.items()},
            "verdict": VERDICTS[e.verdict[0]],
            "reason": e.reason(0),
            "also": e.also(0),
            "findings": [
                {
                    "verdict": f.verdict,
                    "rule": f.rule,
                    "sentence": f.sentence,
                    "tile": f.tile,
                    "reached": f.reached,
                    "rule_sets": list(f.holds),
                }
                for f in self.findings
            ],
            "cycles": int(e.cycles[0]) if self.timed else None,
            "time_us": float(e.time_us[0]) if self.timed else None,
            "bound": e.bound_names()[0],
            "busy": self.accounts.busy,
            "waits": dict(sorted(self.accounts.waits.items(), key=lambda item: -item[1])),
            "block_cycles": None,
            "segments": [],
            "bounds": [{"pipe": p, "cycles": c} for p, c in self.bounds()],
            "interval": self.interval if self._affordable("interval_cost", sure) else None,
            "leans_on": (
                [lean.as_plain() for lean in self.leans_on[:LEANS]] if self._affordable("swing_cost", sure) else None
            ),
            "hangs": bool(e.verdict[0] == HANG),
            "notes": self.notes(),
        }
        if self.timed and e.execution is not None:
            total = self.block.cycles
            out["block_cycles"] = total
            out["segments"] = [
                {"cause": s.cause, "name": s.name, "cycles": s.cycles, "share": s.cycles / total if total else 0.0}
                for s in by_cause(self.path)
            ]
        return out


def resource_bounds(problem: Problem, e: Evaluation) -> list[tuple[str, int]]:
    """Cycles that the shared resources alone need for all blocks of row 0, at their capacities."""
    import math

    from cost_models.sharing import RESOURCES, capacity_bytes_per_cycle

    assert e.execution is not None
    demand = e.execution.lanes.demand
    first, last = int(e.execution.first_lane[0]), int(e.execution.last_lane[0])
    blocks = int(e.execution.blocks[0]) if last - first == 1 else 1
    out = []
    for i, (key, name) in enumerate(zip(RESOURCES, SHARED_NAMES, strict=True)):
        total = int(demand[first:last, i].sum()) * blocks
        if total:
            out.append((name, math.ceil(total / capacity_bytes_per_cycle(problem.platform, key))))
    return out


def explain_configuration(problem: Problem, configuration: Mapping[str, int | str]) -> Explanation:
    """Evaluate and explain one configuration (problem sizes and tunables; the rest take their defaults)."""
    evaluation = evaluate_columns(problem, dict(configuration))
    if problem.workload.has_ranks:
        from pto_tune.explaining.several import RankExplanation

        return RankExplanation(problem, evaluation)
    return Explanation(problem, evaluation)
