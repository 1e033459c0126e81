"""Routes of a run's configurations: paged, filtered and sorted, and as files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Field

from dashboards.api.models import Model
from dashboards.api.problems import Problem, at, declared
from dashboards.api.service import OfSite, RunRef, attachment, heavy, run_of, view_of
from dashboards.filtering import Filter, select
from dashboards.runview import BYTE_COLUMNS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dashboards.runview import RunView

router = APIRouter(tags=["results"])

MOST_RESULTS = 10_000
"""Configurations of one answer."""

_CSV_ROWS = 5_000
_PARQUET_ROWS = 50_000
_PARAMETERS = ("limit", "offset")

_FILTER_HELP = (
    "`row=17,18` (any of these); `NAME=4,8` for a tunable NAME, `t.NAME` where it would be taken for something else; "
    "`time_us_min=..`, `time_us_max=..` and likewise for row, cycles, on_chip_bytes, ub, l1, l0a, l0b, l0c, gm_ring, "
    "gm_traffic and tunables of whole numbers."
)


def _parameter(name: str, description: str) -> dict[str, Any]:
    schema = {"type": "string", "maxLength": 2000}
    return {"name": name, "in": "query", "required": False, "schema": schema, "description": description}


FILTERS: dict[str, Any] = {
    "parameters": [
        _parameter("sort", "Columns between commas; `-` in front is descending. Without: by row."),
        _parameter("verdict", "Verdicts between commas."),
        _parameter("rule", "Rules between commas; `–` is none."),
        _parameter("bound", "What bounds, between commas; `–` is none."),
        {
            "name": "columns", "in": "query", "required": False, "style": "form", "explode": True,
            "schema": {"type": "object", "additionalProperties": {"type": "string", "maxLength": 2000}},
            "description": f"Further filters, each a parameter of its own: {_FILTER_HELP}",
        },
    ]
}  # fmt: skip
"""The filters for the OpenAPI document: their names depend on the run."""


class Result(Model):
    """A configuration of a run. Times and bytes are null where there are none; `on_chip_bytes` is UB (of one vector
    sub-core), L1, L0A, L0B and L0C together. A tunable that does not apply is null."""

    row: int
    configuration: dict[str, int | str | None]
    verdict: str
    rule: str | None
    cycles: int | None
    time_us: float | None
    bound: str | None
    on_chip_bytes: int | None
    bytes: dict[str, int | None]


class ResultPage(Model):
    """Some of a run's configurations. `total`: how many the filters leave. `next_offset`: null on the last page."""

    run: int
    name: str
    state: str
    total: Annotated[int, Field(ge=0)]
    offset: int
    limit: int
    next_offset: int | None
    results: list[Result]


@router.get("/runs/{run}/results", openapi_extra=FILTERS)
def results(
    site: OfSite,
    request: Request,
    run: RunRef,
    limit: Annotated[int, Query(ge=1, le=MOST_RESULTS)] = 100,
    offset: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
) -> ResultPage:
    """Configurations of a run, filtered and sorted. Of a run that is still being written, as they were seconds ago."""
    found, view = run_of(site, run), view_of(site, run)
    positions = _selected(view, request)
    some = positions[offset : offset + limit]
    end = offset + len(some)
    return ResultPage(
        run=found.id,
        name=view.name,
        state=view.state,
        total=len(positions),
        offset=offset,
        limit=limit,
        next_offset=end if end < len(positions) else None,
        results=results_of(view, some),
    )


@router.get(
    "/runs/{run}/results.csv",
    response_class=StreamingResponse,
    responses={200: {"description": "CSV with titles.", "content": {"text/csv": {"schema": {"type": "string"}}}},
               **declared(409)},
    openapi_extra=FILTERS,
)  # fmt: skip
def results_csv(site: OfSite, request: Request, run: RunRef) -> StreamingResponse:
    """All configurations that the filters leave, as CSV. Nothing stands where there is no value."""
    found, view = run_of(site, run), view_of(site, run)
    positions = _selected(view, request)
    return StreamingResponse(
        _csv(view, positions),
        media_type="text/csv; charset=utf-8",
        headers=attachment(f"run-{found.id}-results.csv"),
    )


@router.get(
    "/runs/{run}/results.parquet",
    response_class=Response,
    responses={
        200: {
            "description": "A Parquet file.",
            "content": {"application/vnd.apache.parquet": {"schema": {"type": "string", "format": "binary"}}},
        },
        **declared(409, 501),
    },
    openapi_extra=FILTERS,
)
def results_parquet(site: OfSite, request: Request, run: RunRef) -> Response:
    """All configurations that the filters leave, as Parquet. 501: the server lacks pyarrow."""
    found, view = run_of(site, run), view_of(site, run)
    positions = _selected(view, request)
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise Problem(
            501, "Parquet needs an optional package on the server: pip install 'pto-tune[parquet]'"
        ) from error
    with heavy():
        content = _parquet(view, positions)
    return Response(
        content,
        media_type="application/vnd.apache.parquet",
        headers=attachment(f"run-{found.id}-results.parquet"),
    )


