"""The examples of the ISA's pages of TPUSH and TFREE, and the forms of TPOP and TALLOC that they imply.

128 x 128 elements, FifoDepth 2, FlagID 0, UP_DOWN, LocalSlotNum 2: what becomes of each on both families, and where a
page and a header of the library disagree.
"""

from dataclasses import dataclass, field
from typing import Any

import pytest
from executor_checks import differences
from pipe_forms import FAMILIES, GLOBAL, TILES, ask, chip, fifo, kernel, one_pipe, warned

from pto_tune.model.nodes import LEFT_RIGHT, NO_SPLIT, TConfig, Workload
from pto_tune.model.vocabulary import cycles, instr, loop, tfree, tile, tpop, tpush
from pto_tune.rule_sets import rule_set_for

M = N = 128
FLOAT, HALF = 4, 2
LENGTHS = (1, 2, 3, 12)
"""The pages show one tile; kernels have many."""

both_families = pytest.mark.parametrize("family", FAMILIES)


def page(direction: str = "C2V", flow: str = TILES, **changes: Any) -> Workload:
    """The pipe of the pages; transfers of tiles at the model's price."""
    priced = {"store": None, "load": None} if flow == TILES else {}
    return one_pipe(direction, flow, **{"rows": M, "cols": N, "slot_num": 2, **priced, **changes})


OK = ("ok", "")


@dataclass(frozen=True)
class Example:
    """A form with its verdict and rule by family (`one_tile`: where they differ with a single tile), and the warnings
    by family: name and some of the words."""

    name: str
    form: dict[str, Any]
    a2a3: tuple[str, str] = OK
    a5: tuple[str, str] = OK
    warnings: dict[str, dict[str, str]] = field(default_factory=dict)
    one_tile: dict[str, tuple[str, str]] = field(default_factory=dict)

    def expected(self, family: str, tiles: int = 2) -> tuple[str, str]:
        many = self.a2a3 if family == "a2a3" else self.a5
        return self.one_tile.get(family, many) if tiles == 1 else many


def both(**warnings: str) -> dict[str, dict[str, str]]:
    return dict.fromkeys(FAMILIES, warnings)


HANG = ("hang", "deadlock")
NOT_POPPED = {"one_tile": {"a2a3": ("overwrite", "flag-left")}}
"""A2/A3 tell AIV1 of a tile that it never pops. A credit stands for two tiles: with one, nobody waits for any."""
NO_GLOBAL_DATA = ("refused", "pipe-global-data")
FOUR_BYTES = ("refused", "pipe-ub-split")
PLAIN_GM = {"gm_form": True, "consume": "TPOP COMPUTE"}
"""950 tiles through GM are freed by TPOP."""
ALONE = {"split": NO_SPLIT, "second_sub_core": False}
CLIPPED = TConfig(clip_relu="CLIP_RELU", channel_split=True)

