"""Kernels of the tests: files beside this one, and changed copies of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

FILES = Path(__file__).parent / "files"

Changed = Callable[..., Path]


@pytest.fixture
def changed(tmp_path: Path) -> Changed:
    """A copy of a kernel with texts replaced; each has to be there. None instead of a name: the texts are the file."""

    def copy(name: str, *pairs: tuple[str, str]) -> Path:
        text = (FILES / name).read_text(encoding="utf-8")
        for old, new in pairs:
            assert old in text, old
            text = text.replace(old, new)
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return copy


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], Path]:
    """A vector kernel with the given operations behind some that every test needs."""

    def write(body: str, arguments: str = "%n: index, %p: !pto.ptr<f32>") -> Path:
        head = (
            f"func.func @k({arguments}) attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{\n"
            "  %c0 = arith.constant 0 : index\n"
            "  %c1 = arith.constant 1 : index\n"
            "  %c4 = arith.constant 4 : index\n"
            "  %t = pto.alloc_tile : !pto.tile_buf<vec, 16x64xf32>\n"
        )
        path = tmp_path / "kernel.pto"
        path.write_text(f"{head}{body}\n  return\n}}\n", encoding="utf-8")
        return path

    return write
