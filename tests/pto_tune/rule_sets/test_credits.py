"""The closed forms of credits against a count tile by tile, and against what simulations of a pipe count."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pipe_forms import TILES, ask, chip, one_pipe
from simulate import simulate

from pto_tune.evaluation import Problem, evaluate_columns
from pto_tune.executor.layout import I_LEFT
from pto_tune.model.nodes import NO_SPLIT, Workload
from pto_tune.rule_sets import RuleSet, credits, rule_sets
from pto_tune.rule_sets.credits import FORMS, GATED_TMPIPE, TMPIPE, TPIPE

RULE_SETS = [*rule_sets("a2a3"), *rule_sets("a5")]
BY_NAME = {r.name: r for r in RULE_SETS}
SLOTS = range(1, 17)
MOST_TILES = 1024

every_rule_set = pytest.mark.parametrize("rules", RULE_SETS, ids=lambda r: r.name)
every_form = pytest.mark.parametrize(
    ("form", "local_no_split"),
    [(TPIPE, False), (TPIPE, True), (TMPIPE, False), (GATED_TMPIPE, False)],
    ids=["TPipe", "TPipe-local-no-split", "TMPipe", "gated-TMPipe"],
)


# A count tile by tile


@dataclass
class Rules:
    """What a pipe does at a tile, decided one by one."""

    rules: RuleSet
    form: str
    slots: int
    asked: int
    local_no_split: bool

    @property
    def period(self) -> int:
        if self.form == TMPIPE:
            return 1
        if self.asked > 0:
            return self.asked
        if self.rules.period == "one":
            return 1
        if self.rules.period == "slot_num" or self.slots <= 2:
            return self.slots
        return self.slots // 2

    def waits(self, tile: int) -> bool:
        if self.form == TMPIPE:
            return True
        first = 0 if self.form == TPIPE and self.rules.wait_from == "zero" else self.slots
        return tile >= first and tile % self.period == 0

    def notifies(self, tile: int) -> bool:
        return (tile + 1) % self.period == 0

    @property
    def as_a_block(self) -> bool:
        """Whether construction and destruction have a number of their own, whatever was used."""
        return self.form == TPIPE and not (self.local_no_split and self.rules.local_no_split)

    def at_construction(self) -> int:
        if self.form != TPIPE:
            return 1
        return self.period if self.as_a_block and self.rules.ctor_credits == "period" else 0

    def at_destruction(self, tiles: int) -> int:
        """Waits of the destructor, and of the kernel behind it where that gates a TMPipe."""
        return self.at_destructions(tiles)[tiles]

    def at_destructions(self, most: int) -> list[int]:
        """The same by the number of tiles, 0 to `most`."""
        if self.as_a_block and self.rules.drain == "period":
            return [self.period] * (most + 1)
        if self.form == TMPIPE:
            return [1] * (most + 1)
        pending, out = 0, []
        for tile in range(most + 1):
            out.append(max(pending, 0) + (self.form == GATED_TMPIPE))
            pending += self.notifies(tile)
            pending -= self.waits(tile)
        return out

    def sent_and_taken(self, most: int) -> Iterator[tuple[int, int]]:
        """(notified, waited) by the number of tiles, 0 to `most`."""
        sent = taken = 0
        for tile in range(most + 1):
            yield sent, taken
            taken += self.waits(tile)
            sent += self.notifies(tile)

    def in_flight(self, most: int) -> list[int]:
        """Most tiles stored and not popped by the number of tiles, where the consumer pops none before it has to."""
        flag, popped, record = self.at_construction(), 0, [0]
        for tile in range(most):
            if self.waits(tile):
                while flag == 0:
                    assert popped < tile, "it waits for a tile that is still to come"
                    flag += self.notifies(popped)
                    popped += 1
                flag -= 1
            record.append(max(record[-1], tile + 1 - popped))
        return record


@every_rule_set
@every_form
def test_credits_are_those_of_a_step_by_step_count(rules: RuleSet, form: str, local_no_split: bool) -> None:
    """SlotNum 1 to 16, 0 to 1024 tiles."""
    slots = np.arange(1, 17)[:, np.newaxis]
    tiles = np.arange(MOST_TILES + 1)
    notified = credits.notified(rules, slots, 0, tiles, form=form)
    waited = credits.waited(rules, slots, 0, tiles, form=form)
    assert notified.shape == waited.shape == (16, MOST_TILES + 1)
    for s in SLOTS:
        plain = Rules(rules, form, s, 0, local_no_split)
        counted = np.array(list(plain.sent_and_taken(MOST_TILES)))
        np.testing.assert_array_equal(notified[s - 1], counted[:, 0])
        np.testing.assert_array_equal(waited[s - 1], counted[:, 1])


@every_rule_set
@every_form
def test_the_destructor_takes_what_a_step_by_step_count_says(rules: RuleSet, form: str, local_no_split: bool) -> None:
    slots = np.arange(1, 17)[:, np.newaxis]
    tiles = np.arange(MOST_TILES + 1)
    exempt = {"form": form, "local_no_split": local_no_split}
    drained = credits.drained(rules, slots, 0, tiles, **exempt)
    constructed = credits.constructed(rules, slots, **exempt)
    left = credits.left(rules, slots, 0, tiles, **exempt)
    for s in SLOTS:
        plain = Rules(rules, form, s, 0, local_no_split)
        assert constructed[s - 1, 0] == plain.at_construction()
        counted = np.array(list(plain.sent_and_taken(MOST_TILES)))
        taken_at_the_end = np.array(plain.at_destructions(MOST_TILES))
        np.testing.assert_array_equal(drained[s - 1], taken_at_the_end)
        stay = plain.at_construction() + counted[:, 0] - counted[:, 1] - taken_at_the_end
        np.testing.assert_array_equal(left[s - 1], stay)


@every_rule_set
@every_form
def test_tiles_in_flight_are_those_of_the_laziest_consumer(rules: RuleSet, form: str, local_no_split: bool) -> None:
    slots = np.arange(1, 17)[:, np.newaxis]
    most = credits.most_in_flight(rules, slots, 0, np.arange(201), form=form, local_no_split=local_no_split)
    for s in SLOTS:
        assert list(most[s - 1]) == Rules(rules, form, s, 0, local_no_split).in_flight(200)


@given(
    rules=st.sampled_from(RULE_SETS),
    form=st.sampled_from(FORMS),
    slots=st.integers(1, 40),
    period=st.integers(1, 50),
    tiles=st.integers(0, 300),
)
@settings(max_examples=300, deadline=None, derandomize=True)
def test_a_period_of_one_s_own_is_counted_alike(rules: RuleSet, form: str, slots: int, period: int, tiles: int) -> None:
    plain = Rules(rules, form, slots, period, False)
    sent, taken = list(plain.sent_and_taken(tiles))[-1]
    assert credits.sync_period(rules, slots, period, form=form) == plain.period
    assert credits.notified(rules, slots, period, tiles, form=form) == sent
    assert credits.waited(rules, slots, period, tiles, form=form) == taken
    assert credits.constructed(rules, slots, period, form=form) == plain.at_construction()
    assert credits.drained(rules, slots, period, tiles, form=form) == plain.at_destruction(tiles)
    assert credits.most_in_flight(rules, slots, period, tiles, form=form) == plain.in_flight(tiles)[-1]


# What is known of the headers, SlotNum by SlotNum


@pytest.mark.parametrize(
    ("slots", "period", "in_flight", "with_credits", "at_40"),
    [
        (1, 1, 1, 2, (40, 39, 1)),
        (2, 2, 2, 6, (20, 19, 1)),
        (3, 1, 3, 4, (40, 37, 3)),
        (4, 2, 4, 8, (20, 18, 2)),
        (5, 2, 6, 10, (20, 17, 3)),
        (6, 3, 6, 15, (13, 12, 1)),
        (7, 3, 9, 18, (13, 11, 2)),
        (8, 4, 8, 24, (10, 8, 2)),
        (9, 4, 12, 28, (10, 7, 3)),
        (16, 8, 16, 80, (5, 3, 2)),
    ],
)
@pytest.mark.parametrize("family", ["a2a3", "a5"])
def test_the_published_headers(
    family: str, slots: int, period: int, in_flight: int, with_credits: int, at_40: tuple[int, int, int]
) -> None:
    rules, eager = BY_NAME[family], BY_NAME[f"{family}-ctor-credits"]
    assert credits.sync_period(rules, slots) == period
    assert credits.most_in_flight(rules, slots, 0, 1024) == in_flight
    assert credits.most_in_flight(eager, slots, 0, 1024) == with_credits
    counts = (credits.notified, credits.waited, credits.drained)
    assert tuple(int(count(rules, slots, 0, 40)) for count in counts) == at_40


@every_rule_set
def test_a_computed_drain_and_a_rendezvous_leave_nothing(rules: RuleSet) -> None:
    slots, tiles = np.arange(1, 65)[:, np.newaxis], np.arange(MOST_TILES + 1)
    left = credits.left(rules, slots, 0, tiles)
    if rules.drain == "computed" or rules.wait_from == "zero":
        assert not left.any()
    else:
        assert left.any()


@pytest.mark.parametrize("family", ["a2a3", "a5"])
def test_a_rendezvous_has_one_credit_from_the_constructor_and_one_wait_in_the_destructor(family: str) -> None:
    """Whatever SlotNum is and whatever was pushed: one tile in flight, and a wait for every tile, the first one too."""
    rules, slots = BY_NAME[f"{family}-rendezvous"], np.array([1, 2, 8])
    assert list(credits.constructed(rules, slots)) == [1, 1, 1]
    assert list(credits.waited(rules, slots, 0, 40)) == [40, 40, 40]
    assert list(credits.drained(rules, slots, 0, 40)) == list(credits.drained(rules, slots, 0, 0)) == [1, 1, 1]
    assert list(credits.most_in_flight(rules, slots, 0, 40)) == [1, 1, 1]


def test_the_fixed_drain_hangs_or_leaves_credits() -> None:
    """SlotNum 8: with 40 tiles the drain of four finds two; with credits at construction, two and one too many."""
    assert credits.left(BY_NAME["a2a3-fixed-drain"], 8, 0, 40) == 2 - 4
    assert list(credits.left(BY_NAME["a5-ctor-credits"], 8, 0, [40, 41])) == [2, 1]


@every_rule_set
def test_a_tmpipe_with_default_switches_is_one_slot_deep(rules: RuleSet) -> None:
    assert set(credits.most_in_flight(rules, np.arange(1, 256), 0, 1000, form=TMPIPE).tolist()) == {1}


# Values


def test_columns_broadcast() -> None:
    rules = BY_NAME["a2a3"]
    grid = credits.drained(rules, np.arange(1, 5)[:, np.newaxis, np.newaxis], np.arange(3)[:, np.newaxis], [7, 8])
    assert grid.shape == (4, 3, 2)
    assert grid.dtype == np.int64
    for s, p, i in np.ndindex(4, 3, 2):
        assert grid[s, p, i] == credits.drained(rules, s + 1, p, [7, 8][i])
    assert credits.notified(rules, [], 0, 5).shape == (0,)


@pytest.mark.parametrize(
    ("slots", "period", "tiles", "sentence"),
    [
        (0, 0, 5, "SlotNum 0 is below 1: give at least 1"),
        ([4, -2], 0, 5, "SlotNum -2 is below 1"),
        (4, -1, 5, "SyncPeriod -1 is below 0"),
        (4, 0, -3, "number of tiles -3 is below 0"),
        (4, 0, 1.5, "number of tiles has type float64: expected integers"),
    ],
)
def test_a_value_out_of_range_is_named(slots: object, period: object, tiles: object, sentence: str) -> None:
    for count in (credits.notified, credits.waited, credits.drained, credits.left, credits.most_in_flight):
        with pytest.raises(ValueError, match=sentence):
            count(BY_NAME["a2a3"], slots, period, tiles)  # type: ignore[arg-type]


def test_an_unknown_form_is_named() -> None:
    with pytest.raises(ValueError, match="unknown form of a pipe 'Pipe': choose one of TPipe, TMPipe, gated TMPipe"):
        credits.constructed(BY_NAME["a2a3"], 4, form="Pipe")


# Against the oracle and the executor


def kernel_of(form: str, slots: int, tiles: int, **changes: int) -> Workload:
    """A pipe of small tiles, its consumer calling TFREE where the family's TPOP does not free."""
    kind = {"kind": "TPipe"} if form == TPIPE else {"kind": "TMPipe", "gated": int(form == GATED_TMPIPE)}
    return one_pipe("C2V", TILES, tiles=tiles, slot_num=slots, rows=4, cols=8, **{**kind, **changes})


