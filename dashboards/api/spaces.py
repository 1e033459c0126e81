"""The route of spaces: how large one is, and how much of it is legal."""

from __future__ import annotations

from fastapi import APIRouter

from dashboards.api.counting import checked_space, count_legal, labelled
from dashboards.api.models import SpaceAnswer, SpaceRequest
from dashboards.api.problems import wrong
from dashboards.api.service import heavy, kernel_of

router = APIRouter(tags=["spaces"])


@router.post("/spaces")
def space(request: SpaceRequest) -> SpaceAnswer:
    """Size of a space and its legal configurations: counted, or where that takes more than a second or two
    estimated from a sample of 20,000 (2,000 of workloads with ranks) with its 95 % interval. Nothing is kept and
    nothing is run."""
    kernel = kernel_of(request)
    found, faults = checked_space(kernel.workload, request.problem, request.domains)
    if found is None:
        raise wrong([(f"body/{path}", sentence) for path, sentence in faults])
    with heavy():
        counted = count_legal(kernel, found)
    return SpaceAnswer(
        workload=kernel.workload.name,
        platform=kernel.platform.name,
        rule_set=kernel.rule_set.name,
        problem=labelled(kernel.workload, dict(found.problem)),
        domains=labelled(kernel.workload, dict(found.domains)),
        size=counted.size,
        legal=counted.legal,
        exact=counted.exact,
        low=counted.low,
        high=counted.high,
        looked_at=counted.looked_at,
        refused=dict(counted.refused),
    )
