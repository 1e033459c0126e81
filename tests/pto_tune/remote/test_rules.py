"""What is refused of TPUT, TGET and the signals, and with which sentence."""

from dataclasses import replace

import pytest

from pto_tune.remote.rules import (
    ATOMIC_ADD,
    ELEMENT_BYTES,
    Placed,
    Side,
    Transfer,
    divisibility,
    signal_faults,
    transfer_faults,
    unequal_valid_shape,
)
from pto_tune.remote.staging import OPS, TGET, TPUT, StagingTile

both_ops = pytest.mark.parametrize("op", OPS)
TILE = StagingTile.full(64, 64, dynamic=True)
KB16 = 64 * 64 * 4


def transfer(op: str, ping_pong: bool = False, **changes: object) -> Transfer:
    """A call that keeps every rule, with changes."""
    src, dst = (Side("float", "ND", remote=side) for side in (op == TGET, op == TPUT))
    tiles = [Placed(TILE, "float", k * KB16) for k in range(1 + ping_pong)]
    return replace(Transfer(op, (1, 1, 1, 256, 256), src, dst, tuple(tiles)), **changes)


def rules_of(call: Transfer) -> dict[str, str]:
    return {fault.rule: fault.sentence for fault in transfer_faults(call)}


@both_ops
@pytest.mark.parametrize("ping_pong", [False, True])
def test_a_call_that_keeps_every_rule(op: str, ping_pong: bool) -> None:
    assert rules_of(transfer(op, ping_pong)) == {}


# Types, layouts, sides


@both_ops
@pytest.mark.parametrize("where", ["src", "dst", "tile"])
def test_one_element_type_for_both_sides_and_the_tile(op: str, where: str) -> None:
    call = transfer(op)
    if where == "tile":
        call = replace(call, tiles=(replace(call.tiles[0], elem="int32"),))
    else:
        call = replace(call, **{where: replace(getattr(call, where), elem="int32")})
    found = rules_of(call)
    assert list(found) == ["remote-element-type"]
    assert "int32" in found["remote-element-type"]
    assert "float" in found["remote-element-type"]


@both_ops
def test_the_type_of_pong_counts_too(op: str) -> None:
    call = transfer(op, ping_pong=True)
    found = rules_of(replace(call, tiles=(call.tiles[0], replace(call.tiles[1], elem="int32"))))
    assert "ping of float and pong of int32" in found["remote-element-type"]
    assert "ping-pong-shape" in found


@both_ops
def test_one_layout_for_both_sides(op: str) -> None:
    found = rules_of(transfer(op, dst=Side("float", "DN", remote=op == TPUT)))
    assert found == {
        "remote-layout": f"{op} from layout ND to layout DN: both sides must have the same one, such as ND"
    }


@pytest.mark.parametrize(
    ("op", "src", "dst", "sentence"),
    [
        (TPUT, True, False, "its source must be local and its destination remote"),
        (TPUT, False, False, "its source must be local and its destination remote"),
        (TPUT, True, True, "its source must be local and its destination remote"),
        (TGET, False, True, "its source must be remote and its destination local"),
        (TGET, False, False, "its source must be remote and its destination local"),
        (TGET, True, True, "its source must be remote and its destination local"),
    ],
)
def test_the_remote_side(op: str, src: bool, dst: bool, sentence: str) -> None:
    found = rules_of(transfer(op, src=Side("float", "ND", src), dst=Side("float", "ND", dst)))
    assert list(found) == ["remote-side"]
    assert found["remote-side"].endswith(sentence)


@both_ops
def test_the_staging_tile_lies_in_ub(op: str) -> None:
    found = rules_of(transfer(op, tiles=(Placed(replace(TILE, location="Mat"), "float", 0),)))
    assert list(found) == ["staging-memory"]


# Ping and pong


@both_ops
def test_ping_and_pong_may_touch_and_not_overlap_by_a_byte(op: str) -> None:
    def pong_at(offset: int) -> dict[str, str]:
        return rules_of(transfer(op, tiles=(Placed(TILE, "float", 0), Placed(TILE, "float", offset))))

    assert pong_at(KB16) == {}
    found = pong_at(KB16 - 1)
    assert list(found) == ["ping-pong-overlap"]
    assert "[0, 16384) of UB and pong [16383, 32767), 1 of them shared" in found["ping-pong-overlap"]


