"""Capacities that all cores draw on together."""

import numpy as np
from numpy.typing import ArrayLike

from cost_models.arrays import Floats, floats
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


def wait_cycles(platform: Platform, bytes_: ArrayLike, blocks: ArrayLike) -> Floats:
    """Cycles for which a cube core waits for HBM while it and its neighbours bring `bytes_` (at least 0) each.

    `blocks` (at least 1) is how many blocks the kernel has: as many cores do so at a time, but no more than there are.
    Both broadcast.

    For lines that several cores read at the same time: the first one to ask fetches them and the others wait, so that
    the time that HBM takes stands in the time of each of them beside what the transfer from L2 takes. Where each core
    reads lines of its own there is no such wait, only the shared limit of HBM.

    Assumption: HBM serves the cores evenly and nothing hides the wait. Limits: the latency of a single access is not
    in it, nor cores that are out of step. Source: the GEMM table of hw-native-sys/pto-isa, where a load of 192 KiB
    takes 2302 cycles at 6144^3 (2.8 % of what is read comes from HBM) and 2880 at 1536^3 (11 %); and the loads of 950,
    which take the 100 B/cycle of Ascend950PR_9589.ini where this wait is taken off (8192^3 fp16 of
    cannmirror/asc-devkit matmul_basic_api_high_performance: 99.8, otherwise 90.6).
    """
    cores = np.minimum(floats("blocks", blocks), platform["cores.cube"])
    return np.asarray(floats("bytes_", bytes_, least=0.0) * cores / platform[_KEYS["hbm"]], dtype=np.float64)
