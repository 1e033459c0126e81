"""A patched kernel has the wanted values, and every other byte as it was."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pto_tune.api import evaluate_records
from pto_tune.kernels.checks import file_checks
from pto_tune.kernels.faults import KernelError
from pto_tune.kernels.patching import Wanted, patch
from pto_tune.kernels.reading import KernelFile, read_kernel, read_kernel_bytes

Changed = Callable[..., Path]
FILES = Path(__file__).parent / "files"
FAMILY = {"product.pto": "a2a3", "slots.pto": "a2a3", "handles.pto": "a2a3", "both_ways.pto": "a5",
          "local_handles.pto": "a5"}  # fmt: skip
PATCHED = re.compile(r"\b(?:slot_num|local_slot_num|slot_size|split|size) = \d+(?: : i32)?(?:, )?")
"""An attribute that may be patched, or put in."""


def raw(name: str) -> bytes:
    return (FILES / name).read_bytes()


def read(name: str, content: bytes | None = None) -> KernelFile:
    return read_kernel_bytes(raw(name) if content is None else content, name, "price", FAMILY[name])


def wanted(name: str, slots: int, local: int | None, split: int | None = None, scale: int = 1) -> dict[str, Wanted]:
    """Values for the pipe of a file; None: its own split, and a pipe without local slots."""
    (pipe,) = read(name).pipes
    used = FAMILY[name] == "a2a3" and not pipe.global_data
    return {
        pipe.name: Wanted(
            slots, local if used else None, pipe.first.numbers["slot_size"] * scale,
            pipe.splits[0][0] if split is None else split,
        )
    }  # fmt: skip


def rest(text: str) -> str:
    """A file without what may be patched."""
    return PATCHED.sub("", text).replace(", }", "}")


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(["product.pto", "slots.pto", "handles.pto", "both_ways.pto"]),
    slots=st.sampled_from([1, 2, 3, 4, 8, 16]),
    local=st.integers(1, 4),
    split=st.sampled_from([None, 0, 1, 2]),
    scale=st.sampled_from([1, 1, 2]),
    ends=st.sampled_from([b"\n", b"\r\n", b"\r"]),
    mark=st.booleans(),
)
def test_only_the_wanted_attributes_change_and_reading_again_gives_them(
    name: str, slots: int, local: int, split: int | None, scale: int, ends: bytes, mark: bool
) -> None:
    content = (b"\xef\xbb\xbf" if mark else b"") + raw(name).replace(b"\n", ends)
    values = wanted(name, slots, local, split, scale)
    patched = patch(content, name, FAMILY[name], values)
    (pipe,) = read(name, patched).pipes
    want = values[pipe.name]
    for end in pipe.ends:
        assert (end.value("slot_num"), end.value("slot_size")) == (slots, want.slot_size)
        if want.local_slot_num is not None:
            assert end.value("local_slot_num") == local
    assert {s for s, _ in pipe.splits} == {want.split}
    before, after = content.decode(), patched.decode()
    assert rest(after) == rest(before)
    assert not [f for f in file_checks(read(name, patched), FAMILY[name]) if f.rule == "reserve-size"]


@pytest.mark.parametrize("name", FAMILY)
def test_the_values_of_the_file_leave_it_as_it_is(name: str) -> None:
    (pipe,) = read(name).pipes
    own = wanted(name, int(pipe.first.value("slot_num") or 0), int(pipe.first.value("local_slot_num") or 0))
    assert patch(raw(name), name, FAMILY[name], own) == raw(name)


def test_a_patched_kernel_is_evaluated_as_the_configuration_was() -> None:
    configuration = {"pipe3_slot_num": 2, "pipe3_local_slot_num": 1}
    as_tuned = evaluate_records(read("product.pto").workload, configuration)[0]
    patched = patch(raw("product.pto"), "product.pto", "a2a3", wanted("product.pto", 2, 1))
    again = evaluate_records(read("product.pto", patched).workload)[0]
    assert (again["cycles"], again["bytes"], again["verdict"]) == (as_tuned["cycles"], as_tuned["bytes"], "ok")


def test_the_size_of_what_is_reserved_goes_with_the_local_slots() -> None:
    patched = patch(raw("product.pto"), "product.pto", "a2a3", wanted("product.pto", 8, 1)).decode()
    assert patched.count("size = 16384, location") == 1
    assert patched.count("slot_num = 8, local_slot_num = 1}") == 2


def test_what_a_file_leaves_out_is_put_in_with_the_type_of_its_neighbour(changed: Changed) -> None:
    path = changed("both_ways.pto", ("slot_size = 16384}", "slot_size = 16384 : i32}"))
    patched = patch(path.read_bytes(), "both_ways.pto", "a5", wanted("both_ways.pto", 2, None)).decode()
    assert patched.count("slot_size = 16384 : i32, slot_num = 2 : i32}") == 2


def test_a_call_without_a_split_gets_one(changed: Changed) -> None:
    path = changed("slots.pto", (", split = 0}", "}"))
    patched = patch(path.read_bytes(), "slots.pto", "a2a3", wanted("slots.pto", 2, None, split=1)).decode()
    assert patched.count("id = 0, split = 1}") == raw("slots.pto").decode().count("split = 0}")


def test_characters_before_an_attribute_do_not_move_it(changed: Changed) -> None:
    path = changed("product.pto", ('"halves"', '"Hälften 管道 🚀"'),
                   ("{id = 3, dir_mask", '{note = "管🚀", id = 3, dir_mask'))  # fmt: skip
    patched = patch(path.read_bytes(), "product.pto", "a2a3", wanted("product.pto", 1, 1)).decode()
    assert patched.count('note = "管🚀", id = 3, dir_mask = 1, slot_size = 16384, slot_num = 1') == 2
    assert 'name = "Hälften 管道 🚀", size = 16384' in patched


def test_a_buffer_that_would_reach_a_tile_is_refused_with_its_place() -> None:
    with pytest.raises(KernelError) as refused:
        patch(raw("local_handles.pto"), "k.pto", "a5", wanted("local_handles.pto", 8, None))
    assert str(refused.value).startswith("k.pto:20:5: with the wanted values: tile u at bytes 16384 to 20480 of UB")


def test_buffers_that_would_meet_are_refused(changed: Changed) -> None:
    text = raw("local_handles.pto").decode()
    own = next(line.strip() for line in text.splitlines() if "%near = pto.reserve_buffer" in line)
    more = own.replace("%near", "%more").replace('"ring"', '"more"').replace("base = 0", "base = 16384")
    path = changed("local_handles.pto", (own, f"{own}\n    {more}"), ("constant 16384 : i64", "constant 65536 : i64"))
    read_kernel(path)
    with pytest.raises(KernelError, match="'more' at bytes 16384 to 32768 of UB meets 'ring' at 0 to 32768"):
        patch(path.read_bytes(), "k.pto", "a5", wanted("local_handles.pto", 8, None))


def test_a_buffer_of_another_size_is_not_guessed(changed: Changed) -> None:
    path = changed("product.pto", ("size = 32768", "size = 20000"))
    with pytest.raises(KernelError, match=r"'halves' of pipe3 has 20000 bytes, and 65536 are wanted"):
        patch(path.read_bytes(), "product.pto", "a2a3", wanted("product.pto", 4, 4))


def test_splits_that_differ_are_not_made_one(changed: Changed) -> None:
    path = changed("product.pto", ("pto.tfree_from_aic {id = 3, split = 1}", "pto.tfree_from_aic {id = 3, split = 2}"))
    with pytest.raises(KernelError, match=r"have the splits 1, 2, and 0 is wanted"):
        patch(path.read_bytes(), "product.pto", "a2a3", wanted("product.pto", 4, 2, split=0))


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(KernelError, match=r"k\.pto:1:1: byte 0 is not UTF-8"):
        patch(b"\xff", "k.pto", "a2a3", {})
