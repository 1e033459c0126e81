"""What no kernel should be is refused at once, with a place."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from pto_tune.kernels.faults import KernelError
from pto_tune.kernels.guards import MAX_BYTES, MAX_DEPTH
from pto_tune.kernels.reading import read_kernel

FILES = Path(__file__).parent / "files"
MOST_SECONDS = 5.0


def refused(path: Path) -> str:
    """The message of a refusal that comes in time, whatever else the machine does."""
    start = time.process_time()
    with pytest.raises(KernelError) as e:
        read_kernel(path)
    assert time.process_time() - start < MOST_SECONDS
    return str(e.value).removeprefix(f"{path}:")


def test_a_file_of_50_megabytes_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large.pto"
    with path.open("wb") as stream:
        stream.truncate(50 * 2**20)
    assert refused(path).startswith("1:")
    assert str(MAX_BYTES) in refused(path)


def test_a_file_of_the_most_bytes_is_read_or_refused_in_time(tmp_path: Path) -> None:
    path = tmp_path / "long.pto"
    line = b"%a = x.y 1 : i32\n"
    path.write_bytes(line * (MAX_BYTES // len(line)))
    assert "words: expected fewer" in refused(path)


@pytest.mark.parametrize("raw", [bytes(range(256)), os.urandom(4096) + b"\xff\xfe", b"module {\n  \xc3\x28\n}"])
def test_binary_files_are_no_text(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "binary.pto"
    path.write_bytes(raw)
    assert "is not UTF-8" in refused(path) or "null character" in refused(path)


def test_the_place_of_a_wrong_byte_is_named(tmp_path: Path) -> None:
    path = tmp_path / "binary.pto"
    path.write_bytes(b"module {\n  \xc3\x28\n}")
    assert refused(path) == "2:3: byte 11 is not UTF-8: expected the text of a kernel"


@pytest.mark.parametrize("size", [1, 40, 400, 3000, 5000])
def test_truncated_kernels_name_what_is_open(tmp_path: Path, size: int) -> None:
    path = tmp_path / "part.pto"
    text = (FILES / "product.pto").read_text(encoding="utf-8")
    path.write_text(text[text.index("module") :][:size], encoding="utf-8")
    assert refused(path)[0].isdigit()


@pytest.mark.parametrize("bracket", ["{", "[", "(", "<"])
def test_deep_nesting_is_refused(tmp_path: Path, bracket: str) -> None:
    path = tmp_path / "deep.pto"
    path.write_text("module { " + bracket * 200_000 + " }", encoding="utf-8")
    assert refused(path).endswith(f"is nested deeper than {MAX_DEPTH} brackets: expected less")


def test_brackets_in_texts_and_comments_do_not_count(tmp_path: Path) -> None:
    path = tmp_path / "quiet.pto"
    path.write_text('// ((((\nmodule attributes {a = "}}}((("} {\n}\n', encoding="utf-8")
    assert "no function of kind" in refused(path)


def test_brackets_have_to_fit(tmp_path: Path) -> None:
    path = tmp_path / "cross.pto"
    path.write_text("module {\n  x.y (1}\n)\n", encoding="utf-8")
    assert refused(path) == "2:9: '}' closes nothing: '(' of 2:7 is open"


def test_what_is_no_mlir_is_shown_where_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "strange.pto"
    path.write_text("module {\n  func.func @f() {\n    %1 = = x.y\n    return\n  }\n}\n", encoding="utf-8")
    assert refused(path).startswith("3:")


def test_loops_that_multiply_when_they_are_taken_apart_are_refused(tmp_path: Path) -> None:
    depth = 6
    lines = ["func.func @k() attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {"]
    lines += [f"%c{n} = arith.constant {n} : index" for n in (0, 1, 99)]
    for i in range(depth):
        lines += [f"scf.for %i{i} = %c0 to %c99 step %c1 {{", f"%r{i} = arith.remui %i{i}, %c99 : index",
                  f"%b{i} = arith.cmpi eq, %r{i}, %c1 : index", f"scf.if %b{i} {{", "}"]  # fmt: skip
    path = tmp_path / "many.pto"
    path.write_text("\n".join([*lines, *"}" * depth, "return", "}"]), encoding="utf-8")
    assert "operations are to be read" in refused(path)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    assert "cannot be read (No such file or directory)" in refused(tmp_path / "none.pto")


def test_windows_line_ends_and_a_mark_at_the_start_are_no_matter(tmp_path: Path) -> None:
    path = tmp_path / "windows.pto"
    raw = (FILES / "product.pto").read_bytes().replace(b"\n", b"\r\n")
    path.write_bytes(b"\xef\xbb\xbf" + raw)
    assert read_kernel(path).workload == read_kernel(_same(tmp_path)).workload


def _same(folder: Path) -> Path:
    """Another file of the same name: the name is part of the workload's description."""
    (folder / "unix").mkdir()
    path = folder / "unix" / "windows.pto"
    path.write_bytes((FILES / "product.pto").read_bytes())
    return path
