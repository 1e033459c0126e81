"""Where pto-tune's sister packages would be imported from, checked before anything of theirs runs.

pto-tune ships four top-level packages, and `db` in particular is a common name: a `db.py` beside a user's
script comes first on `sys.path` and would be imported in place of ours. The check here reads `sys.modules`
and asks the path finder for a location only, so that no foreign code is executed by looking.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

ROOMS = ("cost_models", "db", "dashboards")
"""The top-level packages that have to be siblings of `pto_tune`."""

MARKER = "PTO_TUNE_ROOM"
"""Module attribute by which a loaded room says that it is ours; its value is the room's own name."""

_WAY_OUT = (
    "rename that file or folder, run `python -P` where it lies beside the script, and where the program has "
    "a top-level package of that name of its own, use the `pto-tune` command line instead"
)


def guard(
    home: str | None = None,
    modules: Mapping[str, object] | None = None,
    path: Sequence[str] | None = None,
) -> None:
    """Refuse to go on where a room is, or would be, somebody else's module.

    Args:
        home: folder that has to hold the rooms; default: the one that holds `pto_tune` itself.
        modules: what is loaded already; default `sys.modules`.
        path: folders searched; default `sys.path`.

    Raises:
        ImportError: naming for each such room the file found, the file expected, and the way out.

    Limits: the standard path finder is asked, and an import hook in front of it on `sys.meta_path` is not
    (that would run its code); `check_loaded` sees afterwards what such a hook has put in place.
    """
    home = home or os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    modules = sys.modules if modules is None else modules
    foreign: list[str] = []
    missing: list[str] = []
    for room in ROOMS:
        expected = os.path.join(home, room, "__init__.py")
        if room in modules:
            module = modules[room]
            found = _place_of_module(module)
            if not _same_package(found, expected) and not (found is None and _is_marked(module, room)):
                where = found or "a module without a file"
                foreign.append(f"{room!r} is already loaded from {where} instead of {expected}")
            continue
        found = _place_of_spec(PathFinder.find_spec(room, path))
        if found is None:
            missing.append(f"{room!r} is missing, reinstall pto-tune, which ships it as {expected}")
        elif not _same_package(found, expected):
            foreign.append(f"{room!r} would be imported from {found} instead of {expected}")
    if foreign or missing:
        way_out = [_WAY_OUT] if foreign else []
        raise ImportError(f"pto-tune cannot use its own packages: {'; '.join([*missing, *foreign, *way_out])}")


def check_loaded(modules: Mapping[str, object] | None = None) -> None:
    """Verify that every room that is loaded by now carries our marker.

    Rooms that are not loaded yet are passed over. To be called after the imports that `guard` allowed.

    Raises:
        ImportError: naming each loaded module without the marker, and where it came from.
    """
    modules = sys.modules if modules is None else modules
    foreign = [
        f"{room!r} was loaded from {_place_of_module(modules[room]) or 'a module without a file'}"
        for room in ROOMS
        if room in modules and not _is_marked(modules[room], room)
    ]
    if foreign:
        raise ImportError(f"pto-tune got a package that is not its own: {'; '.join(foreign)}; {_WAY_OUT}")


def _is_marked(module: object, room: str) -> bool:
    return _attributes(module).get(MARKER) == room


def _attributes(module: object) -> Mapping[str, object]:
    # The dictionary itself, not getattr: a module's own __getattr__ is foreign code.
    return vars(module) if isinstance(module, ModuleType) else {}


def _place_of_module(module: object) -> str | None:
    attributes = _attributes(module)
    spec = attributes.get("__spec__")
    place = _place_of_spec(spec) if isinstance(spec, ModuleSpec) else None
    if place is None and isinstance(file := attributes.get("__file__"), str):
        place = file
    return place


def _place_of_spec(spec: ModuleSpec | None) -> str | None:
    """The file of a module, or the first folder of a package without `__init__.py`."""
    if spec is None:
        return None
    if spec.has_location and spec.origin is not None:
        return spec.origin
    folders = list(spec.submodule_search_locations or ())
    return folders[0] if folders else spec.origin


def _same_package(found: str | None, expected: str) -> bool:
    """Whether both are the `__init__` of one folder (source or bytecode, through links or not)."""
    if found is None or not os.path.basename(found).startswith("__init__."):
        return False
    here, there = (os.path.normcase(os.path.realpath(os.path.dirname(p))) for p in (found, expected))
    return here == there
