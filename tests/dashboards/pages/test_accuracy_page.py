"""The page of accuracy over a validation of two small tables, without a browser."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from page_calls import calls_of

from dashboards.figures.accuracy import case_intervals
from dashboards.pages.accuracy import calls, parts, work
from dashboards.pages.accuracy.page import PAGE, body
from dashboards.site.page import place
from dashboards.site.state import Site
from db import Measurement, open_store
from pto_tune.validating.leading import leading
from pto_tune.validating.report import validate

TABLES = ("gemm_ar", "tget")
SOURCE = "<b>mine</b> 测试"


@pytest.fixture(scope="module")
def finished() -> work.Validation:
    """A validation whose stages are all over."""
    report = validate(TABLES)
    return work.Validation(
        stage=work.DONE,
        report=report,
        intervals=case_intervals(report.outcomes),
        leading=leading(report.outcomes),
    )


@pytest.fixture
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with open_store(f"sqlite:///{tmp_path_factory.mktemp('accuracy') / 'runs.db'}") as store:
        found = Site(store)
        yield found
        found.close()


@pytest.fixture
def answers(site: Site, finished: work.Validation, monkeypatch: pytest.MonkeyPatch) -> dict[str, Callable[..., Any]]:
    """The page's callbacks by name, over the finished validation."""
    monkeypatch.setattr(calls, "validation", lambda: finished)
    return calls_of(PAGE, site)


def test_the_page_says_what_is_being_done(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboards.pages.accuracy.page.validation", work.Validation)
    page = str(PAGE.layout(site, place({}, "")))
    assert "predicting the published cases" in page
    assert "acc-parity" not in page


def test_the_page_of_a_finished_validation(
    site: Site, finished: work.Validation, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dashboards.pages.accuracy.page.validation", lambda: finished)
    page = str(PAGE.layout(site, place({}, "?table=tget")))
    assert "acc-parity" in page
    assert "disabled=True" in page  # nothing to ask for any more
    assert "There is no table 'nope <b>'" in str(PAGE.layout(site, place({}, "?table=nope+<b>")))


def test_a_validation_that_failed_says_why() -> None:
    failed = work.Validation(stage=work.DONE, failed={work.PREDICTED: "table x is broken"})
    assert "could not be predicted: table x is broken" in str(body(failed, parts.ALL))


def test_figures_follow_the_chosen_table(answers: dict[str, Any]) -> None:
    every, _, errors, _ = answers["draw"]("light", parts.ALL)
    some, *_ = answers["draw"]("light", "tget")
    names = {trace.name.partition(",")[0] for trace in every.data if trace.name}
    assert set(TABLES) <= names
    assert {trace.name.partition(",")[0] for trace in some.data if trace.name} == {"tget"}
    assert {label.partition(" ")[0] for label in errors.data[0].y} == set(TABLES)


def test_intervals_and_leading_numbers_are_shown(answers: dict[str, Any], finished: work.Validation) -> None:
    table, figure, _, _ = answers["sure"]("dark", parts.ALL, work.DONE)
    assert "Measured inside" in str(table)
    assert finished.intervals is not None
    assert len(figure.data[0].x) == len(finished.intervals.cases)
    assert "number" in str(answers["lead"]("tget", work.DONE))


def test_choosing_a_table_keeps_it_in_the_address(answers: dict[str, Any]) -> None:
    rows, said, _ = answers["choose"]("tget")
    assert said == {"table": "tget"}
    assert {row["case"].partition("/")[0] for row in rows} == {"tget"}
    assert answers["choose"](parts.ALL)[1] == {}


def test_errors_in_the_table_of_cases_are_those_of_predictions(finished: work.Validation) -> None:
    assert finished.report is not None
    for row in parts.records(finished.report, "tget"):
        if row["quantity"] == "time (µs)":
            assert row["error"] == pytest.approx(100 * (row["predicted"] / row["measured"] - 1), abs=0.05)


def test_measurements_of_the_store_stand_beside_published_ones(site: Site, answers: dict[str, Any]) -> None:
    assert "holds no measurements yet" in str(answers["store"](True))
    before = len(answers["draw"]("light", parts.ALL)[0].data)
    own = {"s0": 256, "s1": 1024}
    site.store.add_measurements(
        [
            Measurement(
                "flash_attention", own, "a2a3", "Ascend 910B2", "task", 20.0, platform="ascend910b2", source=SOURCE
            ),
            Measurement("gone", {}, "a2a3", "910Z", "task", 20.0),
        ]
    )
    said = str(answers["store"](True))
    assert "1 of 2 measurements" in said
    assert "unknown workload 'gone'" in said
    assert len(answers["draw"]("light", parts.ALL)[0].data) == before + 1


def test_every_part_can_be_downloaded(site: Site, finished: work.Validation) -> None:
    for what in ("cases", "summary", "limits", "intervals", "coverage", "leading"):
        assert len(calls.lines_of(site, finished, what, parts.ALL)) > 1, what
    with pytest.raises(ValueError, match="not there yet"):
        calls.lines_of(site, work.Validation(), "cases", parts.ALL)
    with pytest.raises(ValueError, match="no part 'else'"):
        calls.lines_of(site, finished, "else", parts.ALL)


def test_stages_run_once_in_a_thread_and_a_failed_one_does_not_stop_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []

    def predict(of: work.Validation) -> None:
        ran.append("predict")
        of.report = validate(("tget",))

    def fail(_: work.Validation) -> None:
        ran.append("fail")
        raise ValueError("no intervals today")

    monkeypatch.setattr(work, "_known", {})
    monkeypatch.setattr(work, "_predict", predict)
    monkeypatch.setattr(work, "_intervals", fail)
    monkeypatch.setattr(work, "_leading", lambda _: ran.append("lead"))
    first = work.validation()
    assert work.validation() is first
    until = time.monotonic() + 60
    while not first.over and time.monotonic() < until:
        time.sleep(0.02)
    assert first.over
    assert ran == ["predict", "fail", "lead"]
    assert first.failed == {work.SURE: "no intervals today"}
    assert first.doing() == ""


def test_one_whose_cases_could_not_be_predicted_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: work.Validation) -> None:
        raise ValueError("a table is broken")

    monkeypatch.setattr(work, "_known", {})
    monkeypatch.setattr(work, "_predict", fail)
    first = work.validation()
    until = time.monotonic() + 60
    while not first.over and time.monotonic() < until:
        time.sleep(0.02)
    assert first.failed == {work.PREDICTED: "a table is broken"}
    assert work.validation() is not first
