"""One configuration for several sizes, platforms, or all that the numbers of a platform may be: the one whose worst
regret is least. The regret of a configuration in a scenario is its time over the best of that scenario, less 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pto_tune import verdicts
from pto_tune.evaluation import Problem, evaluate_columns
from pto_tune.search.batches import evaluated
from pto_tune.search.comparing import Good, best_few, in_order
from pto_tune.search.strategies import EXHAUSTIVE_LIMIT, SearchError
from pto_tune.space import Space, space
from pto_tune.table import label, parameter

if TYPE_CHECKING:
    from cost_models.platform import Platform
    from pto_tune.model.nodes import Workload

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Value = int | str

MOST_SCENARIOS = 64
SAMPLED, RANK_SAMPLED = 500, 8
"""Configurations that are run on samples of a platform: so many of least worst regret, and so many of the fastest of
each scenario, against which regrets are taken; fewer of workloads with ranks."""


@dataclass(frozen=True, eq=False)
class Scenario:
    """Sizes on a platform."""

    label: str
    problem: Problem
    space: Space


@dataclass(frozen=True)
class Elsewhere:
    """The best configuration of a scenario, and its regret in every scenario: NaN where it is not ok."""

    scenario: str
    values: Mapping[str, Value]
    regret: tuple[float, ...]
    verdict: tuple[str, ...]


@dataclass(frozen=True)
class Robust:
    """`found`: the few configurations of least worst regret, best first; their regrets count all samples of a scenario,
    their times are those of the platform as it stands. `best_us`: the best of each scenario; `own`: what each
    scenario's own best costs elsewhere. `legal`: configurations that are ok in every scenario; `samples` of each
    platform. `method` says in a sentence what was compared; `why_not` why nothing was found, "" where there is
    something."""

    scenarios: tuple[str, ...]
    best_us: tuple[float, ...]
    found: tuple[Good, ...]
    own: tuple[Elsewhere, ...]
    evaluated: int
    legal: int
    samples: int
    method: str
    why_not: str = ""

    def as_plain(self) -> dict[str, Any]:
        """Plain data for JSON."""
        none = [None if np.isnan(b) else b for b in self.best_us]
        return {
            "scenarios": [{"scenario": s, "best_us": b} for s, b in zip(self.scenarios, none, strict=True)],
            "found": [
                {
                    "configuration": dict(g.values),
                    "worst_regret": g.worst,
                    "time_us": list(g.time_us),
                    "regret": list(g.regret),
                }
                for g in self.found
            ],
            "own_best": [
                {
                    "scenario": o.scenario,
                    "configuration": dict(o.values),
                    "regret": [None if np.isnan(r) else r for r in o.regret],
                    "verdict": list(o.verdict),
                }
                for o in self.own
            ],
            "evaluated": self.evaluated,
            "legal": self.legal,
            "samples": self.samples,
            "method": self.method,
            "why_not": self.why_not,
        }


def robust_choice(
    workload: str | Workload,
    *,
    sizes: Sequence[Mapping[str, Value]] = ({},),
    platforms: Sequence[str | Path | Platform] = ("ascend910b2",),
    domains: Mapping[str, Sequence[Value] | Value] | None = None,
    pto_isa: str | None = None,
    timing: str = "task",
    samples: int = 0,
    seed: int = 0,
    top: int = 5,
    progress: Callable[[int, int], object] | None = None,
) -> Robust:
    """The configurations that lose least, in the worst case, over every choice of sizes on every platform.

    All legal configurations of the common space are evaluated in every scenario. With `samples`, the best of them are
    also run on that many platforms drawn from what each platform's numbers may be, and each sample counts as a
    scenario; launch overhead counts as in every time.

    Args:
        sizes: problem sizes of each choice, each one with its own values; what is left out has its default.
        domains: values to try for tunables instead of their default domains.
        top: how many configurations are listed.
        progress: called with scenarios done and in all.

    SearchError (ValueError) where there are more than MOST_SCENARIOS scenarios, or one has more than EXHAUSTIVE_LIMIT
    legal configurations; TableError, PlatformError where names or values are wrong.
    """
    from pto_tune.workloads import workload as built_in

    if samples < 0 or samples == 1:
        raise SearchError(f"samples = {samples}: expected none, or 2 and more")
    if top < 1:
        raise SearchError(f"top = {top}: expected a number of configurations, 1 or more")
    model = built_in(workload) if isinstance(workload, str) else workload
    every = _scenarios(model, sizes, platforms, domains, pto_isa, timing)
    times: list[tuple[Ints, Floats]] = []
    count = 0
    for i, s in enumerate(every):
        rows, us, n = _times(s)
        times.append((rows, us))
        count += n
        if progress is not None:
            progress(i + 1, len(every))
    labels = tuple(s.label for s in every)
    best_us = np.array([us.min(initial=np.inf) for _, us in times])
    best_us[np.isinf(best_us)] = np.nan
    shared = times[0][0]
    for rows, _ in times[1:]:
        shared = np.intersect1d(shared, rows, assume_unique=True)
    own = tuple(_elsewhere(every, i, times, best_us) for i in range(len(every)) if times[i][0].shape[0])
    number = f"{len(every)} scenarios" if len(every) > 1 else "one scenario"
    method = f"{count:,} evaluations: all that static rules let through, in {number}"
    none = [label for label, (rows, _) in zip(labels, times, strict=True) if not rows.shape[0]]
    if none or not shared.shape[0]:
        why = f"no configuration is ok in {', '.join(none)}" if none else "no configuration is ok in every scenario"
        return Robust(labels, tuple(best_us.tolist()), (), own, count, 0, samples, method, why)
    us = np.stack([t[np.searchsorted(rows, shared)] for rows, t in times], axis=1)
    regret = us / best_us[None, :] - 1.0
    order = in_order(regret)
    if samples:
        few = RANK_SAMPLED if model.has_ranks else SAMPLED
        order = order[:few]
        for j, s in enumerate(every):
            sampled = _sampled(s, shared[order], times[j], few, samples, seed)
            regret[order, j] = np.maximum(regret[order, j], sampled)
        order = order[in_order(regret[order])]
        method += (
            f"; of each the {few} fastest, and the {order.shape[0]} of least worst regret, on {samples} samples of its "
            "platform's numbers"
        )
    found = best_few(_Values(every[0].space, shared), us, regret, order, top)
    return Robust(labels, tuple(best_us.tolist()), found, own, count, int(shared.shape[0]), samples, method)


def _scenarios(
    model: Workload,
    sizes: Sequence[Mapping[str, Value]],
    platforms: Sequence[str | Path | Platform],
    domains: Mapping[str, Sequence[Value] | Value] | None,
    pto_isa: str | None,
    timing: str,
) -> list[Scenario]:
    from cost_models.platform import Platform, load_platform

    chips = [p if isinstance(p, Platform) else load_platform(p) for p in platforms]
    if not chips or not sizes:
        raise SearchError("there is no scenario: give at least one choice of sizes and one platform")
    if len(chips) * len(sizes) > MOST_SCENARIOS:
        raise SearchError(f"{len(chips) * len(sizes)} scenarios: expected at most {MOST_SCENARIOS}")
    spaces = [space(model, dict(own), domains) for own in sizes]
    values = [dict(s.problem) for s in spaces]
    varied = [name for name in values[0] if len({v[name] for v in values}) > 1]
    out = []
    for chip, (where, own) in product(chips, zip(spaces, values, strict=True)):
        words = [chip.name, *(f"{name} {label(parameter(model, name), own[name])}" for name in varied)]
        out.append(Scenario(", ".join(words), Problem.of(model, chip, pto_isa, timing), where))
    same = [s.label for s in out]
    if len(set(same)) < len(same):
        twice = next(text for text in same if same.count(text) > 1)
        raise SearchError(f"the scenario {twice!r} is there twice: give each once")
    return out


def _times(s: Scenario) -> tuple[Ints, Floats, int]:
    """Rows that are ok (ascending) and their times in microseconds, and how many were evaluated."""
    from pto_tune.spaces.legal import LegalSpace

    legal = LegalSpace.of(s.problem, s.space)
    if legal.candidates > EXHAUSTIVE_LIMIT:
        raise SearchError(
            f"{s.label}: {legal.candidates:,} configurations are legal, and at most {EXHAUSTIVE_LIMIT:,} are "
            "evaluated: give fewer values"
        )
    rows, times = [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
    for some in legal.chunks():
        for batch in evaluated(s.problem, s.space, some):
            e = batch.evaluation
            ok = (e.verdict == verdicts.OK) & e.timed
            rows.append(batch.rows[ok])
            times.append(e.time_us[ok])
    return np.concatenate(rows), np.concatenate(times), legal.candidates


def _elsewhere(every: Sequence[Scenario], i: int, times: Sequence[tuple[Ints, Floats]], best_us: Floats) -> Elsewhere:
    """What the best of scenario i costs in each."""
    rows, us = times[i]
    row = rows[int(np.argmin(us))]
    regret, words = [], []
    for j, s in enumerate(every):
        at = int(np.searchsorted(times[j][0], row))
        if at < times[j][0].shape[0] and times[j][0][at] == row:
            regret.append(float(times[j][1][at] / best_us[j] - 1.0))
            words.append("ok")
        else:
            e = evaluate_columns(s.problem, s.space.table(np.array([row], dtype=np.int64)))
            regret.append(float("nan"))
            words.append(verdicts.VERDICTS[int(e.verdict[0])])
    return Elsewhere(every[i].label, _Values(every[i].space, rows)[int(np.argmin(us))], tuple(regret), tuple(words))


def _sampled(s: Scenario, candidates: Ints, own: tuple[Ints, Floats], few: int, samples: int, seed: int) -> Floats:
    """(candidates,) the worst regret of each over samples of the scenario's platform: against the best, in the same
    sample, of the candidates and of the fastest few of the scenario."""
    from pto_tune.uncertainty.running import Subject, keys_used, times
    from pto_tune.uncertainty.sampling import sampled_platforms

    rows, us = own
    fastest = rows[np.lexsort((rows, us))[:few]]
    both = np.union1d(candidates, fastest)
    e = evaluate_columns(s.problem, s.space.table(both))
    subject = Subject(s.problem, e, np.flatnonzero(e.timed))  # all of them: they are ok
    keys = keys_used(subject)
    if not keys:
        return np.zeros(candidates.shape[0])
    _, found = times(subject, sampled_platforms(s.problem.platform, keys, samples, seed))
    regret = found / np.nanmin(found, axis=1)[:, None] - 1.0
    # a sample in which a run does not end is as bad as can be
    worst = np.where(np.isnan(regret), np.inf, regret).max(axis=0)
    return np.asarray(worst[np.searchsorted(both, candidates)], dtype=np.float64)


@dataclass(frozen=True, eq=False)
class _Values:
    """Values of the tunables by place in a list of rows, labels where they have one."""

    space: Space
    rows: Ints

    def __getitem__(self, i: int) -> dict[str, Value]:
        table = self.space.table(self.rows[i : i + 1])
        return {
            name: label(parameter(self.space.workload, name), int(table[name][0])) for name, _ in self.space.domains
        }
