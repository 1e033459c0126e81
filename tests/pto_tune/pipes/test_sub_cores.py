"""Splits: what each sub-core moves, whom a flag reaches, and what happens where one of the two is left out."""

import pytest
from pipe_forms import FAMILIES, GLOBAL, TILES, Answer, ask, one_pipe, warned

from pto_tune.explaining.explanation import Explanation
from pto_tune.model.expr import expr
from pto_tune.model.nodes import LEFT_RIGHT, LEFT_RIGHT_ODD, NO_SPLIT, UP_DOWN, UP_DOWN_ODD, TConfig, Workload
from pto_tune.model.vocabulary import half_cols, half_rows, vector

both_families = pytest.mark.parametrize("family", FAMILIES)
both_directions = pytest.mark.parametrize("direction", ["C2V", "V2C"])
both_flows = pytest.mark.parametrize("flow", [TILES, GLOBAL])


# NO_SPLIT with one sub-core


@both_directions
@both_flows
@pytest.mark.parametrize("tiles", [2, 12])
def test_a2a3_needs_both_sub_cores_without_a_split(direction: str, flow: str, tiles: int) -> None:
    """The hardware takes a flag of the cube from both: AIV0 alone is not enough."""
    answer = ask(one_pipe(direction, flow, tiles=tiles, split=NO_SPLIT, second_sub_core=False), "a2a3")
    assert (answer.verdict, answer.rule) == ("hang", "deadlock")
    assert "AIC waits in " in answer.sentence
    assert ask(one_pipe(direction, flow, tiles=tiles, split=NO_SPLIT), "a2a3").verdicts == ("ok",)


@both_directions
@both_flows
def test_the_hang_names_the_sub_core_that_is_left_out(direction: str, flow: str) -> None:
    answer = ask(one_pipe(direction, flow, split=NO_SPLIT, second_sub_core=False), "a2a3")
    by_the_cube = next(part for part in answer.sentence.split("; ") if part.startswith("AIC"))
    assert "from AIV1" in by_the_cube


@both_directions
@pytest.mark.parametrize("tiles", [2, 12])
def test_950_needs_one_sub_core_where_is_no_split_holds(direction: str, tiles: int) -> None:
    alone = {"tiles": tiles, "split": NO_SPLIT, "second_sub_core": False}
    assert ask(one_pipe(direction, TILES, **alone), "a5").verdicts == ("ok",)
    assert ask(one_pipe(direction, TILES, **alone, is_no_split=1), "a5").verdicts == ("ok",)


def test_950_needs_both_sub_cores_with_a_split() -> None:
    answer = ask(one_pipe("C2V", TILES, split=UP_DOWN, second_sub_core=False), "a5")
    assert (answer.verdict, answer.rule) == ("hang", "deadlock")
    assert "AIV1" in answer.sentence
    half_a_tile = ask(one_pipe("V2C", TILES, split=UP_DOWN, second_sub_core=False), "a5")
    assert (half_a_tile.verdict, half_a_tile.rule) == ("refused", "pipe-layout")
    assert "AIC reads up to byte 16384 of a tile that ends at byte 8192" in half_a_tile.sentence


def test_950_waits_for_aiv1_in_the_destructor_without_is_no_split() -> None:
    """IsNoSplit is what constructor and destructor go by, the Split of the calls what calls go by."""
    answer = ask(one_pipe(split=NO_SPLIT, second_sub_core=False, is_no_split=0), "a5")
    assert answer.sentence == "AIC.FIX waits in the destructor (drain pipe) for credits that AIV1 never sends"


def test_950_never_signals_the_second_sub_core_without_a_split() -> None:
    answer = ask(one_pipe(split=NO_SPLIT), "a5")
    assert answer.verdict == "hang"
    assert "AIV1.V waits in TPOP pipe for data from AIC at tile 0" in answer.sentence
    assert "AIV0" not in answer.sentence


# UP_DOWN, LEFT_RIGHT and NO_SPLIT


def softmax(split: int, passes: int, tiles: int = 200) -> Workload:
    """The consumer makes `passes` passes of exp over its part of each tile of 64 x 128 floats; stores cost nothing."""
    part = vector("exp", half_rows(expr(64), expr(split)), half_cols(expr(128), expr(split)))
    return one_pipe(tiles=tiles, split=split, cols=128, store=0, load=None, compute=(part,) * passes)


def explain(answer: Answer) -> Explanation:
    return Explanation(answer.evaluation.problem, answer.evaluation)


def test_two_halves_are_faster_than_the_whole_tile_twice() -> None:
    """Vector-bound: with NO_SPLIT both sub-cores of A2/A3 load and compute everything."""
    halves, columns, whole = (ask(softmax(s, passes=4), "a2a3") for s in (UP_DOWN, LEFT_RIGHT, NO_SPLIT))
    assert halves.verdicts == columns.verdicts == whole.verdicts == ("ok",)
    assert whole.cycles > 1.5 * halves.cycles
    assert halves.cycles < columns.cycles < whole.cycles


