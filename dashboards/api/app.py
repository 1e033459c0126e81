"""The application that is mounted under /api/v1."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi import FastAPI

    from dashboards.site.state import Site


def api(site: Site) -> FastAPI:
    """The API over `site`."""
    from fastapi import FastAPI

    from pto_tune import __version__

    app = FastAPI(title="pto-tune", version=__version__)
    app.state.site = site
    return app
