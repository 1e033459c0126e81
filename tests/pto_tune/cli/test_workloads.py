"""`pto-tune workloads`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pto_tune.model.serial import from_dict
from pto_tune.workloads import workload, workload_names

Cli = Callable[..., Any]
Wrong = Callable[..., list[str]]


@pytest.mark.parametrize("words", [["workloads"], ["workloads", "list"]])
def test_the_workloads_are_listed(words: list[str], cli: Cli) -> None:
    shown = cli(*words)
    assert shown.exit_code == 0
    for name in workload_names():
        assert name in shown.stdout
    found = json.loads(cli(*words, "--json").stdout)
    assert [w["name"] for w in found] == workload_names()
    assert "fifo_depth" in found[0]["tunables"]


@pytest.mark.parametrize("name", workload_names())
def test_all_that_can_be_set_is_shown_with_its_meaning(name: str, cli: Cli) -> None:
    shown = cli("workloads", "show", name)
    assert shown.exit_code == 0
    model = workload(name)
    for p in (*model.problem, *model.tunables):
        (line,) = (line for line in shown.stdout.splitlines() if line.split()[:1] == [p.name])
        assert p.doc in line
    assert "Buffers" in shown.stdout


def test_labels_stand_for_values(cli: Cli) -> None:
    shown = cli("workloads", "show", "stream").stdout
    assert "NO_SPLIT UP_DOWN LEFT_RIGHT" in shown
    # the pipe of the other direction and its buffers are not there
    assert "c2v " in shown
    assert "v2c " not in shown
    assert "in_l1" not in shown


@pytest.mark.parametrize("name", workload_names())
def test_json_is_the_workload_itself_and_works_as_a_file(name: str, tmp_path: Path, cli: Cli) -> None:
    printed = cli("workloads", "show", name, "--json").stdout
    assert from_dict(json.loads(printed)) == workload(name)
    file = tmp_path / "copy.json"
    file.write_text(printed)
    assert cli("workloads", "show", file).stdout == cli("workloads", "show", name).stdout


def test_a_wrong_name_or_file_is_named(tmp_path: Path, cli: Cli, wrong: Wrong) -> None:
    (said,) = wrong(cli("workloads", "show", "flash_atention"))
    assert "did you mean 'flash_attention'" in said
    (said,) = wrong(cli("workloads", "show", tmp_path / "none.json"))
    assert "none.json" in said
    odd = tmp_path / "odd.json"
    odd.write_text('{"format": "pto-tune-workload/1", "name": 3}')
    said = "\n".join(wrong(cli("workloads", "show", odd)))
    assert "name" in said
    odd.write_text("{")
    assert wrong(cli("workloads", "show", odd))
