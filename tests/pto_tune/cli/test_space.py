"""`pto-tune space`: what it counts and says."""

import json
from typing import Any

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from cost_models import load_platform
from pto_tune.cli.space import register
from pto_tune.evaluation import Problem, evaluate_columns
from pto_tune.space import space
from pto_tune.workloads import workload


def run(*words: str) -> Any:
    app = typer.Typer(rich_markup_mode=None)
    register(app)
    return CliRunner().invoke(app, list(words))


def test_the_numbers_are_those_of_an_evaluation_of_everything() -> None:
    shown = run("gemm", "--domain", "grid_m=1,2,4", "--platform", "ascend910b1", "--json")
    assert shown.exit_code == 0, shown.output
    answer = json.loads(shown.output)
    problem = Problem.of(workload("gemm"), load_platform("ascend910b1"))
    found = space(problem.workload, {}, {"grid_m": [1, 2, 4]})
    e = evaluate_columns(problem, found.table(np.arange(found.size)))
    refused = {rule: n for rule, n in e.counts()["refused"].items() if rule in answer["refused"]}
    assert answer["candidates"] == found.size
    assert answer["refused"] == refused
    assert answer["legal"] == answer["legal_low"] == answer["legal_high"] == found.size - sum(refused.values())
    assert 0 < answer["distinct"] <= answer["legal"]
    assert (answer["strategy"], answer["budget"]) == ("exhaustive", found.size)
    assert answer["about_s"] == pytest.approx(answer["legal"] / answer["rate_per_s"])


def test_for_people() -> None:
    shown = run("flash_attention", "--set", "s1=2048", "--set", "split=UP_DOWN", "--domain", "fifo_depth=2,4")
    assert shown.exit_code == 0, shown.output
    for words in (
        "3,200 candidates",
        "legal (",
        "different ones",
        "Refused, by the first rule",
        "'auto' would look at",
    ):
        assert words in shown.output


def test_nothing_legal_has_no_rate() -> None:
    answer = json.loads(run("flash_attention", "--set", "cube_s0=256", "--set", "cube_s1=256", "--json").output)
    assert (answer["legal"], answer["distinct"], answer["rate_per_s"], answer["about_s"]) == (0, 0, None, None)


def test_what_is_wrong_is_said() -> None:
    assert "no problem size or tunable 'fifo'" in str(run("flash_attention", "--set", "fifo=1").exception)
