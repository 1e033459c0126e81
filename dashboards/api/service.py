"""What the routes have in common: the site of a request, its run, problems by name, and how much is done at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, cast

from fastapi import Depends, Path, Request

from dashboards.api.models import LARGEST_ROW, Subject
from dashboards.api.problems import Problem, wrong
from dashboards.site.state import Site
from db.errors import StoreError

if TYPE_CHECKING:
    from dashboards.runview import RunView
    from db import Run
    from pto_tune.evaluation import Problem as Kernel

LONGEST_REF = 200
HEAVY_AT_ONCE = 2
"""Requests that evaluate, count or explain at the same time; others wait."""

HEAVY_WAIT_S = 30.0

_heavy = threading.BoundedSemaphore(HEAVY_AT_ONCE)

RunRef = Annotated[
    str,
    Path(min_length=1, max_length=LONGEST_REF,
         description="Number or name of a run, or 'latest'. A run whose name has a slash is reached by its number."),
]  # fmt: skip
RowNumber = Annotated[int, Path(ge=0, le=LARGEST_ROW, description="Row of the configuration in the run.")]


def site_of(request: Request) -> Site:
    """The site that the application is over."""
    return cast("Site", request.app.state.site)


OfSite = Annotated[Site, Depends(site_of)]


def changes_allowed(site: OfSite) -> None:
    """403 where the server only reads."""
    if not site.allow_runs:
        raise Problem(403, "this server only reads: start it with --allow-runs to change something through it")


def run_of(site: Site, ref: str) -> Run:
    """The run of a request; 404 where there is none, 503 where the database does not answer."""
    with store_errors(site, 404):
        return site.views.run(ref)


def view_of(site: Site, ref: str) -> RunView:
    """The columns of a run; 409 where they do not fit together."""
    from dashboards.runview import ViewError

    try:
        with store_errors(site, 404):
            return site.views.view(ref)
    except ViewError as error:
        raise Problem(409, str(error)) from error


@contextmanager
def store_errors(site: Site, status: int) -> Iterator[None]:
    """What the store refuses, as a problem of this status; 503 where the database itself has failed."""
    try:
        yield
    except StoreError as error:
        if error.__cause__ is not None:
            raise Problem(503, "the store does not answer as it should; the server's own messages say why") from error
        # where the store lies is the server's own matter
        raise Problem(status, str(error).replace(f" in {site.store.url}", "")) from error


@contextmanager
def heavy() -> Iterator[None]:
    """Wait for a place among the requests that compute; 503 where none is free in time."""
    if not _heavy.acquire(timeout=HEAVY_WAIT_S):
        raise Problem(503, f"{HEAVY_AT_ONCE} requests compute already: try again later")
    try:
        yield
    finally:
        _heavy.release()


def kernel_of(subject: Subject) -> Kernel:
    """Workload, platform and rules of a request. Problem: an unknown revision, or none for it."""
    try:
        return _kernel(subject.workload, subject.platform, subject.pto_isa, subject.timing)
    except ValueError as error:
        path = "body/pto_isa" if subject.pto_isa is not None else "body/platform"
        raise wrong([(path, line) for line in str(error).splitlines()]) from error


@lru_cache(maxsize=64)
def _kernel(workload: str, platform: str, pto_isa: str | None, timing: str) -> Kernel:
    from cost_models.platform import load_platform
    from pto_tune.evaluation import Problem as Kernel
    from pto_tune.workloads import workload as built_in

    return Kernel.of(built_in(workload), load_platform(platform), pto_isa, timing)


def attachment(name: str) -> dict[str, Any]:
    """Headers of a download; `name` has letters, digits, points and hyphens alone."""
    return {"Content-Disposition": f'attachment; filename="{name}"'}
