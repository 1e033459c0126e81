"""A recommendation as single names and values: for build systems, and for reading a file back.

The names are those of the header's constants (`CUBE_S0`, `Qk_FifoDepth`, `Qk_SyncPeriod` ...), so that one name means
one thing in every format.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pto_tune.exporters.header import CONFIG_FIELDS, FIFO_TYPES
from pto_tune.exporters.names import constant_name, pipe_prefix
from pto_tune.exporters.notes import buffer_bases
from pto_tune.exporters.pipe_checks import CLIP_RELU_MODES
from pto_tune.exporters.recommendation import PipeRecommendation, Recommendation


@dataclass(frozen=True)
class Flat:
    """One name with its value: a whole number, a truth, or the name of an enumerator. `doc` is one line."""

    name: str
    value: int | bool | str
    doc: str

    @property
    def text(self) -> str:
        """The value as C and C++ write it."""
        return str(self.value).lower() if isinstance(self.value, bool) else str(self.value)


def flat(rec: Recommendation) -> list[Flat]:
    """All names of a recommendation whose names and values have been checked, constants first and sorted."""
    constants = [
        Flat(constant_name(name) or "", int(value), f"tunable {name}") for name, value in rec.constants.items()
    ]
    found = sorted(constants, key=lambda one: one.name)
    for pipe in rec.pipes:
        found += _of_pipe(pipe, rec)
    return found


def _of_pipe(pipe: PipeRecommendation, rec: Recommendation) -> Iterator[Flat]:
    prefix = pipe_prefix(pipe.name) or ""

    def one(field: str, value: int | bool | str) -> Flat:
        return Flat(f"{prefix}_{field}", value, f"{field} of pipe {pipe.name}")

    yield one("FlagID", pipe.flag_id)
    yield one("SlotSize", pipe.slot_bytes)
    if pipe.kind == "TPipe":
        yield one("Direction", pipe.direction)
        yield one("FifoDepth", pipe.slot_num)
        yield one("SyncPeriod", pipe.sync_period)
        yield one("LocalSlotNum", pipe.local_slot_num)
        yield one("IsNoSplit", pipe.is_no_split)
    else:
        yield one("FIFOType", FIFO_TYPES[pipe.ways[0].ring])
        yield one("FiFoDepth", pipe.slot_num)
        yield one("FiFoSyncT", pipe.sync_period)
        yield one("LocalFiFoDepth", pipe.local_slot_num)
    yield one("EN_UNIT_FLAG", pipe.en_unit_flag)
    yield one("Split", pipe.split)
    for base in buffer_bases(pipe, prefix, rec.family):
        if base.bytes:
            yield Flat(base.constant, base.bytes, f"bytes {base.what} of pipe {pipe.name}")
    for k, config in enumerate(pipe.configs, 1):
        number = k if len(pipe.configs) > 1 else ""
        values: tuple[int | bool | str, ...] = (
            config.layout,
            config.quant,
            config.relu,
            config.phase,
            config.sub_block_id,
            config.atomic,
            config.clip_relu or CLIP_RELU_MODES[0],
            config.channel_split,
        )
        for field, value in zip(CONFIG_FIELDS, values, strict=True):
            yield one(f"{field}{number}", value)
