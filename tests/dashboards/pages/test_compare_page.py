"""The page that compares: what an address asks for, its layout, and what its callbacks answer, without a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from page_calls import calls_of

from dashboards.pages.compare import calls, live, parts
from dashboards.pages.compare.page import PAGE, rule_options
from dashboards.pages.compare.work import MOST_RUNS, Wish, compared, wish
from dashboards.site.page import place
from dashboards.site.state import Site
from db import open_store
from pto_tune.tuning import tune

NAME = 'a <b>"run"</b> 管道 🚀'
SIZES = {"s0": 256, "s1": 1024}
DOMAINS: dict[str, Any] = {
    "cube_s0": [64, 128], "cube_s1": [128], "tile_s1": [128], "qk_preload": [2, 4], "fifo_depth": [4, 8],
    "sync_period": [0], "split": ["UP_DOWN"],
}  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Runs of one workload on two platforms and in two sizes, of another workload, and without an ok configuration."""
    with open_store(f"sqlite:///{tmp_path_factory.mktemp('compare') / 'runs.db'}") as store:
        tune("flash_attention", problem=SIZES, domains=DOMAINS, store=store, name=NAME)
        tune("flash_attention", platform="ascend950pr", problem=SIZES, domains=DOMAINS, store=store)
        tune("flash_attention", problem={"s0": 256, "s1": 2048}, domains=DOMAINS, store=store)
        tune("stream", domains={"fifo_depth": [2, 4], "sync_period": [0]}, store=store, name="stream")
        tune("flash_attention", problem=SIZES, domains={**DOMAINS, "cube_s0": [2048]}, store=store, name="nothing ok")
        found = Site(store)
        yield found
        found.close()


@pytest.fixture(scope="module")
def answers(site: Site) -> dict[str, Callable[..., Any]]:
    """The page's callbacks by name."""
    return calls_of(PAGE, site)


def texts(component: Any) -> str:
    """All texts of a layout."""
    if component is None:
        return ""
    if isinstance(component, (list, tuple)):
        return " ".join(texts(part) for part in component)
    if isinstance(component, (str, int, float)):
        return str(component)
    return texts(getattr(component, "children", None))


def test_an_address_names_runs_configurations_and_further_platforms() -> None:
    found = wish({"runs": "1,2,1", "configurations": "1:35,2:10", "also": "ascend910c,ascend910b2:a2a3-rendezvous"})
    assert found == Wish(
        ("1", "2"), (("1", 35), ("2", 10)), (("ascend910c", ""), ("ascend910b2", "a2a3-rendezvous")), ()
    )
    assert wish(found.query()) == found
    assert wish({key: ",".join(value) for key, value in found.query().items()}) == found


def test_what_cannot_be_read_or_is_too_much_is_named() -> None:
    found = wish({"runs": ",".join(map(str, range(20))), "configurations": "1:x,7"})
    assert len(found.runs) == MOST_RUNS
    assert found.configurations == ()
    assert found.complaints == (
        "'1:x' is no configuration: RUN:ROW would be right",
        "'7' is no configuration: RUN:ROW would be right",
        "20 runs are too many side by side: the first 8 are shown",
    )


def test_a_run_stands_with_its_best_or_with_the_rows_that_are_named(site: Site) -> None:
    of = compared(site, wish({"runs": "1,2", "configurations": "2:0,2:1"}))
    best = site.views.view(1).best
    assert best is not None
    assert [(i.run.id, i.row) for i in of.items] == [(1, int(site.views.view(1).rows[best])), (2, 0), (2, 1)]
    assert of.items[1].label.endswith(", row 0")


def test_a_run_by_name_and_by_number_is_one(site: Site) -> None:
    of = compared(site, wish({"runs": ["1", NAME]}))
    assert [i.run.id for i in of.items] == [1]
    assert of.wish.runs == ("1",)


def test_runs_and_rows_that_are_not_there_are_named(site: Site) -> None:
    of = compared(site, wish({"runs": "1,99", "configurations": "2:123456"}))
    assert [i.run.id for i in of.items] == [1]
    assert any("99" in c for c in of.complaints)
    assert any("has no configuration with the row 123456" in c for c in of.complaints)


