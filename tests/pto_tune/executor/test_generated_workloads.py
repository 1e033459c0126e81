"""On workloads that nobody wrote, the executor's answers are the oracle's, hangs included."""

from collections import Counter

import pytest
from executor_checks import (
    FREE_SYNCHRONISATION,
    RULE_SETS,
    differences,
    examples,
    expected,
    outcomes,
    platform,
    run,
)
from generated_workloads import PLATFORM_NUMBERS, SHORT_QUEUES, configurations, workloads
from hypothesis import given, settings
from hypothesis import strategies as st

from pto_tune.model.expr import expr
from pto_tune.model.nodes import Launch, Workload
from pto_tune.model.vocabulary import cycles, dma, instr
from pto_tune.rule_sets import RuleSet

rule_sets = st.sampled_from(RULE_SETS)
rows_of = st.lists(configurations(), min_size=1, max_size=4)


@given(w=workloads(), rows=rows_of, rules=rule_sets)
@examples(50)
def test_any_workload(w: Workload, rows: list[dict[str, int]], rules: RuleSet) -> None:
    assert differences(w, platform(), rules, rows) == []


@given(w=workloads(), rows=rows_of, rules=rule_sets, overrides=PLATFORM_NUMBERS)
@examples(50)
def test_any_workload_on_any_platform(
    w: Workload, rows: list[dict[str, int]], rules: RuleSet, overrides: dict[str, float]
) -> None:
    assert differences(w, platform(overrides), rules, rows) == []


@given(w=workloads(), rows=rows_of, rules=rule_sets, overrides=SHORT_QUEUES)
@examples(50)
def test_a_scalar_process_that_runs_far_ahead_is_held_by_its_queues(
    w: Workload, rows: list[dict[str, int]], rules: RuleSet, overrides: dict[str, float]
) -> None:
    assert differences(w, platform(overrides), rules, rows) == []


@given(
    w=workloads(),
    rows=st.lists(configurations(12), min_size=1, max_size=2),
    rules=rule_sets,
    bandwidth=st.floats(1, 400),
    blocks=st.integers(1, 7),
)
@examples(40)
def test_any_workload_at_any_capacity(
    w: Workload, rows: list[dict[str, int]], rules: RuleSet, bandwidth: float, blocks: int
) -> None:
    chip = platform({"cores.cube": 3, "l2.bandwidth": bandwidth, "hbm.bandwidth": 100})
    assert differences(w, chip, rules, [{**row, "blocks": blocks} for row in rows]) == []


@given(
    w=workloads(min_fifos=1),
    rows=st.lists(configurations(30), min_size=1, max_size=4),
    rules=rule_sets,
    overrides=SHORT_QUEUES,
    bandwidth=st.floats(1, 40),
    blocks=st.integers(1, 7),
)
@examples(60)
def test_queues_hold_back_a_program_that_is_stretched_too(
    w: Workload,
    rows: list[dict[str, int]],
    rules: RuleSet,
    overrides: dict[str, float],
    bandwidth: float,
    blocks: int,
) -> None:
    chip = platform({"cores.cube": 3, "l2.bandwidth": bandwidth, "hbm.bandwidth": 100, **overrides})
    assert differences(w, chip, rules, [{**row, "blocks": blocks} for row in rows]) == []


def test_generated_workloads_run_and_hang_and_wait() -> None:
    seen: Counter[str] = Counter()

    @given(w=workloads(min_fifos=1), config=configurations(40))
    @settings(max_examples=60, derandomize=True, database=None, deadline=None)
    def look(w: Workload, config: dict[str, int]) -> None:
        found = outcomes(run(w, platform(), RULE_SETS[0], [config]))[0]
        seen["hang" if found.cycles is None else "run"] += 1
        seen["windows"] += int(run(w, platform(), RULE_SETS[0], [config]).lanes.repeats[0] > 1)
        seen["equal"] += found == expected(w, platform(), RULE_SETS[0], config)

    look()
    assert seen["equal"] == seen["run"] + seen["hang"]
    assert seen["hang"] >= 3
    assert seen["run"] >= 20
    assert seen["windows"] >= 5


def test_an_instruction_may_wait_for_one_that_is_issued_later() -> None:
    # The scalar process goes on behind MUL: LOAD is issued at 2 and ends at 7, and MUL runs from there.
    waits = instr("MUL", "M", cycles(10), waits=["loaded"])
    gives = instr("LOAD", "MTE2", cycles(5), event="loaded")
    w = Workload("late", "", (), (), (), (), (("AIC", (waits, gives)),), Launch(expr(1)))
    chip = platform({**FREE_SYNCHRONISATION, "scalar.issue": 1})
    assert expected(w, chip, RULE_SETS[0], {}).cycles == 1 + 1 + 5 + 10
    assert differences(w, chip, RULE_SETS[0], [{}]) == []


@pytest.mark.parametrize("bandwidth", [1, 5, 20, 60])
def test_a_stretched_transfer_starts_its_whole_duration_before_its_end(bandwidth: float) -> None:
    # With room for one instruction, the third LOAD and so MUL are issued when the second LOAD starts.
    load = instr("LOAD", "MTE2", dma("gm_to_l1", 6400, 6400))
    w = Workload(
        "held", "", (), (), (), (), (("AIC", (load, load, load, instr("MUL", "M", cycles(700)))),), Launch(expr(6))
    )
    chip = platform({"cores.cube": 3, "scalar.queue_depth": 1, "l2.bandwidth": bandwidth, "hbm.bandwidth": 100})
    assert expected(w, chip, RULE_SETS[0], {}).stretch > 1
    assert differences(w, chip, RULE_SETS[0], [{}]) == []
