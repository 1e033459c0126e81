"""The findings about a kernel file under its own configuration, each with its place.

Verdicts are those of the evaluation (refused, hang, overwrite, race), from the rules of legality, from what the
programs can do whatever the durations are, and from `kernels.checks`. What cannot be read at all has the verdict
`unread`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pto_tune.kernels.checks import Found, file_checks
from pto_tune.kernels.faults import START, KernelError, Place
from pto_tune.kernels.guards import load_text
from pto_tune.kernels.placing import Way, calls_of, instructions_of, node_at, place_of, ways_of_operations
from pto_tune.kernels.reading import KernelFile, kernel_names, read_text
from pto_tune.workloads import default_platform

if TYPE_CHECKING:
    from cost_models.platform import Platform
    from pto_tune.evaluation import Evaluation
    from pto_tune.lowering.code import Code

UNREAD = "unread"
ORDER = (UNREAD, "refused", "hang", "overwrite", "race")


@dataclass(frozen=True)
class Finding:
    """What is wrong at a place of a file; `others` are further places with what is there."""

    file: str
    place: Place
    verdict: str
    rule: str
    sentence: str
    others: tuple[tuple[Place, str], ...] = ()

    def __str__(self) -> str:
        return f"{self.file}:{self.place}: {self.verdict} ({self.rule}): {self.sentence}"


@dataclass(frozen=True)
class Report:
    """All findings about a file in order; `platform` and `rule_set` are "" where it could not be read. `warnings` are
    what no rule forbids, `notes` what was assumed. `time_us`: the predicted time, None where there is none; of
    several kernels each has its own in `kernels`, beside its name."""

    file: str
    findings: tuple[Finding, ...]
    platform: str = ""
    rule_set: str = ""
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    time_us: float | None = None
    kernels: tuple[tuple[str, float | None], ...] = ()

    @property
    def unread(self) -> bool:
        """Whether the file could not be read."""
        return any(f.verdict == UNREAD for f in self.findings)

    @property
    def verdict(self) -> str:
        """The verdict of the file: ok, or the first in `ORDER` that some finding has."""
        return next((v for v in ORDER if any(f.verdict == v for f in self.findings)), "ok")


def lint(
    path: str | Path,
    platform: str | Platform | None = None,
    pto_isa: str | None = None,
    values: Mapping[str, int] | None = None,
    unknown: str = "refuse",
) -> Report:
    """Check a kernel file. `values` are problem sizes and tunables that are not to have the file's values.

    ValueError for an unknown platform, revision or value, and where the parser is not installed; what is wrong with the
    file is in the findings.
    """
    from cost_models import load_platform
    from cost_models.platform import Platform as P

    chip = load_platform(platform) if isinstance(platform, str) else platform
    assert chip is None or isinstance(chip, P)
    source, given = str(path), dict(values or {})
    try:
        text = load_text(path)
        names = kernel_names(text, source)
    except KernelError as e:
        return _unread(e)
    reports, left = list[Report](), set(given)
    for name in names or [""]:
        try:
            kernel = read_text(text, source, unknown, chip.family if chip is not None else "a2a3", name)
        except KernelError as e:
            reports.append(_unread(e))
            continue
        known = set(kernel.workload.parameter_names())
        left -= known
        own = {n: v for n, v in given.items() if n in known or len(names) < 2}
        reports.append(_checked(kernel, chip or load_platform(default_platform(kernel.workload)), pto_isa, own))
    if left and len(names) > 1 and not any(r.unread for r in reports):
        raise ValueError(f"{source}: no kernel has {', '.join(sorted(left))}: expected a problem size or tunable")
    return reports[0] if len(reports) == 1 else _together(source, names, reports)


def _unread(e: KernelError) -> Report:
    return Report(e.source, tuple(Finding(e.source, f.place, UNREAD, f.rule, f.sentence) for f in e.faults))


def _together(source: str, names: Sequence[str], reports: Sequence[Report]) -> Report:
    """The report of a file with several kernels. Its time is that of none of them."""
    read = next((r for r in reports if not r.unread), reports[0])
    return Report(
        source,
        tuple(sorted(dict.fromkeys(f for r in reports for f in r.findings), key=_in_order)),
        read.platform,
        read.rule_set,
        tuple(dict.fromkeys(w for r in reports for w in r.warnings)),
        tuple(dict.fromkeys(n for r in reports for n in r.notes)),
        kernels=tuple((name, r.time_us) for name, r in zip(names, reports, strict=True)),
    )


def _in_order(f: Finding) -> tuple[Place, int, str]:
    return f.place, ORDER.index(f.verdict), f.rule


def _checked(kernel: KernelFile, chip: Platform, pto_isa: str | None, values: Mapping[str, int]) -> Report:
    from pto_tune.evaluation import Problem, evaluate_columns

    notes = list(kernel.notes)
    if kernel.family and kernel.family != chip.family:
        notes.append(f"the file is for {kernel.family}, and {chip.name} is of family {chip.family}")
    found = list(file_checks(kernel, chip.family))
    problem = Problem.of(kernel.workload, chip, pto_isa)
    e = evaluate_columns(problem, dict(values))
    found += _rules(kernel, e)
    findings = {Finding(kernel.source, f.place, f.verdict, f.rule, f.sentence, f.others): None for f in found}
    ordered = sorted(findings, key=_in_order)
    for name, places in kernel.unknown.items():
        lines = ", ".join(str(p.line) for p in places[:10])
        notes.append(f"{name} (line {lines}{' and others' if len(places) > 10 else ''}) is priced by the stated rule")
    return Report(
        kernel.source,
        tuple(ordered),
        chip.name,
        problem.rule_set.name,
        tuple(e.warnings(0)),
        tuple(notes),
        float(e.time_us[0]) if e.timed[0] else None,
    )


def _rules(kernel: KernelFile, e: Evaluation) -> Iterator[Found]:
    """The rules that the file's configuration breaks."""
    import numpy as np

    from pto_tune import verdicts

    for r in np.flatnonzero(e.broken[:, 0]):
        rule = e.rules[r]
        places = list(_places(kernel, e, rule))
        first, others = (places[0][0], tuple(places[1:5])) if places else (START, ())
        verdict = verdicts.VERDICTS[e.rule_verdict(int(r))]
        yield Found(first, verdict, rule, e.sentence(0, int(r)), others)


