"""The tables that come with the package."""

import pytest

from cost_models import load_platform, platform_names
from pto_tune.published.cases import Case, load_table, table_names
from pto_tune.rule_sets import rule_set_for
from pto_tune.table import check_values
from pto_tune.workloads import workload

CASES = [case for name in table_names() for case in load_table(name)]


@pytest.mark.parametrize("name", table_names())
def test_every_table_has_cases_and_every_case_a_name_of_its_own(name: str) -> None:
    cases = load_table(name)
    assert cases
    assert len({case.id for case in cases}) == len(cases)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_case_names_what_there_is(case: Case) -> None:
    assert case.platform in platform_names()
    check_values(workload(case.workload), case.configuration)
    rule_set_for(load_platform(case.platform).family, case.rules)
    assert "/" in case.source


def test_a_rate_and_the_time_of_the_same_run_agree() -> None:
    """308.0 TFLOPS are drawn for the product whose task duration is 1506 us."""
    (case,) = [c for c in CASES if c.name == "gemm/manual-6144"]
    drawn_us = 2 * 6144**3 / (308.0 * 1e6)
    assert drawn_us == pytest.approx(case.measured, rel=0.001)


def test_times_that_were_fitted_to_are_marked() -> None:
    fitted = {c.name for c in CASES if c.use == "fit"}
    # a share is fitted as a busy time, so that the time that it is a share of counts as well
    assert {"tget/core-65536", "datacopy/a2-ub-64x2048", "gemm/manual-6144-MTE2", "gemm/manual-6144"} <= fitted
    assert not {"gemm/manual-3072", "flash_attention/manual-4096"} & fitted


def test_what_contradicts_itself_is_left_out() -> None:
    partial = [c for c in CASES if c.name.startswith("flash_attention_partial/manual")]
    assert len(partial) == 8
    assert {c.use for c in partial} == {"excluded"}
