"""The file of a baseline: read back as it was written, complete or not at all, refused with every fault."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pto_tune.checking.baseline import BaselineError, Entry, read_baseline, write_baseline
from pto_tune.checking.searches import Asked, entry_of


@pytest.fixture(scope="module")
def entry() -> Entry:
    asked = Asked("stream", "ascend910b2", Path(), problem={"tiles": 4}, domains={"fifo_depth": [2, 4]})
    return entry_of(asked, asked.search(), "融合 é")


def test_it_is_read_as_it_was_written_to_the_byte(entry: Entry, tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    write_baseline(path, [entry])
    content = path.read_bytes()
    assert read_baseline(path) == [entry]
    write_baseline(path, read_baseline(path))
    assert path.read_bytes() == content
    assert "融合" in content.decode()
    assert list(tmp_path.iterdir()) == [path]


def test_what_cannot_be_written_leaves_the_file_that_was_there(
    entry: Entry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "b.json"
    write_baseline(path, [entry])
    before = path.read_bytes()

    def full(_number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(BaselineError, match="No space left"):
        write_baseline(path, [entry, entry.model_copy(update={"name": "two"})])
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def spoilt(entry: Entry, **changes: Any) -> dict[str, Any]:
    return {"format": "pto-tune-baseline/1", "entries": [{**entry.model_dump(), **changes}]}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"seed": -1}, "entries.0.seed"),
        ({"seed": "7"}, "entries.0.seed"),
        ({"platform_sha256": "ab"}, "entries.0.platform_sha256"),
        ({"best": {"configuration": {}, "cycles": 1, "time_us": 0}}, "entries.0.best.time_us"),
        ({"unknown": 1}, "entries.0.unknown"),
        ({"counts": {"ok": {"": 1.5}}}, "entries.0.counts.ok"),
        ({"domains": {"fifo_depth": [None]}}, "entries.0.domains.fifo_depth.0"),
    ],
)
def test_faults_are_named_with_their_place(entry: Entry, tmp_path: Path, changes: dict[str, Any], says: str) -> None:
    path = tmp_path / "b.json"
    path.write_text(json.dumps(spoilt(entry, **changes)))
    with pytest.raises(BaselineError, match=says):
        read_baseline(path)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"{}", "format"),
        (b'{"format": "pto-tune-baseline/2", "entries": []}', "format"),
        (b'{"format": "pto-tune-baseline/1", "entries": []}', "entries"),
        (b" " * (16 * 2**20 + 1), "larger than 16 MiB"),
    ],
)
def test_what_is_no_baseline_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "b.json"
    path.write_bytes(content)
    with pytest.raises(BaselineError, match=says):
        read_baseline(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BaselineError, match="cannot be read: No such file"):
        read_baseline(tmp_path / "none.json")
    with pytest.raises(BaselineError, match="cannot be read"):
        read_baseline("a\x00b")


def test_two_entries_have_two_names(entry: Entry, tmp_path: Path) -> None:
    path = tmp_path / "b.json"
    write_baseline(path, [entry, entry])
    with pytest.raises(BaselineError, match="two entries named '融合 é'"):
        read_baseline(path)
