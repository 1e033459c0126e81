"""Files of the simple form: what is read, what is left out and why."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cost_models.launch import TIMINGS
from pto_tune.measuring import faults as limits
from pto_tune.measuring import files
from pto_tune.measuring.faults import Fault, MeasurementFileError, listed
from pto_tune.measuring.protocols import protocol
from pto_tune.measuring.reading import read_measurements
from pto_tune.measuring.rows import RESERVED, Rows
from pto_tune.workloads import workload, workload_names

Write = Callable[..., Path]

GOOD = {"workload": "gemm", "platform": "ascend910b2", "timing": "event", "time_us": "88.9"}


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def make(text: str | bytes, name: str = "board.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return make


@pytest.fixture
def rows_file(write: Write) -> Callable[..., Path]:
    """A CSV file of rows given as changes to one that is right."""

    def make(*changes: dict[str, str]) -> Path:
        rows = [{**GOOD, **change} for change in changes]
        titles = list(dict.fromkeys(name for row in rows for name in row))
        text = io.StringIO()
        writer = csv.DictWriter(text, titles, restval="")
        writer.writeheader()
        writer.writerows(rows)
        return write(text.getvalue())

    return make


def bad(found: list[Fault]) -> list[str]:
    return [str(fault) for fault in found if not fault.harmless]


class TestRows:
    def test_a_row_has_everything_that_it_says(self, write: Write) -> None:
        path = write(
            "workload,soc,pto_isa,timing,time_us,repeats,spread_us,min_us,max_us,source,note,s0,split\n"
            'flash_attention,"Ascend 910B2 (24 AIC)",0a15e15c,profiler,88.9,20,0.4,88.25,9.05e1,lab,"warm, twice",'
            "8192,up_down\n"
        )
        (m,), found = read_measurements(path)
        assert found == []
        assert (m.workload, m.family, m.platform, m.soc) == (
            "flash_attention", "a2a3", "ascend910b2", "Ascend 910B2 (24 AIC)"
        )  # fmt: skip
        assert (m.pto_isa, m.timing, m.metric, m.value) == ("0a15e15c", "task", "us", 88.9)
        assert (m.repeats, m.spread, m.minimum, m.maximum) == (20, 0.4, 88.25, 90.5)
        assert (m.source, m.note) == ("lab", "warm, twice")
        assert (m.configuration["s0"], m.configuration["split"]) == (8192, "UP_DOWN")

    def test_what_a_row_leaves_open_has_its_default(self, rows_file: Callable[..., Path]) -> None:
        (m,), _ = read_measurements(rows_file({"m": "512", "k": ""}))
        work = workload("gemm")
        parameters = (*work.problem, *work.tunables)
        defaults = {p.name: p.labels[p.default] if p.labels else p.default for p in parameters}
        assert m.configuration == {**defaults, "m": 512}
        assert (m.pto_isa, m.repeats, m.spread, m.minimum, m.maximum, m.note) == (None, None, None, None, None, "")
        assert m.source == "board.csv"

    def test_a_default_that_is_written_down_makes_no_difference(self, rows_file: Callable[..., Path]) -> None:
        ms, found = read_measurements(rows_file({}, {"step_k": "4"}))
        assert len(ms) == 1
        assert [(fault.row, fault.harmless) for fault in found] == [(3, True)]
        assert "the same as row 2" in found[0].text

    def test_cycles_are_kept_as_cycles(self, rows_file: Callable[..., Path]) -> None:
        changes = {"time_us": "", "cycles": "164465", "spread_cycles": "12", "timing": "device ticks"}
        (m,), found = read_measurements(rows_file(changes))
        assert (m.value, m.metric, m.spread, m.timing, found) == (164465.0, "cycles", 12.0, "device", [])

    def test_whole_numbers_with_a_fraction_of_zero_are_whole(self, rows_file: Callable[..., Path]) -> None:
        (m,), _ = read_measurements(rows_file({"m": "512.0", "repeats": "20.0"}))
        assert (m.configuration["m"], m.repeats) == (512, 20)

    def test_workloads_may_be_mixed(self, rows_file: Callable[..., Path]) -> None:
        ms, found = read_measurements(rows_file({"m": "512"}, {"workload": "stream", "tiles": "16"}))
        assert [m.workload for m in ms] == ["gemm", "stream"]
        assert found == []

    def test_arguments_stand_in_for_what_rows_leave_open(self, rows_file: Callable[..., Path]) -> None:
        path = rows_file({"workload": "", "platform": "", "timing": ""}, {"time_us": "5", "timing": "sync"})
        ms, found = read_measurements(path, workload="stream", platform="ascend950pr", timing="profiler")
        assert [(m.workload, m.platform, m.timing) for m in ms] == [
            ("stream", "ascend950pr", "task"), ("gemm", "ascend910b2", "sync")
        ]  # fmt: skip
        assert found == []

    @pytest.mark.parametrize(
        ("arguments", "sentence"),
        [
            ({"workload": "gem"}, "did you mean 'gemm'"),
            ({"platform": "ascend"}, "unknown platform 'ascend'"),
            ({"timing": "clock"}, "unknown timing 'clock'"),
        ],
    )
    def test_an_argument_that_is_nothing_is_refused(
        self, arguments: dict[str, Any], sentence: str, rows_file: Callable[..., Path]
    ) -> None:
        with pytest.raises(ValueError, match=sentence):
            read_measurements(rows_file({}), **arguments)

    def test_a_workload_of_a_file_goes_by_its_name(self, rows_file: Callable[..., Path]) -> None:
        from dataclasses import replace

        own = replace(workload("gemm"), name="my_gemm")
        path = rows_file({"workload": "my_gemm", "m": "512"}, {"workload": ""})
        ms, found = read_measurements(path, workload=own)
        assert ([m.workload for m in ms], found) == (["my_gemm", "my_gemm"], [])
        assert len(read_measurements(path)[0]) == 0

    @pytest.mark.parametrize(
        ("change", "sentence"),
        [
            ({"workload": "gem"}, "unknown workload 'gem' (did you mean 'gemm'?)"),
            ({"workload": ""}, "the workload is missing"),
            ({"platform": ""}, "the chip is missing"),
            ({"platform": "ascend910"}, "unknown platform 'ascend910'"),
            ({"soc": "Ascend 950"}, "is not the chip of platform ascend910b2"),
            ({"timing": ""}, "the timing protocol is missing"),
            ({"timing": "wall"}, "unknown timing 'wall': choose one of task, event, sync, device"),
            ({"time_us": "0"}, "time_us is '0': expected a number above 0"),
            ({"time_us": "-1"}, "expected a number above 0"),
            ({"time_us": "nan"}, "expected a number above 0"),
            ({"time_us": "inf"}, "expected a number above 0"),
            ({"time_us": "1e999"}, "expected a number above 0"),
            ({"time_us": "1,506.2"}, "time_us is '1,506.2': expected a number above 0, such as 1506.2"),
            ({"time_us": "88.9 us"}, "expected a number above 0"),
            ({"time_us": "１２"}, "expected a number above 0"),
            ({"cycles": "5"}, "both time_us and cycles"),
            ({"spread_cycles": "5"}, "spread_cycles does not go with time_us: give spread_us"),
            ({"spread_us": "-0.1"}, "spread_us is '-0.1': expected a number of 0 or more"),
            ({"min_us": "89"}, "min_us is 89: expected a number above 0 and at most the time, 88.9"),
            ({"min_us": "0"}, "min_us is 0"),
            ({"max_us": "88"}, "max_us is 88: expected a number of at least the time, 88.9"),
            ({"repeats": "0"}, "repeats is '0': expected a whole number"),
            ({"repeats": "2.5"}, "repeats is '2.5'"),
            ({"repeats": "1", "spread_us": "0.4"}, "a spread takes 2 repeats or more"),
            ({"fifo_depth": "8"}, "gemm has no problem size or tunable 'fifo_depth'"),
            ({"m": "abc"}, "m: 'abc' is not a value: expected an integer"),
            ({"m": "512.5"}, "m: '512.5' is not a value"),
            ({"m": "0"}, "m = 0 is out of range: expected 16 to 2147483648"),
            ({"m": "9" * 5000}, "m has 5,000 characters: at most 2,000 are read"),
            ({"note": "n" * 2001}, "note has 2,001 characters"),
            ({"note": "a\x1b[31m"}, "note has control characters"),
        ],
    )
    def test_a_bad_row_is_left_out_by_number_and_the_others_are_read(
        self, change: dict[str, str], sentence: str, rows_file: Callable[..., Path]
    ) -> None:
        ms, found = read_measurements(rows_file({}, change, {"time_us": "90"}))
        assert [m.value for m in ms] == [88.9, 90.0]
        (said,) = bad(found)
        assert said.startswith("row 3: ")
        assert sentence in said
        assert "\n" not in said

    def test_everything_that_is_wrong_with_a_row_is_said(self, rows_file: Callable[..., Path]) -> None:
        wrong = {"workload": "x", "platform": "y", "timing": "z", "time_us": "-1", "repeats": "-1"}
        ms, found = read_measurements(rows_file(wrong))
        assert ms == []
        assert [fault.row for fault in found] == [2] * 5

    def test_rows_without_a_time_are_no_fault(self, rows_file: Callable[..., Path]) -> None:
        ms, (fault,) = read_measurements(rows_file({"time_us": ""}, {}, {"time_us": "", "m": "x"}))
        assert len(ms) == 1
        assert (fault.row, fault.harmless) == (None, True)
        assert fault.text == "rows 2 and 4 have no time yet and stay out"

    def test_no_workload_has_a_parameter_that_would_be_taken_for_a_column_of_ours(self) -> None:
        for name in workload_names():
            assert not set(RESERVED) & set(workload(name).parameter_names())


class TestCsv:
    @pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
    def test_lines_end_as_they_like(self, ending: str, write: Write) -> None:
        text = ending.join([",".join(GOOD), ",".join(GOOD.values()), ""])
        assert read_measurements(write(text))[0][0].value == 88.9

    def test_what_spreadsheets_add_does_no_harm(self, write: Write) -> None:
        text = f"\ufeff {' , '.join(GOOD)} ,,\n\n,,,,,\n{','.join(GOOD.values())}\t,,\n"
        (m,), found = read_measurements(write(text))
        assert (m.value, found) == (88.9, [])

    def test_rows_are_counted_as_a_spreadsheet_does(self, write: Write) -> None:
        text = f'{",".join(GOOD)},note\n{",".join(GOOD.values())},"two\nlines"\n\ngemm,ascend910b2,event,x,\n'
        _, found = read_measurements(write(text))
        assert [fault.row for fault in found] == [2, 4]

    @pytest.mark.parametrize(
        ("row", "sentence"),
        [
            ("gemm,ascend910b2", "it has 2 cells and there are 6 titles"),
            ("gemm,ascend910b2,event,88.9,,512,7", "it has 7 cells and there are 6 titles"),
            ("gemm,ascend910b2,event,88.9,7,512", "column 5 has a value and no title"),
        ],
    )
    def test_cells_and_titles_go_together(self, row: str, sentence: str, write: Write) -> None:
        path = write(f"workload,platform,timing,time_us,,m\ngemm,ascend910b2,event,88.9,,512\n{row}\n")
        ms, found = read_measurements(path)
        assert len(ms) == 1
        (said,) = bad(found)
        assert said.startswith(f"row 3: {sentence}")

    @pytest.mark.parametrize(
        ("text", "sentence"),
        [
            ("", "has no rows"),
            ("workload,time_us\n", "has no rows"),
            ("workload,time\ngemm,5\n", r"no column 'time_us' or 'cycles' \(it has 'time'\)"),
            ("workload,time_us,time_us\ngemm,5,5\n", "has the column 'time_us' twice"),
            ("workload;time_us\ngemm;5\n", "put commas between cells"),
            ('workload,time_us\n"gemm,5\n', "is no CSV from line 2 on"),
            ("[{}]", "one JSON list"),
            (b"workload,time_us\n\xff,5\n", "no UTF-8 text, first in line 2"),
            (",".join(f"c{i}" for i in range(501)) + "\n1\n", "501 columns: at most 500"),
        ],
    )
    def test_a_file_of_which_nothing_can_be_read_is_refused(
        self, text: str | bytes, sentence: str, write: Write
    ) -> None:
        with pytest.raises(MeasurementFileError, match=sentence):
            read_measurements(write(text))

    def test_a_path_that_is_no_file_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(MeasurementFileError, match="does not exist"):
            read_measurements(tmp_path / "x.csv")
        with pytest.raises(MeasurementFileError, match="is a folder"):
            read_measurements(tmp_path)
        for name in ("a\x00b", "a" * 5000):
            with pytest.raises(MeasurementFileError):
                read_measurements(name)

    def test_files_have_a_limit(self, write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
        line = ",".join(GOOD.values()) + "\n"
        path = write(f"{','.join(GOOD)}\n{line * 4}")
        with monkeypatch.context() as patched:
            patched.setattr(files, "MAX_ROWS", 3)
            with pytest.raises(MeasurementFileError, match="more than 3 rows: split it"):
                read_measurements(path)
            with pytest.raises(MeasurementFileError, match="more than 3 rows: split it"):
                read_measurements(write("{}\n{\n{\n{\n", "x.jsonl"))
        assert files.read_text(path, path.stat().st_size)
        with pytest.raises(MeasurementFileError, match="more than 10 bytes"):
            files.read_text(path, 10)
        assert limits.MAX_FILE_BYTES == 64 * 2**20


class TestJsonLines:
    def test_numbers_texts_and_labels_are_read(self, write: Write) -> None:
        first = {**GOOD, "workload": "flash_attention", "time_us": 88.9, "s0": 8192, "causal": True, "note": None}
        second = {**GOOD, "time_us": 5, "configuration": {"m": "512", "step_k": 2.0}}
        ms, found = read_measurements(write(f"{json.dumps(first)}\n\n{json.dumps(second)}\n", "x.jsonl"))
        assert found == []
        assert (ms[0].configuration["s0"], ms[0].configuration["causal"], ms[0].value) == (8192, 1, 88.9)
        assert (ms[1].configuration["m"], ms[1].configuration["step_k"]) == (512, 2)

    @pytest.mark.parametrize(
        ("line", "sentence"),
        [
            ("{", "it is no JSON ("),
            ("3", "write an object"),
            ("x", "it is no JSON"),
            ('{"time_us": NaN}', "the JSON has NaN"),
            ('{"a": 1, "a": 2}', "gives 'a' twice"),
            ('{"time_us": [1]}', "'time_us' is a list or an object"),
            ('{"configuration": 3}', "configuration is no object"),
            ('{"m": 1, "configuration": {"m": 1}}', "'m' stands in configuration and beside it"),
            ('{"m": ' + "9" * 6000 + "}", "a number that is too long"),
            ('{"m": ' + "[" * 50_000 + "}", "nested too deeply"),
            ('{"note": "' + "n" * 100_000 + '"}', "at most 100,000 are read"),
            ('{"time_us": 1e999}', "too large a number"),
            ("{}", "the time is missing"),
        ],
    )
    def test_a_bad_line_is_left_out_by_number(self, line: str, sentence: str, write: Write) -> None:
        ms, found = read_measurements(write(f"{json.dumps(GOOD)}\n{line}\n", "x.jsonl"))
        assert len(ms) == 1
        assert all(fault.row == 2 for fault in found)
        assert any(sentence in said for said in bad(found)), bad(found)


class TestWords:
    @pytest.mark.parametrize("word", TIMINGS)
    def test_protocols_go_by_the_names_of_the_launch_model(self, word: str) -> None:
        assert protocol(word.upper()) == word

    @pytest.mark.parametrize(
        ("word", "means"),
        [("profiler", "task"), ("msprof", "task"), ("stream_sync", "sync"), ("Device Ticks", "device")],
    )
    def test_other_words_for_them(self, word: str, means: str) -> None:
        assert protocol(word) == means

    def test_row_numbers_in_words(self) -> None:
        assert listed([3]) == "row 3"
        assert listed([3, 4]) == "rows 3 and 4"
        assert listed([3, 4, 9]) == "rows 3, 4 and 9"
        assert listed(list(range(120))) == "rows 0, 1, 2, 3, 4, 5, 6, 7, ... (120 rows)"


_CHIPS: list[Any] = []


_CELLS = st.sampled_from(["", "1", "2.5", "16", "gemm", "a2a3", "ascend910b2", "Ascend 950", "event"]) | st.text(
    max_size=8
)


@given(st.dictionaries(st.sampled_from([*RESERVED, "m", "k", "s0"]), _CELLS, max_size=6), st.text(max_size=3))
def test_any_row_is_a_measurement_that_a_store_takes_or_a_fault(cells: dict[str, str], time: str) -> None:
    from db.measured import measurement_values
    from pto_tune.measuring.chips import Chips
    from pto_tune.measuring.faults import RowError
    from pto_tune.measuring.rows import NotMeasured

    if not _CHIPS:
        _CHIPS.append(Chips())
    rows = Rows(_CHIPS[0], workload="gemm", platform="ascend910b2", timing="task")
    try:
        m = rows.measurement({"time_us": time.strip() or "88.9", **{n: text.strip() for n, text in cells.items()}})
    except (RowError, NotMeasured):
        return
    assert measurement_values(m, "it")["digest"] == m.digest
