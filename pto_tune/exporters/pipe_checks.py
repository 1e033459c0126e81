"""What must hold of every pipe of a recommendation before it becomes a header."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, get_args

from pto_tune.exporters.recommendation import PipeKind, PipeRecommendation, Recommendation, SplitAxis, Switch
from pto_tune.exporters.values import INT64_MAX, UINT8_MAX, UINT32_MAX, choice_faults, range_faults
from pto_tune.model import fixpipe
from pto_tune.rule_sets import RuleSetError, rule_sets

if TYPE_CHECKING:
    from pto_tune.model.nodes import TConfig
    from pto_tune.rule_sets import RuleSet

CLIP_RELU_MODES = ("NOCLIP_RELU", "CLIP_RELU")
"""ClipReluMode_t (common/fixpipe.hpp of pto-isa)."""

GATED = (
    "its kernel gates the switches by depth and period, before its first tile takes the credit that the constructor of "
    "a TMPipe sends, and at the end leaves one to the destructor"
)
"""What a SyncPeriod other than the derived one asks of a kernel."""


def pipe_faults(rec: Recommendation) -> list[str]:
    """Everything that is wrong with the pipes or with the rule set that they follow."""
    try:
        known = {rules.name: rules for rules in rule_sets(rec.family)}
    except RuleSetError:
        return [f"family is {rec.family!r}: a2a3 or a5 would be right"]
    if rec.rule_set not in known:
        return list(choice_faults("rule_set", rec.rule_set, known))
    rules = known[rec.rule_set]
    found: list[str] = []
    placed: list[tuple[PipeRecommendation, set[int]]] = []
    for pipe in rec.pipes:
        flags = list(_direction_faults(pipe, rules))
        found += [*flags, *_pipe_faults(pipe, rules)]
        if not flags:
            placed.append((pipe, flags_used(pipe, rules)))
    return [*found, *_overlaps(placed)]


def directions(rules: RuleSet) -> dict[str, int]:
    """Directions that a header of this rule set can have, with the number of flag ids of each."""
    return {f"DIR_{name}": d.flag_ids for name, d in rules.directions.items() if not d.refused}


def flags_used(pipe: PipeRecommendation, rules: RuleSet) -> set[int]:
    """Flag ids that a pipe occupies: data-ready and free space, once for each way."""
    return {pipe.flag_id + offset for offset in range(directions(rules)[pipe.direction])}


def _direction_faults(pipe: PipeRecommendation, rules: RuleSet) -> Iterator[str]:
    """The direction with its rings, and its flag ids: FlagID + 1 < 16, and FlagID + 3 < 16 both ways
    (npu/a2a3/TPush.hpp:43-44, 135-138, npu/a5/TPush.hpp:46-47)."""
    where, known = f"pipe {pipe.name!r}", directions(rules)
    if pipe.direction not in known:
        yield from choice_faults(f"{where}: direction", pipe.direction, known)
    else:
        asked = {name: way.ring for name, way in rules.directions[pipe.direction.removeprefix("DIR_")].ways.items()}
        if {way.name: way.ring for way in pipe.ways} != asked or len(pipe.ways) != len(asked):
            listed = ", ".join(f"{way.name} in {way.ring}" for way in pipe.ways) or "none"
            right = ", ".join(f"{name} in {ring}" for name, ring in asked.items())
            yield f"{where} ({pipe.direction}): ways are {listed}: {right} would be right"
        highest = rules.flag_ids - known[pipe.direction]
        yield from range_faults(f"{where} ({pipe.direction}): flag_id", pipe.flag_id, 0, highest)


def _pipe_faults(pipe: PipeRecommendation, rules: RuleSet) -> Iterator[str]:
    where = f"pipe {pipe.name!r}"
    yield from choice_faults(f"{where}: kind", pipe.kind, get_args(PipeKind))
    yield from choice_faults(f"{where}: split", pipe.split, get_args(SplitAxis))
    for field in ("is_no_split", "en_unit_flag", "gated"):
        if not isinstance(getattr(pipe, field), bool):
            yield f"{where}: {field} is {getattr(pipe, field)!r}: True or False would be right"
    for switch in pipe.switches_off:
        yield from choice_faults(f"{where}: a switch", switch, get_args(Switch))
    for way in pipe.ways:
        yield from range_faults(f"{where}: consumer_bytes of {way.name}", way.consumer_bytes, 0, UINT32_MAX)
    for config in pipe.configs:
        yield from _config_faults(f"{where}: TConfig", config, rules)
    sizes = [
        *range_faults(f"{where}: slot_bytes", pipe.slot_bytes, 1, UINT32_MAX),
        *range_faults(f"{where}: slot_num", pipe.slot_num, 1, UINT8_MAX if pipe.kind == "TMPipe" else UINT32_MAX),
    ]
    yield from sizes
    if not sizes:
        yield from range_faults(f"{where}: bytes of its rings in GM", pipe.gm_bytes, 0, INT64_MAX)
    if pipe.kind == "TMPipe":
        yield from _tmpipe_faults(where, pipe)
    else:
        yield from _tpipe_faults(where, pipe, rules)


def _tpipe_faults(where: str, pipe: PipeRecommendation, rules: RuleSet) -> Iterator[str]:
    if pipe.gated is True:
        yield f"{where}: gated is True: only the kernel of a TMPipe gates the switches, so False would be right"
    yield from range_faults(f"{where}: local_slot_num", pipe.local_slot_num, 1, UINT32_MAX)
    period = list(range_faults(f"{where}: sync_period", pipe.sync_period, 1, UINT32_MAX))
    yield from period
    depth = range_faults("", pipe.slot_num, 1, UINT32_MAX)  # said already
    if not period and not list(depth) and (derived := rules.derived_period(pipe.slot_num)) != pipe.sync_period:
        yield (
            f"{where}: only a gated TMPipe can carry SyncPeriod {pipe.sync_period} with FifoDepth {pipe.slot_num}: "
            f"{GATED}; a TPipe of rule set {rules.name!r} has SyncPeriod {derived} there"
        )


def _tmpipe_faults(where: str, pipe: PipeRecommendation) -> Iterator[str]:
    """FiFoDepth, FiFoSyncT and LocalFiFoDepth are of uint8_t, and a TMPipe goes one way (TPush.hpp of pto-isa)."""
    if "BOTH" in str(pipe.direction):
        yield f"{where}: a TMPipe goes one way, not {pipe.direction}: a TPipe would be right"
    yield from range_faults(f"{where}: sync_period", pipe.sync_period, 1, UINT8_MAX)
    yield from range_faults(f"{where}: local_slot_num", pipe.local_slot_num, 0, UINT8_MAX)


def _config_faults(where: str, config: TConfig, rules: RuleSet) -> Iterator[str]:
    quants = [q for q in fixpipe.OUTPUT_TYPES if rules.family == "a5" or q not in fixpipe.A5_ONLY]
    yield from choice_faults(f"{where}: LayoutMode", config.layout, fixpipe.LAYOUTS)
    yield from choice_faults(f"{where}: QuantPre", config.quant, quants)
    yield from choice_faults(f"{where}: ReluMode", config.relu, fixpipe.RELU_MODES)
    yield from choice_faults(f"{where}: Phase", config.phase, fixpipe.PHASES)
    yield from choice_faults(f"{where}: AtomicT", config.atomic, fixpipe.ATOMICS)
    yield from range_faults(f"{where}: SubBlockId", config.sub_block_id, 0, 3)
    yield from choice_faults(f"{where}: ClipReluMode", config.clip_relu or CLIP_RELU_MODES[0], CLIP_RELU_MODES)
    if not isinstance(config.channel_split, bool):
        yield f"{where}: IsChannelSplit is {config.channel_split!r}: True or False would be right"


def _overlaps(pipes: list[tuple[PipeRecommendation, set[int]]]) -> Iterator[str]:
    for index, (pipe, flags) in enumerate(pipes):
        for other, others in pipes[index + 1 :]:
            if shared := sorted(flags & others):
                ids = ", ".join(map(str, shared))
                yield (
                    f"pipes {pipe.name!r} and {other.name!r} share flag id {ids}: each pipe needs flag ids "
                    "of its own (FlagID and FlagID + 1, up to FlagID + 3 where it goes both ways)"
                )
