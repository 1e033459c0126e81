"""Types that requests and answers share: bounded texts, numbers and values, known names."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PlainValidator, StringConstraints, WithJsonSchema

MOST_NAMES = 64
"""Problem sizes or tunables that a request may name."""

MOST_VALUES = 10_000
"""Values of all domains of a request together."""

LARGEST_VALUE = 2**53
LARGEST_ROW = 2**31 - 1
LONGEST_VALUE = 64


class Model(BaseModel):
    """What a request or an answer is made of; a request may say nothing else."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def as_value(value: Any) -> int | str:
    """A value of a problem size or tunable: a whole number, or a label. ValueError otherwise."""
    if type(value) is int and -LARGEST_VALUE <= value <= LARGEST_VALUE:
        return value
    if type(value) is str and len(value) <= LONGEST_VALUE:
        return value
    raise ValueError("expected a whole number of at most 2**53, or a label")


VALUE_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {"type": "integer", "minimum": -LARGEST_VALUE, "maximum": LARGEST_VALUE},
        {"type": "string", "maxLength": LONGEST_VALUE},
    ]
}


def known_workload(name: str) -> str:
    """`name`, if a built-in workload has it; ValueError with those that there are."""
    from pto_tune.workloads import workload_names

    if name not in workload_names():
        raise ValueError(f"unknown workload {name!r}: choose one of {', '.join(workload_names())}")
    return name


def known_platform(name: str) -> str:
    """`name`, if a built-in platform has it, never a path; ValueError with those that there are."""
    from cost_models.platform import platform_names

    if name not in platform_names():
        raise ValueError(f"unknown platform {name!r}: choose one of {', '.join(platform_names())}")
    return name


def _workloads(schema: dict[str, Any]) -> None:
    from pto_tune.workloads import workload_names

    schema["enum"] = workload_names()


def _platforms(schema: dict[str, Any]) -> None:
    from cost_models.platform import platform_names

    schema["enum"] = platform_names()


def _not_too_many(domains: dict[str, list[int | str]]) -> dict[str, list[int | str]]:
    total = sum(map(len, domains.values()))
    if total > MOST_VALUES:
        raise ValueError(f"the domains have {total:,} values in all: give at most {MOST_VALUES:,}")
    return domains


def utc(time: datetime) -> datetime:
    """A time of the store, which are in UTC, with its zone."""
    return time if time.tzinfo is not None else time.replace(tzinfo=UTC)


Name = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_VALUE)]
Value = Annotated[int | str, PlainValidator(as_value), WithJsonSchema(VALUE_SCHEMA)]
WorkloadName = Annotated[
    str,
    StringConstraints(min_length=1, max_length=64),
    AfterValidator(known_workload),
    Field(description="A built-in workload.", json_schema_extra=_workloads),
]
PlatformName = Annotated[
    str,
    StringConstraints(min_length=1, max_length=64),
    AfterValidator(known_platform),
    Field(description="A built-in platform.", json_schema_extra=_platforms),
]
PtoIsa = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9._-]{1,64}$"),
    Field(description="Commit, date or rule set of the pto-isa headers; null: the family's default rule set."),
]
Timing = Literal["task", "event", "sync", "device"]
Strategy = Literal["auto", "exhaustive", "bounds", "evolution", "tpe", "nsga2", "qmc", "random"]
Sizes = Annotated[
    dict[Name, Value],
    Field(max_length=MOST_NAMES, description="Problem sizes by name; the rest has the workload's defaults."),
]
Domains = Annotated[
    dict[Name, Annotated[list[Value], Field(min_length=1, max_length=4096)]],
    AfterValidator(_not_too_many),
    Field(
        max_length=MOST_NAMES,
        description=f"Values to try by tunable, at most {MOST_VALUES:,} in all; the rest has the workload's domains.",
    ),
]


class Subject(Model):
    """What is predicted: a workload on a platform, under the pipe rules of a pto-isa revision."""

    workload: WorkloadName
    platform: PlatformName = "ascend910b2"
    pto_isa: PtoIsa | None = None
    timing: Annotated[Timing, Field(description="How the time would be measured; 'device' adds no launch.")] = "task"


class SpaceRequest(Subject):
    """A space: a workload at its problem sizes, with a domain for every tunable."""

    problem: Sizes = Field(default_factory=dict)
    domains: Domains = Field(default_factory=dict)


class SpaceAnswer(Model):
    """How large a space is and how much of it is legal. `legal` counts the configurations that no rule refuses before
    they run; among those, a sweep may still find some that hang, race or overwrite a tile."""

    workload: str
    platform: str
    rule_set: str
    problem: dict[str, int | str]
    domains: dict[str, list[int | str]]
    size: Annotated[int, Field(ge=0, description="Configurations, illegal ones included.")]
    legal: Annotated[int, Field(ge=0, description="Legal ones: counted where `exact`, otherwise estimated.")]
    exact: bool
    low: Annotated[int, Field(ge=0, description="Low end of the 95 % interval; equals `legal` where exact.")]
    high: Annotated[int, Field(ge=0, description="High end of the 95 % interval.")]
    looked_at: Annotated[int, Field(ge=0, description="Configurations that were checked, all or the sample's.")]
    refused: Annotated[
        dict[str, int], Field(description="Of those looked at, how many each rule is the first to refuse.")
    ]
