"""What ranks do with one another, in JSON: signals, staging tiles, transfers, polling, and the variables of a core."""

import json
from pathlib import Path
from typing import Any

import pytest

from pto_tune.model import nodes, serial
from pto_tune.model.communication import (
    COMPARISONS,
    NOTIFY_OPS,
    Barrier,
    Let,
    Post,
    Signal,
    Staging,
    Tget,
    Tnotify,
    Tput,
    Ttest,
    Twait,
)
from pto_tune.model.expr import expr, name
from pto_tune.model.nodes import Launch, Loop, Node, Parameter, While, Workload
from pto_tune.model.vocabulary import cycles, instr, loop
from pto_tune.model.vocabulary_remote import (
    barrier,
    let,
    loop_index,
    poll,
    post,
    signal,
    staging,
    tget,
    tnotify,
    tput,
    tput_async,
    ttest,
    twait,
    while_loop,
)

RANKS = Path(__file__).with_name("ranks.json").read_text("utf-8")
"""Every node between ranks, in every form, with everything that differs from the defaults."""

SHAPE = (1, 1, 1, 8, 8)
RANK, INDEX = name("rank"), name("i")
VARIABLE = "is a variable, which has no value here: expected it in trips, conditions, peers, elements and values"


def built(*aiv: Node, aic: tuple[Node, ...] = (), **changes: Any) -> Workload:
    values: dict[str, Any] = {
        "name": "built",
        "doc": "",
        "problem": (Parameter("n", 3, ""),),
        "tunables": (),
        "buffers": (),
        "fifos": (),
        "programs": (("AIC", aic), ("AIV", aiv)),
        "launch": Launch(expr(1)),
        "ranks": expr(4),
        "signals": (signal("done", 4),),
        "staging": (staging("ping", 8, 8), staging("pong", 8, 8)),
    }
    return Workload(**(values | changes))


def changed(path: str, value: Any = None, delete: bool = False) -> Any:
    """The document with another value at the place, written as errors write it, or without it."""
    document = json.loads(RANKS)
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


def test_every_node_between_ranks_comes_back_equal() -> None:
    w = serial.from_json(RANKS)
    assert serial.check(w) == []
    assert serial.from_json(serial.to_json(w)) == w


def test_what_is_written_is_the_document_without_its_defaults() -> None:
    assert serial.to_dict(serial.from_json(RANKS)) == json.loads(RANKS)


def test_the_document_has_every_kind_of_node_between_ranks() -> None:
    w = serial.from_json(RANKS)
    kinds = {type(node) for _, body in w.programs for node in nodes.walk(body)}
    assert kinds >= {Tput, Tget, Tnotify, Post, Twait, Ttest, Barrier, Let}
    assert any(isinstance(node, While) for node in w.programs[1][1])


def test_a_transfer_has_its_operands() -> None:
    body = serial.from_json(RANKS).programs[1][1][2]
    assert isinstance(body, Loop)
    put, get, by_sdma = body.body
    assert put == Tput(
        shape=(expr(1), expr(1), expr(1), expr(64), name("n")),
        peer=(RANK + (INDEX + 1)) % name("world"),
        tile="ping",
        pong="pong",
        use_pong=name("sub"),
        atomic="AtomicAdd",
        atomic_at_run_time=True,
        elem="half",
        dst_elem="float",
        layout="NZ",
        dst_layout="DN",
        src_remote=True,
        dst_remote=False,
        waits=("got",),
        event="sent",
    )
    assert isinstance(get, Tget)
    assert (get.peer, get.src_remote, get.dst_remote, get.asynchronous) == (INDEX, None, None, False)
    assert isinstance(by_sdma, Tput)
    assert (by_sdma.tile, by_sdma.asynchronous) == ("", True)


def test_a_view_is_a_list_of_counts_and_strides() -> None:
    polling = serial.from_json(RANKS).programs[1][1][1]
    assert isinstance(polling, While)
    assert polling.body == (
        Ttest(
            "done", name("n"), "ready", "EQ", expr(2), ((expr(2), name("world")), (name("ready"), expr(1))), True,
            ("sent",),
        ),
    )  # fmt: skip


def test_signals_and_staging_tiles_have_their_fields() -> None:
    w = serial.from_json(RANKS)
    assert w.signals[1] == Signal("flags", (*[expr(1)] * 5, name("n")), "int64", expr(6))
    assert w.staging[0] == Staging("ping", expr(64), expr(128))
    assert w.staging[1] == Staging(
        "pong", expr(64), name("n"), "half", expr(32), expr(16), expr(1), name("block"), expr(4096), name("n"), "Mat",
        "ColMajor", "RowMajor",
    )  # fmt: skip
    assert (w.ranks, w.ranks_per_node, w.has_ranks) == (name("world"), expr(2), True)


