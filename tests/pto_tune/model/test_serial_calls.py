"""The four calls in JSON: tiles, configurations, splits and events, and the pipes that they go through."""

import json
from pathlib import Path
from typing import Any

import pytest

from pto_tune.model import fixpipe, serial
from pto_tune.model.expr import expr, name
from pto_tune.model.nodes import (
    DIRECTIONS,
    PIPE_KINDS,
    TILE_KINDS,
    Buffer,
    Fifo,
    Launch,
    Loop,
    Node,
    Talloc,
    TConfig,
    Tfree,
    Tile,
    Token,
    Tpop,
    Tpush,
    Workload,
)
from pto_tune.model.vocabulary import instr, loop, talloc, tfree, tile, tpop, tpush

CALLS = Path(__file__).with_name("calls.json").read_text("utf-8")
"""Every form of every call, in a pipe of both ways and in one of a single way."""

OLD_FIFO = {
    "name": "q",
    "direction": "C2V",
    "slot_bytes": 64,
    "slot_num": 2,
    "sync_period": 0,
    "local_slot_num": 1,
    "split": 1,
    "flag_id": 0,
    "tile_bytes": 64,
}


def pipe(own: str, direction: str, **changes: Any) -> Fifo:
    one = expr(1)
    return Fifo(own, direction, expr(64), expr(2), expr(0), one, one, flag_id=0, tile_bytes=expr(64), **changes)


def built(aic: tuple[Node, ...] = (), aiv: tuple[Node, ...] = (), *fifos: Fifo) -> Workload:
    acc = Buffer("acc", "AIC", "L0C", expr(64), expr(1))
    return Workload(
        name="built",
        doc="",
        problem=(),
        tunables=(),
        buffers=(acc,),
        fifos=fifos or (pipe("q", "C2V"),),
        programs=(("AIC", aic), ("AIV", aiv)),
        launch=Launch(expr(1)),
    )


def changed(path: str, value: Any = None, delete: bool = False) -> Any:
    """The document with another value at the place, written as errors write it, or without it."""
    document = json.loads(CALLS)
    inside: Any = document
    keys = [int(part[1:-1]) if part.startswith("[") else part for part in path.replace("[", ".[").split(".")]
    for key in keys[:-1]:
        inside = inside[key]
    if delete:
        del inside[keys[-1]]
    else:
        inside[keys[-1]] = value
    return document


def errors(document: Any) -> list[str]:
    with pytest.raises(serial.WorkloadError) as caught:
        serial.from_dict(document)
    return str(caught.value).split("\n")


# the form


def test_every_call_comes_back_equal() -> None:
    w = serial.from_json(CALLS)
    assert serial.check(w) == []
    assert serial.from_json(serial.to_json(w)) == w
    assert serial.to_dict(w) == json.loads(CALLS)


def test_a_push_has_its_tile_and_its_configuration_in_it() -> None:
    push = serial.from_json(CALLS).programs[0][1][2]
    assert isinstance(push, Tpush)
    assert push.tile is not None
    assert (push.tile.kind, push.tile.rows, push.tile.takes) == ("Acc", 64 - name("sub"), ("acc",))
    assert push.tile.releases == (Token("acc", ("mm", "st")),)
    assert push.config == TConfig("NZ2NZ", "F322F16", "NormalRelu", "Final", 2, "AtomicAdd", "ClipRelu", True)
    assert (push.waits, push.event, push.simplified) == (("multiplied",), "pushed", False)


def test_the_tile_of_a_free_is_a_flag() -> None:
    free = serial.from_json(CALLS).programs[0][1][4]
    assert free == Tfree("pair", tile=True, split=expr(1), waits=("popped",), event="freed")


