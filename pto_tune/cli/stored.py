"""Rows of a stored run as the commands show them and go on with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pto_tune.cli.errors import CheckFailed

if TYPE_CHECKING:
    from cost_models.platform import Platform
    from db import Run, Store
    from pto_tune.model.nodes import Workload

    Entry = dict[str, Any]

SORTS = ("time", "memory", "row")
ON_CHIP = ("ub", "l1", "l0a", "l0b", "l0c")
_BYTES = {"ub": "UB", "l1": "L1", "l0a": "L0A", "l0b": "L0B", "l0c": "L0C", "gm_ring": "GM_ring",
          "gm_traffic": "GM_traffic"}  # fmt: skip
_COLUMNS = ("row", "verdict", "rule", "cycles", "bound", "stretch_milli", "busy_cube", "busy_vector", *_BYTES)


def best_entries(store: Store, run: Run, top: int, sort: str = "time") -> list[Entry]:
    """The best `top` configurations with verdict ok: fastest first, or least on-chip memory first, or by row.

    Equal ones are ordered by the other figure, then by row. ValueError for another order.
    """
    import numpy as np

    if sort not in SORTS:
        raise ValueError(f"--sort {sort!r} is no order: choose one of {', '.join(SORTS)}")
    columns = _read(store, run, where_verdict=run.verdicts.index("ok") if "ok" in run.verdicts else 0)
    memory = sum(np.ma.filled(columns[name], 0) for name in ON_CHIP)
    ring = np.ma.filled(columns["gm_ring"], 0)
    cycles = np.ma.filled(columns["cycles"], np.iinfo(np.int64).max)
    keys = {
        # Of equally fast ones, the run's own choice first: it can be exported where another may not.
        "time": (columns["row"], ring, memory, columns["row"] != run.best_row, cycles),
        "memory": (columns["row"], ring, cycles, memory),
        "row": (columns["row"],),
    }
    order = np.lexsort(keys[sort])[: max(top, 0)]
    return [_entry(run, columns, int(at)) for at in order]


def entry_of(store: Store, run: Run, row: int | None) -> Entry:
    """One configuration of a run: that of row `row`, or the best.

    CheckFailed where the run has no best configuration; ValueError where it has no such row.
    """
    import numpy as np

    wanted = run.best_row if row is None else row
    if wanted is None:
        unfinished = "" if run.state == "done" else f" (its state is {run.state!r})"
        raise CheckFailed(
            f"run {run.name!r} has no best configuration{unfinished}: choose one with --row, "
            "or another run of 'pto-tune runs list'"
        )
    columns = _read(store, run)
    at = np.flatnonzero(columns["row"] == wanted)
    if not at.size:
        have = f"0 to {int(columns['row'].max())}" if columns["row"].size else "none so far"
        raise ValueError(f"run {run.name!r} has no row {wanted}: its rows are {have}")
    return _entry(run, columns, int(at[0]))


def _read(store: Store, run: Run, where_verdict: int | None = None) -> dict[str, Any]:
    places = [f"t{i}" for i in range(len(run.tunables))]
    return store.configurations(run.id, columns=[*_COLUMNS, *places], where_verdict=where_verdict)


def _entry(run: Run, columns: dict[str, Any], at: int) -> Entry:
    import numpy as np

    def cell(name: str) -> int | None:
        value = columns[name][at]
        return None if np.ma.is_masked(value) else int(value)

    cycles, bound, rule = cell("cycles"), cell("bound"), cell("rule")
    configuration: dict[str, Any] = dict(run.problem)
    for i, tunable in enumerate(run.tunables):
        index = cell(f"t{i}")
        if index is not None:
            configuration[tunable["name"]] = tunable["domain"][index]
    return {
        "row": cell("row"),
        "configuration": configuration,
        "verdict": run.verdicts[cell("verdict") or 0],
        "rule": None if rule is None else run.rules[rule],
        "cycles": cycles,
        "time_us": None if cycles is None else cycles / run.clock_mhz + run.launch_us,
        "bound": None if bound is None else _bound(run.pipes[bound], cell("stretch_milli")),
        "cube_utilisation": _share(cell("busy_cube"), cycles),
        "vector_utilisation": _share(cell("busy_vector"), cycles),
        "bytes": {shown: cell(name) for name, shown in _BYTES.items()},
    }


def _share(busy: int | None, cycles: int | None) -> float | None:
    return None if busy is None or not cycles else busy / cycles


def _bound(name: str, stretch_milli: int | None) -> str:
    """A pipe by its name (`AIC.M`); a shared resource with the factor by which it stretches transfers."""
    from pto_tune.evaluation import bound_text

    return bound_text(name, (stretch_milli or 1000) / 1000)


def workload_of(run: Run) -> Workload:
    """The workload as the run has it, whatever is built in by now."""
    from pto_tune.model.serial import from_json

    return from_json(run.workload_json)


def platform_of(run: Run, given: str | None) -> Platform:
    """The platform of a run, or the one given instead.

    ValueError where the run's platform is not built in, or has other numbers by now, and none is given.
    """
    from cost_models.platform import load_platform, platform_names

    if given is not None:
        return load_platform(given)
    if run.platform not in platform_names():
        raise ValueError(
            f"run {run.name!r} was made with the platform {run.platform!r}, which is not built in: "
            "give its file with --platform FILE"
        )
    platform = load_platform(run.platform)
    if platform.sha256 != run.platform_sha256:
        raise ValueError(
            f"the numbers of platform {run.platform!r} are not those that run {run.name!r} was made with "
            f"(sha256 {platform.sha256[:12]} instead of {run.platform_sha256[:12]}): give --platform "
            f"{run.platform} to use today's, or --platform FILE to use others"
        )
    return platform


def revision_of(run: Run, platform: Platform) -> str | None:
    """What gives the run's rule set: its revision, None for the default, or the set's own name."""
    from pto_tune.rule_sets import rule_set_for

    if run.pto_isa is not None:
        return run.pto_isa
    return None if rule_set_for(platform.family).name == run.rule_set else run.rule_set
