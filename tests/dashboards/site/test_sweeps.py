"""Sweeps of a server: start, progress, stop, and their limits."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from dashboards.site.sweeps import MOST_AT_ONCE, SweepError, Sweeps, Wish, check_size

LONG = Wish(
    "flash_attention",
    "ascend910b2",
    {"s0": 512, "s1": 512},
    {"cube_s0": tuple(range(16, 400)), "fifo_depth": tuple(range(1, 60))},
    strategy="random",
    budget=1_000_000,
)
SHORT = Wish("stream", "ascend910b2", budget=20, strategy="exhaustive")


@pytest.fixture
def store(tmp_path: Any) -> Iterator[Any]:
    from db import open_store

    with open_store(f"sqlite:///{tmp_path / 'runs.db'}") as found:
        yield found


@pytest.fixture
def sweeps(store: Any) -> Iterator[Sweeps]:
    found = Sweeps(store, allowed=True)
    yield found
    found.close()


def soon(condition: Callable[[], bool], seconds: float = 300) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "not in time"
        time.sleep(0.02)


def test_a_sweep_runs_to_its_end(sweeps: Sweeps, store: Any) -> None:
    run = sweeps.start(SHORT)
    assert store.find_run(run.id).workload == "stream"
    assert sweeps.wait(run.id, 300)
    ended = store.find_run(run.id)
    assert (ended.state, ended.n_evaluated) == ("done", 20)
    now = sweeps.progress(run.id)
    assert now is not None
    assert (now.done, now.total) == (20, 20)
    assert not sweeps.running_here(run.id)


def test_progress_moves_and_stop_keeps_what_is_done(sweeps: Sweeps, store: Any) -> None:
    run = sweeps.start(LONG)
    seen: set[int] = set()

    def moved() -> bool:
        now = sweeps.progress(run.id)
        seen.add(0 if now is None else now.done)
        return len(seen) >= 3

    soon(moved)
    assert sweeps.running_here(run.id)
    sweeps.stop(run.id)
    assert sweeps.wait(run.id, 300)
    ended = store.find_run(run.id)
    assert ended.state == "stopped"
    assert max(seen) <= ended.n_evaluated < 1_000_000
    assert len(store.configurations(run.id, ["row"])["row"]) == ended.n_evaluated
    with pytest.raises(SweepError, match="not running"):
        sweeps.stop(run.id)


def test_a_third_sweep_is_refused_until_one_has_ended(sweeps: Sweeps) -> None:
    running = [sweeps.start(LONG) for _ in range(MOST_AT_ONCE)]
    with pytest.raises(SweepError, match=f"{MOST_AT_ONCE} sweeps run already"):
        sweeps.start(SHORT)
    sweeps.stop(running[0].id)
    assert sweeps.wait(running[0].id, 300)
    assert sweeps.wait(sweeps.start(SHORT).id, 300)
    assert sweeps.running_here(running[1].id)


def test_closing_stops_everything(store: Any) -> None:
    sweeps = Sweeps(store, allowed=True)
    run = sweeps.start(LONG)
    sweeps.close()
    assert not sweeps.running_here(run.id)
    assert store.find_run(run.id).state == "stopped"


def test_a_server_that_only_reads_starts_and_stops_nothing(store: Any) -> None:
    sweeps = Sweeps(store, allowed=False)
    for change in (lambda: sweeps.start(SHORT), lambda: sweeps.stop(1)):
        with pytest.raises(SweepError, match="--allow-runs"):
            change()
    assert store.runs() == []


@pytest.mark.parametrize(
    "wish",
    [
        Wish("nope", "ascend910b2"),
        Wish("stream", "nope"),
        Wish("stream", "ascend910b2", {"nope": 1}),
        Wish("stream", "ascend910b2", {}, {"fifo_depth": []}),
        Wish("stream", "ascend910b2", name="12"),
        Wish("stream", "ascend910b2", strategy="luck"),
    ],
)
def test_wrong_wishes_raise_and_leave_no_run(sweeps: Sweeps, store: Any, wish: Wish) -> None:
    with pytest.raises(ValueError):
        sweeps.start(wish)
    assert store.runs() == []


def test_the_legal_configurations_of_a_space_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    # 37,748,736 configurations, most of which divide no size
    wide = {"base_m": tuple(range(16, 1040, 16)), "base_n": tuple(range(16, 1040, 16)),
            "step_k": tuple(range(1, 17)), "grid_m": tuple(range(1, 25)), "grid_n": tuple(range(1, 25))}  # fmt: skip
    wish = Wish("gemm", "ascend910b2", {}, wide, strategy="exhaustive")
    check_size(wish)
    monkeypatch.setattr("dashboards.site.sweeps.MOST_CANDIDATES", 1000)
    with pytest.raises(SweepError, match=r"has [0-9]{1,3},[0-9]{3} legal configurations, .* no more than 1,000"):
        check_size(wish)
    with pytest.raises(SweepError, match="legal"):
        check_size(replace(wish, strategy="bounds"))
    check_size(replace(wish, budget=1000))
    check_size(replace(wish, strategy="auto"))
    check_size(replace(wish, strategy="tpe"))


def test_a_run_of_somebody_else_cannot_be_stopped_from_here(sweeps: Sweeps) -> None:
    assert sweeps.progress(1) is None
    with pytest.raises(SweepError, match="not running in this server"):
        sweeps.stop(1)