@both_ops
def test_pong_may_lie_below_ping(op: str) -> None:
    assert rules_of(transfer(op, tiles=(Placed(TILE, "float", KB16), Placed(TILE, "float", 0)))) == {}
    found = rules_of(transfer(op, tiles=(Placed(TILE, "float", KB16), Placed(TILE, "float", 1))))
    assert "[16384, 32768) of UB and pong [1, 16385), 1 of them shared" in found["ping-pong-overlap"]


@both_ops
@pytest.mark.parametrize(
    "change",
    [
        {"rows": 65},
        {"cols": 72},
        {"dynamic_rows": False},
        {"dynamic_cols": False, "valid_cols": 32},
        {"block_layout": "ColMajor"},
    ],
    ids=str,
)
def test_ping_and_pong_have_one_type_and_shape(op: str, change: dict[str, object]) -> None:
    tiles = (Placed(TILE, "float", 0), Placed(replace(TILE, **change), "float", 2 * KB16))
    found = rules_of(transfer(op, tiles=tiles))
    assert list(found) == ["ping-pong-shape"]
    assert "ping is 64 x 64 float" in found["ping-pong-shape"]


@both_ops
def test_different_shapes_that_overlap_name_both_ranges(op: str) -> None:
    tiles = (Placed(TILE, "float", 0), Placed(StagingTile.full(32, 64, dynamic=True), "float", 8192))
    found = rules_of(transfer(op, tiles=tiles))
    assert set(found) == {"ping-pong-shape", "ping-pong-overlap"}
    assert "[0, 16384) of UB and pong [8192, 16384)" in found["ping-pong-overlap"]


@both_ops
def test_dynamic_valid_extents_that_differ_are_no_fault(op: str) -> None:
    tiles = (Placed(TILE, "float", 0), Placed(replace(TILE, valid_rows=4), "float", KB16))
    assert rules_of(transfer(op, tiles=tiles)) == {}


# Atomics


@pytest.mark.parametrize("elem", sorted(ELEMENT_BYTES))
def test_atomic_add_has_six_types(elem: str) -> None:
    call = transfer(
        TPUT, src=Side(elem, "ND", False), dst=Side(elem, "ND", True), tiles=(Placed(TILE, elem, 0),), atomic=ATOMIC_ADD
    )
    allowed = elem in {"half", "float", "int16", "int32", "int8", "bfloat16"}
    assert list(rules_of(call)) == ([] if allowed else ["remote-atomic"])


@pytest.mark.parametrize("ping_pong", [False, True])
def test_tget_has_no_atomic(ping_pong: bool) -> None:
    assert list(rules_of(transfer(TGET, ping_pong, atomic=ATOMIC_ADD))) == ["remote-atomic"]
    assert list(rules_of(transfer(TGET, ping_pong, atomic_at_run_time=True))) == ["run-time-atomic"]


def test_ping_pong_takes_the_atomic_type_as_a_template_argument_alone() -> None:
    assert rules_of(transfer(TPUT, ping_pong=True, atomic=ATOMIC_ADD)) == {}
    assert rules_of(transfer(TPUT, atomic=ATOMIC_ADD, atomic_at_run_time=True)) == {}
    found = rules_of(transfer(TPUT, ping_pong=True, atomic=ATOMIC_ADD, atomic_at_run_time=True))
    assert list(found) == ["run-time-atomic"]


def test_there_are_two_atomic_types() -> None:
    assert (
        "AtomicMax: expected one of AtomicNone, AtomicAdd"
        in rules_of(transfer(TPUT, atomic="AtomicMax"))["remote-atomic"]
    )


# Static valid shapes


@both_ops
def test_both_remainders_are_named_with_what_would_divide(op: str) -> None:
    assert divisibility(op, (1, 1, 1, 100, 100), StagingTile.full(16, 64)) == (
        f"{op} of 100 x 100 through a tile of 16 x 64 leaves remainders of 4 rows and 36 columns, and its valid rows "
        "and columns are static: make them dynamic, or take 10 valid rows and 50 valid columns"
    )


@pytest.mark.parametrize(
    ("dynamic_rows", "dynamic_cols", "end"),
    [(False, True, "valid rows are static: make them dynamic, or take 10 valid rows"),
     (True, False, "valid columns are static: make them dynamic, or take 50 valid columns"),
     (True, True, None)],
)  # fmt: skip
def test_only_static_axes_have_to_divide(dynamic_rows: bool, dynamic_cols: bool, end: str | None) -> None:
    tile = StagingTile(16, 64, 16, 64, dynamic_rows, dynamic_cols)
    sentence = divisibility(TPUT, (1, 1, 1, 100, 100), tile)
    assert (sentence is None) if end is None else (sentence is not None and sentence.endswith(end))


