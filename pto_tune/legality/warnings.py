"""Warnings: what works although a page forbids it, and what a header ignores although it is asked for.

A warning changes no verdict. Each names the page (of the pto-isa documentation) and the place in the headers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from pto_tune.legality.calls import PipeUse, Site, pipe_uses, some
from pto_tune.legality.rules import Case, RuleColumn, Sentence, at, grid, rule
from pto_tune.model.expr import evaluate
from pto_tune.model.nodes import NO_SPLIT, SPLITS, UP_DOWN, Talloc, Tfree, Tpop

if TYPE_CHECKING:
    from cost_models.platform import Platform
    from pto_tune.legality.calls import End
    from pto_tune.legality.rules import Ints
    from pto_tune.model.nodes import Workload
    from pto_tune.rule_sets import RuleSet

PAGE_FLAG_ID = 7
"""Largest FlagID on A2/A3 by docs/isa/system/ops/TPUSH.md:192."""
PAGE_DEPTHS = {"a2a3": (2, 8), "a5": (2, 16)}
"""FiFoDepth by docs/isa/system/ops/TPUSH.md:119."""


def warnings(
    workload: Workload, platform: Platform, rule_set: RuleSet, env: Mapping[str, Any], n: int
) -> list[RuleColumn]:
    """All warnings over n rows of `env` (derived names included); `broken` says where one applies, and their verdict is
    "ok". The platform is one of the rule set's family."""
    if platform.family != rule_set.family:
        raise ValueError(
            f"platform {platform.name} is of family {platform.family}, and rule set {rule_set.name} is of "
            f"{rule_set.family}: expected the same"
        )
    found: list[RuleColumn] = []
    for use in pipe_uses(workload, rule_set, env, n):
        if use.possible:
            for name, cases in _of_pipe(use, rule_set, env, n):
                listed = list(cases)
                if listed:
                    found.append(rule(f"{use.fifo.name}-{name}", n, listed, "ok"))
    return found


def _of_pipe(use: PipeUse, rule_set: RuleSet, env: Mapping[str, Any], n: int) -> Iterator[tuple[str, Iterator[Case]]]:
    yield "flag-id-page", _flag_id(use, rule_set)
    yield "splits-differ", _splits_differ(use, rule_set)
    yield "same-place", _same_place(use, rule_set)
    yield "l1-rows-page", _l1_rows(use)
    yield "config-unread", _config_unread(use)
    yield "atomic-ignored", _atomic_ignored(use)
    yield "phase", _phase(use, rule_set)
    yield "simplified-page", _simplified(use, rule_set)
    yield "period", _period(use, rule_set, env, n)
    yield "talloc-offset", _talloc_offset(use, rule_set)
    yield "tfree-page", _tfree_page(use, rule_set)
    if use.fifo.kind == "TMPipe":
        yield "depth-page", _depth_page(use, rule_set, env, n)
        yield "one-credit", _one_credit(use, rule_set, env, n)
        yield "sync-t-unread", _sync_t(use, rule_set, env, n)
        yield "tile-index", _tile_index(use, rule_set)


def _say(use: PipeUse, text: str) -> Sentence:
    return lambda *_: f"FIFO {use.fifo.name}: {text}"


def _header(rule_set: RuleSet, a2a3: str, a5: str) -> str:
    return f"npu/{rule_set.family}/{a2a3 if rule_set.family == 'a2a3' else a5}"


def _flag_id(use: PipeUse, rule_set: RuleSet) -> Iterator[Case]:
    """A FlagID that the page does not have on A2/A3."""
    if rule_set.family == "a2a3" and use.fifo.flag_id > PAGE_FLAG_ID:
        text = (
            f"FlagID {use.fifo.flag_id} is above {PAGE_FLAG_ID}, the largest on A2/A3 by "
            "docs/isa/system/ops/TPUSH.md:192; the headers allow FlagID + 1 < 16 (npu/a2a3/TPush.hpp:43-44)"
        )
        yield Case(grid(use.used, use.used.shape[0]) != 0, _say(use, text))


