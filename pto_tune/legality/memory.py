"""Memories: what fits into them, what pipes take of them, and alignment.

Capacities follow common/buffer_limits.hpp:31-117 of pto-isa. UB is what programs may use of it (`memory.ub_usable`),
less its top 8 KiB where the program uses an operation that writes the library's scratch there
(common/constants.hpp:29-30).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from pto_tune.legality.calls import PipeUse, fifos_with_tiles, pipe_uses
from pto_tune.legality.rules import RuleColumn, column, grid
from pto_tune.model.expr import evaluate, expr

# As a module, because the one of `remote.rules` that is imported first brings this one.
from pto_tune.remote import rules as remote
from pto_tune.remote.staging import MAX_EXTENT

if TYPE_CHECKING:
    from cost_models.platform import Platform
    from pto_tune.legality.rules import Ints
    from pto_tune.model.communication import Staging
    from pto_tune.model.nodes import Workload
    from pto_tune.rule_sets import RuleSet

MEMORIES = ("L1", "L0A", "L0B", "L0C", "UB")
_OF_CONSUMER = {"C2V": "UB", "V2C": "L1"}
_MOST_TILE = 2**40  # elements from which on it is of no interest how many more there are: they fit nowhere

Part = tuple[str, "Ints"]


def memory_parts(
    workload: Workload, memory: str, env: Mapping[str, Any], n: int, rule_set: RuleSet | None = None
) -> list[tuple[str, Ints]]:
    """Bytes of every buffer and ring in a memory of one core and of what pipes take there: (name, column of n).

    What pipes take depends on the rule set; without one it is left out. UB is that of one vector sub-core: the larger
    of the two where they differ.
    """
    uses: list[PipeUse] = []
    if rule_set is not None and memory in _OF_CONSUMER.values():
        tiles = fifos_with_tiles(workload)
        directions = {f.name: rule_set.direction_of(f.direction, f.gm_form) for f in workload.fifos}
        local = {name for name, d in directions.items() if d and any(w.ring != "GM" for w in d.ways.values())}
        uses = pipe_uses(workload, rule_set, env, n, tiles | local) if tiles | local else []
    return parts_of(workload, memory, uses, rule_set, env, n)


def parts_of(
    workload: Workload, memory: str, uses: list[PipeUse], rule_set: RuleSet | None, env: Mapping[str, Any], n: int
) -> list[tuple[str, Ints]]:
    """As `memory_parts`, with the pipes' calls at hand."""
    parts = [(b.name, column(evaluate(b.bytes * b.copies, env), n)) for b in workload.buffers if b.memory == memory]
    parts += [(r.name, column(evaluate(r.bytes * r.slots, env), n)) for r in workload.rings if r.memory == memory]
    if rule_set is not None:
        for use in uses:
            parts += _pipe_parts(use, memory, rule_set, env, n)
    if memory == "UB" and workload.staging:
        parts += _staging_parts(workload, parts, env, n)
    return parts


def staging_bytes(tile: Staging, env: Mapping[str, Any], n: int) -> Ints:
    """Bytes of a staging tile (n); 0 where a configuration has none."""
    import numpy as np

    rows, cols, used = (column(evaluate(e, env), n) for e in (tile.rows, tile.cols, tile.used))
    return np.where(used != 0, extent_bytes(tile, rows, cols), 0)


def extent_bytes(tile: Staging, rows: Ints, cols: Ints) -> Ints:
    """Bytes of so many rows and columns of a staging tile's elements, extents below 0 counting as 0; exact up to
    `_MOST_TILE` elements. ValueError for a type of elements that TSTORE does not move."""
    import numpy as np

    if tile.elem not in remote.ELEMENT_BYTES:
        known = ", ".join(remote.ELEMENT_BYTES)
        raise ValueError(f"staging tile {tile.name}: unknown element type {tile.elem!r}: choose one of {known}")
    rows, cols = (np.clip(extent, 0, MAX_EXTENT) for extent in (rows, cols))
    elements: Ints = np.minimum(rows * cols, _MOST_TILE)
    return elements * remote.ELEMENT_BYTES[tile.elem]


def _staging_parts(workload: Workload, others: list[Part], env: Mapping[str, Any], n: int) -> Iterator[Part]:
    """Staging tiles, each by its name, and what stays free below those with a place of their own.

    UB needs the sum of everything in it, and at least as much as the last placed tile ends at: automatic places fill
    the gaps first. The gap that is left is a part too, so that parts add up to what is needed.
    """
    import numpy as np

    total: Ints = np.sum([size for _, size in others], axis=0, initial=0, dtype=np.int64) + np.zeros(n, dtype=np.int64)
    end = np.zeros(n, dtype=np.int64)
    for tile in workload.staging:
        size = staging_bytes(tile, env, n)
        yield tile.name, size
        total = total + size
        if tile.offset_bytes is not None:
            last = column(evaluate(tile.offset_bytes, env), n) + size
            end = np.maximum(end, np.where(size > 0, last, 0))
    if any(tile.offset_bytes is not None for tile in workload.staging):
        yield "gap below placed staging tiles", np.maximum(end - total, 0)


