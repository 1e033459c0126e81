"""Reports of runs of a store: the best configuration explained, several runs compared, and what is missing named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest

from dashboards.figures.timeline import timeline_data
from dashboards.report.best import first_part
from dashboards.report.page import MOST_RUNS, ReportError, collect, render_report, report_of, sections_of
from dashboards.report.panels import Section, Subject
from dashboards.runview import RunView
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
    """1 and 2: one workload on two platforms; 3: another workload; 4: nothing ok; 5: a sample, with ranks."""
    with open_store(f"sqlite:///{tmp_path_factory.mktemp('report') / 'runs.db'}") as store:
        tune("flash_attention", problem=SIZES, domains=DOMAINS, store=store, name=NAME)
        tune("flash_attention", platform="ascend950pr", problem=SIZES, domains=DOMAINS, store=store, name="on a5")
        tune("stream", domains={"fifo_depth": [2, 4], "sync_period": [0]}, store=store, name="stream")
        tune("flash_attention", problem=SIZES, domains={**DOMAINS, "cube_s0": [2048]}, store=store, name="nothing ok")
        tune("tput_pingpong", budget=2, store=store, name="ranks")
        found = Site(store)
        yield found
        found.close()


class Page(HTMLParser):
    """Tags with their attributes, all text outside scripts, and the figures."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.figures: dict[str, Any] = {}
        self._inside: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = [tag, dict(attrs).get("type") or ""]

    def handle_data(self, data: str) -> None:
        if self._inside == ["script", "application/json"]:
            self.figures = json.loads(data)
        elif not self._inside or self._inside[0] not in ("script", "style"):
            self.text += data

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002
        self._inside = []


def section(site: Site, ref: str) -> Section:
    """The section of one run."""
    (found,) = sections_of(*collect(site, [ref]))
    return found


def panel_texts(found: Section, key: str) -> str:
    """Notes and cells of a panel."""
    panel = next(p for p in found.panels if p.key == key)
    cells = [cell for row in panel.table.rows for cell in row] if panel.table else []
    return " ".join([*panel.notes, *cells])


def test_the_best_configuration_is_explained(site: Site) -> None:
    found = section(site, "1")
    keys = [panel.key for panel in found.panels]
    assert keys == [
        "scatter", "heatmap", "parallel", "importance", "refusals", "remedies",
        "causes", "bounds", "timeline", "fifo-1", "fifo-2", "fifo-3", "leans", "exports",
    ]  # fmt: skip
    assert "90 % interval" in panel_texts(found, "leans")
    assert "launch.task" in panel_texts(found, "leans")
    subjects, _ = collect(site, ["1"])
    view = subjects[0].view
    assert view.best is not None
    evaluated = subjects[0].explanation.evaluation
    assert int(evaluated.cycles[0]) == int(view.cycles[view.best]), "what is drawn is what the store has"


def test_the_header_can_be_copied(site: Site) -> None:
    exports = next(p for p in section(site, "1").panels if p.key == "exports")
    assert exports.codes[0].title == "C++ header"
    assert "namespace pto_tune_config" in exports.codes[0].text
    page = Page(report_of(site, ["1"]))
    assert ("button", "copy") in {(tag, attributes.get("class")) for tag, attributes in page.tags}
    assert exports.codes[0].text in page.text


def test_the_first_part_of_a_timeline_has_few_bars_and_none_merged(site: Site) -> None:
    data = timeline_data(collect(site, ["1"])[0][0].explanation)
    for most in (1, 20, 10_000):
        part = first_part(data, most)
        assert part.merged == 0
        assert part.hidden_tokens == 0
        begun = int((data.spans.start < part.end).sum())
        assert len(part.track) == begun
        assert begun <= max(most, len(set(data.tracks)))
    assert first_part(data, 10_000).end == data.cycles


