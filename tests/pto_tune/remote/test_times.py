"""Times of TPUT and TGET: closed forms over columns against the instructions of the plan, executed one by one."""

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pto_tune.remote import columns as cols
from pto_tune.remote.columns import PIECES, Calls, call_cycles, calls
from pto_tune.remote.sliding import Plan, plan
from pto_tune.remote.staging import OPS, TGET, TPUT, StagingTile
from pto_tune.remote.steps import BARRIER, MTE2, MTE3, SET_FLAG, TLOAD, TSTORE, WAIT_FLAG, Step, steps

T = 1000


def execute(instructions: Iterable[Step], load: dict[tuple[int, int], int], store: dict[tuple[int, int], int],
            barrier: int) -> int:  # fmt: skip
    """End of the last store: pipes in order, flags counted, and every instruction issued at once."""
    free = {MTE2: 0, MTE3: 0}
    flags: dict[tuple[str, str, int], list[int]] = {}
    end = 0
    for i in instructions:
        if i.name in (TLOAD, TSTORE):
            assert i.pipe == (MTE2 if i.name == TLOAD else MTE3)
            free[i.pipe] += (load if i.name == TLOAD else store)[i.rows, i.cols]
            end = free[i.pipe]
        elif i.name == SET_FLAG:
            flags.setdefault((i.pipe, i.to, i.event), []).append(free[i.pipe])
        elif i.name == WAIT_FLAG:
            free[i.to] = max(free[i.to], flags[i.pipe, i.to, i.event].pop(0))
        else:
            assert i.name == BARRIER
            free = dict.fromkeys(free, max(free.values()) + barrier)
    assert not any(flags.values()), "a flag is set and nobody waits for it"
    return end


def one(op: str, shape: tuple[int, ...], tile: StagingTile, pong: bool = False) -> Calls:
    return calls(
        op, shape, tile.rows, tile.cols, valid_rows=tile.valid_rows, valid_cols=tile.valid_cols,
        dynamic_rows=tile.dynamic_rows, dynamic_cols=tile.dynamic_cols, ping_pong=pong,
    )  # fmt: skip


