"""Channels, pipes and the ledger: the parts of a core that know nothing of programs.

Times are numbers that tokens and instructions carry, and every decision is made on them. The clock of SimPy
only decides who acts next: a token whose arrival is already known may be handed over before the clock gets
there, and one that leaves before its instruction starts (unit flag on an instruction without work) even lies
in the clock's past.
"""

from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

import simpy
from oracle_prices import Price
from oracle_slots import SlotLog, Touch

from cost_models.sharing import RESOURCES

Process = Generator[simpy.Event, Any, None]


class Channel:
    """Tokens in order, each an event whose value is the token's arrival.

    Places are numbered when an instruction that gives or takes is issued, so that the n-th taker in program
    order gets the token of the n-th giver in program order, however late that one arrives.
    """

    def __init__(self, world: simpy.Environment, tokens_at_zero: int = 0) -> None:
        self._world = world
        self._tokens: list[simpy.Event] = []
        self._given = 0
        self._taken = 0
        for _ in range(tokens_at_zero):
            self.give().succeed(0)

    def give(self) -> simpy.Event:
        """The next token to be given: `succeed` it with its arrival."""
        self._given += 1
        return self._token(self._given)

    def take(self) -> simpy.Event:
        """The next token to be taken: `yield` it to get its arrival."""
        self._taken += 1
        return self._token(self._taken)

    def left(self) -> int:
        """Tokens that were given and not taken."""
        return max(0, sum(token.triggered for token in self._tokens) - self._taken)

    def _token(self, ordinal: int) -> simpy.Event:
        while len(self._tokens) < ordinal:
            self._tokens.append(self._world.event())
        return self._tokens[ordinal - 1]


@dataclass
class Ledger:
    """What is added up over all cores. Pipes and buffers by their full names, as "AIC.MTE2"."""

    busy: Counter[str] = field(default_factory=Counter)
    moving: dict[str, Counter[str]] = field(default_factory=lambda: {r: Counter() for r in RESOURCES})
    moved_bytes: Counter[str] = field(default_factory=Counter)
    waits: Counter[str] = field(default_factory=Counter)
    events: list[tuple[str, str, int, int]] = field(default_factory=list)
    slots: SlotLog = field(default_factory=SlotLog)

    def wait(self, name: str, cycles: int) -> None:
        if cycles > 0:
            self.waits[name] += cycles


@dataclass(frozen=True)
class Taking:
    """A token that an instruction needs: its event, the name to book its wait on, and what it is in words."""

    token: simpy.Event
    wait_name: str
    what: str


@dataclass(frozen=True)
class Giving:
    """A token that an instruction gives on, `after_end` cycles after its end (negative: before)."""

    token: simpy.Event
    after_end: int


@dataclass
class Job:
    """An instruction in a pipe's queue. `started` carries its start, `completed` its end plus its latency.

    `busy` is False for a wait for another core's flag, which holds the pipe without work.
    """

    name: str
    seen: int
    price: Price
    takes: list[Taking]
    gives: list[Giving]
    started: simpy.Event
    completed: simpy.Event
    touches: list[Touch] = field(default_factory=list)
    busy: bool = True


class Pipe:
    """Runs its queue in order. `completed_at` is the end of the last instruction plus its latency, `all_completed_at`
    the latest of all."""

    def __init__(self, world: simpy.Environment, name: str, ledger: Ledger) -> None:
        self.name = name
        self.issued: list[Job] = []
        self.free_at = 0
        self.completed_at = 0
        self.all_completed_at = 0
        self.blocked_on: str | None = None
        self._world = world
        self._ledger = ledger
        self._queue = simpy.Store(world)
        world.process(self._run())

    def issue(self, job: Job) -> None:
        self.issued.append(job)
        self._queue.put(job)

    def _run(self) -> Process:
        while True:
            job: Job = yield self._queue.get()
            earliest = max(job.seen, self.free_at)
            start, latest_name, arrived = earliest, "", 0
            for taking in job.takes:
                self.blocked_on = f"{taking.what} for {job.name}"
                arrival: int = yield taking.token
                arrived = max(arrived, arrival)
                if arrival > start:  # the first of equals keeps the name
                    start, latest_name = arrival, taking.wait_name
            self.blocked_on = None
            self._ledger.wait(latest_name, start - earliest)

            yield sleep_until(self._world, start)
            job.started.succeed(start)
            end = yield from self._end(job, start)
            for giving in job.gives:
                giving.token.succeed(end + giving.after_end)
            self._book(job, start, end, arrived)

            yield sleep_until(self._world, end)
            self.free_at = end
            self.completed_at = end + job.price.latency
            self.all_completed_at = max(self.all_completed_at, self.completed_at)
            job.completed.succeed(self.completed_at)

    def _end(self, job: Job, start: int) -> Generator[simpy.Event, Any, int]:
        """When the pipe is free again, which may become known only after a while."""
        yield from ()
        return start + job.price.duration

    def _book(self, job: Job, start: int, end: int, arrived: int) -> None:
        for touch in job.touches:
            if touch.how == "pop":
                self._ledger.slots.note(touch, arrived, arrived)
            else:
                self._ledger.slots.note(touch, start, end + (job.price.latency if touch.how == "write" else 0))
        if job.busy:
            self._ledger.busy[self.name] += job.price.duration
        self._ledger.events.append((self.name, job.name, start, end))
        for resource, moved in job.price.moved_bytes.items():
            self._ledger.moved_bytes[resource] += moved
            if moved > 0:
                self._ledger.moving[resource][self.name] += job.price.duration


def sleep_until(world: simpy.Environment, time: int) -> simpy.Event:
    return world.timeout(max(0, time - int(world.now)))
