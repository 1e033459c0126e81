"""What the fuzz tests share: how long they run, what a clear error is, and a watch for what never ends.

`PTO_TUNE_FUZZ=long` runs forty times as many examples, other ones each time.
"""

from __future__ import annotations

import os
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

import cost_models
import db
import pto_tune

LONG = os.environ.get("PTO_TUNE_FUZZ", "") == "long"
LIMIT_S = 5.0
"""Most processor time of one answer."""

_OURS = tuple(str(Path(str(package.__file__)).parent) for package in (pto_tune, cost_models, db))


def fuzz(examples: int) -> settings:
    """So many examples, the same ones each time; in the long profile forty times as many, new ones each time."""
    return settings(
        max_examples=examples * 40 if LONG else examples,
        derandomize=not LONG,
        database=None,
        deadline=None,
        # the example that is reported is small enough without a search for the cause
        phases=(Phase.explicit, Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )


class EndlessError(Exception):
    """An answer took more than LIMIT_S of processor time."""


@contextmanager
def in_time(limit_s: float = LIMIT_S) -> Iterator[None]:
    """EndlessError after so much processor time, whatever else the machine does."""

    def late(number: int, frame: Any) -> None:  # noqa: ARG001
        raise EndlessError(f"no answer after {limit_s:g} s")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def answer_or_clear_error(ask: Callable[[], Any]) -> tuple[Any, str]:
    """What `ask` gives, or None and the text of its error, which has to be a clear one."""
    try:
        with in_time():
            return ask(), ""
    except EndlessError:
        raise
    except ValueError as error:
        assert_clear(error)
        return None, str(error)


def assert_clear(error: ValueError) -> None:
    """A ValueError that our own code has put into words: at least one line, none empty, short enough to read."""
    where = traceback.extract_tb(error.__traceback__)[-1].filename
    assert where.startswith(_OURS), f"{type(error).__name__} of {where}: {error}"
    assert_sentences(str(error))


def assert_sentences(text: str) -> None:
    """Lines that a person can read."""
    lines = text.split("\n")
    assert lines, "it says nothing"
    for line in lines:
        assert line.strip(), f"an empty line in {text!r}"
        assert len(line) < 4_000, f"{len(line)} characters in a line: {line[:200]!r}"
        assert "Traceback" not in line
    assert len(text) < 200_000


LARGE = [0, 1, -1, 2, 7, 255, 2**31 - 1, 2**31, 2**31 + 1, -(2**31), 2**53, 2**62, 2**63 - 1, 2**63, -(2**63), 10**30]
TEXTS = [
    "", " ", "a", "name", "block", "sub", "rank", "tiles", "AIC", "AIV", "AIC.M", "UB", "L1", "NO_SPLIT", "loop",
    "../../x", "/etc/passwd", "a/b", "a\\b", "..", "\0", "a\nb", "\x1b[31m", "{0.__class__}", "{{ 7*7 }}", "%n%s",
    "'; DROP TABLE runs;--", "__import__('os')", "$(touch x)", "é", "\u202e", "𝔘", "\ud800", "a" * 65, "a" * 1001,
    "nan", "instr", "inf", "1e999", "0x10",
]  # fmt: skip

leaves = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from(LARGE),
    st.integers(-3, 300),
    st.sampled_from([0.0, -0.0, 1.5, 1e308, 5e-324, float("inf"), float("-inf"), float("nan")]),
    st.sampled_from(TEXTS),
)


def nested(depth: int, inside: Any, wrap: str) -> Any:
    """`inside` in so many lists, objects, or operations."""
    for _ in range(depth):
        inside = [inside] if wrap == "list" else {"a": inside} if wrap == "object" else ["not", inside]
    return inside


values = st.one_of(
    leaves,
    st.recursive(
        leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(TEXTS), inner, max_size=4)
    ),
    st.builds(nested, st.sampled_from([2, 59, 61, 200]), leaves, st.sampled_from(["list", "object", "not"])),
    st.builds(lambda x, n: [x] * n, leaves, st.sampled_from([17, 65, 257, 5000])),
)
"""Anything that JSON can hold, and numbers that it cannot."""

Place = tuple[str | int, ...]


def places(tree: Any, at: Place = ()) -> list[Place]:
    """Every place in a tree of lists and objects, the root first."""
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    return [at, *(place for key, value in inner for place in places(value, (*at, key)))]


def _copied(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _copied(value) for key, value in tree.items()}
    return [_copied(value) for value in tree] if isinstance(tree, list) else tree


@st.composite
def mutated(draw: st.DrawFn, trees: Sequence[Any], most: int = 3) -> Any:
    """One of some trees with a few changes: a value or a key replaced, left out, doubled, moved from elsewhere."""
    tree = _copied(draw(st.sampled_from(trees)))
    for _ in range(draw(st.integers(1, most))):
        known = places(tree)[1:]
        if not known:
            break
        *way, last = known[draw(st.integers(0, len(known) - 1))]
        parent = tree
        for key in way:
            parent = parent[key]
        change = draw(st.sampled_from(["value", "value", "drop", "double", "move", "key"]))
        if change == "value":
            parent[last] = draw(values)
        elif change == "drop":
            del parent[last]
        elif change == "move":
            there = tree
            for key in known[draw(st.integers(0, len(known) - 1))]:
                there = there[key]
            parent[last] = _copied(there)
        elif isinstance(parent, list):
            parent.insert(int(last), _copied(parent[int(last)]))
        elif change == "key":
            parent[draw(st.sampled_from(TEXTS))] = parent.pop(last)
        else:
            parent[draw(st.sampled_from(TEXTS))] = _copied(parent[last])
    return tree
