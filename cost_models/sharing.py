"""Capacities that all cores draw on together."""

from cost_models.platform import Platform

#: shared resources and the number that holds their capacity
_KEYS = {"l2": "l2.bandwidth", "l2_read": "l2.read_bandwidth", "hbm": "hbm.bandwidth"}

RESOURCES = tuple(_KEYS)


def capacity_bytes_per_cycle(platform: Platform, resource: str) -> float:
    """Bytes that all cores together move through `resource` in a cycle of the core clock.

    `l2` carries reads and writes together, `l2_read` the reads alone (their limit is lower than that of mixed
    traffic), `hbm` reads and writes. Assumption: capacity is a rate, shared without loss. Limits: hit rates
    are the caller's. Raises ValueError for another resource.
    """
    if resource not in RESOURCES:
        raise ValueError(f"unknown shared resource {resource!r}; choose one of {', '.join(RESOURCES)}")
    return platform[_KEYS[resource]]
