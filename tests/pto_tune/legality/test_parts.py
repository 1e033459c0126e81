"""Whether parts fit together, against memories that are really written and read."""

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from pto_tune.legality.rules import RuleColumn
from pto_tune.model.expr import name, where
from pto_tune.model.nodes import (
    LEFT_RIGHT,
    LEFT_RIGHT_ODD,
    NO_SPLIT,
    UP_DOWN,
    UP_DOWN_ODD,
    Fifo,
    TConfig,
    Workload,
)
from pto_tune.model.vocabulary import tile, tpop, tpush, when

Kernel = Callable[..., Workload]
Broken = Callable[..., dict[str, str]]
AllColumns = Callable[..., dict[str, RuleColumn]]
MakeFifo = Callable[..., Fifo]

SUB = name("sub")
ROWS = where(SUB, name("r1"), name("r0"))
COLS = where(SUB, name("c1"), name("c0"))
VALUES = {"r0": 1, "r1": 1, "c0": 1, "c1": 1, "rows": 1, "cols": 1, "split": 0}
WHOLE = (name("rows"), name("cols"))
NOTHING = -1


def halves(tiles: Kernel, direction: str, **changes: object) -> Workload:
    """A pipe whose sub-cores have parts of any shapes."""
    from dataclasses import replace

    from pto_tune.model.nodes import Parameter

    part, whole = tile("Vec", ROWS, COLS, 1), tile("Acc" if "C2V" in direction else "Mat", *WHOLE, 1)
    pair = (whole, part) if "C2V" in direction else (part, whole)
    work = tiles(*pair, direction, split=name("split"), **changes)
    return replace(work, problem=tuple(Parameter(n, v, "") for n, v in VALUES.items()))


def table(splits: list[int], least: int = 2) -> dict[str, list[int]]:
    """Every combination of small shapes; parts of one row are taken for flat ones, and are no matter here."""
    small = range(least, least + 3)
    grid = list(product(small, small, (1, 2, 3), (1, 2, 3), (2, 3, 4, 5, 6, 7), (2, 3, 4, 5), splits))
    return {n: list(c) for n, c in zip(VALUES, zip(*grid, strict=True), strict=True)}


def begin(k: int, split: int, rows: int, cols: int, producer: bool) -> tuple[int, int]:
    """Offset and stride of a sub-core's part in elements, as the headers have them."""
    if split == UP_DOWN:
        return k * rows * cols, cols
    if split == LEFT_RIGHT:
        return k * cols, 2 * cols
    if split == UP_DOWN_ODD and not producer:
        return k * (rows + k) * cols, cols
    if split == LEFT_RIGHT_ODD and not producer:
        return k * (cols + k), 2 * cols + 2 * k - 1
    return 0, cols


def read(memory: list[int], rows: int, cols: int, offset: int, stride: int) -> list[list[int]]:
    at = [[offset + r * stride + c for c in range(cols)] for r in range(rows)]
    return [[memory[i] if i < len(memory) else NOTHING for i in row] for row in at]


def expected_parts(whole: np.ndarray, split: int, shapes: list[tuple[int, int]]) -> list[list[list[int]]]:
    """What a split promises: AIV1's part goes on where AIV0's ends."""
    (r0, c0), (r1, c1) = shapes
    by_rows = split in (UP_DOWN, UP_DOWN_ODD)
    second = whole[r0 : r0 + r1, :c1] if by_rows else whole[:r1, c0 : c0 + c1]
    return [whole[:r0, :c0].tolist(), second.tolist()]


def test_c2v_pops_are_legal_exactly_where_they_read_the_parts_that_they_should(
    tiles: Kernel, all_columns: AllColumns
) -> None:
    rows = table([UP_DOWN, LEFT_RIGHT, UP_DOWN_ODD, LEFT_RIGHT_ODD])
    columns = all_columns(halves(tiles, "C2V"), **rows)
    legal = ~(columns["f-halves"].broken | columns["f-layout"].broken)
    right = []
    for r0, r1, c0, c1, whole_rows, whole_cols, split in zip(*rows.values(), strict=True):
        whole = np.arange(whole_rows * whole_cols).reshape(whole_rows, whole_cols)
        shapes = [(r0, c0), (r1, c1)]
        found = [read(whole.ravel().tolist(), r, c, *begin(k, split, r, c, False)) for k, (r, c) in enumerate(shapes)]
        whole_parts = expected_parts(whole, split, shapes)
        right.append(found == whole_parts and all(len(p) == r for p, (r, _) in zip(whole_parts, shapes, strict=True)))
    assert legal.tolist() == right
    assert 0 < sum(right) < len(right)


