"""The page of a run, without a browser: its layout, its address, its table, what its callbacks work out."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dashboards.filtering import Filter, select
from dashboards.pages.run import callbacks as run_callbacks
from dashboards.pages.run import figures as run_figures
from dashboards.pages.run import filter as run_filter
from dashboards.pages.run import page as run
from dashboards.pages.run import parts as run_parts
from dashboards.pages.run import state as run_state
from dashboards.pages.run import table as run_table
from dashboards.runview import RunView
from dashboards.site.page import place
from dashboards.site.state import Site
from dashboards.theme import LIGHT
from db import Run, open_store
from pto_tune.tuning import tune

MakeView = Callable[..., RunView]
NAME = '<b>"x"</b> 测试 🚀'
DOMAINS: dict[str, list[int | str]] = {
    "cube_s0": [64],
    "cube_s1": [64, 128],
    "tile_s1": [128],
    "qk_preload": [2, 4],
    "fifo_depth": [1, 4, 8],
    "sync_period": [0, 1],
    "split": ["UP_DOWN", "NO_SPLIT"],
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site over a store with a full run, a sample and a run without a legal configuration."""
    store = open_store(f"sqlite:///{tmp_path_factory.mktemp('run') / 'runs.db'}")
    sizes: dict[str, int | str] = {"s0": 256, "s1": 256}
    for more in (
        {"name": NAME, "domains": DOMAINS},
        {"name": "sampled", "domains": DOMAINS, "strategy": "random", "budget": 20},
        {"name": "none", "domains": {**DOMAINS, "cube_s1": [256], "tile_s1": [64]}},
    ):
        tune("flash_attention", platform="ascend910b2", problem=sizes, store=store, **more)
    found = Site(store, allow_runs=True)
    yield found
    found.close()
    store.close()


def page(site: Site, ref: str = "1", **query: str) -> str:
    """The page as the browser gets it."""
    from urllib.parse import urlencode

    from plotly.utils import PlotlyJSONEncoder

    children = run.layout(site, place({"run": ref}, "?" + urlencode(query)))
    return json.dumps(children, cls=PlotlyJSONEncoder, ensure_ascii=False)


def component(text: str, id: Any) -> dict[str, Any]:
    """Properties of a component of the page."""
    todo: list[Any] = [json.loads(text)]
    while todo:
        node = todo.pop()
        if isinstance(node, dict):
            if node.get("props", {}).get("id") == id:
                props: dict[str, Any] = node["props"]
                return props
            todo += node.values()
        elif isinstance(node, list):
            todo += node
    raise AssertionError(f"no component {id}")


def stored(site: Site, ref: int = 1) -> tuple[Run, RunView]:
    return site.views.run(ref), site.views.view(ref)


def test_names_show_as_text(site: Site) -> None:
    text = page(site)
    assert json.dumps(NAME, ensure_ascii=False) in text
    assert "dangerously_allow_html" not in text


def test_the_address_sets_all_controls(site: Site) -> None:
    asked = {
        "fifo_depth": "4,8", "verdict": "ok", "time_us_max": "30", "ub_min": "2048", "sort": "-row",
        "axis-x": "ub", "colour-by": "split", "cell-x": "split", "cell-shows": "legal", "selected-row": "3",
    }  # fmt: skip
    text = page(site, **asked)
    names = [name for name, _ in run_filter.varied(site.views.run(1))]
    depth = component(text, {"type": "run-pick", "place": names.index("fifo_depth")})
    assert depth["value"] == ["4", "8"]
    assert component(text, "run-verdict")["value"] == ["ok"]
    assert component(text, "run-time-max")["value"] == "30"
    assert component(text, "run-brush")["data"] == {"ub": [2048, None]}
    assert component(text, "run-x")["value"] == "ub"
    assert component(text, "run-colour")["value"] == "split"
    assert component(text, "run-cell-x")["value"] == "split"
    assert component(text, "run-cell-shows")["value"] == "legal"
    assert component(text, "run-selected")["data"] == 3
    columns = {c["field"]: c for c in component(text, "run-grid")["columnDefs"]}
    assert columns["row"]["sort"] == "desc"
    assert Filter.from_query(component(text, "run-filter")["data"]) == run_state.shown(place({}, _query(asked))).filter


