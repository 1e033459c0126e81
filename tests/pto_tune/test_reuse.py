"""The same search again: answered, gone on with, or started anew with a word on what has changed."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import pto_tune
from cost_models import load_platform
from db import Store, StoreError, open_store
from pto_tune.search import spec
from pto_tune.tuning import Progress, SearchError, TuneResult, tune
from pto_tune.workloads import workload

SIZE = 135


def small(store: Store, **options: Any) -> TuneResult:
    return tune("stream", **{"problem": {"tiles": 16}, "store": store, "reuse": "continue", **options})


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'results.db'}") as opened:
        yield opened


@pytest.fixture
def url(store: Store) -> str:
    return store.url


pytestmark = pytest.mark.usefixtures("tens")


def cut(store: Store, at: int, **options: Any) -> TuneResult:
    """A search that is stopped after so many configurations."""

    def progress(p: Progress) -> None:
        if p.done >= at:
            raise KeyboardInterrupt

    return small(store, progress=progress, **options)


def number(result: TuneResult) -> int:
    assert result.run is not None
    return result.run.id


def test_a_finished_run_answers(store: Store, evaluated_rows: list[int]) -> None:
    first = small(store, name="mine")
    assert first.origin == ""
    evaluated_rows.clear()
    again = small(store, top=7)
    assert again.origin == "answered from run 1 (mine), which is done"
    assert again.top == first.top[:7]
    assert again.counts == first.counts
    assert again.front.equals(first.front)
    assert sum(evaluated_rows) < SIZE
    assert len(store.runs()) == 1


def test_an_interrupted_run_goes_on_and_nothing_runs_twice(store: Store, evaluated_rows: list[int]) -> None:
    whole = small(store, reuse="never", seed=0)
    store.delete_run(number(whole))
    part = cut(store, 50)
    evaluated_rows.clear()
    rest = small(store, top=3)
    assert (
        rest.origin == f"went on with run {number(part)} (stream-ascend910b2-{number(part)}) behind its first 50 rows"
    )
    assert (rest.top, rest.counts, rest.n_evaluated) == (whole.top[:3], whole.counts, SIZE)
    assert sum(evaluated_rows) <= SIZE - 50 + 50  # what was left, and the leaders of what was there
    assert number(rest) == number(part)
    assert store.find_run(number(part)).state == "done"


def test_again_and_again_it_is_one_run(store: Store) -> None:
    for at in (20, 50, 90):
        cut(store, at)
    small(store)
    small(store)
    (run,) = store.runs()
    assert (run.state, run.n_evaluated, run.epoch) == ("done", SIZE, 3)
    assert store.configurations(run.id, ["row"])["row"].tolist() == list(range(SIZE))


def test_never_and_finished_leave_an_interrupted_run_alone(store: Store) -> None:
    part = cut(store, 50)
    assert number(small(store, reuse="never")) == 2
    answered = small(store, reuse="finished")
    assert number(answered) == 2
    store.delete_run(2)
    assert number(small(store, reuse="finished")) == 3
    assert store.find_run(number(part)).state == "stopped"
    assert number(small(store, reuse="never")) == 4
    assert number(small(store, reuse=True)) == 4
    assert number(small(store, reuse=False)) == 5


def test_a_finished_run_counts_before_an_interrupted_one(store: Store) -> None:
    small(store)
    cut(store, 30, reuse="never")
    assert small(store).origin.startswith("answered from run 1")


def test_a_run_that_somebody_writes_is_refused_and_may_be_taken_over(store: Store, url: str) -> None:
    with open_store(url) as other:
        theirs = other.resume_run(number(cut(other, 40)))
        with pytest.raises(StoreError, match=r"gave a sign of life \d s ago: wait for it"):
            small(store)
        assert len(store.runs()) == 1
        assert number(small(store, dead_after_s=0)) == theirs.id
        assert store.find_run(theirs.id).epoch == theirs.epoch + 1


def test_who_was_taken_over_ends_without_a_trace(store: Store, url: str) -> None:
    """A coordinator that hung and was taken over is refused at its next batch."""

    def taken_over(p: Progress) -> None:
        if p.done == 40:
            with open_store(url) as other:
                assert number(small(other, dead_after_s=0)) == 1

    with pytest.raises(SearchError, match="was taken up by another program while this one gave no sign of life"):
        small(store, progress=taken_over)
    (run,) = store.runs()
    assert (run.state, run.n_evaluated, run.message) == ("done", SIZE, "")
    assert store.configurations(run.id, ["row"])["row"].tolist() == list(range(SIZE))


def test_the_name_chooses_the_run(store: Store) -> None:
    small(store, name="a")
    assert number(small(store, name="b")) == 2
    assert small(store, name="a").origin.startswith("answered from run 1")
    with pytest.raises(StoreError, match="'a' is there already"):
        small(store, name="a", seed=5)


class TestWhatHasChanged:
    def test_another_pto_tune(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        small(store)
        version = pto_tune.__version__
        monkeypatch.setattr(pto_tune, "__version__", "99.0")
        anew = small(store)
        assert number(anew) == 2
        assert anew.origin == (
            f"started anew instead of run 1 (stream-ascend910b2-1): pto-tune was {version} and is 99.0"
        )

    def test_other_numbers_behind_the_platforms_name(self, store: Store) -> None:
        base = load_platform("ascend910b2")
        faster = base.with_values({"clock.core_mhz": base["clock.core_mhz"] + 50})
        cut(store, 30)
        anew = small(store, platform=faster)
        assert number(anew) == 2
        assert "the numbers of platform 'ascend910b2' have changed (sha256 " in anew.origin
        assert faster.sha256[:12] in anew.origin

    def test_another_workload_behind_the_name(self, store: Store) -> None:
        small(store)
        anew = tune(replace(workload("stream"), doc="another"), problem={"tiles": 16}, store=store, reuse="continue")
        assert number(anew) == 2
        assert anew.origin.endswith("the workload 'stream' has changed")

    def test_all_of_it(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        small(store)
        monkeypatch.setattr(pto_tune, "__version__", "99.0")
        base = load_platform("ascend910b2")
        other = base.with_values({"clock.core_mhz": base["clock.core_mhz"] + 50})
        assert small(store, platform=other).origin.count(" and ") >= 2

    def test_the_outdated_run_gives_its_name_to_the_new_one(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        small(store, name="nightly")
        monkeypatch.setattr(pto_tune, "__version__", "99.0")
        anew = small(store, name="nightly")
        assert anew.run is not None
        assert (anew.run.id, anew.run.name) == (2, "nightly")
        assert anew.origin.endswith("; run 1 is now named 'nightly (run 1)'")
        assert store.find_run(1).name == "nightly (run 1)"
        assert small(store, name="nightly").origin.startswith("answered from run 2")

    def test_a_library_that_decides_nothing_changes_nothing(
        self, store: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        small(store)
        small(store, strategy="random", budget=20)
        others = {**spec.versions(), "sqlalchemy": "9", "numpy": "9"}
        monkeypatch.setattr(spec, "versions", lambda: others)
        assert small(store).origin.startswith("answered from run 1")
        sampled = small(store, strategy="random", budget=20)
        assert "numpy was" in sampled.origin

    def test_another_request_is_no_change(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        small(store)
        monkeypatch.setattr(pto_tune, "__version__", "99.0")
        for other in ({"seed": 3}, {"problem": {"tiles": 17}}, {"timing": "device"}, {"budget": 20},
                      {"domains": {"fifo_depth": [2, 4]}}, {"objectives": ("time", "memory")}):  # fmt: skip
            assert small(store, **other).origin == "", other

    def test_what_the_store_has_is_not_what_would_be_found(self, store: Store) -> None:
        from sqlalchemy import text

        for before in (small(store), cut(store, 40, seed=1)):
            with store._database.write() as connection:
                connection.execute(
                    text(f"UPDATE configuration SET cycles = cycles + 1 WHERE run_id = {number(before)}")
                )
        for seed, old in ((0, 1), (1, 2)):
            anew = small(store, seed=seed)
            assert anew.origin.startswith(f"started anew instead of run {old} ")
            assert "has other times than this pto-tune predicts" in anew.origin
        assert [run.state for run in store.runs()] == ["done", "done", "failed", "done"]


def test_an_unknown_way_to_reuse_is_named(store: Store) -> None:
    with pytest.raises(SearchError, match="reuse = 'always': choose one of never, finished, continue"):
        small(store, reuse="always")


def test_signs_of_life_are_given_while_a_batch_takes_long(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    import threading

    from pto_tune.search import heartbeat

    monkeypatch.setattr(heartbeat, "BEAT_S", 0.01)
    given = threading.Event()
    original = Store.sign_of_life

    def seen(self: Store, run_id: int, epoch: int | None = None) -> None:
        original(self, run_id, epoch)
        given.set()

    monkeypatch.setattr(Store, "sign_of_life", seen)
    small(store, progress=lambda _: given.wait(20))
    assert given.is_set()
    assert not [t for t in threading.enumerate() if t.name == "signs of life"]
