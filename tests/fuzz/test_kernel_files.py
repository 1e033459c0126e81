"""Kernel files from anywhere: checked and patched, or refused with a place in every sentence."""

from __future__ import annotations

import re
from pathlib import Path

from fuzzing import answer_or_clear_error, fuzz
from hypothesis import given
from hypothesis import strategies as st

from pto_tune.kernels.patching import Wanted, patch
from pto_tune.kernels.reading import kernel_names, read_kernel_bytes

FILES = {p.name: p.read_bytes() for p in (Path(__file__).parents[1] / "pto_tune" / "kernels" / "files").glob("*.pto")}
NUMBERS = [b"0", b"-1", b"1", b"3", b"17", b"4294967296", b"9" * 40, b"%n", b'"4"', b"1.5", "１".encode()]
PIECES = [b"{", b"}", b"(", b")", b"<", b">", b'"', b"\n", b"\r", b"\0", b"//", b"%a =", b"scf.if %true {", b"=", b",",
          b"\xff", "管🚀".encode(), b"module {", b"func.func @f() {", b": i32", b"split = 7"]  # fmt: skip
sources = st.sampled_from(sorted(FILES))


def checked(raw: bytes) -> None:
    """Read, and patched where it can be read; what is refused names a line and a column."""
    kernel, refused = answer_or_clear_error(lambda: read_kernel_bytes(raw, "k.pto", "price"))
    if refused:
        assert all(re.match(r"k\.pto:(\d+:\d+:| \.\.\. and )", line) for line in refused.split("\n")), refused
        return
    wanted = {p.name: Wanted(2, 1, p.first.numbers["slot_size"], p.splits[0][0] if p.splits else 0)
              for p in kernel.pipes}  # fmt: skip
    patched, refused = answer_or_clear_error(lambda: patch(raw, "k.pto", kernel.family or "a2a3", wanted))
    if refused:
        assert re.match(r"k\.pto:\d+:\d+: ", refused)
        return
    again = read_kernel_bytes(patched, "k.pto", "price")
    assert all(p.first.value("slot_num") == 2 for p in again.pipes)


@fuzz(60)
@given(name=sources, at=st.floats(0, 1), piece=st.sampled_from(PIECES) | st.binary(max_size=8), cut=st.integers(0, 40))
def test_bytes_that_are_put_in_or_taken_out(name: str, at: float, piece: bytes, cut: int) -> None:
    raw = FILES[name]
    start = int(at * len(raw))
    checked(raw[:start] + piece + raw[start + cut :])


@fuzz(60)
@given(name=sources, which=st.integers(0, 400), number=st.sampled_from(NUMBERS))
def test_other_numbers(name: str, which: int, number: bytes) -> None:
    places = [m.span() for m in re.finditer(rb"(?<= )\d+", FILES[name])]
    start, end = places[which % len(places)]
    checked(FILES[name][:start] + number + FILES[name][end:])


@fuzz(40)
@given(name=sources, first=st.integers(0, 80), second=st.integers(0, 80), twice=st.booleans())
def test_lines_that_change_places_or_stand_there_twice(name: str, first: int, second: int, twice: bool) -> None:
    lines = FILES[name].split(b"\n")
    a, b = first % len(lines), second % len(lines)
    if twice:
        lines.insert(b, lines[a])
    else:
        lines[a], lines[b] = lines[b], lines[a]
    checked(b"\n".join(lines))


@fuzz(30)
@given(name=sources, at=st.floats(0, 1))
def test_truncated_files(name: str, at: float) -> None:
    checked(FILES[name][: int(at * len(FILES[name]))])


@fuzz(30)
@given(first=sources, second=sources)
def test_files_behind_one_another_have_the_kernels_of_both(first: str, second: str) -> None:
    raw = FILES[first] + FILES[second]
    names, refused = answer_or_clear_error(lambda: kernel_names(raw.decode(), "k.pto"))
    assert refused or names
    checked(raw)
