"""Rules of the TileData calls: each is broken by a smallest workload, kept by a neighbour of it, and says why."""

from collections.abc import Callable

import pytest

from pto_tune.model.expr import name
from pto_tune.model.fixpipe import A5_ONLY, OUTPUT_TYPES
from pto_tune.model.nodes import (
    LEFT_RIGHT,
    LEFT_RIGHT_ODD,
    NO_SPLIT,
    SPLITS,
    UP_DOWN,
    UP_DOWN_ODD,
    Fifo,
    TConfig,
    Workload,
)
from pto_tune.model.vocabulary import half_cols, half_rows, talloc, tfree, tile, tpop, tpush, when

Kernel = Callable[..., Workload]
Broken = Callable[..., dict[str, str]]
MakeFifo = Callable[..., Fifo]

ACC, VEC, MAT = tile("Acc", 64, 64), tile("Vec", 64, 64), tile("Mat", 64, 64)


@pytest.mark.parametrize("family", ["a2a3", "a5"])
@pytest.mark.parametrize(
    ("direction", "call", "core", "right"),
    [
        ("C2V", "TPUSH", "AIC", "Acc"),
        ("C2V", "TPOP", "AIV", "Vec"),
        ("V2C", "TPUSH", "AIV", "Vec"),
        ("V2C", "TPOP", "AIC", "Mat"),
    ],
)
@pytest.mark.parametrize("kind", ["Acc", "Vec", "Mat", "Ctrl"])
def test_each_call_takes_its_own_type_of_tile(
    family: str, direction: str, call: str, core: str, right: str, kind: str, tiles: Kernel, broken: Broken
) -> None:
    pushed, popped = (ACC, VEC) if direction == "C2V" else (VEC, MAT)
    other = tile(kind, 64, 64)
    work = tiles(other, popped, direction) if call == "TPUSH" else tiles(pushed, other, direction)
    expected = {"f-tile-kind": f"FIFO f: {call} on {core} takes a tile of type {right}, not {kind}; nearest: {right}"}
    assert broken(work, family) == ({} if kind == right else expected)


def test_a_wrong_tile_in_a_branch_that_is_not_taken_is_no_matter(
    kernel: Kernel, rows_broken: Callable[..., list[bool]], fifo: MakeFifo
) -> None:
    aic = (when(name("flow").eq(0), tpush("f", ACC)), when(name("flow").eq(1), tpush("f", VEC)))
    work = kernel(aic, (tpop("f", VEC),), fifo(), values={"flow": 0})
    assert rows_broken(work, "f-tile-kind", flow=[0, 1, 2]) == [False, True, False]


@pytest.mark.parametrize("family", ["a2a3", "a5"])
def test_the_simplified_push_is_that_of_a_tmpipe(family: str, tiles: Kernel, broken: Broken) -> None:
    assert broken(tiles(ACC, VEC, simplified=True), family) == {
        "f-simplified": "FIFO f: TPUSH(tile, pipe) needs a TMPipe, and this is a TPipe; nearest: TPUSH(pipe, tile)"
    }
    assert broken(tiles(ACC, VEC, simplified=True, kind="TMPipe"), family) == {}
    found = broken(tiles(tile("Mat", 64, 64), VEC, simplified=True, kind="TMPipe"), family)
    assert found["f-simplified"] == "FIFO f: TPUSH(tile, pipe) takes a tile of type Acc or Vec, not Mat"


@pytest.mark.parametrize("family", ["a2a3", "a5"])
@pytest.mark.parametrize("kind", ["Vec", "Ctrl", "Mat"])
def test_a_config_takes_an_accumulator(family: str, kind: str, tiles: Kernel, broken: Broken) -> None:
    found = broken(tiles(tile(kind, 64, 64), VEC, config=TConfig()), family)
    page = "the page, docs/isa/TPUSH.md:73, names Vec and Ctrl too"
    text = f"FIFO f: TPUSH with a TConfig takes an Acc tile only, not {kind} ({page}); nearest: Acc"
    assert found["f-config"] == text
    assert broken(tiles(ACC, VEC, config=TConfig()), family) == {}


@pytest.mark.parametrize("family", ["a2a3", "a5"])
def test_a_config_goes_from_cube_to_vector(family: str, tiles: Kernel, broken: Broken) -> None:
    found = broken(tiles(VEC, MAT, "V2C", config=TConfig()), family)
    assert found["f-config"] == "FIFO f: TPUSH with a TConfig goes from cube to vector only, and this is V2C"


