"""How a configuration that was read back ranks today: its verdict, its time, and its place among the others.

"Others" are the configurations of the workload's default domains at the file's problem sizes, with the file's own
values added to them. Where they are too many, a sample of them stands for all, and the answer says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from pto_tune.exporters.checks import ExportError
from pto_tune.exporters.flat import flat
from pto_tune.exporters.names import constant_name, pipe_prefix
from pto_tune.exporters.reading import ReadBack
from pto_tune.table import TableError, label, parameter, parse_value
from pto_tune.verdicts import OK, VERDICTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from cost_models.platform import Platform
    from pto_tune.evaluation import Problem
    from pto_tune.exporters.recommendation import Recommendation
    from pto_tune.model.nodes import Workload

MOST = 100_000
"""Configurations that are evaluated unless told otherwise."""
CHUNK = 4096


@dataclass(frozen=True)
class Ranking:
    """The answer.

    Attributes:
        configuration: problem sizes and tunables, those that were changed by hand as they are now.
        verdict, reason: today's; `time_us` today's time, None where there is none; `then_us` that of the file.
        faster: configurations with verdict ok that take less time, of `legal` with that verdict among `looked_at` of
            `candidates`; `sampled` where these are not all.
        best, best_us: the fastest of them, None where none is ok.
        differs: constants of the file that are not those of its tunables, as sentences.
        changes: what is not as it was when the file was written, as sentences.
    """

    where: str
    workload: str
    platform: str
    rule_set: str
    timing: str
    run: str | None
    configuration: Mapping[str, int | str]
    verdict: str
    reason: str
    time_us: float | None
    then_us: float
    faster: int
    legal: int
    looked_at: int
    candidates: int
    sampled: bool
    best: Mapping[str, int | str] | None
    best_us: float | None
    differs: tuple[str, ...] = ()
    changes: tuple[str, ...] = field(default=())

    @property
    def place(self) -> int | None:
        """1 for the fastest; None where the configuration is not ok."""
        return self.faster + 1 if self.verdict == "ok" else None

    @property
    def slower_by(self) -> float | None:
        """How much longer than the fastest it takes, 0.05 for 5 %; below 0 where a sample has none as fast."""
        if self.verdict != "ok" or self.time_us is None or not self.best_us:
            return None
        return self.time_us / self.best_us - 1

    def as_plain(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "place": self.place, "slower_by": self.slower_by}


def rank(
    read: ReadBack,
    workload: Workload,
    platform: Platform,
    most: int = MOST,
    seed: int = 0,
    progress: Callable[[int, int], object] | None = None,
) -> Ranking:
    """Rank one configuration.

    workload, platform: those of today under the names of the file. most: configurations to evaluate at most.
    progress: called with how many are done, of how many.

    ExportError: a value that the workload does not know, or constants that no configuration of it has.
    """
    from pto_tune.evaluation import Problem, evaluate_columns
    from pto_tune.space import space

    values = _values(read, workload)
    rule_set = read.pto_isa if read.pto_isa is not None else read.rule_set
    problem = Problem.of(workload, platform, rule_set, read.timing)
    values, differs = _as_changed(read, workload, platform, rule_set, values)
    e = evaluate_columns(problem, {name: np.array([value]) for name, value in values.items()})
    sizes = {p.name for p in workload.problem}
    domains = {
        t.name: (*t.domain, *(() if values[t.name] in t.domain else (values[t.name],))) for t in workload.tunables
    }
    found = space(workload, {n: values[n] for n in sizes}, domains)
    faster, legal, best_row, best_cycles, looked_at = _others(problem, found, int(e.cycles[0]), most, seed, progress)
    verdict = VERDICTS[e.verdict[0]]
    time_us = float(e.time_us[0]) if e.timed[0] else None
    best = None
    if best_row is not None:
        table = found.table(np.array([best_row]))
        best = {name: label(parameter(workload, name), int(column[0])) for name, column in table.items()}
    return Ranking(
        where=read.where,
        workload=read.workload,
        platform=read.platform,
        rule_set=problem.rule_set.name,
        timing=read.timing,
        run=read.run,
        configuration={n: label(parameter(workload, n), v) for n, v in values.items()},
        verdict=verdict,
        reason=e.reason(0),
        time_us=time_us,
        then_us=read.predicted_us,
        faster=faster,
        legal=legal,
        looked_at=looked_at,
        candidates=found.size,
        sampled=looked_at < found.size,
        best=best,
        best_us=None if best_cycles is None else best_cycles / problem.clock_mhz + problem.launch_us,
        differs=tuple(differs),
        changes=tuple(_changes(read, platform, problem)),
    )


def _others(
    problem: Problem,
    found: Any,
    cycles: int,
    most: int,
    seed: int,
    progress: Callable[[int, int], object] | None,
) -> tuple[int, int, int | None, int | None, int]:
    """Of the rows of a space: how many are faster and how many ok, the fastest with its cycles, how many were seen."""
    from pto_tune.evaluation import evaluate_columns

    n = min(found.size, most)
    rows = np.arange(n, dtype=np.int64) if n == found.size else _sample(found.size, n, seed)
    faster = legal = 0
    best: tuple[int, int] | None = None
    for start in range(0, n, CHUNK):
        part = rows[start : start + CHUNK]
        e = evaluate_columns(problem, found.table(part))
        at = np.flatnonzero(e.verdict == OK)
        legal += int(at.size)
        faster += int((e.cycles[at] < cycles).sum())
        if at.size:
            first = at[np.argmin(e.cycles[at])]
            own = (int(e.cycles[first]), int(part[first]))
            best = own if best is None else min(best, own)
        if progress is not None:
            progress(min(start + CHUNK, n), n)
    return faster, legal, None if best is None else best[1], None if best is None else best[0], n


def _sample(size: int, n: int, seed: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """n different rows of `size`, in order."""
    rng = np.random.default_rng(seed)
    rows = np.unique(rng.integers(0, size, 2 * n))
    while rows.shape[0] < n:
        rows = np.unique(np.concatenate([rows, rng.integers(0, size, n)]))
    return np.sort(rng.permutation(rows)[:n])


def _values(read: ReadBack, workload: Workload) -> dict[str, int]:
    """Numbers of all problem sizes and tunables; ExportError where the file's are not those of the workload."""
    given = {**read.problem, **read.tunables}
    own = workload.parameter_names()
    wrong = [
        f"{read.where}: {n} is no problem size or tunable of today's {workload.name}" for n in given if n not in own
    ]
    out: dict[str, int] = {}
    for name in own:
        p = parameter(workload, name)
        if name not in given:
            out[name] = p.default  # one that the workload got since; see `_changes`
            continue
        try:
            out[name] = parse_value(p, given[name])
        except TableError as error:
            wrong.append(f"{read.where}: {error}")
            continue
        if not p.minimum <= out[name] <= p.maximum:
            wrong.append(f"{read.where}: {name} = {out[name]} is out of range: expected {p.minimum} to {p.maximum}")
    if wrong:
        raise ExportError("\n".join(wrong))
    return out


