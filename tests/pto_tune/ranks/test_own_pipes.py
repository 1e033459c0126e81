"""Pipes inside the blocks of a workload with ranks keep their rules."""

from dataclasses import replace

import pytest

from cost_models import load_platform
from pto_tune.evaluation import Evaluation, Problem, evaluate_columns
from pto_tune.model.expr import expr, name
from pto_tune.model.vocabulary import when
from pto_tune.model.vocabulary_remote import barrier, signal, tnotify, twait
from pto_tune.verdicts import VERDICTS
from pto_tune.workloads import workload

STREAM = workload("stream")


def on_ranks(table: dict[str, list[int]]) -> Evaluation:
    """A stream from cube to vector on each of two ranks, which tell one another when they are done."""
    done = (barrier(), tnotify("done", 1 - name("rank")), twait("done", 1))
    programs = tuple(
        (core, (*body, *((when(name("sub").eq(0), *done),) if core == "AIV" else ()))) for core, body in STREAM.programs
    )
    ranked = replace(STREAM, ranks=expr(2), signals=(signal("done", 1),), programs=programs)
    return evaluate_columns(Problem.of(ranked, load_platform("ascend910b2")), table)


def alone(table: dict[str, list[int]]) -> Evaluation:
    return evaluate_columns(Problem.of(STREAM, load_platform("ascend910b2")), table)


TABLE = {"fifo_depth": [2, 4, 5, 7, 8, 40], "tiles": [40] * 6}


def test_verdicts_and_sentences_are_those_of_one_block() -> None:
    several, one = on_ranks(TABLE), alone(TABLE)
    assert [VERDICTS[v] for v in several.verdict] == [VERDICTS[v] for v in one.verdict]
    assert [several.reason(i) for i in range(6)] == [one.reason(i) for i in range(6)]
    assert {"ok", "overwrite", "refused"} <= {VERDICTS[v] for v in several.verdict}


@pytest.mark.parametrize("depth", [2, 4, 8])
def test_the_stream_takes_as_long_and_then_they_meet(depth: int) -> None:
    table = {"fifo_depth": [depth], "tiles": [40]}
    several, one = on_ranks(table), alone(table)
    assert one.cycles[0] < several.cycles[0] < one.cycles[0] + 3000


def test_a_stream_that_never_ends_is_a_hang() -> None:
    e = on_ranks({"fifo_depth": [8], "tiles": [40], "free": [0]})
    assert (
        VERDICTS[e.verdict[0]] == VERDICTS[alone({"fifo_depth": [8], "tiles": [40], "free": [0]}).verdict[0]] == "hang"
    )
    assert "nobody can go on" in e.reason(0)
