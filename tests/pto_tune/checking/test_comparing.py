"""Today's search against a baseline: what counts as a regression, and what is said to have changed."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from pto_tune.checking.baseline import Entry
from pto_tune.checking.comparing import compare
from pto_tune.checking.searches import Asked, entry_of
from pto_tune.checking.stored import entry_of_run
from pto_tune.tuning import tune

DOMAINS = {"fifo_depth": [2, 4, 8], "sync_period": [0, 1]}


@pytest.fixture(scope="module")
def entry() -> Entry:
    asked = Asked("stream", "ascend910b2", Path(), problem={"tiles": 16}, domains=DOMAINS)
    return entry_of(asked, asked.search())


def changed(entry: Entry, **best: Any) -> Entry:
    return entry.model_copy(update={"best": entry.best.model_copy(update=best)})


def test_nothing_has_changed(entry: Entry) -> None:
    found = compare(entry, Path(), 0.0)
    assert (found.state, found.change, found.now) == ("unchanged", 0.0, entry)
    assert (found.settings, found.verdicts, found.causes, found.regressions) == ({}, {}, (), ())
    assert (found.baseline_today.verdict, found.baseline_today.change) == ("ok", 0.0)


@pytest.mark.parametrize("share", [0.01, 0.05])
def test_a_time_that_grew_by_more_than_the_limit_is_a_regression(entry: Entry, share: float) -> None:
    faster_then = changed(entry, time_us=entry.best.time_us / (1 + share))
    assert compare(faster_then, Path(), share * 1.01).regressions == ()
    assert compare(faster_then, Path(), share * 1.01).state == "changed"
    found = compare(faster_then, Path(), share * 0.99)
    assert found.state == "regression"
    assert [sentence.split()[:2] for sentence in found.regressions] == [["the", "best"], ["the", "baseline's"]]


def test_what_became_faster_passes(entry: Entry) -> None:
    found = compare(changed(entry, time_us=entry.best.time_us * 2), Path(), 0.0)
    assert (found.state, found.change) == ("improved", pytest.approx(-0.5))


def test_a_configuration_that_is_slower_than_it_was_is_a_regression_of_its_own(entry: Entry) -> None:
    slow = {**entry.best.configuration, "fifo_depth": 2, "sync_period": 1}
    found = compare(changed(entry, configuration=slow), Path(), 0.0)
    assert found.change == 0
    (said,) = found.regressions
    assert said.startswith("the baseline's configuration takes")
    assert "fifo_depth" in found.settings


@pytest.mark.parametrize(
    ("setting", "why"),
    [({"fifo_depth": 14, "slot_bytes": 131072}, "L0C"), ({"fifo_depth": 10**6}, "fifo_depth"), ({"gone": 1}, "gone")],
)
def test_a_configuration_that_is_not_ok_any_more_is_a_regression(
    entry: Entry, setting: dict[str, int], why: str
) -> None:
    found = compare(changed(entry, configuration={**entry.best.configuration, **setting}), Path(), 10.0)
    assert found.state == "regression"
    assert found.baseline_today.verdict == "refused"
    assert why.lower() in found.regressions[0].lower()


def test_what_has_changed_is_said(entry: Entry) -> None:
    other = entry.model_copy(
        update={
            "pto_tune": "0.0.1", "platform_sha256": "0" * 64, "workload_sha256": "1" * 64, "rule_set": "another",
            "counts": {"ok": {"": 1}},
        }
    )  # fmt: skip
    found = compare(other, Path(), 0.0)
    assert [cause.split()[0] for cause in found.causes] == ["pto-tune", "the", "rule", "the"]
    assert found.verdicts["ok"] == (1, sum(entry.counts["ok"].values()))
    assert found.state == "changed"


def test_a_search_without_a_legal_configuration_is_a_regression(entry: Entry) -> None:
    too_large = {"domains": {**entry.domains, "fifo_depth": [14]}, "problem": {**entry.problem, "slot_bytes": 131072}}
    found = compare(entry.model_copy(update=too_large), Path(), 0.0)
    assert found.now is None
    assert "no configuration is legal today" in found.regressions


def test_sizes_that_do_not_fit_the_workload_any_more(entry: Entry) -> None:
    with pytest.raises(ValueError, match="write it again"):
        compare(entry.model_copy(update={"problem": {"gone": 1}}), Path(), 0.0)


def test_files_are_found_from_the_folder_of_the_baseline(tmp_path: Path, entry: Entry) -> None:
    from cost_models import platform as platforms
    from pto_tune.model.serial import to_json
    from pto_tune.workloads import workload

    (tmp_path / "mine.json").write_text(to_json(workload("stream")))
    shutil.copy(Path(platforms.__file__).parent / "platforms" / "ascend910b2.toml", tmp_path / "chip.toml")
    asked = Asked("mine.json", "chip.toml", tmp_path, problem={"tiles": 16}, domains=DOMAINS)
    made = entry_of(asked, asked.search())
    assert made.best == entry.best
    assert compare(made, tmp_path, 0.0).state == "unchanged"
    with pytest.raises(ValueError, match=r"chip\.toml"):
        compare(made.model_copy(update={"workload": "stream"}), tmp_path / "elsewhere", 0.0)


@pytest.mark.parametrize("strategy", ["exhaustive", "random"])
def test_a_stored_run_is_the_same_baseline(tmp_path: Path, strategy: str) -> None:
    import db

    url = f"sqlite:///{tmp_path}/x.db"
    asked = Asked(
        "stream", "ascend910b2", Path(), "a2a3-rendezvous", "event", {"tiles": 16}, DOMAINS, strategy, ("time",),
        None if strategy == "exhaustive" else 9, 5,
    )  # fmt: skip
    direct = entry_of(asked, asked.search(), "x")
    result = tune(
        "stream", pto_isa="a2a3-rendezvous", timing="event", problem={"tiles": 16}, domains=DOMAINS, strategy=strategy,
        budget=asked.budget, seed=5, store=url, name="x",
    )  # fmt: skip
    assert result.run is not None
    with db.open_store(url) as store:
        assert entry_of_run(store, store.find_run("x")) == direct
    assert compare(direct, Path(), 0.0).state == "unchanged"