def options(rules: RuleSet, local_no_split: bool) -> tuple[dict[str, object], list[str]]:
    """Changes of the kernel, and the sub-cores that have flags."""
    if not local_no_split:
        return {}, ["AIV0", "AIV1"]
    alone = rules.reach == "split"
    return {"split": NO_SPLIT, "second_sub_core": not alone}, ["AIV0"] if alone else ["AIV0", "AIV1"]


CASES = [(1, 3), (2, 0), (2, 2), (2, 5), (3, 7), (4, 4), (5, 11), (8, 1), (8, 40), (9, 31)]


@every_rule_set
@every_form
def test_the_oracle_counts_the_same_credits(rules: RuleSet, form: str, local_no_split: bool) -> None:
    changes, subs = options(rules, local_no_split)
    exempt = {"form": form, "local_no_split": local_no_split}
    for slots, tiles in CASES:
        result = simulate(kernel_of(form, slots, tiles, **changes), chip(rules.family), rules, {})
        found, left = result.credits["pipe"], int(credits.left(rules, slots, 0, tiles, **exempt))
        for sub in subs:
            assert found.constructed[sub] == credits.constructed(rules, slots, **exempt)
            assert found.notified[sub] == credits.notified(rules, slots, 0, tiles, form=form)
            assert found.waited[sub] == credits.waited(rules, slots, 0, tiles, form=form)
            assert found.drained[sub] == credits.drained(rules, slots, 0, tiles, **exempt) + min(left, 0)
            stay = found.constructed[sub] + found.notified[sub] - found.waited[sub] - found.drained[sub]
            assert stay == max(left, 0)
        assert result.status == ("hang" if left < 0 else "ok")
        if len(subs) == 2:
            assert result.credits_left == 2 * max(left, 0)


