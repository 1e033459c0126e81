"""Transfers between ranks: what a piece costs, and the capacities that are shared, first come first served."""

import math
from collections import defaultdict
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import simpy
from oracle_machine import Job, Ledger, Pipe
from oracle_prices import Price
from oracle_signals import Fault, Key, Turns

from cost_models import dma, link
from cost_models.platform import Platform
from cost_models.rounding import to_cycles
from cost_models.sharing import RESOURCES, capacity_bytes_per_cycle

Server = tuple[str | int, ...]
"""(resource, rank), or ("link", kind, direction, scope, rank or both ranks)."""

Draw = tuple[Server, float]
"""Bytes that are drawn from a server."""

UNITS_PER_CYCLE = 256


@dataclass(frozen=True)
class RemotePrice(Price):
    """The price of a transfer that may touch two ranks: it says itself what it draws."""

    draws: Sequence[Draw] = ()


class Servers:
    """When each server is free, in 1/256 of a cycle."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._free: defaultdict[Server, int] = defaultdict(int)

    def units(self, price: Price, rank: int) -> list[tuple[Server, int]]:
        """What an instruction of a core of `rank` draws, servers from which it draws something."""
        if isinstance(price, RemotePrice):
            draws = price.draws
        else:
            draws = [((name, rank), price.moved_bytes.get(name, 0)) for name in RESOURCES]
        units = [(server, math.ceil(UNITS_PER_CYCLE * float(b) / self._capacity(server))) for server, b in draws if b]
        return [(server, n) for server, n in units if n > 0]

    def serve(self, units: Sequence[tuple[Server, int]], start: int, duration: int) -> tuple[int, str]:
        """The end of a transfer, and the resource that is done last."""
        done = []
        for server, n in units:
            self._free[server] = max(self._free[server], UNITS_PER_CYCLE * start) + n
            done.append(-(-self._free[server] // UNITS_PER_CYCLE))
        last = done.index(max(done))
        return max(start + duration, done[last]), str(units[last][0][0])

    def _capacity(self, server: Server) -> float:
        if server[0] == "link":
            _, kind, direction, scope, *_ = map(str, server)
            return link.capacity_bytes_per_cycle(self._platform, kind, direction, scope)
        return capacity_bytes_per_cycle(self._platform, str(server[0]))


class SharedPipe(Pipe):
    """A pipe whose transfers are held up where others draw on the same capacity. `key` is its place among all pipes."""

    def __init__(
        self, world: simpy.Environment, name: str, ledger: Ledger, key: Key, turns: Turns, servers: Servers
    ) -> None:
        super().__init__(world, name, ledger)
        self._key = key
        self._turns = turns
        self._servers = servers

    def _end(self, job: Job, start: int) -> Generator[simpy.Event, Any, int]:
        duration = job.price.duration
        units = self._servers.units(job.price, rank=self._key[0])
        if not units:
            return start + duration
        served = self._world.event()
        self._turns.request(start, self._key, lambda: served.succeed(self._servers.serve(units, start, duration)))
        end, resource = yield served
        self._ledger.wait(f"{self.name.partition('.')[0]}.{resource}", end - start - duration)
        return int(end)


class Pieces:
    """Prices of what TPUT and TGET of one rank are made of."""

    def __init__(self, platform: Platform, rank: int, ranks_per_node: int) -> None:
        self._platform = platform
        self._rank = rank
        self._ranks_per_node = ranks_per_node or None

    def kind(self, peer: int, who: str) -> str | None:
        """The kind of link to a rank, None to itself."""
        if peer == self._rank:
            return None
        try:
            return link.kind_between(self._platform, self._rank, peer, self._ranks_per_node)
        except ValueError as error:
            raise Fault(f"{who}: {error}") from None

    def load(self, peer: int, kind: str | None, rows: int, cols: int, elem_bytes: int) -> RemotePrice:
        """GM of `peer` to UB, of the own rank where `kind` is None."""
        size, burst = rows * cols * elem_bytes, cols * elem_bytes
        if kind is None:
            return self._price(
                dma.transfer_cycles(self._platform, "gm_to_ub", size, burst),
                dma.latency_cycles(self._platform, "gm_to_ub"),
                self._read(self._rank, size),
            )
        return self._price(
            link.transfer_cycles(self._platform, kind, "get", size, burst),
            link.latency_cycles(self._platform, kind, "get"),
            [*self._read(peer, size), *self._crossing(kind, "get", peer, self._rank, size)],
        )

    def store(
        self, peer: int, kind: str | None, rows: int, cols: int, elem_bytes: int, *, atomic: bool = False
    ) -> RemotePrice:
        """UB to GM of `peer`, of the own rank where `kind` is None."""
        size, burst = rows * cols * elem_bytes, cols * elem_bytes
        if kind is None:
            return self._price(
                dma.transfer_cycles(self._platform, "ub_to_gm", size, burst),
                dma.latency_cycles(self._platform, "ub_to_gm"),
                self._written(self._rank, size),
            )
        return self._price(
            link.transfer_cycles(self._platform, kind, "put", size, burst, atomic=atomic),
            link.latency_cycles(self._platform, kind, "put"),
            [*self._written(peer, size), *self._crossing(kind, "put", self._rank, peer, size, atomic)],
        )

    def copy(self, direction: str, peer: int, kind: str, size: int, who: str) -> RemotePrice:
        """The whole of a tensor by the copy engine beside the cores."""
        try:
            cycles = link.transfer_cycles(self._platform, kind, direction, size, size, engine="sdma")
        except ValueError as error:
            raise Fault(f"{who}: {error}") from None
        if direction == "put":
            near, far = self._read(self._rank, size), self._written(peer, size)
            crossing = self._crossing(kind, "put", self._rank, peer, size)
        else:
            near, far = self._written(self._rank, size), self._read(peer, size)
            crossing = self._crossing(kind, "get", peer, self._rank, size)
        return self._price(cycles, 0.0, [*near, *far, *crossing])

    @staticmethod
    def _price(cycles: Any, latency: Any, draws: Sequence[Draw]) -> RemotePrice:
        return RemotePrice(int(to_cycles(cycles)), int(to_cycles(latency)), {}, draws)

    @staticmethod
    def _read(rank: int, size: int) -> list[Draw]:
        return [(("l2", rank), size), (("l2_read", rank), size)]

    @staticmethod
    def _written(rank: int, size: int) -> list[Draw]:
        return [(("l2", rank), size)]

    def _crossing(
        self, kind: str, direction: str, source: int, target: int, size: int, atomic: bool = False
    ) -> list[Draw]:
        """The link that data takes from rank to rank."""
        drawn = float(np.float64(link.drawn_bytes(self._platform, size, atomic)))
        scopes: Sequence[tuple[str, tuple[int, ...]]] = (
            ("out", (source,)),
            ("in", (target,)),
            ("pair", (source, target)),
        )
        return [(("link", kind, direction, scope, *ranks), drawn) for scope, ranks in scopes]
