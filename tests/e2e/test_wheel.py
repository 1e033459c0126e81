"""The wheel by itself: built, installed in an empty environment, and used from another folder."""

import json
import os
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("cost_models", "dashboards", "db", "pto_tune")


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command as a user would whose environment knows nothing of this checkout."""
    hidden = ("PYTHON", "PTO_TUNE", "VIRTUAL_ENV", "COV")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(hidden)}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, ROOT, cwd=out)
    (built,) = out.glob("*.whl")
    return built


def test_everything_in_the_packages_is_in_the_wheel_and_nothing_else(wheel: Path) -> None:
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    source = {
        file.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for file in (ROOT / package).rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    assert inside == source


@pytest.mark.parametrize(
    "needed",
    [
        *(f"cost_models/platforms/ascend910b{number}.toml" for number in (1, 2, 3, 4)),
        "cost_models/platforms/a2a3-published.toml",
        "pto_tune/published/left_out.toml",
        "db/migrations/env.py",
        "pto_tune/exporters/templates/header.hpp.j2",
    ],
)
def test_data_files_are_in_the_wheel(needed: str, wheel: Path) -> None:
    assert needed in zipfile.ZipFile(wheel).namelist()


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Path]:
    """An environment with nothing but pip; removed at the end, because it grows to hundreds of megabytes."""
    home = tmp_path / "environment"
    venv.create(home, with_pip=True)
    yield home
    shutil.rmtree(home)


def test_it_works_in_an_empty_environment_from_another_folder(wheel: Path, home: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "else where"
    elsewhere.mkdir()
    python, command = home / "bin" / "python", home / "bin" / "pto-tune"
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel, cwd=elsewhere)

    assert "evaluate" in run(command, "--help", cwd=elsewhere)

    platforms = json.loads(run(command, "platforms", "list", "--json", cwd=elsewhere))
    assert "ascend910b2" in json.dumps(platforms)

    evaluated = json.loads(run(command, "evaluate", "stream", "--platform", "ascend910b2", "--json", cwd=elsewhere))
    assert evaluated
    assert {"configuration", "verdict", "cycles", "time_us"} <= set(evaluated[0])

    place = run(python, "-c", "import pto_tune, db; print(pto_tune.__file__, db.__file__)", cwd=elsewhere)
    assert all(Path(file).is_relative_to(home) for file in place.split())
