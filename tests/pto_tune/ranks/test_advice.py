"""TWAIT or TTEST: what is advised for a wait, and the time that each would take."""

from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest

from cost_models import Platform, load_platform
from cost_models.rounding import to_cycles
from pto_tune.api import explain
from pto_tune.model.communication import Signal
from pto_tune.model.expr import expr, name, not_
from pto_tune.model.nodes import Launch, Loop, Node, Workload
from pto_tune.model.vocabulary import cycles, instr, when
from pto_tune.model.vocabulary_remote import (
    barrier,
    let,
    loop_index,
    poll,
    signal,
    tnotify,
    ttest,
    twait,
    while_loop,
)
from pto_tune.ranks.advice import TTEST, TWAIT, Advice

FAMILIES = {"a2a3": ("ascend910b2", "hccs"), "a5": ("ascend950pr", "ub")}
both_families = pytest.mark.parametrize("family", FAMILIES)

RANK, SUB = name("rank"), name("sub")


def kernel(*nodes: Node, signals: Sequence[Signal] = (signal("sig", 32),)) -> Workload:
    """A kernel of one block on two ranks, of which AIV0 runs everything."""
    return Workload(
        name="example",
        doc="",
        problem=(),
        tunables=(),
        buffers=(),
        fifos=(),
        programs=(("AIV", (when(SUB.eq(0), *nodes),)),),
        launch=Launch(expr(1)),
        ranks=expr(2),
        signals=tuple(signals),
    )


def on(rank: int, *nodes: Node) -> Loop:
    return when(RANK.eq(rank), *nodes)


def work(duration: int) -> tuple[Node, Node]:
    """Something that the scalar process waits for."""
    return instr("TADD", "V", cycles(duration)), barrier("V")


@cache
def chip(family: str) -> Platform:
    return load_platform(FAMILIES[family][0])


def explained(kernel: Workload, family: str) -> Any:
    return explain(kernel, {}, FAMILIES[family][0])


def advised(kernel: Workload, family: str) -> list[Advice]:
    found: list[Advice] = explained(kernel, family).advice
    return found


def end_of(kernel: Workload, family: str) -> int:
    """When rank 1 is through."""
    return int(explained(kernel, family).run.core_end[1])


def whole(duration: float) -> int:
    return int(to_cycles(duration))


def issue(family: str) -> int:
    return whole(chip(family)["scalar.issue"])


def sweep(family: str, elements: int = 1) -> int:
    return whole(chip(family)["signal.sweep"] + elements * chip(family)["signal.poll"])


def arrival(family: str, before: int) -> int:
    """Of a TNOTIFY by AtomicAdd that comes after `before` cycles of work."""
    p, (_, link) = chip(family), FAMILIES[family]
    written = 2 * p["signal.cache_line"] + p["signal.atomic"]
    return issue(family) + before + whole(written + p[f"link.{link}.put.latency"])


BEFORE = 10_000


def waiting(*nodes: Node, before: int = BEFORE) -> Workload:
    """Rank 0 works and notifies; rank 1 does what is given."""
    return kernel(on(0, *work(before), tnotify("sig", 1)), on(1, *nodes))


# Nothing else to do


