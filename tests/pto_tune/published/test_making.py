"""The platform files that are shipped are what the published rows make.

The whole takes about two minutes (`make check`); here the steps that take a second or two each are made again.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

import pytest

from cost_models.platform import load_platform, platform_names, standing_fits
from cost_models.schema import PLATFORM_DIR, builtin_files, resolve
from pto_tune.published.cases import load_table, table_names
from pto_tune.published.left_out import tables_fitted_to, without
from pto_tune.published.making import MakingError, Step, differing, left_out_text, main, make, read_steps
from pto_tune.validating.running import predict

STEPS = read_steps()
QUICK = ("a5-datacopy", "a5-stream", "a5-gemm", "a2a3-link-hixl-cs", "a2a3-link-hixl")
APART = [step for step in STEPS if step.apart]


def numbers_of(steps: list[Step]) -> list[str]:
    return [key for step in steps for fit in step.fit for key in fit.split("=")]


def test_quick_files_are_what_their_rows_make() -> None:
    made = make([step for step in STEPS if step.file in QUICK])
    assert set(made.texts) == set(QUICK)
    assert differing({PLATFORM_DIR / f"{name}.toml": text for name, text in made.texts.items()}) == []


def test_without_a_table_its_numbers_are_as_they_were_published() -> None:
    steps = [step for step in STEPS if step.file in QUICK]
    found = make(steps, "cross_core_stream", make(steps)).numbers["a5"]
    published = resolve(builtin_files()["a5-published"]).entries
    for key in ("flags.cross_core_latency", "fixpipe.fixed"):
        assert found[key] == published[key]
    shipped = without(load_platform("ascend950pr"), "cross_core_stream")
    assert {key: shipped.numbers[key].value for key in found} != {}
    for key, entry in found.items():
        assert shipped[key] == entry.number(shipped["clock.core_mhz"]).base


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.file)
def test_a_made_file_names_the_rows_that_it_comes_from(step: object) -> None:
    (one,) = [s for s in STEPS if s is step]
    table = tomllib.loads(builtin_files()[one.file].read_text("utf-8"))
    assert (table["platform"]["inherits"], table["platform"]["abstract"]) == (one.base, True)
    rows = {row["case"] for row in table["calibration"]["rows"]}
    marked = {
        c.name: c
        for name in one.tables
        for c in load_table(name)
        if c.use == "fit" and c.platform == one.chip and one.takes(c.configuration)
    }
    assert rows <= marked.keys()
    # a row that is there twice counts once
    for name in marked.keys() - rows:
        assert any(marked[name].configuration.items() == marked[other].configuration.items() for other in rows)


def test_every_row_marked_fit_is_of_one_step() -> None:
    marked = [c for name in table_names() for c in load_table(name) if c.use == "fit"]
    steps = Counter(
        c.name
        for c in marked
        for step in STEPS
        if c.table in step.tables and c.platform == step.chip and step.takes(c.configuration)
    )
    assert steps.keys() == {c.name for c in marked}
    assert set(steps.values()) == {1}


@pytest.mark.parametrize("chip", sorted({step.chip for step in APART}))
def test_rows_of_steps_apart_are_priced_by_no_number_of_another_step(chip: str) -> None:
    platform = load_platform(chip)
    others = [key for key in numbers_of([step for step in STEPS if not step.apart]) if key in platform]
    moved = platform.with_values({key: platform[key] * 1.1 for key in others})
    tables = {name for step in APART if step.chip == chip for name in step.tables}
    cases = [c for name in tables for c in load_table(name) if c.platform == chip]
    assert others
    assert cases
    assert [o.predicted for o in predict(cases, {chip: moved})] == [o.predicted for o in predict(cases)]


def test_numbers_of_steps_apart_price_no_other_table() -> None:
    tables = {name for step in APART for name in step.tables}
    works = {name: {c.workload for c in load_table(name)} for name in table_names()}
    assert not {w for t in tables for w in works[t]} & {w for t in works.keys() - tables for w in works[t]}
    assert {key.split(".")[0] for key in numbers_of(APART)} == {"bulk"}
    assert not tables & set(tables_fitted_to())


def test_a_step_apart_is_not_made_again_without_another_table(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [step for step in STEPS if step.file in {"a2a3-tget", "a2a3-gemm-ar", "a2a3-link-hixl-cs"}]
    made = make(steps)
    again: list[str] = []
    monkeypatch.setattr("pto_tune.published.making._carry_out", lambda step, *_: again.append(step.file))
    found = make(steps, "tget", made)
    assert again == ["a2a3-tget", "a2a3-gemm-ar"]
    assert list(found.texts) == ["a2a3-link-hixl-cs"]
    assert "link_hixl" not in left_out_text(steps, made)


def test_a_step_takes_the_rows_of_its_values() -> None:
    (step,) = [s for s in STEPS if s.file == "a2a3-link-hixl-cs"]
    rows = [c for c in load_table("link_hixl") if c.platform == step.chip and step.takes(c.configuration)]
    assert {c.configuration["transport"] for c in rows} == {"roce_hixl_cs"}


def test_no_fitted_number_is_outside_its_published_range() -> None:
    for step in STEPS:
        for key, entry in resolve(builtin_files()[step.file]).entries.items():
            if any(key in fit.split("=") for fit in step.fit):
                assert entry.kind == "fitted"
                assert entry.low is None or entry.low <= entry.value
                assert entry.high is None or entry.value <= entry.high


@pytest.mark.parametrize("name", [n for n in platform_names() if n != "ascend910c"])
def test_every_chip_stands_on_all_files_of_its_family(name: str) -> None:
    chip = load_platform(name)
    files = {fit.path.stem for fit in standing_fits(chip)}
    assert files == {step.file for step in STEPS if step.file.startswith(f"{chip.family}-")}


@pytest.mark.parametrize("table", tables_fitted_to())
def test_what_a_caller_gives_stays_where_a_table_is_left_out(table: str) -> None:
    for name in ("ascend910b1", "ascend950pr"):
        chip = load_platform(name)
        other = without(chip, table)
        moved = [key for key in chip if chip[key] != other[key]]
        if moved:
            mine = chip.with_values({moved[0]: chip[moved[0]] * 1.01})
            assert without(mine, table)[moved[0]] == mine[moved[0]]


def test_a_table_that_nothing_was_fitted_to_leaves_the_platform_as_it_is() -> None:
    chip = load_platform("ascend910b2")
    assert without(chip, "flash_attention") is chip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[[step]]\nfile = "x"\n', "step 1: base, chip, description, error, fit, tables: expected file, base"),
        (
            '[[step]]\nfile = "x"\nbase = "b"\nchip = "c"\ntables = []\nerror = 0.1\nfit = []\ndescription = ""\n'
            'where = { transport = "roce" }\n',
            "step 1: where",
        ),
        ('[[step]]\nfile = "x"\nbase = "b"\nchip = "c"\ntables = []\nerror = 1\nfit = []\ndescription = ""\n', "error"),
    ],
)
def test_wrong_steps_are_refused(text: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "fits.toml"
    file.write_text(text)
    with pytest.raises(MakingError, match=words):
        read_steps(file)


def test_other_arguments_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--chekc"]) == 2
    assert "usage" in capsys.readouterr().err
