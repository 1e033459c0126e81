"""The page of one configuration: its layout and what its callbacks answer, without a browser."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextvars import copy_context
from typing import Any

import numpy as np
import pytest
from page_calls import calls_of

from dashboards.exports import FORMATS, Format, format_named
from dashboards.pages.configuration import files, parts, text, work
from dashboards.pages.configuration.page import PAGE
from dashboards.site.page import place
from dashboards.site.state import Site
from db import open_store
from pto_tune.cli import chosen, stored
from pto_tune.tuning import tune

NAME = 'a <b>"run"</b> 管道 🚀'
DOMAINS: dict[str, Any] = {
    "cube_s0": [64, 128],
    "cube_s1": [128],
    "tile_s1": [128],
    "qk_preload": [2, 4],
    "fifo_depth": [1, 4, 8],
    "sync_period": [0, 1],
    "split": ["UP_DOWN", "NO_SPLIT"],
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site over a store with a run of flash attention and one between ranks."""
    with open_store(f"sqlite:///{tmp_path_factory.mktemp('configuration') / 'runs.db'}") as store:
        tune("flash_attention", problem={"s0": 256, "s1": 1024}, domains=DOMAINS, store=store, name=NAME)
        tune("tput_pingpong", problem={"bytes": 65536, "rounds": 1}, domains={"blocks": [1, 2]}, store=store, budget=64)
        tune("stream", domains={"fifo_depth": [5], "sync_period": [3]}, store=store, name="unsafe")
        found = Site(store)
        yield found
        found.close()


@pytest.fixture(scope="module")
def calls(site: Site) -> dict[str, Callable[..., Any]]:
    """The page's callbacks by name."""
    return calls_of(PAGE, site)


def row_with(site: Site, verdict: str) -> int:
    """A row of the first run with this verdict."""
    view = site.views.view(1)
    return int(view.rows[np.flatnonzero(view.verdict == list(view.verdict_names).index(verdict))[0]])


def best(site: Site) -> work.Stored:
    """The best configuration of the first run."""
    view = site.views.view(1)
    assert view.best is not None
    return work.stored(site, "1", str(view.rows[view.best]))


def page(site: Site, row: int, query: str = "", run: str = "1") -> str:
    """The page as the browser gets it."""
    from plotly.utils import PlotlyJSONEncoder

    children = PAGE.layout(site, place({"run": run, "row": str(row)}, query))
    return json.dumps(children, cls=PlotlyJSONEncoder, ensure_ascii=False)


def called(function: Callable[..., Any], by: list[str], *values: Any) -> Any:
    """A callback as if the properties `by` had changed."""
    from dash._callback_context import context_value
    from dash._utils import AttributeDict

    def run() -> Any:
        context_value.set(AttributeDict(triggered_inputs=[{"prop_id": prop, "value": None} for prop in by]))
        return function(*values)

    return copy_context().run(run)


def draw(
    calls: dict[str, Callable[..., Any]], of: work.Stored, changes: dict[str, Any], by: str = "theme.data",
    moved: Any = None, other: tuple[str, str] = ("", ""), shown: Any = None,
) -> tuple[Any, ...]:  # fmt: skip
    """What the page shows after a change."""
    names = [t.name for t in of.problem.workload.tunables]  # type: ignore[union-attr]
    now = {n: v for n, (v, _) in parts.controls_values(of, {}).items()} | changes
    ids = [{"type": "cfg-tunable", "name": n} for n in names]
    where = {"run": of.run.id, "row": of.row}
    values = [now[n] for n in names]
    out: tuple[Any, ...] = called(
        calls["draw"], [by], values, 1, 1, moved, 1, None, "light", *other, ids, {}, shown, where
    )
    return out


def test_the_page_says_what_is_stored_and_where_to_go(site: Site) -> None:
    of = best(site)
    shown = page(site, of.row)
    assert json.dumps(NAME, ensure_ascii=False) in shown
    assert f"Configuration {of.row}" in shown
    assert f"1 of {len(of.view.ranked)} ok" in shown
    second = int(of.view.rows[of.view.ranked[1]])
    assert f'"/runs/1/configurations/{second}"' in shown


