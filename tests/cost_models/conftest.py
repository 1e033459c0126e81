"""Platforms and platform files for the tests of this room."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from cost_models import Platform, load_platform

# a busy machine must not fail a property that holds
settings.register_profile("no_deadline", deadline=None)
settings.load_profile("no_deadline")

HEAD = """
[platform]
name = "mine"
soc = "Ascend 910B2"
inherits = "ascend910b2"
description = "a file of the user"
"""

Write = Callable[..., Path]


@pytest.fixture(scope="session")
def b1() -> Platform:
    return load_platform("ascend910b1")


@pytest.fixture(scope="session")
def b2() -> Platform:
    return load_platform("ascend910b2")


@pytest.fixture(scope="session")
def b3() -> Platform:
    return load_platform("ascend910b3")


@pytest.fixture(scope="session")
def pr() -> Platform:
    return load_platform("ascend950pr")


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Write a platform file: `write(numbers)` below a sound head, `write(text, head="")` as it stands."""

    def _write(text: str, name: str = "mine.toml", head: str = HEAD) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(head + text, encoding="utf-8")
        return path

    return _write
