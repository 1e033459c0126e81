"""What is compared: the runs, configurations and further platforms that an address names, and what follows of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dashboards.figures.cross import Choice, Setting
from dashboards.pages.keeping import Kept
from dashboards.text import shorten

if TYPE_CHECKING:
    from dashboards.figures.causes import CausesData
    from dashboards.runview import RunView
    from dashboards.site.state import Site
    from db import Run
    from pto_tune.evaluation import Problem
    from pto_tune.explaining.explanation import Explanation
    from pto_tune.model.nodes import Workload

    Value = int | str

MOST_RUNS = 8
MOST_CONFIGURATIONS = 12
MOST_ALSO = 6
TODAY = " with today's numbers"
_LABEL = 44


@dataclass(frozen=True)
class Wish:
    """What an address asks for: run references, (run, row) pairs, and (platform, rule set or "") pairs."""

    runs: tuple[str, ...] = ()
    configurations: tuple[tuple[str, int], ...] = ()
    also: tuple[tuple[str, str], ...] = ()
    complaints: tuple[str, ...] = ()

    def query(self) -> dict[str, list[str]]:
        """The names and values of the address."""
        return {
            "runs": list(self.runs),
            "configurations": [f"{run}:{row}" for run, row in self.configurations],
            "also": [f"{platform}:{rules}" if rules else platform for platform, rules in self.also],
        }


def wish(query: Mapping[str, Any]) -> Wish:
    """The wish of a query's `runs`, `configurations` and `also` (texts between commas, or lists).

    What cannot be read, or is too much, is left out and named in `complaints`.
    """
    complaints: list[str] = []
    runs = list(dict.fromkeys(_parts(query.get("runs"))))
    pairs = []
    for part in dict.fromkeys(_parts(query.get("configurations"))):
        run, _, row = part.rpartition(":")
        if run and row.isdecimal() and len(row) < 18:
            pairs.append((run, int(row)))
        else:
            complaints.append(f"{shorten(part, 60)!r} is no configuration: RUN:ROW would be right")
    also = [(platform, rules) for platform, _, rules in (p.partition(":") for p in _parts(query.get("also")))]
    for what, found, most in (("runs", runs, MOST_RUNS), ("configurations", pairs, MOST_CONFIGURATIONS),
                              ("further platforms", also, MOST_ALSO)):  # fmt: skip
        if len(found) > most:
            complaints.append(f"{len(found)} {what} are too many side by side: the first {most} are shown")
    return Wish(
        tuple(runs[:MOST_RUNS]), tuple(pairs[:MOST_CONFIGURATIONS]), tuple(dict.fromkeys(also[:MOST_ALSO])),
        tuple(complaints),
    )  # fmt: skip


def _parts(given: Any) -> list[str]:
    parts = str(given or "").split(",") if not isinstance(given, list | tuple) else map(str, given)
    return [part.strip() for part in parts if part.strip()]


@dataclass(frozen=True, eq=False)
class Item:
    """A configuration side by side with others: the best of its run or a chosen row; `position` is None where the run
    has no ok configuration. `setting` is the place of its run's own setting."""

    run: Run
    view: RunView
    position: int | None
    label: str
    setting: int

    @property
    def row(self) -> int | None:
        """The row in the store."""
        return None if self.position is None else int(self.view.rows[self.position])

    @property
    def values(self) -> dict[str, Value]:
        """Value of every tunable that applies; empty where there is no configuration."""
        found = {} if self.position is None else self.view.configuration(self.position)
        return {name: value for name, value in found.items() if value != "–"}

    @property
    def time_us(self) -> float:
        """The stored time, NaN where there is none."""
        return float("nan") if self.position is None else float(self.view.time_us[self.position])


@dataclass(frozen=True, eq=False)
class Compared:
    """Items and settings; `settings` are those of the runs, each once, then the further ones from `further` on."""

    wish: Wish
    items: tuple[Item, ...]
    settings: tuple[Setting, ...]
    further: int
    complaints: tuple[str, ...]

    @property
    def runs(self) -> list[tuple[Run, RunView, int]]:
        """Each run once, with its columns and the place of its setting."""
        return list({item.run.id: (item.run, item.view, item.setting) for item in self.items}.values())


