"""Rules of the TileData calls: tile types, the TConfig and simplified overloads, splits, and what 950 asks of rings in
UB and L1. Places in the headers are those of pto-isa; they hold for the calls that a configuration makes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, Any

from pto_tune.legality.calls import End, PipeUse, Site
from pto_tune.legality.rules import Case, RuleColumn, Sentence, at, grid, rule
from pto_tune.legality.shapes import DRAIN_COLS, DRAIN_ROWS
from pto_tune.model import fixpipe
from pto_tune.model.expr import evaluate
from pto_tune.model.nodes import LEFT_RIGHT, LEFT_RIGHT_ODD, SPLITS, UP_DOWN, UP_DOWN_ODD, TConfig

if TYPE_CHECKING:
    from pto_tune.legality.rules import Bools, Ints
    from pto_tune.rule_sets import RuleSet

KINDS = {("AIC", True): "Acc", ("AIV", True): "Vec", ("AIV", False): "Vec", ("AIC", False): "Mat"}
"""Type of the tile that a core pushes (True) or pops."""
SUB_BLOCK_IDS = ("AIV0", "AIV1", "both, split by rows", "both, split by columns")
"""AccToVecMode by SubBlockId (common/type.hpp:291-296)."""
ATOMIC_ADD = ("half", "float", "int16", "int32", "int8", "bfloat16")
"""Types of AtomicAdd (common/arch/memory/tstore_common.hpp:152-155, npu/a5/TStore.hpp:95-98)."""
_ODD = (UP_DOWN_ODD, LEFT_RIGHT_ODD)


def tile_rules(use: PipeUse, rule_set: RuleSet, env: Mapping[str, Any], n: int) -> Iterator[RuleColumn]:
    """All rules of this module for one pipe that the platform has."""
    f = use.fifo
    yield from _any(f"{f.name}-tile-kind", n, _kinds(use))
    yield from _any(f"{f.name}-simplified", n, _simplified(use))
    yield from _any(f"{f.name}-config", n, _configs(use, rule_set))
    yield from _any(f"{f.name}-sub-block-id", n, _sub_block_ids(use))
    wrong_ub = list(_wrong_ub(use))
    if wrong_ub:
        yield rule(f"{f.name}-wrong-ub", n, wrong_ub, "race")
    yield from _any(f"{f.name}-split", n, _splits(use))
    yield from _any(f"{f.name}-odd-split", n, _odd_splits(use))
    yield from _any(f"{f.name}-store-shape", n, _store_shapes(use))
    yield from _any(f"{f.name}-ub-split", n, _ub_splits(use))
    yield from _any(f"{f.name}-l1-split", n, _l1_splits(use))
    yield from _any(f"{f.name}-local-slot-num", n, _local_slot_num(use, env, n))
    yield from _any(f"{f.name}-local-alias", n, _local_alias(use, rule_set, env, n))


def _any(name: str, n: int, cases: Iterator[Case]) -> Iterator[RuleColumn]:
    """The rule, where the pipe has calls that could break it."""
    listed = list(cases)
    if listed:
        yield rule(name, n, listed)


def _say(use: PipeUse, text: str) -> Sentence:
    return lambda *_: f"FIFO {use.fifo.name}: {text}"


def _kinds(use: PipeUse) -> Iterator[Case]:
    """AIC pushes Acc and pops Mat, AIV pushes and pops Vec; Ctrl is for V2C_CTRL alone (npu/a2a3/TPush.hpp:227-229,
    467-469; npu/a5/TPush.hpp:655-657)."""
    for s in use.sites:
        if s.tile is not None and s.tile.kind != (expected := KINDS[s.core, s.producer]):
            text = f"{s.word} on {s.core} takes a tile of type {expected}, not {s.tile.kind}; nearest: {expected}"
            yield Case(s.active, _say(use, text))


def _simplified(use: PipeUse) -> Iterator[Case]:
    """TPUSH(tile, pipe) is TMPipe's, for Acc and Vec tiles (docs/isa/TPUSH.md:69; npu/a2a3/TPush.hpp:912-928)."""
    for s in use.sites:
        if not s.simplified:
            continue
        kind = s.tile.kind if s.tile is not None else "GlobalData"
        if use.fifo.kind != "TMPipe":
            text = f"TPUSH(tile, pipe) needs a TMPipe, and this is a {use.fifo.kind}; nearest: TPUSH(pipe, tile)"
            yield Case(s.active, _say(use, text))
        elif kind not in ("Acc", "Vec"):
            yield Case(s.active, _say(use, f"TPUSH(tile, pipe) takes a tile of type Acc or Vec, not {kind}"))


