"""Rule sets: what the pipe library does, per platform family and pto-isa revision, as data.

A rule set says when the producer waits for space, when the consumer notifies, what happens at construction and
destruction, and on which pipes the flags are set. The TOML files beside this module hold the facts with their
places in the public headers; `rule_set_for` picks one by family and revision.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib import resources
from typing import Any


class RuleSetError(ValueError):
    """An unknown rule set or pto-isa revision."""


@dataclass(frozen=True)
class Revisions:
    """A half-open range of pto-isa revisions; an open end is None. Dates are ISO dates of the public commits."""

    first: str | None
    first_date: str | None
    until: str | None
    until_date: str | None

    def __str__(self) -> str:
        if self.first is None:
            return f"before {self.until} ({self.until_date})"
        if self.until is None:
            return f"{self.first} ({self.first_date}) and later"
        return f"{self.first} ({self.first_date}) up to {self.until} ({self.until_date})"


@dataclass(frozen=True)
class FlagUse:
    """A flag that a call sets or waits for: `pipe` (S: the scalar process, so that the whole core waits) and its
    offset from FlagID."""

    pipe: str
    flag: int


@dataclass(frozen=True)
class Way:
    """One way of a direction, C2V or V2C: where its ring lies and which flags it uses."""

    ring: str
    record: FlagUse
    ready_wait: FlagUse
    free: FlagUse
    free_wait: FlagUse


@dataclass(frozen=True)
class Direction:
    """A direction of a pipe; `ways` has none where it is refused."""

    name: str
    flag_ids: int
    refused: str
    global_data: bool
    one_ring: bool
    ways: Mapping[str, Way]


@dataclass(frozen=True)
class RuleSet:
    """The behaviour of pipes under some revisions of the headers. `a2a3.toml` explains the fields."""

    name: str
    family: str
    doc: str
    period: str
    wait_from: str
    ctor_credits: str
    drain: str
    local_no_split: bool
    counter_max: int
    flag_ids: int
    reach: str
    tile_tfree: bool
    local_stride: str
    split_of_config: str
    directions: Mapping[str, Direction]
    revisions: tuple[Revisions, ...]
    pto_isa: str | None = None

    def derived_period(self, slot_num: int) -> int:
        """SyncPeriod of a TPipe with this SlotNum."""
        if self.period == "half":
            return slot_num if slot_num <= 2 else slot_num // 2
        return slot_num if self.period == "slot_num" else 1

    def direction_of(self, direction: str, gm_form: bool = False) -> Direction | None:
        """What the library makes of a direction (`gm_form`: in GM where there is a form for that); None where the
        platform does not have it."""
        in_gm = f"{direction}_GM"
        return self.directions.get(in_gm if gm_form and in_gm in self.directions else direction)


def _direction(name: str, data: Mapping[str, Any]) -> Direction:
    uses = ("record", "ready_wait", "free", "free_wait")
    ways = {}
    for way in ("C2V", "V2C"):
        if way in data:
            ways[way] = Way(data[way]["ring"], *(FlagUse(*data[way][use]) for use in uses))
    return Direction(
        name=name,
        flag_ids=data["flag_ids"],
        refused=data.get("refused", ""),
        global_data=data.get("global_data", False),
        one_ring=data.get("one_ring", False),
        ways=ways,
    )


@cache
def _families() -> dict[str, tuple[str, dict[str, RuleSet]]]:
    out: dict[str, tuple[str, dict[str, RuleSet]]] = {}
    for entry in sorted(resources.files(__package__).iterdir(), key=lambda e: e.name):
        if not entry.name.endswith(".toml"):
            continue
        data = tomllib.loads(entry.read_text(encoding="utf-8"))
        directions = {name: _direction(name, d) for name, d in data["directions"].items()}
        sets = {
            name: RuleSet(
                name=name,
                family=data["family"],
                doc=r["doc"],
                period=r["period"],
                wait_from=r["wait_from"],
                ctor_credits=r["ctor_credits"],
                drain=r["drain"],
                local_no_split=r.get("local_no_split", False),
                counter_max=data["counter_max"],
                flag_ids=data["flag_ids"],
                reach=data["reach"],
                tile_tfree=data["tile_tfree"],
                local_stride=data["local_stride"],
                split_of_config=data["split_of_config"],
                directions=directions,
                revisions=tuple(
                    Revisions(v.get("from"), v.get("from_date"), v.get("until"), v.get("until_date"))
                    for v in r["revisions"]
                ),
            )
            for name, r in data["rule_set"].items()
        }
        out[data["family"]] = (data["default"], sets)
    return out


def rule_sets(family: str) -> tuple[RuleSet, ...]:
    """All rule sets of a platform family."""
    try:
        return tuple(_families()[family][1].values())
    except KeyError:
        raise RuleSetError(f"no rule sets for platform family {family!r}: known are {', '.join(_families())}") from None


def rule_set_for(family: str, pto_isa: str | None = None) -> RuleSet:
    """The rule set of a revision: a commit named in the rule sets, a date (YYYY-MM-DD), a rule set's own name, or
    None for the family's default: on A2/A3 the newest headers, on 950 what the ISA specifies."""
    sets = {r.name: r for r in rule_sets(family)}
    default = sets[_families()[family][0]]
    if pto_isa is None:
        return default
    text = pto_isa.strip()
    if text in sets:
        return sets[text]
    found = None
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text) and _is_date(text):
        found = _by_date(sets, text)
    elif re.fullmatch(r"[0-9a-f]{7,40}", text):
        found = next(
            (
                r
                for r in sets.values()
                for v in r.revisions
                if v.first and (v.first.startswith(text) or text.startswith(v.first))
            ),
            None,
        )
    if found is None:
        commits = sorted({v.first for r in sets.values() for v in r.revisions if v.first})
        raise RuleSetError(
            f"unknown pto-isa revision {pto_isa!r}: give one of the commits {', '.join(commits)}, "
            f"a date as YYYY-MM-DD, or a rule set ({', '.join(sets)})"
        )
    from dataclasses import replace

    return replace(found, pto_isa=text)


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _by_date(sets: Mapping[str, RuleSet], day: str) -> RuleSet | None:
    for r in sets.values():
        for v in r.revisions:
            if (v.first_date or "") <= day and (v.until_date is None or day < v.until_date):
                return r
    return None


def other_behaviour(rule_set: RuleSet) -> str:
    """One line on the revisions whose headers behave otherwise, for results of a default run."""
    others = [
        f"{r.name} ({'; '.join(map(str, r.revisions))})" for r in rule_sets(rule_set.family) if r.name != rule_set.name
    ]
    return f"headers of other pto-isa revisions behave otherwise: {', '.join(others)}" if others else ""
