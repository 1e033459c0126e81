"""A warm start: earlier runs of the workload give the first configurations."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from db import Store, open_store
from pto_tune import tuning
from pto_tune.search.strategies import SearchError
from pto_tune.search.warm import WARM, rows_kept, sentence
from pto_tune.tuning import TuneResult


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'runs.db'}") as opened:
        yield opened


def stream(store: Store, tiles: int = 40, **more: Any) -> TuneResult:
    sizes = {"tiles": tiles, "producer_cycles": 300, "consumer_cycles": 300}
    return tuning.tune("stream", problem=sizes, store=store, **more)


def first_rows(store: Store, found: TuneResult, n: int) -> list[dict[str, int]]:
    assert found.run is not None
    places = {f"t{i}": name for i, (name, _) in enumerate(found.space.domains)}
    columns = store.configurations(found.run.id, list(places))
    domains = dict(found.space.domains)
    return [{name: domains[name][int(np.ma.getdata(columns[t])[i])] for t, name in places.items()} for i in range(n)]


def test_the_best_of_earlier_runs_come_first_and_are_named(store: Store) -> None:
    before = stream(store, 40)
    warm = stream(store, 80, strategy="random", budget=30, warm_start="auto")
    assert before.run is not None
    assert warm.run is not None
    kept = rows_kept(warm.run.versions)
    assert len(kept) == 8
    assert warm.message.startswith(f"started from 8 configurations of run {before.run.id}")
    looked_at = first_rows(store, warm, 8)
    assert [warm.space.row_of({n: v.index(row[n]) for n, v in warm.space.domains}) for row in looked_at] == list(kept)
    best = {name: value for name, value in (before.best or {})["configuration"].items() if name in looked_at[0]}
    assert best == {**looked_at[0], "split": ["NO_SPLIT", "UP_DOWN", "LEFT_RIGHT"][looked_at[0]["split"]]}
    assert warm.n_evaluated == 30


def test_the_same_contents_of_a_store_give_the_same_search(store: Store) -> None:
    stream(store, 40)
    chosen = {"strategy": "evolution", "budget": 60, "warm_start": "1"}
    one, other, cold = (
        stream(store, 80, **chosen),
        stream(store, 80, **chosen),
        stream(store, 80, **{**chosen, "warm_start": "none"}),
    )
    runs = [r.run for r in (one, other, cold)]
    assert all(run is not None for run in runs)
    assert runs[0].spec_sha256 == runs[1].spec_sha256 != runs[2].spec_sha256  # type: ignore[union-attr]
    assert first_rows(store, one, 60) == first_rows(store, other, 60) != first_rows(store, cold, 60)


def test_the_same_request_is_answered_although_the_store_has_more_runs_by_now(store: Store) -> None:
    stream(store, 40)
    chosen = {"strategy": "random", "budget": 40, "warm_start": "auto", "reuse": "continue"}
    one, again = stream(store, 80, **chosen), stream(store, 80, **chosen)
    assert one.run is not None
    assert again.run is not None
    assert one.run.id == again.run.id
    assert again.origin.startswith("answered from run")


def test_an_interrupted_warm_run_goes_on(store: Store) -> None:
    stream(store, 40)
    chosen = {"strategy": "random", "budget": 100, "warm_start": "auto", "reuse": "continue"}
    broken = stream(store, 80, seconds=1e-6, **chosen)
    assert broken.n_evaluated < 100
    whole = stream(store, 80, **chosen)
    assert broken.run is not None
    assert whole.run is not None
    assert (whole.run.id, whole.n_evaluated) == (broken.run.id, 100)
    assert whole.message.startswith("started from 8 configurations")


def test_values_that_the_space_does_not_have_become_the_nearest(store: Store) -> None:
    stream(store, 40, domains={"fifo_depth": 8, "sync_period": 4, "split": "UP_DOWN"})
    warm = stream(store, 80, domains={"fifo_depth": [2, 6, 14]}, strategy="random", budget=5, warm_start="auto")
    assert first_rows(store, warm, 1)[0]["fifo_depth"] == 6


def test_nothing_to_start_from_changes_nothing(store: Store) -> None:
    found = stream(store, strategy="random", budget=10, warm_start="auto")
    assert found.run is not None
    assert WARM not in found.run.versions
    assert sentence(found.run.versions) == found.message == ""


def test_an_exhaustive_search_is_the_same_either_way(store: Store) -> None:
    stream(store, 40)
    found = stream(store, 80, warm_start="auto")
    assert found.run is not None
    assert (found.strategy, WARM in found.run.versions) == ("exhaustive", False)


def test_another_workload_or_no_store_is_refused(store: Store) -> None:
    tuning.tune("datacopy", store=store)
    with pytest.raises(SearchError, match="is of the workload 'datacopy': start from one of 'stream'"):
        stream(store, strategy="random", budget=5, warm_start="latest")
    with pytest.raises(SearchError, match="takes runs of a store"):
        tuning.tune("stream", warm_start="auto")
