"""`pto-tune export --robust`: the configuration of runs that loses least in the worst case.

Of one run: over samples of what the numbers of its platform may be. Of several runs of one workload: over the runs, as
they stand in the store, of the configurations that all of them hold and found ok. The regret of a configuration is its
time over the best time, less 1. Only what a file can carry is chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pto_tune.cli import chosen, stored
from pto_tune.cli.errors import CheckFailed

if TYPE_CHECKING:
    from db import Run, Store
    from pto_tune.cli.chosen import Pick
    from pto_tune.exporters.recommendation import Recommendation

SAMPLES = 64
"""Samples of a platform's numbers unless told otherwise."""
LOOKED_AT = 100
"""Configurations of least worst regret among which there has to be one that a file can carry."""


def recommendations(store: Store, refs: Sequence[str], pick: Pick) -> list[Recommendation]:
    """The configuration for each run, or once where its pipes and constants are the same in all of them.

    CheckFailed: there is none, or it cannot be exported. ValueError: runs or options that do not fit together.
    """
    runs = list({run.id: run for run in (store.find_run(ref) for ref in refs)}.values())
    if len(runs) == 1:
        return [_of_one(store, runs[0], pick)]
    if pick.samples:
        raise ValueError("--samples is of one run: several are themselves what --robust looks over")
    if pick.platform is not None:
        raise ValueError("--platform is of one run: several runs have their own")
    found = _of_several(store, runs, pick)
    return found[:1] if all(_carried(rec) == _carried(found[0]) for rec in found) else found


def _carried(rec: Recommendation) -> tuple[Any, ...]:
    """What a kernel is built with."""
    return rec.pipes, dict(rec.constants), rec.family, rec.rule_set


def _of_one(store: Store, run: Run, pick: Pick) -> Recommendation:
    from pto_tune import api
    from pto_tune.cli.progress import Bar
    from pto_tune.search.robust import robust_choice

    platform = stored.platform_of(run, pick.platform)
    model, revision = stored.workload_of(run), stored.revision_of(run, platform)
    samples = SAMPLES if pick.samples is None else pick.samples
    with Bar(f"sampling {run.name}", quiet=False):
        found = robust_choice(
            model,
            sizes=[run.problem],
            platforms=[platform],
            domains={t["name"]: t["domain"] for t in run.tunables},
            pto_isa=revision,
            timing=run.timing,
            samples=samples,
            top=LOOKED_AT,
        )
    if found.why_not:
        raise CheckFailed(f"run {run.name!r}: {found.why_not}")
    for good in found.found:
        values = {**run.problem, **good.values}
        (record,) = api.evaluate_records(
            model, values, platform=platform, pto_isa=revision, timing=run.timing, accounts=False
        )
        if record["exportable"]:
            made = api.recommendation(
                model, values, platform, revision, run.timing, run=run.name, row=_row(store, run, good.values)
            )
            over = f"over {samples} samples of the numbers of {platform.name}" if samples else f"on {platform.name}"
            said = f"least worst regret {over}: {_percent(good.worst)}, of {found.legal:,} configurations that are ok"
            return replace(made, chosen=said, exported=pick.exported)
    raise CheckFailed(
        f"run {run.name!r}: none of the {len(found.found)} configurations of least worst regret can be exported: a "
        "TPipe derives another SyncPeriod; a run without SyncPeriods of their own would be right"
    )


def _row(store: Store, run: Run, values: Any) -> int | None:
    """The row of a configuration in its run, None where the run does not hold it."""
    import numpy as np

    places = [f"t{i}" for i in range(len(run.tunables))]
    columns = store.configurations(run.id, columns=["row", *places])
    same = np.ones(columns["row"].shape[0], dtype=np.bool_)
    for place, tunable in zip(places, run.tunables, strict=True):
        same &= np.ma.filled(columns[place], -1) == list(tunable["domain"]).index(values[tunable["name"]])
    at = np.flatnonzero(same)
    return int(columns["row"][at[0]]) if at.size else None