@pytest.mark.parametrize(
    ("row", "words"), [("99999", "no configuration with the row 99999"), ("x", "is no row of run")]
)
def test_an_unknown_row_is_told(site: Site, row: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        PAGE.layout(site, place({"run": "1", "row": row}, ""))


def test_the_state_comes_from_the_address(site: Site) -> None:
    shown = page(site, best(site).row, "?set=fifo_depth:16,split:NO_SPLIT&from=1.5&to=4&fifo=p")
    assert '"data": {"fifo_depth": 16, "split": "NO_SPLIT"}, "id": "cfg-set"' in shown or (
        '"id": "cfg-set", "data": {"fifo_depth": 16, "split": "NO_SPLIT"}' in shown
    )
    assert '{"from": 1.5, "to": 4.0}' in shown


def test_a_wrong_change_in_the_address_is_left_out_and_told(site: Site) -> None:
    shown = page(site, best(site).row, "?set=fifo_dept:4")
    assert "did you mean 'fifo_depth'?" in shown
    assert "left out" in shown


def test_a_change_gives_the_time_that_the_run_has_stored_for_it(site: Site, calls: dict[str, Any]) -> None:
    of = best(site)
    other = next(n for n in work.neighbours(of) if n.time_us is not None)
    out = draw(calls, of, {other.tunable: other.value})
    assert out[0] == {other.tunable: other.value}
    answer = json.dumps(_plain(out[4]), ensure_ascii=False)
    assert f"/configurations/{other.row}" in answer
    explanation = work.explained(of, {other.tunable: other.value})
    assert float(explanation.evaluation.time_us[0]) == pytest.approx(other.time_us)
    assert out[5]["layout"]["xaxis"]["range"][1] == pytest.approx(
        explanation.block.cycles / explanation.problem.clock_mhz
    )


def _plain(component: Any) -> Any:
    from plotly.utils import PlotlyJSONEncoder

    return json.loads(json.dumps(component, cls=PlotlyJSONEncoder))


def test_nothing_changed_is_said(site: Site, calls: dict[str, Any]) -> None:
    out = draw(calls, best(site), {})
    assert "Nothing is changed" in json.dumps(_plain(out[4]))
    assert out[3] is True


def test_another_value_than_those_of_the_menus_may_be_set(site: Site, calls: dict[str, Any]) -> None:
    of = best(site)
    names = [t.name for t in of.problem.workload.tunables]  # type: ignore[union-attr]
    out = draw(calls, of, {}, "cfg-other-set.n_clicks", other=("fifo_depth", " 10 "))
    assert out[0] == {"fifo_depth": 10}
    assert out[1][names.index("fifo_depth")] == 10
    assert {"label": "10", "value": 10} in out[2][names.index("fifo_depth")]


@pytest.mark.parametrize(
    ("value", "words"), [("many", "'many' is not a value"), (" ", "is not a value"), ("0", "out of range")]
)
def test_what_is_no_value_of_the_tunable_is_told(
    site: Site, monkeypatch: pytest.MonkeyPatch, value: str, words: str
) -> None:
    import dash

    told: list[str] = []
    fresh: dict[str, Callable[..., Any]] = {}
    monkeypatch.setattr(dash, "set_props", lambda _, props: told.append(props["data"]))
    PAGE.callbacks(lambda *_, **__: lambda f: fresh.setdefault(f.__name__, f), site)  # type: ignore[arg-type]
    out = draw(fresh, best(site), {}, "cfg-other-set.n_clicks", other=("fifo_depth", value))
    assert len(out) == 10
    assert {id(part) for part in (*out[1], *out[2], *out[3:], out[0])} == {id(dash.no_update)}
    assert len(told) == 1
    assert told[0].startswith("fifo_depth")
    assert words in told[0]


def test_reset_goes_back_to_what_is_stored(site: Site, calls: dict[str, Any]) -> None:
    of = best(site)
    out = draw(calls, of, {"fifo_depth": 16}, "cfg-reset.n_clicks")
    assert out[1] == [v for v, _ in parts.controls_values(of, {}).values()]
    assert out[3] is True


def test_zooming_draws_the_stretch_and_computes_nothing_else(site: Site, calls: dict[str, Any]) -> None:
    from dash import no_update

    out = draw(calls, best(site), {}, "cfg-timeline.relayoutData", {"xaxis.range[0]": 1.0, "xaxis.range[1]": 2.5})
    assert out[7] == {"from": 1.0, "to": 2.5}
    assert out[5]["layout"]["xaxis"]["range"] == pytest.approx([1.0, 2.5], abs=1e-3)
    assert out[9] is no_update


@pytest.mark.parametrize(
    ("moved", "found"),
    [
        ({"autosize": True}, (False, None)),
        (None, (False, None)),
        ({"xaxis.autorange": True}, (True, None)),
        ({"xaxis.range": [-1, 3]}, (True, {"from": 0.0, "to": 3.0})),
        ({"xaxis.range[0]": 5, "xaxis.range[1]": 5}, (False, None)),
        ({"xaxis.range[0]": "a", "xaxis.range[1]": 5}, (False, None)),
    ],
)
def test_what_a_figure_says_about_zooming(moved: Any, found: Any) -> None:
    assert text.stretch(moved) == found


def test_nothing_is_done_before_the_theme_is_known(calls: dict[str, Any]) -> None:
    from dash.exceptions import PreventUpdate

    with pytest.raises(PreventUpdate):
        called(calls["draw"], [], [], 0, 0, None, 0, None, None, "", "", [], {}, None, {"run": 1, "row": 0})


@pytest.mark.parametrize("verdict", ["hang", "refused"])
def test_what_never_ends_has_a_reason_and_no_timeline(site: Site, calls: dict[str, Any], verdict: str) -> None:
    stored_one = verdict in _verdicts(site)
    of = work.stored(site, "1", str(row_with(site, verdict))) if stored_one else best(site)
    changes: dict[str, Any] = {} if stored_one else {"cube_s0": 512}
    explanation = work.explained(of, changes)
    assert not explanation.timed
    out = draw(calls, of, changes)
    assert "No timeline" in _plain(out[5])["layout"]["annotations"][0]["text"]
    words = json.dumps(_plain(parts.wrong(explanation)), ensure_ascii=False)
    assert json.dumps(explanation.evaluation.reason(0), ensure_ascii=False)[1:-1] in words
    assert "No export" in json.dumps(_plain(parts.export(of, changes, explanation)))


def _verdicts(site: Site) -> set[str]:
    view = site.views.view(1)
    return {view.verdict_names[v] for v in np.unique(view.verdict)}


def test_an_unsafe_one_is_warned_of_and_not_exported(site: Site) -> None:
    view = site.views.view(3)
    assert {view.verdict_names[v] for v in view.verdict} == {"overwrite"}
    of = work.stored(site, "3", str(view.rows[0]))
    unsafe = work.explained(of, {})
    words = json.dumps(_plain(parts.wrong(unsafe)))
    assert "It is unsafe" in words
    assert "rule slot-reuse, first at tile" in words
    assert "No export" in json.dumps(_plain(parts.export(of, {}, unsafe)))


def test_an_ok_one_is_exported_with_a_copy_button_and_a_download(site: Site) -> None:
    of = best(site)
    shown = json.dumps(_plain(parts.export(of, {}, work.explained(of, {}))))
    assert "Clipboard" in shown
    assert f"/api/v1/runs/1/configurations/{of.row}/export/header" in shown


def test_the_header_is_that_of_the_command(site: Site) -> None:
    of = best(site)
    run = site.store.find_run(1)
    entry = stored.entry_of(site.store, run, of.row)
    made = format_named("header").render(chosen.recommendation(run, entry, chosen.Pick()))
    shown = json.dumps(_plain(parts.export(of, {}, work.explained(of, {}))), ensure_ascii=False)
    assert json.dumps(made, ensure_ascii=False) in shown


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.key)
def test_the_chosen_format_is_shown_or_its_refusal(site: Site, form: Format) -> None:
    of = best(site)
    shown = json.dumps(_plain(parts.export(of, {}, work.explained(of, {}), form.key)), ensure_ascii=False)
    if "Clipboard" in shown:
        assert f"/api/v1/runs/1/configurations/{of.row}/export/{form.key}" in shown
        assert form.title in shown
        assert json.dumps(form.lacks, ensure_ascii=False) in shown
    else:
        assert "cannot express" in shown


