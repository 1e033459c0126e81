"""A workload goes to JSON and back without loss."""

import json
import subprocess
import sys
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from pto_tune.model import nodes, serial
from pto_tune.model.expr import Expr, expr, name
from pto_tune.model.nodes import Launch, Loop, Parameter, Token, Workload
from pto_tune.model.vocabulary import cycles, dma, instr, loop
from pto_tune.workloads import workload, workload_names

TINY = Workload(
    name="tiny",
    doc="one load",
    problem=(Parameter("n", 3, "how often"),),
    tunables=(),
    buffers=(),
    fifos=(),
    programs=(("AIC", (loop(name("n"), instr("TLOAD", "MTE2", dma("gm_to_l1", 64, 32))),)),),
    launch=Launch(expr(1)),
)
TINY_JSON = {
    "format": "pto-tune-workload/1",
    "name": "tiny",
    "doc": "one load",
    "problem": [{"name": "n", "default": 3, "doc": "how often"}],
    "tunables": [],
    "buffers": [],
    "fifos": [],
    "programs": {
        "AIC": [
            {
                "kind": "loop",
                "trips": ["name", "n"],
                "body": [
                    {
                        "kind": "instr",
                        "name": "TLOAD",
                        "pipe": "MTE2",
                        "costs": [
                            {
                                "model": "dma",
                                "path": "gm_to_l1",
                                "bytes": 64,
                                "burst_bytes": 32,
                                "hbm_bytes": 0,
                            }
                        ],
                    }
                ],
            }
        ]
    },
    "launch": {"blocks": 1},
}


@pytest.fixture(params=workload_names())
def built_in(request: pytest.FixtureRequest) -> Workload:
    return workload(request.param)


def test_a_built_in_workload_comes_back_equal(built_in: Workload) -> None:
    assert serial.from_json(serial.to_json(built_in)) == built_in
    assert serial.from_json(serial.to_json(built_in, indent=2)) == built_in
    assert serial.from_dict(serial.to_dict(built_in)) == built_in


def test_nothing_is_wrong_with_a_built_in_workload(built_in: Workload) -> None:
    assert serial.check(built_in) == []


def test_writing_is_stable(built_in: Workload) -> None:
    once = serial.to_json(built_in)
    assert serial.to_json(serial.from_json(once)) == once


def test_the_dict_is_what_the_text_says(built_in: Workload) -> None:
    assert json.loads(serial.to_json(built_in)) == serial.to_dict(built_in)


def test_the_form_is_small_and_readable() -> None:
    assert serial.to_dict(TINY) == TINY_JSON
    assert serial.from_dict(TINY_JSON) == TINY


def test_reading_leaves_the_document_alone() -> None:
    before = json.dumps(TINY_JSON)
    serial.from_dict(TINY_JSON)
    assert json.dumps(TINY_JSON) == before


def test_defaults_may_be_written_out() -> None:
    spelt: dict[str, Any] = json.loads(json.dumps(TINY_JSON))
    spelt |= {"rings": [], "rules": [], "derived": [], "uses_ub_scratch": False, "l2_footprint": 0, "family": ""}
    spelt["problem"][0] |= {"minimum": 1, "maximum": 2**31, "labels": []}
    spelt["programs"]["AIC"][0] |= {"steady": False}
    spelt["programs"]["AIC"][0]["body"][0] |= {"label": "", "acquires": [], "issues": 1, "event": ""}
    spelt["launch"] |= {"varying": 0}
    spelt |= {"ranks": 0, "ranks_per_node": 0, "signals": [], "staging": []}
    spelt["programs"]["AIC"][0] |= {"index": ""}
    assert serial.from_dict(spelt) == TINY


def test_issues_default_to_one_for_each_cost() -> None:
    three = replace(TINY, programs=(("AIC", (instr("A", "M", cycles(1), cycles(2), cycles(3)),)),))
    written = serial.to_dict(three)["programs"]["AIC"][0]
    assert "issues" not in written
    assert serial.from_dict(serial.to_dict(three)) == three
    for issues in (1, 40):
        other = replace(TINY, programs=(("AIC", (instr("A", "M", *[cycles(1)] * 3, issues=issues),)),))
        assert serial.to_dict(other)["programs"]["AIC"][0]["issues"] == issues
        assert serial.from_dict(serial.to_dict(other)) == other


def test_a_token_is_its_buffer_s_name_unless_it_has_a_unit_flag() -> None:
    form = serial.to_dict(workload("flash_attention"))["programs"]["AIC"][2]["body"][1]["body"]
    assert form[3]["releases"] == ["l0"]
    assert form[3]["publishes"] == [{"buffer": "qk_acc", "unit_flag": ["qk_matmul", "qk_store"]}]


