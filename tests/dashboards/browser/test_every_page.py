"""What holds for every page: it opens without an error and without another host, fits a phone, and axe finds nothing
serious, in both themes; and what an empty store and a run without legal configurations look like."""

from __future__ import annotations

from typing import Any

import pytest

PAGES = {
    "runs": "/",
    "run": "/runs/1",
    "run with an odd name": "/runs/2",
    "run without a legal configuration": "/runs/3",
    "configuration": "/runs/1/configurations/{best}",
    "refused configuration": "/runs/3/configurations/0",
    "compare": "/compare?runs=1,2",
    "accuracy": "/accuracy",
    "links": "/links",
    "new run": "/new",
    "API": "/api/v1/docs",
}
of_every_page = pytest.mark.parametrize("path", PAGES.values(), ids=PAGES.keys())
WAITS = ("Computing …", "Counting …", "Loading …")


def full(tab: Any, path: str) -> Any:
    """Open a page and wait until everything that it computes is there."""
    if "{best}" in path:
        best = tab.context.request.get(f"{tab.base}/api/v1/runs/1").json()["best_row"]
        path = path.format(best=best)
    if path == "/accuracy":
        # it goes on for a while after its tables are there
        return tab.open(path, "#acc-cases .ag-row")
    page = tab.open(path)
    for text in WAITS:
        page.wait_for_function("(text) => !document.body.innerText.includes(text)", arg=text)
    tab.settle()
    return page


@of_every_page
def test_wide_and_light(tab: Any, path: str) -> None:
    page = full(tab, path)
    assert page.locator("h1").count() == 1
    assert tab.overflow_px() <= 0
    assert tab.axe() == []


@of_every_page
def test_narrow_and_dark(narrow: Any, path: str) -> None:
    full(narrow, path)
    assert narrow.overflow_px() <= 0
    assert narrow.axe() == []


@pytest.mark.parametrize("path", ["/", "/compare", "/accuracy", "/links", "/new"])
def test_an_empty_store(empty_tab: Any, path: str) -> None:
    page = full(empty_tab, path)
    assert page.locator("h1").count() == 1
    assert page.locator("main").inner_text().strip()


def test_a_run_without_a_legal_configuration_says_why(tab: Any) -> None:
    text = full(tab, "/runs/3").locator("main").inner_text()
    assert "refused" in text or "overwrite" in text


def test_an_odd_name_shows_as_text(tab: Any) -> None:
    from browser_tools import ODD_NAME

    page = full(tab, "/runs/2")
    assert page.locator("h1").inner_text() == ODD_NAME
    assert page.locator("main b").count() == 0
