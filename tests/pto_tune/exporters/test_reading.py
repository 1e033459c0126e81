"""Exports are read back: what was asked, what was predicted, and what somebody changed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pto_tune.exporters import reading
from pto_tune.exporters.checks import ExportError
from pto_tune.exporters.facts import comment, uncomment
from pto_tune.exporters.flat import flat
from pto_tune.exporters.formats import Options, format_named, write
from pto_tune.exporters.reading import ReadBack, read_back
from pto_tune.exporters.recommendation import PipeRecommendation, Recommendation

Make = Callable[..., Recommendation]
MakePipe = Callable[..., PipeRecommendation]

FORMS = ("header", "cmake", "json")


def written(key: str, rec: Recommendation, folder: Path, **options: str) -> Path:
    form = format_named(key)
    return write(form, [rec], folder / f"x{form.suffix}", Options(**options))  # type: ignore[arg-type]


def is_of(read: ReadBack, rec: Recommendation) -> None:
    """Everything that a file says of a recommendation."""
    assert (read.workload, read.platform, read.platform_sha256) == (rec.workload, rec.platform, rec.platform_sha256)
    assert (read.rule_set, read.pto_isa, read.timing) == (rec.rule_set, rec.pto_isa, rec.timing)
    assert read.run == (None if rec.run is None else str(rec.run))
    assert read.predicted_us == pytest.approx(rec.predicted_us, abs=5e-4)
    assert read.problem == {name: str(value) for name, value in rec.problem.items()}
    assert read.tunables == {name: str(value) for name, value in rec.configuration.items()}
    carried = {one.name: one.text for one in flat(rec) if one.name in read.constants}
    assert read.constants == carried
    assert {"CUBE_S0", "Qk_FifoDepth", "Qk_Split", "Pv_SyncPeriod"} <= carried.keys()


@pytest.mark.parametrize("key", FORMS)
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"run": None, "pto_isa": "0a15e15c (2026-08-14)", "row": 7, "exported": "2026-12-01"},
        {"run": "中文 'x' \"y\" ${z}", "warnings": ("a long one " * 20,), "assumed": ("link.a.b", "link.a.c")},
        {"workload": "a on b: c", "platform": "p (q)", "soc": "r, s (t)"},
    ],
)
def test_what_was_written_is_read(key: str, changes: dict[str, object], recommendation: Make, tmp_path: Path) -> None:
    rec = recommendation(**changes)
    (read,) = read_back(written(key, rec, tmp_path))
    is_of(read, rec)
    assert read.changed is False


@pytest.mark.parametrize("key", FORMS)
def test_other_line_ends_are_no_change(key: str, recommendation: Make, tmp_path: Path) -> None:
    path = written(key, recommendation(), tmp_path)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    (read,) = read_back(path)
    is_of(read, recommendation())
    assert read.changed is False


@pytest.mark.parametrize(("key", "before", "after"), [
    ("header", "Qk_FifoDepth = 8", "Qk_FifoDepth = 6"),
    ("cmake", "Qk_FifoDepth [=[8]=]", "Qk_FifoDepth [=[6]=]"),
    ("json", '"slot_num": 8', '"slot_num": 6'),
])  # fmt: skip
def test_a_change_by_hand_is_seen(key: str, before: str, after: str, recommendation: Make, tmp_path: Path) -> None:
    path = written(key, recommendation(), tmp_path)
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after), encoding="utf-8")
    (read,) = read_back(path)
    assert read.changed is True
    assert read.constants["Qk_FifoDepth"] == "6"


def test_every_size_of_a_table_is_read(recommendation: Make, pipe: MakePipe, tmp_path: Path) -> None:
    recs = [
        recommendation(),
        recommendation(
            problem={**recommendation().problem, "s0": 64},
            pipes=(pipe("qk", slot_num=4, sync_period=2), pipe("pv", flag_id=2)),
        ),
    ]
    path = write(format_named("header"), recs, tmp_path / "t.hpp")
    found = read_back(path)
    assert [read.where for read in found] == [f"{path}, choice 0", f"{path}, choice 1"]
    for read, rec in zip(found, recs, strict=True):
        is_of(read, rec)


def test_a_header_of_every_form_is_read(recommendation: Make, pipe: MakePipe, tmp_path: Path) -> None:
    gated = pipe("t", kind="TMPipe", gated=True, sync_period=2)
    (read,) = read_back(written("header", recommendation(pipes=(gated,)), tmp_path))
    assert (read.constants["T_FiFoDepth"], read.constants["T_FiFoSyncT"]) == ("8", "2")


@pytest.mark.parametrize("prefix", ["PTO_TUNE", "FA"])
def test_a_cache_of_cmake_is_read_whatever_else_is_in_it(prefix: str, recommendation: Make, tmp_path: Path) -> None:
    rec = recommendation(run="a;b [x]")
    initial = written("cmake", rec, tmp_path, prefix=prefix)
    (first,) = read_back(initial)
    values = {f"{prefix}_{name}": text for name, text in first.constants.items()}
    of = {
        "WORKLOAD": rec.workload, "PLATFORM": rec.platform, "PLATFORM_SHA256": rec.platform_sha256,
        "RULE_SET": rec.rule_set, "PTO_ISA": "", "TIMING": "task", "PREDICTED_US": "88.9", "RUN": "a;b [x]",
        "PROBLEM": "causal=0;head=128;s0=4096;s1=4096", "TUNABLES": "cube_s0=128;fifo_depth=8;split=TILE_UP_DOWN",
        "DEFINITIONS": "x",
    }  # fmt: skip
    values |= {f"{prefix}_{name}": text for name, text in of.items()}
    cache = tmp_path / "CMakeCache.txt"
    lines = ["# This is the CMakeCache file.", "CMAKE_BUILD_TYPE:STRING=", "//doc"]
    lines += [f"{name}:STRING={value}" for name, value in values.items()]
    cache.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (read,) = read_back(cache)
    is_of(read, rec)
    assert read.changed is None


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no export of pto-tune"),
        (b"int main() {}\n", "no export of pto-tune"),
        (b"CMAKE_X:STRING=1\n", "no export of pto-tune"),
        (b"\xff\xfe", "not UTF-8"),
        (b'{"a": 1}', "names no schema"),
        (b"PTO_TUNE_WORKLOAD:STRING=x\nPTO_TUNE_TUNABLES:STRING=\n", "PTO_TUNE_PLATFORM"),
        (b"// pto-tune header, sha256 of all lines below: 00\n// x\n", "'predicted' is missing"),
    ],
)
def test_other_files_are_told(content: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)
    with pytest.raises(ExportError, match=words):
        read_back(path)


def test_a_large_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_BYTES", 10)
    path = tmp_path / "x.hpp"
    path.write_bytes(b" " * 11)
    with pytest.raises(ExportError, match="larger than"):
        read_back(path)


@pytest.mark.parametrize("text", ["", "a", "??/ \\ \n \x00 \u202e", "<U+0041> <U+ <<U+5C>", "中文 🚀 ${x}", "???"])
def test_a_comment_is_one_line_and_is_read_back(text: str) -> None:
    shown = comment(text)
    assert "\n" not in shown
    assert "\\" not in shown
    assert "??" not in shown
    assert uncomment(shown) == text
