"""House rules that no linter knows."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("cost_models", "dashboards", "db", "pto_tune")
LONGEST = 600


def project_files() -> list[Path]:
    """What git tracks or would track; in an unpacked source archive, everything that lies there."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode == 0:
        files = [ROOT / name for name in listed.stdout.split("\0") if name]
    else:
        files = [
            file
            for file in ROOT.rglob("*")
            if not any(part[0] == "." or part == "__pycache__" for part in file.relative_to(ROOT).parts[:-1])
        ]
    return sorted(file for file in files if file.is_file())


def sources() -> list[Path]:
    return [file for file in project_files() if file.suffix == ".py" and file.relative_to(ROOT).parts[0] in PACKAGES]


def forbidden(tree: ast.AST) -> list[str]:
    """Calls and imports by which text could become code, with their lines."""
    found: list[str] = []
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="eval" | "exec" as name)):
                found.append(f"{node.lineno}: {name}()")
            case ast.Attribute(value=ast.Name(id="os"), attr="system" | "popen" as name):
                found.append(f"{node.lineno}: os.{name}")
            case ast.ImportFrom(module="os", names=names) if {"system", "popen"} & {n.name for n in names}:
                found.append(f"{node.lineno}: os.system")
            case ast.keyword(arg="shell", value=ast.Constant(value=True)):
                found.append(f"{node.lineno}: shell=True")
            case ast.Import(names=names) if any(is_pickle(n.name) for n in names):
                found.append(f"{node.lineno}: pickle")
            case ast.ImportFrom(module=str(module)) if is_pickle(module):
                found.append(f"{node.lineno}: pickle")
            case ast.Call(func=ast.Attribute(attr="read_pickle" | "to_pickle")):
                found.append(f"{node.lineno}: pickle")
    return found


def is_pickle(module: str) -> bool:
    return module.partition(".")[0] in (
        "pickle",
        "cPickle",
        "_pickle",
        "dill",
        "cloudpickle",
        "marshal",
        "shelve",
    )


def test_there_is_something_to_check() -> None:
    assert {file.relative_to(ROOT).parts[0] for file in sources()} == set(PACKAGES)


def test_no_module_is_longer_than_it_can_be_read() -> None:
    lengths = {str(file.relative_to(ROOT)): len(file.read_text("utf-8").splitlines()) for file in sources()}
    assert {name: length for name, length in lengths.items() if length > LONGEST} == {}


def test_no_text_becomes_code() -> None:
    found = {str(file.relative_to(ROOT)): forbidden(ast.parse(file.read_bytes())) for file in sources()}
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "code",
    [
        "eval('1')",
        "exec('1')",
        "import os; os.system('ls')",
        "from os import system",
        "import pickle",
        "from pickle import loads",
        "import subprocess as s; s.run('ls', shell=True)",
        "frame.to_pickle('x')",
    ],
)
def test_the_search_for_it_finds_it(code: str) -> None:
    assert forbidden(ast.parse(code)) != []


def test_the_search_for_it_leaves_other_code_alone() -> None:
    assert forbidden(ast.parse("model.eval()\nevaluate(x)\nrun(['ls'], shell=False)\nimport json")) == []


# Put together here, so that this file does not contain what it looks for.
OUTSIDE = re.compile(r"(?<![\w.-])(?:" + "/wo" + r"rk(?![\w.-])|" + "sha" + "red/)")


def test_no_file_names_a_folder_outside_of_the_project() -> None:
    found: list[str] = []
    for file in project_files():
        try:
            text = file.read_text("utf-8")
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if OUTSIDE.search(line):
                found.append(f"{file.relative_to(ROOT)}:{number}: {line.strip()[:80]}")
    assert found == []


def test_the_search_for_outside_folders_finds_them() -> None:
    for text in ("see /wo" + "rk/main", "(/wo" + "rk)", "../sha" + "red/DESIGN.md", "in sha" + "red/data"):
        assert OUTSIDE.search(text), text
    for text in ("/workload", "a/workbook", "https://example.org/work-flow", "unsha" + "red/x"):
        assert OUTSIDE.search(text) is None, text


def test_no_test_folder_is_a_package() -> None:
    # With one, tests/db would be imported as `db` in place of the package.
    assert [str(file) for file in (ROOT / "tests").rglob("__init__.py")] == []