def _places(kernel: KernelFile, e: Evaluation, rule: str) -> Iterator[tuple[Place, str]]:
    """Where a rule is broken: the most telling place first."""
    from pto_tune import verdicts

    if rule in verdicts.STRUCTURE_RULES and e.execution is not None:
        yield from _blocked(kernel, e, rule) if rule == verdicts.DEADLOCK_RULE else _tracks(kernel, e, rule)
        return
    if rule in verdicts.ALL_VERDICTS:
        yield from _by_node(kernel, rule)
        return
    if rule.startswith("capacity-"):
        yield from _largest(kernel, e, rule.removeprefix("capacity-"))
        return
    name = rule.removeprefix("align-")
    if name in kernel.named and name not in {f.name for f in kernel.workload.fifos}:
        yield kernel.named[name], name
        return
    pipe = max((p for p in kernel.pipes if rule.startswith((p.name, f"align-{p.name}"))), key=lambda p: len(p.name),
               default=None)  # fmt: skip
    if pipe is not None:
        what = rule.removeprefix("align-").removeprefix(pipe.name).partition("-")[2]
        yield from _of_pipe(kernel, pipe.name, what)
        return
    op = rule.rpartition("-")[0]
    for way in instructions_of(kernel.workload, op):
        place = place_of(kernel.places, way)
        if place is not None:
            yield place, op.upper()
    for word in ("remote", "staging"):
        if rule.startswith(word):
            yield from _by_node(kernel, word)


_AT_INIT = ("direction", "slot-num", "slot-size", "flag-id", "gm-bytes", "local-slots", "local-slot-num")


def _of_pipe(kernel: KernelFile, name: str, what: str) -> Iterator[tuple[Place, str]]:
    """Where a pipe is initialised, or its calls, whichever a rule is about."""
    pipe = next(p for p in kernel.pipes if p.name == name)
    attribute = {"slot-num": "slot_num", "slot-size": "slot_size", "flag-id": "flag_base",
                 "local-slots": "local_slot_num", "local-slot-num": "local_slot_num"}.get(what, "")  # fmt: skip
    ends = [(end.places.get(attribute, end.place), f"{name} is initialised") for end in pipe.ends]
    calls = [
        (place, f"{type(node).__name__.upper()} of {name}")
        for way, node in calls_of(kernel.workload, name)
        if (place := place_of(kernel.places, way)) is not None
    ]
    first = what in _AT_INIT or what.startswith("flags-of") or not what
    yield from (*ends, *calls) if first else (*calls, *ends)


