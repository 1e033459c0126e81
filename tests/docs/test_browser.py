"""The pages in a browser: nothing from another host, figures in both colours, a search that works without a network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser_tools import NARROW, WIDE, Tab

PAGES = (
    "index", "concepts", "pipes", "accuracy", "commands", "python", "http-api", "rule-sets", "add-workload", "glossary",
    "platforms/index", "platforms/ascend910b2", "workloads/flash_attention", "model", "start",
)  # fmt: skip
FORMS = {"wide-light": (WIDE, "light"), "narrow-dark": (NARROW, "dark")}


@pytest.fixture(params=sorted(FORMS))
def tab(request: pytest.FixtureRequest, browser: Any, served: str) -> Iterator[Tab]:
    """A tab on the site; nothing may have gone wrong on it by the end of the test."""
    size, theme = FORMS[request.param]
    found = Tab(browser, served, size, theme)
    yield found
    found.context.close()
    assert found.wrong == []


def test_no_page_asks_another_host_or_is_wider_than_the_window(tab: Tab) -> None:
    for name in PAGES:
        tab.open(f"/{name}.html")
        assert tab.overflow_px() == 0, name


def test_every_figure_is_drawn_in_the_colours_of_the_page(tab: Tab) -> None:
    page = tab.open("/concepts.html")
    places = page.locator(".pto-plot")
    dark = page.evaluate("document.body.dataset.mdColorScheme") == "slate"
    assert places.count() >= 8
    for i in range(places.count()):
        places.nth(i).scroll_into_view_if_needed()
        page.locator(f'.pto-plot[data-drawn="{"dark" if dark else "light"}"]').nth(i).wait_for()
        assert places.nth(i).locator("svg.main-svg").count() >= 1


def test_a_figure_follows_the_page_when_its_colours_change(browser: Any, served: str) -> None:
    tab = Tab(browser, served)
    page = tab.open("/accuracy.html")
    page.locator('.pto-plot[data-drawn="light"]').wait_for()
    for _ in range(3):  # system, light, dark
        if page.evaluate("document.body.dataset.mdColorScheme") == "slate":
            break
        page.locator("form[data-md-component=palette] label:visible").click()
    page.locator('.pto-plot[data-drawn="dark"]').wait_for()
    tab.context.close()
    assert tab.wrong == []


@pytest.mark.parametrize("opened", ["by a server", "as a file"])
def test_the_search_finds_what_is_looked_for(opened: str, browser: Any, served: str, site: Path) -> None:
    tab = Tab(browser, served if opened == "by a server" else site.as_uri())
    page = tab.open("/index.html")
    page.locator("input.md-search__input").click()
    page.keyboard.type("SyncPeriod credit")
    page.locator(".md-search-result__item").first.wait_for()
    assert "Concepts" in page.locator(".md-search-result__list").inner_text()
    tab.context.close()
    # the frame that stands in for a worker is an empty page
    assert [line for line in tab.wrong if "about:blank" not in line] == []


@pytest.mark.parametrize("name", ["index", "concepts", "commands", "platforms/ascend910b2"])
def test_what_axe_finds_serious(name: str, tab: Tab) -> None:
    tab.open(f"/{name}.html")
    assert tab.axe() == []
