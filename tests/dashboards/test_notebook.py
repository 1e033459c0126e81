"""The figures in a notebook: those of the report, in either theme, and the report itself below a cell."""

from __future__ import annotations

import json
import os
from html import unescape
from typing import Any

import pytest

from dashboards.notebook import figures, show
from dashboards.report.fitting import as_json
from dashboards.report.page import report_of
from dashboards.site.state import Site
from db import StoreError, open_store
from pto_tune.tuning import tune

DOMAINS: dict[str, Any] = {
    "cube_s0": [64, 128], "cube_s1": [128], "tile_s1": [128], "qk_preload": [2, 4], "fifo_depth": [4, 8],
    "sync_period": [0], "split": ["UP_DOWN"],
}  # fmt: skip


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    made = f"sqlite:///{tmp_path_factory.mktemp('notebook') / 'runs.db'}"
    with open_store(made) as store:
        tune("flash_attention", problem={"s0": 256, "s1": 1024}, domains=DOMAINS, store=store, name="first")
        tune("stream", domains={"fifo_depth": [2, 4], "sync_period": [0]}, store=store, name="second")
    return made


def in_report(page: str) -> dict[str, Any]:
    """The figures of a report by their names there."""
    text = page.split('id="figure-data">')[1].split("</script>")[0]
    parsed: dict[str, Any] = json.loads(text)
    return parsed


def put(over: Any, base: Any) -> Any:
    """What the page's script does with the difference of the dark figure."""
    if not isinstance(over, dict) or not isinstance(base, (dict, list)):
        return over
    for key, value in over.items():
        if isinstance(base, list):
            base[int(key)] = put(value, base[int(key)])
        else:
            base[key] = put(value, base.get(key))
    return base


@pytest.mark.parametrize("run", ["first", "second"])
def test_every_figure_of_the_report_comes_out_equal(url: str, run: str) -> None:
    light, dark = (figures(run, db=url, theme=theme) for theme in ("light", "dark"))
    with open_store(url) as store:
        report = in_report(report_of(Site(store), [run]))
    assert list(report) == [f"run-1-{key}" for key in light]
    assert "timeline" in light
    for key in light:
        kept = report[f"run-1-{key}"]
        assert as_json(light[key]) == kept["light"], key
        assert as_json(dark[key]) == put(kept["dark"], kept["light"]), key


def test_a_figure_is_one_of_the_plotting_library(url: str) -> None:
    import plotly.graph_objects as go

    assert all(isinstance(figure, go.Figure) for figure in figures("first", db=url).values())


def test_the_report_stands_in_a_frame_that_reaches_nothing_else(url: str) -> None:
    shown = show("first", "second", db=url, height_px=700)
    html = shown._repr_html_()
    assert html.startswith("<iframe ")
    assert html.count("<") == 2, "the page is the value of an attribute"
    assert 'sandbox="allow-scripts"' in html
    assert "height: 700px" in html
    assert unescape(html.split('srcdoc="')[1].split('"')[0]) == shown.page
    assert "The runs compared" in shown.page


def test_without_a_run_the_latest_is_shown(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(os.environ, "PTO_TUNE_DB", url)
    assert "<h1>second</h1>" in show().page


def test_wrong_use_is_one_sentence(url: str) -> None:
    with pytest.raises(ValueError, match="no theme 'blue': 'light' or 'dark'"):
        figures("first", db=url, theme="blue")
    with pytest.raises(ValueError, match="nope"):
        figures("nope", db=url)
    with pytest.raises(StoreError):
        figures("first", db="sqlite:////nowhere/none.db")
