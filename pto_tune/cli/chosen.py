"""Which configurations an export takes: of runs of the store, or of JSON files that were exported before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pto_tune.cli import stored
from pto_tune.cli.errors import CheckFailed

if TYPE_CHECKING:
    from db import Run, Store
    from pto_tune.exporters.recommendation import Recommendation
    from pto_tune.model.nodes import Workload


@dataclass(frozen=True)
class Pick:
    """What is taken of each run: a row, the Pareto front, or the best; or, of all runs together, what is `robust`.

    `platform` is a platform instead of the runs' own, `exported` a day that the files name, `samples` how many of the
    platform's numbers `robust` looks over (None: as `chosen_robust` says).
    """

    row: int | None = None
    best: bool = False
    pareto: bool = False
    platform: str | None = None
    exported: str | None = None
    robust: bool = False
    samples: int | None = None

    def check(self) -> None:
        """ValueError where two of them are given, or samples for none."""
        given = {
            "--row": self.row is not None, "--best": self.best, "--pareto": self.pareto, "--robust": self.robust,
        }  # fmt: skip
        named = [name for name, is_given in given.items() if is_given]
        if len(named) > 1:
            raise ValueError(f"{' and '.join(named)} exclude each other: give one of them")
        if self.samples is not None and not self.robust:
            raise ValueError("--samples is of --robust: give both or neither")


def is_file(ref: str) -> bool:
    """Whether a RUN is a JSON file and no run of the store."""
    return ref.lower().endswith(".json")


def recommendations(refs: Sequence[str], pick: Pick, db: str | None) -> list[Recommendation]:
    """The configurations of all runs and files, in their order. The store is opened only where a run is asked for.

    CheckFailed: one cannot be exported. ValueError: there is no such run or row, or options do not fit.
    """
    pick.check()
    of_runs: dict[str, list[Recommendation]] = {}
    runs = [ref for ref in dict.fromkeys(refs) if not is_file(ref)]
    if runs:
        from db import open_store

        with open_store(db, create=False) as store:
            if pick.robust:
                from pto_tune.cli.chosen_robust import recommendations as robust

                if len(runs) < len(dict.fromkeys(refs)):
                    raise ValueError("--robust needs runs of the store, and a JSON file is none")
                return robust(store, runs, pick)
            of_runs = {ref: _of_run(store, store.find_run(ref), pick) for ref in runs}
    return [rec for ref in refs for rec in (_of_file(ref, pick) if is_file(ref) else of_runs[ref])]


def _of_file(ref: str, pick: Pick) -> list[Recommendation]:
    """Recommendations as they stand in a file; nothing is evaluated."""
    from pto_tune.exporters.document import read_document

    for option, given in (("--pareto", pick.pareto), ("--robust", pick.robust)):
        if given:
            raise ValueError(
                f"{option} needs a run of the store, and {ref} is a file: without it all of the file is taken"
            )
    if pick.platform is not None:
        raise ValueError(f"--platform needs a run of the store: what {ref} predicts is of its own platform")
    found = [rec for rec in read_document(Path(ref)) if pick.row in (None, rec.row)]
    if not found:
        raise ValueError(f"{ref} has no configuration of row {pick.row}")
    return [replace(rec, exported=pick.exported) for rec in found[: 1 if pick.best else None]]


def _of_run(store: Store, run: Run, pick: Pick) -> list[Recommendation]:
    if pick.pareto:
        return [recommendation(run, entry, pick) for entry in _front(store, run)]
    entry = stored.entry_of(store, run, pick.row)
    try:
        return [recommendation(run, entry, pick)]
    except CheckFailed as refused:
        instead = _instead(store, run) if pick.row is None else ""
        raise CheckFailed(f"{refused}{instead}") from None


def recommendation(run: Run, entry: dict[str, Any], pick: Pick) -> Recommendation:
    """One stored configuration, predicted again: the numbers of the platform may have been replaced.

    CheckFailed: it cannot be exported, with the reason.
    """
    from pto_tune import api

    if entry["verdict"] != "ok":
        rule = f" (rule {entry['rule']})" if entry["rule"] else ""
        raise CheckFailed(
            f"row {entry['row']} of run {run.name!r} is not exported, its verdict is "
            f"{entry['verdict']!r}{rule}: choose a row that 'pto-tune show' lists"
        )
    platform = stored.platform_of(run, pick.platform)
    model, revision = stored.workload_of(run), stored.revision_of(run, platform)
    configuration = entry["configuration"]
    (record,) = api.evaluate_records(
        model, configuration, platform=platform, pto_isa=revision, timing=run.timing, accounts=False
    )
    if not record["exportable"]:
        why = ": ".join(filter(None, (record["not_exportable_because"], record["reason"])))
        raise CheckFailed(f"row {entry['row']} of run {run.name!r} is not exported: {why}")
    made = api.recommendation(model, configuration, platform, revision, run.timing, run=run.name, row=entry["row"])
    return replace(made, exported=pick.exported)


def _front(store: Store, run: Run) -> list[dict[str, Any]]:
    """The entries of the Pareto front of time and on-chip memory of what can be built, fastest first.

    CheckFailed where there is none.
    """
    from pto_tune.search.pareto import front

    rows, cycles, memory = buildable(store, run)
    if not rows.size:
        raise CheckFailed(f"run {run.name!r} has no configuration that can be exported")
    return [stored.entry_of(store, run, int(row)) for row in rows[front(cycles, memory)]]


def _instead(store: Store, run: Run) -> str:
    """Which row of a run would do where its best does not."""
    import numpy as np

    rows, cycles, memory = buildable(store, run)
    if not rows.size:
        return ""
    first = np.lexsort((rows, memory, cycles))[0]
    least = run.best_cycles or int(cycles[first])
    slower = f"{(int(cycles[first]) / least - 1) * 100:.2g} % slower" if least < cycles[first] else "as fast"
    return f"; the fastest that can be is --row {int(rows[first])} ({slower})"


def buildable(store: Store, run: Run) -> tuple[Any, Any, Any]:
    """Rows, cycles and on-chip bytes of the configurations with verdict ok whose pipes can carry their SyncPeriod."""
    import numpy as np

    from pto_tune.exporters import recommending
    from pto_tune.rule_sets import rule_set_for, rule_sets

    ok = run.verdicts.index("ok") if "ok" in run.verdicts else 0
    names = ["row", "cycles", *stored.ON_CHIP, *(f"t{i}" for i in range(len(run.tunables)))]
    columns = store.configurations(run.id, columns=names, where_verdict=ok)
    model, n = stored.workload_of(run), int(columns["row"].shape[0])
    family = next(f for f in ("a2a3", "a5") if run.rule_set in {r.name for r in rule_sets(f)})
    keep = recommending.buildable(model, rule_set_for(family, run.rule_set), _table(run, columns, model, n), n)
    memory = sum(np.ma.filled(columns[name], 0) for name in stored.ON_CHIP)
    cycles = np.ma.filled(columns["cycles"], np.iinfo(np.int64).max)
    rows = np.ma.filled(columns["row"], -1)
    return rows[keep], cycles[keep], (memory + np.zeros(n, np.int64))[keep]


def _table(run: Run, columns: dict[str, Any], model: Workload, n: int) -> dict[str, Any]:
    """Columns of problem sizes and tunables of stored rows."""
    import numpy as np

    from pto_tune.table import parameter, parse_value

    def code(name: str, value: int | str) -> int:
        return parse_value(parameter(model, name), value) if isinstance(value, str) else int(value)

    out: dict[str, Any] = {name: np.full(n, code(name, value), np.int64) for name, value in run.problem.items()}
    for i, tunable in enumerate(run.tunables):
        domain = np.array([code(tunable["name"], value) for value in tunable["domain"]], np.int64)
        out[tunable["name"]] = domain[np.ma.filled(columns[f"t{i}"], 0)]
    return out
