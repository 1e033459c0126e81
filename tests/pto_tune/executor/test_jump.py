"""Leaving out windows changes nothing: the jump equals plain simulation, in exact integers."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from executor_checks import FREE_SYNCHRONISATION, RULE_SETS, differences, examples, outcomes, platform, run
from generated_chains import DURATIONS
from generated_workloads import SHORT_QUEUES, configurations, workloads
from hypothesis import given
from hypothesis import strategies as st

from pto_tune.model.expr import expr, name
from pto_tune.model.nodes import Buffer, Fifo, Launch, Parameter, Tunable, Workload
from pto_tune.model.vocabulary import (
    cycles,
    instr,
    loop,
    steady_loop,
    talloc,
    tfree,
    tpop,
    tpush,
)
from pto_tune.rule_sets import RuleSet
from pto_tune.workloads import workload

rule_sets = st.sampled_from(RULE_SETS)
Row = dict[str, int]


def jump_and_plain_differ(w: Workload, rules: RuleSet, rows: list[Row], **overrides: float) -> list[Any]:
    chip = platform({k.replace("__", "."): v for k, v in overrides.items()})
    jumped, plain = (outcomes(run(w, chip, rules, rows, jump=jump)) for jump in (True, False))
    return [(row, j, p) for row, j, p in zip(rows, jumped, plain, strict=True) if j != p]


def three_stages() -> Workload:
    """Cube, vector and cube again in a circle: QK, P and PV without anything else.

    Vector work is `vector` cycles on AIV0 and `unequal` more on AIV1.
    """

    def fifo(label: str, direction: str, flag: int) -> Fifo:
        depth, period = name("depth"), name("period")
        return Fifo(label, direction, expr(64), depth, period, expr(2), expr(1), flag, expr(64))

    first = (
        talloc("there"),
        instr("STORE", "FIX", cycles(name("first")), acquires=["acc"], releases=["acc"], writes=["there"]),
        tpush("there"),
    )
    second = (
        tpop("there"),
        instr("LOAD", "MTE2", cycles(name("load")), acquires=["ub"], publishes=["ub"], reads=["there"]),
        tfree("there"),
        instr("WORK", "V", cycles(name("vector") + name("sub") * name("unequal")), takes=["ub"],
              releases=["ub"], event="worked"),
        talloc("back"),
        instr("STORE", "MTE3", cycles(name("load")), waits=["worked"], writes=["back"]),
        tpush("back"),
    )  # fmt: skip
    third = (
        tpop("back"),
        instr("LOAD", "MTE2", cycles(name("third")), reads=["back"]),
        tfree("back"),
    )
    ahead, tiles = name("ahead"), name("tiles")
    return Workload(
        name="three stages",
        doc="",
        problem=(
            Parameter("tiles", 64, ""),
            *(Parameter(p, 1000, "", 0) for p in ("first", "load", "vector", "third")),
            Parameter("unequal", 0, "", 0),
        ),
        tunables=(
            Tunable("ahead", (1, 2, 4), 2, ""),
            Tunable("depth", (2, 4, 8), 8, ""),
            Tunable("period", (0, 1, 2), 0, "", 0),
            Tunable("copies", (1, 2), 2, ""),
        ),
        buffers=(
            Buffer("acc", "AIC", "L0C", expr(64), name("copies")),
            Buffer("ub", "AIV", "UB", expr(64), name("copies")),
        ),
        fifos=(fifo("there", "C2V", 0), fifo("back", "V2C", 2)),
        programs=(
            ("AIC", (loop(ahead, *first), steady_loop(tiles - ahead, *first, *third), loop(ahead, *third))),
            ("AIV", (steady_loop(tiles, *second),)),
        ),
        launch=Launch(expr(1)),
    )


BALANCED: dict[str, st.SearchStrategy[int]] = {p: st.integers(990, 1010) for p in ("first", "load", "vector", "third")}
STAGES = st.fixed_dictionaries(
    BALANCED
    | {
        "unequal": st.sampled_from((0, 0, 1, 2, 7)),
        "ahead": st.sampled_from((1, 2, 3, 4)),
        "depth": st.sampled_from((1, 2, 3, 4, 6, 8)),
        "period": st.sampled_from((0, 0, 1, 2)),
        "copies": st.sampled_from((1, 2, 3)),
        "tiles": st.one_of(st.integers(5, 200), st.sampled_from((333, 999, 1001, 2048, 4097, 5000))),
    }
)
STREAMS = st.fixed_dictionaries(
    {
        "direction": st.sampled_from((1, 2)),
        "tiles": st.one_of(st.integers(1, 300), st.integers(301, 5000), st.sampled_from((4095, 4096, 4097))),
        "fifo_depth": st.integers(1, 12),
        "sync_period": st.sampled_from((0, 0, 0, 1, 2, 3, 5)),
        "producer_cycles": st.integers(990, 1010),
        "store_cycles": st.one_of(st.just(-1), st.integers(990, 1010)),
        "load_cycles": st.one_of(st.just(-1), st.integers(990, 1010)),
        "consumer_cycles": st.integers(990, 1010),
    }
)


@given(rows=st.lists(STREAMS, min_size=8, max_size=40), rules=rule_sets)
@examples(30)
def test_streams_that_are_nearly_balanced(rows: list[Row], rules: RuleSet) -> None:
    assert jump_and_plain_differ(workload("stream"), rules, rows) == []


@given(rows=st.lists(STAGES, min_size=8, max_size=40), rules=rule_sets)
@examples(30)
def test_three_stages_that_are_nearly_balanced_with_unequal_sub_cores(rows: list[Row], rules: RuleSet) -> None:
    assert jump_and_plain_differ(three_stages(), rules, rows) == []


@given(rows=st.lists(STAGES, min_size=8, max_size=20), rules=rule_sets, overrides=SHORT_QUEUES)
@examples(15)
def test_three_stages_with_short_queues(rows: list[Row], rules: RuleSet, overrides: dict[str, float]) -> None:
    assert jump_and_plain_differ(three_stages(), rules, rows, **overrides) == []


@given(w=workloads(), rows=st.lists(configurations(1200), min_size=1, max_size=6), rules=rule_sets)
@examples(30)
def test_any_workload(w: Workload, rows: list[Row], rules: RuleSet) -> None:
    assert jump_and_plain_differ(w, rules, rows) == []


@given(rows=st.lists(STAGES, min_size=1, max_size=1), rules=rule_sets)
@examples(10)
def test_three_stages_are_what_the_oracle_says(rows: list[Row], rules: RuleSet) -> None:
    rows = [{**row, "tiles": min(row["tiles"], 333)} for row in rows]
    assert differences(three_stages(), platform(), rules, rows) == []


@pytest.mark.parametrize(("apart", "tiles"), [(1, 5000), (2, 1001), (50, 1000)])
def test_stages_that_drift_apart_for_long_are_what_the_oracle_says(apart: int, tiles: int) -> None:
    row = {"tiles": tiles, "store_cycles": 1000, "load_cycles": 1000 + apart, "consumer_cycles": 999}
    chip = platform({"scalar.issue": 3})
    assert differences(workload("stream"), chip, RULE_SETS[0], [row]) == []


def test_flash_attention_at_all_lengths_in_one_table() -> None:
    rows = [
        {"s0": 128, "s1": 256 * tiles, "qk_preload": preload, "fifo_depth": depth}
        for tiles, preload, depth in product((1, 3, 8, 9, 17, 64, 255, 1024), (2, 4), (4, 8))
    ]
    assert jump_and_plain_differ(workload("flash_attention"), RULE_SETS[0], rows) == []
    assert jump_and_plain_differ(workload("flash_attention"), RULE_SETS[0], rows, l2__bandwidth=10) == []


def test_the_jump_does_jump() -> None:
    row = {"tiles": 5000, "store_cycles": 1000, "load_cycles": 1001}
    jumped, plain = (
        run(workload("stream"), platform(), RULE_SETS[0], [row], jump=jump).windows_evaluated for jump in (True, False)
    )
    assert jumped < 100 < plain


# Tables


def table_of_stages(seed: int, count: int) -> list[Row]:
    """Few structures with many trip counts and durations each."""
    draw = np.random.default_rng(seed)
    return [
        {
            "tiles": int(draw.integers(5, 400)),
            "depth": int(draw.choice([2, 4, 8])),
            "first": int(draw.integers(990, 1010)),
            "vector": int(draw.integers(900, 1100)),
            "unequal": int(draw.integers(0, 3)),
        }
        for _ in range(count)
    ]


def test_lanes_of_one_schedule_with_different_trip_counts_do_not_touch_each_other() -> None:
    rows, w, chip = table_of_stages(1, 150), three_stages(), platform()
    together = outcomes(run(w, chip, RULE_SETS[0], rows))
    alone = [outcomes(run(w, chip, RULE_SETS[0], [row]))[0] for row in rows]
    assert together == alone


def test_the_order_of_rows_and_the_number_of_threads_change_nothing() -> None:
    rows, w, chip = table_of_stages(2, 600), three_stages(), platform({"l2.bandwidth": 30})
    order = np.random.default_rng(3).permutation(len(rows))
    straight = outcomes(run(w, chip, RULE_SETS[0], rows, threads=1))
    for threads in (1, 2, 5):
        shuffled = outcomes(run(w, chip, RULE_SETS[0], [rows[i] for i in order], threads=threads))
        assert shuffled == [straight[i] for i in order]
        assert outcomes(run(w, chip, RULE_SETS[0], rows, threads=threads)) == straight


def test_two_threads_share_a_table_of_flash_attention() -> None:
    rows = [
        {"s0": 1024, "s1": 256 * tiles, "qk_preload": preload, "fifo_depth": depth, "split": split}
        for tiles, preload, depth, split in product(range(1, 24), (2, 4), (2, 4, 8), (0, 1))
    ]
    chip = platform({"cores.cube": 3, "l2.bandwidth": 60})
    one, two = (outcomes(run(workload("flash_attention"), chip, RULE_SETS[0], rows, threads=t)) for t in (1, 2))
    assert one == two
    assert any(o.stretch > 1 for o in one)
    assert any(o.cycles is None for o in one)


@given(w=workloads(), rows=st.lists(configurations(200), min_size=2, max_size=12), seed=st.integers(0, 99))
@examples(30)
def test_rows_of_any_workload_are_independent(w: Workload, rows: list[Row], seed: int) -> None:
    draw = np.random.default_rng(seed)
    same_structure = [
        {**row, "tiles": row["tiles"] + int(draw.integers(0, 40)), DURATIONS[0]: int(draw.integers(0, 2000))}
        for row in rows
    ]
    rows = rows + same_structure
    order = draw.permutation(len(rows))
    straight = outcomes(run(w, platform(), RULE_SETS[0], rows, threads=1))
    assert outcomes(run(w, platform(), RULE_SETS[0], [rows[i] for i in order], threads=2)) == [
        straight[i] for i in order
    ]


def test_free_synchronisation_jumps_too() -> None:
    rows = [{"tiles": t, "first": f, "third": 1001} for t, f in product((64, 999, 5000), (999, 1000, 1002))]
    assert jump_and_plain_differ(three_stages(), RULE_SETS[0], rows, **FREE_SYNCHRONISATION) == []
