"""`pto-tune export --format pto`: from a kernel file over a run to the file with the run's values."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pto_tune.kernels.reading import read_kernel

Cli = Callable[..., Any]
Wrong = Callable[..., list[str]]
FILES = Path(__file__).parents[1] / "kernels" / "files"


@pytest.fixture(scope="module")
def kernels(app: Any, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A store with a run of product.pto itself, and one of what was imported from slots.pto."""
    folder = tmp_path_factory.mktemp("kernels")
    url = f"sqlite:///{folder / 'runs.db'}"
    for line in (
        ["tune", FILES / "product.pto", "--db", url, "--name", "product", "--quiet"],
        ["import", FILES / "slots.pto", "-o", folder / "slots.json"],
        ["tune", folder / "slots.json", "--db", url, "--name", "slots", "--quiet"],
    ):
        done = CliRunner().invoke(app, [str(word) for word in line])
        assert done.exit_code == 0, done.output
    return url


def test_the_best_of_a_run_is_in_the_patched_file(kernels: str, tmp_path: Path, cli: Cli) -> None:
    done = cli("export", "product", "-f", "pto", "--source", FILES / "product.pto", "-o", "best.pto", "--db", kernels)
    assert (done.exit_code, done.stderr) == (0, "")
    best = json.loads(cli("show", "product", "--db", kernels, "--json").stdout)["rows"][0]["configuration"]
    patched = read_kernel(tmp_path / "best.pto").workload
    assert {t.name: t.default for t in patched.tunables if t.name != "pipe3_split"} == {
        name: best[name] for name in ("pipe3_slot_num", "pipe3_local_slot_num")
    }
    assert cli("lint", "best.pto").exit_code == 0


def test_a_row_and_a_json_file_do_as_well(kernels: str, tmp_path: Path, cli: Cli) -> None:
    rows = json.loads(cli("show", "product", "--db", kernels, "--top", "99", "--json").stdout)["rows"]
    row = next(r for r in rows if r["configuration"]["pipe3_slot_num"] == 2)
    source = ("--format", "pto", "--source", FILES / "product.pto")
    assert cli("export", "product", "--row", row["row"], *source, "-o", "a.pto", "--db", kernels).exit_code == 0
    assert cli("export", "product", "--row", row["row"], "-f", "json", "-o", "a.json", "--db", kernels).exit_code == 0
    assert cli("export", "a.json", *source, "-o", "b.pto").exit_code == 0
    assert (tmp_path / "a.pto").read_bytes() == (tmp_path / "b.pto").read_bytes()
    assert b"slot_num = 2" in (tmp_path / "a.pto").read_bytes()


def test_a_larger_ring_is_refused_unless_it_is_accepted(kernels: str, tmp_path: Path, cli: Cli, wrong: Wrong) -> None:
    line = ("export", "slots", "-f", "pto", "--source", FILES / "slots.pto", "-o", "x.pto", "--db", kernels)
    said, hint = wrong(cli(*line), code=1)
    assert "the ring of 'pipe0' in global memory takes 32768 bytes a block instead of 8192" in said
    assert "--accept-loss" in hint
    assert not (tmp_path / "x.pto").exists()
    done = cli(*line, "--accept-loss")
    assert done.exit_code == 0
    assert "left out: that the ring of 'pipe0'" in done.stdout
    assert (tmp_path / "x.pto").read_text().count("slot_num = 8") == 2


def test_another_file_than_the_analysed_one_is_refused(kernels: str, tmp_path: Path, cli: Cli, wrong: Wrong) -> None:
    other = tmp_path / "other.pto"
    text = (FILES / "product.pto").read_text(encoding="utf-8")
    other.write_text(text.replace("slot_num = 4", "slot_num = 8"), encoding="utf-8")
    line = ("export", "product", "-f", "pto", "-o", "x.pto", "--db", kernels, "--source")
    (said,) = wrong(cli(*line, other), code=1)
    assert "other.pto is not the file that was analysed (sha256 " in said
    other.write_bytes(text.replace("\n", "\r\n").encode())
    assert cli(*line, other).exit_code == 0
    assert b"\r\n" in (tmp_path / "x.pto").read_bytes()


def test_a_patched_file_is_never_written_over_another(kernels: str, tmp_path: Path, cli: Cli, wrong: Wrong) -> None:
    copy = tmp_path / "mine.pto"
    copy.write_bytes((FILES / "product.pto").read_bytes())
    line = ("export", "product", "-f", "pto", "--source", copy, "-o", copy, "--db", kernels)
    (said,) = wrong(cli(*line))
    assert "mine.pto was not written by pto-tune" in said
    assert copy.read_bytes() == (FILES / "product.pto").read_bytes()
    assert cli(*line, "--force").exit_code == 0
    assert b"slot_num = 1" in copy.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["product", "-f", "pto"], "--format pto and --source"),
        (["product", "--source", FILES / "product.pto"], "--format pto and --source"),
        (["product", "-f", "pto", "--source", "none.pto"], "none.pto:1:1: cannot be read"),
    ],
)
def test_format_and_source_belong_together(
    kernels: str, arguments: list[Any], words: str, tmp_path: Path, cli: Cli, wrong: Wrong
) -> None:
    (said,) = wrong(cli("export", *arguments, "--db", kernels))
    assert words in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"\xff\xfe", b"module {", b"(" * 100_000, b"x" * (50 * 2**20)])
def test_what_is_no_kernel_is_refused_with_a_place(
    kernels: str, content: bytes, tmp_path: Path, cli: Cli, wrong: Wrong
) -> None:
    (tmp_path / "bad.pto").write_bytes(content)
    said = wrong(cli("export", "product", "-f", "pto", "--source", "bad.pto", "--db", kernels), code=1)
    assert said[0].startswith(("pto-tune: bad.pto:1:", "bad.pto:1:", "pto-tune: bad.pto is not the file", "bad.pto is"))


def test_a_run_of_no_kernel_file_has_no_pto(url: str, cli: Cli, wrong: Wrong) -> None:
    (said,) = wrong(cli("export", "first", "-f", "pto", "--source", FILES / "product.pto", "--db", url), code=1)
    assert "workload 'stream' was read from no .pto file" in said


NAMES = ["with blank.pto", 'quote\'s "x".pto', "管道 🚀.pto", "${HOME}.pto", "a;b&c.pto"]


@pytest.mark.parametrize("name", NAMES)
def test_names_of_files_survive(name: str, tmp_path: Path, cli: Cli) -> None:
    source, url = tmp_path / name, f"sqlite:///{tmp_path / 'runs.db'}"
    source.write_bytes((FILES / "product.pto").read_bytes())
    assert cli("tune", source, "--set", "pipe3_slot_num=2", "--db", url, "--name", name, "--quiet").exit_code == 0
    out = tmp_path / f"out {name}"
    done = cli("export", name, "-f", "pto", "--source", source, "-o", out, "--db", url)
    assert done.exit_code == 0, done.output
    assert b"slot_num = 2" in out.read_bytes()
    for form in ("header", "cmake", "definitions", "json", "python"):
        done = cli("export", name, "-f", form, "-o", tmp_path / f"{form} {name}", "--db", url)
        assert done.exit_code == 0, done.output
    assert read_kernel(source).workload.source_sha256 in (tmp_path / f"header {name}").read_text(encoding="utf-8")