def test_a_format_that_is_not_there_is_told_with_those_that_are(site: Site) -> None:
    of = best(site)
    assert "choose one of header" in json.dumps(_plain(parts.export(of, {}, work.explained(of, {}), "pdf")))


def test_a_changed_one_outside_the_run_is_downloaded_from_the_page_itself(site: Site) -> None:
    of = best(site)
    changes: dict[str, Any] = {"fifo_depth": 16}
    assert of.row_of(changes) is None
    shown = json.dumps(_plain(parts.export(of, changes, work.explained(of, changes))))
    assert "data:text/x-c++hdr" in shown


def test_neighbours_differ_in_one_tunable_each(site: Site) -> None:
    of = best(site)
    own = of.view.configuration(of.position)
    found = work.neighbours(of)
    assert len(found) == sum(len(domain) - 1 for _, domain in of.view.tunables)
    for n in found:
        at = int(np.flatnonzero(of.view.rows == n.row)[0])
        other = of.view.configuration(at)
        assert [name for name in own if own[name] != other[name]] == [n.tunable]
        assert other[n.tunable] == n.value


def test_how_sure_it_is(site: Site, calls: dict[str, Any]) -> None:
    of = best(site)
    body, beside, style = called(calls["sure"], ["cfg-drawn.data"], {"set": {}}, 0, None, {}, {"run": 1, "row": of.row})
    words = json.dumps(_plain(body), ensure_ascii=False)
    assert "90 % interval" in words
    assert work.explained(of, {}).leans_on[0].key in words
    assert " to " in beside
    assert style == {"display": "none"}


