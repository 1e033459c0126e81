"""A warm start: a sampled search looks first at what earlier runs of the same workload found best.

The runs may have other sizes, platforms or domains: a value that the new space does not have is replaced by the
nearest one that it has. Which configurations were taken is part of what decides the results, and stands with the
versions in the run: the same contents of a store give the same search, and it can be resumed when these have changed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pto_tune import verdicts
from pto_tune.search.strategies import Plan, SearchError
from pto_tune.table import TableError, parameter, parse_value

if TYPE_CHECKING:
    from db import Run, Store
    from pto_tune.evaluation import Problem
    from pto_tune.space import Space
    from pto_tune.spaces.legal import LegalSpace

Ints = NDArray[np.int64]

NONE, AUTO = "none", "auto"
MOST_RUNS = 8
"""Runs that "auto" takes from, the newest ones."""

FROM_EACH = 8
"""Best configurations of each run."""

MOST_ROWS = 32

WARM = "warm_start"
"""Name under which a run keeps what it started from, beside the versions that made it."""

_KEPT = re.compile(r"rows ([0-9]+(?:,[0-9]+)*) from runs ([0-9]+(?:,[0-9]+)*)")


def warmed(plan: Plan, store: Store, space: Space, legal: LegalSpace, wanted: str) -> tuple[Plan, dict[str, str]]:
    """The plan with rows to look at first, and what the run keeps of them.

    wanted: "auto", or the number or name of a run, or "latest". Of an exhaustive search, and where no run has anything
    to give, the plan stays as it is. SearchError where the run that is named is one of another workload; StoreError
    where there is no such run.
    """
    if plan.strategy == "exhaustive":
        return plan, {}
    workload = space.workload
    if wanted == AUTO:
        runs = sorted((r for r in store.runs() if r.workload == workload.name), key=lambda r: -r.id)[:MOST_RUNS]
    else:
        run = store.find_run(wanted)
        if run.workload != workload.name:
            raise SearchError(
                f"run {run.id} ({run.name}) is of the workload {run.workload!r}: start from one of {workload.name!r}"
            )
        runs = [run]
    found = [(run, _legal(_rows(store, run, space), legal)) for run in runs]
    ranks = zip_longest(*(rows for _, rows in found))  # the best of every run, then the second of every run, ...
    rows = tuple(dict.fromkeys(row for rank in ranks for row in rank if row is not None))[:MOST_ROWS]
    if not rows:
        return plan, {}
    sources = sorted({run.id for run, own in found if set(own) & set(rows)})
    kept = f"rows {','.join(map(str, rows))} from runs {','.join(map(str, sources))}"
    return replace(plan, warm=rows), {WARM: kept}


def taken_up(plan: Plan, store: Store, problem: Problem, space: Space, wanted: str) -> tuple[Plan, dict[str, str]]:
    """The plan with the rows of the newest run that asked for the same, so that this one answers or goes on, although
    the store has more runs by now; nothing where there is none."""
    from pto_tune.model.serial import to_json
    from pto_tune.search.spec import spec_sha256

    text = to_json(problem.workload)
    sources = None if wanted == AUTO else str(store.find_run(wanted).id)
    for run in sorted(store.runs(problem.workload.name, problem.platform.name), key=lambda r: -r.id):
        found = _KEPT.fullmatch(run.versions.get(WARM, ""))
        if found and sources in (None, found[2]):
            same = replace(plan, warm=rows_kept(run.versions))
            if spec_sha256(problem, space, same, text, run.versions) == run.spec_sha256:
                return same, {WARM: run.versions[WARM]}
    return plan, {}


def rows_kept(versions: Mapping[str, str]) -> tuple[int, ...]:
    """The rows that a run looked at first, from what it keeps; none where it started from nothing."""
    found = _KEPT.fullmatch(versions.get(WARM, ""))
    return tuple(map(int, found[1].split(","))) if found else ()


def sentence(versions: Mapping[str, str]) -> str:
    """What a run started from, as a person reads it; "" where it started from nothing."""
    found = _KEPT.fullmatch(versions.get(WARM, ""))
    if not found:
        return ""
    n, runs = found[1].count(",") + 1, found[2].replace(",", ", ")
    return f"started from {n} configuration{'s' if n > 1 else ''} of run{'s' if ',' in runs else ''} {runs}"


def _rows(store: Store, run: Run, space: Space) -> list[int]:
    """Rows of the space for the best configurations of a run, best first."""
    names = [t["name"] for t in run.tunables]
    places = [f"t{i}" for i in range(len(names))]
    columns = store.configurations(
        run.id, ["row", "cycles", *places], run.verdicts.index(verdicts.VERDICTS[verdicts.OK])
    )
    cycles: Ints = np.ma.filled(columns["cycles"], 2**62)
    best = np.lexsort((columns["row"], cycles))[:FROM_EACH]
    at = {name: np.ma.getdata(columns[place])[best] for name, place in zip(names, places, strict=True)}
    domains = {t["name"]: t["domain"] for t in run.tunables}
    out = []
    for i in range(best.shape[0]):
        given = {name: domains[name][int(index[i])] for name, index in at.items()}
        out.append(space.row_of({name: _nearest(space, name, values, given) for name, values in space.domains}))
    return list(dict.fromkeys(out))


def _nearest(space: Space, name: str, values: tuple[int, ...], given: Mapping[str, Any]) -> int:
    """Place of the value of a domain that is nearest to what another run had, the smaller of two; the default's where
    that run had no such tunable or value."""
    p = parameter(space.workload, name)
    value = given.get(name, p.default)
    try:
        number = parse_value(p, value) if isinstance(value, str) else int(value)
    except TableError:
        number = p.default
    return min(range(len(values)), key=lambda i: (abs(values[i] - number), values[i]))


def _legal(rows: list[int], legal: LegalSpace) -> list[int]:
    return [row for row, keep in zip(rows, legal.contains(np.array(rows, dtype=np.int64)), strict=True) if keep]