def test_the_defaults_may_be_written_out() -> None:
    document = json.loads(RANKS)
    document["signals"][0] |= {"elem": "int32", "offset_bytes": 0}
    document["staging"][0] |= {"elem": "float", "valid_rows": None, "dynamic_rows": 0, "offset_bytes": None, "used": 1}
    document["programs"]["AIV"][2]["body"][1] |= {"src_remote": None, "dst_remote": None, "use_pong": 1, "waits": []}
    document["programs"]["AIV"][5] |= {"op": "AtomicAdd", "remote": True, "announces": True, "at": 0}
    assert serial.from_dict(document) == serial.from_json(RANKS)


def test_a_workload_without_ranks_says_nothing_of_them() -> None:
    plain = built(loop(2, instr("A", "V")), ranks=expr(0), signals=(), staging=())
    form = serial.to_dict(plain)
    assert {"ranks", "ranks_per_node", "signals", "staging"}.isdisjoint(form)
    assert form["programs"]["AIV"] == [
        {"kind": "loop", "trips": 2, "body": [{"kind": "instr", "name": "A", "pipe": "V"}]}
    ]


# one sentence for one wrong value

TRANSFER = "programs.AIV[2].body[0]"
TEST = "programs.AIV[1].body[0]"
WAIT = "programs.AIV[6]"
NAME = "expected a letter, then letters, digits or _, at most 64 characters"
UNKNOWN = "'m' is no problem size, tunable, earlier derived name or variable"


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        # what is referred to
        (f"{TRANSFER}.tile", "pang", "'pang' is no staging tile: expected ping or pong"),
        (f"{TRANSFER}.pong", "pang", "'pang' is no staging tile: expected ping or pong"),
        (f"{TRANSFER}.tile", "", "is missing: expected a staging tile, or an asynchronous call"),
        (f"{TRANSFER}.waits[0]", "gone", "'gone' is no event of AIV: expected sent or got"),
        (f"{TEST}.waits[0]", "loaded", "'loaded' is no event of AIV: expected sent or got"),
        (f"{WAIT}.waits[1]", "gone", "'gone' is no event of AIV: expected sent or got"),
        ("programs.AIC[2].waits[0]", "sent", "'sent' is no event of AIC: expected loaded"),
        ("programs.AIC[2].signal", "ping", "'ping' is no signal: expected done or flags"),
        ("programs.AIC[0].body[0].signal", "ping", "'ping' is no signal: expected done or flags"),
        (f"{TEST}.signal", "dona", "'dona' is no signal: expected done or flags"),
        (f"{WAIT}.signal", 5, "5 is no signal: expected done or flags"),
        ("programs.AIC[3].pipes[1]", "V", "'V' is no pipe of AIC: expected MTE2, MTE1, M or FIX"),
        ("programs.AIV[3].pipes[0]", "M", "'M' is no pipe of AIV: expected MTE2, V, MTE3 or SDMA"),
        (
            "programs.AIC[3].pipes[0]",
            "SDMA",
            "'SDMA' is no pipe of AIC without an asynchronous call: expected MTE2, MTE1, M or FIX",
        ),
        # words
        (f"{TEST}.cmp", "==", "'==' is no comparison: expected EQ, NE, GT, GE, LT or LE"),
        (f"{WAIT}.cmp", "ge", "'ge' is no comparison: expected EQ, NE, GT, GE, LT or LE"),
        ("programs.AIC[2].op", "Add", "'Add' is no operation on a signal: expected Set or AtomicAdd"),
        ("programs.AIC[0].body[0].op", "", "'' is no operation on a signal: expected Set or AtomicAdd"),
        (
            f"{TRANSFER}.atomic",
            "AtomicXor",
            "'AtomicXor' is no atomic type: expected AtomicNone, AtomicAdd, AtomicMax or AtomicMin",
        ),
        (f"{TRANSFER}.elem", "", f"'' is no name: {NAME}"),
        (f"{TRANSFER}.layout", 5, f"5 is no name: {NAME}"),
        (f"{TRANSFER}.dst_elem", "a b", f"'a b' is no name: {NAME}"),
        ("signals[1].elem", "a b", f"'a b' is no name: {NAME}"),
        ("staging[1].location", "", f"'' is no name: {NAME}"),
        # numbers, flags and lists
        (f"{TRANSFER}.shape", [1, 1, 64, 8], "has 4 extents: expected 5, d0 to d4"),
        (f"{TRANSFER}.shape", [1] * 6, "has 6 extents: expected 5, d0 to d4"),
        (f"{TRANSFER}.shape", 5, "is 5: expected a list"),
        (f"{TRANSFER}.shape[3]", None, "null is no expression: expected an integer"),
        (f"{TRANSFER}.src_remote", 1, "is 1: expected true or false"),
        (f"{TRANSFER}.asynchronous", None, "is null: expected true or false"),
        ("programs.AIC[2].announces", 0, "is 0: expected true or false"),
        (f"{TEST}.view[0]", [2], "has 1 entries: expected a count and a stride"),
        (f"{TEST}.view[1]", [2, 1, 1], "has 3 entries: expected a count and a stride"),
        (f"{TEST}.view[0]", 2, "is 2: expected a list"),
        (f"{TEST}.view[0][1]", "x", "'x' is no expression: expected an integer"),
        ("signals[0].dims", 4, "is 4: expected a list"),
        ("signals[0].dims[0]", 4.0, "4.0 is no expression: expected an integer"),
        ("staging[0].rows", None, "null is no expression: expected an integer"),
        ("signals", {}, "is an object: expected a list"),
        ("signals[0]", "done", "is 'done': expected an object"),
        # names of expressions
        ("programs.AIV[0].value", ["name", "m"], f"{UNKNOWN}: expected n, world, ready or i"),
        (f"{TRANSFER}.shape[0]", ["name", "i"], f"'i' {VARIABLE}"),
        (f"{TRANSFER}.use_pong", ["name", "i"], f"'i' {VARIABLE}"),
        ("programs.AIC[2].peer", ["name", "m"], f"{UNKNOWN}: expected n, world or round"),
        ("programs.AIC[2].peer", ["name", "i"], "'i' is no problem size, tunable, earlier derived name or variable"),
        ("launch.blocks", ["name", "rank"], "'rank' has no value here: expected it in programs only"),
        ("ranks", ["name", "rank"], "'rank' has no value here: expected it in programs only"),
        ("signals[0].dims[1]", ["name", "rank"], "'rank' has no value here: expected it in programs only"),
        ("staging[0].cols", ["name", "rank"], "'rank' has no value here: expected it in programs only"),
        ("ranks", ["name", "block"], "'block' has no value here: expected it anywhere but in the launch, the ranks"),
        ("signals[0].dims[1]", ["name", "block"], "'block' has no value here: expected it anywhere but in the launch"),
        # variables
        ("programs.AIV[0].name", "9", f"'9' is no name: {NAME}"),
        ("programs.AIV[0].name", "world", "'world' is taken by tunables[0].name: expected another name"),
        ("programs.AIV[0].name", "rank", "'rank' is reserved: expected another name"),
        (f"{TEST}.into", "", f"'' is no name: {NAME}"),
        (f"{TEST}.into", "n", "'n' is taken by problem[0].name: expected another name"),
    ],
)  # fmt: skip
def test_one_wrong_value_is_a_sentence_at_its_place(path: str, value: Any, sentence: str) -> None:
    found = errors(changed(path, value))
    assert len(found) == 1, found
    assert found[0].startswith(f"{path}: {sentence}")