@both_families
def test_a_core_with_nothing_else_to_do_waits_with_twait(family: str) -> None:
    """Both take as many looks, so that both times are the same."""
    (a,) = advised(waiting(twait("sig", 1)), family)
    failed = -(-arrival(family, BEFORE) // sweep(family))
    assert failed < chip(family)["signal.sweeps_per_barrier"]
    assert (a.core, a.signal, a.instruction, a.passed) == ("AIV0", "sig", TWAIT, 1)
    waited = arrival(family, BEFORE)
    assert (a.wait_cycles, a.longest_cycles, a.work_cycles) == (waited, waited, 0)
    assert (a.twait_cycles, a.ttest_cycles) == ((failed + 1) * sweep(family), (failed + 1) * sweep(family))
    assert a.advised == TWAIT
    assert a.why == "the core has to wait: only a time limit or other work asks for TTEST"


@both_families
def test_the_time_of_twait_is_that_of_the_run(family: str) -> None:
    """One wait by itself, from the start of the kernel to its end."""
    for before in (0, 700, BEFORE, 20_000):
        alone = waiting(twait("sig", 1), before=before)
        (a,) = advised(alone, family)
        assert a.twait_cycles == end_of(alone, family)


@both_families
def test_the_time_of_a_long_twait_is_that_of_the_run(family: str) -> None:
    """With barriers between its sweeps."""
    alone = waiting(twait("sig", 1), before=100_000)
    (a,) = advised(alone, family)
    assert a.twait_cycles == end_of(alone, family)


@both_families
def test_the_time_of_a_wait_for_a_grid_is_that_of_the_run(family: str) -> None:
    """Its sweeps read more and more elements."""
    send = loop_index("i", 32, tnotify("sig", 1, at=name("i")))
    grid = kernel(on(0, send), on(1, twait("sig", 1, view=[(4, 8), (8, 1)])))
    (a,) = advised(grid, family)
    assert a.twait_cycles == end_of(grid, family)


@both_families
def test_polling_without_other_work_could_be_a_twait(family: str) -> None:
    """Except for its bound."""
    polled = waiting(*poll("sig", 1, 1000))
    (a,) = advised(polled, family)
    assert (a.instruction, a.advised, a.work_cycles) == (TTEST, TWAIT, 0)
    assert a.why == "nothing else is done meanwhile: only a time limit asks for TTEST"
    assert a.wait_cycles == advised(waiting(twait("sig", 1)), family)[0].wait_cycles


# Other work meanwhile


PIECE = 600


@both_families
def test_work_that_fits_into_the_wait_is_done_meanwhile(family: str) -> None:
    """A piece after every look that fails: by TTEST it costs almost nothing, by TWAIT it comes on top of the wait."""
    (a,) = advised(waiting(*poll("sig", 1, 1000, *work(PIECE))), family)
    piece = issue(family) + PIECE
    pieces = -(-arrival(family, BEFORE) // (sweep(family) + piece))
    assert (a.instruction, a.advised) == (TTEST, TTEST)
    assert a.ttest_cycles < a.twait_cycles
    assert a.work_cycles == pieces * piece
    assert a.why == f"{a.work_cycles} cycles of other work are done meanwhile"


@both_families
def test_both_times_are_those_of_programs_that_do_it_so(family: str) -> None:
    """A look that passes ends the one; the other is a TWAIT and then as many pieces of work."""
    polled = waiting(*poll("sig", 1, 1000, *work(PIECE)))
    (a,) = advised(polled, family)
    turn = sweep(family) + issue(family) + PIECE
    pieces = -(-arrival(family, BEFORE) // turn)
    one_by_one = waiting(twait("sig", 1), *(node for _ in range(pieces) for node in work(PIECE)))
    assert a.ttest_cycles == pytest.approx(end_of(polled, family), abs=turn)
    assert a.twait_cycles == pytest.approx(end_of(one_by_one, family), abs=turn)


@both_families
def test_pieces_that_outlast_the_wait_are_better_done_after_it(family: str) -> None:
    """One piece of 50,000 cycles in a wait of a few hundred: what polling saves is at most the wait."""
    polled = waiting(*poll("sig", 1, 1000, *work(50_000)), before=0)
    (a,) = advised(polled, family)
    assert 0 <= a.twait_cycles - a.ttest_cycles <= arrival(family, 0) + sweep(family)


# Ready queues


def queues(*names: str, most: int = 1000) -> tuple[Node, ...]:
    """A loop that looks at signals in turn and works on those that are ready, until all have been."""
    body: list[Node] = []
    for label in names:
        ready, done = name(f"{label}_ready"), name(f"{label}_done")
        body += [
            when(
                not_(done),
                ttest(label, 1, into=f"{label}_ready"),
                when(ready, *work(500), let(f"{label}_done", 1)),
            )
        ]
    done = name(f"{names[0]}_done")
    for label in names[1:]:
        done = done.and_(name(f"{label}_done"))
    start = [let(f"{label}_{what}", 0) for label in names for what in ("ready", "done")]
    return *start, while_loop(not_(done), most, *body)


@both_families
def test_a_ready_queue_is_looked_at_with_ttest(family: str) -> None:
    """The second one is ready first: TWAIT on either would hold up the other."""
    signals = [signal("first", 1), signal("second", 1)]
    sender = on(0, *work(5000), tnotify("second", 1), *work(5000), tnotify("first", 1))
    ready = kernel(sender, on(1, *queues("first", "second")), signals=signals)
    found = advised(ready, family)
    assert {a.signal for a in found} == {"first", "second"}
    for a in found:
        assert (a.instruction, a.advised, a.passed) == (TTEST, TTEST, 1)
        assert a.why == "a ready queue: other signals are looked at in the same loop"
        assert min(a.twait_cycles, a.ttest_cycles) > 0


@both_families
def test_a_loop_over_one_signal_alone_is_no_ready_queue(family: str) -> None:
    sender = on(0, *work(5000), tnotify("first", 1))
    (a,) = advised(kernel(sender, on(1, *queues("first")), signals=[signal("first", 1)]), family)
    assert "ready queue" not in a.why


# Several waits


@both_families
def test_a_wait_in_a_loop_has_the_mean_of_its_times(family: str) -> None:
    """Rank 0 counts up after 3,000 and then 9,000 cycles of work."""
    turns = kernel(
        on(0, *work(3000), tnotify("sig", 1), *work(9000), tnotify("sig", 1)),
        on(1, loop_index("i", 2, twait("sig", name("i") + 1))),
    )
    (a,) = advised(turns, family)
    assert a.passed == 2
    assert a.wait_cycles < a.longest_cycles
    assert 2 * a.twait_cycles == pytest.approx(end_of(turns, family), abs=1)


@both_families
def test_the_longest_wait_comes_first(family: str) -> None:
    signals = [signal("short", 1), signal("long", 1)]
    both = kernel(
        on(0, *work(2000), tnotify("short", 1), *work(20_000), tnotify("long", 1)),
        on(1, twait("short", 1), twait("long", 1)),
        signals=signals,
    )
    found = advised(both, family)
    assert [a.signal for a in found] == ["long", "short"]
    assert found[0].wait_cycles > found[1].wait_cycles


@both_families
def test_waits_of_all_ranks_count_together(family: str) -> None:
    """Both ranks wait for each other's signal at the same place of the program."""
    (a,) = advised(kernel(tnotify("sig", 1 - RANK), twait("sig", 1)), family)
    assert a.passed == 2


@both_families
def test_no_advice_where_there_is_no_time(family: str) -> None:
    assert advised(kernel(on(1, twait("sig", 1))), family) == []
    assert advised(kernel(on(0, tnotify("sig", 1))), family) == []


@both_families
def test_advice_is_part_of_the_summary(family: str) -> None:
    summary = explained(waiting(twait("sig", 1)), family).summary()
    (row,) = summary["waits_between_ranks"]
    (a,) = advised(waiting(twait("sig", 1)), family)
    assert row == vars(a)
