"""A `.pto` file as a workload, with the place of everything that a finding may name.

Functions of kind cube (AIC) and vector (AIV), or the sections of one function, become the programs. Integer arguments
on which something depends become problem sizes; SlotNum, LocalSlotNum and Split of every pipe become tunables with the
file's values as defaults. Further problem sizes are `blocks` (1 unless told otherwise: a file does not say how many are
launched) and, for kernels that talk to other ranks, `ranks`.

Limits: one kernel at a time (at most one function of each kind, and what they call; `kernels.choosing` says which of
a file belong together); structured control flow whose bounds
and conditions follow from constants, arguments, the block and the sub-core. `kernels.prices` says what things are taken
to cost, `kernels.syncing` how pipes of a core wait for each other where the file has no flags.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from pto_tune.kernels import attributes as words
from pto_tune.kernels.choosing import chosen, has_sections, kernels_of, kind_of, name_of, title_of
from pto_tune.kernels.control import function_arguments
from pto_tune.kernels.faults import START, Fault, Faults, KernelError, Place
from pto_tune.kernels.flags import is_explicit
from pto_tune.kernels.guards import decoded, fingerprint, load_text
from pto_tune.kernels.items import Item, Repeat, Step, steps
from pto_tune.kernels.memory import Allocation, buffers_of, one_place
from pto_tune.kernels.parsing import Op, Parsed, parse
from pto_tune.kernels.pipes import Ends, PipeOf, fifo_of, tunables_of, walk
from pto_tune.kernels.placing import place_of
from pto_tune.kernels.prices import stem
from pto_tune.kernels.program import read_function
from pto_tune.kernels.remote import finish_signals, is_remote
from pto_tune.kernels.state import Core, Kernel, Size, plain_name
from pto_tune.kernels.syncing import Syncing, finished
from pto_tune.kernels.values import Number, number
from pto_tune.model.communication import Tnotify, Ttest, Twait
from pto_tune.model.expr import Expr, expr, name
from pto_tune.model.nodes import Buffer, Fifo, Launch, Loop, Node, Parameter, Rule, Tunable, Workload
from pto_tune.model.serial import check

UNKNOWN = ("refuse", "price")
"""What to do with an operation that is not known."""
DEFAULT_RANKS = 2
FAMILY_OF_ARCH = {"a2": "a2a3", "a3": "a2a3", "a2a3": "a2a3", "a5": "a5"}

Path_ = tuple[str | int, ...]


@dataclass
class KernelFile:
    """A kernel that has been read.

    `places` has the place of every node by its way through the programs ("AIC", 3, 0), of every buffer, FIFO and
    problem size by name; `ends` both places of each FIFO. `unknown`: operations that were not known, with their places.
    `notes`: what was assumed. `family` is that of `pto.target_arch`, "" where the file gives none.
    """

    source: str
    workload: Workload
    family: str
    pipes: list[PipeOf]
    ends: Ends
    faults: Faults  # what contradicts in the file's own values; it can be evaluated all the same
    places: dict[Path_, Place] = field(default_factory=dict)
    named: dict[str, Place] = field(default_factory=dict)
    unknown: dict[str, list[Place]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    allocations: dict[str, list[Allocation]] = field(default_factory=dict)


CONTRADICTIONS = ("pipe-ends", "nosplit", "flag-never-set")
"""Rules of faults with which a file can be evaluated all the same."""


def read_kernel(path: str | Path, unknown: str = "refuse", family: str | None = None, kernel: str = "") -> KernelFile:
    """The kernel in a file. KernelError (ValueError) has every fault with line and column; ValueError where the parser
    is not installed. `family`: a2a3 or a5, where the file does not say it. `kernel`: the name of one of several."""
    return read_text(load_text(path), str(path), unknown, family, kernel)


def load_workload(path: str | Path) -> Workload:
    """The workload of a `.pto` file, whose contradictions are faults too."""
    kernel = read_kernel(path)
    kernel.faults.stop(kernel.source)
    return kernel.workload


def read_kernel_bytes(
    raw: bytes, source: str, unknown: str = "refuse", family: str | None = None, kernel: str = ""
) -> KernelFile:
    """As `read_kernel`, with the bytes of the file at hand."""
    return read_text(decoded(raw, source), source, unknown, family, kernel)


def kernel_names(text: str, source: str) -> list[str]:
    """The kernels of a file, each by the name of its first function. KernelError where it cannot be parsed."""
    return [title_of(cores) for cores in kernels_of(_parsed(parse(text, source), source, "price", None)[0])]


def read_text(
    text: str, source: str, unknown: str = "refuse", family: str | None = None, name_of_kernel: str = ""
) -> KernelFile:
    """As `read_kernel`, with the text at hand."""
    if unknown not in UNKNOWN:
        raise ValueError(f"unknown operations are to {unknown!r}: expected one of {', '.join(UNKNOWN)}")
    kernel, said = _parsed(parse(text, source), source, unknown, family)
    faults, ends = kernel.faults, kernel.ends
    cores = chosen(kernel, name_of_kernel)
    faults.stop(source)
    for core, function in cores:
        if not has_sections(function):
            ends.scan(name_of(function), core, (function,))
        elif function is not cores[0][1] or core == cores[0][0]:  # its sections share what stands around them
            ends.scan(name_of(function), "both", (function,))
    ends.pair()
    found = _Reader(kernel, said).run(cores)
    found.workload = replace(found.workload, source_sha256=fingerprint(text))
    return found


def _parsed(parsed: Parsed, source: str, unknown: str, family: str | None) -> tuple[Kernel, str]:
    """What a kernel is read into, and the family that the file names."""
    faults = Faults()
    functions = {name_of(op): op for op in walk(parsed.ops) if op.name in ("func.func", "func")}
    ends = Ends(faults, parsed.aliases)
    arch = next(
        (a["pto.target_arch"].string for op in parsed.ops if "pto.target_arch" in (a := words.attributes(op))), ""
    )
    said = FAMILY_OF_ARCH.get(arch, "")
    kernel = Kernel(source, functions, ends, faults, parsed.aliases, unknown == "price", said or family or "")
    return kernel, said


class _Reader:
    """Reads the functions of a kernel and puts the workload together."""

    def __init__(self, kernel: Kernel, said: str) -> None:
        self.kernel, self.said = kernel, said
        self.places: dict[Path_, Place] = {}
        self.named: dict[str, Place] = {}

    def run(self, cores: Sequence[tuple[str, Op]]) -> KernelFile:
        kernel = self.kernel
        kernel.ranked = any(is_remote(stem(op.name)) for _, f in cores for op in walk(f.regions[-1]))
        programs = [self.core(core, function) for core, function in cores]
        fatal = Faults()
        fatal.found = [f for f in kernel.faults.found if f.rule not in CONTRADICTIONS]
        fatal.stop(kernel.source)
        self._signals(programs)
        self._unset_flags(programs)
        buffers = list[Buffer]()
        bodies: list[tuple[str, tuple[Node, ...]]] = []
        allocations: dict[str, list[Allocation]] = {}
        for program in programs:
            allocations[program.core] = list(program.allocations.values())
            if not program.explicit:
                same = one_place(allocations[program.core])
                syncing = Syncing(program.core, lambda root, same=same: same.get(root, root))  # type: ignore[misc]
                syncing.run(program.items)
                buffers += syncing.buffers
            for buffer, place in buffers_of(program.core, allocations[program.core]):
                buffers.append(buffer)
                self.named[buffer.name] = place
            self._sub_cores(program)
            _mark_steady(program.items, kernel.ranked)
            bodies.append((program.core, self._emit(program.items, (program.core,), top=not kernel.ranked)))
        fatal.found = [f for f in kernel.faults.found if f.rule not in CONTRADICTIONS]
        fatal.stop(kernel.source)
        workload = self._workload(bodies, buffers, cores)
        found = check(workload)
        if found:
            raise KernelError(kernel.source, [Fault(self._place_of(sentence), sentence) for sentence in found])
        contradictions = Faults()
        contradictions.found = list(kernel.faults.found)
        if any(not p.explicit for p in programs):
            kernel.note("pipes of a core without flags in the file wait for each other as --enable-insert-sync has it")
        return KernelFile(
            kernel.source, workload, self.said, kernel.ends.pipes, kernel.ends, contradictions, self.places, self.named,
            kernel.unknown, list(kernel.notes), allocations,
        )  # fmt: skip

    def core(self, core: str, function: Op) -> Core:
        """The program of a function."""
        title = name_of(function)
        explicit = any(is_explicit(stem(op.name)) for op in walk(function.regions[-1]))
        program = Core(self.kernel, core, title, explicit, calls=(title,))
        self._given(program, function)
        read_function(program, function)
        return program

    def _given(self, program: Core, function: Op) -> None:
        """Arguments as the entry function passes them: under its names, or as constants."""
        mine = name_of(function)
        for entry in self.kernel.functions.values():
            if not entry.regions or kind_of(entry):
                continue
            outer = {n for n, _ in function_arguments(entry)}
            constants = {
                op.results[0]: int(t.text)
                for op in walk(entry.regions[-1])
                if op.name == "arith.constant" and op.results
                for t in op.tokens[:1]
                if t.kind == "number" and t.text.lstrip("-").isdigit() and len(t.text) < 10
            }
            for op in walk(entry.regions[-1]):
                callee = next((t.text.lstrip("@") for t in op.tokens if t.kind == "symbol"), "")
                if op.name not in ("func.call", "call") or callee != mine:
                    continue
                passed = [t.text for t in op.tokens if t.kind == "value"]
                for (name_, kind), value in zip(function_arguments(function), passed, strict=False):
                    if kind.startswith(("i", "ui", "si")) and value in constants:
                        program.scope.set(name_, number(constants[value]))
                    elif kind.startswith(("i", "ui", "si")) and value in outer:
                        program.scope.set(name_, Number(name(plain_name(value))))

    def _sub_cores(self, program: Core) -> None:
        """On 950, NO_SPLIT concerns the first vector sub-core alone: then only that one takes part."""
        pipes = self.kernel.ends.pipes
        splits = {split for pipe in pipes for split, _ in pipe.splits}
        if program.core != "AIV" or self.kernel.family != "a5" or splits != {0}:
            return
        self.kernel.sizes["sub_cores"] = Size(1, "vector sub-cores that take part: 1 (NO_SPLIT on Ascend 950) or 2")
        self.kernel.note("sub_cores = 1: on Ascend 950 NO_SPLIT signals and waits for the first vector sub-core alone")
        runs = Repeat(name("sub").lt(name("sub_cores")), list(program.items), START, branch=True)
        program.items[:] = [runs]

    def _signals(self, programs: Sequence[Core]) -> None:
        notified, waited, extents = set[str](), set[str](), dict[str, int]()
        nodes = [s for p in programs for s in steps(p.items) if isinstance(s.node, Tnotify | Twait | Ttest)]
        for step in nodes:
            node = step.node
            if isinstance(node, Tnotify):
                notified.add(node.signal)
                last = node.at
            else:
                assert isinstance(node, Twait | Ttest)
                waited.add(node.signal)
                last = node.at
                for count, stride in node.view:
                    last = last + (count - 1) * stride
            extents[node.signal] = max(extents.get(node.signal, 1), _largest(last) + 1)
        same = finish_signals(self.kernel, notified, waited, extents)
        for step in nodes:
            assert isinstance(step.node, Tnotify | Twait | Ttest)
            step.node = replace(step.node, signal=same.get(step.node.signal, step.node.signal))

    def _unset_flags(self, programs: Sequence[Core]) -> None:
        """A flag that nothing ever sets: the wait hangs, and is left out of what is evaluated further."""
        for program in programs:
            events = {s.event for s in steps(program.items)}
            for s in steps(program.items):
                for event in [e for e in s.waits if e not in events]:
                    said = f"{event} is waited for and never set: {program.core} hangs here"
                    self.kernel.faults.say(s.place, said, "flag-never-set")
                    s.waits.remove(event)

    def _emit(self, items: Sequence[Item], way: Path_, top: bool = False) -> tuple[Node, ...]:
        """The nodes of a program; their places are kept."""
        out = list[Node]()

        def put(node: Node, place: Place) -> None:
            self.places[*way, len(out)] = place
            out.append(node)

        for item in items:
            for step in item.before:
                put(finished(step), step.place)
            if isinstance(item, Step):
                put(finished(item), item.place)
            else:
                at = (*way, len(out))
                self.places[at] = item.place
                body = self._emit(item.items, at)
                out.append(Loop(item.trips, body, steady=top and item.steady))
            for step in item.after:
                put(finished(step), step.place)
        return tuple(out)

    def _place_of(self, sentence: str) -> Place:
        """Where the part of a program stands that a sentence of the model names, as `programs.AIV[0].body[1].name`."""
        match = re.match(r"programs\.(\w+)((?:\[\d+\]|\.body)*)", sentence)
        way: Path_ = () if match is None else (match[1], *map(int, re.findall(r"\d+", match[2])))
        return place_of(self.places, way) or START

    def _workload(
        self, bodies: list[tuple[str, tuple[Node, ...]]], buffers: list[Buffer], cores: Sequence[tuple[str, Op]]
    ) -> Workload:
        kernel = self.kernel
        tunables, fifos = list[Tunable](), list[Fifo]()
        rules = list[Rule]()
        for pipe in kernel.ends.pipes:
            if len(pipe.ends) < 2 and pipe.first.core != "both":
                continue
            tunables += tunables_of(pipe)
            fifos.append(fifo_of(pipe))
            self.named[pipe.name] = pipe.first.place
            if not pipe.global_data:
                rules.append(_local_rule(pipe))
        problem = [
            Parameter("blocks", 1, "blocks that are launched: a file does not say how many", 1, 2**20),
            *([Parameter("ranks", DEFAULT_RANKS, "ranks that take part: a file does not say how many", 1, 64)]
              if kernel.ranked else []),
            *(Parameter(n, s.default, s.doc[:900], 0 if n == "sub" else 1) for n, s in kernel.sizes.items()),
        ]  # fmt: skip
        functions = ", ".join(dict.fromkeys("@" + name_of(f) for _, f in cores))
        return Workload(
            name=title_of(list(cores)),
            doc=f"the kernel of {_printable(Path(kernel.source).name)}: {functions}"[:900],
            problem=tuple(problem),
            tunables=tuple(tunables),
            buffers=tuple(buffers),
            fifos=tuple(fifos),
            programs=tuple(bodies),
            launch=Launch(name("blocks"), expr(int(kernel.uses_block and _varies(bodies)))),
            rules=tuple(rules),
            uses_ub_scratch=kernel.uses_scratch,
            ranks=name("ranks") if kernel.ranked else expr(0),
            signals=tuple(kernel.signals.values()),
            staging=tuple(kernel.staging.values()),
            family=self.said,
        )


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text)


def _local_rule(pipe: PipeOf) -> Rule:
    """LocalSlotNum is at most SlotNum (PTOAS; on 950 it is not used)."""
    local, slots = name(f"{pipe.name}_local_slot_num"), name(f"{pipe.name}_slot_num")
    said = f"local_slot_num {{value}} of {pipe.name} is above its slot_num: expected at most {{limit}}"
    return Rule(f"{pipe.name}-local-slots", local.le(slots).or_(name("on_a5")), said, local, slots, slots)


def _largest(e: Expr) -> int:
    """A constant element, or 63 where it depends on something: room for as many ranks as are modelled."""
    return min(int(e.args[0]), 4095) if e.op == "int" and e.args[0] >= 0 else 63


def _varies(bodies: Sequence[tuple[str, tuple[Node, ...]]]) -> bool:
    """Whether some expression of the programs uses the block."""
    from pto_tune.kernels.expressions import uses

    return any(uses(body, "block") for _, body in bodies)


def _mark_steady(items: Sequence[Item], ranked: bool) -> None:
    """The longest loop at top level is the main one: one of unknown length before constants."""
    loops = [i for i in items if isinstance(i, Repeat) and not i.branch]
    if loops and not ranked:
        main = max(loops, key=lambda r: r.trips.args[0] if r.trips.op == "int" else 2**40)
        main.steady = True


__all__ = [
    "KernelError",
    "KernelFile",
    "kernel_names",
    "load_workload",
    "read_kernel",
    "read_kernel_bytes",
    "read_text",
]
