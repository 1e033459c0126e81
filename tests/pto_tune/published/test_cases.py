"""How a table of published cases is read."""

import csv
import io
from pathlib import Path

import pytest

from pto_tune.published.cases import COLUMNS, CaseError, load_table, parse_table, read_table, table_names

ROW = {
    "id": "one", "series": "s", "soc": "910B2", "platform": "ascend910b2", "workload": "gemm",
    "configuration": '{"m": 512, "split": "UP_DOWN"}', "rules": "", "timing": "task", "quantity": "time",
    "value": "12.5", "unit": "us", "work": "", "use": "validate", "slow": "", "source": "a paper", "note": "",
}  # fmt: skip


def lines(*changes: dict[str, str]) -> list[str]:
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS)
    writer.writeheader()
    for i, change in enumerate(changes):
        writer.writerow({**ROW, "id": f"row{i}", **change})
    return text.getvalue().splitlines()


def test_a_row_becomes_a_record() -> None:
    (case,) = parse_table("t", lines({"rules": "a2a3-rendezvous", "slow": "yes"}))
    assert case.name == "t/row0"
    assert case.configuration == {"m": 512, "split": "UP_DOWN"}
    assert (case.rules, case.slow, case.use, case.why) == ("a2a3-rendezvous", True, "validate", "")
    assert case.measured == 12.5


@pytest.mark.parametrize(
    ("change", "measured"),
    [
        ({"unit": "ticks"}, 0.25),
        ({"unit": "TFLOPS", "value": "280.5", "work": str(2 * 3072**3)}, 206.71),
        ({"unit": "GB/s", "value": "1000", "work": "2000000"}, 2.0),
        ({"unit": "ratio", "value": "0.5", "quantity": "share AIC.M"}, 0.5),
        ({"quantity": "busy AIC.M"}, 12.5),
    ],
)
def test_measured_is_in_microseconds_or_a_share(change: dict[str, str], measured: float) -> None:
    (case,) = parse_table("t", lines(change))
    assert case.measured == pytest.approx(measured, rel=1e-5)


def test_a_use_may_carry_its_reason() -> None:
    first, second = parse_table("t", lines({"use": "order: rings in GM"}, {"use": "excluded: two runs: 3x apart"}))
    assert (first.use, first.why) == ("order", "rings in GM")
    assert (second.use, second.why) == ("excluded", "two runs: 3x apart")


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"quantity": "busy"}, "quantity 'busy'"),
        ({"quantity": "time AIC.M"}, "quantity"),
        ({"use": "excluded"}, "use 'excluded'"),
        ({"use": "fit: too"}, "use"),
        ({"timing": "clock"}, "timing 'clock'"),
        ({"value": "0"}, "value '0'"),
        ({"value": "nan"}, "value 'nan'"),
        ({"value": "-1"}, "value"),
        ({"value": "fast"}, "value"),
        ({"unit": "ms"}, "unit 'ms'"),
        ({"unit": "ratio"}, "unit"),
        ({"unit": "GB/s"}, "work ''"),
        ({"work": "12"}, "work '12'"),
        ({"work": "x", "unit": "GB/s"}, "work 'x'"),
        ({"configuration": "{"}, "configuration"),
        ({"configuration": "[1]"}, "configuration"),
        ({"configuration": '{"m": 1.5}'}, "configuration"),
        ({"configuration": '{"m": true}'}, "configuration"),
        ({"source": ""}, "source is empty"),
        ({"slow": "no"}, "slow 'no'"),
    ],
)
def test_a_wrong_cell_is_named(change: dict[str, str], word: str) -> None:
    with pytest.raises(CaseError, match=r"t, line 2: ") as error:
        parse_table("t", lines(change))
    assert word in str(error.value)


def test_all_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(CaseError) as error:
        parse_table("t", lines({"timing": "x", "value": "y"}, {}, {"id": "row1"}))
    said = str(error.value).splitlines()
    assert [line.split(":")[0] for line in said] == ["t, line 2", "t, line 2", "t, line 4"]
    assert "'row1' is there twice" in said[2]


def test_other_columns_are_refused() -> None:
    with pytest.raises(CaseError, match="the columns are id, value: expected id, series"):
        parse_table("t", ["id,value", "a,1"])


def test_a_file_is_a_table_of_its_name(tmp_path: Path) -> None:
    file = tmp_path / "mine.csv"
    file.write_text("\n".join(lines({})) + "\n", encoding="utf-8")
    (case,) = read_table(file)
    assert case.table == "mine"


def test_an_unknown_table_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ValueError, match=f"unknown table 'gem': choose one of {', '.join(table_names())}"):
        load_table("gem")
