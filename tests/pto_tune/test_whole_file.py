"""A file that appears whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pto_tune import whole_file
from pto_tune.whole_file import draft_beside, write_whole


def test_it_takes_the_place_of_what_is_there(tmp_path: Path) -> None:
    target = tmp_path / ("管道 $x" * 12)
    write_whole(target, b"one\r\n")
    write_whole(target, b"two\r\n")
    assert target.read_bytes() == b"two\r\n"
    assert list(tmp_path.iterdir()) == [target]


def test_a_draft_is_hidden_and_beside_its_target(tmp_path: Path) -> None:
    draft = draft_beside(tmp_path / "a.json", b"{}")
    assert (draft.parent, draft.name[:8], draft.read_bytes()) == (tmp_path, ".a.json.", b"{}")


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_where_a_step_fails_nothing_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    def full(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    target = tmp_path / "a"
    target.write_bytes(b"old")
    monkeypatch.setattr(whole_file.os, step, full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(target, b"new")
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]
