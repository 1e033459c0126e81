"""Routes of runs: list, read, start, watch, stop, report."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from dashboards.api.problems import Problem, at, declared, wrong
from dashboards.api.run_models import RunDetail, RunFacts, RunList, RunProgress, RunRequest, RunsQuery, detail, facts
from dashboards.api.run_models import progress as progress_of
from dashboards.api.service import OfSite, RunRef, changes_allowed, heavy, kernel_of, run_of, store_errors, view_of
from dashboards.api.wishes import checked_wish
from dashboards.site.state import Site
from dashboards.site.sweeps import SweepError, Wish
from db.errors import StoreError

if TYPE_CHECKING:
    from db import Run

router = APIRouter(tags=["runs"])

_FAILED = "the sweep failed: "


@router.get("/runs")
def runs(site: OfSite, query: Annotated[RunsQuery, Query()]) -> RunList:
    """The runs of the store, the newest first."""
    with store_errors(site, 404):
        found = sorted(site.store.runs(), key=lambda r: -r.id)
    for name in ("workload", "platform", "state"):
        wanted = getattr(query, name)
        found = [r for r in found if wanted is None or getattr(r, name) == wanted]
    end = query.offset + query.limit
    return RunList(
        total=len(found),
        offset=query.offset,
        limit=query.limit,
        next_offset=end if end < len(found) else None,
        runs=[RunFacts(**facts(r)) for r in found[query.offset : end]],
    )


@router.post(
    "/runs", status_code=201, dependencies=[Depends(changes_allowed)],
    responses={201: {"headers": {"Location": {"schema": {"type": "string"}, "description": "The new run."}}},
               **declared(409)},
)  # fmt: skip
def start(site: OfSite, request: Request, response: Response, wanted: RunRequest) -> RunDetail:
    """Start a sweep. The answer comes as soon as the run is in the store; `/runs/{run}/progress` says how far it is.

    409: too many sweeps run already, or the name is taken.
    """
    run = _started(site, _checked(site, wanted))
    response.headers["Location"] = f"{request.scope.get('root_path', '')}/runs/{run.id}"
    return detail(run)


@router.get("/runs/{run}")
def run(site: OfSite, run: RunRef) -> RunDetail:
    """One run: what was searched and how, and what came out."""
    return detail(run_of(site, run))


@router.get("/runs/{run}/progress")
def progress(site: OfSite, run: RunRef) -> RunProgress:
    """How far a run is. It moves with every batch of a sweep of this server, and of others as the store has it."""
    return _progress(site, run_of(site, run))


@router.post("/runs/{run}/stop", status_code=202, dependencies=[Depends(changes_allowed)], responses=declared(409))
def stop(site: OfSite, run: RunRef) -> RunProgress:
    """End a sweep of this server after the batch in hand; what it has stays. 409: it does not run here."""
    found = run_of(site, run)
    try:
        site.sweeps.stop(found.id)
    except SweepError as error:
        raise Problem(409, str(error)) from error
    return _progress(site, run_of(site, str(found.id)))


@router.get(
    "/runs/{run}/report.html",
    response_class=Response,
    responses={
        200: {
            "description": "One HTML file that opens offline.",
            "content": {"text/html": {"schema": {"type": "string"}}},
        },
        **declared(409),
    },
)
def report(site: OfSite, run: RunRef) -> Response:
    """The report of a run, as `pto-tune report` writes it."""
    from dashboards.report.page import report_of

    view_of(site, run)
    with heavy(), at("path/run", 409):
        page = report_of(site, [run])
    return Response(page.encode("utf-8", "replace"), media_type="text/html; charset=utf-8")


def _progress(site: Site, run: Run) -> RunProgress:
    return progress_of(run, site.sweeps.progress(run.id), site.sweeps.running_here(run.id))


def _checked(site: Site, wanted: RunRequest) -> Wish:
    """The wish of a request. Problem: everything that is wrong with it, by place; a name that is taken."""
    wish = Wish(**{name: getattr(wanted, name) for name in RunRequest.model_fields})
    _, _, faults = checked_wish(kernel_of(wanted).workload, wish)
    if faults:
        raise wrong([(f"body/{path}", sentence) for path, sentence in faults])
    if wanted.name is not None and _is_taken(site, wanted.name):
        raise Problem(409, f"a run named {wanted.name!r} is there already: choose another name")
    return wish


def _is_taken(site: Site, name: str) -> bool:
    try:
        site.store.find_run(name)
    except StoreError:
        return False
    return True


def _started(site: Site, wish: Wish) -> Run:
    try:
        return site.sweeps.start(wish)
    except ValueError as error:
        if str(error).startswith(_FAILED):
            logging.getLogger("pto_tune.serve").error("%s", error)
            raise Problem(500, "the sweep failed before it began; the server's own messages say why") from error
        raise Problem(409, str(error)) from error
