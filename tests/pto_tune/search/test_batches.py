"""Cutting rows into calls."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pto_tune.evaluation import Problem
from pto_tune.model.expr import name
from pto_tune.model.nodes import Launch
from pto_tune.search import batches
from pto_tune.search.batches import MAX_LANES, _pieces, evaluated, on_chip_bytes
from pto_tune.space import Space


@given(st.lists(st.integers(1, MAX_LANES + 5), max_size=50))
def test_pieces_cover_all_rows_in_order_and_stay_below_the_limit(lanes: list[int]) -> None:
    pieces = list(_pieces(np.array(lanes, dtype=np.int64)))
    assert [i for a, b in pieces for i in range(a, b)] == list(range(len(lanes)))
    assert all(b == a + 1 or sum(lanes[a:b]) <= MAX_LANES for a, b in pieces)
    assert all(sum(lanes[a : b + 1]) > MAX_LANES for a, b in pieces if b < len(lanes))


def test_blocks_that_differ_are_counted_each(problem: Problem, small: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "MAX_LANES", 40)
    equal = [len(b) for b in evaluated(problem, small, np.arange(80))]
    assert equal == [40, 40]
    launch = Launch(blocks=name("fifo_depth") * 0 + 10, varying=name("tiles"))
    other = replace(problem.workload, launch=launch)
    unequal = Problem(other, problem.platform, problem.rule_set)
    found = list(evaluated(unequal, replace(small, workload=other), np.arange(10)))
    assert [len(b) for b in found] == [4, 4, 2]
    assert np.concatenate([b.rows for b in found]).tolist() == list(range(10))


def test_on_chip_bytes_leave_global_memory_out() -> None:
    by_memory = {m: np.array([2**i]) for i, m in enumerate(["UB", "L1", "L0A", "L0B", "L0C", "GM_ring"])}
    assert on_chip_bytes(by_memory).tolist() == [31]
    assert by_memory["UB"].tolist() == [1]
