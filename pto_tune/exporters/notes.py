"""What a header says about a pipe in comments: its calls, where its buffers go, and what the kernel has to do."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pto_tune.exporters.recommendation import Family, PipeCall, PipeRecommendation, PipeWay, Switch

WIDTH = 116
"""Columns of a comment, without its slashes."""

FAMILY_NAMES: dict[Family, str] = {"a2a3": "Atlas A2/A3", "a5": "Ascend 950"}

_SWITCHES: dict[Switch, tuple[str, str]] = {
    "allocate": ("prod.setAllocateStatus(false)", "no push waits for space: the program bounds the tiles in flight"),
    "record": ("prod.setRecordStatus(false)", "no push of a tile records data-ready"),
    "wait": ("cons.setWaitStatus(false)", "no pop of a tile waits for data"),
    "free": ("cons.setFreeStatus(false)", "no pop or release gives a credit of free space"),
}


@dataclass(frozen=True)
class BufferBase:
    """A base address that the constructor of a pipe takes: name of the argument, name of the constant with the bytes
    needed there ("" where nothing is), their number, and what lies there."""

    argument: str
    constant: str
    bytes: int
    what: str


def buffer_bases(pipe: PipeRecommendation, prefix: str, family: Family) -> tuple[BufferBase, ...]:
    """The constructor's arguments in order (npu/a2a3/TPush.hpp:484-501, common/fifo.hpp of pto-isa)."""
    alone = _alone(pipe, family)
    in_gm = [way for way in pipe.ways if way.ring == "GM"]
    both = len(in_gm) == 2
    gm_text = "of GM for each block" + (
        ": the C2V ring, behind it the V2C ring (2 x FifoDepth x SlotSize)" if both else ""
    )
    if pipe.kind == "TPipe":
        gm = _base("GM_SLOT_BUFFER", prefix, pipe.gm_bytes, gm_text, "nullptr")
        local = {f"{name}_CONSUMER_BUF": [w for w in pipe.ways if w.name == name] for name in ("C2V", "V2C")}
        return gm, *(_base(arg, prefix, sum(w.consumer_bytes for w in ways), _local(ways, alone), "0")
                     for arg, ways in local.items())  # fmt: skip
    taken = sum(way.consumer_bytes for way in pipe.ways)
    if not in_gm:
        return (_base("fifoBase", prefix, taken, _local(pipe.ways, alone), "0"),)
    return (
        _base("gmFiFoBase", prefix, pipe.gm_bytes, gm_text, "nullptr"),
        _base("localFiFoBase", prefix, taken, _local(pipe.ways, alone), "0, the kernel binds the tile"),
    )


def pipe_notes(pipe: PipeRecommendation, prefix: str, family: Family) -> list[str]:
    """Comment lines of a pipe, each at most WIDTH columns where its words allow."""
    lines = [f"Pipe {pipe.name}: {pipe.kind} of {pipe.direction}"]
    for way in pipe.ways:
        lines += _paragraph(f"{way.name}, ring in {way.ring}: {_calls(way, pipe)}")
    lines += _paragraph(_sub_cores(pipe, family))
    if pipe.part_slots:
        lines += _paragraph(
            f"Slots of the ring in UB hold one sub-core's part of a tile split by {pipe.split}, {prefix}_SlotSize "
            "bytes: all that is written and read there, although the page of TPUSH asks for slots of a whole tile."
        )
    lines += _constructor(pipe, prefix, family)
    if pipe.kind == "TMPipe":
        lines += _tmpipe(pipe, prefix, family)
    if pipe.switches_off:
        lines += ["The kernel turns switches off, offered only with the verdict ok:"]
        lines += [f"  {_SWITCHES[s][0]:<30}  {_SWITCHES[s][1]}" for s in pipe.switches_off]
    return lines


def switch_calls(pipe: PipeRecommendation) -> list[str]:
    """The calls by which a kernel turns off the switches of a pipe."""
    return [_SWITCHES[switch][0] for switch in pipe.switches_off]


def gates(pipe: PipeRecommendation) -> tuple[str, ...]:
    """The functions of a header by which a kernel gates the switches of a pipe, without the pipe's prefix."""
    if not pipe.gated:
        return ()
    own = {"allocate": "AllocateGate", "free": "FreeGate"}
    left = tuple(name for switch, name in own.items() if switch not in pipe.switches_off)
    return (*left, "CreditsLeft") if len(left) == len(own) else left


def wrapped(label: str, text: str) -> list[str]:
    """Comment lines of a labelled text, as at the head of a header."""
    return _wrap(text, f"{label:<12}", " " * 12)


