"""The callbacks of a page as plain functions, without an application."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dashboards.site.page import Page
from dashboards.site.state import Site


def calls_of(page: Page, site: Site) -> dict[str, Callable[..., Any]]:
    """The page's callbacks by name; the first of a name."""
    found: dict[str, Callable[..., Any]] = {}

    class Calls:
        def __call__(self, *_: Any, **__: Any) -> Callable[..., Any]:
            return lambda function: found.setdefault(function.__name__, function)

    page.callbacks(Calls(), site)  # type: ignore[arg-type]
    return found
