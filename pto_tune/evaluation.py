"""Evaluate a table of configurations: legality, execution, verdicts, bytes, accounts. Columns in, columns out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cost_models import launch
from pto_tune import legality, sentences, verdicts
from pto_tune.executor.engine import Execution, execute
from pto_tune.lowering.code import Code
from pto_tune.lowering.columns import environment
from pto_tune.lowering.compile import lower
from pto_tune.lowering.pipe_rules import derived_period_expr
from pto_tune.lowering.ranks import lower_ranks
from pto_tune.model.expr import evaluate as value_of
from pto_tune.rule_sets import rule_set_for
from pto_tune.table import check_values
from pto_tune.workloads import is_built_in

if TYPE_CHECKING:
    from cost_models.platform import Platform
    from pto_tune.model.nodes import Workload
    from pto_tune.ranks.engine import RankRun
    from pto_tune.rule_sets import RuleSet

Ints = NDArray[np.int64]

MEMORIES = ("UB", "L1", "L0A", "L0B", "L0C", "GM_ring", "GM_traffic")
"""Names of the byte columns. UB is that of one vector sub-core; GM_ring and GM_traffic are of the whole device."""

SHARED_NAMES = ("L2", "L2 reads", "HBM")
RESOURCE_NAMES = (*SHARED_NAMES, "link")
KAHN, TIME_ORDERED = ENGINES = ("kahn", "time-ordered")
"""Which engine made a result: the order of events follows from tokens alone, or from times too."""


def bound_text(name: str, stretch: float) -> str:
    """What bounds a configuration: a pipe ("AIC.M"), or a shared resource with the factor by which it stretches."""
    if "." in name:
        return name
    return f"{name}-bound, x{stretch:.2f}" if stretch > 1 else f"{name}-bound"


@dataclass
class Problem:
    """What stays the same for every table: workload, platform, rule set, lowered code."""

    workload: Workload
    platform: Platform
    rule_set: RuleSet
    timing: str = "task"
    code: Code = field(init=False)
    launch_us: float = field(init=False)
    clock_mhz: float = field(init=False)

    def __post_init__(self) -> None:
        self.launch_us = float(launch.overhead_us(self.platform, self.timing))
        self.clock_mhz = float(self.platform["clock.core_mhz"])
        self.code = (lower_ranks if self.workload.has_ranks else lower)(self.workload, self.rule_set)
        if self.workload.has_ranks and is_built_in(self.workload):
            self.code = replace(self.code, built_in=True)

    @property
    def engine(self) -> str:
        """The engine that runs this workload, one of `ENGINES`."""
        return TIME_ORDERED if self.workload.has_ranks else KAHN

    @classmethod
    def of(cls, workload: Workload, platform: Platform, pto_isa: str | None = None, timing: str = "task") -> Problem:
        """With the rule set of a pto-isa revision (None: the platform family's default)."""
        return cls(workload, platform, rule_set_for(platform.family, pto_isa), timing)


@dataclass
class Evaluation:
    """N rows of results. `rule` indexes `rules`, -1 where the verdict is ok; cycles are 0 where there are none
    (`timed` says where there are)."""

    problem: Problem
    table: dict[str, Ints]
    verdict: NDArray[np.int8]
    rule: NDArray[np.int16]
    rules: list[str]
    cycles: Ints
    timed: NDArray[np.bool_]
    busy: Ints
    stretch: NDArray[np.float64]
    bound: NDArray[np.int16]
    bounds: list[str]
    bytes: dict[str, Ints]
    derived_period: NDArray[np.bool_]
    broken: NDArray[np.bool_]  # (rules, N)
    run_row: Ints  # row of the execution, -1 where refused
    execution: Execution | None
    runs: list[RankRun] = field(default_factory=list)
    """Of workloads with ranks: the run of each executed row, by `run_row`."""
    local: Execution | None = None  # ... and of one block's own pipes, for the rules that they break
    local_found: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 0), dtype=bool))
    _columns: list[legality.RuleColumn] = field(default_factory=list)
    _warnings: list[legality.RuleColumn] | None = None

    def __len__(self) -> int:
        return int(self.verdict.shape[0])

    @property
    def time_us(self) -> NDArray[np.float64]:
        """Cycles over the clock plus the launch overhead of the timing protocol; NaN where there are no cycles."""
        t = self.cycles / self.problem.clock_mhz + self.problem.launch_us
        return np.where(self.timed, t, np.nan)

    def utilisation(self, pipe: str) -> NDArray[np.float64]:
        """Share of the time in which a pipe is busy: "M" (cube) or "V" (mean of the sub-cores)."""
        at = [i for i, p in enumerate(self.problem.code.pipes) if p.endswith("." + pipe)]
        if not at:
            return np.full(len(self), np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = self.busy[:, at].mean(axis=1) / self.cycles
        return np.where(self.timed & (self.cycles > 0), share, np.nan)

    def bound_names(self) -> list[str]:
        """What bounds each row: a pipe, or a shared resource with its factor; "" where there are no cycles."""
        names = []
        for i, b in enumerate(self.bound):
            if b < 0:
                names.append("")
            elif b >= len(self.problem.code.pipes):
                names.append(bound_text(self.bounds[b], float(self.stretch[i])))
            else:
                names.append(self.bounds[b])
        return names

    def sentence(self, row: int, rule: int) -> str:
        """Why a row breaks a rule."""
        static = len(self._columns)
        if rule < static:
            return self._columns[rule].sentence(row)
        name = self.rules[rule]
        if name in verdicts.RANK_RULES or self.execution is None:
            from pto_tune.ranks.evaluating import sentence as of_run

            return of_run(self, row, name)
        schedule = self.schedule_of(row, name)
        return sentences.sentence(self.problem.code, self.execution.lanes.schedules, schedule, name)

    def schedule_of(self, row: int, rule: str) -> int:
        """The schedule of the first block of a row that breaks a structure rule."""
        assert self.execution is not None
        x = self.execution
        run = int(self.run_row[row])
        which = self.findings[verdicts.STRUCTURE_RULES.index(rule)]
        lanes = range(int(x.first_lane[run]), int(x.last_lane[run]))
        return next(int(x.lanes.schedule[lane]) for lane in lanes if which[x.lanes.schedule[lane]])

    findings: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 0), dtype=bool))

    def rule_verdict(self, rule: int) -> int:
        """Verdict of a rule by its number."""
        if rule < len(self._columns):
            return verdicts.VERDICTS.index(self._columns[rule].verdict)
        return verdicts.ALL_VERDICTS[self.rules[rule]]

    def warnings(self, row: int) -> list[str]:
        """What no rule forbids but a page of the ISA or a header has something to say about: sentences."""
        if self._warnings is None:
            from pto_tune.legality.warnings import warnings

            n, p = len(self), self.problem
            env = environment(p.workload, {**self.table, "block": np.zeros(n, dtype=np.int64)})
            self._warnings = warnings(p.workload, p.platform, p.rule_set, env, n)
        return [w.sentence(row) for w in self._warnings if w.broken[row]]

    def reason(self, row: int) -> str:
        """The sentence of the row's verdict; "" when ok."""
        return "" if self.rule[row] < 0 else self.sentence(row, int(self.rule[row]))

    def also(self, row: int) -> list[str]:
        """Every further rule that the row breaks, as "verdict (rule): sentence"."""
        out = []
        for r in np.flatnonzero(self.broken[:, row]):
            if r != self.rule[row]:
                verdict = verdicts.VERDICTS[self.rule_verdict(int(r))]
                out.append(f"{verdict} ({self.rules[r]}): {self.sentence(row, int(r))}")
        return out

    def counts(self) -> dict[str, dict[str, int]]:
        """Rows by verdict and rule: {"ok": {"": 12}, "refused": {"capacity-UB": 3}}."""
        out: dict[str, dict[str, int]] = {}
        pairs, number = np.unique(np.stack([self.verdict, self.rule]), axis=1, return_counts=True)
        for (v, r), k in zip(pairs.T, number, strict=True):
            out.setdefault(verdicts.VERDICTS[v], {})["" if r < 0 else self.rules[r]] = int(k)
        return out


