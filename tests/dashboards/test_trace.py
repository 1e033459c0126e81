"""``pto-tune trace``: what a user types and sees."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from dashboards.trace import register
from pto_tune.cli.main import build_app

Cli = Callable[..., Any]


@pytest.fixture(scope="module")
def app() -> Any:
    found = build_app()
    if "trace" not in [command.name for command in found.registered_commands]:  # an older installation
        register(found)
    return found


@pytest.fixture(scope="module")
def folder(app: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a run, and the trace of its best configuration."""
    made = tmp_path_factory.mktemp("trace")
    url = f"sqlite:///{made / 'runs.db'}"
    for arguments in (
        ["tune", "stream", "--set", "tiles=16", "--db", url, "--name", "first", "--quiet"],
        ["explain", "first", "--db", url, "--trace", str(made / "trace.json"), "--not-sure", "--quiet"],
    ):
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 0, done.output
    return made


@pytest.fixture
def cli(app: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PTO_TUNE_CONFIG", "")

    def invoke(*arguments: object) -> Any:
        url = f"sqlite:///{folder / 'runs.db'}"
        return CliRunner().invoke(app, ["trace", *map(str, arguments), "--db", url], prog_name="pto-tune")

    return invoke


def test_our_own_trace_differs_in_nothing(cli: Cli, folder: Path) -> None:
    done = cli(folder / "trace.json", "--run", "first")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "run 1, first, row " in done.stdout
    assert "scale 1.0000" in done.stdout
    lines = done.stdout.split("By pipe (us)\n")[1].splitlines()
    assert lines[0].split()[:2] == ["pipe", "busy,"]
    assert [line.split()[0] for line in lines[1:]] == ["AIC.FIX", "AIV0.MTE2", "AIV1.MTE2"]
    assert all(" +0.0 % " in line for line in lines[1:])


def test_json_has_every_difference_by_pipe(cli: Cli, folder: Path) -> None:
    record = json.loads(cli(folder / "trace.json", "--run", "latest", "--json", "--align", "least-squares").stdout)
    assert (record["run"], record["file"], record["kind"]) == (1, "trace.json", "trace")
    assert record["alignment"]["method"] == "least-squares"
    assert [p["pipe"] for p in record["pipes"]] == ["AIC.FIX", "AIV0.MTE2", "AIV1.MTE2"]
    assert all(value == 0 for p in record["pipes"] for value in p["difference"].values())


def test_another_row_differs(cli: Cli, folder: Path) -> None:
    best = json.loads(cli(folder / "trace.json", "--run", "first", "--json").stdout)
    record = json.loads(cli(folder / "trace.json", "--run", "first", "--row", "0", "--json").stdout)
    assert record["row"] == 0 != best["row"]
    assert any(value for p in record["pipes"] for value in p["difference"].values())


def test_names_of_ones_own(cli: Cli, tmp_path: Path) -> None:
    events = [
        {"ph": "X", "pid": "Cube", "tid": "out", "ts": 0, "dur": 2, "name": "store"},
        {"ph": "X", "pid": "Vector", "tid": "in", "ts": 3, "dur": 1, "name": "load"},
    ]
    (tmp_path / "mine.json").write_text(json.dumps(events))
    refused = cli("mine.json", "--run", "first")
    assert refused.exit_code == 2
    assert "it has 'Cube out: store', 'Vector in: load': say which is what" in refused.stderr
    done = cli("mine.json", "--run", "first", "--map", "Cube out=AIC.FIX", "--map", "in=AIV0.MTE2", "--json")
    record = json.loads(done.stdout)
    assert {p["pipe"]: p["measured"] and p["measured"]["busy_us"] for p in record["pipes"]} == {
        "AIC.FIX": 2, "AIV0.MTE2": 1, "AIV1.MTE2": None,
    }  # fmt: skip


def test_a_summary_of_the_profiler(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "op_summary.csv").write_text(
        "Op Name,Task Duration(us),aic_fixpipe_time(us),aiv_mte2_time(us)\nother,1,1,1\nstream_1,21.5,3.5,2\n"
    )
    done = cli("op_summary.csv", "--run", "first", "--op", "stream*")
    assert done.exit_code == 0, done.stderr
    assert "the op took 21.50 us, predicted" in done.stdout
    assert "a summary does not say when a pipe was busy" in done.stdout
    assert "AIV.MTE2" in done.stdout


def test_a_page_with_both_timelines(cli: Cli, folder: Path, tmp_path: Path) -> None:
    done = cli(folder / "trace.json", "--run", "first", "--html", "beside.html")
    assert done.exit_code == 0, done.stderr
    assert "Wrote beside.html" in done.stderr
    page = (tmp_path / "beside.html").read_text(encoding="utf-8")
    assert page.index('id="figure-run"') < page.index('id="figure-prediction"')
    again = cli(folder / "trace.json", "--run", "first", "--html", "beside.html")
    assert (again.exit_code, "exists already" in again.stderr) == (2, True)
    assert cli(folder / "trace.json", "--run", "first", "--html", "beside.html", "--force", "-q").stderr == ""


@pytest.mark.parametrize(
    ("content", "arguments", "sentence"),
    [
        ("[" * 100_000, [], "is nested too deeply"),
        ("{", [], "is no JSON"),
        ("[]", [], "has no event on a pipe that is known; it has no other events"),
        ("[]", ["--map", "x"], "is not NAME=PIPE"),
        ("[]", ["--align", "best"], "'best' is none of start, least-squares"),
        ("[]", ["--unit", "h"], "'h' is none of us, ns, ps, ms"),
        ("[]", ["--html", "no/such/x.html"], "does not exist"),
        ("[]", ["--row", "99999999"], "has no row 99999999"),
        ("[]", ["--op", "fa"], "has no op 'fa'"),
    ],
)
def test_wrong_use_is_a_sentence(content: str, arguments: list[str], sentence: str, cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(content)
    done = cli("x.json", "--run", "first", *arguments)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert sentence in done.stderr


def test_a_run_or_file_that_is_not_there(cli: Cli, folder: Path) -> None:
    assert "none.json does not exist" in cli("none.json", "--run", "first").stderr
    assert cli(folder / "trace.json", "--run", "second").exit_code == 2
