"""The example project: configured, compiled and run from committed JSON, and compiled again only where it has to be."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from pto_tune.exporters.cmake_package import folder as package_folder
from pto_tune.exporters.document import read_document
from pto_tune.exporters.formats import format_named, write

ROOT = Path(__file__).resolve().parents[2]
PROJECT = ROOT / "examples" / "cmake-project"
TOOLS = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"

Project = tuple[Path, Callable[..., subprocess.CompletedProcess[str]]]


def tool(*names: str) -> str:
    """The path of the first program that is there."""
    for name in names:
        if (found := shutil.which(name, path=TOOLS)) is not None:
            return found
    if os.environ.get("CI") == "true":
        pytest.fail(f"{' or '.join(names)} is missing: the example has to be built here")
    pytest.skip(f"{' or '.join(names)} is missing")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A copy of the project in a folder with a difficult name, and how to run a tool in it: with no store, no network
    proxy that answers, and `pto-tune` as a program."""
    copy = tmp_path / "项目 it's $x"
    shutil.copytree(PROJECT, copy)
    program = tmp_path / "pto-tune"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pto_tune.cli.main "$@"\n')
    program.chmod(0o755)
    compiler = tool("c++", "g++")

    def run(*arguments: object, ok: bool = True) -> subprocess.CompletedProcess[str]:
        own = {key: value for key, value in os.environ.items() if not key.startswith(("PTO_TUNE", "CMAKE"))}
        done = subprocess.run(
            [str(a) for a in arguments],
            cwd=copy,
            env={**own, "PYTHONPATH": str(ROOT), "PTO_TUNE_CONFIG": "", "PTO_TUNE_DB": "sqlite:///no/such/store.db",
                 "http_proxy": "http://127.0.0.1:9", "https_proxy": "http://127.0.0.1:9", "CXX": compiler},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )  # fmt: skip
        if ok:
            assert done.returncode == 0, done.stdout + done.stderr
        return done

    return copy, run


def configure(project: Project, generator: str = "Ninja", *options: str, ok: bool = True) -> str:
    """Configure into the folder `build`, and return what was said."""
    copy, run = project
    maker = tool("ninja") if generator == "Ninja" else tool("make")
    done = run(
        tool("cmake"), "-S", ".", "-B", "build", "-G", generator, f"-DCMAKE_MAKE_PROGRAM={maker}",
        f"-DPtoTune_DIR={package_folder()}", f"-DPTO_TUNE_EXECUTABLE={copy.parent / 'pto-tune'}", *options, ok=ok,
    )  # fmt: skip
    return done.stdout + done.stderr


def build(project: Project, *options: str, ok: bool = True) -> str:
    done = project[1](tool("cmake"), "--build", "build", *options, ok=ok)
    return done.stdout + done.stderr


def says(project: Project, program: str, *arguments: str, code: int = 0) -> str:
    done = project[1](project[0] / "build" / program, *arguments, ok=False)
    assert done.returncode == code
    return done.stdout


def pipe(size: int) -> dict[str, object]:
    """The first pipe of the committed recommendation of a size, with the constants."""
    (rec,) = json.loads((PROJECT / f"fa_{size}.json").read_text())["recommendations"]
    return {**rec["pipes"][0], **rec["constants"]}


@pytest.mark.parametrize("size", [1024, 4096])
def test_the_committed_recommendations_are_whole(size: int) -> None:
    (rec,) = read_document(PROJECT / f"fa_{size}.json")
    assert rec.verdict == "ok"
    assert rec.problem["s0"] == rec.problem["s1"] == size


