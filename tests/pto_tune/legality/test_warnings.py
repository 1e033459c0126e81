"""Warnings: each by a smallest workload, with a neighbour that has none, naming the page and the header."""

from collections.abc import Callable

import pytest

from cost_models import load_platform
from pto_tune.legality.warnings import warnings
from pto_tune.model.expr import name
from pto_tune.model.nodes import LEFT_RIGHT, NO_SPLIT, UP_DOWN, Fifo, TConfig, Workload
from pto_tune.model.vocabulary import talloc, tfree, tile, tpop, tpush, when
from pto_tune.rule_sets import rule_set_for

Kernel = Callable[..., Workload]
Warned = Callable[..., dict[str, str]]
MakeFifo = Callable[..., Fifo]

ACC, VEC, MAT = tile("Acc", 64, 64), tile("Vec", 64, 64), tile("Mat", 64, 64)
FAMILIES = ["a2a3", "a5"]


def has(found: dict[str, str], rule: str, *words: str) -> bool:
    """The one warning is this one and says these words, a page and a header."""
    assert found.keys() == {rule}
    assert all(word in found[rule] for word in words), found[rule]
    assert "docs/isa/" in found[rule] or " page of TPUSH" in found[rule]
    assert ".hpp" in found[rule]
    return True


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("split", [UP_DOWN, LEFT_RIGHT])
def test_a_plain_pipe_has_no_warning(family: str, split: int, tiles: Kernel, warned: Warned) -> None:
    half = tile("Vec", 32 if split == UP_DOWN else 64, 32 if split == LEFT_RIGHT else 64)
    assert warned(tiles(ACC, half, split=split), family) == {}
    assert warned(tiles(half, MAT, "V2C", split=split), family) == {}


def test_a_pipe_that_is_not_used_has_no_warning(tiles: Kernel, warned: Warned) -> None:
    assert warned(tiles(ACC, VEC, kind="TMPipe", sync_period=3, used=0)) == {}


def test_rule_set_and_platform_are_of_one_family(tiles: Kernel) -> None:
    with pytest.raises(ValueError, match="family a2a3, and rule set a5 is of a5"):
        warnings(tiles(ACC, VEC), load_platform("ascend910b2"), rule_set_for("a5"), {}, 1)


def test_the_page_has_smaller_flag_ids_on_a2a3(tiles: Kernel, warned: Warned) -> None:
    assert has(warned(tiles(ACC, VEC, flag_id=8)), "f-flag-id-page", "FlagID 8 is above 7", "FlagID + 1 < 16")
    assert warned(tiles(ACC, VEC, flag_id=7)) == warned(tiles(ACC, VEC, flag_id=8), "a5") == {}


def test_push_and_pop_have_one_split(kernel: Kernel, warned: Warned, fifo: MakeFifo) -> None:
    def found(push: int, pop: int, family: str = "a2a3") -> dict[str, str]:
        calls = (tpush("f", ACC, split=name("push")),), (tpop("f", tile("Vec", 32, 64), split=name("pop")),)
        return warned(kernel(*calls, fifo(), values={"push": push, "pop": pop}), family)

    text = "TPUSH on AIC has NO_SPLIT and TPOP on AIV UP_DOWN"
    assert has(found(NO_SPLIT, UP_DOWN), "f-splits-differ", text, "demand one Split", "ignore it")
    assert found(UP_DOWN, UP_DOWN) == {}
    assert found(NO_SPLIT, UP_DOWN, "a5") == {}  # there the flags know the split


def test_both_sub_cores_write_one_place_without_a_split(kernel: Kernel, warned: Warned, fifo: MakeFifo) -> None:
    push = tpush("f", VEC)
    both = kernel((tpop("f", MAT),), (push,), fifo("f", "V2C"))
    one = kernel((tpop("f", MAT),), (when(name("sub").eq(0), push),), fifo("f", "V2C"))
    assert has(warned(both), "f-same-place", "AIV0 and AIV1 write the same place", "where both write the same values")
    assert warned(one) == warned(both, "a5") == {}


@pytest.mark.parametrize(
    ("rows", "cols", "words"),
    [
        (32, 8, ()),
        (32, 6, ("English page", "columns of a multiple of 32 bytes, and AIV0 has 24; nearest: 32 bytes")),
        (31, 8, ("Chinese page", "valid rows in multiples of 32, and AIV0 has 31; nearest: 32 rows")),
    ],
)
def test_the_pages_ask_for_rows_and_columns_in_l1(
    rows: int, cols: int, words: tuple[str, ...], tiles: Kernel, warned: Warned
) -> None:
    work = tiles(tile("Vec", rows, cols), tile("Mat", 2 * rows, cols), "V2C", split=UP_DOWN)
    if words:
        assert has(warned(work, "a5"), "f-l1-rows-page", *words, "the header checks neither")
    else:
        assert warned(work, "a5") == {}
    assert warned(work) == {}


@pytest.mark.parametrize("family", FAMILIES)
def test_fields_that_a_push_never_reads(family: str, tiles: Kernel, warned: Warned) -> None:
    def found(**config: object) -> dict[str, str]:
        return warned(tiles(ACC, VEC, config=TConfig(**config)), family)

    text = "never reads ClipReluMode CLIP_RELU and IsChannelSplit"
    assert has(found(clip_relu="CLIP_RELU", channel_split=True), "f-config-unread", text)
    assert "never reads IsChannelSplit" in found(channel_split=True)["f-config-unread"]
    assert found() == found(clip_relu="NOCLIP_RELU") == {}


