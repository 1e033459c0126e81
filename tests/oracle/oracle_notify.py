"""A core of a rank, without its transfers: scalar variables, barriers, and the signals that it sends and polls."""

from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import simpy
from oracle_core import Core
from oracle_flags import Link
from oracle_links import Pieces, Servers, SharedPipe
from oracle_machine import Ledger, Pipe, Process, sleep_until
from oracle_prices import Names, Prices, number
from oracle_scalar import Timing
from oracle_signals import COMPARE, Fault, Signals, Turns

from cost_models import signals as signal_costs
from cost_models.platform import Platform
from cost_models.rounding import to_cycles
from pto_tune.model.communication import Barrier, Let, Post, Tget, Tnotify, Tput, Ttest, Twait
from pto_tune.model.nodes import PIPES, Loop, Node, While, Workload
from pto_tune.rule_sets import RuleSet

OPERATIONS = {"Set": "set", "AtomicAdd": "add"}


@dataclass(frozen=True)
class Place:
    """A core among all: its rank, its block, and its number within the block."""

    rank: int
    block: int
    core: int


@dataclass(frozen=True)
class Machine:
    """What the cores of all ranks share."""

    platform: Platform
    turns: Turns
    servers: Servers
    signals: Signals
    ranks: int
    ranks_per_node: int


