"""What fits into the memories, and what pipes take of them."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from cost_models import load_platform
from cost_models.platform import Platform
from pto_tune import legality
from pto_tune.model.expr import expr, name
from pto_tune.model.nodes import LEFT_RIGHT, UP_DOWN, Buffer, Fifo, Workload
from pto_tune.model.vocabulary import talloc, tfree, tile, tpop, tpush, when
from pto_tune.rule_sets import rule_set_for

Kernel = Callable[..., Workload]
Broken = Callable[..., dict[str, str]]
MakeFifo = Callable[..., Fifo]

KIB = 1024


def with_ub(kernel: Kernel, nbytes: int, scratch: bool = False) -> Workload:
    """A kernel that fills UB with four buffers."""
    sizes = {"a": nbytes - 3 * 32 * KIB, "b": 32 * KIB, "c": 16 * KIB, "d": 48 * KIB}
    buffers = tuple(Buffer(n, "AIV", "UB", expr(b), expr(1)) for n, b in sizes.items())
    return replace(kernel((), ()), buffers=buffers, uses_ub_scratch=scratch)


@pytest.mark.parametrize(
    ("family", "kib", "scratch", "sentence"),
    [
        ("a2a3", 192, False, ""),
        ("a2a3", 193, False, "UB needs 197632 bytes and has 196608; largest: a 99328, d 49152, b 32768"),
        ("a2a3", 185, False, ""),
        ("a2a3", 184, True, ""),
        (
            "a2a3",
            185,
            True,
            "UB needs 189440 bytes and has 188416 (the top 8192 are the library's scratch); "
            "largest: a 91136, d 49152, b 32768",
        ),
        ("a5", 240, False, ""),
        ("a5", 241, False, "UB needs 246784 bytes and has 245760; largest: a 148480, d 49152, b 32768"),
        ("a5", 240, True, ""),
    ],
)
def test_ub_has_its_usable_bytes_less_the_scratch(
    family: str, kib: int, scratch: bool, sentence: str, kernel: Kernel, broken: Broken
) -> None:
    assert broken(with_ub(kernel, kib * KIB, scratch), family) == ({"capacity-UB": sentence} if sentence else {})


def test_a_platform_without_a_usable_part_has_all_of_ub(kernel: Kernel) -> None:
    b2 = load_platform("ascend910b2")
    numbers = {k: v for k, v in b2.numbers.items() if k != "memory.ub_usable"}
    platform = Platform(b2.name, b2.family, b2.soc, b2.description, numbers, b2.source_path)
    for kib, refused in ((192, False), (193, True)):
        rules = legality.check(with_ub(kernel, kib * KIB), platform, rule_set_for("a2a3"), {}, 1)
        assert [r.name for r in rules if r.broken[0]] == (["capacity-UB"] if refused else [])


def parts(work: Workload, family: str = "a2a3", **values: int) -> dict[str, dict[str, int]]:
    """Bytes by memory and owner."""
    env = {p.name: np.array([values.get(p.name, p.default)], dtype=np.int64) for p in work.problem}
    found = {m: legality.memory_parts(work, m, env, 1, rule_set_for(family)) for m in ("UB", "L1", "L0A", "L0B", "L0C")}
    return {m: {owner: int(size[0]) for owner, size in listed} for m, listed in found.items() if listed}


ACC, VEC, MAT = tile("Acc", 64, 64), tile("Vec", 64, 64), tile("Mat", 64, 64)
S, SLOT, LOCAL = 4, 32 * KIB, 3


@pytest.mark.parametrize(
    ("family", "direction", "expected"),
    [
        ("a2a3", "C2V", {"UB": {"f local slots": LOCAL * SLOT}}),
        ("a2a3", "V2C", {"L1": {"f local slots": LOCAL * SLOT}}),
        ("a5", "C2V", {"UB": {"f ring": S * SLOT}}),
        ("a5", "V2C", {"L1": {"f ring": S * SLOT}}),
        ("a5", "C2V_GM", {"UB": {"f local slots": LOCAL * 64 * 64 * 4}}),
        ("a5", "V2C_GM", {"L1": {"f local slots": LOCAL * 64 * 64 * 4}}),
    ],
)
def test_a_pipe_of_tiles_takes_memory_of_its_consumer(
    family: str, direction: str, expected: dict[str, dict[str, int]], tiles: Kernel
) -> None:
    pair = (ACC, VEC) if "C2V" in direction else (VEC, MAT)
    work = tiles(*pair, direction, slot_bytes=SLOT, slot_num=S, local_slot_num=LOCAL)
    assert parts(work, family) == expected
    assert parts(replace(work, fifos=(replace(work.fifos[0], used=expr(0)),)), family) == {
        m: dict.fromkeys(owners, 0) for m, owners in expected.items()
    }


@pytest.mark.parametrize("family", ["a2a3", "a5"])
def test_a_pipe_of_both_ways_takes_memory_at_both_ends(family: str, kernel: Kernel, fifo: MakeFifo) -> None:
    aic, aiv = (tpush("f", ACC), tpop("f", MAT)), (tpop("f", VEC), tpush("f", VEC))
    work = kernel(aic, aiv, fifo("f", "BOTH", slot_bytes=SLOT, slot_num=S, local_slot_num=LOCAL))
    what, size = ("local slots", LOCAL * SLOT) if family == "a2a3" else ("ring", S * SLOT)
    assert parts(work, family) == {"UB": {f"f.C2V {what}": size}, "L1": {f"f.V2C {what}": size}}


def test_global_data_takes_no_local_memory(kernel: Kernel, fifo: MakeFifo) -> None:
    work = kernel((talloc("f"), tpush("f")), (tpop("f"), tfree("f")), fifo(gm_form=True))
    assert parts(work) == parts(work, "a5") == {}


def test_a_flow_that_is_not_taken_takes_no_memory(kernel: Kernel, fifo: MakeFifo) -> None:
    aiv = (when(name("flow").eq(0), tpop("f"), tfree("f")), when(name("flow").eq(1), tpop("f", VEC)))
    work = kernel((tpush("f", ACC),), aiv, fifo(local_slot_num=2), values={"flow": 0})
    assert parts(work, flow=0) == {"UB": {"f local slots": 0}}
    assert parts(work, flow=1) == {"UB": {"f local slots": 2 * 16384}}


def test_local_slots_of_950_are_as_large_as_the_larger_sub_core_s(kernel: Kernel, fifo: MakeFifo) -> None:
    pop = tpop("f", tile("Vec", 33 - name("sub"), 64))
    work = kernel((tpush("f", tile("Acc", 65, 64)),), (pop,), fifo(gm_form=True, local_slot_num=2))
    assert parts(work, "a5") == {"UB": {"f local slots": 2 * 33 * 64 * 4}}


def test_a_tmpipe_whose_kernel_binds_the_tile_has_no_local_slots(tiles: Kernel) -> None:
    assert parts(tiles(ACC, VEC, kind="TMPipe", local_slot_num=0)) == {"UB": {"f local slots": 0}}


def test_memory_of_pipes_counts_with_that_of_buffers(tiles: Kernel, broken: Broken) -> None:
    work = tiles(ACC, VEC, slot_bytes=16 * KIB, slot_num=8)
    work = replace(work, buffers=(Buffer("x", "AIV", "UB", expr(112 * KIB), expr(1)),))
    assert broken(work, "a5") == {}
    work = replace(work, buffers=(Buffer("x", "AIV", "UB", expr(112 * KIB + 32), expr(1)),))
    assert broken(work, "a5") == {
        "capacity-UB": "UB needs 245792 bytes and has 245760; largest: f ring 131072, x 114720"
    }


def gm(work: Workload, family: str) -> int:
    return int(legality.gm_ring_bytes(work, rule_set_for(family), {}, 1)[0])


@pytest.mark.parametrize(
    ("direction", "gm_form", "on_a2a3", "on_a5"),
    [("C2V", False, 1, 0), ("V2C", False, 1, 0), ("BOTH", False, 2, 0), ("C2V", True, 1, 1), ("BOTH", True, 2, 2)],
)
def test_rings_in_gm_are_counted_once_a_way(
    direction: str, gm_form: bool, on_a2a3: int, on_a5: int, kernel: Kernel, fifo: MakeFifo
) -> None:
    def work(**changes: int) -> Workload:
        f = fifo("f", direction, slot_bytes=SLOT, slot_num=S, gm_form=gm_form, **changes)
        return kernel((), (), f, fifo("g", slot_num=1, slot_bytes=32))

    assert gm(work(), "a2a3") == on_a2a3 * S * SLOT + 32
    assert gm(work(), "a5") == on_a5 * S * SLOT
    assert gm(work(used=0), "a2a3") == 32


@pytest.mark.parametrize("split", [UP_DOWN, LEFT_RIGHT])
def test_a_slot_is_aligned_where_the_pipe_is_used(split: int, kernel: Kernel, broken: Broken, fifo: MakeFifo) -> None:
    def found(size: int, **changes: int) -> dict[str, str]:
        return broken(kernel((), (), fifo(slot_bytes=size, split=split, **changes)))

    assert found(100) == {"align-f": "FIFO slot f: 100 bytes are not a multiple of 32; nearest legal: 128"}
    assert found(96) == found(100, used=0) == {}
