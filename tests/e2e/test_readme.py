"""What the README says works as it stands there."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[2] / "README.md"


def blocks(language: str) -> list[str]:
    """Code blocks of a language, "" for those without one."""
    return re.findall(rf"^```{language}\n(.*?)^```", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_the_shell_commands_of_the_quick_start(tmp_path: Path) -> None:
    lines = [line for block in blocks("") for line in block.splitlines() if line.startswith("pto-tune ")]
    assert len(lines) >= 4
    for line in lines:
        command = [sys.executable, "-m", "pto_tune.cli.main", *shlex.split(line, comments=True)[1:]]
        if "serve" in command:
            serves([part for part in command if part != "--open"], tmp_path)
            continue
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, (line, done.stderr)
    assert {"pipes.hpp", "report.html", "pto-tune.db"} <= {p.name for p in tmp_path.iterdir()}


def serves(command: list[str], folder: Path) -> None:
    """A server starts, and ends when it is told to."""
    process = subprocess.Popen([*command, "--port", "0"], cwd=folder, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    with process.stdout as stream:
        assert "http://127.0.0.1:" in stream.readline()
        process.terminate()
        process.wait(60)


def test_the_script(tmp_path: Path) -> None:
    (block,) = blocks("python")
    script = tmp_path / "script.py"
    script.write_text(block, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, script.name], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "overwrite" in done.stdout or "hang" in done.stdout
    assert (tmp_path / "pipes.hpp").exists()


@pytest.mark.parametrize("name", ["flash_attention", "gemm", "stream"])
def test_the_table_of_workloads_names_every_size_and_tunable(name: str) -> None:
    from pto_tune.workloads import workload

    work = workload(name)
    (row,) = [line for line in README.read_text(encoding="utf-8").splitlines() if line.startswith(f"| `{name}` |")]
    cells = [cell.strip().strip("`").split() for cell in row.split("|")[2:4]]
    assert cells == [[p.name for p in work.problem], [t.name for t in work.tunables]]
