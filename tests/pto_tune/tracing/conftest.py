"""A prediction, its own trace, and that trace in the words of other tools."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import pto_tune
from pto_tune.explaining.explanation import Explanation

Write = Callable[..., Path]


@pytest.fixture(scope="session")
def attention() -> Explanation:
    return pto_tune.explain("flash_attention", {"s0": 1024, "s1": 1024})


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes data as JSON, or a text as it is."""

    def write(data: Any, name: str = "trace.json") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(data if isinstance(data, str) else json.dumps(data), encoding="utf-8")
        return path

    return write


@pytest.fixture
def own(attention: Explanation, tmp_path: Path) -> Path:
    """The trace that this project writes."""
    path = tmp_path / "own.json"
    attention.write_trace(path)
    return path


@pytest.fixture(scope="session")
def work(attention: Explanation) -> list[tuple[str, str, str, float, float]]:
    """Work of pipes: core, pipe, name, start and duration in microseconds."""
    mhz, t = attention.problem.clock_mhz, attention.block
    return [
        (*e.pipe.split("."), e.name, e.start / mhz, (e.end - e.start) / mhz)  # type: ignore[misc]
        for e in t.events()
        if not e.pipe.endswith(".S") and not t.is_signal(e.operation)
    ]
