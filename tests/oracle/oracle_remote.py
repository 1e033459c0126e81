"""TPUT and TGET of a core: pieces through staging tiles, or the whole by the copy engine beside the cores."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

import simpy
from oracle_flags import Link
from oracle_links import RemotePrice
from oracle_machine import Channel, Giving, Job, Ledger, Process, Taking, sleep_until
from oracle_notify import Machine, Place, SignalCore
from oracle_prices import Names, Price, Prices, number
from oracle_scalar import Timing
from oracle_signals import Fault
from oracle_slots import Touch

from pto_tune.model.communication import Staging, Tget, Tput, Transfer
from pto_tune.model.nodes import Node, Workload
from pto_tune.remote.rules import ELEMENT_BYTES
from pto_tune.remote.sliding import plan
from pto_tune.remote.staging import StagingTile
from pto_tune.remote.steps import BARRIER, SET_FLAG, TLOAD, TSTORE, WAIT_FLAG, Step, steps
from pto_tune.rule_sets import RuleSet


class RankCore(SignalCore):
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
        super().__init__(world, name, program, env, prices, timing, workload, links, rule_set, ledger, place, machine)
        self._staging = {s.name: _tile(s, env) for s in workload.staging if number(s.used, env) != 0}
        self._flags: dict[tuple[str, str, int], Channel] = {}
        self._held: dict[str, list[Taking]] = {}

    def _other(self, node: Node) -> Process:
        if isinstance(node, Tput | Tget):
            yield from self._transfer_call(node)
        else:
            yield from super()._other(node)

    def _transfer_call(self, node: Transfer) -> Process:
        op = "TPUT" if isinstance(node, Tput) else "TGET"
        what = f"{self._who}: {op}"
        if self.kind != "AIV" and not node.asynchronous:
            raise ValueError(f"{what}: only AIV has a UB to stage tiles in; use AIV or the asynchronous form")
        shape = [number(extent, self.env) for extent in node.shape]
        if 0 in shape:
            yield from self._hold(node.waits)
            if node.event:
                self._event(node.event).give().succeed(self.time)
            return
        peer = self._peer(number(node.peer, self._scope), what)
        kind = self._pieces.kind(peer, what)
        elem_bytes = ELEMENT_BYTES[node.elem]
        if node.asynchronous:
            if kind is None:
                raise Fault(f"{what}: an asynchronous transfer to rank {peer}, which is its own: expected another rank")
            direction = "put" if op == "TPUT" else "get"
            price = self._pieces.copy(direction, peer, kind, prod(shape) * elem_bytes, what)
            yield from self._remote("SDMA", f"{op}_ASYNC", price, node.waits, node.event)
            return

        tiles = [self._tile_name(node.tile, what)]
        if node.pong and number(node.use_pong, self.env) != 0:
            tiles.append(self._tile_name(node.pong, what))
        try:
            planned = plan(op, shape, *(self._staging[tile] for tile in tiles))
        except ValueError as error:
            raise Fault(f"{what}: {error}") from None
        self._staging.update(zip(tiles, planned.left, strict=True))
        program = [*steps(planned)]
        last = max(n for n, step in enumerate(program) if step.name == TSTORE)
        waits = node.waits
        for n, step in enumerate(program):
            match step.name:
                case "TLOAD":
                    price = self._pieces.load(peer, kind if op == "TGET" else None, step.rows, step.cols, elem_bytes)
                    yield from self._remote(step.pipe, TLOAD, price, waits, "")
                    waits = ()
                case "TSTORE":
                    atomic = node.atomic == "AtomicAdd"
                    price = self._pieces.store(
                        peer, kind if op == "TPUT" else None, step.rows, step.cols, elem_bytes, atomic=atomic
                    )
                    yield from self._remote(step.pipe, TSTORE, price, (), node.event if n == last else "")
                case _:
                    yield from self._synchronise(step)

    def _remote(self, pipe: str, name: str, price: RemotePrice, waits: Sequence[str], event: str) -> Process:
        """An instruction of a transfer."""
        yield from self._room(pipe, name)
        takes = [Taking(self._event(e).take(), f"{self.name}.{e}", f"the event {e}") for e in self._needed(waits)]
        gives = [Giving(self._event(event).give(), price.latency)] if event else []
        self._put(pipe, name, price, takes, gives, ())
        self.time += self._timing.issue
        yield sleep_until(self._world, self.time)

    def _synchronise(self, step: Step) -> Process:
        if step.name == BARRIER:
            yield from self._barrier()
            return
        key = (step.pipe, step.to, step.event)
        flag = self._flags.setdefault(key, Channel(self._world))
        if step.name == SET_FLAG:
            issued = self.pipes[step.pipe].issued
            self._world.process(self._raise_flag(issued[-1] if issued else None, flag.give()))
        elif step.name == WAIT_FLAG:
            what = f"flag {step.event} of {step.pipe}"
            self._held.setdefault(step.to, []).append(Taking(flag.take(), f"{self.name}.flags", what))

    def _raise_flag(self, last: Job | None, token: simpy.Event) -> Process:
        completed: int = 0 if last is None else (yield last.completed)
        token.succeed(completed)

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
        """Whatever is issued next on a pipe is held by the flags that the pipe was told to wait for."""
        super()._put(pipe, name, price, [*self._held.pop(pipe, []), *takes], gives, touches, busy)

    def _tile_name(self, name: str, what: str) -> str:
        if name not in self._staging:
            raise ValueError(f"{what}: no staging tile {name!r}; there is {', '.join(self._staging) or 'none'}")
        return name


def _tile(staging: Staging, env: Names) -> StagingTile:
    rows, cols = number(staging.rows, env), number(staging.cols, env)
    whole = StagingTile(
        rows, cols, rows, cols, number(staging.dynamic_rows, env) != 0, number(staging.dynamic_cols, env) != 0,
        staging.location, staging.block_layout, staging.fractal_layout,
    )  # fmt: skip
    return replace(
        whole,
        valid_rows=rows if staging.valid_rows is None else number(staging.valid_rows, env),
        valid_cols=cols if staging.valid_cols is None else number(staging.valid_cols, env),
    )
