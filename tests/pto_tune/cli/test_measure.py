"""`pto-tune measure`: import, template, list."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from db import RunSpec, open_store

Cli = Callable[..., Any]
Wrong = Callable[..., list[str]]

BOARD = (
    "workload,platform,timing,time_us,repeats,spread_us,m,k,n\n"
    "gemm,ascend910b1,task,1506.2,20,3.1,6144,6144,6144\n"
    "gemm,ascend910b1,task,abc,20,3.1,512,512,512\n"
    "gemm,ascend910b1,event,,,,1024,1024,1024\n"
    "gemm,ascend910b1,event,61.25,,,1024,1024,1024\n"
)


@pytest.fixture
def board(tmp_path: Path) -> Path:
    path = tmp_path / "board.csv"
    path.write_text(BOARD, encoding="utf-8")
    return path


@pytest.fixture
def run_url(tmp_path: Path) -> str:
    """A store with a finished run 'first' of three configurations, two of them legal, and a run 'none' of none."""
    url = f"sqlite:///{tmp_path / 'runs.db'}"
    problem = {"direction": "C2V", "tiles": 16, "slot_bytes": 32768}
    with open_store(url) as store:
        for name in ("first", "none"):
            run = store.create_run(
                RunSpec(
                    workload="stream", workload_json="{}", problem=problem, platform="ascend910b2",
                    platform_sha256="0", rule_set="a2a3", timing="event", strategy="exhaustive", objectives=("time",),
                    spec_sha256="1", versions={}, clock_mhz=1000.0, launch_us=1.0, n_candidates=3, name=name,
                    tunables=[{"name": "fifo_depth", "domain": [2, 4, 8]}, {"name": "split", "domain": ["UP_DOWN"]}],
                    rules=("deadlock",), verdicts=("ok", "hang"), pipes=("AIC.M",),
                )
            )  # fmt: skip
            if name == "first":
                columns = {"t0": [0, 1, 2], "t1": [0, 0, 0], "verdict": [0, 1, 0], "cycles": [9000, 1, 5000]}
                store.add_configurations(run.id, {key: np.array(value) for key, value in columns.items()}, 0)
            store.finish_run(run.id, "done")
    return url


class TestImport:
    def test_good_rows_are_taken_and_bad_ones_named(self, board: Path, cli: Cli) -> None:
        done = cli("measure", "import", board.name)
        assert done.exit_code == 1
        assert "2 measurements added to sqlite:///pto-tune.db, 0 already there" in done.stdout
        assert "row 4 has no time yet and stays out" in done.stdout
        (said,) = done.stderr.splitlines()
        assert said.startswith("pto-tune: board.csv, row 3: time_us is 'abc': expected a number above 0")

    def test_nothing_is_imported_twice(self, board: Path, cli: Cli) -> None:
        assert cli("measure", "import", board).exit_code == 1
        board.write_text(BOARD.replace("abc", "12.5"), encoding="utf-8")
        done = cli("measure", "import", board)
        assert (done.exit_code, done.stderr) == (0, "")
        assert "1 measurement added to sqlite:///pto-tune.db, 2 already there" in done.stdout
        assert len(json.loads(cli("measure", "list", "--json").stdout)) == 3

    def test_a_dry_run_writes_nothing(self, board: Path, tmp_path: Path, cli: Cli) -> None:
        done = cli("measure", "import", board, "--dry-run")
        assert done.exit_code == 1
        assert "2 measurements found, nothing was written" in done.stdout
        answer = json.loads(cli("measure", "import", board, "--dry-run", "--json").stdout)
        assert (answer["store"], answer["measurements"], answer["added"]) == (None, 2, 0)
        assert [row["value"] for row in answer["rows"]] == [1506.2, 61.25]
        assert [file.name for file in tmp_path.iterdir()] == ["board.csv"]

    def test_json_has_all_that_happened(self, board: Path, cli: Cli) -> None:
        done = cli("measure", "import", board, "--json", "--db", "sqlite:///own.db")
        assert done.exit_code == 1
        answer = json.loads(done.stdout)
        assert answer.pop("faults") == [
            {"row": 3, "text": "time_us is 'abc': expected a number above 0, such as 1506.2", "harmless": False},
            {"row": None, "text": "row 4 has no time yet and stays out", "harmless": True},
        ]
        assert answer == {
            "file": str(board), "store": "sqlite:///own.db", "measurements": 2, "added": 2, "already_there": 0
        }  # fmt: skip

    def test_many_faults_are_counted(self, tmp_path: Path, cli: Cli) -> None:
        (tmp_path / "x.csv").write_text("time_us\n" + "x\n" * 40)
        done = cli("measure", "import", "x.csv", "--workload", "gemm", "--platform", "a5", "--timing", "task")
        lines = done.stderr.splitlines()
        assert (done.exit_code, len(lines)) == (1, 31)
        assert "10 more faults" in lines[-1]
        assert "no measurements found, nothing was written" in done.stdout
        assert not (tmp_path / "pto-tune.db").exists()

    def test_a_summary_of_the_profiler_is_mapped(self, tmp_path: Path, cli: Cli) -> None:
        rows = "".join(f"gemm_{i},MatMul,MIX_AIC,{time},24\n" for i, time in ((1, 10.5), (1, 11.5), (2, 7.0)))
        (tmp_path / "op_summary_1.csv").write_text(f"Op Name,OP Type,Task Type,Task Duration(us),Block Num\n{rows}")
        ops = {"platform": "ascend910b2", "ops": [{"op": "gemm_1", "workload": "gemm", "configuration": {"m": 512}}]}
        (tmp_path / "ops.json").write_text(json.dumps(ops))
        done = cli("measure", "import", "op_summary_1.csv", "--map", "ops.json")
        assert done.exit_code == 0, done.stderr
        assert "1 row of other ops left out ('gemm_2')" in done.stdout
        (m,) = json.loads(cli("measure", "list", "--json").stdout)
        assert (m["value"], m["repeats"], m["timing"], m["configuration"]["m"]) == (11.0, 2, "task", 512)

    def test_a_workload_and_a_platform_may_be_files(self, tmp_path: Path, cli: Cli) -> None:
        from dataclasses import replace

        from pto_tune.model.serial import to_json
        from pto_tune.workloads import workload

        (tmp_path / "mine.json").write_text(to_json(replace(workload("gemm"), name="mine")), encoding="utf-8")
        (tmp_path / "board.toml").write_text('[platform]\nname = "my-board"\ninherits = "ascend910b2"\n')
        (tmp_path / "x.csv").write_text(
            "workload,platform,timing,time_us,m\nmine,my-board,event,5,512\n,,event,6,512\n"
        )
        done = cli("measure", "import", "x.csv", "--workload", "mine.json", "--platform", "board.toml")
        assert (done.exit_code, done.stderr) == (0, "")
        found = json.loads(cli("measure", "list", "--json", "--platform", "my-board").stdout)
        assert [(m["workload"], m["family"]) for m in found] == [("mine", "a2a3")] * 2

    @pytest.mark.parametrize(
        ("words", "sentence"),
        [
            (["nothing.csv"], "nothing.csv does not exist"),
            (["board.csv", "--map", "ops.json"], "leave out --map"),
            (["board.csv", "--workload", "gem"], "did you mean 'gemm'"),
            (["board.csv", "--workload", "no.json"], "no.json"),
            (["board.csv", "--platform", "ascend"], "unknown platform 'ascend'"),
            (["board.csv", "--platform", "no.toml"], "no.toml"),
            (["board.csv", "--timing", "clock"], "unknown timing 'clock'"),
            (["board.csv", "--db", "oracle://x"], "'oracle'"),
        ],
    )
    def test_wrong_use_is_one_sentence(
        self, words: list[str], sentence: str, board: Path, tmp_path: Path, cli: Cli, wrong: Wrong
    ) -> None:
        (said,) = wrong(cli("measure", "import", *words))
        assert sentence in said
        assert list(tmp_path.iterdir()) == [board]


class TestTemplate:
    def test_the_best_rows_come_ready_to_fill_in(self, run_url: str, cli: Cli) -> None:
        done = cli("measure", "template", "first", "--db", run_url)
        assert (done.exit_code, done.stderr) == (0, "")
        first, second = csv.DictReader(done.stdout.splitlines())
        assert first == {
            "workload": "stream", "platform": "ascend910b2", "pto_isa": "", "timing": "event", "direction": "C2V",
            "tiles": "16", "slot_bytes": "32768", "fifo_depth": "8", "split": "UP_DOWN", "time_us": "", "repeats": "",
            "spread_us": "", "note": "run 1, row 2, predicted 6.00 us",
        }  # fmt: skip
        assert (second["fifo_depth"], second["note"]) == ("2", "run 1, row 0, predicted 10.00 us")
        (only,) = csv.DictReader(cli("measure", "template", "1", "--top", "1", "--db", run_url).stdout.splitlines())
        assert only == first

    def test_what_was_filled_in_is_imported(self, run_url: str, tmp_path: Path, cli: Cli) -> None:
        done = cli("measure", "template", "first", "-o", "list.csv", "--db", run_url)
        assert "wrote list.csv (2 configurations of run 1)" in done.stdout
        path = tmp_path / "list.csv"
        unfilled = cli("measure", "import", path)
        assert (unfilled.exit_code, unfilled.stderr) == (0, "")
        assert "rows 2 and 3 have no time yet and stay out" in unfilled.stdout
        with path.open(encoding="utf-8") as stream:
            rows = list(csv.DictReader(stream))
        rows[0] |= {"time_us": "6.4", "repeats": "20", "spread_us": "0.1", "pto_isa": "2026-08-12"}
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
        assert cli("measure", "import", path, "--db", run_url).exit_code == 0
        (m,) = json.loads(cli("measure", "list", "--db", run_url, "--json").stdout)
        assert (m["value"], m["repeats"], m["spread"], m["pto_isa"]) == (6.4, 20, 0.1, "2026-08-12")
        assert (m["configuration"]["fifo_depth"], m["configuration"]["direction"]) == (8, "C2V")
        assert (m["timing"], m["note"]) == ("event", "run 1, row 2, predicted 6.00 us")

    def test_a_file_is_overwritten_by_force_alone(self, run_url: str, tmp_path: Path, cli: Cli, wrong: Wrong) -> None:
        path = tmp_path / "list.csv"
        path.write_text("mine")
        (said,) = wrong(cli("measure", "template", "first", "-o", path, "--db", run_url))
        assert "is there already" in said
        assert path.read_text() == "mine"
        assert cli("measure", "template", "first", "-o", path, "--force", "--db", run_url).exit_code == 0
        assert path.read_text().startswith("workload,")
        (said,) = wrong(cli("measure", "template", "first", "-o", tmp_path / "no" / "x.csv", "--db", run_url))
        assert "No such file" in said

    def test_a_run_without_a_legal_configuration_has_nothing_to_measure(
        self, run_url: str, cli: Cli, wrong: Wrong
    ) -> None:
        (said,) = wrong(cli("measure", "template", "none", "--db", run_url), code=1)
        assert "run 'none' has no legal configuration" in said
        (said,) = wrong(cli("measure", "template", "firts", "--db", run_url))
        assert "first" in said


class TestList:
    @pytest.fixture(autouse=True)
    def _store(self, tmp_path: Path, cli: Cli) -> None:
        lines = [
            {"workload": "gemm", "soc": "Ascend 910B2", "timing": "event", "time_us": 88.9, "repeats": 20},
            {"workload": "stream", "soc": "昇腾 910B", "timing": "task", "time_us": 5, "spread_us": 0.25},
            {"workload": "gemm", "soc": "Ascend 950PR", "timing": "device", "cycles": 164465, "source": "lab"},
        ]
        path = tmp_path / "x.jsonl"
        path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
        assert cli("measure", "import", path).exit_code == 0

    @pytest.mark.parametrize(
        ("words", "ids"),
        [
            ([], [1, 2, 3]),
            (["--workload", "gemm"], [1, 3]),
            (["--platform", "ascend910b2"], [1]),
            (["--platform", "a2a3"], [1, 2]),
            (["--timing", "profiler"], [2]),
            (["--limit", "2"], [1, 2]),
            (["--workload", "x"], []),
        ],
    )
    def test_filters(self, words: list[str], ids: list[int], cli: Cli) -> None:
        assert [m["id"] for m in json.loads(cli("measure", "list", *words, "--json").stdout)] == ids
        assert cli("measure", "list", *words).exit_code == 0

    def test_the_table_shows_what_was_measured(self, cli: Cli) -> None:
        lines = cli("measure", "list").stdout.splitlines()
        assert lines[0].split() == [
            "id", "workload", "chip", "timing", "time", "spread", "repeats", "configuration", "source"
        ]  # fmt: skip
        assert lines[1].split()[:7] == ["1", "gemm", "ascend910b2", "event", "88.90", "us", "-"]
        assert "昇腾 910B" in lines[2]
        assert "0.250 us" in lines[2]
        assert "164,465 cycles" in lines[3]
        assert lines[3].endswith("lab")
        assert lines[-1] == "3 measurements"
        assert cli("measure", "list", "--limit", "2").stdout.splitlines()[-1] == "2 of 3 measurements"

    def test_a_timing_that_there_is_not_is_refused(self, cli: Cli, wrong: Wrong) -> None:
        (said,) = wrong(cli("measure", "list", "--timing", "clock"))
        assert "unknown timing 'clock'" in said


@pytest.mark.parametrize("words", [["template", "latest"], ["list"]])
def test_without_a_store_it_says_how_to_get_one(words: list[str], tmp_path: Path, cli: Cli, wrong: Wrong) -> None:
    (said,) = wrong(cli("measure", *words))
    assert "no results yet in sqlite:///pto-tune.db" in said
    assert list(tmp_path.iterdir()) == []


def test_without_a_command_it_is_wrong_use(cli: Cli, wrong: Wrong) -> None:
    (said,) = wrong(cli("measure"))
    assert "missing command" in said


def readme_blocks(readme: str, language: str) -> list[str]:
    """The fenced blocks of this language."""
    return [block.partition("```")[0] for block in readme.split(f"```{language}\n")[1:]]


def test_the_files_of_the_readme_are_read_as_it_says(tmp_path: Path, cli: Cli) -> None:
    readme = (Path(__file__).resolve().parents[3] / "README.md").read_text(encoding="utf-8")
    (table,), (ops,) = readme_blocks(readme, "csv"), readme_blocks(readme, "json")
    (tmp_path / "board.csv").write_text(table, encoding="utf-8")
    done = cli("measure", "import", "board.csv")
    assert (done.exit_code, done.stderr) == (0, "")
    assert f"{len(table.splitlines()) - 1} measurements added" in done.stdout
    (tmp_path / "ops.json").write_text(ops, encoding="utf-8")
    (entry,) = json.loads(ops)["ops"]
    rows = [f"{entry['op'].replace('*', '_mix_aic')},FlashAttention,{90 + i},24\n" for i in range(8)]
    (tmp_path / "s.csv").write_text("Op Name,Op Type,Task Duration(us),Block Dim\n" + "".join(rows), encoding="utf-8")
    done = cli("measure", "import", "s.csv", "--map", "ops.json")
    assert (done.exit_code, done.stderr) == (0, "")
    assert json.loads(cli("measure", "list", "--json").stdout)[-1]["repeats"] == len(rows) - entry["skip_first"]