def _configs(use: PipeUse, rule_set: RuleSet) -> Iterator[Case]:
    """TPUSH with a TConfig: Acc tiles only, though docs/isa/TPUSH.md:73 names Vec and Ctrl too (npu/a2a3/TPush.hpp:
    294-296, npu/a5/TPush.hpp:426-428); C2V only (npu/a2a3/TPush.hpp:292-306); names of common/fixpipe.hpp:59-100."""
    for s in use.sites:
        config = s.config
        if config is None:
            continue
        kind = s.tile.kind if s.tile is not None else "none"
        if s.way != "C2V":
            yield Case(s.active, _say(use, "TPUSH with a TConfig goes from cube to vector only, and this is V2C"))
        elif kind != "Acc":
            page = "the page, docs/isa/TPUSH.md:73, names Vec and Ctrl too"
            text = f"TPUSH with a TConfig takes an Acc tile only, not {kind} ({page}); nearest: Acc"
            yield Case(s.active, _say(use, text))
        for text in _config_faults(config, use.ring(s.way), rule_set):
            yield Case(s.active, _say(use, text))


def _config_faults(config: TConfig, ring: str, rule_set: RuleSet) -> Iterator[str]:
    here = [q for q in fixpipe.OUTPUT_TYPES if rule_set.family == "a5" or q not in fixpipe.A5_ONLY]
    for field, value, known in (
        ("LayoutMode", config.layout, fixpipe.LAYOUTS),
        ("QuantPre", config.quant, here),
        ("ReluMode", config.relu, fixpipe.RELU_MODES),
        ("Phase", config.phase, fixpipe.PHASES),
        ("AtomicT", config.atomic, fixpipe.ATOMICS),
    ):
        if value not in known:
            only = " exists on Ascend 950 alone" if value in fixpipe.A5_ONLY else " is unknown"
            near = get_close_matches(value, known, 1, 0.0)
            yield f"{field} {value}{only}: {', '.join(known)}; nearest: {near[0] if near else known[0]}"
    out = fixpipe.OUTPUT_TYPES.get(config.quant, "")
    if config.atomic == "AtomicAdd" and ring == "GM" and out and out not in ATOMIC_ADD:
        yield f"AtomicAdd has no {out}, which {config.quant} gives: it takes {', '.join(ATOMIC_ADD)}"


def _sub_block_ids(use: PipeUse) -> Iterator[Case]:
    """SubBlockId is AccToVecMode, 0 to 3 (npu/a5/TPush.hpp:379-382); the modes that write both UBs need NoQuant and not
    NZ2DN (npu/a5/common.hpp:184-194)."""
    for s in use.sites:
        if s.config is None or s.way != "C2V":
            continue
        k = s.config.sub_block_id
        if not 0 <= k < len(SUB_BLOCK_IDS):
            near = min(max(k, 0), len(SUB_BLOCK_IDS) - 1)
            yield Case(s.active, _say(use, f"SubBlockId {k} is outside 0..3; nearest legal: {near}"))
        elif use.ring("C2V") == "UB" and k >= 2:
            wrong = [
                word
                for word, bad in (
                    (f"QuantPre {s.config.quant} (nearest: NoQuant)", s.config.quant != "NoQuant"),
                    ("LayoutMode NZ2DN (nearest: NZ2ND)", s.config.layout == "NZ2DN"),
                )
                if bad
            ]
            if wrong:
                text = f"SubBlockId {k} ({SUB_BLOCK_IDS[k]}) does not go with {' and '.join(wrong)}"
                yield Case(s.active, _say(use, text))


