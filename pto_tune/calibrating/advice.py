"""Which measurement would tell a number, in words: the end of "add a measurement where ..."."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pto_tune.calibrating.parameters import Parameter

_BY_PREFIX: tuple[tuple[str, str], ...] = (
    ("launch.", "the kernel does next to nothing, timed by that protocol"),
    ("flags.cross_core_latency", "FifoDepth is 1, so that each tile waits for the one before it"),
    ("flags.", "many tiny tiles go through a pipe, so that its flags decide"),
    ("scalar.issue", "many instructions of few cycles are issued one after the other"),
    ("l2.", "all cores move data that fits into L2 and compute nothing"),
    ("hbm.", "all cores move data that does not fit into L2 and compute nothing"),
    ("link.", "ranks exchange nothing but data by that link"),
    ("signal.", "ranks exchange signals alone"),
    ("cube.head", "many small TMATMUL follow each other, so that M decides"),
)
_DMA = {
    "startup": "many transfers of one short burst each go through {path}",
    "burst": "each transfer of {path} has many short bursts",
    "rate": "long bursts on {path} decide the time of one core alone, so that L2 and HBM do not",
    "latency": "each transfer on {path} waits for the one before it (one slot, one buffer)",
}
_FIXPIPE = {
    "fixed": "FIX drains many small tiles of L0C",
    "row": "FIX drains tall and narrow tiles of L0C",
    "odd_pass": "FIX drains tiles of L0C whose rows are 80 or 96 elements long",
    "latency": "each drain is waited for by the next step (one slot, one buffer)",
}
_VECTOR = {
    "slope": "large tiles of the vector family {family} decide the time",
    "fixed": "many small tiles of the vector family {family} decide the time",
}


def telling(parameters: Sequence[Parameter]) -> str:
    """Where `parameters` could be told (one) or told apart (several)."""
    words = list(dict.fromkeys(_one(p.key) for p in parameters))
    if len(words) > 1:
        return "; and one where ".join(words)
    return words[0] if len(parameters) == 1 else f"{words[0]}, and one where that matters less"


def _one(key: str) -> str:
    for prefix, words in _BY_PREFIX:
        if key.startswith(prefix):
            return words
    room, _, rest = key.partition(".")
    middle, _, part = rest.rpartition(".")
    if room == "dma" and part in _DMA:
        return _DMA[part].format(path=middle.replace("_", " ").upper().replace(" TO ", " to "))
    if room == "fixpipe":
        return _FIXPIPE.get(part, "FIX decides the time, with long rows")
    if room == "vector" and part in _VECTOR:
        return _VECTOR[part].format(family=middle)
    return f"{key} decides the time"
