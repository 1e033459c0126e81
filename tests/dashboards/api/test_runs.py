"""Runs: list, read, start, watch, stop; and what a server that only reads refuses."""

from __future__ import annotations

import time
from typing import Any

import pytest

BODY = {"workload": "flash_attention", "problem": {"s0": 512, "s1": 512}, "domains": {"fifo_depth": [4, 8]}}


def test_runs_are_listed_newest_first_and_paged(reader: Any) -> None:
    found = reader.get("/runs").json()
    assert [r["id"] for r in found["runs"]] == [2, 1]
    assert found["total"] == 2
    assert found["next_offset"] is None
    first = reader.get("/runs?limit=1").json()
    assert ([r["id"] for r in first["runs"]], first["next_offset"]) == ([2], 1)
    assert [r["id"] for r in reader.get("/runs?limit=1&offset=1").json()["runs"]] == [1]
    assert [r["id"] for r in reader.get("/runs?workload=stream").json()["runs"]] == [2]


@pytest.mark.parametrize("ref", ["1", "attention"])
def test_a_run_by_number_and_name(reader: Any, ref: str) -> None:
    found = reader.get(f"/runs/{ref}").json()
    assert (found["id"], found["name"], found["state"]) == (1, "attention", "done")
    assert found["best_us"] == pytest.approx(found["best_cycles"] / found["clock_mhz"] + found["launch_us"])
    assert sum(n for by_rule in found["counts"].values() for n in by_rule.values()) == found["n_evaluated"]
    assert found["created_at"].endswith("Z")


def test_latest_and_odd_names(reader: Any) -> None:
    assert reader.get("/runs/latest").json()["id"] == 2
    odd = reader.get("/runs/2").json()["name"]
    assert reader.get(f"/runs/{odd.replace('/', '%2F')}").status_code == 404
    assert odd == '<b>"odd"</b> 管道 🚀'


@pytest.mark.parametrize("ref", ["99", "nope", "' OR 1=1 --", "%00", "9" * 190, "٣", "..", "latest "])
def test_unknown_runs_are_not_found_and_the_store_stays_unnamed(reader: Any, problem_of: Any, ref: str) -> None:
    detail = problem_of(reader.get(f"/runs/{ref}"), 404)["detail"]
    assert "sqlite" not in detail


def test_a_name_that_is_too_long_is_refused(reader: Any, problem_of: Any) -> None:
    assert problem_of(reader.get("/runs/" + "x" * 300), 422)["errors"][0]["path"] == "path/run"


def test_a_done_run_has_all_its_progress(reader: Any) -> None:
    found = reader.get("/runs/1/progress").json()
    assert found["done"] == found["total"] == 192
    assert found["here"] is False
    ok = reader.get("/runs/1/results?verdict=ok&limit=1").json()["total"]
    assert found["legal"] == ok > 0
    assert reader.get("/runs/2/progress").json()["legal"] == 0


@pytest.mark.parametrize(
    ("path", "body"), [("/runs", BODY), ("/runs/1/stop", None), ("/measurements", {"rows": [{"workload": "gemm"}]})]
)
def test_a_server_that_only_reads_changes_nothing(reader: Any, problem_of: Any, path: str, body: Any) -> None:
    assert "--allow-runs" in problem_of(reader.post(path, body), 403)["detail"]


def test_the_report_is_one_page(reader: Any) -> None:
    response = reader.get("/runs/attention/report.html")
    assert response.status_code == 200
    assert response.headers["content-type"] == "text/html; charset=utf-8"
    assert "<title>" in response.text
    assert "attention" in response.text


def test_start_watch_and_read(writer: Any, own_site: Any) -> None:
    response = writer.post("/runs", {**BODY, "name": "mine 🚀", "budget": 400, "strategy": "exhaustive"})
    assert response.status_code == 201, response.text
    started = response.json()
    assert response.headers["location"] == f"/runs/{started['id']}"
    assert started["name"] == "mine 🚀"
    assert own_site.sweeps.wait(started["id"], 300)
    now = writer.get(f"/runs/{started['id']}/progress").json()
    assert (now["state"], now["done"], now["total"]) == ("done", 400, 400)
    assert writer.get(f"/runs/{started['id']}/results?limit=1").json()["total"] == 400


