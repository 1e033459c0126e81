"""Routes of measurements: the stored ones, and rows to take in."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Depends, Query
from pydantic import Field, PlainValidator, WithJsonSchema

from dashboards.api.models import Model, utc
from dashboards.api.problems import at, declared, wrong
from dashboards.api.service import OfSite, changes_allowed, store_errors

if TYPE_CHECKING:
    from db import Measurement, StoredMeasurement
    from pto_tune.measuring.faults import Fault

router = APIRouter(tags=["measurements"])

MOST_ROWS = 20_000
MOST_LISTED = 10_000
_MOST_CELLS = 100
_LONGEST_CELL = 2_000
_WHERE = "the request"


class MeasurementsQuery(Model):
    """Which measurements are listed."""

    workload: Annotated[str | None, Field(max_length=200)] = None
    family: Annotated[str | None, Field(max_length=200)] = None
    platform: Annotated[str | None, Field(max_length=200)] = None
    timing: Annotated[str | None, Field(max_length=200)] = None
    limit: Annotated[int, Field(ge=1, le=MOST_LISTED)] = 100
    offset: Annotated[int, Field(ge=0, le=10_000_000)] = 0


class MeasurementFacts(Model):
    """A measured time. `value`, `spread`, `minimum` and `maximum` are in `metric`: us, or cycles of the core clock."""

    id: int
    imported_at: datetime
    digest: str
    workload: str
    configuration: dict[str, int | str]
    family: str
    platform: str | None
    soc: str
    pto_isa: str | None
    timing: str
    metric: str
    value: float
    repeats: int | None
    spread: float | None
    minimum: float | None
    maximum: float | None
    source: str
    note: str


class MeasurementList(Model):
    """Measurements in the order in which they came in. `total`: how many there are with these filters."""

    total: int
    offset: int
    limit: int
    next_offset: int | None
    measurements: list[MeasurementFacts]


def _cells(given: Any) -> dict[str, Any]:
    """A row: texts, numbers and nulls by column; those of `configuration` may stand in an object of their own."""
    if not isinstance(given, dict):
        raise ValueError("a row is an object of values by column")
    inner = given.get("configuration")
    for cells in (given, inner if isinstance(inner, dict) else {}):
        if len(cells) > _MOST_CELLS:
            raise ValueError(f"a row has at most {_MOST_CELLS} cells, not {len(cells)}")
        for name, cell in cells.items():
            if len(name) > _LONGEST_CELL or (isinstance(cell, str) and len(cell) > _LONGEST_CELL):
                raise ValueError(f"cell {name[:60]!r} is too long: at most {_LONGEST_CELL:,} characters")
    return given


_CELL = {"type": ["string", "number", "boolean", "null"], "maxLength": _LONGEST_CELL}
Cells = Annotated[
    dict[str, Any],
    PlainValidator(_cells),
    WithJsonSchema(
        {
            "type": "object",
            "maxProperties": _MOST_CELLS,
            "properties": {"configuration": {"type": "object", "maxProperties": _MOST_CELLS,
                                             "additionalProperties": _CELL}},
            "additionalProperties": _CELL,
        }
    ),
]  # fmt: skip


class MeasurementsRequest(Model):
    """Rows as `pto-tune measure import` takes them: workload, platform or soc, timing, time_us or cycles, and if known
    pto_isa, repeats, spread_us, min_us, max_us, source, note; every other column is a problem size or tunable.
    `workload`, `platform` and `timing` hold for rows that do not say it."""

    rows: Annotated[list[Cells], Field(min_length=1, max_length=MOST_ROWS)]
    workload: Annotated[str, Field(max_length=64)] = ""
    platform: Annotated[str, Field(max_length=64)] = ""
    timing: Annotated[str, Field(max_length=64)] = ""
    source: Annotated[str, Field(max_length=_LONGEST_CELL)] = "API"


class FaultFacts(Model):
    """A row (counted from 1) that was left out, and why; `harmless`: rightly so. Row null: about several rows."""

    row: int | None
    text: str
    harmless: bool


class MeasurementsAnswer(Model):
    """What became of the rows: how many are measurements, how many of these are new, and what was left out."""

    measurements: int
    added: int
    already_there: int
    faults: list[FaultFacts]


@router.get("/measurements")
def measurements(site: OfSite, query: Annotated[MeasurementsQuery, Query()]) -> MeasurementList:
    """The measurements of the store."""
    filters = {name: getattr(query, name) for name in ("workload", "family", "platform", "timing")}
    end = query.offset + query.limit
    with store_errors(site, 404):
        found = site.store.measurements(limit=end, **filters)[query.offset :]
        total = site.store.count_measurements(**filters)
    return MeasurementList(
        total=total,
        offset=query.offset,
        limit=query.limit,
        next_offset=end if end < total else None,
        measurements=[_facts(m) for m in found],
    )


@router.post("/measurements", dependencies=[Depends(changes_allowed)], responses=declared(409))
def add_measurements(site: OfSite, request: MeasurementsRequest) -> MeasurementsAnswer:
    """Take measurements into the store. Rows with faults are told by number and left out, the others are taken; what
    is there already stays as it is. 422: no row can be taken."""
    found, faults = read_rows(request)
    bad = [fault for fault in faults if not fault.harmless]
    if bad and not found:
        raise wrong([("body/rows" if f.row is None else f"body/rows/{f.row - 1}", f.text) for f in bad])
    added = there = 0
    if found:
        with store_errors(site, 409):
            added, there = site.store.add_measurements(found)
    return MeasurementsAnswer(
        measurements=len(found),
        added=added,
        already_there=there,
        faults=[FaultFacts(row=f.row, text=f.text, harmless=f.harmless) for f in faults],
    )


def read_rows(request: MeasurementsRequest) -> tuple[list[Measurement], list[Fault]]:
    """The measurements of a request, none twice, and what was left out of it. Problem: nothing can be read."""
    from pto_tune.measuring.chips import Chips
    from pto_tune.measuring.faults import Fault, RowError
    from pto_tune.measuring.files import read_table
    from pto_tune.measuring.protocols import protocol
    from pto_tune.measuring.rows import NotMeasured, Rows

    with at("body/timing"):
        timing = protocol(request.timing) if request.timing else ""
    rows = Rows(Chips(), request.workload, request.platform, timing, source=request.source)
    # as the lines of a file, so that the same limits and sentences hold
    with at("body/rows"):
        table = read_table("\n".join(json.dumps(row) for row in request.rows), _WHERE)
    faults = list(table.faults)
    found: dict[str, tuple[int, Measurement]] = {}
    for number, cells in table.rows:
        try:
            measurement = rows.measurement(cells)
        except NotMeasured:
            faults.append(Fault(number, "it has no time yet and stays out", harmless=True))
        except RowError as error:
            faults += [Fault(number, sentence) for sentence in str(error).splitlines()]
        else:
            first = found.setdefault(measurement.digest, (number, measurement))
            if first[0] != number:
                faults.append(Fault(number, f"it says the same as row {first[0]}, which is enough", harmless=True))
    faults.sort(key=lambda fault: fault.row or 0)
    return [measurement for _, measurement in found.values()], faults


def _facts(m: StoredMeasurement) -> MeasurementFacts:
    return MeasurementFacts(
        id=m.id,
        imported_at=utc(m.imported_at),
        digest=m.digest,
        workload=m.workload,
        configuration=dict(m.configuration),
        family=m.family,
        platform=m.platform,
        soc=m.soc,
        pto_isa=m.pto_isa,
        timing=m.timing,
        metric=m.metric,
        value=m.value,
        repeats=m.repeats,
        spread=m.spread,
        minimum=m.minimum,
        maximum=m.maximum,
        source=m.source,
        note=m.note,
    )
