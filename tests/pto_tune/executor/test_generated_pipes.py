"""On pipes of every form, the executor's answers are the oracle's, and its verdicts see every early access.

A verdict speaks of all timings of a program. So whenever the oracle sees, at some durations, a slot overwritten
before it was read or read before it was written, the verdict must say so (or that the program hangs).
"""

from collections import Counter
from collections.abc import Mapping
from functools import cache

import pytest
from executor_checks import differences, examples
from generated_pipes import pipe_configurations, piped_workloads
from generated_workloads import PLATFORM_NUMBERS
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle_examples import fifo, workload
from simulate import simulate

from cost_models import Platform, load_platform
from pto_tune.evaluation import Problem, evaluate_columns
from pto_tune.model.nodes import Workload
from pto_tune.model.vocabulary import cycles, instr, talloc, tfree, tpop, tpush
from pto_tune.rule_sets import RuleSet, rule_set_for, rule_sets
from pto_tune.verdicts import VERDICTS

FAMILIES = {"a2a3": "ascend910b2", "a5": "ascend950pr"}

Config = dict[str, int]
Case = tuple[Workload, list[Config], str]


def platform(family: str, overrides: Mapping[str, float] | None = None) -> Platform:
    return _platform(family, tuple(sorted((overrides or {}).items())))


@cache
def _platform(family: str, overrides: tuple[tuple[str, float], ...]) -> Platform:
    return load_platform(FAMILIES[family], dict(overrides))


def cases(family: str, most_rows: int = 3) -> st.SearchStrategy[Case]:
    rows = st.lists(pipe_configurations(), min_size=1, max_size=most_rows)
    return st.tuples(piped_workloads(family), rows, st.sampled_from([r.name for r in rule_sets(family)]))


def named(rules: str) -> RuleSet:
    return rule_set_for(rules.partition("-")[0], rules)


# Equality


@given(case=cases("a2a3"))
@examples(60)
def test_any_pipes_of_a2a3(case: Case) -> None:
    w, rows, rules = case
    assert differences(w, platform("a2a3"), named(rules), rows) == []


@given(case=cases("a5"))
@examples(100)
def test_any_pipes_of_950(case: Case) -> None:
    w, rows, rules = case
    assert differences(w, platform("a5"), named(rules), rows) == []


@pytest.mark.parametrize("family", FAMILIES)
def test_any_pipes_on_any_platform(family: str) -> None:
    @given(case=cases(family, most_rows=2), overrides=PLATFORM_NUMBERS)
    @examples(30)
    def check(case: Case, overrides: dict[str, float]) -> None:
        w, rows, rules = case
        assert differences(w, platform(family, overrides), named(rules), rows) == []

    check()


def test_events_of_a_scalar_wait_need_no_tsync() -> None:
    producer = (talloc("pipe", event="space"), instr("STORE", "FIX", writes=["pipe"]), tpush("pipe", waits=["space"]))
    w = workload(producer, (tpop("pipe"), tfree("pipe")), fifos=(fifo(),))
    assert differences(w, platform("a2a3", {"scalar.issue": 100}), named("a2a3"), [{"n": 1}]) == []


# Soundness of verdicts


def unseen(w: Workload, chip: Platform, rules: RuleSet, rows: list[Config]) -> list[str]:
    """A line a row whose verdict knows nothing of an early access that the oracle saw."""
    found = evaluate_columns(Problem(w, chip, rules), {name: [row[name] for row in rows] for name in rows[0]})
    lines = []
    for row, code in zip(rows, found.verdict, strict=True):
        verdict = VERDICTS[code]
        if verdict == "refused":  # by a rule that has precedence, so that nobody runs it
            continue
        result = simulate(w, chip, rules, row)
        if (result.clashes or result.torn) and verdict not in ("hang", "overwrite", "race"):
            lines.append(f"{rules.name} {row}: {verdict}, but clashes {result.clashes}, torn {result.torn}")
    return lines


@pytest.mark.parametrize("family", FAMILIES)
def test_no_access_comes_early_without_a_verdict_that_says_so(family: str) -> None:
    @given(case=cases(family))
    @examples(80)
    def check(case: Case) -> None:
        w, rows, rules = case
        assert unseen(w, platform(family), named(rules), rows) == []

    check()


@pytest.mark.parametrize("family", FAMILIES)
def test_generated_pipes_run_and_hang_and_come_early(family: str) -> None:
    seen: Counter[str] = Counter()

    @given(case=cases(family, most_rows=1))
    @settings(max_examples=150, derandomize=True, database=None, deadline=None)
    def look(case: Case) -> None:
        w, rows, rules = case
        result = simulate(w, platform(family), named(rules), rows[0])
        seen[result.status] += 1
        seen["clash"] += bool(result.clashes)
        seen["torn"] += bool(result.torn)
        seen["sound"] += result.status == "ok" and not result.clashes and not result.torn

    look()
    assert seen["ok"] >= 40
    assert seen["hang"] >= 30
    assert seen["sound"] >= 30
    assert seen["clash"] >= 5
    assert seen["torn"] >= 5


# What the executor does not do yet


def test_a_tile_without_a_reader_is_read_when_it_is_popped() -> None:
    store = instr("STORE", "FIX", cycles(1000), writes=["pipe"])
    producer, consumer = (talloc("pipe"), tpush("pipe"), store), (tpop("pipe"), tfree("pipe"))
    w = workload(producer, consumer, fifos=(fifo(),))
    assert simulate(w, platform("a2a3"), named("a2a3"), {}).torn == [("pipe", 0, "AIV0"), ("pipe", 0, "AIV1")]
    assert unseen(w, platform("a2a3"), named("a2a3"), [{"n": 1}]) == []