@pytest.mark.parametrize(("family", "direction"), [("a2a3", "V2C"), ("a5", "V2C"), ("a5", "V2C_GM")])
def test_v2c_pushes_race_where_a_byte_is_written_twice_and_are_legal_where_the_tile_comes_out(
    family: str, direction: str, tiles: Kernel, all_columns: AllColumns
) -> None:
    rows = table([UP_DOWN, LEFT_RIGHT])
    columns = all_columns(halves(tiles, direction), family, **rows)
    assert columns["f-same-bytes"].verdict == "race"
    race = columns["f-same-bytes"].broken
    refused = columns["f-halves"].broken | columns["f-layout"].broken | columns["f-ratio"].broken
    twice, right = [], []
    for r0, r1, c0, c1, whole_rows, whole_cols, split in zip(*rows.values(), strict=True):
        memory, count = [NOTHING] * 200, [0] * 200
        shapes = [(r0, c0), (r1, c1)]
        for k, (r, c) in enumerate(shapes):
            offset, stride = begin(k, split, r, c, True)
            for i, j in product(range(r), range(c)):
                memory[offset + i * stride + j] = 100 * k + 10 * i + j
                count[offset + i * stride + j] += 1
        parts = [
            np.array([[100 * k + 10 * i + j for j in range(c)] for i in range(r)]) for k, (r, c) in enumerate(shapes)
        ]
        fits = (c0 == c1) if split == UP_DOWN else (r0 == r1)
        whole = np.concatenate(parts, axis=0 if split == UP_DOWN else 1).tolist() if fits else []
        twice.append(max(count) > 1)
        right.append(read(memory, whole_rows, whole_cols, 0, whole_cols) == whole)
    assert race.tolist() == twice
    assert (~race & ~refused).tolist() == right
    assert 0 < sum(right) < len(right)


@pytest.mark.parametrize(
    ("split", "shapes", "sentence"),
    [
        (
            UP_DOWN,
            ((5, 8), (3, 8), (8, 8)),
            "with UP_DOWN AIV1 starts at row 3 and AIV0 ends at row 5: it reads what AIV0 read; "
            "nearest: UP_DOWN with 4 rows each",
        ),
        (
            UP_DOWN,
            ((5, 8), (4, 8), (9, 8)),
            "with UP_DOWN AIV1 starts at row 4 and AIV0 ends at row 5: it reads what AIV0 read; nearest: UP_DOWN_ODD",
        ),
        (
            UP_DOWN,
            ((3, 8), (5, 8), (8, 8)),
            "with UP_DOWN AIV1 starts at row 5 and AIV0 ends at row 3: rows 3 to 5 are read by nobody; "
            "nearest: UP_DOWN with 4 rows each",
        ),
        (
            UP_DOWN_ODD,
            ((4, 8), (4, 8), (8, 8)),
            "with UP_DOWN_ODD AIV1 starts at row 5 and AIV0 ends at row 4: rows 4 to 5 are read by nobody; "
            "nearest: UP_DOWN",
        ),
        (
            UP_DOWN_ODD,
            ((6, 8), (3, 8), (9, 8)),
            "with UP_DOWN_ODD AIV1 starts at row 4 and AIV0 ends at row 6: it reads what AIV0 read; "
            "nearest: UP_DOWN_ODD with 5 and 4 rows",
        ),
        (
            LEFT_RIGHT,
            ((4, 5), (4, 4), (4, 9)),
            "with LEFT_RIGHT AIV1 starts at column 4 and AIV0 ends at column 5: it reads what AIV0 read; "
            "nearest: LEFT_RIGHT_ODD",
        ),
        (UP_DOWN, ((4, 8), (4, 8), (8, 8)), ""),
        (UP_DOWN_ODD, ((5, 8), (4, 8), (9, 8)), ""),
        (LEFT_RIGHT_ODD, ((4, 5), (4, 4), (4, 9)), ""),
        (UP_DOWN, ((8, 8), (0, 8), (8, 8)), ""),  # AIV1 has no part
        (NO_SPLIT, ((8, 8), (8, 8), (8, 8)), ""),
    ],
)
def test_unequal_halves_of_a_pop_are_refused_with_the_split_that_fits(
    split: int, shapes: tuple[tuple[int, int], ...], sentence: str, tiles: Kernel, broken: Broken
) -> None:
    found = broken(halves(tiles, "C2V"), **cells(split, shapes))
    assert found.get("f-halves", "") == (sentence and f"FIFO f: {sentence}")
    if not sentence:
        assert found == {}


