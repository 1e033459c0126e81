"""Configurations that are not told apart, and what would tell them apart."""

import re

import numpy as np
import pytest
from platforms_unfitted import unfitted

from cost_models import load_platform
from cost_models.keys import KEYS
from pto_tune.evaluation import Problem, evaluate_columns
from pto_tune.uncertainty.experiments import EXPERIMENTS, experiment
from pto_tune.uncertainty.intervals import intervals_of
from pto_tune.uncertainty.running import Subject
from pto_tune.uncertainty.ties import Tie, best_of, tied_rows, ties
from pto_tune.verdicts import OK
from pto_tune.workloads import workload

B2 = unfitted(load_platform("ascend910b2"))
CROSS = "flags.cross_core_latency"
STREAM = Problem.of(workload("stream"), B2, timing="device")
GIVEN = {"tiles": 64, "store_cycles": 1000, "load_cycles": 900, "consumer_cycles": 200}


def test_equal_configurations_are_tied_and_nothing_decides() -> None:
    (tie,) = ties(STREAM, {**GIVEN, "fifo_depth": [12, 14]})
    assert (tie.row, tie.best, tie.key, tie.difference_us) == (1, 0, "", (0.0, 0.0, 0.0))
    assert tie.decides() == "no number of the platform tells them apart"
    assert "take either" in tie.measurement


def test_a_configuration_that_is_slower_in_every_sample_is_not_tied() -> None:
    # one slot: the producer waits for every load
    assert ties(STREAM, {**GIVEN, "fifo_depth": [1, 8]}) == []


def test_the_best_is_the_fastest_that_is_legal_and_safe() -> None:
    # a producer that never waits for space is the fastest, and overwrites
    table = {**GIVEN, "fifo_depth": 2, "allocate": ["off", "on", "on"], "split": ["UP_DOWN", "NO_SPLIT", "UP_DOWN"]}
    subject = Subject.of(STREAM, table)
    e = subject.evaluation
    assert [int(v) != OK for v in e.verdict] == [True, False, False]
    assert e.time_us[0] < e.time_us[1:].min()
    assert best_of(subject) in (1, 2)
    assert 0 not in tied_rows(subject, intervals_of(subject))


def test_a_flag_decides_between_depths_that_hide_it_and_do_not() -> None:
    # at the predicted latency a ring of four hides the way there and back; at twice that it does not
    table = {**GIVEN, "fifo_depth": [12, 4]}
    (tie,) = ties(STREAM, table)
    assert (tie.best, tie.row, tie.key, tie.kind) == (0, 1, CROSS, "assumed")
    assert tie.share > 0.99
    low, median, high = tie.difference_us
    assert low <= 0 <= high
    assert low <= median <= high
    assert high > 0
    assert CROSS in tie.decides()
    assert re.fullmatch(rf"run both on a board .* apart; or send a flag back and forth .*{CROSS} .*", tie.measurement)
    assert tie.as_plain()["measurement"] == tie.measurement


def test_the_break_even_is_where_the_predictions_meet() -> None:
    # half tiles cost more bursts, and a deeper ring hides more of the way of a flag
    rows = [{"fifo_depth": 6, "split": "UP_DOWN"}, {"fifo_depth": 10, "split": "NO_SPLIT"}]
    (tie,) = ties(STREAM, rows)
    assert (tie.row, tie.best, tie.key, tie.unit) == (1, 0, CROSS, "cycles")
    assert tie.break_even is not None
    assert tie.best_below

    def ahead(latency: float) -> float:
        first, second = (
            evaluate_columns(Problem.of(workload("stream"), B2.with_values({CROSS: latency}), timing="device"), row)
            for row in rows
        )
        return float(second.time_us[0] - first.time_us[0])

    assert ahead(tie.break_even - 30) > 0 > ahead(tie.break_even + 30)


def test_sentences_name_both() -> None:
    tie = Tie(3, 1, (-1.0, 0.5, 2.0), CROSS, "assumed", 0.75, 420.0, True, "cycles")
    assert tie.decides("row 1", "row 3") == (
        f"{CROSS} (assumed, 75 % of the difference's variance): row 1 is faster below about 420 cycles, row 3 above"
    )
    assert "at most about 2 us apart" in tie.measurement


@pytest.mark.parametrize("key", [k for k in KEYS if not k.startswith(("memory.", "cores.", "topology."))])
def test_every_number_has_an_experiment(key: str) -> None:
    said = experiment(key)
    assert key in said
    assert KEYS[key].description in said


def test_every_experiment_is_for_some_number() -> None:
    used = set()
    for key in KEYS:
        used.add(next((pattern for pattern, _ in EXPERIMENTS if re.fullmatch(pattern, key)), None))
    assert used >= {pattern for pattern, _ in EXPERIMENTS}
    with pytest.raises(ValueError, match="unknown key"):
        experiment("no.such.key")


def test_differences_are_taken_under_the_same_numbers() -> None:
    table = {**GIVEN, "fifo_depth": [4, 12]}
    found = intervals_of(Subject.of(STREAM, table))
    low, high = np.quantile(found.sampled_us[:, 0] - found.sampled_us[:, 1], [0.05, 0.95])
    (tie,) = ties(STREAM, table)
    assert (tie.row, tie.best) == (0, 1)
    assert (tie.difference_us[0], tie.difference_us[2]) == pytest.approx((low, high))
