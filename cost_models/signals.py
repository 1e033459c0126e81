"""Signals between ranks: what TNOTIFY, TWAIT and TTEST cost, and when a signal arrives.

A signal is a 4-byte counter in the memory of the rank that waits for it. TNOTIFY writes or adds to it with scalar
stores and cache-line maintenance; TWAIT and TTEST poll it with scalar loads. `kind` is the link to the rank that
is notified (`cost_models.link`), None for a counter of the own rank.
"""

import numpy as np
from numpy.typing import ArrayLike

from cost_models import link
from cost_models.arrays import Floats, floats
from cost_models.platform import Platform

_STORES = {"set": "signal.store", "add": "signal.atomic"}

OPERATIONS = tuple(_STORES)


def barrier_cycles(platform: Platform) -> Floats:
    """Cycles of a barrier over all pipes besides waiting for what is in flight (a scalar). Nothing is published."""
    return np.asarray(platform["signal.barrier"], dtype=np.float64)


def arrival_cycles(platform: Platform, operation: str, kind: str | None = None) -> Floats:
    """Cycles from the start of a TNOTIFY to its value being there for whoever polls it (a scalar).

    Cache line, store (`set`) or atomic addition (`add`), cache line, flight. The flight is the latency of a put over
    the link, or that of a signal inside the rank. It does not wait for transfers that are still under way:
    TNOTIFY is not ordered behind them. Raises ValueError for unknown words and for a link that the platform
    does not have.
    """
    if operation not in OPERATIONS:
        raise ValueError(f"unknown operation {operation!r}; choose one of {', '.join(OPERATIONS)}")
    written = 2.0 * platform["signal.cache_line"] + platform[_STORES[operation]]
    return np.asarray(written + _flight(platform, kind), dtype=np.float64)


def notify_cycles(platform: Platform, operation: str, kind: str | None = None) -> Floats:
    """Cycles for which a TNOTIFY holds its core, all pipes included (a scalar).

    What `arrival_cycles` has, then the fence that waits until the store is acknowledged, and a barrier of all
    pipes, which in addition waits for what they have in flight. Assumption: the acknowledgement takes no longer than
    the store. Order of the steps: hw-native-sys/pto-isa include/pto/comm/a2a3/TNotify.hpp, which serves both families.
    """
    arrival = arrival_cycles(platform, operation, kind)
    return np.asarray(arrival + platform["signal.fence"] + platform["signal.barrier"], dtype=np.float64)


def sweep_cycles(platform: Platform, elements: ArrayLike) -> Floats:
    """Cycles of the scalar unit for one sweep of TWAIT or TTEST that reads `elements` (at least 1) of a signal.

    A sweep that succeeds reads all elements of the view, one that fails those up to the first that fails. Each costs
    the maintenance of its cache line, a load that misses, and the comparison, whether or not it shares the line with
    its neighbour. Order of the steps: hw-native-sys/pto-isa include/pto/comm/a2a3/TWait.hpp and TTest.hpp.
    """
    return np.asarray(
        platform["signal.sweep"] + platform["signal.poll"] * floats("elements", elements), dtype=np.float64
    )


def wait_cycles(
    platform: Platform, elements: ArrayLike, failed_sweeps: ArrayLike = 0, failed_elements: ArrayLike = 1
) -> Floats:
    """Cycles of a TWAIT over `elements` that succeeds after `failed_sweeps` which each read `failed_elements`.

    Every `signal.sweeps_per_barrier`-th failed sweep is followed by a barrier of all pipes. All three broadcast;
    `failed_sweeps` is at least 0, the others at least 1. TTEST is one sweep and has no barrier. Limits: in between
    the first element that fails may move on; give the mean, or add up sweeps.
    """
    failed = floats("failed_sweeps", failed_sweeps, least=0.0)
    barriers = np.floor(failed / platform["signal.sweeps_per_barrier"])
    failing = failed * sweep_cycles(platform, failed_elements) + barriers * platform["signal.barrier"]
    return np.asarray(failing + sweep_cycles(platform, elements), dtype=np.float64)


def _flight(platform: Platform, kind: str | None) -> float:
    return platform["signal.latency"] if kind is None else float(link.latency_cycles(platform, kind, "put"))