def test_the_rule_is_one_of_the_call() -> None:
    static = Placed(StagingTile.full(16, 64), "float", 0)
    assert list(rules_of(transfer(TPUT, shape=(1, 1, 1, 100, 100), tiles=(static,)))) == ["static-valid-shape"]


@pytest.mark.parametrize("shape", [(1, 1, 1, 10, 10), (0, 1, 1, 100, 100), (2, 2, 2, 32, 128)])
def test_what_fits_is_empty_or_divides_is_no_fault(shape: tuple[int, ...]) -> None:
    assert divisibility(TPUT, shape, StagingTile.full(16, 64)) is None


def test_a_prime_extent_is_only_divided_by_one() -> None:
    sentence = divisibility(TGET, (1, 1, 1, 1, 2**31 - 1), StagingTile.full(1, 4096))
    assert sentence is not None
    assert sentence.endswith("take 1 valid columns")


def test_all_faults_at_once() -> None:
    static = StagingTile.full(16, 64)
    call = Transfer(
        TGET, (1, 1, 1, 100, 100), Side("float", "ND", False), Side("half", "DN", True),
        (Placed(static, "float", 0), Placed(static, "float", 4095)), ATOMIC_ADD, True,
    )  # fmt: skip
    assert list(rules_of(call)) == [
        "remote-element-type", "remote-layout", "remote-side", "ping-pong-overlap", "remote-atomic", "run-time-atomic",
        "static-valid-shape",
    ]  # fmt: skip


# A valid shape larger than what is moved at once


@both_ops
def test_a_valid_shape_that_is_not_the_tensors_is_named_for_calls_that_are_not_cut(op: str) -> None:
    tile = StagingTile.full(16, 16)
    assert unequal_valid_shape(op, (1, 1, 1, 16, 16), tile) is None
    assert unequal_valid_shape(op, (1, 1, 1, 32, 8), tile) is None  # cut
    few_columns = unequal_valid_shape(op, (1, 1, 2, 4, 8), tile)
    assert few_columns is not None
    assert "each row is moved as 16 columns" in few_columns
    assert few_columns.endswith("set the valid shape to 8 x 8")
    few_rows = unequal_valid_shape(op, (1, 1, 1, 4, 16), tile)
    assert few_rows is not None
    assert "debug builds stop at it" in few_rows


# Arguments that are none


def test_arguments_that_are_none_are_value_errors() -> None:
    with pytest.raises(ValueError, match="unknown element type 'fp32': choose one of int8"):
        Placed(TILE, "fp32", 0)
    with pytest.raises(ValueError, match="UB offset -1"):
        Placed(TILE, "float", -1)
    with pytest.raises(ValueError, match="3 staging tiles"):
        transfer(TPUT, tiles=(Placed(TILE, "float", 0),) * 3)
    with pytest.raises(ValueError, match="unknown signal instruction 'TPUT'"):
        signal_faults(TPUT, "int32", True, 0, (1,))


# Signals


@pytest.mark.parametrize(("op", "remote"), [("TNOTIFY", True), ("TWAIT", False), ("TTEST", False)])
def test_signals(op: str, remote: bool) -> None:
    def rules(elem: str = "int32", side: bool = remote, address: int = 64, dims: tuple[int, ...] = (4, 8)) -> list[str]:
        return [fault.rule for fault in signal_faults(op, elem, side, address, dims)]

    assert rules() == []
    assert rules(dims=(1, 1, 1, 4, 8), address=68) == []
    assert rules(elem="int64") == ["signal-type"]
    assert rules(side=not remote) == ["signal-side"]
    assert rules(address=66) == ["signal-align"]
    assert rules(dims=(1,) * 6) == ["signal-dims"]
    assert rules("int64", not remote, 1, ()) == ["signal-type", "signal-side", "signal-align", "signal-dims"]


def test_sentences_of_signals() -> None:
    said = [f.sentence for f in signal_faults("TWAIT", "int64", True, 7, (1,) * 6)]
    assert said == [
        "TWAIT on a signal of int64: expected int32",
        "TWAIT on a remote signal: it reads a local one",
        "TWAIT on a signal at byte 7, 3 beyond a multiple of 4: expected 4-byte alignment, nearest below 4",
        "TWAIT on a signal tensor of 6 dimensions: expected 1 to 5",
    ]
    assert (
        signal_faults("TNOTIFY", "int32", False, 0, (1,))[0].sentence
        == "TNOTIFY on a local signal: it writes a remote one"
    )
