"""Signals: what notifying, waiting and testing cost, and that their parts add up."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cost_models import Platform, link, load_platform, platform_names, signals

PLATFORMS = [load_platform(name) for name in platform_names()]


def test_a_notification_is_line_store_line_flight_fence_barrier(b2: Platform) -> None:
    written = 2 * b2["signal.cache_line"] + b2["signal.store"]
    flight = b2["link.hccs.put.latency"]
    assert signals.arrival_cycles(b2, "set", "hccs") == pytest.approx(written + flight)
    held = signals.notify_cycles(b2, "set", "hccs")
    assert held == pytest.approx(written + flight + b2["signal.fence"] + b2["signal.barrier"])


@pytest.mark.parametrize("platform", PLATFORMS, ids=lambda p: p.name)
def test_the_notifier_is_held_until_the_signal_has_arrived(platform: Platform) -> None:
    for operation in signals.OPERATIONS:
        for kind in (None, *link.kinds(platform)):
            arrival = signals.arrival_cycles(platform, operation, kind)
            assert 0 < arrival <= signals.notify_cycles(platform, operation, kind)
            assert signals.arrival_cycles(platform, operation) <= arrival


def test_an_addition_has_a_price_of_its_own(b2: Platform) -> None:
    dear = b2.with_values({"signal.atomic": b2["signal.atomic"] + 100})
    assert signals.notify_cycles(dear, "add") - signals.notify_cycles(b2, "add") == pytest.approx(100)
    assert signals.notify_cycles(dear, "set") == signals.notify_cycles(b2, "set")


def test_a_sweep_pays_for_each_element(b2: Platform) -> None:
    one, many = signals.sweep_cycles(b2, [1, 32])
    assert one == pytest.approx(b2["signal.sweep"] + b2["signal.poll"])
    assert many - one == pytest.approx(31 * b2["signal.poll"])


# hw-native-sys/pto-isa include/pto/comm/a2a3/TWait.hpp: a barrier after each 64th failed sweep
@pytest.mark.parametrize(("failed", "barriers"), [(0, 0), (63, 0), (64, 1), (127, 1), (128, 2)])
def test_a_wait_has_a_barrier_every_64_failed_sweeps(b2: Platform, failed: int, barriers: int) -> None:
    wait = signals.wait_cycles(b2, 8, failed, 3)
    sweeps = failed * signals.sweep_cycles(b2, 3) + signals.sweep_cycles(b2, 8)
    assert wait == pytest.approx(sweeps + barriers * signals.barrier_cycles(b2))


def test_a_wait_that_finds_its_signal_is_one_sweep(b2: Platform) -> None:
    assert signals.wait_cycles(b2, 32) == signals.sweep_cycles(b2, 32)


@given(st.integers(1, 64), st.integers(0, 500), st.integers(1, 64))
def test_waiting_longer_or_for_more_is_never_cheaper(elements: int, failed: int, failing: int) -> None:
    platform = PLATFORMS[0]
    wait = signals.wait_cycles(platform, elements, failed, failing)
    assert signals.wait_cycles(platform, elements + 1, failed, failing) > wait
    assert signals.wait_cycles(platform, elements, failed + 1, failing) > wait
    assert signals.wait_cycles(platform, elements, failed, failing + 1) >= wait


def test_arrays_and_scalars_broadcast(b2: Platform) -> None:
    found = signals.wait_cycles(b2, [1, 8, 32], [[0], [100]], 1)
    assert found.shape == (2, 3)
    assert found.dtype == np.float64
    assert found[1, 2] == signals.wait_cycles(b2, 32, 100)


def test_words_and_numbers_that_are_none(b2: Platform) -> None:
    with pytest.raises(ValueError, match="unknown operation 'or'; choose one of set, add"):
        signals.notify_cycles(b2, "or")
    with pytest.raises(ValueError, match="platform 'ascend910b2' has no link 'ub'"):
        signals.arrival_cycles(b2, "set", "ub")
    with pytest.raises(ValueError, match="elements contains 0"):
        signals.sweep_cycles(b2, 0)
    with pytest.raises(ValueError, match="failed_sweeps contains -1"):
        signals.wait_cycles(b2, 1, -1)