EXAMPLES = [
    # TFREE page, TileData: TPOP and TFREE by UP_DOWN; TPUSH page: the producers that go with it
    Example("C2V tiles, float", {}),
    Example("C2V tiles, half", {"elem": HALF}, a5=FOUR_BYTES),
    Example("V2C tiles, float", {"direction": "V2C"}),
    Example("V2C tiles, half", {"direction": "V2C", "elem": HALF}),
    Example("tiles both ways, float", {"direction": "BOTH"}),
    Example("tiles both ways, half", {"direction": "BOTH", "elem": HALF}, a5=FOUR_BYTES),
    # TFREE page, GlobalData: DIR_C2V, which 950 has for tiles alone
    Example("C2V slots", {"flow": GLOBAL}, a5=NO_GLOBAL_DATA),
    Example("V2C slots", {"direction": "V2C", "flow": GLOBAL}, a5=NO_GLOBAL_DATA),
    Example("C2V slots, half", {"flow": GLOBAL, "elem": HALF}, a5=NO_GLOBAL_DATA),
    Example("C2V slots through GM", {"flow": GLOBAL, "gm_form": True}),
    # TPUSH page, splits
    Example("C2V tiles, LEFT_RIGHT", {"split": LEFT_RIGHT}),
    Example("C2V tiles, LEFT_RIGHT, half", {"split": LEFT_RIGHT, "elem": HALF}, a5=FOUR_BYTES),
    Example("V2C tiles, LEFT_RIGHT", {"direction": "V2C", "split": LEFT_RIGHT}),
    Example("C2V tiles, NO_SPLIT, both sub-cores", {"split": NO_SPLIT}, a5=HANG),
    Example("C2V tiles, NO_SPLIT, AIV0 alone", ALONE, a2a3=HANG, **NOT_POPPED),
    Example(
        "V2C tiles, NO_SPLIT, AIV0 and AIV1",
        {"direction": "V2C", "split": NO_SPLIT},
        a5=HANG,
        one_tile={"a5": ("overwrite", "flag-left")},  # AIC takes nothing of AIV1
        warnings={"a2a3": {"pipe-same-place": "docs/isa/TPUSH.md:61 demands both sub-cores"}},
    ),
    # TPUSH page, TPUSH(tile, pipe)
    Example(
        "simplified on a TPipe",
        {"simplified": True},
        a2a3=("refused", "pipe-simplified"),
        a5=("refused", "pipe-simplified"),
        warnings=both(**{"pipe-simplified-page": "though docs/isa/TPUSH.md:69 gives it NO_SPLIT"}),
    ),
    Example(
        "simplified on a TMPipe",
        {"simplified": True, "kind": "TMPipe"},
        warnings={
            "a2a3": {
                "pipe-simplified-page": "(npu/a2a3/TPush.hpp:912-928), though docs/isa/TPUSH.md:69",
                "pipe-one-credit": "works as 1 (npu/a2a3/TPush.hpp:898-917; docs/isa/system/ops/TPUSH.md:119",
            },
            "a5": {
                "pipe-simplified-page": "(npu/a5/TPush.hpp:862-863, 891-892), though docs/isa/TPUSH.md:69",
                "pipe-one-credit": "works as 1 (npu/a5/TPush.hpp:1283-1303; docs/isa/system/ops/TPUSH.md:119",
                "pipe-tile-index": "never increments its tile index (npu/a5/TPush.hpp:1296-1313, TPop.hpp:119-136), "
                "unlike docs/isa/TPUSH.md",
            },
        },
    ),
    # TPUSH page, TConfig: 950 signals AIV0 alone into UB
    Example("config", {"config": TConfig()}, a5=HANG),
    Example("config through GM", {"config": TConfig(), **PLAIN_GM}),
    Example("config, AIV0 alone", {"config": TConfig(), **ALONE}, a2a3=HANG, **NOT_POPPED),
    Example("config to half", {"config": TConfig(quant="F322F16"), "pop_elem": HALF}, a5=HANG),
    Example("config to half through GM", {"config": TConfig(quant="F322F16"), "pop_elem": HALF, **PLAIN_GM}),
    Example(
        "config to half, AIV0 alone",
        {"config": TConfig(quant="F322F16"), "pop_elem": HALF, **ALONE},
        a2a3=HANG,
        **NOT_POPPED,
    ),
    Example("config with ReLU through GM", {"config": TConfig(relu="NormalRelu"), **PLAIN_GM}),
    Example("config NZ2NZ through GM", {"config": TConfig(layout="NZ2NZ"), **PLAIN_GM}),
    Example("config with AtomicAdd through GM", {"config": TConfig(atomic="AtomicAdd"), **PLAIN_GM}),
    Example(
        "config with AtomicAdd, AIV0 alone",
        {"config": TConfig(atomic="AtomicAdd"), **ALONE},
        a2a3=HANG,
        **NOT_POPPED,
        warnings={
            "a5": {"pipe-atomic-ignored": "(npu/a5/TPush.hpp:379-382): the tile is overwritten; docs/isa/TPUSH.md"}
        },
    ),
    Example(
        "config with fields that nobody reads",
        {"config": CLIPPED, **PLAIN_GM},
        warnings=both(
            **{"pipe-config-unread": "CLIP_RELU and IsChannelSplit of its TConfig, which docs/isa/TPUSH.md lists"}
        ),
    ),
    Example(
        "config with a Phase",
        {"config": TConfig(phase="Final"), **PLAIN_GM},
        warnings=both(**{"pipe-phase": "docs/isa/TPUSH.md lists both): right only where the matmul sets it"}),
    ),
    Example(
        "config with SubBlockId 2",
        {"config": TConfig(sub_block_id=2)},
        a5=HANG,
        warnings={
            "a2a3": {"pipe-config-unread": "for rings in UB alone (npu/a5/TPush.hpp:379-382); docs/isa/TPUSH.md"}
        },
    ),
    Example(
        "config from a vector core",
        {"direction": "V2C", "config": TConfig()},
        a2a3=("refused", "pipe-config"),
        a5=("refused", "pipe-config"),
    ),
    # TPUSH page, control tiles
    Example(
        "V2C_CTRL",
        {"direction": "V2C_CTRL"},
        a2a3=("refused", "pipe-direction"),
        a5=("refused", "pipe-direction"),
    ),
]
NAMES = {e.name: e for e in EXAMPLES}
every_example = pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e.name.replace(" ", "-"))