def test_settings_are_named_by_what_tells_them_apart(site: Site) -> None:
    of = compared(site, wish({"runs": "1,2,3", "also": "ascend910c"}))
    assert [s.label for s in of.settings] == [
        "ascend910b2, a2a3, s1 1024", "ascend950pr, a5, s1 1024", "ascend910b2, a2a3, s1 2048",
        "ascend910c, a2a3, s1 1024", "ascend910c, a2a3, s1 2048",
    ]  # fmt: skip
    assert of.further == 3


def test_a_platform_that_a_run_has_already_is_no_further_one(site: Site) -> None:
    of = compared(site, wish({"runs": "1", "also": "ascend910b2,ascend910b2:a2a3"}))
    assert len(of.settings) == of.further == 1


def test_an_unknown_platform_or_revision_is_named(site: Site) -> None:
    of = compared(site, wish({"runs": "1", "also": "ascend1,ascend910c:never"}))
    assert of.complaints[0].startswith("there is no built-in platform 'ascend1': choose one of ascend910b1")
    assert "never" in of.complaints[1]


def test_the_best_of_one_is_evaluated_on_the_others(site: Site) -> None:
    of = compared(site, wish({"runs": "1,2,3"}))
    found = live.cross_of(of)
    # in its own setting each takes what the store has
    assert np.diag(found.time_us) == pytest.approx([i.time_us for i in of.items])
    assert (found.regret[np.isfinite(found.regret)] > -1e-9).all()
    assert live.cross_of(compared(site, wish({"runs": "1,2,3"}))) is found
    assert "its own" in texts(parts.cross_table(found, of))


def test_a_run_has_its_name_of_today(site: Site) -> None:
    of = compared(site, wish({"runs": "1,2"}))
    assert live.cross_of(of).rows[0] == of.items[0].label
    renamed = replace(of, items=(replace(of.items[0], label="1: of today"), *of.items[1:]))
    assert live.cross_of(renamed).rows[0] == "1: of today"


def test_another_workload_is_told_apart(site: Site) -> None:
    of = compared(site, wish({"runs": "1,4"}))
    assert live.cross_of(of).why[0][1] == "another workload"
    with pytest.raises(ValueError, match="different workloads"):
        live.good_of(of, live.STORED)


def test_one_for_all_has_the_least_worst_regret_of_the_common_ones(site: Site) -> None:
    found = live.good_of(compared(site, wish({"runs": "1,2,3"})), live.STORED)
    views = [site.views.view(r) for r in (1, 2, 3)]
    # the runs have the same space, so rows agree
    ok = np.logical_and.reduce([v.ok for v in views])
    regret = np.stack([v.time_us / v.time_us[v.best] - 1 for v in views], axis=1)[ok]
    assert found.found[0].worst == pytest.approx(regret.max(axis=1).min())
    assert found.looked_at == int(ok.sum())


def test_evaluated_candidates_agree_with_stored_ones(site: Site) -> None:
    of = compared(site, wish({"runs": "1,2,3"}))
    stored, evaluated = live.good_of(of, live.STORED), live.good_of(of, live.EVALUATED)
    assert evaluated.found[0].values == stored.found[0].values
    assert evaluated.found[0].time_us == pytest.approx(stored.found[0].time_us)


def test_a_further_platform_takes_part_in_one_for_all(site: Site) -> None:
    found = live.good_of(compared(site, wish({"runs": "1", "also": "ascend910c"})), live.STORED)
    assert found.settings == ("ascend910b2", "ascend910c")
    assert "evaluated everywhere" in found.method
    assert live.row_of(site.views.view(1), found.found[0].values) is not None


def test_one_setting_needs_no_compromise(site: Site) -> None:
    with pytest.raises(ValueError, match="add a run or a platform"):
        live.good_of(compared(site, wish({"runs": "1"})), live.STORED)


def test_differences_stand_out_and_can_stand_alone(site: Site) -> None:
    of = compared(site, wish({"runs": "1,2"}))
    whole, some = texts(parts.side_by_side(of, False)), texts(parts.side_by_side(of, True))
    assert "Workload" in whole
    assert "Workload" not in some
    assert "ascend950pr" in some
    assert "Platform" in some