@pytest.mark.parametrize(
    "path",
    [
        f"{TRANSFER}.shape",
        f"{TRANSFER}.peer",
        f"{TEST}.into",
        f"{TEST}.signal",
        f"{WAIT}.value",
        "programs.AIC[2].peer",
        "programs.AIV[0].name",
        "programs.AIV[0].value",
        "programs.AIV[1].condition",
        "programs.AIV[1].most",
        "programs.AIV[1].body",
        "signals[0].name",
        "signals[0].dims",
        "staging[0].name",
        "staging[1].cols",
    ],
)
def test_a_missing_key_is_one_sentence_and_has_no_other_in_tow(path: str) -> None:
    (sentence,) = errors(changed(path, delete=True))
    assert sentence.startswith(f"{path}: is missing: expected ")


@pytest.mark.parametrize("path", ["problem[0].name", "tunables[0].name"])
def test_with_ranks_the_name_of_the_rank_is_reserved(path: str) -> None:
    assert errors(changed(path, "rank"))[0] == f"{path}: 'rank' is reserved: expected another name"


@pytest.mark.parametrize(("path", "own"), [("signals", "done"), ("staging", "ping")])
def test_a_name_is_given_once(path: str, own: str) -> None:
    assert errors(changed(f"{path}[1].name", own))[0] == (
        f"{path}[1].name: '{own}' is taken by {path}[0].name: expected another name"
    )


