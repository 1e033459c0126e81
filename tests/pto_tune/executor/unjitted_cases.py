"""Small cases for a process with PTO_TUNE_NO_JIT=1: prints their outcomes as JSON, a list for each case.

Before that it compares generated workloads with the oracle.
"""

import json
import sys
from collections.abc import Mapping

from executor_checks import RULE_SETS, Outcome, differences, examples, outcomes, platform, run
from generated_workloads import PLATFORM_NUMBERS, configurations, workloads
from hypothesis import given
from hypothesis import strategies as st

from pto_tune.model.nodes import Workload
from pto_tune.rule_sets import RuleSet
from pto_tune.workloads import workload

Case = tuple[str, Mapping[str, float], list[dict[str, int]]]

CASES: list[Case] = [
    ("stream", {}, [{"tiles": n, "direction": d, "fifo_depth": 4} for n in (1, 5, 40, 41) for d in (1, 2)]),
    ("stream", {}, [{"tiles": 300, "store_cycles": 1000, "load_cycles": b} for b in (999, 1000, 1001)]),
    ("stream", {"l2.bandwidth": 20, "scalar.queue_depth": 2}, [{"tiles": 40, "split": s} for s in (0, 1, 2)]),
    ("stream", {}, [{"tiles": 100, "fifo_depth": 255}, {"tiles": 20, "fifo_depth": 5, "sync_period": 3}]),
    ("flash_attention", {}, [{"s0": 128, "s1": 1280, "fifo_depth": depth} for depth in (2, 4, 8)]),
    (
        "flash_attention",
        {"cores.cube": 3, "l2.bandwidth": 60},
        [{"s0": 512, "s1": 512, "tile_s1": 128, "causal": causal} for causal in (0, 1)],
    ),
    ("gemm", {"hbm.bandwidth": 50}, [{"m": 256, "k": 256, "n": 1024, "grid_m": 2, "grid_n": 2}]),
]


def answers(case: Case) -> list[Outcome]:
    name, overrides, rows = case
    return [o for rules in RULE_SETS for o in outcomes(run(workload(name), platform(overrides), rules, rows))]


def as_json(found: list[Outcome]) -> list[list[object]]:
    return [[o.cycles, o.stretch, o.busy] for o in found]


@given(
    w=workloads(),
    rows=st.lists(configurations(16), min_size=1, max_size=3),
    rules=st.sampled_from(RULE_SETS),
    overrides=PLATFORM_NUMBERS,
)
@examples(30)
def any_workload_is_what_the_oracle_says(
    w: Workload, rows: list[dict[str, int]], rules: RuleSet, overrides: dict[str, float]
) -> None:
    assert differences(w, platform(overrides), rules, rows) == []


if __name__ == "__main__":
    any_workload_is_what_the_oracle_says()
    json.dump([as_json(answers(case)) for case in CASES], sys.stdout)
