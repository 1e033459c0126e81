"""Which numbers could explain the errors of a table: what was made wrong is found, what is not a number's is not."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isnan, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from cost_models import Platform, load_platform
from pto_tune.published.cases import Case, load_table
from pto_tune.uncertainty.sampling import at_values
from pto_tune.validating.leading import closest, leading
from pto_tune.validating.leading_text import (
    LEADING_TITLES,
    NO_HELP,
    SWING_TITLES,
    leading_rows,
    sentences,
    swing_rows,
)
from pto_tune.validating.report import as_record, validate
from pto_tune.validating.running import Outcome, predict

TIMES_AND_BUSY = [
    ("datacopy", "ascend950pr", "dma.gm_to_l1.burst", 1.3),
    ("datacopy", "ascend910b1", "dma.gm_to_ub.burst", 1.2),
    ("cross_core_stream", "ascend910b2", "flags.cross_core_latency", 1.5),
    ("cross_core_stream", "ascend910b2", "flags.cross_core_latency", 0.5),
    ("gemm", "ascend950pr", "fixpipe.gm_write_rate", 0.5),
]


def cases_of(table: str, platform: str) -> list[Case]:
    return [c for c in load_table(table) if c.platform == platform and c.use in ("validate", "fit") and not c.slow]


def measured_as(outcomes: Sequence[Outcome], measured: Sequence[float]) -> list[Outcome]:
    """The outcomes as if other times had been measured."""
    return [
        replace(o, case=replace(o.case, value=m, unit="us" if o.case.quantity != "share" else "ratio", work=0))
        for o, m in zip(outcomes, measured, strict=True)
    ]


def ranged(chip: Platform, key: str, factor: float) -> Platform:
    """The platform with a stated range of one number, up to `factor` each way."""
    n = chip.numbers[key]
    n = replace(n, kind="fitted", low=n.value / factor, high=n.value * factor)
    n = replace(n, base_low=n.base / factor, base_high=n.base * factor)
    return replace(chip, numbers={**chip.numbers, key: n})


def with_a_wrong_number(
    table: str, platforms: Sequence[str], key: str, factor: float, room: float = 2.5
) -> tuple[list[Outcome], dict[str, Platform]]:
    """Predictions beside "measured" times that another value of one number makes, and the platforms of the former,
    which state that the number may be up to `room` times as much or as little."""
    chips = {name: ranged(load_platform(name), key, room) for name in platforms}
    cases = [c for name in platforms for c in cases_of(table, name)]
    truth = predict(cases, {name: at_values(chip, {key: chip[key] * factor}) for name, chip in chips.items()})
    return measured_as(predict(cases, chips), [o.predicted for o in truth]), chips


@pytest.mark.parametrize(("table", "platform", "key", "factor"), TIMES_AND_BUSY)
def test_a_number_that_was_made_wrong_is_named_first(table: str, platform: str, key: str, factor: float) -> None:
    (found,) = leading(*with_a_wrong_number(table, [platform], key, factor)).tables
    first = found.leads[0]
    assert (first.key, first.platforms) == (key, (platform,))
    assert first.cut > 0.85  # all but what the straight lines between the values miss
    assert first.at == pytest.approx(first.value * factor, rel=0.1)
    assert first.inside
    assert 0 < first.moved <= 1


def test_a_number_that_would_have_to_leave_its_range_is_said_to() -> None:
    found = leading(*with_a_wrong_number("datacopy", ["ascend910b1"], "dma.gm_to_ub.burst", 2.0, room=1.25))
    first = found.tables[0].leads[0]
    assert (first.key, first.stated) == ("dma.gm_to_ub.burst", True)
    assert (first.low, first.high) == pytest.approx((first.value / 1.25, first.value * 1.25))
    assert first.at < first.high < first.wanted
    assert first.moved == pytest.approx(1.0)
    assert not first.inside
    said = sentences(found)[1]
    assert "it would do most at about" in said
    assert f"outside its published range {first.low:.3g} to {first.high:.3g}" in said


def test_errors_that_no_number_makes_are_left_to_the_model() -> None:
    # every time measured twice, once far above and once as far below what is predicted
    outcomes = predict(cases_of("datacopy", "ascend950pr"))
    both = [measured_as(outcomes, [o.predicted * factor for o in outcomes]) for factor in (2.0, 0.5)]
    found = leading([*both[0], *both[1]])
    assert found.tables[0].rms == pytest.approx(log(2))
    assert found.tables[0].helping == ()
    assert sentences(found)[1].strip() == NO_HELP
    assert leading_rows(found)[0][:2] == ["datacopy", NO_HELP]


def test_predictions_that_are_right_need_no_explanation() -> None:
    outcomes = predict(cases_of("datacopy", "ascend950pr"))
    (table,) = leading(measured_as(outcomes, [o.predicted for o in outcomes])).tables
    assert table.rms == 0
    assert table.leads == ()
    assert isnan(table.heaviest_share)


def test_each_case_has_its_log_error_and_the_numbers_that_go_against_it() -> None:
    outcomes, chips = with_a_wrong_number("cross_core_stream", ["ascend910b2"], "flags.cross_core_latency", 1.5)
    found = leading(outcomes, chips)
    for o, c in zip(outcomes, found.cases, strict=True):
        assert c.case == o.case.name
        assert c.error == pytest.approx(log(o.predicted / o.case.measured))
        assert c.error < 0
        swing = dict(c.swings).get("flags.cross_core_latency", 0.0)
        # its interval goes beyond what was wrong, so it can close the whole error
        assert swing > -c.error


def test_platforms_that_inherit_a_number_have_it_together() -> None:
    key, chips = "cube.head", ("ascend910b1", "ascend910b2")
    (table,) = leading(*with_a_wrong_number("gemm", chips, key, 1.5)).tables
    assert (table.leads[0].key, set(table.leads[0].platforms)) == (key, set(chips))
    assert [lead.key for lead in table.leads].count(key) == 1


def test_only_times_with_a_prediction_have_an_error() -> None:
    outcomes = predict(cases_of("gemm", "ascend910b1"))
    refused = replace(outcomes[0], predicted=float("nan"))
    ordered = replace(outcomes[1], case=replace(outcomes[1].case, use="order", why="one of several"))
    found = leading([refused, ordered, *outcomes[2:]])
    names = [c.case for c in found.cases]
    assert outcomes[0].case.name not in names
    assert outcomes[1].case.name not in names
    assert names == [o.case.name for o in outcomes[2:] if o.case.quantity != "share"]


def test_nothing_to_explain_is_said() -> None:
    found = leading([])
    assert (found.tables, found.overall, found.cases) == ((), None, ())
    assert sentences(found) == ["No case has an error of a time to explain."]


def test_runs_that_take_long_are_left_out_by_name() -> None:
    outcomes = predict(cases_of("allgather_gemm", "ascend910b1"))
    found = leading(outcomes)
    assert found.left_out == ("allgather_gemm/4-4096",)
    assert found.tables == ()
    assert "allgather_gemm/4-4096" in sentences(found)[-1]


def test_of_long_runs_only_numbers_that_move_the_cheapest_one_are_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes, chips = with_a_wrong_number("tget", ["ascend910b1"], "link.hccs.get.sdma_startup", 1.3)
    every = leading(outcomes, chips).tables[0].leads
    monkeypatch.setattr("pto_tune.validating.moving.LONG_COST", 0)
    some = leading(outcomes, chips, slow=True).tables[0].leads
    assert some
    assert {lead.key: lead.cut for lead in some}.items() <= {lead.key: lead.cut for lead in every}.items()
    # 30 % either way of the smallest copy's time: next to none of the numbers are left
    monkeypatch.setattr("pto_tune.validating.moving._HARDLY", 0.3)
    assert len(leading(outcomes, chips, slow=True).tables[0].leads) < len(some)


def test_the_platform_that_was_predicted_with_is_the_one_that_is_moved() -> None:
    cases, chip = cases_of("datacopy", "ascend950pr"), load_platform("ascend950pr")
    number = chip.numbers["dma.gm_to_l1.burst"]
    numbers = {**chip.numbers, number.key: replace(number, value=number.value * 1.2, base=number.base * 1.2)}
    own = replace(chip, name="own", numbers=numbers)
    truth = predict(cases)
    outcomes = measured_as(predict(cases, {"ascend950pr": own}), [o.predicted for o in truth])
    first = leading(outcomes, {"ascend950pr": own}).tables[0].leads[0]
    assert (first.key, first.platforms) == (number.key, ("own",))
    assert "own" not in sentences(leading(outcomes, {"ascend950pr": own}))[1]  # the only platform
    assert first.at == pytest.approx(number.value, rel=0.05)


# least squares


def test_the_least_square_of_one_straight_line() -> None:
    # errors 1 - v and 3 - v over v = 0 to 4: the least sum, 2, is at their mean
    values = np.array([0.0, 4.0])
    assert closest(values, np.array([[1.0, 3.0], [-3.0, -1.0]])) == pytest.approx((2.0, 2.0, 2.0))


def test_a_line_that_still_falls_at_the_end_is_followed_beyond_it() -> None:
    values = np.array([0.0, 1.0, 2.0])
    total, place, wanted = closest(values, np.array([[5.0], [4.0], [3.0]]))
    assert (total, place, wanted) == pytest.approx((9.0, 2.0, 5.0))


def test_the_best_of_several_pieces() -> None:
    values = np.array([0.0, 1.0, 2.0, 3.0])
    total, place, wanted = closest(values, np.array([[2.0], [2.0], [-2.0], [-1.0]]))
    assert (total, place, wanted) == pytest.approx((0.0, 1.5, 1.5))


# what is shown


def test_rows_fit_their_titles_and_the_record_is_json() -> None:
    report = validate(["gemm"], lead=True)
    assert report.leading is not None
    assert all(len(row) == len(LEADING_TITLES) for row in leading_rows(report.leading))
    assert all(len(row) == len(SWING_TITLES) for row in swing_rows(report.leading.cases))
    record: dict[str, Any] = json.loads(json.dumps(as_record(report)["leading"], allow_nan=False))
    assert record["tables"][0]["leads"][0]["key"] == report.leading.tables[0].leads[0].key
    assert len(record["cases"]) == record["overall"]["cases"] == report.leading.tables[0].cases


def test_it_is_computed_only_when_asked_for() -> None:
    assert validate(["datacopy"], "ascend950pr").leading is None
    assert as_record(validate(["datacopy"], "ascend950pr"))["leading"] is None


@pytest.fixture
def cli() -> Callable[..., Any]:
    from pto_tune.cli.main import build_app

    app = build_app()
    return lambda *arguments: CliRunner().invoke(app, ["validate", *map(str, arguments)], prog_name="pto-tune")


def test_the_command_prints_it_in_every_form(cli: Callable[..., Any], tmp_path: Path) -> None:
    file, page = tmp_path / "mine.toml", tmp_path / "parity.html"
    file.write_text(
        '[platform]\nname = "mine"\nsoc = "Ascend 950PR"\ninherits = "ascend950pr"\ndescription = "late"\n'
        '[launch.task]\nvalue = 300\nlow = 1\nhigh = 400\nunit = "us"\nkind = "assumed"\nsource = "made up"\n'
    )
    common = ("--table", "datacopy", "--platform", file, "--leading", "--quiet")
    shown = cli(*common, "-o", page)
    assert shown.exit_code == 0, shown.stderr
    assert "launch.task (assumed) would cut the squared error by" in shown.stdout
    assert "inside its assumed range 1 to 400" in shown.stdout
    (table,) = json.loads(cli(*common, "--json").stdout)["leading"]["tables"]
    assert table["leads"][0]["key"] == "launch.task"
    assert "| datacopy | launch.task | assumed |" in cli(*common, "--markdown").stdout
    html = page.read_text(encoding="utf-8")
    assert 'id="leading-data"' in html
    assert '<td title="launch.task">' in html
