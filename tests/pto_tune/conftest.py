"""What tests of searches share."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from typing import Any

import pytest

from pto_tune import evaluation
from pto_tune.evaluation import Evaluation
from pto_tune.search import exhaustive


@pytest.fixture(autouse=True, scope="session")
def interrupts() -> None:
    """Ctrl-C does what it does in a terminal; the background processes of a shell begin with it ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def tens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Exhaustive batches of ten rows."""
    monkeypatch.setattr(exhaustive, "CHUNK_ROWS", 10)


@pytest.fixture
def evaluated_rows(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Number of rows of each evaluation since."""
    numbers: list[int] = []
    original = evaluation.evaluate_columns

    def watched(problem: evaluation.Problem, table: Mapping[str, Any], **options: Any) -> Evaluation:
        e = original(problem, table, **options)
        numbers.append(len(e))
        return e

    monkeypatch.setattr(evaluation, "evaluate_columns", watched)
    return numbers
