"""Measurements: rows in, each once; bad rows by number."""

from __future__ import annotations

from typing import Any

ROW = {"workload": "gemm", "platform": "ascend910b2", "timing": "task", "time_us": 100.5, "m": 512, "repeats": 3}


def test_rows_go_in_once(writer: Any) -> None:
    rows = [ROW, {**ROW, "m": 1024}, {**ROW}]
    first = writer.post("/measurements", {"rows": rows}).json()
    assert (first["measurements"], first["added"], first["already_there"]) == (2, 2, 0)
    assert [(f["row"], f["harmless"]) for f in first["faults"]] == [(3, True)]
    again = writer.post("/measurements", {"rows": rows}).json()
    assert (again["measurements"], again["added"], again["already_there"]) == (2, 0, 2)
    listed = writer.get("/measurements").json()
    assert listed["total"] == 2
    assert [m["configuration"]["m"] for m in listed["measurements"]] == [512, 1024]
    assert listed["measurements"][0]["value"] == 100.5
    assert listed["measurements"][0]["source"] == "API"


def test_they_are_those_of_the_command(writer: Any, tmp_path: Any) -> None:
    import json

    from pto_tune.measuring.reading import read_measurements

    rows = [
        ROW,
        {"workload": "gemm", "soc": "Ascend 910B2", "timing": "event", "cycles": 7, "configuration": {"m": 64}},
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    expected = [m.digest for m in read_measurements(path)[0]]
    writer.post("/measurements", {"rows": rows})
    assert [m["digest"] for m in writer.get("/measurements").json()["measurements"]] == expected


def test_bad_rows_are_told_by_number_and_the_others_taken(writer: Any) -> None:
    rows = [{**ROW, "time_us": "x"}, ROW, {**ROW, "workload": "../nope"}, {**ROW, "time_us": None}]
    found = writer.post("/measurements", {"rows": rows}).json()
    assert found["added"] == 1
    assert {f["row"] for f in found["faults"] if not f["harmless"]} == {1, 3}
    assert {f["row"] for f in found["faults"] if f["harmless"]} == {4}


def test_nothing_but_bad_rows_is_an_error(writer: Any, problem_of: Any) -> None:
    found = problem_of(writer.post("/measurements", {"rows": [ROW | {"nope": 1}, {"time_us": 1}]}), 422)
    assert {e["path"] for e in found["errors"]} == {"body/rows/0", "body/rows/1"}
    assert writer.get("/measurements").json()["total"] == 0


def test_defaults_of_the_request_hold_for_rows_that_do_not_say_it(writer: Any) -> None:
    body = {"rows": [{"time_us": 3}], "workload": "gemm", "platform": "ascend910b2", "timing": "profiler"}
    assert writer.post("/measurements", body).json()["added"] == 1
    (found,) = writer.get("/measurements?workload=gemm&timing=task").json()["measurements"]
    assert found["platform"] == "ascend910b2"


def test_pages_and_filters(writer: Any) -> None:
    writer.post("/measurements", {"rows": [{**ROW, "m": 64 * (i + 1)} for i in range(5)]})
    page = writer.get("/measurements?limit=2&offset=2").json()
    assert [m["configuration"]["m"] for m in page["measurements"]] == [192, 256]
    assert (page["total"], page["next_offset"]) == (5, 4)
    assert writer.get("/measurements?workload=stream").json()["total"] == 0


def test_wrong_requests(writer: Any, problem_of: Any) -> None:
    for body in (
        {"rows": []}, {"rows": [ROW] * 20_001}, {"rows": [3]}, {"rows": [{"note": "x" * 2001}]},
        {"rows": [ROW], "x": 1}, {"rows": [{str(i): 1 for i in range(200)}]}, {"rows": [ROW], "timing": "clock"},
    ):  # fmt: skip
        problem_of(writer.post("/measurements", body), 422)
    problem_of(writer.get("/measurements?limit=0"), 422)
    problem_of(writer.get("/measurements?nope=1"), 422)
    assert writer.get("/measurements").json()["total"] == 0