def results_of(view: RunView, positions: NDArray[np.int64]) -> list[Result]:
    """The configurations at `positions`, in this order."""
    names = [name for name, _ in view.tunables]
    values = [[_none(v) for v in view.values[name][positions].tolist()] for name in names]
    byte_names = [name for name in BYTE_COLUMNS if name in view.bytes]
    sizes = [_whole(view.bytes[name][positions]) for name in byte_names]
    return [
        Result(
            row=row,
            configuration={name: column[i] for name, column in zip(names, values, strict=True)},
            verdict=view.verdict_names[verdict],
            rule=_named(view.rule_names, rule),
            cycles=cycles,
            time_us=time_us,
            bound=_named(view.bound_names, bound),
            on_chip_bytes=on_chip,
            bytes={name: column[i] for name, column in zip(byte_names, sizes, strict=True)},
        )
        for i, (row, verdict, rule, cycles, time_us, bound, on_chip) in enumerate(
            zip(
                view.rows[positions].tolist(),
                view.verdict[positions].tolist(),
                view.rule[positions].tolist(),
                _whole(view.cycles[positions]),
                [None if t != t else t for t in view.time_us[positions].tolist()],
                view.bound[positions].tolist(),
                _whole(view.on_chip_bytes[positions]),
                strict=True,
            )
        )
    ]


def table(view: RunView, positions: NDArray[np.int64]) -> tuple[list[str], list[list[Any]]]:
    """Titles and columns of a file: row, tunables, verdict, rule, times, what bounds it, bytes. None where nothing is.

    A tunable whose name is one of these, or comes twice, is titled `t.NAME` and so on.
    """
    fixed = {
        "verdict": [view.verdict_names[v] for v in view.verdict[positions].tolist()],
        "rule": [_named(view.rule_names, v) for v in view.rule[positions].tolist()],
        "cycles": _whole(view.cycles[positions]),
        "time_us": [None if t != t else t for t in view.time_us[positions].tolist()],
        "bound": [_named(view.bound_names, v) for v in view.bound[positions].tolist()],
        "on_chip_bytes": _whole(view.on_chip_bytes[positions]),
        **{f"{name}_bytes": _whole(view.bytes[name][positions]) for name in BYTE_COLUMNS if name in view.bytes},
    }
    titles: list[str] = ["row"]
    columns: list[list[Any]] = [view.rows[positions].tolist()]
    for name, domain in view.tunables:
        title = name
        while title in titles or title in fixed:
            title = f"t.{title}"
        titles.append(title)
        column = [_none(v) for v in view.values[name][positions].tolist()]
        whole = all(type(v) is int for v in domain)
        columns.append(column if whole else [None if v is None else str(v) for v in column])
    return [*titles, *fixed], [*columns, *fixed.values()]


def _csv(view: RunView, positions: NDArray[np.int64]) -> Iterator[str]:
    titles = table(view, positions[:0])[0]
    yield _lines([titles])
    for start in range(0, len(positions), _CSV_ROWS):
        columns = table(view, positions[start : start + _CSV_ROWS])[1]
        yield _lines(zip(*columns, strict=True))


def _parquet(view: RunView, positions: NDArray[np.int64]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    titles, _ = table(view, positions[:0])
    words = {"verdict", "rule", "bound"}
    tunables = dict(zip(titles[1:], (domain for _, domain in view.tunables), strict=False))
    kinds = {
        title: pa.float64() if title == "time_us"
        else pa.string() if title in words or any(type(v) is not int for v in tunables.get(title, ()))
        else pa.int64()
        for title in titles
    }  # fmt: skip
    schema = pa.schema(list(kinds.items()))
    sink = io.BytesIO()
    with pq.ParquetWriter(sink, schema) as writer:
        # a part at a time: as Python's values, all rows of a large run would take a gigabyte
        for start in range(0, max(len(positions), 1), _PARQUET_ROWS):
            columns = table(view, positions[start : start + _PARQUET_ROWS])[1]
            arrays = [pa.array(column, type=kinds[title]) for title, column in zip(titles, columns, strict=True)]
            writer.write_table(pa.table(arrays, schema=schema))
    return sink.getvalue()


def _lines(rows: Any) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def _selected(view: RunView, request: Request) -> NDArray[np.int64]:
    query: Mapping[str, str] = request.query_params
    with at("query"):
        return select(view, Filter.from_query(query, ignore=_PARAMETERS))


def _named(names: Any, code: int) -> str | None:
    return str(names[code]) if code >= 0 else None


def _none(value: Any) -> int | str | None:
    return None if value is None else value if isinstance(value, int | str) else str(value)


def _whole(column: NDArray[np.float64]) -> list[int | None]:
    return [None if v != v else int(v) for v in column.tolist()]
