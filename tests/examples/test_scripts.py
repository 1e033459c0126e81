"""Every script of the examples: run as a user runs it, and what it prints and writes is what the API says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

import pto_tune
from pto_tune.checking.baseline import read_baseline
from pto_tune.exporters.document import read_document

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
SCRIPTS = sorted(path.name for path in EXAMPLES.glob("*.py"))


def run(script: str, folder: Path, *more: object, code: int = 0) -> str:
    """What a script prints. It starts in an empty folder, and leaves that and its temporary folder empty."""
    elsewhere, temporary = folder.parent / "elsewhere", folder.parent / "temporary"
    elsewhere.mkdir()
    temporary.mkdir()
    own = {key: value for key, value in os.environ.items() if not key.startswith("PTO_TUNE")}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(EXAMPLES / script), str(folder), *map(str, more)],
        cwd=elsewhere,
        env={**own, "PYTHONPATH": str(ROOT), "PTO_TUNE_CONFIG": "", "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    assert list(elsewhere.iterdir()) == []
    assert list(temporary.iterdir()) == []
    return done.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder for the results, which is not there yet, with a difficult name."""
    return tmp_path / "结果 it's"


def written(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_tune_and_export(folder: Path) -> None:
    said = run("tune_and_export.py", folder)
    assert written(folder) == {"pipes.hpp", "recommendation.json"}
    result = pto_tune.tune(
        "flash_attention",
        problem={"s0": 2048, "s1": 2048, "head": 128},
        domains={"fifo_depth": [2, 4, 6, 8], "cube_s1": [128], "pv_fifo_depth": [0], "sync_period": [0]},
    )
    assert result.best is not None
    assert f"{result.n_evaluated:,} configurations looked at" in said
    for verdict, rules in result.counts.items():
        assert f"  {verdict}: {sum(rules.values()):,}\n" in said
    assert f"best: {result.best['time_us']:.3f} us, bound by {result.best['bound']}" in said
    (rec,) = read_document(folder / "recommendation.json")
    assert rec.predicted_us == pytest.approx(result.best["time_us"])
    assert {**rec.problem, **rec.configuration} == result.best["configuration"]
    depth = result.best["configuration"]["fifo_depth"]
    assert f"Qk_FifoDepth = {depth};" in (folder / "pipes.hpp").read_text(encoding="utf-8")


def test_study_one_pipe(folder: Path) -> None:
    said = run("study_one_pipe.py", folder)
    assert written(folder) == {"depths.csv", "trace.json"}
    table = pd.read_csv(folder / "depths.csv")
    fixed = {"tiles": 64, "slot_bytes": 32768, "producer_cycles": 1500}
    for _, row in table.iterrows():
        own = {"consumer_cycles": int(row["consumer_cycles"]), "fifo_depth": int(row["fifo_depth"])}
        assert row["time_us"] == pytest.approx(pto_tune.evaluate("stream", {**fixed, **own})["time_us"][0])
    for cycles in (500, 1500, 3000):
        rows = table[table["consumer_cycles"] == cycles]
        least = rows[rows["time_us"] <= 1.02 * rows["time_us"].min()]["fifo_depth"].min()
        assert f"consumer of {cycles} cycles: depth {least} is enough" in said
    one = pto_tune.explain("stream", {**fixed, "consumer_cycles": 1500, "fifo_depth": 1}).summary()
    channel, waited = next(iter(one["waits"].items()))
    assert f"{waited:,} cycles of waiting for {channel}" in said
    assert json.loads((folder / "trace.json").read_text())["traceEvents"]


def test_compare_platforms(folder: Path) -> None:
    said = run("compare_platforms.py", folder)
    assert written(folder) == {"platforms.csv"}
    times = pd.read_csv(folder / "platforms.csv", index_col=0)
    chips = [name for name in pto_tune.platform_names() if pto_tune.load_platform(name).family == "a2a3"]
    assert list(times.columns) == list(times.index) == chips
    # nothing is faster on a chip than what was tuned for it
    assert all(times[chip].min() == times.loc[chip, chip] for chip in chips)
    problem = {"m": 4096, "k": 4096, "n": 4096}
    domains = {"base_m": [128, 256], "base_k": [64], "base_n": [128, 256], "step_k": [1, 2, 4]}
    b3 = pto_tune.tune("gemm", platform="ascend910b3", problem=problem, domains=domains).best
    assert b3 is not None
    assert times.loc["ascend910b3", "ascend910b3"] == pytest.approx(b3["time_us"])
    on_b1 = pto_tune.evaluate("gemm", [b3["configuration"]], platform="ascend910b1")["time_us"][0]
    assert times.loc["ascend910b3", "ascend910b1"] == pytest.approx(on_b1)
    worst = (times / times.min() - 1).max(axis=1)
    assert f"the best for {worst.idxmin()} costs at most {worst.min():.1%} anywhere" in said


def test_calibrate_finds_what_the_stand_in_was_made_with(folder: Path) -> None:
    said = run("calibrate_from_csv.py", folder)
    assert written(folder) == {"board.csv", "my_board.toml"}
    mine = pto_tune.load_platform(str(folder / "my_board.toml"))
    assert mine["launch.event"] == pytest.approx(8, rel=0.01)
    assert mine["dma.gm_to_ub.rate"] == pytest.approx(90, rel=0.01)
    assert "8 measurements of board.csv" in said
    for name, chip in (("ascend910b2", "ascend910b2"), ("my_board.toml", mine)):
        time_us = pto_tune.evaluate("flash_attention", {"s0": 2048}, platform=chip, timing="event")["time_us"][0]
        assert f"flash attention on {name}: {time_us:.2f} us" in said


def test_calibrate_takes_a_file_and_names_its_bad_rows(folder: Path, tmp_path: Path) -> None:
    chip = pto_tune.load_platform("ascend910b2").with_values({"launch.event": 9.0})
    sizes = [(n, b) for b in (8192, 32768) for n in (16, 256, 1024)]
    lines = ["workload,soc,timing,time_us,tiles,slot_bytes,store_cycles", "stream,Ascend910B2,event,soon,16,8192,0"]
    for tiles, slot in sizes:
        run_ = {"tiles": tiles, "slot_bytes": slot, "store_cycles": 0}
        time_us = pto_tune.evaluate("stream", run_, platform=chip, timing="event")["time_us"][0]
        lines.append(f"stream,Ascend910B2,event,{time_us:.4f},{tiles},{slot},0")
    board = tmp_path / "mine.csv"
    board.write_text("\n".join(lines) + "\n")
    said = run("calibrate_from_csv.py", folder, board)
    assert "row 2: time_us is 'soon'" in said
    assert written(folder) == {"my_board.toml"}
    assert pto_tune.load_platform(str(folder / "my_board.toml"))["launch.event"] == pytest.approx(9, rel=0.01)


def test_distributed_sweep(folder: Path) -> None:
    pytest.importorskip("distributed", reason="the extra 'distributed' is not installed")
    said = run("distributed_sweep.py", folder)
    assert written(folder) == {"sweep.csv"}
    assert "with 2 workers" in said
    assert "a local sweep finds the same" in said
    result = pto_tune.tune(
        "flash_attention",
        problem={"s0": 2048, "s1": 4096},
        domains={"fifo_depth": [4, 6, 8], "tile_s1": [128, 256], "qk_preload": [1, 2, 4]},
        strategy="exhaustive",
    )
    assert result.best is not None
    best = f"best {result.best['time_us']:.3f} us, row {result.best['row']}"
    assert f"{result.n_evaluated:,} configurations, {best}" in said
    table = pd.read_csv(folder / "sweep.csv")
    assert table["time_us"].to_list() == pytest.approx(result.table["time_us"].to_list())


def test_check_in_ci(folder: Path) -> None:
    said = run("check_in_ci.py", folder)
    assert written(folder) == {"tuned.json", "slow.toml"}
    (entry,) = read_baseline(folder / "tuned.json")
    again = pto_tune.evaluate("flash_attention", [entry.best.configuration])
    assert entry.best.time_us == pytest.approx(again["time_us"][0])
    assert f"fa-1024: unchanged, best {entry.best.time_us:.3f} us" in said
    slow = pto_tune.evaluate("flash_attention", [entry.best.configuration], platform=str(folder / "slow.toml"))
    assert "fa-1024 on a slower chip: regression" in said
    assert f"the baseline's configuration takes {slow['time_us'][0]:,.3f} us today" in said


def test_the_shell_lines_for_a_ci_job_work(folder: Path) -> None:
    run("check_in_ci.py", folder)
    text = (EXAMPLES / "check_in_ci.py").read_text(encoding="utf-8")
    (line,) = re.findall(r"^ {4}pto-tune (check [^#\n]*?)\s*#", text, re.MULTILINE)

    def check() -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "pto_tune.cli.main", *line.split()],
            cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT), "PTO_TUNE_CONFIG": ""},
            capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip

    assert check().returncode == 0
    baseline = folder / "tuned.json"
    baseline.write_text(baseline.read_text().replace('"platform": "ascend910b2"', '"platform": "slow.toml"'))
    failed = check()
    assert failed.returncode == 1
    assert "more than 2.00%" in failed.stderr


def test_every_script_is_in_the_list_and_has_a_test() -> None:
    listed = re.findall(r"^\| `(\w+\.py)`", (EXAMPLES / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == SCRIPTS
    here = Path(__file__).read_text(encoding="utf-8")
    assert [name for name in SCRIPTS if f'run("{name}"' not in here] == []


@pytest.mark.parametrize("name", SCRIPTS)
def test_every_script_has_cells_and_says_how_to_run_it(name: str) -> None:
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    assert text.count("\n# %% ") >= 3
    assert f"python examples/{name} [FOLDER" in text