def test_several_runs_are_compared_first_and_have_a_table_of_contents(site: Site) -> None:
    text = report_of(site, ["1", "on a5"])
    assert len(text.encode()) < 7_000_000
    page = Page(text)
    assert sum(tag == "script" for tag, _ in page.tags) == 3, "the library is there once"
    links = [attributes["href"] for tag, attributes in page.tags if tag == "a"]
    assert links == ["#compare", "#run-1", "#run-2"]
    ids = [attributes["id"] for _, attributes in page.tags if "id" in attributes]
    assert {link[1:] for link in links if link} <= set(ids)
    assert len(ids) == len(set(ids))
    assert {"compare-times", "compare-fronts", "compare-causes", "compare-one-for-all"} <= page.figures.keys()
    assert {"run-1-timeline", "run-2-timeline"} <= page.figures.keys()
    assert NAME in page.text
    fronts = [trace.get("name") for trace in page.figures["compare-fronts"]["light"]["data"]]
    assert '1: a &lt;b&gt;"run"&lt;/b&gt; 管道 🚀' in fronts


def test_the_best_of_one_is_evaluated_in_the_settings_of_the_others(site: Site) -> None:
    first, *_ = sections_of(*collect(site, ["1", "2"]))
    cross = next(p for p in first.panels if p.key == "cross").table
    assert cross is not None
    assert cross.titles[0] == "Configuration"
    assert len(cross.titles) == 3
    assert [row[0] for row in cross.rows] == [f"1: {NAME}", "2: on a5", "Best known"]
    assert "µs (best)" in cross.rows[0][1]
    side = next(p for p in first.panels if p.key == "side").table
    assert side is not None
    assert ("Platform", "ascend910b2", "ascend950pr") in side.rows
    assert "ok in every setting" in panel_texts(first, "one-for-all")


def test_runs_of_other_workloads_and_without_an_ok_one_are_compared_as_far_as_it_goes(site: Site) -> None:
    first, *others = sections_of(*collect(site, ["1", "stream", "nothing ok"]))
    assert any("has no ok configuration" in note for note in first.notes)
    assert "of different workloads" in panel_texts(first, "one-for-all")
    assert "another workload" in panel_texts(first, "cross")
    assert [group.title for group in others[2].groups] == [""], "nothing to explain"
    page = Page(report_of(site, ["1", "stream", "nothing ok"]))
    assert "None of the 4 configurations is ok" in page.text


def test_a_run_whose_platform_has_changed_is_shown_as_the_store_has_it(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def changed(*_: object) -> None:
        raise ValueError("the platform's numbers are not those of the run: tune again")

    monkeypatch.setattr(site.views, "search", changed)
    found = section(site, "1")
    best = found.groups[1]
    assert [panel.key for panel in best.panels] == ["stalls"]
    assert best.notes[0].endswith("the platform's numbers are not those of the run: tune again.")
    first, *_ = sections_of(*collect(site, ["1", "2"]))
    assert "Not evaluated in" in panel_texts(first, "cross")
    assert report_of(site, ["1", "2"])


def test_unknown_runs_are_named_all_at_once(site: Site) -> None:
    with pytest.raises(ReportError) as caught:
        collect(site, ["1", "nope", 99])
    first, second = str(caught.value).splitlines()
    assert "nope" in first
    assert "99" in second


def test_too_many_runs_are_refused(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    class Run:
        def __init__(self, number: int) -> None:
            self.id = number

    monkeypatch.setattr(site.views, "run", lambda ref: Run(int(ref)))
    with pytest.raises(ReportError, match=f"at most {MOST_RUNS} runs, and {MOST_RUNS + 1} are named"):
        collect(site, list(range(MOST_RUNS + 1)))


def test_a_sample_with_ranks_has_what_its_engine_logs(site: Site) -> None:
    found = section(site, "ranks")
    assert "Every configuration that the run holds is ok." in panel_texts(
        found, "remedies"
    )  # refused ones are not drawn
    keys = [panel.key for panel in found.groups[1].panels]
    assert "timeline" in keys
    assert not any(key.startswith("fifo") for key in keys)
    assert "Sums of the block that ends last" in panel_texts(found, "causes")


def test_many_large_runs_stay_under_7_mb_and_say_how_points_are_drawn(big_view: RunView) -> None:
    subjects = [Subject(big_view, number=number) for number in range(1, 9)]
    page = Page(text := render_report(subjects))
    assert len(text.encode()) < 7_000_000
    scatters = [figure["light"]["data"] for key, figure in page.figures.items() if key.endswith("-scatter")]
    assert len(scatters) == 8
    assert all(50 < sum(len(t.get("customdata", ())) for t in traces) < 3_000 for traces in scatters)
    assert page.text.count("200,000 ok configurations, drawn as") == 8
