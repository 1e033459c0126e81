"""A journal file of Optuna with the best configurations of a run, for optuna-dashboard and Optuna's own analyses.

The lines are those that `JournalStorage` would write for a study to which finished trials are added one by one
(optuna/storages/journal/_storage.py of Optuna 5), written at once: Optuna itself locks, appends and reads back at each
trial. A trial is a configuration that is legal and safe, the fastest first. Its values are the time in microseconds
and, of a run that searched for both, the on-chip bytes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pto_tune.exporters.checks import ExportError
from pto_tune.exporters.writing import ZEROS, signed_inside, write_text

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution

    from db import Run, Store

MOST = 100_000
"""Most trials of a file: Optuna reads 4,000 to 12,000 a second (two cores, Optuna 5.0), and holds all of them."""

METRICS = ["time (us)", "on-chip memory (bytes)"]

_CREATE_STUDY, _SET_STUDY_USER_ATTR, _SET_STUDY_SYSTEM_ATTR, _CREATE_TRIAL = 0, 2, 3, 4
_MINIMIZE, _COMPLETE = 1, 1
_WORKER = "pto-tune"
_ON_CHIP = ("ub", "l1", "l0a", "l0b", "l0c")
_COLUMNS = ("row", "verdict", "cycles", "bound", "gm_ring", *_ON_CHIP)


def write_run(store: Store, run: Run, path: Path, top: int, force: bool) -> str:
    """Write the best `top` configurations of a run; returns a line that says what was written.

    Raises:
        ExportError: no legal configuration, too many wanted; a file is there that is not ours or was changed since,
            unless `force`; a folder that cannot be written to.
    """
    if not 1 <= top <= MOST:
        raise ExportError(
            f"{top:,} configurations are too many for a journal of Optuna: at most {MOST:,} would be right"
        )
    text, n = journal(store, run, top)
    write_text(path, text, force, "journal")
    return f"wrote {path} (the best {n:,} of run {run.id}, study {run.name!r})"


def journal(store: Store, run: Run, top: int) -> tuple[str, int]:
    """The text of the file, the same bytes for the same run, and how many trials it has."""
    places = {f"t{i}": tunable for i, tunable in enumerate(run.tunables)}
    ok = run.verdicts.index("ok") if "ok" in run.verdicts else 0
    columns = store.configurations(
        run.id, columns=[*_COLUMNS, *places], where_verdict=ok, order_by_cycles=True, limit=top
    )
    n = len(columns["row"])
    if not n:
        raise ExportError(f"run {run.name!r} has no legal configuration: another run would be right")
    lines = [*_study(run), *_trials(run, columns, n)]
    return signed_inside("".join(f"{json.dumps(line)}\n" for line in lines)), n


def distributions(run: Run) -> dict[str, BaseDistribution]:
    """The domain of each tunable that has more than one value: a range of integers where that is all it is, else the
    values themselves."""
    from optuna.distributions import CategoricalDistribution, IntDistribution

    found: dict[str, BaseDistribution] = {}
    for tunable in run.tunables:
        domain = tunable["domain"]
        if len(domain) > 1:
            numbers = [value for value in domain if isinstance(value, int)]
            step = numbers[1] - numbers[0] if len(numbers) > 1 else 0
            evenly = step > 0 and domain == list(range(numbers[0], numbers[-1] + 1, step))
            found[tunable["name"]] = (
                IntDistribution(numbers[0], numbers[-1], step=step) if evenly else CategoricalDistribution(domain)
            )
    return found


def _study(run: Run) -> Iterator[dict[str, Any]]:
    """The study with what is the same for all trials."""
    directions = [_MINIMIZE] * len(_values(run, 0, 0))
    yield {"op_code": _CREATE_STUDY, "worker_id": _WORKER, "study_name": run.name, "directions": directions}
    attributes = {
        "run": run.id,
        "workload": run.workload,
        "problem": run.problem,
        "fixed": {t["name"]: t["domain"][0] for t in run.tunables if len(t["domain"]) == 1},
        "platform": run.platform,
        "platform_sha256": run.platform_sha256,
        "rule_set": run.rule_set,
        "timing": run.timing,
        "versions": run.versions,
        "content_sha256": ZEROS,
    }
    for name, value in attributes.items():
        yield {"op_code": _SET_STUDY_USER_ATTR, "worker_id": _WORKER, "study_id": 0, "user_attr": {name: value}}
    names = {"study:metric_names": METRICS[: len(directions)]}
    yield {"op_code": _SET_STUDY_SYSTEM_ATTR, "worker_id": _WORKER, "study_id": 0, "system_attr": names}


def _values(run: Run, time_us: float, on_chip: int) -> list[float]:
    return [time_us, float(on_chip)] if "memory" in run.objectives else [time_us]


def _trials(run: Run, columns: dict[str, Any], n: int) -> Iterator[dict[str, Any]]:
    """A finished trial a configuration; their times of day are the run's own."""
    import numpy as np
    from optuna.distributions import distribution_to_json

    domains = {tunable["name"]: tunable["domain"] for tunable in run.tunables}
    places = {tunable["name"]: f"t{i}" for i, tunable in enumerate(run.tunables)}
    of = distributions(run)
    as_text = {name: distribution_to_json(distribution) for name, distribution in of.items()}
    inside = {name: [d.to_internal_repr(value) for value in domains[name]] for name, d in of.items()}
    numbers = {name: np.ma.filled(column, -1).tolist() for name, column in columns.items()}
    ended = run.finished_at or run.heartbeat_at
    for i in range(n):
        on_chip = sum(max(numbers[name][i], 0) for name in _ON_CHIP)
        values = _values(run, numbers["cycles"][i] / run.clock_mhz + run.launch_us, on_chip)
        bound = numbers["bound"][i]
        yield {
            "op_code": _CREATE_TRIAL,
            "worker_id": _WORKER,
            "study_id": 0,
            "datetime_start": run.created_at.isoformat(timespec="microseconds"),
            "state": _COMPLETE,
            "value": values[0] if len(values) == 1 else None,
            "values": None if len(values) == 1 else values,
            "datetime_complete": ended.isoformat(timespec="microseconds"),
            "distributions": as_text,
            "params": {name: inside[name][numbers[places[name]][i]] for name in of},
            "user_attrs": {
                "row": numbers["row"][i],
                "verdict": run.verdicts[numbers["verdict"][i]],
                "cycles": numbers["cycles"][i],
                "bound": run.pipes[bound] if bound >= 0 else None,
                "on_chip_bytes": on_chip,
                "gm_ring_bytes": max(numbers["gm_ring"][i], 0),
            },
            "system_attrs": {},
            "intermediate_values": {},
        }
