"""Findings: the verdict of what is wrong, at its place in the file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pto_tune.kernels.linting import Finding, Report, lint

Changed = Callable[..., Path]
Written = Callable[..., Path]


def found(report: Report) -> dict[str, Finding]:
    return {f.rule: f for f in report.findings}


def line_of(path: Path, text: str, nth: int = 0) -> int:
    lines = [i for i, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1) if text in line]
    return lines[nth]


def test_a_sound_kernel_has_no_findings_and_a_time(changed: Changed) -> None:
    report = lint(changed("product.pto"))
    assert (report.verdict, report.findings, report.platform) == ("ok", (), "ascend910b2")
    assert report.time_us is not None
    assert report.time_us > 0


def test_the_platform_follows_the_file(changed: Changed) -> None:
    assert lint(changed("both_ways.pto")).platform == "ascend950pr"


def test_a_pop_too_many_hangs_and_is_shown(changed: Changed) -> None:
    path = changed("product.pto", ("    %done = pto.alloc_tile : !half\n", (
        "    %done = pto.alloc_tile : !half\n    %more = pto.tpop_from_aic {id = 3, split = 1} -> !half\n"
    )))  # fmt: skip
    report = lint(path)
    hang = found(report)["deadlock"]
    assert (report.verdict, hang.verdict, report.time_us) == ("hang", "hang", None)
    assert hang.place.line == line_of(path, "pto.tpop_from_aic", 1)
    assert "waits in TPOP pipe3 for data" in hang.sentence


def test_a_pipe_that_is_never_filled_hangs_at_its_pop(changed: Changed) -> None:
    path = changed("product.pto", ("      pto.tpush_to_aiv(%c : !acc) {id = 3, split = 1}\n", ""))
    assert found(lint(path))["deadlock"].place.line == line_of(path, "pto.tpop_from_aic")


def test_an_odd_depth_overwrites_slots(changed: Changed) -> None:
    path = changed("product.pto", ("slot_num = 4", "slot_num = 5"))
    report = lint(path)
    overwrite = found(report)["slot-reuse"]
    assert overwrite.verdict == "overwrite"
    assert "nearest sound depths 4 and 6" in overwrite.sentence
    assert overwrite.place.line == line_of(path, "tpush_to_aiv")
    assert next(what for _, what in overwrite.others) == "TPOP of pipe3"


def test_without_tfree_a_ring_in_ub_hangs(changed: Changed) -> None:
    path = changed("both_ways.pto", ("      pto.tfree_from_aic {split = 1}\n", ""))
    report = lint(path)
    hang = found(report)["deadlock"]
    assert report.verdict == "hang"
    assert hang.place.line == line_of(path, "tpop_from_aiv")
    assert line_of(path, "tpop_from_aic") in [place.line for place, _ in hang.others]


def test_a_tfree_before_the_last_read_lets_the_slot_be_written(changed: Changed) -> None:
    free = "      pto.tfree(%q : !pto.pipe) {split = 0}\n"
    path = changed("local_handles.pto", (free, ""), ("      pto.tabs", free + "      pto.tabs"))
    report = lint(path)
    assert report.verdict in ("overwrite", "race")
    assert report.findings[0].place.line == line_of(path, "pto.tpush")


def test_too_large_tiles_are_refused_at_the_largest(changed: Changed) -> None:
    path = changed("flags.pto", ("!pto.tile_buf<vec, 64x64xf32>", "!pto.tile_buf<vec, 256x128xf32>"))
    capacity = found(lint(path))["capacity-UB"]
    assert capacity.verdict == "refused"
    assert capacity.place.line == line_of(path, "pto.alloc_tile")
    assert "UB needs 262144 bytes" in capacity.sentence


def test_a_slot_has_to_hold_the_tile(changed: Changed) -> None:
    path = changed("product.pto", ("slot_size = 16384", "slot_size = 8192"))
    by_rule = found(lint(path))
    assert by_rule["pipe3-slot-size"].place.line == line_of(path, "aic_initialize_pipe")
    assert by_rule["reserve-size"].place.line == line_of(path, "pto.reserve_buffer")


def test_mixed_splits_are_shown_on_both_sides(changed: Changed) -> None:
    path = changed("product.pto", ("tpop_from_aic {id = 3, split = 1}", "tpop_from_aic {id = 3, split = 2}"))
    mixed = found(lint(path))["mixed-splits"]
    assert mixed.verdict == "refused"
    assert mixed.place.line == line_of(path, "pto.tpop_from_aic")
    assert mixed.others[0][0].line == line_of(path, "pto.tpush_to_aiv")


def test_the_ends_of_a_pipe_have_to_agree(changed: Changed) -> None:
    path = changed("product.pto")
    text = path.read_text(encoding="utf-8")
    head, tail = text.rsplit("slot_num = 4, local_slot_num = 2", 1)
    path.write_text(f"{head}slot_num = 8, local_slot_num = 2{tail}", encoding="utf-8")
    ends = found(lint(path))["pipe-ends"]
    assert "pipe3 has slot_num = 8 here and 4 at " in ends.sentence
    assert ends.place.line == line_of(path, "aiv_initialize_pipe")


def test_nosplit_does_not_go_with_a_split(changed: Changed) -> None:
    path = changed("local_handles.pto", ("{split = 0}", "{split = 1}"))
    lines = [f.place.line for f in lint(path).findings if f.rule == "nosplit"]
    assert lines == [line_of(path, "{split = 1}", i) for i in range(3)]


def test_an_import_needs_a_buffer(changed: Changed) -> None:
    path = changed("both_ways.pto", ('reserve_buffer {name = "there"', 'reserve_buffer {name = "other"'))
    missing = found(lint(path))["reserve-missing"]
    assert missing.place.line == line_of(path, 'name = "there"')
    assert "@cube" in missing.sentence


def test_a_tile_in_the_local_slots_is_overwritten(changed: Changed) -> None:
    path = changed("local_handles.pto", ("arith.constant 16384 : i64", "arith.constant 8192 : i64"))
    overlap = found(lint(path))["tile-in-ring"]
    assert overlap.verdict == "overwrite"
    assert overlap.place.line == line_of(path, "pto.alloc_tile addr")


def test_a_flag_that_nothing_sets_hangs(changed: Changed) -> None:
    path = changed("flags.pto", ("      pto.set_flag[<PIPE_V>, <PIPE_MTE3>, <EVENT_ID3>]\n", ""))
    never = found(lint(path))["flag-never-set"]
    assert never.verdict == "hang"
    assert never.place.line == line_of(path, "EVENT_ID3")


def test_a_flag_that_is_set_too_late_hangs(changed: Changed) -> None:
    first = "    pto.set_flag[<PIPE_V>, <PIPE_MTE2>, <EVENT_ID0>]\n    pto.set_flag["
    path = changed("flags.pto", (first, "    pto.set_flag["))
    hang = found(lint(path))["deadlock"]
    assert hang.place.line in (line_of(path, "pto.wait_flag[<PIPE_V>, <PIPE_MTE2>"), line_of(path, "pto.wait_event"))


def test_a_signal_without_a_barrier_is_a_race(changed: Changed) -> None:
    path = changed("ranks.pto", ("    pto.barrier #pto.pipe<PIPE_ALL>\n", ""))
    race = found(lint(path))["signal-order"]
    assert race.verdict == "race"
    assert race.place.line == line_of(path, "pto.comm.tnotify")


def test_a_signal_that_is_compared_with_equal_can_be_missed(changed: Changed) -> None:
    path = changed("ranks.pto", ("wait_cmp ge", "wait_cmp eq"))  # both sub-cores notify
    missed = found(lint(path))["missed-value"]
    assert missed.verdict == "race"
    assert missed.place.line in (
        line_of(path, "comm.tnotify"),
        line_of(path, "comm.twait"),
    )


def test_problem_sizes_can_be_given(changed: Changed) -> None:
    path = changed("product.pto")
    few, many = (lint(path, values={"slices": n}).time_us for n in (1, 64))
    assert few is not None
    assert many is not None
    assert few < many


def test_headers_of_a_revision_decide(changed: Changed) -> None:
    path = changed(
        "product.pto", ("arith.constant 12 : index", "arith.constant 40 : index"), ("slot_num = 4,", "slot_num = 8,")
    )
    assert lint(path).verdict == "ok"
    report = lint(path, pto_isa="a2a3-fixed-drain")
    assert found(report)["deadlock"].place.line == line_of(path, "aic_initialize_pipe")
    assert "destructor" in found(report)["deadlock"].sentence


def test_what_cannot_be_read_is_a_finding_with_every_place(written: Written) -> None:
    path = written("  pto.tfancy ins(%t : !a.b) outs(%t : !a.b)\n  scf.for %i = %c0 to %x step %c1 {\n  }")
    report = lint(path)
    assert report.unread
    assert [(f.place.line, f.rule) for f in report.findings] == [(6, "unknown"), (7, "unsupported")]


def test_unknown_operations_can_be_priced(written: Written) -> None:
    path = written("  pto.tfancy ins(%t : !a.b) outs(%t : !a.b)")
    report = lint(path, unknown="price")
    assert report.verdict == "ok"
    assert any("pto.tfancy (line 6)" in note for note in report.notes)


@pytest.mark.parametrize("platform", ["no-such-chip"])
def test_wrong_use_is_an_error(changed: Changed, platform: str) -> None:
    with pytest.raises(ValueError, match="no-such-chip"):
        lint(changed("product.pto"), platform)
