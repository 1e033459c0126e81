"""Samples of a platform: the same for the same seed, each number spread over its whole distribution."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from platforms_unfitted import unfitted

from cost_models import load_platform
from pto_tune.uncertainty.sampling import at_values, points, sampled_platforms, sampled_values, uncertain_keys

B2 = unfitted(load_platform("ascend910b2"))
KEYS = uncertain_keys(B2, B2)


def test_each_number_takes_every_slice_of_probability_once() -> None:
    u = points(KEYS, 64)
    assert u.shape == (64, len(KEYS))
    assert (np.sort(u, axis=0) == ((np.arange(64) + 0.5) / 64)[:, None]).all()


def test_numbers_are_drawn_in_orders_of_their_own() -> None:
    correlation = np.corrcoef(points(KEYS, 256).T)
    np.fill_diagonal(correlation, 0)
    # the standard error of a correlation of 256 pairs is 1/16; the largest of thousands stays below 5 of them
    assert np.abs(correlation).max() < 5 / 16


@given(st.sets(st.sampled_from(KEYS)), st.integers(0, 5))
def test_what_else_is_sampled_does_not_change_a_number(others: set[str], seed: int) -> None:
    mine = "flags.cross_core_latency"
    keys = [*sorted(others - {mine}), mine]
    assert (points(keys, 32, seed)[:, -1] == points([mine], 32, seed)[:, 0]).all()


def test_the_seed_decides() -> None:
    assert (points(KEYS, 16, 3) == points(KEYS, 16, 3)).all()
    assert (points(KEYS, 16, 3) != points(KEYS, 16, 4)).any()


def test_the_order_is_the_same_on_every_machine() -> None:
    assert (points(["flags.set"], 8, 0)[:, 0] * 16).tolist() == [5, 11, 3, 15, 9, 1, 13, 7]


@pytest.mark.parametrize("samples", [-1, 0, 1, 4097])
def test_too_few_or_too_many_samples_are_refused(samples: int) -> None:
    with pytest.raises(ValueError, match=f"samples = {samples}: expected 2 to 4096"):
        points(KEYS, samples)


def test_values_stay_in_their_ranges_and_their_median_is_the_value() -> None:
    values = sampled_values(B2, KEYS, 65)
    for key, column in zip(KEYS, values.T, strict=True):
        number = B2.numbers[key]
        assert np.median(column) == number.base
        assert number.base_low is None or column.min() >= number.base_low
        assert number.base_high is None or column.max() <= number.base_high


def test_no_platform_asks_for_its_structure() -> None:
    assert not [key for key in KEYS if key.startswith(("topology.", "cores.", "memory."))]
    assert {"flags.cross_core_latency", "l2.bandwidth", "launch.task", "clock.core_mhz"} <= set(KEYS)
    assert "launch.device" not in KEYS


def test_a_rate_a_second_stays_one_when_the_clock_moves() -> None:
    faster = at_values(B2, {"clock.core_mhz": 3600.0, "l2.bandwidth": B2["l2.bandwidth"] * 0.9})
    assert faster["l2.bandwidth"] == pytest.approx(0.9 * B2["l2.bandwidth"] / 2)
    assert faster["hbm.bandwidth"] == pytest.approx(B2["hbm.bandwidth"] / 2)
    assert faster["link.hccs.get.latency"] == pytest.approx(B2["link.hccs.get.latency"] * 2)
    also = at_values(B2, {"clock.core_mhz": 3600.0, "link.hccs.get.latency": B2["link.hccs.get.latency"] * 0.5})
    assert also["link.hccs.get.latency"] == pytest.approx(B2["link.hccs.get.latency"])
    assert faster["dma.gm_to_l1.rate"] == B2["dma.gm_to_l1.rate"]


def test_platforms_have_the_values_that_were_drawn() -> None:
    keys = ["dma.gm_to_l1.rate", "flags.cross_core_latency"]
    platforms = sampled_platforms(B2, keys, 8, 1)
    assert [[p[key] for key in keys] for p in platforms] == sampled_values(B2, keys, 8, 1).tolist()
    assert all(p["hbm.bandwidth"] == B2["hbm.bandwidth"] for p in platforms)