def _paragraph(text: str, indent: str = "") -> list[str]:
    return _wrap(text, indent, f"{indent}  ")


def _wrap(text: str, first: str, others: str) -> list[str]:
    wrapper = textwrap.TextWrapper(
        WIDTH, initial_indent=first, subsequent_indent=others, break_long_words=False, break_on_hyphens=False
    )
    return wrapper.wrap(text)


def _base(argument: str, prefix: str, size: int, what: str, unused: str) -> BufferBase:
    if not size:
        return BufferBase(argument, "", 0, f"not used ({unused})")
    return BufferBase(argument, f"{prefix}_{argument}_Bytes", size, what)


def _local(ways: Iterable[PipeWay], alone: bool) -> str:
    """What lies in the consumer's memory."""
    texts = []
    for way in ways:
        where = f"UB of {'AIV0' if alone else 'each vector sub-core'}" if way.name == "C2V" else "L1"
        texts.append(f"of {where}: {'popped tiles' if way.ring == 'GM' else 'the ring'}")
    return ", ".join(texts)


def _calls(way: PipeWay, pipe: PipeRecommendation) -> str:
    by_core: dict[str, list[str]] = {}
    for call in way.calls:
        by_core.setdefault(call.core, []).append(_call(call, pipe))
    return "; ".join(f"{core} calls {', '.join(calls)}" for core, calls in by_core.items()) or "no calls"


def _call(call: PipeCall, pipe: PipeRecommendation) -> str:
    said: list[str] = [call.flow]
    if call.config is not None:
        said.append(f"TConfig{call.config + 1 if len(pipe.configs) > 1 else ''}")
    if call.simplified:
        said.append("of TPUSH(tile, pipe)")
    if call.splits and call.splits != (pipe.split,):
        said.append(" or ".join(call.splits))
    return f"{call.instruction} ({', '.join(said)})"


def _alone(pipe: PipeRecommendation, family: Family) -> bool:
    """Whether AIV0 alone takes part: IsNoSplit of a TPipe on 950 (npu/a5/TPush.hpp:689-693, 701-705)."""
    return pipe.kind == "TPipe" and family == "a5" and pipe.is_no_split


def _sub_cores(pipe: PipeRecommendation, family: Family) -> str:
    if _alone(pipe, family):
        return "AIV0 alone constructs the pipe and calls it: IsNoSplit."
    why = (
        "its flags reach both"
        if family == "a2a3" or pipe.kind == "TMPipe"
        else "constructor and destructor count on both"
    )
    return f"AIV0 and AIV1 both construct the pipe: {why}."


def _constructor(pipe: PipeRecommendation, prefix: str, family: Family) -> Iterator[str]:
    bases = buffer_bases(pipe, prefix, family)
    shown = f"{prefix}Pipe" + ("<TileProd, TileCons>" if pipe.kind == "TMPipe" else "")
    yield f"{shown}({', '.join(base.argument for base in bases)}), where"
    for base in bases:
        yield from _paragraph(f"{base.argument}: {' '.join(filter(None, (base.constant, base.what)))}", "  ")


def _tmpipe(pipe: PipeRecommendation, prefix: str, family: Family) -> Iterator[str]:
    depth, period = f"{prefix}_FiFoDepth", f"{prefix}_FiFoSyncT"
    yield from _paragraph(f"The shapes of its tiles give {pipe.split} and slots of {prefix}_SlotSize bytes.")
    if not pipe.gated:
        yield from _paragraph(
            "Every push waits for a credit and every pop gives one; the constructor sends one and the destructor takes "
            f"one, so the ring works as one slot. The library never reads {period}."
        )
        return
    release = "TFREE" if family == "a5" and any(way.ring != "GM" for way in pipe.ways) else "TPOP"
    yield "The kernel gates the switches, tile i counted from 0 at each end:"
    if "allocate" not in pipe.switches_off:
        yield f"  before TPUSH of tile i: prod.setAllocateStatus({prefix}_AllocateGate(i))"
        yield f"    which is i >= {depth} && i % {period} == 0"
    if "free" not in pipe.switches_off:
        yield f"  before {release} of tile i: cons.setFreeStatus({prefix}_FreeGate(i))"
        yield f"    which is (i + 1) % {period} == 0"
    if not {"allocate", "free"} & set(pipe.switches_off):
        yield from _paragraph(
            f"after the last of n tiles: prod.allocate() {prefix}_CreditsLeft(n) times, n / {period} less the number "
            f"of i < n that the first gate lets wait (none below 0)",
            "  ",
        )
    yield from _paragraph(
        "The prediction counts the credit that the constructor sends as one that stays, for the destructor to take: "
        "the kernel must not take it."
    )