def _of_several(store: Store, runs: Sequence[Run], pick: Pick) -> list[Recommendation]:
    import numpy as np

    from pto_tune.search.comparing import in_order

    _refuse_strangers(runs)
    domains = _shared_domains(runs)
    rows, cycles, keys = [], [], []
    for run in runs:
        own_rows, own_cycles, _ = chosen.buildable(store, run)
        key, held = _keys(store, run, own_rows, domains)
        rows.append(own_rows[held])
        cycles.append(own_cycles[held])
        keys.append(key[held])
    shared = keys[0]
    for key in keys[1:]:
        shared = np.intersect1d(shared, key)
    if not shared.size:
        raise CheckFailed(
            f"no configuration is ok, and can be exported, in all of {', '.join(run.name for run in runs)}: runs that "
            "look at the same values, and at all of them, would be right"
        )
    places = [np.argsort(key)[np.searchsorted(np.sort(key), shared)] for key in keys]
    regret = np.empty((shared.size, len(runs)))
    for j, run in enumerate(runs):
        times = cycles[j][places[j]] / run.clock_mhz + run.launch_us
        best = run.best_cycles if run.best_cycles is not None else int(cycles[j].min())
        regret[:, j] = times / (best / run.clock_mhz + run.launch_us) - 1.0
    first = int(in_order(regret)[0])
    listed = ", ".join(f"{_percent(r)} in {run.name}" for run, r in zip(runs, regret[first], strict=True))
    of = f"of {shared.size:,} configurations that are ok in all and can be exported"
    said = f"least worst regret over {len(runs)} runs: {listed}, {of}"
    found = []
    for j, run in enumerate(runs):
        entry = stored.entry_of(store, run, int(rows[j][places[j][first]]))
        found.append(replace(chosen.recommendation(run, entry, pick), chosen=said))
    return found


def _refuse_strangers(runs: Sequence[Run]) -> None:
    """ValueError where runs cannot be looked over together."""
    first = runs[0]
    for run in runs[1:]:
        if run.workload_json != first.workload_json:
            raise ValueError(
                f"--robust: runs {first.name!r} and {run.name!r} are not of one workload: runs of one would be right"
            )
        if run.timing != first.timing:
            raise ValueError(
                f"--robust: runs {first.name!r} and {run.name!r} have the timings {first.timing} and {run.timing}: "
                "runs of one would be right"
            )


def _shared_domains(runs: Sequence[Run]) -> dict[str, list[Any]]:
    """Values of each tunable that all runs look at. ValueError where there is none."""
    first = {t["name"]: list(t["domain"]) for t in runs[0].tunables}
    for run in runs[1:]:
        own = {t["name"]: t["domain"] for t in run.tunables}
        first = {name: [v for v in domain if v in own.get(name, ())] for name, domain in first.items()}
    none = [name for name, domain in first.items() if not domain]
    if none:
        raise ValueError(f"--robust: the runs have no value of {', '.join(none)} in common")
    return first


def _keys(store: Store, run: Run, rows: Any, domains: dict[str, list[Any]]) -> tuple[Any, Any]:
    """One number for the values of each of these rows, the same in every run, and which rows have shared values."""
    import numpy as np

    places = {t["name"]: f"t{i}" for i, t in enumerate(run.tunables)}
    columns = store.configurations(run.id, columns=["row", *places.values()])
    every = np.ma.filled(columns["row"], -1)
    order = np.argsort(every)
    at = order[np.searchsorted(every[order], rows)]
    key, held = np.zeros(rows.shape[0], dtype=np.int64), np.ones(rows.shape[0], dtype=np.bool_)
    for tunable in run.tunables:
        name, shared = tunable["name"], domains[tunable["name"]]
        number = np.array([shared.index(v) if v in shared else -1 for v in tunable["domain"]], dtype=np.int64)
        own = number[np.ma.filled(columns[places[name]], 0)[at]]
        held &= own >= 0
        key = key * len(shared) + np.maximum(own, 0)
    return key, held


def _percent(regret: float) -> str:
    return f"+{100 * regret:.1f} %"