@pytest.mark.parametrize("generator", ["Ninja", "Unix Makefiles"])
def test_it_is_configured_compiled_and_run(generator: str, project: Project) -> None:
    configure(project, generator)
    build(project)
    small, large = pipe(1024), pipe(4096)
    assert says(project, "kernel").splitlines() == [
        f"cube_s0={large['cube_s0']} tile_s1={large['tile_s1']} preload={large['qk_preload']}",
        f"qk depth={large['slot_num']} period={large['sync_period']} "
        f"ring={int(str(large['slot_num'])) * int(str(large['slot_bytes']))}",
    ]
    line = "choice={} tile_s1={} qk depth={} period={}\n"
    of = [line.format(i, p["tile_s1"], p["slot_num"], p["sync_period"]) for i, p in enumerate((small, large))]
    assert says(project, "dispatch") == of[1]
    assert says(project, "dispatch", "1024", "1024") == of[0]
    assert says(project, "dispatch", "4096", "4096") == of[1]
    assert "no configuration" in says(project, "dispatch", "64", "64", code=1)
    assert f"qk depth={large['slot_num']} period={large['sync_period']}" in says(project, "defines")


def test_only_another_recommendation_compiles_again(project: Project) -> None:
    copy, _ = project
    configure(project)
    build(project)
    header = copy / "build" / "pto_tune" / "kernel" / "fa_config.hpp"
    before = header.stat().st_mtime_ns
    assert "no work to do" in build(project)

    os.utime(copy / "fa_4096.json")  # touched, as by a checkout
    said = build(project)
    assert "Building CXX" not in said
    assert header.stat().st_mtime_ns == before

    (rec,) = read_document(copy / "fa_4096.json")
    write(format_named("json"), [replace(rec, constants={**rec.constants, "qk_preload": 2})], copy / "fa_4096.json")
    said = build(project)
    assert "kernel.cpp.o" in said
    assert header.stat().st_mtime_ns > before
    assert "preload=2" in says(project, "kernel")


def test_a_library_with_another_period_does_not_compile(project: Project) -> None:
    configure(project, "Ninja", "-DCMAKE_CXX_FLAGS=-DSTAND_IN_FULL_PERIOD")
    said = build(project, "--target", "kernel", ok=False)
    assert "derives another SyncPeriod than the recommended" in said
    said = build(project, "--target", "dispatch", ok=False)
    assert "derives another SyncPeriod than the recommended" in said


def test_a_size_without_a_configuration_does_not_compile(project: Project) -> None:
    copy, _ = project
    source = copy / "dispatch.cpp"
    source.write_text(source.read_text().replace("0, 128, 4096, 4096", "0, 128, 4096, 8192"))
    configure(project)
    assert "no configuration was exported for this problem size" in build(project, "--target", "dispatch", ok=False)


def test_a_header_that_was_changed_by_hand_stops_the_build(project: Project) -> None:
    copy, _ = project
    configure(project)
    header = copy / "build" / "pto_tune" / "kernel" / "fa_config.hpp"
    header.write_text(header.read_text() + "// mine\n")
    assert "was changed by hand" in " ".join(configure(project, ok=False).split())


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("pto_tune_config(kernel fa_4096.json", "pto_tune_config(kernel", "no run for 'kernel'"),
        ("pto_tune_config(kernel fa_4096.json", "pto_tune_config(other fa_4096.json", "'other' is no target"),
        ("pto_tune_config(kernel fa_4096.json", "pto_tune_config(kernel none.json", "none.json: No such file"),
        ("NAMESPACE fa HEADER fa_config.hpp", "NAMESPACE std", "belongs to a library"),
        ("NAMESPACE fa HEADER fa_config.hpp", "NAMESPACE", "NAMESPACE needs a value"),
    ],
)
def test_wrong_use_is_said_while_configuring(before: str, after: str, words: str, project: Project) -> None:
    lists = project[0] / "CMakeLists.txt"
    text = lists.read_text()
    assert before in text
    lists.write_text(text.replace(before, after, 1))
    assert words in " ".join(configure(project, ok=False).split())


def test_file_names_with_dollars_and_quotes_are_taken_as_they_are(project: Project) -> None:
    copy, _ = project
    (copy / "fa_4096.json").rename(copy / "配置 ${x} 'y'.json")
    lists = copy / "CMakeLists.txt"
    lists.write_text(lists.read_text().replace("fa_4096.json", "[=[配置 ${x} 'y'.json]=]"))
    configure(project)
    build(project, "--target", "kernel")
    assert says(project, "kernel")
