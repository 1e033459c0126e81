"""Rule sets in words: what their fields mean to somebody who writes or builds a kernel."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pto_tune.model.nodes import Workload
    from pto_tune.rule_sets import Direction, FlagUse, RuleSet, Way

PERIOD = {"half": "SlotNum / 2", "slot_num": "SlotNum", "one": "1"}
FIRST_WAIT = {"slot_num": "tile SlotNum", "zero": "tile 0"}
CREDITS = {"none": "none", "period": "SyncPeriod"}
DRAIN = {"computed": "what is pending", "period": "SyncPeriod"}
CONSUMER = {"C2V": "AIV", "V2C": "AIC"}
PRODUCER = {"C2V": "AIC", "V2C": "AIV"}
TFREE = {
    False: "does nothing because TPOP frees",
    True: "frees twice where TPOP has freed already (rings in GM): overwrite",
}
LOAD_PIPE = "MTE2"
"""The pipe on which consumers load out of GM."""

_PERIOD_IN_FULL = {
    "half": "SlotNum / 2, rounded down; of 1 and 2 slots SlotNum",
    "slot_num": "SlotNum",
    "one": "1: every tile",
}
_WAITS = {
    "slot_num": "before tile i (from 0) where i >= SlotNum and i % SyncPeriod = 0",
    "zero": "before tile i (from 0) where i % SyncPeriod = 0",
}
_CONSTRUCTION = {
    "none": "nothing is sent",
    "period": "the consumer sends SyncPeriod credits",
}
_CREDITS_FOR = {"slot_num": ": the producer may run ahead", "zero": ", which the first tile takes"}
_DESTRUCTION = {
    "computed": "the producer waits for the credits that are still pending",
    "period": "the producer waits SyncPeriod times, whatever is pending",
}
_REACH = {
    "both": "reaches both sub-cores, and the cube waits for both: with NO_SPLIT too, both have to take part",
    "split": "reaches AIV1 only where the Split of the call is not NO_SPLIT; so do the waits of the cube",
}
_STRIDE = {"slot": "SlotSize apart", "tile": "as far apart as the tile that is popped: tiles of several sizes overlap"}
_CONFIG = {
    "call": "has the flags of its Split",
    "NO_SPLIT": "into a ring in UB has the flags of NO_SPLIT, whatever its Split is: AIV1 is not signalled",
}


@cache
def families() -> dict[str, str]:
    """Family by the name of a family or of a platform."""
    from cost_models.platform import load_platform, platform_names

    by_platform = {name: load_platform(name).family for name in platform_names()}
    return {**{family: family for family in by_platform.values()}, **by_platform}


@cache
def owners() -> dict[str, str]:
    """Family by the name of a rule set."""
    from pto_tune.rule_sets import rule_sets

    return {r.name: family for family in dict.fromkeys(families().values()) for r in rule_sets(family)}


def platforms_of(family: str) -> list[str]:
    """The built-in platforms of a family."""
    return [name for name, of in families().items() if of == family and name != family]


def unknown(name: str) -> str:
    """The sentence for a name that is neither a family, a platform nor a rule set."""
    close = get_close_matches(name, [*families(), *owners()], 1)
    return (
        f"unknown family or rule set {name!r}{f' (did you mean {close[0]!r}?)' if close else ''}: families are "
        f"{', '.join(dict.fromkeys(families().values()))}, rule sets {', '.join(owners())}"
    )


def default_of(family: str) -> RuleSet:
    """The rule set that is used without --pto-isa."""
    from pto_tune.rule_sets import rule_set_for

    return rule_set_for(family)


def newest(family: str) -> list[RuleSet]:
    """The rule set of the newest headers that are known."""
    from pto_tune.rule_sets import rule_sets

    return [r for r in rule_sets(family) if any(v.until is None for v in r.revisions)]


def newest_sentence(default: RuleSet) -> str:
    """How the newest headers stand to the default."""
    others = [r.name for r in newest(default.family) if r.name != default.name]
    if not others:
        return "the newest headers behave so"
    return f"the newest headers behave as {others[0]}: give --pto-isa {others[0]} for them"


def other_headers(workload: Workload, rule_set: RuleSet) -> str:
    """One line of a default run whose pipes other headers treat otherwise; "" where there are none, or where the
    headers were chosen."""
    from pto_tune.rule_sets import other_behaviour

    if not workload.fifos or rule_set != default_of(rule_set.family):
        return ""
    line = other_behaviour(rule_set)
    newer = "" if rule_set in newest(rule_set.family) else f"; {newest_sentence(rule_set)}"
    return f"{line}{newer} (see 'pto-tune rules {rule_set.family}')" if line else ""


def facts(r: RuleSet) -> Iterator[tuple[str, str]]:
    """What a rule set says, one fact a line."""
    exempt = " (rings in UB or L1 with IsNoSplit: as in the default rule set)" if r.local_no_split else ""
    yield "pto-isa", "; ".join(map(str, r.revisions))
    yield "SyncPeriod", f"{_PERIOD_IN_FULL[r.period]} (of a TPipe; one credit stands for so many slots)"
    yield "producer waits", _WAITS[r.wait_from]
    yield "consumer frees", "behind tile i where (i + 1) % SyncPeriod = 0"
    credits_for = _CREDITS_FOR[r.wait_from] if r.ctor_credits == "period" else ""
    yield "construction", _CONSTRUCTION[r.ctor_credits] + credits_for + exempt
    yield "destruction", _DESTRUCTION[r.drain] + exempt


def family_facts(r: RuleSet) -> Iterator[tuple[str, str]]:
    """What all rule sets of a family have in common but the directions, one fact a line."""
    yield (
        "TMPipe",
        "waits and frees at every tile, with the one credit of its constructor; where the kernel gates the switches, "
        "that credit lets the producer run a period ahead unless the kernel takes it first",
    )
    yield "flag counter", f"at most {r.counter_max} signals outstanding" if r.counter_max else "its width is not stated"
    yield "flag ids", f"0 to {r.flag_ids - 1}"
    yield "a signal", _REACH[r.reach]
    yield "TPUSH TConfig", _CONFIG[r.split_of_config]
    yield "local slots", f"of rings in GM: {_STRIDE[r.local_stride]}"


def uses(way: Way) -> Iterator[tuple[str, FlagUse]]:
    """The flags of a way, in the order of a tile's life."""
    yield "record", way.record
    yield "ready_wait", way.ready_wait
    yield "free", way.free
    yield "free_wait", way.free_wait


