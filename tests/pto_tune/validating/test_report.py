"""A whole report, and what is printed of it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from cost_models import load_platform
from pto_tune.cli.output import to_plain
from pto_tune.validating.report import Report, as_record, validate
from pto_tune.validating.text import case_rows, left_out, limit_rows, markdown, percent, summary_rows


@pytest.fixture(scope="module")
def gemm() -> Report:
    return validate(["gemm"])


def test_a_table_is_summed_up_by_itself_and_in_all(gemm: Report) -> None:
    (table,) = gemm.tables
    assert table.table == "gemm"
    assert table.times == gemm.overall.times
    assert table.times.n + table.shares.n == len(gemm.outcomes)
    assert table.times.n == table.shipped.n + table.fitted.n


def test_a_table_is_predicted_with_numbers_that_never_saw_it(gemm: Report) -> None:
    assert [o.case for o in gemm.unseen] == [o.case for o in gemm.outcomes]
    fitted = [(u, o) for u, o in zip(gemm.unseen, gemm.outcomes, strict=True) if o.case.id == "manual-6144-MTE1"]
    ((unseen, shipped),) = fitted
    assert abs(shipped.error) < 0.01 < abs(unseen.error)


def test_a_table_that_nothing_was_fitted_to_is_predicted_as_shipped() -> None:
    report = validate(["flash_attention"])
    assert report.unseen == report.outcomes


def test_the_cases_of_one_platform_alone() -> None:
    report = validate(["datacopy"], "ascend950pr")
    assert {o.case.platform for o in report.outcomes} == {"ascend950pr"}
    assert {r.limit.name for r in report.limits if r.n} == {"DataCopy, 950"}


def test_a_platform_file_takes_the_place_of_the_one_of_its_soc(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        '[platform]\nname = "mine"\nsoc = "Ascend 910B1"\ninherits = "ascend910b1"\ndescription = "slower"\n'
        '[launch.task]\nvalue = 100\nunit = "us"\nkind = "assumed"\nsource = "made up"\n'
    )
    mine, theirs = (validate(["gemm"], reference).outcomes for reference in (str(file), "ascend910b1"))
    assert [o.case.id for o in mine] == [o.case.id for o in theirs]
    times = [(m, t) for m, t in zip(mine, theirs, strict=True) if (m.case.quantity, m.case.timing) == ("time", "task")]
    assert times
    assert all(m.predicted - t.predicted == pytest.approx(100 - 11.2) for m, t in times)


def test_a_platform_without_published_cases_is_refused() -> None:
    other = replace(load_platform("ascend910b1"), name="other", soc="Ascend 310")
    with pytest.raises(ValueError, match=r"platform 'other': published cases are of Ascend 910B1, .* 'Ascend 310'"):
        validate(["gemm"], other)


def test_slow_cases_run_when_asked_for() -> None:
    report = validate(["allgather_gemm"])
    assert len(report.slow) == 3
    assert "3 take long (--all)" in left_out(report)
    assert {o.case.id for o in report.outcomes} == {"4-4096"}


def test_the_record_is_json_with_every_case(gemm: Report) -> None:
    record = json.loads(json.dumps(to_plain(as_record(gemm)), allow_nan=False))
    assert len(record["cases"]) == len(gemm.outcomes)
    assert len(record["excluded"]) == len(gemm.excluded)
    first = record["cases"][0]
    assert first["case"] == "gemm/manual-1536"
    assert first["error"] == pytest.approx(first["predicted"] / 38.8 - 1)
    assert first["error_as_shipped"] == pytest.approx(first["predicted_as_shipped"] / 38.8 - 1)
    assert record["tables"][0]["times"]["cases"] == gemm.overall.times.n
    assert all(isinstance(limit["met"], bool) for limit in record["limits"])


def test_rows_fit_their_titles(gemm: Report) -> None:
    from pto_tune.validating import text

    for titles, rows in (
        (text.SUMMARY_TITLES, summary_rows(gemm)),
        (text.LIMIT_TITLES, limit_rows(gemm.limits)),
        (text.CASE_TITLES, case_rows(gemm)),
    ):
        assert rows
        assert all(len(row) == len(titles) for row in rows)


@pytest.mark.parametrize(
    ("share", "sign", "shown"),
    [(0.0123, False, "1.2 %"), (0.096, False, "9.6 %"), (0.101, True, "+10 %"), (-0.34, True, "-34 %"),
     (float("nan"), False, "-")],
)  # fmt: skip
def test_per_cent_have_a_digit_where_it_counts(share: float, sign: bool, shown: str) -> None:
    assert percent(share, sign) == shown


def test_markdown_has_tables_of_one_width(gemm: Report) -> None:
    lines = markdown(gemm).splitlines()
    tables = [line for line in lines if line.startswith("|")]
    assert {line.count("|") for line in tables} == {11, 9}
    assert any(line.startswith("| **all tables** |") for line in tables)
