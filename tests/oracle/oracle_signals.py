"""What all ranks see: the order of what happens at the same time, and the signals in the memory of every rank."""

import heapq
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

import simpy

COMPARE: Mapping[str, Callable[[int, int], bool]] = {
    "EQ": lambda a, b: a == b,
    "NE": lambda a, b: a != b,
    "GT": lambda a, b: a > b,
    "GE": lambda a, b: a >= b,
    "LT": lambda a, b: a < b,
    "LE": lambda a, b: a <= b,
}

Key = tuple[int, int, int, int]
"""Rank, block, index of the core, and index of the pipe (or number of the value that the core has sent)."""


class Fault(Exception):
    """A program asks for what does not exist: a rank, an element of a signal, a link."""


@dataclass(order=True)
class _Turn:
    time: int
    after_values: bool
    key: Key
    ordinal: int
    act: Callable[[], None] = field(compare=False)
    in_vain: Callable[[], bool] | None = field(compare=False, default=None)


class Turns:
    """Arrivals of values, requests for shared capacity and sweeps over signals take turns: by time, arrivals first,
    then by who asks. A turn is given when nothing else can happen by then."""

    def __init__(self, world: simpy.Environment) -> None:
        self._world = world
        self._waiting: list[_Turn] = []
        self._ordinals = count()

    def arrival(self, time: int, key: Key, act: Callable[[], None]) -> None:
        self._add(time, False, key, act, None)

    def request(self, time: int, key: Key, act: Callable[[], None]) -> None:
        self._add(time, True, key, act, None)

    def sweep(self, time: int, key: Key, act: Callable[[], None], in_vain: Callable[[], bool] | None = None) -> None:
        """`in_vain` is given by whoever would sweep for ever: whether it fails with the values as they are."""
        self._add(time, True, key, act, in_vain)

    def run(self) -> None:
        """The world, until nothing can change any more."""
        while True:
            soon = self._world.peek()
            if self._waiting and soon > max(int(self._world.now), self._waiting[0].time):
                if soon == math.inf and all(turn.in_vain and turn.in_vain() for turn in self._waiting):
                    return
                turn = heapq.heappop(self._waiting)
                if turn.time > self._world.now:
                    self._world.run(until=turn.time)
                turn.act()
            elif soon == math.inf:
                return
            else:
                self._world.step()

    def _add(
        self, time: int, after_values: bool, key: Key, act: Callable[[], None], in_vain: Callable[[], bool] | None
    ) -> None:
        heapq.heappush(self._waiting, _Turn(time, after_values, key, next(self._ordinals), act, in_vain))


class Signals:
    """Arrays by name, one a rank, all 0 at the start."""

    def __init__(self, turns: Turns, sizes: Mapping[str, int], ranks: int) -> None:
        self.values = {name: [[0] * size for _ in range(ranks)] for name, size in sizes.items()}
        self._turns = turns

    def check(self, name: str, elements: Sequence[int], who: str) -> None:
        if name not in self.values:
            raise ValueError(f"{who}: no signal {name!r}; there is {', '.join(self.values) or 'none'}")
        size = len(self.values[name][0])
        for element in elements:
            if not 0 <= element < size:
                raise Fault(f"{who}: element {element} of signal {name}: expected 0 to {size - 1}")

    def send(self, name: str, rank: int, element: int, op: str, value: int, time: int, sender: Key) -> None:
        def arrive() -> None:
            array = self.values[name][rank]
            array[element] = value if op == "Set" else array[element] + value

        self._turns.arrival(time, sender, arrive)

    def first_failing(self, name: str, rank: int, elements: Sequence[int], cmp: str, value: int) -> int | None:
        """Index into `elements` of the first that does not compare, None where all do."""
        array = self.values[name][rank]
        return next((n for n, k in enumerate(elements) if not COMPARE[cmp](array[k], value)), None)
