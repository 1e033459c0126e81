"""What the pages show works as it stands there: files are written, Python is run, commands print what is shown."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from pto_tune.cli.main import build_app

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "pages"
REST = "..."
BLOCK = re.compile(r"^```(\w*)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    language: str
    title: str
    text: str


def blocks(page: str) -> list[Block]:
    return [Block(*match.groups("")) for match in BLOCK.finditer((PAGES / page).read_text("utf-8"))]


def sessions(text: str) -> Iterator[tuple[str, str]]:
    """Commands of a console block, each with the output that stands below it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        yield command, shown.strip()


ALL = sorted(str(path.relative_to(PAGES)) for path in PAGES.rglob("*.md"))
WITH_BLOCKS = [page for page in ALL if blocks(page)]


def test_there_is_something_to_run() -> None:
    wanted = {"index.md", "add-platform.md", "add-instruction.md", "add-workload.md", "add-exporter.md"}
    assert wanted <= set(WITH_BLOCKS)
    for page in wanted:
        assert any(block.language == "console" for block in blocks(page)) or page == "add-instruction.md"


@pytest.mark.parametrize("page", WITH_BLOCKS)
def test_every_block_is_a_session_or_a_file(page: str) -> None:
    """So nothing is shown that no test runs."""
    text = (PAGES / page).read_text("utf-8")
    assert len(re.findall(r"^```\w*.*$", text, re.MULTILINE)) == 2 * len(blocks(page))
    for block in blocks(page):
        assert block.language == "console" or block.title, block.text
        if block.language == "console":
            assert list(sessions(block.text))
            assert block.text.startswith("$ ")


@pytest.mark.parametrize("page", WITH_BLOCKS)
def test_a_page_works_from_top_to_bottom(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PTO_TUNE_DB", raising=False)
    monkeypatch.setenv("PTO_TUNE_CONFIG", "")
    app = build_app()
    for block in blocks(page):
        if block.title:
            Path(block.title).write_text(block.text, encoding="utf-8")
        if block.language == "python":
            runs(block.title, tmp_path)
        elif block.language == "console":
            for command, shown in sessions(block.text):
                prints(app, command, shown)


def runs(script: str, folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, script], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr


def prints(app: typer.Typer, command: str, shown: str) -> None:
    words = shlex.split(command)
    assert words[0] == "pto-tune"
    done: Any = CliRunner().invoke(app, words[1:], prog_name="pto-tune")
    assert done.exit_code in (0, 1), (command, done.output)
    printed = (done.stdout.strip() or done.stderr.strip()) if shown else ""
    pattern = ".*".join(re.escape(part) for part in shown.split(REST))
    assert re.fullmatch(pattern, printed, re.DOTALL), (command, printed)


def commands_in(text: str) -> list[str]:
    """Commands that stand in a sentence."""
    return re.findall(r"`(pto-tune [^`]+)`", text)


def known(command: str) -> list[str]:
    """What of a command there is not."""
    here = typer.main.get_command(build_app())
    faults = []
    for word in shlex.split(command)[1:]:
        if word.startswith("-"):
            options = {name for p in here.params for name in (*p.opts, *p.secondary_opts)}
            if word.partition("=")[0] not in options:
                faults.append(word)
        elif hasattr(here, "commands") and word in here.commands:
            here = here.commands[word]
        elif hasattr(here, "commands"):
            faults.append(word)
    return faults


@pytest.mark.parametrize("page", ALL)
def test_a_command_in_a_sentence_exists(page: str) -> None:
    for command in commands_in((PAGES / page).read_text("utf-8")):
        assert known(command) == [], command


def test_the_search_for_commands_that_do_not_exist_finds_them() -> None:
    assert known("pto-tune tune flash_attention --set s0=1") == []
    assert known("pto-tune tame flash_attention") != []
    assert known("pto-tune runs lift") != []
    assert known("pto-tune tune --sett s0=1") != []


@pytest.mark.parametrize("page", ALL)
def test_a_target_of_make_exists(page: str) -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for target in re.findall(r"`make ([\w-]+)`", (PAGES / page).read_text("utf-8")):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@pytest.mark.parametrize("page", ALL)
def test_a_file_or_folder_of_the_project_exists(page: str) -> None:
    for name in re.findall(
        r"`((?:cost_models|db|pto_tune|dashboards|tests)/[\w./]*)`", (PAGES / page).read_text("utf-8")
    ):
        assert (ROOT / name).exists(), name
