"""Rules of a pipe as it is declared: direction, slots, flag ids, GM buffer, and the calls that it has at all.

They hold where a configuration uses the pipe and some program calls it. Places in the headers are those of pto-isa.
A SyncPeriod above SlotNum is no rule: the k-th wait stands at a tile k * SyncPeriod (or later) and needs the k-th
credit, which follows the pop of tile k * SyncPeriod - 1, so the producer never waits for a tile that it has still to
give. What happens is that slots are overwritten, and that the executor finds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any

from pto_tune.legality.calls import PipeUse, Site, some
from pto_tune.legality.rules import Case, RuleColumn, at, column, grid, rule
from pto_tune.model.expr import evaluate
from pto_tune.model.nodes import NO_SPLIT, Talloc, Tpush

if TYPE_CHECKING:
    from cost_models.platform import Platform
    from pto_tune.legality.rules import Bools, Ints
    from pto_tune.rule_sets import RuleSet

TMPIPE_DEPTH = 255
"""FiFoDepth is a template argument of type uint8_t (npu/a2a3/TPush.hpp:912-928)."""


def pipe_rules(
    uses: list[PipeUse], platform: Platform, rule_set: RuleSet, env: Mapping[str, Any], n: int
) -> Iterator[RuleColumn]:
    """All rules of this module, pipe by pipe."""
    for use in uses:
        yield from _direction(use, rule_set)
        yield _slot_num(use, env, n)
        yield _slot_size(use, platform, env, n)
        yield _flag_id(use, rule_set)
        if use.possible:
            yield _gm_bytes(use, env, n)
            yield from _global_data(use, rule_set, n)
    for a, b in combinations(uses, 2):
        yield from _shared_flags(a, b)


def _name(use: PipeUse) -> str:
    return f"FIFO {use.fifo.name}"


def _fixed(text: str) -> Any:
    """A sentence that is the same for every row."""
    return lambda *_: text


def _direction(use: PipeUse, rule_set: RuleSet) -> Iterator[RuleColumn]:
    """The direction has to exist on the family: A2/A3 have C2V, V2C, BOTH and V2C_CTRL (npu/a2a3/TPush.hpp:33-35),
    DIR_*_GM need PTO_NPU_ARCH_A5 (common/fifo.hpp:31-35). The library has to be able to instantiate it (V2C_CTRL: the
    rule set has the reason). A TMPipe goes one way (its static_assert in TPush.hpp of either family)."""
    f = use.fifo
    text = ""
    if use.direction is None:
        here = f.direction.removesuffix("_GM")
        nearest = f"; nearest: DIR_{here}" if here in rule_set.directions else ""
        where = "exists on Ascend 950 alone" if here != f.direction else "does not exist on this platform"
        text = f"{_name(use)}: DIR_{f.direction} {where}{nearest}"
    elif use.direction.refused:
        why = f"though the page of TPUSH lists it: {use.direction.refused}"
        text = f"{_name(use)}: DIR_{f.direction} cannot be used, {why}; nearest: DIR_V2C"
    elif f.kind == "TMPipe" and len(f.flows) > 1:
        text = f"{_name(use)}: a TMPipe goes one way, not DIR_{f.direction}; nearest: a TPipe, or two TMPipes"
    if text:
        yield RuleColumn(f"{f.name}-direction", use.used, _fixed(text))


def _slot_num(use: PipeUse, env: Mapping[str, Any], n: int) -> RuleColumn:
    """SlotNum >= 1 (npu/a2a3/TPush.hpp:41-42; 950 does not check and takes a remainder by 0, npu/a5/TPush.hpp:37, 61).
    FiFoDepth of a TMPipe is a uint8."""
    slots = column(evaluate(use.fifo.slot_num, env), n)
    broken = slots < 1
    if use.fifo.kind == "TMPipe":
        broken = broken | (slots > TMPIPE_DEPTH)

    def sentence(i: int) -> str:
        if slots[i] < 1:
            return f"{_name(use)}: FifoDepth {int(slots[i])} is below 1; nearest legal: 1"
        value = int(slots[i])
        return f"{_name(use)}: FiFoDepth {value} of a TMPipe is above {TMPIPE_DEPTH}; nearest legal: {TMPIPE_DEPTH}"

    return RuleColumn(f"{use.fifo.name}-slot-num", broken & use.used, sentence)


def whole_tile_bytes(site: Site) -> Ints:
    """Bytes in the slot of the whole logical tile that a TileData call stores or loads, as a grid: the parts of both
    sub-cores together where it has a split."""
    import numpy as np

    parts = [np.where(e.active, e.bytes, 0) for e in site.ends]
    largest: Ints = np.maximum.reduce(np.broadcast_arrays(*parts))
    if len(parts) == 1:
        return largest
    return np.where(site.ends[0].split == NO_SPLIT, largest, parts[0] + parts[1])


def _slot_size(use: PipeUse, platform: Platform, env: Mapping[str, Any], n: int) -> RuleColumn:
    """SlotSize holds a logical entry: `tile_bytes` (GlobalData) and every whole tile that is pushed. The page of TPUSH
    asks for it (docs/isa/TPUSH.md, FIFO slot); no header checks it. A pipe with `part_slots` only needs room for a half
    in UB, where each sub-core has its part at the slot's start (npu/a5/TPush.hpp:210-235)."""
    import numpy as np

    f = use.fifo
    size, entry = grid(evaluate(f.slot_bytes, env), n), grid(evaluate(f.tile_bytes, env), n)
    align = int(platform["memory.align"])

    def sentence(tile: Ints, block: int, i: int) -> str:
        needed = -(-at(tile, block, i) // align) * align
        return (
            f"{_name(use)}: a slot of {at(size, block, i)} bytes cannot hold a tile of {at(tile, block, i)}; "
            f"nearest legal: {needed}"
        )

    def needed_of(site: Site) -> Ints:
        whole = whole_tile_bytes(site)
        halves = f.part_slots and use.possible and use.ring(site.way) == "UB"
        return np.where(site.ends[0].split != NO_SPLIT, -(-whole // 2), whole) if halves else whole

    pushed = [needed_of(s) for s in use.sites if s.producer and s.tile is not None]
    cases = [Case((size < tile) & use.used, partial(sentence, tile)) for tile in (entry, *pushed)]
    return rule(f"{f.name}-slot-size", n, cases)


def _flag_ids(use: PipeUse) -> range:
    count = use.direction.flag_ids if use.direction is not None else 2 * len(use.fifo.flows)
    return range(use.fifo.flag_id, use.fifo.flag_id + count)


def _flag_id(use: PipeUse, rule_set: RuleSet) -> RuleColumn:
    """All flag ids of a pipe are below 16: FlagID + 1 (npu/a2a3/TPush.hpp:43-44, npu/a5/TPush.hpp:46-47), and
    FlagID + 3 where it goes both ways (npu/a2a3/TPush.hpp:135-138, npu/a5/TPush.hpp:141-144)."""
    import numpy as np

    ids = _flag_ids(use)
    listed = f"{ids[0]} and {ids[1]}" if len(ids) == 2 else f"{ids[0]} to {ids[-1]}"
    nearest = min(max(ids[0], 0), rule_set.flag_ids - len(ids))
    text = (
        f"{_name(use)}: flag ids {listed} are not below {rule_set.flag_ids}; nearest legal FlagID: {nearest}"
        if ids[0] >= 0
        else f"{_name(use)}: FlagID {ids[0]} is below 0; nearest legal FlagID: {nearest}"
    )
    outside = ids[-1] >= rule_set.flag_ids or ids[0] < 0
    broken = use.used if outside else np.zeros_like(use.used)
    return RuleColumn(f"{use.fifo.name}-flag-id", broken, _fixed(text))


def _shared_flags(a: PipeUse, b: PipeUse) -> Iterator[RuleColumn]:
    """Two pipes of one kernel need flag ids of their own: there is one counter for each id."""
    shared = sorted(set(_flag_ids(a)) & set(_flag_ids(b)))
    if shared:
        ids = f"flag id {shared[0]}" if len(shared) == 1 else f"flag ids {shared[0]} to {shared[-1]}"
        text = (
            f"FIFOs {a.fifo.name} and {b.fifo.name} share {ids}; "
            f"nearest legal FlagID of {b.fifo.name}: {_flag_ids(a)[-1] + 1}"
        )
        yield RuleColumn(f"{a.fifo.name}-flags-of-{b.fifo.name}", a.used & b.used, _fixed(text))


def _gm_bytes(use: PipeUse, env: Mapping[str, Any], n: int) -> RuleColumn:
    """What the kernel gives for rings in GM holds them: SlotNum x SlotSize, twice for a pipe that goes both ways
    (npu/a2a3/TPush.hpp:492-500)."""
    f = use.fifo
    rings = sum(use.ring(way) == "GM" for way in use.ways)
    given = column(evaluate(f.gm_bytes, env), n)
    needed = rings * column(evaluate(f.slot_num * f.slot_bytes, env), n)
    formula = "2 x SlotNum x SlotSize" if rings == 2 else "SlotNum x SlotSize"

    def sentence(i: int) -> str:
        return (
            f"{_name(use)}: the GM buffer has {int(given[i])} bytes and needs {formula} = {int(needed[i])}; "
            f"nearest legal: {int(needed[i])}"
        )

    return RuleColumn(f"{f.name}-gm-bytes", (given > 0) & (given < needed) & use.used, sentence)


def _global_data(use: PipeUse, rule_set: RuleSet, n: int) -> Iterator[RuleColumn]:
    """GlobalData calls need a ring in GM: on 950 the DIR_*_GM forms (npu/a5/TAlloc.hpp:41-43, TPush.hpp:763-765,
    TPop.hpp:91-93, TFree.hpp:37-39). TPUSH(GlobalData) commits a slot that TALLOC gave (docs/isa/TPUSH.md)."""
    f, d = use.fifo, use.direction
    assert d is not None
    calls = [s for s in use.sites if not s.tile_data]
    if calls and not d.global_data:
        gm_form = f"DIR_{d.name}_GM"
        page = " (docs/isa/TPUSH.md and TFREE.md name no such limit)"
        nearest = f"{page}; nearest: {gm_form}" if gm_form.removeprefix("DIR_") in rule_set.directions else ""
        cases = [
            Case(s.active, _fixed(f"{_name(use)}: DIR_{d.name} has no {s.word} with GlobalData{nearest}"))
            for s in calls
        ]
        yield rule(f"{f.name}-global-data", n, cases)
    cases = []
    for way in use.ways:
        pushes = [s for s in calls if s.way == way and isinstance(s.node, Tpush)]
        for k in range(len(pushes[0].ends) if pushes else 0):
            pushed = some(s.ends[k].active for s in pushes)
            core = pushes[0].ends[k].core
            text = f"{_name(use)}: {core} calls TPUSH with GlobalData and never TALLOC, which gives the slot"
            cases.append(Case(pushed & ~_allocated(use, way, k), _fixed(text)))
    if cases:
        yield rule(f"{f.name}-talloc", n, cases)


def _allocated(use: PipeUse, way: str, k: int) -> Bools:
    """Where sub-core k (or AIC) calls TALLOC in a way."""
    import numpy as np

    allocs = [s.ends[k].active for s in use.sites if s.way == way and isinstance(s.node, Talloc)]
    return some([np.zeros((1, use.used.shape[0]), dtype=bool), *allocs])