def evaluate_columns(
    problem: Problem, table: Mapping[str, Any], *, jump: bool = True, threads: int | None = None
) -> Evaluation:
    """Evaluate a table: a column (or a single value) for any problem size and tunable; the rest take their defaults.

    TableError (ValueError) names unknown columns and values out of range, all at once. A refused row is never
    executed.
    """
    columns, n = check_values(problem.workload, table)
    env = environment(problem.workload, {**columns, "block": np.zeros(n, dtype=np.int64)})
    static = legality.check(problem.workload, problem.platform, problem.rule_set, env, n)
    rules = [r.name for r in static] + list(verdicts.STRUCTURE_RULES)
    if problem.workload.has_ranks:
        rules += verdicts.RANK_RULES
    broken = np.zeros((len(rules), n), dtype=bool)
    for i, r in enumerate(static):
        broken[i] = r.broken
    refused = np.array([r.verdict == "refused" for r in static], dtype=bool)
    legal = np.flatnonzero(~broken[: len(static)][refused].any(axis=0))
    run_row = np.full(n, -1, dtype=np.int64)
    run_row[legal] = np.arange(legal.shape[0])
    pipes = problem.code.pipes
    e = Evaluation(
        problem=problem,
        table=columns,
        verdict=np.zeros(n, np.int8),
        rule=np.full(n, -1, np.int16),
        rules=rules,
        cycles=np.zeros(n, np.int64),
        timed=np.zeros(n, dtype=bool),
        busy=np.zeros((n, len(pipes)), np.int64),
        stretch=np.ones(n),
        bound=np.full(n, -1, np.int16),
        bounds=[*pipes, *RESOURCE_NAMES],
        bytes=_bytes(problem, env, n),
        derived_period=_derived(problem, env, n),
        broken=broken,
        run_row=run_row,
        execution=None,
        _columns=static,
    )
    if legal.shape[0] and problem.workload.has_ranks:
        from pto_tune.ranks.evaluating import execute_rows

        execute_rows(e, legal, len(static), threads)
    elif legal.shape[0]:
        _execute(e, {name: c[legal] for name, c in columns.items()}, legal, len(static), jump, threads)
    for code in (verdicts.RACE, verdicts.OVERWRITE, verdicts.HANG, verdicts.REFUSED):
        for k in range(len(rules) - 1, -1, -1):
            if e.rule_verdict(k) == code:
                e.verdict[broken[k]] = code
                e.rule[broken[k]] = k
    return e


