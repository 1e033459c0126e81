"""Flags and barriers between the pipes of a core, where they stand in the file.

`set_flag` and `wait_flag` name two pipes and an event; `record_event` and `wait_event` two kinds of operations, which
stand for the pipes that run them. A wait of the scalar process holds back all pipes; what it signals, they know
already. Without ranks the same is said by a flag from each pipe to each; with ranks there is a barrier for it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pto_tune.kernels.items import Step
from pto_tune.kernels.parsing import Op
from pto_tune.model.communication import Barrier
from pto_tune.model.nodes import PIPES, Instr
from pto_tune.model.vocabulary import sync

if TYPE_CHECKING:
    from pto_tune.kernels.faults import Place
    from pto_tune.kernels.state import Core

SETS = ("set_flag", "record_event")
WAITS = ("wait_flag", "wait_event")
BARRIERS = ("barrier", "barrier_sync", "pipe_barrier")
ORDERED = ("fence_barrier_all", "fence", "fence_sync", "cmo_cacheinvalid", "cmo_cacheclean", "cmo_prefetch", "dsb")
"""Orders memory. Without other ranks that see it, nothing here."""
DRAINS = ("fence_barrier_all",)

_EVENT_PIPES = {
    "TLOAD": "MTE2", "LOAD_FROM_GM": "MTE2", "TSTORE_ACC": "FIX", "STORE_FROM_ACC": "FIX", "TSTORE_VEC": "MTE3",
    "STORE_FROM_VEC": "MTE3", "TMOV_M2L": "MTE1", "MOVE_MAT_TO_LEFT": "MTE1", "TMOV_M2S": "MTE1",
    "MOVE_MAT_TO_SCALAR": "MTE1", "TMOV_M2B": "MTE1", "MOVE_MAT_TO_BIAS": "MTE1", "TMOV_M2V": "MTE1",
    "MOVE_MAT_TO_VEC": "MTE1", "TMOV_V2M": "MTE3", "MOVE_VEC_TO_MAT": "MTE3", "TMATMUL": "M", "COMPUTE_MATMUL": "M",
    "TVEC": "V", "COMPUTE_VEC": "V", "TVECWAIT_EVENT": "V", "VECWAIT_EVENT": "V",
}  # fmt: skip
"""Pipe of each kind of operation of record_event and wait_event."""


LOADING = ("MTE2", "MTE1")
"""Pipes that fill tiles: their flags leave a latency after the transfer. Those of pipes that empty tiles do not."""


def is_flag(stem: str) -> bool:
    """Whether an operation by its stem orders pipes."""
    return stem in SETS or stem in WAITS or stem in BARRIERS or stem in ORDERED


def is_explicit(stem: str) -> bool:
    """Whether it shows that a file has its own flags."""
    return stem in SETS or stem in WAITS


def flag(core: Core, op: Op, stem: str) -> None:
    """A flag or barrier as steps."""
    if stem in ORDERED:
        if stem in DRAINS and core.kernel.ranked:  # the assembler lets what writes global memory end before it
            core.step(Barrier(), "", op.place)
        return
    found = re.findall(r"\w+", " ".join(t.text for t in op.tokens if t.kind != "region"))
    if stem in BARRIERS:
        _barrier(core, op, next((w for w in found if w.startswith("PIPE_") or _event_pipe(w)), "PIPE_ALL"))
        return
    if stem in ("set_flag", "wait_flag"):
        pipes = [w.removeprefix("PIPE_") for w in found if w.startswith("PIPE_")]
    else:
        pipes = [p for p in (_event_pipe(w) for w in found) if p]
    event = next((w for w in found if w.startswith("EVENT_ID")), "EVENT_ID0")
    if len(pipes) != 2:
        core.say(op.place, f"{stem} names {len(pipes)} pipes that are known: expected a source and a destination")
        return
    source, target = pipes
    mine = (*PIPES[core.core], "S")
    for pipe in (source, target):
        if pipe not in mine:
            core.say(
                op.place, f"{stem} names the pipe {pipe}, which {core.core} does not have: expected {', '.join(mine)}"
            )
            return
    if source in (target, "S"):
        return  # in order by itself
    name = f"flag_{source}_{target}_{event.removeprefix('EVENT_')}".lower()
    if target == "S":
        targets = [p for p in PIPES[core.core] if p != source]
    else:
        targets = [target]
    for pipe in targets:
        title = name if target != "S" else f"{name}_{pipe.lower()}"
        if stem in SETS:
            _event(core, source, op.place, event=title)
        else:
            _event(core, pipe, op.place, waits=title)


def barrier(core: Core, place: Place) -> None:
    """Every pipe waits for every other one."""
    if core.kernel.ranked:
        core.step(Barrier(), "", place)
        return
    pairs = [(q, p) for q in PIPES[core.core] for p in PIPES[core.core] if q != p]
    for q, p in pairs:
        _event(core, q, place, event=f"all_{q}_{p}".lower())
    for q, p in pairs:
        _event(core, p, place, waits=f"all_{q}_{p}".lower())


def _barrier(core: Core, op: Op, word: str) -> None:
    """Of one pipe: it is in order by itself."""
    if word in ("PIPE_ALL", "ALL"):
        barrier(core, op.place)
    elif core.kernel.ranked and word.startswith("PIPE_") and word.removeprefix("PIPE_") in PIPES[core.core]:
        core.step(Barrier((word.removeprefix("PIPE_"),)), "", op.place)


def _event_pipe(word: str) -> str:
    return _EVENT_PIPES.get(word.removeprefix("EVENT_"), "") if not word.startswith("EVENT_ID") else ""


def _event(core: Core, pipe: str, place: Place, event: str = "", waits: str = "") -> None:
    if event and pipe in LOADING:
        loaded = _last_on(core, pipe)
        if loaded is not None and not loaded.event:
            loaded.event = event  # it leaves when what was loaded can be seen
            return
    core.step(sync(pipe), pipe, place)
    last = core.items[-1] if core.items else None
    if isinstance(last, Step):
        last.event = event
        if waits:
            last.waits.append(waits)


def _last_on(core: Core, pipe: str) -> Step | None:
    """The last instruction of this part of the program, if it is one of a pipe."""
    for item in reversed(core.items):
        if not isinstance(item, Step):
            return None
        if item.pipe == pipe:
            return item if isinstance(item.node, Instr) and item.node.costs else None
    return None
