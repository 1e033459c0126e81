"""What is wrong with a document is said in a sentence with its place, everything at once."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from pto_tune.model import serial

Document = dict[str, Any]

DRAIN = {"model": "drain", "rows": 16, "cols": 16, "out_bytes": 4, "hbm_bytes": 0}
MATMUL = {"model": "matmul", "m": 16, "k": 16, "n": 16, "elem_bytes": 2}
FLAG = {"buffer": "acc", "unit_flag": ["mm", "st"]}


def document() -> Document:
    """A workload that has a bit of everything."""
    return {
        "format": "pto-tune-workload/1",
        "name": "all",
        "doc": "",
        "problem": [
            {"name": "n", "default": 4, "doc": "trips"},
            {"name": "way", "default": 1, "doc": "", "maximum": 1, "minimum": 0, "labels": ["", "UP"]},
        ],
        "tunables": [{"name": "depth", "domain": [1, 2, 4], "default": 2, "doc": "", "maximum": 64}],
        "derived": [{"name": "half", "value": ["//", ["name", "n"], 2]}],
        "buffers": [
            {"name": "acc", "core": "AIC", "memory": "L0C", "bytes": 1024, "copies": 1},
            {"name": "tile", "core": "AIV", "memory": "UB", "bytes": 1024, "copies": 2},
        ],
        "rings": [{"name": "ring", "core": "AIV", "memory": "UB", "slots": ["name", "depth"], "bytes": 64}],
        "fifos": [
            {
                "name": "q",
                "direction": "C2V",
                "slot_bytes": 1024,
                "slot_num": ["name", "depth"],
                "sync_period": 0,
                "local_slot_num": 2,
                "split": 1,
                "flag_id": 0,
                "tile_bytes": 1024,
                "slot_num_name": "depth",
            }
        ],
        "programs": {
            "AIC": [
                {"kind": "instr", "name": "TLOAD", "pipe": "MTE2", "event": "ready"},
                {"kind": "instr", "name": "TSYNC", "pipe": "MTE1", "waits": ["ready"]},
                {
                    "kind": "loop",
                    "trips": ["name", "half"],
                    "steady": True,
                    "body": [
                        {"kind": "talloc", "fifo": "q"},
                        {
                            "kind": "instr",
                            "name": "TMATMUL",
                            "pipe": "M",
                            "costs": [MATMUL],
                            "label": "mm",
                            "acquires": ["acc"],
                            "publishes": [FLAG],
                        },
                        {
                            "kind": "instr",
                            "name": "TSTORE",
                            "pipe": "FIX",
                            "costs": [DRAIN],
                            "label": "st",
                            "takes": ["acc"],
                            "releases": [FLAG],
                            "writes": ["q"],
                        },
                        {"kind": "tpush", "fifo": "q"},
                    ],
                },
            ],
            "AIV": [
                {
                    "kind": "loop",
                    "trips": ["name", "half"],
                    "body": [
                        {"kind": "tpop", "fifo": "q"},
                        {
                            "kind": "instr",
                            "name": "TLOAD",
                            "pipe": "MTE2",
                            "acquires": ["tile"],
                            "publishes": ["tile"],
                            "reads": ["q"],
                            "costs": [
                                {
                                    "model": "dma",
                                    "path": "gm_to_ub",
                                    "bytes": 512,
                                    "burst_bytes": 64,
                                    "hbm_bytes": ["*", ["name", "sub"], ["name", "block"]],
                                }
                            ],
                        },
                        {"kind": "tfree", "fifo": "q"},
                        {
                            "kind": "instr",
                            "name": "TEXP",
                            "pipe": "V",
                            "takes": ["tile"],
                            "releases": ["tile"],
                            "reads": ["ring"],
                            "writes": ["ring"],
                            "costs": [
                                {"model": "vector", "family": "exp", "rows": 1, "cols": 8, "elem_bytes": 4},
                                {"model": "cycles", "cycles": ["name", "n"]},
                            ],
                        },
                    ],
                }
            ],
        },
        "launch": {"blocks": 2, "varying": ["name", "way"]},
        "rules": [
            {
                "name": "n-even",
                "ok": 1,
                "sentence": "{value} of {limit}, {nearest}",
                "value": 1,
                "limit": 2,
                "nearest": 3,
            }
        ],
    }


def at(doc: Any, path: str) -> tuple[Any, Any]:
    """The container and the key of a place as errors write it."""
    keys: list[Any] = []
    for part in path.replace("[", ".[").split("."):
        keys.append(int(part[1:-1]) if part.startswith("[") else part)
    for key in keys[:-1]:
        doc = doc[key]
    return doc, keys[-1]


def errors(doc: Any) -> list[str]:
    with pytest.raises(serial.WorkloadError) as caught:
        serial.from_dict(doc)
    return str(caught.value).split("\n")


def changed(path: str, value: Any) -> Document:
    doc: Document = json.loads(json.dumps(document()))
    inside, key = at(doc, path)
    inside[key] = value
    return doc


def test_the_document_is_right_before_it_is_changed() -> None:
    read = serial.from_dict(document())
    assert serial.check(read) == []
    assert serial.from_json(serial.to_json(read)) == read


NAME = "expected a letter, then letters, digits or _, at most 64 characters"
SIZE = "expected n, way, depth or half"
NUMBER = "expected an integer"


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        # texts and names
        ("name", "no name", f"'no name' is no name: {NAME}"),
        ("name", "a" * 65, f"'{'a' * 37}...' is no name: {NAME}"),
        ("name", 5, f"5 is no name: {NAME}"),
        ("name", "größe", f"'größe' is no name: {NAME}"),
        ("name", "a\n", f"'a\\n' is no name: {NAME}"),
        ("doc", "two\nlines", "'two\\nlines' is no text: expected one line of at most 1000 characters"),
        ("doc", "\x1b[2J", "'\\x1b[2J' is no text: expected one line of at most 1000 characters"),
        ("doc", "\ud800", "'\\ud800' is no text: expected one line of at most 1000 characters"),
        ("problem[0].doc", "a" * 1001, f"'{'a' * 37}...' is no text: expected one line of at most 1000 char"),
        ("uses_ub_scratch", 1, "is 1: expected true or false"),
        # problem sizes and tunables
        (
            "tunables[0].labels",
            ["A"],
            "has 1 labels for values from 1 to 64: expected one for each value from 0",
        ),
        ("problem[0].default", True, f"is true: {NUMBER}"),
        ("problem[0].default", 4.0, f"is 4.0: {NUMBER}"),
        ("problem[0].default", 0, "0 is out of range: expected 1 to 2147483648"),
        ("problem[0].minimum", 2**40, "1099511627776 is out of range: expected -2147483648 to 2147483648"),
        ("problem[0].minimum", 5, "DEFAULT"),
        ("problem[1].minimum", 2, "2 is above the maximum: expected at most 1"),
        ("problem[1].labels[1]", "A B", f"'A B' is no name: {NAME}"),
        ("problem[1].labels[0]", "UP", "LABEL"),
        (
            "problem[1].labels",
            ["UP"],
            "has 1 labels for values from 0 to 1: expected one for each value from 0",
        ),
        ("tunables[0].domain", [], "is empty or repeats a value: expected one or more, each once"),
        ("tunables[0].domain", [1, 2, 1], "is empty or repeats a value: expected one or more, each once"),
        ("tunables[0].domain[1]", 65, "65 is out of range: expected 1 to 64"),
        ("tunables[0].domain[1]", [2], f"is a list: {NUMBER}"),
        ("tunables[0].domain", 5, "is 5: expected a list"),
        # memory and pipes
        ("buffers[0].core", "AIX", "'AIX' is no core: expected AIC or AIV"),
        ("buffers[0].memory", "UB", "'UB' is no memory of AIC: expected L1, L0A, L0B or L0C"),
        ("rings[0].memory", "L1", "'L1' is no memory of AIV: expected UB"),
        ("fifos[0].direction", "C2C", "'C2C' is no direction: expected C2V, V2C, BOTH, V2C_CTRL"),
        ("fifos[0].flag_id", 256, "256 is out of range: expected 0 to 255"),
        ("fifos[0].slot_num_name", "n2", "'n2' is no problem size or tunable: expected n, way or depth"),
        (
            "fifos[0].sync_period_name",
            "half",
            "'half' is no problem size or tunable: expected n, way or depth",
        ),
        # expressions
        (
            "derived[0].value",
            ["name", "half"],
            "'half' is no problem size, tunable or earlier derived name: exp",
        ),
        (
            "buffers[0].bytes",
            ["name", "m"],
            f"'m' is no problem size, tunable or earlier derived name: {SIZE}",
        ),
        ("buffers[0].bytes", ["name", "sub"], "'sub' has no value here: expected it in programs only"),
        ("launch.blocks", ["name", "sub"], "'sub' has no value here: expected it in programs only"),
        (
            "launch.blocks",
            ["name", "block"],
            "'block' has no value here: expected it anywhere but in the launch",
        ),
        ("l2_footprint", "n", "'n' is no expression: expected an integer"),
        (
            "rules[0].nearest",
            2**31 + 1,
            "2147483649 is out of range: expected at most 2147483648 in magnitude",
        ),
        # programs
        ("programs.AIC[0].pipe", "MTE9", "'MTE9' is no pipe of AIC: expected MTE2, MTE1, M or FIX"),
        ("programs.AIV[0].body[3].pipe", "M", "'M' is no pipe of AIV: expected MTE2, V or MTE3"),
        ("programs.AIC[0].issues", 0, "0 is out of range: expected 1 to 2147483648"),
        ("programs.AIC[1].waits[0]", "done", "'done' is no event of AIC: expected ready"),
        ("programs.AIV[0].body[3].waits", ["ready"], "EVENT"),
        ("programs.AIC[2].body[1].acquires[0]", "tile", "'tile' is no buffer of AIC: expected acc"),
        ("programs.AIC[2].body[1].publishes[0].buffer", "tile", "'tile' is no buffer of AIC: expected acc"),
        ("programs.AIV[0].body[1].publishes[0]", "acc", "'acc' is no buffer of AIV: expected tile"),
        ("programs.AIV[0].body[1].publishes[0]", 5, "is 5: expected an object"),
        ("programs.AIV[0].body[0].fifo", "p", "'p' is no FIFO that AIV empties: expected q"),
        ("programs.AIV[0].body[0]", {"kind": "tpush", "fifo": "q"}, "SIDE"),
        ("programs.AIC[0].reads", ["q"], "READS"),
        ("programs.AIC[0].writes", ["ring"], "WRITES"),
        ("programs.AIC[2].steady", 1, "is 1: expected true or false"),
        ("programs.AIC[0].kind", "jump", "KIND"),
        (
            "programs.AIC[0]",
            3,
            "is 3: expected an object whose 'kind' is instr, talloc, tpush, tpop, tfree, loop, while, tput, ",
        ),
        ("programs.AIC[0].label", "1st", f"'1st' is no name: {NAME}"),
        ("programs.AIC[0].event", ["e"], f"a list is no name: {NAME}"),
        # costs and unit flags
        ("programs.AIV[0].body[3].costs[0].model", "vec", "MODEL"),
        ("programs.AIV[0].body[3].costs[0].family", "a b", f"'a b' is no name: {NAME}"),
        (
            "programs.AIV[0].body[1].costs[0].path",
            "gm_to_l2",
            "'gm_to_l2' is no DMA path: expected gm_to_l1, gm",
        ),
        ("programs.AIV[0].body[1].costs[0].bytes", None, "null is no expression: expected an integer"),
        (
            "programs.AIC[2].body[1].publishes[0].unit_flag[1]",
            "mn",
            "'mn' is no label of an instruction of AIC ",
        ),
        (
            "programs.AIC[2].body[1].publishes[0].unit_flag",
            ["mm"],
            "has 1 labels: expected those of a matmul",
        ),
        ("programs.AIC[2].body[1].publishes[0].unit_flag", ["mm", "mm"], "names no instruction with a drain"),
        # rules
        ("rules[0].name", "9", "'9' is no name: expected a letter, then letters, digits or _ -, at most 64"),
        (
            "rules[0].sentence",
            "{value.real}",
            "'{value.real}' is no field: expected {value}, {limit} or {nearest}",
        ),
        (
            "rules[0].sentence",
            "{value:999999999}",
            "'{value:999999999}' is no field: expected {value}, {limit}",
        ),
        ("rules[0].sentence", "{0}", "'{0}' is no field: expected {value}, {limit} or {nearest}"),
        ("rules[0].sentence", "a } b", "'}' is no field: expected {value}, {limit} or {nearest}"),
        ("rules[0].nearest", None, "NEAREST"),
        # lists and objects
        ("buffers", {}, "is an object: expected a list"),
        ("buffers[0]", [], "is an empty list: expected an object"),
        ("programs", [], "is an empty list: expected an object"),
        ("programs.AIC", None, "is null: expected a list"),
        ("launch", 1, "is 1: expected an object"),
    ],
)
def test_one_wrong_value_is_one_sentence_at_its_place(path: str, value: Any, sentence: str) -> None:
    elsewhere = {
        "DEFAULT": ("problem[0].default", "4 is out of range: expected 5 to 2147483648"),
        "LABEL": ("problem[1].labels[1]", "'UP' is taken by problem[1].labels[0]: expected another name"),
        "EVENT": ("programs.AIV[0].body[3].waits[0]", "'ready' is no event of AIV: there is none"),
        "SIDE": ("programs.AIV[0].body[0].fifo", "'q' is no FIFO that AIV fills: there is none"),
        "READS": (
            "programs.AIC[0].reads[0]",
            "'q' is no ring of AIC or FIFO that AIC empties: there is none",
        ),
        "WRITES": (
            "programs.AIC[0].writes[0]",
            "'ring' is no ring of AIC or FIFO that AIC fills: expected q",
        ),
        "KIND": (
            "programs.AIC[0]",
            "'jump' is no kind of node: expected an object whose 'kind' is instr, talloc",
        ),
        "MODEL": (
            "programs.AIV[0].body[3].costs[0].model",
            "'vec' is no cost model: expected dma, matmul, drain, drain_ub, vector, hbm_wait, bulk or cycles",
        ),
        "NEAREST": ("rules[0].sentence", "'{nearest}' is no field: expected {value} or {limit}"),
    }
    place, text = elsewhere.get(sentence, (path, sentence))
    found = errors(changed(path, value))
    assert len(found) == 1, found
    assert found[0].startswith(f"{place}: {text}")


def test_an_integer_of_thousands_of_digits_is_out_of_range() -> None:
    assert errors(changed("problem[0].maximum", 10**5000)) == [
        "problem[0].maximum: an integer of 16610 bits is out of range: expected -2147483648 to 2147483648"
    ]


@pytest.mark.parametrize(
    ("path", "name", "taken_by"),
    [
        ("problem", "depth", "problem[2].name"),
        ("tunables", "n", "problem[0].name"),
        ("derived", "n", "problem[0].name"),
        ("derived", "half", "derived[0].name"),
        ("buffers", "acc", "buffers[0].name"),
        ("rings", "ring", "rings[0].name"),
        ("fifos", "q", "fifos[0].name"),
        ("fifos", "ring", "rings[0].name"),
        ("rules", "n-even", "rules[0].name"),
    ],
)
def test_a_name_is_given_once(path: str, name: str, taken_by: str) -> None:
    doc = document()
    doc[path].append(doc[path][0] | {"name": name})
    place = "tunables[0].name" if path == "problem" else f"{path}[{len(doc[path]) - 1}].name"
    assert errors(doc) == [f"{place}: '{name}' is taken by {taken_by}: expected another name"]


def test_a_label_stands_for_one_duration() -> None:
    doc = document()
    doc["programs"]["AIC"][1] |= {"label": "mm", "costs": [{"model": "cycles", "cycles": 1}]}
    assert errors(doc)[0] == (
        "programs.AIC[2].body[1].label: 'mm' has another pipe or other costs at programs.AIC[1].label: "
        "expected the same"
    )


@pytest.mark.parametrize(
    "path",
    [
        "name",
        "doc",
        "problem",
        "tunables",
        "buffers",
        "fifos",
        "programs",
        "launch",
        "launch.blocks",
        "problem[0].name",
        "problem[0].default",
        "tunables[0].domain",
        "derived[0].value",
        "buffers[1].name",
        "rings[0].slots",
        "fifos[0].direction",
        "fifos[0].tile_bytes",
        "programs.AIC[0].name",
        "programs.AIC[2].trips",
        "programs.AIC[2].body",
        "programs.AIV[0].body[0].fifo",
        "programs.AIC[2].body[1].publishes[0].buffer",
        "programs.AIC[2].body[1].costs[0].model",
        "rules[0].ok",
        "rules[0].sentence",
    ],
)
def test_a_missing_key_is_one_sentence_and_has_no_other_in_tow(path: str) -> None:
    doc = document()
    doc = json.loads(json.dumps(doc))
    inside, key = at(doc, path)
    del inside[key]
    (sentence,) = errors(doc)
    assert sentence.startswith(f"{path}: is missing: expected ")


def test_a_missing_argument_of_a_cost_is_one_sentence() -> None:
    doc = changed("name", "all")
    del doc["programs"]["AIC"][2]["body"][1]["costs"][0]["k"]
    place = "programs.AIC[2].body[1].costs[0]"
    assert errors(doc) == [f"{place}.k: stands there 0 times: expected it once"]
    doc["programs"]["AIC"][2]["body"][1]["costs"][0] |= {"k": 1, "kk": 2}
    assert errors(doc) == [f"{place}: matmul has no argument 'kk': expected m, k, n or elem_bytes"]


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("nam", "workload"),
        ("problem[0].min", "problem[0]"),
        ("derived[0].val", "derived[0]"),
        ("launch.block", "launch"),
        ("programs.AIC[0].pip", "programs.AIC[0]"),
        ("programs.AIC[2].fifo", "programs.AIC[2]"),
        ("programs.AIC[2].body[1].publishes[0].flag", "programs.AIC[2].body[1].publishes[0]"),
    ],
)
def test_an_unknown_key_is_one_sentence(path: str, place: str) -> None:
    (sentence,) = errors(changed(path, 1))
    assert sentence.startswith(f"{place}: unknown key {path.split('.')[-1]!r}: expected ")


def test_an_unknown_core_is_one_sentence() -> None:
    assert errors(changed("programs.AIX", [])) == ["programs: 'AIX' is no core: expected AIC or AIV"]


def test_a_key_that_stands_there_twice_is_one_sentence() -> None:
    text = json.dumps(document()).replace('"doc": ""', '"doc": "", "doc": "x"', 1)
    with pytest.raises(serial.WorkloadError) as caught:
        serial.from_json(text)
    assert str(caught.value) == "workload: the key 'doc' stands there twice: expected it once"
    text = json.dumps(document()).replace('"blocks": 2', '"blocks": 2, "blocks": 3', 1)
    with pytest.raises(serial.WorkloadError, match="launch: the key 'blocks' stands there twice"):
        serial.from_json(text)


@pytest.mark.parametrize("other", ["pto-tune-workload/2", 1, None, ["pto-tune-workload/1"]])
def test_another_format_is_the_only_thing_said(other: Any) -> None:
    (sentence,) = errors({"format": other, "stages": []})
    assert sentence.startswith("format: ")
    assert sentence.endswith(" cannot be read: expected 'pto-tune-workload/1'")


@pytest.mark.parametrize("data", [None, 3, "x", [], True, 1.5])
def test_a_document_is_an_object(data: Any) -> None:
    with pytest.raises(serial.WorkloadError, match=r"^flow: .+ is no workload: expected an object$"):
        serial.from_dict(data, "flow")


def test_everything_wrong_is_said_at_once() -> None:
    doc = changed("programs.AIC[0].pipe", "MTE9")
    doc["buffers"][0]["bytes"] = ["+", 1, "x"]
    doc["problem"][0]["default"] = "4"
    doc["speed"] = 9
    del doc["tunables"][0]["domain"]
    assert [line.split(": ")[0] for line in errors(doc)] == [
        "workload",
        "tunables[0].domain",
        "buffers[0].bytes[2]",
        "problem[0].default",
        "programs.AIC[0].pipe",
    ]


def test_more_errors_than_one_reads_are_counted() -> None:
    lines = errors(changed("programs.AIC", [{"kind": "talloc", "fifo": "p"}] * 500))
    assert len(lines) == 101
    assert lines[-1] == "... and 400 more errors"


def copies(form: Callable[[int], Any], n: int) -> list[Any]:
    return [form(i) for i in range(n)]


@pytest.mark.parametrize(
    ("path", "form", "most", "sentence"),
    [
        (
            "buffers",
            lambda i: document()["buffers"][i] if i < 2 else buffer(i),
            64,
            "buffers: has too many entries",
        ),
        ("rings", lambda i: ring(i) if i else document()["rings"][0], 256, "rings: has too many entries"),
        (
            "fifos",
            lambda i: document()["fifos"][0] | ({"name": f"q{i}"} if i else {}),
            16,
            "fifos: has too many entries",
        ),
        ("tunables[0].domain", lambda i: i % 4097, 4096, "tunables[0].domain: has too many entries"),
        ("rules", lambda i: document()["rules"][0] | {"name": f"r{i}"}, 256, "rules: has too many entries"),
        (
            "derived",
            lambda i: {"name": f"d{i}" if i else "half", "value": i},
            256,
            "derived: has too many entries",
        ),
        (
            "programs.AIC[0].costs",
            lambda i: {"model": "cycles", "cycles": i},
            256,
            "programs.AIC[0].costs: has too many entries",
        ),
    ],
)
def test_lists_are_bounded(path: str, form: Callable[[int], Any], most: int, sentence: str) -> None:
    doc = changed(path, copies(form, most))
    doc["tunables"][0] |= {"minimum": 0, "maximum": 4096}
    serial.from_dict(doc)
    inside, key = at(doc, path)
    inside[key] = copies(form, most + 1)
    assert errors(doc)[0].startswith(sentence)
    assert errors(doc)[0].endswith(f"expected at most {most}")


def buffer(i: int) -> Any:
    return document()["buffers"][1] | {"name": f"b{i}"}


def ring(i: int) -> Any:
    return document()["rings"][0] | {"name": f"r{i}"}


def test_the_nodes_of_all_programs_are_bounded() -> None:
    node = {"kind": "tpop", "fifo": "q"}
    doc = changed("programs.AIV", [node] * 9993)  # and seven of AIC
    assert serial.from_dict(doc).programs[1][0] == "AIV"
    doc = changed("programs.AIV", [node] * 9994)
    assert errors(doc) == ["programs: have more than 10000 nodes: expected fewer, with loops"]


def test_loops_nest_sixteen_deep() -> None:
    def nest(levels: int) -> Any:
        body: list[Any] = []
        for _ in range(levels):
            body = [{"kind": "loop", "trips": 1, "body": body}]
        return body

    assert serial.from_dict(changed("programs.AIV", nest(16))).cores == ("AIC", "AIV")
    (sentence,) = errors(changed("programs.AIV", nest(17)))
    assert sentence == (
        "programs.AIV[0]" + ".body[0]" * 16 + ": loops are nested too deeply: expected at most 16 levels"
    )


def test_expressions_nest_sixty_deep_and_are_not_too_many() -> None:
    deep: Any = 1
    for _ in range(60):
        deep = ["not", deep]
    serial.from_dict(changed("l2_footprint", deep))
    (sentence,) = errors(changed("l2_footprint", ["not", deep]))
    assert sentence.startswith("l2_footprint" + "[1]" * 61 + ": is nested too deeply")
    wide: Any = 1
    for _ in range(16):
        wide = ["+", wide, wide]
    assert errors(changed("l2_footprint", wide)) == [
        "l2_footprint: brings all expressions above 100000 terms: expected fewer"
    ]


def test_a_program_has_one_steady_loop_at_top_level() -> None:
    steady = {"kind": "loop", "trips": 1, "body": [], "steady": True}
    rule = "steady: is true: expected it of one loop of a program, at top level"
    assert errors(changed("programs.AIC[1]", steady))[:1] == ["programs.AIC[2]." + rule]
    assert errors(changed("programs.AIC[2].body[0]", steady)) == ["programs.AIC[2].body[0]." + rule]
    assert serial.from_dict(changed("programs.AIV", [steady])).cores == ("AIC", "AIV")


def test_a_fifo_needs_both_programs() -> None:
    doc = changed("name", "all")
    del doc["programs"]["AIV"]
    assert errors(doc) == ["programs: there is none of AIV: expected one, and both with a FIFO"]
    assert errors(changed("programs", {}))[0].startswith("programs: there is none of AIC or AIV")


@pytest.mark.parametrize("reserved", ["sub", "block", "on_a5"])
def test_names_of_the_executor_are_reserved(reserved: str) -> None:
    assert errors(changed("derived[0].name", reserved))[0] == (
        f"derived[0].name: '{reserved}' is reserved: expected another name"
    )


def test_a_buffer_may_have_the_name_of_one_of_the_other_core() -> None:
    doc = changed("buffers[1].name", "acc")
    assert "'tile' is no buffer of AIV: expected acc" in errors(doc)[0]