class SignalTiming:
    """The platform's numbers for signals, each a whole number of cycles."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self.barrier = int(to_cycles(signal_costs.barrier_cycles(platform)))
        self.sweeps_per_barrier = int(platform["signal.sweeps_per_barrier"])

    def arrival(self, op: str, kind: str | None) -> int:
        return int(to_cycles(signal_costs.arrival_cycles(self._platform, OPERATIONS[op], kind)))

    def fenced(self, op: str, kind: str | None) -> int:
        arrival = float(signal_costs.arrival_cycles(self._platform, OPERATIONS[op], kind))
        return int(to_cycles(arrival + self._platform["signal.fence"]))

    def stored(self, op: str) -> int:
        written = self._platform["signal.store" if op == "Set" else "signal.atomic"]
        return int(to_cycles(2 * self._platform["signal.cache_line"] + written))

    def sweep(self, elements: int) -> int:
        return int(to_cycles(signal_costs.sweep_cycles(self._platform, elements)))


@dataclass(frozen=True)
class View:
    """Elements of a signal that a rank compares with a value. In words, which one fails, by the values as they are."""

    signals: Signals
    name: str
    rank: int
    elements: Sequence[int]
    cmp: str
    value: int

    def first_failing(self) -> int | None:
        return self.signals.first_failing(self.name, self.rank, self.elements, self.cmp, self.value)

    def __str__(self) -> str:
        failing = self.first_failing()
        if failing is None:
            return f"signal {self.name} of rank {self.rank}"
        element = self.elements[failing]
        is_now = self.signals.values[self.name][self.rank][element]
        return f"signal {self.name} of rank {self.rank}: element {element} is {is_now}, not {self.cmp} {self.value}"


class SignalCore(Core):
    """AIC, AIV0 or AIV1 of one block of one rank."""

    def __init__(
        self,
        world: simpy.Environment,
        name: str,
        program: Sequence[Node],
        env: Names,
        prices: Prices,
        timing: Timing,
        workload: Workload,
        links: Mapping[str, Link],
        rule_set: RuleSet,
        ledger: Ledger,
        place: Place,
        machine: Machine,
    ) -> None:
        self._place = place
        self._machine = machine
        self._has_sdma = any(isinstance(n, Tput | Tget) and n.asynchronous for n in _nodes(program))
        super().__init__(world, name, program, env, prices, timing, workload, links, rule_set, ledger)
        self._pieces = Pieces(machine.platform, place.rank, machine.ranks_per_node)
        self._signal_timing = SignalTiming(machine.platform)
        self._variables = dict.fromkeys(_variables(program), 0)
        self._scope: Mapping[str, int] = ChainMap(self._variables, dict(env))
        self._sent = 0

    @property
    def _who(self) -> str:
        return f"rank {self._place.rank}, block {self._place.block}, {self.name}"

    def _pipe_names(self) -> Sequence[str]:
        return (*PIPES[self.kind], "SDMA") if self._has_sdma else PIPES[self.kind]

    def _new_pipe(self, world: simpy.Environment, pipe: str, ledger: Ledger) -> Pipe:
        key = (self._place.rank, self._place.block, self._place.core, self._pipe_names().index(pipe))
        return SharedPipe(world, f"{self.name}.{pipe}", ledger, key, self._machine.turns, self._machine.servers)

    def _walk(self, nodes: Sequence[Node]) -> Process:
        for node in nodes:
            match node:
                case Loop():
                    for trip in range(number(node.trips, self._scope)):
                        if node.index:
                            self._variables[node.index] = trip
                        yield from self._walk(node.body)
                case While():
                    for _ in range(number(node.most, self._scope)):
                        if number(node.condition, self._scope) == 0:
                            break
                        yield from self._walk(node.body)
                case Let():
                    self._variables[node.name] = number(node.value, self._scope)
                case Barrier():
                    yield from self._barrier(node.pipes)
                case Tnotify():
                    yield from self._tnotify(node)
                case Post():
                    yield from self._post(node)
                case Twait():
                    yield from self._twait(node)
                case Ttest():
                    yield from self._ttest(node)
                case _:
                    yield from self._other(node)

    def _other(self, node: Node) -> Process:
        yield from super()._walk((node,))

    # What the scalar process waits for

    def _barrier(self, pipes: Sequence[str] = ()) -> Process:
        """Of all pipes, or from some of them to the scalar process, which costs nothing."""
        unknown = [pipe for pipe in pipes if pipe not in self.pipes]
        if unknown:
            raise ValueError(f"Barrier: {self.kind} has no pipe {unknown[0]!r}; it has {', '.join(self.pipes)}")
        yield from self._drain(pipes or [*self.pipes])
        done = self._completed(pipes or [*self.pipes])
        self.ledger.wait(f"{self.name}.barrier", done - self.time)
        self.time = max(self.time, done) + (0 if pipes else self._signal_timing.barrier)
        yield sleep_until(self._world, self.time)

    def _drain(self, pipes: Sequence[str]) -> Process:
        """Until what was issued on the pipes has run."""
        for name in pipes:
            pipe = self.pipes[name]
            if pipe.issued:
                self.blocked_on = f"{pipe.issued[-1].name} on {pipe.name} (barrier)"
                yield pipe.issued[-1].completed
        self.blocked_on = None

    def _completed(self, pipes: Sequence[str]) -> int:
        return max((self.pipes[name].all_completed_at for name in pipes), default=0)

    def _hold(self, events: Sequence[str]) -> Process:
        """Until the events are there."""
        for event in self._needed(events):
            self.blocked_on = f"the event {event}"
            arrival: int = yield self._event(event).take()
            self.blocked_on = None
            self.ledger.wait(f"{self.name}.{event}", arrival - self.time)
            self.time = max(self.time, arrival)
        yield sleep_until(self._world, self.time)

    def _needed(self, events: Sequence[str]) -> list[str]:
        return [event for event in events if event not in self._satisfied]

    # Signals

    def _tnotify(self, node: Tnotify) -> Process:
        yield from self._hold(node.waits)
        what = f"{self._who}: TNOTIFY"
        peer = self._peer(number(node.peer, self._scope), what)
        kind = self._pieces.kind(peer, what)
        self._store(node, peer, self._signal_timing.arrival(node.op, kind), what)
        self.time += self._signal_timing.fenced(node.op, kind)
        yield sleep_until(self._world, self.time)
        yield from self._barrier()

    def _post(self, node: Post) -> Process:
        self._store(node, self._place.rank, self._signal_timing.arrival(node.op, None), f"{self._who}: Post")
        self.time += self._signal_timing.stored(node.op)
        yield sleep_until(self._world, self.time)

    def _store(self, node: Tnotify | Post, rank: int, flight: int, what: str) -> None:
        at = number(node.at, self._scope)
        self._machine.signals.check(node.signal, (at,), what)
        sender = (self._place.rank, self._place.block, self._place.core, self._sent)
        self._sent += 1
        value = number(node.value, self._scope)
        self._machine.signals.send(node.signal, rank, at, node.op, value, self.time + flight, sender)

    def _twait(self, node: Twait) -> Process:
        yield from self._hold(node.waits)
        view = self._view(node)
        first = self.time
        failed = 0
        self.blocked_on = view
        while (failing := (yield from self._sweep(view, for_ever=True))) is not None:
            failed += 1
            self.time += self._signal_timing.sweep(failing + 1)
            if failed % self._signal_timing.sweeps_per_barrier == 0:
                self.time += self._signal_timing.barrier
                yield from self._drain([*self.pipes])
                self.time = max(self.time, self._completed([*self.pipes]))
            self.blocked_on = view
        self.blocked_on = None
        self.ledger.wait(f"signal.{node.signal}", self.time - first)
        self.time += self._signal_timing.sweep(len(view.elements))
        yield sleep_until(self._world, self.time)

    def _ttest(self, node: Ttest) -> Process:
        yield from self._hold(node.waits)
        view = self._view(node)
        failing = yield from self._sweep(view, for_ever=False)
        self._variables[node.into] = int(failing is None)
        self.time += self._signal_timing.sweep(len(view.elements) if failing is None else failing + 1)
        yield sleep_until(self._world, self.time)

    def _view(self, node: Twait | Ttest) -> "View":
        start, value = number(node.at, self._scope), number(node.value, self._scope)
        what = f"{self._who}: {'TWAIT' if isinstance(node, Twait) else 'TTEST'}"
        counts = [number(n, self._scope) for n, _ in node.view]
        if any(count < 1 for count in counts):
            raise Fault(f"{what}: a view of {counts} elements: expected at least 1")
        dims = [[i * number(s, self._scope) for i in range(n)] for n, (_, s) in zip(counts, node.view, strict=True)]
        elements = [start + sum(offsets) for offsets in product(*dims)]
        self._machine.signals.check(node.signal, elements, what)
        if node.cmp not in COMPARE:
            raise ValueError(f"{what}: unknown comparison {node.cmp!r}; choose one of {', '.join(COMPARE)}")
        if self._signal_timing.sweep(1) == 0:
            raise ValueError(f"{what}: polling takes no time; give signal.sweep or signal.poll more than 0")
        return View(self._machine.signals, node.signal, self._place.rank, elements, node.cmp, value)

    def _sweep(self, view: "View", for_ever: bool) -> Process:
        seen = self._world.event()
        key = (self._place.rank, self._place.block, self._place.core, len(self.pipes))
        self._machine.turns.sweep(
            self.time,
            key,
            lambda: seen.succeed(view.first_failing()),
            (lambda: view.first_failing() is not None) if for_ever else None,
        )
        failing = yield seen
        return failing

    def _peer(self, peer: int, what: str) -> int:
        if not 0 <= peer < self._machine.ranks:
            raise Fault(f"{what} with rank {peer}: expected 0 to {self._machine.ranks - 1}")
        return peer


def _nodes(program: Sequence[Node]) -> Iterator[Node]:
    """Every node as written, loops and what is in them."""
    for node in program:
        yield node
        if isinstance(node, Loop | While):
            yield from _nodes(node.body)


def _variables(program: Sequence[Node]) -> Iterator[str]:
    """Names of what the program sets."""
    for node in _nodes(program):
        match node:
            case Let():
                yield node.name
            case Ttest():
                yield node.into
            case Loop(index=index) if index:
                yield index
