"""Explain a configuration of a workload with ranks: what each pipe and link was busy with, every wait, and its signals.

The time-ordered engine has no critical path: what is shown are sums, of the block that ends last.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pto_tune.evaluation import RESOURCE_NAMES
from pto_tune.explaining.explanation import Explanation
from pto_tune.explaining.timeline import Event
from pto_tune.explaining.tracefile import write_json
from pto_tune.lowering import code as c
from pto_tune.ranks import tables as t
from pto_tune.ranks.advice import advice
from pto_tune.ranks.engine import RankRun, run_row
from pto_tune.ranks.evaluating import accounts_of
from pto_tune.ranks.leaning import assumed, assumed_sentence

if TYPE_CHECKING:
    from pathlib import Path

    from pto_tune.executor.accounts import Accounts
    from pto_tune.ranks.advice import Advice

MOST_EVENTS = 500_000
"""Most instructions of a timeline or trace: those of all ranks and blocks together, in the order of their ends."""


@dataclass(frozen=True)
class RankExplanation(Explanation):
    """One configuration on all its ranks."""

    @cached_property
    def run(self) -> RankRun:
        """The run, with its log of signals. ValueError where the configuration is refused before it runs."""
        if not self.evaluation.runs:
            raise ValueError(f"there is no run: {self.evaluation.reason(0)}")
        return self.evaluation.runs[0]

    @cached_property
    def logged(self) -> RankRun:
        """The run once more, with its instructions."""
        row = {name: int(column[0]) for name, column in self.evaluation.table.items()}
        return run_row(self.problem.code, self.problem.platform, row, events=MOST_EVENTS)

    @cached_property
    def accounts(self) -> Accounts:
        return accounts_of(self.problem.code, self.run)

    @cached_property
    def advice(self) -> list[Advice]:
        """TWAIT or TTEST for every wait that passed."""
        return advice(self.problem.code, self.problem.platform, self.run) if self.timed else []

    def events_of(self, instance: int) -> list[Event]:
        """Instructions of a block (rank * blocks + block), in the order of their ends."""
        pipes, code = len(self.problem.code.pipes), self.problem.code
        out = []
        for gp, operation, start, end, form, _ in self.logged.events.tolist():
            if gp // pipes == instance:
                out.append(Event(code.pipes[gp % pipes], _name(code, operation, form), start, end, operation))
        return out

    def timeline(self, limit: int | None = None) -> list[Event]:
        """Instructions of the block that ends last, the first `limit` of them."""
        if not self.timed:
            raise ValueError(f"there is no timeline: {self.evaluation.reason(0)}")
        events = sorted(self.events_of(self.run.last_instance), key=lambda e: (e.start, e.end))
        return events[:limit]

    def write_trace(self, path: str | Path) -> None:
        """A Chrome/Perfetto trace of all ranks and blocks: a process a core, a track a pipe, an arrow for every signal
        that a TWAIT or TTEST has seen."""
        write_json({"traceEvents": self._trace_events(), "displayTimeUnit": "ns"}, path)

    def bounds(self) -> list[tuple[str, int]]:
        """If only this limited you: the most that any block has for a pipe, and any rank or link for its capacity."""
        if not self.timed:
            return []
        run, code = self.run, self.problem.code
        out = [(p, int(v)) for p, v in zip(code.pipes, run.busy.max(axis=0), strict=True) if v > 0]
        own = run.served_units[: 3 * run.ranks].reshape(run.ranks, 3).max(axis=0)
        shares = [*own.tolist(), int(run.served_units[3 * run.ranks :].max(initial=0))]
        out += [(name, math.ceil(v / t.UNIT)) for name, v in zip(RESOURCE_NAMES, shares, strict=True) if v > 0]
        return sorted(out, key=lambda b: -b[1])

    def notes(self) -> list[str]:
        """As of any configuration, and the assumed numbers of links and signals."""
        kinds = self.run.kinds if self.evaluation.runs else ()
        return [*super().notes(), *filter(None, [assumed_sentence(self.problem.code, self.problem.platform, kinds)])]

    def summary(self, sure: bool | None = None) -> dict[str, Any]:
        """Everything as plain data. Beside what every explanation has: `ranks` (ranks, blocks of each, links, and how
        many stand for how many: all are simulated), `waits_between_ranks` (see `Advice`), `barriers` and `assumed`."""
        out = super().summary(sure)
        if not self.evaluation.runs:
            return out
        run, code = self.run, self.problem.code
        out["engine"] = self.problem.engine
        out["ranks"] = {"ranks": run.ranks, "blocks": run.blocks, "links": list(run.kinds), "folded": "none"}
        out["waits_between_ranks"] = [asdict(a) for a in self.advice]
        out["barriers"] = {
            core: {"barriers": int(n), "cycles": int(held)}
            for core, (n, held) in zip(code.cores, run.barriers.tolist(), strict=True)
            if n
        }
        out["assumed"] = assumed(code, self.problem.platform, run.kinds)
        return out

    def _trace_events(self) -> list[dict[str, Any]]:
        run, code, mhz = self.logged, self.problem.code, self.problem.clock_mhz
        pipes, cores = len(code.pipes), len(code.cores)
        out: list[dict[str, Any]] = []
        for g in sorted({int(gp) // pipes * cores + int(code.pipe_core[int(gp) % pipes]) for gp in run.events[:, 0]}):
            instance = g // cores
            name = f"rank {instance // run.blocks} block {instance % run.blocks} {code.cores[g % cores]}"
            out.append({"ph": "M", "name": "process_name", "pid": g + 1, "tid": 0, "args": {"name": name}})
            out += [
                {"ph": "M", "name": "thread_name", "pid": g + 1, "tid": p + 1,
                 "args": {"name": code.pipes[p].rpartition(".")[2]}}
                for p in range(pipes) if int(code.pipe_core[p]) == g % cores
            ]  # fmt: skip
        for gp, operation, start, end, form, _ in run.events.tolist():
            g, p = gp // pipes * cores + int(code.pipe_core[gp % pipes]), gp % pipes
            out.append(
                {
                    "ph": "X", "name": _name(code, operation, form), "pid": g + 1, "tid": p + 1, "ts": start / mhz,
                    "dur": (end - start) / mhz, "args": {"start_cycles": start, "end_cycles": end},
                }
            )  # fmt: skip
        for number, row in enumerate(run.arrivals.tolist(), 1):
            signal = {"cat": "signal", "name": code.names[row[t.A_OPERATION]], "id": number}
            there = row[t.A_RANK] * run.blocks * cores + 1
            out.append({"ph": "s", "ts": row[t.A_SENT] / mhz, "pid": row[t.A_CORE] + 1, "tid": 1, **signal})
            out.append({"ph": "f", "bp": "e", "ts": row[t.A_TIME] / mhz, "pid": there, "tid": 1, **signal})
        return out


def _name(code: c.Code, operation: int, form: int) -> str:
    """An instruction by its ISA name; those of a remote transfer as the loads and stores that they are."""
    name = code.names[operation]
    return f"{name} {('', 'TLOAD', 'TSTORE', '')[form]}".rstrip()
