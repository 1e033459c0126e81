"""The documentation, built once for all tests, and a browser to open it with."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
sys.path.append(str(DOCS))


def build(target: Path, config: Path = DOCS / "mkdocs.yml") -> subprocess.CompletedProcess[str]:
    """`mkdocs build --strict` into a folder, from another folder."""
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(config), "-d", str(target)],
        cwd=target.parent,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="session")
def docs() -> Path:
    """The folder that the site is built from."""
    return DOCS


@pytest.fixture(scope="session")
def builder() -> Callable[..., subprocess.CompletedProcess[str]]:
    """`builder(target, config)` builds a site."""
    return build


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built site. Processes that run tests side by side share it."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base
    target = shared / "docs-site"
    with (shared / "docs-site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (target / "built.txt").exists():
            done = build(target)
            assert done.returncode == 0, done.stdout + done.stderr
            (target / "built.txt").write_text(done.stderr, encoding="utf-8")
    return target


class Quiet(SimpleHTTPRequestHandler):
    """A server that does not write a line for each request."""

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="session")
def served(site: Path) -> Iterator[str]:
    """The address of the site on a server of this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    from browser_tools import chromium
    from playwright.sync_api import sync_playwright

    path = chromium()
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield found
        found.close()
