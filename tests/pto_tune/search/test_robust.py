"""One configuration for several scenarios: the least worst regret, found by comparing everything."""

import numpy as np
import pytest

from pto_tune import evaluate
from pto_tune.search.comparing import in_order, ranked
from pto_tune.search.robust import robust_choice
from pto_tune.search.strategies import SearchError

SIZES = ({"tiles": 8, "producer_cycles": 900}, {"tiles": 200, "consumer_cycles": 2500})
DOMAINS = {"fifo_depth": [1, 2, 4], "sync_period": [0, 1]}


def test_it_is_what_comparing_every_time_gives() -> None:
    found = robust_choice("stream", sizes=SIZES, platforms=("ascend910b2", "ascend910b3"), domains=DOMAINS, top=3)
    times = []
    for platform in ("ascend910b2", "ascend910b3"):
        for sizes in SIZES:
            grid = [
                {**sizes, "fifo_depth": d, "sync_period": p, "split": s}
                for d in (1, 2, 4)
                for p in (0, 1)
                for s in (0, 1, 2)
            ]
            table = evaluate("stream", grid, platform=platform)
            times.append(np.where(table["verdict"] == "ok", table["time_us"], np.nan))
    us = np.stack(times, axis=1)
    best = np.nanmin(us, axis=0)
    order, regret = ranked(us, best)
    assert found.best_us == pytest.approx(best.tolist())
    assert found.legal == len(order)
    assert [g.regret for g in found.found] == [pytest.approx(regret[i].tolist()) for i in order[:3]]
    assert [g.worst for g in found.found] == sorted(g.worst for g in found.found)
    assert found.scenarios[0].startswith("ascend910b2, tiles 8, producer_cycles 900")
    for i, own in enumerate(found.own):
        assert own.regret[i] == 0
        assert own.scenario == found.scenarios[i]


def test_a_single_scenario_has_its_best() -> None:
    found = robust_choice("stream", domains=DOMAINS, top=1)
    assert found.found[0].worst == 0
    assert dict(found.found[0].values) == dict(found.own[0].values)


def test_samples_count_as_scenarios() -> None:
    plain = robust_choice("stream", sizes=SIZES, domains=DOMAINS, top=100)
    sampled = robust_choice("stream", sizes=SIZES, domains=DOMAINS, top=100, samples=16, seed=1)
    again = robust_choice("stream", sizes=SIZES, domains=DOMAINS, top=100, samples=16, seed=1)
    assert sampled == again
    before = {tuple(g.values.items()): g for g in plain.found}
    assert {tuple(g.values.items()) for g in sampled.found} == set(before)
    for g in sampled.found:
        old = before[tuple(g.values.items())]
        assert g.time_us == old.time_us
        assert all(new >= was for new, was in zip(g.regret, old.regret, strict=True))
    assert max(g.worst for g in sampled.found) > 0
    assert "on 16 samples" in sampled.method


def test_what_is_not_ok_elsewhere_says_its_verdict() -> None:
    # one slot of 128 KiB by halves fits into UB, two whole ones do not
    sizes = ({"slot_bytes": 2**17, "direction": "V2C"}, {"slot_bytes": 2**12, "direction": "V2C"})
    found = robust_choice("stream", sizes=sizes, domains={"split": ["NO_SPLIT"], "fifo_depth": [2], "sync_period": [0]})
    assert found.found == ()
    assert found.why_not.startswith("no configuration is ok in ascend910b2, slot_bytes 131072")
    assert [own.verdict for own in found.own] == [("refused", "ok")]
    assert np.isnan(found.best_us[0])
    assert found.as_plain()["scenarios"][0]["best_us"] is None
    assert found.as_plain()["own_best"][0]["regret"] == [None, 0.0]


def test_wrong_requests_are_refused() -> None:
    for wrong in ({"samples": 1}, {"samples": -2}, {"top": 0}, {"sizes": ()}, {"platforms": ()}, {"sizes": ({}, {})},
                  {"sizes": tuple({"tiles": i} for i in range(1, 66))}):  # fmt: skip
        with pytest.raises(SearchError):
            robust_choice("stream", **wrong)  # type: ignore[arg-type]
    with pytest.raises(SearchError, match="configurations are legal, and at most"):
        robust_choice("flash_attention", domains={
            "tile_s1": [128, 256], "qk_preload": list(range(2, 26)), "fifo_depth": list(range(1, 41)),
            "sync_period": list(range(40)), "pv_fifo_depth": list(range(27))})  # fmt: skip


def test_the_order_is_by_worst_then_by_sum_and_without_what_is_missing() -> None:
    regret = np.array([[0.3, 0.0], [0.1, 0.2], [np.nan, 0.0], [0.2, 0.0]])
    assert in_order(regret).tolist() == [3, 1, 0]
