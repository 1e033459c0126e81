"""Reading a run back from the store, to answer from it or to go on with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pto_tune import verdicts
from pto_tune.evaluation import Problem
from pto_tune.search.batches import Batch, evaluated
from pto_tune.search.exhaustive import count_refused
from pto_tune.search.pareto import front
from pto_tune.search.spec import OWN, spec_sha256, versions
from pto_tune.search.strategies import Plan, SearchError
from pto_tune.search.tally import Tally
from pto_tune.search.warm import rows_kept
from pto_tune.space import Space, space

if TYPE_CHECKING:
    from cost_models.platform import Platform
    from db import Run, Store
    from pto_tune.model.nodes import Workload
    from pto_tune.spaces.legal import LegalSpace

Ints = NDArray[np.int64]

ON_CHIP_COLUMNS = ("ub", "l1", "l0a", "l0b", "l0c")


class OutdatedError(SearchError):
    """A run of this very search that cannot be used: what the store has of it is not what would be found now."""


def check_rows(run: Run, rows: Ints) -> None:
    """Refuse a run whose rows are not 0, 1, 2, ..."""
    n = rows.shape[0]
    if n and int(rows[-1]) != n - 1:
        raise OutdatedError(f"run {run.id} ({run.name}) lacks rows before its last one, {int(rows[-1])}: tune again")


def same_search(
    run: Run, workload: Workload | None = None, platform: Platform | None = None
) -> tuple[Problem, Space, Plan]:
    """Problem, space and plan of a run, provided that this pto-tune would still get the same results.

    `workload` and `platform` are those of the run where they are not built in; None takes the built-in ones,
    or the run's own description of a workload that is not built in.

    SearchError says in one sentence what has changed: version, platform, workload or rule set.
    """
    from pto_tune.model.serial import to_json

    where = f"run {run.id} ({run.name})"
    now, then = versions()[OWN], run.versions.get(OWN, "an unknown version")
    if now != then:
        raise SearchError(f"{where} was made by pto-tune {then} and this is {now}: tune again, or install {then}")
    workload = _workload(run, workload, where)
    platform = _platform(run, platform, where)
    problem = Problem.of(workload, platform, run.pto_isa or run.rule_set, run.timing)
    if problem.rule_set.name != run.rule_set:
        raise SearchError(
            f"{where} follows the rule set {run.rule_set!r} and {run.pto_isa!r} now means "
            f"{problem.rule_set.name!r}: tune again"
        )
    domains = {tunable["name"]: tunable["domain"] for tunable in run.tunables}
    found = space(workload, run.problem, domains)
    plan = Plan(run.strategy, run.objectives, run.n_candidates, run.seed, rows_kept(run.versions))
    if spec_sha256(problem, found, plan, to_json(workload), run.versions) != run.spec_sha256:
        raise SearchError(f"{where} was made from another description than the store has now: tune again")
    return problem, found, plan


def _workload(run: Run, given: Workload | None, where: str) -> Workload:
    from pto_tune.model.serial import from_json
    from pto_tune.workloads import workload as built_in
    from pto_tune.workloads import workload_names

    kept = from_json(run.workload_json)
    current = given
    if current is None and run.workload in workload_names():
        current = built_in(run.workload)
    if current is not None and current != kept:
        raise SearchError(
            f"the workload {run.workload!r} is not the one that {where} was made with: give that one, or tune again"
        )
    return kept


def _platform(run: Run, given: Platform | None, where: str) -> Platform:
    from cost_models.platform import load_platform, platform_names

    if given is None:
        if run.platform not in platform_names():
            raise SearchError(
                f"{where} was made with the platform {run.platform!r}, which is not built in: give its file"
            )
        given = load_platform(run.platform)
    if given.sha256 != run.platform_sha256:
        raise SearchError(
            f"the numbers of platform {given.name!r} (sha256 {given.sha256[:12]}) are not those that {where} "
            f"was made with ({run.platform!r}, {run.platform_sha256[:12]}): give that platform's file, "
            "or tune again"
        )
    return given


def restore(store: Store, run: Run, problem: Problem, found: Space, top: int, legal: LegalSpace | None = None) -> Tally:
    """What the store holds of a run, as the search had it: counts, number of configurations, leaders. `legal`: of a
    run that passes over what static rules refuse, which is counted all the same.

    Only the leaders are evaluated once more, for what the store does not keep. SearchError where their times
    differ from the stored ones, or where rows are missing.
    """
    tally = Tally(top)
    looked_at = store.configurations(run.id, columns=["row", "verdict", "rule"])
    n = looked_at["row"].shape[0]
    check_rows(run, looked_at["row"])
    tally.done = n
    if legal is not None:
        count_refused(tally, legal)
    tally.count(looked_at["verdict"], np.ma.filled(looked_at["rule"], -1), run.verdicts, run.rules)
    tunables = [f"t{i}" for i in range(len(found.domains))]
    columns = store.configurations(
        run.id,
        columns=["row", "cycles", *ON_CHIP_COLUMNS, *tunables],
        where_verdict=run.verdicts.index(verdicts.VERDICTS[verdicts.OK]),
    )
    numbers: Ints = columns["row"]
    cycles: Ints = np.ma.filled(columns["cycles"], -1)
    memory = np.zeros(numbers.shape[0], dtype=np.int64)
    for name in ON_CHIP_COLUMNS:
        memory += np.ma.filled(columns[name], 0)
    at = _leading(cycles, memory, top)
    rows = np.zeros(at.shape[0], dtype=np.int64)
    for column, (_, values) in zip(tunables, found.domains, strict=True):
        rows = rows * len(values) + np.ma.getdata(columns[column])[at]
    start = 0
    for batch in evaluated(problem, found, rows):
        here = at[start : start + len(batch)]
        start += len(batch)
        _compare(run, batch, cycles[here])
        tally.leaders.add(numbers[here], batch)
    return tally


def _leading(cycles: Ints, memory: Ints, top: int) -> Ints:
    """Positions (of ok configurations) of all that may be among the top (with everything as fast as the last
    of them) or on the front."""
    ok = np.flatnonzero(cycles >= 0)
    if not ok.shape[0]:
        return ok
    times, sizes = cycles[ok], memory[ok]
    last = np.partition(times, min(top, ok.shape[0]) - 1)[min(top, ok.shape[0]) - 1]
    edge = front(times, sizes)
    smallest = dict(zip(times[edge].tolist(), sizes[edge].tolist(), strict=True))
    at_edge = np.isin(times, times[edge])
    at_edge[at_edge] = [smallest[t] == s for t, s in zip(times[at_edge].tolist(), sizes[at_edge].tolist(), strict=True)]
    leading: Ints = ok[(times <= last) | at_edge]
    return leading


def _compare(run: Run, batch: Batch, stored_cycles: Ints) -> None:
    e = batch.evaluation
    if not (np.array_equal(e.cycles, stored_cycles) and bool((e.verdict == verdicts.OK).all())):
        raise OutdatedError(
            f"run {run.id} ({run.name}) has other times than this pto-tune predicts for the same "
            "configurations: tune again"
        )
