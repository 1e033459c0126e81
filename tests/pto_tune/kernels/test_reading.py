"""Control flow, arguments and errors: what is followed, and what is said where it is not."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pto_tune.api import evaluate_records, workload
from pto_tune.kernels.faults import KernelError
from pto_tune.kernels.reading import load_workload, read_kernel
from pto_tune.model.expr import evaluate, expr, name
from pto_tune.model.nodes import Instr, Loop, Node, Workload

Written = Callable[..., Path]
Changed = Callable[..., Path]
FILES = Path(__file__).parent / "files"
USE = "pto.tmuls ins(%t, %c1 : !pto.tile_buf<vec, 16x64xf32>, index) outs(%t : !pto.tile_buf<vec, 16x64xf32>)"
OTHER = "pto.texp ins(%t : !pto.tile_buf<vec, 16x64xf32>) outs(%t : !pto.tile_buf<vec, 16x64xf32>)"


def runs(w: Workload, **sizes: int) -> list[str]:
    """Names of the instructions of AIV0 in the order in which they run."""
    env = {"sub": 0, "block": 0, **{p.name: p.default for p in w.problem}, **sizes}
    out: list[str] = []

    def run(body: tuple[Node, ...]) -> None:
        for node in body:
            if isinstance(node, Loop):
                for _ in range(int(evaluate(node.trips, env))):
                    run(node.body)
            elif isinstance(node, Instr) and node.name != "TSYNC":
                out.append(node.name)

    run(dict(w.programs)["AIV"])
    return out


def faults(path: Path, unknown: str = "refuse") -> list[str]:
    with pytest.raises(KernelError) as e:
        read_kernel(path, unknown)
    return [line.removeprefix(f"{path}:") for line in str(e.value).splitlines()]


def test_a_bound_that_is_an_argument_is_a_problem_size(written: Written) -> None:
    w = load_workload(written(f"  scf.for %i = %c0 to %n step %c4 {{\n    {USE}\n  }}"))
    size = w.problem[1]
    assert (size.name, size.default) == ("n", 64)  # 16 trips
    assert "line 6" in size.doc
    assert "no value of the file" in size.doc
    assert [len(runs(w, n=n)) for n in (1, 4, 5, 64)] == [1, 1, 2, 16]


def test_arithmetic_on_bounds_is_followed(written: Written) -> None:
    body = (
        "  %two = arith.addi %c1, %c1 : index\n"
        "  %m = arith.ceildivui %n, %two : index\n"
        "  %k = arith.minui %m, %c4 : index\n"
        f"  scf.for %i = %c0 to %k step %c1 {{\n    {USE}\n  }}"
    )
    w = load_workload(written(body))
    assert [len(runs(w, n=n)) for n in (1, 2, 3, 7, 9, 100)] == [1, 1, 2, 4, 4, 4]


@pytest.mark.parametrize(
    ("predicate", "value", "first"),
    [("eq", "%c0", [0]), ("ne", "%c0", [1, 2, 3, 4, 5]), ("slt", "%c4", [0, 1, 2, 3]), ("sge", "%c1", [1, 2, 3, 4, 5]),
     ("sle", "%c1", [0, 1]), ("ugt", "%c4", [5]), ("eq", "%last", [5])],
)  # fmt: skip
def test_conditions_on_the_index_hold_for_the_right_trips(
    written: Written, predicate: str, value: str, first: list[int]
) -> None:
    body = (
        "  %last = arith.subi %n, %c1 : index\n"
        "  scf.for %i = %c0 to %n step %c1 {\n"
        f"    %here = arith.cmpi {predicate}, %i, {value} : index\n"
        f"    scf.if %here {{\n      {USE}\n    }} else {{\n      {OTHER}\n    }}\n"
        "  }"
    )
    w = load_workload(written(body))
    expected = ["TMULS" if i in first else "TEXP" for i in range(6)]
    assert runs(w, n=6) == expected


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 9), st.integers(0, 9), st.integers(1, 3), st.integers(0, 12))
def test_two_conditions_on_the_index_cut_a_loop_rightly(
    written: Written, low: int, high: int, step: int, n: int
) -> None:
    body = (
        f"  %low = arith.constant {low} : index\n  %high = arith.constant {high} : index\n"
        f"  %step = arith.constant {step} : index\n"
        "  scf.for %i = %c0 to %n step %step {\n"
        f"    %a = arith.cmpi slt, %i, %low : index\n    scf.if %a {{\n      {USE}\n    }}\n"
        f"    %b = arith.cmpi eq, %i, %high : index\n    scf.if %b {{\n      {OTHER}\n    }}\n"
        "  }"
    )
    w = load_workload(written(body))
    expected = [x for i in range(0, n, step) for x in [*["TMULS"] * (i < low), *["TEXP"] * (i == high)]]
    assert runs(w, n=n) == expected


def test_turns_of_a_known_loop_are_written_out(written: Written) -> None:
    body = (
        "  %two = arith.constant 2 : index\n"
        "  scf.for %i = %c0 to %c4 step %c1 {\n"
        "    %turn = arith.remui %i, %two : index\n"
        "    %even = arith.cmpi eq, %turn, %c0 : index\n"
        f"    scf.if %even {{\n      {USE}\n    }} else {{\n      {OTHER}\n    }}\n"
        "  }"
    )
    assert runs(load_workload(written(body))) == ["TMULS", "TEXP", "TMULS", "TEXP"]


def test_an_inner_bound_that_depends_on_the_outer_index(written: Written) -> None:
    body = (
        "  scf.for %i = %c0 to %c4 step %c1 {\n"
        f"    scf.for %j = %c0 to %i step %c1 {{\n      {USE}\n    }}\n"
        f"    {OTHER}\n"
        "  }"
    )
    assert runs(load_workload(written(body))).count("TMULS") == 0 + 1 + 2 + 3


def test_an_inner_bound_in_a_loop_of_unknown_length_is_refused_where_it_stands(written: Written) -> None:
    body = f"  scf.for %i = %c0 to %n step %c1 {{\n    scf.for %j = %c0 to %i step %c1 {{\n      {USE}\n    }}\n  }}"
    (fault,) = faults(written(body))
    assert fault.startswith("7:5: scf.for depends on the index of the loop of line 6")


def test_a_condition_on_an_argument_is_one_of_the_model(written: Written) -> None:
    body = f"  %big = arith.cmpi sgt, %n, %c4 : index\n  scf.if %big {{\n    {USE}\n  }} else {{\n    {OTHER}\n  }}"
    w = load_workload(written(body))
    assert (runs(w, n=4), runs(w, n=5)) == (["TEXP"], ["TMULS"])


def test_a_condition_on_the_sub_core(written: Written) -> None:
    body = (
        "  %id = pto.get_subblock_idx\n  %sub = arith.index_cast %id : i64 to index\n"
        f"  %one = arith.cmpi eq, %sub, %c1 : index\n  scf.if %one {{\n    {USE}\n  }}"
    )
    w = load_workload(written(body))
    (branch,) = dict(w.programs)["AIV"]
    assert isinstance(branch, Loop)
    assert branch.trips == name("sub").eq(1)
    assert runs(w) == []


def test_blocks_that_differ_are_launched_as_such(written: Written) -> None:
    body = f"  %b = pto.get_block_idx\n  scf.for %i = %c0 to %b step %c1 {{\n    {USE}\n  }}"
    w = load_workload(written(body))
    assert w.launch.varying == expr(1)
    assert w.launch.blocks == name("blocks")
    busy = [evaluate_records(w, {"blocks": n})[0]["cycles"] for n in (1, 2, 4)]
    assert busy[0] <= busy[1] <= busy[2]


def test_a_bound_from_memory_is_refused_with_the_reason(written: Written) -> None:
    body = (
        f"  %x = pto.load_scalar %p[%c0] : !pto.ptr<i32> -> i32\n  scf.for %i = %c0 to %x step %c1 {{\n    {USE}\n  }}"
    )
    (fault,) = faults(written(body))
    assert fault.startswith("7:3: how often this loop runs is not known, because %x is read from memory at line 6")


def test_unknown_operations_are_all_listed(written: Written) -> None:
    body = f"  pto.tfancy ins(%t : !a.b) outs(%t : !a.b)\n  {USE}\n  pto.tfancier ins(%t : !a.b) outs(%t : !a.b)"
    found = faults(written(body))
    assert [f.partition(" is no")[0] for f in found] == ["6:3: pto.tfancy", "8:3: pto.tfancier"]


def test_unknown_operations_are_priced_by_the_stated_rule(written: Written) -> None:
    kernel = read_kernel(written("  pto.tfancy ins(%t : !a.b) outs(%t : !a.b)"), "price")
    assert {n: [p.line for p in places] for n, places in kernel.unknown.items()} == {"pto.tfancy": [6]}
    priced = evaluate_records(kernel.workload)[0]["busy"]["AIV0.V"]
    assert priced == evaluate_records(load_workload(written(f"  {USE}")))[0]["busy"]["AIV0.V"]


def test_a_part_of_an_unknown_operation_is_never_priced(written: Written) -> None:
    (fault,) = faults(written(f"  pto.simt {{\n    {USE}\n  }}"), "price")
    assert fault == "6:3: pto.simt is no operation that is known with a part of its own"


def test_other_functions_are_read_where_they_are_called(tmp_path: Path) -> None:
    path = tmp_path / "calls.pto"
    path.write_text(
        "module {\n"
        "  func.func private @twice(%t: !pto.tile_buf<vec, 8x64xf32>, %n: index) {\n"
        "    %c0 = arith.constant 0 : index\n    %c1 = arith.constant 1 : index\n"
        "    scf.for %i = %c0 to %n step %c1 {\n"
        "      pto.texp ins(%t : !pto.tile_buf<vec, 8x64xf32>) outs(%t : !pto.tile_buf<vec, 8x64xf32>)\n"
        "    }\n    return\n  }\n"
        "  func.func @k() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {\n"
        "    %c2 = arith.constant 2 : index\n    %t = pto.alloc_tile : !pto.tile_buf<vec, 8x64xf32>\n"
        "    func.call @twice(%t, %c2) : (!pto.tile_buf<vec, 8x64xf32>, index) -> ()\n    return\n  }\n}\n",
        encoding="utf-8",
    )
    assert runs(load_workload(path)) == ["TEXP", "TEXP"]


def test_a_function_that_calls_itself_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "calls.pto"
    path.write_text(
        "func.func @k() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {\n"
        "  func.call @k() : () -> ()\n  return\n}\n",
        encoding="utf-8",
    )
    assert faults(path) == ["2:3: calls k inside of itself, or too deep: expected calls that end"]


def test_errors_of_both_functions_come_at_once(changed: Changed) -> None:
    path = changed(
        "product.pto",
        ("tpush_to_aiv(%c : !acc) {id = 3, split = 1}", "tpush_to_aiv(%c : !acc) {id = 9, split = 1}"),
        ("tpop_from_aic {id = 3, split = 1}", "tpop_from_aic {id = 3, split = 7}"),
    )
    found = faults(path)
    assert len(found) == 2
    assert "names the pipe 9, which is not initialised here: there is 3" in found[0]
    assert "has split = 7: expected one of 0 NO_SPLIT" in found[1]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("dir_mask = 1", "dir_mask = 7", "has dir_mask 7: expected 1, 2 or 3"),
        ("slot_size = 16384, ", "", "has no slot_size"),
        ("slot_num = 4", "slot_num = -1", "slot_num = -1: expected a number"),
        ("pto.tpush_to_aiv", "pto.tpush_to_aic", "tpush_to_aic in a function for AIC: expected it in one for AIV"),
        ("!pto.tile_buf<vec, 32x64xf32>", "!pto.tile_buf<vec, 32x64xf128>", "the type of elements 'f128' is not known"),
        ("!pto.tile_buf<vec, 32x64xf32>", "!pto.tile_buf<moon, 32x64xf32>", "expected loc to be one of"),
        ("!pto.tile_buf<vec, 32x64xf32>", "!pto.tile_buf<vec, ?x64xf32>", "known at run time only"),
        ("kernel_kind<vector>", "kernel_kind<cube>", "is a second function for AIC"),
        ("pto.tmov ins(%b1 : !mat) outs(%b0", "pto.tmov ins(%b0 : !mat) outs(%b1", "is no way that a tile can go"),
    ],
)
def test_what_does_not_fit_is_said(changed: Changed, old: str, new: str, said: str) -> None:
    found = faults(changed("product.pto", (old, new)))
    assert any(said in f for f in found), found
    assert all(f[0].isdigit() for f in found)


def test_one_end_of_a_pipe_is_no_kernel(changed: Changed) -> None:
    path = changed("slots.pto")
    text = path.read_text(encoding="utf-8")
    start = text.index("  func.func @vector")
    path.write_text(text[:start] + "}\n", encoding="utf-8")
    (fault,) = faults(path)
    assert "the pipe of id 0 has one end only: expected a function of kind vector" in fault


def test_a_kernel_can_stand_wherever_a_workload_can() -> None:
    from pto_tune.cli.options import workload_named

    path = FILES / "product.pto"
    assert workload(path) == workload_named(str(path)) == load_workload(path)


def test_without_the_parser_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tree_sitter_mlir", None)
    with pytest.raises(ValueError, match=r"pip install 'pto-tune\[pto\]'"):
        read_kernel(FILES / "product.pto")


def test_the_same_file_gives_the_same_workload() -> None:
    assert load_workload(FILES / "both_ways.pto") == load_workload(FILES / "both_ways.pto")


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_no_damage_to_a_kernel_ends_in_anything_but_an_error_of_its_own(data: st.DataObject) -> None:
    from pto_tune.kernels.reading import read_text

    text = (FILES / data.draw(st.sampled_from(["product.pto", "handles.pto", "ranks.pto"]))).read_text(encoding="utf-8")
    at = data.draw(st.integers(0, len(text) - 1))
    length = data.draw(st.integers(0, 40))
    new = data.draw(st.sampled_from(["", "%", "}", "{", "0", "999999999999999999999", "?", "x", '"', "%c0", "é", "-1"]))
    try:
        read_text(text[:at] + new + text[at + length :], "damaged.pto", data.draw(st.sampled_from(["refuse", "price"])))
    except ValueError as e:
        said = str(e)
    else:
        said = "damaged.pto is a kernel still"
    assert "damaged.pto" in said


def test_a_memory_may_stand_without_the_name_of_its_attribute(changed: Changed) -> None:
    path = changed("product.pto", ("location = #pto.address_space<vec>", "location = <vec>"),
                   ("reserve_buffer {", "reserve_buffer{"))  # fmt: skip
    (own,) = [b for b in read_kernel(path).ends.reserved if not b.imported]
    assert (own.name, own.size, own.location) == ("halves", 32768, "vec")
