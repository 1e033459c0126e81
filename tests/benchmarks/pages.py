"""How fast the pages are over a run of a million configurations: `python tests/benchmarks/pages.py [STORE.db]`.

Makes the store where the file is not there, starts a server of its own and a browser without anything cached, and
prints each figure with its limit. Needs chromium and what `pip install -e '.[dev]'` brings.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "dashboards" / "browser"))

from browser_tools import Server, start_server

ROWS = 1_000_000
# A space that is stored row by row: refused rows of larger ones are counted, not kept.
DOMAINS = {
    "cube_s0": [64, 128],
    "cube_s1": [64, 128],
    "tile_s1": [64, 128, 256, 512],
    "qk_preload": list(range(1, 11)),
    "fifo_depth": list(range(1, 26)),
    "sync_period": [0, 1, 2, 4, 8],
    "split": ["NO_SPLIT", "UP_DOWN"],
    "pv_fifo_depth": list(range(25)),
}
SWEEP_DOMAINS = {"qk_preload": list(range(1, 9)), "fifo_depth": list(range(1, 17)), "sync_period": [0, 1, 2, 4, 8]}
READY = "document.querySelectorAll('#run-scatter .main-svg').length > 0"
ROWS_SHOWN = "document.querySelectorAll('#run-grid .ag-row [col-id=time_us]').length > 3"


def fill(path: Path) -> None:
    """A store with one run of a million configurations."""
    from pto_tune.tuning import tune

    began = time.monotonic()
    tune("flash_attention", problem={"s0": 2048, "s1": 2048}, domains=DOMAINS, strategy="exhaustive", budget=ROWS,
         store=f"sqlite:///{path}", name="million")  # fmt: skip
    print(f"made {path} in {time.monotonic() - began:.0f} s, {path.stat().st_size / 1e6:.0f} MB")


class Watch:
    """All questions and answers that carry data."""

    QUIET_S = 0.4
    """A page that asks nothing for so long has all that it wants."""

    def __init__(self, page: Any) -> None:
        self._page = page
        self._seen: list[Any] = []
        self._open = 0
        self._last = time.monotonic()
        page.on("request", lambda r: self._count(r, 1))
        page.on("requestfinished", lambda r: self._count(r, -1))
        page.on("requestfailed", lambda r: self._count(r, -1))
        page.on("response", lambda r: self._seen.append(r) if "_dash-update-component" in r.url else None)

    def _count(self, request: Any, step: int) -> None:
        if "_dash-update-component" in request.url:
            self._open += step
            self._last = time.monotonic()

    def settled(self) -> float:
        """Wait until the page has all its answers; when the last of them came. The browser's own notion of an idle
        network holds for the loading of a page, once."""
        while self._open or time.monotonic() - self._last < self.QUIET_S:
            self._page.wait_for_timeout(20)
        return self._last

    def largest_mb(self) -> float:
        """The largest of them, unpacked."""
        return max(len(r.body()) for r in self._seen if r.status == 200) / 1e6


def report(what: str, value: float, limit: float, unit: str = "s") -> None:
    print(f"{what:<64} {value:8.2f} {unit:<3} limit {limit:g} {unit}  {'met' if value <= limit else 'MISSED'}")


def main() -> None:
    from playwright.sync_api import sync_playwright

    path = Path(sys.argv[1] if len(sys.argv) > 1 else "pages-bench.db").resolve()
    if not path.exists():
        fill(path)
    versions = ", ".join(f"{name} {version(name)}" for name in ("dash", "plotly", "dash-ag-grid", "numpy"))
    print(f"{len(os.sched_getaffinity(0))} cores, Python {platform.python_version()}, {versions}")
    browser_path = shutil.which("chromium") or "chromium"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        began = time.monotonic()
        server = start_server(f"sqlite:///{path}", "--allow-runs")
        try:
            measure(browser, page, server, began)
        finally:
            server.stop()
            browser.close()


def measure(browser: Any, page: Any, server: Server, began: float) -> None:
    page.goto(server.url + "/")
    page.wait_for_selector("#runs-grid .ag-row")
    report("server start to first page with its rows", time.monotonic() - began, 2.0)
    page.close()

    for words in ("server just started", "server up for a while"):
        time.sleep(0 if words.endswith("started") else 5)
        page = browser.new_context(viewport={"width": 1440, "height": 900}).new_page()
        watch = Watch(page)
        began = time.monotonic()
        page.goto(server.url + "/runs/1")
        page.wait_for_function(READY)
        page.wait_for_function(ROWS_SHOWN)
        report(f"run page, cold browser, {words}: figure and first rows", time.monotonic() - began, 4.0)
        print(f"  last answer after {watch.settled() - began:.2f} s")
    for low in (60, 80):
        count = page.locator("#run-count").inner_text()
        began = time.monotonic()
        page.locator("#run-time-max").fill(str(low))
        page.keyboard.press("Enter")
        page.wait_for_function("(old) => document.querySelector('#run-count').innerText !== old", arg=count)
        report(f"filter time <= {low} us to the last answer", watch.settled() - began, 1.5)
    report("largest payload of data, unpacked", watch.largest_mb(), 3.0, "MB")

    href = page.evaluate("(async () => (await fetch('/api/v1/runs/1')).json())()")
    best = href["best_row"]
    page.goto(f"{server.url}/runs/1/configurations/{best}")
    page.wait_for_selector("#cfg-timeline .main-svg")
    page.wait_for_load_state("networkidle")
    what_if(page)
    page.close()
    sweep(browser, server)


def what_if(page: Any) -> None:
    """A tunable is changed; until the new timeline is drawn."""
    times = []
    for _ in range(4):
        page.locator("[id*=cfg-tunable][id*=qk_preload]").first.click()
        option = page.locator("[role=option][aria-selected=false]").first
        option.wait_for()
        before = page.locator("#cfg-timeline").inner_html()
        began = time.monotonic()
        option.click()
        page.wait_for_function("(old) => document.querySelector('#cfg-timeline').innerHTML !== old", arg=before)
        times.append(time.monotonic() - began)
        page.wait_for_load_state("networkidle")
    report("what-if change to new timeline, median of four", sorted(times)[1], 0.5)


def sweep(browser: Any, server: Server) -> None:
    """A sweep is started, watched and stopped through the API that the pages use."""
    page = browser.new_page()
    page.goto(server.url + "/")
    wish = {"workload": "flash_attention", "platform": "ascend910b2", "problem": {"s0": 8192, "s1": 8192},
            "domains": SWEEP_DOMAINS}  # fmt: skip
    run = page.evaluate(
        "async (wish) => (await fetch('/api/v1/runs', {method: 'POST', headers: {'content-type': 'application/json'},"
        " body: JSON.stringify(wish)})).json()",
        wish,
    )
    ask = f"(async () => (await fetch('/api/v1/runs/{run['id']}/progress')).json())()"
    moves, last, moved = [], -1, time.monotonic()
    while True:
        now = page.evaluate(ask)
        if now["done"] != last:
            moves.append(time.monotonic() - moved)
            last, moved = now["done"], time.monotonic()
        if now["state"] != "running" or last >= 100_000:
            break
        time.sleep(0.05)
    report(f"sweep of {now['total']:,}: longest time without progress", max(moves), 1.0)
    page.close()


if __name__ == "__main__":
    main()