@pytest.mark.parametrize("path", ["signals", "staging"])
def test_signals_and_staging_tiles_are_bounded(path: str) -> None:
    document = json.loads(RANKS)
    document[path] += [document[path][0] | {"name": f"x{i}"} for i in range(62)]
    serial.from_dict(document)
    document[path].append(document[path][0] | {"name": "last"})
    assert errors(document) == [f"{path}: has too many entries: expected at most 64"]


# what is right


@pytest.mark.parametrize("cmp", COMPARISONS)
def test_every_comparison_is_known(cmp: str) -> None:
    assert serial.check(built(twait("done", 1, cmp=cmp), ttest("done", 1, cmp=cmp, into="x"))) == []


@pytest.mark.parametrize("op", NOTIFY_OPS)
def test_every_operation_is_known(op: str) -> None:
    assert serial.check(built(tnotify("done", 0, op=op), post("done", 1, op=op))) == []


def test_what_the_legality_rules_refuse_is_a_workload() -> None:
    """Their sentences say more: what the instruction demands, and why."""
    odd = (
        tput(RANK, SHAPE, "ping", pong="ping", elem="int3", dst_elem="float", layout="NZ", src_remote=True),
        tget(-1, (0, 0, 0, 0, 0), "ping", atomic="AtomicMax", atomic_at_run_time=True),
        tput_async(9, SHAPE, atomic="AtomicMin"),
        tnotify("many", 99, at=-5, remote=False),
        twait("many", 1, remote=True, view=[(0, -1)]),
    )
    signals = (signal("done", 4), signal("many", 1, 1, 1, 1, 1, 1, elem="int64", offset_bytes=-3), signal("none"))
    tiles = (staging("ping", 0, -8, "complex", location="Mat", valid_rows=99, offset_bytes=-32),)
    assert serial.check(built(*odd, signals=signals, staging=tiles)) == []


def test_a_cube_core_has_everything_but_transfers() -> None:
    right = (*poll("done", 1, 8), twait("done", 1), tnotify("done", 0), post("done", 1), barrier(), barrier("FIX"))
    assert serial.check(built(aic=right)) == []
    assert serial.check(built(aic=(tput(0, SHAPE, "ping"), tget(0, SHAPE, "ping")))) == [
        "programs.AIC[0]: TPUT is in a program of AIC: expected it in one of AIV",
        "programs.AIC[1]: TGET is in a program of AIC: expected it in one of AIV",
    ]


def test_an_asynchronous_call_makes_its_pipe_wherever_it_stands() -> None:
    assert serial.check(built(barrier("SDMA"), while_loop(1, 1, loop(1, tput_async(0, SHAPE))))) == []
    assert len(serial.check(built(barrier("SDMA"), tput(0, SHAPE, "ping")))) == 1


def test_an_event_of_a_transfer_is_one_of_its_core() -> None:
    assert serial.check(built(instr("A", "V", waits=["sent"]), tput_async(0, SHAPE, event="sent"))) == []


# variables


def test_a_variable_may_be_used_wherever_the_scalar_core_decides() -> None:
    body = (
        loop(INDEX, while_loop(INDEX.lt(3), INDEX + 1, let("k", INDEX * 2))),
        tput(INDEX, SHAPE, "ping"),
        tnotify("done", INDEX, INDEX, at=INDEX),
        post("done", INDEX, at=INDEX),
        twait("done", INDEX, at=INDEX, view=[(INDEX, INDEX)]),
        ttest("done", INDEX, at=INDEX, view=[(INDEX, INDEX)], into="j"),
    )
    assert serial.check(built(loop_index("i", 4, *body))) == []


def test_a_variable_may_be_set_in_many_places_and_used_before() -> None:
    assert (
        serial.check(built(let("a", INDEX), loop_index("i", 2), loop_index("i", INDEX), ttest("done", 1, into="i")))
        == []
    )


def test_a_variable_is_of_one_core() -> None:
    (found,) = serial.check(built(let("i", 0), aic=(loop(INDEX),)))
    assert found == "programs.AIC[0].trips: 'i' is no problem size, tunable or earlier derived name: expected n"


def test_neither_costs_nor_shapes_know_variables() -> None:
    body = (let("i", 0), instr("A", "V", cycles(INDEX)), tput(0, (1, 1, 1, INDEX, 8), "ping"))
    assert serial.check(built(*body)) == [
        f"programs.AIV[1].costs[0].cycles: 'i' {VARIABLE}",
        f"programs.AIV[2].shape[3]: 'i' {VARIABLE}",
    ]


