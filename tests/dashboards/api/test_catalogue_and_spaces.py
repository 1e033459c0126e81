"""What is built in, and how many configurations are legal."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dashboards.api import counting
from dashboards.api.counting import SAMPLE, SAMPLE_RANKS, checked_space, count_legal, wilson
from pto_tune import legality
from pto_tune.api import problem_of as kernel_of
from pto_tune.evaluation import evaluate_columns
from pto_tune.space import Space, space


def test_lists_what_is_built_in(reader: Any) -> None:
    from pto_tune.api import platform_names, workload_names

    assert [w["name"] for w in reader.get("/workloads").json()] == workload_names()
    assert [p["name"] for p in reader.get("/platforms").json()] == platform_names()


def test_a_workload_says_what_can_be_set(reader: Any) -> None:
    found = reader.get("/workloads/flash_attention").json()
    depth = next(t for t in found["tunables"] if t["name"] == "fifo_depth")
    assert depth["minimum"] == 1
    assert depth["default"] in depth["domain"]
    assert found["size"] == np.prod([len(t["domain"]) for t in found["tunables"]])
    split = next(t for t in found["tunables"] if t["name"] == "split")
    assert split["domain"] == split["labels"]


def test_a_platform_says_where_its_numbers_come_from(reader: Any) -> None:
    found = reader.get("/platforms/ascend910b2").json()
    assert found["family"] == "a2a3"
    assert [r["name"] for r in found["rule_sets"] if r["default"]] == ["a2a3"]
    assert all(n["kind"] and n["source"] for n in found["numbers"])


@pytest.mark.parametrize("path", ["/workloads/nope", "/platforms/nope", "/workloads/a.json", "/platforms/x.toml"])
def test_unknown_names_are_not_found(reader: Any, problem_of: Any, path: str) -> None:
    assert "choose one of" in problem_of(reader.get(path), 404)["detail"]


def test_a_small_space_is_counted_as_the_evaluation_judges_it(reader: Any) -> None:
    domains = {"cube_s0": [64, 128, 256], "tile_s1": [64, 256], "fifo_depth": [1, 2, 8]}
    answer = reader.post("/spaces", {"workload": "flash_attention", "domains": domains}).json()
    kernel = kernel_of("flash_attention")
    found = space(kernel.workload, {}, domains)
    e = evaluate_columns(kernel, found.table(np.arange(found.size)))
    names = {r for r, n in e.counts().get("refused", {}).items() if n}
    legal = int((e.run_row >= 0).sum())
    assert answer["size"] == found.size
    assert answer["exact"]
    assert answer["legal"] == answer["low"] == answer["high"] == legal
    assert 0 < legal < found.size
    assert names <= set(answer["refused"])
    assert answer["looked_at"] == found.size
    assert answer["domains"]["split"] == ["NO_SPLIT", "UP_DOWN"]


def test_what_takes_too_long_is_estimated_with_an_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = kernel_of("flash_attention")
    inner = {"cube_s1": [128], "tile_s1": [128, 256], "qk_preload": [2, 4], "sync_period": [0], "split": [1]}
    whole = space(kernel.workload, {}, {**inner, "cube_s0": [64, 128, 256], "fifo_depth": list(range(1, 33))})
    exact = count_legal(kernel, whole)
    assert exact.exact
    # the same tunables with values repeated in effect: fifo_depth does not decide legality up to its memory
    large = space(
        kernel.workload,
        {},
        {**inner, "cube_s0": [64, 128, 256], "fifo_depth": list(range(1, 33)), "qk_preload": list(range(2, 65)),
         "pv_fifo_depth": list(range(60))},
    )  # fmt: skip
    truth = count_legal(kernel, large)
    assert truth.exact
    assert truth.legal == sum(_legal_chunk(kernel, large, at) for at in range(0, large.size, 50_000))
    assert sum(truth.refused.values()) == large.size - truth.legal
    monkeypatch.setattr(counting, "COUNT_S", -1.0)
    found = count_legal(kernel, large)
    assert not found.exact
    assert sum(found.refused.values()) == SAMPLE - round(found.legal * SAMPLE / large.size)
    assert found.looked_at == SAMPLE
    assert found.low <= found.legal <= found.high <= large.size
    assert found.low <= truth.legal <= found.high


def _legal_chunk(kernel: Any, large: Space, start: int) -> int:
    from pto_tune.lowering.columns import environment

    rows = np.arange(start, min(start + 50_000, large.size))
    env = environment(kernel.workload, {**large.table(rows), "block": np.zeros(len(rows), dtype=np.int64)})
    broken = np.zeros(len(rows), dtype=bool)
    for rule in legality.check(kernel.workload, kernel.platform, kernel.rule_set, env, len(rows)):
        if rule.verdict == "refused":
            broken |= rule.broken
    return int((~broken).sum())


def test_a_space_beyond_64_bits_is_estimated_too(reader: Any) -> None:
    names = [t.name for t in kernel_of("flash_attention").workload.tunables if t.name not in ("split", "sync_period")]
    ranges = {"cube_s0": 16, "cube_s1": 16, "tile_s1": 16, "pv_fifo_depth": 0}
    domains = {
        n: list(range(ranges.get(n, 1), ranges.get(n, 1) + (64 if n in ("qk_preload",) else 200))) for n in names
    }
    answer = reader.post("/spaces", {"workload": "flash_attention", "domains": domains}).json()
    assert answer["size"] == np.prod([len(d) for d in answer["domains"].values()], dtype=object)
    assert not answer["exact"]


def test_workloads_with_ranks_have_a_smaller_sample(reader: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "COUNT_S", -1.0)
    answer = reader.post("/spaces", {"workload": "allgather_gemm"}).json()
    assert (answer["exact"], answer["looked_at"]) == (False, SAMPLE_RANKS)
    monkeypatch.undo()
    small = {"base_m": [64], "base_n": [64], "blocks": [20]}
    assert reader.post("/spaces", {"workload": "gemm_allreduce", "domains": small}).json()["exact"]


def test_the_sample_has_a_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "COUNT_S", -1.0)
    kernel = kernel_of("flash_attention")
    large = space(kernel.workload, {}, {"cube_s0": list(range(16, 300)), "fifo_depth": list(range(1, 30))})
    assert count_legal(kernel, large) == count_legal(kernel, large)
    assert count_legal(kernel, large, seed=1).legal != count_legal(kernel, large).legal


def test_the_interval_is_wilsons() -> None:
    # worked out by hand: z = 1.96, p = 0.5, n = 100
    low, high = wilson(50, 100)
    assert (low, high) == pytest.approx((0.4038, 0.5962), abs=1e-4)
    assert wilson(0, 100) == pytest.approx((0, 0.0370), abs=1e-4)
    assert wilson(100, 100)[1] == pytest.approx(1.0)


def test_everything_that_is_wrong_is_told_with_its_place(reader: Any, problem_of: Any) -> None:
    found = problem_of(
        reader.post(
            "/spaces",
            {
                "workload": "flash_attention",
                "problem": {"s0": -1, "fifo_depth": 2, "nope": 3},
                "domains": {"cube_s0": [16, 16], "s1": [3], "split": ["SIDEWAYS"]},
            },
        ),
        422,
    )
    assert {e["path"] for e in found["errors"]} == {
        "body/problem/s0", "body/problem/fifo_depth", "body/problem/nope",
        "body/domains/cube_s0", "body/domains/s1", "body/domains/split",
    }  # fmt: skip
    assert "belongs into domains" in next(e["detail"] for e in found["errors"] if e["path"].endswith("fifo_depth"))


HOSTILE = ["../../etc/passwd", "/etc/passwd", "x'; DROP TABLE run; --", "a\x00b", "", "x" * 5000, "\N{BOMB}", "%2e%2e"]


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("field", ["workload", "platform", "pto_isa"])
def test_names_in_a_body_are_never_paths(reader: Any, problem_of: Any, field: str, name: str) -> None:
    found = problem_of(reader.post("/spaces", {"workload": "flash_attention", field: name}), 422)
    assert found["errors"][0]["path"] == f"body/{field}"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"x"',
        b'{"workload": "\\ud800"}',
        b'{"workload": "flash_attention", "problem": {"\\ud800": 1}}',
        b'{"workload": "flash_attention", "problem": {"s0": 1e999}}',
        b'{"workload": "flash_attention", "problem": {"s0": NaN}}',
        b'{"workload": "flash_attention", "problem": {"s0": true}}',
        b'{"workload": "flash_attention", "problem": {"s0": 99999999999999999999}}',
        b'{"workload": "flash_attention", "domains": {"fifo_depth": []}}',
        b'{"workload": "flash_attention", "domains": {"fifo_depth": 3}}',
        b'{"workload": "flash_attention", "extra": 1}',
        b"[" * 5000,
        b"\xff\xfe",
    ],
)
def test_bodies_that_are_none_are_refused_in_words(reader: Any, problem_of: Any, body: bytes) -> None:
    response = reader.request("POST", "/spaces", content=body, headers={"content-type": "application/json"})
    problem_of(response, response.status_code)
    assert response.status_code in (400, 422)


def test_domains_have_a_limit_together(reader: Any, problem_of: Any) -> None:
    wide = {n: list(range(16, 4016)) for n in ("cube_s0", "cube_s1", "tile_s1")}
    found = problem_of(reader.post("/spaces", {"workload": "flash_attention", "domains": wide}), 422)
    assert [e["path"] for e in found["errors"]] == ["body/domains"]


@pytest.mark.parametrize("name", ["flash_attention", "gemm", "stream", "tput_pingpong"])
def test_a_checked_space_is_that_of_a_sweep(name: str) -> None:
    workload = kernel_of(name).workload
    sizes = {workload.problem[0].name: workload.problem[0].default + 1}
    domains = {t.name: [t.domain[-1]] for t in workload.tunables[:2]}
    assert checked_space(workload, sizes, domains) == (space(workload, sizes, domains), [])
    assert checked_space(workload, {}, {}) == (space(workload), [])


def test_a_space_by_hand() -> None:
    workload = kernel_of("stream").workload
    found, faults = checked_space(workload, {}, {"fifo_depth": [2, 4]})
    assert faults == []
    assert found is not None
    assert dict(found.domains)["fifo_depth"] == (2, 4)
    assert checked_space(workload, {}, {"fifo_depth": [2, 2]})[0] is None
