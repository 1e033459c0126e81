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


def uncertainty(configurations: int = 10, repeats: int = 5) -> list[dict[str, Any]]:
    """Seconds for what is shown of built-in workloads with their default sizes: intervals and ties of up to
    `configurations` legal ones spread over the default domain, and what one of them leans on; the best of `repeats`
    runs, after one that compiles. `units` is the cost by which the commands decide whether to do it unasked
    (`Subject.interval_cost`)."""
    from cost_models import load_platform
    from pto_tune.evaluation import Problem, evaluate_columns
    from pto_tune.space import space
    from pto_tune.uncertainty.intervals import intervals_of
    from pto_tune.uncertainty.leaning import leaning_of
    from pto_tune.uncertainty.running import Subject
    from pto_tune.uncertainty.ties import ties_of
    from pto_tune.verdicts import OK
    from pto_tune.workloads import workload

    out = []
    for name in ("stream", "flash_attention", "gemm", "paged_attention", "tget_bandwidth"):
        problem = Problem.of(workload(name), load_platform("ascend910b2"))
        s = space(problem.workload)
        ranks = problem.workload.has_ranks
        spread = np.linspace(0, s.size - 1, min(s.size, configurations if ranks else 50 * configurations))
        table = s.table(spread.astype(np.int64))
        ok = np.flatnonzero(evaluate_columns(problem, table).verdict == OK)[:configurations]
        if not ok.size:
            continue
        subject = Subject.of(problem, {n: column[ok] for n, column in table.items()})
        best = {"intervals_s": float("inf"), "ties_s": float("inf"), "leaning_s": float("inf")}
        for _ in range(repeats + 1):
            times = [time.perf_counter()]
            found = intervals_of(subject)
            times.append(time.perf_counter())
            ties_of(subject, found)
            times.append(time.perf_counter())
            leaning_of(subject, int(subject.rows[0]))
            times.append(time.perf_counter())
            best = {k: min(v, b - a) for (k, v), a, b in zip(best.items(), times, times[1:], strict=False)}
        out.append(
            {
                "workload": name,
                "configurations": len(ok),
                "samples": found.samples,
                "numbers": len(found.keys),
                "units": subject.interval_cost,
                **{k: round(v, 4) for k, v in best.items()},
            }
        )
    return out
