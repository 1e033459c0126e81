"""`pto_tune.bench_sweep`: rates and memory of whole searches."""

import pytest

from pto_tune import bench_sweep
from pto_tune.space import space
from pto_tune.workloads import workload


def test_a_search_is_measured_in_a_process_of_its_own() -> None:
    rows = [bench_sweep._measured("wide", 300, store) for store in (True, False)]
    for row in rows:
        assert row["configurations"] == 300
        assert row["configurations_per_s"] == pytest.approx(300 / row["seconds"], rel=0.1)
        assert row["cores"] >= 1
        assert set(row["versions"]) == {"python", "numpy", "numba", "sqlalchemy", "sqlite"}
    assert [row["store"] for row in rows] == ["sqlite", ""]
    peak = bench_sweep._peak_mib()
    assert (peak is None) == (rows[0]["peak_mib"] is None)
    assert peak is None or 50 < rows[0]["peak_mib"] < 4096


def test_a_search_that_fails_says_why() -> None:
    with pytest.raises(bench_sweep.SweepError, match=r"'narrow'.*invalid choice"):
        bench_sweep._measured("narrow", 1, True)


def test_the_spaces_are_as_large_as_they_say() -> None:
    fa = workload("flash_attention")
    size = {
        name: space(fa, bench_sweep.SIZES, {k: list(v) for k, v in domains.items()}).size
        for name, domains in (("million", bench_sweep.MILLION_DOMAINS), ("wide", bench_sweep.WIDE_DOMAINS))
    }
    assert size["million"] >= bench_sweep.MILLION
    assert size["wide"] >= 20_000_000


def test_which_searches_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def measured(name: str, rows: int, store: bool) -> dict[str, object]:
        return {"set": name, "rows": rows, "store": store}

    monkeypatch.setattr(bench_sweep, "_measured", measured)
    assert [(r["set"], r["rows"]) for r in bench_sweep.sweep((7, 9))] == [
        ("default", 0), ("million", 1_000_000), ("wide", 7), ("wide", 9),
    ]  # fmt: skip
    assert bench_sweep.sweep(million=False, store=False) == [{"set": "default", "rows": 0, "store": False}]
