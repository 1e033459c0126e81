"""Links between ranks: what reading or writing the memory of another rank costs, and which link joins two ranks.

A rank is one NPU die with its cores. `put` writes to the memory of another rank, `get` reads from it. The pipes of
a core do both with the instructions of local transfers (engine `core`); `sdma` is a copy engine beside the cores,
which the asynchronous forms of the communication instructions use.
"""

import numpy as np
from numpy.typing import ArrayLike

from cost_models.arrays import Floats, floats
from cost_models.keys import LINK_DIRECTIONS, LINK_KINDS
from cost_models.platform import Platform

KINDS = tuple(LINK_KINDS)
DIRECTIONS = LINK_DIRECTIONS
ENGINES = ("core", "sdma")
SCOPES = ("pair", "out", "in")

#: the local DMA path whose cost of a burst a direction shares
_LOCAL_PATH = {"put": "ub_to_gm", "get": "gm_to_ub"}

#: kinds by how near two ranks are: in a package, a node, a supernode, and beyond; None where nothing joins them
_TIERS: dict[str, tuple[str, str, str, str | None]] = {
    "a2a3": ("sio", "hccs", "supernode", "roce"),
    "a5": ("ub", "ub", "ub", None),
}


def kinds(platform: Platform) -> list[str]:
    """The kinds of link that `platform` has numbers for."""
    return [kind for kind in KINDS if f"link.{kind}.put.rate" in platform]


def engines(platform: Platform, kind: str) -> list[str]:
    """The engines that `platform` has numbers for on links of `kind`."""
    _check(platform, kind, "put")
    return [engine for engine in ENGINES if engine == "core" or f"link.{kind}.put.sdma_rate" in platform]


def kind_between(platform: Platform, rank_a: int, rank_b: int, ranks_per_node: int | None = None) -> str:
    """The kind of link that joins two ranks.

    Ranks (whole numbers from 0) fill packages, nodes and supernodes in order, `ranks_per_node` to a node (at least
    1; default: the platform's own number, a multiple of its ranks a package). The nearest level that both ranks
    share decides. On A2/A3 that is `sio` in a package (pairs of dies on Ascend 910C), `hccs` in a node, `supernode`
    in a supernode and `roce` beyond; on Ascend 950 it is `ub` throughout a supernode.

    Assumptions: inside each level every rank is joined to every other alike (a full mesh of 8 in a node of 910B).
    Source: the `topology` numbers of the platform. Raises ValueError for ranks out of range or equal, for a node that
    splits a package, and where the platform has no numbers for the link.
    """
    for name, rank in (("rank_a", rank_a), ("rank_b", rank_b)):
        if rank < 0:
            raise ValueError(f"{name} is {rank}; give a whole number of at least 0")
    if rank_a == rank_b:
        raise ValueError(f"rank_a and rank_b are both {rank_a}; give two different ranks")
    package = int(platform["topology.ranks_per_package"])
    node = int(platform["topology.ranks_per_node"]) if ranks_per_node is None else ranks_per_node
    if node < 1 or (node > package and node % package):
        raise ValueError(f"ranks_per_node is {node}; give a multiple of the {package} ranks of a package, or fewer")
    supernode = node * int(platform["topology.nodes_per_supernode"])
    level = 3
    for n, size in enumerate((min(package, node), node, supernode)):
        if rank_a // size == rank_b // size:
            level = n
            break
    kind = _TIERS[platform.family][level]
    if kind is None or kind not in kinds(platform):
        missing = "no link" if kind is None else f"no numbers for the link {kind!r}"
        raise ValueError(
            f"platform {platform.name!r} has {missing} between ranks {rank_a} and {rank_b} with {node} ranks a node; "
            f"place both ranks where one of {', '.join(kinds(platform))} joins them"
        )
    return kind