def compared(site: Site, wanted: Wish) -> Compared:
    """Everything that the wish names, by numbers of runs. What is not there is left out and named in `complaints`."""
    complaints = list(wanted.complaints)
    found: list[tuple[Run, RunView, int | None, bool]] = []
    rows: dict[int, list[int]] = {}
    for ref, row in [*((run, None) for run in wanted.runs), *wanted.configurations]:
        try:
            own = rows.setdefault(site.views.run(ref).id, [])
        except ValueError as error:
            if str(error) not in complaints:
                complaints.append(str(error))
            continue
        if row is not None and row not in own:
            own.append(row)
    for run_id, own in rows.items():
        try:
            run, view = site.views.run(run_id), site.views.view(run_id)
        except ValueError as error:
            complaints.append(str(error))
            continue
        for row in own:
            at = np.flatnonzero(view.rows == row)
            if len(at):
                found.append((run, view, int(at[0]), True))
            else:
                complaints.append(f"run {run.id} ({shorten(run.name, 60)}) has no configuration with the row {row}")
        if not own:
            found.append((run, view, view.best, False))
            if view.best is None:
                complaints.append(f"run {run.id} ({shorten(run.name, 60)}) has no ok configuration, so it has no best")
    settings, place = _settings(site, [(run, view) for run, view, _, _ in found])
    items = tuple(Item(run, view, at, _label(run, view, at, chosen), place[run.id]) for run, view, at, chosen in found)
    more, wrong = _further(items, settings, wanted.also)
    by_number = Wish(
        tuple(str(run_id) for run_id, own in rows.items() if not own),
        tuple((str(run_id), row) for run_id, own in rows.items() for row in own),
        wanted.also,
        wanted.complaints,
    )
    return Compared(by_number, items, _named((*settings, *more)), len(settings), (*complaints, *wrong))


def _label(run: Run, view: RunView, at: int | None, chosen: bool) -> str:
    name = f"{run.id}: {shorten(run.name, _LABEL)}"
    return f"{name}, row {int(view.rows[at])}" if chosen and at is not None else name


def _settings(site: Site, found: Sequence[tuple[Run, RunView]]) -> tuple[list[Setting], dict[int, int]]:
    """The settings of runs, equal ones once, and the place of each run's."""
    keys: dict[tuple[object, ...], int] = {}
    out: list[Setting] = []
    place: dict[int, int] = {}
    for run, view in found:
        if run.id in place:
            continue
        key = (run.workload_json, run.platform_sha256, run.rule_set, run.timing, tuple(sorted(run.problem.items())))
        best = float("nan") if view.best is None else float(view.time_us[view.best])
        if key in keys:
            at = keys[key]
            old = out[at]
            out[at] = Setting(old.label, old.problem, old.sizes, old.why_not, float(np.fmin(old.best_us, best)))
        else:
            at = keys[key] = len(out)
            problem, why_not = None, ""
            try:
                problem = site.views.search(run.id)[0]
            except ValueError as error:
                why_not = str(error)
            label = "|".join((run.workload, run.platform, run.rule_set, run.timing))
            out.append(Setting(label, problem, dict(run.problem), why_not, best))
        place[run.id] = at
    return out, place


def _further(
    items: Sequence[Item], settings: Sequence[Setting], also: Sequence[tuple[str, str]]
) -> tuple[list[Setting], list[str]]:
    """The runs' problems on further platforms or revisions, and what cannot be had."""
    out: list[Setting] = []
    wrong: list[str] = []
    by_place = {item.setting: item.run for item in reversed(items)}
    seen: set[tuple[object, ...]] = set()
    for platform, rules in also:
        for at, own in enumerate(settings):
            run = by_place[at]
            key = (platform, rules or run.rule_set, run.workload_json, run.timing, tuple(sorted(run.problem.items())))
            if key in seen:
                continue
            seen.add(key)
            try:
                problem = further_problem(run, platform, rules)
            except ValueError as error:
                if str(error) not in wrong:
                    wrong.append(str(error))
                continue
            label = "|".join((run.workload, platform, problem.rule_set.name, run.timing))
            same = [s for s in (*settings, *out) if s.label == label and s.sizes == own.sizes]
            if any(s.problem is not None for s in same):
                continue
            if same:
                label = label.replace(f"|{platform}|", f"|{platform}{TODAY}|", 1)
            out.append(Setting(label, problem, own.sizes))
    return out, wrong