def _execute(
    e: Evaluation, table: dict[str, Ints], legal: Ints, n_static: int, jump: bool, threads: int | None
) -> None:
    x = execute(e.problem.code, e.problem.platform, table, legal.shape[0], jump=jump, threads=threads)
    e.execution = x
    e.findings = verdicts.find(e.problem.code, x.lanes.schedules).broken
    for i in range(len(verdicts.STRUCTURE_RULES)):
        by_row = np.zeros(legal.shape[0], dtype=bool)
        np.logical_or.at(by_row, x.lanes.row, e.findings[i][x.lanes.schedule])
        e.broken[n_static + i, legal] = by_row
    e.cycles[legal] = np.where(x.hang, 0, x.cycles)
    e.timed[legal] = ~x.hang
    e.busy[legal] = np.where(x.hang[:, None], 0, x.busy)
    e.stretch[legal] = x.stretch
    bound = np.where(x.resource >= 0, len(e.problem.code.pipes) + x.resource, np.argmax(x.busy, axis=1))
    e.bound[legal] = np.where(x.hang, -1, bound)
    moved = np.zeros(legal.shape[0], dtype=np.int64)
    np.add.at(moved, x.lanes.row, x.lanes.demand[:, 0])
    one_lane = x.last_lane - x.first_lane == 1
    e.bytes["GM_traffic"][legal] = np.where(x.hang, 0, np.where(one_lane, moved * x.blocks, moved))


def _bytes(problem: Problem, env: Mapping[str, Any], n: int) -> dict[str, Ints]:
    w = problem.workload
    out = {m: np.zeros(n, dtype=np.int64) for m in MEMORIES}
    for m in MEMORIES[:5]:
        for _, size in legality.memory_parts(w, m, env, n, problem.rule_set):
            out[m] += size
    blocks = np.minimum(value_of(w.launch.blocks, env), int(problem.platform["cores.cube"]))
    out["GM_ring"] += legality.gm_ring_bytes(w, problem.rule_set, env, n) * blocks
    return out


def _derived(problem: Problem, env: Mapping[str, Any], n: int) -> NDArray[np.bool_]:
    """Rows in which every TPipe that is used has the SyncPeriod that it derives."""
    same = np.ones(n, dtype=bool)
    for f in problem.workload.fifos:
        if f.kind != "TPipe":
            continue
        given = value_of(f.sync_period, env)
        derived = value_of(derived_period_expr(f, problem.rule_set), env)
        unused = value_of(f.used, env) == 0
        same &= np.broadcast_to(unused | (given == 0) | (given == derived), n)
    return same
