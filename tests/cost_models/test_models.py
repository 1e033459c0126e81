"""Properties of the latency models: monotone, broadcasting, exact, and clear about wrong arguments."""

import ast
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cost_models
from cost_models import Platform, cube, dma, fixpipe, flags, launch, load_platform, scalar, sharing, vector
from cost_models.keys import VECTOR_FAMILIES
from cost_models.rounding import to_cycles

B2 = load_platform("ascend910b2")
PR = load_platform("ascend950pr")

sizes = st.integers(1, 1 << 20)
shapes = st.integers(1, 4095)
#: every path, with a platform that has it
paths = st.sampled_from([(platform, path) for platform in (B2, PR) for path in dma.paths(platform)])
targets = st.sampled_from([(platform, target) for platform in (B2, PR) for target in fixpipe.targets(platform)])
elem_bytes = st.sampled_from([1, 2, 4])
factors = st.floats(1.0, 8.0)


Place = tuple[Platform, str]


@given(paths, sizes, st.integers(0, 1 << 16), st.integers(1, 4096), st.booleans())
def test_more_bytes_are_never_cheaper(place: Place, size: int, more: int, burst: int, aligned: bool) -> None:
    small, large = dma.transfer_cycles(*place, [size, size + more], burst, aligned)
    assert small <= large


@given(paths, sizes, st.integers(1, 4096), st.integers(0, 4096))
def test_longer_bursts_are_never_dearer(place: Place, size: int, burst: int, more: int) -> None:
    short, long = dma.transfer_cycles(*place, size, [burst, burst + more])
    assert long <= short


@given(paths, sizes, st.integers(1, 4096))
def test_misalignment_is_never_cheaper(place: Place, size: int, burst: int) -> None:
    aligned, misaligned = dma.transfer_cycles(*place, size, burst, [True, False])
    assert aligned <= misaligned


@given(paths, sizes, st.integers(1, 4096), factors)
def test_a_lower_rate_is_never_faster(place: Place, size: int, burst: int, factor: float) -> None:
    platform, path = place
    key = f"dma.{path}.rate"
    slow = platform.with_values({key: platform[key] / factor})
    assert dma.transfer_cycles(platform, path, size, burst) <= dma.transfer_cycles(slow, path, size, burst)


@given(paths, sizes, st.integers(1, 4096))
def test_a_transfer_is_never_faster_than_its_rate(place: Place, size: int, burst: int) -> None:
    platform, path = place
    assert dma.transfer_cycles(platform, path, size, burst) >= size / platform[f"dma.{path}.rate"]


def test_only_950_has_paths_between_ub_and_the_cube() -> None:
    assert dma.paths(PR) == list(dma.PATHS)
    assert dma.paths(B2) == [path for path in dma.PATHS if path != "ub_to_l1"]
    assert fixpipe.targets(PR) == list(fixpipe.TARGETS)
    assert fixpipe.targets(B2) == ["gm", "l1"]


@given(targets, shapes, shapes, st.integers(0, 64), st.sampled_from([1, 2, 4]))
def test_more_rows_never_drain_faster(place: Place, rows: int, cols: int, more: int, out: int) -> None:
    platform, target = place
    few, many = fixpipe.drain_cycles(platform, [rows, rows + more], cols, out, target)
    assert few <= many


@given(st.sampled_from(["l1", "ub"]), shapes, shapes, st.sampled_from([1, 2, 4]), factors)
def test_on_950_every_target_bounds_its_drains(target: str, rows: int, cols: int, out: int, factor: float) -> None:
    key = f"fixpipe.{target}_write_rate"
    slow = PR.with_values({key: PR[key] / factor})
    drain = fixpipe.drain_cycles(PR, rows, cols, out, target)
    assert rows * cols * out / PR[key] <= drain <= fixpipe.drain_cycles(slow, rows, cols, out, target)


def test_a_drain_into_ub_has_its_own_latency() -> None:
    assert fixpipe.latency_cycles(PR, "ub") == PR["fixpipe.ub_latency"]
    assert fixpipe.latency_cycles(PR) == fixpipe.latency_cycles(PR, "l1") == PR["fixpipe.latency"]
    assert fixpipe.latency_cycles(B2) == B2["fixpipe.latency"]


@given(shapes, shapes, st.sampled_from([1, 2, 4]), st.sampled_from(["rate", "gm_write_rate"]), factors)
def test_a_lower_drain_rate_is_never_faster(rows: int, cols: int, out: int, name: str, factor: float) -> None:
    slow = B2.with_values({f"fixpipe.{name}": B2[f"fixpipe.{name}"] / factor})
    assert fixpipe.drain_cycles(B2, rows, cols, out) <= fixpipe.drain_cycles(slow, rows, cols, out)


@given(shapes, shapes)
def test_gm_never_drains_faster_than_l1_and_narrow_types_never_slower(rows: int, cols: int) -> None:
    half, single = fixpipe.drain_cycles(B2, rows, cols, [2, 4], "gm")
    assert fixpipe.drain_cycles(B2, rows, cols, 2, "l1") <= half <= single


