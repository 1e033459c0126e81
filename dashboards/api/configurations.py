"""Routes of one configuration of a run: facts and explanation, trace, exports."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from fastapi import APIRouter, Path, Query, Response
from pydantic import ConfigDict, Field

from dashboards.api.models import Model
from dashboards.api.problems import Problem, at, declared
from dashboards.api.results import Result, results_of
from dashboards.api.service import OfSite, RowNumber, RunRef, attachment, heavy, run_of, view_of

if TYPE_CHECKING:
    from dashboards.runview import RunView
    from dashboards.site.state import Site
    from db import Run
    from pto_tune.evaluation import Problem as Kernel
    from pto_tune.explaining.explanation import Explanation

router = APIRouter(tags=["configurations"])


class FindingFacts(Model):
    """A rule that the configuration breaks: the sentence, the first tile, whether the predicted timing reaches it
    (null: not a matter of timing), and the rule sets under which it holds."""

    model_config = ConfigDict(extra="allow")
    verdict: str
    rule: str
    sentence: str
    tile: int | None
    reached: bool | None
    rule_sets: list[str]


class SegmentFacts(Model):
    """A part of the critical path."""

    cause: str
    name: str
    cycles: int
    share: float


class BoundFacts(Model):
    """How long it would take if only this pipe or resource limited it."""

    pipe: str
    cycles: int


class ExplanationFacts(Model):
    """Why a configuration takes as long as it does, evaluated now. `interval` and `leans_on` (the numbers that matter
    most) are null where they were not asked for or would take long. Workloads with ranks have further members: ranks,
    waits_between_ranks, barriers, assumed."""

    model_config = ConfigDict(extra="allow")
    workload: str
    platform: str
    rule_set: str
    timing: str
    configuration: dict[str, int | str]
    verdict: str
    reason: str
    also: list[str]
    findings: list[FindingFacts]
    cycles: int | None
    time_us: float | None
    bound: str
    busy: dict[str, int]
    waits: dict[str, int]
    block_cycles: int | None
    segments: list[SegmentFacts]
    bounds: list[BoundFacts]
    interval: dict[str, Any] | None
    leans_on: list[dict[str, Any]] | None
    hangs: bool
    notes: list[str]


class ConfigurationDetail(Result):
    """A configuration as the run has it, and its explanation. `place`: 1 for the best of those that are ok.
    `explanation` is null where the run's platform, workload or rules are others by now; `not_explained` says so."""

    run: int
    place: int | None
    explanation: ExplanationFacts | None
    not_explained: str
    exports: Annotated[list[str], Field(description="Formats of /export/{format}.")]


@router.get("/runs/{run}/configurations/{row}", responses=declared(409))
def configuration(
    site: OfSite,
    run: RunRef,
    row: RowNumber,
    sure: Annotated[
        bool, Query(description="Also the interval of the time and what it leans on, where that takes seconds.")
    ] = False,
) -> ConfigurationDetail:
    """One configuration: what the run has of it, where its time goes, what is wrong with it."""
    from dashboards.exports import FORMATS

    found, view = run_of(site, run), view_of(site, run)
    position = _position(found, view, row)
    place = np.flatnonzero(view.ranked == position)
    explanation, why_not = None, ""
    try:
        explained = _explained(site, found, view, position)
    except Problem as problem:
        why_not = problem.detail
    else:
        with heavy():
            explanation = ExplanationFacts(**_plain(explained.summary(None if sure else False)))
    (stored,) = results_of(view, np.array([position]))
    return ConfigurationDetail(
        **stored.model_dump(),
        run=found.id,
        place=int(place[0]) + 1 if len(place) else None,
        explanation=explanation,
        not_explained=why_not,
        exports=[f.key for f in FORMATS],
    )


@router.get(
    "/runs/{run}/configurations/{row}/trace",
    response_class=Response,
    responses={200: {"description": "A Chrome trace, for ui.perfetto.dev.",
                     "content": {"application/json": {"schema": {"type": "object"}}}}, **declared(409)},
)  # fmt: skip
def trace(site: OfSite, run: RunRef, row: RowNumber) -> Response:
    """The timeline as a trace for Perfetto. 409: the configuration is refused or hangs, or its run is outdated."""
    from dashboards.api.tracing import trace_of

    found, view = run_of(site, run), view_of(site, run)
    explained = _explained(site, found, view, _position(found, view, row))
    if not explained.timed:
        raise Problem(409, f"there is no timeline: {explained.evaluation.reason(0)}")
    with heavy(), at("path/row", 409):
        content = trace_of(explained)
    return Response(content, media_type="application/json", headers=attachment(f"run-{found.id}-row-{row}.json"))


@router.get(
    "/runs/{run}/configurations/{row}/export/{format}",
    response_class=Response,
    responses={200: {"description": "The file.", "content": {"text/plain": {"schema": {"type": "string"}},
                                                             "text/x-c++hdr": {"schema": {"type": "string"}}}},
               **declared(409)},
)  # fmt: skip
def export(
    site: OfSite,
    run: RunRef,
    row: RowNumber,
    format: Annotated[str, Path(min_length=1, max_length=40, description="A format, such as header.")],
) -> Response:
    """A configuration for a kernel's build. 409: it is not ok, or no file can carry it; `detail` says why."""
    from dashboards.exports import format_named

    with at("path/format", 404):
        wanted = format_named(format)
    found, view = run_of(site, run), view_of(site, run)
    position = _position(found, view, row)
    kernel = _kernel(site, found)
    with heavy(), at("path/row", 409):
        text = wanted.render(_recommendation(found, kernel, view, position))
    return Response(
        text.encode("utf-8", "replace"),
        media_type=wanted.media_type,
        headers=attachment(f"run-{found.id}-row-{row}{wanted.suffix}"),
    )


def _position(run: Run, view: RunView, row: int) -> int:
    found = np.flatnonzero(view.rows == row)
    if not len(found):
        have = f"its {len(view):,} rows end with {int(view.rows.max())}" if len(view) else "it has none so far"
        raise Problem(404, f"run {run.id} has no row {row}: {have}")
    return int(found[0])


def _kernel(site: Site, run: Run) -> Kernel:
    try:
        return site.views.search(run.id)[0]
    except ValueError as error:
        raise Problem(409, str(error)) from error


def _values(run: Run, view: RunView, position: int) -> dict[str, int | str]:
    own = {n: v for n, v in view.configuration(position).items() if view.values[n][position] is not None}
    return {**run.problem, **own}


def _explained(site: Site, run: Run, view: RunView, position: int) -> Explanation:
    from pto_tune.explaining.explanation import explain_configuration

    kernel = _kernel(site, run)
    with heavy(), at("path/row", 409):
        return explain_configuration(kernel, _values(run, view, position))


def _recommendation(run: Run, kernel: Kernel, view: RunView, position: int) -> Any:
    from pto_tune import api
    from pto_tune.cli.stored import revision_of

    revision = revision_of(run, kernel.platform)
    configuration = _values(run, view, position)
    row = int(view.rows[position])
    return api.recommendation(
        kernel.workload, configuration, kernel.platform, revision, run.timing, run=run.name, row=row
    )


def _plain(summary: dict[str, Any]) -> dict[str, Any]:
    """A summary as JSON has it: NumPy's numbers and tuples become plain ones, what is no number null."""
    out: dict[str, Any] = json.loads(
        json.dumps(summary, default=_number, allow_nan=True), parse_constant=lambda _: None
    )
    return out


def _number(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else list(value)
