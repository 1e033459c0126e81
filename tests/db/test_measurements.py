"""Measurements in the store, on SQLite and on PostgreSQL alike."""

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import db
from db import Measurement, Store, StoreError
from db.engine import Database
from db.urls import parse_target

Make = Callable[..., Measurement]

BASE = Measurement(
    workload="gemm",
    configuration={"m": 512, "n": 256, "split": "UP_DOWN"},
    family="a2a3",
    soc="Ascend 910B2 (24 AIC)",
    platform="ascend910b2",
    timing="event",
    value=88.9,
    repeats=20,
    spread=0.4,
    minimum=88.25,
    maximum=90.5,
    pto_isa="0a15e15c",
    source="bench.csv",
    note="warm",
)


def of(**changes: Any) -> Measurement:
    return replace(BASE, **changes)


class TestKeeping:
    def test_a_measurement_is_read_back_as_it_was_given(self, store: Store) -> None:
        assert store.add_measurements([BASE]) == (1, 0)
        (found,) = store.measurements()
        assert {name: getattr(found, name) for name in BASE.__dataclass_fields__} == vars(BASE)
        assert found.id == 1
        assert found.imported_at.tzinfo is UTC
        assert abs(found.imported_at - datetime.now(UTC)) < timedelta(seconds=20)

    def test_what_is_not_known_stays_unknown(self, store: Store) -> None:
        bare = Measurement("gemm", {}, "a5", "Ascend 950", "device", 12345.0, "cycles")
        store.add_measurements([bare])
        (found,) = store.measurements()
        assert (found.platform, found.pto_isa, found.repeats) == (None, None, None)
        assert (found.spread, found.minimum, found.maximum) == (None, None, None)
        assert (found.configuration, found.metric, found.source, found.note) == ({}, "cycles", "", "")

    @pytest.mark.parametrize("text", ['it\'s "quoted"; DROP TABLE run; --', "昇腾 910B 🚀", "per%cent %s ? :x \\ $1"])
    def test_texts_may_hold_anything_printable(self, store: Store, text: str) -> None:
        odd = of(workload=text, soc=text, platform=text, source=text, note=text, configuration={text: text})
        store.add_measurements([odd])
        (found,) = store.measurements(workload=text, platform=text)
        assert (found.workload, found.soc, found.source, found.note) == (text,) * 4
        assert found.configuration == {text: text}

    def test_integers_of_numpy_are_integers(self, store: Store) -> None:
        counted: Any = np.int64(3)
        store.add_measurements([of(configuration={"m": np.int64(512)}, repeats=counted, value=np.float64(88.5))])
        (found,) = store.measurements()
        assert (found.configuration, found.repeats, found.value) == ({"m": 512}, 3, 88.5)

    def test_texts_that_a_database_cannot_hold_are_mended(self, store: Store) -> None:
        mended = of(note="a\x00b\ud800", workload="a\x00b")
        assert store.add_measurements([mended]) == (1, 0)
        assert store.measurements()[0].note == "a?b?"
        assert store.add_measurements([mended, of(workload="a?b")]) == (0, 2)

    @pytest.mark.parametrize(
        ("change", "sentence"),
        [
            ({"workload": " "}, "its workload must not be empty"),
            ({"soc": ""}, "its soc must not be empty"),
            ({"platform": ""}, "its platform must not be empty"),
            ({"note": "n" * 2001}, "its note has 2001 characters, at most 2000 fit"),
            ({"metric": "ms"}, "its metric is 'ms', it must be us or cycles"),
            ({"value": 0.0}, "its value is 0.0, it must be above 0"),
            ({"value": float("nan")}, "its value is nan"),
            ({"value": float("inf")}, "its value is inf"),
            ({"repeats": 0}, "its repeats are 0"),
            ({"spread": -0.1}, "its spread is -0.1"),
            ({"minimum": 89.0}, "its minimum is 89.0, it must be above 0 and at most its value, 88.9"),
            ({"maximum": 88.0}, "its maximum is 88.0, it must be at least its value, 88.9"),
            ({"maximum": float("nan")}, "its maximum is nan"),
            ({"configuration": {"m": 1.5}}, "'m', whose value is no integer or text"),
            ({"configuration": {"m": [object()]}}, "its configuration must be integers and texts"),
            ({"configuration": {"m": True}}, "'m', whose value is no integer or text"),
            ({"configuration": {"m": None}}, "'m', whose value is no integer or text"),
            ({"configuration": {3: 1}}, "whose value is no integer or text"),
            ({"timing": 3}, "its timing must be text, not int"),
        ],
    )
    def test_a_measurement_that_the_table_cannot_hold_is_refused_with_all_others(
        self, store: Store, change: dict[str, Any], sentence: str
    ) -> None:
        with pytest.raises(StoreError) as caught:
            store.add_measurements([BASE, of(**change)])
        assert str(caught.value).startswith("measurement 2 of 2 cannot be kept: ")
        assert sentence in str(caught.value)
        assert store.count_measurements() == 0

    def test_all_that_is_wrong_with_one_is_said_at_once(self, store: Store) -> None:
        with pytest.raises(StoreError, match=r"its workload .*; its metric .*; its value .*; its repeats"):
            store.add_measurements([of(workload="", metric="s", value=-1.0, repeats=-1, minimum=None)])

    def test_the_table_itself_refuses_other_units(self, url: str) -> None:
        with db.open_store(url) as store:
            store.add_measurements([BASE])
        database = Database(parse_target(url), create=False)
        for change in ("metric = 'ms'", "value = 0"):
            with pytest.raises(StoreError), database.write() as connection:
                connection.exec_driver_sql(f"UPDATE measurement SET {change}")
        database.close()


