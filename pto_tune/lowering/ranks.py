"""Workloads with ranks -> `Code`: what `compile` makes of pipes and buffers, and the operations between ranks."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from pto_tune.lowering import code as c
from pto_tune.lowering.compile import Compiler, LoweringError
from pto_tune.model.communication import (
    COMPARISONS,
    NOTIFY_OPS,
    Barrier,
    Let,
    Post,
    Tget,
    Tnotify,
    Tput,
    Transfer,
    Ttest,
    Twait,
)
from pto_tune.model.expr import Expr, expr, names_in
from pto_tune.model.nodes import PIPES, Instr, Loop, Node, Talloc, Tfree, Tpop, Tpush, While, Workload, walk
from pto_tune.rule_sets import RuleSet

SDMA = "SDMA"
"""The copy engine beside the cores, as a queue of the core that uses it."""

CORE_WAITS = ("flags", "l2", "l2_read", "hbm", "link", "barrier")
"""What a core may wait for beside its channels: flags of a remote transfer, shared capacities, barriers."""

_GM_PATHS = ("ub_to_gm",)


def lower_ranks(workload: Workload, rule_set: RuleSet) -> c.Code:
    """Compile the programs of a workload with ranks. LoweringError names what is wrong and where."""
    return RankCompiler(workload, rule_set).run()


@dataclass
class RankCompiler(Compiler):
    """`Compiler` with variables, signals and remote transfers."""

    bytecode: list[tuple[int, int]] = field(default_factory=list)
    programs: dict[tuple[Expr, str, int], int] = field(default_factory=dict)
    scalars: dict[tuple[Expr, int], int] = field(default_factory=dict)
    variables: dict[tuple[str, str], int] = field(default_factory=dict)
    signal_calls: list[tuple[int, ...]] = field(default_factory=list)
    views: list[tuple[int, int]] = field(default_factory=list)
    transfers: list[c.TransferCall] = field(default_factory=list)
    writers: set[int] = field(default_factory=set)

    def run(self) -> c.Code:
        import numpy as np

        self.signal_names = [s.name for s in self.workload.signals]
        self.tile_names = [s.name for s in self.workload.staging]
        code = super().run()
        core_pipe = np.searchsorted(code.pipe_core, np.arange(len(code.cores) + 1)).astype(np.int64)
        most = int(code.most_parts)
        for i, op in enumerate(self.ops):
            if op[0] == c.TRANSFER:
                most = max(most, op[2] - i - 1)
        writes = np.zeros(len(self.ops), dtype=np.int64)
        writes[sorted(self.writers)] = 1
        ranks = c.RankCode(
            bytecode=np.array(self.bytecode or [(c.BC_END, 0)], dtype=np.int64),
            scalars=tuple(self.scalars),
            variables=tuple(f"{core}.{name}" for core, name in self.variables),
            signal_calls=np.array(self.signal_calls, dtype=np.int64).reshape(-1, 10),
            views=np.array(self.views, dtype=np.int64).reshape(-1, 2),
            transfers=tuple(self.transfers),
            core_pipe=core_pipe,
            writes_gm=writes,
        )
        core_waits = [f"{core}.{what}" for core in code.cores for what in CORE_WAITS]
        signals = [f"signal.{name}" for name in self.signal_names]
        return replace(code, ranks=ranks, most_parts=most, wait_names=(*code.wait_names, *core_waits, *signals))

    def pipes_of(self, core: str) -> tuple[str, ...]:
        kind = core[:3]
        nodes = [n for k, body in self.workload.programs if k == kind for n in walk(body)]
        sdma = any(isinstance(n, Tput | Tget) and n.asynchronous for n in nodes)
        return (*PIPES[kind], SDMA) if sdma else PIPES[kind]

    # expressions

    def program(self, core: str, sub: int, e: Expr) -> int:
        """The start of the bytecode of an expression of a core's program."""
        key = (e, core, sub)
        if key not in self.programs:
            rows: list[tuple[int, int]] = []
            self._emit(core, sub, e, rows)
            self.programs[key] = len(self.bytecode)
            self.bytecode += [*rows, (c.BC_END, 0)]
        return self.programs[key]

    def _emit(self, core: str, sub: int, e: Expr, rows: list[tuple[int, int]]) -> None:
        if e.op == "int":
            rows.append((c.BC_CONSTANT, int(e.args[0])))
        elif e.op == "name" and (core, e.args[0]) in self.variables:
            rows.append((c.BC_VARIABLE, self.variables[core, e.args[0]]))
        elif not any((core, name) in self.variables for name in names_in(e)):
            rows.append((c.BC_SCALAR, self.scalars.setdefault((e, sub), len(self.scalars))))
        else:
            for a in e.args:
                self._emit(core, sub, a, rows)
            rows.append((4 + c.BC_OPERATORS.index(e.op), 0))

    def _variable(self, core: str, name: str) -> int:
        return self.variables.setdefault((core, name), len(self.variables))

    def _declare(self, core: str, body: tuple[Node, ...]) -> None:
        """Number the variables of a program before any expression is compiled."""
        for node in body:
            match node:
                case Loop():
                    if node.index:
                        self._variable(core, node.index)
                    self._declare(core, node.body)
                case While():
                    self._declare(core, node.body)
                case Let():
                    self._variable(core, node.name)
                case Ttest():
                    self._variable(core, node.into)

    # programs

    def _body(self, core: str, sub: int, body: tuple[Node, ...], top: bool = False) -> None:
        if top:
            self._declare(core, body)
        for node in body:
            match node:
                case Loop():
                    var = self._variable(core, node.index) if node.index else -1
                    at = self.op(c.COUNTED, self.program(core, sub, node.trips), -1, var)
                    self._body(core, sub, node.body)
                    self.op(c.AGAIN, at)
                    self.close(at)
                case While():
                    at = self.op(
                        c.WHILE, self.program(core, sub, node.condition), -1, self.program(core, sub, node.most)
                    )
                    self._body(core, sub, node.body)
                    self.op(c.JUMP, at)
                    self.close(at)
                case Let():
                    self.op(c.LET, self._variable(core, node.name), self.program(core, sub, node.value))
                case Barrier():
                    self._barriers(core, node)
                case Tnotify() | Post() | Twait() | Ttest():
                    self._signal(core, sub, node)
                case Tput() | Tget():
                    self._transfer(core, sub, node)
                case Instr():
                    first = len(self.ops)
                    self.instruction(core, sub, node)
                    if any(
                        cost.model == "drain" or (cost.model == "dma" and dict(cost.args)["path"] in _GM_PATHS)
                        for cost in node.costs
                    ):
                        self.writers.add(first)
                case Talloc() | Tpush() | Tpop() | Tfree():
                    self.calls.call(core, sub, node)

    def _barriers(self, core: str, node: Barrier) -> None:
        mine = [i for i, p in enumerate(self.pipes) if p.rpartition(".")[0] == core]
        if not node.pipes:
            self.op(c.BARRIER, mine[0], mine[-1], 1, name="pipe_barrier")
        for pipe in node.pipes:
            p = self.pipe(core, pipe)
            self.op(c.BARRIER, p, p, 0, name="wait_flag")

    def _signal(self, core: str, sub: int, node: Tnotify | Post | Twait | Ttest) -> None:
        for event in getattr(node, "waits", ()):
            if (core, event) not in self.calls.always:
                self.op(c.TAKE, self._event(core, event), name=type(node).__name__.upper())
        try:
            signal = self.signal_names.index(node.signal)
        except ValueError:
            known = ", ".join(self.signal_names)
            raise LoweringError(f"{core} uses a signal {node.signal!r}: there is {known or 'none'}") from None
        at, value = self.program(core, sub, node.at), self.program(core, sub, node.value)
        peer, kind, announces, first, dims = -1, 0, 0, len(self.views), 0
        if isinstance(node, Twait | Ttest):
            kind = COMPARISONS.index(node.cmp)
            self.views += [tuple(self.program(core, sub, e) for e in pair) for pair in node.view]  # type: ignore[misc]
            dims = len(node.view)
        else:
            kind, announces = NOTIFY_OPS.index(node.op), int(node.announces)
            if isinstance(node, Tnotify):
                peer = self.program(core, sub, node.peer)
        row, notifies = len(self.signal_calls), int(isinstance(node, Tnotify))
        self.signal_calls.append(
            (signal, at, value, peer, kind, announces, first, dims, notifies, self.cores.index(core))
        )
        match node:
            case Tnotify():
                self.op(c.NOTIFY, row, name="TNOTIFY")
                self._barriers(core, Barrier())
            case Post():
                self.op(c.POST, row, name="POST")
            case Twait():
                self.op(c.WAIT, row, name="TWAIT")
            case Ttest():
                self.op(c.TEST, row, self._variable(core, node.into), name="TTEST")

    def _transfer(self, core: str, sub: int, node: Transfer) -> None:
        name = type(node).__name__.upper() + ("_ASYNC" if node.asynchronous else "")
        tiles = [-1, -1]
        for k, tile in enumerate((node.tile, node.pong)):
            if tile and not node.asynchronous:
                if tile not in self.tile_names:
                    known = ", ".join(self.tile_names)
                    raise LoweringError(f"{name} goes through a staging tile {tile!r}: there is {known or 'none'}")
                tiles[k] = self.tile_names.index(tile)
        loads, stores = (SDMA, SDMA) if node.asynchronous else ("MTE2", "MTE3")
        self.transfers.append(
            c.TransferCall(
                node, self.cores.index(core), sub, self.program(core, sub, node.peer), tiles[0], tiles[1],
                self.pipe(core, loads), self.pipe(core, stores),
            )
        )  # fmt: skip
        at = self.op(c.TRANSFER, len(self.transfers) - 1, name=name)
        for event in node.waits:
            if (core, event) not in self.calls.always:
                self.op(c.POP, self._event(core, event), name=name)
        if node.event:
            self.op(c.PUSH, self._event(core, node.event), name=name)
        self.close(at)


def without_ranks(workload: Workload) -> Workload:
    """The programs of one block by themselves: remote calls left out, for what only its own pipes decide."""

    def strip(body: tuple[Node, ...]) -> tuple[Node, ...]:
        out: list[Node] = []
        for node in body:
            match node:
                case Loop():
                    out.append(replace(node, body=strip(node.body), index="", steady=False))
                case While():
                    out.append(Loop(node.most, strip(node.body)))
                case Tput() | Tget() | Tnotify() | Post() | Twait() | Ttest() | Barrier() | Let():
                    pass
                case _:
                    out.append(node)
        return tuple(out)

    return replace(
        workload,
        programs=tuple((core, strip(body)) for core, body in workload.programs),
        ranks=expr(0),
        signals=(),
        staging=(),
    )
