"""A server over a small store, and a browser tab that notes every error of a page.

The browser is the system's chromium. Without one the tests are skipped, with CI=true they fail.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

WIDE = {"width": 1440, "height": 900}
NARROW = {"width": 390, "height": 844}
ODD_NAME = """<b>"quoted" & 'odd'</b> 管道 🚀 {x} %{y}"""


@dataclass
class Server:
    """A running `pto-tune serve`. `url` ends without a slash."""

    url: str
    process: subprocess.Popen[str]
    db: str

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(5)
        if self.process.stdout is not None:
            self.process.stdout.close()


def start_server(db: str, *options: str) -> Server:
    """A server over the store `db` on a free port."""
    command = [sys.executable, "-c", "from pto_tune.cli.main import main; main()"]
    process = subprocess.Popen(
        [*command, "serve", "--db", db, "--port", "0", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    line = process.stdout.readline()
    found = re.search(r"http://\S+", line)
    if found is None:
        process.kill()
        raise AssertionError(f"the server did not start: {line}{process.stdout.read()}")
    return Server(found[0].rstrip("/"), process, db)


def fill(db: str) -> None:
    """Runs of every kind: of a workload with many legal configurations, of one with an odd name, one without a legal
    configuration."""
    from pto_tune.tuning import tune

    sizes = {"s0": 512, "s1": 512}
    tune("flash_attention", problem=sizes, store=db, name="attention",
         domains={"tile_s1": [128, 256], "qk_preload": [1, 2, 4], "fifo_depth": [1, 2, 4, 8]})  # fmt: skip
    tune("flash_attention", problem=sizes, store=db, name=ODD_NAME, domains={"fifo_depth": [2, 4, 8]}, budget=300)
    tune("stream", store=db, name="nothing legal", domains={"fifo_depth": [5, 7], "sync_period": [3]})


def chromium() -> str:
    """The system's browser; the test is skipped, or fails with CI=true, where there is none."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name)
        if path is not None:
            return path
    if os.environ.get("CI") == "true":
        pytest.fail("no chromium is installed, and CI=true asks for the browser tests")
    pytest.skip("no chromium is installed")


class Tab:
    """A page of the browser with what went wrong on it. `page` is Playwright's."""

    def __init__(self, browser: Any, base: str, size: dict[str, int] = WIDE, theme: str = "light") -> None:
        self.base = base
        self.context = browser.new_context(viewport=size, color_scheme=theme, accept_downloads=True)
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.wrong: list[str] = []
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda e: self.wrong.append(f"page error: {e}"))
        self.page.on("requestfailed", self._failed)
        self.page.on("request", self._asked)

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.wrong.append(f"console {message.type}: {message.text}")

    def _failed(self, request: Any) -> None:
        # a request that the page itself gives up because the next one is on its way
        if request.failure != "net::ERR_ABORTED":
            self.wrong.append(f"failed: {request.url} {request.failure}")

    def _asked(self, request: Any) -> None:
        if not request.url.startswith((self.base, "data:", "blob:")):
            self.wrong.append(f"asks another host: {request.url}")

    def open(self, path: str = "/", ready: str = "") -> Any:
        """Go to a page of the server and wait until it stands still; of one that goes on asking until `ready`, a
        selector, is there."""
        self.page.goto(self.base + path)
        if not ready:
            return self.settle()
        self.page.locator(ready).first.wait_for(timeout=180_000)
        self.page.wait_for_timeout(500)
        return self.page

    def settle(self) -> Any:
        """Wait until no request is under way."""
        self.page.wait_for_load_state("networkidle")
        self.page.wait_for_timeout(150)
        return self.page

    def overflow_px(self) -> int:
        """By how much the page is wider than the window."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))

    def axe(self) -> list[str]:
        """Serious and critical findings of axe."""
        from axe_playwright_python.sync_playwright import Axe

        found = Axe().run(self.page).response["violations"]
        return [
            f"{v['impact']} {v['id']}: {v['help']} at {[n['target'] for n in v['nodes']][:4]}"
            for v in found
            if v["impact"] in ("serious", "critical")
        ]


def wait_until(condition: Any, seconds: float = 15.0) -> None:
    """Wait for a condition outside the browser."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "not in time"
        time.sleep(0.1)


def path_of(db: str) -> Path:
    """The file of a SQLite URL."""
    return Path(db.removeprefix("sqlite:///"))
