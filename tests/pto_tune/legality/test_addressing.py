"""Where a sub-core's part lies in a slot: the offsets and strides of the headers, by way, ring and split."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pto_tune.legality.addressing import Part, slot_part, ub_parts
from pto_tune.legality.calls import End
from pto_tune.model.nodes import LEFT_RIGHT, LEFT_RIGHT_ODD, NO_SPLIT, UP_DOWN, UP_DOWN_ODD, TConfig

SIZES = st.integers(1, 9)
C2V_SPLITS = [NO_SPLIT, UP_DOWN, LEFT_RIGHT, UP_DOWN_ODD, LEFT_RIGHT_ODD]


def grid(value: int) -> np.ndarray:
    return np.array([[value]], dtype=np.int64)


def part(core: str, producer: bool, ring: str, split: int, rows: int, cols: int, size: int = 4) -> Part:
    return slot_part(core, producer, ring, grid(split), grid(rows), grid(cols), grid(size))


def numbers(p: Part) -> tuple[int, ...]:
    return tuple(int(v[0, 0]) for v in (p.offset, p.rows, p.row_bytes, p.stride))


def places(p: Part) -> list[list[int]]:
    """The bytes of a part, row by row."""
    offset, rows, row_bytes, stride = numbers(p)
    return [list(range(offset + r * stride, offset + r * stride + row_bytes)) for r in range(rows)]


@pytest.mark.parametrize(
    ("split", "expected"),
    [
        (NO_SPLIT, ((0, 5, 24, 24), (0, 5, 24, 24))),
        (UP_DOWN, ((0, 5, 24, 24), (5 * 24, 5, 24, 24))),
        (LEFT_RIGHT, ((0, 5, 24, 48), (24, 5, 24, 48))),
        (UP_DOWN_ODD, ((0, 5, 24, 24), (6 * 24, 5, 24, 24))),
        (LEFT_RIGHT_ODD, ((0, 5, 24, 11 * 4), (7 * 4, 5, 24, 13 * 4))),
    ],
)
def test_pops_of_c2v(split: int, expected: tuple[tuple[int, ...], ...]) -> None:
    for k in (0, 1):
        assert numbers(part(f"AIV{k}", False, "GM", split, 5, 6)) == expected[k]


@pytest.mark.parametrize(
    ("split", "expected"),
    [
        (NO_SPLIT, ((0, 5, 24, 24), (0, 5, 24, 24))),
        (UP_DOWN, ((0, 5, 24, 24), (5 * 24, 5, 24, 24))),
        (LEFT_RIGHT, ((0, 5, 24, 48), (24, 5, 24, 48))),
        (UP_DOWN_ODD, ((0, 5, 24, 24), (24, 5, 24, 24))),
        (LEFT_RIGHT_ODD, ((0, 5, 24, 24), (24, 5, 24, 24))),
    ],
)
@pytest.mark.parametrize("ring", ["GM", "L1"])
def test_pushes_of_v2c(ring: str, split: int, expected: tuple[tuple[int, ...], ...]) -> None:
    for k in (0, 1):
        assert numbers(part(f"AIV{k}", True, ring, split, 5, 6)) == expected[k]


@pytest.mark.parametrize("split", C2V_SPLITS)
@pytest.mark.parametrize("producer", [True, False])
def test_aic_has_the_whole_tile(producer: bool, split: int) -> None:
    assert numbers(part("AIC", producer, "GM", split, 5, 6, 2)) == (0, 5, 12, 12)


@pytest.mark.parametrize("split", C2V_SPLITS)
@pytest.mark.parametrize("core", ["AIV0", "AIV1"])
def test_a_ring_in_ub_is_each_sub_core_s_own(core: str, split: int) -> None:
    assert numbers(part(core, False, "UB", split, 5, 6)) == (0, 5, 24, 24)


@pytest.mark.parametrize("core", ["AIV0", "AIV1"])
@pytest.mark.parametrize("split", C2V_SPLITS)
def test_an_empty_part_ends_nowhere(core: str, split: int) -> None:
    assert int(part(core, False, "GM", split, 0, 6).end[0, 0]) == 0
    assert int(part(core, False, "GM", split, 3, 0).end[0, 0]) == 0


@given(rows=SIZES, cols=SIZES, size=st.sampled_from([1, 2, 4]), split=st.sampled_from(C2V_SPLITS))
def test_fitting_parts_are_the_tile_and_each_byte_once(rows: int, cols: int, size: int, split: int) -> None:
    """Parts of the sizes that belong to a split, against slices of the whole tile's bytes."""
    by_rows, by_cols = split in (UP_DOWN, UP_DOWN_ODD), split in (LEFT_RIGHT, LEFT_RIGHT_ODD)
    odd = split in (UP_DOWN_ODD, LEFT_RIGHT_ODD)
    first = part("AIV0", False, "GM", split, rows + (odd and by_rows), cols + (odd and by_cols), size)
    second = part("AIV1", False, "GM", split, rows, cols, size)
    whole_rows = 2 * rows + odd if by_rows else rows
    whole_cols = 2 * cols + odd if by_cols else cols
    whole = np.arange(whole_rows * whole_cols * size).reshape(whole_rows, whole_cols * size)
    cut = (rows + odd) if by_rows else (cols + odd) * size
    if by_rows:
        assert (places(first), places(second)) == (whole[:cut].tolist(), whole[cut:].tolist())
    elif by_cols:
        assert (places(first), places(second)) == (whole[:, :cut].tolist(), whole[:, cut:].tolist())
    else:
        assert places(first) == places(second) == whole.tolist()
    assert int(second.end[0, 0]) == whole.size


@given(rows=SIZES, cols=SIZES, core=st.sampled_from(["AIV0", "AIV1"]), split=st.sampled_from(C2V_SPLITS))
@pytest.mark.parametrize("producer", [True, False])
def test_bytes_and_end_are_those_of_the_places(rows: int, cols: int, core: str, split: int, producer: bool) -> None:
    p = part(core, producer, "GM", split, rows, cols)
    flat = [byte for row in places(p) for byte in row]
    assert (int(p.bytes[0, 0]), int(p.end[0, 0])) == (len(flat), max(flat) + 1)


def pushed(split: int, rows: int, cols: int, size: int = 4) -> End:
    return End("AIC", np.ones((1, 1), dtype=bool), grid(split), grid(rows), grid(cols), grid(size))


@pytest.mark.parametrize(
    ("split", "config", "first", "second"),
    [
        (NO_SPLIT, None, (8, 64), (0, 64)),
        (UP_DOWN, None, (4, 64), (4, 64)),
        (LEFT_RIGHT, None, (8, 32), (8, 32)),
        (UP_DOWN_ODD, None, (0, 64), (0, 64)),
        (LEFT_RIGHT_ODD, None, (0, 64), (0, 64)),
        (UP_DOWN, TConfig(sub_block_id=0), (8, 64), (0, 64)),
        (UP_DOWN, TConfig(sub_block_id=1), (0, 64), (8, 64)),
        (NO_SPLIT, TConfig(sub_block_id=2), (4, 64), (4, 64)),
        (NO_SPLIT, TConfig(sub_block_id=3), (8, 32), (8, 32)),
    ],
)
def test_what_a_push_leaves_in_each_ub(
    split: int, config: TConfig | None, first: tuple[int, int], second: tuple[int, int]
) -> None:
    found = [numbers(p) for p in ub_parts(pushed(split, 8, 64), config)]
    assert found == [(0, rows, 4 * cols, 4 * cols) for rows, cols in (first, second)]