def test_stop_keeps_what_is_done(writer: Any, own_site: Any, problem_of: Any) -> None:
    wide = {"cube_s0": list(range(16, 400)), "fifo_depth": list(range(1, 60)), "tile_s1": [128, 256]}
    run = writer.post("/runs", {**BODY, "domains": wide, "strategy": "random", "budget": 1_000_000}).json()["id"]
    end = time.monotonic() + 60
    seen: list[int] = []
    while len(set(seen)) < 3 and time.monotonic() < end:
        now = writer.get(f"/runs/{run}/progress").json()
        assert now["here"]
        seen.append(now["done"])
        time.sleep(0.05)
    assert seen == sorted(seen)
    assert len(set(seen)) >= 3, "the progress did not move"
    assert writer.post(f"/runs/{run}/stop").status_code == 202
    assert own_site.sweeps.wait(run, 300)
    ended = writer.get(f"/runs/{run}").json()
    assert ended["state"] == "stopped"
    assert ended["n_evaluated"] >= max(seen)
    assert writer.get(f"/runs/{run}/results?limit=1").json()["total"] == ended["n_evaluated"]
    assert "not running" in problem_of(writer.post(f"/runs/{run}/stop"), 409)["detail"]


def test_names_are_taken_once(writer: Any, own_site: Any, problem_of: Any) -> None:
    body = {**BODY, "budget": 10, "name": "once"}
    run = writer.post("/runs", body).json()["id"]
    assert own_site.sweeps.wait(run, 300)
    assert "once" in problem_of(writer.post("/runs", body), 409)["detail"]


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"name": "12"}, "body/name"),
        ({"name": "latest"}, "body/name"),
        ({"name": "a\tb"}, "body/name"),
        ({"name": "x" * 201}, "body/name"),
        ({"budget": 0}, "body/budget"),
        ({"seconds": 0}, "body/seconds"),
        ({"seed": -1}, "body/seed"),
        ({"strategy": "luck"}, "body/strategy"),
        ({"timing": "clock"}, "body/timing"),
        ({"platform": "/tmp/x.toml"}, "body/platform"),
        ({"workload": "./x.json"}, "body/workload"),
        ({"pto_isa": "0000000"}, "body/pto_isa"),
        ({"domains": {"fifo_depth": [0]}}, "body/domains/fifo_depth"),
        ({"domains": {n: list(range(1, 250)) for n in ("fifo_depth", "pv_fifo_depth")}, "strategy": "exhaustive"},
         "body/domains"),
    ],
)  # fmt: skip
def test_wrong_wishes_start_nothing(writer: Any, problem_of: Any, change: dict[str, Any], path: str) -> None:
    found = problem_of(writer.post("/runs", {**BODY, **change}), 422)
    assert path in [e["path"] for e in found["errors"]]
    assert writer.get("/runs").json()["total"] == 0


def test_a_failure_inside_says_nothing_of_the_inside(own_site: Any, client_of: Any, problem_of: Any) -> None:
    import logging

    from dashboards.api.app import api

    def broken() -> Any:
        raise RuntimeError("the secret path /root/x")

    own_site.store.runs = broken
    log = logging.getLogger("pto_tune.serve")
    log.disabled = True
    try:
        found = problem_of(client_of(api(own_site)).get("/runs"), 500)
    finally:
        log.disabled = False
    assert "secret" not in str(found)


def test_a_database_that_fails_is_503(own_site: Any, client_of: Any, problem_of: Any) -> None:
    from dashboards.api.app import api
    from db import StoreError

    def broken(_: Any) -> Any:
        raise StoreError("sqlite:////root/x answered with an error: disk I/O error") from OSError("disk")

    own_site.store.find_run = broken
    assert "/root" not in str(problem_of(client_of(api(own_site)).get("/runs/1"), 503))
