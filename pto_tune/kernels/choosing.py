"""The kernels of a file: which functions run together, one for the cube cores, one for the vector cores, or both.

Functions belong together where one imports a buffer that the other reserves, or where a third one calls both; of the
others the only two do, or as many for each core by their order. A function with sections is a kernel by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from pto_tune.kernels import attributes as words
from pto_tune.kernels.faults import START
from pto_tune.kernels.parsing import Op
from pto_tune.kernels.pipes import walk
from pto_tune.kernels.prices import stem
from pto_tune.kernels.program import SECTIONS
from pto_tune.kernels.state import Kernel, plain_name

Cores = list[tuple[str, Op]]
"""The function of each core, that of AIC first."""


def name_of(function: Op) -> str:
    """The name of a function, without its @."""
    return next((t.text.lstrip("@").strip('"') for t in function.tokens if t.kind == "symbol"), "")


def kind_of(function: Op) -> str:
    """AIC or AIV by `pto.kernel_kind`, "" without it."""
    kind = words.attributes(function).get("pto.kernel_kind")
    return {"cube": "AIC", "vector": "AIV"}.get(kind.last_word if kind is not None else "", "")


def has_sections(function: Op) -> bool:
    """Whether a function has parts for single cores."""
    return any(stem(op.name) in SECTIONS for op in walk(function.regions[-1] if function.regions else ()))


def title_of(cores: Cores) -> str:
    """What a kernel is called: as its first function."""
    return plain_name(name_of(cores[0][1]))


def chosen(kernel: Kernel, wanted: str = "") -> Cores:
    """The functions of the kernel of this name (that of one of its functions), of the only one without a name; none,
    and a fault, where there is no such one."""
    found = kernels_of(kernel)
    if not found:
        kernel.faults.say(START, "has no function of kind cube or vector: expected pto.kernel_kind, or sections")
        return []
    if len(found) == 1:
        return found[0]
    own = [c for c in found if wanted and wanted in {w for _, f in c for w in (name_of(f), plain_name(name_of(f)))}]
    if own:
        return own[0]
    listed = ", ".join(map(title_of, found[:8])) + (" ..." if len(found) > 8 else "")
    if wanted:
        kernel.faults.say(START, f"has no kernel {wanted!r}: expected one of {listed}")
    else:
        said = f"has {len(found)} kernels ({listed}): expected one, or the name of one (pto-tune import --kernel)"
        kernel.faults.say(found[1][0][1].place, said, "several-kernels")
    return []


def kernels_of(kernel: Kernel) -> list[Cores]:
    """The kernels of a file in order."""
    groups: list[Cores] = []
    plain = list[Op]()
    for function in kernel.functions.values():
        if not function.regions:
            continue
        kind = kind_of(function)
        if has_sections(function):
            inside = {SECTIONS[stem(op.name)] for op in walk(function.regions[-1]) if stem(op.name) in SECTIONS}
            groups.append([(core, function) for core in sorted(inside)])
        elif kind:
            groups.append([(kind, function)])
        else:
            plain.append(function)
    if not groups:
        # a function without a kind that talks to other ranks, or works on tiles of UB, is one for the vector cores
        groups = [[("AIV", f)] for f in plain if any(op.name.startswith("pto.") for op in walk(f.regions[-1]))]
        for _, function in (c for g in groups for c in g):
            kernel.note(f"{name_of(function)} has no kernel_kind: it is taken to be of kind vector")
    functions = {name_of(f): (core, f) for g in groups if len(g) == 1 for core, f in g}
    for one, other in _by_buffers(groups):
        if one != other and one in functions and other in functions and functions[one][0] == functions[other][0]:
            (core, first), (_, second) = sorted((functions[one], functions[other]), key=lambda c: c[1].place)
            said = f"@{name_of(second)} is a second function for {core}, beside @{name_of(first)} of {first.place}"
            kernel.faults.say(second.place, f"{said}, with which it shares a buffer: expected one for each core")
        _join(groups, one, other)
    for one, other in _by_calls(groups, plain):
        _join(groups, one, other)
    cubes = [g for g in groups if [core for core, _ in g] == ["AIC"]]
    vectors = [g for g in groups if [core for core, _ in g] == ["AIV"]]
    if len(cubes) == len(vectors):
        for cube, vector in zip(cubes, vectors, strict=True):
            _join(groups, name_of(cube[0][1]), name_of(vector[0][1]))
    return sorted(groups, key=lambda g: min(f.place for _, f in g))


def _by_buffers(groups: Sequence[Cores]) -> Iterator[tuple[str, str]]:
    """Functions, each with one whose reserved buffer it imports."""
    for function in [f for g in groups for _, f in g]:
        for op in walk(function.regions[-1]):
            peer = words.attributes(op).get("peer_func") if op.name == "pto.import_reserved_buffer" else None
            if peer is not None:
                yield name_of(function), peer.text.lstrip("@").strip('"')


def _by_calls(groups: Sequence[Cores], plain: Sequence[Op]) -> Iterator[tuple[str, str]]:
    """Functions that one function calls behind one another."""
    known = {name_of(f) for g in groups for _, f in g}
    for function in plain:
        called = [
            next((t.text.lstrip("@").strip('"') for t in op.tokens if t.kind == "symbol"), "")
            for op in walk(function.regions[-1])
            if op.name in ("func.call", "call")
        ]
        own = [name for name in dict.fromkeys(called) if name in known]
        yield from pairwise(own)


def _join(groups: list[Cores], one: str, other: str) -> None:
    """Make one kernel of those of two functions, where it has one function for each core."""
    found = [next((g for g in groups if name in {name_of(f) for _, f in g}), None) for name in (one, other)]
    first, second = found
    if first is None or second is None or first is second or {c for c, _ in first} & {c for c, _ in second}:
        return
    groups.remove(second)
    first[:] = sorted([*first, *second], key=lambda c: c[0])
