"""From a workload to its pipes: directions, splits, TMPipes, fixpipe configurations, sizes, calls, switches."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from pto_tune import api
from pto_tune.exporters.header import render_header
from pto_tune.exporters.recommendation import PipeCall, PipeRecommendation
from pto_tune.exporters.recommending import periods_of_their_own, pipe_recommendations, row_environment
from pto_tune.model.expr import Expr, expr, name
from pto_tune.model.nodes import (
    LEFT_RIGHT_ODD,
    NO_SPLIT,
    SPLITS,
    UP_DOWN,
    UP_DOWN_ODD,
    Fifo,
    Launch,
    Node,
    Parameter,
    TConfig,
    Tile,
    Workload,
)
from pto_tune.model.vocabulary import loop, talloc, tfree, tile, tpop, tpush, when
from pto_tune.rule_sets import rule_set_for

Compile = Callable[..., str]

PLATFORMS = {"a2a3": "ascend910b2", "a5": "ascend950pr"}
ACC, VEC = tile("Acc", 32, 32), tile("Vec", 16, 32)
VEC_HALF, MAT = tile("Vec", 16, 32, 2), tile("Mat", 32, 32, 2)


def fifo(pipe: str = "f", direction: str = "C2V", **changes: Any) -> Fifo:
    """A pipe of slots of 4096 bytes, 4 of them; integers stand for expressions."""
    plain = Fifo(pipe, direction, expr(4096), expr(4), expr(0), expr(2), expr(UP_DOWN), 0, expr(2048))
    given = {k: expr(v) if isinstance(getattr(plain, k), Expr) or k == "is_no_split" else v for k, v in changes.items()}
    return replace(plain, **given)


def kernel(aic: tuple[Node, ...], aiv: tuple[Node, ...], *fifos: Fifo, tiles: int = 4, **sizes: int) -> Workload:
    """Programs that run their nodes `tiles` times; `sizes` are problem sizes."""
    return Workload(
        name="kernel",
        doc="",
        problem=tuple(Parameter(n, v, "", 0) for n, v in sizes.items()),
        tunables=(),
        buffers=(),
        fifos=fifos,
        programs=(("AIC", (loop(tiles, *aic),)), ("AIV", (loop(tiles, *aiv),))),
        launch=Launch(expr(1)),
    )


def c2v(
    pushed: Tile = ACC, popped: Tile = VEC, *, tiles: int = 4, config: TConfig | None = None, **pipe: Any
) -> Workload:
    """Tiles from the cube core to the vector sub-cores, freed behind the pop where a pipe asks for that."""
    free = (tfree("f", tile=True),) if not pipe.get("gm_form", False) else ()
    return kernel((tpush("f", pushed, config=config),), (tpop("f", popped), *free), fifo("f", **pipe), tiles=tiles)


def pipes(workload: Workload, family: str, **values: int) -> tuple[PipeRecommendation, ...]:
    env = row_environment(workload, {**{p.name: p.default for p in workload.problem}, **values})
    return pipe_recommendations(workload, rule_set_for(family), env)


def only(workload: Workload, family: str = "a2a3", **values: int) -> PipeRecommendation:
    (pipe,) = pipes(workload, family, **values)
    return pipe


@pytest.mark.parametrize(
    ("direction", "gm_form", "a2a3", "a5"),
    [
        ("C2V", False, "DIR_C2V", "DIR_C2V"),
        ("C2V", True, "DIR_C2V", "DIR_C2V_GM"),
        ("V2C", True, "DIR_V2C", "DIR_V2C_GM"),
        ("BOTH", False, "DIR_BOTH", "DIR_BOTH"),
        ("BOTH", True, "DIR_BOTH", "DIR_BOTH_GM"),
        ("C2V_GM", False, None, "DIR_C2V_GM"),
        ("V2C_CTRL", False, None, None),
    ],
)
def test_directions_are_those_of_the_rule_set(direction: str, gm_form: bool, a2a3: str | None, a5: str | None) -> None:
    workload = kernel((), (), fifo("f", direction, gm_form=gm_form))
    for family, expected in (("a2a3", a2a3), ("a5", a5)):
        assert [p.direction for p in pipes(workload, family)] == ([] if expected is None else [expected])


@pytest.mark.parametrize("split", range(len(SPLITS)))
def test_there_are_five_splits(split: int) -> None:
    pipe = only(c2v(split=split))
    assert pipe.split == f"TILE_{SPLITS[split]}"
    assert pipe.is_no_split == (split == NO_SPLIT)


def test_is_no_split_can_be_given() -> None:
    assert only(c2v(split=UP_DOWN, is_no_split=1), "a5").is_no_split is True
    assert only(c2v(split=NO_SPLIT, is_no_split=0), "a5").is_no_split is False


@pytest.mark.parametrize(
    ("split", "part"),
    [(UP_DOWN_ODD, tile("Vec", 16 - name("sub"), 32)), (LEFT_RIGHT_ODD, tile("Vec", 16, 24 - name("sub")))],
)
@pytest.mark.parametrize("family", PLATFORMS)
def test_odd_splits_go_through_a_ring_in_gm(split: int, part: Tile, family: str, compiler_says: Compile) -> None:
    whole = tile("Acc", 31, 32) if split == UP_DOWN_ODD else tile("Acc", 16, 47)
    rec = api.recommendation(c2v(whole, part, split=split, gm_form=True), {}, PLATFORMS[family])
    text = render_header(rec)
    assert f"F_Split = pto::TileSplitAxis::TILE_{SPLITS[split]};" in text
    assert compiler_says(text, family=family) == ""


@pytest.mark.parametrize(("tiles", "ok"), [(4, True), (16, False)])
@pytest.mark.parametrize("family", PLATFORMS)
def test_a_gated_tmpipe_is_exported_where_its_verdict_is_ok(
    family: str, tiles: int, ok: bool, compiler_says: Compile
) -> None:
    """The credit of the constructor lets the producer run ahead of a ring that the program does not bound."""
    workload = c2v(kind="TMPipe", gated=1, slot_num=4, sync_period=1, tiles=tiles)
    if not ok:
        with pytest.raises(ValueError, match="this one is overwrite"):
            api.recommendation(workload, {}, PLATFORMS[family])
        return
    rec = api.recommendation(workload, {}, PLATFORMS[family])
    (pipe,) = rec.pipes
    assert (pipe.kind, pipe.gated, pipe.slot_num, pipe.sync_period) == ("TMPipe", True, 4, 1)
    text = render_header(rec)
    assert "prod.setAllocateStatus(F_AllocateGate(i))" in text
    assert compiler_says(text, family=family) == ""
    assert ("has to call setTileId" in " ".join(text.replace("//", " ").split())) == (family == "a5")


@pytest.mark.parametrize("family", PLATFORMS)
def test_a_tmpipe_of_a_period_of_its_own_needs_no_derived_one(family: str) -> None:
    workload = c2v(kind="TMPipe", gated=1, slot_num=8, sync_period=2, tiles=8)
    (record,) = api.evaluate_records(workload, {}, platform=PLATFORMS[family], accounts=False)
    assert (record["verdict"], record["exportable"], record["not_exportable_because"]) == ("ok", True, "")
    assert only(workload, family).sync_period == 2


@pytest.mark.parametrize("family", PLATFORMS)
def test_a_tmpipe_with_default_switches_says_that_it_is_one_slot_deep(family: str) -> None:
    rec = api.recommendation(c2v(kind="TMPipe", slot_num=4, tiles=16), {}, PLATFORMS[family])
    said = " ".join(render_header(rec).replace("//", " ").split())
    assert "so the ring works as one slot" in said
    assert "so FiFoDepth 4 works as 1" in said  # the warning
    assert "setAllocateStatus" not in said


@pytest.mark.parametrize(
    ("family", "gm_form", "ring", "fifo_type"),
    [("a2a3", False, "GM", "GM_FIFO"), ("a5", False, "UB", "VEC_FIFO"), ("a5", True, "GM", "GM_FIFO")],
)
def test_the_fifo_type_of_a_tmpipe_follows_its_ring(family: str, gm_form: bool, ring: str, fifo_type: str) -> None:
    rec = api.recommendation(c2v(kind="TMPipe", gm_form=gm_form), {}, PLATFORMS[family])
    assert [way.ring for way in rec.pipes[0].ways] == [ring]
    assert f"pto::FIFOType::{fifo_type}," in render_header(rec)


def test_sizes_follow_the_ring_and_the_flow() -> None:
    def sizes(workload: Workload, family: str) -> tuple[int, list[tuple[str, str, int]]]:
        pipe = only(workload, family)
        return pipe.gm_bytes, [(way.name, way.ring, way.consumer_bytes) for way in pipe.ways]

    both = kernel(
        (tpush("f", ACC), tpop("f", MAT), tfree("f", tile=True)),
        (tpop("f", VEC), tfree("f", tile=True), tpush("f", VEC_HALF)),
        fifo("f", "BOTH"),
    )
    stored = kernel((talloc("f"), tpush("f")), (tpop("f"), tfree("f")), fifo("f", gm_form=True))
    assert sizes(both, "a2a3") == (2 * 4 * 4096, [("C2V", "GM", 2 * 4096), ("V2C", "GM", 2 * 4096)])
    assert sizes(both, "a5") == (0, [("C2V", "UB", 4 * 4096), ("V2C", "L1", 4 * 4096)])
    assert sizes(stored, "a2a3") == sizes(stored, "a5") == (4 * 4096, [("C2V", "GM", 0)])
    assert sizes(c2v(gm_form=True, local_slot_num=3), "a2a3") == (4 * 4096, [("C2V", "GM", 3 * 4096)])
    assert sizes(c2v(gm_form=True, local_slot_num=3), "a5") == (4 * 4096, [("C2V", "GM", 3 * 2048)])


def test_calls_are_named_once_each_with_the_producer_first() -> None:
    workload = kernel(
        (talloc("f"), tpush("f"), talloc("f"), tpush("f")), (tpop("f"), tfree("f"), tpop("f"), tfree("f")),
        fifo("f", "C2V", gm_form=True),
    )  # fmt: skip
    up_down = ("TILE_UP_DOWN",)
    assert only(workload).ways[0].calls == (
        PipeCall("AIC", "TALLOC", "GlobalData", up_down),
        PipeCall("AIC", "TPUSH", "GlobalData", up_down),
        PipeCall("AIV", "TPOP", "GlobalData", up_down),
        PipeCall("AIV", "TFREE", "GlobalData", up_down),
    )


def test_a_split_of_a_calls_own_stands_beside_the_call() -> None:
    workload = kernel((tpush("f", ACC, split=expr(NO_SPLIT)),), (tpop("f", VEC),), fifo())
    push, pop = only(workload).ways[0].calls
    assert (push.splits, pop.splits) == (("TILE_NO_SPLIT",), ("TILE_UP_DOWN",))
    rec = api.recommendation(workload, {}, PLATFORMS["a2a3"])
    assert "AIC calls TPUSH (TileData, TILE_NO_SPLIT); AIV calls TPOP (TileData)\n" in render_header(rec)
    assert any("demand one Split" in warning for warning in rec.warnings)


def test_a_sub_core_that_makes_no_call_is_left_out() -> None:
    workload = kernel((tpush("f", ACC),), (when(name("sub").eq(0), tpop("f", VEC)),), fifo())
    assert [call.core for call in only(workload).ways[0].calls] == ["AIC", "AIV0"]


def test_calls_and_configurations_of_other_rows_are_left_out() -> None:
    configs = [TConfig(quant="F322F16"), TConfig(relu="NormalRelu")]
    pushes = [when(name("which").eq(i), tpush("f", ACC, config=c)) for i, c in enumerate(configs)]
    workload = kernel(tuple(pushes), (tpop("f", VEC),), fifo(), which=0)
    for which, config in enumerate(configs):
        pipe = only(workload, which=which)
        assert pipe.configs == (config,)
        assert [call.config for call in pipe.ways[0].calls] == [0, None]


def test_several_configurations_of_a_pipe_are_numbered(compiler_says: Compile) -> None:
    configs = (TConfig(), TConfig(relu="NormalRelu", clip_relu="CLIP_RELU", channel_split=True), TConfig())
    workload = kernel(tuple(tpush("f", ACC, config=c) for c in configs), (tpop("f", VEC),) * 3, fifo(slot_num=12))
    assert only(workload).configs == configs[:2]
    text = render_header(api.recommendation(workload, {}, PLATFORMS["a2a3"]))
    assert "TPUSH (TileData, TConfig1), TPUSH (TileData, TConfig2); AIV" in text
    claims = (
        "F_ReluMode1 == pto::ReluPreMode::NoRelu",
        "F_ReluMode2 == pto::ReluPreMode::NormalRelu",
        "F_ClipReluMode2 == pto::CLIP_RELU && F_IsChannelSplit2 && !F_IsChannelSplit1",
        "FTConfig2::ReluMode == F_ReluMode2",
    )
    checks = "using namespace pto_tune_config;\n" + "".join(f"static_assert({claim});\n" for claim in claims)
    assert compiler_says(text, after=checks) == ""


def test_the_simplified_push_is_named() -> None:
    workload = kernel((tpush("f", ACC, simplified=True),), (tpop("f", VEC),), fifo(kind="TMPipe"))
    rec = api.recommendation(workload, {}, PLATFORMS["a2a3"])
    assert "AIC calls TPUSH (TileData, of TPUSH(tile, pipe)); AIV" in render_header(rec)


def test_switches_that_are_off_are_listed() -> None:
    assert only(c2v(allocate=0, record=0, wait=0, free=0)).switches_off == ("allocate", "record", "wait", "free")
    assert only(c2v()).switches_off == ()


def test_pipes_that_a_configuration_does_without_are_left_out() -> None:
    workload = replace(
        kernel((), (), fifo("f", used=1), fifo("g", flag_id=2), pipe=0),
        fifos=(replace(fifo("f"), used=name("pipe").eq(0)), replace(fifo("g"), used=name("pipe").eq(1))),
    )
    assert [only(workload, pipe=i).name for i in (0, 1)] == ["f", "g"]


def test_only_used_tpipes_have_a_period_of_their_own() -> None:
    def found(**pipe: Any) -> list[tuple[str, int, int, int]]:
        workload = c2v(**pipe)
        return list(periods_of_their_own(workload, rule_set_for("a2a3"), row_environment(workload, {})))

    assert found(slot_num=8, sync_period=2) == [("f", 2, 8, 4)]
    assert found(slot_num=8, sync_period=4) == found(slot_num=8) == []
    assert found(slot_num=8, sync_period=2, kind="TMPipe") == found(slot_num=8, sync_period=2, used=0) == []


@pytest.mark.parametrize("platform", ["ascend910b2", "ascend950pr"])
def test_assumed_numbers_of_links_are_named_in_header_and_json(platform: str) -> None:
    from pto_tune.exporters.formats import format_named, render

    rec = api.recommendation("tput_pingpong", {}, platform)
    numbers = api.load_platform(platform).numbers
    assert rec.assumed
    assert {numbers[key].kind for key in rec.assumed} == {"assumed"}
    assert all(key.startswith(("link.", "signal.")) for key in rec.assumed)
    said = " ".join(render_header(rec).replace("//", " ").split())
    assert f"assumed the time uses {len(rec.assumed)} numbers of links and signals" in said
    assert all(key.rpartition(".")[2] in said for key in rec.assumed)
    assert all(f'"{key}"' in render(format_named("json"), [rec]) for key in rec.assumed)
    assert api.recommendation("stream", {}, platform).assumed == ()


def test_slots_of_one_sub_cores_part_are_said_to_be() -> None:
    rec = api.recommendation("flash_attention_950", {}, "ascend950pr")
    parts = {pipe.name: pipe.part_slots for pipe in rec.pipes}
    assert parts == {"qk": True, "p": False, "pv": True}
    said = " ".join(render_header(rec).replace("//", " ").split())
    assert said.count("hold one sub-core's part of a tile split by TILE_UP_DOWN") == 2
    in_gm = api.recommendation("flash_attention_950", {"qk_in_gm": 1}, "ascend950pr")
    assert [pipe.part_slots for pipe in in_gm.pipes] == [False, False, True]


@pytest.mark.parametrize(("workload", "platform"), [("flash_attention", "ascend910b2"), ("stream", "ascend950pr")])
def test_what_can_be_built_is_what_is_exportable(workload: str, platform: str) -> None:
    import numpy as np

    from pto_tune.evaluation import evaluate_columns
    from pto_tune.exporters.recommending import buildable
    from pto_tune.space import space

    problem = api.problem_of(workload, platform)
    found = space(problem.workload, {})
    table = found.table(np.arange(0, found.size, 7))
    e = evaluate_columns(problem, table)
    assert (buildable(problem.workload, problem.rule_set, table, len(e)) == e.derived_period).all()


def test_labelled_tunables_are_constants_with_their_meaning(compiler_says: Compile) -> None:
    rec = api.recommendation("tput_pingpong", {"ping_pong": 1}, "ascend910b2")
    text = render_header(rec)
    assert "inline constexpr std::uint32_t PING_PONG = 1;  // on\n" in text
    assert rec.codes["ping_pong"] == 1
    assert rec.number("ping_pong") == 1
    assert compiler_says(text) == ""
