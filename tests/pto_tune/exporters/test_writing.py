"""Writing the header: in one step, never over somebody's changes, nothing left behind when it fails."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from pto_tune.exporters.header import ExportError, render_header, write_header
from pto_tune.exporters.recommendation import Recommendation
from pto_tune.exporters.writing import ZEROS, is_signed, signed_above, signed_inside, write_all

Make = Callable[..., Recommendation]


def test_the_file_is_the_rendered_text(tmp_path: Path, recommendation: Make) -> None:
    path = tmp_path / "config.hpp"
    assert write_header(recommendation(), str(path)) == path
    assert path.read_bytes() == render_header(recommendation()).encode()
    assert os.listdir(tmp_path) == ["config.hpp"]


def test_the_namespace_is_passed_on(tmp_path: Path, recommendation: Make) -> None:
    path = write_header(recommendation(), tmp_path / "config.hpp", namespace="mine")
    assert "namespace mine {" in path.read_text(encoding="utf-8")


def test_an_identical_file_is_left_alone(tmp_path: Path, recommendation: Make) -> None:
    path = write_header(recommendation(), tmp_path / "config.hpp")
    os.utime(path, (1000, 1000))
    before = path.stat()
    write_header(recommendation(), path, force=True)
    after = path.stat()
    assert (after.st_ino, after.st_mtime) == (before.st_ino, before.st_mtime)


def test_an_unchanged_header_of_ours_is_replaced(tmp_path: Path, recommendation: Make) -> None:
    path = write_header(recommendation(), tmp_path / "config.hpp")
    newer = recommendation(predicted_us=80.0)
    write_header(newer, path)
    assert path.read_text(encoding="utf-8") == render_header(newer)


def test_other_line_ends_are_no_change_by_hand(tmp_path: Path, recommendation: Make) -> None:
    path = write_header(recommendation(), tmp_path / "config.hpp")
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    write_header(recommendation(), path)
    assert b"\r" not in path.read_bytes()


def test_a_header_changed_by_hand_is_kept_unless_forced(tmp_path: Path, recommendation: Make) -> None:
    path = write_header(recommendation(), tmp_path / "config.hpp")
    changed = path.read_bytes().replace(b"Qk_FifoDepth = 8", b"Qk_FifoDepth = 6")
    path.write_bytes(changed)
    with pytest.raises(ExportError, match=r"config\.hpp was changed by hand"):
        write_header(recommendation(), path)
    assert path.read_bytes() == changed
    write_header(recommendation(), path, force=True)
    assert path.read_text(encoding="utf-8") == render_header(recommendation())


@pytest.mark.parametrize("content", [b"", b"int main() {}\n", b"\xff\x00"])
def test_somebody_elses_file_is_kept_unless_forced(content: bytes, tmp_path: Path, recommendation: Make) -> None:
    path = tmp_path / "config.hpp"
    path.write_bytes(content)
    with pytest.raises(ExportError, match=r"config\.hpp was not written by pto-tune"):
        write_header(recommendation(), path)
    assert path.read_bytes() == content
    write_header(recommendation(), path, force=True)
    assert path.read_text(encoding="utf-8") == render_header(recommendation())


@pytest.mark.parametrize("step", ["replace", "fsync"])
def test_a_failed_write_leaves_the_old_file_and_no_other(
    step: str, tmp_path: Path, recommendation: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_header(recommendation(), tmp_path / "config.hpp")
    before = path.read_bytes()

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(ExportError, match="No space left on device"):
        write_header(recommendation(predicted_us=80.0), path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["config.hpp"]


def test_an_interrupted_write_leaves_nothing(
    tmp_path: Path, recommendation: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_header(recommendation(), tmp_path / "config.hpp")
    assert os.listdir(tmp_path) == []


def test_a_refused_recommendation_touches_no_file(tmp_path: Path, recommendation: Make) -> None:
    path = write_header(recommendation(), tmp_path / "config.hpp")
    before = path.read_bytes()
    with pytest.raises(ExportError, match="verdict"):
        write_header(recommendation(verdict="hang"), path, force=True)
    assert path.read_bytes() == before


def test_a_missing_folder_or_a_folder_is_one_sentence(tmp_path: Path, recommendation: Make) -> None:
    for path in (tmp_path / "missing" / "config.hpp", tmp_path):
        with pytest.raises(ExportError) as refused:
            write_header(recommendation(), path)
        assert str(refused.value).startswith(f"cannot write the header {path}: ")
        assert "\n" not in str(refused.value)
    assert os.listdir(tmp_path) == []


def test_a_link_stays_a_link_and_the_mode_stays(tmp_path: Path, recommendation: Make) -> None:
    real = write_header(recommendation(), tmp_path / "real.hpp")
    real.chmod(0o640)
    link = tmp_path / "link.hpp"
    link.symlink_to(real)
    newer = recommendation(predicted_us=80.0)
    assert write_header(newer, link) == link
    assert link.is_symlink()
    assert real.read_text(encoding="utf-8") == render_header(newer)
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_several_files_are_all_written_or_none(tmp_path: Path) -> None:
    texts = [(tmp_path / name, signed_above(f"{name}\n", "# ", "x")) for name in ("a", "b", "c")]
    (tmp_path / "b").write_text("mine\n")
    with pytest.raises(ExportError, match="b was not written by pto-tune"):
        write_all(texts)
    assert sorted(os.listdir(tmp_path)) == ["b"]
    assert write_all(texts, force=True) == [path for path, _ in texts]
    assert [path.read_text() for path, _ in texts] == [text for _, text in texts]


def test_two_texts_have_two_paths(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "a")
    with pytest.raises(ExportError, match="would be written twice"):
        write_all([(tmp_path / "a", "x"), (tmp_path / "link", "y")])
    assert os.listdir(tmp_path) == ["link"]


@pytest.mark.parametrize("body", ["", "a\n", "中 🚀\n", "content_sha256: x\n"])
def test_a_signature_says_whether_a_text_was_changed(body: str) -> None:
    above = signed_above(body, "// ", "header").encode()
    inside = signed_inside(f"{body}content_sha256: {ZEROS}\n").encode()
    for text in (above, inside):
        assert is_signed(text) is True
        assert is_signed(text.replace(b"\n", b"\r\n")) is True
        assert is_signed(text + b" ") is False
    assert is_signed(body.encode()) is None
    assert signed_inside(body) == body


def test_half_a_character_is_no_text() -> None:
    with pytest.raises(ExportError, match="half a character"):
        signed_above("a \ud800", "# ", "x")
