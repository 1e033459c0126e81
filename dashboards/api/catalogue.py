"""Routes of what is built in: workloads and platforms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Path
from pydantic import Field

from dashboards.api.models import Model
from dashboards.api.problems import Problem

if TYPE_CHECKING:
    from cost_models.platform import Platform
    from pto_tune.model.nodes import Parameter, Tunable, Workload

router = APIRouter(tags=["catalogue"])
KnownName = Annotated[str, Path(min_length=1, max_length=64)]


class Size(Model):
    """A problem size. `labels` names the values 0, 1, ... of one that is a choice."""

    name: str
    doc: str
    default: int | str
    minimum: int
    maximum: int
    labels: list[str]


class TunableFacts(Size):
    """A tunable, with the values that a sweep tries by default."""

    domain: list[int | str]


class WorkloadFacts(Model):
    """A workload in short."""

    name: str
    doc: str
    problem: list[str]
    tunables: list[str]


class WorkloadDetail(Model):
    """A workload with everything that can be set. `size`: configurations of its default space."""

    name: str
    doc: str
    problem: list[Size]
    tunables: list[TunableFacts]
    size: int
    ranks: Annotated[bool, Field(description="Whether several chips take part.")]


class PlatformFacts(Model):
    """A platform in short."""

    name: str
    family: str
    soc: str
    description: str


class NumberFacts(Model):
    """A number of a platform: as its file has it, in base units, how it is known, and where from."""

    key: str
    value: float
    unit: str
    kind: str
    source: str
    note: str
    low: float | None
    high: float | None
    base: float
    base_unit: str


class RuleSetFacts(Model):
    """Pipe rules of a range of pto-isa revisions."""

    name: str
    doc: str
    revisions: list[str]
    default: bool


class PlatformDetail(PlatformFacts):
    """A platform with all its numbers and the rule sets of its family."""

    sha256: str
    rule_sets: list[RuleSetFacts]
    numbers: list[NumberFacts]


@router.get("/workloads")
def workloads() -> list[WorkloadFacts]:
    """The built-in workloads."""
    from pto_tune.workloads import workload, workload_names

    return [
        WorkloadFacts(
            name=w.name, doc=w.doc, problem=[p.name for p in w.problem], tunables=[t.name for t in w.tunables]
        )
        for w in map(workload, workload_names())
    ]


@router.get("/workloads/{name}")
def workload(name: KnownName) -> WorkloadDetail:
    """One workload: problem sizes and tunables with defaults, ranges and meaning."""
    from pto_tune.space import space
    from pto_tune.workloads import workload as built_in

    try:
        found: Workload = built_in(name)
    except ValueError as error:
        raise Problem(404, str(error)) from error
    return WorkloadDetail(
        name=found.name,
        doc=found.doc,
        problem=[Size(**_size(p)) for p in found.problem],
        tunables=[TunableFacts(**_size(t), domain=_domain(t)) for t in found.tunables],
        size=space(found).size,
        ranks=found.has_ranks,
    )


@router.get("/platforms")
def platforms() -> list[PlatformFacts]:
    """The built-in platforms."""
    from cost_models.platform import load_platform, platform_names

    return [PlatformFacts(**_platform(load_platform(name))) for name in platform_names()]


@router.get("/platforms/{name}")
def platform(name: KnownName) -> PlatformDetail:
    """One platform: every number with unit, kind and source, and the rule sets of its family."""
    from cost_models.platform import load_platform, platform_names
    from pto_tune.rule_sets import rule_set_for, rule_sets

    if name not in platform_names():
        raise Problem(404, f"unknown platform {name!r}: choose one of {', '.join(platform_names())}")
    found = load_platform(name)
    default = rule_set_for(found.family).name
    return PlatformDetail(
        **_platform(found),
        sha256=found.sha256,
        rule_sets=[
            RuleSetFacts(name=r.name, doc=r.doc, revisions=[str(v) for v in r.revisions], default=r.name == default)
            for r in rule_sets(found.family)
        ],
        numbers=[
            NumberFacts(
                key=n.key, value=n.value, unit=n.unit, kind=n.kind, source=n.source, note=n.note, low=n.low,
                high=n.high, base=n.base, base_unit=n.base_unit,
            )
            for n in found.numbers.values()
        ],
    )  # fmt: skip


def _platform(found: Platform) -> dict[str, str]:
    return {"name": found.name, "family": found.family, "soc": found.soc, "description": found.description}


def _size(p: Parameter | Tunable) -> dict[str, Any]:
    from pto_tune.table import label

    return {
        "name": p.name,
        "doc": p.doc,
        "default": label(p, p.default),
        "minimum": p.minimum,
        "maximum": p.maximum,
        "labels": list(p.labels),
    }


def _domain(t: Tunable) -> list[int | str]:
    from pto_tune.table import label

    return [label(t, value) for value in t.domain]
