"""Compile the kernels once, so that the first evaluation of a user does not wait.

Run as `python -m pto_tune.executor.warm`.
"""

from __future__ import annotations


def warm() -> float:
    """Run everything that has a kernel on a tiny problem; returns the seconds that it took."""
    import time

    from cost_models import load_platform
    from pto_tune.evaluation import Problem
    from pto_tune.explaining.explanation import explain_configuration
    from pto_tune.workloads import workload

    start = time.perf_counter()
    problem = Problem.of(workload("stream"), load_platform("ascend910b2"))
    explain_configuration(problem, {"tiles": 4}).summary()
    return time.perf_counter() - start


if __name__ == "__main__":
    print(f"kernels ready in {warm():.1f} s")
