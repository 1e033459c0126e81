"""The page: one file that needs no other host, shows names as text, and is written whole or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboards.report.fitting import drawn, fitted
from dashboards.report.page import ReportError, check_target, difference, render_report, script_json, write_page
from dashboards.report.panels import REST, TIMELINE, Group, Panel, Section, Subject
from dashboards.runview import RunView
from dashboards.theme import message_figure

MakeView = Callable[..., RunView]
EVIL = '</script><script>alert(1)</script><img src=http://x.example/a> "名前" 🚀'


class Page(HTMLParser):
    """Elements, their attributes, and the text outside and inside scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.scripts: list[str] = []
        self._inside = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._inside = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "script":
            self.scripts[-1] += data
        elif self._inside != "style":
            self.text += data

    @property
    def figures(self) -> dict[str, Any]:
        parsed: dict[str, Any] = json.loads(self.scripts[0])
        return parsed


def test_the_page_is_one_file_under_7_mb_that_asks_no_other_host(make_view: MakeView) -> None:
    text = render_report(make_view())
    assert len(text.encode()) < 7_000_000
    page = Page(text)
    for tag, attributes in page.tags:
        assert tag not in {"link", "iframe", "object", "embed", "base", "img", "form"}
        assert not {"src", "srcset", "action", "data"} & attributes.keys(), tag
        assert (attributes.get("href") or "#").startswith("#"), "links stay in the page"
    style = text[text.index("<style>") : text.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    policy = next(a["content"] for t, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
    assert policy is not None
    assert policy.startswith("default-src 'none'")
    assert "http" not in policy


def test_no_button_offers_to_send_the_data_away(make_view: MakeView) -> None:
    script = Page(render_report(make_view())).scripts[-1]
    assert "showSendToCloud: false" in script
    assert 'plotlyServerURL: ""' in script


def test_the_page_has_the_summary_and_the_figures(make_view: MakeView) -> None:
    page = Page(render_report(make_view()))
    assert "8.000 µs with fifo_depth=8, sync_period=4." in page.text
    keys = ["scatter", "heatmap", "parallel", "importance", "refusals", "stalls"]
    assert list(page.figures) == [f"run-1-{key}" for key in keys]
    places = {attributes.get("id") for _, attributes in page.tags}
    assert {f"figure-{key}" for key in page.figures} <= places
    assert "nav" not in {tag for tag, _ in page.tags}, "one run needs no table of contents"


def test_a_run_that_cannot_be_evaluated_says_why_and_shows_what_was_kept(make_view: MakeView) -> None:
    page = Page(render_report(Subject(make_view(), why_not="the platform has changed")))
    assert "because it has to be evaluated again for them: the platform has changed." in page.text
    assert page.figures["run-1-stalls"]["light"]["data"], "the account in the store"
    assert "By how many bytes a memory is over is missing: the platform has changed." in page.text


def test_refusals_say_what_it_would_take(make_view: MakeView) -> None:
    view = make_view(
        tunables=[("fifo_depth", (2, 4, 8)), ("sync_period", (1, 2))],
        values={"fifo_depth": np.array([2, 4, 8] * 2), "sync_period": np.array([1, 1, 1, 2, 2, 2])},
        verdict=np.array([0, 0, 1, 0, 0, 1]),
        rule=np.array([-1, -1, 0, -1, -1, 0]),
        cycles=np.array([9.0, 8, np.nan, 7, 6, np.nan]),
        best_row=14,
    )
    page = Page(render_report(view))
    assert "the change that helps most often: fifo_depth 8 → 4 (a nearest legal fifo_depth exists for 2 of 2)" in (
        page.text
    )


def test_every_name_shows_as_text(make_view: MakeView) -> None:
    base = make_view()
    view = make_view(
        name=EVIL,
        workload=EVIL,
        platform=EVIL,
        rule_set=EVIL,
        timing=EVIL,
        problem={EVIL: EVIL},
        state=EVIL,
        tunables=[(EVIL, (2, 4, 8)), ("other", (EVIL, "b")), ("fixed " + EVIL, (EVIL,))],
        values={
            EVIL: base.values["fifo_depth"],
            "other": np.array([EVIL] * 6, dtype=object),
            "fixed " + EVIL: np.array([EVIL] * 6, dtype=object),
        },
        verdict_names=("ok", EVIL, "hang"),
        rule_names=(EVIL, "b"),
        bound_names=(EVIL, EVIL, EVIL),
        accounts={13: [("busy", EVIL, 5)]},
    )
    page = Page(render_report(view))
    assert len(page.scripts) == len(Page(render_report(base)).scripts) == 3
    assert "img" not in {tag for tag, _ in page.tags}
    assert page.text.count(EVIL) >= 12
    assert "<script" not in page.scripts[0]
    assert "<img" not in json.dumps(page.figures), "plotly would read it as a tag"


def test_a_run_with_no_ok_configuration_still_makes_a_page(make_view: MakeView) -> None:
    view = make_view(verdict=np.array([1, 1, 1, 1, 1, 2]), best_row=None, accounts={})
    page = Page(render_report(view))
    assert "None of the 6 configurations is ok" in page.text
    assert "There is no ok configuration to list." in page.text
    assert "run-1-stalls" not in page.figures, "there is no best one to explain"
    assert page.figures["run-1-scatter"]["light"]["layout"]["annotations"]
    assert page.figures["run-1-refusals"]["light"]["data"] != []


def test_200_000_configurations_stay_under_7_mb(big_view: RunView) -> None:
    assert len(render_report(big_view).encode()) < 7_000_000


def test_long_texts_in_many_tunables_thin_the_points_further(big_view: RunView) -> None:
    n = 6_000
    word = "🚀" * 40
    names = [f"tunable {i}" for i in range(16)]
    column = np.array([word] * n, dtype=object)
    fields = {name: getattr(big_view, name) for name in RunView.__dataclass_fields__}
    fields |= {name: fields[name][:n] for name in ("rows", "verdict", "rule", "cycles", "bound")}
    fields["bytes"] = {name: sizes[:n] for name, sizes in big_view.bytes.items()}
    fields |= {"tunables": [(name, (word, "b")) for name in names], "values": dict.fromkeys(names, column)}
    page = Page(text := render_report(RunView(**fields)))
    assert len(text.encode()) < 7_000_000
    assert "drawn as " in page.text
    traces = page.figures["run-1-scatter"]["light"]["data"]
    assert 50 < sum(len(trace.get("customdata", ())) for trace in traces) <= 3_000


def test_light_and_dark_differ_in_colours_only(make_view: MakeView) -> None:
    page = Page(render_report(make_view()))
    assert "prefers-color-scheme: dark" in page.scripts[-1]
    for figure in page.figures.values():
        light = figure["light"]["layout"]
        assert light["paper_bgcolor"] != figure["dark"]["layout"]["paper_bgcolor"]
        for trace in figure["dark"].get("data", {}).values():
            assert not {"x", "y", "z", "customdata", "hovertext"} & trace.keys(), "the points are kept once"


def heavy_panel(key: str, turn: int, points: int, lighter: bool = True) -> Panel:
    """A panel of about 10 bytes a point, which has a third of its points when it is lighter."""

    def draw(theme: Any) -> Any:
        figure = message_figure(theme, key)
        figure.add_scatter(x=[123_456_789] * points)
        return figure

    fewer = (lambda: heavy_panel(key, turn, points // 3, False)) if lighter else None
    return Panel(key, key, draw=draw, turn=turn, lighter=fewer)


def test_timelines_of_later_runs_give_way_first_then_the_heaviest() -> None:
    panels = [
        (heavy_panel("timeline", REST, 900), heavy_panel("small", REST, 90)),
        (heavy_panel("timeline", TIMELINE, 300, False), heavy_panel("small", REST, 90)),
        (heavy_panel("timeline", TIMELINE, 300, False), heavy_panel("small", REST, 90)),
    ]
    sections = [Section(f"run-{i}", "", (Group("", own),)) for i, own in enumerate(panels, 1)]
    whole = sum(drawn(panel).weight for own in panels for panel in own)

    def left(room: int) -> dict[str, int]:
        found = fitted(sections, room)
        assert sum(entry.weight for entry in found.values()) <= room
        return {key.removesuffix("-timeline"): e.text.count("123456789") for key, e in found.items() if "time" in key}

    assert left(whole) == {"run-1": 900, "run-2": 300, "run-3": 300}
    assert left(whole - 100) == {"run-1": 900, "run-2": 300, "run-3": 0}
    assert left(whole - 5_000) == {"run-1": 900, "run-2": 0, "run-3": 0}
    assert left(whole - 10_000) == {"run-1": 300, "run-2": 0, "run-3": 0}
    assert left(0) == {"run-1": 0, "run-2": 0, "run-3": 0}
    notes = {key: entry.panel.notes for key, entry in fitted(sections, whole - 100).items()}
    assert notes["run-3-timeline"] == ("Left out to keep the file under 7 MB.",)
    assert notes["run-2-timeline"] == ()


def test_texts_that_are_too_long_alone_are_an_error(make_view: MakeView) -> None:
    with pytest.raises(ReportError, match=r"is above 7 MB: name fewer runs, or shorten"):
        render_report(make_view(problem={"s0": "x" * 7_000_000}, name="long"))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


def put(over: Any, base: Any) -> Any:
    """What the page's script does with a difference."""
    if not isinstance(over, dict) or not isinstance(base, (dict, list)):
        return over
    for key, value in over.items():
        if isinstance(base, list):
            base[int(key)] = put(value, base[int(key)])
        else:
            base[key] = put(value, base.get(key))
    return base


@given(JSON)
def test_json_in_a_script_is_the_same_json_and_cannot_leave_it(value: Any) -> None:
    text = script_json(value)
    assert json.loads(text) == value
    assert not set("<>&\u2028\u2029") & set(text)


@given(st.dictionaries(st.sampled_from("abc"), st.lists(st.integers(0, 2), max_size=3)), st.integers(0, 9))
def test_a_difference_put_over_the_old_gives_the_new(old: dict[str, Any], number: int) -> None:
    old = {"deep": {"kept": 5, "changed": 10, **old}, "list": [{"x": 10, "y": 1}, 2], "longer": []}
    new = {
        "deep": {**old["deep"], "changed": number, "added": {"z": 1}},
        "list": [{"x": number, "y": 1}, number],
        "longer": [number],
    }
    merged = put(difference(old, new), json.loads(json.dumps(old)))
    assert merged == new
    assert difference(new, new) == {}


def test_an_existing_file_is_kept_unless_forced(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("mine")
    with pytest.raises(ReportError, match=r"report\.html exists already.*--force"):
        check_target(path, force=False)
    check_target(path, force=True)
    assert write_page("<!DOCTYPE html>", path) == path
    assert path.read_text(encoding="utf-8") == "<!DOCTYPE html>"
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pto_tune.whole_file.os.replace", full_disk)
    with pytest.raises(ReportError, match=r"cannot write the report to .*No space left"):
        write_page("new", path)
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    assert path.read_text() == "old"


def test_a_folder_or_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="is a folder: give the name"):
        check_target(tmp_path, force=False)
    with pytest.raises(ReportError, match=r"does not exist"):
        check_target(tmp_path / "no" / "report.html", force=False)
