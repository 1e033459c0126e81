"""Intervals of predicted times: exact where the time has a closed form, the same for the same seed."""

from dataclasses import replace

import numpy as np
import pytest
from platforms_unfitted import unfitted

from cost_models import load_platform
from cost_models.platform import Platform
from pto_tune.evaluation import Problem, evaluate_columns
from pto_tune.uncertainty.intervals import intervals, levels_of, quick_interval
from pto_tune.uncertainty.kinds import quantiles
from pto_tune.uncertainty.running import MOST_CONFIGURATIONS, Subject, keys_used
from pto_tune.uncertainty.sampling import points, sampled_platforms
from pto_tune.workloads import workload

B2 = unfitted(load_platform("ascend910b2"))
CROSS = "flags.cross_core_latency"

ONE_TILE = {"tiles": 1, "store_cycles": 1000, "load_cycles": 900, "consumer_cycles": 200}
"""A tile that is stored, announced by a flag, and read: its time is the cross-core latency and a constant."""


def exact_but(*keys: str, platform: Platform = B2) -> Platform:
    """The platform as if every other number had been given by a caller."""
    return platform.with_values({key: platform[key] for key in platform if key not in keys})


def stream(platform: Platform = B2, timing: str = "device") -> Problem:
    return Problem.of(workload("stream"), platform, timing=timing)


def test_nothing_open_is_no_interval() -> None:
    found = intervals(stream(exact_but()), ONE_TILE)
    assert found.keys == ()
    predicted = evaluate_columns(stream(), ONE_TILE)
    assert found.cycles[:, 0].tolist() == [predicted.cycles[0]] * 3
    assert found.time_us[:, 0].tolist() == [predicted.time_us[0]] * 3


def test_one_flag_moves_the_time_by_itself() -> None:
    platform = exact_but(CROSS)
    found = intervals(stream(platform), ONE_TILE, samples=40)
    assert found.keys == (CROSS,)
    predicted = int(evaluate_columns(stream(), ONE_TILE).cycles[0])
    drawn = quantiles(platform.numbers[CROSS], points([CROSS], 40)[:, 0])
    cycles = np.rint(found.sampled_us[:, 0] * 1800)
    assert (cycles - predicted == drawn - B2[CROSS]).all()
    expected = np.quantile(drawn, [0.05, 0.5, 0.95]) - B2[CROSS] + predicted
    assert found.cycles[:, 0] == pytest.approx(expected, abs=1e-6)


def test_launch_overhead_is_part_of_the_time_and_not_of_the_cycles() -> None:
    found = intervals(stream(exact_but("launch.task"), timing="task"), ONE_TILE)
    assert found.keys == ("launch.task",)
    assert np.ptp(found.cycles[:, 0]) == 0
    low, median, high = found.time_us[:, 0] - found.cycles[0, 0] / 1800
    assert low == pytest.approx(B2["launch.task"])
    assert median == pytest.approx(B2["launch.task"], rel=0.02)
    assert B2["launch.task"] < high < 27.2


@pytest.mark.parametrize("name", ["flash_attention", "gemm", "paged_attention"])
def test_samples_are_the_predictions_of_the_sampled_platforms(name: str) -> None:
    problem = Problem.of(workload(name), B2)
    found = intervals(problem, {}, samples=6, seed=3)
    platforms = sampled_platforms(B2, keys_used(Subject.of(problem, {})), 6, 3)
    alone = [evaluate_columns(Problem.of(workload(name), p), {}).time_us[0] for p in platforms]
    assert found.sampled_us[:, 0] == pytest.approx(alone, rel=0.006)


def test_the_seed_decides_and_nothing_else() -> None:
    problem = Problem.of(workload("flash_attention"), B2)
    depths = {"fifo_depth": [4, 8]}
    first, again, other = intervals(problem, depths), intervals(problem, depths), intervals(problem, depths, seed=1)
    assert (first.sampled_us == again.sampled_us).all()
    assert (first.sampled_us != other.sampled_us).any()
    assert other.time_us == pytest.approx(first.time_us, rel=0.1)


