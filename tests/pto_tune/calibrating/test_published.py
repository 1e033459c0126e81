"""Published rows in a fit: busy times beside times, shares as busy times, ties, and files on a base."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cost_models import Platform, load_platform
from cost_models.platform import check_file
from db import Measurement
from pto_tune.calibrating.bases import base_file, check_base
from pto_tune.calibrating.calibration import NothingFitted, calibrate
from pto_tune.calibrating.parameters import ParameterError, parameters
from pto_tune.calibrating.published import published_rows
from pto_tune.calibrating.rows import CalibrationError, Located
from pto_tune.calibrating.writing import write_platform
from pto_tune.evaluation import Problem, evaluate_columns
from pto_tune.published.cases import load_table
from pto_tune.workloads import workload

Board = Callable[..., list[Measurement]]
RATE, EVENT = "dma.gm_to_ub.rate", "launch.event"
LEFT, RIGHT = "dma.l1_to_l0a.startup", "dma.l1_to_l0b.startup"


def busy(b2: Platform, numbers: dict[str, float], pipe: str, timing: str = "device", **table: Any) -> list[Located]:
    """Busy times of a pipe of the stream (of `gemm` for pipes of the cube core) on a board with these numbers."""
    model = workload("stream" if pipe.startswith("AIV") else "gemm")
    e = evaluate_columns(Problem.of(model, b2.with_values(numbers), timing=timing), table)
    times = e.busy[:, e.problem.code.pipes.index(pipe)] / b2["clock.core_mhz"]
    rows = []
    for i, value in enumerate(times.tolist()):
        configuration = {name: int(np.broadcast_to(column, len(e))[i]) for name, column in table.items()}
        m = Measurement(model.name, configuration, b2.family, b2.soc, timing, value, platform=b2.name)
        rows.append(Located(f"busy {i}", m, pipe))
    return rows


def test_busy_times_stand_beside_times_of_any_protocol(b2: Platform, board: Board) -> None:
    true = {RATE: 120.0, EVENT: 8.0}
    times = [Located(f"time {i}", m) for i, m in enumerate(board(true))]
    rows = [*times, *busy(b2, true, "AIV0.MTE2", tiles=[64, 256], slot_bytes=[32768, 32768])]
    c = calibrate(b2, list(true), rows)
    assert (c.timing, len(c.rows), c.left_out) == ("event", 10, ())
    assert {n.key: n.after for n in c.numbers} == pytest.approx(true, rel=0.005)


def test_busy_times_alone_say_nothing_of_the_launch(b2: Platform) -> None:
    rows = busy(b2, {RATE: 120.0}, "AIV0.MTE2", tiles=[64, 256], slot_bytes=[8192, 32768])
    assert calibrate(b2, [RATE], rows).numbers[0].after == pytest.approx(120, rel=0.01)
    with pytest.raises(NothingFitted, match=r"launch\.event has no influence"):
        calibrate(b2, [EVENT], rows)


@pytest.mark.parametrize(("pipe", "words"), [("AIC.MTE9", "has no pipe 'AIC.MTE9': it has AIC"), ("AIC.M", "nothing")])
def test_a_pipe_that_is_not_there_or_does_nothing_is_left_out(pipe: str, words: str, b2: Platform) -> None:
    (one,) = busy(b2, {}, "AIV0.MTE2", tiles=[64])
    wrong = Located("wrong", one.measurement, pipe)
    (out,) = calibrate(b2, [RATE], [one, wrong]).left_out
    assert out.where == "wrong"
    assert words in out.reason or "has no pipe" in out.reason


def test_a_busy_time_below_the_ideal_is_reported(b2: Platform) -> None:
    (one,) = busy(b2, {RATE: 128.0}, "AIV0.MTE2", tiles=[64])
    from dataclasses import replace

    half = Located("half", replace(one.measurement, value=one.measurement.value / 2), one.pipe)
    (out,) = calibrate(b2, [RATE], [one, half]).left_out
    assert "is less than the" in out.reason
    assert "AIV0.MTE2 needs" in out.reason


def test_a_time_and_the_busy_time_of_the_same_value_are_two_rows(b2: Platform) -> None:
    (one,) = busy(b2, {}, "AIV0.MTE2", tiles=[64])
    assert one.digest != Located("time", one.measurement).digest


class TestTies:
    def test_one_value_is_fitted_for_both(self, b2: Platform) -> None:
        rows = busy(b2, {LEFT: 40.0, RIGHT: 40.0}, "AIC.MTE1", m=[1536, 3072], k=[1536, 3072], n=[1536, 3072])
        c = calibrate(b2, [f"{LEFT}={RIGHT}"], rows)
        left, right = c.numbers
        assert left.after == right.after == pytest.approx(40, abs=1)
        assert (left.tied_to, right.tied_to) == ("", LEFT)
        assert c.covariance[0, 0] == c.covariance[0, 1] == c.covariance[1, 1] > 0
        assert c.degrees_of_freedom == len(rows) - 1
        assert c.fitted[LEFT] == c.fitted[RIGHT] == left.after

    def test_alone_they_cannot_be_told_apart(self, b2: Platform) -> None:
        rows = busy(b2, {}, "AIC.MTE1", m=[1536, 3072], k=[1536, 3072], n=[1536, 3072])
        with pytest.raises(NothingFitted, match="cannot be told apart") as raised:
            calibrate(b2, [LEFT, RIGHT], rows)
        assert [one.keys for one in raised.value.undetermined] == [(LEFT, RIGHT)]

    @pytest.mark.parametrize(
        ("fits", "words"),
        [
            ([f"{LEFT}={LEFT}"], "given twice"),
            ([f"{LEFT}={RIGHT}", RIGHT], "given twice"),
            (["dma.gm_to_ub.rate=link.hccs.get.rate"], "have different units"),
            (["dma.gm_to_l1.startup=dma.gm_to_l1.latency"], "leave no room, 50 to 20.6 cycles"),
        ],
    )
    def test_what_cannot_be_tied(self, fits: list[str], words: str, b2: Platform) -> None:
        with pytest.raises(ParameterError, match=words):
            parameters(b2, fits)


class TestPublished:
    def test_the_rows_marked_fit_of_a_table(self) -> None:
        located, out = published_rows(["tget"])
        assert {one.case for one in located} == {c.name for c in load_table("tget") if c.use == "fit"}
        assert out == []

    def test_a_share_is_a_busy_time_of_the_published_time_of_the_run(self) -> None:
        located, _ = published_rows(["gemm"], load_platform("ascend910b1"))
        (one,) = [x for x in located if x.case == "gemm/manual-6144-MTE2"]
        assert one.pipe == "AIC.MTE2"
        assert one.measurement.value == pytest.approx(0.952 * 1506)

    def test_rows_of_other_chips_stay_out_where_a_chip_is_named(self) -> None:
        every, _ = published_rows(["gemm"])
        ours, _ = published_rows(["gemm"], load_platform("ascend950pr"))
        assert {x.measurement.platform for x in ours} == {"ascend950pr"} < {x.measurement.platform for x in every}

    @pytest.mark.parametrize("tables", [[], ["gemm", "gemm"]])
    def test_no_table_or_one_twice(self, tables: list[str]) -> None:
        with pytest.raises(CalibrationError, match="give one or more tables, each once"):
            published_rows(tables)


class TestBases:
    def test_the_new_file_is_for_all_that_inherit_from_the_base(
        self, b2: Platform, board: Board, tmp_path: Path
    ) -> None:
        rows = [Located(f"{i}", m) for i, m in enumerate(board({RATE: 120.0}))]
        path, base = tmp_path / "ours.toml", base_file("a2a3-published")
        check_base(b2, base, [RATE])
        c = calibrate(b2, [RATE], rows)
        write_platform(c, path, base=base)
        assert check_file(path) == []
        text = path.read_text("utf-8")
        assert 'inherits = "a2a3-published"\nabstract = true\n' in text
        chip = tmp_path / "chip.toml"
        head = '[platform]\nname = "chip"\nsoc = "Ascend 910B9"\ninherits = "ours.toml"\ndescription = "another"\n'
        for key, value, unit in (
            ("clock.core_mhz", 1500, "MHz"),
            ("cores.cube", 20, "count"),
            ("memory.l2", 96, "MiB"),
        ):
            head += f'[{key}]\nvalue = {value}\nunit = "{unit}"\nkind = "assumed"\nsource = "made up"\n'
        chip.write_text(head)
        assert load_platform(chip)[RATE] == c.fitted[RATE]

    def test_a_number_that_is_replaced_below_the_base_is_refused(self, b2: Platform) -> None:
        with pytest.raises(CalibrationError, match=r"flags\.cross_core_latency is replaced below a2a3-published\.toml"):
            check_base(b2, base_file("a2a3-published"), ["flags.cross_core_latency"])

    def test_a_number_that_the_base_does_not_state_is_refused(self, b2: Platform) -> None:
        with pytest.raises(CalibrationError, match=r"memory\.l2 is not stated by a2a3-published\.toml"):
            check_base(b2, base_file("a2a3-published"), ["memory.l2"])

    def test_a_base_that_the_platform_does_not_inherit_from(self, b2: Platform) -> None:
        with pytest.raises(CalibrationError, match="does not inherit from a5-published"):
            check_base(b2, base_file("a5-published"), [RATE])

    @pytest.mark.parametrize(
        ("name", "words"), [("a2a3-publishd", "did you mean 'a2a3-published'"), ("no/such.toml", "no such file")]
    )
    def test_a_base_that_is_not_there(self, name: str, words: str) -> None:
        with pytest.raises(CalibrationError, match=words):
            base_file(name)
