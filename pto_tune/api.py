"""The public functions: build or pick a workload, choose a platform, evaluate, tune, explain, export.

Example
    import pto_tune
    table = pto_tune.evaluate("flash_attention", {"fifo_depth": [2, 4, 8], "s1": 8192}, platform="ascend910b2")
    best = pto_tune.tune("flash_attention", problem={"s0": 4096, "s1": 4096}).best
    print(pto_tune.explain("flash_attention", best["configuration"]).summary())
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cost_models import load_platform, platform_names
from cost_models.platform import Platform
from pto_tune import __version__
from pto_tune.evaluation import Evaluation, Problem, evaluate_columns
from pto_tune.executor.accounts import Accounts, accounts
from pto_tune.exporters.pipe_checks import GATED
from pto_tune.exporters.recommendation import Recommendation
from pto_tune.exporters.recommending import (
    assumed_numbers,
    configuration_warnings,
    family_of,
    periods_of_their_own,
    pipe_recommendations,
    row_environment,
)
from pto_tune.model.nodes import Workload
from pto_tune.table import label, parameter
from pto_tune.tuning import TuneResult, tune
from pto_tune.uncertainty.intervals import quick_interval
from pto_tune.verdicts import OK, VERDICTS
from pto_tune.workloads import default_platform, workload_names
from pto_tune.workloads import workload as built_in
from pto_tune.workloads.files import load_workload, looks_like_path

if TYPE_CHECKING:
    import pandas as pd

    from pto_tune.explaining.explanation import Explanation

__all__ = [
    "TuneResult",
    "evaluate",
    "evaluate_records",
    "explain",
    "export",
    "load_platform",
    "platform_names",
    "problem_of",
    "recommendation",
    "tune",
    "workload",
    "workload_names",
]

ACCOUNT_LIMIT = 4096
"""Rows up to which `evaluate` adds waits unless told otherwise."""

Table = Any  # a DataFrame, a mapping of columns, or a sequence of configurations


def workload(name: str | Workload | Path) -> Workload:
    """A built-in workload by name, or one from a file by its path (with a separator, or ending in .json or .pto): JSON
    or a PTOAS kernel."""
    if isinstance(name, Workload):
        return name
    if isinstance(name, Path) or looks_like_path(name):
        return load_workload(name)
    return built_in(name)


def problem_of(
    work: str | Workload | Path,
    platform: str | Platform | None = None,
    pto_isa: str | None = None,
    timing: str = "task",
) -> Problem:
    """Workload, platform and rule set together: what stays the same for every table. platform None: ascend950pr for a
    workload of family a5, else ascend910b2."""
    model = workload(work)
    p = platform if isinstance(platform, Platform) else load_platform(platform or default_platform(model))
    return Problem.of(model, p, pto_isa, timing)


def _columns(table: Table) -> dict[str, Any]:
    """Columns of a DataFrame, a mapping, or a list of configurations."""
    if table is None:
        return {}
    if hasattr(table, "columns") and hasattr(table, "to_dict"):
        return {str(c): table[c].to_numpy() for c in table.columns}
    if isinstance(table, Mapping):
        return dict(table)
    rows = list(table)
    names = list(dict.fromkeys(n for r in rows for n in r))
    missing = [n for n in names if any(n not in r for r in rows)]
    if missing:
        raise ValueError(f"every configuration needs the same names: {', '.join(missing)} are not in all of them")
    return {n: np.array([r[n] for r in rows], dtype=object) for n in names}


def evaluate(
    work: str | Workload | Path,
    table: Table = None,
    *,
    platform: str | Platform | None = None,
    pto_isa: str | None = None,
    timing: str = "task",
    accounts: bool | None = None,
) -> pd.DataFrame:
    """Predict a table of configurations; one row in, one row out.

    table: a DataFrame, a mapping of columns (single values allowed) or a list of configurations, over problem sizes and
    tunables; what is left out takes its default. timing: task, event, sync or device. accounts: whether to add waiting
    by channel (default: up to 4,096 rows).

    Columns out: problem sizes and tunables; `verdict`, `rule`, `reason`, `rule_set`, `engine`, `cycles`, `time_us`,
    `bound`, `stretch`, `cube_utilisation`, `vector_utilisation`, `exportable`; `busy.<pipe>`, `waits.<channel>` (cycles
    of the core group that ends last); `bytes.<memory>`. Cycles and times are missing where a configuration is refused
    or hangs. ValueError lists unknown names and values out of range.
    """
    import pandas as pd

    problem = problem_of(work, platform, pto_isa, timing)
    e = evaluate_columns(problem, _columns(table))
    n = len(e)
    out: dict[str, Any] = {}
    for name, column in e.table.items():
        p = parameter(problem.workload, name)
        out[name] = [label(p, int(v)) for v in column] if p.labels else column
    out["verdict"] = [VERDICTS[v] for v in e.verdict]
    out["rule"] = [e.rules[r] if r >= 0 else "" for r in e.rule]
    out["reason"] = [e.reason(i) for i in range(n)]
    out["rule_set"] = problem.rule_set.name
    out["engine"] = problem.engine
    out["cycles"] = pd.array(np.where(e.timed, e.cycles, 0), dtype="Int64")
    out["cycles"][~e.timed] = pd.NA
    out["time_us"] = e.time_us
    out["bound"] = e.bound_names()
    out["stretch"] = e.stretch
    out["cube_utilisation"] = e.utilisation("M")
    out["vector_utilisation"] = e.utilisation("V")
    out["exportable"] = e.derived_period & (e.verdict == OK)
    for i, pipe in enumerate(problem.code.pipes):
        out[f"busy.{pipe}"] = e.busy[:, i]
    if accounts if accounts is not None else n <= ACCOUNT_LIMIT:
        found = _accounts(e)
        for name in problem.code.wait_names:
            out[f"waits.{name}"] = [0 if a is None else a.waits.get(name, 0) for a in found]
    for memory, column in e.bytes.items():
        out[f"bytes.{memory}"] = column
    return pd.DataFrame(out)


def _accounts(e: Evaluation) -> list[Accounts | None]:
    """Accounts of every row that has times."""
    out: list[Accounts | None] = [None] * len(e)
    rows = np.flatnonzero(e.timed)
    for row in rows if e.runs else ():
        from pto_tune.ranks.evaluating import accounts_of

        out[int(row)] = accounts_of(e.problem.code, e.runs[int(e.run_row[row])])
    if rows.shape[0] and e.execution is not None:
        found = accounts(e.problem.code, e.problem.platform, e.execution, e.run_row[rows].tolist())
        for row, a in zip(rows, found, strict=True):
            out[int(row)] = a
    return out


def not_exportable_because(e: Evaluation, row: int) -> str:
    """Why no header can carry the row's configuration; "" where one can."""
    if e.verdict[row] != OK:
        return f"only configurations with verdict ok are exported, and this one is {VERDICTS[e.verdict[row]]}"
    if e.derived_period[row]:
        return ""
    workload, rule_set = e.problem.workload, e.problem.rule_set
    env = row_environment(workload, {n: int(c[row]) for n, c in e.table.items()})
    own = [
        f"{name}: SyncPeriod {period} with FifoDepth {depth}, where a TPipe derives {derived}"
        for name, period, depth, derived in periods_of_their_own(workload, rule_set, env)
    ]
    return f"only a gated TMPipe can carry a SyncPeriod of its own ({'; '.join(own)}): {GATED}" if own else ""


