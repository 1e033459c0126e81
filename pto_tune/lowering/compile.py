"""Workload + rule set -> `Code`: channels for buffers, events and flags, and the operations of every core."""

from __future__ import annotations

from dataclasses import dataclass, field

from pto_tune.lowering import code as c
from pto_tune.model.expr import Expr, expr, where
from pto_tune.model.nodes import (
    PIPES,
    Fifo,
    Instr,
    Loop,
    Node,
    Talloc,
    Tfree,
    Tpop,
    Tpush,
    Workload,
)
from pto_tune.rule_sets import RuleSet


class LoweringError(ValueError):
    """The program names something that does not exist or cannot be."""


def period_expr(fifo: Fifo, rule_set: RuleSet) -> Expr:
    """SyncPeriod in force: the given one, or what the rule set derives from SlotNum where 0 is given."""
    return where(fifo.sync_period.gt(0), fifo.sync_period, derived_period_expr(fifo, rule_set))


def derived_period_expr(fifo: Fifo, rule_set: RuleSet) -> Expr:
    """SyncPeriod of a TPipe with this SlotNum under the rule set."""
    s = fifo.slot_num
    if rule_set.period == "half":
        return where(s.le(2), s, s // 2)
    return s if rule_set.period == "slot_num" else expr(1)


def lower(workload: Workload, rule_set: RuleSet) -> c.Code:
    """Compile the programs. LoweringError names what is wrong and where."""
    return _Compiler(workload, rule_set).run()


@dataclass
class _Compiler:
    workload: Workload
    rules: RuleSet
    ops: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    pipes: list[str] = field(default_factory=list)
    pipe_core: list[int] = field(default_factory=list)
    channels: list[c.Channel] = field(default_factory=list)
    endpoints: list[c.Endpoint] = field(default_factory=list)
    tracks: list[str] = field(default_factory=list)
    structure: list[tuple[str, Expr | None]] = field(default_factory=list)
    durations: list[c.DurationColumn] = field(default_factory=list)
    # look-ups
    chan: dict[tuple[str, str, str], int] = field(default_factory=dict)  # (core, kind, name)
    ends: dict[tuple[str, str, bool], int] = field(default_factory=dict)  # (core, name, producer)
    labels: dict[tuple[str, str], int] = field(default_factory=dict)
    columns: dict[c.DurationColumn, int] = field(default_factory=dict)

    def run(self) -> c.Code:
        import numpy as np

        w = self.workload
        self.structure += [("scalar.issue", None), ("flags.wait", None)]
        programs: list[tuple[str, int, tuple[Node, ...]]] = []
        for core, body in w.programs:
            programs += [("AIC", 0, body)] if core == "AIC" else [("AIV0", 0, body), ("AIV1", 1, body)]
        self.cores = [name for name, _, _ in programs]
        for i, core in enumerate(self.cores):
            for p in PIPES[core[:3]]:
                self.pipes.append(f"{core}.{p}")
                self.pipe_core.append(i)
        self.flag_set = self._duration(c.DurationColumn("flag_set"))
        self.cross = self._duration(c.DurationColumn("cross"))
        for i, core in enumerate(self.cores):
            self._buffers(i, core)
        for fifo in w.fifos:
            self._fifo(fifo)
        starts, steady = [], []
        for i, (core, sub, body) in enumerate(programs):
            starts.append(len(self.ops))
            self.steady_column = -1
            self._labels(core, sub, body)
            self._body(i, core, sub, body, top=True)
            self._drains(core)
            self._op(c.HALT)
            steady.append(self.steady_column)
        wait_names = tuple(dict.fromkeys([ch.wait_name for ch in self.channels] + [f"{p}.queue" for p in self.pipes]))
        channel_table = np.array(
            [
                [ch.writer, ch.reader, ch.initial, int(ch.counter), wait_names.index(ch.wait_name)]
                for ch in self.channels
            ],
            dtype=np.int64,
        ).reshape(-1, 5)
        endpoint_table = np.array(
            [[e.track, e.core, int(e.producer), e.slot_num, e.period, e.first] for e in self.endpoints],
            dtype=np.int64,
        ).reshape(-1, 6)
        return c.Code(
            workload=w,
            rule_set=self.rules,
            ops=np.array(self.ops, dtype=np.int64),
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
        )

    # tables

    def _op(self, op: int, a: int = -1, b: int = -1, c_: int = -1, d: int = -1, name: str = "") -> int:
        self.ops.append((op, a, b, c_, d))
        self.names.append(name)
        return len(self.ops) - 1

    def _struct(self, label: str, e: Expr) -> int:
        self.structure.append((label, e))
        return len(self.structure) - 1

    def _duration(self, column: c.DurationColumn) -> int:
        if column not in self.columns:
            self.columns[column] = len(self.durations)
            self.durations.append(column)
        return self.columns[column]

    def _channel(self, key: tuple[str, str, str], channel: c.Channel) -> None:
        self.chan[key] = len(self.channels)
        self.channels.append(channel)

    def _latency(self, path: str) -> int:
        return self._duration(c.DurationColumn("latency", path=path))

    def _buffers(self, i: int, core: str) -> None:
        for b in self.workload.buffers:
            if b.core != core[:3]:
                continue
            copies = self._struct(f"{core}.{b.name} copies", b.copies)
            name = f"{core}.{b.name}"
            self._channel((core, "free", b.name), c.Channel(f"{name} free", name, i, i, copies))
            self._channel((core, "ready", b.name), c.Channel(f"{name} ready", name, i, i, -1))
        for r in self.workload.rings:
            if r.core == core[:3]:
                slots = self._struct(f"{core}.{r.name} slots", r.slots)
                self.tracks.append(f"{core}.{r.name}")
                for producer in (True, False):
                    self.ends[core, r.name, producer] = len(self.endpoints)
                    self.endpoints.append(c.Endpoint(len(self.tracks) - 1, i, producer, slots, slots, slots))

    def _fifo(self, fifo: Fifo) -> None:
        """Flags of a TPipe: one signal from AIC reaches both sub-cores; AIC is released when both signalled."""
        if "AIC" not in self.cores or "AIV0" not in self.cores:
            raise LoweringError(f"FIFO {fifo.name}: needs programs for AIC and AIV")
        period = period_expr(fifo, self.rules)
        s = self._struct(f"{fifo.name} SlotNum", fifo.slot_num)
        p = self._struct(f"{fifo.name} SyncPeriod", period)
        first = self._struct(
            f"{fifo.name} first wait", fifo.slot_num if self.rules.wait_from == "slot_num" else expr(1)
        )
        credits = -1
        if self.rules.ctor_credits == "period":
            credits = self._struct(f"{fifo.name} constructor credits", period)
        self.tracks.append(fifo.name)
        track = len(self.tracks) - 1
        cube, subs = self.cores.index("AIC"), [self.cores.index("AIV0"), self.cores.index("AIV1")]
        for i in subs:
            core = self.cores[i]
            a, b = (cube, i) if fifo.direction == "C2V" else (i, cube)
            self._channel(
                (core, "fifo.ready", fifo.name),
                c.Channel(f"{fifo.name} ready {core}", f"{fifo.name}.ready", a, b, -1, True),
            )
            self._channel(
                (core, "fifo.free", fifo.name),
                c.Channel(f"{fifo.name} free {core}", f"{fifo.name}.free", b, a, credits, True),
            )
        for i in (cube, *subs):
            producer = (i == cube) == (fifo.direction == "C2V")
            self.ends[self.cores[i], fifo.name, producer] = len(self.endpoints)
            self.endpoints.append(c.Endpoint(track, i, producer, s, p, first))

    # programs

    def _labels(self, core: str, sub: int, body: tuple[Node, ...]) -> None:
        """Duration columns of labelled instructions first: unit-flag tokens refer to them from anywhere."""
        for node in body:
            if isinstance(node, Loop):
                self._labels(core, sub, node.body)
            elif isinstance(node, Instr) and node.label and node.costs:
                self.labels[core, node.label] = self._cost_column(core, sub, node)

    def _cost_column(self, core: str, sub: int, node: Instr) -> int:
        return self._duration(
            c.DurationColumn(
                "cost",
                pipe=self._pipe(core, node.pipe),
                sub=sub,
                costs=node.costs,
            )
        )

    def _pipe(self, core: str, pipe: str) -> int:
        try:
            return self.pipes.index(f"{core}.{pipe}")
        except ValueError:
            raise LoweringError(f"{core} has no pipe {pipe!r}: its pipes are {', '.join(PIPES[core[:3]])}") from None

    def _body(self, i: int, core: str, sub: int, body: tuple[Node, ...], top: bool = False) -> None:
        for node in body:
            match node:
                case Loop():
                    trips = self._struct(f"{core} trips {len(self.structure)}", node.trips)
                    if node.steady:
                        if not top or self.steady_column >= 0:
                            raise LoweringError(f"{core}: a steady loop stands at top level, at most one a core")
                        self.steady_column = trips
                    at = self._op(c.LOOP, trips, -1, int(node.steady))
                    self._body(i, core, sub, node.body)
                    self._op(c.NEXT, at)
                    self.ops[at] = (c.LOOP, trips, len(self.ops), int(node.steady), -1)
                case Instr():
                    self._instr(core, sub, node)
                case Talloc(fifo):
                    end = self._end(core, fifo, True)
                    at = self._op(c.IFWAIT, end)
                    self._op(c.SWAIT, *self._flags(core, "fifo.free", fifo), name=f"TALLOC {fifo}")
                    self.ops[at] = (c.IFWAIT, end, len(self.ops), -1, -1)
                    self._op(c.ADVANCE, end)
                case Tpush(fifo):
                    self._end(core, fifo, True)
                    self._signal(core, "fifo.ready", fifo, True, f"TPUSH {fifo}")
                case Tpop(fifo):
                    end = self._end(core, fifo, False)
                    self._op(c.SWAIT, *self._flags(core, "fifo.ready", fifo), name=f"TPOP {fifo}")
                    self._op(c.ADVANCE, end)
                case Tfree(fifo):
                    end = self._end(core, fifo, False)
                    at = self._op(c.IFNOTIFY, end)
                    self._signal(core, "fifo.free", fifo, False, f"TFREE {fifo}")
                    self.ops[at] = (c.IFNOTIFY, end, len(self.ops), -1, -1)

    def _end(self, core: str, fifo: str, producer: bool) -> int:
        try:
            return self.ends[core, fifo, producer]
        except KeyError:
            known = ", ".join(f.name for f in self.workload.fifos)
            side = "producer" if producer else "consumer"
            raise LoweringError(
                f"{core} is no {side} of a FIFO {fifo!r}: FIFOs of this workload are {known or 'none'}"
            ) from None

    def _flags(self, core: str, kind: str, fifo: str) -> tuple[int, int]:
        """The channels of a flag as this core sees it: AIC has one a sub-core, AIV its own."""
        if core == "AIC":
            return self.chan["AIV0", kind, fifo], self.chan["AIV1", kind, fifo]
        return self.chan[core, kind, fifo], -1

    def _signal(self, core: str, kind: str, fifo: str, producer: bool, name: str) -> None:
        direction = next(f.direction for f in self.workload.fifos if f.name == fifo)
        pipe = (self.rules.record_pipe if producer else self.rules.free_pipe)[direction]
        self._op(c.SIGNAL, self._pipe(core, pipe))
        self._op(c.EXEC, self.flag_set, 1, -1, name=name)
        for ch in self._flags(core, kind, fifo):
            if ch >= 0:
                self._op(c.PUSH, ch, self.cross)

    def _instr(self, core: str, sub: int, node: Instr) -> None:
        self._op(c.BEGIN, self._pipe(core, node.pipe))
        for b in node.acquires:
            self._op(c.POP, self._buffer(core, "free", b))
        for b in node.takes:
            self._op(c.POP, self._buffer(core, "ready", b))
        for e in node.waits:
            self._op(c.POP, self._event(core, e))
        for op, tracks, producer in ((c.WRITE, node.writes, True), (c.READ, node.reads, False)):
            for track in tracks:
                end = self._end(core, track, producer)
                if any(r.name == track for r in self.workload.rings):
                    self._op(c.ADVANCE, end)
                self._op(op, self.endpoints[end].track, end)
        duration = -1
        if node.costs:
            duration = self.labels[core, node.label] if node.label else self._cost_column(core, sub, node)
        latency = -1
        for cost in node.costs:
            args = dict(cost.args)
            if cost.model == "dma":
                latency = self._latency(str(args["path"]))
            elif cost.model == "drain":
                latency = self._latency("fixpipe")
        self._op(c.EXEC, duration, node.issues, latency, name=node.name)
        for t in node.publishes:
            early = self._overlap(core, t.unit_flag) if t.unit_flag else latency
            self._op(c.PUSH, self._buffer(core, "ready", t.buffer), early)
        for t in node.releases:
            early = self._overlap(core, t.unit_flag) if t.unit_flag else -1
            self._op(c.PUSH, self._buffer(core, "free", t.buffer), early)
        if node.event:
            self._op(c.PUSH, self._event(core, node.event), latency)

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
            self._channel(key, c.Channel(f"{core}.{name} event", f"{core}.{name}", i, i, -1))
        return self.chan[key]

    def _drains(self, core: str) -> None:
        """The destructor of every pipe that this core produces for."""
        mode = 0 if self.rules.drain == "computed" else 1
        for fifo in self.workload.fifos:
            end = self.ends.get((core, fifo.name, True))
            if end is not None:
                self._op(
                    c.DRAIN,
                    end,
                    *self._flags(core, "fifo.free", fifo.name),
                    mode,
                    name=f"drain {fifo.name}",
                )