def _splits_differ(use: PipeUse, rule_set: RuleSet) -> Iterator[Case]:
    """Push and pop with different splits: on A2/A3 flags know no split; on 950 they do, and the executor shows it."""
    if rule_set.reach != "both":
        return

    def sentence(first: tuple[Site, End], second: tuple[Site, End], block: int, i: int) -> str:
        (a, e), (b, f) = first, second
        return (
            f"FIFO {use.fifo.name}: {a.word} on {a.core} has {_split(e.split, block, i)} and {b.word} on {b.core} "
            f"{_split(f.split, block, i)}; docs/isa/system/ops/TPUSH.md and TPOP.md demand one Split, and the A2/A3 "
            "flags ignore it (npu/a2a3/TPush.hpp:118-163)"
        )

    for way in use.ways:
        sites = [s for s in use.sites if s.way == way]
        for a in (s for s in sites if s.producer):
            for b in (s for s in sites if not s.producer):
                for e in a.ends:
                    for f in b.ends:
                        yield Case(e.active & f.active & (e.split != f.split), partial(sentence, (a, e), (b, f)))


def _split(values: Ints, block: int, i: int) -> str:
    value = at(values, block, i)
    return SPLITS[value] if 0 <= value < len(SPLITS) else f"Split {value}"


def _same_place(use: PipeUse, rule_set: RuleSet) -> Iterator[Case]:
    """V2C with NO_SPLIT: both sub-cores of A2/A3 have to take part (docs/isa/TPUSH.md:61) and write the same place."""
    if rule_set.reach != "both" or "V2C" not in use.ways:
        return
    text = (
        "with NO_SPLIT AIV0 and AIV1 write the same place of the slot in no order (npu/a2a3/TPush.hpp:194-196): right "
        "only where both write the same values; docs/isa/TPUSH.md:61 demands both sub-cores"
    )
    for s in use.tiles("V2C", producer=True):
        a, b = s.ends
        yield Case(a.active & b.active & (a.split == NO_SPLIT) & (b.split == NO_SPLIT), _say(use, text))


def _l1_rows(use: PipeUse) -> Iterator[Case]:
    """V2C into L1 by UP_DOWN: the two pages of TPUSH ask for different things, the header for nothing. Valid rows "in
    multiples of 32 bytes" are taken as multiples of 32 rows, which holds by every reading."""
    if "V2C" not in use.ways or use.ring("V2C") != "L1":
        return

    def sentence(e: End, by_cols: bool, block: int, i: int) -> str:
        rows, row = at(e.rows, block, i), at(e.cols * e.elem_bytes, block, i)
        asked = (
            "the English page of TPUSH (docs/isa/TPUSH.md:66) asks for valid columns of a multiple of 32 bytes, and "
            f"{e.core} has {row}; nearest: {-(-row // 32) * 32} bytes"
            if by_cols
            else f"the Chinese page of TPUSH asks for valid rows in multiples of 32, and {e.core} has {rows}; "
            f"nearest: {-(-rows // 32) * 32} rows"
        )
        return f"FIFO {use.fifo.name}: with UP_DOWN {asked}; the header checks neither (npu/a5/TPush.hpp:252-265)"

    for s in use.tiles("V2C", producer=True):
        for e in s.ends:
            up_down = e.active & (e.split == UP_DOWN)
            yield Case(up_down & ((e.cols * e.elem_bytes) % 32 != 0), partial(sentence, e, True))
            yield Case(up_down & (e.rows % 32 != 0), partial(sentence, e, False))


def _config_unread(use: PipeUse) -> Iterator[Case]:
    """Fields of a TConfig that the page lists and TPUSH never reads."""
    for s in use.sites:
        if s.config is None:
            continue
        given = [f"ClipReluMode {s.config.clip_relu}"] if s.config.clip_relu not in ("", "NOCLIP_RELU") else []
        given += ["IsChannelSplit"] if s.config.channel_split else []
        if given:
            text = (
                f"TPUSH never reads {' and '.join(given)} of its TConfig, which docs/isa/TPUSH.md lists "
                "(common/fixpipe.hpp:59-74)"
            )
            yield Case(s.active, _say(use, text))
        if s.config.sub_block_id and use.ring(s.way) == "GM":
            text = (
                f"SubBlockId {s.config.sub_block_id} of the TConfig is read for rings in UB alone "
                "(npu/a5/TPush.hpp:379-382); docs/isa/TPUSH.md lists it without that"
            )
            yield Case(s.active, _say(use, text))


