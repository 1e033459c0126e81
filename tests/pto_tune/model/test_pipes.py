"""What a pipe's direction says about its ends and rings, and what a fixpipe configuration makes of an element."""

import pytest

from pto_tune.model import fixpipe
from pto_tune.model.expr import expr
from pto_tune.model.nodes import DIRECTIONS, FLOWS_OF, Fifo


def pipe(direction: str) -> Fifo:
    one = expr(1)
    return Fifo("q", direction, expr(64), expr(2), expr(0), one, one, flag_id=0, tile_bytes=expr(64))


@pytest.mark.parametrize(
    ("direction", "flows", "tracks"),
    [
        ("C2V", ("C2V",), ["q"]),
        ("V2C", ("V2C",), ["q"]),
        ("V2C_CTRL", ("V2C",), ["q"]),
        ("C2V_GM", ("C2V",), ["q"]),
        ("V2C_GM", ("V2C",), ["q"]),
        ("BOTH", ("C2V", "V2C"), ["q.C2V", "q.V2C"]),
        ("BOTH_GM", ("C2V", "V2C"), ["q.C2V", "q.V2C"]),
    ],
)
def test_a_direction_has_a_ring_for_each_of_its_ways(direction: str, flows: tuple[str, ...], tracks: list[str]) -> None:
    assert pipe(direction).flows == flows
    assert [pipe(direction).track(flow) for flow in flows] == tracks


def test_every_direction_has_ways() -> None:
    assert tuple(FLOWS_OF) == DIRECTIONS
    assert all(FLOWS_OF.values())


@pytest.mark.parametrize("core", ["AIC", "AIV", "AIV0", "AIV1"])
def test_what_the_cube_pushes_the_vector_pops(core: str) -> None:
    cube = core == "AIC"
    assert pipe("BOTH").flow_of(core, True) == ("C2V" if cube else "V2C")
    assert pipe("BOTH").flow_of(core, False) == ("V2C" if cube else "C2V")


@pytest.mark.parametrize(
    ("quant", "output_bytes"),
    [("NoQuant", 4), ("F322F16", 2), ("VDEQF16", 2), ("F322BF16", 2), ("REQ8", 1), ("QF322HIF8_PRE", 1)],
)
def test_a_quantisation_decides_the_bytes_of_an_element(quant: str, output_bytes: int) -> None:
    assert fixpipe.output_bytes(quant) == output_bytes


def test_every_quantisation_has_an_output() -> None:
    assert {fixpipe.output_bytes(quant) for quant in fixpipe.OUTPUT_TYPES} == {1, 2, 4}
    assert set(fixpipe.A5_ONLY) < set(fixpipe.OUTPUT_TYPES)
    with pytest.raises(KeyError):
        fixpipe.output_bytes("F322F4")