@given(st.integers(0, 1 << 20), st.integers(0, 1 << 20), st.integers(512, 131072))
def test_unit_flag_overlap_is_part_of_both(matmul: int, drain: int, acc_bytes: int) -> None:
    overlap = fixpipe.unit_flag_overlap(B2, matmul, drain, acc_bytes)
    assert 0 <= overlap <= min(matmul, drain)


def test_unit_flag_overlap_lacks_one_granule() -> None:
    assert fixpipe.unit_flag_overlap(B2, 1000, 800, 131072) == 800 - 800 * 512 / 131072
    assert fixpipe.unit_flag_overlap(B2, 1000, 800, 512) == 0


@given(shapes, shapes, shapes, elem_bytes, st.integers(0, 64))
def test_a_larger_product_is_never_cheaper(m: int, k: int, n: int, size: int, more: int) -> None:
    base = cube.matmul_cycles(B2, m, k, n, size)
    for larger in ((m + more, k, n), (m, k + more, n), (m, k, n + more)):
        assert base <= cube.matmul_cycles(B2, *larger, size)


def test_float_products_take_two_passes_over_twice_as_many_fractals() -> None:
    half, single = cube.matmul_cycles(B2, 128, 64, 256, [2, 4]) - B2["cube.head"]
    assert (half, single) == pytest.approx((512, 4 * 512))


@given(st.sampled_from(sorted(VECTOR_FAMILIES)), shapes, st.integers(0, 64), st.integers(1, 64), elem_bytes)
def test_more_whole_repeats_are_never_cheaper(family: str, rows: int, more: int, repeats: int, size: int) -> None:
    cols = repeats * 256 // size
    few, many = vector.op_cycles(B2, family, [rows, rows + more], cols, size)
    assert few <= many


def test_a_partial_repeat_costs_a_whole_one_and_the_floor() -> None:
    whole, partial, unaligned = vector.op_cycles(B2, "exp", 1, [64, 56, 57], 4)
    assert whole == 31 + 2.0
    assert partial == whole + 16
    assert unaligned == whole + 16, "57 floats take up 256 bytes, but not all of them count"


def test_families_are_those_of_the_platform() -> None:
    assert vector.families(B2) == vector.families(PR) == list(VECTOR_FAMILIES)


def test_a_register_is_masked_and_not_counted_on_950() -> None:
    whole, partial = vector.op_cycles(PR, "exp", 1, [64, 57], 4)
    assert whole == partial


def test_float_products_take_eight_passes_on_950() -> None:
    half, single = cube.matmul_cycles(PR, 128, 64, 256, [2, 4]) - PR["cube.head"]
    assert (half, single) == pytest.approx((512, 8 * 2 * 512))


@given(st.lists(sizes, min_size=1, max_size=20), st.integers(1, 4096))
def test_a_row_costs_the_same_alone_and_among_others(values: list[int], burst: int) -> None:
    together = dma.transfer_cycles(B2, "gm_to_l1", values, burst)
    alone = [float(dma.transfer_cycles(B2, "gm_to_l1", value, burst)) for value in values]
    assert together.tolist() == alone, "to the last bit"


N = np.array([16, 32, 48])

CALLS: dict[str, Callable[[object], np.ndarray]] = {
    "transfer": lambda x: dma.transfer_cycles(B2, "gm_to_ub", x, x),
    "misaligned": lambda x: dma.transfer_cycles(B2, "gm_to_ub", 4096, 512, np.asarray(x) > 16),
    "drain": lambda x: fixpipe.drain_cycles(B2, x, x, 2),
    "drain to L1": lambda x: fixpipe.drain_cycles(B2, 16, 16, x, "l1"),
    "drain to UB": lambda x: fixpipe.drain_cycles(PR, 16, 16, x, "ub"),
    "overlap": lambda x: fixpipe.unit_flag_overlap(B2, x, x, 65536),
    "matmul": lambda x: cube.matmul_cycles(B2, x, x, x, 2),
    "vector": lambda x: vector.op_cycles(B2, "add", x, x, 4),
}


@pytest.mark.parametrize("name", CALLS)
def test_scalars_and_arrays_of_any_shape_are_priced(name: str) -> None:
    call = CALLS[name]
    assert call(16).shape == ()
    assert call(N).shape == (3,)
    assert call(N.reshape(3, 1)).shape == (3, 1)
    assert call(N).dtype == np.float64
    assert call(N)[0] == call(16)


