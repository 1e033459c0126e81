"""The scalar process of a core: issues to the pipes, waits for flags of other cores and sends them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import simpy
from oracle_machine import Channel, Giving, Job, Ledger, Pipe, Process, Taking, sleep_until
from oracle_prices import Names, Price, Prices, number
from oracle_slots import Touch

from cost_models import flags, scalar
from cost_models.platform import Platform
from cost_models.rounding import to_cycles
from pto_tune.model.nodes import PIPES, Buffer, Instr, Token


class Timing:
    """The platform's numbers that do not depend on the workload: cycles, and the places of a queue."""

    def __init__(self, platform: Platform) -> None:
        self.issue = int(to_cycles(scalar.issue_cycles(platform)))
        self.queue_depth = int(scalar.queue_depth(platform))
        self.wait = int(to_cycles(flags.wait_cycles(platform)))
        self.set = int(to_cycles(flags.set_cycles(platform)))
        self.cross = int(to_cycles(flags.cross_core_latency_cycles(platform)))


@dataclass(frozen=True)
class FlagWait:
    """A wait for flags of other cores: `channels` by their sender, on `pipe` (S: the scalar process stands still).

    `name` is the call, `which` the tile or credit in words.
    """

    pipe: str
    name: str
    wait_name: str
    which: str
    channels: Sequence[tuple[str, Channel]]
    touches: Sequence[Touch] = ()


class Scalar:
    """AIC, AIV0 or AIV1. `time` is the scalar process's own; `blocked_on` says in
    words (as a string, or when asked for one) what it waits for."""

    def __init__(
        self,
        world: simpy.Environment,
        name: str,
        env: Names,
        prices: Prices,
        timing: Timing,
        buffers: Sequence[Buffer],
        ledger: Ledger,
    ) -> None:
        self.name = name
        self.kind = name[:3]
        self.time = 0
        self.finished = False
        self.blocked_on: object | None = None
        self.pipes = {pipe: self._new_pipe(world, pipe, ledger) for pipe in self._pipe_names()}
        self.env = env
        self.ledger = ledger
        self._world = world
        self._prices = prices
        self._timing = timing
        mine = [buffer for buffer in buffers if buffer.core == self.kind]
        self._free = {b.name: Channel(world, max(0, number(b.copies, env))) for b in mine}
        self._filled = {b.name: Channel(world) for b in mine}
        self._events: dict[str, Channel] = {}

    def _pipe_names(self) -> Sequence[str]:
        return PIPES[self.kind]

    def _new_pipe(self, world: simpy.Environment, pipe: str, ledger: Ledger) -> Pipe:
        return Pipe(world, f"{self.name}.{pipe}", ledger)

    # Instructions

    def issue(self, instr: Instr, touches: Sequence[Touch] = ()) -> Process:
        if instr.pipe not in self.pipes:
            raise ValueError(f"{instr.name}: {self.kind} has no pipe {instr.pipe!r}; it has {[*self.pipes]}")
        price = self._prices.of(instr)
        yield from self._room(instr.pipe, instr.name)
        self._put(instr.pipe, instr.name, price, self._takes(instr), self._gives(instr, price.latency), touches)
        self.time += max(1, instr.issues) * self._timing.issue
        yield sleep_until(self._world, self.time)

    def _room(self, pipe_name: str, instruction: str) -> Process:
        """Stand still until the queue has room: the instruction `queue depth` places earlier has started."""
        pipe = self.pipes[pipe_name]
        before = len(pipe.issued)
        if before >= self._timing.queue_depth:
            self.blocked_on = f"room for {instruction} in the queue of {pipe.name}"
            room: int = yield pipe.issued[before - self._timing.queue_depth].started
            self.blocked_on = None
            self.ledger.wait(f"{pipe.name}.queue", room - self.time)
            self.time = max(self.time, room)

    def _put(
        self,
        pipe: str,
        name: str,
        price: Price,
        takes: list[Taking],
        gives: list[Giving],
        touches: Sequence[Touch],
        busy: bool = True,
    ) -> None:
        self.pipes[pipe].issue(
            Job(
                name=name,
                seen=self.time + self._timing.issue,
                price=price,
                takes=takes,
                gives=gives,
                started=self._world.event(),
                completed=self._world.event(),
                touches=[*touches],
                busy=busy,
            )
        )

    def _takes(self, instr: Instr) -> list[Taking]:
        kinds = (
            (instr.acquires, self._free_copies, "a free copy of"),
            (instr.takes, self._filled_copies, "a filled copy of"),
            (instr.waits, self._event, "the event"),
        )
        return [
            Taking(channel(name).take(), f"{self.name}.{name}", f"{what} {name}")
            for wanted, channel, what in kinds
            for name in wanted
        ]

    def _gives(self, instr: Instr, latency: int) -> list[Giving]:
        def early(token: Token, otherwise: int) -> int:
            return otherwise if token.unit_flag is None else -self._prices.overlap(token.unit_flag)

        gives = [Giving(self._filled_copies(t.buffer).give(), early(t, latency)) for t in instr.publishes]
        gives += [Giving(self._free_copies(t.buffer).give(), early(t, 0)) for t in instr.releases]
        if instr.event:
            gives.append(Giving(self._event(instr.event).give(), latency))
        return gives

    def _free_copies(self, buffer: str) -> Channel:
        return self._known(self._free, buffer)

    def _filled_copies(self, buffer: str) -> Channel:
        return self._known(self._filled, buffer)

    def _known(self, channels: Mapping[str, Channel], buffer: str) -> Channel:
        if buffer not in channels:
            raise ValueError(f"{self.kind} has no buffer {buffer!r}; it has {', '.join(channels) or 'none'}")
        return channels[buffer]

    def _event(self, event: str) -> Channel:
        if event not in self._events:
            self._events[event] = Channel(self._world)
        return self._events[event]

    # Flags between cores

    def wait(self, wait: FlagWait) -> Process:
        """On S the core stands still until a token of every channel is there; on a pipe, the pipe does."""
        takings = [
            Taking(channel.take(), wait.wait_name, f"{wait.wait_name} from {sender} ({wait.which})")
            for sender, channel in wait.channels
        ]
        if wait.pipe != "S":
            price = Price(self._timing.wait, 0, {})
            yield from self._room(wait.pipe, wait.name)
            self._put(wait.pipe, wait.name, price, takings, [], wait.touches, busy=False)
            self.time += self._timing.issue
            yield sleep_until(self._world, self.time)
            return
        arrived = 0
        for taking in takings:
            self.blocked_on = taking.what
            arrived = max(arrived, (yield taking.token))
        self.blocked_on = None
        for touch in wait.touches:
            self.ledger.slots.note(touch, arrived, arrived)
        self.ledger.wait(wait.wait_name, arrived - self.time)
        self.time = max(self.time, arrived) + self._timing.wait
        yield sleep_until(self._world, self.time)

    def signal(self, pipe: str, channels: Sequence[Channel]) -> Process:
        """A flag behind what was issued on `pipe`; neither the pipe nor its queue notices."""
        issued = self.pipes[pipe].issued
        seen = self.time + self._timing.issue
        tokens = [channel.give() for channel in channels]
        self._world.process(self._send(seen, issued[-1] if issued else None, tokens))
        self.time = seen
        yield sleep_until(self._world, self.time)

    def _send(self, seen: int, last: Job | None, tokens: Sequence[simpy.Event]) -> Process:
        completed: int = 0 if last is None else (yield last.completed)
        arrival = max(seen, completed) + self._timing.set + self._timing.cross
        yield sleep_until(self._world, arrival)
        for token in tokens:
            token.succeed(arrival)
