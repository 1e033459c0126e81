"""Runs as values: what is needed to create one, and one as it is read back."""

import json
import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypedDict

from db.columns import BY_NAME, MAX_TUNABLES
from db.errors import StoreError

DEAD_AFTER_S = 60.0
"""A running run that gave no sign of life for so long, by the database's clock, has lost its program."""

INTERRUPTED = "interrupted"
"""Status of a run that is running and whose program is gone."""

_LARGEST_INT64 = 2**63 - 1
_LARGEST_INT16 = 2**15 - 1


class Tunable(TypedDict):
    """A tunable's name and its domain; column ``t0`` of a configuration is an index into the first domain."""

    name: str
    domain: list[int | str]


@dataclass(frozen=True)
class RunSpec:
    """What a run is made of.

    Attributes:
        workload, workload_json: the workload's name and its description as JSON text.
        problem: problem sizes by name.
        platform, platform_sha256: the platform's name and the hash of its file.
        rule_set: the pipe rules that verdicts follow.
        timing: the timing protocol, such as ``task``.
        strategy, seed, objectives: how was searched, and for what.
        spec_sha256: hash of everything that decides the results, to find an equal run.
        versions: versions by package.
        tunables: at most 16; ``t0`` indexes the first one's domain, and so on.
        rules, verdicts, pipes: the names that columns ``rule``, ``verdict`` and ``bound`` index.
        columns: further configuration columns that the run fills.
        clock_mhz: core clock in MHz.
        launch_us: launch overhead of the timing protocol in microseconds.
        n_candidates: configurations to look at.
        pto_isa: revision that the rule set was chosen by, if any.
        name: None gives ``workload-platform-number``.
    """

    workload: str
    workload_json: str
    problem: Mapping[str, Any]
    platform: str
    platform_sha256: str
    rule_set: str
    timing: str
    strategy: str
    objectives: Sequence[str]
    spec_sha256: str
    versions: Mapping[str, str]
    tunables: Sequence[Tunable]
    rules: Sequence[str]
    verdicts: Sequence[str]
    pipes: Sequence[str]
    clock_mhz: float
    launch_us: float
    n_candidates: int
    columns: Sequence[str] = ()
    seed: int = 0
    pto_isa: str | None = None
    name: str | None = None


@dataclass(frozen=True)
class Run:
    """A run as the store has it; times are in UTC and from the database's clock.

    Attributes:
        heartbeat_age_s: seconds between the last sign of life and this reading, both by the database's clock; never
            below 0.
        epoch: how often a writer has taken the run up after the first one.
        counts: how many configurations had each verdict and broke each rule, as the run's end gave them.

    The others mirror :class:`RunSpec` and the table.
    """

    id: int
    name: str
    state: str
    created_at: datetime
    heartbeat_at: datetime
    finished_at: datetime | None
    message: str
    workload: str
    workload_json: str
    platform: str
    platform_sha256: str
    rule_set: str
    pto_isa: str | None
    timing: str
    strategy: str
    seed: int
    spec_sha256: str
    clock_mhz: float
    launch_us: float
    n_candidates: int
    n_evaluated: int
    best_row: int | None
    best_cycles: int | None
    heartbeat_age_s: float
    problem: dict[str, Any] = field(default_factory=dict)
    objectives: tuple[str, ...] = ()
    versions: dict[str, str] = field(default_factory=dict)
    tunables: tuple[Tunable, ...] = ()
    rules: tuple[str, ...] = ()
    verdicts: tuple[str, ...] = ()
    pipes: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    counts: dict[str, Any] = field(default_factory=dict)
    epoch: int = 0

    @property
    def status(self) -> str:
        """The state, or ``interrupted`` where the run is running and its program gave no sign of life for long."""
        lost = self.state == "running" and self.heartbeat_age_s >= DEAD_AFTER_S
        return INTERRUPTED if lost else self.state


_LISTS = ("objectives", "tunables", "rules", "verdicts", "pipes", "columns")
_OBJECTS = ("problem", "versions", "counts")


def run_from_row(row: Mapping[str, Any], now: datetime) -> Run:
    """The run of one table row, read when the database's clock said ``now``."""
    values = {key: value for key, value in row.items() if not key.endswith("_json")}
    values["workload_json"] = row["workload_json"]
    for name in _LISTS:
        values[name] = tuple(json.loads(row[f"{name}_json"]))
    for name in _OBJECTS:
        values[name] = json.loads(row[f"{name}_json"])
    age_s = (now - row["heartbeat_at"]).total_seconds()
    # A sign of life of later than now is from before the clock was set back: as old as it is far away.
    return Run(**values, heartbeat_age_s=abs(age_s))