@both_families
@every_example
def test_the_verdict_of_an_example(example: Example, family: str) -> None:
    for tiles in LENGTHS:
        answer = ask(page(**example.form, tiles=tiles), family)
        assert (answer.verdict, answer.rule) == example.expected(family, tiles), f"{tiles} tiles"


@both_families
@every_example
def test_page_and_header_disagree(example: Example, family: str) -> None:
    expected = example.warnings.get(family, {})
    found = warned(page(**example.form), family)
    assert found.keys() == expected.keys()
    for name, words in expected.items():
        assert words in found[name]
        assert ".hpp" in found[name]
        assert "docs/isa/" in found[name]


@both_families
@every_example
def test_the_oracle_runs_an_example_alike(example: Example, family: str) -> None:
    if example.expected(family)[0] == "refused":
        return
    for tiles in LENGTHS:
        work = page(**example.form, tiles=tiles)
        assert differences(work, chip(family), rule_set_for(family), [{}]) == []


@both_families
def test_the_examples_under_every_revision(family: str) -> None:
    """The default revision has them sound; older headers do not."""
    expected = {
        "a2a3": {
            "a2a3": ("ok",),
            "a2a3-rendezvous": ("ok",),
            "a2a3-ctor-credits": ("overwrite",),
            "a2a3-full-period": ("ok",),
            "a2a3-fixed-drain": ("hang",),
        },
        "a5": {
            "a5": ("ok",),
            "a5-rendezvous": ("ok",),
            "a5-ctor-credits": ("overwrite",),
            "a5-full-period": ("ok",),
            "a5-local-drain": ("overwrite",),
        },
    }
    for form in ({}, {"direction": "V2C"}, {"flow": GLOBAL, "gm_form": True}):
        found = {rules: ask(page(**form, tiles=12), family, rules).verdicts for rules in expected[family]}
        assert found == expected[family]


# What the sentences of refusals and hangs say of the examples


def test_half_floats_do_not_go_to_both_halves_of_950() -> None:
    """Page and header agree: L0C to UB is for elements of 4 bytes."""
    answer = ask(page(elem=HALF), "a5")
    assert answer.sentence == "FIFO pipe: UP_DOWN into UB needs elements of 4 bytes, not 2; nearest legal: 4"


def test_global_data_of_950_needs_the_gm_form() -> None:
    """The page has DIR_C2V, the header has GlobalData for DIR_C2V_GM alone."""
    limit = "(docs/isa/TPUSH.md and TFREE.md name no such limit)"
    for way, call in (("C2V", "TALLOC"), ("V2C", "TPOP")):
        sentence = f"FIFO pipe: DIR_{way} has no {call} with GlobalData {limit}; nearest: DIR_{way}_GM"
        assert ask(page(way, GLOBAL), "a5").sentence == sentence
    assert ask(page("V2C", GLOBAL, gm_form=True), "a5").verdicts == ("race",)


