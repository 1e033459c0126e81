"""The application that is mounted under /api/v1."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastapi import FastAPI

    from dashboards.site.state import Site

DESCRIPTION = """Predict how long PTO kernels take on Ascend NPUs for every configuration, search the best, export it.

Times are in microseconds or cycles of the core clock, sizes in bytes. Errors are problem details (RFC 9457). The server
only reads unless it was started with `--allow-runs`; where it was started with a token, every request shows it as
`Authorization: Bearer TOKEN`."""

TAGS = [
    {"name": "catalogue", "description": "Built-in workloads and platforms."},
    {"name": "spaces", "description": "How many configurations there are, and how many of them are legal."},
    {"name": "runs", "description": "Sweeps: start, watch, stop, read."},
    {"name": "results", "description": "The configurations of a run, filtered and sorted, also as files."},
    {"name": "configurations", "description": "One configuration: explanation, trace, exports."},
    {"name": "evaluate", "description": "Predictions for a table of configurations."},
    {"name": "measurements", "description": "Times from a board."},
]


def api(site: Site) -> FastAPI:
    """The API over `site`."""
    from fastapi import FastAPI
    from fastapi.responses import HTMLResponse

    from dashboards.api import catalogue, configurations, evaluating, measurements, problems, results, runs, spaces
    from pto_tune import __version__

    class Api(FastAPI):
        def openapi(self) -> dict[str, Any]:
            if self.openapi_schema is None:
                document = super().openapi()
                document["components"]["schemas"].update(problems.SCHEMAS)
                document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
                # a server on the loopback may have been started without a token
                document["security"] = [{}, {"token": []}]
            assert self.openapi_schema is not None
            return self.openapi_schema

    app = Api(
        title="pto-tune",
        summary="Performance prediction and tuning of PTO kernels on Ascend NPUs.",
        description=DESCRIPTION,
        version=__version__,
        openapi_tags=TAGS,
        docs_url=None,
        redoc_url=None,
        responses=problems.declared(*problems.EVERYWHERE),
        generate_unique_id_function=lambda route: route.name,
        redirect_slashes=False,
    )
    app.state.site = site
    problems.install(app)
    for module in (catalogue, spaces, runs, results, configurations, evaluating, measurements):
        app.include_router(module.router)

    @app.get("/docs", include_in_schema=False)
    def docs() -> HTMLResponse:
        """A page that lists the operations; it asks no other host for anything."""
        return HTMLResponse((files("dashboards.api") / "docs.html").read_text("utf-8"))

    return app
