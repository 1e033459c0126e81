"""What happens to a program does not depend on whether the executor looks for windows in its main loop.

The main loop marked as steady is traced as far as one window, and the windows behind it are left out; not marked, it is
traced trip by trip. Times, hangs and what verdicts are made of have to be equal.
"""

import pytest
from executor_checks import FREE_SYNCHRONISATION, RULE_SETS, differences, examples, expected, outcomes, platform, run
from generated_workloads import SHORT_QUEUES, configurations, without_steady_loops, workloads
from hypothesis import given
from hypothesis import strategies as st

from pto_tune.model.expr import expr, name
from pto_tune.model.nodes import Fifo, Launch, Loop, Node, Parameter, Ring, Tunable, Workload
from pto_tune.model.vocabulary import cycles, dma, instr, loop, steady_loop, talloc, tfree, tpop, tpush
from pto_tune.rule_sets import RuleSet

rule_sets = st.sampled_from(RULE_SETS)
Row = dict[str, int]


def one_core(core: str, *nodes: Node, rings: tuple[Ring, ...] = ()) -> Workload:
    return Workload(
        name="one core",
        doc="",
        problem=(Parameter("n", 10, ""),),
        tunables=(Tunable("slots", (2, 4), 4, ""),),
        buffers=(),
        fifos=(),
        rings=rings,
        programs=((core, nodes),),
        launch=Launch(expr(1)),
    )


def found(w: Workload, rules: RuleSet, rows: list[Row], overrides: dict[str, float]) -> list[object]:
    """By row: the outcome, the first tile of each ring and FIFO that is written or read too early, and most signals in
    flight. How many tiles are in flight where none is too early is not compared: a tile that has been popped counts as
    read until the instruction that reads it is traced.
    """
    x = run(w, platform(overrides), rules, rows)
    out: list[object] = []
    for row, outcome in enumerate(outcomes(x)):
        s = x.lanes.schedule[x.first_lane[row]]
        over, flight = x.lanes.schedules.over[s], x.lanes.schedules.flight[s]
        tracks = [tuple(map(int, first)) for first in over[: len(x.code.tracks), (0, 2, 3)]]
        counters = [min(int(f), 64) for f, ch in zip(flight, x.code.channels, strict=False) if ch.counter]
        out.append((outcome, tracks, counters))
    return out


@given(w=workloads(), rows=st.lists(configurations(60), min_size=1, max_size=4), rules=rule_sets)
@examples(40)
def test_any_workload(w: Workload, rows: list[Row], rules: RuleSet) -> None:
    assert found(w, rules, rows, {}) == found(without_steady_loops(w), rules, rows, {})


@given(
    w=workloads(),
    rows=st.lists(configurations(40), min_size=1, max_size=4),
    rules=rule_sets,
    overrides=SHORT_QUEUES,
)
@examples(40)
def test_any_workload_with_short_queues(
    w: Workload, rows: list[Row], rules: RuleSet, overrides: dict[str, float]
) -> None:
    assert found(w, rules, rows, overrides) == found(without_steady_loops(w), rules, rows, overrides)


# A scalar process that is never told how far its pipes are gains on them until a queue is full


FAR_AHEAD = one_core(
    "AIC", steady_loop(name("n"), instr("MUL", "M", cycles(1000))), instr("LOAD", "MTE2", cycles(100_000))
)


@pytest.mark.parametrize("depth", [1, 2, 3, 32])
def test_a_load_behind_a_loop_is_issued_when_the_queue_of_the_loop_lets_it(depth: int) -> None:
    chip = platform({"scalar.queue_depth": depth})
    rows = [{"n": n} for n in (1, 2, 3, 4, 31, 32, 33, 34, 35, 100, 3000)]
    assert differences(FAR_AHEAD, chip, RULE_SETS[0], rows) == []


def test_its_time_has_a_closed_form() -> None:
    # MUL i is issued when MUL i - 32 has started. The last one is issued when MUL n - 33 starts, and so is LOAD.
    chip = platform({**FREE_SYNCHRONISATION, "scalar.queue_depth": 32})
    for n in (33, 40, 1000, 200_000):
        cycles_ = outcomes(run(FAR_AHEAD, chip, RULE_SETS[0], [{"n": n}]))[0].cycles
        assert cycles_ == max(1000 * n, 1000 * (n - 33) + 100_000)