@pytest.mark.parametrize(
    "search", ["?runs=1,2,3", "?configurations=1:0,1:1", "?runs=1,4&show=differences", "?runs=5", "?runs=1&also=x:y,,"]
)
def test_the_page_of_an_address(site: Site, search: str) -> None:
    assert "Side by side" in texts(PAGE.layout(site, place({}, search)))


def test_a_name_shows_as_text(site: Site) -> None:
    assert NAME in texts(PAGE.layout(site, place({}, "?runs=1,2")))


def test_without_runs_the_page_says_what_to_do(site: Site) -> None:
    assert "Choose two or more runs" in texts(PAGE.layout(site, place({}, "")))
    page = PAGE.layout(site, place({}, "?runs=99"))
    assert "99" in texts(page)
    assert "Choose two or more runs" in texts(page)


def test_an_empty_store_leads_to_the_first_steps(tmp_path: Any) -> None:
    with open_store(f"sqlite:///{tmp_path / 'empty.db'}") as store:
        site = Site(store)
        assert "There are no runs yet" in texts(PAGE.layout(site, place({}, "?runs=1")))
        site.close()


def test_a_run_without_an_ok_configuration_is_shown_without_times(answers: dict[str, Any]) -> None:
    now = {"runs": ["5"]}
    times, *_ = answers["draw"]("light", now)
    assert "None of the chosen configurations" in times.layout.annotations[0].text.replace("<br>", " ")
    assert "None of the runs has an ok configuration" in texts(answers["cross"](now))
    causes, *_ = answers["causes"]("light", now)
    assert causes.layout.annotations[0].text


def test_every_part_is_drawn_and_can_be_downloaded(site: Site, answers: dict[str, Any]) -> None:
    now = {"runs": ["1", "2"]}
    times, _, fronts, _ = answers["draw"]("dark", now)
    assert len(fronts.data) == 4  # two fronts, two stars
    assert len(times.data[0].x) == 2
    causes, *_ = answers["causes"]("light", now)
    assert causes["data"]
    words, bars, _ = answers["good"]("light", live.STORED, now)
    assert "longer than the best" in texts(words) or "As fast as" in texts(words)
    assert len(bars.data[0].x) == 2
    of = compared(site, wish(now))
    for what in ("side", "causes", "cross", "good", "fronts"):
        file = calls.file_of(site, of, what, live.STORED)
        assert file["filename"] == f"compare-{what}.csv"
        assert len(file["content"].splitlines()) > 2
    with pytest.raises(ValueError, match="no part 'else'"):
        calls.file_of(site, of, "else", live.STORED)


def test_the_form_leads_to_an_address() -> None:
    now = {"runs": ["1"], "configurations": ["2:7"], "also": ["ascend910c"]}
    assert calls.next_address(now, ["1", "2", "3"], "", "", "ascend910b2") == (
        "/compare?runs=1%2C3&configurations=2%3A7&also=ascend910c"
    )
    # a revision alone is one of the first run's platform
    assert calls.next_address({}, ["1"], "", "a2a3-rendezvous", "ascend910b2") == (
        "/compare?runs=1&also=ascend910b2%3Aa2a3-rendezvous"
    )
    assert calls.next_address(now, ["1"], "", "", "") == "/compare?runs=1&also=ascend910c"


def test_revisions_are_those_of_the_platforms_family() -> None:
    values = [option["value"] for option in rule_options("ascend950pr")]
    assert values[0] == ""
    assert "a5-rendezvous" in values
    assert not any(value.startswith("a2a3") for value in values)


def test_the_choices_of_the_page_stand_in_the_address(answers: dict[str, Any]) -> None:
    now = {"runs": ["1", "2"], "configurations": [], "also": ["ascend910c:a2a3"]}
    _, said = answers["keep"]("differences", live.EVALUATED, now)
    assert said == {"runs": "1,2", "also": "ascend910c:a2a3", "show": "differences", "method": "evaluated"}