def test_arguments_broadcast() -> None:
    assert dma.transfer_cycles(B2, "gm_to_ub", N, N.reshape(3, 1)).shape == (3, 3)
    assert vector.op_cycles(B2, "add", N, N.reshape(3, 1), 4).shape == (3, 3)
    assert cube.matmul_cycles(B2, N, 16, N.reshape(3, 1), 2).shape == (3, 3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: dma.transfer_cycles(B2, "gm_to_l2", 1, 1),
            "unknown DMA path 'gm_to_l2'; choose one of gm_to_l1",
        ),
        (lambda: dma.latency_cycles(B2, "x"), "unknown DMA path 'x'"),
        (
            lambda: dma.transfer_cycles(B2, "gm_to_l1", -1, 1),
            "bytes_ contains -1; give finite numbers of at least 0",
        ),
        (
            lambda: dma.transfer_cycles(B2, "gm_to_l1", 1, [4, 0]),
            "burst_bytes contains 0; give finite numbers",
        ),
        (lambda: fixpipe.drain_cycles(B2, 0, 1, 4), "rows contains 0; give finite numbers of at least 1"),
        (
            lambda: dma.transfer_cycles(B2, "ub_to_l1", 1, 1),
            "platform 'ascend910b2' (family a2a3) has no DMA path 'ub_to_l1'; choose one of gm_to_l1",
        ),
        (lambda: dma.latency_cycles(B2, "ub_to_l1"), "platform 'ascend910b2' (family a2a3) has no DMA path"),
        (lambda: fixpipe.drain_cycles(B2, 1, 1, 4, "l2"), "unknown drain target 'l2'; choose one of gm, l1"),
        (lambda: fixpipe.drain_cycles(PR, 1, 1, 4, "l2"), "unknown drain target 'l2'; choose one of gm, l1, ub"),
        (
            lambda: fixpipe.drain_cycles(B2, 1, 1, 4, "ub"),
            "platform 'ascend910b2' (family a2a3) has no drain to target 'ub'; choose one of gm, l1",
        ),
        (lambda: fixpipe.latency_cycles(B2, "ub"), "platform 'ascend910b2' (family a2a3) has no drain to target"),
        (lambda: cube.matmul_cycles(B2, 1, float("nan"), 1, 2), "k contains nan; give finite numbers"),
        (lambda: cube.matmul_cycles(B2, 1, 1, 1, 8), "elem_bytes contains 8; give 1, 2 or 4 bytes"),
        (lambda: vector.op_cycles(B2, "sin", 1, 1, 4), "unknown vector family 'sin'; choose one of add, sub"),
        (
            lambda: vector.op_cycles(B2, "add", 1, -3, 4),
            "cols contains -3; give finite numbers of at least 1",
        ),
        (
            lambda: launch.overhead_us(B2, "wall"),
            "unknown timing 'wall'; choose one of task, event, sync, device",
        ),
        (
            lambda: sharing.capacity_bytes_per_cycle(B2, "ddr"),
            "unknown shared resource 'ddr'; choose one of l2, l2_read, hbm",
        ),
    ],
)
def test_wrong_arguments_are_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError) as caught:
        call()
    assert str(caught.value).startswith(message)


def test_nothing_moves_in_a_start_up(b2: Platform) -> None:
    assert dma.transfer_cycles(b2, "gm_to_l1", 0, 512) == b2["dma.gm_to_l1.startup"]


def test_scalars_of_a_platform(b2: Platform) -> None:
    assert flags.set_cycles(b2) == flags.wait_cycles(b2) == 1
    assert scalar.issue_cycles(b2) == b2["scalar.issue"]
    assert scalar.queue_depth(b2) == 32
    assert sharing.capacity_bytes_per_cycle(b2, "hbm") < sharing.capacity_bytes_per_cycle(b2, "l2")


@given(st.floats(0, 1e6))
def test_durations_are_rounded_up(cycles: float) -> None:
    whole = int(to_cycles(cycles))
    assert cycles - 1e-9 <= whole < cycles + 1


def test_noise_does_not_cost_a_cycle() -> None:
    assert to_cycles([0.0, 3.0, 3.0 + 1e-10, 3.0 + 1e-8, 2.5, 1e-12]).tolist() == [0, 3, 3, 4, 3, 0]
    assert to_cycles(7.2).dtype == np.int64
    assert to_cycles(2.0**53) == 2**53


@pytest.mark.parametrize("cycles", [-1.0, float("nan"), float("inf"), 2.0**54, [1.0, -0.5]])
def test_impossible_durations_are_refused(cycles: object) -> None:
    with pytest.raises(ValueError, match="give one of 0 to 2\\^53 cycles"):
        to_cycles(cycles)  # type: ignore[arg-type]


def test_models_use_operations_that_are_equal_on_every_machine() -> None:
    """exp, log and pow give other bits with other vector units; + - * / sqrt floor ceil min max do not."""
    allowed = {"asarray", "ceil", "floor", "sqrt", "maximum", "minimum", "where", "isfinite"}
    types = {"float64", "int64", "bool_", "ndarray", "generic", "typing"}
    for path in Path(str(cost_models.__file__)).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            assert not isinstance(node, ast.Pow), path
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "np":
                assert node.attr in allowed | types, f"{path}: np.{node.attr}"