def cells(split: int, shapes: tuple[tuple[int, int], ...]) -> dict[str, list[int]]:
    (r0, c0), (r1, c1), (rows, cols) = shapes
    row = {"r0": r0, "r1": r1, "c0": c0, "c1": c1, "rows": rows, "cols": cols, "split": split}
    return {n: [v] for n, v in row.items()}


def test_unequal_halves_of_a_push_race_where_they_overlap(tiles: Kernel, broken: Broken) -> None:
    work = halves(tiles, "V2C")
    overlap = cells(UP_DOWN, ((5, 8), (3, 8), (8, 8)))
    assert broken(work, **overlap) == {}  # a race does not keep it from being executed
    assert broken(work, verdict="race", **overlap) == {
        "f-same-bytes": "FIFO f: with UP_DOWN AIV1 starts at row 3 and AIV0 ends at row 5: both write the same bytes; "
        "nearest: UP_DOWN with 4 rows each"
    }
    gap = cells(UP_DOWN, ((3, 8), (5, 8), (8, 8)))
    assert broken(work, verdict="race", **gap) == {}
    assert broken(work, **gap)["f-halves"] == (
        "FIFO f: with UP_DOWN AIV1 starts at row 5 and AIV0 ends at row 3: rows 3 to 5 are written by nobody; "
        "nearest: UP_DOWN with 4 rows each"
    )
    equal = cells(UP_DOWN, ((4, 8), (4, 8), (8, 8)))
    assert broken(work, **equal) == broken(work, verdict="race", **equal) == {}


def test_halves_by_columns_have_as_many_rows(tiles: Kernel, broken: Broken) -> None:
    text = broken(halves(tiles, "V2C"), **cells(LEFT_RIGHT, ((2, 8), (4, 8), (3, 16))))["f-halves"]
    assert text == (
        "FIFO f: with LEFT_RIGHT AIV0 writes 2 rows and AIV1 4: rows 2 to 4 of one half are written by nobody; "
        "nearest: LEFT_RIGHT with as many rows on both"
    )


def test_parts_of_unlike_rows_are_named_by_their_bytes(tiles: Kernel, broken: Broken) -> None:
    text = broken(halves(tiles, "C2V"), **cells(UP_DOWN, ((4, 8), (4, 6), (8, 8))))["f-halves"]
    assert text == (
        "FIFO f: with UP_DOWN AIV1 starts at byte 24 and AIV0 ends at byte 32: it reads what AIV0 read; "
        "nearest: UP_DOWN with rows of one length"
    )


def test_a_sub_core_alone_has_no_other_half(kernel: Kernel, broken: Broken, fifo: MakeFifo) -> None:
    push, pop = tpush("f", tile("Acc", 8, 8)), tpop("f", tile("Vec", where(SUB, 3, 4), 8))
    both = kernel((push,), (pop,), fifo(split=UP_DOWN))
    one = kernel((push,), (when(SUB.eq(0), pop),), fifo(split=UP_DOWN))
    assert "f-halves" in broken(both)
    assert broken(one) == {}