_problems = Kept(64)
_workloads = Kept(64)


def further_problem(run: Run, platform: str, rules: str) -> Problem:
    """The run's workload and protocol on a built-in platform. `rules`: a rule set or pto-isa revision; "" is the run's
    own where the platform has it, else the default of the platform's family. ValueError for unknown names."""
    from cost_models.platform import load_platform, platform_names
    from pto_tune.evaluation import Problem
    from pto_tune.rule_sets import rule_set_for, rule_sets

    if platform not in platform_names():
        raise ValueError(
            f"there is no built-in platform {shorten(platform, 60)!r}: choose one of {', '.join(platform_names())}"
        )
    chip = load_platform(platform)
    if not rules and run.rule_set in [r.name for r in rule_sets(chip.family)]:
        rules = run.rule_set
    rule_set = rule_set_for(chip.family, rules or None)
    key = (run.workload_json, chip.sha256, rule_set.name, run.timing)
    made: Problem = _problems.get(key, lambda: Problem(workload_of(run), chip, rule_set, run.timing))
    return made


def workload_of(run: Run) -> Workload:
    """The run's workload as the store describes it. ValueError where this version cannot read it."""
    from pto_tune.model.serial import from_json

    found: Workload = _workloads.get(run.workload_json, lambda: from_json(run.workload_json))
    return found


def _named(settings: Sequence[Setting]) -> tuple[Setting, ...]:
    """Labels of what tells the settings apart: the platform always, then workload, rule set, protocol and sizes."""
    parts = [s.label.split("|") for s in settings]
    varies = [len({p[i] for p in parts}) > 1 for i in range(4)]
    names = list(dict.fromkeys(name for s in settings for name in s.sizes))
    sizes = [name for name in names if len({s.sizes[name] for s in settings if name in s.sizes}) > 1]
    out: list[Setting] = []
    for s, (workload, platform, rules, timing) in zip(settings, parts, strict=True):
        words = [platform, *(w for w, v in zip((workload, rules, timing), (varies[0], *varies[2:]), strict=True) if v)]
        words += [f"{name} {s.sizes[name]}" for name in sizes if name in s.sizes]
        label = ", ".join(words)
        # a platform file may have changed between two runs
        same = sum(old.label.removesuffix(f" ({k})") == label for k, old in enumerate(out, 1))
        label = f"{label} ({len(out) + 1})" if same else label
        out.append(Setting(label, s.problem, s.sizes, s.why_not, s.best_us))
    return tuple(out)


def choices_of(of: Compared) -> list[Choice]:
    """The items that have a configuration, as choices; in the order of the items."""
    out = []
    for item in of.items:
        if item.position is not None:
            try:
                work = workload_of(item.run)
            except ValueError:
                work = None
            out.append(Choice(item.label, work, item.values))
    return out


def item_causes(of: Compared, explain: Callable[[Item], Explanation]) -> tuple[list[CausesData], list[str]]:
    """Where the time of every item goes, and sentences on those that cannot be explained (`explain` raises ValueError)
    or have no times."""
    from dashboards.figures.causes import causes_data

    shown: list[CausesData] = []
    left = []
    for item in of.items:
        if item.position is None:
            continue
        label = f"run {item.run.id}, row {item.row}"
        try:
            data = causes_data(explain(item), label)
        except ValueError as error:
            left.append(f"Without {label}: {error}.")
            continue
        if data is None:
            left.append(f"Without {label}: it has no times.")
        else:
            shown.append(data)
    return shown, left
