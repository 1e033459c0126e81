"""Tables and spaces: labels, defaults, and clear errors, all at once."""

import itertools

import numpy as np
import pytest

from pto_tune.space import space
from pto_tune.table import TableError, check_values, label, parameter, parse_value
from pto_tune.workloads import workload, workload_names

FLASH = workload("flash_attention")


def test_defaults_fill_what_a_table_leaves_out() -> None:
    columns, n = check_values(FLASH, {"fifo_depth": [2, 4], "split": "NO_SPLIT"})
    assert n == 2
    assert columns["fifo_depth"].tolist() == [2, 4]
    assert columns["split"].tolist() == [0, 0]
    assert columns["s0"].tolist() == [4096, 4096]
    assert list(columns) == list(FLASH.parameter_names())


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ({"fifo_dept": 4}, "flash_attention has no problem size or tunable 'fifo_dept' (did you mean 'fifo_depth'?)"),
        ({"s0": 0}, "s0 = 0 is out of range: expected 16 to"),
        ({"s1": -4096}, "s1 = -4096 is out of range"),
        ({"split": "DIAGONAL"}, "split: 'DIAGONAL' is not a value: expected an integer or one of NO_SPLIT, UP_DOWN"),
        ({"fifo_depth": 2.5}, "fifo_depth: expected integers, not [2.5]"),
        ({"fifo_depth": float("nan")}, "fifo_depth: expected integers"),
        ({"s0": [1024, 2048], "s1": [1024, 2048, 4096]}, "has 2 rows and another has 3"),
    ],
)
def test_errors_name_the_thing_and_what_would_be_right(table: dict[str, object], sentence: str) -> None:
    with pytest.raises(TableError) as error:
        check_values(FLASH, table)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value)


def test_all_errors_at_once() -> None:
    with pytest.raises(TableError) as error:
        check_values(FLASH, {"fifo_dept": 1, "s0": 0, "split": "X"})
    assert len(str(error.value).splitlines()) == 3


def test_labels_by_any_spelling() -> None:
    p = parameter(FLASH, "split")
    assert [parse_value(p, t) for t in ("UP_DOWN", "up_down", "TILE_UP_DOWN", "1")] == [1, 1, 1, 1]
    assert label(p, 1) == "UP_DOWN"
    assert label(parameter(FLASH, "fifo_depth"), 1) == 1


def test_rows_of_a_space_are_the_product_in_order() -> None:
    s = space(FLASH, {"s0": 2048}, {"fifo_depth": [4, 8], "split": "UP_DOWN", "cube_s0": [64, 128]})
    assert s.size == int(np.prod([len(v) for _, v in s.domains]))
    table = s.table(np.arange(s.size))
    expected = list(itertools.product(*(values for _, values in s.domains)))
    got = list(zip(*(table[name].tolist() for name, _ in s.domains), strict=True))
    assert got == expected
    assert set(table["s0"].tolist()) == {2048}
    for row in (0, 7, s.size - 1):
        indices = {name: int(v[0]) for name, v in s.indices(np.array([row])).items()}
        assert s.row_of(indices) == row


@pytest.mark.parametrize(
    ("problem", "domains", "sentence"),
    [
        ({}, {"fifo_depth": []}, "fifo_depth: the domain is empty"),
        ({}, {"fifo_depth": [4, 4]}, "fifo_depth: the domain repeats a value"),
        ({}, {"fifo_depth": [4, 0]}, "fifo_depth = 0 is out of range"),
        ({}, {"s0": [1024, 2048]}, "s0 is a problem size: give one value"),
        ({"s00": 1}, {}, "no problem size or tunable 's00'"),
    ],
)
def test_a_wrong_space_is_refused(problem: dict[str, int], domains: dict[str, list[int]], sentence: str) -> None:
    with pytest.raises(TableError) as error:
        space(FLASH, problem, domains)
    assert sentence in str(error.value)


def test_an_unknown_workload_is_named_with_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"unknown workload 'flashattention' .*flash_attention"):
        workload("flashattention")
    assert "flash_attention" in workload_names()


@pytest.mark.parametrize("name", workload_names())
def test_defaults_and_domains_are_legal_values(name: str) -> None:
    work = workload(name)
    check_values(work, {})
    space(work)
    for t in work.tunables:
        assert t.doc
        assert t.default in range(t.minimum, t.maximum + 1)
