"""Results that are kept for each code."""

from types import SimpleNamespace
from typing import Any

from pto_tune.lowering.remembered import MOST, for_each_code


def test_a_code_is_asked_once_and_the_oldest_is_forgotten() -> None:
    asked: list[Any] = []

    @for_each_code
    def ask(code: Any) -> int:
        asked.append(code)
        return len(asked)

    codes: list[Any] = [SimpleNamespace() for _ in range(MOST + 1)]  # all equal, and none the same
    assert [ask(code) for code in codes] == list(range(1, MOST + 2))
    assert [ask(code) for code in codes[1:]] == list(range(2, MOST + 2))
    assert ask(codes[0]) == MOST + 2
