"""Run configurations on many versions of a platform, all in one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cost_models import launch
from cost_models.keys import CLOCK_KEY
from cost_models.platform import Platform
from cost_models.sharing import RESOURCES, capacity_bytes_per_cycle
from pto_tune.evaluation import Evaluation, Problem, evaluate_columns
from pto_tune.executor.engine import execute_sampled, thread_count
from pto_tune.lowering.columns import columns_of, environment
from pto_tune.uncertainty.sampling import uncertain_keys

if TYPE_CHECKING:
    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

SAMPLES = 64
RANK_SAMPLES = 16
"""Samples where nothing is asked for: of workloads with ranks each is a run of all ranks and blocks."""

MOST_CONFIGURATIONS = 1000
"""Most configurations of one call."""

MOST_LANES = 2**16
"""Lanes of one call of the executor; samples are taken in groups of up to so many (a lane takes up some KiB)."""

Configurations = Mapping[str, Any] | Sequence[Mapping[str, Any]]
"""A table of columns (single values allowed), or a list of configurations with the same names."""


@dataclass(frozen=True)
class Subject:
    """Configurations whose times are asked for. `rows` are those that have times: the others are refused or hang."""

    problem: Problem
    evaluation: Evaluation
    rows: Ints

    @classmethod
    def of(cls, problem: Problem, configurations: Configurations) -> Subject:
        """Evaluate the configurations as they are predicted. ValueError as by `evaluate_columns`, for lists whose
        configurations have different names, and for more than `MOST_CONFIGURATIONS`."""
        e = evaluate_columns(problem, columns(configurations))
        if len(e) > MOST_CONFIGURATIONS:
            raise ValueError(f"{len(e)} configurations at once: expected at most {MOST_CONFIGURATIONS}")
        return cls(problem, e, np.flatnonzero(e.timed))

    @property
    def table(self) -> dict[str, Ints]:
        """Columns of the rows that have times."""
        return {name: column[self.rows] for name, column in self.evaluation.table.items()}

    @property
    def cost(self) -> int:
        """What running all rows once costs, in units of about a microsecond."""
        e = self.evaluation
        if self.problem.workload.has_ranks:
            return sum(_RANK_COST + e.runs[int(e.run_row[row])].served for row in self.rows)
        if e.execution is None:
            return 0
        x = e.execution
        run = e.run_row[self.rows]
        return _COLUMNS_COST + _LANE_COST * int((x.last_lane[run] - x.first_lane[run]).sum())

    @property
    def interval_cost(self) -> int:
        """Cost of sampling intervals as often as is the default."""
        return self.cost * default_samples(self.problem)

    @property
    def swing_cost(self) -> int:
        """Cost of moving every number to both ends."""
        return self.cost * 2 * len(keys_used(self))


# Units take about a microsecond on two cores (`pto-tune bench uncertainty`): an event of ranks, the numbers of a row
# of those, the columns of a sample, a lane.
_RANK_COST = 10_000
_COLUMNS_COST = 1500
_LANE_COST = 25

QUICK = 1_000_000
"""Cost that a table of configurations may add without being asked for: about a second."""

MOST_COST = 5 * QUICK
"""Cost that the interval of one configuration, or the numbers behind it, may have without being asked for."""


def default_samples(problem: Problem) -> int:
    """Samples of a call that does not say how many."""
    return RANK_SAMPLES if problem.workload.has_ranks else SAMPLES


def columns(configurations: Configurations) -> dict[str, Any]:
    """A list of configurations as a table. ValueError where they do not have the same names."""
    if isinstance(configurations, Mapping):
        return dict(configurations)
    names = list(dict.fromkeys(name for c in configurations for name in c))
    missing = [name for name in names if any(name not in c for c in configurations)]
    if missing:
        raise ValueError(f"every configuration needs the same names: {', '.join(missing)} are not in all of them")
    return {name: np.array([c[name] for c in configurations], dtype=object) for name in names}


class _Watched(Platform):
    """A platform that notes which of its numbers are asked for."""

    read: set[str]

    @classmethod
    def watch(cls, platform: Platform) -> _Watched:
        out = cls(
            platform.name, platform.family, platform.soc, platform.description, platform.numbers, platform.source_path
        )
        object.__setattr__(out, "read", set())
        return out

    def __getitem__(self, key: str) -> float:
        self.read.add(key)
        return super().__getitem__(key)


def keys_used(subject: Subject) -> list[str]:
    """The uncertain numbers that the durations, capacities and the launch of the configurations are made from."""
    problem = subject.problem
    if not subject.rows.size:
        return []
    watched = _Watched.watch(problem.platform)
    launch.overhead_us(watched, problem.timing)
    watched.read.add(CLOCK_KEY)
    if problem.workload.has_ranks:
        from pto_tune.ranks.numbers import numbers

        for row in _rows(subject):
            numbers(problem.code, watched, row)
    else:
        n = int(subject.rows.shape[0])
        env = environment(problem.workload, {**subject.table, "block": np.zeros(n, dtype=np.int64)})
        columns_of(problem.code, watched, env, n)
        for resource in RESOURCES:
            capacity_bytes_per_cycle(watched, resource)
    return uncertain_keys(problem.platform, watched.read)


def times(subject: Subject, platforms: Sequence[Platform]) -> tuple[Floats, Floats]:
    """Cycles and microseconds (platforms, rows of the subject) on each platform, NaN where a run does not end.

    Cycles are of each platform's own clock; microseconds include its launch overhead.
    """
    problem = subject.problem
    if not subject.rows.size or not platforms:
        cycles = np.zeros((len(platforms), int(subject.rows.shape[0])))
    elif problem.workload.has_ranks:
        cycles = _rank_cycles(subject, platforms)
    else:
        cycles = _cycles(subject, platforms)
    clock = np.array([p[CLOCK_KEY] for p in platforms])
    overhead = np.array([launch.overhead_us(p, problem.timing) for p in platforms])
    return cycles, cycles / clock[:, None] + overhead[:, None]


def _cycles(subject: Subject, platforms: Sequence[Platform]) -> Floats:
    x = subject.evaluation.execution
    assert x is not None
    n = int(subject.rows.shape[0])
    run = subject.evaluation.run_row[subject.rows]
    lanes = int((x.last_lane[run] - x.first_lane[run]).sum())
    group = max(1, MOST_LANES // max(lanes, 1))
    parts = []
    for at in range(0, len(platforms), group):
        some = platforms[at : at + group]
        found = execute_sampled(x, some, subject.table, run)
        parts.append(np.where(found.hang, np.nan, found.cycles).reshape(len(some), n))
    return np.concatenate(parts)


def _rank_cycles(subject: Subject, platforms: Sequence[Platform]) -> Floats:
    from pto_tune.ranks.engine import run_row
    from pto_tune.ranks.tables import DONE

    code, rows = subject.problem.code, _rows(subject)

    def one(pair: tuple[Platform, Mapping[str, int]]) -> float:
        run = run_row(code, *pair)
        return float(run.cycles) if run.status == DONE else float("nan")

    pairs = [(p, row) for p in platforms for row in rows]
    with ThreadPoolExecutor(min(thread_count(), len(pairs))) as pool:
        return np.array(list(pool.map(one, pairs))).reshape(len(platforms), len(rows))


def _rows(subject: Subject) -> list[dict[str, int]]:
    return [{name: int(column[i]) for name, column in subject.evaluation.table.items()} for i in subject.rows]
