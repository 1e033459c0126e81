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

import dashboards.report
from dashboards.report import ReportError, difference, render_report, script_json, write_report
from dashboards.runview import RunView

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
        assert not {"src", "href", "srcset", "action", "data"} & attributes.keys(), tag
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


def test_the_page_has_the_summary_and_four_figures(make_view: MakeView) -> None:
    page = Page(render_report(make_view()))
    assert "8.000 µs with fifo_depth=8, sync_period=4." in page.text
    assert list(page.figures) == ["pareto", "heatmap", "stalls", "refusals"]
    places = {attributes.get("id") for _, attributes in page.tags}
    assert {f"figure-{key}" for key in page.figures} <= places
    assert all(figure["light"]["data"] for figure in page.figures.values())


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
    assert page.figures["pareto"]["light"]["data"] == []
    assert page.figures["refusals"]["light"]["data"] != []


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
    assert 50 < len(page.figures["pareto"]["light"]["data"][0]["customdata"]) <= 2_000


def test_light_and_dark_differ_in_colours_only(make_view: MakeView) -> None:
    page = Page(render_report(make_view()))
    assert "prefers-color-scheme: dark" in page.scripts[-1]
    for figure in page.figures.values():
        light = figure["light"]["layout"]
        assert light["paper_bgcolor"] != figure["dark"]["layout"]["paper_bgcolor"]
        assert "x" not in figure["dark"].get("data", {}).get("0", {}), "the points are kept once"


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


def test_an_existing_file_is_kept_unless_forced(make_view: MakeView, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("mine")
    with pytest.raises(ReportError, match=r"report\.html exists already.*--force"):
        write_report(make_view(), path)
    assert path.read_text() == "mine"
    assert write_report(make_view(), path, force=True) == path
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    make_view: MakeView, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(dashboards.report.os, "replace", full_disk)
    with pytest.raises(ReportError, match=r"cannot write the report to .*No space left"):
        write_report(make_view(), path, force=True)
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    assert path.read_text() == "old"


def test_a_folder_or_a_missing_folder_is_refused(make_view: MakeView, tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="is a folder: give the name"):
        write_report(make_view(), tmp_path)
    with pytest.raises(ReportError, match=r"does not exist"):
        write_report(make_view(), tmp_path / "no" / "report.html")
