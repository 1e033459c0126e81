"""Diagrams against all combinations written out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pto_tune.spaces.diagram import TooLarge, build
from pto_tune.spaces.tables import Table, merged

PLENTY = 2**24


@st.composite
def some_tables(draw: st.DrawFn) -> tuple[list[int], list[Table]]:
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=5))
    found = []
    for place in range(draw(st.integers(0, 4))):
        axes = tuple(sorted(draw(st.sets(st.integers(0, len(sizes) - 1), max_size=3))))
        random = np.random.default_rng(draw(st.integers(0, 2**16)))
        ok = random.random([sizes[a] for a in axes]) < draw(st.sampled_from([0.0, 0.3, 0.7, 0.95, 1.0]))
        found.append(Table(f"rule-{place}", place, axes, np.asarray(ok)))
    return sizes, found


def written_out(sizes: list[int], tables: list[Table]) -> NDArray[np.int64]:
    columns = [c.reshape(-1) for c in np.indices(sizes)]
    kept = np.ones(int(np.prod(sizes)), dtype=bool)
    for table in tables:
        kept &= table.of(columns)
    return np.flatnonzero(kept)


@settings(deadline=None, max_examples=200)
@given(some_tables())
def test_it_has_exactly_what_all_tables_keep_in_order(case: tuple[list[int], list[Table]]) -> None:
    sizes, tables = case
    wanted = written_out(sizes, tables)
    for given_tables in (tables, merged(tables)):
        diagram = build(sizes, given_tables, PLENTY)
        assert diagram.count == wanted.shape[0]
        assert diagram.rows(np.arange(diagram.count)).tolist() == wanted.tolist()
        inside = diagram.contains([c.reshape(-1) for c in np.indices(sizes)])
        assert np.flatnonzero(inside).tolist() == wanted.tolist()


def test_tunables_that_nothing_reads_take_one_node() -> None:
    table = Table("rule", 0, (1,), np.array([True, False, True]))
    diagram = build([4000, 3, 4000, 4000], [table], PLENTY)
    assert diagram.count == 2 * 4000**3
    assert [c.shape[0] for c in diagram.child] == [1, 1, 1, 1]
    last = diagram.rows(np.array([diagram.count - 1]))
    assert last.tolist() == [4000 * 3 * 4000 * 4000 - 1]


def test_counts_up_to_63_bits_are_exact() -> None:
    diagram = build([2**12] * 5, [], PLENTY)
    assert diagram.count == 2**60
    assert diagram.rows(np.array([0, 2**59, 2**60 - 1])).tolist() == [0, 2**59, 2**60 - 1]


def test_it_keeps_to_its_memory() -> None:
    # which of the first nine bits were set matters to the end: 512 nodes
    sizes = [2] * 18
    tables = [Table(f"r{i}", i, (i, i + 9), np.eye(2, dtype=bool)) for i in range(9)]
    assert build(sizes, tables, PLENTY).count == 2**9
    with pytest.raises(TooLarge):
        build(sizes, tables, 10_000)