@pytest.mark.parametrize("quant", OUTPUT_TYPES)
def test_every_quantisation_is_known_where_it_exists(quant: str, tiles: Kernel, broken: Broken) -> None:
    size = {"": 4, "half": 2, "bfloat16": 2}.get(OUTPUT_TYPES[quant], 1)
    work = tiles(ACC, tile("Vec", 64, 64, size), config=TConfig(quant=quant))
    assert broken(work, "a5") == {}
    if quant in A5_ONLY:
        assert broken(work)["f-config"].startswith(f"FIFO f: QuantPre {quant} exists on Ascend 950 alone: NoQuant, ")
    else:
        assert broken(work) == {}


@pytest.mark.parametrize(
    ("config", "field", "value", "nearest"),
    [
        (TConfig(layout="NZ2NDD"), "LayoutMode", "NZ2NDD", "NZ2ND"),
        (TConfig(quant="DEQF17"), "QuantPre", "DEQF17", "DEQF16"),
        (TConfig(relu="Relu"), "ReluMode", "Relu", "NoRelu"),
        (TConfig(phase="Last"), "Phase", "Last", ""),
        (TConfig(atomic="AtomicSub"), "AtomicT", "AtomicSub", "AtomicAdd"),
    ],
)
def test_unknown_names_are_refused_with_the_known_ones(
    config: TConfig, field: str, value: str, nearest: str, tiles: Kernel, broken: Broken
) -> None:
    text = broken(tiles(ACC, VEC, config=config))["f-config"]
    assert text.startswith(f"FIFO f: {field} {value} is unknown: ")
    assert f"; nearest: {nearest}" in text


def test_atomic_add_has_no_8_bit_floats(tiles: Kernel, broken: Broken) -> None:
    def found(quant: str, direction: str) -> dict[str, str]:
        config = TConfig(quant=quant, atomic="AtomicAdd")
        return broken(tiles(ACC, tile("Vec", 64, 64, 1), direction, config=config), "a5")

    assert found("QF322FP8_PRE", "C2V_GM") == {
        "f-config": "FIFO f: AtomicAdd has no float8_e4m3, which QF322FP8_PRE gives: it takes half, float, int16, "
        "int32, int8, bfloat16"
    }
    assert found("REQ8", "C2V_GM") == {}
    assert found("QF322FP8_PRE", "C2V") == {}  # a push into UB ignores it


@pytest.mark.parametrize("family", ["a2a3", "a5"])
def test_sub_block_ids_are_0_to_3(family: str, tiles: Kernel, broken: Broken) -> None:
    whole = {k: broken(tiles(ACC, VEC, config=TConfig(sub_block_id=k)), family) for k in (-1, 0, 1, 4)}
    assert whole[0] == whole[1] == {}
    assert whole[4] == {"f-sub-block-id": "FIFO f: SubBlockId 4 is outside 0..3; nearest legal: 3"}
    assert whole[-1] == {"f-sub-block-id": "FIFO f: SubBlockId -1 is outside 0..3; nearest legal: 0"}


@pytest.mark.parametrize(("sub_block_id", "rows", "cols"), [(2, 32, 64), (3, 64, 32)])
def test_modes_that_write_both_ubs_convert_nothing(
    sub_block_id: int, rows: int, cols: int, tiles: Kernel, broken: Broken
) -> None:
    def found(family: str = "a5", direction: str = "C2V", size: int = 4, **config: str) -> dict[str, str]:
        popped = tile("Vec", rows, cols, size) if direction == "C2V" and family == "a5" else tile("Vec", 64, 64, size)
        return broken(tiles(ACC, popped, direction, config=TConfig(sub_block_id=sub_block_id, **config)), family)

    assert found() == {}
    quant = found(quant="F322F16", size=2)["f-sub-block-id"]
    assert f"SubBlockId {sub_block_id} (both, split by " in quant
    assert "does not go with QuantPre F322F16 (nearest: NoQuant)" in quant
    assert "LayoutMode NZ2DN (nearest: NZ2ND)" in found(layout="NZ2DN")["f-sub-block-id"]
    both = found(layout="NZ2DN", quant="F322F16", size=2)["f-sub-block-id"]
    assert "QuantPre F322F16 (nearest: NoQuant) and LayoutMode NZ2DN" in both
    assert found(layout="NZ2NZ") == {}
    assert found(direction="C2V_GM", quant="F322F16", size=2) == {}
    assert found(family="a2a3", quant="F322F16", size=2) == {}