def _largest(kernel: KernelFile, e: Evaluation, memory: str) -> Iterator[tuple[Place, str]]:
    """What takes most of a memory."""
    import numpy as np

    from pto_tune import legality
    from pto_tune.lowering.columns import environment

    env = environment(kernel.workload, {**e.table, "block": np.zeros(1, dtype=np.int64)})
    parts = legality.memory_parts(kernel.workload, memory, env, 1, e.problem.rule_set)
    for name, size in sorted(parts, key=lambda p: -int(p[1][0])):
        place = kernel.named.get(name, kernel.named.get(name.split(" ")[0].split(".")[0]))
        if place is not None and size[0] > 0:
            yield place, f"{name}: {int(size[0])} bytes"


def _blocked(kernel: KernelFile, e: Evaluation, rule: str) -> Iterator[tuple[Place, str]]:
    """Where each core and pipe of a hang stands."""
    assert e.execution is not None
    code, ways = e.problem.code, ways_of_operations(kernel.workload, e.problem.rule_set)
    row = e.execution.lanes.schedules.blocked[e.schedule_of(0, rule)]
    who = [*code.cores, *code.pipes]
    late = list[tuple[Place, str]]()
    stuck = [(name, int(at)) for name, at in zip(who, row, strict=False) if at >= 0]
    for name, at in sorted(stuck, key=lambda s: _aside(code, s[1])):
        way = ways.get(at)
        place = place_of(kernel.places, way) if way is not None else None
        if place is not None:
            yield place, f"{name} waits here"
            continue
        fifo = code.names[at].rpartition(" ")[2]
        if fifo in kernel.named:
            late.append((_own_end(kernel, fifo, name), f"{name} waits in the destructor of {fifo}"))
    yield from late


def _aside(code: Code, at: int) -> int:
    """0 for a wait for another core, 1 for one for a pipe of the same core, 2 for one for room in a queue."""
    from pto_tune.lowering import code as c

    if code.ops[at, 0] == c.BEGIN:
        return 2
    return 0 if code.channels[int(code.ops[at, 1])].counter else 1


def _own_end(kernel: KernelFile, fifo: str, core: str) -> Place:
    pipe = next(p for p in kernel.pipes if p.name == fifo)
    return next((end.place for end in pipe.ends if end.core == core[:3]), pipe.first.place)


def _tracks(kernel: KernelFile, e: Evaluation, rule: str) -> Iterator[tuple[Place, str]]:
    """The calls of the pipe whose slots a rule is about."""
    from pto_tune import sentences, verdicts

    assert e.execution is not None
    code, schedules, i = e.problem.code, e.execution.lanes.schedules, e.schedule_of(0, rule)
    if rule in sentences.OVER_COLUMN:
        track = code.tracks[sentences.first_tile(code, schedules, i, rule)[0]]
        fifo = next((f.name for f in kernel.workload.fifos if f.name in track.split(".")), "")
    elif rule == verdicts.PUSH_RULE:
        fifo = next(x.fifo for n, x in enumerate(code.endpoints) if schedules.end_count[i, n, 1] >= 0)
    else:
        text = sentences.sentence(code, schedules, i, rule)
        fifo = next((f.name for f in kernel.workload.fifos if f.name in text), kernel.workload.fifos[0].name)
    if fifo:
        yield from _of_pipe(kernel, fifo, "calls")


def _by_node(kernel: KernelFile, rule: str) -> Iterator[tuple[Place, str]]:
    """The first signals or transfers between ranks."""
    order = ("Tput", "Tget")
    if rule.startswith("missed"):
        order = ("Twait", "Ttest")
    elif rule.startswith(("signal", "rank")):
        order = ("Tnotify", "Twait")
    for kind in (*order, "Tput", "Tget", "Tnotify", "Twait", "Ttest"):
        for way, place in kernel.places.items():
            if type(_node(kernel, way)).__name__ == kind:
                yield place, kind.upper()


def _node(kernel: KernelFile, way: Way) -> object:
    return node_at(kernel.workload, way)


def by_verdict(findings: Sequence[Finding]) -> dict[str, int]:
    """How many findings have each verdict."""
    return {v: n for v in ORDER if (n := sum(f.verdict == v for f in findings))}
