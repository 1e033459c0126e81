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
    """Size of a space and its legal configurations: counted up to 200,000, above that estimated from a sample of
    20,000 with its 95 % interval. Workloads with ranks are counted up to 4,000 and sampled with 2,000. Nothing is kept
    and nothing is run."""
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