@pytest.mark.parametrize("direction", ["C2V", "V2C"])
def test_columns_of_the_wrong_split_are_refused(direction: str, tiles: Kernel, broken: Broken) -> None:
    """Halves by columns in a split by rows: as many elements, other rows."""
    found = broken(halves(tiles, direction), **cells(UP_DOWN, ((8, 4), (8, 4), (8, 8))))
    assert found == {
        "f-layout": "FIFO f: AIV0 takes rows 4 bytes apart of a tile whose rows on AIC have 8 bytes; "
        "nearest: UP_DOWN parts of the tile's own rows"
    }
    assert broken(halves(tiles, direction), **cells(LEFT_RIGHT, ((8, 4), (8, 4), (8, 8)))) == {}


def test_a_flat_tile_may_be_cut_anywhere(tiles: Kernel, broken: Broken) -> None:
    assert broken(halves(tiles, "C2V"), **cells(UP_DOWN, ((1, 32), (1, 32), (1, 64)))) == {}
    assert broken(halves(tiles, "C2V"), **cells(UP_DOWN, ((4, 8), (4, 8), (1, 64)))) == {}


@pytest.mark.parametrize("layout", ["NZ2NZ", "NZ2DN"])
def test_other_layouts_have_other_rows(layout: str, tiles: Kernel, broken: Broken) -> None:
    def found(config: TConfig) -> dict[str, str]:
        return broken(tiles(tile("Acc", 8, 16), tile("Vec", 16, 8), config=config))

    assert "f-layout" in found(TConfig())
    assert found(TConfig(layout=layout)) == {}


def test_a_pop_reads_no_more_than_was_pushed(tiles: Kernel, broken: Broken) -> None:
    found = broken(halves(tiles, "C2V"), **cells(NO_SPLIT, ((16, 8), (16, 8), (8, 8))))
    text = "FIFO f: {} reads up to byte 128 of a tile that ends at byte 64; nearest legal: 64"
    assert found["f-layout"] == text.format("AIV0")
    found = broken(halves(tiles, "V2C"), **cells(NO_SPLIT, ((8, 8), (8, 8), (16, 8))))
    assert found == {"f-layout": text.format("AIC")}


def test_the_first_half_alone_is_a_legal_pop(tiles: Kernel, broken: Broken) -> None:
    assert broken(halves(tiles, "C2V"), **cells(NO_SPLIT, ((8, 8), (8, 8), (16, 8)))) == {}


def test_nothing_lies_beyond_the_slot(tiles: Kernel, broken: Broken) -> None:
    """Unequal halves whose bytes fit into the slot, and the second of which starts too late."""
    work = halves(tiles, "V2C", slot_bytes=64)
    found = broken(work, **cells(UP_DOWN, ((2, 8), (6, 8), (8, 8))))
    assert found["f-beyond-slot"] == "FIFO f: AIV1 writes bytes 48 to 96 of a slot of 64; nearest legal SlotSize: 96"
    assert "f-beyond-slot" not in broken(work, **cells(UP_DOWN, ((4, 8), (4, 8), (8, 8))))
    pops = broken(halves(tiles, "C2V", slot_bytes=64), **cells(UP_DOWN, ((8, 8), (8, 8), (8, 8))))
    assert pops["f-beyond-slot"] == "FIFO f: AIV1 reads bytes 64 to 128 of a slot of 64; nearest legal SlotSize: 128"


@pytest.mark.parametrize(
    ("split", "part", "legal"),
    [
        (NO_SPLIT, (64, 64), True),
        (UP_DOWN, (32, 64), True),
        (LEFT_RIGHT, (64, 32), True),
        (UP_DOWN, (64, 32), False),
        (LEFT_RIGHT, (32, 64), False),
        (UP_DOWN, (64, 64), False),
    ],
)
def test_a_sub_core_pops_what_lies_in_its_ub(
    split: int, part: tuple[int, int], legal: bool, tiles: Kernel, broken: Broken
) -> None:
    found = broken(tiles(tile("Acc", 64, 64), tile("Vec", *part), split=split), "a5")
    there = "32 x 64" if split == UP_DOWN else "64 x 32"
    text = f"FIFO f: AIV0 pops {part[0]} x {part[1]} and its UB has {there} of 4 bytes each; nearest legal: {there}"
    assert found.get("f-layout", "") == ("" if legal else text)
    assert bool(found) is not legal