def _pipe_parts(use: PipeUse, memory: str, rule_set: RuleSet, env: Mapping[str, Any], n: int) -> Iterator[Part]:
    """What a pipe takes of the consumer's memory.

    Ring in UB or L1: SlotNum slots of SlotSize (npu/a5/TPush.hpp:210-211, 252-265, 569-571). Ring in GM whose tiles are
    popped: LocalSlotNum slots, strided by SlotSize on A2/A3 (npu/a2a3/TPush.hpp:428-431, 450-453) and by the popped
    tile on 950 (npu/a5/TPush.hpp:618-620, 637-639). A TMPipe with LocalFiFoDepth 0 has none: the kernel binds the tile.
    """
    import numpy as np

    f = use.fifo
    for way in use.ways:
        if _OF_CONSUMER[way] != memory:
            continue
        active = [s.active.any(axis=0) for s in use.sites if s.way == way]
        if use.ring(way) != "GM":
            if active:
                size = column(evaluate(f.slot_bytes * f.slot_num, env), n)
                yield f"{f.track(way)} ring", np.where(np.logical_or.reduce(active), size, 0)
            continue
        largest = np.zeros(n, dtype=np.int64)
        pops = use.tiles(way, producer=False)
        slot = grid(evaluate(f.slot_bytes, env), n)
        for end in (e for site in pops for e in site.ends):
            one = slot if rule_set.local_stride == "slot" else end.bytes
            largest = np.maximum(largest, np.where(end.active, one, 0).max(axis=0))
        if pops:
            yield f"{f.track(way)} local slots", largest * np.maximum(column(evaluate(f.local_slot_num, env), n), 0)


def gm_ring_bytes(workload: Workload, rule_set: RuleSet, env: Mapping[str, Any], n: int) -> Ints:
    """Bytes in GM of all rings of one block (one AIC with its sub-cores): SlotNum slots of SlotSize for every ring,
    two rings for a pipe that goes both ways; none where the ring lies in UB or L1, or the pipe is not used."""
    import numpy as np

    total = np.zeros(n, dtype=np.int64)
    for f in workload.fifos:
        direction = rule_set.direction_of(f.direction, f.gm_form)
        rings = sum(w.ring == "GM" for w in direction.ways.values()) if direction is not None else 0
        if rings:
            size = column(evaluate(f.slot_bytes * f.slot_num, env), n)
            total += np.where(column(evaluate(f.used, env), n) != 0, rings * size, 0)
    return total


def capacity_rules(
    workload: Workload, platform: Platform, rule_set: RuleSet, uses: list[PipeUse], env: Mapping[str, Any], n: int
) -> Iterator[RuleColumn]:
    """Everything in a memory together must fit into it; the sentence names the three largest."""
    import numpy as np

    for memory in MEMORIES:
        parts = parts_of(workload, memory, uses, rule_set, env, n)
        if not parts:
            continue
        limit, note = memory_limit(workload, platform, memory)
        total: Ints = np.sum([size for _, size in parts], axis=0)
        has = f"{limit}{note}"
        yield RuleColumn(f"capacity-{memory}", total > limit, partial(_capacity_sentence, memory, parts, total, has))


def memory_limit(workload: Workload, platform: Platform, memory: str) -> tuple[int, str]:
    """Bytes of a memory that a workload may use, and what a sentence adds to that."""
    if memory != "UB":
        return int(platform[f"memory.{memory.lower()}"]), ""
    usable = int(platform["memory.ub_usable" if "memory.ub_usable" in platform else "memory.ub"])
    scratch = int(platform["memory.ub_scratch_top"]) if workload.uses_ub_scratch else 0
    return usable - scratch, f" (the top {scratch} are the library's scratch)" if scratch else ""


def _capacity_sentence(memory: str, parts: list[tuple[str, Ints]], total: Ints, has: str, i: int) -> str:
    top = sorted(((int(s[i]), name) for name, s in parts if s[i] > 0), reverse=True)[:3]
    largest = ", ".join(f"{name} {size}" for size, name in top)
    return f"{memory} needs {int(total[i])} bytes and has {has}; largest: {largest}"


def alignment_rules(workload: Workload, platform: Platform, env: Mapping[str, Any], n: int) -> Iterator[RuleColumn]:
    """Buffers and slots in steps of 32 bytes (common/buffer_limits.hpp); the library checks compile-time addresses
    alone (common/tassign_check.hpp:175-178)."""
    align = int(platform["memory.align"])
    items = [("buffer", b.name, b.bytes, expr(1)) for b in workload.buffers]
    items += [("FIFO slot", f.name, f.slot_bytes, f.used) for f in workload.fifos]
    for kind, name, bytes_, used in items:
        size = column(evaluate(bytes_, env), n)
        broken = (size % align != 0) & (column(evaluate(used, env), n) != 0)
        yield RuleColumn(f"align-{name}", broken, partial(_alignment_sentence, f"{kind} {name}", size, align))


def _alignment_sentence(what: str, size: Ints, align: int, i: int) -> str:
    return (
        f"{what}: {int(size[i])} bytes are not a multiple of {align}; "
        f"nearest legal: {-(-int(size[i]) // align) * align}"
    )