def _as_changed(
    read: ReadBack, workload: Workload, platform: Platform, rule_set: str, values: dict[str, int]
) -> tuple[dict[str, int], list[str]]:
    """Values as the constants of the file have them, where somebody changed those, and what was changed.

    ExportError: no values of the tunables give these constants.
    """
    differs = list(_differences(read, _constants(workload, platform, rule_set, values)))
    if not differs:
        return values, []
    changed = dict(values)
    sayings = [f"{name} is {now}, and {was or 'not there'} by its tunables" for name, now, was in differs]
    by_name = {constant_name(t.name): t.name for t in workload.tunables}
    for f in workload.fifos:
        prefix = pipe_prefix(f.name)
        by_name |= {f"{prefix}_{field}": f.slot_num_name for field in ("FifoDepth", "FiFoDepth") if f.slot_num_name}
        by_name |= {
            f"{prefix}_{field}": f.sync_period_name for field in ("SyncPeriod", "FiFoSyncT") if f.sync_period_name
        }
    for name, now, _ in differs:
        tunable = by_name.get(name)
        if tunable is not None and now.isascii() and now.isdigit() and len(now) <= 18:
            changed[tunable] = int(now)
    left = list(_differences(read, _constants(workload, platform, rule_set, changed)))
    # sizes of buffers follow from the rest, and nobody who changes a depth changes them, too
    if left := [one for one in left if not one[0].endswith("_Bytes")]:
        listed = ", ".join(f"{name} = {now} (expected {was or 'none'})" for name, now, was in left)
        raise ExportError(
            f"{read.where}: no configuration of {workload.name} has its constants, which were changed by hand: {listed}"
        )
    return changed, sayings


def _constants(workload: Workload, platform: Platform, rule_set: str, values: Mapping[str, int]) -> dict[str, str]:
    """The constants that a file of these values would have."""
    from pto_tune.exporters.recommending import pipe_recommendations, row_environment
    from pto_tune.rule_sets import rule_set_for

    rules = rule_set_for(platform.family, rule_set)
    pipes = pipe_recommendations(workload, rules, row_environment(workload, dict(values)))
    named = {f.slot_num_name for f in workload.fifos} | {f.sync_period_name for f in workload.fifos} | {"split"}
    constants = {t.name: values[t.name] for t in workload.tunables if t.name not in named}
    return {one.name: one.text for one in flat(_bare(rules.family, constants, pipes))}


def _bare(family: Any, constants: Mapping[str, int], pipes: Any) -> Recommendation:
    """A recommendation with nothing but what `flat` reads."""
    from pto_tune.exporters.recommendation import Recommendation

    return Recommendation(
        workload="", platform="", soc="", family=family, rule_set="", pto_isa=None, run=None, configuration={},
        problem={}, constants=constants, pipes=pipes, predicted_us=0.0, predicted_cycles=0, timing="", versions={},
        platform_sha256="", verdict="ok",
    )  # fmt: skip


def _differences(read: ReadBack, expected: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Constants of the file that are not as expected: name, value in the file, value expected ("" for none)."""
    for name, now in read.constants.items():
        was = expected.get(name, "")
        if now != was:
            yield name, now, was


def _changes(read: ReadBack, platform: Platform, problem: Problem) -> Iterator[str]:
    if read.changed:
        yield "the file was changed by hand since pto-tune wrote it"
    if platform.sha256 != read.platform_sha256:
        yield (
            f"platform {read.platform} has other numbers now (sha256 {platform.sha256[:12]} instead of "
            f"{read.platform_sha256[:12]})"
        )
    own = problem.workload.parameter_names()
    if added := [name for name in own if name not in {**read.problem, **read.tunables}]:
        yield f"the workload has new names, which take their defaults: {', '.join(added)}"
