"""`pto-tune tune`."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pto_tune import tuning
from pto_tune.rule_sets import rule_sets

Cli = Callable[..., Any]
Wrong = Callable[..., list[str]]

SMALL = ("tune", "stream", "--set", "tiles=16")


def test_the_answer_has_all_that_was_asked_for(cli: Cli) -> None:
    done = cli(*SMALL, "--no-db")
    assert (done.exit_code, done.stderr) == (0, "")
    for word in (
        "Best configurations",
        "time (us)",
        "bound by",
        "vector",
        "GM traffic",
        "Configurations by verdict and rule",
        "legal and safe",
        "Pareto front",
        "Where the time goes",
        "headers of other pto-isa revisions behave otherwise",
    ):
        assert word in done.stdout


def test_a_default_run_on_950_names_the_newest_headers(cli: Cli) -> None:
    small = ("tune", "stream", "--set", "tiles=16", "--set", "slot_bytes=1024", "--no-db", "--platform", "ascend950pr")
    shown = cli(*small).stdout.splitlines()
    (line,) = [line for line in shown if "behave otherwise" in line]
    for r in rule_sets("a5"):
        assert r.name == "a5" or f"{r.name} ({r.revisions[0]}" in line
    assert "the newest headers behave as a5-local-drain: give --pto-isa a5-local-drain for them" in line
    chosen = cli(*small, "--pto-isa", "a5-local-drain")
    assert "behave otherwise" not in chosen.stdout
    assert json.loads(cli(*small, "--json").stdout)["other_behaviour"] == line


def test_json_agrees_with_the_library(cli: Cli, tmp_path: Path) -> None:
    done = cli(*SMALL, "--json", "--no-db", "--top", "3")
    assert (done.exit_code, done.stderr) == (0, "")
    answer = json.loads(done.stdout)
    result = tuning.tune("stream", problem={"tiles": 16}, top=3)
    assert answer["best"] == answer["top"][0] == result.best
    assert answer["top"] == result.top
    assert answer["counts"] == result.counts
    assert len(answer["front"]) == len(result.front)
    assert answer["n_evaluated"] == answer["n_candidates"] == result.space.size
    assert answer["stalls"]["cycles"] == answer["best"]["cycles"]
    assert answer["problem"]["tiles"] == 16
    assert answer["run"] is None
    assert list(tmp_path.iterdir()) == []


def test_set_fixes_a_tunable_and_domain_replaces_one(cli: Cli) -> None:
    words = ("--set", "split=NO_SPLIT", "--domain", "fifo_depth=2,4", "--no-db", "--json")
    answer = json.loads(cli(*SMALL, *words).stdout)
    assert answer["domains"]["split"] == ["NO_SPLIT"]
    assert answer["domains"]["fifo_depth"] == [2, 4]
    assert {row["configuration"]["fifo_depth"] for row in answer["top"]} == {2, 4}


def test_a_sampled_search_is_bounded_and_reproducible(cli: Cli) -> None:
    words = ("--strategy", "random", "--budget", "20", "--seed", "5", "--no-db", "--json")
    first, second = (json.loads(cli(*SMALL, *words).stdout) for _ in range(2))
    assert first["strategy"] == "random"
    assert first["n_evaluated"] == 20
    assert first["top"] == second["top"]


def test_two_objectives_are_a_trade_off(cli: Cli) -> None:
    words = ("--objective", "time", "--objective", "memory", "--no-db", "--json")
    assert json.loads(cli(*SMALL, *words).stdout)["front"]


def test_the_run_is_kept_where_it_is_said(cli: Cli, tmp_path: Path) -> None:
    done = cli(*SMALL, "--name", "mine", "--json")
    assert json.loads(done.stdout)["name"] == "mine"
    assert (tmp_path / "pto-tune.db").is_file()
    other = f"sqlite:///{tmp_path / 'other.db'}"
    kept = json.loads(cli(*SMALL, "--json", env={"PTO_TUNE_DB": other}).stdout)
    assert kept["run"] == 1
    assert (tmp_path / "other.db").is_file()


def test_a_space_without_a_legal_configuration_is_exit_code_1(cli: Cli, wrong: Wrong) -> None:
    words = ("tune", "flash_attention", "--set", "fifo_depth=1", "--set", "qk_preload=4", "--no-db")
    (said,) = wrong(cli(*words), code=1)
    assert "none of the" in said
    assert "--domain" in said
    done = cli(*words, "--json")
    assert done.exit_code == 1
    answer = json.loads(done.stdout)
    assert answer["best"] is None
    assert answer["top"] == answer["front"] == []
    assert "ok" not in answer["counts"]


def test_ctrl_c_prints_the_best_so_far(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from pto_tune.search import exhaustive

    monkeypatch.setattr(exhaustive, "CHUNK_ROWS", 40)
    monkeypatch.setattr("pto_tune.cli.progress.Bar.__call__", _interrupt)
    done = cli(*SMALL, "--json", "--name", "cut")
    assert done.exit_code == 130
    answer = json.loads(done.stdout)
    assert answer["stopped"]
    assert 0 < answer["n_evaluated"] < answer["n_candidates"]
    assert answer["best"] is not None
    monkeypatch.undo()


def _interrupt(_bar: object, _step: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["gem"], ["gem", "gemm"]),
        (["gemm", "--set", "base_mm=128"], ["base_mm", "base_m"]),
        (["gemm", "--domain", "base_mm=128"], ["base_mm", "base_m"]),
        (["gemm", "--domain", "base_m="], ["base_m", "empty"]),
        (["gemm", "--domain", "base_m=128,128"], ["base_m", "repeats"]),
        (["gemm", "--domain", "m=128,256"], ["m is a problem size"]),
        (["gemm", "--set", "m=0"], ["m = 0"]),
        (["gemm", "--set", "m=-128"], ["m = -128"]),
        (["gemm", "--domain", "base_m=128,99999999999999999999"], ["base_m = 9999"]),
        (["gemm", "--domain", "base_m=128,x"], ["base_m", "'x'"]),
        (["gemm", "--set", "m=128", "--domain", "m=128"], ["'m'", "--domain"]),
        (["gemm", "--platform", "ascend"], ["'ascend'", "ascend910b2"]),
        (["gemm", "--strategy", "magic"], ["magic", "exhaustive"]),
        (["gemm", "--objective", "beauty"], ["beauty", "time"]),
        (["gemm", "--timing", "t"], ["'t'", "task"]),
        (["gemm", "--db", "mysql://x/y"], ["mysql"]),
        (["gemm", "--db", "nonsense"], ["nonsense"]),
        (["gemm", "--db", "sqlite:////no/such/folder/x.db"], ["/no/such/folder"]),
        (["stream", "--name", "latest"], ["latest"]),
    ],
)
def test_wrong_input_is_one_sentence_and_leaves_nothing(
    arguments: list[str], words: list[str], tmp_path: Path, cli: Cli, wrong: Wrong
) -> None:
    (said,) = wrong(cli("tune", *arguments))
    for word in words:
        assert word in said
    # an empty store may be there where only the run's name was wrong, but no run
    if (tmp_path / "pto-tune.db").exists():
        assert json.loads(cli("runs", "list", "--json").stdout) == []


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A folder that another user may look into, unlike pytest's."""
    folder = Path(tempfile.mkdtemp(prefix="pto-tune-test-"))
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


