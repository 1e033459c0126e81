"""The form of a new run as plain data: what stands in its fields, as an address, as a command, as a wish."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from dashboards.site.sweeps import Wish

if TYPE_CHECKING:
    from dashboards.site.page import Place
    from db import Run
    from pto_tune.evaluation import Problem
    from pto_tune.model.nodes import Parameter, Tunable, Workload

WORKLOAD, PLATFORM, TIMING, STRATEGY = "flash_attention", "ascend910b2", "task", "auto"
DEFAULT_RULES = "default"
MOST_VALUES = 4096
_RANGE = re.compile(r"(-?\d{1,12})\s*(?:-|\.\.)\s*(-?\d{1,12})(?:\s*:\s*(\d{1,12}))?", re.ASCII)

Fault = tuple[str, str]


@dataclass(frozen=True)
class Form:
    """The texts of the fields. `sizes` and `domains` have those that are not empty; empty ones mean the default.

    In an address, sizes are `s.NAME`, domains `d.NAME`, the others have their own names.
    """

    workload: str = WORKLOAD
    platform: str = PLATFORM
    rules: str = DEFAULT_RULES
    timing: str = TIMING
    strategy: str = STRATEGY
    budget: str = ""
    seconds: str = ""
    seed: str = ""
    name: str = ""
    sizes: Mapping[str, str] = field(default_factory=dict)
    domains: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_place(cls, place: Place) -> Form:
        """The form that an address says; choices that do not exist become the default."""
        from cost_models.launch import TIMINGS
        from cost_models.platform import platform_names
        from pto_tune.search.strategies import STRATEGIES
        from pto_tune.workloads import workload_names

        platform = place.choice("platform", platform_names(), PLATFORM)
        return cls(
            workload=place.choice("workload", workload_names(), WORKLOAD),
            platform=platform,
            rules=place.choice("rules", rule_set_names(platform), DEFAULT_RULES),
            timing=place.choice("timing", TIMINGS, TIMING),
            strategy=place.choice("strategy", STRATEGIES, STRATEGY),
            **{name: place.text(name) for name in ("budget", "seconds", "seed", "name")},
            sizes={n[2:]: text for n, text in place.query.items() if n.startswith("s.") and text},
            domains={n[2:]: text for n, text in place.query.items() if n.startswith("d.") and text},
        )

    @classmethod
    def from_run(cls, run: Run) -> Form:
        """The form that starts a run again. ValueError where its workload or platform is not built in."""
        from cost_models.platform import platform_names
        from pto_tune.workloads import workload as built_in

        workload = built_in(run.workload)
        if run.platform not in platform_names():
            raise ValueError(f"run {run.id} was made with the platform {run.platform!r}, which is not built in")
        rules = run.rule_set if run.rule_set in rule_set_names(run.platform) else DEFAULT_RULES
        is_default = _default_rules(run.platform) == rules
        sizes = {p.name: str(label_of(p, p.default)) for p in workload.problem}
        domains = {t.name: domain_text(t, t.domain) for t in workload.tunables}
        own = {t["name"]: ", ".join(map(str, t["domain"])) for t in run.tunables}
        exhaustive = run.strategy == "exhaustive"
        return cls(
            workload=run.workload,
            platform=run.platform,
            rules=DEFAULT_RULES if is_default else rules,
            timing=run.timing,
            strategy=STRATEGY if exhaustive else run.strategy,
            budget="" if exhaustive else str(run.n_candidates),
            seed=str(run.seed) if run.seed else "",
            sizes={n: str(v) for n, v in run.problem.items() if sizes.get(n) != str(v)},
            domains={n: text for n, text in own.items() if domains.get(n) != text},
        )

    def to_query(self) -> dict[str, str]:
        """The query of the address; what is at its default is left out."""
        defaults = {"platform": PLATFORM, "rules": DEFAULT_RULES, "timing": TIMING, "strategy": STRATEGY}
        names = ("platform", "rules", "timing", "strategy", "budget", "seconds", "seed", "name")
        own = {name: getattr(self, name) for name in names}
        return {
            "workload": self.workload,
            **{name: value for name, value in own.items() if value != defaults.get(name, "")},
            **{f"s.{name}": text for name, text in self.sizes.items()},
            **{f"d.{name}": text for name, text in self.domains.items()},
        }


@dataclass(frozen=True)
class Read:
    """A form as it was understood. `wish` is None where a field cannot be read; `faults` are (field, sentence) pairs
    with fields as in `s.NAME`, `d.NAME`, `budget`; `counts`: how many values the domain of each tunable has."""

    workload: Workload
    wish: Wish | None
    faults: Sequence[Fault]
    counts: Mapping[str, int]


def read(form: Form) -> Read:
    """The wish that a form says, or everything that cannot be read."""
    from pto_tune.workloads import workload as built_in

    workload = built_in(form.workload)
    faults: list[Fault] = []
    problem: dict[str, int] = {}
    for p in workload.problem:
        if text := form.sizes.get(p.name, "").strip():
            try:
                problem[p.name] = _value(p, text)
            except ValueError as error:
                faults.append((f"s.{p.name}", str(error)))
    domains: dict[str, tuple[int, ...]] = {}
    counts = {t.name: len(t.domain) for t in workload.tunables}
    for t in workload.tunables:
        if text := form.domains.get(t.name, "").strip():
            try:
                domains[t.name] = parse_domain(t, text)
                counts[t.name] = len(domains[t.name])
            except ValueError as error:
                faults.append((f"d.{t.name}", str(error)))
    budget = _number(form.budget, "budget", 1, 20_000_000, faults)
    seconds = _number(form.seconds, "seconds", 1, 7 * 86_400, faults)
    seed = _number(form.seed, "seed", 0, 2**32 - 1, faults)
    wish = Wish(
        workload=form.workload,
        platform=form.platform,
        problem=problem,
        domains=domains,
        pto_isa=None if form.rules == DEFAULT_RULES else form.rules,
        timing=form.timing,
        strategy=form.strategy,
        budget=budget,
        seconds=None if seconds is None else float(seconds),
        seed=seed or 0,
        name=form.name.strip() or None,
    )
    return Read(workload, None if faults else wish, faults, counts)


@lru_cache(maxsize=32)
def kernel(workload: str, platform: str, rules: str, timing: str) -> Problem:
    """Workload, platform and rules of a form. ValueError where they do not fit."""
    from cost_models.platform import load_platform
    from pto_tune.evaluation import Problem
    from pto_tune.workloads import workload as built_in

    pto_isa = None if rules == DEFAULT_RULES else rules
    return Problem.of(built_in(workload), load_platform(platform), pto_isa, timing)


def _default_rules(platform: str) -> str:
    from cost_models.platform import load_platform
    from pto_tune.rule_sets import rule_set_for

    return rule_set_for(load_platform(platform).family).name


def label_of(p: Parameter | Tunable, value: int) -> int | str:
    """A value as it is shown: its label where it has one."""
    from pto_tune.table import label

    return label(p, value)


def rule_set_names(platform: str) -> list[str]:
    """The default, and the rule sets of a platform's family by name."""
    from cost_models.platform import load_platform
    from pto_tune.rule_sets import rule_sets

    return [DEFAULT_RULES, *(r.name for r in rule_sets(load_platform(platform).family))]


