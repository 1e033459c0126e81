"""What is refused of workloads with ranks: the ranks themselves, their calls, signals and staging tiles."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from cost_models import load_platform
from pto_tune import legality
from pto_tune.legality.rules import RuleColumn
from pto_tune.model.communication import (
    Barrier,
    Let,
    Post,
    Signal,
    Staging,
    Tget,
    Tnotify,
    Tput,
    Transfer,
    Ttest,
    Twait,
)
from pto_tune.model.expr import Expr, expr, name, where
from pto_tune.model.nodes import Buffer, Fifo, Launch, Loop, Node, Parameter, While, Workload
from pto_tune.model.vocabulary import instr, matmul, tile, tpop, tpush, when
from pto_tune.remote import rules as remote
from pto_tune.remote.staging import StagingTile
from pto_tune.rule_sets import rule_set_for

Kernel = Callable[..., Workload]
Broken = Callable[..., dict[str, str]]
RowsBroken = Callable[..., list[bool]]
AllColumns = Callable[..., dict[str, RuleColumn]]
MakeFifo = Callable[..., Fifo]

KIB = 1024
BYTES = 64 * 64 * 4
NEXT = (name("rank") + 1) % 2
both_ops = pytest.mark.parametrize("call", [Tput, Tget])
both_families = pytest.mark.parametrize("family", ["a2a3", "a5"])


def expressions(values: dict[str, Any]) -> dict[str, Any]:
    """Integers stand for expressions; truth values and texts for themselves."""
    return {k: expr(v) if isinstance(v, int) and not isinstance(v, bool) else v for k, v in values.items()}


def staged(label: str = "ping", rows: int | Expr = 64, cols: int | Expr = 64, **more: Any) -> Staging:
    """A staging tile that calls may shrink."""
    plain: dict[str, Any] = {"dynamic_rows": 1, "dynamic_cols": 1}
    return Staging(label, expr(rows), expr(cols), **expressions(plain | more))


def moved(call: type[Transfer] = Tput, rows: int | Expr = 100, cols: int | Expr = 100, **more: Any) -> Transfer:
    """A transfer of rows x cols floats to the next rank, through ping."""
    plain: dict[str, Any] = {"shape": tuple(map(expr, (1, 1, 1, rows, cols))), "peer": NEXT, "tile": "ping"}
    return call(**expressions(plain | more))


def kernel_of(*nodes: Node, staging: tuple[Staging, ...] = (staged(),), **more: Any) -> Workload:
    """AIV programs of two ranks."""
    values = more.pop("values", {})
    return Workload(
        **{
            "name": "kernel",
            "doc": "",
            "problem": tuple(Parameter(n, v, "", -(2**31)) for n, v in values.items()),
            "tunables": (),
            "buffers": (),
            "fifos": (),
            "programs": (("AIV", nodes),),
            "launch": Launch(expr(2)),
            "ranks": expr(2),
            "signals": (Signal("s", (expr(8),)),),
            "staging": staging,
            **more,
        }
    )


# Ranks, blocks, links


@both_families
def test_a_kernel_of_two_ranks_that_keeps_every_rule(family: str, broken: Broken) -> None:
    nodes = (
        moved(Tput),
        moved(Tget, pong="pong"),
        Tnotify("s", NEXT, expr(1)),
        Twait("s", expr(1)),
        Ttest("s", expr(1), "there"),
        Post("s", expr(1)),
        Barrier(),
        Let("x", expr(1)),
    )
    assert broken(kernel_of(*nodes, staging=(staged(), staged("pong"))), family) == {}


def test_a_workload_without_ranks_has_none_of_these_rules(kernel: Kernel, all_columns: AllColumns) -> None:
    assert set(all_columns(kernel((), ()))) == set()
    assert {"ranks", "blocks-resident", "rank-links"} == set(all_columns(kernel_of(staging=())))


def test_ranks_are_1_to_64(broken: Broken, rows_broken: RowsBroken) -> None:
    work = kernel_of(ranks=name("r"), ranks_per_node=name("r"), values={"r": 2})
    assert rows_broken(work, "ranks", r=[-1, 0, 1, 2, 64, 65]) == [True, True, False, False, False, True]
    assert broken(work, r=[65])["ranks"] == "65 ranks are outside 1..64; nearest legal: 64"
    assert broken(work, r=[0])["ranks"] == "0 ranks are outside 1..64; nearest legal: 1"


def test_blocks_that_wait_for_each_other_all_run_at_the_same_time(broken: Broken, rows_broken: RowsBroken) -> None:
    work = kernel_of(launch=Launch(name("b")), values={"b": 1})
    assert rows_broken(work, "blocks-resident", b=[0, 1, 24, 25]) == [True, False, False, True]
    assert rows_broken(work, "blocks-resident", "a5", b=[24, 32, 33]) == [False, False, True]
    assert broken(work, b=[25]) == {
        "blocks-resident": "25 blocks on ascend910b2 with 24 cube cores: blocks that wait for each other must all run "
        "at the same time, so expected 1 to 24; nearest legal: 24"
    }


def test_a_link_joins_every_two_ranks(broken: Broken, rows_broken: RowsBroken) -> None:
    work = kernel_of(ranks=name("r"), ranks_per_node=name("p"), values={"r": 2, "p": 0})
    rows = {"r": [1, 8, 9, 16, 9], "p": [0, 0, 0, 16, 4]}
    assert rows_broken(work, "rank-links", "a5", **rows) == [False, False, True, False, True]
    assert rows_broken(work, "rank-links", "a2a3", **rows) == [False] * 5, "RoCE joins nodes"
    found = broken(work, "a5", r=[9])
    assert list(found) == ["rank-links"]
    assert found["rank-links"].startswith("platform 'ascend950pr' has no link between ranks 0 and 8 with 8 ranks a")
    assert "ranks_per_node is -1" in broken(work, r=[2], p=[-1])["rank-links"]


def test_asynchronous_calls_need_a_link_with_sdma(broken: Broken, rows_broken: RowsBroken) -> None:
    work = kernel_of(moved(asynchronous=True), ranks=name("r"), values={"r": 2})
    assert rows_broken(work, "rank-sdma", r=[2, 8, 9]) == [False, False, True]
    assert broken(work, r=[9]) == {
        "rank-sdma": "asynchronous transfers, and platform 'ascend910b2' has no SDMA on the link 'roce' between "
        "ranks 0 and 8: expected ranks that hccs joins"
    }


# Shapes


def test_extents_are_0_to_what_the_library_counts_with(broken: Broken, rows_broken: RowsBroken) -> None:
    work = kernel_of(moved(rows=name("d")), values={"d": 100})
    rows = [-1, 0, 1, 2**31 - 1, 2**31]
    assert rows_broken(work, "remote-shape", d=rows) == [True, False, False, False, True]
    assert broken(work, d=[-1]) == {
        "remote-shape": "TPUT: shape (1, 1, 1, -1, 100) of a GlobalTensor: expected 5 extents of 0 to 2147483647"
    }


def test_a_tensor_has_at_most_2_to_53_elements(broken: Broken) -> None:
    assert broken(kernel_of(moved(rows=2**30, cols=2**23))) == {}
    assert broken(kernel_of(moved(rows=2**30, cols=2**23 + 1))) == {
        "remote-shape": "TPUT of 1 x 1 x 1 x 1073741824 x 8388609: expected at most 9007199254740992 elements"
    }


def test_a_tensor_has_five_extents(broken: Broken) -> None:
    found = broken(kernel_of(replace(moved(), shape=(expr(100), expr(100)))))
    assert found == {"remote-shape": "TPUT of 2 extents: expected 5, d0 to d4"}


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"rows": 0}, "a staging tile of 0 rows: expected 1 to 2147483647"),
        ({"cols": -4}, "a staging tile of -4 columns: expected 1 to 2147483647"),
        ({"valid_rows": 65}, "a staging tile with 65 valid rows of 64: expected 1 to 64"),
        ({"valid_cols": 0}, "a staging tile with 0 valid columns of 64: expected 1 to 64"),
    ],
)
def test_what_is_valid_of_a_tile_lies_in_the_tile(change: dict[str, int], sentence: str, broken: Broken) -> None:
    assert broken(kernel_of(moved(), staging=(staged(**change),))) == {"remote-shape": f"TPUT through ping: {sentence}"}


# Types, layouts, sides, atomics


@both_ops
def test_one_element_type_for_both_sides_and_every_tile(call: type[Transfer], broken: Broken) -> None:
    op = call.__name__.upper()
    found = broken(kernel_of(moved(call, dst_elem="int32")))
    assert found == {
        "remote-element-type": f"{op} from float to int32 through staging tile of float: "
        "all must have the same element type, such as float"
    }
    assert list(broken(kernel_of(moved(call), staging=(staged(elem="int32"),)))) == ["remote-element-type"]
    assert broken(kernel_of(moved(call, elem="half"), staging=(staged(elem="half"),))) == {}


@both_ops
def test_one_layout_for_both_sides(call: type[Transfer], broken: Broken) -> None:
    assert list(broken(kernel_of(moved(call, dst_layout="DN")))) == ["remote-layout"]


@pytest.mark.parametrize(
    ("call", "change", "sentence"),
    [
        (Tput, {"dst_remote": False}, "its source must be local and its destination remote"),
        (Tput, {"src_remote": True}, "its source must be local and its destination remote"),
        (Tget, {"src_remote": False}, "its source must be remote and its destination local"),
        (Tget, {"dst_remote": True}, "its source must be remote and its destination local"),
    ],
)
def test_the_remote_side(call: type[Transfer], change: dict[str, bool], sentence: str, broken: Broken) -> None:
    for more in ({}, {"asynchronous": True}):
        found = broken(kernel_of(moved(call, **change, **more)))
        assert list(found) == ["remote-side"]
        assert found["remote-side"].endswith(sentence)


def test_the_staging_tile_lies_in_ub(broken: Broken) -> None:
    assert broken(kernel_of(moved(), staging=(staged(location="Mat"),))) == {
        "staging-memory": "TPUT through a staging tile of type Mat: it must be of type Vec, in UB"
    }


def test_tget_does_not_add(broken: Broken) -> None:
    assert broken(kernel_of(moved(Tget, atomic="AtomicAdd"))) == {
        "remote-atomic": "TGET with AtomicAdd: TGET has no atomic form, only TPUT adds to its destination"
    }
    assert broken(kernel_of(moved(Tput, atomic="AtomicAdd"))) == {}


def test_tput_adds_elements_of_six_types(broken: Broken) -> None:
    def adding(elem: str) -> list[str]:
        return list(broken(kernel_of(moved(elem=elem, atomic="AtomicAdd"), staging=(staged(elem=elem),))))

    assert adding("int8") == adding("bfloat16") == []
    assert adding("uint32") == ["remote-atomic"]


def test_only_single_tile_tput_takes_the_atomic_type_at_run_time(broken: Broken, rows_broken: RowsBroken) -> None:
    tiles = (staged(), staged("pong"))
    assert broken(kernel_of(moved(atomic_at_run_time=True))) == {}
    assert list(broken(kernel_of(moved(Tget, atomic_at_run_time=True)))) == ["run-time-atomic"]
    work = kernel_of(
        moved(pong="pong", use_pong=name("two"), atomic_at_run_time=True), staging=tiles, values={"two": 1}
    )
    assert broken(work) == {
        "run-time-atomic": "TPUT through ping and pong with an atomic type at run time: give it as a template argument"
    }
    assert rows_broken(work, "run-time-atomic", two=[0, 1, 2]) == [False, True, True]


def test_the_asynchronous_form_has_no_tile_and_does_not_add(broken: Broken) -> None:
    def found(**more: Any) -> dict[str, str]:
        return broken(kernel_of(moved(tile="", asynchronous=True, **more), staging=()))

    assert found() == {}
    assert found(dst_elem="int32") == {
        "remote-element-type": "asynchronous TPUT from float to int32: both must have the same element type, such as "
        "float"
    }
    assert found(atomic="AtomicAdd") == {
        "remote-atomic": "asynchronous TPUT with AtomicAdd: SDMA copies and does not add; "
        "nearest: a TPUT through a staging tile"
    }
    assert found(atomic_at_run_time=True) == {
        "run-time-atomic": "asynchronous TPUT with an atomic type at run time: only a single-tile TPUT takes one"
    }


# Ping and pong


def pair(values: dict[str, int] | None = None, call: type[Transfer] = Tput, **pong: Any) -> Workload:
    """A call through ping at 0 and pong, which has changes."""
    tiles = (staged(offset_bytes=0), staged("pong", **({"offset_bytes": BYTES} | pong)))
    node = moved(call, pong="pong", use_pong=name("two"))
    return kernel_of(node, staging=tiles, values={"two": 1} | (values or {}))


@both_ops
def test_ping_and_pong_may_touch_and_not_overlap_by_a_byte(call: type[Transfer], broken: Broken) -> None:
    assert broken(pair(call=call)) == {}
    assert broken(pair(call=call, offset_bytes=BYTES - 1)) == {
        "ping-pong-overlap": f"{call.__name__.upper()}: ping takes bytes [0, 16384) of UB and pong [16383, 32767), 1 "
        "of them shared: they must not overlap, for instance pong from 16384"
    }


def test_pong_counts_where_it_is_used(rows_broken: RowsBroken) -> None:
    work = pair({"at": 0}, offset_bytes=name("at"))
    rows = {"at": [0, BYTES - 1, BYTES, 0], "two": [1, 1, 1, 0]}
    assert rows_broken(work, "ping-pong-overlap", **rows) == [True, True, False, False]


@pytest.mark.parametrize("placed", [0, 40000])
def test_a_tile_that_finds_its_own_place_overlaps_no_other_one(placed: int, broken: Broken) -> None:
    own = {"offset_bytes": None}
    for ping, pong in (({"offset_bytes": placed}, own), (own, {"offset_bytes": placed}), (own, own)):
        tiles = (staged(**ping), staged("pong", rows=32, **pong))
        found = broken(kernel_of(moved(pong="pong"), staging=tiles))
        assert list(found) == ["ping-pong-shape"], "and other sentences can still be asked for"


def test_a_tile_is_not_its_own_pong(broken: Broken) -> None:
    found = broken(kernel_of(moved(pong="ping")))
    assert list(found) == ["ping-pong-overlap"]
    assert "ping takes bytes [0, 16384) of UB and pong [0, 16384)" in found["ping-pong-overlap"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rows": 32}, "pong is 32 x 64 float"),
        ({"cols": 32}, "pong is 64 x 32 float"),
        ({"dynamic_cols": 0}, "valid columns 64"),
        ({"block_layout": "ColMajor"}, "ColMajor"),
    ],
)
def test_ping_and_pong_have_the_same_shape(change: dict[str, Any], words: str, broken: Broken) -> None:
    found = broken(pair(**change))
    assert list(found) == ["ping-pong-shape"]
    assert words in found["ping-pong-shape"]


def test_pong_of_another_type_breaks_two_rules(broken: Broken) -> None:
    assert list(broken(pair(elem="int32"))) == ["remote-element-type", "ping-pong-shape"]


def test_what_is_valid_of_a_dynamic_pong_does_not_matter(broken: Broken) -> None:
    assert broken(pair(valid_rows=3)) == {}
    static = tuple(staged(n, 50, 50, dynamic_rows=0, dynamic_cols=0) for n in ("ping", "pong"))
    assert broken(kernel_of(moved(pong="pong"), staging=static)) == {}
    static = (static[0], replace(static[1], valid_rows=expr(25)))
    assert list(broken(kernel_of(moved(pong="pong"), staging=static))) == ["ping-pong-shape"]


# Staging tiles in UB


@pytest.mark.parametrize(("family", "ub"), [("a2a3", 192 * KIB), ("a5", 240 * KIB)])
def test_a_placed_tile_lies_within_ub(family: str, ub: int, broken: Broken, rows_broken: RowsBroken) -> None:
    work = kernel_of(staging=(staged(offset_bytes=name("at"), used=name("on")),), values={"at": 0, "on": 1})
    rows = {"at": [-1, 0, ub - BYTES, ub - BYTES + 1, ub], "on": [1, 1, 1, 1, 0]}
    assert rows_broken(work, "staging-range", family, **rows) == [True, False, False, True, False]
    found = broken(work, family, at=[ub - BYTES + 1])
    assert found == {
        "staging-range": f"staging tile ping takes bytes [{ub - BYTES + 1}, {ub + 1}) of UB, which has {ub}: "
        "it must lie within",
        "capacity-UB": f"UB needs {ub + 1} bytes and has {ub}; "
        f"largest: gap below placed staging tiles {ub - BYTES + 1}, ping 16384",
    }


def test_a_call_goes_through_tiles_that_the_configuration_has(broken: Broken, rows_broken: RowsBroken) -> None:
    tiles = (staged(used=name("a")), staged("pong", used=name("b")))
    work = kernel_of(moved(pong="pong", use_pong=name("two")), staging=tiles, values={"a": 1, "b": 1, "two": 1})
    rows = {"a": [1, 0, 1, 1], "b": [1, 1, 0, 0], "two": [1, 1, 1, 0]}
    assert rows_broken(work, "staging-unused", **rows) == [False, True, True, False]
    assert broken(work, b=[0]) == {
        "staging-unused": "TPUT through staging tile pong, which this configuration does not use: "
        "expected a tile with `used` other than 0"
    }


def ub_parts(work: Workload, **values: int) -> dict[str, int]:
    env = {p.name: np.array([values.get(p.name, p.default)]) for p in work.problem}
    return {n: int(s[0]) for n, s in legality.memory_parts(work, "UB", env, 1, rule_set_for("a2a3"))}


def test_staging_tiles_count_in_ub(broken: Broken) -> None:
    buffer = Buffer("x", "AIV", "UB", expr(160 * KIB), expr(1))
    work = kernel_of(staging=(staged(), staged("pong", used=name("two"))), buffers=(buffer,), values={"two": 1})
    assert ub_parts(work) == {"x": 160 * KIB, "ping": BYTES, "pong": BYTES}
    assert ub_parts(work, two=0) == {"x": 160 * KIB, "ping": BYTES, "pong": 0}
    assert broken(work) == {}
    assert broken(replace(work, buffers=(replace(buffer, bytes=expr(160 * KIB + 32)),))) == {
        "capacity-UB": "UB needs 196640 bytes and has 196608; largest: x 163872, pong 16384, ping 16384"
    }


@pytest.mark.parametrize(
    ("buffer", "at", "gap"),
    [(0, 0, 0), (0, 20000, 20000), (20000, 20000, 0), (12000, 20000, 8000), (30000, 20000, 0)],
)
def test_ub_reaches_as_far_as_its_last_placed_tile(buffer: int, at: int, gap: int) -> None:
    """The need is the larger of the sum and of the last end: what has no place goes into gaps first."""
    buffers = (Buffer("x", "AIV", "UB", expr(buffer), expr(1)),)
    parts = ub_parts(kernel_of(staging=(staged(offset_bytes=at),), buffers=buffers))
    assert parts == {"x": buffer, "ping": BYTES, "gap below placed staging tiles": gap}
    assert sum(parts.values()) == max(buffer + BYTES, at + BYTES)


def test_a_tile_that_could_never_fit_is_refused_by_name(broken: Broken) -> None:
    found = broken(kernel_of(moved(), staging=(staged(rows=2**31 - 1, cols=2**31 - 1),)))
    assert list(found) == ["capacity-UB"]


def test_a_tile_of_unknown_elements_is_an_error(broken: Broken) -> None:
    with pytest.raises(ValueError, match=r"staging tile ping: unknown element type 'float7': choose one of int8, "):
        broken(kernel_of(staging=(staged(elem="float7"),)))


# Static valid shapes


@both_ops
def test_a_static_valid_shape_divides_what_it_cuts(call: type[Transfer], broken: Broken) -> None:
    static = staged(rows=16, cols=64, dynamic_rows=0, dynamic_cols=0)
    found = broken(kernel_of(moved(call), staging=(static,)))
    assert found == {
        "static-valid-shape": f"{call.__name__.upper()} of 100 x 100 through a tile of 16 x 64 leaves remainders of 4 "
        "rows and 36 columns, and its valid rows and columns are static: make them dynamic, or take 10 valid rows "
        "and 50 valid columns"
    }
    assert broken(kernel_of(moved(call), staging=(staged(rows=16, cols=64),))) == {}


def test_where_it_divides_is_asked_row_by_row(rows_broken: RowsBroken) -> None:
    static = staged(rows=name("r"), cols=64, dynamic_rows=name("dynamic"), dynamic_cols=1)
    work = kernel_of(moved(rows=name("d")), staging=(static,), values={"d": 100, "r": 16, "dynamic": 0})
    rows = {"d": [100, 100, 96, 100, 0, 100], "r": [16, 20, 16, 16, 16, 128], "dynamic": [0, 0, 0, 1, 0, 0]}
    assert rows_broken(work, "static-valid-shape", **rows) == [True, False, False, False, False, True]


def test_columns_and_single_calls_agree(all_columns: AllColumns) -> None:
    """Every rule that numbers decide, over a table with legal and broken rows, against the rules for one call."""
    names = ("rows", "cols", "r", "c", "vr", "dr", "dc", "pr", "at", "two")
    values = product((5, 12), (8, 100), (4, 6), (8,), (2, 3, 4), (0, 1), (0, 1), (4, 6), (100, 128, 500), (0, 1))
    table = list(zip(*values, strict=True))
    columns = dict(zip(names, map(list, table), strict=True))
    n = {x: name(x) for x in names}
    common = {"cols": n["c"], "valid_rows": n["vr"], "dynamic_rows": n["dr"], "dynamic_cols": n["dc"]}
    tiles = (
        staged(rows=n["r"], offset_bytes=0, **common),
        staged("pong", rows=n["pr"], offset_bytes=n["at"], **common),
    )
    node = moved(Tget, rows=n["rows"], cols=n["cols"], pong="pong", use_pong=n["two"])
    rules = all_columns(kernel_of(node, staging=tiles, values=dict.fromkeys(names, 1)), **columns)
    kinds = ("ping-pong-shape", "ping-pong-overlap", "static-valid-shape")
    counts = dict.fromkeys(kinds, 0)
    for i, (rows, cols, r, c, vr, dr, dc, pr, at, two) in enumerate(zip(*table, strict=True)):
        placed = [
            remote.Placed(StagingTile(k, c, vr, c, bool(dr), bool(dc)), "float", where)
            for k, where in ((r, 0), (pr, at))[: 1 + two]
        ]
        sides = (remote.Side("float", "ND", True), remote.Side("float", "ND", False))
        faults = remote.transfer_faults(remote.Transfer("TGET", (1, 1, 1, rows, cols), *sides, tuple(placed)))
        expected = {fault.rule: fault.sentence for fault in faults}
        assert {k: rules[k].sentence(i) for k in kinds if rules[k].broken[i]} == expected
        for kind in expected:
            counts[kind] += 1
    assert all(0 < count < len(columns["r"]) for count in counts.values())


# Signals


@pytest.mark.parametrize(
    ("node", "sentence"),
    [
        (Twait("s", expr(1), remote=True), "TWAIT on a remote signal: it reads a local one"),
        (Ttest("s", expr(1), "x", remote=True), "TTEST on a remote signal: it reads a local one"),
        (Tnotify("s", NEXT, expr(1), remote=False), "TNOTIFY on a local signal: it writes a remote one"),
    ],
)
def test_the_side_of_a_signal(node: Node, sentence: str, broken: Broken) -> None:
    assert broken(kernel_of(node)) == {"signal-side": sentence}


every_signal_call = pytest.mark.parametrize(
    "node", [Tnotify("s", NEXT, expr(1)), Twait("s", expr(1)), Ttest("s", expr(1), "x")]
)


@every_signal_call
def test_signals_are_int32(node: Node, broken: Broken) -> None:
    found = broken(kernel_of(node, signals=(Signal("s", (expr(8),), "int64"),)))
    assert found == {"signal-type": f"{type(node).__name__.upper()} on a signal of int64: expected int32"}


@every_signal_call
def test_a_signal_tensor_has_1_to_5_dimensions(node: Node, broken: Broken) -> None:
    def found(dims: int) -> dict[str, str]:
        return broken(kernel_of(node, signals=(Signal("s", (expr(1),) * dims),)))

    op = type(node).__name__.upper()
    assert found(5) == {}
    assert found(6) == {"signal-dims": f"{op} on a signal tensor of 6 dimensions: expected 1 to 5"}
    assert found(0) == {"signal-dims": f"{op} on a signal tensor of 0 dimensions: expected 1 to 5"}


def test_a_view_has_at_most_5_dimensions(broken: Broken) -> None:
    def found(dims: int) -> dict[str, str]:
        return broken(kernel_of(Twait("s", expr(1), view=((expr(1), expr(1)),) * dims)))

    assert found(5) == {}
    assert found(6) == {"signal-dims": "TWAIT on a signal tensor of 6 dimensions: expected 1 to 5"}


def test_signals_are_aligned(broken: Broken, rows_broken: RowsBroken) -> None:
    def work(at: int | Expr) -> Workload:
        signals = (Signal("s", (expr(8),), offset_bytes=name("o")),)
        return kernel_of(Twait("s", expr(1), at=expr(at)), signals=signals, values={"o": 0})

    rows = rows_broken(work(0), "signal-align", o=[0, 1, 2, 3, 4, 64, 66])
    assert rows == [False, True, True, True, False, False, True]
    assert broken(work(3), o=[66]) == {
        "signal-align": "TWAIT on a signal at byte 78, 2 beyond a multiple of 4: "
        "expected 4-byte alignment, nearest below 76"
    }
    assert "at byte 66," in broken(work(name("turn")), o=[66])["signal-align"], "an element that only the program knows"


# Where calls are made


def test_a_call_that_a_configuration_does_not_make_breaks_nothing(rows_broken: RowsBroken) -> None:
    call = moved(Tget, atomic="AtomicAdd")
    for node in (
        when(name("on").eq(1), call),
        While(expr(1), name("on"), (call,)),
        While(name("on"), expr(9), (call,)),
        Loop(expr(2), (when(name("on"), call),), index="i"),
    ):
        assert rows_broken(kernel_of(node, values={"on": 1}), "remote-atomic", on=[0, 1, 0]) == [False, True, False]


def test_a_call_behind_a_variable_may_be_made(broken: Broken) -> None:
    call = moved(Tget, atomic="AtomicAdd")
    for node in (
        when(name("there"), call),
        While(name("there").eq(0), expr(9), (call,)),
        Loop(expr(4), (when(name("i").eq(2), call),), index="i"),
    ):
        assert list(broken(kernel_of(node))) == ["remote-atomic"]


def test_shapes_that_differ_by_rank_block_and_sub_core_are_all_looked_at(broken: Broken) -> None:
    static = (staged(rows=16, dynamic_rows=0),)

    def found(rows: Expr) -> str:
        work = kernel_of(moved(rows=rows, cols=64), staging=static, launch=Launch(expr(3)), ranks=expr(4))
        return broken(work).get("static-valid-shape", "")

    for last in (name("rank").eq(3), name("block").eq(2), name("sub").eq(1)):
        assert "TPUT of 97 x 64" in found(96 + last)
        assert not found(96 + 16 * last)
    beyond = name("rank").ge(4).or_(name("block").ge(3))
    assert not found(96 + beyond), "places that do not exist"
    assert "TPUT of 97 x 64" in found(96 + name("rank").eq(2).and_(name("block").eq(1)))


def test_ranks_of_each_row_decide_which_places_there_are(rows_broken: RowsBroken) -> None:
    call = moved(Tput, 96 + name("rank").eq(3), 64)
    for node in (call, when(name("rank").eq(3), moved(Tput, 97, 64))):
        work = kernel_of(node, staging=(staged(rows=16, dynamic_rows=0),), ranks=name("r"), values={"r": 2})
        assert rows_broken(work, "static-valid-shape", r=[1, 3, 4, 8]) == [False, False, True, True]


def test_many_places_and_many_rows_are_looked_at_part_by_part(all_columns: AllColumns) -> None:
    node = moved(Tput, 96 + name("rank").eq(63).and_(name("block").eq(23)) * name("x"), 64)
    tiles = (staged(rows=16, dynamic_rows=0),)
    work = kernel_of(node, staging=tiles, ranks=expr(64), launch=Launch(expr(24)), values={"x": 0})
    x = [i % 5 for i in range(2000)]
    column = all_columns(work, x=x)["static-valid-shape"]
    assert column.broken.tolist() == [v != 0 for v in x]
    assert "TPUT of 100 x 64" in column.sentence(1999)


def test_the_sentence_is_of_the_first_call_that_is_wrong(broken: Broken) -> None:
    found = broken(kernel_of(moved(), moved(Tget, dst_layout="DN"), moved(Tput, dst_layout="NZ")))
    assert found["remote-layout"].startswith("TGET from layout ND to layout DN")


# Other rules beside the new nodes


def test_pipes_are_found_beside_remote_calls(kernel: Kernel, fifo: MakeFifo, broken: Broken) -> None:
    """Also in a polling loop, and for every rank where they differ."""

    def found(rows: Expr) -> dict[str, str]:
        pop = While(name("there").eq(0), expr(4), (Ttest("s", expr(1), "there"), tpop("f", tile("Vec", rows, 64))))
        work = kernel(
            (Tnotify("s", NEXT, expr(1)), tpush("f", tile("Acc", 64, 64))),
            (pop, moved(), Barrier(), Let("x", name("there") + 1)),
            fifo(),
            ranks=expr(4),
            signals=(Signal("s", (expr(8),)),),
            staging=(staged(),),
        )
        return broken(work)

    assert found(expr(64)) == {}
    assert found(where(name("rank").ge(4), 128, 64)) == {}
    assert list(found(expr(128))) == ["f-layout", "f-beyond-slot", "f-ratio"]
    assert found(where(name("rank").eq(3), 128, 64)) == found(expr(128))


def test_costs_may_use_the_rank(broken: Broken) -> None:
    program = (instr("TMATMUL", "M", matmul(64 + name("rank") + name("block") + name("sub"), 64, 64)),)
    assert broken(kernel_of(programs=(("AIC", program),), staging=())) == {}


def test_check_has_them_on_every_platform() -> None:
    work = kernel_of(moved())
    for platform in ("ascend910b4", "ascend950dt"):
        loaded = load_platform(platform)
        names = legality.rule_names(work, loaded, rule_set_for(loaded.family))
        assert names[-len(legality.remote_calls.TRANSFER_RULES) :] == list(legality.remote_calls.TRANSFER_RULES)
