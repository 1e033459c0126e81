"""Results of a run: pages, filters, files; one configuration with its explanation, trace and export."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest

from dashboards.api.results import results_of, table


def rows_of(reader: Any, query: str = "") -> list[dict[str, Any]]:
    found = reader.get(f"/runs/1/results?limit=10000{query}").json()
    assert found["total"] == len(found["results"])
    out: list[dict[str, Any]] = found["results"]
    return out


def test_pages_add_up(reader: Any) -> None:
    every = rows_of(reader)
    assert [r["row"] for r in every] == list(range(192))
    seen, offset = [], 0
    while offset is not None:
        page = reader.get(f"/runs/1/results?limit=7&offset={offset}").json()
        seen += page["results"]
        offset = page["next_offset"]
    assert seen == every
    assert reader.get("/runs/1/results?offset=1000").json()["results"] == []


def test_filters_and_order(reader: Any) -> None:
    ok = rows_of(reader, "&verdict=ok&sort=-time_us")
    assert ok
    times = [r["time_us"] for r in ok]
    assert times == sorted(times, reverse=True)
    assert {r["verdict"] for r in ok} == {"ok"}
    deep = rows_of(reader, "&fifo_depth=8&qk_preload=4")
    assert {(r["configuration"]["fifo_depth"], r["configuration"]["qk_preload"]) for r in deep} == {(8, 4)}
    middle = times[len(times) // 2]
    assert all(r["time_us"] <= middle for r in rows_of(reader, f"&time_us_max={middle}"))


def test_refused_ones_have_a_rule_and_no_time(reader: Any) -> None:
    refused = [r for r in rows_of(reader) if r["verdict"] != "ok" and r["cycles"] is None]
    assert refused
    assert all(r["rule"] and r["time_us"] is None for r in refused)


@pytest.mark.parametrize(
    "query",
    ["nope=1", "fifo_depth=99", "time_us_min=x", "verdict=' OR 1=1 --", "sort=nope", "row=x", "limit=0",
     "limit=10001", "offset=-1", "limit=x", "fifo_depth_min=nan", "%00=1", "../x=1"],
)  # fmt: skip
@pytest.mark.parametrize("file", ["results", "results.csv", "results.parquet"])
def test_wrong_queries_are_refused(reader: Any, problem_of: Any, query: str, file: str) -> None:
    if file != "results" and query.startswith(("limit", "offset")):
        return  # files have all rows
    found = problem_of(reader.get(f"/runs/1/{file}?{query}"), 422)
    assert found["errors"][0]["path"].startswith("query")


def test_csv_has_the_same_rows(reader: Any) -> None:
    response = reader.get("/runs/1/results.csv?verdict=ok&sort=time_us")
    assert response.headers["content-type"] == "text/csv; charset=utf-8"
    assert response.headers["content-disposition"] == 'attachment; filename="run-1-results.csv"'
    found = list(csv.DictReader(io.StringIO(response.text)))
    rows = rows_of(reader, "&verdict=ok&sort=time_us")
    assert [int(r["row"]) for r in found] == [r["row"] for r in rows]
    assert [float(r["time_us"]) for r in found] == [r["time_us"] for r in rows]
    assert found[0]["split"] == rows[0]["configuration"]["split"]
    assert found[0]["rule"] == ""


def test_parquet_has_the_same_rows(reader: Any) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    response = reader.get("/runs/1/results.parquet?verdict=ok&sort=time_us")
    found = pq.read_table(io.BytesIO(response.content)).to_pylist()
    rows = rows_of(reader, "&verdict=ok&sort=time_us")
    assert [r["row"] for r in found] == [r["row"] for r in rows]
    assert [r["cycles"] for r in found] == [r["cycles"] for r in rows]
    assert found[0]["rule"] is None
    assert found[0]["split"] == rows[0]["configuration"]["split"]
    # a run without a legal configuration, and a filter that leaves nothing, keep the types
    types = pq.read_schema(io.BytesIO(response.content))
    empty = reader.get("/runs/1/results.parquet?time_us_max=0")
    assert pq.read_table(io.BytesIO(empty.content)).num_rows == 0
    assert pq.read_schema(io.BytesIO(empty.content)) == types


def test_large_files_come_in_parts(make_view: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    from dashboards.api import results

    pq = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(results, "_PARQUET_ROWS", 2)
    monkeypatch.setattr(results, "_CSV_ROWS", 4)
    view = make_view()
    order = np.array([5, 3, 1, 0, 2])
    rows = view.rows[order].tolist()
    assert pq.read_table(io.BytesIO(results._parquet(view, order)))["row"].to_pylist() == rows
    lines = "".join(results._csv(view, order)).splitlines()
    assert [int(line.split(",")[0]) for line in lines[1:]] == rows


def test_parquet_without_its_package_says_what_to_install(
    reader: Any, problem_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "pip install 'pto-tune[parquet]'" in problem_of(reader.get("/runs/1/results.parquet"), 501)["detail"]


def test_titles_stay_apart(make_view: Any) -> None:
    import numpy as np

    view = make_view(
        tunables=[("row", (1, 2)), ("t.row", (1, 2)), ("cycles", ("a,b", 'c"d'))],
        values={
            "row": np.array([1, 2, 1, 2, 1, 2]),
            "t.row": np.array([1, 1, 1, 2, 2, 2]),
            "cycles": np.array(["a,b", 'c"d', None, "a,b", "a,b", "a,b"], dtype=object),
        },
    )
    titles, columns = table(view, np.array([2, 0]))
    assert titles[:4] == ["row", "t.row", "t.t.row", "t.cycles"]
    assert len(set(titles)) == len(titles)
    assert columns[3] == [None, "a,b"]
    found = results_of(view, np.array([2, 4]))
    assert found[0].configuration["cycles"] is None
    assert (found[0].cycles, found[0].time_us) == (8000, 10.0)
    assert (found[1].cycles, found[1].time_us, found[1].rule) == (None, None, "l1_capacity")


def test_the_best_configuration_is_explained(reader: Any) -> None:
    best = reader.get("/runs/1").json()["best_row"]
    found = reader.get(f"/runs/1/configurations/{best}").json()
    assert found["place"] == 1
    assert found["not_explained"] == ""
    explanation = found["explanation"]
    assert (explanation["cycles"], explanation["time_us"]) == (found["cycles"], found["time_us"])
    assert sum(s["cycles"] for s in explanation["segments"]) == explanation["block_cycles"]
    assert explanation["interval"] is None
    sure = reader.get(f"/runs/1/configurations/{best}?sure=true").json()["explanation"]
    assert sure["interval"]["low_us"] <= sure["interval"]["median_us"] <= sure["interval"]["high_us"]
    assert sure["leans_on"]


def test_a_refused_configuration_says_why_and_has_no_files(reader: Any, problem_of: Any) -> None:
    row = next(r["row"] for r in rows_of(reader) if r["verdict"] == "refused")
    found = reader.get(f"/runs/1/configurations/{row}").json()
    assert found["place"] is None
    assert found["explanation"]["findings"][0]["rule"] == found["rule"]
    assert "no timeline" in problem_of(reader.get(f"/runs/1/configurations/{row}/trace"), 409)["detail"]
    assert (
        "only configurations with verdict ok"
        in problem_of(reader.get(f"/runs/1/configurations/{row}/export/header"), 409)["detail"]
    )


def test_the_trace_is_one_for_perfetto(reader: Any) -> None:
    best = reader.get("/runs/1").json()["best_row"]
    response = reader.get(f"/runs/1/configurations/{best}/trace")
    assert response.headers["content-disposition"] == f'attachment; filename="run-1-row-{best}.json"'
    events = json.loads(response.text)["traceEvents"]
    assert {"M", "X", "s", "f"} <= {e["ph"] for e in events}


def test_the_header_is_that_of_the_command(reader: Any, small_store: Any, tmp_path: Any) -> None:
    from pto_tune.cli.export import write
    from pto_tune.cli.stored import entry_of

    run = small_store.find_run(1)
    path = write(run, entry_of(small_store, run, None), None, tmp_path / "x.hpp", "pto_tune_config", False)
    response = reader.get(f"/runs/1/configurations/{run.best_row}/export/header")
    assert response.content == path.read_bytes()
    assert response.headers["content-disposition"].endswith('.hpp"')


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/runs/1/configurations/99999", 404),
        ("/runs/1/configurations/-1", 422),
        ("/runs/1/configurations/x", 422),
        ("/runs/1/configurations/99999999999999", 422),
        ("/runs/9/configurations/1", 404),
        ("/runs/1/configurations/1/export/nope", 404),
        ("/runs/1/configurations/1/export/..%2F..%2Fx", 404),
        ("/runs/9/results.csv", 404),
        ("/runs/9/results.parquet", 404),
        ("/runs/9/report.html", 404),
    ],
)
def test_what_is_not_there(reader: Any, problem_of: Any, path: str, status: int) -> None:
    problem_of(reader.get(path), status)


def test_a_run_of_other_numbers_is_shown_but_not_explained(
    own_site: Any, writer: Any, problem_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pto_tune.search.strategies import SearchError
    from pto_tune.tuning import tune

    tune("stream", store=own_site.store, budget=20, strategy="exhaustive")

    def changed(_: Any) -> Any:
        raise SearchError("the numbers of the platform are others by now: tune again")

    monkeypatch.setattr(own_site.views, "search", changed)
    found = writer.get("/runs/1/configurations/0").json()
    assert found["explanation"] is None
    assert "tune again" in found["not_explained"]
    assert "tune again" in problem_of(writer.get("/runs/1/configurations/0/trace"), 409)["detail"]
    assert "tune again" in problem_of(writer.get("/runs/1/configurations/0/export/header"), 409)["detail"]
