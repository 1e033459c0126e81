"""Every construct of a kernel becomes what the model has for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from pto_tune.api import evaluate_records
from pto_tune.kernels.reading import load_workload, read_kernel
from pto_tune.model import serial
from pto_tune.model.communication import Barrier, Tget, Tnotify, Tput, Ttest, Twait
from pto_tune.model.expr import expr
from pto_tune.model.nodes import Instr, Loop, Node, Talloc, Tfree, Tpop, Tpush, Workload, walk

FILES = Path(__file__).parent / "files"
ALL = sorted(p.name for p in FILES.glob("*.pto"))
FOR_950 = ("both_ways.pto", "local_handles.pto")


def workload(name: str) -> Workload:
    return load_workload(FILES / name)


def nodes(w: Workload, core: str) -> list[Node]:
    return list(walk(dict(w.programs)[core]))


def names(w: Workload, core: str) -> list[str]:
    """Instructions and calls in order, without those that only wait."""
    found = [x.name if isinstance(x, Instr) else type(x).__name__.upper() for x in nodes(w, core)]
    return [n for n in found if n != "TSYNC"]


@pytest.mark.parametrize("name", ALL)
def test_every_kernel_is_sound_under_its_own_configuration(name: str) -> None:
    chip = "ascend950pr" if name in FOR_950 else "ascend910b2"
    record = evaluate_records(workload(name), platform=chip)[0]
    assert (record["verdict"], record["reason"]) == ("ok", "")
    assert record["cycles"] > 0


@pytest.mark.parametrize("name", ALL)
def test_the_workload_of_a_kernel_goes_through_json(name: str) -> None:
    w = workload(name)
    assert serial.from_json(serial.to_json(w)) == w


@pytest.mark.parametrize("name", ALL)
def test_everything_has_a_place_in_the_file(name: str) -> None:
    kernel = read_kernel(FILES / name)
    lines = (FILES / name).read_text(encoding="utf-8").splitlines()

    def check(way: tuple[str | int, ...], body: tuple[Node, ...]) -> None:
        for i, node in enumerate(body):
            place = kernel.places[*way, i]
            assert lines[place.line - 1][place.column - 1 :].strip() or place.line == 1
            if isinstance(node, Loop):
                check((*way, i), node.body)

    for core, body in kernel.workload.programs:
        check((core,), body)
    for fifo in kernel.workload.fifos:
        assert "pipe" in lines[kernel.named[fifo.name].line - 1]


def test_a_pipe_has_the_values_of_the_file_as_defaults() -> None:
    w = workload("product.pto")
    assert {t.name: t.default for t in w.tunables} == {
        "pipe3_slot_num": 4, "pipe3_local_slot_num": 2, "pipe3_split": 1,
    }  # fmt: skip
    (fifo,) = w.fifos
    assert (fifo.direction, fifo.slot_bytes, fifo.flag_id) == ("C2V", expr(16384), 0)
    assert w.tunables[2].domain == (1,)


def test_a_bound_that_the_caller_gives_is_a_constant_and_an_argument_a_problem_size() -> None:
    w = workload("product.pto")
    assert [p.name for p in w.problem] == ["blocks", "slices"]
    loops = [n for n in dict(w.programs)["AIV"] if isinstance(n, Loop)]
    assert [(loop.trips, loop.steady) for loop in loops] == [(expr(12), True)]


def test_the_time_grows_with_the_problem_size() -> None:
    few, many = (evaluate_records(workload("product.pto"), {"slices": n})[0]["cycles"] for n in (2, 8))
    assert many > 2 * few


def test_a_condition_on_the_first_trip_is_a_part_of_its_own() -> None:
    assert [n for n in names(workload("product.pto"), "AIC") if n.startswith("TMATMUL")] == ["TMATMUL", "TMATMUL_ACC"]


def test_the_products_of_a_loop_are_as_many_as_its_trips() -> None:
    record = evaluate_records(workload("product.pto"), {"slices": 5})[0]
    one = evaluate_records(workload("product.pto"), {"slices": 1})[0]
    assert record["busy"]["AIC.M"] == 5 * one["busy"]["AIC.M"]


def test_both_ways_of_one_pipe() -> None:
    w = workload("both_ways.pto")
    (fifo,) = w.fifos
    assert fifo.direction == "BOTH"
    assert names(w, "AIC") == ["TLOAD", "TMOV", "TPOP", "TMOV", "TFREE", "TMATMUL", "TPUSH"]
    assert names(w, "AIV") == ["TLOAD", "TCVT", "TMOV", "TPUSH", "TPOP", "TADD", "TFREE", "TSTORE"]
    assert {t.name: t.default for t in w.tunables}["pipe0_slot_num"] == 4  # none in the file, both ways


def test_a_pop_may_say_what_is_valid_of_its_tile(tmp_path: Path) -> None:
    text = (FILES / "product.pto").read_text(encoding="utf-8")
    pop = "%part = pto.tpop_from_aic {id = 3, split = 1} -> !half"
    assert pop in text
    path = tmp_path / "part.pto"
    valid = "%part = pto.tpop_from_aic(%c8, %c64) {id = 3, split = 1} -> !pto.tile_buf<vec, 32x64xf32, valid=?x?>"
    path.write_text(text.replace(pop, f"%c8 = arith.constant 8 : index\n{valid}"), encoding="utf-8")
    found = [n.tile for n in nodes(read_kernel(path).workload, "AIV") if isinstance(n, Tpop)]
    assert [(t.rows, t.cols) for t in found if t is not None] == [(expr(8), expr(64))]


def test_slots_in_global_memory_are_global_data() -> None:
    w = workload("slots.pto")
    (fifo,) = w.fifos
    assert fifo.gm_form
    assert fifo.tile_bytes == expr(4096)
    kinds = [type(n) for n in nodes(w, "AIC") + nodes(w, "AIV") if not isinstance(n, Instr)]
    assert kinds == [Talloc, Tpush, Tpop, Tfree]
    stores = [n for n in nodes(w, "AIC") if isinstance(n, Instr) and n.writes]
    loads = [n for n in nodes(w, "AIV") if isinstance(n, Instr) and n.reads]
    assert [(n.name, n.pipe) for n in stores + loads] == [("TSTORE", "FIX"), ("TLOAD", "MTE2")]


def test_a_handle_serves_both_sections() -> None:
    w = workload("handles.pto")
    (fifo,) = w.fifos
    assert (fifo.flag_id, fifo.slot_bytes) == (6, expr(4096))
    assert names(w, "AIC") == ["TPUSH"]
    assert names(w, "AIV") == ["TPOP", "TRELU", "TFREE"]
    assert {t.name: t.default for t in w.tunables} == {"pipe0_slot_num": 4, "pipe0_local_slot_num": 2, "pipe0_split": 2}


def test_handles_belong_together_by_their_buffer() -> None:
    kernel = read_kernel(FILES / "local_handles.pto")
    assert [[e.function for e in p.ends] for p in kernel.pipes] == [["push", "pop"]]
    assert kernel.family == "a5"


def test_flags_of_the_file_are_kept_and_none_are_added() -> None:
    w = workload("flags.pto")
    program = nodes(w, "AIV")
    events = {n.event for n in program if isinstance(n, Instr) and n.event}
    assert {e for e in events if e.startswith("flag_")} == {
        "flag_v_mte2_id0", "flag_mte3_v_id1", "flag_mte2_v_id2", "flag_v_mte3_id3",
    }  # fmt: skip
    assert not [b for b in w.buffers if b.bytes == expr(0)]


def test_flags_that_are_added_take_as_long_as_those_by_hand(tmp_path: Path) -> None:
    text = (FILES / "flags.pto").read_text(encoding="utf-8")
    words = ("set_flag", "wait_flag", "record_event", "wait_event")
    bare = tmp_path / "bare.pto"
    kept = [line for line in text.splitlines() if not any(w in line for w in words)]
    bare.write_text("\n".join(kept), encoding="utf-8")
    by_hand = evaluate_records(workload("flags.pto"))[0]["cycles"]
    added = evaluate_records(load_workload(bare))[0]["cycles"]
    assert added == pytest.approx(by_hand, rel=0.05)


def test_ranks_in_the_spelling_of_the_assembler() -> None:
    w = workload("ranks.pto")
    assert w.has_ranks
    assert [s.name for s in w.signals] == ["signal_here"]
    kinds = [type(n) for n in nodes(w, "AIV")]
    assert kinds == [Tput, Barrier, Tnotify, Twait, Ttest, Tget]
    put = next(n for n in nodes(w, "AIV") if isinstance(n, Tput))
    assert put.atomic == "AtomicAdd"
    assert put.pong
    assert [s.rows for s in w.staging] == [expr(16), expr(16)]


def test_ranks_in_the_spelling_of_the_pages_have_a_staging_tile_that_is_said() -> None:
    kernel = read_kernel(FILES / "ranks_isa.pto")
    (first, _) = kernel.workload.staging
    assert (first.rows, first.cols) == (expr(64), expr(256))  # 64 KiB
    assert any("name no staging tile" in note for note in kernel.notes)
    assert any("next rank" in note for note in kernel.notes)


def test_the_tunables_change_what_is_evaluated() -> None:
    w = workload("product.pto")
    records = evaluate_records(w, [{"pipe3_slot_num": n, "pipe3_local_slot_num": 1} for n in (1, 2, 4, 8)])
    assert [r["verdict"] for r in records] == ["ok"] * 4
    assert [r["bytes"]["GM_ring"] for r in records] == [16384 * n for n in (1, 2, 4, 8)]
    assert records[0]["cycles"] >= records[2]["cycles"]