def evaluate_records(
    work: str | Workload | Path,
    table: Table = None,
    *,
    platform: str | Platform | None = None,
    pto_isa: str | None = None,
    timing: str = "task",
    accounts: bool = True,
) -> list[dict[str, Any]]:
    """As `evaluate`, as plain data: one dictionary a configuration, ready for JSON."""
    problem = problem_of(work, platform, pto_isa, timing)
    e = evaluate_columns(problem, _columns(table))
    found = _accounts(e) if accounts else [None] * len(e)
    bounds = e.bound_names()
    time_us = e.time_us
    out = []
    for i in range(len(e)):
        timed = bool(e.timed[i])
        why = not_exportable_because(e, i)
        account = found[i]
        out.append(
            {
                "configuration": {n: label(parameter(problem.workload, n), int(c[i])) for n, c in e.table.items()},
                "verdict": VERDICTS[e.verdict[i]],
                "reason": e.reason(i),
                "also": e.also(i),
                "warnings": e.warnings(i),
                "rule_set": problem.rule_set.name,
                "engine": problem.engine,
                "timing": timing,
                "cycles": int(e.cycles[i]) if timed else None,
                "time_us": float(time_us[i]) if timed else None,
                "bound": bounds[i],
                "stretch": float(e.stretch[i]),
                "busy": {p: int(v) for p, v in zip(problem.code.pipes, e.busy[i], strict=True)} if timed else {},
                "waits": account.waits if account is not None else {},
                "bytes": {m: int(c[i]) for m, c in e.bytes.items()},
                "exportable": not why,
                "not_exportable_because": why,
            }
        )
    return out


