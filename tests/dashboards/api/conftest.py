"""The API over a small store, asked over ASGI."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

SIZES = {"s0": 512, "s1": 512}
DOMAINS = {"cube_s0": [64, 128], "cube_s1": [128], "tile_s1": [64, 128], "qk_preload": [2, 4], "fifo_depth": [4, 6, 8]}


class Client:
    """Asks an ASGI application, a request at a time."""

    def __init__(self, app: Any, base: str = "http://127.0.0.1") -> None:
        self.app, self.base = app, base

    def request(self, method: str, path: str, **more: Any) -> Any:
        async def ask() -> Any:
            import httpx

            transport = httpx.ASGITransport(app=self.app)
            async with httpx.AsyncClient(transport=transport, base_url=self.base) as client:
                return await client.request(method, path, **more)

        with ThreadPoolExecutor(1) as thread:  # the browser of other tests may have a loop in this one
            return thread.submit(asyncio.run, ask()).result()

    def get(self, path: str, **more: Any) -> Any:
        return self.request("GET", path, **more)

    def post(self, path: str, json: Any = None, **more: Any) -> Any:
        return self.request("POST", path, json=json, **more)


def problem(response: Any, status: int) -> dict[str, Any]:
    """The problem of a response, which has to have this status."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    found: dict[str, Any] = response.json()
    assert found["status"] == status
    assert found["type"] == "about:blank"
    assert found["title"]
    assert found["detail"]
    return found


@pytest.fixture(scope="session")
def problem_of() -> Any:
    """`problem`, handed to tests as a fixture because test folders are no packages."""
    return problem


@pytest.fixture(scope="session")
def client_of() -> type[Client]:
    return Client


def fill(store: Any) -> None:
    """Run 1 with legal and refused configurations, run 2 without a legal one."""
    from pto_tune.tuning import tune

    tune("flash_attention", problem=SIZES, domains=DOMAINS, store=store, name="attention")
    tune("stream", domains={"fifo_depth": [5, 7], "sync_period": [3]}, store=store, name='<b>"odd"</b> 管道 🚀')


@pytest.fixture(scope="session")
def filled() -> Any:
    return fill


@pytest.fixture(scope="session")
def small_store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A store that tests only read."""
    from db import open_store

    with open_store(f"sqlite:///{tmp_path_factory.mktemp('api') / 'runs.db'}") as store:
        fill(store)
        yield store


@pytest.fixture(scope="session")
def reader(small_store: Any) -> Client:
    """A server that only reads."""
    from dashboards.api.app import api
    from dashboards.site.state import Site

    return Client(api(Site(small_store)))


@pytest.fixture
def own_site(tmp_path: Any) -> Iterator[Any]:
    """A site over an empty store of the test's own, that may be changed."""
    from dashboards.site.state import Site
    from db import open_store

    with open_store(f"sqlite:///{tmp_path / 'own.db'}") as store:
        site = Site(store, allow_runs=True)
        yield site
        site.close()


@pytest.fixture
def writer(own_site: Any) -> Client:
    """A server that may change its store."""
    from dashboards.api.app import api

    return Client(api(own_site))
