"""A trace as bytes, for a download."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pto_tune.explaining.explanation import Explanation


def trace_of(explanation: Explanation) -> bytes:
    """The JSON of `Explanation.write_trace`, by way of a file in a folder of its own. ValueError: there is none."""
    with TemporaryDirectory(prefix="pto-tune-") as folder:
        path = Path(folder) / "trace.json"
        explanation.write_trace(path)
        return path.read_bytes()
