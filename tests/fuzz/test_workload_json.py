"""A workload from a stranger can at worst be refused: in words, and in time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fuzzing import answer_or_clear_error, fuzz, mutated, nested, places, values
from hypothesis import example, given
from hypothesis import strategies as st

from cost_models import load_platform
from pto_tune.evaluation import Evaluation, Problem, evaluate_columns
from pto_tune.model.serial import FORMAT, from_json, load, to_dict, to_json
from pto_tune.workloads import workload

EXAMPLES = Path(__file__).parents[1] / "pto_tune" / "model"
PLAIN = [to_dict(workload(name)) for name in ("stream", "datacopy", "matmul_epilogue")]
PLAIN.append(json.loads((EXAMPLES / "calls.json").read_text("utf-8")))
RANKED = [to_dict(workload("tput_pingpong")), json.loads((EXAMPLES / "ranks.json").read_text("utf-8"))]


@pytest.fixture(scope="module", autouse=True)
def compiled() -> None:
    """Kernels are compiled before anything is timed."""
    for name in ("stream", "tput_pingpong"):
        evaluate_columns(Problem.of(workload(name), load_platform("ascend910b2")), {})


def evaluated(text: str) -> Evaluation:
    """The workload of a text, at its defaults."""
    found = from_json(text)
    assert from_json(to_json(found)) == found
    return evaluate_columns(Problem.of(found, load_platform("ascend910b2")), {}, threads=1)


def assert_right(e: Evaluation) -> None:
    """Nothing has wrapped: times are above 0 where there are any, and no pipe is busy for longer."""
    assert (e.cycles[e.timed] >= 0).all()
    assert (e.busy[e.timed] >= 0).all()
    assert (e.busy[e.timed] <= e.cycles[e.timed, None]).all()
    assert all((e.bytes[memory][e.timed] >= 0).all() for memory in e.bytes)
    for row in range(len(e)):
        assert (e.reason(row) == "") == (e.rule[row] < 0)


def checked(text: str) -> str:
    """The refusal of a text, "" where it is none."""
    found, refused = answer_or_clear_error(lambda: evaluated(text))
    if not refused:
        assert_right(found)
    return refused


@fuzz(120)
@given(tree=mutated(PLAIN))
def test_a_changed_workload_is_refused_or_evaluated(tree: Any) -> None:
    checked(json.dumps(tree))


@fuzz(60)
@given(tree=mutated(RANKED))
def test_a_changed_workload_of_several_ranks_is_refused_or_evaluated(tree: Any) -> None:
    checked(json.dumps(tree))


@fuzz(80)
@given(
    tree=st.builds(lambda body: {"format": FORMAT, **body}, st.dictionaries(st.sampled_from(list(PLAIN[0])), values))
    | values
)
def test_any_json_is_refused(tree: Any) -> None:
    assert checked(json.dumps(tree))


@fuzz(80)
@given(text=st.text(max_size=200) | st.binary(max_size=200).map(lambda raw: raw.decode("latin-1")))
@example(text="[" * 100_000)
@example(text='{"format":' * 50_000)
@example(text='{"format": "pto-tune-workload/1", "launch": ' + "9" * 100_000 + "}")
@example(text='{"format": "pto-tune-workload/1", "format": "pto-tune-workload/1"}')
@example(text="NaN")
def test_any_text_is_refused(text: str) -> None:
    assert checked(text)


@fuzz(40)
@given(raw=st.binary(max_size=300))
@example(raw=b"\xff\xfe{\x00}\x00")
@example(raw=b"\xef\xbb\xbf")
def test_any_file_is_refused(raw: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzzed.json"
    path.write_bytes(raw)
    found, refused = answer_or_clear_error(lambda: load(path))
    assert found is None
    assert all(line.startswith(str(path)) for line in refused.split("\n"))


def changed(place: tuple[str | int, ...], value: Any, tree: Any) -> Any:
    tree = json.loads(json.dumps(tree))
    parent = tree
    for key in place[:-1]:
        parent = parent[key]
    parent[place[-1]] = value
    return tree


def loops(tree: Any) -> list[tuple[str | int, ...]]:
    """Places of the trip counts."""
    return [place for place in places(tree) if place and place[-1] == "trips"]


PRODUCT = ["*", 2**31, 2**31]
SIZES = [
    ("fifos", [{}] * 1_000_000, "and 89910 more errors"),
    ("fifos", PLAIN[0]["fifos"] * 10, "has too many entries: expected at most 16"),
    ("name", "../../etc/passwd", "is no name"),
    ("name", "a/b", "is no name"),
    ("name", "C:\\x", "is no name"),
    ("problem", [{"name": "n", "default": 10**30}], "is out of range"),
]


@pytest.mark.parametrize(
    ("field", "value", "says"), SIZES, ids=[f"{field}-{i}" for i, (field, _, _) in enumerate(SIZES)]
)
def test_sizes_and_names_are_bounded(field: str, value: Any, says: str) -> None:
    assert says in checked(json.dumps({**PLAIN[0], field: value}, separators=(",", ":")))


@pytest.mark.parametrize("trips", [2**62, nested(10_000, 1, "not"), 1.5, float("nan"), "9", True])
def test_a_trip_count_that_is_none_is_refused(trips: Any) -> None:
    text = json.dumps(changed(loops(PLAIN[0])[0], "@", PLAIN[0]))
    written = '["not",' * 10_000 + "1" + "]" * 10_000 if isinstance(trips, list) else json.dumps(trips)
    assert checked(text.replace('"@"', written))


@pytest.mark.parametrize("tree", [PLAIN[0], RANKED[0]], ids=["plain", "ranked"])
@pytest.mark.parametrize(
    "trips", [2**31, ["+", ["+", PRODUCT, PRODUCT], ["+", PRODUCT, PRODUCT]]], ids=["2**31", "2**64"]
)
def test_a_loop_without_end_is_refused_or_answered_in_time(tree: Any, trips: Any) -> None:
    for place in loops(tree)[1:3]:
        checked(json.dumps(changed(place, trips, tree)))


def of_vector(body: list[Any], blocks: Any = 1) -> str:
    """A program of the vector sub-cores alone."""
    return json.dumps(
        {"format": FORMAT, "name": "x", "doc": "", "problem": [], "tunables": [], "buffers": [], "fifos": [],
         "launch": {"blocks": blocks}, "programs": {"AIC": [], "AIV": body}}
    )  # fmt: skip


def instr(model: str = "cycles", pipe: str = "V", **cost: Any) -> dict[str, Any]:
    return {"kind": "instr", "name": "TADD", "pipe": pipe, "costs": [{"model": model, **cost}]}


@pytest.mark.parametrize("blocks", [1, 24, 2**31])
@pytest.mark.parametrize("cycles", [1, 2**20, 2**31])
@pytest.mark.parametrize("trips", [1, 2**20, 2**31])
def test_a_time_beyond_64_bits_is_refused_and_any_other_is_exact(trips: int, cycles: int, blocks: int) -> None:
    text = of_vector([{"kind": "loop", "steady": True, "trips": trips, "body": [instr(cycles=cycles)]}], blocks)
    found, refused = answer_or_clear_error(lambda: evaluated(text))
    waves = -(-blocks // 24)
    if not refused:
        assert trips * cycles * waves <= int(found.cycles[0]) <= (trips * max(cycles, 4) + 16) * waves
    else:
        assert "cycles" in refused
        assert trips * cycles * waves > 2**54


@pytest.mark.parametrize("size", [2**31, ["*", 2**31, 2**31], ["+", PRODUCT, PRODUCT]])
def test_a_transfer_of_any_size_is_timed_or_refused(size: Any) -> None:
    dma = instr("dma", "MTE2", path="gm_to_ub", bytes=size, burst_bytes=512, hbm_bytes=size)
    assert bool(checked(of_vector([dma]))) == (size != 2**31)


@pytest.mark.parametrize("levels", [2, 16])
def test_loops_in_loops_end(levels: int) -> None:
    body: list[Any] = [instr(cycles=1)]
    for _ in range(levels):
        body = [{"kind": "loop", "trips": 2**31, "body": body}]
    assert "cycles" in checked(of_vector(body)) or levels == 2


@pytest.mark.parametrize("copies", [4097, 2**31])
def test_buffers_of_more_copies_than_any_memory_holds_are_refused(copies: int) -> None:
    for i in range(len(PLAIN[0]["buffers"])):
        text = json.dumps(changed(("buffers", i, "copies"), copies, PLAIN[0]))
        found, refused = answer_or_clear_error(lambda text=text: evaluated(text))  # type: ignore[misc]
        assert "expected at most 4096" in refused or found.reason(0)
