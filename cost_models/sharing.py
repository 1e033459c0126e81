"""Capacities that all cores draw on together."""

import numpy as np

from cost_models.platform import Platform

#: shared resources and the number that holds their capacity
_KEYS = {"l2": "l2.bandwidth", "l2_read": "l2.read_bandwidth", "hbm": "hbm.bandwidth"}

RESOURCES = tuple(_KEYS)


def read_weight(platform: Platform) -> float:
    """How many bytes that hit L2 a byte read from HBM stands for on the way from L2 to the cores (at least 1).

    A read that misses holds that way for as long as HBM takes: cold and warm reads add up instead of overlapping. On
    910B 48 vector cores that read 302 MB once from HBM and three times from L2 take 366 us: 203 us for HBM, 152 for L2
    and the launch (mte2_datacopy_microbench of cannmirror/asc-devkit; with overlap it would be 214 us).
    """
    weight: float = np.maximum(1.0, platform[_KEYS["l2_read"]] / platform[_KEYS["hbm"]])
    return weight


def capacity_bytes_per_cycle(platform: Platform, resource: str) -> float:
    """Bytes that all cores together move through `resource` in a cycle of the core clock.

    `l2` carries reads and writes together, `l2_read` the reads alone (their limit is lower than that of mixed
    traffic; a byte from HBM counts as `read_weight` bytes), `hbm` reads and writes. Assumption: capacity is a rate,
    shared without loss. Limits: hit rates are the caller's. Raises ValueError for another resource.
    """
    if resource not in RESOURCES:
        raise ValueError(f"unknown shared resource {resource!r}; choose one of {', '.join(RESOURCES)}")
    return platform[_KEYS[resource]]
