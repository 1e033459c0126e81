"""`pto-tune doctor`, `--version` and `-v`: what pto-tune says about itself and its surroundings."""

from __future__ import annotations

import json
import logging
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cost_models.schema import SCHEMA
from db.revisions import HEAD
from pto_tune import RESULT_SCHEMA, __version__
from pto_tune.cli import doctor

Cli = Callable[..., Any]


def findings(cli: Cli, *words: str) -> dict[str, dict[str, str]]:
    shown = cli("doctor", "--json", *words)
    return {one["what"]: one for one in json.loads(shown.stdout)}


def test_the_version_has_a_number_for_each_schema(cli: Cli) -> None:
    shown = cli("--version").stdout
    assert shown.splitlines()[0] == f"pto-tune {__version__}"
    assert shown.splitlines()[1] == (f"result schema {RESULT_SCHEMA}, platform schema {SCHEMA}, database schema {HEAD}")


def test_it_names_versions_threads_kernels_and_store(cli: Cli, tmp_path: Path) -> None:
    found = findings(cli, "--db", f"sqlite:///{tmp_path / 'a.db'}")
    assert {"Python", "numpy", "threads", "compiled kernels", "configuration file", "store"} <= found.keys()
    assert set(doctor.LIBRARIES) <= found.keys()
    assert {f"extra {name}" for name in doctor.EXTRAS} <= found.keys()
    assert found["store"]["state"] == "note"


def test_it_makes_no_store(cli: Cli, tmp_path: Path) -> None:
    assert cli("doctor", "--db", f"sqlite:///{tmp_path / 'a.db'}").exit_code == 0
    assert list(tmp_path.glob("a.db*")) == []


def test_a_store_that_is_none_is_an_error(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(b"no database at all, but long enough to be looked at" * 100)
    shown = cli("doctor", "--db", f"sqlite:///{tmp_path / 'a.db'}")
    assert shown.exit_code == 1
    assert "store: " in shown.stderr


def test_a_password_is_not_shown(cli: Cli) -> None:
    shown = cli("doctor", "--db", "postgresql://user:secret-word@127.0.0.1:1/none")
    assert "secret-word" not in shown.stdout + shown.stderr
    assert shown.exit_code == 1


def test_the_home_folder_is_not_shown(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cfg.toml").touch()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PTO_TUNE_CONFIG", str(tmp_path / "cfg.toml"))
    assert findings(cli)["configuration file"]["found"] == "~/cfg.toml"


def test_a_missing_library_is_wrong_and_a_missing_extra_is_not(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "LIBRARIES", ("no-such-library",))
    monkeypatch.setattr(doctor, "EXTRAS", {"never": ("no-such-extra",)})
    found = findings(cli)
    assert found["no-such-library"]["state"] == "wrong"
    assert found["extra never"]["state"] == "note"


@pytest.mark.parametrize(("words", "level"), [([], "WARNING"), (["-v"], "INFO"), (["-vv"], "DEBUG")])
def test_v_says_more(cli: Cli, words: list[str], level: str) -> None:
    assert cli(*words, "workloads", "list").exit_code == 0
    assert logging.getLevelName(logging.getLogger("pto_tune").level) == level


def test_what_is_done_is_said_on_stderr_only_where_it_is_asked_for(cli: Cli) -> None:
    tune = ("tune", "stream", "--set", "tiles=16", "--quiet")
    assert cli(*tune).stderr == ""
    assert "answered from run 1" in cli("-v", *tune).stderr
    said = cli("-v", *tune, "--anew").stderr
    assert "stream on ascend910b2" in said
    assert "kept as run 2" in said
    assert "looked at" not in said
    assert "looked at" in cli("-vv", *tune, "--anew").stderr
    assert cli(*tune).stderr == ""


def test_every_extra_for_users_is_looked_at() -> None:
    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert doctor.EXTRAS.keys() == project["optional-dependencies"].keys() - {"dev", "all"}


def test_completion_is_offered_for_the_usual_shells(cli: Cli) -> None:
    assert "--install-completion" in cli("--help").stdout
