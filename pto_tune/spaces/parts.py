"""The static rules of a workload in parts that are evaluated apart from each other.

A part is a call of a function of `pto_tune.legality` for a piece of the workload: one memory, one buffer, one pipe.
`rules` pulls its rules one after the other and says of each which problem sizes and tunables it has read. That rests
on how these functions are written: each rule reads for itself all that it needs. Functions that read everything before
their first rule are `eager`: each of their rules counts as reading what any of them has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

from pto_tune import legality
from pto_tune.legality.bulk import bulk_rules
from pto_tune.legality.calls import PipeUse, Site, pipe_uses
from pto_tune.legality.memory import MEMORIES, alignment_rules, capacity_rules
from pto_tune.legality.parts import part_rules
from pto_tune.legality.pipes import pipe_rules
from pto_tune.legality.remote import remote_rules
from pto_tune.legality.rules import RuleColumn, column
from pto_tune.legality.shapes import shape_rules
from pto_tune.legality.tiles import tile_rules
from pto_tune.model.expr import evaluate, expr, names_in
from pto_tune.model.nodes import Loop, Talloc, Tfree, Tpop, Tpush, While
from pto_tune.spaces.reading import Reader, stands_for

if TYPE_CHECKING:
    from pto_tune.evaluation import Problem
    from pto_tune.legality.rules import Bools
    from pto_tune.model.nodes import Fifo, Node, Rule, Workload

Run = Callable[[Reader], Iterator[RuleColumn]]


@dataclass(frozen=True)
class Read:
    """A rule as it was evaluated: where it is broken (n), and the problem sizes and tunables that it has read."""

    name: str
    refuses: bool
    broken: Bools
    names: frozenset[str]


@dataclass(frozen=True)
class Part:
    """Rules that are evaluated together."""

    run: Run
    eager: bool = False

    def rules(self, reader: Reader) -> list[Read]:
        """All rules over the reader's rows."""
        reader.take()
        found: list[Read] = []
        for rule in self.run(reader):
            found.append(Read(rule.name, rule.verdict == "refused", rule.broken, frozenset(reader.take())))
        if self.eager:
            every = frozenset().union(*(r.names for r in found), reader.take())
            found = [replace(r, names=every) for r in found]
        return found


def facts_of(problem: Problem) -> dict[str, int]:
    """Names that rules of workloads may use beside those of the workload."""
    return {"on_a5": int(problem.platform.family == "a5")}


def whole(problem: Problem) -> Part:
    """All static rules as one part: each reads everything."""

    def run(reader: Reader) -> Iterator[RuleColumn]:
        yield from legality.check(problem.workload, problem.platform, problem.rule_set, reader.env, reader.n)

    return Part(run, eager=True)


def parts(problem: Problem) -> list[Part]:
    """All static rules, in the order of `legality.check`."""
    workload, platform = problem.workload, problem.platform
    out = [Part(_own(rule)) for rule in workload.rules]
    called = _called(workload)
    pipes = [f for f in workload.fifos if f.name in called]
    out += [Part(_of_pipe(problem, f)) for f in pipes]
    for a, b in combinations(pipes, 2):
        out.append(Part(_of_pair(problem, a, b), eager=True))
    for f in pipes:
        out.append(Part(_of_tiles(problem, f)))
    for memory in MEMORIES:
        out.append(Part(_of_memory(problem, memory)))
    bare = replace(workload, buffers=(), fifos=())
    out += [Part(_aligned(problem, replace(bare, buffers=(b,)))) for b in workload.buffers]
    out += [Part(_aligned(problem, replace(bare, fifos=(f,)))) for f in workload.fifos]
    out.append(Part(lambda reader: shape_rules(workload, reader.env, reader.n), eager=True))
    out.append(Part(lambda reader: bulk_rules(workload, platform, reader.env, reader.n), eager=True))
    if workload.has_ranks:
        out.append(Part(lambda reader: iter(remote_rules(workload, platform, reader.env, reader.n)), eager=True))
    return out


def _own(rule: Rule) -> Run:
    def run(reader: Reader) -> Iterator[RuleColumn]:
        yield RuleColumn(rule.name, column(evaluate(rule.ok, reader.env), reader.n) == 0, lambda _: rule.sentence)

    return run


def _aligned(problem: Problem, piece: Workload) -> Run:
    return lambda reader: alignment_rules(piece, problem.platform, reader.env, reader.n)


# Pipes


class _WatchedSite(Site):
    """A call whose ends note when they are looked at."""

    def __getattribute__(self, name: str) -> Any:
        if name == "ends":
            object.__getattribute__(self, "_looked")()
        return object.__getattribute__(self, name)


