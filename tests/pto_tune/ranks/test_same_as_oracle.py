"""On any workload with ranks, the time-ordered engine says what the oracle says, to the cycle."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from executor_checks import examples
from generated_ranks import FAMILIES, MACHINES, overrides, ranked
from hypothesis import given, seed
from hypothesis import strategies as st
from rank_checks import differences, engine, oracle

from cost_models import Platform, load_platform
from pto_tune.model.nodes import Workload
from pto_tune.rule_sets import RuleSet, rule_sets

Check = Callable[[Workload, Platform, RuleSet, dict[str, int]], Any]


def on_any_workload(family: str, machine: str, count: int, check: Check) -> None:
    """Check `count` generated workloads, others for every family and machine."""

    @seed(len(MACHINES) * [*FAMILIES].index(family) + MACHINES.index(machine))
    @examples(count)
    @given(case=ranked(family), numbers=overrides(family, machine), rules=st.sampled_from(rule_sets(family)))
    def each(case: tuple[Workload, dict[str, int]], numbers: dict[str, float], rules: RuleSet) -> None:
        workload, config = case
        check(workload, load_platform(FAMILIES[family], numbers), rules, config)

    each()


def test_any_workload() -> None:
    seen: Counter[str] = Counter()

    def check(*case: Any) -> None:
        expected = oracle(*case)
        assert differences(engine(*case), expected) == []
        seen[expected["status"]] += 1
        seen.update({name.rpartition(".")[2] for _, _, name in expected.get("waits", ())})
        seen["async"] += any("SDMA" in pipe for _, _, pipe in expected.get("spans", ()))

    for family in FAMILIES:
        for machine in MACHINES:
            on_any_workload(family, machine, 18, check)
    # they run, hang and go wrong, and wait for all that there is
    assert seen["ok"] >= 70
    assert seen["hang"] >= 10
    assert 0 < seen["fault"] <= 80
    for what in ("flags", "barrier", "link", "l2", "queue", "ready", "turns", "loose", "async"):
        assert seen[what] > 0, what
