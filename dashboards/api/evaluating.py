"""The route of predictions: a table of configurations in, verdicts and times out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from fastapi import APIRouter
from pydantic import Field, PlainValidator, WithJsonSchema, model_validator

from dashboards.api.counting import labelled
from dashboards.api.models import MOST_NAMES, VALUE_SCHEMA, Model, Name, Subject, as_value
from dashboards.api.problems import at, wrong
from dashboards.api.service import heavy, kernel_of

if TYPE_CHECKING:
    from pto_tune.model.nodes import Workload

router = APIRouter(tags=["evaluate"])

MOST_ROWS = 100_000
"""Configurations of one request."""

MOST_ROWS_RANKS = 1_000
"""... of a workload with ranks, which runs event by event."""

MOST_REASONS = 10_000
"""Rows up to which the answer has a sentence for each."""


def _column(given: Any) -> int | str | list[int | str]:
    """A column: one value for all rows, or a value for each."""
    if not isinstance(given, list):
        return as_value(given)
    if not 1 <= len(given) <= MOST_ROWS:
        raise ValueError(f"a column has 1 to {MOST_ROWS:,} values, not {len(given):,}")
    for i, value in enumerate(given):
        try:
            as_value(value)
        except ValueError as error:
            raise ValueError(f"value {i}: {error}") from None
    return given


def _row(given: Any) -> dict[str, int | str]:
    if not isinstance(given, dict) or len(given) > MOST_NAMES:
        raise ValueError(f"expected an object of at most {MOST_NAMES} values by name")
    for name, value in given.items():
        try:
            as_value(value)
        except ValueError as error:
            raise ValueError(f"{name[:64]}: {error}") from None
    return given


Column = Annotated[
    int | str | list[int | str],
    PlainValidator(_column),
    WithJsonSchema(
        {"anyOf": [*VALUE_SCHEMA["anyOf"], {"type": "array", "minItems": 1, "maxItems": MOST_ROWS,
                                            "items": VALUE_SCHEMA}]}
    ),
]  # fmt: skip
Row = Annotated[
    dict[str, int | str],
    PlainValidator(_row),
    WithJsonSchema({"type": "object", "maxProperties": MOST_NAMES, "additionalProperties": VALUE_SCHEMA}),
]


class EvaluateRequest(Subject):
    """Configurations to predict: `columns`, or `rows` with the same names in each. Problem sizes and tunables that are
    not named have their defaults."""

    columns: Annotated[dict[Name, Column], Field(min_length=1, max_length=MOST_NAMES)] | None = None
    rows: Annotated[list[Row], Field(min_length=1, max_length=MOST_ROWS)] | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> EvaluateRequest:
        if (self.columns is None) == (self.rows is None):
            raise ValueError("give columns or rows, one of the two")
        return self


class Predictions(Model):
    """Columns of `count` entries each, in the order of the request. Cycles and times are null where a configuration is
    refused or hangs; `rule` is null where it is ok. `reason` is null above 10,000 configurations."""

    count: int
    workload: str
    platform: str
    rule_set: str
    timing: str
    engine: str
    configuration: dict[str, list[int | str]]
    verdict: list[str]
    rule: list[str | None]
    reason: list[str] | None
    cycles: list[int | None]
    time_us: list[float | None]
    bound: list[str | None]
    stretch: list[float]
    bytes: dict[str, list[int]]
    exportable: list[bool]


@router.post("/evaluate")
def evaluate(request: EvaluateRequest) -> Predictions:
    """Predict configurations. At most 100,000, of a workload with ranks 1,000; nothing is kept."""
    from pto_tune.evaluation import evaluate_columns
    from pto_tune.table import check_values
    from pto_tune.verdicts import OK, VERDICTS

    kernel = kernel_of(request)
    columns = _columns(request, kernel.workload)
    where = "body/columns" if request.columns is not None else "body/rows"
    faults: list[tuple[str, str]] = []
    for name, column in columns.items():
        try:
            check_values(kernel.workload, {name: column})
        except ValueError as error:
            path = f"{where}/{name}" if request.columns is not None else where
            faults += [(path, line) for line in str(error).splitlines()]
    count = max((np.shape(c)[0] for c in columns.values() if np.ndim(c) == 1), default=1)
    if kernel.workload.has_ranks and count > MOST_ROWS_RANKS:
        faults.append((where, f"{count:,} configurations of a workload with ranks: at most {MOST_ROWS_RANKS:,}"))
    if faults:
        raise wrong(faults)
    with heavy(), at(where):
        e = evaluate_columns(kernel, columns)
        reasons = [e.reason(i) for i in range(len(e))] if len(e) <= MOST_REASONS else None
    timed = e.timed.tolist()
    return Predictions(
        count=len(e),
        workload=kernel.workload.name,
        platform=kernel.platform.name,
        rule_set=kernel.rule_set.name,
        timing=kernel.timing,
        engine=kernel.engine,
        configuration=labelled(kernel.workload, {n: c.tolist() for n, c in e.table.items()}),
        verdict=[VERDICTS[v] for v in e.verdict.tolist()],
        rule=[e.rules[r] if r >= 0 else None for r in e.rule.tolist()],
        reason=reasons,
        cycles=[c if t else None for c, t in zip(e.cycles.tolist(), timed, strict=True)],
        time_us=[us if t else None for us, t in zip(e.time_us.tolist(), timed, strict=True)],
        bound=[name or None for name in e.bound_names()],
        stretch=e.stretch.tolist(),
        bytes={memory: c.tolist() for memory, c in e.bytes.items()},
        exportable=(e.derived_period & (e.verdict == OK)).tolist(),
    )


def _columns(request: EvaluateRequest, workload: Workload) -> dict[str, Any]:
    """The table of a request. Problem: rows or columns that do not fit together."""
    if request.columns is not None:
        lengths = {n: len(c) for n, c in request.columns.items() if isinstance(c, list)}
        longest = max(lengths.values(), default=1)
        faults = [
            (f"body/columns/{n}", f"column {n!r} has {k} values and another has {longest}")
            for n, k in lengths.items()
            if k != longest
        ]
        if faults:
            raise wrong(faults)
        return {n: np.array(c, dtype=object) if isinstance(c, list) else c for n, c in request.columns.items()}
    assert request.rows is not None
    names = request.rows[0].keys()
    faults = [
        (f"body/rows/{i}", f"row {i} has other names than row 0: every row has to name the same")
        for i, row in enumerate(request.rows)
        if row.keys() != names
    ]
    if faults:
        raise wrong(faults)
    found = {n: np.array([row[n] for row in request.rows], dtype=object) for n in names}
    if not found:  # each is the default configuration
        first = workload.problem[0]
        found = {first.name: np.full(len(request.rows), first.default, dtype=object)}
    return found
