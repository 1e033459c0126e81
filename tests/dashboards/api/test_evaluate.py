"""Predictions for a table of configurations."""

from __future__ import annotations

from typing import Any

import pytest

import pto_tune.api as service

TABLE = {"s0": 512, "s1": 512, "fifo_depth": [1, 2, 4, 8], "tile_s1": [128, 128, 256, 128]}


def test_columns_give_what_the_library_gives(reader: Any) -> None:
    found = reader.post("/evaluate", {"workload": "flash_attention", "columns": TABLE}).json()
    frame = service.evaluate("flash_attention", TABLE)
    assert found["count"] == 4
    assert found["verdict"] == frame["verdict"].tolist()
    assert found["reason"] == frame["reason"].tolist()
    assert found["exportable"] == frame["exportable"].tolist()
    assert [c for c in found["cycles"] if c is not None] == frame["cycles"].dropna().tolist()
    assert [c is None for c in found["cycles"]] == frame["cycles"].isna().tolist()
    assert found["bytes"]["UB"] == frame["bytes.UB"].tolist()
    assert found["configuration"]["split"] == ["UP_DOWN"] * 4


def test_rows_give_the_same_as_columns(reader: Any) -> None:
    rows = [{"fifo_depth": d, "split": "UP_DOWN"} for d in (2, 4, 8)]
    by_rows = reader.post("/evaluate", {"workload": "flash_attention", "rows": rows}).json()
    columns = {"fifo_depth": [2, 4, 8], "split": "UP_DOWN"}
    assert by_rows == reader.post("/evaluate", {"workload": "flash_attention", "columns": columns}).json()


def test_an_empty_row_is_the_default_configuration(reader: Any) -> None:
    found = reader.post("/evaluate", {"workload": "gemm", "rows": [{}, {}]}).json()
    assert found["count"] == 2
    assert found["cycles"][0] == found["cycles"][1] == service.evaluate("gemm")["cycles"][0]


def test_platform_rules_and_timing_count(reader: Any) -> None:
    base = {"workload": "flash_attention", "columns": {"s0": 512, "s1": 512}}
    device = reader.post("/evaluate", {**base, "timing": "device"}).json()
    task = reader.post("/evaluate", base).json()
    assert device["cycles"] == task["cycles"]
    assert device["time_us"][0] < task["time_us"][0]
    rules = reader.post("/evaluate", {**base, "pto_isa": "a2a3-rendezvous"}).json()
    assert (rules["rule_set"], task["rule_set"]) == ("a2a3-rendezvous", "a2a3")


def test_a_hundred_thousand_rows_fit(reader: Any) -> None:
    depth = [1 + i % 8 for i in range(100_000)]
    body = {"workload": "stream", "columns": {"fifo_depth": depth}}
    found = reader.post("/evaluate", body).json()
    assert found["count"] == 100_000
    assert found["reason"] is None
    assert found["configuration"]["fifo_depth"] == depth


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "body"),
        ({"columns": {}}, "body/columns"),
        ({"rows": []}, "body/rows"),
        ({"columns": {"fifo_depth": 4}, "rows": [{}]}, "body"),
        ({"columns": {"nope": 4}}, "body/columns/nope"),
        ({"columns": {"fifo_depth": [1, 2], "tile_s1": [64, 128, 256]}}, "body/columns/fifo_depth"),
        ({"columns": {"fifo_depth": [1, 0.5]}}, "body/columns/fifo_depth"),
        ({"columns": {"fifo_depth": []}}, "body/columns/fifo_depth"),
        ({"columns": {"fifo_depth": [1] * 100_001}}, "body/columns/fifo_depth"),
        ({"columns": {"fifo_depth": 10_000}}, "body/columns/fifo_depth"),
        ({"columns": {"split": "SIDEWAYS"}}, "body/columns/split"),
        ({"rows": [{"fifo_depth": 1}, {"tile_s1": 1}]}, "body/rows/1"),
        ({"rows": [{"fifo_depth": None}]}, "body/rows/0"),
        ({"rows": [3]}, "body/rows/0"),
    ],
)
def test_wrong_tables_are_told_with_their_place(reader: Any, problem_of: Any, body: dict[str, Any], path: str) -> None:
    found = problem_of(reader.post("/evaluate", {"workload": "flash_attention", **body}), 422)
    assert path in [e["path"] for e in found["errors"]]


def test_workloads_with_ranks_have_a_lower_limit(reader: Any, problem_of: Any) -> None:
    body = {"workload": "gemm_allreduce", "columns": {"base_m": [64] * 1001}}
    assert "at most 1,000" in problem_of(reader.post("/evaluate", body), 422)["detail"]


def test_at_most_so_many_compute_at_once(reader: Any, problem_of: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from dashboards.api import service as shared

    monkeypatch.setattr(shared, "HEAVY_WAIT_S", 0.05)
    with shared.heavy(), shared.heavy():
        problem_of(reader.post("/evaluate", {"workload": "gemm", "rows": [{}]}), 503)
    assert reader.post("/evaluate", {"workload": "gemm", "rows": [{}]}).status_code == 200
