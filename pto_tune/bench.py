"""Benchmarks, as functions: figures that the command `pto-tune bench` prints.

Flash attention with its default domain, not causal, both sub-cores, every wait and signal of the rule set, the row-wise
work of evaluation (columns, legality excluded) included. A second set has cube and vector work that differ by 0.1 to
5 % in many configurations: balanced ones drift for long before they repeat.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pto_tune.evaluation import Problem


def executor(
    s1: tuple[int, ...] = (2048, 8192, 1048576), threads: int | None = None, repeats: int = 5
) -> list[dict[str, Any]]:
    """Rate of the executor on flash attention at s0 = s1 up to 8192 and s0 = 8192 above: the best of `repeats` runs,
    after one that compiles. `iterations_simulated`: steady trips that were really evaluated, a configuration."""
    from cost_models import load_platform
    from pto_tune import legality
    from pto_tune.evaluation import Problem
    from pto_tune.executor.engine import execute, thread_count
    from pto_tune.lowering.columns import environment
    from pto_tune.space import space
    from pto_tune.workloads import workload

    threads = threads or thread_count()
    out = []
    for near in (False, True):
        for size in s1:
            platform = load_platform("ascend910b2")
            problem = Problem.of(workload("flash_attention"), platform)
            s = space(problem.workload, {"s0": min(size, 8192), "s1": size})
            rows = np.arange(s.size, dtype=np.int64)
            table = s.table(rows)
            env = environment(problem.workload, {**table, "block": np.zeros(s.size, dtype=np.int64)})
            broken = np.zeros(s.size, dtype=bool)
            for rule in legality.check(problem.workload, platform, problem.rule_set, env, s.size):
                broken |= rule.broken
            table = {name: column[~broken] for name, column in table.items()}
            n = int((~broken).sum())
            share = None
            if near:
                problem, share = _balanced(problem, table, n)
            best, x = float("inf"), None
            for _ in range(repeats + 1):
                start = time.perf_counter()
                x = execute(problem.code, problem.platform, table, n, threads=threads)
                best = min(best, time.perf_counter() - start)
            assert x is not None
            out.append(
                {
                    "workload": "flash_attention",
                    "set": "balanced" if near else "default",
                    "s0": min(size, 8192),
                    "s1": size,
                    "head": 128,
                    "causal": 0,
                    "configurations": n,
                    "candidates": s.size,
                    "hangs": int(x.hang.sum()),
                    "schedules": int(x.lanes.schedules.info.shape[0]),
                    "configurations_per_s": round(n / best),
                    "iterations_simulated": round(x.iterations_simulated, 1),
                    "balanced_share": None if share is None else round(share, 3),
                    "seconds": round(best, 4),
                    "threads": threads,
                }
            )
    return out


def _balanced(problem: Problem, table: dict[str, Any], n: int) -> tuple[Problem, float]:
    """The problem on a platform whose fixpipe is slowed until, for the median configuration, the cube core's work
    equals the vector cores'; and the share of configurations in which the two then differ by 0.1 to 5 %."""
    from pto_tune.executor.engine import execute

    def ratios(p: Problem) -> Any:
        x = execute(p.code, p.platform, table, n)
        cube = x.busy[~x.hang][:, [i for i, name in enumerate(p.code.pipes) if name.startswith("AIC")]].max(axis=1)
        vector = x.busy[~x.hang][:, [i for i, name in enumerate(p.code.pipes) if name.endswith(".V")]].max(axis=1)
        return cube / vector

    slow = problem
    for _ in range(4):
        rate = slow.platform["fixpipe.gm_write_rate"] * float(np.median(ratios(slow)))
        values = {"fixpipe.gm_write_rate": rate}
        slow = replace(problem, platform=problem.platform.with_values(values))
    apart = np.abs(ratios(slow) - 1)
    return slow, float(((apart >= 0.001) & (apart <= 0.05)).mean())
