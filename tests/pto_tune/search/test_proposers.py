"""Rows without a memory of results."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pto_tune.search.proposers import HaltonRows, RandomRows
from pto_tune.space import Space


@given(st.integers(1, 60), st.integers(0, 2**32 - 1), st.data())
def test_random_rows_are_new_until_there_are_no_more(size: int, seed: int, data: st.DataObject) -> None:
    rows, known = RandomRows(size, seed), set[int]()
    while len(known) < size:
        n = data.draw(st.integers(1, 20))
        found = rows.propose(n, known)
        assert len(found) == len(set(found)) == min(n, size - len(known))
        assert not known & set(found)
        assert all(0 <= row < size for row in found)
        known |= set(found)
    assert rows.propose(5, known) == []


def test_random_rows_of_a_space_too_large_to_list() -> None:
    found = RandomRows(2**63 - 1, 4).propose(1000, set())
    assert len(set(found)) == 1000
    assert max(found) > 2**62


def test_halton_rows_are_new_and_repeatable(small: Space) -> None:
    one, other, third = HaltonRows(small, 3), HaltonRows(small, 3), HaltonRows(small, 4)
    first = one.propose(40, set())
    assert first == other.propose(40, set()) != third.propose(40, set())
    assert len(set(first)) == 40
    assert not set(first) & set(one.propose(40, set(first)))


def test_halton_rows_end_where_everything_is_known(small: Space) -> None:
    assert HaltonRows(small, 0).propose(10, set(range(small.size))) == []


@pytest.mark.parametrize("seed", range(5))
def test_halton_rows_cover_every_domain_evenly(small: Space, seed: int) -> None:
    domains = (("fifo_depth", tuple(range(64))), ("sync_period", tuple(range(81))), ("local_slot_num", (2,)))
    wide = replace(small, domains=domains)
    rows = HaltonRows(wide, seed)._next(64 * 81)
    at = wide.indices(rows)
    depths, periods = (
        [at[name].tolist().count(i) for i in range(n)] for name, n in [("fifo_depth", 64), ("sync_period", 81)]
    )
    assert max(depths) - min(depths) <= 2
    assert max(periods) - min(periods) <= 2
    assert len(set(rows.tolist())) > 0.95 * 64 * 81
