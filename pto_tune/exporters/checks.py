"""What must hold before a recommendation becomes a header: every fault in one sentence, all at once."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Iterator
from typing import get_args

from pto_tune.exporters.names import constant_name, include_guard, namespace_fault, pipe_prefix
from pto_tune.exporters.recommendation import PipeDirection, PipeRecommendation, Recommendation, SplitAxis

UINT32_MAX = 2**32 - 1

FLAG_IDS = 16
"""Cross-core flag ids of a core; TPipe asserts FlagID + 1 < 16, and FlagID + 3 < 16 with DIR_BOTH
(pto-isa include/pto/npu/a2a3/TPush.hpp)."""

_FLAG_OFFSETS = {"DIR_C2V": range(2), "DIR_V2C": range(2), "DIR_BOTH": range(4)}


class ExportError(ValueError):
    """A recommendation that cannot be exported, or a file that cannot be written; one fault a line."""


def tpipe_sync_period(slot_num: int, rule_set: str) -> int:
    """SyncPeriod that a TPipe derives from its SlotNum.

    Headers from revision 014920a8 up to 1d873362 (rule set `a2a3-full-period`) take SlotNum itself, all
    others half of it above two slots (pto-isa include/pto/npu/{a2a3,a5}/TPush.hpp).
    """
    return slot_num if slot_num <= 2 or rule_set == "a2a3-full-period" else slot_num // 2


def flags_used(pipe: PipeRecommendation) -> set[int]:
    """Flag ids that a pipe occupies: data-ready and free space, once for each direction."""
    return {pipe.flag_id + offset for offset in _FLAG_OFFSETS[pipe.direction]}


def faults(rec: Recommendation, namespace: str) -> list[str]:
    """Everything that forbids to write this recommendation as a header, one sentence each."""
    found: list[str] = []
    if rec.verdict != "ok":
        found.append(f"verdict is {rec.verdict!r}: only a configuration with verdict 'ok' can be exported")
    if (fault := namespace_fault(namespace)) is not None:
        found.append(f"namespace {namespace!r}: {fault}; a name such as 'pto_tune_config' would be right")
    if not (math.isfinite(rec.predicted_us) and rec.predicted_us >= 0):
        found.append(f"predicted_us is {rec.predicted_us!r}: a finite time of 0 or more would be right")
    found += _range_faults("predicted_cycles", rec.predicted_cycles, 0, 2**63 - 1)
    found += _constant_faults(rec, namespace)
    found += _name_faults("pipe", ((pipe.name, pipe_prefix(pipe.name)) for pipe in rec.pipes))
    placed: list[PipeRecommendation] = []
    for pipe in rec.pipes:
        flag_faults = list(_flag_faults(pipe))
        found += [*flag_faults, *_pipe_faults(pipe, rec.rule_set)]
        if not flag_faults:
            placed.append(pipe)
    found += _overlaps(placed)
    return found


def _constant_faults(rec: Recommendation, namespace: str) -> Iterator[str]:
    yield from _name_faults("constant", ((name, constant_name(name)) for name in rec.constants))
    for name, value in rec.constants.items():
        yield from _range_faults(f"constant {name!r}", value, 0, UINT32_MAX)
        if constant_name(name) == include_guard(namespace):
            yield f"constant {name!r}: that is the header's include guard; another name would be right"


def _name_faults(what: str, names: Iterable[tuple[str, str | None]]) -> Iterator[str]:
    taken: dict[str, str] = {}
    for name, identifier in names:
        if identifier is None:
            yield (
                f"{what} name {name!r} does not give a C++ identifier that a program may define: ASCII "
                "letters, digits and single underscores, a letter first, no keyword and no standard macro "
                "would be right"
            )
        elif identifier in taken:
            yield f"{what} names {taken[identifier]!r} and {name!r} both become {identifier!r}: rename one"
        else:
            taken[identifier] = name


def _range_faults(what: str, value: object, low: int, high: int) -> Iterator[str]:
    number = _whole(value)
    if number is None:
        yield f"{what} is {value!r}: a whole number would be right"
    elif not low <= number <= high:
        yield f"{what} is {number}: a value from {low} to {high} would be right"


def _whole(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def _flag_faults(pipe: PipeRecommendation) -> Iterator[str]:
    where = f"pipe {pipe.name!r}"
    if pipe.direction not in get_args(PipeDirection):
        choices = ", ".join(get_args(PipeDirection))
        yield f"{where}: direction is {pipe.direction!r}: one of {choices} would be right"
    else:
        highest = FLAG_IDS - len(_FLAG_OFFSETS[pipe.direction])
        yield from _range_faults(f"{where} ({pipe.direction}): flag_id", pipe.flag_id, 0, highest)


def _pipe_faults(pipe: PipeRecommendation, rule_set: str) -> Iterator[str]:
    where = f"pipe {pipe.name!r}"
    if pipe.split not in get_args(SplitAxis):
        yield f"{where}: split is {pipe.split!r}: one of {', '.join(get_args(SplitAxis))} would be right"
    for field in ("is_no_split", "en_unit_flag"):
        if not isinstance(getattr(pipe, field), bool):
            yield f"{where}: {field} is {getattr(pipe, field)!r}: True or False would be right"
    for field in ("slot_bytes", "local_slot_num"):
        yield from _range_faults(f"{where}: {field}", getattr(pipe, field), 1, UINT32_MAX)
    depth_faults = [
        *_range_faults(f"{where}: slot_num", pipe.slot_num, 1, UINT32_MAX),
        *_range_faults(f"{where}: sync_period", pipe.sync_period, 1, UINT32_MAX),
    ]
    yield from depth_faults
    if not depth_faults and (derived := tpipe_sync_period(pipe.slot_num, rule_set)) != pipe.sync_period:
        yield (
            f"{where}: only a gated TMPipe can carry SyncPeriod {pipe.sync_period} with FifoDepth "
            f"{pipe.slot_num}; a TPipe of rule set {rule_set!r} has SyncPeriod {derived} there"
        )


def _overlaps(pipes: list[PipeRecommendation]) -> Iterator[str]:
    for index, pipe in enumerate(pipes):
        for other in pipes[index + 1 :]:
            shared = sorted(flags_used(pipe) & flags_used(other))
            if shared:
                ids = ", ".join(map(str, shared))
                yield (
                    f"pipes {pipe.name!r} and {other.name!r} share flag id {ids}: each pipe needs flag ids "
                    "of its own (FlagID and FlagID + 1, up to FlagID + 3 with DIR_BOTH)"
                )
