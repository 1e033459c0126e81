"""A run as columns: times, ranking, what does not fit, and the way from the store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from dashboards.runview import RunView, ViewError, from_store
from db import RunSpec, Store, StoreError, open_store

MakeView = Callable[..., RunView]


def test_time_is_cycles_over_the_clock_plus_launch(make_view: MakeView) -> None:
    assert make_view().time_us[:4].tolist() == [11.0, 9.0, 10.0, 8.0]
    assert np.isnan(make_view().time_us[4:]).all()


def test_on_chip_bytes_add_up_what_is_known(make_view: MakeView) -> None:
    assert make_view().on_chip_bytes[:4].tolist() == [2048.0, 4096.0, 3072.0, 8192.0]
    assert np.isnan(make_view().on_chip_bytes[4:]).all()


def test_ranking_is_by_time_then_bytes_then_row(make_view: MakeView) -> None:
    assert make_view().ranked.tolist() == [3, 1, 2, 0]
    tied = make_view(cycles=np.array([7000.0, 7000, 7000, 7000, np.nan, np.nan]))
    assert tied.ranked.tolist() == [0, 2, 1, 3]


def test_the_best_is_the_runs_own_if_that_is_ok(make_view: MakeView) -> None:
    assert make_view(best_row=11).best == 1
    assert make_view(best_row=None).best == 3
    assert make_view(best_row=14).best == 3, "row 14 is refused"
    assert make_view(verdict=np.full(6, 1)).best is None


def test_an_ok_verdict_without_a_time_is_not_ranked(make_view: MakeView) -> None:
    view = make_view(cycles=np.array([np.nan, 7000, 8000, 6000, np.nan, np.nan]))
    assert view.ranked.tolist() == [3, 1, 2]


def test_a_tunable_that_does_not_apply_shows_as_a_dash(make_view: MakeView) -> None:
    values = {**make_view().values, "split": np.array([None] + ["UP_DOWN"] * 5, dtype=object)}
    view = make_view(values=values)
    assert view.configuration(0) == {"fifo_depth": 2, "sync_period": 1, "split": "–"}
    assert view.bound_name(5) == "–"


def test_everything_that_does_not_fit_is_said_at_once(make_view: MakeView) -> None:
    with pytest.raises(ViewError) as caught:
        make_view(
            cycles=np.zeros(5),
            verdict=np.full(6, 9),
            verdict_names=("fine",),
            bytes={"hbm": np.zeros(6)},
            clock_mhz=0.0,
        )
    for part in ("cycles has 5 entries, not 6", "verdict has codes outside", "'ok'", "'hbm'", "clock_mhz"):
        assert part in str(caught.value)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(f"sqlite:///{tmp_path / 'runs.db'}") as opened:
        yield opened


def stored_run(store: Store, name: str = "first") -> int:
    """Three configurations: ok, ok without a split, refused by the second rule."""
    spec = RunSpec(
        name=name,
        workload="stream",
        workload_json="{}",
        problem={"tiles": 64},
        platform="ascend910b2",
        platform_sha256="0" * 64,
        rule_set="a2a3",
        timing="task",
        strategy="exhaustive",
        objectives=("time",),
        spec_sha256="1" * 64,
        versions={},
        tunables=[
            {"name": "fifo_depth", "domain": [2, 8]},
            {"name": "split", "domain": ["TILE_UP_DOWN", "TILE_LEFT_RIGHT"]},
        ],
        rules=("alignment", "ub_capacity"),
        verdicts=("ok", "refused"),
        pipes=("AIC.M", "AIV0.V"),
        clock_mhz=2000.0,
        launch_us=1.5,
        n_candidates=5,
    )
    run = store.create_run(spec)
    columns = {
        "t0": np.array([1, 0, 1]),
        "t1": np.array([1, 0, 0]),
        "verdict": np.array([0, 0, 1]),
        "rule": np.array([0, 0, 1]),
        "cycles": np.array([4000, 5000, 0]),
        "ub": np.array([1024, 2048, 0]),
        "bound": np.array([1, 0, 0]),
    }
    ok = np.array([True, True, False])
    valid = {"t1": np.array([True, False, True]), "rule": ~ok, "cycles": ok, "ub": ok, "bound": ok}
    store.add_configurations(run.id, columns, first_row=0, valid=valid)
    store.add_accounts(run.id, [(0, "busy", "AIV0.V", 3500), (0, "wait", "c2v.ready", 400)])
    store.finish_run(run.id, "done", best_row=0, best_cycles=4000)
    return run.id


def test_a_stored_run_comes_back_as_it_was_put_in(store: Store) -> None:
    number = stored_run(store)
    view = from_store(store, "first")
    assert (view.name, view.workload, view.platform, view.rule_set) == (
        "first",
        "stream",
        "ascend910b2",
        "a2a3",
    )
    assert (view.timing, view.problem, view.state, view.candidates) == ("task", {"tiles": 64}, "done", 5)
    assert view.rows.tolist() == [0, 1, 2]
    assert view.values["fifo_depth"].tolist() == [8, 2, 8]
    assert view.values["fifo_depth"].dtype == np.int64
    assert view.values["split"].tolist() == ["TILE_LEFT_RIGHT", None, "TILE_UP_DOWN"]
    assert view.verdict.tolist() == [0, 0, 1]
    assert view.rule.tolist() == [-1, -1, 1]
    assert view.time_us[:2].tolist() == [3.5, 4.0]
    assert np.isnan(view.cycles[2])
    assert view.on_chip_bytes[:2].tolist() == [1024.0, 2048.0]
    assert np.isnan(view.bytes["l1"]).all()
    assert view.bound.tolist() == [1, 0, -1]
    assert view.accounts == {0: [("busy", "AIV0.V", 3500), ("wait", "c2v.ready", 400)]}
    assert view.best_row == 0
    assert from_store(store, number).name == from_store(store, "latest").name == "first"


def test_an_unknown_run_is_the_stores_error(store: Store) -> None:
    stored_run(store)
    with pytest.raises(StoreError, match="first"):
        from_store(store, "furst")


def test_a_run_without_configurations_yet_can_be_shown(store: Store) -> None:
    number = stored_run(store)
    columns = (
        "workload",
        "workload_json",
        "problem",
        "platform",
        "platform_sha256",
        "rule_set",
        "timing",
        "strategy",
    )
    columns += (
        "objectives",
        "spec_sha256",
        "versions",
        "tunables",
        "rules",
        "verdicts",
        "pipes",
        "clock_mhz",
    )
    columns += ("launch_us", "n_candidates")
    old = store.find_run(number)
    store.create_run(RunSpec(name="second", **{name: getattr(old, name) for name in columns}))
    view = from_store(store, "second")
    assert len(view) == 0
    assert view.best is None