def test_a_sub_block_id_is_read_for_ub_alone(tiles: Kernel, warned: Warned) -> None:
    def found(family: str, direction: str = "C2V", k: int = 1) -> dict[str, str]:
        return warned(tiles(ACC, VEC, direction, config=TConfig(sub_block_id=k)), family)

    assert has(found("a2a3"), "f-config-unread", "SubBlockId 1", "for rings in UB alone")
    assert has(found("a5", "C2V_GM"), "f-config-unread", "SubBlockId 1")
    assert found("a5") == found("a2a3", k=0) == {}


def test_atomic_add_into_ub_is_ignored(tiles: Kernel, warned: Warned) -> None:
    def found(family: str, direction: str = "C2V", atomic: str = "AtomicAdd") -> dict[str, str]:
        return warned(tiles(ACC, VEC, direction, config=TConfig(atomic=atomic)), family)

    assert has(found("a5"), "f-atomic-ignored", "AtomicAdd is ignored", "nearest: DIR_C2V_GM")
    assert found("a5", "C2V_GM") == found("a2a3") == found("a5", atomic="AtomicNone") == {}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_phase_uses_the_unit_flag(family: str, tiles: Kernel, warned: Warned) -> None:
    def found(phase: str, unit_flag: bool) -> dict[str, str]:
        return warned(tiles(ACC, VEC, config=TConfig(phase=phase), unit_flag=unit_flag), family)

    assert has(found("Final", False), "f-phase", "Phase Final", "EN_UNIT_FLAG of the pipe is off")
    assert found("Final", True) == found("Unspecified", False) == {}


@pytest.mark.parametrize("family", FAMILIES)
def test_the_simplified_push_signals_both_sub_cores(family: str, tiles: Kernel, warned: Warned) -> None:
    def found(simplified: bool) -> set[str]:
        return set(warned(tiles(ACC, VEC, kind="TMPipe", gated=1, slot_num=2, simplified=simplified), family))

    assert found(True) - found(False) == {"f-simplified-page"}
    text = warned(tiles(ACC, VEC, kind="TMPipe", gated=1, simplified=True), family)["f-simplified-page"]
    assert f"flags of both sub-cores (npu/{family}/TPush.hpp:" in text
    assert text.endswith("though docs/isa/TPUSH.md:69 gives it NO_SPLIT")


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("slots", "derived"), [(1, 1), (2, 2), (3, 1), (8, 4), (9, 4)])
def test_a_period_of_one_s_own_is_a_gated_tmpipe(
    family: str, slots: int, derived: int, tiles: Kernel, warned: Warned
) -> None:
    def found(period: int) -> dict[str, str]:
        return warned(tiles(ACC, VEC, slot_num=slots, sync_period=period), family)

    text = f"derives SyncPeriod {derived} from SlotNum {slots}"
    assert has(found(derived + 1), "f-period", text, f"; {derived + 1} stands for a gated TMPipe", "credit first")
    assert found(derived) == found(0) == {}


def test_a_slot_without_a_split_has_an_offset_on_950(kernel: Kernel, warned: Warned, fifo: MakeFifo) -> None:
    def found(split: int, family: str = "a5") -> dict[str, str]:
        calls = (tpop("f"), tfree("f")), (talloc("f"), tpush("f"))
        return warned(kernel(*calls, fifo("f", "V2C", gm_form=True, split=split)), family)

    assert has(found(NO_SPLIT), "f-talloc-offset", "AIV1 the offset of LEFT_RIGHT", "npu/a5/TAlloc.hpp:26-34")
    assert found(UP_DOWN) == found(NO_SPLIT, "a2a3") == {}


@pytest.mark.parametrize(("family", "legal", "others"), [("a2a3", (2, 8), (1, 9)), ("a5", (2, 16), (1, 17))])
def test_the_page_has_depths_for_a_tmpipe(
    family: str, legal: tuple[int, ...], others: tuple[int, ...], tiles: Kernel, warned: Warned
) -> None:
    def found(slots: int) -> str:
        return warned(tiles(ACC, VEC, kind="TMPipe", gated=1, slot_num=slots), family).get("f-depth-page", "")

    for slots in others:
        assert f"FiFoDepth {slots} is outside {legal[0]}..{legal[1]} of docs/isa/system/ops/TPUSH.md:119" in found(
            slots
        )
    assert [found(slots) for slots in legal] == ["", ""]


@pytest.mark.parametrize("family", FAMILIES)
def test_default_switches_make_a_tmpipe_one_slot_deep(family: str, tiles: Kernel, warned: Warned) -> None:
    def found(**changes: int) -> str:
        return warned(tiles(ACC, VEC, kind="TMPipe", **changes), family).get("f-one-credit", "")

    assert "has one credit, so FiFoDepth 4 works as 1" in found(slot_num=4)
    assert found(slot_num=1) == found(gated=1) == found(allocate=0) == found(free=0) == ""


@pytest.mark.parametrize("family", FAMILIES)
def test_fifo_sync_t_is_never_used(family: str, tiles: Kernel, warned: Warned) -> None:
    def found(**changes: int) -> str:
        return warned(tiles(ACC, VEC, kind="TMPipe", **changes), family).get("f-sync-t-unread", "")

    assert "FiFoSyncT 2 is stored and never used" in found(sync_period=2)
    assert found(sync_period=2, gated=1) == found(sync_period=0) == ""


def test_a_tmpipe_of_950_does_not_count_tiles(tiles: Kernel, warned: Warned) -> None:
    def found(family: str, kind: str) -> dict[str, str]:
        return warned(tiles(ACC, VEC, kind=kind, gated=1, slot_num=2), family)

    assert has(found("a5", "TMPipe"), "f-tile-index", "never increments its tile index", "setTileId")
    assert found("a2a3", "TMPipe") == found("a5", "TPipe") == {}