def test_what_is_known_before_the_loop_does_not_last() -> None:
    # Twenty instructions are known to be done before the loop; its own never are.
    w = one_core(
        "AIC",
        Loop(expr(20), (instr("MUL", "M", cycles(1000)),)),
        instr("SYNC", "M", event="done"),
        instr("SYNC", "MTE1", waits=["done"]),
        steady_loop(name("n"), instr("MUL", "M", cycles(1000)), instr("EXTRACT", "MTE1", cycles(10))),
        instr("LOAD", "MTE2", cycles(100_000)),
    )
    rows = [{"n": n} for n in (1, 11, 12, 13, 33, 100, 1000)]
    assert differences(w, platform(), RULE_SETS[0], rows) == []
    assert expected(w, platform(), RULE_SETS[0], {"n": 100}).waits != {}


# A ring that no flag protects


@pytest.mark.parametrize("n", [3, 20, 100, 5000])
@pytest.mark.parametrize("slots", [1, 2, 5, 20, 31, 50])
def test_a_writer_that_gains_on_its_reader_overwrites_however_late(slots: int, n: int) -> None:
    ring = Ring("r", "AIV", "UB", name("slots"), expr(32))
    w = one_core(
        "AIV",
        steady_loop(
            name("n"), instr("WRITE", "V", cycles(10), writes=["r"]), instr("READ", "MTE3", cycles(9), reads=["r"])
        ),
        rings=(ring,),
    )
    x = run(w, platform(), RULE_SETS[0], [{"n": n, "slots": slots}])
    first_overwritten = slots if slots < n else -1
    assert x.lanes.schedules.over[x.lanes.schedule[0], 0, 0] == first_overwritten


# States that look alike


@pytest.mark.parametrize("depth", [1, 2, 32])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 50, 999])
def test_tokens_from_before_the_loop_may_have_another_latency(n: int, depth: int) -> None:
    # Three tokens are ahead: those of the prologue are there at once, those of the loop after a transfer's latency.
    w = one_core(
        "AIC",
        Loop(expr(3), (instr("SET", "MTE2", cycles(10), event="loaded"),)),
        steady_loop(
            name("n"),
            instr("LOAD", "MTE2", dma("gm_to_l1", 512, 512), event="loaded"),
            instr("MUL", "M", cycles(1), waits=["loaded"]),
        ),
        instr("END", "M", cycles(1), waits=["loaded"]),
    )
    chip = platform({"dma.gm_to_l1.latency": 700, "scalar.queue_depth": depth})
    assert differences(w, chip, RULE_SETS[0], [{"n": n}]) == []


@pytest.mark.parametrize("rules", RULE_SETS, ids=lambda r: r.name)
@pytest.mark.parametrize("depth", [1, 32])
@pytest.mark.parametrize("n", [2, 20, 333])
@pytest.mark.parametrize("inner", [2, 3])
def test_a_core_may_wait_in_any_trip_of_an_inner_loop(inner: int, n: int, depth: int, rules: RuleSet) -> None:
    # One trip of AIV pops `inner` tiles, and AIC pushes one a trip.
    fifo = Fifo("f", "C2V", expr(64), expr(8), expr(0), expr(2), expr(1), 0, expr(64))
    w = Workload(
        name="inner",
        doc="",
        problem=(Parameter("n", 10, ""),),
        tunables=(),
        buffers=(),
        fifos=(fifo,),
        programs=(
            (
                "AIC",
                (steady_loop(inner * name("n"), talloc("f"), instr("STORE", "FIX", cycles(100)), tpush("f")),),
            ),
            (
                "AIV",
                (
                    steady_loop(
                        name("n"),
                        loop(inner, tpop("f"), instr("LOAD", "MTE2", cycles(90)), tfree("f")),
                        instr("ADD", "V", cycles(1000)),
                    ),
                ),
            ),
        ),
        launch=Launch(expr(1)),
    )
    assert differences(w, platform({"scalar.queue_depth": depth}), rules, [{"n": n}]) == []
