"""Files of measurements from anywhere: rows that can be used, and for every other one a reason."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from fuzzing import TEXTS, answer_or_clear_error, assert_sentences, fuzz, leaves, mutated
from hypothesis import given
from hypothesis import strategies as st

from pto_tune.measuring.reading import read_measurements

TITLES = [
    "workload", "platform", "soc", "timing", "time_us", "cycles", "pto_isa", "repeats", "spread_us", "min_us", "max_us",
    "spread_cycles", "source", "note", "tiles", "slot_bytes", "fifo_depth", "split", "m", "Op Name",
    "Task Duration(us)",
]  # fmt: skip
GOOD = ["stream", "ascend910b2", "Ascend910B2", "task", "12.5", "33000", "5", "0.1", "16", "8", "UP_DOWN", ""]
CELLS = [*GOOD, *TEXTS, "-1", "0", "1e308", "9" * 400, "1_000", "１２", "12,5", "=1+1", '"', '""', "true", "None"]
cells = st.sampled_from(GOOD) | st.sampled_from(CELLS) | st.text(max_size=6)
SUMMARY = "Op Name,Task Type,Task Duration(us),Task Wait Time(us)\nstream_kernel,MIX_AIC,12.5,0.1\nother,AI_CORE,3,0\n"
MAP = {"ops": [{"op": "stream*", "workload": "stream", "platform": "ascend910b2", "configuration": {"tiles": 16}}]}
ROWS = [
    {"workload": "stream", "platform": "ascend910b2", "timing": "task", "time_us": 12.5, "tiles": 16},
    {"workload": "gemm", "soc": "Ascend910B1", "timing": "event", "cycles": 33000, "configuration": {"m": 512}},
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("measurements")


def checked(path: Path, raw: bytes, mapping: Path | None = None) -> None:
    path.write_bytes(raw)
    given_ = {"workload": "stream", "platform": "ascend910b2", "timing": "task"} if mapping is None else {}
    found, refused = answer_or_clear_error(lambda: read_measurements(path, mapping=mapping, **given_))  # type: ignore[arg-type]
    if refused:
        return
    kept, faults = found
    for fault in faults:
        assert_sentences(str(fault))
    for one in kept:
        assert math.isfinite(one.value)
        assert one.value > 0
        json.dumps(dict(one.configuration), allow_nan=False)
    assert len({one.digest for one in kept}) == len(kept)


def csv_text(rows: list[list[str]]) -> str:
    return "\n".join(
        ",".join(cell if '"' in cell else json.dumps(cell)[1:-1].replace("\\", "") for cell in row) for row in rows
    )


@fuzz(150)
@given(
    titles=st.lists(st.sampled_from(TITLES), min_size=1, max_size=8, unique=True)
    | st.lists(st.sampled_from([*TITLES, *TEXTS]), max_size=6),
    rows=st.lists(st.lists(cells, max_size=8), max_size=6),
)
def test_rows_of_any_cells_are_read_or_have_a_reason(folder: Path, titles: list[str], rows: list[list[str]]) -> None:
    checked(folder / "rows.csv", csv_text([titles, *rows]).encode("utf-8", "surrogatepass"))


@fuzz(120)
@given(rows=mutated([ROWS]))
def test_objects_of_any_values_are_read_or_have_a_reason(folder: Path, rows: Any) -> None:
    lines = rows if isinstance(rows, list) else [rows]
    checked(folder / "rows.jsonl", "\n".join(json.dumps(row) for row in lines).encode("utf-8"))


@fuzz(100)
@given(mapping=mutated([MAP]) | leaves, duration=cells, name=st.sampled_from(["stream_kernel", "other", "", "*"]))
def test_any_map_of_a_profile_is_read_or_has_a_reason(folder: Path, mapping: Any, duration: str, name: str) -> None:
    path = folder / "map.json"
    path.write_text(json.dumps(mapping), "utf-8")
    text = SUMMARY + csv_text([[name, "AI_CORE", duration, "0"]]) + "\n"
    checked(folder / "op_summary.csv", text.encode("utf-8", "surrogatepass"), path)


@fuzz(80)
@given(raw=st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_read_or_refused(folder: Path, raw: bytes) -> None:
    checked(folder / "raw.csv", raw)


HOSTILE = {
    "an open quote": b'workload,time_us\nstream,"' + b"x" * 1_000_000,
    "many columns": b",".join(b"c%d" % i for i in range(100_000)) + b"\n1\n",
    "many rows": b"tiles,time_us\n" + b"4,x\n" * 300_000,
    "deep": b"{" * 3 + b'"a":' + b"[" * 90_000,
    "null": b"tiles,time_us\n\0,\0\n" * 100,
    "line ends": b"tiles,time_us\r4,1\r5,2\r",
    "one cell": b"tiles,time_us\n4," + b"9" * 99_000 + b"\n",
}


@pytest.mark.parametrize("raw", HOSTILE.values(), ids=list(HOSTILE))
def test_what_would_take_long_is_refused_in_time(folder: Path, raw: bytes) -> None:
    checked(folder / "hostile.csv", raw)
