"""Waiting by name, exact: what every pipe and every scalar process waited for, of the cores that end last."""

from collections.abc import Mapping, Sequence

import pytest
from executor_checks import RULE_SETS, examples, expected, platform, run
from generated_workloads import PLATFORM_NUMBERS, configurations, workloads
from hypothesis import given
from hypothesis import strategies as st

from cost_models import Platform
from pto_tune.executor.accounts import accounts
from pto_tune.model.nodes import Workload
from pto_tune.rule_sets import RuleSet
from pto_tune.workloads import workload

Row = Mapping[str, int]

BUILTIN = [
    ("stream", [{"tiles": 40, "direction": d, "fifo_depth": s} for d in (1, 2) for s in (1, 2, 5, 8)], {}),
    ("stream", [{"tiles": 41, "split": 1}], {"l2.bandwidth": 20}),
    ("flash_attention", [{"s0": 128, "s1": 2304, "fifo_depth": s} for s in (2, 4, 8)], {}),
    ("flash_attention", [{"s0": 1024, "s1": 512}], {"cores.cube": 3, "l2.bandwidth": 60}),
    ("flash_attention", [{"s0": 640, "s1": 768, "causal": 1}], {"cores.cube": 3, "l2.bandwidth": 60}),
    ("gemm", [{"m": 512, "k": 512, "n": 1536, "grid_m": 2, "grid_n": 3}], {"cores.cube": 4}),
]


def differences(w: Workload, chip: Platform, rules: RuleSet, rows: Sequence[Row]) -> list[str]:
    """One line a row that runs and whose account is another than the oracle's."""
    execution = run(w, chip, rules, rows)
    running = [i for i in range(len(rows)) if not execution.hang[i]]
    found = accounts(execution.code, chip, execution, running)
    oracle = [expected(w, chip, rules, rows[i]) for i in running]
    return [
        f"{w.name} {rules.name} {dict(rows[i])}: executor {a.busy} {a.waits}, oracle {o.busy} {o.waits}"
        for i, a, o in zip(running, found, oracle, strict=True)
        if a.busy != o.busy or a.waits != o.waits
    ]


@pytest.mark.parametrize("rules", RULE_SETS, ids=lambda r: r.name)
@pytest.mark.parametrize(("name", "rows", "overrides"), BUILTIN)
def test_builtin_workloads(name: str, rows: list[dict[str, int]], overrides: dict[str, float], rules: RuleSet) -> None:
    assert differences(workload(name), platform(overrides), rules, rows) == []


@given(
    w=workloads(),
    rows=st.lists(configurations(), min_size=1, max_size=3),
    rules=st.sampled_from(RULE_SETS),
    overrides=PLATFORM_NUMBERS,
)
@examples(40)
def test_generated_workloads(
    w: Workload, rows: list[dict[str, int]], rules: RuleSet, overrides: dict[str, float]
) -> None:
    assert differences(w, platform(overrides), rules, rows) == []


@pytest.mark.parametrize("tiles", [32, 41, 128])
def test_a_window_that_keeps_what_is_older_than_three_windows(tiles: int) -> None:
    """Credits for two slots of eight: what the window hands on stems from up to four windows ago, and moves by another
    shift than its events do by then."""
    from dataclasses import replace

    from pto_tune.model.expr import expr

    stream = workload("stream")
    gated = replace(stream, fifos=tuple(replace(f, kind="TMPipe", gated=expr(1)) for f in stream.fifos))
    rules = next(r for r in RULE_SETS if r.name == "a2a3-fixed-drain")
    rows = [{"tiles": tiles, "fifo_depth": 8, "sync_period": 2, "slot_bytes": 1024}]
    for cycles in (350, 430, 463):
        assert differences(gated, platform({"flags.cross_core_latency": cycles}), rules, rows) == []
