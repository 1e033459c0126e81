"""Names of timing protocols: those of the launch model, and the words that people and tools use for them."""

from __future__ import annotations

from cost_models.launch import TIMINGS
from pto_tune.measuring.faults import RowError, quoted

PROFILER = "task"
"""What the profiler's `Task Duration(us)` is: from the dispatch of the task to its response."""

_WORDS = {
    "profiler": PROFILER,
    "msprof": PROFILER,
    "task duration": PROFILER,
    "task time": PROFILER,
    "events": "event",
    "event timing": "event",
    "stream": "sync",
    "stream sync": "sync",
    "stream synchronisation": "sync",
    "stream synchronization": "sync",
    "device ticks": "device",
    "ticks": "device",
}


def protocol(text: str) -> str:
    """The timing protocol that `text` means, one of `cost_models.launch.TIMINGS`.

    Raises:
        RowError: nothing, or a word that means none.
    """
    word = " ".join(text.casefold().replace("_", " ").replace("-", " ").split())
    if word in TIMINGS:
        return word
    if word in _WORDS:
        return _WORDS[word]
    choices = f"{', '.join(TIMINGS)} (or profiler, stream sync, device ticks)"
    if not word:
        raise RowError(f"the timing protocol is missing: give it in a column 'timing' or by --timing, one of {choices}")
    raise RowError(f"unknown timing {quoted(text)}: choose one of {choices}")
