"""Any command with any arguments: an answer, or wrong use in words. Never a defect, never half a file.

Commands run in this process, in a folder with a store, a workload, a platform and files that are none of these. Left
out are servers, benchmarks and the demo, which take long by their nature.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import typer
from fuzzing import TEXTS, assert_sentences, fuzz, in_time
from hypothesis import example, given
from hypothesis import strategies as st
from typer.testing import CliRunner

from cost_models.schema import builtin_files
from pto_tune.cli.main import build_app
from pto_tune.model.serial import to_json
from pto_tune.workloads import workload

NUMBERS = ["0", "1", "-1", "2", "16", "1.5", "nan", "inf", "-0", "1e9", "2147483648", "9" * 30, "0x10", "１", " 3 "]
NAMES = ["tiles", "fifo_depth", "split", "sync_period", "slot_bytes", "s0", "x", "", "TILES", "tiles "]
PATHS = [
    "none.json", "own.json", "broken.json", "own.toml", "broken.toml", "rows.csv", "raw.bin", "folder", "folder/x", "",
    "/dev/null", "/dev/full", "no/where", "x" * 300, "a\0b", "../" * 40 + "x", "new.out", "kept.txt", "two words.json",
]  # fmt: skip
URLS = [
    "sqlite:///runs.db", "sqlite:///none.db", "sqlite:///raw.bin", "sqlite:///folder", "sqlite://", "sqlite:///:memory:",
    "postgresql://u@127.0.0.1:1/d?connect_timeout=1", "mysql://x", "x", "", "sqlite:///no/where.db",
]  # fmt: skip
WORKLOADS = ["stream", "own.json", "broken.json", "nothing", "streem", "", "raw.bin", "folder"]
PLATFORMS = [
    "ascend910b2",
    "ascend950pr",
    "own.toml",
    "broken.toml",
    "a2a3-published",
    "ascend",
    "",
    "raw.bin",
    "folder",
]
RUNS = ["1", "latest", "first", "2", "0", "-1", "9" * 30, "nobody", "", "1.5", "own.json", "broken.json"]
FORMATS = ["header", "cmake", "definitions", "json", "cases", "python", "template", "pto", "yaml"]

texts = st.sampled_from([*TEXTS, *NUMBERS])
assignments = st.builds(
    lambda name, sign, value: f"{name}{sign}{value}",
    st.sampled_from(NAMES),
    st.sampled_from(["=", "=", "=", "", "==", ":"]),
    st.sampled_from([*NUMBERS, "UP_DOWN", "NO_SPLIT", "C2V", "", "1,2,4", ",", "1,1", "4,x", "a=b"]),
)


def option(name: str, values: Any) -> Any:
    """An option with one of some values, at times with none or anything."""
    return st.builds(lambda value: [name, value], values) | st.just([name]) | st.builds(lambda v: [name, v], texts)


def one_of(*words: str) -> Any:
    return st.sampled_from(words)


WORKLOAD = st.sampled_from(WORKLOADS).map(lambda w: [w])
RUN = st.sampled_from(RUNS).map(lambda r: [r])
PATH = st.sampled_from(PATHS).map(lambda p: [p])
SET = option("--set", assignments)
DOMAIN = option("--domain", assignments)
GRID = option("--grid", assignments)
PLATFORM = option("--platform", st.sampled_from(PLATFORMS))
ISA = option("--pto-isa", one_of("a2a3", "a5", "2026-01-01", "deadbeef", ""))
TIMING = option("--timing", one_of("task", "event", "sync", "device", ""))
DB = option("--db", st.sampled_from(URLS))
TOP = option("--top", st.sampled_from(NUMBERS))
ROW = option("--row", st.sampled_from(NUMBERS))
SEED = option("--seed", st.sampled_from(NUMBERS))
NAME = option("--name", texts)
OUT = option("--output", st.sampled_from(PATHS))
JSON, QUIET, FORCE, HELP = (st.just([flag]) for flag in ("--json", "--quiet", "--force", "--help"))
STRATEGY = option("--strategy", one_of("auto", "exhaustive", "tpe", "random", "qmc", "best"))
OBJECTIVE = option("--objective", one_of("time", "memory", "money"))
SCHEDULER = option("--scheduler", one_of("tcp://", "localhost", "tcp://127.0.0.1:99999x", "http://a:1", ""))

FORMS: list[tuple[list[str], list[Any], list[Any]]] = [
    (["tune"], [WORKLOAD], [SET, DOMAIN, PLATFORM, ISA, TIMING, DB, TOP, SEED, NAME, JSON, QUIET, STRATEGY, OBJECTIVE,
                            SCHEDULER, st.just(["--no-db"])]),
    (["evaluate"], [WORKLOAD], [SET, GRID, PLATFORM, ISA, TIMING, JSON, QUIET]),
    (["explain"], [WORKLOAD | RUN], [SET, PLATFORM, ISA, ROW, DB, JSON, option("--trace", st.sampled_from(PATHS)),
                                     option("--timeline", st.sampled_from(NUMBERS))]),
    (["show"], [RUN], [TOP, DB, JSON, option("--sort", one_of("time", "memory", "row", "x"))]),
    (["export"], [RUN], [OUT, FORCE, ROW, DB, PLATFORM, TOP, option("--namespace", texts), option("--prefix", texts),
                         option("--format", st.sampled_from(FORMATS)), option("--template", st.sampled_from(PATHS)),
                         st.just(["--pareto"]), st.just(["--accept-loss"])]),
    (["space"], [WORKLOAD], [SET, DOMAIN, PLATFORM, JSON, option("--seconds", one_of("0", "0.1", "nan", "-1"))]),
    (["runs"], [], [DB, JSON]),
    (["runs", "list"], [], [DB, JSON]),
    (["runs", "show"], [RUN], [DB, JSON, TOP]),
    (["runs", "resume"], [RUN], [DB, JSON, TOP, PLATFORM, SCHEDULER]),
    (["runs", "rename"], [RUN, texts.map(lambda t: [t])], [DB]),
    (["runs", "delete"], [RUN], [DB, st.just(["--yes"])]),
    (["platforms"], [], [JSON]),
    (["platforms", "show"], [st.sampled_from(PLATFORMS).map(lambda p: [p])], [JSON]),
    (["platforms", "check"], [PATH], [JSON]),
    (["workloads"], [], [JSON]),
    (["workloads", "show"], [WORKLOAD], [JSON]),
    (["rules"], [], [JSON, PLATFORM, ISA]),
    (["measure", "import"], [PATH], [DB, JSON, TIMING, PLATFORM, option("--map", st.sampled_from(PATHS))]),
    (["measure", "template"], [WORKLOAD], [SET, PLATFORM, OUT, FORCE]),
    (["measure", "list"], [], [DB, JSON]),
    (["calibrate"], [], [option("--fit", texts), option("--measurements", st.sampled_from(PATHS)), OUT, DB, PLATFORM]),
    (["lint"], [PATH], [PLATFORM, SET, option("--format", one_of("text", "json", "sarif", "x"))]),
    (["import"], [PATH], [option("--out", st.sampled_from(PATHS)), FORCE, JSON]),
    (["rank"], [PATH], [JSON, PLATFORM, SEED]),
    (["check"], [PATH], [DB, JSON, option("--max-regression", st.sampled_from(["2%", "0.02", *NUMBERS]))]),
    (["db", "check"], [], [DB, JSON]),
    (["db", "export"], [PATH], [DB, FORCE, JSON]),
    (["db", "import"], [PATH], [DB, JSON]),
    (["db", "prune"], [], [DB, JSON, st.just(["--failed"]), st.just(["--dry-run"]), option("--keep", texts),
                           option("--older-than", one_of("1h", "30d", "0w", "-1d", "9" * 12 + "d", "soon", ""))]),
    (["db", "vacuum"], [], [DB, JSON, st.just(["--full"])]),
    (["db", "upgrade"], [], [DB, JSON, st.just(["--no-backup"])]),
    (["robust"], [st.just(["stream"]) | WORKLOAD], [SET, DOMAIN, PLATFORM, ISA, TIMING, TOP, SEED, JSON,
                                                    option("--scenario", assignments)]),
    (["doctor"], [], [DB, JSON]),
    (["report"], [RUN], [OUT, FORCE, DB]),
    ([], [], [st.just(["--version"]), st.just(["-v"]), HELP]),
]  # fmt: skip


@st.composite
def lines(draw: st.DrawFn) -> list[str]:
    """A command with arguments: mostly of its own grammar, in any number, with a stranger now and then."""
    command, required, optional = draw(st.sampled_from(FORMS))
    words = list(command)
    for argument in required:
        words += draw(st.sampled_from([0, 1, 1, 1, 1, 1, 1, 2])) * draw(argument)
    for _ in range(draw(st.integers(0, 4))):
        words += draw(st.sampled_from(optional).flatmap(lambda chosen: chosen)) if optional else []
    if draw(st.integers(0, 9)) == 0:
        words.insert(draw(st.integers(0, len(words))), draw(texts))
    return words


@pytest.fixture(scope="module")
def app() -> typer.Typer:
    return build_app()


@pytest.fixture(scope="module")
def template(app: typer.Typer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with something of everything."""
    made = tmp_path_factory.mktemp("template")
    (made / "folder").mkdir()
    (made / "own.json").write_text(to_json(workload("stream")), "utf-8")
    (made / "broken.json").write_text('{"format": "pto-tune-workload/1", "name": ', "utf-8")
    own = builtin_files()["ascend910b2"].read_text("utf-8").replace('name = "ascend910b2"', 'name = "own"')
    (made / "own.toml").write_text(own, "utf-8")
    (made / "broken.toml").write_text(own[:300], "utf-8")
    (made / "rows.csv").write_text("workload,platform,timing,time_us,tiles\nstream,ascend910b2,task,30,16\n", "utf-8")
    (made / "raw.bin").write_bytes(bytes(range(256)) * 4)
    (made / "kept.txt").write_text("of somebody else", "utf-8")
    url = f"sqlite:///{made / 'runs.db'}"
    result = CliRunner().invoke(app, ["tune", "stream", "--set", "tiles=16", "--db", url, "--name", "first", "--quiet"])
    assert result.exit_code == 0, result.output
    return made