def test_a_pipe_says_what_differs_from_a_plain_one() -> None:
    pair, out = serial.from_json(CALLS).fifos
    assert (pair.kind, pair.gm_form, pair.gated, pair.record) == ("TMPipe", True, expr(1), expr(0))
    assert pair.is_no_split is not None
    assert (out.kind, out.gm_form, out.is_no_split, out.gm_bytes) == ("TPipe", False, None, expr(0))
    assert (out.allocate, out.record, out.wait, out.free, out.gated) == (*[expr(1)] * 4, expr(0))


def test_a_plain_call_through_a_plain_pipe_reads_and_writes_as_it_always_has() -> None:
    plain = built((talloc("q"), tpush("q")), (tpop("q"), tfree("q")))
    form = serial.to_dict(plain)
    assert form["fifos"] == [OLD_FIFO]
    assert form["programs"] == {
        "AIC": [{"kind": "talloc", "fifo": "q"}, {"kind": "tpush", "fifo": "q"}],
        "AIV": [{"kind": "tpop", "fifo": "q"}, {"kind": "tfree", "fifo": "q"}],
    }
    assert serial.from_dict(form) == plain


def test_the_defaults_of_a_call_may_be_written_out() -> None:
    plain = built((talloc("q"), tpush("q")), (tpop("q"), tfree("q")))
    form = serial.to_dict(plain)
    for node in (*form["programs"]["AIC"], *form["programs"]["AIV"]):
        node |= {"split": None, "waits": [], "event": ""}
    form["programs"]["AIC"][1] |= {"tile": None, "config": None, "simplified": False}
    form["programs"]["AIV"][0] |= {"tile": None}
    form["programs"]["AIV"][1] |= {"tile": False}
    form["fifos"][0] |= {"kind": "TPipe", "gm_form": False, "is_no_split": None, "gm_bytes": 0, "gated": 0, "free": 1}
    assert serial.from_dict(form) == plain


def test_the_defaults_of_a_configuration_may_be_left_out() -> None:
    push = tpush("q", tile("Acc", 16, 16), config=TConfig())
    form = serial.to_dict(built((push,)))["programs"]["AIC"][0]
    assert form["config"] == {}
    assert form["tile"] == {"kind": "Acc", "rows": 16, "cols": 16, "elem_bytes": 4}
    assert serial.from_json(serial.to_json(built((push,)))).programs[0][1] == (push,)


# the check

FILLS = {
    "C2V": ["AIC"],
    "V2C": ["AIV"],
    "BOTH": ["AIC", "AIV"],
    "V2C_CTRL": ["AIV"],
    "C2V_GM": ["AIC"],
    "V2C_GM": ["AIV"],
    "BOTH_GM": ["AIC", "AIV"],
}
EMPTIES = {direction: [{"AIC": "AIV", "AIV": "AIC"}[core] for core in FILLS[direction]] for direction in FILLS}


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("core", ["AIC", "AIV"])
def test_a_core_calls_the_pipes_that_have_a_way_for_its_side(direction: str, core: str) -> None:
    for nodes, side, cores in (
        ((talloc("q"), tpush("q"), tpush("q", tile("Vec", 1, 8))), "fills", FILLS),
        ((tpop("q"), tpop("q", tile("Vec", 1, 8)), tfree("q"), tfree("q", tile=True)), "empties", EMPTIES),
    ):
        bodies = (nodes, ()) if core == "AIC" else ((), nodes)
        found = serial.check(built(*bodies, pipe("q", direction)))
        wrong = [
            f"programs.{core}[{i}].fifo: 'q' is no FIFO that {core} {side}: there is none" for i in range(len(nodes))
        ]
        assert found == ([] if core in cores[direction] else wrong)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("core", ["AIC", "AIV"])
def test_an_instruction_writes_what_its_core_fills_and_reads_what_it_empties(direction: str, core: str) -> None:
    for part, side, cores in (("writes", "fills", FILLS), ("reads", "empties", EMPTIES)):
        touching: Any = {part: ["q"]}
        node = instr("A", "MTE2", **touching)
        bodies = ((node,), ()) if core == "AIC" else ((), (node,))
        found = serial.check(built(*bodies, pipe("q", direction)))
        place = f"programs.{core}[0].{part}[0]"
        wrong = [f"{place}: 'q' is no ring of {core} or FIFO that {core} {side}: there is none"]
        assert found == ([] if core in cores[direction] else wrong)