class TestOnce:
    def test_what_is_there_already_is_not_added_again(self, store: Store) -> None:
        assert store.add_measurements([BASE, of(value=89.0)]) == (2, 0)
        assert store.add_measurements([of(value=89.5), BASE]) == (1, 1)
        assert [m.value for m in store.measurements()] == [88.9, 89.0, 89.5]

    def test_the_same_twice_in_one_call_is_kept_once_and_the_first_of_them(self, store: Store) -> None:
        assert store.add_measurements([BASE, of(note="again"), BASE]) == (1, 2)
        assert [m.note for m in store.measurements()] == ["warm"]

    def test_nothing_is_added_by_nothing(self, store: Store) -> None:
        assert store.add_measurements([]) == (0, 0)

    def test_more_than_fit_in_one_statement(self, store: Store) -> None:
        many = [of(value=1000.0 + i, maximum=None) for i in range(1201)]
        assert store.add_measurements(many[:700]) == (700, 0)
        assert store.add_measurements(many) == (501, 700)
        assert [m.value for m in store.measurements()] == [m.value for m in many]

    def test_writers_at_once_add_each_measurement_once(self, store: Store) -> None:
        counts: list[tuple[int, int]] = []

        def write(start: int) -> None:
            counts.append(
                store.add_measurements([of(value=1000.0 + i, maximum=None) for i in range(start, start + 50)])
            )

        threads = [threading.Thread(target=write, args=(start,)) for start in (0, 25, 50, 0)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sum(added for added, _ in counts) == 100
        assert sum(there for _, there in counts) == 100
        assert store.count_measurements() == 100

    @pytest.mark.parametrize(
        "change",
        [
            {"workload": "stream"},
            {"configuration": {"m": 512}},
            {"configuration": {"m": 512, "n": 256, "split": 1}},
            {"platform": "ascend910b3"},
            {"platform": None},
            {"family": "a5"},
            {"pto_isa": None},
            {"timing": "task"},
            {"value": 88.95},
            {"metric": "cycles"},
            {"repeats": 21},
            {"repeats": None},
            {"spread": 0.5},
            {"minimum": 88.0},
            {"maximum": 91.0},
        ],
    )
    def test_what_differs_in_what_was_measured_is_another(self, change: dict[str, Any]) -> None:
        assert of(**change).digest != BASE.digest

    @pytest.mark.parametrize(
        "change",
        [
            {"source": "README"},
            {"note": ""},
            {"soc": "Ascend910B2"},
            {"configuration": {"split": "UP_DOWN", "n": 256, "m": 512}},
        ],
    )
    def test_what_differs_in_how_it_is_told_is_the_same(self, change: dict[str, Any]) -> None:
        assert of(**change).digest == BASE.digest

    def test_a_chip_that_is_no_platform_is_told_by_its_own_name(self) -> None:
        assert of(platform=None, soc="910B (A2)").digest == of(platform=None, soc="910b  (A2)").digest
        assert of(platform=None, soc="910B (A2)").digest != of(platform=None, soc="910C").digest

    def test_whole_and_broken_numbers_of_one_value_are_the_same(self) -> None:
        assert of(value=89).digest == of(value=89.0).digest

    @given(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=5), st.randoms())
    def test_the_order_of_names_decides_nothing(self, configuration: dict[str, Any], random: Any) -> None:
        names = list(configuration)
        random.shuffle(names)
        other = of(configuration={name: configuration[name] for name in names})
        assert other.configuration_json == of(configuration=configuration).configuration_json
        assert other.digest == of(configuration=configuration).digest


class TestChoosing:
    @pytest.fixture
    def full(self, store: Store) -> Store:
        store.add_measurements(
            [
                BASE,
                of(workload="stream", timing="task"),
                of(platform="ascend950pr", family="a5", soc="Ascend 950PR", pto_isa=None),
                of(metric="cycles", timing="device"),
            ]
        )
        return store

    @pytest.mark.parametrize(
        ("filters", "ids"),
        [
            ({}, [1, 2, 3, 4]),
            ({"workload": "gemm"}, [1, 3, 4]),
            ({"workload": "gemm", "family": "a2a3"}, [1, 4]),
            ({"platform": "ascend950pr"}, [3]),
            ({"soc": "Ascend 950PR"}, [3]),
            ({"timing": "device"}, [4]),
            ({"metric": "us"}, [1, 2, 3]),
            ({"pto_isa": "0a15e15c"}, [1, 2, 4]),
            ({"pto_isa": None}, [1, 2, 3, 4]),
            ({"workload": "x' OR '1'='1"}, []),
            ({"workload": "a\x00"}, []),
        ],
    )
    def test_filters(self, full: Store, filters: dict[str, str | None], ids: list[int]) -> None:
        assert [m.id for m in full.measurements(**filters)] == ids
        assert full.count_measurements(**filters) == len(ids)

    def test_a_limit_gives_the_first(self, full: Store) -> None:
        assert [m.id for m in full.measurements(limit=2, workload="gemm")] == [1, 3]
        assert full.measurements(limit=0) == []
        with pytest.raises(StoreError, match="limit is -1"):
            full.measurements(limit=-1)

    def test_a_filter_that_there_is_not_is_named(self, full: Store) -> None:
        for ask in (full.measurements, full.count_measurements):
            with pytest.raises(StoreError, match=r"no 'colour' to choose by: use workload, .*"):
                ask(colour="red")

    def test_runs_and_measurements_do_not_touch_each_other(self, full: Store, spec: Callable[..., Any]) -> None:
        run = full.create_run(spec())
        full.delete_run(run.id)
        assert full.count_measurements() == 4
