"""`pto-tune rank`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
Wrong = Callable[..., list[str]]


@pytest.fixture
def header(url: str, tmp_path: Path, cli: Cli) -> Path:
    assert cli("export", "first", "-o", "best.hpp", "--db", url).exit_code == 0
    return tmp_path / "best.hpp"


def test_the_best_of_a_run_is_the_first_today(header: Path, cli: Cli) -> None:
    done = cli("rank", header.name, "--quiet")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "verdict     ok\n" in done.stdout
    assert "place       1 of the " in done.stdout
    assert "when it was written" in done.stdout


def test_json_has_everything(header: Path, cli: Cli) -> None:
    found = json.loads(cli("rank", header.name, "--json", "--quiet").stdout)
    (best,) = found
    assert (best["place"], best["verdict"], best["changes"], best["sampled"]) == (1, "ok", [], False)
    assert best["slower_by"] == pytest.approx(0.0)
    assert best["looked_at"] == best["candidates"]
    assert best["configuration"]["tiles"] == 16


def test_a_change_by_hand_is_ranked_and_said(header: Path, cli: Cli) -> None:
    text = header.read_text()
    depth = next(int(line.split("= ")[1].rstrip(";\n")) for line in text.splitlines() if "C2v_FifoDepth = " in line)
    period = depth if depth <= 2 else depth // 2
    changed = text.replace(f"C2v_FifoDepth = {depth};", "C2v_FifoDepth = 1;")
    header.write_text(changed.replace(f"C2v_SyncPeriod = {period};", "C2v_SyncPeriod = 1;"))
    done = cli("rank", header.name, "--quiet")
    assert done.exit_code == 0, done.output
    assert "slower than the fastest" in done.stdout
    assert f"C2v_FifoDepth is 1, and {depth} by its tunables" in done.stdout
    assert "changed by hand" in done.stdout
    assert "fastest     " in done.stdout


def test_what_is_not_safe_is_exit_code_1(header: Path, cli: Cli) -> None:
    text = header.read_text()
    depth = next(line for line in text.splitlines() if "C2v_FifoDepth = " in line)
    period = next(line for line in text.splitlines() if line.startswith("inline") and "C2v_SyncPeriod = " in line)
    header.write_text(text.replace(depth, depth.split("=")[0] + "= 5;").replace(period, period.split("=")[0] + "= 2;"))
    done = cli("rank", header.name, "--quiet")
    assert done.exit_code == 1
    assert "verdict     overwrite: " in done.stdout
    assert "place       none" in done.stdout


def test_constants_that_fit_nothing_are_exit_code_1(header: Path, cli: Cli, wrong: Wrong) -> None:
    header.write_text(header.read_text().replace("C2v_FlagID = 0", "C2v_FlagID = 6"))
    (said,) = wrong(cli("rank", header.name, "--quiet"), code=1)
    assert "C2v_FlagID = 6 (expected 0)" in said


def test_a_sample_is_said_to_be_one(header: Path, cli: Cli) -> None:
    done = cli("rank", header.name, "--most", "20", "--quiet")
    assert done.exit_code == 0
    assert "20 sampled from " in done.stdout


def test_another_platform_may_be_asked(header: Path, cli: Cli) -> None:
    done = cli("rank", header.name, "--platform", "ascend910b1", "--quiet")
    assert done.exit_code == 0
    assert "has other numbers now" in done.stdout


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "No such file"),
        ("int x;\n", "no export of pto-tune"),
    ],
)
def test_other_files_are_one_sentence(content: str | None, words: str, tmp_path: Path, cli: Cli, wrong: Wrong) -> None:
    if content is not None:
        (tmp_path / "x.hpp").write_text(content)
    (said,) = wrong(cli("rank", "x.hpp"))
    assert "x.hpp" in said
    assert words in said


def test_a_workload_that_is_not_built_in_asks_for_its_file(tmp_path: Path, cli: Cli, wrong: Wrong) -> None:
    from pto_tune.model.serial import to_dict
    from pto_tune.workloads import workload

    model = {**to_dict(workload("stream")), "name": "mine"}
    (tmp_path / "mine.json").write_text(json.dumps(model))
    own = "sqlite:///own.db"
    assert cli("tune", "./mine.json", "--set", "tiles=16", "--db", own, "--quiet").exit_code == 0
    assert cli("export", "latest", "-o", "x.hpp", "--db", own).exit_code == 0
    (said,) = wrong(cli("rank", "x.hpp"))
    assert "'mine' is not built in" in said
    assert "--workload" in said
    assert cli("rank", "x.hpp", "--workload", "./mine.json", "--quiet").exit_code == 0
