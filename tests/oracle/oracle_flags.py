"""Flags of a FIFO: the rules of one way in numbers, the flags between each sub-core and the cube, and their counts."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import simpy
from oracle_machine import Channel
from oracle_prices import Names, number

from pto_tune.model.nodes import NO_SPLIT, UP_DOWN, Fifo, Tpush
from pto_tune.rule_sets import Direction, RuleSet

SUB_CORES = ("AIV0", "AIV1")
CORES = {"C2V": ("AIC", "AIV"), "V2C": ("AIV", "AIC")}
"""Producer and consumer of a way."""

FlagKey = tuple[int, str, str]
"""Offset from FlagID, sub-core, and the core kind that sets it."""


@dataclass(frozen=True)
class Credits:
    """Free flags of a way by sub-core: sent at construction, sent by the consumer's program, waited for by the
    producer's program, and waited for at destruction."""

    constructed: Mapping[str, int]
    notified: Mapping[str, int]
    waited: Mapping[str, int]
    drained: Mapping[str, int]


class Flags:
    """All flags of one FIFO."""

    def __init__(self, world: simpy.Environment) -> None:
        self._world = world
        self._channels: dict[FlagKey, Channel] = {}

    def channel(self, offset: int, sub: str, sender: str) -> Channel:
        key = (offset, sub, sender)
        if key not in self._channels:
            self._channels[key] = Channel(self._world)
        return self._channels[key]

    def left(self) -> int:
        return sum(channel.left() for channel in self._channels.values())


class FifoWay:
    """One way of a FIFO: tiles go from `producer` to `consumer` (core kinds) through one ring.

    `period`, `first` and the drain are those in force: of a TPipe by the rule set, of a TMPipe one flag a tile unless
    it is gated. Raises ValueError for a FIFO without slots.
    """

    def __init__(
        self, flags: Flags, fifo: Fifo, flow: str, direction: Direction, rule_set: RuleSet, env: Names
    ) -> None:
        self.fifo = fifo
        self.track = fifo.track(flow)
        self.uses = direction.ways[flow]
        self.producer, self.consumer = CORES[flow]
        self.in_gm = self.uses.ring == "GM"
        self.slots = number(fifo.slot_num, env)
        self.local_slots = number(fifo.local_slot_num, env)
        if self.slots < 1:
            raise ValueError(f"FIFO {fifo.name!r}: SlotNum is {self.slots}; give at least 1")
        self.allocate, self.record, self.wait, self.free = (
            number(switch, env) != 0 for switch in (fifo.allocate, fifo.record, fifo.wait, fifo.free)
        )
        self.is_no_split = (
            number(fifo.split, env) == NO_SPLIT if fifo.is_no_split is None else number(fifo.is_no_split, env) != 0
        )
        self.allocated: Counter[str] = Counter()
        self.pushed: Counter[str] = Counter()
        self.popped: Counter[str] = Counter()
        self.bound_tile: dict[str, bool] = {}  # whether a core's last pop was of a tile
        self.notified: Counter[str] = Counter()
        self.waited: Counter[str] = Counter()
        self.drained: Counter[str] = Counter()
        self._flags = flags
        self._rules = rule_set
        self._multi = fifo.kind == "TMPipe"

        asked = number(fifo.sync_period, env)
        self.period = asked if asked > 0 else rule_set.derived_period(self.slots)
        self.first = {"slot_num": self.slots, "zero": 0}[rule_set.wait_from]
        bare = rule_set.local_no_split and self.is_no_split and not self.in_gm
        credits = self.period if rule_set.ctor_credits == "period" and not bare else 0
        self._fixed = self.period if rule_set.drain == "period" and not bare else 0
        self._computed = rule_set.drain == "computed" or bare
        if self._multi:
            gated = number(fifo.gated, env) != 0
            self.first = self.slots if gated else 0
            self.period = self.period if gated else 1
            credits, self._fixed, self._computed = 1, 1, gated
        if number(fifo.used, env) == 0:
            credits = self._fixed = 0
        self.constructed = self._construct(credits)

    def waits_before(self, tile: int) -> bool:
        """Whether the producer waits for space before this tile, as far as the rules go."""
        return tile >= self.first and tile % self.period == 0

    def waits_at_destruction(self, core: str) -> int:
        """By what the rules say of the tiles that this core allocated, whatever the switches were."""
        tiles = self.allocated[core]
        waited = sum(self.waits_before(tile) for tile in range(tiles))
        return self._fixed + (max(0, tiles // self.period - waited) if self._computed else 0)

    def reach(self, core: str, split: int) -> Sequence[str]:
        """The sub-cores with which a call of this core exchanges flags: a sub-core with itself alone."""
        if core != "AIC":
            return (core,)
        alone = self._rules.reach == "split" and split == NO_SPLIT and not self._multi
        return SUB_CORES[:1] if alone else SUB_CORES

    def split_of_flags(self, call: Tpush, split: int) -> int:
        """The split by which the flags of a push go, if its own is `split`."""
        fixed = call.config is not None and not self.in_gm and self._rules.split_of_config == "NO_SPLIT"
        return NO_SPLIT if fixed else split

    def reach_of_lifetime(self, core: str) -> Sequence[str]:
        """The same for construction and destruction."""
        return self.reach(core, NO_SPLIT if self.is_no_split else UP_DOWN)

    def ready(self, sub: str, *, waiting: bool) -> Channel:
        use = self.uses.ready_wait if waiting else self.uses.record
        return self._flags.channel(use.flag, sub, self.producer)

    def space(self, sub: str, *, waiting: bool) -> Channel:
        use = self.uses.free_wait if waiting else self.uses.free
        return self._flags.channel(use.flag, sub, self.consumer)

    def credits(self) -> Credits:
        def by_sub(counter: Counter[str]) -> dict[str, int]:
            return {sub: counter[sub] for sub in SUB_CORES}

        return Credits(by_sub(self.constructed), by_sub(self.notified), by_sub(self.waited), by_sub(self.drained))

    def _construct(self, credits: int) -> Counter[str]:
        """Credits that the constructor of every consumer sends: they are there from the start."""
        sent: Counter[str] = Counter()
        for core in SUB_CORES if self.consumer == "AIV" else ("AIC",):
            for sub in self.reach_of_lifetime(core):
                for _ in range(credits):
                    self.space(sub, waiting=False).give().succeed(0)
                    sent[sub] += 1
        return sent


class Link:
    """A FIFO with its ways by name, C2V and V2C. Raises ValueError for a direction that the rule set refuses."""

    def __init__(self, world: simpy.Environment, fifo: Fifo, rule_set: RuleSet, env: Names) -> None:
        direction = rule_set.direction_of(fifo.direction, fifo.gm_form)
        if direction is None or direction.refused:
            why = direction.refused if direction else f"{rule_set.family} does not have it"
            raise ValueError(f"FIFO {fifo.name!r}: direction {fifo.direction}: {why}")
        self.fifo = fifo
        self._flags = Flags(world)
        self.ways = {flow: FifoWay(self._flags, fifo, flow, direction, rule_set, env) for flow in direction.ways}

    def flags_left(self) -> int:
        return self._flags.left()
