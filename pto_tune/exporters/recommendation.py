"""What an export is made from: one configuration with the pipes that carry it, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

PipeDirection = Literal["DIR_C2V", "DIR_V2C", "DIR_BOTH"]
SplitAxis = Literal["TILE_NO_SPLIT", "TILE_UP_DOWN", "TILE_LEFT_RIGHT"]


@dataclass(frozen=True)
class PipeRecommendation:
    """One pipe between the cube core and its vector sub-cores, in the words of `TPipe`.

    Attributes:
        name: the pipe's name in the workload, such as `qk`.
        flag_id: first of the cross-core flags that the pipe uses (two, or four with DIR_BOTH).
        direction: which core produces.
        slot_bytes: SlotSize, bytes of one slot.
        slot_num: SlotNum (= FifoDepth), slots of the ring.
        sync_period: SyncPeriod, tiles for one credit of free space.
        local_slot_num: LocalSlotNum, buffers that the consumer rotates through.
        is_no_split: IsNoSplit, whether one sub-core alone takes part (A5; A2/A3 ignores it).
        en_unit_flag: EN_UNIT_FLAG, whether the drain overlaps the matrix product.
        split: how a tile is shared between the two sub-cores.
    """

    name: str
    flag_id: int
    direction: PipeDirection
    slot_bytes: int
    slot_num: int
    sync_period: int
    local_slot_num: int
    is_no_split: bool
    en_unit_flag: bool
    split: SplitAxis


@dataclass(frozen=True)
class Recommendation:
    """One evaluated configuration and where it comes from.

    Attributes:
        workload: name of the workload.
        platform: name of the platform whose numbers were used, and `soc` the chip that it describes.
        rule_set: name of the pipe rule set under which the verdict holds.
        pto_isa: revision of the library that was asked for, None for the rule set's default.
        run: number or name of the stored run, None where nothing was stored.
        configuration: tunables and their values; `problem`: problem sizes and their values.
        constants: what the kernel needs as constants beside its pipes, such as CUBE_S0.
        pipes: the pipes, in the workload's order.
        predicted_us: predicted time in microseconds, launch overhead of `timing` included.
        predicted_cycles: first instruction to last on the device, core clock cycles.
        timing: timing protocol of `predicted_us` (task, event, sync or device).
        versions: versions of what the prediction was made with, by name.
        platform_sha256: hash of the resolved platform.
        verdict: "ok", or why the configuration must not be used.
    """

    workload: str
    platform: str
    soc: str
    rule_set: str
    pto_isa: str | None
    run: str | int | None
    configuration: Mapping[str, int | str]
    problem: Mapping[str, int | str]
    constants: Mapping[str, int]
    pipes: tuple[PipeRecommendation, ...]
    predicted_us: float
    predicted_cycles: int
    timing: str
    versions: Mapping[str, str]
    platform_sha256: str
    verdict: str
