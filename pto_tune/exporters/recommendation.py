"""What an export is made from: one configuration with the pipes that carry it, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pto_tune.model.nodes import TConfig

Family = Literal["a2a3", "a5"]
PipeKind = Literal["TPipe", "TMPipe"]
PipeDirection = Literal["DIR_C2V", "DIR_V2C", "DIR_BOTH", "DIR_C2V_GM", "DIR_V2C_GM", "DIR_BOTH_GM"]
SplitAxis = Literal["TILE_NO_SPLIT", "TILE_UP_DOWN", "TILE_LEFT_RIGHT", "TILE_UP_DOWN_ODD", "TILE_LEFT_RIGHT_ODD"]
WayName = Literal["C2V", "V2C"]
RingPlace = Literal["GM", "UB", "L1"]
Switch = Literal["allocate", "record", "wait", "free"]


@dataclass(frozen=True)
class PipeCall:
    """One kind of call that a program makes on a pipe.

    Attributes:
        core: AIC, AIV (both sub-cores), AIV0 or AIV1 (that one alone).
        instruction: TALLOC, TPUSH, TPOP or TFREE.
        flow: GlobalData, or TileData where a tile is stored, loaded or released.
        splits: the Split of the call; several where blocks or sub-cores differ.
        config: number of its TConfig among those of the pipe, None without one.
        simplified: TPUSH(tile, pipe).
    """

    core: str
    instruction: str
    flow: Literal["GlobalData", "TileData"]
    splits: tuple[SplitAxis, ...] = ()
    config: int | None = None
    simplified: bool = False


@dataclass(frozen=True)
class PipeWay:
    """One way of a pipe.

    Attributes:
        name: C2V (cube to vector) or V2C.
        ring: memory that the ring lies in: GM, UB of the vector sub-cores, or L1 of the cube core.
        consumer_bytes: what the pipe takes of the consumer's memory (UB for C2V, L1 for V2C): the ring itself, or the
            local slots of popped tiles; 0 where nothing is popped into it.
        calls: in the order of the programs, the producer's core first.
    """

    name: WayName
    ring: RingPlace
    consumer_bytes: int
    calls: tuple[PipeCall, ...] = ()


@dataclass(frozen=True)
class PipeRecommendation:
    """One pipe between the cube core and its vector sub-cores, in the words of `TPipe`.

    Attributes:
        name: the pipe's name in the workload, such as `qk`.
        flag_id: first of the cross-core flags that the pipe uses (two, or four where it goes both ways).
        direction: which core produces; on Ascend 950 also whether the ring lies in GM.
        slot_bytes: SlotSize, bytes of one slot.
        slot_num: SlotNum (= FifoDepth; FiFoDepth of a TMPipe), slots of the ring.
        sync_period: SyncPeriod (FiFoSyncT of a TMPipe), tiles for one credit of free space.
        local_slot_num: LocalSlotNum (LocalFiFoDepth of a TMPipe), buffers that the consumer rotates through.
        is_no_split: IsNoSplit, whether one sub-core alone takes part (A5; A2/A3 ignores it).
        en_unit_flag: EN_UNIT_FLAG, whether the drain overlaps the matrix product.
        split: how a tile is shared between the two sub-cores.
        ways: the ways that tiles go, one or two.
        kind: TPipe or TMPipe.
        gated: whether the kernel gates the switches of a TMPipe by depth and period.
        switches_off: the switches of producer and consumer that the kernel turns off.
        configs: the TConfigs that pushes have.
        part_slots: slots of a ring in UB hold one sub-core's part of a split tile.
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
    ways: tuple[PipeWay, ...]
    kind: PipeKind = "TPipe"
    gated: bool = False
    switches_off: tuple[Switch, ...] = ()
    configs: tuple[TConfig, ...] = ()
    part_slots: bool = False

    @property
    def gm_bytes(self) -> int:
        """Bytes of the pipe's rings in GM for one block (one AIC with its sub-cores), 0 where none lies there."""
        return sum(way.ring == "GM" for way in self.ways) * self.slot_num * self.slot_bytes


@dataclass(frozen=True)
class Recommendation:
    """One evaluated configuration and where it comes from.

    Attributes:
        workload: name of the workload.
        platform: name of the platform whose numbers were used, and `soc` the chip that it describes.
        family: family of the platform, a2a3 or a5.
        rule_set: name of the pipe rule set under which the verdict holds, and `revisions` those of the library that
            behave so.
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
        warnings: what works although a page forbids it, and what a header ignores although it is asked for.
        interval_us: 5 % and 95 % of the time in samples of the platform's numbers, and how many `samples`; None where
            none were taken.
        row: row of the configuration in the run, None where nothing was stored.
        codes: the whole numbers behind the labels in `problem` and `configuration`, by name.
        assumed: keys of the platform's numbers of links and signals that the prediction uses and that nothing published
            stands behind.
        exported: the day (YYYY-MM-DD, UTC) where a date was asked for, else None.
        chosen: why this one, where it is not the fastest and nobody named it; else None.
        source_sha256: of the kernel file that the workload was read from (UTF-8 with line feeds), else None.
    """

    workload: str
    platform: str
    soc: str
    family: Family
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
    revisions: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    interval_us: tuple[float, float] | None = None
    samples: int = 0
    row: int | None = None
    codes: Mapping[str, int] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()
    exported: str | None = None
    chosen: str | None = None
    source_sha256: str | None = None

    def number(self, name: str) -> int:
        """The whole number of a problem size or tunable, that behind its label where it has one."""
        return int(self.codes.get(name, {**self.problem, **self.configuration}[name]))
