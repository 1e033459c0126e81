"""`pto-tune show` and `pto-tune runs`: what the store holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

Cli = Callable[..., Any]
Wrong = Callable[..., list[str]]


@pytest.mark.parametrize("words", [["show"], ["runs", "show"]])
def test_a_run_is_shown_with_its_best_rows(words: list[str], url: str, cli: Cli) -> None:
    from pto_tune.tuning import tune

    shown = cli(*words, "latest", "--db", url)
    assert (shown.exit_code, shown.stderr) == (0, "")
    for word in ("run 1, first: done", "platform    ascend910b2", "Configurations by verdict", "Best 10 by time"):
        assert word in shown.stdout
    found = json.loads(cli(*words, "1", "--db", url, "--json").stdout)
    result = tune("stream", problem={"tiles": 16})
    assert result.best is not None
    assert found["best_row"] == result.best["row"]
    assert found["best_us"] == pytest.approx(result.best["time_us"])
    assert len(found["rows"]) == 10
    for key in ("row", "configuration", "cycles", "bound", "bytes", "time_us", "vector_utilisation"):
        assert found["rows"][0][key] == pytest.approx(result.best[key]), key
    by_row = {row["row"]: row for row in result.top}
    same = [row for row in found["rows"] if row["row"] in by_row]
    assert same
    assert all(row["bytes"] == by_row[row["row"]]["bytes"] for row in same)


def test_rows_are_sorted_as_asked(url: str, cli: Cli, wrong: Wrong) -> None:
    def rows(sort: str) -> Any:
        return json.loads(cli("show", "1", "--db", url, "--sort", sort, "--top", "1000", "--json").stdout)["rows"]

    times = [row["cycles"] for row in rows("time")]
    assert times == sorted(times)
    sizes = [sum(row["bytes"][m] for m in ("UB", "L1", "L0A", "L0B", "L0C")) for row in rows("memory")]
    assert sizes == sorted(sizes)
    numbers = [row["row"] for row in rows("row")]
    assert numbers == sorted(numbers)
    assert {row["verdict"] for row in rows("row")} == {"ok"}
    (said,) = wrong(cli("show", "1", "--db", url, "--sort", "colour"))
    assert "colour" in said
    assert "memory" in said


@pytest.mark.parametrize("words", [["runs"], ["runs", "list"]])
def test_runs_are_listed(words: list[str], url: str, cli: Cli) -> None:
    shown = cli(*words, "--db", url)
    assert shown.exit_code == 0
    assert "first" in shown.stdout
    assert "stream" in shown.stdout
    (run,) = json.loads(cli(*words, "--db", url, "--json").stdout)
    assert (run["run"], run["name"], run["state"]) == (1, "first", "done")


def test_an_option_before_the_command_is_not_lost_silently(url: str, cli: Cli, wrong: Wrong) -> None:
    (said,) = wrong(cli("runs", "--db", url, "list"))
    assert "'pto-tune runs list --db ...'" in said
    (said,) = wrong(cli("platforms", "--json", "list"))
    assert "--json stands before 'list'" in said
    assert cli("runs", "list", env={"PTO_TUNE_DB": url}).exit_code == 0


def test_a_run_gets_another_name(own_url: str, cli: Cli, wrong: Wrong) -> None:
    done = cli("runs", "rename", "first", "注意 <b>'x'</b>", "--db", own_url)
    assert done.exit_code == 0
    assert "注意 <b>'x'</b>" in cli("runs", "list", "--db", own_url).stdout
    (said,) = wrong(cli("runs", "rename", "1", "latest", "--db", own_url))
    assert "latest" in said
    (said,) = wrong(cli("runs", "rename", "first", "x", "--db", own_url))
    assert "first" in said


def test_a_deleted_run_is_gone(own_url: str, cli: Cli, wrong: Wrong) -> None:
    done = cli("runs", "delete", "first", "--db", own_url)
    assert done.exit_code == 0
    assert "first" in done.stdout
    assert json.loads(cli("runs", "list", "--db", own_url, "--json").stdout) == []
    assert wrong(cli("show", "latest", "--db", own_url))


def test_an_interrupted_run_is_resumed(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from pto_tune.search import exhaustive

    def interrupt(_bar: object, _step: object) -> None:
        raise KeyboardInterrupt

    words = ("stream", "--set", "tiles=16")
    with monkeypatch.context() as patched:
        patched.setattr(exhaustive, "CHUNK_ROWS", 40)
        patched.setattr("pto_tune.cli.progress.Bar.__call__", interrupt)
        assert cli("tune", *words, "--name", "cut").exit_code == 130
    assert json.loads(cli("show", "cut", "--json").stdout)["state"] == "stopped"
    resumed = cli("runs", "resume", "cut", "--json")
    assert resumed.exit_code == 0
    whole = json.loads(cli("tune", *words, "--no-db", "--json").stdout)
    answer = json.loads(resumed.stdout)
    for key in ("best", "top", "front", "counts", "n_evaluated"):
        assert answer[key] == whole[key], key
    shown = json.loads(cli("show", "cut", "--json").stdout)
    assert (shown["state"], shown["n_evaluated"]) == ("done", whole["n_evaluated"])


@pytest.mark.parametrize(
    "words",
    [
        ["show", "latest"],
        ["export", "latest"],
        ["runs", "list"],
        ["runs", "show", "1"],
        ["runs", "resume", "1"],
        ["runs", "rename", "1", "x"],
        ["runs", "delete", "1"],
    ],
)
def test_without_a_store_it_says_how_to_get_one(words: list[str], tmp_path: Any, cli: Cli, wrong: Wrong) -> None:
    (said,) = wrong(cli(*words))
    assert "no results yet in sqlite:///pto-tune.db" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [["show"], ["export"], ["runs", "show"], ["runs", "resume"], ["runs", "delete"]])
def test_an_unknown_run_is_named(words: list[str], url: str, cli: Cli, wrong: Wrong) -> None:
    (said,) = wrong(cli(*words, "firts", "--db", url))
    assert "firts" in said
    assert "first" in said


def test_a_run_without_results_has_no_best(own_url: str, cli: Cli, wrong: Wrong) -> None:
    from db import RunSpec, open_store

    with open_store(own_url) as store:
        run = store.create_run(
            RunSpec(
                workload="stream", workload_json="{}", problem={"tiles": 3}, platform="ascend910b2",
                platform_sha256="0", rule_set="a2a3", timing="task", strategy="exhaustive", objectives=("time",),
                spec_sha256="1", versions={}, tunables=[{"name": "split", "domain": ["NO_SPLIT"]}],
                rules=("capacity-UB",), verdicts=("ok", "refused"), pipes=("AIC.M", "L2"), clock_mhz=1000.0,
                launch_us=1.0, n_candidates=4, name="empty",
            )
        )  # fmt: skip
    shown = cli("show", "empty", "--db", own_url)
    assert shown.exit_code == 0
    assert "No legal configuration so far" in shown.stdout
    assert json.loads(cli("show", "empty", "--db", own_url, "--json").stdout)["rows"] == []
    (said,) = wrong(cli("export", "empty", "--db", own_url), code=1)
    assert "no best configuration" in said
    (said,) = wrong(cli("export", "empty", "--row", "3", "--db", own_url))
    assert "none so far" in said
    with open_store(own_url) as store:
        columns = {
            "t0": np.array([0, 0]),
            "verdict": np.array([0, 1]),
            "rule": np.array([0, 0]),
            "cycles": np.array([5000, 0]),
            "bound": np.array([1, 0]),
            "stretch_milli": np.array([1380, 0]),
        }
        timed = np.array([True, False])
        valid = {"cycles": timed, "bound": timed, "stretch_milli": timed, "rule": ~timed}
        store.add_configurations(run.id, columns, 0, valid)
    (row,) = json.loads(cli("show", "empty", "--db", own_url, "--json").stdout)["rows"]
    assert row["configuration"] == {"tiles": 3, "split": "NO_SPLIT"}
    assert (row["cycles"], row["time_us"], row["bound"]) == (5000, 6.0, "L2-bound, x1.38")
    assert row["bytes"]["UB"] is None
    (said,) = wrong(cli("export", "empty", "--row", "1", "--db", own_url), code=1)
    assert "'refused'" in said
    assert "capacity-UB" in said