def test_a_split_is_one_of_five(kernel: Kernel, rows_broken: Callable[..., list[bool]], fifo: MakeFifo) -> None:
    work = kernel((tpush("f", ACC),), (tpop("f", VEC, split=name("split")),), fifo(), values={"split": 0})
    assert rows_broken(work, "f-split", split=[-1, 0, 1, 2, 3, 4, 5]) == [True, *[False] * 5, True]


def test_an_unknown_split_is_refused_with_the_known_ones(tiles: Kernel, broken: Broken) -> None:
    text = broken(tiles(ACC, VEC, split=5))["f-split"]
    assert text.startswith("FIFO f: Split 5 is none of NO_SPLIT 0, UP_DOWN 1, LEFT_RIGHT 2, ")


ROWS, COLS, SPLIT, SUB = name("rows"), name("cols"), name("split"), name("sub")
PART = (half_rows(ROWS, SPLIT), half_cols(COLS, SPLIT))


@pytest.mark.parametrize(("split", "rows", "cols"), [(UP_DOWN_ODD, 33, 64), (LEFT_RIGHT_ODD, 32, 65)])
@pytest.mark.parametrize(
    ("family", "direction", "legal", "words"),
    [
        ("a2a3", "C2V", True, ""),
        ("a5", "C2V_GM", True, ""),
        ("a2a3", "V2C", False, "for V2C"),
        ("a5", "V2C", False, "for V2C"),
        ("a5", "V2C_GM", False, "for V2C"),
        ("a5", "C2V", False, "through a ring in UB"),
    ],
)
def test_odd_splits_work_for_c2v_tiles_through_gm(
    split: int,
    rows: int,
    cols: int,
    family: str,
    direction: str,
    legal: bool,
    words: str,
    tiles: Kernel,
    broken: Broken,
) -> None:
    whole = tile("Acc" if "C2V" in direction else "Mat", ROWS, COLS)
    part = tile("Vec", *PART)
    work = tiles(*((whole, part) if "C2V" in direction else (part, whole)), direction, split=SPLIT)
    found = broken(with_values(work, split=split, rows=rows, cols=cols), family)
    if legal:
        assert found == {}
    else:
        text = (
            f"FIFO f: {SPLITS[split]} works for C2V tiles through GM alone, not {words}; nearest: {SPLITS[split - 2]}"
        )
        assert found["f-odd-split"] == text


@pytest.mark.parametrize("split", [UP_DOWN_ODD, LEFT_RIGHT_ODD])
@pytest.mark.parametrize("side", ["producer", "consumer"])
def test_odd_splits_do_not_go_with_global_data(
    split: int, side: str, kernel: Kernel, broken: Broken, fifo: MakeFifo
) -> None:
    aic = (talloc("f"), tpush("f")) if side == "producer" else (tpush("f", ACC),)
    aiv = (tpop("f"), tfree("f")) if side == "consumer" else (tpop("f", tile("Vec", 32, 64)),)
    found = broken(kernel(aic, aiv, fifo(split=split)))
    assert "not with GlobalData" in found["f-odd-split"]
    assert "f-odd-split" not in broken(kernel(aic, aiv, fifo(split=split - 2)))


def with_values(work: Workload, **values: int) -> Workload:
    from dataclasses import replace

    from pto_tune.model.nodes import Parameter

    return replace(work, problem=tuple(Parameter(n, v, "") for n, v in values.items()))


@pytest.mark.parametrize(
    ("rows", "cols", "text"),
    [
        (8193, 8, "TPUSH of 8193 rows is outside 1..8192; nearest legal: 8192"),
        (1, 4096, "TPUSH of 4096 columns is outside 1..4095; nearest legal: 4095"),
        (0, 16, "TPUSH of 0 rows is outside 1..8192; nearest legal: 1"),
        (8192, 1, ""),
        (1, 4095, ""),
    ],
)
def test_an_accumulator_store_has_its_ranges(rows: int, cols: int, text: str, tiles: Kernel, broken: Broken) -> None:
    work = tiles(tile("Acc", rows, cols), tile("Vec", rows, cols), slot_bytes=2**19, local_slot_num=0)
    assert broken(work).get("f-store-shape", "") == (text and f"FIFO f: {text}")