@every_rule_set
@every_form
def test_the_executor_passes_the_same_tokens(rules: RuleSet, form: str, local_no_split: bool) -> None:
    changes, subs = options(rules, local_no_split)
    exempt = {"form": form, "local_no_split": local_no_split}
    for slots, tiles in CASES:
        problem = Problem(kernel_of(form, slots, tiles, **changes), chip(rules.family), rules)
        found = evaluate_columns(problem, {}, jump=False)
        assert found.execution is not None, found.reason(0)
        schedules = found.execution.lanes.schedules
        left = int(credits.left(rules, slots, 0, tiles, **exempt))
        assert bool(found.execution.hang[0]) == (left < 0)
        if left >= 0:
            waited = credits.waited(rules, slots, 0, tiles, form=form)
            drained = credits.drained(rules, slots, 0, tiles, **exempt)
            for sub in subs:
                free = next(i for i, c in enumerate(problem.code.channels) if c.name == f"pipe free {sub}")
                assert schedules.taken[0, free, 0] == waited + drained
            # a sub-core that is left out sends its constructor's credits all the same
            alone = 0 if len(subs) == 2 else int(credits.constructed(rules, slots, **exempt))
            assert schedules.info[0, I_LEFT] == left * len(subs) + alone


@every_rule_set
@every_form
def test_the_executor_finds_as_many_tiles_in_flight(rules: RuleSet, form: str, local_no_split: bool) -> None:
    changes, _ = options(rules, local_no_split)
    for slots, tiles in CASES:
        answer = ask(kernel_of(form, slots, tiles, **changes), rules.family, rules.name)
        most = int(credits.most_in_flight(rules, slots, 0, tiles, form=form, local_no_split=local_no_split))
        overwritten = answer.rules.get("slot-reuse", "")
        assert bool(overwritten) == (most > slots)
        if overwritten:
            assert f"({most} tiles in flight, {slots} slots)" in overwritten