def _atomic_ignored(use: PipeUse) -> Iterator[Case]:
    """AtomicT of a push into UB."""
    text = (
        "AtomicAdd is ignored where the ring lies in UB (npu/a5/TPush.hpp:379-382): the tile is overwritten; "
        "docs/isa/TPUSH.md lists it for GM stores; nearest: DIR_C2V_GM"
    )
    for s in use.sites:
        if s.config is not None and s.config.atomic == "AtomicAdd" and use.ring(s.way) == "UB":
            yield Case(s.active, _say(use, text))


def _phase(use: PipeUse, rule_set: RuleSet) -> Iterator[Case]:
    """Phase of a TConfig on a pipe without EN_UNIT_FLAG: the store takes part in the unit flag all the same."""
    where = _header(rule_set, "TPush.hpp:275-287", "TPush.hpp:366-382")
    for s in use.sites:
        if s.config is not None and s.config.phase != "Unspecified" and not use.fifo.unit_flag:
            text = (
                f"Phase {s.config.phase} of the TConfig makes the store use the unit flag although EN_UNIT_FLAG of the "
                f"pipe is off ({where}; docs/isa/TPUSH.md lists both): right only where the matmul sets it"
            )
            yield Case(s.active, _say(use, text))


def _simplified(use: PipeUse, rule_set: RuleSet) -> Iterator[Case]:
    """TPUSH(tile, pipe) signals both sub-cores, whatever the page says of NO_SPLIT."""
    where = _header(rule_set, "TPush.hpp:912-928", "TPush.hpp:862-863, 891-892")
    text = f"TPUSH(tile, pipe) has the flags of both sub-cores ({where}), though docs/isa/TPUSH.md:69 gives it NO_SPLIT"
    for s in use.sites:
        if s.simplified:
            yield Case(s.active, _say(use, text))


def _derived_period(rule_set: RuleSet, slots: Ints) -> Ints:
    """`RuleSet.derived_period` over a grid."""
    import numpy as np

    values, at_value = np.unique(slots, return_inverse=True)
    periods = np.array([rule_set.derived_period(int(v)) for v in values], dtype=np.int64)
    return periods[at_value.reshape(slots.shape)]


def _period(use: PipeUse, rule_set: RuleSet, env: Mapping[str, Any], n: int) -> Iterator[Case]:
    """A TPipe with a SyncPeriod of its own does not exist: it stands for a TMPipe whose kernel gates the switches."""
    if use.fifo.kind != "TPipe":
        return
    given, slots = grid(evaluate(use.fifo.sync_period, env), n), grid(evaluate(use.fifo.slot_num, env), n)
    derived = _derived_period(rule_set, slots)

    def sentence(block: int, i: int) -> str:
        return (
            f"FIFO {use.fifo.name}: a TPipe derives SyncPeriod {at(derived, block, i)} from SlotNum "
            f"{at(slots, block, i)} (docs/isa/TPUSH.md; npu/{rule_set.family}/TPush.hpp:37); {at(given, block, i)} "
            "stands for a gated TMPipe whose kernel takes the constructor's credit first "
            f"({_header(rule_set, 'TPush.hpp:898, 912-928', 'TPush.hpp:1283, 1296-1313')})"
        )

    yield Case((given > 0) & (given != derived) & use.used, sentence)


def _talloc_offset(use: PipeUse, rule_set: RuleSet) -> Iterator[Case]:
    """950 TALLOC of V2C with NO_SPLIT: AIV1 gets the offset of LEFT_RIGHT."""
    if rule_set.family != "a5":
        return
    text = (
        "TALLOC with NO_SPLIT gives AIV1 the offset of LEFT_RIGHT, because it asks for NO_SPLIT too late "
        "(npu/a5/TAlloc.hpp:26-34); docs/isa/TPUSH.md has no offset there"
    )
    for s in use.sites:
        if isinstance(s.node, Talloc) and s.core == "AIV":
            yield Case(s.ends[1].active & (s.ends[1].split == NO_SPLIT), _say(use, text))


