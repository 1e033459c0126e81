"""Workload + rule set -> `Code`: channels for buffers, events and flags, and the operations of every core."""

from __future__ import annotations

from dataclasses import dataclass, field

from pto_tune.lowering import code as c
from pto_tune.lowering.pipes import LoweringError, PipeCalls
from pto_tune.model.expr import Expr
from pto_tune.model.nodes import PIPES, Instr, Loop, Node, Talloc, Tfree, Tpop, Tpush, Workload, walk
from pto_tune.rule_sets import RuleSet

__all__ = ["LoweringError", "lower"]


def lower(workload: Workload, rule_set: RuleSet) -> c.Code:
    """Compile the programs. LoweringError names what is wrong and where."""
    return Compiler(workload, rule_set).run()


@dataclass
class Compiler:
    """Tables while they are filled; `pipes.PipeCalls` adds what the pipe calls need."""

    workload: Workload
    rules: RuleSet
    ops: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    pipes: list[str] = field(default_factory=list)
    pipe_core: list[int] = field(default_factory=list)
    channels: list[c.Channel] = field(default_factory=list)
    endpoints: list[c.Endpoint] = field(default_factory=list)
    tracks: list[str] = field(default_factory=list)
    structure: list[tuple[str, Expr | None, int]] = field(default_factory=list)
    durations: list[c.DurationColumn] = field(default_factory=list)
    # look-ups
    chan: dict[tuple[str, str, str], int] = field(default_factory=dict)  # (core, kind, name)
    rings: dict[tuple[str, str, bool], int] = field(default_factory=dict)  # (core, name, producer)
    labels: dict[tuple[str, str], int] = field(default_factory=dict)
    columns: dict[c.DurationColumn, int] = field(default_factory=dict)

    def run(self) -> c.Code:
        import numpy as np

        w = self.workload
        self.structure += [("scalar.issue", None, 0), ("flags.wait", None, 0)]
        programs: list[tuple[str, int, tuple[Node, ...]]] = []
        for core, body in w.programs:
            programs += [("AIC", 0, body)] if core == "AIC" else [("AIV0", 0, body), ("AIV1", 1, body)]
        self.cores = [name for name, _, _ in programs]
        for i, core in enumerate(self.cores):
            for p in self.pipes_of(core):
                self.pipes.append(f"{core}.{p}")
                self.pipe_core.append(i)
        self.flag_set = self._duration(c.DurationColumn("flag_set"))
        self.flag_wait = self._duration(c.DurationColumn("flag_wait"))
        self.cross = self._duration(c.DurationColumn("cross"))
        nodes = [(core, node) for core, body in w.programs for node in walk(body)]
        self.tile_pops = {(core, x.fifo) for core, x in nodes if isinstance(x, Tpop) and x.tile}
        self.read = {(core, track) for core, x in nodes if isinstance(x, Instr) for track in x.reads}
        # GlobalData slots of the V2C ring of a pipe for both ways
        self.global_data = {
            x.fifo
            for core, x in nodes
            if (core == "AIV" and isinstance(x, Talloc)) or (core == "AIC" and isinstance(x, Tpop) and not x.tile)
        }
        for i, core in enumerate(self.cores):
            self._buffers(i, core)
        self.calls = PipeCalls(self)
        starts, steady = [], []
        for core, sub, body in programs:
            starts.append(len(self.ops))
            self.steady_column = -1
            self._labels(core, sub, body)
            self._body(core, sub, body, top=True)
            self.calls.drains(core)
            self.op(c.HALT)
            steady.append(self.steady_column)
        wait_names = tuple(dict.fromkeys([ch.wait_name for ch in self.channels] + [f"{p}.queue" for p in self.pipes]))
        channel_table = np.array(
            [
                [ch.writer, ch.reader, ch.initial, int(ch.counter), wait_names.index(ch.wait_name), ch.released]
                for ch in self.channels
            ],
            dtype=np.int64,
        ).reshape(-1, 6)
        endpoint_table = np.array(
            [
                [e.track, e.core, int(e.producer), e.slot_num, e.period, e.first, e.shared, int(e.unread)]
                for e in self.endpoints
            ],
            dtype=np.int64,
        ).reshape(-1, 8)
        pair_table = np.full((len(self.endpoints), len(self.endpoints)), -1, dtype=np.int64)
        for (producer, consumer), channel in self.calls.pairs.items():
            pair_table[producer, consumer] = channel
        ops = np.array(self.ops, dtype=np.int64)
        begins = np.flatnonzero((ops[:, 0] == c.BEGIN) | (ops[:, 0] == c.SIGNAL))
        return c.Code(
            workload=w,
            rule_set=self.rules,
            ops=ops,
            starts=np.array(starts, dtype=np.int64),
            cores=tuple(self.cores),
            pipes=tuple(self.pipes),
            pipe_core=np.array(self.pipe_core, dtype=np.int64),
            pipe_twin=np.array([self.pipes.index(p.replace("AIV1", "AIV0")) for p in self.pipes], dtype=np.int64),
            channels=tuple(self.channels),
            endpoints=tuple(self.endpoints),
            tracks=tuple(self.tracks),
            structure=tuple(self.structure),
            durations=tuple(self.durations),
            steady=tuple(steady),
            names=tuple(self.names),
            wait_names=wait_names,
            channel_table=channel_table,
            endpoint_table=endpoint_table,
            pair_table=pair_table,
            most_parts=int(max((ops[begins, 2] - begins - 1).max(initial=1), 1)),
        )

    def pipes_of(self, core: str) -> tuple[str, ...]:
        """The pipes of a core, in order."""
        return PIPES[core[:3]]

    # tables

    def op(self, op: int, a: int = -1, b: int = -1, c_: int = -1, d: int = -1, name: str = "") -> int:
        """Append an operation; returns its place."""
        self.ops.append((op, a, b, c_, d))
        self.names.append(name)
        return len(self.ops) - 1

    def close(self, at: int) -> None:
        """The operation at `at` skips to, or has its parts up to, here."""
        op, a, _, c_, d = self.ops[at]
        self.ops[at] = (op, a, len(self.ops), c_, d)

    def struct(self, label: str, e: Expr, sub: int = 0) -> int:
        """A structure column."""
        self.structure.append((label, e, sub))
        return len(self.structure) - 1

    def _duration(self, column: c.DurationColumn) -> int:
        if column not in self.columns:
            self.columns[column] = len(self.durations)
            self.durations.append(column)
        return self.columns[column]

    def channel(self, channel: c.Channel) -> int:
        """A channel; returns its number."""
        self.channels.append(channel)
        return len(self.channels) - 1

    def _latency(self, path: str) -> int:
        return self._duration(c.DurationColumn("latency", path=path))

    def _buffers(self, i: int, core: str) -> None:
        for b in self.workload.buffers:
            if b.core != core[:3]:
                continue
            copies = self.struct(f"{core}.{b.name} copies", b.copies)
            name = f"{core}.{b.name}"
            self.chan[core, "free", b.name] = self.channel(c.Channel(f"{name} free", name, i, i, copies))
            self.chan[core, "ready", b.name] = self.channel(c.Channel(f"{name} ready", name, i, i, -1))
        for r in self.workload.rings:
            if r.core == core[:3]:
                slots = self.struct(f"{core}.{r.name} slots", r.slots)
                self.tracks.append(f"{core}.{r.name}")
                for producer in (True, False):
                    self.rings[core, r.name, producer] = len(self.endpoints)
                    self.endpoints.append(c.Endpoint(len(self.tracks) - 1, i, producer, slots, slots, slots))

    # programs

    def _labels(self, core: str, sub: int, body: tuple[Node, ...]) -> None:
        """Duration columns of labelled instructions first: unit-flag tokens refer to them from anywhere."""
        for node in walk(body):
            if isinstance(node, Instr) and node.label and node.costs:
                self.labels[core, node.label] = self._cost_column(core, sub, node)

    def _cost_column(self, core: str, sub: int, node: Instr) -> int:
        return self._duration(
            c.DurationColumn(
                "cost",
                pipe=self.pipe(core, node.pipe),
                sub=sub,
                costs=node.costs,
            )
        )

    def pipe(self, core: str, pipe: str) -> int:
        try:
            return self.pipes.index(f"{core}.{pipe}")
        except ValueError:
            raise LoweringError(f"{core} has no pipe {pipe!r}: its pipes are {', '.join(PIPES[core[:3]])}") from None

    def _body(self, core: str, sub: int, body: tuple[Node, ...], top: bool = False) -> None:
        for node in body:
            match node:
                case Loop():
                    trips = self.struct(f"{core} trips {len(self.structure)}", node.trips, sub)
                    if node.steady:
                        if not top or self.steady_column >= 0:
                            raise LoweringError(f"{core}: a steady loop stands at top level, at most one a core")
                        self.steady_column = trips
                    at = self.op(c.LOOP, trips, -1, int(node.steady))
                    self._body(core, sub, node.body)
                    self.op(c.NEXT, at)
                    self.close(at)
                case Instr():
                    self.instruction(core, sub, node)
                case Talloc() | Tpush() | Tpop() | Tfree():
                    self.calls.call(core, sub, node)
                case _:
                    raise LoweringError(f"{core}: {type(node).__name__.upper()} needs a workload with ranks")

    def instruction(self, core: str, sub: int, node: Instr, pops: str = "") -> None:
        """An instruction with all its parts. `pops`: the FIFO whose tile it loads from a ring in GM."""
        begin = self.op(c.BEGIN, self.pipe(core, node.pipe), name=node.name)
        for b in node.acquires:
            self.op(c.POP, self._buffer(core, "free", b))
        for b in node.takes:
            self.op(c.POP, self._buffer(core, "ready", b))
        for e in node.waits:
            if (core, e) not in self.calls.always:
                self.op(c.POP, self._event(core, e))
        if pops:
            self._touch(c.READ, self.calls.ends[core, pops, False])
            for producer in (True, False):
                self.op(c.ADVANCE, self.calls.local[core, pops, producer])
            self._touch(c.WRITE, self.calls.local[core, pops, True])
        for op, tracks, producer in ((c.WRITE, node.writes, True), (c.READ, node.reads, False)):
            for track in tracks:
                if track in self.calls.impossible:
                    continue
                ring = self.rings.get((core, track, producer))
                if ring is not None:
                    self.op(c.ADVANCE, ring)
                end = self.calls.slot(core, track, producer) if ring is None else ring
                if end is None:
                    known = ", ".join([f.name for f in self.workload.fifos] + [r.name for r in self.workload.rings])
                    side = "fills" if producer else "empties"
                    raise LoweringError(f"{core} {side} no FIFO or ring {track!r}: there is {known or 'none'}")
                self._touch(op, end)
        duration = -1
        if node.costs:
            duration = self.labels[core, node.label] if node.label else self._cost_column(core, sub, node)
        latency = -1
        for cost in node.costs:
            args = dict(cost.args)
            if cost.model == "dma":
                latency = self._latency(str(args["path"]))
            elif cost.model in ("drain", "drain_ub"):
                latency = self._latency("fixpipe" if cost.model == "drain" else "fixpipe_ub")
        self.op(c.EXEC, duration, node.issues, latency, name=node.name)
        for t in node.publishes:
            early = self._overlap(core, t.unit_flag) if t.unit_flag else latency
            self.op(c.PUSH, self._buffer(core, "ready", t.buffer), early)
        for t in node.releases:
            early = self._overlap(core, t.unit_flag) if t.unit_flag else -1
            self.op(c.PUSH, self._buffer(core, "free", t.buffer), early)
        if node.event:
            self.op(c.PUSH, self._event(core, node.event), latency)
        self.close(begin)

    def _touch(self, op: int, end: int) -> None:
        self.op(op, self.endpoints[end].track, end)

    def _overlap(self, core: str, labels: tuple[str, str]) -> int:
        try:
            of = (self.labels[core, labels[0]], self.labels[core, labels[1]])
        except KeyError as e:
            raise LoweringError(f"{core}: the unit flag names an unknown label {e.args[0][1]!r}") from None
        return self._duration(c.DurationColumn("overlap", of=of))

    def _buffer(self, core: str, kind: str, name: str) -> int:
        try:
            return self.chan[core, kind, name]
        except KeyError:
            known = ", ".join(b.name for b in self.workload.buffers if b.core == core[:3])
            raise LoweringError(f"{core} has no buffer {name!r}: its buffers are {known or 'none'}") from None

    def _event(self, core: str, name: str) -> int:
        key = (core, "event", name)
        if key not in self.chan:
            i = self.cores.index(core)
            self.chan[key] = self.channel(c.Channel(f"{core}.{name} event", f"{core}.{name}", i, i, -1))
        return self.chan[key]
