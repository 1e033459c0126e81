"""Platforms whose numbers were never fitted together."""

from dataclasses import replace

from cost_models import Platform


def unfitted(platform: Platform) -> Platform:
    """The same numbers, known by their ranges alone; the latency of a flag is assumed, 350 cycles."""
    numbers = {key: replace(n, source="made up") for key, n in platform.numbers.items()}
    flag = "flags.cross_core_latency"
    numbers[flag] = replace(numbers[flag], value=350.0, base=350.0, kind="assumed")
    return replace(platform, numbers=numbers)