def test_explain_says_that_the_vector_units_do_the_work_twice() -> None:
    halves, whole = (ask(softmax(s, passes=4), "a2a3") for s in (UP_DOWN, NO_SPLIT))
    for answer in (halves, whole):
        summary = explain(answer).summary()
        assert summary["bound"] == "AIV0.V"
        assert summary["bounds"][0] == {"pipe": "AIV0.V", "cycles": answer.busy("AIV0.V")}
        largest = summary["segments"][0]
        assert (largest["cause"], largest["name"]) == ("compute", "AIV0.V COMPUTE")
        assert largest["share"] > 0.9
        assert summary["busy"]["AIV0.V"] == summary["busy"]["AIV1.V"]
        assert sum(s["cycles"] for s in summary["segments"]) == answer.cycles
    assert whole.cycles - halves.cycles == pytest.approx(whole.busy("AIV0.V") - halves.busy("AIV0.V"), rel=0.01)
    assert whole.busy("AIV0.V") > 1.5 * halves.busy("AIV0.V")


def test_left_right_is_slower_by_its_short_bursts() -> None:
    """Half rows of 256 bytes, 64 bursts a tile: without a cost of a burst it is as fast as UP_DOWN."""
    halves, columns = (ask(softmax(s, passes=1), "a2a3") for s in (UP_DOWN, LEFT_RIGHT))
    assert columns.cycles > 1.15 * halves.cycles
    assert columns.busy("AIV0.V") == halves.busy("AIV0.V")
    assert columns.busy("AIV0.MTE2") > 1.6 * halves.busy("AIV0.MTE2")
    loads = {s["name"]: s["cycles"] for s in explain(columns).summary()["segments"]}
    assert loads["AIV0.MTE2 TPOP"] == max(loads.values())
    free_bursts = {"dma.gm_to_ub.burst": 0}
    halves, columns = (ask(softmax(s, passes=1), "a2a3", overrides=free_bursts) for s in (UP_DOWN, LEFT_RIGHT))
    assert columns.cycles == halves.cycles


# Push and pop with different splits


@both_flows
def test_push_without_and_pop_with_a_split(flow: str) -> None:
    work = one_pipe("C2V", flow, push_split=NO_SPLIT, pop_split=UP_DOWN, gm_form=flow == GLOBAL)
    assert ask(work, "a2a3").verdicts == ("ok",)
    assert list(warned(work, "a2a3")) == ["pipe-splits-differ"]
    sentence = warned(work, "a2a3")["pipe-splits-differ"]
    assert "on AIC has NO_SPLIT and TPOP on AIV UP_DOWN" in sentence
    assert "docs/isa/system/ops/TPUSH.md and TPOP.md demand one Split" in sentence
    assert "npu/a2a3/TPush.hpp" in sentence
    on_950 = ask(work, "a5")
    assert (on_950.verdict, on_950.rule) == ("hang", "deadlock")
    pipe = "V" if flow == TILES else "MTE2"
    assert f"AIV1.{pipe} waits in TPOP pipe for data from AIC at tile 0" in on_950.sentence
    assert "AIV0" not in on_950.sentence


# SubBlockId of a TConfig


@pytest.mark.parametrize(("sub_block_id", "split"), [(1, UP_DOWN), (2, UP_DOWN), (3, LEFT_RIGHT)])
@pytest.mark.parametrize("tiles", [1, 12])
def test_a_config_push_of_950_never_signals_aiv1(sub_block_id: int, split: int, tiles: int) -> None:
    """Its flags are those of NO_SPLIT, whatever SubBlockId sends to AIV1."""
    work = one_pipe(tiles=tiles, split=split, config=TConfig(sub_block_id=sub_block_id))
    answer = ask(work, "a5")
    assert (answer.verdict, answer.rule) == ("hang", "deadlock")
    assert "AIV1.V waits in TPOP pipe for data from AIC at tile 0" in answer.sentence
    assert "AIV0" not in answer.sentence
    assert ask(work, "a2a3").verdicts == ("ok",)
    assert "SubBlockId" in warned(work, "a2a3")["pipe-config-unread"]


def test_a_config_push_of_950_to_aiv0_alone_works() -> None:
    work = one_pipe(split=NO_SPLIT, second_sub_core=False, config=TConfig())
    assert ask(work, "a5").verdicts == ("ok",)


# Odd splits


@both_families
@pytest.mark.parametrize(
    ("split", "even"), [(UP_DOWN_ODD, "UP_DOWN"), (LEFT_RIGHT_ODD, "LEFT_RIGHT")], ids=["UP_DOWN", "LEFT_RIGHT"]
)
def test_odd_splits_work_for_c2v_tiles_through_gm_alone(family: str, split: int, even: str) -> None:
    odd = {"split": split, "rows": 65, "cols": 65, "slot_bytes": 17408}

    def refusal(work: Workload) -> str:
        answer = ask(work, family)
        assert (answer.verdict, answer.rule) == ("refused", "pipe-odd-split")
        return answer.sentence

    text = f"FIFO pipe: {even}_ODD works for C2V tiles through GM alone, not {{}}; nearest: {even}"
    assert refusal(one_pipe("V2C", TILES, **odd)) == text.format("for V2C")
    assert refusal(one_pipe("C2V", GLOBAL, **odd, gm_form=True)) == text.format("with GlobalData")
    if family == "a5":
        assert refusal(one_pipe("C2V", TILES, **odd)) == text.format("through a ring in UB")
    tiles = one_pipe("C2V", TILES, **odd, gm_form=True, consume="TPOP COMPUTE", load=None)
    assert ask(tiles, family).verdicts == ("ok",)
    by_bytes = ask(tiles, family, overrides={"dma.gm_to_ub.burst": 0})  # AIV0 has a row or a column more
    assert by_bytes.busy("AIV0.MTE2") > by_bytes.busy("AIV1.MTE2")
