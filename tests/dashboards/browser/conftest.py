"""Servers and tabs for the tests of the pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from browser_tools import NARROW, Server, Tab, chromium, fill, start_server


@pytest.fixture(scope="session")
def store_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The URL of a store with some runs."""
    url = f"sqlite:///{tmp_path_factory.mktemp('store') / 'runs.db'}"
    fill(url)
    return url


@pytest.fixture(scope="session")
def server(store_url: str) -> Iterator[Server]:
    """A server that may start sweeps."""
    found = start_server(store_url, "--allow-runs")
    yield found
    found.stop()


@pytest.fixture(scope="session")
def empty_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server over a store without runs, that only reads."""
    found = start_server(f"sqlite:///{tmp_path_factory.mktemp('empty') / 'runs.db'}")
    yield found
    found.stop()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    path = chromium()
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield found
        found.close()


@pytest.fixture
def tab(browser: Any, server: Server) -> Iterator[Tab]:
    """A wide, light tab on the server; nothing may have gone wrong on it by the end of the test."""
    found = Tab(browser, server.url)
    yield found
    found.context.close()
    assert found.wrong == []


@pytest.fixture
def narrow(browser: Any, server: Server) -> Iterator[Tab]:
    """A narrow, dark tab on the server."""
    found = Tab(browser, server.url, NARROW, "dark")
    yield found
    found.context.close()
    assert found.wrong == []


@pytest.fixture
def empty_tab(browser: Any, empty_server: Server) -> Iterator[Tab]:
    """A tab on the server without runs."""
    found = Tab(browser, empty_server.url)
    yield found
    found.context.close()
    assert found.wrong == []