def test_programs_keep_their_order() -> None:
    a, b = instr("A", "M"), instr("B", "V")
    for programs in ((("AIC", (a,)), ("AIV", (b,))), (("AIV", (b,)), ("AIC", (a,)))):
        w = replace(TINY, programs=programs)
        assert serial.from_json(serial.to_json(w)).cores == w.cores


def test_text_beyond_ascii_is_kept() -> None:
    w = replace(TINY, doc="Größe µs, 流水线")
    assert "流水线" in serial.to_json(w)
    assert serial.from_json(serial.to_json(w)) == w


def test_a_workload_that_could_not_be_read_is_not_written() -> None:
    wrong = replace(TINY, name="no name", programs=(("AIC", (instr("A", "MTE9"),)),))
    for write in (serial.to_dict, serial.to_json):
        with pytest.raises(serial.WorkloadError) as caught:
            write(wrong)
        assert str(caught.value).split("\n") == serial.check(wrong)
        assert len(serial.check(wrong)) == 2


def test_every_field_of_a_workload_is_of_a_known_type() -> None:
    """A new field in a node needs a case in the reader, unless its type is one of these."""
    leaves = {"str", "int", "bool", "bool | None", "Expr", "Expr | None"}
    records = {n for n, cls in vars(nodes).items() if is_dataclass(cls)} | {"Node", "str", "int"}
    lists = {f"tuple[{record}, ...]" for record in records}
    own = {
        "tuple[str, str] | None",
        "tuple[tuple[Expr, Expr], ...]",
        "tuple[tuple[str, Expr], ...]",
        "tuple[tuple[str, Expr | str], ...]",
        "tuple[tuple[str, tuple[Node, ...]], ...]",
    }
    for cls in (c for c in vars(nodes).values() if isinstance(c, type) and is_dataclass(c) and c is not Expr):
        for field in fields(cls):
            known = leaves | lists | own | records | {f"{record} | None" for record in records}
            assert field.type in known, f"{cls.__name__}.{field.name}"


def test_a_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "tiny.json"
    file.write_text(serial.to_json(TINY, indent=1), "utf-8")
    assert serial.load(file) == TINY
    assert serial.load(str(file)) == TINY


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "tiny.json"
    file.write_text(serial.to_json(TINY), "utf-8-sig")
    assert serial.load(file) == TINY


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"\xff{}", "workload: byte 0 is not UTF-8: expected UTF-8 text"),
        (
            b'{"a": 1,\n}',
            "workload: line 2, column 1 is no JSON (Expecting property name enclosed in double quotes): expected JSON",
        ),
        (b"[]", "workload: an empty list is no workload: expected an object"),
        (b"[" * 10**5, "workload: is too deep, or a number too long: expected a workload"),
        (b"9" * 5000, "workload: is too deep, or a number too long: expected a workload"),
        (b" " * (8 * 2**20 + 1), "workload: is too long: expected at most 8388608 bytes"),
    ],
    ids=["not UTF-8", "not JSON", "no object", "deep", "digits", "long"],
)
def test_a_file_that_is_no_workload_is_named(tmp_path: Path, content: bytes, sentence: str) -> None:
    file = tmp_path / "w.json"
    file.write_bytes(content)
    with pytest.raises(serial.WorkloadError) as caught:
        serial.load(file)
    assert str(caught.value) == f"{file}: {sentence}"


def test_every_line_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "w.json"
    file.write_text('{"format": "pto-tune-workload/1"}', "utf-8")
    with pytest.raises(serial.WorkloadError) as caught:
        serial.load(file)
    lines = str(caught.value).split("\n")
    assert len(lines) == 8
    assert all(line.startswith(f"{file}: ") for line in lines)


@pytest.mark.parametrize("wrong", ["missing.json", ".", "a\0b", "x" * 5000])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(serial.WorkloadError, match=r"workload: cannot be read \(.+\): expected a file"):
        serial.load(tmp_path / wrong)


def test_a_text_that_is_too_long_is_not_parsed() -> None:
    with pytest.raises(serial.WorkloadError, match="expected at most 8388608"):
        serial.from_json(" " * (8 * 2**20 + 1))


def test_reading_needs_no_numpy() -> None:
    """The command line starts without it; DMA paths are looked up beside their models when one is read."""
    code = "import sys, pto_tune.model.serial; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_nodes_can_be_built_from_what_was_read() -> None:
    body = serial.from_dict(TINY_JSON).programs[0][1]
    assert isinstance(body[0], Loop)
    assert hash(body) == hash(TINY.programs[0][1])
    assert Token("a") == Token("a", None)
