"""The oracle on the prices of the transfers of TileData calls, against numbers worked out by hand."""

import pytest
from oracle_examples import fifo, platform, workload
from simulate import OracleResult, simulate

from pto_tune.model.expr import expr
from pto_tune.model.nodes import LEFT_RIGHT, NO_SPLIT, UP_DOWN, UP_DOWN_ODD, Node, TConfig
from pto_tune.model.vocabulary import cycles, dma, half_cols, half_rows, instr, tile, tpop, tpush
from pto_tune.rule_sets import rule_set_for

STORE = tile("Acc", 16, 16, 4, cycles(20))


def priced(*push: Node, pop: Node, **numbers: float) -> OracleResult:
    example = workload(push, (pop,), fifos=(fifo(),))
    return simulate(example, platform(**numbers), rule_set_for("a2a3"), {}, with_events=True)


def test_a_store_of_an_accumulator_costs_what_its_output_type_says() -> None:
    def fix(config: TConfig | None) -> int:
        push = tpush("pipe", tile("Acc", 16, 16, 4), config=config)
        return priced(push, pop=tpop("pipe"), fixpipe__gm_write_rate=1).busy["AIC.FIX"]

    assert fix(None) == fix(TConfig()) == 100 + 16 * 16 * 4
    assert fix(TConfig(quant="F322F16", atomic="AtomicAdd")) == 100 + 16 * 16 * 2
    assert fix(TConfig(quant="REQ8")) == 100 + 16 * 16


def test_a_store_of_an_accumulator_is_visible_after_the_latency_of_the_fixpipe() -> None:
    push = tpush("pipe", tile("Acc", 16, 16, 4), event="there")
    result = priced(push, instr("A", "M", waits=["there"]), pop=tpop("pipe"), fixpipe__latency=7)
    assert ("AIC.M", "A", 116 + 7, 116 + 7) in result.events


@pytest.mark.parametrize(
    ("split", "cycles_by_sub"),
    [
        (NO_SPLIT, (10 + 25, 10 + 25)),  # 5 x 80 elements of 4 bytes at 64 bytes a cycle
        (UP_DOWN_ODD, (10 + 15, 10 + 10)),  # 3 rows and 2
        (UP_DOWN, (10 + 10, 10 + 10)),
        (LEFT_RIGHT, (10 + 5 * 6, 10 + 5 * 6)),  # 5 bursts of 160 bytes, 6 cycles each
    ],
)
def test_each_sub_core_loads_its_own_part(split: int, cycles_by_sub: tuple[int, int]) -> None:
    rows, cols, of = expr(5), expr(80), expr(split)
    pop = tpop("pipe", tile("Vec", half_rows(rows, of), half_cols(cols, of), 4), split=of)
    result = priced(tpush("pipe", STORE), pop=pop, dma__gm_to_ub__burst=6)
    assert (result.busy["AIV0.MTE2"], result.busy["AIV1.MTE2"]) == cycles_by_sub


def test_given_costs_stand_in_place_of_the_price() -> None:
    own = tile("Vec", 8, 16, 4, dma("gm_to_ub", 640, 640), cycles(3))
    assert priced(tpush("pipe", STORE), pop=tpop("pipe", own)).busy["AIV0.MTE2"] == 20 + 3
