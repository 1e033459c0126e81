"""How far a number may be from its value: by its own range, or by its kind."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from platforms_unfitted import unfitted

from cost_models import load_platform
from cost_models.keys import KINDS, OVERRIDE
from cost_models.number import Number
from pto_tune.uncertainty.kinds import SPREADS, is_structural, quantiles, range_of

B2, PR = unfitted(load_platform("ascend910b2")), load_platform("ascend950pr")


def number(kind: str = "assumed", value: float = 400.5, key: str = "dma.gm_to_l1.rate", **ends: float) -> Number:
    return Number(
        key, value, "B/cycle", value, "B/cycle", kind, "made up", base_low=ends.get("low"), base_high=ends.get("high"),
        low=ends.get("low"), high=ends.get("high"),
    )  # fmt: skip


def test_every_kind_has_a_spread_with_a_reason() -> None:
    assert set(SPREADS) == {*KINDS, OVERRIDE}
    assert all(spread.reason for spread in SPREADS.values())


def test_the_kinds_are_ordered_by_how_much_is_known() -> None:
    factors = [SPREADS[kind].factor for kind in (OVERRIDE, "spec", "measured", "fitted", "assumed")]
    assert factors == [1.0, 1.01, 1.05, 1.10, 2.0]


@pytest.mark.parametrize("kind", KINDS)
def test_a_number_without_a_range_has_that_of_its_kind(kind: str) -> None:
    factor = SPREADS[kind].factor
    assert range_of(number(kind)) == (400.5 / factor, 400.5 * factor)


@pytest.mark.parametrize("kind", KINDS)
def test_a_range_of_its_own_wins(kind: str) -> None:
    assert range_of(number(kind, low=7.0, high=500.0)) == (7.0, 500.0)


def test_a_range_with_one_end_has_the_other_from_its_kind() -> None:
    assert range_of(number("measured", low=100.0)) == (100.0, 400.5 * 1.05)
    assert range_of(number("measured", high=999.0)) == (400.5 / 1.05, 999.0)


def test_what_a_caller_gives_is_exact() -> None:
    given_number = B2.with_values({"flags.cross_core_latency": 500.0}).numbers["flags.cross_core_latency"]
    assert range_of(given_number) == (500.0, 500.0)


def test_a_range_does_not_leave_what_the_key_allows() -> None:
    assert range_of(number("assumed", 1.2, "dma.misaligned_factor_ub")) == (1.0, 2.4)


def test_whole_things_without_a_range_are_exact_and_with_one_stay_whole() -> None:
    passes = B2.numbers["cube.passes_4byte"]
    assert (passes.low, range_of(passes)) == (None, (passes.base, passes.base))
    ranged = PR.numbers["cube.passes_4byte"]
    assert range_of(ranged) == (1.0, 8.0)
    drawn = quantiles(ranged, np.linspace(0.01, 0.99, 99))
    assert set(drawn) <= set(range(1, 9))
    assert len(set(drawn)) > 4


def test_what_decides_a_program_or_its_legality_is_never_sampled() -> None:
    for key in ("topology.ranks_per_node", "cores.cube", "memory.ub_usable", "scalar.queue_depth"):
        assert is_structural(key)
    assert not any(map(is_structural, ("dma.gm_to_l1.rate", "flags.set", "scalar.issue", "l2.bandwidth")))


def test_half_the_probability_lies_on_either_side_of_the_value_in_equal_ratios() -> None:
    n = number(low=100.0, high=500.0)
    below, value, above = quantiles(n, np.array([0.25, 0.5, 0.75]))
    assert value == 400.5
    assert below == pytest.approx(sqrt(400.5 * 100.0), rel=1e-6)
    assert above == pytest.approx(sqrt(400.5 * 500.0), rel=1e-6)


def test_a_side_that_ends_at_the_value_keeps_its_half_there() -> None:
    assert list(quantiles(number(low=100.0, high=400.5), np.array([0.51, 0.75, 0.99]))) == [400.5] * 3


def test_a_side_that_ends_at_zero_is_in_equal_steps() -> None:
    assert list(quantiles(number(low=0.0, high=500.0), np.array([0.125, 0.25]))) == [400.5 / 4, 400.5 / 2]
    zero = number(key="vector.count_mode_floor", value=0.0, low=0.0, high=0.5)
    assert list(quantiles(replace(zero, base_high=16.0), np.array([0.25, 0.75]))) == [0.0, 8.0]


def test_numbers_in_whole_cycles_stay_in_whole_cycles() -> None:
    drawn = quantiles(B2.numbers["flags.cross_core_latency"], np.linspace(0.01, 0.99, 99))
    assert (drawn == np.rint(drawn)).all()
    assert drawn.min() >= 100
    assert drawn.max() <= 700
    assert set(quantiles(B2.numbers["flags.set"], np.linspace(0.01, 0.99, 99))) == {1.0}


@given(st.sampled_from([*B2.numbers.values(), *PR.numbers.values()]), st.floats(0.001, 0.999), st.floats(0.001, 0.999))
def test_quantiles_rise_inside_the_range_around_the_median(n: Number, a: float, b: float) -> None:
    low, high = range_of(n)
    lower, upper = quantiles(n, np.array([min(a, b), max(a, b)]))
    assert low <= lower <= upper <= high
    assert quantiles(n, np.array([0.5]))[0] == n.base


def test_the_bits_are_the_same_everywhere() -> None:
    # made of square roots and products, which IEEE 754 rounds in one way
    found = quantiles(number(low=100.0, high=500.0), np.array([0.05, 0.95])).tolist()
    assert [x.hex() for x in found] == ["0x1.cb896917ba8ebp+6", "0x1.e9070826bc2fep+8"]
    assert found == pytest.approx([400.5 * (100 / 400.5) ** 0.9, 400.5 * (500 / 400.5) ** 0.9], rel=1e-6)
