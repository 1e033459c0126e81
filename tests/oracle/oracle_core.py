"""The scalar process of a core: walks its program, issues to the pipes, waits for FIFOs and signals them."""

from collections import Counter
from collections.abc import Mapping, Sequence

import simpy
from oracle_machine import Channel, Giving, Job, Ledger, Pipe, Process, Taking, sleep_until
from oracle_prices import Names, Prices, number

from cost_models import flags, scalar
from cost_models.platform import Platform
from cost_models.rounding import to_cycles
from pto_tune.model.nodes import PIPES, Buffer, Fifo, Instr, Loop, Node, Talloc, Tfree, Token, Tpop, Tpush
from pto_tune.rule_sets import RuleSet

SUB_CORES = ("AIV0", "AIV1")


class Timing:
    """The platform's numbers that do not depend on the workload: cycles, and the places of a queue."""

    def __init__(self, platform: Platform) -> None:
        self.issue = int(to_cycles(scalar.issue_cycles(platform)))
        self.queue_depth = int(scalar.queue_depth(platform))
        self.wait = int(to_cycles(flags.wait_cycles(platform)))
        self.set = int(to_cycles(flags.set_cycles(platform)))
        self.cross = int(to_cycles(flags.cross_core_latency_cycles(platform)))


class Ring:
    """One FIFO between AIC and both sub-cores: its rules in numbers, and a channel a sub-core each way.

    Raises ValueError for a FIFO without slots or with an unknown rule.
    """

    def __init__(self, world: simpy.Environment, fifo: Fifo, rule_set: RuleSet, env: Names) -> None:
        slots, asked = number(fifo.slot_num, env), number(fifo.sync_period, env)
        if slots < 1:
            raise ValueError(f"FIFO {fifo.name!r}: SlotNum is {slots}; give at least 1")
        derived = {"half": slots if slots <= 2 else slots // 2, "slot_num": slots, "one": 1}
        self.name = fifo.name
        self.producer = "AIC" if fifo.direction == "C2V" else "AIV"
        self.period = asked if asked > 0 else derived[rule_set.period]
        self.first_wait = {"slot_num": slots, "one": 1}[rule_set.wait_from]
        self.drain = rule_set.drain
        self.record_pipe = rule_set.record_pipe[fifo.direction]
        self.free_pipe = rule_set.free_pipe[fifo.direction]
        credits = self.period if rule_set.ctor_credits == "period" else 0
        self.ready = {sub: Channel(world) for sub in SUB_CORES}
        self.free = {sub: Channel(world, credits) for sub in SUB_CORES}
        self.allocated: Counter[str] = Counter()
        self.pushed: Counter[str] = Counter()
        self.popped: Counter[str] = Counter()
        self.credits_taken: Counter[str] = Counter()

    def credits_left(self) -> int:
        return sum(channel.left() for channel in (*self.ready.values(), *self.free.values()))


class Core:
    """AIC, AIV0 or AIV1. `time` is the scalar process's own; `blocked_on` says what it waits for."""

    def __init__(
        self,
        world: simpy.Environment,
        name: str,
        program: Sequence[Node],
        env: Names,
        prices: Prices,
        timing: Timing,
        buffers: Sequence[Buffer],
        rings: Mapping[str, Ring],
        ledger: Ledger,
    ) -> None:
        self.name = name
        self.kind = name[:3]
        self.time = 0
        self.finished = False
        self.blocked_on: str | None = None
        self.pipes = {pipe: Pipe(world, f"{name}.{pipe}", ledger) for pipe in PIPES[self.kind]}
        self._world = world
        self._env = env
        self._prices = prices
        self._timing = timing
        self._rings = rings
        self._ledger = ledger
        mine = [buffer for buffer in buffers if buffer.core == self.kind]
        self._free = {b.name: Channel(world, max(0, number(b.copies, env))) for b in mine}
        self._filled = {b.name: Channel(world) for b in mine}
        self._events: dict[str, Channel] = {}
        world.process(self._run(program))

    def _run(self, program: Sequence[Node]) -> Process:
        yield from self._walk(program)
        yield from self._drain()
        self.finished = True

    def _walk(self, nodes: Sequence[Node]) -> Process:
        for node in nodes:
            match node:
                case Loop():
                    for _ in range(number(node.trips, self._env)):
                        yield from self._walk(node.body)
                case Instr():
                    yield from self._issue(node)
                case Talloc():
                    yield from self._talloc(self._ring(node.fifo, producer=True))
                case Tpush():
                    yield from self._tpush(self._ring(node.fifo, producer=True))
                case Tpop():
                    yield from self._tpop(self._ring(node.fifo, producer=False))
                case Tfree():
                    yield from self._tfree(self._ring(node.fifo, producer=False))

    # Instructions

    def _issue(self, instr: Instr) -> Process:
        if instr.pipe not in self.pipes:
            raise ValueError(f"{instr.name}: {self.kind} has no pipe {instr.pipe!r}; it has {[*self.pipes]}")
        pipe = self.pipes[instr.pipe]
        before = len(pipe.issued)
        if before >= self._timing.queue_depth:
            self.blocked_on = f"room for {instr.name} in the queue of {pipe.name}"
            room: int = yield pipe.issued[before - self._timing.queue_depth].started
            self.blocked_on = None
            self._ledger.wait(f"{pipe.name}.queue", room - self.time)
            self.time = max(self.time, room)
        price = self._prices.of(instr)
        job = Job(
            name=instr.name,
            seen=self.time + self._timing.issue,
            price=price,
            takes=self._takes(instr),
            gives=self._gives(instr, price.latency),
            started=self._world.event(),
            completed=self._world.event(),
        )
        pipe.issue(job)
        self.time += max(1, instr.issues) * self._timing.issue
        yield sleep_until(self._world, self.time)

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

    # FIFOs

    def _talloc(self, ring: Ring) -> Process:
        tile = ring.allocated[self.name]
        if tile >= ring.first_wait and tile % ring.period == 0:
            yield from self._take_credit(ring, f"tile {tile}")
        ring.allocated[self.name] += 1

    def _tpush(self, ring: Ring) -> Process:
        ring.pushed[self.name] += 1
        yield from self._signal(ring.record_pipe, self._mine(ring.ready))

    def _tpop(self, ring: Ring) -> Process:
        tile = ring.popped[self.name]
        yield from self._wait(self._mine(ring.ready), f"{ring.name}.ready", f"tile {tile}")
        ring.popped[self.name] += 1

    def _tfree(self, ring: Ring) -> Process:
        if ring.popped[self.name] % ring.period == 0:
            yield from self._signal(ring.free_pipe, self._mine(ring.free))

    def _drain(self) -> Process:
        """The destructor of every pipe that this core produces for, in the order of the workload."""
        for ring in self._rings.values():
            if ring.producer != self.kind:
                continue
            waits = ring.period
            if ring.drain == "computed":
                waits = ring.allocated[self.name] // ring.period - ring.credits_taken[self.name]
            for n in range(waits):
                yield from self._take_credit(ring, f"credit {n + 1} of {waits} at destruction")

    def _take_credit(self, ring: Ring, which: str) -> Process:
        yield from self._wait(self._mine(ring.free), f"{ring.name}.free", which)
        ring.credits_taken[self.name] += 1

    def _wait(self, channels: Sequence[Channel], wait_name: str, which: str) -> Process:
        """The scalar process stands still until a token of every channel is there."""
        self.blocked_on = f"{wait_name} ({which})"
        arrivals: list[int] = []
        for token in [channel.take() for channel in channels]:
            arrivals.append((yield token))
        self.blocked_on = None
        self._ledger.wait(wait_name, max(arrivals) - self.time)
        self.time = max(self.time, *arrivals) + self._timing.wait
        yield sleep_until(self._world, self.time)

    def _signal(self, pipe: str, channels: Sequence[Channel]) -> Process:
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

    def _mine(self, channels: Mapping[str, Channel]) -> list[Channel]:
        """AIC deals with both sub-cores at once, a sub-core with itself alone."""
        return [*channels.values()] if self.kind == "AIC" else [channels[self.name]]

    def _ring(self, fifo: str, producer: bool) -> Ring:
        ring = self._rings.get(fifo)
        if ring is None:
            raise ValueError(f"{self.kind} uses FIFO {fifo!r}; known are {', '.join(self._rings) or 'none'}")
        if producer != (ring.producer == self.kind):
            role = "consumer" if producer else "producer"
            raise ValueError(f"{self.kind} is the {role} of FIFO {fifo!r} and calls it as the other side")
        return ring