def transfer_cycles(
    platform: Platform,
    kind: str,
    direction: str,
    bytes_: ArrayLike,
    burst_bytes: ArrayLike,
    engine: str = "core",
    atomic: bool = False,
) -> Floats:
    """Cycles for which one operation on remote memory occupies its pipe or engine, alone on the link.

    Engine `core` is one DMA instruction, MTE3 for a put and MTE2 for a get: startup + factor x max(bursts x burst,
    bytes / rate), with bursts = ceil(bytes / burst_bytes) at the local cost of a burst and the factor of adding
    puts (`atomic`), 1 otherwise. Engine `sdma` is one copy between two memories from its issue until the core that
    waits for it goes on: start-up + bytes / rate. `bytes_` (at least 0) and `burst_bytes` (at least 1) broadcast;
    the result has their common shape.

    Assumptions: remote and local sides of an `sdma` copy overlap. Limits: what a link carries for several cores
    together is bounded by `capacity_bytes_per_cycle`; misaligned rows and contention inside one link are not
    modelled. Source: the `link` numbers of the platform; most of those for one core are assumed. Raises ValueError
    for unknown words, for a kind or an engine that the platform does not have, for sizes out of range, and for
    `atomic` with anything but a put of a core.
    """
    _check(platform, kind, direction)
    if engine not in engines(platform, kind):
        raise ValueError(f"link {kind!r} has no engine {engine!r}; choose one of {', '.join(engines(platform, kind))}")
    if atomic and (direction != "put" or engine != "core"):
        raise ValueError(
            f"a {direction} by engine {engine!r} can not add; give atomic with a put of engine 'core' only"
        )
    size = floats("bytes_", bytes_, least=0.0)
    bursts = np.ceil(size / floats("burst_bytes", burst_bytes))
    if engine == "sdma":
        start, rate = platform[_key(kind, direction, "sdma_startup")], platform[_key(kind, direction, "sdma_rate")]
        # bursts cost nothing here, but their shape counts
        return np.asarray(start + size / rate + 0.0 * bursts, dtype=np.float64)
    burst = platform[f"dma.{_LOCAL_PATH[direction]}.burst"]
    moved = np.maximum(bursts * burst, size / platform[_key(kind, direction, "rate")])
    factor = platform["link.atomic_factor"] if atomic else 1.0
    return np.asarray(platform[_key(kind, direction, "startup")] + factor * moved, dtype=np.float64)


def latency_cycles(platform: Platform, kind: str, direction: str) -> Floats:
    """Cycles from the end of an instruction on its pipe to its data being visible (a scalar).

    At the other rank for a put, in the local buffer for a get, whose way there and back is in it. The pipe is free
    for the next instruction meanwhile. A flag that waits for a put waits as long: that the acknowledgement
    takes no longer than the data is an assumption. Engine `sdma` has its latency in its start-up. Raises ValueError
    for an unknown kind or direction and for a kind that the platform does not have.
    """
    _check(platform, kind, direction)
    return np.asarray(platform[_key(kind, direction, "latency")], dtype=np.float64)


def capacity_bytes_per_cycle(platform: Platform, kind: str, direction: str, scope: str) -> float:
    """Bytes a cycle of the core clock that all cores and engines together move over links of `kind`.

    `pair`: from one rank to one other; `out`: out of one rank to all others; `in`: into one rank from all others.
    The words follow the data: a put leaves the rank that issues it, a get leaves the rank that is read. Puts of a
    rank and gets of its peer use the same wires but have capacities of their own, so what counts is the sum of
    the shares of each. Operations draw `drawn_bytes` on it. Assumption: capacity is a rate, shared without loss.
    Raises ValueError for unknown words and for a kind that the platform does not have.
    """
    _check(platform, kind, direction)
    if scope not in SCOPES:
        raise ValueError(f"unknown scope {scope!r}; choose one of {', '.join(SCOPES)}")
    return platform[_key(kind, direction, f"{scope}_capacity")]


def drawn_bytes(platform: Platform, bytes_: ArrayLike, atomic: bool = False) -> Floats:
    """Bytes of a link's capacity that moving `bytes_` (at least 0) uses, of the same shape: more for puts that add."""
    factor = platform["link.atomic_factor"] if atomic else 1.0
    return np.asarray(floats("bytes_", bytes_, least=0.0) * factor, dtype=np.float64)


def number_keys(platform: Platform, kind: str, direction: str, engine: str = "core") -> list[str]:
    """The keys of the numbers that an operation leans on, so that a result can say which of them are assumed."""
    _check(platform, kind, direction)
    if engine not in engines(platform, kind):
        raise ValueError(f"link {kind!r} has no engine {engine!r}; choose one of {', '.join(engines(platform, kind))}")
    own = ("startup", "rate", "latency") if engine == "core" else ("sdma_startup", "sdma_rate")
    parts = (*own, *(f"{scope}_capacity" for scope in SCOPES))
    return [_key(kind, direction, part) for part in parts]


def _key(kind: str, direction: str, part: str) -> str:
    return f"link.{kind}.{direction}.{part}"


def _check(platform: Platform, kind: str, direction: str) -> None:
    if kind not in kinds(platform):
        known = f"platform {platform.name!r} has no link" if kind in LINK_KINDS else "unknown link"
        raise ValueError(f"{known} {kind!r}; choose one of {', '.join(kinds(platform))}")
    if direction not in DIRECTIONS:
        raise ValueError(f"unknown direction {direction!r}; choose one of {', '.join(DIRECTIONS)}")
