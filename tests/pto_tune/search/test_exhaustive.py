"""Going through all rows."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from pto_tune.evaluation import Evaluation, Problem
from pto_tune.search import exhaustive as module
from pto_tune.search.exhaustive import exhaustive
from pto_tune.space import Space


@pytest.mark.parametrize("chunk", [1, 50, 10_000])
def test_every_row_comes_once_in_order_however_they_are_cut(
    problem: Problem,
    small: Space,
    everything: Evaluation,
    seen: Callable[[Space], Counter[int]],
    monkeypatch: pytest.MonkeyPatch,
    chunk: int,
) -> None:
    monkeypatch.setattr(module, "CHUNK_ROWS", chunk)
    found = list(exhaustive(problem, small))
    assert max(len(b) for b in found) <= chunk
    assert np.concatenate([b.rows for b in found]).tolist() == list(range(small.size))
    cycles = np.concatenate([b.evaluation.cycles for b in found])
    assert cycles.tolist() == everything.cycles.tolist()
    assert seen(small) == Counter(range(small.size))


def test_a_part_of_the_rows(problem: Problem, small: Space) -> None:
    rows = [b.rows.tolist() for b in exhaustive(problem, small, start=130, end=10**6)]
    assert rows == [list(range(130, small.size))]
    assert list(exhaustive(problem, small, start=small.size)) == []


def test_long_batches_get_shorter_and_short_ones_longer(
    problem: Problem, small: Space, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FIRST_ROWS", 8)
    monkeypatch.setattr(module, "FEWEST_ROWS", 4)
    monkeypatch.setattr(module, "CHUNK_ROWS", 16)
    monkeypatch.setattr(module, "SHORT_S", 1e9)
    monkeypatch.setattr(module, "LONG_S", 2e9)
    assert [len(b) for b in exhaustive(problem, small, end=56)] == [8, 16, 16, 16]
    monkeypatch.setattr(module, "SHORT_S", -2.0)
    monkeypatch.setattr(module, "LONG_S", -1.0)
    assert [len(b) for b in exhaustive(problem, small, end=20)] == [8, 4, 4, 4]
