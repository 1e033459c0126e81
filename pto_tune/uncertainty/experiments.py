"""What to run on a board to learn a number of a platform."""

from __future__ import annotations

import re

from cost_models.keys import find_key

EXPERIMENTS: tuple[tuple[str, str], ...] = (
    (r"clock\..*", "read the system counter around a loop whose cycles are known"),
    (r"dma\..*\.rate", "let one core copy tiles of 16 to 256 KiB in long bursts; the slope of time over bytes"),
    (r"dma\..*\.startup", "let one core copy many tiles of 32 B to 4 KiB one after the other; what is left at 0 B"),
    (r"dma\..*\.burst", "let one core copy the same bytes in bursts of 2 KiB down to 32 B; the slope over bursts"),
    (r"dma\..*\.latency", "time copies that each wait for the one before, less copies that follow without a wait"),
    (r"dma\.misaligned.*", "time the same copy with rows at aligned and at odd addresses"),
    (r"fixpipe\..*latency", "time drains that a reader waits for one by one, less drains that follow without a wait"),
    (r"fixpipe\..*", "time many drains in a row of 16 to 256 rows and columns; fit fixed part, rows and bytes"),
    (r"cube\..*", "time many products in a row out of L0 of one shape, with K doubled from run to run"),
    (r"vector\..*\.slope", "time the instruction on tiles of 8 to 128 repeats; the slope over repeats"),
    (r"vector\..*", "time the instruction on tiles of 1 to 16 repeats; what is left at no repeats"),
    (r"flags\.cross_core_latency", "send a flag back and forth between cube core and sub-core; half a round trip"),
    (r"flags\..*", "time a loop of flags that are set and waited for on one core with nothing in between"),
    (r"scalar\.issue", "time a long run of instructions that take next to no time on their pipes"),
    (r"l2\.read.*", "let all cores read, again and again, what fits into L2"),
    (r"l2\..*", "let all cores read and write, again and again, what fits into L2"),
    (r"hbm\..*", "let all cores stream several times what fits into L2"),
    (r"launch\..*", "time an empty kernel, and one of known length, under the same timing protocol"),
    (r"link\..*\.sdma.*", "time TGET_ASYNC and TPUT_ASYNC of 4 KiB to 4 MiB by one queue; slope and rest"),
    (r"link\..*_capacity", "let ever more cores move tiles of 64 KiB over the link, to one rank and to all"),
    (r"link\..*\.rate", "time TGET and TPUT of 64 KiB to 4 MiB by one core; the slope over bytes"),
    (r"link\..*", "time TGET and TPUT of 32 B to 4 KiB by one core, and TNOTIFY back and forth between two ranks"),
    (r"signal\..*", "time TNOTIFY and TWAIT back and forth between two ranks, with 1 to 64 counters a wait"),
)
"""By pattern of the key, the first that fits."""


def experiment(key: str) -> str:
    """A sentence without its full stop: which number, what it means, and what to run. ValueError: no such key."""
    known = find_key(key)
    if known is None:
        raise ValueError(f"{key}: unknown key; choose one that cost_models.keys lists")
    for pattern, what in EXPERIMENTS:
        if re.fullmatch(pattern, key):
            return f"{what}: {key} ({known.description})"
    return f"measure {key} ({known.description}) by itself"