def test_an_interval_does_not_depend_on_what_else_is_asked_for() -> None:
    problem = Problem.of(workload("paged_attention"), B2)
    alone = intervals(problem, {"fifo_depth": 8})
    among = intervals(problem, [{"fifo_depth": 2}, {"fifo_depth": 8}, {"fifo_depth": 4}])
    assert among.time_us[:, 1] == pytest.approx(alone.time_us[:, 0], rel=0.006)


@pytest.mark.parametrize("factor", [2, 4])
def test_a_wider_range_is_a_wider_interval(factor: int) -> None:
    def width(spread: float) -> float:
        number = B2.numbers[CROSS]

        wide = replace(number, base_low=number.base / spread, base_high=number.base * spread)
        numbers = {**exact_but(CROSS).numbers, CROSS: wide}
        p = Platform(B2.name, B2.family, B2.soc, B2.description, numbers, B2.source_path)
        low, high = intervals(stream(p), ONE_TILE).of(0) or (0.0, 0.0)
        return high - low

    assert width(factor) > 1.5 * width(1.3)


def test_what_is_known_better_is_surer() -> None:
    problem = Problem.of(workload("flash_attention"), B2)
    every = intervals(problem, {})
    key = "launch.task"  # the largest share
    fewer = intervals(Problem.of(workload("flash_attention"), B2.with_values({key: B2[key]})), {})
    assert np.ptp(fewer.time_us[[0, 2], 0]) < 0.85 * np.ptp(every.time_us[[0, 2], 0])


def test_differences_are_surer_than_times() -> None:
    problem = Problem.of(workload("flash_attention"), B2)
    found = intervals(problem, {"tile_s1": [128, 256]})
    paired = np.ptp(np.quantile(found.sampled_us[:, 0] - found.sampled_us[:, 1], [0.05, 0.95]))
    independent = np.ptp(np.quantile(found.sampled_us[:, 0] - np.roll(found.sampled_us[:, 1], 1), [0.05, 0.95]))
    assert paired < 0.7 * independent


def test_a_configuration_without_times_has_no_interval() -> None:
    problem = stream()
    found = intervals(problem, {"slot_bytes": [32768, 2**22]})
    assert evaluate_columns(problem, {"slot_bytes": [32768, 2**22]}).timed.tolist() == [True, False]
    assert found.of(0) is not None
    assert found.of(1) is None
    assert found.as_plain(1) is None
    assert np.isnan(found.sampled_us[:, 1]).all()
    none = intervals(problem, {"slot_bytes": 2**22})
    assert (none.of(0), none.keys) == (None, ())


def test_workloads_with_ranks_take_fewer_samples() -> None:
    problem = Problem.of(workload("tget_bandwidth"), B2, timing="device")
    found = intervals(problem, {"bytes": 65536})
    assert found.samples == 16
    assert {"link.hccs.get.rate", "link.hccs.get.latency", "dma.ub_to_gm.rate"} <= set(found.keys)
    platforms = sampled_platforms(B2, found.keys, 16)
    at = Problem.of(workload("tget_bandwidth"), platforms[5], timing="device")
    assert found.sampled_us[5, 0] == pytest.approx(evaluate_columns(at, {"bytes": 65536}).time_us[0], rel=1e-12)
    assert found.unfinished.tolist() == [0]


def test_samples_that_do_not_end_are_left_out() -> None:
    assert levels_of(np.array([3.0, np.nan, 3.0])).tolist() == [3.0] * 3
    assert np.isnan(levels_of(np.array([np.nan, np.nan]))).all()


def test_a_page_gets_an_interval_where_it_is_quick() -> None:
    e = evaluate_columns(stream(timing="task"), {"slot_bytes": [2**22, 32768]})
    assert quick_interval(e, 0) == (None, 0)
    assert quick_interval(e, 1) == (intervals(stream(timing="task"), {}).of(0), 64)


def test_too_many_configurations_and_unequal_names_are_refused() -> None:
    with pytest.raises(ValueError, match=f"{MOST_CONFIGURATIONS + 1} configurations at once"):
        intervals(stream(), {"tiles": list(range(1, MOST_CONFIGURATIONS + 2))})
    with pytest.raises(ValueError, match="needs the same names: tiles are not in all"):
        intervals(stream(), [{"tiles": 3, "split": 1}, {"split": 0}])
