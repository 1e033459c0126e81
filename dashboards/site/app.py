"""The application: pages and API behind one gate."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dash import Dash
    from fastapi import FastAPI

    from dashboards.site.page import Page
    from dashboards.site.state import Site


def pages() -> tuple[Page, ...]:
    """All pages, in the order of the navigation."""
    from dashboards.pages import runs
    from dashboards.pages.accuracy import page as accuracy
    from dashboards.pages.compare import page as compare
    from dashboards.pages.configuration import page as configuration
    from dashboards.pages.links import page as links
    from dashboards.pages.new import page as new
    from dashboards.pages.run import page as run

    return (runs.PAGE, run.PAGE, configuration.PAGE, compare.PAGE, accuracy.PAGE, links.PAGE, new.PAGE)


def build(site: Site, *, hosts: Iterable[str] = (), token: str | None = None) -> FastAPI:
    """The ASGI application over `site`. One a process: the library keeps the last one as the current.

    hosts, token: see `gate.Gate`.
    """
    from dashboards.site.gate import Gate

    server: FastAPI = dash_app(site).server
    _mount_api(server, site)
    server.add_middleware(Gate, hosts=tuple(hosts), token=token)
    return server


def _mount_api(server: FastAPI, site: Site) -> None:
    """The API is an application of its own: what it does not know must not be answered with a page."""
    server.mount("/api/v1", _Later(site))


class _Later:
    """The API, made at its first request: the first page does not wait for it."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._made: Any = None
        self._lock = threading.Lock()

    def _make(self) -> Any:
        from dashboards.api.app import api

        with self._lock:
            if self._made is None:
                self._made = api(self._site)
            return self._made

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        made = self._made or await asyncio.to_thread(self._make)
        await made(scope, receive, send)


def _backend() -> Any:
    """FastAPI behind the pages, without websockets: the browser would try them for ever."""
    from dash.backends._fastapi import FastAPIDashServer
    from fastapi import FastAPI

    class Backend(FastAPIDashServer):
        websocket_capability = False

        @staticmethod
        def create_app(name: str = "", config: dict[str, Any] | None = None) -> FastAPI:  # noqa: ARG004
            return FastAPI(openapi_url=None, docs_url=None, redoc_url=None)

    return Backend


def dash_app(site: Site) -> Dash:
    """The pages, on a server of their own."""
    # the first page lists the libraries that browsers have to load: all have to be there by then
    import dash_ag_grid  # noqa: F401
    from dash import Dash

    from dashboards.site.page import Callbacks
    from dashboards.site.shell import INDEX, callbacks, shell

    app = Dash(
        "dashboards",
        backend=_backend(),
        assets_folder=str(files("dashboards") / "assets"),
        pages_folder="",
        use_pages=False,
        serve_locally=True,
        suppress_callback_exceptions=True,
        title="pto-tune",
        update_title="",
        index_string=INDEX,
        compress=True,
    )
    found = pages()
    app.layout = shell(found)
    register = Callbacks(app)
    callbacks(register, site, found)
    for page in found:
        page.callbacks(register, site)
    # the library does this at the first request for its first page: a deep link before that would lack the assets
    setup: Any = app
    setup._setup_server()
    return app