def _query(values: dict[str, str]) -> str:
    from urllib.parse import urlencode

    return "?" + urlencode(values)


def test_controls_say_the_filter_that_set_them(site: Site) -> None:
    stored_run, _ = stored(site)
    names = [name for name, _ in run_filter.varied(stored_run)]
    picks = [["4", "8"] if name == "fifo_depth" else [] for name in names]
    found = run_filter.collected(stored_run, picks, ["ok"], [], (None, 30.0), {"ub": [2048.0, None]})
    assert found.to_query() == {"fifo_depth": "4,8", "verdict": "ok", "ub_min": "2048", "time_us_max": "30"}
    text = run_filter.sentence(7, 5, 48, found)
    assert text == "7 of 48 configurations, 5 of them ok; ub from 2 KiB to any"


@pytest.mark.parametrize(("text", "value"), [("", None), (None, None), (" 1,200.5 ", 1200.5), ("3", 3.0)])
def test_fields_for_numbers(text: str | None, value: float | None) -> None:
    assert run_filter.end_of(text, "Time from") == value


@pytest.mark.parametrize("text", ["x", "nan", "1e999"])
def test_a_field_that_holds_no_number_says_which(text: str) -> None:
    with pytest.raises(ValueError, match="Time from"):
        run_filter.end_of(text, "Time from")


@pytest.mark.parametrize(
    "asked",
    [
        {"axis-x": "speed", "cell-x": "speed", "cell-shows": "speed", "colour-by": "speed"},
        {"selected-row": "-1"},
        {"table-filter": "[1]"},
        {"table-filter": "[" * 3000},
        {"table-filter": '{"row": 3}'},
    ],
)
def test_an_address_of_nonsense_shows_the_usual_page(site: Site, asked: dict[str, str]) -> None:
    text = page(site, **asked)
    assert component(text, "run-x")["value"] == "on_chip_bytes"
    assert component(text, "run-cell-x")["value"] == "fifo_depth"
    assert component(text, "run-selected")["data"] is None
    assert component(text, "run-grid")["filterModel"] == {}


def test_a_filter_that_cannot_be_read_is_told(site: Site) -> None:
    assert "time_us_min=x is not a number" in page(site, time_us_min="x")


def test_an_unknown_run_is_an_error_in_words(site: Site) -> None:
    with pytest.raises(ValueError, match="no run"):
        run.layout(site, place({"run": "99"}, ""))


def test_the_best_has_a_link_and_the_counts_add_up(site: Site) -> None:
    stored_run, view = stored(site)
    text = json.dumps([c.to_plotly_json() for c in run_parts.summary(stored_run, view)], default=_plain)
    assert f"/runs/1/configurations/{int(view.rows[view.best])}" in text
    assert str(len(view)) in text


def _plain(value: Any) -> Any:
    return value.to_plotly_json() if hasattr(value, "to_plotly_json") else str(value)


def test_the_table_is_in_order_and_its_rows_link(site: Site) -> None:
    _, view = stored(site)
    wanted = Filter.from_query({"verdict": "ok", "sort": "time_us"})
    found = run_table.block(1, view, wanted, 0, 5)
    assert found["rowCount"] == int(view.ok.sum())
    assert [r["row"] for r in found["rowData"]] == view.rows[select(view, wanted)[:5]].tolist()
    assert found["rowData"][0]["row_href"] == f"/runs/1/configurations/{found['rowData'][0]['row']}"
    assert len(run_table.block(1, view, Filter(), -5, 10**9)["rowData"]) == len(view)