def test_a_config_takes_accumulator_tiles_alone() -> None:
    """The page names Vec and Ctrl too."""
    for family in FAMILIES:
        for kind in ("Vec", "Ctrl"):
            work = kernel(
                [tpush("pipe", tile(kind, M, N), config=TConfig())],
                [tpop("pipe", tile("Vec", M // 2, N))],
                fifo(slot_num=2, slot_bytes=M * N * FLOAT),
            )
            answer = ask(work, family)
            assert answer.verdict == "refused"
            assert (
                f"takes an Acc tile only, not {kind} (the page, docs/isa/TPUSH.md:73, names"
                in answer.rules["pipe-config"]
            )
            assert f"TPUSH on AIC takes a tile of type Acc, not {kind}" in answer.rules["pipe-tile-kind"]


@both_families
def test_control_tiles_cannot_be_instantiated(family: str) -> None:
    sentence = ask(page("V2C_CTRL"), family).sentence
    assert sentence.startswith("FIFO pipe: DIR_V2C_CTRL cannot be used")
    assert f"npu/{family}/TPush.hpp" in sentence
    assert sentence.endswith("nearest: DIR_V2C")


@both_families
def test_slot_size_holds_a_logical_entry(family: str) -> None:
    """The page asks for it, and no header checks it."""
    answer = ask(page(slot_bytes=M * N * FLOAT // 2), family)
    assert (answer.verdict, answer.rule) == ("refused", "pipe-slot-size")
    assert "a slot of 32768 bytes cannot hold a tile of 65536; nearest legal: 65536" in answer.sentence


@pytest.mark.parametrize(
    ("rows", "cols", "words"),
    [
        (128, 128, ""),
        (
            96,
            128,
            "the Chinese page of TPUSH asks for valid rows in multiples of 32, and AIV0 has 48; nearest: 64 rows",
        ),
        (128, 12, "the English page of TPUSH (docs/isa/TPUSH.md:66) asks for valid columns of a multiple of 32 bytes"),
    ],
)
def test_the_pages_ask_for_different_things_in_l1(rows: int, cols: int, words: str) -> None:
    work = page("V2C", rows=rows, cols=cols)
    assert ask(work, "a5").verdicts == ("ok",)
    found = warned(work, "a5")
    assert list(found) == (["pipe-l1-rows-page"] if words else [])
    if words:
        assert words in found["pipe-l1-rows-page"]
        assert "the header checks neither (npu/a5/TPush.hpp:252-265)" in found["pipe-l1-rows-page"]


# TFREE


@pytest.mark.parametrize("direction", ["C2V", "V2C"])
def test_tfree_of_a_tile_does_nothing_on_a2a3(direction: str) -> None:
    with_it, without = (page(direction, consume=steps) for steps in ("TPOP COMPUTE TFREE", "TPOP COMPUTE"))
    assert ask(with_it, "a2a3").verdicts == ask(without, "a2a3").verdicts == ("ok",)
    assert ask(with_it, "a2a3").cycles == ask(without, "a2a3").cycles


@pytest.mark.parametrize("direction", ["C2V", "V2C"])
def test_tfree_of_a_tile_releases_the_slot_on_950(direction: str) -> None:
    assert ask(page(direction), "a5").verdicts == ("ok",)
    without = ask(page(direction, consume="TPOP COMPUTE"), "a5")
    assert (without.verdict, without.rule) == HANG
    assert "for space from" in without.sentence
    assert "at tile 2" in without.sentence


def test_a_slot_is_freed_by_the_call_that_takes_it() -> None:
    """A constraint of the page has TFREE(Pipe&) for GlobalData too: on A2/A3 that call does nothing."""
    other = page("C2V", GLOBAL, gm_form=True, consume="TPOP TLOAD TFREE(pipe) COMPUTE")
    answer = ask(other, "a2a3")
    assert (answer.verdict, answer.rule) == HANG
    assert "AIC waits in TALLOC pipe for space from AIV0 and AIV1 at tile 2" in answer.sentence
    assert ask(other, "a5").verdicts == ("ok",)
    assert ask(other, "a5").cycles == ask(page("C2V", GLOBAL, gm_form=True), "a5").cycles


# Events: every call takes some to wait for and returns one


@both_families
@pytest.mark.parametrize("tiles", [1, 2, 12])
def test_calls_take_and_return_events(family: str, tiles: int) -> None:
    """TPUSH waits for the matmul and the next matmul for TPUSH, the compute for TPOP, TFREE and the next load for the
    compute. An event is waited for once."""
    acc, vec = tile("Acc", M, N), tile("Vec", M // 2, N)
    aic = [
        instr("TMATMUL", "M", cycles(500), event="product"),
        tpush("pipe", acc, waits=["product"], event="pushed"),
        instr("NEXT", "M", waits=["pushed"]),
    ]
    aiv = [
        tpop("pipe", vec, event="popped"),
        instr("COMPUTE", "V", cycles(500), waits=["popped"], event="used", reads=["pipe"]),
        instr("DONE", "V", event="done"),
        instr("NEXT", "MTE2", waits=["done"]),
        tfree("pipe", tile=True, waits=["used"], event="freed"),
    ]
    work = kernel([loop(tiles, *aic)], [loop(tiles, *aiv)], fifo(slot_num=2, slot_bytes=M * N * FLOAT))
    assert ask(work, family).verdicts == ("ok",)
    assert differences(work, chip(family), rule_set_for(family), [{}]) == []
    assert ask(work, family).cycles >= tiles * 500