def test_a_pipe_of_both_ways_has_one_name() -> None:
    twice = built((), (), pipe("q", "BOTH"), pipe("q", "C2V"))
    assert serial.check(twice) == ["fifos[1].name: 'q' is taken by fifos[0].name: expected another name"]


SUB = ["name", "sub"]
BLOCK = ["name", "block"]
PUSH = "programs.AIC[2]"
POP = "programs.AIV[0].body[0]"


@pytest.mark.parametrize(
    "place",
    [
        "programs.AIC[3].split",
        f"{PUSH}.split",
        f"{PUSH}.tile.rows",
        f"{PUSH}.tile.cols",
        f"{PUSH}.tile.elem_bytes",
        f"{PUSH}.tile.costs[0].rows",
        "programs.AIC[4].split",
        "programs.AIC[5].split",
        "programs.AIV[0].trips",
        f"{POP}.split",
        f"{POP}.tile.cols",
    ],
)
def test_sub_and_block_have_a_value_in_programs(place: str) -> None:
    w = serial.from_dict(changed(place, ["+", SUB, BLOCK]))
    assert serial.from_json(serial.to_json(w)) == w


PIPE_EXPRESSIONS = ["slot_num", "split", "used", "is_no_split", "gm_bytes", "allocate", "record", "wait", "free"]


@pytest.mark.parametrize("field", [*PIPE_EXPRESSIONS, "gated"])
def test_a_pipe_is_the_same_for_both_sub_cores(field: str) -> None:
    serial.from_dict(changed(f"fifos[0].{field}", BLOCK))
    assert errors(changed(f"fifos[0].{field}", SUB)) == [
        f"fifos[0].{field}: 'sub' has no value here: expected it in programs only"
    ]
    (sentence,) = errors(changed(f"fifos[0].{field}", ["name", "m"]))
    assert sentence.startswith(f"fifos[0].{field}: 'm' is no problem size, tunable or earlier derived name")


