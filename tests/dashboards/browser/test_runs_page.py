"""The page of all runs, and what all pages have in common."""

from __future__ import annotations

from typing import Any

from browser_tools import ODD_NAME


def test_lists_all_runs_with_odd_names_as_text(tab: Any) -> None:
    page = tab.open("/")
    assert page.title() == "Runs – pto-tune"
    assert page.get_by_role("link", name="attention", exact=True).is_visible()
    assert page.get_by_role("link", name=ODD_NAME).is_visible()
    assert page.locator("b").count() == 0


def test_click_opens_a_run_and_back_returns(tab: Any) -> None:
    page = tab.open("/")
    page.get_by_role("link", name="attention", exact=True).click()
    page.wait_for_url("**/runs/1")
    tab.settle()
    page.go_back()
    page.wait_for_url(tab.base + "/")
    page.get_by_role("link", name="attention", exact=True).wait_for()


def test_two_ticked_runs_can_be_compared(tab: Any) -> None:
    page = tab.open("/")
    boxes = page.locator("#runs-grid .ag-center-cols-container, #runs-grid .ag-pinned-left-cols-container").locator(
        "input[type=checkbox]"
    )
    boxes.nth(0).check()
    boxes.nth(1).check()
    link = page.get_by_role("link", name="Compare 2")
    link.wait_for()
    assert "runs=" in link.get_attribute("href")


def test_the_theme_is_kept(tab: Any) -> None:
    page = tab.open("/")
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    page.get_by_role("button", name="Theme").click()
    assert page.evaluate(background) != light
    page.reload()
    tab.settle()
    assert page.evaluate(background) != light


def test_an_unknown_address_says_so(tab: Any) -> None:
    page = tab.open("/no/such/page")
    assert page.get_by_role("heading", name="No such page").is_visible()
    page = tab.open("/runs/99")
    assert "99" in page.locator("main").inner_text()


def test_narrow(narrow: Any) -> None:
    narrow.open("/")
    assert narrow.overflow_px() <= 0


def test_empty_store_says_what_to_do(empty_tab: Any) -> None:
    page = empty_tab.open("/")
    assert "pto-tune tune" in page.locator("pre").inner_text()
    assert "--allow-runs" in page.locator("main").inner_text()
    assert empty_tab.axe() == []


def test_axe(tab: Any, narrow: Any) -> None:
    tab.open("/")
    assert tab.axe() == []
    narrow.open("/")
    assert narrow.axe() == []
