"""Where the CMake package lies: `find_package(PtoTune)` finds it with `PtoTune_DIR` set to that folder."""

from __future__ import annotations

from pathlib import Path


def folder() -> Path:
    """The folder with PtoTuneConfig.cmake."""
    return Path(__file__).resolve().with_name("cmake")