def _tfree_page(use: PipeUse, rule_set: RuleSet) -> Iterator[Case]:
    """TFREE(Pipe&) behind a TPOP of GlobalData: its page asks for it, and on A2/A3 it is empty
    (npu/a2a3/TFree.hpp:21-24). On 950 it releases (npu/a5/TFree.hpp:22-28; the page names TPop.hpp)."""
    if rule_set.tile_tfree:
        return
    pops = [s for s in use.sites if not s.producer and isinstance(s.node, Tpop) and not s.tile_data]
    for s in use.sites:
        if pops and isinstance(s.node, Tfree) and s.node.tile:
            text = (
                "TFREE(Pipe&) is empty on A2/A3 (npu/a2a3/TFree.hpp:21-24), though the page of TFREE asks for it "
                "behind a TPOP of GlobalData too; nearest: TFREE(Pipe&, GlobalData&)"
            )
            yield Case(s.active & some(p.active for p in pops), _say(use, text))


def _depth_page(use: PipeUse, rule_set: RuleSet, env: Mapping[str, Any], n: int) -> Iterator[Case]:
    """Depths of a TMPipe that the page does not have."""
    first, last = PAGE_DEPTHS[rule_set.family]
    slots = grid(evaluate(use.fifo.slot_num, env), n)

    def sentence(block: int, i: int) -> str:
        return (
            f"FIFO {use.fifo.name}: FiFoDepth {at(slots, block, i)} is outside {first}..{last} of "
            f"docs/isa/system/ops/TPUSH.md:119; the header takes any uint8 (common/fifo.hpp:80-81)"
        )

    yield Case(((slots < first) | (slots > last)) & use.used, sentence)


def _one_credit(use: PipeUse, rule_set: RuleSet, env: Mapping[str, Any], n: int) -> Iterator[Case]:
    """A TMPipe with its default switches has one credit."""
    f = use.fifo
    slots = grid(evaluate(f.slot_num, env), n)
    gated, allocate, free = (grid(evaluate(e, env), n) != 0 for e in (f.gated, f.allocate, f.free))
    where = _header(rule_set, "TPush.hpp:898-917", "TPush.hpp:1283-1303")

    def sentence(block: int, i: int) -> str:
        return (
            f"FIFO {f.name}: a TMPipe with its default switches has one credit, so FiFoDepth {at(slots, block, i)} "
            f"works as 1 ({where}; docs/isa/system/ops/TPUSH.md:119 does not say so); "
            "nearest: gate the switches by depth and period"
        )

    yield Case(~gated & allocate & free & (slots > 1) & use.used, sentence)


def _sync_t(use: PipeUse, rule_set: RuleSet, env: Mapping[str, Any], n: int) -> Iterator[Case]:
    """FiFoSyncT without a kernel that gates by it."""
    given = grid(evaluate(use.fifo.sync_period, env), n)
    gated = grid(evaluate(use.fifo.gated, env), n) != 0
    where = _header(rule_set, "TPush.hpp:912-928", "TPush.hpp:1296-1313")

    def sentence(block: int, i: int) -> str:
        return (
            f"FIFO {use.fifo.name}: FiFoSyncT {at(given, block, i)} is stored and never used by TPUSH and TPOP "
            f"(common/fifo.hpp:80-81, {where}; docs/isa/system/ops/TPUSH.md lists it); nearest: a gated TMPipe"
        )

    yield Case((given > 0) & ~gated & use.used, sentence)


def _tile_index(use: PipeUse, rule_set: RuleSet) -> Iterator[Case]:
    """950 TMPipe does not count tiles."""
    if rule_set.family == "a5":
        text = (
            "a TMPipe of 950 never increments its tile index (npu/a5/TPush.hpp:1296-1313, TPop.hpp:119-136), unlike "
            "docs/isa/TPUSH.md: the kernel has to call setTileId before every push and pop, and is taken to do so"
        )
        yield Case(some(s.active for s in use.sites), _say(use, text))
