"""Spaces of any size, in figures: `python tests/benchmarks/spaces.py [--sweep]`.

Counts a space of more than 100 million configurations of Flash Attention of which about 1 % are legal, lists and draws
them, and with `--sweep` evaluates ten million legal configurations. Each part is a process of its own, so that its peak
memory is its own.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
import time
from importlib.metadata import version

HUNDRED_MILLION = {
    "cube_s0": list(range(16, 257, 16)),
    "cube_s1": list(range(16, 257, 16)),
    "tile_s1": list(range(64, 1025, 64)),
    "qk_preload": list(range(1, 13)),
    "fifo_depth": list(range(1, 17)),
    "sync_period": list(range(9)),
    "pv_fifo_depth": list(range(8)),
}
"""113 million candidates."""

TEN_MILLION = {
    "cube_s0": [64, 128],
    "cube_s1": [64, 128],
    "tile_s1": [128, 256],
    "qk_preload": list(range(2, 26)),
    "fifo_depth": list(range(1, 41)),
    "sync_period": list(range(40)),
    "pv_fifo_depth": list(range(27)),
}
SWEPT = 10_000_000


def found(domains: dict[str, list[int]]):  # type: ignore[no-untyped-def]
    from cost_models import load_platform
    from pto_tune.evaluation import Problem
    from pto_tune.space import space
    from pto_tune.workloads import workload

    problem = Problem.of(workload("flash_attention"), load_platform("ascend910b2"))
    return problem, space(problem.workload, {"s0": 2048, "s1": 2048}, domains)


def counting() -> dict[str, float]:
    import numpy as np

    from pto_tune.spaces.distinct import count_distinct
    from pto_tune.spaces.legal import LegalSpace

    problem, space = found(HUNDRED_MILLION)
    began = time.perf_counter()
    legal = LegalSpace.of(problem, space)
    count = legal.count()
    out = {"candidates": count.size, "legal": count.low, "count_s": time.perf_counter() - began}
    began = time.perf_counter()
    listed = sum(rows.shape[0] for rows in legal.chunks())
    assert listed == count.low
    out["rows_listed_per_s"] = listed / (time.perf_counter() - began)
    began = time.perf_counter()
    legal.draw(1_000_000, np.random.default_rng(0))
    out["rows_drawn_per_s"] = 1_000_000 / (time.perf_counter() - began)
    began = time.perf_counter()
    out["distinct"] = count_distinct(problem, legal).distinct or 0
    out["distinct_s"] = time.perf_counter() - began
    return out


def searching() -> dict[str, float]:
    """All legal ones of the hundred million."""
    from pto_tune.tuning import tune

    result = tune("flash_attention", problem={"s0": 2048, "s1": 2048}, domains=HUNDRED_MILLION, strategy="exhaustive")
    return {"configurations": result.n_evaluated, "search_s": result.seconds}


def sweeping() -> dict[str, float]:
    """Ten million legal configurations in one run, without a store."""
    from pto_tune.tuning import tune

    result = tune(
        "flash_attention",
        problem={"s0": 2048, "s1": 2048},
        domains=TEN_MILLION,
        strategy="exhaustive",
        budget=SWEPT,
    )
    return {"configurations": result.n_evaluated, "search_s": result.seconds}


PARTS = {"counting": counting, "searching": searching, "sweeping": sweeping}


def main() -> None:
    if sys.argv[1:] and sys.argv[1] in PARTS:
        out = PARTS[sys.argv[1]]()
        out["peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps(out))
        return
    cores = len(os.sched_getaffinity(0))
    print(f"{cores} cores, Python {platform.python_version()}, numpy {version('numpy')}, numba {version('numba')}")
    for part in PARTS if "--sweep" in sys.argv else ("counting",):
        done = subprocess.run([sys.executable, __file__, part], check=True, capture_output=True, text=True)
        print(part)
        for name, value in json.loads(done.stdout).items():
            print(f"  {name:<20} {value:>16,.2f}")


if __name__ == "__main__":
    main()
