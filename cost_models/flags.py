"""Synchronisation: flags between pipes of a core and between cores."""

import numpy as np

from cost_models.arrays import Floats
from cost_models.platform import Platform


def set_cycles(platform: Platform) -> Floats:
    """Cycles that setting a flag occupies its pipe (a scalar).

    Source: hw-native-sys/pto-isa include/pto/costmodel/a2a3/cce_costmodel, a model constant.
    """
    return np.asarray(platform["flags.set"], dtype=np.float64)


def wait_cycles(platform: Platform) -> Floats:
    """Cycles that waiting for a flag costs when it is already set (a scalar). Source: as for `set_cycles`."""
    return np.asarray(platform["flags.wait"], dtype=np.float64)


def cross_core_latency_cycles(platform: Platform) -> Floats:
    """Cycles from a core setting a cross-core flag to another core seeing it (a scalar).

    No microbenchmark is published; the number's note says which stream or whole-kernel figure it is derived
    from or bounded by. The same for both directions and for both sub-cores.
    """
    return np.asarray(platform["flags.cross_core_latency"], dtype=np.float64)