@contextlib.contextmanager
def nobody() -> Iterator[None]:
    """Act as a user without rights, if the tests run as the one to whom everything is allowed."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="file rights of another kind")
def test_a_read_only_database_is_one_sentence_and_can_be_read(public_folder: Path, cli: Cli, wrong: Wrong) -> None:
    file = public_folder / "runs.db"
    url = f"sqlite:///{file}"
    # All modules are loaded here: the user without rights need not be able to read the project.
    assert cli(*SMALL, "--db", url).exit_code == 0
    shown = cli("show", "latest", "--db", url, "--json")
    before = file.read_bytes()
    file.chmod(0o444)
    public_folder.chmod(0o555)
    with nobody():
        (said,) = wrong(cli(*SMALL, "--anew", "--db", url))
        assert "read-only" in said
        assert "answered from run 1" in cli(*SMALL, "--db", url).stdout
        (said,) = wrong(cli("runs", "delete", "latest", "--db", url))
        assert "read-only" in said
        read = cli("show", "latest", "--db", url, "--json")
    assert (read.exit_code, read.stdout) == (0, shown.stdout)
    assert file.read_bytes() == before
    assert [f.name for f in public_folder.iterdir()] == ["runs.db"]


def test_a_file_that_is_no_database_stays_as_it_is(tmp_path: Path, cli: Cli, wrong: Wrong) -> None:
    file = tmp_path / "notes.db"
    file.write_text("not a database at all, and long enough to look like one " * 20)
    before = file.read_bytes()
    (said,) = wrong(cli(*SMALL, "--db", f"sqlite:///{file}"))
    assert "notes.db" in said
    assert file.read_bytes() == before


def test_a_bar_is_shown_only_on_a_terminal_and_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    import io
    import time

    from pto_tune.cli import progress

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    def drawn(stream: io.StringIO, delay_s: float, quiet: bool = False) -> str:
        monkeypatch.setattr("sys.stderr", stream)
        monkeypatch.setattr(progress, "DELAY_S", delay_s)
        with progress.Bar("tuning [x]", quiet=quiet) as bar:
            for done in range(5):
                bar(SimpleNamespace(done=done, total=5, legal=done, best_us=1.5))
                time.sleep(0.1)
        return stream.getvalue()

    monkeypatch.setenv("TERM", "xterm")
    shown = drawn(Terminal(), 0.05)
    assert "tuning [x]" in shown
    assert "best 1.50 us" in shown
    assert drawn(Terminal(), 60.0) == ""
    assert drawn(io.StringIO(), 0.05) == ""
    assert drawn(Terminal(), 0.05, quiet=True) == ""


def test_a_program_too_long_to_explain_is_still_tuned(cli: Cli) -> None:
    tune = ("tune", "stream", "--set", "tiles=2147483648", "--domain", "fifo_depth=8", "--no-db", "--quiet")
    shown = cli(*tune)
    assert shown.exit_code == 0
    assert "Best configurations" in shown.stdout
    assert "is not told: the program unrolls to more than 1048576 events" in shown.stdout
    assert list(json.loads(cli(*tune, "--json").stdout)["stalls"]) == ["why_not"]
