"""Bulk copies between two ranks by a host library: many blocks in flight, no core takes part.

A library (HIXL) copies a buffer block by block from the memory of one rank to that of another one, device (HBM) or
host memory on either side. A transport is the way in which it posts blocks: `hixl_cs` and `domain` are its two
interfaces, client-server and communication domain; `fabric_aicpu` and `fabric_streams` map the memory of a supernode,
and let the AICPU or the host, with four streams, unfold the blocks. Blocks are posted one after the other while earlier
ones move, so that the slower of the two counts.
"""

import numpy as np
from numpy.typing import ArrayLike

from cost_models.arrays import Floats, floats
from cost_models.keys import BULK_DIRECTIONS, BULK_LINKS, BULK_TRANSPORTS, bulk_rate_part
from cost_models.platform import Platform

LINKS = tuple(BULK_LINKS)
TRANSPORTS = tuple(BULK_TRANSPORTS)
DIRECTIONS = BULK_DIRECTIONS
"""What the rank that asks does: d2rh writes from its device memory (d) to the other rank's host memory (rh), rh2d reads
the other way; the side without r is its own."""


def has(platform: Platform, link: str, transport: str, direction: str) -> bool:
    """Whether `platform` has the numbers of a transport over a link in a direction. ValueError for unknown words."""
    _check(link, transport, direction)
    return f"bulk.{link}.{transport}.interval" in platform and _rate_key(link, direction) in platform


def block_cycles(platform: Platform, link: str, transport: str, direction: str, bytes_: ArrayLike) -> Floats:
    """Cycles from one block to the next while many of `bytes_` (at least 0) each are under way, of its shape.

    max(interval, startup + bytes / rate): a block is posted an `interval` after the one before, which is longer by
    `near_host` where the own side is host memory and by `far_host` where the other one is, if there are such numbers;
    moving it takes a start-up and its bytes at the rate of the way. Between two device memories and over RoCE that is
    the `pair_capacity` of the link; with host memory in a node or a supernode it is a number of its own, the same for
    all transports.

    Assumptions: blocks of one size, enough of them to hide the first and the last; one pair of ranks, an idle link;
    host memory is the same on all servers. Limits: there is no smooth passage from one bound to the other (times up to
    43 % too low around it); over RoCE the domain of Ascend 910C posts blocks of 16 KiB 2 to 4 times faster than larger
    ones, and on 910B host memory is up to 30 % slower than device memory, neither of which is modelled. Source: the
    `bulk` numbers of the platform, fitted to hicann/hixl benchmarks/performance_en.md: all transports and directions
    with blocks of 16 KiB (32 KiB by that domain), 256 KiB and 2 MiB. Raises ValueError for unknown words, for sizes out
    of range, and where the platform does not have the numbers.
    """
    if not has(platform, link, transport, direction):
        raise ValueError(missing(platform, link, transport, direction))
    size = floats("bytes_", bytes_, least=0.0)
    prefix = f"bulk.{link}.{transport}"
    interval = platform[f"{prefix}.interval"]
    for side, memory in zip(("near_host", "far_host"), _memories(direction), strict=True):
        if memory == "h" and f"{prefix}.{side}" in platform:
            interval += platform[f"{prefix}.{side}"]
    moved = platform[f"{prefix}.startup"] + size / platform[_rate_key(link, direction)]
    return np.asarray(np.maximum(interval, moved), dtype=np.float64)


def missing(platform: Platform, link: str, transport: str, direction: str) -> str:
    """The sentence that says that a platform has no such numbers, and which transports it has for the direction."""
    known = [
        f"{other} over {way}" for way in LINKS for other in TRANSPORTS if has(platform, way, other, direction)
    ]  # fmt: skip
    choice = f"choose one of {', '.join(known)}" if known else "choose another platform or direction"
    return f"platform {platform.name!r} has no numbers for {direction} by {transport} over {link}: {choice}"


def _memories(direction: str) -> tuple[str, str]:
    """Memory of the rank that asks and of the other one: d or h."""
    read = direction.startswith("r")
    return (direction[-1], direction[1]) if read else (direction[0], direction[-1])


def _rate_key(link: str, direction: str) -> str:
    if link == "roce" or "h" not in direction:
        return f"link.{link}.{'get' if direction.startswith('r') else 'put'}.pair_capacity"
    return f"bulk.{link}.{bulk_rate_part(direction)}"


def _check(link: str, transport: str, direction: str) -> None:
    for what, word, known in (
        ("link", link, LINKS), ("transport", transport, TRANSPORTS), ("direction", direction, DIRECTIONS)
    ):  # fmt: skip
        if word not in known:
            raise ValueError(f"unknown {what} {word!r}; choose one of {', '.join(known)}")