LAYOUTS = "expected NZ2ND, NZ2NZ or NZ2DN"
OBJECT = "expected an object"


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        # pipes
        ("fifos[0].kind", "Pipe", "'Pipe' is no kind of pipe: expected TPipe or TMPipe"),
        ("fifos[0].kind", 1, "1 is no kind of pipe: expected TPipe or TMPipe"),
        ("fifos[0].gm_form", 1, "is 1: expected true or false"),
        ("fifos[0].gm_bytes", "64", "'64' is no expression: expected an integer"),
        ("fifos[0].gm_bytes", None, "null is no expression: expected an integer"),
        ("fifos[0].gated", True, "true is no expression: expected an integer"),
        # calls
        ("programs.AIC[3].split", "UP_DOWN", "'UP_DOWN' is no expression: expected an integer"),
        ("programs.AIC[5].split", 2**40, "1099511627776 is out of range: expected at most 2147483648 in magnitude"),
        ("programs.AIC[4].tile", 1, "is 1: expected true or false"),
        ("programs.AIC[4].tile", {"kind": "Mat"}, "is an object: expected true or false"),
        ("programs.AIC[4].waits", "popped", "is 'popped': expected a list"),
        ("programs.AIC[4].waits[0]", "here", "'here' is no event of AIC: expected multiplied, pushed, popped, freed"),
        ("programs.AIV[2].waits[0]", "popped", "'popped' is no event of AIV: expected here"),
        ("programs.AIC[5].waits[0]", 5, "5 is no event of AIC: expected multiplied"),
        ("programs.AIC[6].event", "a b", "'a b' is no name: expected a letter"),
        (f"{PUSH}.simplified", 0, "is 0: expected true or false"),
        (f"{PUSH}.simplified", True, "is true with a configuration: expected it of a tile alone"),
        ("programs.AIC[6].simplified", True, "is true without a tile: expected it of a tile alone"),
        ("programs.AIC[6].config", {}, "is given without a tile: expected a tile, or no configuration"),
        # tiles
        (f"{PUSH}.tile", True, f"is true: {OBJECT}"),
        (f"{PUSH}.tile", [], f"is an empty list: {OBJECT}"),
        (f"{PUSH}.tile.kind", "acc", "'acc' is no kind of tile: expected Acc, Vec, Mat or Ctrl"),
        (f"{PUSH}.tile.kind", ["Acc"], "a list is no kind of tile: expected Acc, Vec, Mat or Ctrl"),
        (f"{PUSH}.tile.rows", 1.5, "1.5 is no expression: expected an integer"),
        (f"{PUSH}.tile.cols", ["name", "m"], "'m' is no problem size, tunable or earlier derived name"),
        (f"{PUSH}.tile.takes[0]", "vec", "'vec' is no buffer of AIC: expected acc or mat"),
        (f"{PUSH}.tile.releases[0].buffer", "vec", "'vec' is no buffer of AIC: expected acc or mat"),
        (f"{PUSH}.tile.releases[0].unit_flag[1]", "mn", "'mn' is no label of an instruction of AIC with costs"),
        (f"{PUSH}.tile.releases[0].unit_flag", ["mm"], "has 1 labels: expected those of a matmul"),
        (f"{PUSH}.tile.costs[0].model", "drain_l1", "'drain_l1' is no cost model: expected dma, matmul, drain"),
        (f"{POP}.tile.acquires[0]", "acc", "'acc' is no buffer of AIV: expected vec"),
        (f"{POP}.tile.publishes[0]", "acc", "'acc' is no buffer of AIV: expected vec"),
        # configurations
        (f"{PUSH}.config", "NZ2ND", f"is 'NZ2ND': {OBJECT}"),
        (f"{PUSH}.config.layout", "ND2NZ", f"'ND2NZ' is no layout of TConfig: {LAYOUTS}"),
        (f"{PUSH}.config.layout", None, f"null is no layout of TConfig: {LAYOUTS}"),
        (f"{PUSH}.config.quant", "", "'' is no quant of TConfig: expected NoQuant, F322F16, "),
        (f"{PUSH}.config.relu", "Relu", "'Relu' is no relu of TConfig: expected NoRelu or NormalRelu"),
        (f"{PUSH}.config.phase", "Last", "'Last' is no phase of TConfig: expected Unspecified, Partial or Final"),
        (f"{PUSH}.config.atomic", "Add", "'Add' is no atomic of TConfig: expected AtomicNone or AtomicAdd"),
        (f"{PUSH}.config.sub_block_id", True, "is true: expected an integer"),
        (f"{PUSH}.config.channel_split", 0, "is 0: expected true or false"),
        (f"{PUSH}.config.clip_relu", "a b", "'a b' is no name: expected a letter"),
    ],
)
def test_one_wrong_value_is_one_sentence_at_its_place(path: str, value: Any, sentence: str) -> None:
    found = errors(changed(path, value))
    assert len(found) == 1, found
    assert found[0].startswith(f"{path}: {sentence}")


@pytest.mark.parametrize("part", ["kind", "rows", "cols", "elem_bytes"])
def test_a_tile_has_a_kind_and_a_shape(part: str) -> None:
    assert errors(changed(f"{PUSH}.tile.{part}", delete=True)) == [f"{PUSH}.tile.{part}: is missing: expected a value"]


