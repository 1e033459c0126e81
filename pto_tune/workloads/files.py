"""Workloads in files: JSON of pto-tune, or kernels of PTOAS."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pto_tune.model.nodes import Workload

ENDINGS = (".json", ".pto")


def looks_like_path(text: str) -> bool:
    """Whether a file is meant rather than the name of a built-in workload."""
    return text.endswith(ENDINGS) or "/" in text or "\\" in text


def load_workload(path: str | Path) -> Workload:
    """The workload of a file: a kernel where it ends in `.pto`, JSON elsewhere. ValueError names every fault of it."""
    if str(path).endswith(".pto"):
        from pto_tune.kernels.reading import load_workload as load_kernel

        return load_kernel(path)
    from pto_tune.model.serial import load

    return load(path)
