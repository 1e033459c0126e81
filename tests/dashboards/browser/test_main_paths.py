"""The main path through the pages, as a user goes it, with deep links."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from browser_tools import wait_until


def get(tab: Any, path: str) -> Any:
    """JSON of the API."""
    answer = tab.context.request.get(tab.base + path)
    assert answer.ok, answer.text()
    return answer.json()


def test_from_a_run_to_a_configuration_to_its_header(tab: Any) -> None:
    page = tab.open("/")
    page.get_by_role("link", name="attention", exact=True).click()
    page.wait_for_url("**/runs/1*")
    page.locator("#run-scatter .main-svg").first.wait_for()
    page.locator("#run-best").click()
    page.locator("#run-side").get_by_role("link").first.click()
    page.wait_for_url("**/configurations/*")
    page.locator("#cfg-timeline .main-svg").first.wait_for()
    page.locator("#cfg-export pre").first.wait_for()
    assert "FifoDepth" in page.locator("#cfg-export").inner_text()


def test_what_if_changes_the_time_and_the_address(tab: Any) -> None:
    best = get(tab, "/api/v1/runs/1")["best_row"]
    page = tab.open(f"/runs/1/configurations/{best}")
    page.locator("#cfg-timeline .main-svg").first.wait_for()
    before = page.locator("#cfg-answer").inner_text()
    page.locator("[id*=cfg-tunable][id*=qk_preload]").first.click()
    options = page.locator("[role=option]")
    options.first.wait_for()
    page.locator("[role=option][aria-selected=false]").first.click()
    page.wait_for_function("(old) => document.querySelector('#cfg-answer').innerText !== old", arg=before)
    page.wait_for_function("location.search.includes('set=')")
    after = page.locator("#cfg-answer").inner_text()
    address = page.url
    tab.settle()
    page.goto(address)
    page.wait_for_function("(text) => document.querySelector('#cfg-answer')?.innerText === text", arg=after)


def test_a_filter_is_in_the_address_and_in_the_download(tab: Any) -> None:
    page = tab.open("/runs/1?fifo_depth=4")
    page.locator("#run-scatter .main-svg").first.wait_for()
    tab.settle()
    link = page.locator("a[href*='results.csv']").first
    with page.expect_download() as download:
        link.click()
    lines = Path(download.value.path()).read_text("utf-8").splitlines()
    names = lines[0].split(",")
    assert {line.split(",")[names.index("fifo_depth")] for line in lines[1:]} == {"4"}


def test_the_table_opens_a_configuration(tab: Any) -> None:
    page = tab.open("/runs/1")
    row = page.locator("#run-grid .ag-row").first
    row.wait_for()
    row.get_by_role("link").first.click()
    page.wait_for_url("**/runs/1/configurations/*")


def test_compare_two_runs(tab: Any) -> None:
    page = tab.open("/compare?runs=1,2")
    page.wait_for_function("!document.body.innerText.includes('Computing …')")
    text = page.locator("main").inner_text()
    assert "attention" in text
    assert "µs" in text


def test_a_sweep_is_started_watched_and_stopped(tab: Any) -> None:
    page = tab.open(
        "/new?workload=flash_attention&platform=ascend910b2&s.s0=8192&s.s1=8192&name=watched"
        "&d.fifo_depth=1-16&d.qk_preload=1-12&d.pv_fifo_depth=0-16"
    )
    page.wait_for_function("!document.body.innerText.includes('Counting …')")
    page.get_by_role("button", name="Start").click()
    page.wait_for_url("**/runs/*")
    stop = page.get_by_role("button", name="Stop")
    stop.wait_for()
    number = int(page.url.split("/runs/")[1].split("?")[0])
    progress = f"/api/v1/runs/{number}/progress"
    wait_until(lambda: get(tab, progress)["done"] > 0, 60)
    stop.click()
    wait_until(lambda: get(tab, progress)["state"] != "running", 60)
    run = get(tab, f"/api/v1/runs/{number}")
    assert run["state"] == "stopped", json.dumps(run)[:400]
    assert run["n_evaluated"] > 0
    tab.settle()