@pytest.mark.parametrize(
    ("split", "rows", "cols", "size", "text"),
    [
        (UP_DOWN, 64, 64, 4, ""),
        (UP_DOWN, 63, 64, 4, "UP_DOWN into UB needs rows in multiples of 2, not 63; nearest legal: 64"),
        (UP_DOWN, 64, 64, 2, "UP_DOWN into UB needs elements of 4 bytes, not 2; nearest legal: 4"),
        (UP_DOWN, 64, 33, 4, ""),
        (LEFT_RIGHT, 64, 64, 4, ""),
        (LEFT_RIGHT, 63, 64, 4, ""),
        (LEFT_RIGHT, 64, 48, 4, "LEFT_RIGHT into UB needs columns in multiples of 32, not 48; nearest legal: 64"),
        (LEFT_RIGHT, 64, 64, 2, "LEFT_RIGHT into UB needs elements of 4 bytes, not 2; nearest legal: 4"),
        (NO_SPLIT, 63, 33, 2, ""),
    ],
)
def test_both_ubs_are_written_in_even_halves(
    split: int, rows: int, cols: int, size: int, text: str, tiles: Kernel, broken: Broken
) -> None:
    part = tile("Vec", rows // 2 if split == UP_DOWN else rows, cols // 2 if split == LEFT_RIGHT else cols, size)
    work = tiles(tile("Acc", rows, cols, size), part, split=split)
    assert broken(work, "a5").get("f-ub-split", "") == (text and f"FIFO f: {text}")
    for family, direction in (("a2a3", "C2V"), ("a5", "C2V_GM")):
        there = tiles(tile("Acc", rows, cols, size), part, direction, split=split)
        assert "f-ub-split" not in broken(there, family)


def test_a_config_splits_by_its_sub_block_id_instead(tiles: Kernel, broken: Broken) -> None:
    work = tiles(tile("Acc", 63, 33), tile("Vec", 63, 33), split=UP_DOWN, config=TConfig())
    assert broken(work, "a5") == {}


@pytest.mark.parametrize(("cols", "legal"), [(8, True), (16, True), (9, False), (4, False)])
def test_columns_go_into_l1_in_32_bytes(cols: int, legal: bool, tiles: Kernel, broken: Broken) -> None:
    work = tiles(tile("Vec", 32, cols), tile("Mat", 32, 2 * cols), "V2C", split=LEFT_RIGHT)
    text = (
        f"FIFO f: LEFT_RIGHT into L1 needs rows of a multiple of 32 bytes, and those of AIV0 have {4 * cols}; "
        f"nearest legal: {16 if cols == 9 else 8} columns"
    )
    expected = {} if legal else {"f-l1-split": text}
    assert broken(work, "a5") == expected
    assert broken(work) == {}


@pytest.mark.parametrize(
    ("family", "direction"), [("a2a3", "C2V"), ("a5", "C2V_GM"), ("a2a3", "V2C"), ("a5", "V2C_GM")]
)
def test_tiles_from_gm_have_a_local_slot(family: str, direction: str, tiles: Kernel, broken: Broken) -> None:
    pair = (ACC, VEC) if "C2V" in direction else (VEC, MAT)
    assert broken(tiles(*pair, direction, local_slot_num=0), family) == {
        "f-local-slot-num": "FIFO f: LocalSlotNum 0 is below 1; nearest legal: 1"
    }
    assert broken(tiles(*pair, direction, local_slot_num=1), family) == {}
    assert broken(tiles(*pair, direction, local_slot_num=0, kind="TMPipe"), family) == {}
    assert "below 0" in broken(tiles(*pair, direction, local_slot_num=-1, kind="TMPipe"), family)["f-local-slot-num"]


def test_no_local_slot_is_needed_in_local_rings_and_for_global_data(
    tiles: Kernel, kernel: Kernel, broken: Broken, fifo: MakeFifo
) -> None:
    assert broken(tiles(ACC, VEC, slot_bytes=16384, local_slot_num=0), "a5") == {}
    flow = kernel((talloc("f"), tpush("f")), (tpop("f"), tfree("f")), fifo(local_slot_num=0))
    assert broken(flow) == {}


def test_tiles_of_two_sizes_overlap_in_the_local_slots_of_950(kernel: Kernel, broken: Broken, fifo: MakeFifo) -> None:
    def found(rows: int, family: str = "a5", **changes: int) -> dict[str, str]:
        aic = (tpush("f", ACC), tpush("f", tile("Acc", rows, 64)))
        aiv = (tpop("f", VEC), tpop("f", tile("Vec", rows, 64)))
        return broken(kernel(aic, aiv, fifo(gm_form=True, slot_bytes=16384, **changes)), family)

    assert found(32) == {
        "f-local-alias": "FIFO f: AIV0 pops tiles of 16384 and of 8192 bytes, whose local slots overlap, because each "
        "strides them by its own size; nearest: tiles of one size, or a pipe each"
    }
    assert found(64) == found(32, local_slot_num=1) == found(32, "a2a3") == {}
