"""How sure the commands are: intervals beside times, ties, and what a time leans on."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from pto_tune.cli import sure
from pto_tune.uncertainty.ties import Tie

Cli = Callable[..., Any]

SMALL = ("tune", "stream", "--set", "tiles=16", "--no-db")


def test_explain_prints_the_interval_and_what_it_leans_on(cli: Cli) -> None:
    summary = json.loads(cli("explain", "stream", "--json").stdout)
    interval = summary["interval"]
    assert interval["low_us"] <= interval["median_us"] <= interval["high_us"]
    assert interval["samples"] == 64
    leans = summary["leans_on"]
    assert len(leans) == 5
    assert leans[0].keys() >= {"key", "kind", "source", "share", "value", "unit"}
    shown = cli("explain", "stream").stdout
    assert f"us ({sure.between(interval)})," in shown
    assert "64 samples of the platform's numbers" in shown
    for lean in leans:
        (line,) = [line for line in shown.splitlines() if line.startswith(f"{lean['key']} ")]
        assert lean["kind"] in line
        assert line.endswith(lean["source"])


def test_explain_leaves_it_out_where_asked_to(cli: Cli) -> None:
    summary = json.loads(cli("explain", "stream", "--not-sure", "--json").stdout)
    assert (summary["interval"], summary["leans_on"]) == (None, None)
    shown = cli("explain", "stream", "--not-sure").stdout
    assert "samples" not in shown
    assert "leans on" not in shown


def test_explain_says_when_a_run_of_many_ranks_would_take_long(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from pto_tune.uncertainty import running

    monkeypatch.setattr(running, "MOST_COST", 0)
    shown = cli("explain", "tget_bandwidth", "--set", "bytes=4096").stdout
    assert "no interval" in shown
    assert "--sure computes it" in shown
    asked = json.loads(cli("explain", "tget_bandwidth", "--set", "bytes=4096", "--sure", "--json").stdout)
    assert asked["interval"]["samples"] == 16
    assert len(asked["leans_on"]) == 5


def test_what_never_runs_has_no_interval(cli: Cli) -> None:
    summary = json.loads(cli("explain", "stream", "--set", "slot_bytes=4194304", "--json").stdout)
    assert (summary["interval"], summary["leans_on"]) == (None, None)


def test_tune_prints_intervals_and_marks_ties(cli: Cli) -> None:
    answer = json.loads(cli(*SMALL, "--json").stdout)
    assert [x["row"] for x in answer["intervals"]] == [x["row"] for x in answer["top"]]
    tied = [x["row"] for x in answer["intervals"] if x["tied"]]
    assert tied == [x["row"] for x in answer["ties"]]
    assert tied
    assert {x["best"] for x in answer["ties"]} == {answer["best"]["row"]}
    shown = cli(*SMALL).stdout
    assert "90 % interval" in shown
    assert f"Tied with row {answer['best']['row']}" in shown
    for x in answer["intervals"]:
        (line, *_) = [line for line in shown.splitlines() if line.split()[:1] == [str(x["row"])]]
        assert sure.between(x) in line
        assert (" tied " in line) == x["tied"]


def test_show_has_what_tune_had(url: str, cli: Cli) -> None:
    tuned = json.loads(cli(*SMALL, "--json").stdout)
    shown = json.loads(cli("show", "first", "--db", url, "--json").stdout)
    assert shown["intervals"] == tuned["intervals"]
    assert shown["ties"] == tuned["ties"]
    assert "90 % interval" in cli("show", "first", "--db", url).stdout
    plain = cli("show", "first", "--db", url, "--not-sure").stdout
    assert "interval" not in plain
    assert json.loads(cli("show", "first", "--db", url, "--not-sure", "--json").stdout)["ties"] is None


def test_show_goes_without_where_the_platform_is_not_to_be_had(
    url: str, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pto_tune.cli import stored

    def refuse(*_: object) -> None:
        raise ValueError("the numbers of platform 'x' are not those that the run was made with")

    monkeypatch.setattr(stored, "platform_of", refuse)
    done = cli("show", "first", "--db", url)
    assert done.exit_code == 0
    assert "no intervals: the numbers of platform 'x' are not those" in done.stdout


def test_intervals_of_a_table_are_left_out_where_they_take_long(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    from pto_tune.uncertainty import running

    monkeypatch.setattr(running, "QUICK", 0)
    answer = json.loads(cli(*SMALL, "--json").stdout)
    assert (answer["intervals"], answer["ties"]) == (None, None)
    assert "interval" not in cli(*SMALL).stdout


def test_rows_with_one_deciding_number_share_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    flag, issue = "flags.cross_core_latency", "scalar.issue"
    ties = [
        (7, Tie(1, 0, (-1.0, 0.0, 0.5), flag, "assumed", 0.9, unit="cycles")),
        (8, Tie(2, 0, (-0.1, 0.0, 2.5), flag, "assumed", 0.6, 420.0, True, "cycles")),
        (9, Tie(3, 0, (-0.1, 0.0, 0.1), issue, "assumed", 1.0, unit="cycles")),
    ]
    sure.say_ties(sure.Sure(best=3, tied=(7, 8, 9), ties=ties))
    title, first, second = capsys.readouterr().out.strip().splitlines()
    assert title == "Tied with row 3"
    assert first.startswith(f"rows 7 and 8: {flag} (assumed, 60 % of the difference's variance): row 3 is faster below")
    assert "at most about 2.5 us apart" in first
    assert second.startswith(f"row 9: {issue}")


def test_a_prediction_outside_of_its_interval_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    interval = {"low_us": 20.0, "median_us": 25.0, "high_us": 40.0, "samples": 64, "unfinished": 2}
    sure.say_interval({"interval": interval, "time_us": 18.0})
    said = capsys.readouterr().out
    assert "20.00 to 40.00 us, median 25.00" in said
    assert "2 of the samples do not end" in said
    assert "further to the slow side" in said
    sure.say_interval({"interval": {**interval, "unfinished": 0}, "time_us": 22.0})
    assert "lies outside" not in capsys.readouterr().out


def test_the_header_carries_the_interval(url: str, cli: Cli) -> None:
    from pathlib import Path

    assert cli("export", "first", "--db", url, "-o", "out.hpp").exit_code == 0
    (line,) = [line for line in Path("out.hpp").read_text().splitlines() if line.startswith("// interval")]
    assert "5 and 95 % of 64 samples of the platform's numbers" in line
