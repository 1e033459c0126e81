"""A run's best configurations as a journal of Optuna: what Optuna reads is what the store has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

import db
from db import Run, Store
from pto_tune.exporters.checks import ExportError
from pto_tune.exporters.optuna_journal import distributions, write_run
from pto_tune.tuning import TuneResult, tune

DOMAINS = {
    "fifo_depth": [1, 2, 4, 8],
    "sync_period": [0, 1, 2],
    "split": ["NO_SPLIT", "UP_DOWN"],
    "local_slot_num": [2],
}


@pytest.fixture(scope="module", params=[("time",), ("time", "memory")], ids=["time", "time and memory"])
def tuned(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, TuneResult]:
    store = db.open_store(f"sqlite:///{tmp_path_factory.mktemp('store')}/x.db")
    result = tune(
        "stream", problem={"tiles": 16}, domains=DOMAINS, objectives=request.param, store=store, name="融合 run",
        top=1_000, strategy="exhaustive",
    )  # fmt: skip
    return store, result


def run_of(result: TuneResult) -> Run:
    assert result.run is not None
    return result.run


def study_in(path: Path) -> optuna.Study:
    return optuna.load_study(study_name="融合 run", storage=JournalStorage(JournalFileBackend(str(path))))


def test_every_trial_is_a_legal_configuration_fastest_first(tuned: tuple[Store, TuneResult], tmp_path: Path) -> None:
    store, result = tuned
    run = run_of(result)
    path = tmp_path / "j.log"
    assert f"the best {len(result.top)} of run {run.id}" in write_run(store, run, path, 10_000, False)
    study = study_in(path)
    by_row = {entry["row"]: entry for entry in result.top}
    trials = study.get_trials()
    assert len(trials) == len(by_row) == sum(result.counts["ok"].values())
    both = "memory" in run.objectives
    assert study.directions == [optuna.study.StudyDirection.MINIMIZE] * (2 if both else 1)
    assert study.metric_names == (["time (us)", "on-chip memory (bytes)"] if both else ["time (us)"])
    for number, trial in enumerate(trials):
        entry = by_row.pop(trial.user_attrs["row"])
        on_chip = sum(entry["bytes"][memory] for memory in ("UB", "L1", "L0A", "L0B", "L0C"))
        assert (trial.number, trial.state) == (number, optuna.trial.TrialState.COMPLETE)
        assert trial.values == ([entry["time_us"], on_chip] if both else [entry["time_us"]])
        assert {**study.user_attrs["problem"], **study.user_attrs["fixed"], **trial.params} == entry["configuration"]
        assert trial.user_attrs["verdict"] == "ok"
        assert (trial.user_attrs["cycles"], trial.user_attrs["on_chip_bytes"]) == (entry["cycles"], on_chip)
        assert trial.datetime_start is not None
    assert by_row == {}
    times = [trial.values[0] for trial in trials]
    assert times == sorted(times)
    front = {(point["time_us"], point["on_chip_bytes"]) for point in result.front.to_dict("records")}
    if both:
        assert {tuple(trial.values) for trial in study.best_trials} == front
    else:
        assert result.best is not None
        assert study.best_value == result.best["time_us"]


def test_optuna_would_write_the_same(tuned: tuple[Store, TuneResult], tmp_path: Path) -> None:
    """Trials that are added through Optuna are equal to those that it reads from the file."""
    store, result = tuned
    path = tmp_path / "j.log"
    write_run(store, run_of(result), path, 10, False)
    ours = study_in(path)
    through = optuna.create_study(
        study_name="融合 run", directions=ours.directions,
        storage=JournalStorage(JournalFileBackend(str(tmp_path / "through.log"))),
    )  # fmt: skip
    trials = ours.get_trials()
    through.add_trials(trials)
    for mine, theirs in zip(trials, study_in(tmp_path / "through.log").get_trials(), strict=True):
        assert mine == theirs
        assert mine.distributions == theirs.distributions


def test_a_search_goes_on_from_it(tuned: tuple[Store, TuneResult], tmp_path: Path) -> None:
    store, result = tuned
    path = tmp_path / "j.log"
    write_run(store, run_of(result), path, 20, False)
    study = study_in(path)
    trial = study.ask()
    suggested = {
        name: trial.suggest_categorical(name, d.choices)
        if isinstance(d, optuna.distributions.CategoricalDistribution)
        else trial.suggest_int(name, d.low, d.high, step=d.step)
        for name, d in study.trials[0].distributions.items()
    }
    study.tell(trial, [1.0] * len(study.directions))
    assert suggested.keys() == {"fifo_depth", "sync_period", "split"}
    # Now it is not as it was written, so it is not overwritten by mistake.
    with pytest.raises(ExportError, match="changed by hand"):
        write_run(store, run_of(result), path, 20, False)
    write_run(store, run_of(result), path, 20, True)


def test_domains_are_ranges_where_they_are_that(tuned: tuple[Store, TuneResult]) -> None:
    found: Any = distributions(run_of(tuned[1]))
    assert found == {
        "fifo_depth": optuna.distributions.CategoricalDistribution([1, 2, 4, 8]),
        "sync_period": optuna.distributions.IntDistribution(0, 2),
        "split": optuna.distributions.CategoricalDistribution(["NO_SPLIT", "UP_DOWN"]),
    }


def test_the_same_run_gives_the_same_bytes_and_no_more_than_asked(
    tuned: tuple[Store, TuneResult], tmp_path: Path
) -> None:
    store, result = tuned
    for name in ("a.log", "b.log"):
        write_run(store, run_of(result), tmp_path / name, 3, False)
    assert (tmp_path / "a.log").read_bytes() == (tmp_path / "b.log").read_bytes()
    assert len(study_in(tmp_path / "a.log").trials) == 3
    with pytest.raises(ExportError, match="at most"):
        write_run(store, run_of(result), tmp_path / "c.log", 10**6, False)


def test_a_run_without_a_legal_configuration_is_refused(tmp_path: Path) -> None:
    with db.open_store(f"sqlite:///{tmp_path}/x.db") as store:
        result = tune("stream", problem={"tiles": 4, "slot_bytes": 131072}, domains={"fifo_depth": [14]}, store=store)
        with pytest.raises(ExportError, match="no legal configuration"):
            write_run(store, run_of(result), tmp_path / "j.log", 10, False)
    assert not (tmp_path / "j.log").exists()