def explain(
    work: str | Workload | Path,
    configuration: Mapping[str, int | str] | None = None,
    platform: str | Platform | None = None,
    pto_isa: str | None = None,
    timing: str = "task",
) -> Explanation:
    """Why a configuration takes as long as it does: `.summary()`, `.timeline()`, `.write_trace(path)`."""
    from pto_tune.explaining.explanation import explain_configuration

    return explain_configuration(problem_of(work, platform, pto_isa, timing), configuration or {})


def recommendation(
    work: str | Workload | Path,
    configuration: Mapping[str, int | str],
    platform: str | Platform | None = None,
    pto_isa: str | None = None,
    timing: str = "task",
    run: str | None = None,
    row: int | None = None,
) -> Recommendation:
    """What an exporter needs for one configuration. ValueError where it is not ok or no header can carry it."""
    problem = problem_of(work, platform, pto_isa, timing)
    e = evaluate_columns(problem, dict(configuration))
    why = not_exportable_because(e, 0)
    if why:
        raise ValueError(f"this configuration cannot be exported: {why}{': ' + e.reason(0) if e.reason(0) else ''}")
    w, rule_set = problem.workload, problem.rule_set
    env = row_environment(w, {n: int(c[0]) for n, c in e.table.items()})
    values = {n: label(parameter(w, n), int(c[0])) for n, c in e.table.items()}
    sizes = [p.name for p in w.problem]
    codes = {n: int(e.table[n][0]) for n, shown_as in values.items() if isinstance(shown_as, str)}
    shown = {n: v for n, v in values.items() if n not in sizes}
    interval, samples = quick_interval(e)
    pipe_names = {f.slot_num_name for f in w.fifos} | {f.sync_period_name for f in w.fifos} | {"split"}
    return Recommendation(
        workload=w.name,
        platform=problem.platform.name,
        soc=problem.platform.soc,
        family=family_of(rule_set),
        rule_set=rule_set.name,
        revisions=tuple(map(str, rule_set.revisions)),
        pto_isa=pto_isa,
        run=run,
        configuration=shown,
        problem={n: values[n] for n in sizes},
        constants={n: codes[n] if n in codes else int(v) for n, v in shown.items() if n not in pipe_names},
        pipes=pipe_recommendations(w, rule_set, env),
        predicted_us=float(e.time_us[0]),
        predicted_cycles=int(e.cycles[0]),
        timing=timing,
        versions={"pto-tune": __version__},
        platform_sha256=problem.platform.sha256,
        verdict=VERDICTS[e.verdict[0]],
        warnings=configuration_warnings(w, problem.platform, rule_set, env),
        interval_us=interval,
        samples=samples,
        row=row,
        codes=codes,
        assumed=assumed_numbers(e),
        source_sha256=w.source_sha256 or None,
    )


def export(
    work: str | Workload | Path,
    configuration: Mapping[str, int | str] | Sequence[Any],
    path: str | Path,
    *,
    platform: str | Platform | None = None,
    pto_isa: str | None = None,
    timing: str = "task",
    run: str | None = None,
    namespace: str = "pto_tune_config",
    force: bool = False,
    format: str = "header",
) -> Path:
    """Write a configuration for the kernel build, as a C++ header or in another format of `pto_tune.exporters.formats`;
    returns the path. Complete or not at all. ValueError says what cannot be exported, and what the format lacks."""
    from pto_tune.exporters.formats import Options, format_named, write

    if not isinstance(configuration, Mapping):
        raise TypeError("configuration: expected a mapping of problem sizes and tunables")
    rec = recommendation(work, configuration, platform, pto_isa, timing, run)
    return write(format_named(format), [rec], path, Options(namespace=namespace), force)
