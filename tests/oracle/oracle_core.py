"""A core: walks its program and makes the pipe calls, as the rules of the FIFOs in force say."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import simpy
from oracle_flags import FifoWay, Link
from oracle_machine import Ledger, Process
from oracle_prices import Names, Prices, number
from oracle_scalar import FlagWait, Scalar, Timing
from oracle_slots import Touch
from oracle_tiles import transfer_costs

from pto_tune.model.nodes import (
    Call,
    Fifo,
    Instr,
    Loop,
    Node,
    Ring,
    Talloc,
    Tfree,
    Tile,
    Tpop,
    Tpush,
    While,
    Workload,
)
from pto_tune.rule_sets import RuleSet

STORE_PIPE = {"AIC": "FIX", "AIV": "MTE3"}
LOAD_PIPE = "MTE2"


class Core(Scalar):
    """AIC, AIV0 or AIV1 with its program."""

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
    ) -> None:
        super().__init__(world, name, env, prices, timing, workload.buffers, ledger)
        self._links = links
        self._rules = rule_set
        self._rings = {ring.name: ring for ring in workload.rings}
        self._ring_tiles: Counter[tuple[str, str]] = Counter()
        self._satisfied = {c.event for c in _calls(program) if c.event and self._gives_no_event(c)}
        self._made: dict[tuple[int, str], Instr] = {}
        world.process(self._run(program))

    def _run(self, program: Sequence[Node]) -> Process:
        yield from self._walk(program)
        for link in self._links.values():
            for way in link.ways.values():
                if way.producer == self.kind:
                    yield from self._destroy(way)
        self.finished = True

    def _walk(self, nodes: Sequence[Node]) -> Process:
        for node in nodes:
            match node:
                case Loop():
                    for _ in range(number(node.trips, self.env)):
                        yield from self._walk(node.body)
                case Instr():
                    yield from self._instruction(node)
                case Talloc():
                    yield from self._talloc(node, self._way(node, producer=True))
                case Tpush():
                    yield from self._tpush(node, self._way(node, producer=True))
                case Tpop():
                    yield from self._tpop(node, self._way(node, producer=False))
                case Tfree():
                    yield from self._tfree(node, self._way(node, producer=False))

    def _instruction(self, node: Instr) -> Process:
        touches = [self._touch("write", name) for name in node.writes]
        touches += [self._touch("read", name) for name in node.reads]
        yield from self.issue(self._once(node, "itself", lambda: node), touches)

    # The calls

    def _talloc(self, call: Talloc, way: FifoWay) -> Process:
        pipe = way.uses.free_wait.pipe
        yield from self._sync_before(call, way.uses.record.pipe if pipe == "S" else pipe)
        yield from self._wait_for_space(call, way, self._split(call, way), "TALLOC")
        way.allocated[self.name] += 1
        yield from self._sync_after(call, pipe)

    def _tpush(self, call: Tpush, way: FifoWay) -> Process:
        split = way.split_of_flags(call, self._split(call, way))
        if call.tile is None:
            yield from self._sync_before(call, way.uses.record.pipe)
            yield from self._record(way, split)
            yield from self._sync_after(call, way.uses.record.pipe)
            return
        yield from self._wait_for_space(call, way, split, "TPUSH")
        transfer = self._transfer(call, call.tile, way, "TPUSH", STORE_PIPE[self.kind])
        yield from self.issue(transfer, [self._slot("write", way, way.allocated[self.name])])
        way.allocated[self.name] += 1
        if way.record:
            yield from self._record(way, split)

    def _tpop(self, call: Tpop, way: FifoWay) -> Process:
        pipe = way.uses.ready_wait.pipe
        tile = way.popped[self.name]
        if call.tile is None:
            yield from self._sync_before(call, LOAD_PIPE if pipe == "S" else pipe)
        if call.tile is None or way.wait:
            yield from self.wait(self._for_tile(call, way, tile))
        else:
            self.ledger.slots.note(self._slot("pop", way, tile), self.time, self.time)
        if call.tile is None:
            yield from self._sync_after(call, pipe)
        elif way.in_gm:
            touches = [self._slot("read", way, tile), self._local_slot("write", way, tile)]
            yield from self.issue(self._transfer(call, call.tile, way, "TPOP", LOAD_PIPE), touches)
            if way.free and (tile + 1) % way.period == 0:
                yield from self._notify(way, self._split(call, way))
        else:
            bind = self._transfer(call, call.tile, way, "TPOP", pipe)
            if any((bind.acquires, bind.takes, bind.publishes, bind.releases, bind.waits, bind.event)):
                yield from self.issue(bind)
        way.popped[self.name] += 1
        way.bound_tile[self.name] = call.tile is not None

    def _tfree(self, call: Tfree, way: FifoWay) -> Process:
        if call.tile and not self._rules.tile_tfree:
            return
        yield from self._sync_before(call, way.uses.free.pipe)
        if way.free and way.popped[self.name] % way.period == 0:
            yield from self._notify(way, self._split(call, way))
        yield from self._sync_after(call, way.uses.free.pipe)

    # What calls are made of

    def _wait_for_space(self, call: Talloc | Tpush, way: FifoWay, split: int, name: str) -> Process:
        tile = way.allocated[self.name]
        if way.allocate and way.waits_before(tile):
            subs = way.reach(self.name, split)
            yield from self.wait(self._for_space(way, subs, f"{name} {call.fifo}", f"tile {tile}"))
            way.waited.update(subs)

    def _destroy(self, way: FifoWay) -> Process:
        """The destructor of a producer."""
        waits = way.waits_at_destruction(self.name)
        subs = way.reach_of_lifetime(self.name)
        for n in range(waits):
            which = f"credit {n + 1} of {waits} at destruction"
            yield from self.wait(self._for_space(way, subs, f"drain {way.fifo.name}", which))
            way.drained.update(subs)

    def _for_space(self, way: FifoWay, subs: Sequence[str], name: str, which: str) -> FlagWait:
        channels = [(self._sender(sub), way.space(sub, waiting=True)) for sub in subs]
        return FlagWait(way.uses.free_wait.pipe, name, f"{way.track}.free", which, channels)

    def _for_tile(self, call: Tpop, way: FifoWay, tile: int) -> FlagWait:
        subs = way.reach(self.name, self._split(call, way))
        channels = [(self._sender(sub), way.ready(sub, waiting=True)) for sub in subs]
        pop = self._slot("pop", way, tile)
        name = f"TPOP {call.fifo}"
        return FlagWait(way.uses.ready_wait.pipe, name, f"{way.track}.ready", f"tile {tile}", channels, [pop])

    def _sender(self, sub: str) -> str:
        """Who sends this core the flags of a sub-core."""
        return sub if self.kind == "AIC" else "AIC"

    def _record(self, way: FifoWay, split: int) -> Process:
        way.pushed[self.name] += 1
        subs = way.reach(self.name, split)
        yield from self.signal(way.uses.record.pipe, [way.ready(sub, waiting=False) for sub in subs])

    def _notify(self, way: FifoWay, split: int) -> Process:
        subs = way.reach(self.name, split)
        way.notified.update(subs)
        yield from self.signal(way.uses.free.pipe, [way.space(sub, waiting=False) for sub in subs])

    def _sync_before(self, call: Call, pipe: str) -> Process:
        sync = self._once(call, "before", lambda: Instr("TSYNC", pipe, waits=call.waits))
        if sync.waits:
            yield from self.issue(sync)

    def _sync_after(self, call: Call, pipe: str) -> Process:
        if call.event and pipe != "S":
            yield from self.issue(self._once(call, "after", lambda: Instr("TSYNC", pipe, event=call.event)))

    def _gives_no_event(self, call: Call) -> bool:
        """Whether waiting for the call's event is always satisfied: the scalar process gives it, or nobody."""
        match call:
            case Talloc():
                return self._way(call, producer=True).uses.free_wait.pipe == "S"
            case Tpop():
                return call.tile is None and self._way(call, producer=False).uses.ready_wait.pipe == "S"
            case Tfree():
                return call.tile and not self._rules.tile_tfree
        return False

    def _transfer(self, call: Tpush | Tpop, tile: Tile, way: FifoWay, name: str, pipe: str) -> Instr:
        """The store or load of a TileData call; of a pop from a ring in local memory, what binds the tile."""

        def make() -> Instr:
            costs = tile.costs
            if isinstance(call, Tpop) and not way.in_gm:
                costs = ()
            elif not costs:
                costs = transfer_costs(call, tile, way.uses.ring, self.kind, self._split(call, way))
            return Instr(
                name, pipe, costs, acquires=tile.acquires, takes=tile.takes, publishes=tile.publishes,
                releases=tile.releases, waits=call.waits, event=call.event,
            )  # fmt: skip

        return self._once(call, "transfer", make)

    def _once(self, node: Node, role: str, make: Callable[[], Instr]) -> Instr:
        """The instruction that a node stands for in a role, less the events that nobody needs to wait for.

        By the node's identity, because hashing it walks all its expressions.
        """
        key = (id(node), role)
        if key not in self._made:
            made = make()
            needed = tuple(event for event in made.waits if event not in self._satisfied)
            self._made[key] = made if needed == made.waits else replace(made, waits=needed)
        return self._made[key]

    # Slots

    def _touch(self, how: str, name: str) -> Touch:
        """An instruction's access: to a ring of the workload, each in turn, or to the current slot of a FIFO."""
        if name in self._rings:
            ring: Ring = self._rings[name]
            tile = self._ring_tiles[how, name]
            self._ring_tiles[how, name] += 1
            return Touch(how, name, self.name, number(ring.slots, self.env), tile, self.name)
        way = self._way_of(name, producer=how == "write")
        if how == "write":
            return self._slot(how, way, way.allocated[self.name] - 1)
        slot = self._local_slot if way.in_gm and way.bound_tile.get(self.name) else self._slot
        return slot(how, way, way.popped[self.name] - 1)

    def _slot(self, how: str, way: FifoWay, tile: int) -> Touch:
        return Touch(how, way.track, "", way.slots, tile, self.name)

    def _local_slot(self, how: str, way: FifoWay, tile: int) -> Touch:
        return Touch(how, f"{way.fifo.name}.local", self.name, way.local_slots, tile, self.name)

    # Names

    def _split(self, call: Call, way: FifoWay) -> int:
        return number(way.fifo.split if call.split is None else call.split, self.env)

    def _way(self, call: Call, producer: bool) -> FifoWay:
        return self._way_of(call.fifo, producer)

    def _way_of(self, name: str, producer: bool) -> FifoWay:
        if name not in self._links:
            raise ValueError(f"{self.kind} uses FIFO {name!r}; known are {', '.join(self._links) or 'none'}")
        link = self._links[name]
        fifo: Fifo = link.fifo
        flow = fifo.flow_of(self.kind, producer)
        if flow not in link.ways:
            role = "consumer" if producer else "producer"
            raise ValueError(f"{self.kind} is the {role} of FIFO {name!r} and calls it as the other side")
        return link.ways[flow]


def _calls(nodes: Sequence[Node]) -> Iterator[Call]:
    """Every call of a program as written, loop bodies once."""
    for node in nodes:
        if isinstance(node, Loop | While):
            yield from _calls(node.body)
        elif isinstance(node, Call):
            yield node