def parse_domain(p: Parameter | Tunable, text: str) -> tuple[int, ...]:
    """`1,2,4-8:2` as values: numbers or labels between commas or blanks, `A-B` for all from A to B, `A-B:S` in steps
    of S. Each value once, in the order given. ValueError in one sentence."""
    from pto_tune.table import TableError

    values: list[int] = []
    # blanks around the marks of a range belong to it
    parts = re.sub(r"\s*(:|\.\.)\s*", r"\1", re.sub(r"(?<=\d)\s+-\s+(?=\d)", "-", text))
    for part in filter(None, re.split(r"[,;\s]+", parts)):
        found = _RANGE.fullmatch(part)
        if found is None:
            values.append(_value(p, part))
            continue
        first, last, step = int(found[1]), int(found[2]), int(found[3] or 1)
        if step < 1 or last < first:
            raise TableError(f"{p.name}: {part!r} has no values: write FROM-TO or FROM-TO:STEP, such as 4-8:2")
        if (last - first) // step >= MOST_VALUES:
            raise TableError(f"{p.name}: {part!r} has more than {MOST_VALUES:,} values: give fewer")
        for end in (first, last):
            _in_range(p, end)
        values += range(first, last + 1, step)
    unique = tuple(dict.fromkeys(values))
    if not unique:
        raise TableError(f"{p.name}: {text!r} has no values: write for example {domain_text(p, (p.default,))}")
    if len(unique) > MOST_VALUES:
        raise TableError(f"{p.name}: {len(unique):,} values are too many: give at most {MOST_VALUES:,}")
    return unique


def domain_text(p: Parameter | Tunable, values: Sequence[int]) -> str:
    """Values as `parse_domain` reads them, without ranges."""
    return ", ".join(str(label_of(p, value)) for value in values)


def command(form: Form) -> str:
    """The same run from a terminal: `pto-tune tune ...` with what is not at its default."""
    from pto_tune.workloads import workload as built_in

    words = ["pto-tune", "tune", form.workload, "--platform", form.platform]
    if form.rules != DEFAULT_RULES:
        words += ["--pto-isa", form.rules]
    if form.timing != TIMING:
        words += ["--timing", form.timing]
    for name, text in form.sizes.items():
        words += ["--set", f"{name}={text.strip()}"]
    tunables = {t.name: t for t in built_in(form.workload).tunables}
    for name, text in form.domains.items():
        t = tunables[name]
        words += ["--domain", f"{name}={domain_text(t, parse_domain(t, text)).replace(' ', '')}"]
    if form.strategy != STRATEGY:
        words += ["--strategy", form.strategy]
    for name in ("budget", "seconds", "seed", "name"):
        if text := getattr(form, name).strip():
            words += [f"--{name}", text]
    return shlex.join(words)


def _value(p: Parameter | Tunable, text: str) -> int:
    from pto_tune.table import TableError, parse_value

    if len(text) > 64:
        raise TableError(f"{p.name}: the text has {len(text):,} characters: a number or a label would be right")
    value = parse_value(p, text)
    _in_range(p, value)
    return value


def _in_range(p: Parameter | Tunable, value: int) -> None:
    from pto_tune.table import TableError

    if not p.minimum <= value <= p.maximum:
        raise TableError(f"{p.name} = {value} is out of range: expected {p.minimum:,} to {p.maximum:,}")


def _number(text: str, name: str, low: int, high: int, faults: list[Fault]) -> int | None:
    word = text.strip().replace(",", "")
    if not word:
        return None
    if word.isascii() and word.isdigit() and len(word) < 18 and low <= int(word) <= high:
        return int(word)
    faults.append((name, f"{name}: expected a whole number from {low:,} to {high:,}, or nothing"))
    return None