def test_filters_in_the_heads_of_columns(site: Site) -> None:
    _, view = stored(site)
    names = [name for name, _ in view.tunables]
    depth, split = (f"t{names.index(name)}" for name in ("fifo_depth", "split"))
    model = {
        depth: {"filterType": "number", "type": "inRange", "filter": 2, "filterTo": 6},
        split: {"filterType": "text", "type": "startsWith", "filter": "up"},
        "rule": {"filterType": "text", "type": "contains", "filter": "nothing of the kind"},
        "ub": {"filterType": "number", "type": "greaterThanOrEqual", "filter": 2},
        "time_us": {"filterType": "number", "type": "equals", "filter": 20},
        "else": {"type": "equals", "filter": 1},
        "row": 7,
    }
    found = run_table.table_filter(view, model)
    any_of, ranges = dict(found.any_of), {name: ends for name, *ends in found.ranges}
    assert any_of["fifo_depth"] == ("4",)
    assert any_of["split"] == ("UP_DOWN",)
    assert ranges == {"ub": [2048, None], "time_us": [20, 20]}
    assert len(select(view, found)) == 0
    del model["rule"], model["time_us"]
    kept = select(view, run_table.table_filter(view, model))
    assert set(view.values["fifo_depth"][kept].tolist()) == {4}
    assert set(view.values["split"][kept].tolist()) == {"UP_DOWN"}


def test_the_order_that_the_table_asks_for() -> None:
    model = [{"colId": "t1", "sort": "desc"}, {"colId": "time_us", "sort": "asc"}, {"colId": "else", "sort": "asc"}]
    assert run_table.sorting(model, ["row", "verdict"]) == (("t.verdict", True), ("time_us", False))


@pytest.mark.parametrize(
    ("custom", "row"),
    [
        (7, 7),
        (["hover", None], None),
        (["node", 0, 1, 9], 9),
        ("text", None),
        (None, None),
        ([], None),
    ],
)
def test_a_click_anywhere_is_a_row(custom: Any, row: int | None) -> None:
    assert run_figures.clicked_row({"points": [{"customdata": custom}]}) == row
    assert run_figures.clicked_row(None) is None


def test_a_box_in_the_scatter_is_a_range_in_base_units() -> None:
    box = {"range": {"x": [200.0, 100.0], "y": [1.0, 2.0]}}
    assert run_figures.brushed_ranges(box, ("on_chip_bytes", "time_us"), (False, True)) == {
        "on_chip_bytes": [102400, 204800],
        "time_us": [10, 100],
    }
    assert run_figures.brushed_ranges(box, ("flags", "time_us"), (False, False)) == {"time_us": [1, 2]}
    assert run_figures.brushed_ranges(None, ("ub", "l1"), (False, False)) == {}


def test_a_box_in_the_parallels_is_values_and_times(site: Site) -> None:
    _, view = stored(site)
    data_names = [name for name, _ in view.varied]
    depth = data_names.index("fifo_depth")
    points = [{"customdata": ["node", depth, 1, 3]}, {"customdata": ["node", len(data_names), 0, 3]}]
    values, time_us = run_figures.brushed_values(view, Filter(), points)
    assert values == {"fifo_depth": ["4"]}
    fastest = float(view.time_us[view.ranked[0]])
    assert time_us[0] == pytest.approx(fastest, rel=1e-4)
    picks = run_figures.picks_of(view, values, [["2"]] * len(data_names))
    assert picks[depth] == ["4"]
    assert picks[depth - 1] == ["2"]


def test_all_figures_are_drawn_and_small(site: Site) -> None:
    for ref in (1, 2, 3):
        stored_run, view = stored(site, ref)
        within = select(view, Filter())
        figure, options, notes = run_figures.scatter_parts(
            site, ref, view, within, ("on_chip_bytes", "time_us"), "fifo_depth", view.best, LIGHT
        )
        others = [
            run_figures.heatmap_figure(view, within, ("fifo_depth", "sync_period"), "median", view.best, LIGHT),
            run_figures.importance_parts(view, stored_run.strategy != "exhaustive", within, LIGHT)[0],
            run_figures.refusals_of(view, Filter(), LIGHT),
        ]
        for one in (figure, *others):
            assert len(one.to_json()) < 200_000
        assert {"time_us", "on_chip_bytes"} <= {o["value"] for o in options}
        if ref == 1:
            assert "Flag ids used, 6 in all" in str(notes[-1].children)


