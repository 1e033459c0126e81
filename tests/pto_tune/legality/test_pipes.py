"""Rules of a pipe as it is declared: each is broken by a smallest workload, kept by a neighbour of it, and says why."""

from collections.abc import Callable
from itertools import product

import pytest

from pto_tune.model.expr import name
from pto_tune.model.nodes import DIRECTIONS, Fifo, Node, Workload
from pto_tune.model.vocabulary import talloc, tfree, tile, tpop, tpush, when

Kernel = Callable[..., Workload]
Broken = Callable[..., dict[str, str]]
MakeFifo = Callable[..., Fifo]

ACC, VEC, MAT = tile("Acc", 64, 64), tile("Vec", 64, 64), tile("Mat", 64, 64)
PUSH, POP = (tpush("f", ACC),), (tpop("f", VEC),)
GLOBAL = ((talloc("f"), tpush("f")), (tpop("f"), tfree("f")))


@pytest.mark.parametrize("family", ["a2a3", "a5"])
@pytest.mark.parametrize("direction", ["C2V", "V2C", "BOTH"])
def test_a_plain_pipe_breaks_no_rule(
    family: str, direction: str, kernel: Kernel, broken: Broken, fifo: MakeFifo
) -> None:
    aic: tuple[Node, ...] = PUSH if direction != "V2C" else ()
    aiv: tuple[Node, ...] = POP if direction != "V2C" else ()
    if direction != "C2V":
        aic, aiv = (*aic, tpop("f", MAT)), (*aiv, tpush("f", VEC))
    work = kernel(aic, aiv, fifo("f", direction))
    assert broken(work, family) == broken(work, family, "race") == {}


def test_a_slot_num_is_at_least_one(kernel: Kernel, broken: Broken, fifo: MakeFifo) -> None:
    assert broken(kernel(PUSH, POP, fifo(slot_num=0))) == {
        "f-slot-num": "FIFO f: FifoDepth 0 is below 1; nearest legal: 1"
    }
    assert broken(kernel(PUSH, POP, fifo(slot_num=1))) == {}


def test_the_depth_of_a_tmpipe_is_a_byte(kernel: Kernel, broken: Broken, fifo: MakeFifo) -> None:
    deep = broken(kernel(PUSH, POP, fifo(slot_num=256, kind="TMPipe")))
    assert deep["f-slot-num"] == "FIFO f: FiFoDepth 256 of a TMPipe is above 255; nearest legal: 255"
    assert broken(kernel(PUSH, POP, fifo(slot_num=255, kind="TMPipe"))) == {}
    assert broken(kernel(PUSH, POP, fifo(slot_num=256))) == {}


def test_a_slot_holds_the_tile_that_is_stored(kernel: Kernel, broken: Broken, fifo: MakeFifo) -> None:
    size = 64 * 64 * 4
    assert broken(kernel(PUSH, POP, fifo(slot_bytes=size - 32)))["f-slot-size"] == (
        "FIFO f: a slot of 16352 bytes cannot hold a tile of 16384; nearest legal: 16384"
    )
    assert broken(kernel(PUSH, POP, fifo(slot_bytes=size))) == {}


def test_a_slot_holds_the_logical_entry_of_the_global_data_flow(kernel: Kernel, broken: Broken, fifo: MakeFifo) -> None:
    small = broken(kernel(*GLOBAL, fifo(slot_bytes=64, tile_bytes=100)))
    assert small == {"f-slot-size": "FIFO f: a slot of 64 bytes cannot hold a tile of 100; nearest legal: 128"}
    assert broken(kernel(*GLOBAL, fifo(slot_bytes=128, tile_bytes=100))) == {}


@pytest.mark.parametrize(("split", "parts"), [(0, 1), (1, 2), (2, 2)])
def test_with_a_split_a_slot_holds_the_parts_of_both_sub_cores(
    split: int, parts: int, kernel: Kernel, broken: Broken, fifo: MakeFifo
) -> None:
    whole = tile("Mat", 64 * (2 if split == 1 else 1), 64 * (2 if split == 2 else 1))
    size = parts * 64 * 64 * 4

    def found(slot: int) -> dict[str, str]:
        return broken(kernel((tpop("f", whole),), (tpush("f", VEC),), fifo("f", "V2C", slot_bytes=slot, split=split)))

    assert f"cannot hold a tile of {size}" in found(size - 32)["f-slot-size"]
    assert found(size) == {}


