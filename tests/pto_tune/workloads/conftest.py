"""Evaluating built-in workloads: one configuration on a chip of each family."""

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from cost_models import load_platform
from pto_tune.evaluation import Evaluation, Problem, evaluate_columns
from pto_tune.workloads import workload

FREE_SYNCHRONISATION = ("scalar.issue", "flags.set", "flags.wait", "flags.cross_core_latency", "fixpipe.latency")

Evaluate = Callable[..., Evaluation]


@pytest.fixture(scope="session")
def evaluate() -> Evaluate:
    """`evaluate(workload, chip, columns, rules=None, free=False)`; with `free`, synchronisation takes no time."""

    def run(
        name: str, chip: str, columns: Mapping[str, Any] | None = None, rules: str | None = None, free: bool = False
    ) -> Evaluation:
        platform = load_platform(chip)
        if free:
            keys = [*FREE_SYNCHRONISATION, *(k for k in platform if k.startswith("dma.") and k.endswith(".latency"))]
            platform = load_platform(chip, dict.fromkeys(keys, 0))
        return evaluate_columns(Problem.of(workload(name), platform, rules), columns or {})

    return run


@pytest.fixture(scope="session")
def verdict(evaluate: Evaluate) -> Callable[..., str]:
    """The verdict of one configuration, with everything else that applies, as "hang, overwrite"."""
    from pto_tune.verdicts import VERDICTS

    def one(name: str, chip: str, columns: Mapping[str, Any] | None = None, rules: str | None = None) -> str:
        e = evaluate(name, chip, columns, rules)
        others = [line.split(" ", 1)[0] for line in e.also(0)]
        return ", ".join(dict.fromkeys([VERDICTS[e.verdict[0]], *others]))

    return one
