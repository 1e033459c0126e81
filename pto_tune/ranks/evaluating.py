"""Rows of a table on all their ranks: what `evaluation` asks the time-ordered engine."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cost_models import signals
from cost_models.rounding import to_cycles
from cost_models.sharing import capacity_bytes_per_cycle
from pto_tune import sentences, verdicts
from pto_tune.executor.accounts import Accounts
from pto_tune.executor.engine import execute
from pto_tune.lowering.compile import lower
from pto_tune.lowering.ranks import without_ranks
from pto_tune.ranks import findings
from pto_tune.ranks import tables as t
from pto_tune.ranks.engine import RankRun, run_rows

if TYPE_CHECKING:
    from pto_tune.evaluation import Evaluation
    from pto_tune.lowering.code import Code

    Ints = NDArray[np.int64]


WHOLE_RUNS = 16
"""Rows up to which runs are kept with their logs; beyond, only those that break a rule."""


def execute_rows(e: Evaluation, legal: Ints, n_static: int, threads: int | None) -> None:
    """Run the legal rows and fill in the evaluation. Rows that hang or go wrong have no times."""
    problem = e.problem
    code, pipes = problem.code, len(problem.code.pipes)
    rows = [{name: int(c[i]) for name, c in e.table.items()} for i in legal]
    found = run_rows(code, problem.platform, rows, partial(_kept, code, len(rows) > WHOLE_RUNS), threads)
    e.runs = [run for run, _ in found]
    _own_pipes(e, legal, n_static)
    rules = {name: i for i, name in enumerate(e.rules)}
    for i, (run, wrong) in zip(legal, found, strict=True):
        for rule in wrong:
            e.broken[rules[rule], i] = True
        if run.status != t.DONE:
            continue
        e.timed[i] = True
        e.cycles[i] = run.cycles
        e.busy[i] = run.busy[run.last_instance]
        resource, share = busiest_resource(run)
        most = int(np.argmax(e.busy[i]))
        e.bound[i] = pipes + resource if share * run.cycles > e.busy[i, most] else most
        units = run.served_units[: 3 * run.ranks].reshape(run.ranks, 3)
        per_unit = capacity_bytes_per_cycle(problem.platform, "l2") / t.UNIT
        e.bytes["GM_traffic"][i] = round(float(units[:, 0].sum()) * per_unit)


def _kept(code: Code, brief: bool, run: RankRun) -> tuple[RankRun, set[str]]:
    wrong = findings.broken(code, run)
    return (run if wrong or not brief else run.brief()), wrong


def _own_pipes(e: Evaluation, legal: Ints, n_static: int) -> None:
    """What the pipes of one block by themselves can do wrong: the structure rules, but for deadlocks, which the run
    shows. Of rank 0 where ranks differ."""
    problem = e.problem
    if not problem.workload.fifos:
        return
    table = {name: c[legal] for name, c in e.table.items()}
    table["rank"] = np.zeros(legal.shape[0], dtype=np.int64)
    local = lower(without_ranks(problem.workload), problem.rule_set)
    x = execute(local, problem.platform, table, legal.shape[0])
    found = verdicts.find(local, x.lanes.schedules).broken
    e.local, e.local_found = x, found
    for i, rule in enumerate(verdicts.STRUCTURE_RULES):
        if rule != verdicts.DEADLOCK_RULE:
            by_row = np.zeros(legal.shape[0], dtype=bool)
            np.logical_or.at(by_row, x.lanes.row, found[i][x.lanes.schedule])
            e.broken[n_static + i, legal] = by_row


def busiest_resource(run: RankRun) -> tuple[int, float]:
    """The shared resource that is taken for the largest part of the time (0 L2, 1 L2 reads, 2 HBM, 3 a link), and that
    part."""
    own = run.served_units[: 3 * run.ranks].reshape(run.ranks, 3).max(axis=0).astype(float)
    links = float(run.served_units[3 * run.ranks :].max(initial=0))
    units = [*own, links]
    k = int(np.argmax(units))
    return k, units[k] / t.UNIT / max(1, run.cycles)


def sentence(e: Evaluation, row: int, rule: str) -> str:
    """Why a row breaks a rule that only running it shows."""
    problem, at = e.problem, int(e.run_row[row])
    if rule in verdicts.RANK_RULES or rule == verdicts.DEADLOCK_RULE:
        own = int(to_cycles(signals.barrier_cycles(problem.platform)))
        return findings.sentence(problem.code, e.runs[at], rule, own)
    assert e.local is not None
    which = e.local_found[verdicts.STRUCTURE_RULES.index(rule)]
    x = e.local
    lanes = range(int(x.first_lane[at]), int(x.last_lane[at]))
    schedule = next(int(x.lanes.schedule[lane]) for lane in lanes if which[x.lanes.schedule[lane]])
    return sentences.sentence(x.code, x.lanes.schedules, schedule, rule)


def accounts_of(code: Code, run: RankRun) -> Accounts:
    """Busy and waiting cycles of the block that ends last."""
    i = run.last_instance
    waits = {n: int(v) for n, v in zip(code.wait_names, run.waits[i], strict=True) if v}
    return Accounts({p: int(v) for p, v in zip(code.pipes, run.busy[i], strict=True)}, waits)