def flag(way: str, what: str, use: FlagUse) -> str:
    """A flag with the pipe that sets it, or with what waits for it."""
    core = PRODUCER[way] if what in ("record", "free_wait") else CONSUMER[way]
    pipe = f"{core} (whole core)" if use.pipe == "S" else f"{core}.{use.pipe}"
    return f"{_flag(use)} {pipe}"


def _flag(use: FlagUse) -> str:
    return f"F+{use.flag}" if use.flag else "F"


def tile_tfree(r: RuleSet, way: Way) -> str:
    """What TFREE of a tile does."""
    if not r.tile_tfree:
        return "nothing"
    return "frees twice" if way.ring == "GM" else "frees"


def notes(d: Direction) -> list[str]:
    """What makes a direction useless or dangerous, and what is special about it."""
    if d.refused:
        return [f"refused: {d.refused}"]
    found = []
    for way, uses_ in d.ways.items():
        if uses_.record.flag != uses_.ready_wait.flag:
            found.append(
                f"{CONSUMER[way]} waits for flag {_flag(uses_.ready_wait)} and {PRODUCER[way]} sets "
                f"{_flag(uses_.record)}: hang"
            )
        if uses_.ring == "GM" and uses_.free.pipe not in (LOAD_PIPE, "S"):
            found.append(
                f"the free signal of {way} leaves on {uses_.free.pipe} and not behind the load on {LOAD_PIPE}: race"
            )
    if d.one_ring:
        found.append("the GlobalData calls put the rings of both ways on the same slots: overwrite")
    return found