def _uses(problem: Problem, pipes: list[Fifo], reader: Reader) -> list[PipeUse]:
    """The pipes' calls. What decides them counts as read as soon as a rule looks at the ends of one."""
    found = []
    for f in pipes:
        piece = _calls_of(problem.workload, f)
        before = reader.take()
        uses = pipe_uses(piece, problem.rule_set, reader.env, reader.n)
        behind_calls = frozenset(reader.take())
        reader.seen = before
        found += [replace(use, sites=tuple(_watched(s, reader, behind_calls) for s in use.sites)) for use in uses]
    return found


def _watched(site: Site, reader: Reader, names: frozenset[str]) -> Site:
    watched = object.__new__(_WatchedSite)
    for name in ("node", "core", "way", "producer", "ends"):
        object.__setattr__(watched, name, object.__getattribute__(site, name))
    object.__setattr__(watched, "_looked", lambda: reader.seen.update(names))
    return watched


def _noting_use(problem: Problem, f: Fifo, reader: Reader, rules: Iterator[RuleColumn]) -> Iterator[RuleColumn]:
    """Rules of a pipe: all of them may read whether it is used."""
    used = stands_for(problem.workload, set(names_in(f.used)))
    for rule in rules:
        reader.seen |= used
        yield rule


def _of_pipe(problem: Problem, f: Fifo) -> Run:
    def run(reader: Reader) -> Iterator[RuleColumn]:
        uses = _uses(problem, [f], reader)
        found = pipe_rules(uses, problem.platform, problem.rule_set, reader.env, reader.n)
        yield from _noting_use(problem, f, reader, found)

    return run


def _of_pair(problem: Problem, a: Fifo, b: Fifo) -> Run:
    """What two pipes ask of each other: the rules behind those of each by itself."""

    def run(reader: Reader) -> Iterator[RuleColumn]:
        uses = _uses(problem, [a, b], reader)
        args = (problem.platform, problem.rule_set, reader.env, reader.n)
        alone = sum(len(list(pipe_rules([use], *args))) for use in uses)
        both = list(pipe_rules(uses, *args))[alone:]
        reader.seen.clear()  # these read nothing but whether the pipes are used
        for f in (a, b):
            reader.seen |= stands_for(problem.workload, set(names_in(f.used)))
        yield from both

    return run


def _of_tiles(problem: Problem, f: Fifo) -> Run:
    def run(reader: Reader) -> Iterator[RuleColumn]:
        for use in _uses(problem, [f], reader):
            if use.possible:
                found = tile_rules(use, problem.rule_set, reader.env, reader.n)
                yield from _noting_use(problem, f, reader, found)
                yield from _noting_use(problem, f, reader, part_rules(use, reader.env, reader.n))

    return run


def _of_memory(problem: Problem, memory: str) -> Run:
    w = problem.workload
    piece = replace(
        w,
        buffers=tuple(b for b in w.buffers if b.memory == memory),
        rings=tuple(r for r in w.rings if r.memory == memory),
        staging=w.staging if memory == "UB" else (),
    )
    pipes = [f for f in w.fifos if f.name in _called(w)] if memory in ("UB", "L1") else []

    def run(reader: Reader) -> Iterator[RuleColumn]:
        uses = _uses(problem, pipes, reader)
        rules = capacity_rules(piece, problem.platform, problem.rule_set, uses, reader.env, reader.n)
        for rule in rules:
            if rule.name == f"capacity-{memory}":
                yield rule

    return run


def _called(workload: Workload) -> set[str]:
    """Pipes that some program calls, in a way that they go."""
    fifos = {f.name: f for f in workload.fifos}
    found: set[str] = set()

    def look(core: str, nodes: tuple[Node, ...]) -> None:
        for node in nodes:
            if isinstance(node, Loop | While):
                look(core, node.body)
            elif isinstance(node, Talloc | Tpush | Tpop | Tfree) and node.fifo in fifos:
                f = fifos[node.fifo]
                if f.flow_of(core, isinstance(node, Talloc | Tpush)) in f.flows:
                    found.add(f.name)

    for core, program in workload.programs:
        look(core, program)
    return found


def _calls_of(workload: Workload, f: Fifo) -> Workload:
    """The workload with nothing in its programs but the calls of one pipe, and the loops around them."""

    def kept(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        out: list[Node] = []
        for node in nodes:
            if isinstance(node, Loop | While):
                body = kept(node.body)
                if body:
                    out.append(replace(node, body=body))
            elif isinstance(node, Talloc | Tpush | Tpop | Tfree) and node.fifo == f.name:
                out.append(node)
        return tuple(out)

    return replace(
        workload,
        fifos=(f,),
        programs=tuple((core, kept(program)) for core, program in workload.programs),
        buffers=(),
        rings=(),
        rules=(),
        l2_footprint=expr(0),
    )