def test_a_selection_moves_the_marks_only(site: Site) -> None:
    _, view = stored(site)
    patches = run_figures.marks(
        site, 1, view, Filter(), ("on_chip_bytes", "time_us"), ("fifo_depth", "sync_period"), view.best, LIGHT
    )
    for patch in patches:
        places = {json.dumps(op["location"][:2]) for op in patch.to_plotly_json()["operations"]}
        assert places <= {'["data", 0]', '["layout", "shapes"]'}


def test_the_selected_configuration_is_described(site: Site) -> None:
    stored_run, view = stored(site)
    text = json.dumps(run_parts.side(stored_run, view, view.best), default=_plain)
    assert f"/runs/1/configurations/{int(view.rows[view.best])}" in text
    refused = int(np.flatnonzero(~view.ok)[0])
    assert view.rule_names[int(view.rule[refused])] in json.dumps(
        run_parts.side(stored_run, view, refused), default=_plain
    )
    assert "Click a point" in json.dumps(run_parts.side(stored_run, view, None), default=_plain)


def test_remedies_give_the_rule_its_change_and_the_sentence_of_an_example(site: Site) -> None:
    stored_run, view = stored(site)
    text = json.dumps(run_parts.remedies(site, stored_run, view, select(view, Filter())), default=_plain)
    assert "fifo_depth 1 \\u2192 4" in text
    assert ": " in text
    ok = select(view, Filter.from_query({"verdict": "ok"}))
    assert "is ok" in json.dumps(run_parts.remedies(site, stored_run, view, ok), default=_plain)
    sampled, few = stored(site, 2)
    assert "The run is a sample" in json.dumps(
        run_parts.remedies(site, sampled, few, select(few, Filter())), default=_plain
    )


def test_what_a_search_passes_over_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pto_tune.search.strategies.EXHAUSTIVE_LIMIT", 3)
    domains = {**DOMAINS, "cube_s1": [64, 256], "tile_s1": [64], "fifo_depth": [8], "sync_period": [0]}
    with open_store(f"sqlite:///{tmp_path / 'runs.db'}") as store:
        found = tune("flash_attention", problem={"s0": 256, "s1": 256}, store=store, domains=domains,
                     strategy="exhaustive")  # fmt: skip
        site = Site(store)
        stored_run, view = stored(site)
        text = json.dumps(run_parts.remedies(site, stored_run, view, select(view, Filter())), default=_plain)
        site.close()
    assert (found.n_evaluated, sum(found.counts["refused"].values())) == (4, 4)
    assert "is ok. 4 that static rules refuse are counted and not kept." in text


def test_the_version_changes_with_what_there_is_to_show(site: Site) -> None:
    assert run_callbacks.version_of(site.views.run(1)) != run_callbacks.version_of(site.views.run(2))


def test_a_click_on_a_cell_is_its_fastest_of_what_passes_the_filter(make_view: MakeView) -> None:
    view, pair = make_view(), ("fifo_depth", "sync_period")
    click = {"points": [{"x": 1, "y": 1, "z": 9.0}]}
    assert run_figures.cell_row(view, np.arange(6), pair, click) == 11
    assert run_figures.cell_row(view, np.array([0, 2, 3]), pair, click) == 12
    assert run_figures.cell_row(view, np.arange(6), pair, {"points": [{"x": 2, "y": 0}]}) is None
    assert run_figures.cell_row(view, np.arange(6), None, click) is None
    assert run_figures.cell_row(view, np.arange(6), pair, None) is None