@pytest.mark.parametrize(("family", "gm_form", "split", "needed"), [
    ("a5", False, 1, 8192), ("a5", False, 2, 8192), ("a5", False, 0, 16384), ("a5", True, 1, 16384),
    ("a2a3", False, 1, 16384),
])  # fmt: skip
def test_slots_of_parts_hold_one_sub_cores_part_in_ub(
    family: str, gm_form: bool, split: int, needed: int, kernel: Kernel, broken: Broken, fifo: MakeFifo
) -> None:
    part = tile("Vec", 64 // (2 if split == 1 else 1), 64 // (2 if split == 2 else 1))
    push, pop = tpush("f", tile("Acc", 64, 64)), (tpop("f", part), tfree("f", tile=True))

    def found(slot: int) -> dict[str, str]:
        pipe = fifo("f", slot_bytes=slot, split=split, gm_form=gm_form, part_slots=True)
        return broken(kernel((push,), pop, pipe), family)

    assert f"cannot hold a tile of {needed}" in found(needed - 32)["f-slot-size"]
    assert "f-slot-size" not in found(needed)


@pytest.mark.parametrize("family", ["a2a3", "a5"])
@pytest.mark.parametrize(
    ("direction", "first_bad", "text"),
    [
        ("C2V", 15, "flag ids 15 and 16 are not below 16; nearest legal FlagID: 14"),
        ("V2C", 15, "flag ids 15 and 16 are not below 16; nearest legal FlagID: 14"),
        ("BOTH", 13, "flag ids 13 to 16 are not below 16; nearest legal FlagID: 12"),
    ],
)
def test_all_flag_ids_are_below_16(
    family: str, direction: str, first_bad: int, text: str, kernel: Kernel, broken: Broken, fifo: MakeFifo
) -> None:
    aic, aiv = (PUSH, POP) if direction != "V2C" else ((tpop("f", MAT),), (tpush("f", VEC),))
    assert broken(kernel(aic, aiv, fifo("f", direction, flag_id=first_bad)), family)["f-flag-id"] == f"FIFO f: {text}"
    assert "f-flag-id" not in broken(kernel(aic, aiv, fifo("f", direction, flag_id=first_bad - 1)), family)


def test_a_flag_id_is_not_negative(kernel: Kernel, broken: Broken, fifo: MakeFifo) -> None:
    found = broken(kernel(PUSH, POP, fifo(flag_id=-1)))
    assert found == {"f-flag-id": "FIFO f: FlagID -1 is below 0; nearest legal FlagID: 0"}


@pytest.mark.parametrize(
    ("first", "second", "shared"), [(0, 1, "flag id 1"), (0, 0, "flag ids 0 to 1"), (1, 0, "flag id 1")]
)
def test_two_pipes_do_not_share_flag_ids(
    first: int, second: int, shared: str, kernel: Kernel, broken: Broken, fifo: MakeFifo
) -> None:
    def found(a: int, b: int, **changes: int) -> dict[str, str]:
        return broken(
            kernel(
                (tpush("f", ACC), tpop("g", MAT)),
                (tpop("f", VEC), tpush("g", VEC)),
                fifo(flag_id=a),
                fifo("g", "V2C", flag_id=b, **changes),
            )
        )

    assert found(first, second) == {
        "f-flags-of-g": f"FIFOs f and g share {shared}; nearest legal FlagID of g: {first + 2}"
    }
    assert found(first, first + 2) == {}
    assert found(first, second, used=0) == {}


def test_a_pipe_of_both_ways_has_four_flag_ids(kernel: Kernel, broken: Broken, fifo: MakeFifo) -> None:
    def found(flag_id: int) -> dict[str, str]:
        aic, aiv = (tpush("f", ACC), tpush("g", ACC)), (tpop("f", VEC), tpop("g", VEC))
        return broken(kernel(aic, aiv, fifo("f", "BOTH"), fifo("g", flag_id=flag_id)))

    assert "share flag id 3" in found(3)["f-flags-of-g"]
    assert found(4) == {}


@pytest.mark.parametrize("direction", [d for d in DIRECTIONS if d.endswith("_GM")])
def test_gm_forms_exist_on_950_alone(direction: str, kernel: Kernel, broken: Broken, fifo: MakeFifo) -> None:
    aic, aiv = (PUSH, POP) if "V2C" not in direction else ((tpop("f", MAT),), (tpush("f", VEC),))
    work = kernel(aic, aiv, fifo("f", direction))
    here = direction.removesuffix("_GM")
    assert broken(work) == {"f-direction": f"FIFO f: DIR_{direction} exists on Ascend 950 alone; nearest: DIR_{here}"}
    assert broken(work, "a5") == {}
    assert broken(kernel(aic, aiv, fifo("f", here, gm_form=True))) == {}


@pytest.mark.parametrize(("family", "reason"), [("a2a3", "control slots"), ("a5", "two arguments")])
def test_control_tiles_cannot_be_sent(family: str, reason: str, kernel: Kernel, broken: Broken, fifo: MakeFifo) -> None:
    control = tile("Ctrl", 1, 1)
    found = broken(kernel((tpop("f", control),), (tpush("f", control),), fifo("f", "V2C_CTRL")), family)
    assert found.keys() == {"f-direction"}
    assert found["f-direction"].startswith("FIFO f: DIR_V2C_CTRL cannot be used, though the page of TPUSH lists it: ")
    assert reason in found["f-direction"]
    assert found["f-direction"].endswith("; nearest: DIR_V2C")


def test_a_tmpipe_goes_one_way(kernel: Kernel, broken: Broken, fifo: MakeFifo) -> None:
    found = broken(kernel(PUSH, POP, fifo("f", "BOTH", kind="TMPipe")))
    assert found == {"f-direction": "FIFO f: a TMPipe goes one way, not DIR_BOTH; nearest: a TPipe, or two TMPipes"}


@pytest.mark.parametrize(("direction", "rings", "formula"), [("C2V", 1, "SlotNum"), ("BOTH", 2, "2 x SlotNum")])
def test_the_gm_buffer_holds_every_ring(
    direction: str, rings: int, formula: str, kernel: Kernel, broken: Broken, fifo: MakeFifo
) -> None:
    need = rings * 4 * 16384

    def found(given: int, family: str = "a2a3") -> dict[str, str]:
        return broken(kernel(PUSH, POP, fifo("f", direction, gm_bytes=given)), family)

    assert found(need - 1) == {
        "f-gm-bytes": f"FIFO f: the GM buffer has {need - 1} bytes and needs {formula} x SlotSize = {need}; "
        f"nearest legal: {need}"
    }
    assert found(need) == found(0) == {}
    assert "f-gm-bytes" not in found(1, "a5")  # its rings are in UB and L1


@pytest.mark.parametrize(("direction", "on_a5"), [("C2V", False), ("V2C", False), ("BOTH", False), ("C2V_GM", True)])
def test_global_data_needs_a_ring_in_gm(
    direction: str, on_a5: bool, kernel: Kernel, broken: Broken, fifo: MakeFifo
) -> None:
    aic, aiv = GLOBAL if "V2C" not in direction else GLOBAL[::-1]
    found = broken(kernel(aic, aiv, fifo("f", direction, slot_bytes=4096)), "a5")
    if on_a5:
        assert found == {}
    else:
        word = "TPOP" if direction == "V2C" else "TALLOC"
        assert found == {
            "f-global-data": f"FIFO f: DIR_{direction} has no {word} with GlobalData "
            f"(docs/isa/TPUSH.md and TFREE.md name no such limit); nearest: DIR_{direction}_GM"
        }
        assert broken(kernel(aic, aiv, fifo("f", direction, slot_bytes=4096, gm_form=True)), "a5") == {}
        assert broken(kernel(aic, aiv, fifo("f", direction))) == {}


def test_global_data_is_pushed_into_an_allocated_slot(kernel: Kernel, broken: Broken, fifo: MakeFifo) -> None:
    assert broken(kernel((tpush("f"),), GLOBAL[1], fifo())) == {
        "f-talloc": "FIFO f: AIC calls TPUSH with GlobalData and never TALLOC, which gives the slot"
    }
    assert broken(kernel(*GLOBAL, fifo())) == {}


def test_one_sub_core_without_talloc_is_named(kernel: Kernel, broken: Broken, fifo: MakeFifo) -> None:
    aiv = (when(name("sub").eq(0), talloc("f")), tpush("f"))
    found = broken(kernel(GLOBAL[1], aiv, fifo("f", "V2C")))
    assert found.keys() == {"f-talloc"}
    assert "AIV1 calls TPUSH" in found["f-talloc"]


BAD = {"slot_num": 0, "flag_id": 15, "slot_bytes": 8192, "gm_bytes": 8, "local_slot_num": 0}


def test_rules_hold_only_where_the_pipe_is_used(kernel: Kernel, broken: Broken, fifo: MakeFifo) -> None:
    assert {"f-slot-num", "f-slot-size", "f-flag-id", "f-local-slot-num"} <= broken(
        kernel(PUSH, POP, fifo(**BAD))
    ).keys()
    assert broken(kernel(PUSH, POP, fifo(**BAD, used=0))) == {}
    assert broken(kernel((), (), fifo(**BAD))) == {}


def test_a_pipe_may_be_used_by_some_configurations(
    kernel: Kernel, rows_broken: Callable[..., list[bool]], fifo: MakeFifo
) -> None:
    work = kernel(PUSH, POP, fifo(used=name("use"), slot_num=name("depth")), values={"use": 1, "depth": 4})
    use, depth = (list(c) for c in zip(*product([0, 1, 2], [0, 1, 4]), strict=True))
    found = rows_broken(work, "f-slot-num", use=use, depth=depth)
    assert found == [u != 0 and d == 0 for u, d in zip(use, depth, strict=True)]


@pytest.mark.parametrize("slots", [1, 2, 3, 4, 5, 8])
@pytest.mark.parametrize("period", range(1, 14))
def test_a_period_above_slot_num_makes_the_producer_wait_for_no_later_tile(slots: int, period: int) -> None:
    """Why there is no rule for it: with a consumer that pops and frees whatever is there, every wait ends."""
    credits = popped = 0
    for i in range(200):
        if i >= slots and i % period == 0:
            while popped < i:
                credits += (popped + 1) % period == 0
                popped += 1
            assert credits >= 1
            credits -= 1