def _wrong_ub(use: PipeUse) -> Iterator[Case]:
    """SubBlockId 1 stores into the UB of AIV1, and the flags of a TConfig push reach AIV0 alone
    (npu/a5/TPush.hpp:379-382, 773-784): what AIV0 pops is not what was pushed."""
    for s in use.sites:
        if s.config is not None and s.way == "C2V" and use.ring("C2V") == "UB" and s.config.sub_block_id == 1:
            text = "SubBlockId 1 stores into the UB of AIV1 while the signal reaches AIV0 alone"
            yield Case(s.active, _say(use, f"{text}, whose slot nobody writes; nearest: SubBlockId 0"))


def _splits(use: PipeUse) -> Iterator[Case]:
    """Split is one of TileSplitAxis (common/fifo.hpp:17-23)."""

    def sentence(e: End, block: int, i: int) -> str:
        listed = ", ".join(f"{name} {k}" for k, name in enumerate(SPLITS))
        return f"FIFO {use.fifo.name}: Split {at(e.split, block, i)} is none of {listed}"

    for s in use.sites:
        for e in s.ends:
            yield Case(e.active & ((e.split < 0) | (e.split >= len(SPLITS))), partial(sentence, e))


def _odd_splits(use: PipeUse) -> Iterator[Case]:
    """UP_DOWN_ODD and LEFT_RIGHT_ODD (common/fifo.hpp:17-23) are implemented by the tile pops of C2V through a ring in
    GM alone (npu/a2a3/TPush.hpp:398-415): a V2C push takes LEFT_RIGHT's offset for them (:191, 200), rings in UB and L1
    move nothing (npu/a5/TPush.hpp:213-236, 252-265), GlobalData takes them for LEFT_RIGHT
    (npu/a2a3/TAlloc.hpp:28-33)."""

    def sentence(e: End, where: str, block: int, i: int) -> str:
        split = at(e.split, block, i)
        return (
            f"FIFO {use.fifo.name}: {SPLITS[split]} works for C2V tiles through GM alone, not {where}; "
            f"nearest: {SPLITS[split - 2]}"
        )

    for s in use.sites:
        ring = use.ring(s.way)
        where = "for V2C" if s.way == "V2C" else f"through a ring in {ring}" if ring != "GM" else ""
        where = where or ("" if s.tile_data else "with GlobalData")
        if where:
            for e in s.ends:
                odd = (e.split == _ODD[0]) | (e.split == _ODD[1])
                yield Case(e.active & odd, partial(sentence, e, where))


def _store_shapes(use: PipeUse) -> Iterator[Case]:
    """The accumulator store takes 1..8192 rows and 1..4095 columns (npu/a2a3/TStore.hpp:222-227)."""

    def sentence(what: str, values: Ints, limit: int, block: int, i: int) -> str:
        value = at(values, block, i)
        near = min(max(value, 1), limit)
        return f"FIFO {use.fifo.name}: TPUSH of {value} {what} is outside 1..{limit}; nearest legal: {near}"

    for s in use.tiles("C2V", producer=True):
        if use.ring("C2V") == "GM":
            e = s.ends[0]
            for what, values, limit in (("rows", e.rows, DRAIN_ROWS), ("columns", e.cols, DRAIN_COLS)):
                yield Case(e.active & ((values < 1) | (values > limit)), partial(sentence, what, values, limit))