def to_json(value: object, what: str) -> str:
    """``value`` as JSON in ASCII, which every text column of every database can hold.

    Raises:
        StoreError: it has something that JSON has not, such as NaN or an object.
    """
    try:
        return json.dumps(value, allow_nan=False, default=operator.index)
    except (TypeError, ValueError, RecursionError):
        raise StoreError(f"{what} must be finite numbers, texts, lists and mappings, so that JSON holds it") from None


def plain_text(text: str) -> str:
    """``text`` without what a text column cannot hold: NUL characters and lone surrogates become ``?``."""
    return text.replace("\x00", "?").encode("utf-8", "replace").decode("utf-8")


def spec_values(spec: RunSpec) -> dict[str, Any]:
    """The column values of a new run, without its name, state and times.

    Raises:
        StoreError: values that the table cannot hold, all in one sentence.
    """
    problems = [*_tunable_problems(spec), *_number_problems(spec), *_name_problems(spec)]
    if problems:
        raise StoreError(f"the run cannot be kept: {'; '.join(problems)}")
    texts = ("workload", "workload_json", "platform", "platform_sha256", "rule_set", "timing", "strategy")
    return {
        **{name: plain_text(getattr(spec, name)) for name in (*texts, "spec_sha256")},
        "pto_isa": None if spec.pto_isa is None else plain_text(spec.pto_isa),
        "problem_json": to_json(dict(spec.problem), "the problem sizes"),
        "versions_json": to_json(dict(spec.versions), "the versions"),
        "objectives_json": to_json(list(spec.objectives), "the objectives"),
        "tunables_json": to_json(
            [{"name": tunable["name"], "domain": list(tunable["domain"])} for tunable in spec.tunables],
            "the tunables",
        ),
        **{f"{name}_json": to_json(list(getattr(spec, name)), name) for name in _LISTS[2:]},
        "counts_json": "{}",
        "seed": int(spec.seed),
        "clock_mhz": float(spec.clock_mhz),
        "launch_us": float(spec.launch_us),
        "n_candidates": int(spec.n_candidates),
        "n_evaluated": 0,
    }


def _tunable_problems(spec: RunSpec) -> list[str]:
    problems = []
    if len(spec.tunables) > MAX_TUNABLES:
        problems.append(f"it has {len(spec.tunables)} tunables, at most {MAX_TUNABLES} fit")
    names = [tunable["name"] for tunable in spec.tunables]
    if len(set(names)) < len(names):
        problems.append("two tunables have one name")
    for tunable in spec.tunables:
        if not 0 < len(tunable["domain"]) <= _LARGEST_INT16:
            problems.append(f"the domain of '{tunable['name']}' must have 1 to {_LARGEST_INT16} values")
    return problems


def _number_problems(spec: RunSpec) -> list[str]:
    problems = []
    if not (math.isfinite(spec.clock_mhz) and spec.clock_mhz > 0):
        problems.append(f"clock_mhz is {spec.clock_mhz}, it must be above 0")
    if not (math.isfinite(spec.launch_us) and spec.launch_us >= 0):
        problems.append(f"launch_us is {spec.launch_us}, it must be 0 or more")
    if not 0 <= spec.n_candidates <= _LARGEST_INT64:
        problems.append(f"n_candidates is {spec.n_candidates}, it must be 0 to 2**63-1")
    if not -_LARGEST_INT64 <= spec.seed <= _LARGEST_INT64:
        problems.append(f"seed is {spec.seed}, it must fit in 64 bits")
    return problems


def _name_problems(spec: RunSpec) -> list[str]:
    problems = [f"no configuration column is named '{name}'" for name in spec.columns if name not in BY_NAME]
    if not spec.verdicts:
        problems.append("it names no verdict, and every configuration has one")
    for what in ("rules", "verdicts", "pipes"):
        listed = getattr(spec, what)
        if len(set(listed)) < len(listed):
            problems.append(f"two of its {what} have one name")
        if len(listed) > _LARGEST_INT16:
            problems.append(f"it has {len(listed)} {what}, at most {_LARGEST_INT16} fit")
    return problems
