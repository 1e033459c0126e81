"""Configurations and accounts as columns, on SQLite and on PostgreSQL alike."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from db import Run, RunSpec, Store, StoreError
from db.columns import BY_NAME, CONFIGURATION_COLUMNS

MakeSpec = Callable[..., RunSpec]
Ints = list[int]


def ints(*values: int) -> Any:
    return np.array(values, dtype=np.int64)


def bools(*values: int) -> Any:
    return np.array(values, dtype=np.bool_)


@pytest.fixture
def run(store: Store, spec: MakeSpec) -> Run:
    return store.create_run(spec())


@pytest.fixture
def filled(store: Store, run: Run) -> Run:
    """Six configurations; 1 and 4 refused, hence without a time."""
    store.add_configurations(
        run.id,
        {
            "t0": ints(0, 0, 1, 1, 2, 2),
            "verdict": ints(0, 1, 0, 0, 1, 2),
            "rule": ints(0, 1, 0, 0, 0, 0),
            "cycles": ints(500, 0, 300, 400, 0, 900),
        },
        0,
        valid={"rule": bools(0, 1, 0, 0, 1, 0), "cycles": bools(1, 0, 1, 1, 0, 1)},
    )
    return run


class TestRoundTrip:
    def test_what_was_added_is_read_back(self, store: Store, filled: Run) -> None:
        got = store.configurations(filled.id, ["row", "t0", "verdict", "cycles", "rule", "ub"])
        assert list(got) == ["row", "t0", "verdict", "cycles", "rule", "ub"]
        assert got["row"].tolist() == [0, 1, 2, 3, 4, 5]
        assert got["t0"].tolist() == [0, 0, 1, 1, 2, 2]
        assert got["verdict"].tolist() == [0, 1, 0, 0, 1, 2]
        assert got["cycles"].tolist() == [500, None, 300, 400, None, 900]
        assert got["rule"].tolist() == [None, 1, None, None, 0, None]
        assert got["ub"].tolist() == [None] * 6

    def test_columns_that_may_be_null_come_masked_and_the_others_plain(self, store: Store, filled: Run) -> None:
        got = store.configurations(filled.id)
        assert tuple(got) == CONFIGURATION_COLUMNS
        for name, column in got.items():
            assert isinstance(column, np.ma.MaskedArray) == BY_NAME[name].nullable, name
            assert column.dtype == np.int64
            assert column.shape == (6,)

    def test_the_fastest_come_first_and_those_without_a_time_last(self, store: Store, filled: Run) -> None:
        got = store.configurations(filled.id, ["row"], order_by_cycles=True)
        assert got["row"].tolist() == [2, 3, 0, 5, 1, 4]
        got = store.configurations(filled.id, ["row"], where_verdict=0, order_by_cycles=True, limit=2)
        assert got["row"].tolist() == [2, 3]

    def test_one_verdict_only_and_at_most_so_many(self, store: Store, filled: Run) -> None:
        assert store.configurations(filled.id, ["row"], where_verdict=1)["row"].tolist() == [1, 4]
        assert store.configurations(filled.id, ["row"], limit=4)["row"].tolist() == [0, 1, 2, 3]
        assert store.configurations(filled.id, ["row"], limit=0)["row"].tolist() == []
        assert store.configurations(filled.id, ["row"], where_verdict=7)["row"].tolist() == []
        assert store.configurations(filled.id, []) == {}

    def test_a_run_without_configurations_gives_empty_columns(self, store: Store, run: Run) -> None:
        got = store.configurations(run.id, ["row", "cycles"])
        assert got["row"].shape == got["cycles"].shape == (0,)
        assert store.max_row(run.id) is None

    def test_rows_go_on_where_they_ended(self, store: Store, filled: Run) -> None:
        last = store.max_row(filled.id)
        assert last == 5
        store.add_configurations(filled.id, {"verdict": ints(0, 0)}, last + 1)
        assert store.max_row(filled.id) == 7

    def test_a_masked_array_is_its_own_mask(self, store: Store, run: Run) -> None:
        cycles = np.ma.MaskedArray(ints(5, 6, 7), mask=[False, True, False])
        store.add_configurations(
            run.id, {"verdict": ints(0, 0, 0), "cycles": cycles}, 0, valid={"cycles": bools(0, 1, 1)}
        )
        assert store.configurations(run.id, ["cycles"])["cycles"].tolist() == [None, None, 7]

    @pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.uint8, np.uint64, np.bool_])
    def test_any_integer_type_will_do(self, store: Store, run: Run, dtype: Any) -> None:
        store.add_configurations(run.id, {"verdict": np.array([0, 1], dtype=dtype)}, 0)
        assert store.configurations(run.id, ["verdict"])["verdict"].tolist() == [0, 1]

    def test_a_strided_array_is_read_as_it_looks(self, store: Store, run: Run) -> None:
        cycles = np.arange(10, dtype=np.int64)[::-2]
        store.add_configurations(run.id, {"verdict": np.zeros(5, dtype=np.int64), "cycles": cycles}, 0)
        assert store.configurations(run.id, ["cycles"])["cycles"].tolist() == [9, 7, 5, 3, 1]

    def test_more_rows_than_one_chunk(self, store: Store, run: Run) -> None:
        n = 120_001
        cycles = (np.arange(n, dtype=np.int64) * 7919) % n
        there = cycles % 3 > 0
        store.add_configurations(run.id, {"verdict": cycles % 3, "cycles": cycles}, 10, valid={"cycles": there})
        got = store.configurations(run.id, ["row", "verdict", "cycles"])
        assert np.array_equal(got["row"], np.arange(10, n + 10))
        assert np.array_equal(got["verdict"], cycles % 3)
        assert np.array_equal(np.ma.getmaskarray(got["cycles"]), ~there)
        assert np.array_equal(np.ma.compressed(got["cycles"]), cycles[there])

    @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(data=st.data())
    def test_every_value_that_fits_survives(self, store: Store, spec: MakeSpec, data: st.DataObject) -> None:
        run = store.create_run(spec())
        n = data.draw(st.integers(0, 12), label="n")
        first_row = data.draw(st.sampled_from([0, 1, 2**31 - 1 - n]), label="first_row")
        tops = {"t0": 2, "t1": 1, "verdict": 2, "rule": 1, "bound": 1}
        optional = [name for name in CONFIGURATION_COLUMNS if name not in ("row", "verdict")]
        names = data.draw(st.sets(st.sampled_from([name for name in optional if name[0] != "t" or name in tops])))
        columns, valid = {}, {}
        for name in sorted(names | {"verdict"}):
            top = tops.get(name, BY_NAME[name].largest)
            values = data.draw(st.lists(st.sampled_from([0, top // 2, top]), min_size=n, max_size=n), label=name)
            columns[name] = np.array(values, dtype=np.int64)
            if name != "verdict" and data.draw(st.booleans()):
                there = data.draw(st.lists(st.booleans(), min_size=n, max_size=n), label=f"{name} there")
                valid[name] = np.array(there, dtype=np.bool_)
        store.add_configurations(run.id, columns, first_row, valid)
        got = store.configurations(run.id)
        assert got["row"].tolist() == list(range(first_row, first_row + n))
        for name in CONFIGURATION_COLUMNS[1:]:
            expected: list[int | None] = [None] * n
            if name in columns:
                there_too = valid.get(name, np.ones(n, dtype=np.bool_))
                pairs = zip(columns[name].tolist(), there_too.tolist(), strict=True)
                expected = [value if here else None for value, here in pairs]
            assert got[name].tolist() == expected, name


class TestRefusing:
    @pytest.mark.parametrize(
        ("columns", "valid", "sentence"),
        [
            ({"cycles": ints(1)}, {}, "the column 'verdict' is missing"),
            ({"verdict": ints(0), "row": ints(0)}, {}, "the column 'row' is given"),
            ({"verdict": ints(0), "ub; DROP TABLE run": ints(0)}, {}, "no column .* is named 'ub; DROP"),
            ({"verdict": ints(0), "cycles": ints(1, 2)}, {}, "'cycles' has not the 1 values"),
            ({"verdict": ints(0), "cycles": ints(1)}, {"cycles": bools(1, 0)}, "'cycles' has not the 1"),
            ({"verdict": ints(0), "cycles": np.array([1.0])}, {}, "flat array of integers, not float64"),
            ({"verdict": ints(0), "cycles": ints(1)}, {"cycles": ints(1)}, "mask of 'cycles' must be bool"),
            ({"verdict": ints(0)}, {"cycles": bools(1)}, "a mask is given for 'cycles' but no column"),
            ({"verdict": ints(0)}, {"verdict": bools(0)}, "'verdict' must have a value in every row"),
            ({"verdict": ints(3)}, {}, "'verdict' reaches from 3 to 3, the run lists 3"),
            ({"verdict": ints(0), "cycles": ints(-1)}, {}, "'cycles' reaches from -1"),
            ({"verdict": ints(0), "cycles": np.array([2**63], dtype=np.uint64)}, {}, "must be 0 to 922337"),
            ({"verdict": ints(0), "stretch_milli": ints(2**31)}, {}, "must be 0 to 2147483647"),
            ({"verdict": ints(0), "t0": ints(3)}, {}, "'t0' reaches from 3 to 3, the run lists 3"),
            ({"verdict": ints(0), "t2": ints(0)}, {}, "'t2' reaches from 0 to 0, the run lists 0"),
            ({"verdict": ints(0), "rule": ints(2)}, {}, "'rule' reaches from 2"),
            ({"verdict": ints(0), "bound": ints(-1)}, {}, "'bound' reaches from -1"),
        ],
    )
    def test_columns_that_do_not_fit_are_refused_and_nothing_is_kept(
        self, store: Store, run: Run, columns: dict[str, Any], valid: dict[str, Any], sentence: str
    ) -> None:
        with pytest.raises(StoreError, match=sentence):
            store.add_configurations(run.id, columns, 0, valid)
        assert store.max_row(run.id) is None

    def test_all_that_is_wrong_is_said_at_once(self, store: Store, run: Run) -> None:
        with pytest.raises(StoreError, match=r"'cycles' reaches .*; 'ub' reaches"):
            store.add_configurations(run.id, {"verdict": ints(0), "cycles": ints(-1), "ub": ints(-2)}, 0)

    def test_a_value_that_is_masked_may_be_anything(self, store: Store, run: Run) -> None:
        store.add_configurations(run.id, {"verdict": ints(0), "cycles": ints(-1)}, 0, valid={"cycles": bools(0)})
        assert store.configurations(run.id, ["cycles"])["cycles"].tolist() == [None]

    @pytest.mark.parametrize("first_row", [-1, 2**31 - 1, 2**40])
    def test_rows_outside_of_the_table_are_refused(self, store: Store, run: Run, first_row: int) -> None:
        with pytest.raises(StoreError, match=r"2\*\*31-2|first_row is"):
            store.add_configurations(run.id, {"verdict": ints(0)}, first_row)

    def test_a_batch_that_meets_a_taken_row_is_refused_as_a_whole(self, store: Store, filled: Run) -> None:
        before = store.configurations(filled.id)
        for first_row in (3, 5):
            with pytest.raises(StoreError, match="already has some of the rows"):
                store.add_configurations(filled.id, {"verdict": np.zeros(200, dtype=np.int64)}, first_row)
        after = store.configurations(filled.id)
        assert {name: column.tolist() for name, column in after.items()} == {
            name: column.tolist() for name, column in before.items()
        }

    def test_a_failure_in_a_later_chunk_takes_back_the_earlier_ones(self, store: Store, run: Run) -> None:
        store.add_configurations(run.id, {"verdict": ints(0)}, 110_000)
        with pytest.raises(StoreError, match="already has some of the rows 0 to 119999"):
            store.add_configurations(run.id, {"verdict": np.zeros(120_000, dtype=np.int64)}, 0)
        assert store.configurations(run.id, ["row"])["row"].tolist() == [110_000]

    @pytest.mark.parametrize("state", ["done", "stopped", "failed"])
    def test_a_run_that_is_not_running_takes_nothing(self, store: Store, run: Run, state: str) -> None:
        store.finish_run(run.id, state)
        with pytest.raises(StoreError, match=f"is {state}: only a running run takes results"):
            store.add_configurations(run.id, {"verdict": ints(0)}, 0)
        assert store.max_row(run.id) is None

    def test_names_of_columns_come_from_a_fixed_list(self, store: Store, filled: Run) -> None:
        with pytest.raises(StoreError, match=r"is named 'run_id', '1; --': choose among row, t0"):
            store.configurations(filled.id, ["row", "run_id", "1; --"])

    def test_unknown_runs_are_refused(self, store: Store, run: Run) -> None:
        for ask in (store.configurations, store.accounts, store.max_row):
            with pytest.raises(StoreError, match="no run has the number"):
                ask(run.id + 1)
        with pytest.raises(StoreError, match="no run has the number"):
            store.add_configurations(run.id + 1, {"verdict": ints(0)}, 0)
        with pytest.raises(StoreError, match="no run has the number"):
            store.add_accounts(run.id + 1, [])

    def test_limits_below_zero_are_refused(self, store: Store, filled: Run) -> None:
        with pytest.raises(StoreError, match="limit is -1"):
            store.configurations(filled.id, limit=-1)


class TestAccounts:
    def test_accounts_are_read_back_in_order(self, store: Store, filled: Run) -> None:
        store.add_accounts(
            filled.id,
            [(2, "wait", "qk.ready", 70), (2, "busy", "AIC.M", 230), (0, "wait", '管道 "q"', 2**62)],
        )
        assert store.accounts(filled.id) == [
            (0, "wait", '管道 "q"', 2**62),
            (2, "busy", "AIC.M", 230),
            (2, "wait", "qk.ready", 70),
        ]
        assert store.accounts(filled.id, row=2) == [(2, "busy", "AIC.M", 230), (2, "wait", "qk.ready", 70)]
        assert store.accounts(filled.id, row=1) == []

    def test_an_account_given_again_gets_the_new_cycles(self, store: Store, filled: Run) -> None:
        store.add_accounts(filled.id, [(2, "busy", "AIC.M", 230)])
        store.add_accounts(filled.id, [(2, "busy", "AIC.M", 231)])
        assert store.accounts(filled.id) == [(2, "busy", "AIC.M", 231)]

    @pytest.mark.parametrize(
        ("bad", "sentence"),
        [
            ((0, "idle", "AIC.M", 1), "has the kind 'idle': use busy or wait"),
            ((0, "busy", "AIC.M", -1), "cycles is -1"),
            ((0, "busy", "AIC.M", 2**63), "cycles is 9223372036854775808"),
            ((2, "busy", "AIC.M", 5), "the account busy 'AIC.M' of row 2 twice"),
            ((6, "busy", "AIC.M", 5), "a row that it has not: add configurations first"),
        ],
    )
    def test_one_account_that_does_not_fit_and_none_is_kept(
        self, store: Store, filled: Run, bad: tuple[int, str, str, int], sentence: str
    ) -> None:
        with pytest.raises(StoreError, match=sentence):
            store.add_accounts(filled.id, [(2, "busy", "AIC.M", 1), bad])
        assert store.accounts(filled.id) == []
