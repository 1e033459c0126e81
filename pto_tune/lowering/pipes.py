"""TALLOC, TPUSH, TPOP and TFREE, constructors and destructors: what a rule set makes of them, in operations.

One place for the order of the steps inside a call (a2a3/TPush.hpp:522-539, TPop.hpp:21-38 and their 950 counterparts);
which flag goes where on which pipe is the rule set's data.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pto_tune.lowering import code as c
from pto_tune.lowering.pipe_rules import (
    constructor_credits,
    destructor_waits,
    first_wait_expr,
    is_no_split,
    period_expr,
)
from pto_tune.lowering.transfers import load_costs, store_costs
from pto_tune.model.expr import Expr, expr, maximum, where
from pto_tune.model.nodes import NO_SPLIT, Call, Cost, Fifo, Instr, Talloc, Tfree, Tile, Tpop, Tpush

if TYPE_CHECKING:
    from pto_tune.lowering.compile import Compiler
    from pto_tune.rule_sets import FlagUse, Way


class LoweringError(ValueError):
    """The program names something that does not exist or cannot be."""


@dataclass
class _Ring:
    """One way of a pipe: its columns and channels."""

    fifo: Fifo
    flow: str
    way: Way
    slot_num: int
    period: int
    first: int
    track: int
    flags: dict[tuple[int, str, bool], int] = field(default_factory=dict)  # (offset, sub-core, from AIC) -> channel


class PipeCalls:
    """Emits the calls of all pipes of a workload into a compiler's tables."""

    def __init__(self, em: Compiler) -> None:
        self.em = em
        self.rules = em.rules
        self.fifos = {f.name: f for f in em.workload.fifos}
        self.impossible: set[str] = set()
        self.rings: dict[tuple[str, str], _Ring] = {}
        self.ends: dict[tuple[str, str, bool], int] = {}  # (core, fifo, producer) -> endpoint
        self.local: dict[tuple[str, str, bool], int] = {}  # (core, fifo, producer) -> endpoint of the local ring
        self.always: set[tuple[str, str]] = set()  # (core, event) that need no waiting for
        self.switches: dict[tuple[str, str], int] = {}
        self.splits: dict[tuple[str, Expr], int] = {}
        self.pairs: dict[tuple[int, int], int] = {}
        for fifo in em.workload.fifos:
            self._pipe(fifo)

    # tables

    def _pipe(self, fifo: Fifo) -> None:
        em = self.em
        if "AIC" not in em.cores or "AIV0" not in em.cores:
            raise LoweringError(f"FIFO {fifo.name}: needs programs for AIC and AIV")
        direction = self.rules.direction_of(fifo.direction, fifo.gm_form)
        if direction is None or direction.refused:
            self.impossible.add(fifo.name)  # refused where it is used, so that nothing ever runs its calls
            return
        s = em.struct(f"{fifo.name} SlotNum", fifo.slot_num)
        p = em.struct(f"{fifo.name} SyncPeriod", period_expr(fifo, self.rules))
        first = em.struct(f"{fifo.name} first wait", first_wait_expr(fifo, self.rules))
        tracks = {flow: len(em.tracks) + i for i, flow in enumerate(direction.ways)}
        for flow, way in direction.ways.items():
            em.tracks.append(fifo.track(flow))
            ring = _Ring(fifo, flow, way, s, p, first, tracks[flow])
            self.rings[fifo.name, flow] = ring
            shared = -1
            if direction.one_ring and fifo.name in em.global_data:
                shared = next(t for f, t in tracks.items() if f != flow)
            for core in em.cores:
                producer = (core == "AIC") == (flow == "C2V")
                self.ends[core, fifo.name, producer] = len(em.endpoints)
                i = em.cores.index(core)
                unread = not producer and self._unread(core, fifo, way)
                em.endpoints.append(c.Endpoint(ring.track, i, producer, s, p, first, shared, unread, fifo.name))
            self._flags(ring)
        for core in em.cores:
            consumed = fifo.flow_of(core, producer=False)
            if (core[:3], fifo.name) in em.tile_pops and direction.ways[consumed].ring == "GM":
                self._local_ring(fifo, core)

    def _unread(self, core: str, fifo: Fifo, way: Way) -> bool:
        """Whether no instruction of a consumer reads the tiles of a ring: neither its own, nor the load of a tile."""
        loads = way.ring == "GM" and (core[:3], fifo.name) in self.em.tile_pops
        return not loads and (core[:3], fifo.name) not in self.em.read

    def _flags(self, ring: _Ring) -> None:
        """Flag channels of a way, and who hears from whom on the free one."""
        em, way, fifo = self.em, ring.way, ring.fifo
        name = em.tracks[ring.track]
        cube = em.cores.index("AIC")
        credits = constructor_credits(fifo, self.rules, way)
        columns = {}
        for sub in ("AIV0", "AIV1"):
            if sub in em.cores:
                v = em.cores.index(sub)
                down = ring.flow == "C2V"  # the producer is the cube
                consumer = self.ends[sub if down else "AIC", fifo.name, False]
                producer = self.ends["AIC" if down else sub, fifo.name, True]
                initial = -1
                if credits is not None:
                    reach = credits
                    # a sub-core always sends its own; the cube knows of IsNoSplit
                    if sub == "AIV1" and not down and self.rules.reach == "split" and fifo.kind == "TPipe":
                        reach = where(is_no_split(fifo), 0, credits)
                    if sub not in columns:
                        columns[sub] = em.struct(f"{name} constructor credits {sub}", reach)
                    initial = columns[sub]
                for use, kind, from_cube in (
                    (way.record, "ready", down),
                    (way.ready_wait, "ready", down),
                    (way.free, "free", not down),
                    (way.free_wait, "free", not down),
                ):
                    key = (use.flag, sub, from_cube)
                    if key in ring.flags:
                        continue
                    a, b = (cube, v) if from_cube else (v, cube)
                    mine = kind == "free" and use is way.free
                    ring.flags[key] = em.channel(
                        c.Channel(
                            f"{name} {kind} {sub}", f"{name}.{kind}", a, b, initial if mine else -1, True,
                            consumer if mine else -1,
                        )
                    )  # fmt: skip
                    if mine:
                        self.pairs[producer, consumer] = ring.flags[key]

    def _local_ring(self, fifo: Fifo, core: str) -> None:
        """Tiles popped into the consumer's local memory: LocalSlotNum of them, which nothing protects."""
        em = self.em
        slots = em.struct(f"{core}.{fifo.name} LocalSlotNum", fifo.local_slot_num)
        em.tracks.append(f"{core}.{fifo.name}.local")
        for producer in (True, False):
            self.local[core, fifo.name, producer] = len(em.endpoints)
            em.endpoints.append(
                c.Endpoint(len(em.tracks) - 1, em.cores.index(core), producer, slots, slots, slots, fifo=fifo.name)
            )

    def _switch(self, fifo: Fifo, name: str) -> int:
        """Structure column of a switch, -1 where it is always on."""
        value: Expr = getattr(fifo, name)
        if value == expr(1):
            return -1
        if (fifo.name, name) not in self.switches:
            self.switches[fifo.name, name] = self.em.struct(f"{fifo.name} {name}", value.ne(0))
        return self.switches[fifo.name, name]

    # flags

    def _second(self, core: str, fifo: Fifo, no_split: Expr) -> int:
        """Structure column that says whether AIV1 takes part, -1 always."""
        if self.rules.reach == "both" or fifo.kind == "TMPipe":
            return -1
        key = (core, no_split)
        if key not in self.splits:
            sub = 1 if core == "AIV1" else 0
            self.splits[key] = self.em.struct(f"{fifo.name} both sub-cores", 1 - no_split, sub)
        return self.splits[key]

    def _uses(self, core: str, ring: _Ring, use: FlagUse, setting: bool, no_split: Expr) -> list[tuple[int, int]]:
        """(channel, condition) of a flag that a core sets or waits for."""
        from_cube = (core == "AIC") == setting
        if core != "AIC":
            return [(self._channel(ring, use.flag, core, from_cube), -1)]
        out = [(self._channel(ring, use.flag, "AIV0", from_cube), -1)]
        if "AIV1" in self.em.cores:
            out.append((self._channel(ring, use.flag, "AIV1", from_cube), self._second(core, ring.fifo, no_split)))
        return out

    def _channel(self, ring: _Ring, flag: int, sub: str, from_cube: bool) -> int:
        key = (flag, sub, from_cube)
        if key not in ring.flags:  # waited for, and never set
            em = self.em
            cube, v = em.cores.index("AIC"), em.cores.index(sub)
            a, b = (cube, v) if from_cube else (v, cube)
            name = em.tracks[ring.track]
            ring.flags[key] = em.channel(c.Channel(f"{name} flag +{flag} {sub}", f"{name}.ready", a, b, -1, True))
        return ring.flags[key]

    def _signal(self, core: str, ring: _Ring, use: FlagUse, no_split: Expr, name: str) -> None:
        em = self.em
        at = em.op(c.SIGNAL, em.pipe(core, use.pipe))
        em.op(c.EXEC, em.flag_set, 1, -1, name=name)
        for channel, condition in self._uses(core, ring, use, True, no_split):
            em.op(c.PUSH, channel, em.cross, condition)
        em.close(at)

    def _wait(self, core: str, ring: _Ring, use: FlagUse, no_split: Expr, name: str, pops: bool = False) -> None:
        """Wait for a flag. `pops`: it pops a tile that no instruction reads."""
        em = self.em
        flags = self._uses(core, ring, use, False, no_split)
        if use.pipe == "S":
            em.op(c.SWAIT, flags[0][0], flags[1][0] if len(flags) > 1 else -1, name=name)
            return
        at = em.op(c.BEGIN, em.pipe(core, use.pipe), name=name)
        for channel, condition in flags:
            em.op(c.POP, channel, condition, name=name)
        if pops:
            em.op(c.ADVANCE, self.ends[core, ring.fifo.name, False])
            em.op(c.READ, ring.track, self.ends[core, ring.fifo.name, False])
        em.op(c.EXEC, em.flag_wait, 1, -1, name=name)
        em.close(at)

    # calls

    def call(self, core: str, sub: int, node: Call) -> None:
        """One pipe call of a core's program."""
        if node.fifo in self.impossible:
            return
        producer = isinstance(node, Talloc | Tpush)
        fifo = self._fifo(core, node.fifo, producer)
        ring = self.rings[fifo.name, fifo.flow_of(core, producer)]
        split = fifo.split if node.split is None else node.split
        no_split = split.eq(NO_SPLIT)
        match node:
            case Talloc():
                self._around(core, node, ring.way.free_wait, ring.way.record.pipe, before=True)
                self._space(core, ring, no_split, f"TALLOC {fifo.name}")
                self.em.op(c.ADVANCE, self.ends[core, fifo.name, True])
                self._around(core, node, ring.way.free_wait, "", before=False)
            case Tpush(tile=None):
                self._around(core, node, ring.way.record, "", before=True)
                self.em.op(c.RECORD, self.ends[core, fifo.name, True])
                self._signal(core, ring, ring.way.record, no_split, f"TPUSH {fifo.name}")
                self._around(core, node, ring.way.record, "", before=False)
            case Tpush():
                self._push_tile(core, sub, ring, node, split)
            case Tpop(tile=None):
                self._around(core, node, ring.way.ready_wait, "MTE2", before=True)
                self._pop(core, ring, no_split)
                self._around(core, node, ring.way.ready_wait, "", before=False)
            case Tpop():
                self._pop_tile(core, sub, ring, node, split)
            case Tfree():
                if node.tile and not self.rules.tile_tfree:
                    self.always.add((core, node.event))
                    return
                self._around(core, node, ring.way.free, "", before=True)
                self._release(core, ring, no_split, f"TFREE {fifo.name}")
                self._around(core, node, ring.way.free, "", before=False)

    def _fifo(self, core: str, name: str, producer: bool) -> Fifo:
        fifo = self.fifos.get(name)
        if fifo is None or (core, name, producer) not in self.ends:
            side = "producer" if producer else "consumer"
            known = ", ".join(self.fifos) or "none"
            raise LoweringError(f"{core} is no {side} of a FIFO {name!r}: FIFOs of this workload are {known}")
        return fifo

    def _around(self, core: str, node: Call, use: FlagUse, pipe_for_waits: str, *, before: bool) -> None:
        """The events of a call: waited for before it on its pipe, given after it."""
        em = self.em
        if before and any((core, event) not in self.always for event in node.waits):
            pipe = use.pipe if use.pipe != "S" else pipe_for_waits
            em.instruction(core, 0, Instr("TSYNC", pipe, waits=node.waits))
        if not before and node.event:
            if use.pipe == "S":
                self.always.add((core, node.event))
            else:
                em.instruction(core, 0, Instr("TSYNC", use.pipe, event=node.event))

    def _space(self, core: str, ring: _Ring, no_split: Expr, name: str) -> None:
        end = self.ends[core, ring.fifo.name, True]
        at = self.em.op(c.IFWAIT, end, -1, self._switch(ring.fifo, "allocate"))
        self._wait(core, ring, ring.way.free_wait, no_split, name)
        self.em.close(at)

    def _release(self, core: str, ring: _Ring, no_split: Expr, name: str) -> None:
        end = self.ends[core, ring.fifo.name, False]
        at = self.em.op(c.IFNOTIFY, end, -1, self._switch(ring.fifo, "free"))
        self._signal(core, ring, ring.way.free, no_split, name)
        self.em.close(at)

    def _pop(self, core: str, ring: _Ring, no_split: Expr, switch: int = -1) -> None:
        """Wait for data, if the switch is on, and go on to the next tile."""
        em, use = self.em, ring.way.ready_wait
        end = self.ends[core, ring.fifo.name, False]
        name = f"TPOP {ring.fifo.name}"
        unread = em.endpoints[end].unread and use.pipe != "S" and switch < 0
        at = em.op(c.LOOP, switch, -1, 0) if switch >= 0 else -1
        self._wait(core, ring, use, no_split, name, pops=unread)
        if at >= 0:
            em.op(c.NEXT, at)
            em.close(at)
        if not unread:
            em.op(c.ADVANCE, end, -1 if use.pipe == "S" else em.pipe(core, use.pipe))

    def _push_tile(self, core: str, sub: int, ring: _Ring, node: Tpush, split: Expr) -> None:
        em, fifo, tile = self.em, ring.fifo, node.tile
        assert tile is not None
        flags_split = split.eq(NO_SPLIT)
        if node.config is not None and ring.way.ring != "GM" and self.rules.split_of_config == "NO_SPLIT":
            flags_split = expr(1)
        self._space(core, ring, flags_split, f"TPUSH {fifo.name}")
        em.op(c.ADVANCE, self.ends[core, fifo.name, True])
        costs = tile.costs or store_costs(core, ring.way, tile, node.config, split)
        pipe = "FIX" if core == "AIC" else "MTE3"
        em.instruction(core, sub, _transfer("TPUSH", pipe, tile, node, costs, writes=fifo.name))
        switch = self._switch(fifo, "record")
        at = em.op(c.LOOP, switch, -1, 0) if switch >= 0 else -1
        self._signal(core, ring, ring.way.record, flags_split, f"TPUSH {fifo.name}")
        if at >= 0:
            em.op(c.NEXT, at)
            em.close(at)

    def _pop_tile(self, core: str, sub: int, ring: _Ring, node: Tpop, split: Expr) -> None:
        em, fifo, tile = self.em, ring.fifo, node.tile
        assert tile is not None
        no_split = split.eq(NO_SPLIT)
        self._pop(core, ring, no_split, self._switch(fifo, "wait"))
        if ring.way.ring != "GM":  # bound, not loaded
            if tile.acquires or tile.takes or tile.publishes or tile.releases or node.waits or node.event:
                em.instruction(core, sub, _transfer("TPOP", ring.way.ready_wait.pipe, tile, node, ()))
            return
        costs = tile.costs or load_costs(core, tile, split)
        load = _transfer("TPOP", "MTE2", tile, node, costs)
        em.instruction(core, sub, load, pops=fifo.name)
        # the index goes on after the release; the release looks at this tile
        self._release(core, ring, no_split, f"TPOP {fifo.name}")

    def slot(self, core: str, name: str, producer: bool) -> int | None:
        """Endpoint whose slot an instruction writes or reads under a FIFO's name: the ring's, or after a tile pop from
        GM that of the local ring."""
        if not producer and (core, name, False) in self.local:
            return self.local[core, name, False]
        return self.ends.get((core, name, producer))

    def drains(self, core: str) -> None:
        """The destructor of every pipe that this core produces for."""
        em = self.em
        for fifo in em.workload.fifos:
            end = self.ends.get((core, fifo.name, True))
            if end is None:
                continue
            ring = self.rings[fifo.name, fifo.flow_of(core, True)]
            by_rule, further = destructor_waits(fifo, self.rules, ring.way)
            column = -1 if further is None else em.struct(f"{fifo.name} {core} fixed drain", maximum(further, 0))
            if by_rule is not None and by_rule != expr(1):
                # by rule in some configurations only
                guard = em.struct(f"{fifo.name} {core} computed drain", by_rule)
                at = em.op(c.LOOP, guard, -1, 0)
                self._drain(core, ring, end, 1, -1)
                em.op(c.NEXT, at)
                em.close(at)
                by_rule = None
            self._drain(core, ring, end, 0 if by_rule is None else 1, column)

    def _drain(self, core: str, ring: _Ring, end: int, by_rule: int, column: int) -> None:
        if by_rule == 0 and column < 0:
            return
        em = self.em
        at = em.op(c.DRAIN, end, -1, by_rule, column)
        self._wait(core, ring, ring.way.free_wait, is_no_split(ring.fifo), f"drain {ring.fifo.name}")
        em.op(c.JUMP, at)
        em.close(at)


def _transfer(name: str, pipe: str, tile: Tile, node: Call, costs: tuple[Cost, ...], writes: str = "") -> Instr:
    """The instruction that moves the tile of a call."""
    return Instr(
        name,
        pipe,
        costs,
        acquires=tile.acquires,
        takes=tile.takes,
        publishes=tile.publishes,
        releases=tile.releases,
        waits=node.waits,
        event=node.event,
        writes=(writes,) if writes else (),
        issues=max(1, len(costs)),
    )