@pytest.mark.parametrize(
    ("path", "place"),
    [
        (f"{PUSH}.tile.copies", f"{PUSH}.tile"),
        (f"{PUSH}.config.mode", f"{PUSH}.config"),
        ("programs.AIC[3].config", "programs.AIC[3]"),
        ("programs.AIC[3].simplified", "programs.AIC[3]"),
        ("programs.AIC[5].tile", "programs.AIC[5]"),
        ("fifos[0].depth", "fifos[0]"),
    ],
)
def test_an_unknown_key_is_one_sentence(path: str, place: str) -> None:
    (sentence,) = errors(changed(path, 1))
    assert sentence.startswith(f"{place}: unknown key {path.split('.')[-1]!r}: expected ")


def test_a_pipe_without_a_direction_may_be_called_from_both_sides() -> None:
    assert errors(changed("fifos[0].direction", "C2C")) == [
        "fifos[0].direction: 'C2C' is no direction: expected C2V, V2C, BOTH, V2C_CTRL, C2V_GM, V2C_GM or BOTH_GM"
    ]


def test_the_lists_of_a_call_are_bounded() -> None:
    serial.from_dict(changed("programs.AIC[5].waits", ["freed"] * 256))
    sentence = "has too many entries: expected at most 256"
    assert errors(changed("programs.AIC[5].waits", ["freed"] * 257)) == [f"programs.AIC[5].waits: {sentence}"]
    assert errors(changed(f"{PUSH}.tile.takes", ["acc"] * 257)) == [f"{PUSH}.tile.takes: {sentence}"]


def test_every_name_of_the_vocabulary_is_taken() -> None:
    for part, names in {
        "layout": fixpipe.LAYOUTS,
        "quant": tuple(fixpipe.OUTPUT_TYPES),
        "relu": fixpipe.RELU_MODES,
        "phase": fixpipe.PHASES,
        "atomic": fixpipe.ATOMICS,
    }.items():
        for own in names:
            config: dict[str, Any] = {part: own}
            assert serial.check(built((tpush("q", tile("Acc", 1, 16), config=TConfig(**config)),))) == []
    for kind in TILE_KINDS:
        assert serial.check(built((tpush("q", tile(kind, 1, 16)),))) == []
    for kind in PIPE_KINDS:
        assert serial.check(built((), (), pipe("q", "C2V", kind=kind))) == []


def test_calls_and_instructions_of_a_core_share_their_events() -> None:
    fetch = instr("TLOAD", "MTE2", waits=["freed"], event="loaded")
    last = loop(2, tpop("q", waits=["loaded"], event="popped"), tfree("q", waits=["popped"], event="freed"))
    assert serial.check(built((), (fetch, last))) == []
    assert serial.check(built((Talloc("q", waits=("freed",)),), (fetch, last))) == [
        "programs.AIC[0].waits[0]: 'freed' is no event of AIC: there is none"
    ]


def test_the_configuration_and_the_short_form_are_of_tiles() -> None:
    acc = tile("Acc", 16, 16)
    assert serial.check(built((tpush("q", acc, config=TConfig()), tpush("q", acc, simplified=True)))) == []
    assert serial.check(built((tpush("q", config=TConfig()), tpush("q", simplified=True)))) == [
        "programs.AIC[0].config: is given without a tile: expected a tile, or no configuration",
        "programs.AIC[1].simplified: is true without a tile: expected it of a tile alone",
    ]


def test_calls_built_by_hand_are_looked_into() -> None:
    wrong: Any = True
    expression: Any = 3
    nodes = (
        Tpush("q", tile=wrong),
        Tpush("q", tile=tile("Acc", 1, 1), config=wrong),
        Tpush("q", tile=Tile("Acc", expression, expr(1), expr(4))),
        Loop(expr(1), (Tpush("q", split=expression),)),
    )
    assert serial.check(built(nodes, (Tpop("q", tile=wrong),))) == [
        "programs.AIC[0].tile: is true: expected a tile",
        "programs.AIC[1].config: is true: expected a configuration",
        "programs.AIC[2].tile.rows: 3 is no expression: expected one of integers and names",
        "programs.AIC[3].body[0].split: 3 is no expression: expected one of integers and names",
        "programs.AIV[0].tile: is true: expected a tile",
    ]
