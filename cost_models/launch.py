"""What a timing protocol adds to the time that the device itself needs."""

from cost_models.platform import Platform

TIMINGS = ("task", "event", "sync", "device")


def overhead_us(platform: Platform, timing: str) -> float:
    """Microseconds that measuring by `timing` adds to the time from first to last instruction.

    `task`: task duration of the profiler; `event`: time between two events; `sync`: host time to the stream's
    synchronisation; `device`: none. Paid once a launch, whatever its number of blocks.

    Limits: the published differences vary with host and kernel (see the range of each number). Raises
    ValueError for another protocol.
    """
    if timing not in TIMINGS:
        raise ValueError(f"unknown timing {timing!r}; choose one of {', '.join(TIMINGS)}")
    return platform[f"launch.{timing}"]