def _ub_splits(use: PipeUse) -> Iterator[Case]:
    """L0C to UB of both sub-cores, by rows or by columns: elements of 4 bytes, and even rows or columns in multiples of
    32 (npu/a5/TPush.hpp:215-235). TConfig pushes choose by SubBlockId instead."""
    if use.fifo.kind == "TMPipe" or "C2V" not in use.ways or use.ring("C2V") != "UB":
        return

    def sentence(e: End, what: str, step: int, block: int, i: int) -> str:
        split = SPLITS[at(e.split, block, i)]
        head = f"FIFO {use.fifo.name}: {split} into UB needs"
        if at(e.elem_bytes, block, i) != 4:
            return f"{head} elements of 4 bytes, not {at(e.elem_bytes, block, i)}; nearest legal: 4"
        value = at(e.rows if what == "rows" else e.cols, block, i)
        return f"{head} {what} in multiples of {step}, not {value}; nearest legal: {-(-value // step) * step}"

    for s in use.tiles("C2V", producer=True):
        if s.config is None:
            e = s.ends[0]
            for split, what, values, step in ((UP_DOWN, "rows", e.rows, 2), (LEFT_RIGHT, "columns", e.cols, 32)):
                bad = (e.elem_bytes != 4) | (values % step != 0)
                yield Case(e.active & (e.split == split) & bad, partial(sentence, e, what, step))


def _l1_splits(use: PipeUse) -> Iterator[Case]:
    """UB to L1 by columns: each part in multiples of 32 bytes (npu/a5/TPush.hpp:258-262, in debug builds only)."""
    if use.fifo.kind == "TMPipe" or "V2C" not in use.ways or use.ring("V2C") != "L1":
        return

    def sentence(e: End, block: int, i: int) -> str:
        elem = max(at(e.elem_bytes, block, i), 1)
        value = at(e.cols, block, i) * elem
        return (
            f"FIFO {use.fifo.name}: LEFT_RIGHT into L1 needs rows of a multiple of 32 bytes, and those of {e.core} "
            f"have {value}; nearest legal: {max(-(-value // 32) * 32 // elem, 1)} columns"
        )

    for s in use.tiles("V2C", producer=True):
        for e in s.ends:
            bad = (e.cols * e.elem_bytes) % 32 != 0
            yield Case(e.active & (e.split == LEFT_RIGHT) & bad, partial(sentence, e))


def _local_slot_num(use: PipeUse, env: Mapping[str, Any], n: int) -> Iterator[Case]:
    """LocalSlotNum >= 1 where tiles are popped from a ring in GM: the local slot is a remainder by it, and no header
    checks it (npu/a2a3/TPush.hpp:428-429, npu/a5/TPush.hpp:618-620). 0 in a TMPipe means that the kernel binds the tile
    (common/fifo.hpp:88-89)."""
    slots = grid(evaluate(use.fifo.local_slot_num, env), n)
    least = 0 if use.fifo.kind == "TMPipe" else 1

    def sentence(block: int, i: int) -> str:
        value = at(slots, block, i)
        return f"FIFO {use.fifo.name}: LocalSlotNum {value} is below {least}; nearest legal: {least}"

    for s in _pops_from_gm(use):
        yield Case(s.active & (slots < least), sentence)


def _local_alias(use: PipeUse, rule_set: RuleSet, env: Mapping[str, Any], n: int) -> Iterator[Case]:
    """950 strides the local slots of a ring in GM by the popped tile's own Rows x Cols x size (npu/a5/TPush.hpp:
    618-620, 637-639), so tiles of different sizes in one pipe overlap there. Rows and Cols are taken as the valid ones,
    the only ones that a workload has."""
    if rule_set.local_stride != "tile":
        return
    slots = grid(evaluate(use.fifo.local_slot_num, env), n)

    def sentence(a: End, b: End, block: int, i: int) -> str:
        one, other = at(a.bytes, block, i), at(b.bytes, block, i)
        return (
            f"FIFO {use.fifo.name}: {a.core} pops tiles of {one} and of {other} bytes, whose local slots overlap, "
            "because each strides them by its own size; nearest: tiles of one size, or a pipe each"
        )

    pops = _pops_from_gm(use)
    for i, first in enumerate(pops):
        for second in pops[i + 1 :]:
            if first.way == second.way:
                for a, b in zip(first.ends, second.ends, strict=True):
                    differ: Bools = a.active & b.active & (a.bytes != b.bytes) & (slots > 1)
                    yield Case(differ, partial(sentence, a, b))


def _pops_from_gm(use: PipeUse) -> list[Site]:
    return [s for way in use.ways if use.ring(way) == "GM" for s in use.tiles(way, producer=False)]
