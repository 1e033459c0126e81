"""From a search to an entry of a baseline, and from an entry to the same search today."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pto_tune.checking.baseline import BaselineError, Best, Entry

if TYPE_CHECKING:
    from cost_models.platform import Platform
    from pto_tune.model.nodes import Workload
    from pto_tune.tuning import Progress, TuneResult

Values = Mapping[str, int | str]


@dataclass(frozen=True)
class Asked:
    """A search as somebody asks for it; `workload` and `platform` as in an entry, `folder`: what paths are relative
    to."""

    workload: str | dict[str, Any]
    platform: str
    folder: Path
    pto_isa: str | None = None
    timing: str = "task"
    problem: Values | None = None
    domains: Mapping[str, Sequence[int | str]] | None = None
    strategy: str = "auto"
    objectives: Sequence[str] = ("time",)
    budget: int | None = None
    seed: int = 0

    @classmethod
    def of(cls, entry: Entry, folder: Path) -> Asked:
        """What an entry of a baseline in `folder` asks."""
        return cls(
            entry.workload, entry.platform, folder, entry.pto_isa, entry.timing, entry.problem, entry.domains,
            entry.strategy, entry.objectives, entry.budget, entry.seed,
        )  # fmt: skip

    def model(self) -> Workload:
        """The workload as it is today. ValueError where it is not to be had."""
        from pto_tune.model.serial import from_dict
        from pto_tune.workloads import workload, workload_names
        from pto_tune.workloads.files import load_workload, looks_like_path

        if isinstance(self.workload, dict):
            return from_dict(self.workload)
        if self.workload in workload_names() or not looks_like_path(self.workload):
            return workload(self.workload)
        return load_workload(self.folder / self.workload)

    def chip(self) -> Platform:
        """The platform as it is today. ValueError where it is not to be had."""
        from cost_models.platform import load_platform, platform_names

        if self.platform in platform_names() or not is_platform_file(self.platform):
            return load_platform(self.platform)
        return load_platform(self.folder / self.platform)

    def search(self, progress: Callable[[Progress], object] | None = None) -> TuneResult:
        """Tune, without a store."""
        from pto_tune.tuning import tune

        return tune(
            self.model(), platform=self.chip(), pto_isa=self.pto_isa, timing=self.timing, problem=self.problem,
            domains=self.domains, strategy=self.strategy, objectives=tuple(self.objectives), budget=self.budget,
            seed=self.seed, progress=progress, top=1,
        )  # fmt: skip


def entry_of(asked: Asked, result: TuneResult, name: str | None = None) -> Entry:
    """What a search found, as an entry. BaselineError where there is no legal configuration, or it was stopped."""
    best, problem = result.best, result.problem
    if best is None or result.stopped:
        why = "was stopped before it was done" if result.stopped else "found no legal configuration"
        raise BaselineError(f"the search of {problem.workload.name} {why}: there is nothing to compare with later")
    from pto_tune import __version__
    from pto_tune.table import label, parameter

    def shown(item: str, value: int) -> int | str:
        return label(parameter(problem.workload, item), value)

    sizes = {n: shown(n, value) for n, value in result.space.problem}
    return Entry(
        name=name or _name(problem.workload.name, problem.platform.name, {n: sizes[n] for n in asked.problem or ()}),
        workload=asked.workload,
        workload_sha256=workload_sha256(problem.workload),
        problem=sizes,
        domains={n: [shown(n, value) for value in values] for n, values in result.space.domains},
        platform=asked.platform,
        platform_sha256=problem.platform.sha256,
        pto_isa=asked.pto_isa,
        rule_set=problem.rule_set.name,
        timing=problem.timing,
        strategy=result.strategy,
        objectives=list(asked.objectives),
        # Where everything was looked at, everything is to be looked at again, however much that is by then.
        budget=asked.budget if result.strategy == "exhaustive" else result.n_candidates,
        seed=asked.seed,
        pto_tune=__version__,
        n_evaluated=result.n_evaluated,
        best=Best(configuration=best["configuration"], cycles=best["cycles"], time_us=best["time_us"]),
        counts={verdict: dict(sorted(rules.items())) for verdict, rules in sorted(result.counts.items())},
    )


def workload_sha256(workload: Workload) -> str:
    """Hash of a workload's description, that of its JSON text."""
    from pto_tune.model.serial import to_json

    return sha256(to_json(workload).encode("utf-8")).hexdigest()


def relative(text: str, folder: Path) -> str:
    """A path as a file in `folder` names it."""
    return Path(os.path.relpath(os.path.abspath(text), os.path.abspath(folder))).as_posix()


def is_platform_file(text: str) -> bool:
    """Whether a file is meant rather than the name of a built-in platform."""
    return text.endswith(".toml") or "/" in text or "\\" in text


def _name(workload: str, platform: str, given: Values) -> str:
    sizes = ", ".join(f"{name}={value}" for name, value in given.items())
    return f"{workload} on {platform}{f' ({sizes})' if sizes else ''}"[:1_000]
