"""Every callback hands its work to a thread, and what goes wrong in one is told on the page."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

import pytest

from dashboards.site.app import dash_app, pages
from dashboards.site.page import Page, address, place
from dashboards.site.shell import page_for
from dashboards.site.state import Site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    from db import open_store

    with open_store(f"sqlite:///{tmp_path_factory.mktemp('callbacks') / 'runs.db'}") as store:
        yield Site(store)


@pytest.fixture(scope="module")
def app(site: Site) -> Any:
    return dash_app(site)


def test_no_callback_runs_on_the_event_loop(app: Any) -> None:
    app._setup_server()
    found = {name: entry["callback"] for name, entry in app.callback_map.items() if "callback" in entry}
    assert len(found) > len(pages())
    # the library gives a coroutine a coroutine around it, and a plain function a plain one
    plain = [name for name, callback in found.items() if not inspect.iscoroutinefunction(callback)]
    assert plain == []


def test_every_page_has_a_path_and_a_title_of_its_own() -> None:
    found = pages()
    assert len({p.path for p in found}) == len({p.title for p in found}) == len(found)
    assert all(p.nav for p in found if "{" not in p.path)


def test_addresses_name_pages() -> None:
    page = Page("/runs/{run}/configurations/{row}", "C", lambda *_: None, lambda *_: None)
    path = address("runs", 'a/b "c"? 管道', "configurations", 3)
    assert page.match(path) == {"run": 'a/b "c"? 管道', "row": "3"}
    assert page.match("/runs/1") is None
    assert address("new", a=None, b="", c=[], d=[1, 2], e="x&y") == "/new?d=1%2C2&e=x%26y"


def test_places_read_what_they_can() -> None:
    found = place({}, "?n=12&m=x&list=a,,b&n=13&c=no")
    assert found.number("n") == 13
    assert found.number("m", 5) == 5
    assert found.names("list") == ["a", "b"]
    assert found.choice("c", ["yes"], "yes") == "yes"
    assert found.text("nope", "d") == "d"


def test_an_address_without_a_page_and_a_page_that_fails_say_so(site: Site) -> None:
    shown, title = page_for(site, pages(), "/no/such", "")
    assert title == "No such page"
    assert "/no/such" in str(shown)
    shown, _ = page_for(site, pages(), "/runs/99", "")
    assert "no runs yet" in str(shown)


def test_a_deep_link_as_the_first_request_loads_the_pages_own_scripts(site: Site) -> None:
    """The library lists them at the first request for its first page only."""
    from dash import get_app

    from dashboards.site.app import build

    build(site)
    text = get_app()._generate_scripts_html() + get_app()._generate_css_dist_html()
    assert "assets/site.js" in text
    assert "assets/site.css" in text
