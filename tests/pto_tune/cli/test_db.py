"""`pto-tune db`: what is said, which exit codes there are, and that nothing happens by mistake."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

Cli = Callable[..., Any]
Wrong = Callable[..., list[str]]
KEPT = Path(__file__).parents[2] / "db" / "data"


def runs(cli: Cli, url: str) -> list[str]:
    return [run["name"] for run in json.loads(cli("runs", "list", "--db", url, "--json").stdout)]


def tuned(cli: Cli, url: str, *names: str) -> None:
    for name in names:
        done = cli("tune", "stream", "--set", "tiles=4", "--db", url, "--name", name, "--seed", len(name), "--quiet")
        assert done.exit_code == 0, done.output


def test_without_a_command_it_says_which_there_are(cli: Cli) -> None:
    shown = cli("db")
    assert shown.exit_code == 2
    for name in ("check", "prune", "vacuum", "export", "import", "upgrade"):
        assert name in shown.stderr


class TestCheck:
    def test_a_whole_store(self, url: str, cli: Cli) -> None:
        shown = cli("db", "check", "--db", url)
        assert (shown.exit_code, shown.stderr) == (0, "")
        assert "nothing is wrong" in shown.stdout
        found = json.loads(cli("db", "check", "--db", url, "--json").stdout)
        assert (found["runs"], found["findings"]) == (1, [])

    def test_what_is_wrong_is_a_line_each_and_exit_code_1(self, own_url: str, cli: Cli) -> None:
        with closing(sqlite3.connect(own_url.removeprefix("sqlite:///"), isolation_level=None)) as connection:
            connection.execute("DELETE FROM configuration WHERE row = 2")
        shown = cli("db", "check", "--db", own_url)
        assert shown.exit_code == 1
        assert "things are wrong" in shown.stdout
        assert all(line.startswith("pto-tune: ") for line in shown.stderr.splitlines())
        assert "pto-tune: rows: run 1 (first)" in shown.stderr
        found = json.loads(cli("db", "check", "--db", own_url, "--json").stdout)["findings"]
        assert ("rows", 1) in [(finding["kind"], finding["run"]) for finding in found]

    def test_no_store_is_wrong_use(self, cli: Cli, wrong: Wrong, tmp_path: Path) -> None:
        (said,) = wrong(cli("db", "check", "--db", f"sqlite:///{tmp_path}/none.db"))
        assert "no results yet" in said


class TestPrune:
    def test_it_says_what_goes_before_and_after(self, cli: Cli, tmp_path: Path) -> None:
        url = f"sqlite:///{tmp_path}/x.db"
        tuned(cli, url, "a", "bb", "ccc")
        would = cli("db", "prune", "--keep", "1", "--dry-run", "--db", url)
        assert would.exit_code == 0
        assert "would delete 2 runs" in would.stdout
        assert runs(cli, url) == ["ccc", "bb", "a"]
        done = json.loads(cli("db", "prune", "--keep", "1", "--db", url, "--json").stdout)
        assert ([run["name"] for run in done["runs"]], done["dry_run"]) == (["a", "bb"], False)
        assert done["configurations"] > 0
        assert done["about_bytes"] > 0
        assert runs(cli, url) == ["ccc"]
        assert "deleted 0 runs" in cli("db", "prune", "--older-than", "1h", "--db", url).stdout

    @pytest.mark.parametrize("words", [[], ["--older-than", "30"], ["--older-than", "-1d"], ["--keep", "-1"]])
    def test_what_says_nothing_is_wrong_use(self, words: list[str], url: str, cli: Cli) -> None:
        shown = cli("db", "prune", "--db", url, *words)
        assert shown.exit_code == 2
        assert runs(cli, url) == ["first"]


class TestExportAndImport:
    def test_runs_go_out_and_in(self, cli: Cli, tmp_path: Path, wrong: Wrong) -> None:
        url, other = f"sqlite:///{tmp_path}/x.db", f"sqlite:///{tmp_path}/other.db"
        tuned(cli, url, "a", "bb", "ccc")
        out = cli("db", "export", "a", "2", "-o", "out.db", "--db", url)
        assert out.exit_code == 0, out.output
        assert "2 runs" in out.stdout
        (said,) = wrong(cli("db", "export", "a", "-o", "out.db", "--db", url))
        assert "there already" in said
        everything = json.loads(cli("db", "export", "--all", "-o", "all.db", "--db", url, "--json").stdout)
        assert [run["name"] for run in everything["runs"]] == ["a", "bb", "ccc"]
        taken = cli("db", "import", "out.db", "--db", other)
        assert taken.exit_code == 0, taken.output
        assert "took run 1, a, as run 1, a" in taken.stdout
        again = json.loads(cli("db", "import", "all.db", "--db", other, "--json").stdout)
        assert [pair["from"]["name"] for pair in again["taken"]] == ["ccc"]
        assert [pair["as"]["run"] for pair in again["already"]] == [1, 2]
        assert runs(cli, other) == ["ccc", "bb", "a"]
        for place in (url, other, "sqlite:///all.db"):
            best = json.loads(cli("show", "ccc", "--db", place, "--json", "--not-sure").stdout)
            assert best["rows"]
            assert cli("db", "check", "--db", place).exit_code == 0

    @pytest.mark.parametrize(
        ("words", "says"),
        [
            (["1"], "give -o FILE"),
            (["-o", "x.db"], "give RUN, --all or --measurements"),
            (["1", "--all", "-o", "x.db"], "exclude each other"),
            (["nobody", "-o", "x.db"], "no run is named"),
        ],
    )
    def test_wrong_use(self, words: list[str], says: str, url: str, cli: Cli, wrong: Wrong) -> None:
        (said,) = wrong(cli("db", "export", "--db", url, *words))
        assert says in said
        assert not Path("x.db").exists()


class TestVacuumAndUpgrade:
    def test_room_goes_back(self, own_url: str, cli: Cli) -> None:
        cli("db", "prune", "--keep", "0", "--db", own_url)
        done = json.loads(cli("db", "vacuum", "--db", own_url, "--json").stdout)
        assert done["bytes_after"] < done["bytes_before"]

    def test_an_older_store_is_upgraded_and_the_file_kept(self, cli: Cli, tmp_path: Path) -> None:
        shutil.copy(KEPT / "v0.1.0.sqlite", tmp_path / "old.db")
        done = cli("db", "upgrade", "--db", "sqlite:///old.db")
        assert done.exit_code == 0, done.output
        assert "upgraded to v0.2.0: Measurements" in done.stdout
        assert (tmp_path / "old.db.v0.1.0.bak").exists()
        again = json.loads(cli("db", "upgrade", "--db", "sqlite:///old.db", "--json").stdout)
        assert (again["steps"], again["backup"]) == ([], None)

    def test_no_copy_where_none_is_wanted(self, cli: Cli, tmp_path: Path) -> None:
        shutil.copy(KEPT / "v0.1.0.sqlite", tmp_path / "old.db")
        assert cli("db", "upgrade", "--no-backup", "--db", "sqlite:///old.db").exit_code == 0
        assert [file.name for file in tmp_path.iterdir()] == ["old.db"]


def test_a_run_goes_to_optuna(url: str, cli: Cli, wrong: Wrong, tmp_path: Path) -> None:
    done = cli("export", "first", "--format", "optuna-journal", "--top", "7", "-o", "j.log", "--db", url)
    assert done.exit_code == 0, done.output
    assert "the best 7 of run 1" in done.stdout
    trials = [line for line in (tmp_path / "j.log").read_text().splitlines() if json.loads(line)["op_code"] == 4]
    assert len(trials) == 7
    (tmp_path / "mine.log").write_text("mine")
    (said,) = wrong(cli("export", "first", "--format", "optuna-journal", "-o", "mine.log", "--db", url))
    assert "not written by pto-tune" in said
    assert (tmp_path / "mine.log").read_text() == "mine"