def digests(folder: Path) -> dict[str, str]:
    """The files of a folder, but for the store's."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and ".db" not in path.name
    }


def written_whole(path: Path) -> bool:
    """Whether a file is one that a command has written to its end."""
    text = path.read_text("utf-8")
    if text.startswith("{") or path.suffix == ".json":
        json.loads(text)
    return text.endswith("\n") or text.rstrip().endswith(("}", "]", "</html>"))


def run(app: typer.Typer, template: Path, words: list[str]) -> Any:
    """Run a command in a copy of the folder, and look at all that it leaves behind."""
    folder = template.parent / "copy"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(template, folder)
    before = digests(folder)
    at = os.getcwd()
    os.chdir(folder)
    try:
        with in_time(10.0):
            result = CliRunner().invoke(app, words, prog_name="pto-tune")
    finally:
        os.chdir(at)
    told = f"{words}\n{result.output}"
    assert result.exit_code in (0, 1, 2), told
    assert "Traceback" not in result.output, told
    assert "internal error" not in result.output, told
    after = digests(folder)
    changed = [name for name, digest in after.items() if before.get(name) != digest]
    if result.exit_code == 2:
        # a group without a command prints its help, and lint its findings about files that it cannot read
        if not result.stderr.startswith("Usage: ") and not (words[:1] == ["lint"] and result.stdout):
            assert_sentences(result.stderr.strip("\n"))
            assert all(line.startswith("pto-tune: ") for line in result.stderr.splitlines()), told
        assert changed == [], told
    assert before.keys() <= after.keys(), told
    assert all(written_whole(folder / name) for name in changed), told
    if "--force" not in words and "-f" not in words:
        assert not set(changed) & set(before), told
    return result


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No settings of whoever runs the tests."""
    for name in ("PTO_TUNE_DB", "PTO_TUNE_DEBUG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PTO_TUNE_CONFIG", "")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", os.environ.get("XDG_CACHE_HOME", str(Path("~/.cache").expanduser())))


@fuzz(110)
@given(words=lines())
@example(words=["tune", "stream", "--set", "tiles=2147483648", "--no-db", "--quiet"])
@example(words=["evaluate", "stream", "--grid", "tiles=" + ",".join(map(str, range(1, 3000)))])
@example(words=["explain", "stream", "--trace", "/dev/full"])
@example(words=["export", "latest", "--db", "sqlite:///runs.db", "-o", "kept.txt"])
@example(words=["report", "latest", "--db", "sqlite:///runs.db", "-o", "no/where"])
def test_any_command_answers_or_says_what_is_wrong(app: typer.Typer, template: Path, words: list[str]) -> None:
    run(app, template, words)
