"""`pto-tune calibrate`."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cost_models import load_platform
from pto_tune.evaluation import Problem, evaluate_columns
from pto_tune.workloads import workload

Cli = Callable[..., Any]
Wrong = Callable[..., list[str]]

FIT = ("--fit", "launch.event", "--fit", "dma.gm_to_ub.rate")


@pytest.fixture
def board(tmp_path: Path) -> Path:
    """Streams on a board whose launch takes 8 us and whose loads move 90 B/cycle, and four rows that do not fit."""
    chip = load_platform("ascend910b2", {"launch.event": 8.0, "dma.gm_to_ub.rate": 90.0})
    tiles, slots = [16, 64, 256, 1024] * 2, [8192] * 4 + [32768] * 4
    problem = Problem.of(workload("stream"), chip, timing="event")
    e = evaluate_columns(problem, {"tiles": tiles, "slot_bytes": slots, "store_cycles": [0] * 8})
    lines = ["workload,soc,timing,time_us,repeats,spread_us,tiles,slot_bytes,store_cycles"]
    lines += [
        f"stream,Ascend910B2,event,{time:.4f},20,0.1,{n},{size},0"
        for time, n, size in zip(e.time_us, tiles, slots, strict=True)
    ]
    lines += [
        "stream,Ascend910B1,event,50,,,64,32768,0",
        "stream,Ascend910B2,event,soon,,,64,32768,0",
        "stream,Ascend910B2,event,3,,,4096,32768,0",
        "stream,Ascend910B2,event,,,,128,32768,0",
    ]
    path = tmp_path / "board.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_it_fits_reports_and_writes_a_platform(board: Path, cli: Cli) -> None:
    done = cli("calibrate", *FIT, "--measurements", board.name, "-o", "mine.toml")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "ascend910b2, timing event: 2 numbers fitted to 8 measurements" in done.stdout
    assert "wrote mine.toml" in done.stdout
    assert "board.csv, row 11: time_us is 'soon'" in done.stdout
    assert "board.csv: row 13 has no time yet and stays out" in done.stdout
    assert "board.csv, row 10: soc 'Ascend910B1' is not the chip of platform ascend910b2" in done.stdout
    assert "board.csv, measurement 9: 3 us is less than the" in done.stdout
    assert cli("platforms", "check", "mine.toml").exit_code == 0
    shown = json.loads(cli("evaluate", "stream", "--platform", "mine.toml", "--timing", "event", "--json").stdout)
    assert shown[0]["time_us"] > 0
    fitted = load_platform(board.with_name("mine.toml"))
    assert fitted["launch.event"] == pytest.approx(8, rel=0.01)
    assert fitted["dma.gm_to_ub.rate"] == pytest.approx(90, rel=0.01)


def test_a_relative_of_the_chip_is_not_taken_for_it(board: Path, cli: Cli) -> None:
    with board.open("a", encoding="utf-8") as stream:
        stream.write("stream,Ascend910B2C,event,30,,,64,32768,0\nstream,,event,31.3,,,65,32768,0\n")
    answer = json.loads(cli("calibrate", *FIT, "--measurements", board, "--json").stdout)
    reasons = {one["where"]: one["reason"] for one in answer["left_out"]}
    assert "its soc is 'Ascend910B2C', which is not certainly Ascend 910B2" in reasons[f"{board}, measurement 10"]
    assert len(answer["rows"]) == 9  # a row without a chip is of the platform


def test_without_a_name_nothing_is_written(board: Path, tmp_path: Path, cli: Cli) -> None:
    done = cli("calibrate", *FIT, "--measurements", board)
    assert done.exit_code == 0
    assert "nothing was written: give -o FILE.toml" in done.stdout
    assert [file.name for file in tmp_path.iterdir()] == ["board.csv"]


def test_json_has_everything(board: Path, cli: Cli) -> None:
    answer = json.loads(cli("calibrate", *FIT, "--measurements", board, "--json").stdout)
    assert [n["key"] for n in answer["numbers"]] == ["launch.event", "dma.gm_to_ub.rate"]
    assert answer["numbers"][0]["before"] == 10
    assert answer["after"]["median"] < 0.01 < answer["before"]["median"]
    assert (len(answer["rows"]), len(answer["left_out"]), answer["degrees_of_freedom"]) == (8, 4, 6)
    assert len(answer["covariance"]) == 2
    assert answer["rows"][0]["workload"] == "stream"


def test_the_store_gives_the_same_file(board: Path, tmp_path: Path, cli: Cli) -> None:
    assert cli("measure", "import", board).exit_code == 1
    for folder, source in (("files", ("--measurements", board)), ("store", ("--workload", "stream"))):
        (tmp_path / folder).mkdir()
        done = cli("calibrate", *FIT, *source, "-o", f"{folder}/mine.toml")
        assert done.exit_code == 0, done.output
    assert "measurement 9: its chip is platform ascend910b1" in done.stdout
    assert (tmp_path / "files/mine.toml").read_bytes() == (tmp_path / "store/mine.toml").read_bytes()


def test_a_file_that_is_there_is_kept_and_nothing_is_computed(board: Path, cli: Cli, wrong: Wrong) -> None:
    board.with_name("mine.toml").write_text("kept", encoding="utf-8")
    command = ("calibrate", *FIT, "--measurements", board, "-o", "mine.toml")
    (said,) = wrong(cli(*command))
    assert said == "mine.toml is there already: give another name, or --force to overwrite it"
    assert board.with_name("mine.toml").read_text("utf-8") == "kept"
    assert cli(*command, "--force").exit_code == 0
    assert cli("platforms", "check", "mine.toml").exit_code == 0


def test_mixed_protocols_are_wrong_use(board: Path, cli: Cli, wrong: Wrong) -> None:
    with board.open("a", encoding="utf-8") as stream:
        stream.write("stream,Ascend910B2,task,30,,,64,32768,0\n")
    (said,) = wrong(cli("calibrate", *FIT, "--measurements", board))
    assert "event (9 rows), task (1 row)" in said
    assert "choose one of them by --timing" in said
    done = cli("calibrate", *FIT, "--measurements", board, "--timing", "events")
    assert done.exit_code == 0
    assert "it was timed by task, and the fit is of event" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--fit", "cores.cube"), "--fit cores.cube: it is a specification"),
        (("--fit", "launch.evnt"), "did you mean 'launch.event'"),
        ((*FIT, "--timing", "hourglass"), "unknown timing 'hourglass'"),
        ((*FIT, "--db", "sqlite:///x.db"), "--measurements and --db are both given"),
        ((*FIT, "--platform", "ascend910b9"), "unknown platform"),
        ((*FIT, "-o", "mine.txt"), "ends in .toml"),
        ((), "--fit"),
    ],
)
def test_wrong_use(arguments: tuple[str, ...], words: str, board: Path, cli: Cli, wrong: Wrong) -> None:
    said = wrong(cli("calibrate", "--measurements", board, *arguments))
    assert any(words in sentence for sentence in said), said


def test_what_the_rows_do_not_determine_is_a_failed_check(board: Path, cli: Cli, wrong: Wrong) -> None:
    done = cli("calibrate", "--fit", "vector.exp.slope", "--measurements", board, "-o", "mine.toml")
    said = wrong(done, 1)
    assert "vector.exp.slope has no influence on the 8 measurements" in said[-1]
    assert done.stdout == ""
    assert not board.with_name("mine.toml").exists()


def test_the_process_writes_the_same_bytes(
    board: Path, tmp_path: Path, cli: Cli, process: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    (tmp_path / "a").mkdir()
    assert cli("calibrate", *FIT, "--measurements", board, "-o", "a/mine.toml").exit_code == 0
    (tmp_path / "b").mkdir()
    done = process("calibrate", *FIT, "--measurements", board, "-o", "b/mine.toml", PTO_TUNE_THREADS="1")
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "a/mine.toml").read_bytes() == (tmp_path / "b/mine.toml").read_bytes()
    shutil.rmtree(tmp_path / "a")
    assert load_platform(tmp_path / "b" / "mine.toml").name == "mine"
