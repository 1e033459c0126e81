"""Which pipe an event of a trace belongs to: names of processes, threads and events, as data.

Known are, each with its core group:

- the simulator of msprof op: process `core0.cubecore0` or `core0.veccore1`, thread `MTE2`, `CUBE`, `VECTOR`, `FIXP`; in
  the file of one core, or of CANN's simulator, the pipe is the process (`VECTOR`, `05_VEC`) and the core is the name of
  the folder (`core0.veccore1/trace.json`);
- msprof with instruction profiling: thread `Group0-aic` or `Group0-aiv1`, and the pipe is the event's name;
- traces of this project: process `AIC` or `rank 1 block 0 AIV0`, thread `MTE2`.

Sources: the pages of msprof op and its simulator (gitcode.com/Ascend/msopprof, docs/en/user_guide) and the names in the
sources and tests of Ascend's msprof, msopprof and MindStudio Insight.
Limits: the scalar pipe is not compared, because the model counts no scalar instructions as work of a pipe. Vector work
of 950, which its simulator splits by function (RVECEX, RVECLD, ...), is one pipe here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

PIPES: Mapping[str, str] = {
    "M": "M", "CUBE": "M", "MAC": "M", "PIPE_M": "M",
    "V": "V", "VEC": "V", "VECTOR": "V", "PIPE_V": "V",
    "RVECEX": "V", "RVECLD": "V", "RVECST": "V", "RVECSU": "V", "RVECLP": "V",
    "MTE1": "MTE1", "MTE2": "MTE2", "MTE3": "MTE3", "PIPE_MTE1": "MTE1", "PIPE_MTE2": "MTE2", "PIPE_MTE3": "MTE3",
    "FIX": "FIX", "FIXP": "FIX", "FIXPIPE": "FIX", "PIPE_FIX": "FIX", "SDMA": "SDMA",
}  # fmt: skip
"""Names of pipes, without case and without a number before them (`05_VEC`)."""

NOT_COMPARED = frozenset(
    ("S", "SU", "SCALAR", "SCALARLDST", "PIPE_S", "FLOWCTRL", "FLOWCONTROL", "ALL", "CACHEMISS", "USEMASK", "PUSHQ",
     "EVENT", "USER_MARK")
)  # fmt: skip
"""Tracks that are no pipe of the model."""

NO_WORK = frozenset(("WAIT_FLAG", "SET_FLAG", "BAR", "PIPE_BARRIER", "PIPEBARRIER", "SET_EVENT", "WAIT_EVENT"))
"""Events on a pipe that are no work of it: what it waits for, and flags."""

CORES = (
    (re.compile(r"(core\d+)\.cubecore\d*", re.I), "AIC"),
    (re.compile(r"(core\d+)\.veccore(\d+)", re.I), "AIV"),
    (re.compile(r"(group\d+)-aic", re.I), "AIC"),
    (re.compile(r"(group\d+)-aiv(\d+)", re.I), "AIV"),
    (re.compile(r"(rank \d+ block \d+ )AIC", re.I), "AIC"),
    (re.compile(r"(rank \d+ block \d+ )AIV(\d+)", re.I), "AIV"),
    (re.compile(r"()AIC", re.I), "AIC"),
    (re.compile(r"()AIV(\d+)", re.I), "AIV"),
)
"""Names of cores: the group that works together, and the core in it."""

LONGEST = 200
"""Characters of a name that are looked at, and of a pattern."""

_NUMBERED = re.compile(r"\d+_")
_WHOLE = re.compile(r"(.*?)[./: ](\w+)", re.S)


class TraceError(ValueError):
    """A trace or summary cannot be read or compared: one sentence a line."""


@dataclass(frozen=True)
class Place:
    """Where an event belongs: the group of cores ("" where nothing names one) and the pipe, as "AIC.MTE2"."""

    group: str
    pipe: str


@dataclass(frozen=True)
class Rule:
    """A wish: what has this name (`*` and `?` stand for what varies) is on that pipe; "" leaves it out."""

    pattern: str
    pipe: str


def rules_of(texts: Sequence[str], pipes: Sequence[str]) -> list[Rule]:
    """Wishes as `NAME=PIPE`, such as `Cube MTE2=AIC.MTE2`; `NAME=-` leaves events out.

    Raises:
        TraceError: every text that is none, with the pipes that there are.
    """
    found, wrong = [], []
    for text in texts:
        pattern, equals, pipe = (part.strip() for part in text.rpartition("="))
        if not equals or not pattern or len(pattern) > LONGEST:
            wrong.append(f"the mapping {text[:60]!r} is not NAME=PIPE: write for example 'Cube MTE2=AIC.MTE2'")
        elif pipe != "-" and pipe not in pipes:
            wrong.append(f"the mapping {text[:60]!r} names no pipe of this workload: it has {', '.join(pipes)}, or -")
        else:
            found.append(Rule(pattern.casefold(), "" if pipe == "-" else pipe))
    if wrong:
        raise TraceError("\n".join(wrong))
    return found


class Names:
    """Places by names, for the pipes of one workload. `folder` names the core where nothing in the file does."""

    def __init__(self, pipes: Sequence[str], rules: Sequence[Rule] = (), folder: str = "") -> None:
        self._pipes, self._rules = tuple(pipes), tuple(rules)
        self._folder = _core(folder)
        self._known: dict[tuple[str, str, str], Place | None] = {}

    def place(self, process: str, thread: str, event: str) -> Place | None:
        """The place of an event; None where it is not compared, with pipe "" where nothing says what it is."""
        key = (process[:LONGEST], thread[:LONGEST], event[:LONGEST])
        if key not in self._known:
            self._known[key] = self._find(*key)
        return self._known[key]

    def _find(self, process: str, thread: str, event: str) -> Place | None:
        core = _core(process) or _core(thread) or self._folder
        group = core[0] if core else ""
        labels = [name.casefold() for name in (thread, process, event, f"{process} {thread}", f"{process}/{thread}")]
        for rule in self._rules:
            if any(fnmatchcase(label, rule.pattern) for label in labels):
                return Place(group, rule.pipe) if rule.pipe else None
        # a thread with a name of its own says what it is, and then neither process nor event is asked
        plain = not thread or thread.isdecimal() or _core(thread) is not None
        for label in (thread, process, event) if plain else (thread,):
            name = _NUMBERED.sub("", label, count=1).upper() if _NUMBERED.match(label) else label.upper()
            if name in NOT_COMPARED:
                return None
            whole = _WHOLE.fullmatch(label)
            if whole and (own := _core(whole[1])) and whole[2].upper() in (*PIPES, *NOT_COMPARED):
                core, name = own, whole[2].upper()
                if name in NOT_COMPARED:
                    return None
            if name in PIPES:
                if event.upper() in NO_WORK:
                    return None
                return Place(core[0] if core else "", self._pipe(core[1] if core else "", PIPES[name]))
        return Place(group, "")

    def _pipe(self, core: str, pipe: str) -> str:
        """The name in full; without a core that of the only core that has such a pipe, or ""."""
        if core:
            return f"{core}.{pipe}"
        having = [name for name in self._pipes if name.rpartition(".")[2] == pipe]
        return having[0] if len(having) == 1 else ""


def _core(label: str) -> tuple[str, str] | None:
    """Group and core that a name names."""
    for pattern, kind in CORES:
        found = pattern.fullmatch(label.strip())
        if found:
            number = "" if kind == "AIC" else str(int(found[2][:4]))
            return found[1].strip().lower(), kind + number
    return None