@pytest.mark.parametrize("what", ["causes", "path", "bounds", "timeline", "fifo", "leans", "neighbours"])
def test_every_part_has_its_data(site: Site, what: str) -> None:
    of = best(site)
    lines = files.lines_of(what, of, [("stored", work.explained(of, {}))], None, None)
    assert len(lines) > 1
    assert all(len(line) == len(lines[0]) for line in lines)


def test_a_text_is_no_formula_in_a_spreadsheet() -> None:
    assert files.text_of([("a", -1), ("=1+1", 'x,"y')]) == 'a,-1\n\'=1+1,"x,""y"\n'


def test_a_workload_with_ranks_has_blocks_to_choose_from(site: Site) -> None:
    view = site.views.view(2)
    assert view.best is not None
    of = work.stored(site, "2", str(view.rows[view.best]))
    now = work.explained(of, {})
    run = now.evaluation.runs[0]
    assert len(text.blocks(now)) == run.ranks * run.blocks
    assert "no critical path" in json.dumps(_plain(text.causes_note(now)))
    assert "time-ordered" in text.no_fifos(now)


def test_changes_go_into_the_address_and_back() -> None:
    changes: dict[str, Any] = {"fifo_depth": 4, "split": "UP_DOWN"}
    assert work.parse_changes(work.format_changes(changes)) == {"fifo_depth": "4", "split": "UP_DOWN"}
    assert work.parse_changes("nothing") == {}


@pytest.mark.parametrize(
    ("new", "old", "words"),
    [(5.0, 10.0, "5.000 µs faster (50 %)"), (12.0, 10.0, "2.000 µs slower (20 %)"), (1.0, 1.0, "the same"),
     (1.0, None, "the stored one has no time")],
)  # fmt: skip
def test_a_difference_in_words(new: float, old: float | None, words: str) -> None:
    assert parts.difference(new, old) == words


def test_a_run_of_other_numbers_shows_what_is_stored(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    def outdated(_: object) -> None:
        raise ValueError("the numbers have changed")

    monkeypatch.setattr(site.views, "search", outdated)
    shown = page(site, best(site).row)
    assert "Only what is stored can be shown: the numbers have changed." in shown
    assert "cfg-timeline" not in shown
    assert "One step away" in shown