def by_size(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """T a chunk of 4 x 8, in proportion for others."""
    return T * rows * columns // 32


# The figures of full chunks, load and store T each


@pytest.mark.parametrize(
    ("op", "n", "ping_pong", "times_t"),
    [
        (TPUT, 7, False, 14), (TPUT, 8, False, 12), (TPUT, 16, False, 24), (TPUT, 17, False, 34),
        (TGET, 7, False, 14), (TGET, 8, False, 12), (TGET, 16, False, 24), (TGET, 17, False, 25.5),
        *[(op, n, True, n + 1) for op in OPS for n in (2, 7, 8, 16, 17)],
    ],
)  # fmt: skip
def test_full_chunks(op: str, n: int, ping_pong: bool, times_t: float) -> None:
    tile = StagingTile.full(4, 8)
    for rows, columns in ((4 * n, 8), (4, 8 * n)):
        c = one(op, (1, 1, 1, rows, columns), tile, ping_pong)
        assert call_cycles(c, by_size, by_size).tolist() == [times_t * T]
    assert call_cycles(one(op, (1, n, 1, 4, 8), tile, ping_pong), by_size, by_size).tolist() == [times_t * T]


def test_eight_chunks_are_faster_than_seven() -> None:
    c = calls(TPUT, (1, 1, 1, 4 * np.arange(2, 19), 8), 4, 8)
    t = call_cycles(c, by_size, by_size).tolist()
    assert t[8 - 2] < t[7 - 2]
    assert t[17 - 2] > t[16 - 2] + 2 * T


def test_a_tile_of_one_row_has_no_halves() -> None:
    c = calls(TPUT, (1, 1, 1, 8, 8), 1, 8)
    assert call_cycles(c, T, T).tolist() == [16 * T]


@pytest.mark.parametrize(
    ("op", "ping_pong", "n", "expected"),
    [
        (TPUT, False, 1, 30 + 50), (TGET, False, 1, 30 + 50 + 7), (TPUT, True, 1, 30 + 50 + 7),
        (TPUT, False, 3, 3 * (30 + 50 + 7)),
        (TPUT, False, 8, 8 * (15 + 25 + 25 + 14)), (TGET, False, 20, 20 * (15 + 25 + 25 + 14)),
        (TPUT, True, 8, 30 + 7 * 50 + 50 + 8 * 7),
    ],
)  # fmt: skip
def test_barriers_and_unequal_sides(op: str, ping_pong: bool, n: int, expected: int) -> None:
    """load 30, store 50, and half of each for a half; barrier 7."""
    c = one(op, (1, 1, 1, 4 * n, 8), StagingTile.full(4, 8), ping_pong)
    assert call_cycles(c, lambda r, _: 30 * r // 4, lambda r, _: 50 * r // 4, 7).tolist() == [expected]


def test_an_odd_number_of_rows_has_no_halves() -> None:
    c = calls(TGET, (1, 1, 1, 24, 8), [2, 3, 4, 1], 8)
    assert cols.chunk_count(c).tolist() == [12, 8, 6, 24]
    assert cols.halved_chunks(c).tolist() == [12, 0, 0, 0]


@pytest.mark.parametrize(
    ("shape", "left"),
    [
        ((2, 1, 1, 3, 8), (3, 8)),  # two slices of one short chunk each: ping has had the first
        ((1, 1, 1, 6, 8), (4, 8)),  # a full and a short one
        ((1, 1, 1, 10, 8), (2, 8)),  # full, full, short: ping has had the last
        ((1, 1, 1, 3, 12), (3, 8)),
        ((1, 1, 1, 6, 12), (2, 8)),
        ((3, 1, 1, 3, 7), (3, 7)),
    ],
    ids=str,
)
def test_what_ping_is_left_with(shape: tuple[int, int, int, int, int], left: tuple[int, int]) -> None:
    tile = StagingTile.full(4, 8, dynamic=True)
    assert [int(a[0]) for a in cols.valid_after(one(TPUT, shape, tile, pong=True))] == list(left)
    ping, _ = plan(TPUT, shape, tile, tile).left
    assert (ping.valid_rows, ping.valid_cols) == left


def test_the_hundred_by_hundred_call() -> None:
    c = calls(TPUT, (1, 1, 1, 100, 100), 16, 64, valid_rows=[16, 4], valid_cols=[64, 36])
    assert cols.chunk_count(c).tolist() == [14, 75]
    assert cols.halved_chunks(c).tolist() == [6, 0]
    assert [a.tolist() for a in cols.valid_after(c)] == [[4, 4], [36, 28]]
    count, rows, columns = cols.piece_shapes(c)
    shapes = {PIECES[k]: (*map(int, (count[k, 0], rows[k, 0], columns[k, 0])),) for k in range(6) if count[k, 0]}
    assert shapes == {"half": (12, 8, 64), "column tail": (6, 16, 36), "row tail": (1, 4, 64), "corner": (1, 4, 36)}


def test_the_hundred_by_hundred_call_through_a_static_tile_has_both_remainders() -> None:
    c = calls(TPUT, (1, 1, 1, 100, 100), 16, 64, dynamic_rows=[False, True, False], dynamic_cols=[False, False, True])
    assert [a.tolist() for a in cols.remainders(c)] == [[4, 0, 4], [36, 36, 0]]


# Closed forms against the plan, executed


OUTER = ((1, 1, 1), (1, 1, 2), (1, 3, 1), (2, 1, 2), (4, 2, 1), (0, 1, 1), (1, 1, 0))
Case = tuple[str, tuple[int, ...], StagingTile, bool]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Extents are drawn as whole chunks and what is left over, so that few chunks and many are equally likely."""
    rows, columns = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    whole = draw(st.booleans())
    steps_by = [extent if whole else draw(st.integers(1, extent)) for extent in (rows, columns)]
    d3, d4 = (draw(st.integers(0, 5)) * step + draw(st.integers(0, step - 1)) for step in steps_by)
    tile = StagingTile(rows, columns, *steps_by, True, True)
    return draw(st.sampled_from(OPS)), (*draw(st.sampled_from(OUTER)), d3, d4), tile, draw(st.booleans())


def shapes_of(p: Plan) -> set[tuple[int, int]]:
    return {(i.rows, i.cols) for i in steps(p) if i.name == TLOAD}


@settings(deadline=None, max_examples=400)
@given(case=cases(), data=st.data(), barrier=st.integers(0, 50))
def test_closed_forms_equal_the_plan_step_by_step(case: Case, data: st.DataObject, barrier: int) -> None:
    op, shape, tile, two = case
    p, c = plan(op, shape, tile, tile if two else None), one(op, shape, tile, two)
    assert cols.chunk_count(c).tolist() == [len(p)]
    assert cols.halved_chunks(c).tolist() == [p.halves.sum()]
    assert cols.barrier_count(c).tolist() == [sum(i.name == BARRIER for i in steps(p))] == [p.barriers.sum()]
    full = (p.rows == tile.valid_rows) & (p.cols == tile.valid_cols)
    assert cols.full_chunks(c).tolist() == [full.sum() if len(p) > 1 else 0]
    assert [int(a[0]) for a in cols.valid_after(c)] == [p.left[0].valid_rows, p.left[0].valid_cols]

    # Every shape its own unrelated durations.
    load, store = ({s: data.draw(st.integers(0, 1000)) for s in sorted(shapes_of(p))} for _ in range(2))
    count, rows, columns = cols.piece_shapes(c)
    priced = [np.zeros((6, 1), dtype=np.int64) for _ in range(2)]
    for k in range(6):
        if count[k, 0]:
            for out, given_times in zip(priced, (load, store), strict=True):
                out[k] = given_times[int(rows[k, 0]), int(columns[k, 0])]
    assert count.sum() == p.transfers
    assert call_cycles(c, *priced, barrier).tolist() == [execute(steps(p), load, store, barrier)]


@settings(deadline=None)
@given(rows=st.lists(cases(), min_size=1, max_size=8))
def test_a_column_is_its_rows(rows: list[Case]) -> None:
    op = rows[0][0]
    several = calls(
        op, [[shape[k] for _, shape, _, _ in rows] for k in range(5)], [t.rows for _, _, t, _ in rows],
        [t.cols for _, _, t, _ in rows], valid_rows=[t.valid_rows for _, _, t, _ in rows],
        valid_cols=[t.valid_cols for _, _, t, _ in rows], ping_pong=[two for _, _, _, two in rows],
    )  # fmt: skip
    singly = [one(op, shape, tile, two) for _, shape, tile, two in rows]

    def price(r: np.ndarray, c: np.ndarray) -> np.ndarray:
        return 3 + 5 * r * c

    assert call_cycles(several, price, by_size, 2).tolist() == [
        int(call_cycles(c, price, by_size, 2)[0]) for c in singly
    ]


def test_every_half_begins_where_the_other_ends() -> None:
    p = plan(TPUT, (1, 1, 2, 16, 8), StagingTile.full(4, 8))
    loads = [i for i in steps(p) if i.name == TLOAD]
    assert [(i.piece, i.half, i.origin[2:]) for i in loads[6:10]] == [
        (3, 0, (0, 12, 0)), (3, 1, (0, 14, 0)), (4, 0, (1, 0, 0)), (4, 1, (1, 2, 0)),
    ]  # fmt: skip
    stores = [i for i in steps(p) if i.name == TSTORE]
    assert [(i.piece, i.half, i.origin, i.rows) for i in stores] == [(i.piece, i.half, i.origin, i.rows) for i in loads]


@pytest.mark.parametrize("op", OPS)
def test_a_call_ends_with_a_wait_that_holds_mte2_alone(op: str) -> None:
    for pong in (None, StagingTile.full(4, 8)):
        for n in (1, 3, 8):
            last = list(steps(plan(op, (1, 1, 1, 4 * n, 8), StagingTile.full(4, 8), pong)))[-1]
            assert (last.name, last.pipe, last.to) == (WAIT_FLAG, MTE3, MTE2)


# Large and wrong numbers


def test_a_long_call_costs_no_more_than_a_short_one_and_stays_exact() -> None:
    c = calls(TPUT, (1, 1, 1, 2**31 - 1, 2**20), 1, 1, half_tile=False)
    n = (2**31 - 1) * 2**20
    assert cols.chunk_count(c).tolist() == [n]
    assert call_cycles(c, 100, 101, 3).tolist() == [204 * n]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": 0}, "tile rows 0: expected 1 to"),
        ({"rows": 1.5}, "tile rows of type float64: expected integers"),
        ({"shape": (1, 1, 1, 4)}, "4 dimensions: expected 5"),
        ({"shape": (1, 1, 1, 4, -2)}, "d4 -2: expected 0 to"),
        ({"shape": (2**20,) * 5}, "elements: expected at most"),
        ({"shape": (1, 1, 1, 4, [[4]])}, "columns of 2 dimensions"),
        ({"valid_rows": [4, 5]}, "5 valid rows of a tile of 4"),
        ({"op": "TSTORE"}, "unknown remote transfer"),
    ],
    ids=str,
)
def test_columns_out_of_range_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        calls(**{"op": TPUT, "shape": (1, 1, 1, 4, 4), "rows": 4, "cols": 4, **change})


@pytest.mark.parametrize("wrong", [-1, 0.5, 2**63, 2**61])
def test_times_out_of_range_are_refused(wrong: float) -> None:
    c = calls(TPUT, (1, 1, 1, 16, 16), 4, 4)
    for times in ((wrong, 1, 1), (1, wrong, 1), (1, 1, wrong)):
        with pytest.raises(ValueError, match=r"cycles"):
            call_cycles(c, *times)
