"""A kernel file with other values for its pipes, and every other byte as it was.

Patched are slot_num, local_slot_num and slot_size of both ends, the split of the calls, and the size of the reserved
buffers that hold a pipe's local slots. What a file leaves to its defaults is written only where another value is
wanted. The result is read again: it has to have the wanted values, and no finding of `kernels.checks` that the file had
not before.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pto_tune.kernels import attributes as words
from pto_tune.kernels.attributes import Attribute
from pto_tune.kernels.checks import file_checks, slots_reserved
from pto_tune.kernels.faults import Fault, KernelError, Place
from pto_tune.kernels.guards import decoded
from pto_tune.kernels.pipes import HANDLES, SLOT_NUM, End, PipeOf
from pto_tune.kernels.reading import KernelFile, read_text

_DIGITS = re.compile(r"-?\d+")


@dataclass(frozen=True)
class Wanted:
    """Values of a pipe. `local_slot_num` None: the pipe does not use it, so that it only has to be at most slot_num."""

    slot_num: int
    local_slot_num: int | None
    slot_size: int
    split: int


def patch(raw: bytes, source: str, family: str, wanted: Mapping[str, Wanted], kernel_name: str = "") -> bytes:
    """The bytes of a kernel with the wanted values of its pipes, by their names.

    family: a2a3 or a5, whose local slots the reserved buffers hold. kernel_name: which of several kernels.

    KernelError names the places where it cannot be done.
    """
    text = decoded(raw, source)
    kernel = read_text(text, source, "price", family, kernel_name)
    edits = _Edits(raw.decode("utf-8"), source)
    for pipe in kernel.pipes:
        if pipe.name in wanted:
            _Pipe(pipe, wanted[pipe.name], family, edits).run()
    edits.stop()
    patched = edits.applied().encode()
    if patched != raw:
        again = read_text(decoded(patched, source), source, "price", family, kernel_name)
        faults = [*_not_as_wanted(again, wanted), *_new_findings(kernel, again, family)]
        if faults:
            raise KernelError(source, faults)
    return patched


class _Edits:
    """Replacements and insertions by where they are in the file, whose line ends may be of any kind."""

    def __init__(self, text: str, source: str) -> None:
        self.text, self.source = text, source
        self.starts = [int(text.startswith("\ufeff")), *(m.end() for m in re.finditer(r"\r\n|\r|\n", text))]
        self.found: dict[int, tuple[int, str]] = {}  # offset -> length, text
        self.faults: list[Fault] = []

    def say(self, place: Place, sentence: str) -> None:
        self.faults.append(Fault(place, sentence, "patch"))

    def offset(self, place: Place) -> int:
        return self.starts[place.line - 1] + place.column - 1

    def number(self, place: Place, old: int, new: int) -> None:
        """Another number at a place."""
        at = self.offset(place)
        match = _DIGITS.match(self.text, at)
        if match is None or int(match[0]) != old:
            self.say(place, f"is not the number {old} as it stands: expected it without a sign and in digits")
            return
        self._put(place, at, len(match[0]), str(new))

    def behind(self, value: Attribute, text: str) -> None:
        """An insertion behind the value of an attribute."""
        assert value.last is not None
        at = self.offset(value.last.place) + len(value.last.text)
        before = self.found.get(at, (0, ""))[1]
        if text not in before:
            self._put(value.last.place, at, 0, before + text, again=True)

    def _put(self, place: Place, at: int, length: int, text: str, again: bool = False) -> None:
        if not again and self.found.get(at, (length, text)) != (length, text):
            self.say(place, "would have two values, of two pipes: expected a place of its own for each")
        self.found[at] = (length, text)

    def stop(self) -> None:
        if self.faults:
            raise KernelError(self.source, self.faults)

    def applied(self) -> str:
        out, at = list[str](), 0
        for start, (length, text) in sorted(self.found.items()):
            out += [self.text[at:start], text]
            at = start + length
        return "".join([*out, self.text[at:]])


class _Pipe:
    """The edits of one pipe."""

    def __init__(self, pipe: PipeOf, wanted: Wanted, family: str, edits: _Edits) -> None:
        self.pipe, self.wanted, self.family, self.edits = pipe, wanted, family, edits

    def run(self) -> None:
        for end in self.pipe.ends:
            self._number(end, "slot_size", self.wanted.slot_size, None)
            self._number(end, "slot_num", self.wanted.slot_num, SLOT_NUM.get(end.numbers["dir_mask"], 8))
            if not self.pipe.global_data:
                self._local(end)
                self._reserved(end)
        self._split()

    def _number(self, end: End, name: str, new: int, default: int | None) -> None:
        value = end.given.get(name)
        if value is not None and value.first is not None:
            if end.numbers[name] != new:
                self.edits.number(value.first.place, end.numbers[name], new)
        elif new != default:
            before = end.given["slot_size"]  # without one there is no pipe
            if name == "local_slot_num":
                before = end.given.get("slot_num", before)  # the order of the assembler's own pages
            kind = before.text.partition(":")[2].strip()
            self.edits.behind(before, f", {name} = {new}{f' : {kind}' if kind else ''}")

    def _local(self, end: End) -> None:
        slots, local = self.wanted.slot_num, self.wanted.local_slot_num
        if local is not None and end.op.name != HANDLES[1]:
            self._number(end, "local_slot_num", local, slots)
        elif end.numbers.get("local_slot_num", 0) > slots:
            self._number(end, "local_slot_num", slots, slots)

    def _reserved(self, end: End) -> None:
        first, what = self.pipe.first, slots_reserved(self.family)
        old = first.numbers["slot_size"] * int(first.value(what) or 0)
        local = self.wanted.local_slot_num
        slots = self.wanted.slot_num if what == "slot_num" else local
        new = self.wanted.slot_size * (int(first.value(what) or 0) if slots is None else slots)
        for buffer in end.buffers:
            if buffer.imported or buffer.size == new:
                continue
            if buffer.size == old and buffer.size_at is not None:
                self.edits.number(buffer.size_at, old, new)
            elif buffer.size < new:
                said = f"{buffer.name!r} of {self.pipe.name} has {buffer.size} bytes, and {new} are wanted"
                self.edits.say(buffer.place, f"{said}: expected a buffer of slot_size x {what} = {old}, to be changed")

    def _split(self) -> None:
        new, have = self.wanted.split, {split for split, _ in self.pipe.splits}
        if not self.pipe.splits or self.pipe.splits[0][0] == new:
            return
        if len(have) > 1:
            said = f"calls of {self.pipe.name} have the splits {', '.join(map(str, sorted(have)))}, and {new} is wanted"
            self.edits.say(self.pipe.calls[0].place, f"{said}: expected one split in all of them")
            return
        for op in self.pipe.calls:
            given = words.attributes(op)
            value = given.get("split")
            if value is not None and value.first is not None:
                self.edits.number(value.first.place, have.copy().pop(), new)
                continue
            other = next((a for a in given.values() if a.last is not None), None)
            if other is None:
                self.edits.say(op.place, f"{op.name} has no attributes: expected {{split = 0}}, to be changed")
                continue
            self.edits.behind(other, f", split = {new}")


def _not_as_wanted(kernel: KernelFile, wanted: Mapping[str, Wanted]) -> Sequence[Fault]:
    """What a patched file does not say as it should."""
    found = list[Fault]()
    for pipe in kernel.pipes:
        want = wanted.get(pipe.name)
        for end in pipe.ends if want is not None else ():
            assert want is not None
            named = {"slot_num": want.slot_num, "slot_size": want.slot_size}
            if want.local_slot_num is not None and not pipe.global_data and end.op.name != HANDLES[1]:
                named["local_slot_num"] = want.local_slot_num
            for name, value in named.items():
                if end.value(name) != value:
                    said = f"{name} of {pipe.name} would be {end.value(name)}: expected {value}"
                    found.append(Fault(end.place, said, "patch"))
    return found


def _new_findings(before: KernelFile, after: KernelFile, family: str) -> list[Fault]:
    """What the patched file says against itself, and the file as it was did not."""
    known = {(f.rule, f.place.line) for f in file_checks(before, family)}
    return [
        Fault(f.place, f"with the wanted values: {f.sentence}", f.rule)
        for f in file_checks(after, family)
        if (f.rule, f.place.line) not in known
    ]
