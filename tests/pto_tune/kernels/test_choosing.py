"""Which functions of a file are a kernel, and what is done with several."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pto_tune.cli.main import build_app
from pto_tune.kernels.faults import KernelError
from pto_tune.kernels.linting import lint
from pto_tune.kernels.patching import Wanted, patch
from pto_tune.kernels.reading import kernel_names, read_kernel, read_text

FILES = Path(__file__).parent / "files"

BOTH = """
  func.func @{cube}() attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
    %far = pto.import_reserved_buffer{{name = "ring", peer_func = @{vector}}} -> i32
    %q = pto.initialize_l2l_pipe {{dir_mask = 1, slot_size = 1024, slot_num = 4}} (%far : i32) -> !pto.pipe
    return
  }}
  func.func @{vector}() attributes {{pto.kernel_kind = #pto.kernel_kind<vector>}} {{
    %near = pto.reserve_buffer{{name = "ring", size = 4096, location = <vec>, auto = true}} -> i32
    %q = pto.initialize_l2l_pipe {{dir_mask = 1, slot_size = 1024, slot_num = 4}} (%near : i32) -> !pto.pipe
    return
  }}
"""


def text(name: str) -> str:
    return (FILES / name).read_text(encoding="utf-8")


@pytest.fixture
def several(tmp_path: Path) -> Path:
    """Two kernels in one file, with one pipe each."""
    path = tmp_path / "several.pto"
    path.write_text(text("handles.pto") + text("handles.pto").replace("@mixed", "@other").replace("4096", "8192"))
    return path


def names(*bodies: str, extra: str = "") -> list[str]:
    return kernel_names("module {" + "".join(bodies) + extra + "}", "k.pto")


@pytest.mark.parametrize("name", ["product.pto", "both_ways.pto", "handles.pto", "local_handles.pto", "ranks.pto"])
def test_a_file_with_one_kernel_has_one(name: str) -> None:
    assert kernel_names(text(name), name) == [read_kernel(FILES / name).workload.name]


def test_functions_that_share_a_buffer_are_one_kernel_whatever_their_order() -> None:
    first, second = BOTH.format(cube="c1", vector="v1"), BOTH.format(cube="c2", vector="v2")
    assert names(first, second) == ["c1", "c2"]
    swapped = names(first.replace("@v1}", "@v2}"), second.replace("@v2}", "@v1}"))
    assert swapped == ["c1", "c2"]
    kernel = read_text("module {" + first + second + "}", "k.pto", family="a5", name_of_kernel="v2")
    assert [e.function for e in kernel.pipes[0].ends] == ["c2", "v2"]


def test_functions_that_one_calls_are_one_kernel() -> None:
    plain = "func.func @{0}() attributes {{pto.kernel_kind = #pto.kernel_kind<{1}>}} {{ return }}\n"
    bodies = [plain.format(n, k) for n, k in (("a", "cube"), ("b", "cube"), ("x", "vector"), ("y", "vector"))]
    call = "func.func @run() {\n  func.call @a() : () -> ()\n  func.call @y() : () -> ()\n  return\n}\n"
    assert len(names(*bodies, extra=call)) == 2
    kernel = read_text("module {" + "".join(bodies) + call + "}", "k.pto", name_of_kernel="y")
    assert "@a, @y" in kernel.workload.doc


def test_without_a_name_several_kernels_are_refused_with_their_names(several: Path) -> None:
    with pytest.raises(KernelError, match=r"has 2 kernels \(mixed, other\): expected one, or the name of one"):
        read_kernel(several)
    with pytest.raises(KernelError, match="has no kernel 'third': expected one of mixed, other"):
        read_kernel(several, kernel="third")
    assert read_kernel(several, kernel="other").workload.name == "other"


def test_a_checked_file_has_a_verdict_for_all_of_its_kernels(several: Path) -> None:
    report = lint(several, values={"n": 8})
    assert report.verdict == "ok"
    assert [name for name, _ in report.kernels] == ["mixed", "other"]
    assert all(us is not None and us > 0 for _, us in report.kernels)
    several.write_text(several.read_text().replace("slot_size = 8192", "slot_size = 512"))
    report = lint(several)
    assert report.verdict == "refused"
    assert {f.rule for f in report.findings} >= {"pipe0-slot-size"}
    with pytest.raises(ValueError, match=r"no kernel has m: expected a problem size or tunable"):
        lint(several, values={"m": 8})


def test_one_kernel_of_several_is_patched(several: Path) -> None:
    raw = several.read_bytes()
    patched = patch(raw, "s.pto", "a2a3", {"pipe0": Wanted(2, 1, 8192, 2)}, "other")
    assert patched != raw
    cut = raw.index(b"@other")
    assert patched[:cut] == raw[:cut]
    assert patched[cut:].count(b"slot_num = 2, local_slot_num = 1") == 1


def test_the_command_line_reads_one_of_several(several: Path, tmp_path: Path) -> None:
    def run(*words: Any) -> Any:
        return CliRunner().invoke(build_app(), [str(w) for w in words])

    out, url = tmp_path / "other.json", f"sqlite:///{tmp_path / 'runs.db'}"
    assert run("import", several, "--kernel", "other", "-o", out).exit_code == 0
    assert json.loads(out.read_text())["name"] == "other"
    assert "2 kernels" in run("import", several).stderr
    assert run("tune", out, "--set", "pipe0_slot_num=2", "--db", url, "--quiet").exit_code == 0
    done = run("export", "latest", "-f", "pto", "--source", several, "-o", tmp_path / "o.pto", "--db", url)
    assert done.exit_code == 0, done.output
    assert b"slot_num = 2" in (tmp_path / "o.pto").read_bytes().partition(b"@other")[2]
    done = run("lint", several, "--format", "json")
    assert [k["name"] for k in json.loads(done.stdout)["files"][0]["kernels"]] == ["mixed", "other"]
    assert "predicted mixed 1" in run("lint", several).stdout
