"""Numbers that were fitted together keep the covariance of their fit."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cost_models import load_platform
from cost_models.platform import Platform, standing_fits
from pto_tune.uncertainty.fits import cholesky, fit_of, normals
from pto_tune.uncertainty.sampling import ends_of, sampled_values

KEYS = ["dma.gm_to_l1.startup", "dma.gm_to_l1.latency", "l2.bandwidth"]

FILE = """
[platform]
name = "fitted"
inherits = "ascend910b2"

[dma.gm_to_l1.startup]
value = 200.5
unit = "cycles"
kind = "fitted"
source = "made up"
low = 10
high = 1000

[dma.gm_to_l1.latency]
value = 300.5
unit = "cycles"
kind = "fitted"
source = "made up"
low = {low}
high = 600

[l2.bandwidth]
value = 6000
unit = "GB/s"
kind = "fitted"
source = "made up"
low = 3000
high = 9000

[calibration]
parameters = ["dma.gm_to_l1.startup", "dma.gm_to_l1.latency", "l2.bandwidth"]
units = ["cycles", "cycles", "GB/s"]
covariance = [[100.0, -180.0, 0.0], [-180.0, 400.0, 0.0], [0.0, 0.0, 10000.0]]
"""


@pytest.fixture
def fitted(tmp_path: Path) -> Platform:
    path = tmp_path / "fitted.toml"
    path.write_text(FILE.format(low=50))
    return load_platform(path)


def test_a_file_without_a_covariance_has_no_fit() -> None:
    plain = load_platform("ascend910b2")
    assert fit_of(replace(plain, numbers={k: replace(n, source="made up") for k, n in plain.numbers.items()})) is None


def test_fits_of_several_files_are_independent_blocks() -> None:
    platform = load_platform("ascend910b2")
    fits = standing_fits(platform)
    found = fit_of(platform)
    assert len(fits) > 1
    assert found is not None
    assert list(found.keys) == [fit.covariance.keys[i] for fit in fits for i in fit.standing]
    first = len(fits[0].standing)
    assert (found.triangle[first:, :first] == 0).all()
    assert (found.triangle[:first, first:] == 0).all()


def test_what_is_tied_moves_as_one() -> None:
    keys = ["dma.l1_to_l0a.startup", "dma.l1_to_l0b.startup"]
    left, right = sampled_values(load_platform("ascend910b2"), keys, 64).T
    assert left == pytest.approx(right)
    assert left.std() > 0


def test_a_file_on_top_takes_the_place_of_those_below_where_it_states_the_number(fitted: Platform) -> None:
    found = fit_of(fitted)
    assert found is not None
    assert found.keys.count("dma.gm_to_l1.startup") == 1
    # the other number of the pair below keeps what that file says of it
    assert "dma.gm_to_ub.startup" in found.keys
    assert found.deviations[found.keys.index("dma.gm_to_l1.startup")] == pytest.approx(10.0)


def test_deviations_are_those_of_the_covariance(fitted: Platform) -> None:
    values = sampled_values(fitted, KEYS, 1024)
    per_cycle = 1000.0 / fitted["clock.core_mhz"]
    assert values.mean(axis=0) == pytest.approx([200.5, 300.5, 6000 * per_cycle], rel=0.01)
    assert values.std(axis=0) == pytest.approx([10.0, 20.0, 100 * per_cycle], rel=0.05)


def test_correlations_are_those_of_the_covariance(fitted: Platform) -> None:
    correlation = np.corrcoef(sampled_values(fitted, KEYS, 1024).T)
    assert correlation[0, 1] == pytest.approx(-0.9, abs=0.03)
    assert abs(correlation[0, 2]) < 0.12
    assert abs(correlation[1, 2]) < 0.12


def test_a_number_does_not_depend_on_which_others_are_asked_for(fitted: Platform) -> None:
    alone = sampled_values(fitted, KEYS[1:2], 64)
    assert (alone[:, 0] == sampled_values(fitted, KEYS, 64)[:, 1]).all()


def test_a_range_cuts_off(tmp_path: Path) -> None:
    path = tmp_path / "tight.toml"
    path.write_text(FILE.format(low=290))
    values = sampled_values(load_platform(path), KEYS, 256)
    assert values[:, 1].min() == 290


def test_one_number_by_itself_goes_to_the_ends_of_its_normal(fitted: Platform) -> None:
    low, high = ends_of(fitted, KEYS[0], (0.05, 0.95))
    assert (low, high) == pytest.approx((200.5 - 16.449, 200.5 + 16.449), abs=0.001)


def test_a_number_that_a_caller_replaces_leaves_the_fit(fitted: Platform) -> None:
    fit = fit_of(fitted.with_values({KEYS[0]: 220.0}))
    assert fit is not None
    assert [key for key in fit.keys if key in KEYS] == KEYS[1:]


def test_the_triangle_gives_back_the_matrix() -> None:
    matrix = [[1.0, 0.5, -0.2], [0.5, 1.0, 0.3], [-0.2, 0.3, 1.0]]
    lower = cholesky(matrix)
    assert np.allclose(lower @ lower.T, matrix)
    assert (np.triu(lower, 1) == 0).all()
    # two numbers that move as one
    assert np.allclose(cholesky([[1.0, 1.0], [1.0, 1.0]]), [[1.0, 0.0], [1.0, 0.0]])


def test_normal_quantiles() -> None:
    assert normals(np.array([0.5, 0.975])).tolist() == [0.0, 1.959963985]
