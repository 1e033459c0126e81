"""What a file says against itself, beside what its configuration does: the checks that need its own words.

- mixed-splits: pushes and pops of one way of a pipe have other splits, so that each side computes other parts of a
  slot;
- reserve-size: a reserved buffer is not what the pipe's local slots take (A2/A3: slot_size x local_slot_num, 950:
  slot_size x slot_num; PTOAS, design of TPUSH and TPOP);
- reserve-missing: what a function imports is reserved by no function;
- tile-in-ring: a tile with an address lies in a reserved buffer with one, which the pipe fills;
- rings-meet: two reserved buffers with addresses in one memory have bytes in common.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pto_tune.kernels.faults import Place
from pto_tune.kernels.pipes import PipeOf
from pto_tune.kernels.reading import KernelFile
from pto_tune.kernels.values import Reserved

_MEMORY = {"vec": "UB", "mat": "L1"}
_OWNER = {"UB": "AIV", "L1": "AIC"}


@dataclass(frozen=True)
class Found:
    """A finding before it has the name of its file: `others` are further places with what is there."""

    place: Place
    verdict: str
    rule: str
    sentence: str
    others: tuple[tuple[Place, str], ...] = ()


def file_checks(kernel: KernelFile, family: str) -> Iterator[Found]:
    """All checks of this module, and the contradictions that reading found."""
    for fault in kernel.faults.found:
        verdict = "hang" if fault.rule == "flag-never-set" else "refused"
        yield Found(fault.place, verdict, fault.rule, fault.sentence)
    for pipe in kernel.pipes:
        yield from _splits(pipe)
        yield from _reserved(pipe, family)
    yield from _missing(kernel)
    yield from _overlaps(kernel)
    yield from _meeting(kernel)


def _splits(pipe: PipeOf) -> Iterator[Found]:
    for way in ("C2V", "V2C"):
        pushes, pops = pipe.uses.get((way, True), []), pipe.uses.get((way, False), [])
        strange = [(s, place) for s, place in pops if s not in {p for p, _ in pushes}]
        if pushes and strange:
            split, place = strange[0]
            said = f"{pipe.name} is popped with split {split} and pushed with {', '.join(_words(pushes))}"
            why = "each side computes its part of a slot by its own split"
            others = tuple((p, f"pushed with split {s}") for s, p in pushes[:4])
            yield Found(place, "refused", "mixed-splits", f"{said}: {why}; expected one split", others)


def _words(uses: list[tuple[int, Place]]) -> list[str]:
    return sorted({str(s) for s, _ in uses})


def slots_reserved(family: str) -> str:
    """The attribute of a pipe that says how many slots its reserved buffers hold."""
    return "slot_num" if family == "a5" else "local_slot_num"


def _reserved(pipe: PipeOf, family: str) -> Iterator[Found]:
    if pipe.global_data:
        return
    what = slots_reserved(family)
    needed = pipe.first.numbers["slot_size"] * int(pipe.first.value(what) or 0)
    for end in pipe.ends:
        for buffer in end.buffers:
            if not buffer.imported and buffer.size != needed:
                said = f"{buffer.name!r} of {pipe.name} has {buffer.size} bytes: expected slot_size x {what} = {needed}"
                yield Found(buffer.place, "refused", "reserve-size", said, ((end.place, "the pipe"),))


def _missing(kernel: KernelFile) -> Iterator[Found]:
    own = {(b.name, b.function) for b in kernel.ends.reserved if not b.imported}
    for b in kernel.ends.reserved:
        if b.imported and (b.name, b.function) not in own:
            said = f"{b.name!r} is imported from @{b.function}, which reserves no buffer of that name"
            yield Found(b.place, "refused", "reserve-missing", f"{said}: expected a pto.reserve_buffer there")


def _overlaps(kernel: KernelFile) -> Iterator[Found]:
    rings = [b for b in kernel.ends.reserved if not b.imported and b.base is not None and b.location in _MEMORY]
    for ring in rings:
        memory = _MEMORY[ring.location]
        for a in kernel.allocations.get(_OWNER[memory], ()):
            if a.memory == memory and a.address is not None and _meet(ring, a.address, a.bytes):
                start, end = ring.base or 0, (ring.base or 0) + ring.size
                said = f"tile {a.name} at bytes {a.address} to {a.address + a.bytes} of {memory} lies in {ring.name!r}"
                more = f"whose local slots a pipe fills at {start} to {end}"
                yield Found(a.place, "overwrite", "tile-in-ring", f"{said}, {more}", ((ring.place, "the buffer"),))


def _meeting(kernel: KernelFile) -> Iterator[Found]:
    rings = [b for b in kernel.ends.reserved if not b.imported and b.base is not None and b.location in _MEMORY]
    for i, ring in enumerate(rings):
        for other in rings[:i]:
            if other.location == ring.location and _meet(other, ring.base or 0, ring.size):
                start, end = ring.base or 0, (ring.base or 0) + ring.size
                said = f"{ring.name!r} at bytes {start} to {end} of {_MEMORY[ring.location]} meets {other.name!r}"
                more = f"at {other.base} to {(other.base or 0) + other.size}: expected buffers beside each other"
                yield Found(ring.place, "overwrite", "rings-meet", f"{said} {more}", ((other.place, "the other"),))


def _meet(ring: Reserved, address: int, size: int) -> bool:
    base = ring.base or 0
    return address < base + ring.size and base < address + size
