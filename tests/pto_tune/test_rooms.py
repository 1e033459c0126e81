"""A foreign `db.py` is refused before it runs; our own packages are taken wherever they are installed."""

import os
import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest

import pto_tune
from pto_tune import _rooms

HOME = Path(pto_tune.__file__).resolve().parents[1]
OURS = HOME / "db" / "__init__.py"


def run(script: Path, *options: str) -> subprocess.CompletedProcess[str]:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    return subprocess.run(
        [sys.executable, *options, str(script)],
        env={**environment, "PYTHONPATH": str(HOME)},
        cwd=script.parent,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture
def script(tmp_path: Path) -> Path:
    """A user's script that imports pto_tune, in a folder of its own."""
    path = tmp_path / "script.py"
    path.write_text("import pto_tune\nprint(pto_tune.__version__)\n")
    return path


def foreign_db(folder: Path) -> Path:
    """A module named db that leaves a trace when its code is executed."""
    path = folder / "db.py"
    path.write_text(f"open({str(folder / 'executed')!r}, 'w').close()\n")
    return path


def test_without_a_foreign_module_the_import_works(script: Path) -> None:
    done = run(script)
    assert (done.returncode, done.stdout.strip()) == (0, pto_tune.__version__), done.stderr


def test_a_db_beside_the_script_is_refused_before_it_runs(script: Path) -> None:
    foreign = foreign_db(script.parent)
    done = run(script)
    assert done.returncode == 1
    message = done.stderr.strip().splitlines()[-1]
    assert message.startswith("ImportError: ")
    assert str(foreign) in message
    assert str(OURS) in message
    for way_out in ("rename", "python -P", "command line"):
        assert way_out in message
    assert not (script.parent / "executed").exists()


def test_python_P_passes_over_a_db_beside_the_script(script: Path) -> None:
    foreign_db(script.parent)
    done = run(script, "-P")
    assert done.returncode == 0, done.stderr
    assert not (script.parent / "executed").exists()


def test_a_foreign_db_that_is_loaded_already_is_refused(script: Path) -> None:
    foreign = foreign_db(script.parent)
    script.write_text("import db\nimport pto_tune\n")
    done = run(script)
    message = done.stderr.strip().splitlines()[-1]
    assert message.startswith("ImportError: ")
    assert f"already loaded from {foreign}" in message
    assert str(OURS) in message


def test_importing_pto_tune_loads_nothing_heavy(script: Path) -> None:
    script.write_text(
        "import sys\nbefore = set(sys.modules)\nimport pto_tune\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(*sorted(new - sys.stdlib_module_names))\n"
    )
    done = run(script)
    assert done.stdout.split() == ["pto_tune"], done.stderr


def test_a_name_that_is_not_public_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'evalute'"):
        _ = pto_tune.evalute


def test_public_names_are_listed() -> None:
    assert {"evaluate", "tune", "explain", "export", "workload", "platform_names"} <= set(dir(pto_tune))


def test_at_the_first_use_the_loaded_rooms_have_to_carry_their_markers(script: Path) -> None:
    script.write_text(
        "import sys, types\n"
        "import pto_tune\n"
        "api = sys.modules['pto_tune.api'] = types.ModuleType('pto_tune.api')\n"
        "api.tune = print\n"
        "sys.modules['db'] = types.ModuleType('db')\n"
        "pto_tune.tune('used')\n"
    )
    done = run(script)
    assert "ImportError: pto-tune got a package that is not its own: 'db' was loaded" in done.stderr
    assert done.stdout == ""


# ------------------------------------------------------------------ the guard by itself, on made-up trees


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An installation of empty rooms."""
    for room in _rooms.ROOMS:
        (tmp_path / "site" / room).mkdir(parents=True)
        (tmp_path / "site" / room / "__init__.py").write_text(f"PTO_TUNE_ROOM = {room!r}\n")
    return tmp_path / "site"


def guard(home: Path, *path: Path, modules: dict[str, object] | None = None) -> None:
    _rooms.guard(str(home), modules or {}, [str(folder) for folder in (*path, home)])


def test_siblings_are_accepted_through_links(home: Path, tmp_path: Path) -> None:
    guard(home)
    (tmp_path / "link").symlink_to(home)
    guard(tmp_path / "link", home)


def test_a_foreign_package_is_named_like_a_foreign_file(home: Path, tmp_path: Path) -> None:
    (tmp_path / "app" / "dashboards").mkdir(parents=True)
    (tmp_path / "app" / "dashboards" / "__init__.py").write_text("")
    (tmp_path / "app" / "cost_models.py").write_text("")
    with pytest.raises(ImportError) as refused:
        guard(home, tmp_path / "app")
    for place in ("app/dashboards/__init__.py", "site/dashboards/__init__.py", "app/cost_models.py"):
        assert str(tmp_path / place) in str(refused.value)
    assert "'db'" not in str(refused.value)


def test_a_folder_without_init_loses_against_our_package(home: Path, tmp_path: Path) -> None:
    (tmp_path / "app" / "db").mkdir(parents=True)
    guard(home, tmp_path / "app")


def test_a_missing_room_asks_for_a_new_installation(home: Path) -> None:
    (home / "db" / "__init__.py").unlink()
    (home / "db").rmdir()
    with pytest.raises(ImportError, match="'db' is missing, reinstall pto-tune") as refused:
        guard(home)
    assert "rename" not in str(refused.value)


def test_modules_without_a_file_are_judged_by_the_marker(home: Path) -> None:
    bare = ModuleType("db")
    del bare.__spec__
    with pytest.raises(ImportError, match="loaded from a module without a file"):
        guard(home, modules={"db": bare})
    vars(bare)["PTO_TUNE_ROOM"] = "db"
    guard(home, modules={"db": bare})


@pytest.mark.parametrize("module", [None, object(), "db"])
def test_whatever_lies_in_sys_modules_is_refused_and_not_a_crash(home: Path, module: object) -> None:
    with pytest.raises(ImportError, match="without a file"):
        guard(home, modules={"db": module})


def test_a_loaded_module_with_only_a_file_or_only_a_spec_is_placed(home: Path) -> None:
    for attributes in (
        {"__file__": str(home / "db" / "__init__.py"), "__spec__": None},
        {"__spec__": ModuleSpec("db", None, origin=str(home / "db" / "__init__.py"), is_package=True)},
    ):
        module = ModuleType("db")
        if isinstance(spec := attributes["__spec__"], ModuleSpec):
            spec.has_location = True
        vars(module).update(attributes)
        guard(home, modules={"db": module})


def test_a_modules_own_getattr_is_not_run(home: Path) -> None:
    module = ModuleType("db")

    def trap(name: str) -> object:
        raise AssertionError(f"asked for {name}")

    vars(module)["__getattr__"] = trap
    with pytest.raises(ImportError, match="without a file"):
        guard(home, modules={"db": module})


def test_after_loading_every_room_has_to_carry_its_marker() -> None:
    ours, other = ModuleType("db"), ModuleType("dashboards")
    vars(ours)["PTO_TUNE_ROOM"] = "db"
    vars(other).update(PTO_TUNE_ROOM="db", __file__="/somewhere/dashboards.py")
    _rooms.check_loaded({"db": ours})
    with pytest.raises(ImportError, match=r"'dashboards' was loaded from /somewhere/dashboards\.py") as refused:
        _rooms.check_loaded({"db": ours, "dashboards": other})
    assert "'db'" not in str(refused.value)


def test_our_own_rooms_carry_their_markers() -> None:
    import cost_models
    import dashboards
    import db

    assert {cost_models.__name__, dashboards.__name__, db.__name__} == set(_rooms.ROOMS)
    _rooms.check_loaded()


def test_public_functions_stay_functions_after_their_use(script: Path) -> None:
    script.write_text(
        "import pto_tune\n"
        "for _ in range(2):\n"
        "    names = ('evaluate', 'explain', 'export', 'load_platform', 'platform_names', 'tune', 'workload')\n"
        "    assert all(callable(getattr(pto_tune, n)) for n in names)\n"
        "    assert pto_tune.explain('stream', {'tiles': 4}).summary()['verdict'] == 'ok'\n"
    )
    done = run(script)
    assert done.returncode == 0, done.stderr