@pytest.mark.parametrize(
    ("sub_block_id", "part", "legal"),
    [(0, (64, 64), True), (1, (64, 64), True), (2, (32, 64), True), (3, (64, 32), True), (2, (64, 32), False)],
)
def test_a_config_fills_the_ub_by_its_sub_block_id(
    sub_block_id: int, part: tuple[int, int], legal: bool, tiles: Kernel, broken: Broken
) -> None:
    work = tiles(tile("Acc", 64, 64), tile("Vec", *part), config=TConfig(sub_block_id=sub_block_id))
    assert ("f-layout" in broken(work, "a5")) is not legal


@pytest.mark.parametrize(("family", "direction"), [("a2a3", "C2V"), ("a5", "C2V"), ("a2a3", "V2C"), ("a5", "V2C_GM")])
def test_tiles_go_1_to_1_or_1_to_2(family: str, direction: str, tiles: Kernel, broken: Broken) -> None:
    def found(rows: int) -> dict[str, str]:
        part, whole = tile("Vec", rows, 64), tile("Acc" if direction == "C2V" else "Mat", 48, 64)
        return broken(tiles(*((whole, part) if direction == "C2V" else (part, whole)), direction), family)

    push, pop = ("48 x 64 on AIC", "16 x 64 on AIV0") if direction == "C2V" else ("16 x 64 on AIV0", "48 x 64 on AIC")
    numbers = "3072:1024" if direction == "C2V" else "1024:3072"
    assert found(16)["f-ratio"] == (
        f"FIFO f: TPUSH of {push} and TPOP of {pop} are {numbers} elements, and tiles go 1:1 or 1:2; "
        "nearest: the GlobalData flow"
    )
    assert "f-ratio" not in found(24)
    assert found(48) == {}


@pytest.mark.parametrize("direction", ["C2V", "V2C"])
def test_with_a_split_both_parts_make_the_tile(direction: str, tiles: Kernel, broken: Broken) -> None:
    def found(rows: int) -> dict[str, str]:
        return broken(halves(tiles, direction), **cells(UP_DOWN, ((rows, 8), (rows, 8), (4, 8))))

    push, pop = ("4 x 8 on AIC", "4 x 8 on AIV0 and 4 x 8 on AIV1")
    numbers = "32:(32 + 32)"
    if direction == "V2C":
        push, pop, numbers = pop, push, "(32 + 32):32"
    assert found(4)["f-ratio"] == (
        f"FIFO f: TPUSH of {push} and TPOP of {pop} are {numbers} elements, and with UP_DOWN both parts make the tile; "
        "nearest: the GlobalData flow"
    )
    assert found(2) == {}


def test_the_ratio_holds_for_a_tmpipe_and_its_addresses_are_the_kernel_s(tiles: Kernel, broken: Broken) -> None:
    def found(rows: int, cols: int) -> set[str]:
        return set(broken(tiles(tile("Acc", 48, 64), tile("Vec", rows, cols), kind="TMPipe", split=UP_DOWN)))

    assert found(16, 64) == {"f-ratio"}
    assert found(48, 32) == set()


def test_tiles_of_several_sizes_may_share_a_pipe(kernel: Kernel, broken: Broken, fifo: MakeFifo) -> None:
    def found(*popped: int) -> set[str]:
        aic = tuple(tpush("f", tile("Acc", rows, 64)) for rows in (64, 12))
        aiv = tuple(tpop("f", tile("Vec", rows, 64)) for rows in popped)
        return set(broken(kernel(aic, aiv, fifo())))

    assert found(64, 12) == found(12, 64) == set()
    assert found(64, 11) == {"f-ratio"}
    assert found(12, 12) == {"f-ratio"}  # nobody pops the large ones


def test_each_way_of_a_pipe_is_judged_by_itself(kernel: Kernel, broken: Broken, fifo: MakeFifo) -> None:
    aic = (tpush("f", tile("Acc", 48, 64)), tpop("f", tile("Mat", 64, 64)))
    aiv = (tpop("f", tile("Vec", 16, 64)), tpush("f", tile("Vec", 64, 64)))
    assert set(broken(kernel(aic, aiv, fifo("f", "BOTH")))) == {"f.C2V-ratio"}
