"""Filters of a run: from the words of a query to positions in order, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboards.filtering import NONE, Filter, FilterError, codes, select, tunable_key
from dashboards.runview import RunView

MakeView = Callable[..., RunView]


def chosen(view: RunView, **query: str) -> list[int]:
    return [int(p) for p in select(view, Filter.from_query(query))]


def test_no_filter_is_everything_in_the_order_of_the_run(make_view: MakeView) -> None:
    assert chosen(make_view()) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("query", "positions"),
    [
        ({"fifo_depth": "4"}, [1, 2]),
        ({"fifo_depth": "4,8", "sync_period": "2"}, [1, 2, 4]),
        ({"verdict": "ok"}, [0, 1, 2, 3]),
        ({"verdict": "refused,hang"}, [4, 5]),
        ({"rule": "l1_capacity"}, [4]),
        ({"rule": NONE}, [0, 1, 2, 3, 5]),
        ({"bound": "AIC.M"}, [1, 2]),
        ({"row": "11,14"}, [1, 4]),
        ({"row_min": "12", "row_max": "13"}, [2, 3]),
        ({"time_us_max": "9"}, [1, 3]),
        ({"time_us_min": "9"}, [0, 1, 2]),
        ({"cycles_min": "8000", "cycles_max": "8000"}, [2]),
        ({"on_chip_bytes_min": "3000"}, [1, 2, 3]),
        ({"ub_max": "1024"}, [0]),
        ({"l0a_min": "0"}, []),
        ({"fifo_depth_min": "8"}, [3, 4, 5]),
        ({"t.fifo_depth": "2"}, [0]),
        ({"verdict": ""}, [0, 1, 2, 3, 4, 5]),
    ],
)
def test_every_parameter_narrows(make_view: MakeView, query: dict[str, str], positions: list[int]) -> None:
    assert chosen(make_view(), **query) == positions


@pytest.mark.parametrize(
    ("sort", "positions"),
    [
        ("time_us", [3, 1, 2, 0, 4, 5]),
        ("-time_us", [0, 2, 1, 3, 4, 5]),
        ("-row", [5, 4, 3, 2, 1, 0]),
        ("-fifo_depth,time_us", [3, 4, 5, 1, 2, 0]),
        ("bound", [1, 2, 0, 3, 4, 5]),
        ("-verdict", [5, 4, 0, 1, 2, 3]),
    ],
)
def test_what_has_no_value_comes_last_in_both_directions(make_view: MakeView, sort: str, positions: list[int]) -> None:
    assert chosen(make_view(), sort=sort) == positions


def test_a_value_that_does_not_apply_is_a_dash_and_in_no_range(make_view: MakeView) -> None:
    values = {**make_view().values, "fifo_depth": np.array([2, None, 4, 8, 8, 8], dtype=object)}
    view = make_view(values=values)
    assert chosen(view, fifo_depth=NONE) == [1]
    assert chosen(view, fifo_depth_min="0") == [0, 2, 3, 4, 5]
    assert chosen(view, sort="fifo_depth")[-1] == 1
    assert codes(view, "fifo_depth").tolist() == [0, -1, 1, 2, 2, 2]


def test_a_tunable_may_have_the_name_of_a_column(make_view: MakeView) -> None:
    base = make_view().values
    view = make_view(
        tunables=[("verdict", (2, 4, 8)), ("gap_min", (1, 2, 4))],
        values={"verdict": base["fifo_depth"], "gap_min": base["sync_period"]},
    )
    assert (tunable_key("verdict"), tunable_key("gap_min"), tunable_key("x")) == ("t.verdict", "t.gap_min", "x")
    assert chosen(view, **{"t.verdict": "4"}) == [1, 2]
    assert chosen(view, **{"t.gap_min": "4"}) == [3]
    assert chosen(view, verdict="hang") == [5]


def test_all_that_does_not_fit_the_run_is_named_at_once(make_view: MakeView) -> None:
    with pytest.raises(FilterError) as error:
        chosen(make_view(), depth="1", verdict="fine", fifo_depth="5", split_min="1", sort="speed", ub="3")
    text = str(error.value)
    for part in ("'depth'", "'fine'", "fifo_depth is never '5'", "split holds words", "'speed'", "ub_min="):
        assert part in text


@pytest.mark.parametrize("text", ["x", "nan", "inf", "1e999"])
def test_a_bound_that_is_no_finite_number_is_refused(text: str) -> None:
    with pytest.raises(FilterError, match="time_us_min"):
        Filter.from_query({"time_us_min": text})


def test_names_to_ignore_are_no_filter() -> None:
    assert Filter.from_query({"axis-x": "ub"}, ignore=("axis-x",)) == Filter()


def test_commas_and_backslashes_in_values_survive(make_view: MakeView) -> None:
    words = ("a,b", "c\\d", "e")
    view = make_view(
        tunables=[("word", words)], values={"word": np.array(["a,b", "c\\d", "e", "e", "a,b", "e"], dtype=object)}
    )
    wanted = Filter(any_of=(("word", ("a,b", "c\\d")),))
    assert Filter.from_query(wanted.to_query()) == wanted
    assert select(view, wanted).tolist() == [0, 1, 4]


names = st.sampled_from(["verdict", "rule", "fifo_depth", "t.row", "测试"])
numbers = st.floats(allow_nan=False, allow_infinity=False)


@given(
    st.dictionaries(names, st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=3, unique=True)),
    st.dictionaries(st.sampled_from(["time_us", "cycles", "ub"]), st.tuples(numbers, st.none() | numbers)),
    st.lists(st.tuples(st.sampled_from(["time_us", "row", "split"]), st.booleans()), max_size=3),
)
def test_a_filter_survives_its_query(any_of: Any, ranges: Any, sort: Any) -> None:
    wanted = Filter(
        tuple((n, tuple(v)) for n, v in any_of.items()), tuple((n, *ends) for n, ends in ranges.items()), tuple(sort)
    )
    assert Filter.from_query(wanted.to_query()) == wanted


def test_merged_filters_hold_both(make_view: MakeView) -> None:
    one = Filter.from_query({"fifo_depth": "4,8", "time_us_min": "8", "sort": "row"})
    two = Filter.from_query({"fifo_depth": "8,2", "time_us_min": "7", "time_us_max": "9", "sort": "-row"})
    assert select(make_view(), one.merged(two)).tolist() == [3]
    assert one.merged(two).sort == (("row", True),)
    nothing = one.merged(Filter.from_query({"fifo_depth": "2"}))
    assert select(make_view(), nothing).tolist() == []
    assert select(make_view(), Filter.from_query(nothing.to_query())).tolist() == []


def test_the_answer_is_kept_and_cannot_be_written_to(make_view: MakeView) -> None:
    view = make_view()
    first = select(view, Filter.from_query({"verdict": "ok"}))
    assert select(view, Filter.from_query({"verdict": "ok"})) is first
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 1