def test_rank_has_a_value_in_every_expression_of_a_program() -> None:
    body = (loop(RANK, instr("A", "V", cycles(RANK + 1))), tput((RANK + 1) % 4, (1, 1, 1, RANK, 8), "ping"))
    assert serial.check(built(*body, aic=(instr("A", "M", cycles(RANK)),))) == []
    sentence = "'rank' has no value here: expected it in programs only"
    found = serial.check(built(l2_footprint=RANK, derived=(("d", RANK),)))
    assert found == [f"derived[0].value: {sentence}", f"l2_footprint: {sentence}"]


# workloads without ranks


@pytest.mark.parametrize(
    ("node", "place"),
    [
        (tput((RANK + 1) % 2, SHAPE, "ping"), "programs.AIV[0]"),
        (tnotify("done", RANK), "programs.AIV[0]"),
        (barrier(), "programs.AIV[0]"),
        (let("a", RANK), "programs.AIV[0]"),
        (while_loop(1, 1), "programs.AIV[0]"),
        (loop_index("i", 2, loop(INDEX)), "programs.AIV[0].index"),
        (loop(RANK), "programs.AIV[0].trips"),
    ],
)
def test_what_needs_ranks_is_one_sentence_without_them(node: Node, place: str) -> None:
    sentence = "ranks: is 0, and {} needs ranks: expected how many there are"
    assert serial.check(built(node, node, ranks=expr(0))) == [sentence.format("signals[0]")]
    assert serial.check(built(ranks=expr(0), signals=())) == [sentence.format("staging[0]")]
    bare = serial.check(built(node, node, ranks=expr(0), signals=(), staging=()))
    assert [found for found in bare if "there is none" not in found] == [sentence.format(place)]


def test_ranks_that_cannot_be_read_are_one_sentence() -> None:
    (sentence,) = errors(changed("ranks", "four"))
    assert sentence.startswith("ranks: 'four' is no expression: expected an integer")


def test_a_workload_without_ranks_may_have_a_size_of_that_name() -> None:
    own = built(loop(RANK), ranks=expr(0), signals=(), staging=(), problem=(Parameter("rank", 16, "of an adapter"),))
    assert serial.check(own) == []
    assert serial.from_json(serial.to_json(own)) == own


# limits


def test_loops_of_both_kinds_nest_sixteen_deep_together() -> None:
    def nest(levels: int) -> Node:
        node: Node = let("x", 1)
        for level in range(levels):
            node = while_loop(1, 1, node) if level % 2 else loop(1, node)
        return node

    assert serial.check(built(nest(16))) == []
    w = built(nest(17))
    place = "programs.AIV[0]" + ".body[0]" * 16
    assert serial.check(w) == [f"{place}: loops are nested too deeply: expected at most 16 levels"]
    document = serial.to_dict(built(nest(16)))
    document["programs"]["AIV"] = [{"kind": "while", "condition": 1, "most": 1, "body": document["programs"]["AIV"]}]
    assert errors(document) == [f"{place}: loops are nested too deeply: expected at most 16 levels"]


def test_a_document_of_loops_in_loops_is_left_off_where_they_are_too_many() -> None:
    body: list[Any] = []
    for _ in range(5000):
        body = [{"kind": "while", "condition": 1, "most": 1, "body": body}]
    document = serial.to_dict(built())
    document["programs"]["AIV"] = body
    (sentence,) = errors(document)
    assert sentence.endswith("loops are nested too deeply: expected at most 16 levels")


def test_a_program_that_is_too_long_has_no_other_sentence_in_tow() -> None:
    body: tuple[Node, ...] = (loop(INDEX), *[barrier("SDMA")] * 10_000, tput_async(0, SHAPE), let("i", 1))
    assert serial.check(built(*body)) == ["programs: have more than 10000 nodes: expected fewer, with loops"]


def test_loops_that_share_their_bodies_are_measured_unrolled() -> None:
    body: tuple[Node, ...] = (let("i", INDEX),)
    for _ in range(15):
        body = (while_loop(INDEX, 1, *body * 10),)
    assert serial.check(built(*body)) == ["programs: have more than 10000 nodes: expected fewer, with loops"]


def test_a_view_is_bounded() -> None:
    assert serial.check(built(twait("done", 1, view=[(1, 1)] * 256))) == []
    assert serial.check(built(twait("done", 1, view=[(1, 1)] * 257))) == [
        "programs.AIV[0].view: has too many entries: expected at most 256"
    ]
