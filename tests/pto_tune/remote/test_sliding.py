"""Which pieces a TPUT or TGET moves, in which order, and what it leaves in the staging tile."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pto_tune.remote.sliding import CHUNKS, EMPTY, MAX_PIECES, ONCE, PING_PONG, plan
from pto_tune.remote.staging import OPS, TGET, TPUT, StagingTile

both_ops = pytest.mark.parametrize("op", OPS)
HUNDRED = (1, 1, 1, 100, 100)


def dynamic(rows: int, cols: int) -> StagingTile:
    return StagingTile.full(rows, cols, dynamic=True)


# One transfer, or none


@both_ops
@pytest.mark.parametrize("axis", range(5))
def test_an_empty_shape_moves_nothing_and_leaves_the_tile_alone(op: str, axis: int) -> None:
    shape = [2, 2, 2, 40, 40]
    shape[axis] = 0
    p = plan(op, shape, dynamic(16, 16))
    assert (p.form, len(p), p.transfers, p.left) == (EMPTY, 0, 0, (dynamic(16, 16),))


@both_ops
def test_what_fits_is_one_transfer_of_all_rows_together(op: str) -> None:
    p = plan(op, (2, 1, 2, 4, 10), dynamic(16, 16))
    assert (p.form, p.rows.tolist(), p.cols.tolist(), p.origin.tolist()) == (ONCE, [16], [10], [[0] * 5])
    assert p.left == (dynamic(16, 16),)


def test_only_the_uncut_single_tile_tput_has_no_barrier() -> None:
    tile, shape = dynamic(16, 16), (1, 1, 1, 16, 16)
    barriers = {(op, n): plan(op, shape, *[tile] * n).barriers.tolist() for op in OPS for n in (1, 2)}
    assert barriers == {(TPUT, 1): [0], (TGET, 1): [1], (TPUT, 2): [1], (TGET, 2): [1]}


def test_an_uncut_call_with_two_tiles_goes_through_ping() -> None:
    p = plan(TPUT, (1, 1, 1, 8, 8), dynamic(16, 16), dynamic(16, 16))
    assert (p.form, p.tile.tolist()) == (ONCE, [0])


# Chunks


@both_ops
def test_columns_are_innermost_then_rows_then_d2_d1_d0(op: str) -> None:
    p = plan(op, (2, 1, 2, 3, 5), dynamic(2, 4))
    expected = [
        [d0, 0, d2, row, col] for d0 in (0, 1) for d2 in (0, 1) for row in (0, 2) for col in (0, 4)
    ]  # fmt: skip
    assert p.origin.tolist() == expected
    assert p.rows.tolist() == [2, 2, 1, 1] * 4
    assert p.cols.tolist() == [4, 1, 4, 1] * 4


@both_ops
def test_rows_never_merge_across_d2(op: str) -> None:
    # 24 rows would be two chunks of 16; each of the three slices of 8 has one of its own.
    p = plan(op, (1, 1, 3, 8, 16), dynamic(16, 16))
    assert (p.form, p.rows.tolist(), p.origin[:, 2].tolist()) == (CHUNKS, [8, 8, 8], [0, 1, 2])
    assert p.left == (replace(dynamic(16, 16), valid_rows=8),)


def test_offsets_follow_the_strides_of_each_side() -> None:
    p = plan(TPUT, (1, 1, 2, 4, 8), dynamic(2, 8))
    assert p.offsets([64, 64, 32, 8, 1]).tolist() == [0, 16, 32, 48]
    assert p.offsets([999, 999, 1000, 100, 2]).tolist() == [0, 200, 1000, 1200]


@pytest.mark.parametrize("strides", [[1, 1, 1, 1], [1.0] * 5, [2**62] * 5])
def test_strides_that_are_none_are_refused(strides: list[float]) -> None:
    with pytest.raises(ValueError, match="strides"):
        plan(TPUT, (1, 1, 2, 4, 8), dynamic(2, 8)).offsets(strides)


# The valid shape is state


@both_ops
def test_a_hundred_by_a_hundred_twice_through_a_dynamic_tile(op: str) -> None:
    first = plan(op, HUNDRED, dynamic(16, 64))
    assert (len(first), int(first.halves.sum()), first.transfers) == (14, 6, 20)
    assert first.rows.tolist() == [16] * 12 + [4] * 2
    assert first.cols.tolist() == [64, 36] * 7
    assert [str(tile) for tile in first.left] == ["4 x 36 of 16 x 64"]
    second = plan(op, HUNDRED, *first.left)
    assert (len(second), int(second.halves.sum())) == (75, 0)
    assert [str(tile) for tile in second.left] == ["4 x 28 of 16 x 64"]


def test_the_tile_shrinks_until_it_divides_the_tensor() -> None:
    tile, counts = dynamic(16, 64), []
    for _ in range(6):
        p = plan(TPUT, HUNDRED, tile)
        counts.append(len(p))
        (tile,) = p.left
    assert counts == [14, 75, 100, 175, 625, 625]
    assert str(tile) == "4 x 4 of 16 x 64"


def test_only_dynamic_axes_shrink() -> None:
    tile = StagingTile(16, 64, 16, 64, dynamic_rows=False, dynamic_cols=True)
    p = plan(TPUT, (1, 1, 1, 96, 100), tile)
    assert p.left == (replace(tile, valid_cols=36),)


@both_ops
def test_with_two_tiles_each_keeps_its_own_last_chunk(op: str) -> None:
    first = plan(op, HUNDRED, dynamic(16, 64), dynamic(16, 64))
    assert (first.form, len(first), first.tile.tolist()) == (PING_PONG, 14, [0, 1] * 7)
    assert not first.halves.any()
    assert [str(tile) for tile in first.left] == ["4 x 64 of 16 x 64", "4 x 36 of 16 x 64"]
    # The next call is cut by ping alone.
    assert len(plan(op, HUNDRED, *first.left)) == 25 * 2


# Static valid shapes


@both_ops
@pytest.mark.parametrize("tiles", [1, 2])
def test_a_static_valid_shape_that_does_not_divide_is_refused_with_both_remainders(op: str, tiles: int) -> None:
    with pytest.raises(ValueError, match="remainders of 4 rows and 36 columns"):
        plan(op, HUNDRED, *[StagingTile.full(16, 64)] * tiles)


def test_a_static_valid_shape_that_divides_is_moved_and_stays() -> None:
    tile = StagingTile.full(10, 50)
    p = plan(TPUT, HUNDRED, tile)
    assert (len(p), p.left) == (20, (tile,))


def test_a_slice_lower_than_a_static_tile_is_refused_although_all_rows_divide() -> None:
    with pytest.raises(ValueError, match="remainders of 8 rows and 0 columns"):
        plan(TPUT, (1, 1, 4, 8, 16), StagingTile.full(16, 16))


# The window of half tiles


def chunks_of(n: int, tile: StagingTile) -> tuple[int, int, int, int, int]:
    return (1, 1, 1, n * tile.valid_rows, tile.valid_cols)


@pytest.mark.parametrize(
    ("op", "halved"), [(TPUT, range(8, 17)), (TGET, range(8, 40))], ids=["TPUT-8-to-16", "TGET-from-8"]
)
def test_the_window_of_half_tiles(op: str, halved: range) -> None:
    tile = StagingTile.full(4, 8)
    assert [n for n in range(2, 40) if plan(op, chunks_of(n, tile), tile).halves.any()] == list(halved)


def test_a_halved_chunk_has_two_barriers_and_two_transfers() -> None:
    p = plan(TPUT, chunks_of(8, StagingTile.full(4, 8)), StagingTile.full(4, 8))
    assert (p.halves.all(), p.barriers.tolist(), p.transfers) == (True, [2] * 8, 16)


@both_ops
@pytest.mark.parametrize(
    "change",
    [
        {"location": "Mat"},
        {"block_layout": "ColMajor"},
        {"fractal_layout": "RowMajor"},
        {"rows": 5},
        {"rows": 8},
        {"cols": 16},
        {"rows": 1, "valid_rows": 1},
        {"rows": 3, "valid_rows": 3},
    ],
    ids=str,
)
def test_each_condition_of_the_half_tiles_is_needed(op: str, change: dict[str, object]) -> None:
    good = StagingTile.full(4, 8)
    other = replace(good, **change)
    assert plan(op, chunks_of(10, good), good).halves.all()
    assert not plan(op, chunks_of(10, other), other).halves.any()


@both_ops
def test_chunks_are_counted_over_all_slices(op: str) -> None:
    assert plan(op, (2, 2, 2, 4, 8), StagingTile.full(4, 8)).halves.all()


# Every element once


def loops(shape: tuple[int, ...], rows: int, cols: int) -> Iterator[tuple[list[int], int, int]]:
    for d0 in range(shape[0]):
        for d1 in range(shape[1]):
            for d2 in range(shape[2]):
                for d3 in range(0, shape[3], rows):
                    for d4 in range(0, shape[4], cols):
                        yield [d0, d1, d2, d3, d4], min(rows, shape[3] - d3), min(cols, shape[4] - d4)


shapes = st.tuples(*[st.integers(1, 3)] * 3, st.integers(1, 12), st.integers(1, 12))
tiles = st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(0, 5), st.integers(0, 5)).map(
    lambda t: StagingTile(t[0], t[1], max(1, t[0] - t[2]), max(1, t[1] - t[3]), True, True)
)


@settings(deadline=None)
@given(op=st.sampled_from(OPS), shape=shapes, tile=tiles, two=st.booleans())
def test_pieces_cover_every_element_once_in_the_order_of_the_loops(
    op: str, shape: tuple[int, int, int, int, int], tile: StagingTile, two: bool
) -> None:
    p = plan(op, shape, tile, tile if two else None)
    moved = np.zeros(shape, dtype=np.int64)
    if p.form == ONCE:
        assert int(p.rows[0]) * int(p.cols[0]) == moved.size
        return
    assert list(zip(p.origin.tolist(), p.rows, p.cols, strict=True)) == list(
        loops(shape, tile.valid_rows, tile.valid_cols)
    )
    for (d0, d1, d2, d3, d4), rows, cols in zip(p.origin, p.rows, p.cols, strict=True):
        moved[d0, d1, d2, d3 : d3 + rows, d4 : d4 + cols] += 1
    assert (moved == 1).all()
    for k, left in enumerate(p.left):
        last = len(p) - 1 if (len(p) - 1) % len(p.left) == k else len(p) - 2
        assert (left.valid_rows, left.valid_cols) == (p.rows[last], p.cols[last])


# What cannot be planned


@pytest.mark.parametrize("shape", [(1, 1, 1, 4), (1, 1, 1, 4, -1), (1, 1, 1, 4, 2**31)])
def test_shapes_that_are_none_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"shape .* expected 5 extents of 0 to 2147483647"):
        plan(TPUT, shape, dynamic(4, 4))


def test_other_instructions_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown remote transfer 'TLOAD': choose one of TPUT, TGET"):
        plan("TLOAD", HUNDRED, dynamic(4, 4))


def test_too_many_pieces_are_refused_and_not_written_out() -> None:
    with pytest.raises(ValueError, match=f"4000000 pieces: expected at most {MAX_PIECES}"):
        plan(TGET, (1, 1, 1, 2000, 2000), dynamic(1, 1))


def test_tiles_that_are_none_are_refused_with_all_that_is_wrong() -> None:
    with pytest.raises(ValueError) as refused:
        StagingTile(0, 8, 1, 9)
    assert "a staging tile of 0 rows" in str(refused.value)
    assert "9 valid columns of 8: expected 1 to 8" in str(refused.value)
