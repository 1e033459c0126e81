"""The platform file that a calibration writes."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cost_models import Platform, load_platform
from cost_models.calibrated import read_covariance
from cost_models.platform import check_file
from db import Measurement
from pto_tune.calibrating.calibration import Calibration, calibrate
from pto_tune.calibrating.rows import CalibrationError
from pto_tune.calibrating.writing import check_target, platform_text, toml_value, write_platform

Board = Callable[..., list[Measurement]]

TRUE = {"dma.gm_to_ub.rate": 90.0, "launch.event": 8.0}


@pytest.fixture(scope="module")
def fit(b2: Platform, board: Board, located: Callable[..., Any]) -> Calibration:
    rows = board(TRUE, noise=0.01, source='the "board" in 北京', spread=0.2, repeats=5)
    return calibrate(b2, list(TRUE), located(rows))


def test_it_loads_and_predicts_what_was_reported(fit: Calibration, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    write_platform(fit, path)
    assert check_file(path) == []
    loaded = load_platform(path)
    assert {key: loaded[key] for key in loaded} == {key: fit.fitted[key] for key in loaded}
    assert (loaded.name, loaded.soc, loaded.family) == ("mine", "Ascend 910B2", "a2a3")


def test_a_number_says_where_it_comes_from_and_keeps_its_range(fit: Calibration, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    write_platform(fit, path)
    n = load_platform(path).numbers["dma.gm_to_ub.rate"]
    assert (n.kind, n.unit, n.low, n.high) == ("fitted", "B/cycle", 58.6, 128)
    assert n.source.startswith("pto-tune calibrate: 8 measurements timed by event (rows sha256 ")
    assert n.source.endswith('the "board" in 北京')
    assert n.note.startswith("standard error ")
    assert "instead of 86.6 (assumed; assumed: the geometric middle" in n.note


def test_the_rows_and_the_covariance_are_in_it(fit: Calibration, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    write_platform(fit, path)
    table = tomllib.loads(path.read_text("utf-8"))["calibration"]
    assert table["parameters"] == list(TRUE)
    assert len(table["rows"]) == 8
    row, of_fit = table["rows"][0], fit.rows[0]
    assert row["measured"] == of_fit.row.located.measurement.value
    assert row["sha256"] == of_fit.row.located.measurement.digest
    assert row["after_us"] == pytest.approx(of_fit.after_us, rel=1e-5)
    found = read_covariance(path)
    assert found is not None
    assert (found.keys, found.units) == (tuple(TRUE), ("B/cycle", "us"))
    assert np.allclose(found.values, fit.covariance, rtol=1e-6)
    assert np.sqrt(np.diag(fit.covariance)) == pytest.approx([n.standard_error for n in fit.numbers])


def test_the_same_measurements_give_the_same_bytes(
    fit: Calibration, b2: Platform, board: Board, located: Callable[..., Any], tmp_path: Path
) -> None:
    rows = board(TRUE, noise=0.01, source='the "board" in 北京', spread=0.2, repeats=5)
    again = calibrate(b2, list(TRUE), located(rows[::-1]))
    for folder, one in (("a", fit), ("b", again)):
        (tmp_path / folder).mkdir()
        write_platform(one, tmp_path / folder / "mine.toml")
    assert (tmp_path / "a/mine.toml").read_bytes() == (tmp_path / "b/mine.toml").read_bytes()


def test_a_file_of_ones_own_is_inherited_from_by_its_place(
    board: Board, located: Callable[..., Any], tmp_path: Path
) -> None:
    for folder in ("base", "new"):
        (tmp_path / folder).mkdir()
    parent = tmp_path / "base" / "mine.toml"
    parent.write_text('[platform]\nname = "mine"\ninherits = "ascend910b2"\n', encoding="utf-8")
    fit = calibrate(load_platform(parent), list(TRUE), located(board(TRUE)))
    path = tmp_path / "new" / "fitted.toml"
    write_platform(fit, path)
    assert 'inherits = "../base/mine.toml"' in path.read_text("utf-8")
    assert load_platform(path)["dma.gm_to_ub.rate"] == fit.fitted["dma.gm_to_ub.rate"]
    beside = platform_text(fit, parent.with_name("fitted.toml"))
    assert 'inherits = "mine.toml"' in beside


def test_a_calibrated_platform_can_be_calibrated_again(
    fit: Calibration, board: Board, located: Callable[..., Any], tmp_path: Path
) -> None:
    first, second = tmp_path / "first.toml", tmp_path / "second.toml"
    write_platform(fit, first)
    again = calibrate(load_platform(first), ["launch.event"], located(board({**TRUE, "launch.event": 7.0})))
    write_platform(again, second)
    assert load_platform(second)["launch.event"] == pytest.approx(7.0, rel=0.01)
    assert load_platform(second)["dma.gm_to_ub.rate"] == fit.fitted["dma.gm_to_ub.rate"]
    # what the new file inherits from stays
    for ancestor in (first, tmp_path / "first.toml"):
        with pytest.raises(CalibrationError, match="would inherit from"):
            write_platform(again, ancestor, force=True)
    third = calibrate(load_platform(second), ["launch.event"], located(board(TRUE)))
    with pytest.raises(CalibrationError, match="would inherit from"):
        write_platform(third, first, force=True)


def test_a_number_at_the_end_of_its_range_is_written_as_that_end(
    b2: Platform, board: Board, located: Callable[..., Any], tmp_path: Path
) -> None:
    write_platform(calibrate(b2, ["launch.event"], located(board({"launch.event": 20.0}))), tmp_path / "mine.toml")
    n = load_platform(tmp_path / "mine.toml").numbers["launch.event"]
    assert n.value == n.high == 12.8
    assert "at the high end of its published range" in n.note


# what a file in UTF-8 can hold
TEXTS = st.text(st.characters(exclude_categories=("Cs",)))


@given(st.one_of(TEXTS, st.floats(allow_nan=False, allow_infinity=False), st.lists(TEXTS)))
@example('it\'s "quoted" \\ \x7f\n')
@example('{"m": 512}')
def test_every_value_reads_back(value: object) -> None:
    assert tomllib.loads(f"x = {toml_value(value)}") == {"x": value}


class TestPlaces:
    def test_a_file_that_is_there_is_kept(self, fit: Calibration, tmp_path: Path) -> None:
        path = tmp_path / "mine.toml"
        path.write_text("something else", encoding="utf-8")
        with pytest.raises(CalibrationError, match="is there already: give another name, or --force"):
            write_platform(fit, path)
        assert path.read_text("utf-8") == "something else"
        write_platform(fit, path, force=True)
        assert check_file(path) == []
        assert [x.name for x in tmp_path.iterdir()] == ["mine.toml"]

    @pytest.mark.parametrize(
        ("name", "words"), [("mine.txt", "ends in .toml"), ("no/mine.toml", "is no folder"), ("f.toml", "is a folder")]
    )
    def test_places_that_cannot_be(self, name: str, words: str, b2: Platform, tmp_path: Path) -> None:
        (tmp_path / "f.toml").mkdir()
        with pytest.raises(CalibrationError, match=words):
            check_target(tmp_path / name, b2, force=True)

    def test_a_built_in_file_is_not_overwritten(self, b2: Platform) -> None:
        with pytest.raises(CalibrationError, match="would inherit from"):
            check_target(Path(b2.source_path), b2, force=True)
