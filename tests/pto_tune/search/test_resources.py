"""Lower bounds: nothing that ends is faster, and equal dependence means equal bounds."""

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cost_models import load_platform
from pto_tune.evaluation import Problem
from pto_tune.search.batches import evaluated
from pto_tune.search.resources import Bounds, has_bounds, names_behind, runs_of
from pto_tune.space import Space, space
from pto_tune.spaces.legal import LegalSpace
from pto_tune.workloads import workload, workload_names

PLATFORMS = ("ascend910b2", "ascend950pr")
BOUNDED = [name for name in workload_names() if not workload(name).has_ranks]
_problems: dict[tuple[str, str], Problem] = {}


def problem_of(name: str, platform: str) -> Problem:
    if (name, platform) not in _problems:
        _problems[name, platform] = Problem.of(workload(name), load_platform(platform))
    return _problems[name, platform]


def legal_rows(problem: Problem, of: Space) -> np.ndarray:
    return np.concatenate([np.zeros(0, dtype=np.int64), *LegalSpace.of(problem, of).chunks()])


def check_sound(problem: Problem, of: Space, rows: np.ndarray) -> None:
    bound = Bounds(problem).cycles(of.table(rows), rows.shape[0])
    batches = list(evaluated(problem, of, rows))
    timed = np.concatenate([b.evaluation.timed for b in batches]) if batches else np.zeros(0, dtype=bool)
    cycles = np.concatenate([b.evaluation.cycles for b in batches]) if batches else np.zeros(0, dtype=np.int64)
    assert (bound[timed] <= cycles[timed]).all()
    assert (bound > 0).all()


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("name", BOUNDED)
def test_no_configuration_of_a_default_space_is_faster_than_its_bound(name: str, platform: str) -> None:
    problem = problem_of(name, platform)
    of = space(problem.workload)
    check_sound(problem, of, legal_rows(problem, of))


SIZES: Mapping[str, dict[str, st.SearchStrategy[int]]] = {
    "flash_attention": {
        "s0": st.sampled_from([256, 1024, 3072]),
        "s1": st.sampled_from([512, 1024, 5120]),
        "causal": st.integers(0, 1),
        "head": st.sampled_from([64, 128]),
    },
    "flash_attention_950": {"s0": st.sampled_from([512, 1024]), "s1": st.sampled_from([512, 2048]),
                            "causal": st.integers(0, 1)},
    "gemm": {n: st.sampled_from([256, 512, 1536, 3072]) for n in ("m", "n", "k")},
    "paged_attention": {"batch": st.integers(1, 70), "context": st.sampled_from([512, 4096])},
    "matmul_epilogue": {"m": st.sampled_from([512, 1024]), "k": st.sampled_from([512, 2048])},
    "stream": {"direction": st.sampled_from([1, 2]), "tiles": st.integers(1, 90), "flow": st.integers(0, 1),
               "producer_cycles": st.integers(0, 5000), "consumer_cycles": st.integers(0, 5000)},
}  # fmt: skip


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data(), st.sampled_from(sorted(SIZES)), st.sampled_from(PLATFORMS), st.integers(0, 2**32 - 1))
def test_bounds_hold_at_other_sizes_too(data: st.DataObject, name: str, platform: str, seed: int) -> None:
    problem = problem_of(name, platform)
    of = space(problem.workload, {n: data.draw(values, n) for n, values in SIZES[name].items()})
    rows = legal_rows(problem, of)
    check_sound(problem, of, np.random.default_rng(seed).permutation(rows)[:40])


@pytest.mark.parametrize("name", BOUNDED)
def test_what_a_bound_does_not_depend_on_does_not_change_it(name: str) -> None:
    problem = problem_of(name, PLATFORMS[0])
    of = space(problem.workload)
    behind = names_behind(problem.code)
    rows = legal_rows(problem, of)
    bound = Bounds(problem).cycles(of.table(rows), rows.shape[0])
    at = of.indices(rows)
    by_group: dict[tuple[int, ...], int] = {}
    for key, value in zip(
        zip(*(at[n].tolist() for n, _ in of.domains if n in behind), strict=True), bound.tolist(), strict=True
    ):
        assert by_group.setdefault(key, value) == value


def test_flash_attention_needs_no_bound_for_each_depth_and_period() -> None:
    assert not names_behind(problem_of("flash_attention", PLATFORMS[0]).code) & {"fifo_depth", "sync_period"}


def test_a_bound_is_the_busiest_pipe_where_nothing_is_shared() -> None:
    problem = problem_of("stream", PLATFORMS[0])
    sizes = {"tiles": 10, "producer_cycles": 7_000, "consumer_cycles": 90, "slot_bytes": 512}
    of = space(problem.workload, sizes, {"fifo_depth": 8, "sync_period": 0, "split": 1})
    assert Bounds(problem).cycles(of.table(np.array([0])), 1).tolist() == [70_000]


def test_loops_multiply_and_conditions_of_the_schedule_count_as_nothing() -> None:
    code = problem_of("flash_attention", PLATFORMS[0]).code
    runs = runs_of(code)
    assert max(len(inside) for _, inside in runs.executions) >= 2
    assert all(code.structure[column][1] is not None for _, inside in runs.executions for column in inside)


def test_workloads_with_ranks_have_no_bound() -> None:
    problem = Problem.of(workload("tget_bandwidth"), load_platform("ascend910b2"))
    assert not has_bounds(problem.code)
    with pytest.raises(ValueError, match="no bound for workloads with ranks"):
        Bounds(problem)
