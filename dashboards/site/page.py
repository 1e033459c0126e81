"""What a page is, and how its callbacks are registered: each hands its work to a thread."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, quote, unquote, urlencode

if TYPE_CHECKING:
    from dash import Dash

    from dashboards.site.state import Site


@dataclass(frozen=True)
class Place:
    """Where the browser is: `args` are the parts of the path that the page's template names, `query` what stands behind
    the question mark (the last of a name that stands there twice)."""

    args: Mapping[str, str]
    query: Mapping[str, str]

    def text(self, name: str, default: str = "") -> str:
        """A value of the query."""
        return self.query.get(name, default)

    def choice(self, name: str, choices: Any, default: str) -> str:
        """A value of the query if it is one of `choices`, else `default`."""
        value = self.query.get(name, default)
        return value if value in choices else default

    def number(self, name: str, default: int | None = None) -> int | None:
        """A whole number of the query; what is none counts as not there."""
        value = self.query.get(name, "")
        return int(value) if value.isdecimal() and len(value) < 18 else default

    def names(self, name: str) -> list[str]:
        """A list of the query, separated by commas."""
        return [part for part in self.query.get(name, "").split(",") if part]


@dataclass(frozen=True)
class Page:
    """A page.

    Attributes:
        path: its address, with names for parts that vary: "/runs/{run}/configurations/{row}".
        title: of the browser's tab, and of the page where its layout gives none.
        layout: makes the page; runs in a thread. ValueError becomes a message on the page.
        callbacks: registers what the page does; called once.
        nav: its name in the navigation, "" for pages that are reached from others.
    """

    path: str
    title: str
    layout: Callable[[Site, Place], Any]
    callbacks: Callable[[Callbacks, Site], None]
    nav: str = ""

    def match(self, path: str) -> dict[str, str] | None:
        """The varying parts of `path`, None where it is not this page's."""
        wanted, given = self.path.strip("/").split("/"), path.strip("/").split("/")
        if len(wanted) != len(given):
            return None
        args = {}
        for pattern, part in zip(wanted, given, strict=True):
            if pattern.startswith("{"):
                args[pattern[1:-1]] = unquote(part)
            elif pattern != part:
                return None
        return args


def place(args: Mapping[str, str], search: str | None) -> Place:
    """The place of a path's parts and a query string."""
    found = parse_qs((search or "").removeprefix("?"), keep_blank_values=True)
    return Place(args, {name: values[-1] for name, values in found.items()})


def address(*parts: object, **query: object) -> str:
    """An address of this site: parts of the path, and what is not None behind the question mark."""
    path = "/" + "/".join(quote(str(part), safe="") for part in parts)
    pairs = [(name, ",".join(map(str, v)) if isinstance(v, (list, tuple)) else str(v)) for name, v in query.items()
             if v is not None and v != "" and v != []]  # fmt: skip
    return path + (f"?{urlencode(pairs)}" if pairs else "")


class Callbacks:
    """Registers callbacks of pages: plain functions, which run in a thread.

    A callback on the event loop would stop all other requests for as long as it takes. What a function raises as
    ValueError is shown as a notice on the page, and its outputs stay as they are.
    """

    def __init__(self, app: Dash) -> None:
        self._app = app

    def __call__(self, *parts: Any, **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """As `Dash.callback`, around a plain function."""

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            @wraps(function)
            async def threaded(*values: Any, **named: Any) -> Any:
                return await asyncio.to_thread(_guarded, function, values, named)

            self._app.callback(*parts, **options)(threaded)
            return function

        return register

    def client(self, source: str, *parts: Any, **options: Any) -> None:
        """As `Dash.clientside_callback`: `source` is `namespace.function` of the site's own script."""
        from dash import ClientsideFunction

        namespace, _, name = source.partition(".")
        app: Any = self._app
        app.clientside_callback(ClientsideFunction(namespace, name), *parts, **options)


def _guarded(function: Callable[..., Any], values: tuple[Any, ...], named: dict[str, Any]) -> Any:
    from dash import no_update, set_props
    from dash.exceptions import PreventUpdate

    try:
        return function(*values, **named)
    except PreventUpdate:
        raise
    except ValueError as error:
        set_props("notice", {"data": str(error)})
        return _nothing(no_update)
    except Exception:
        logging.getLogger("pto_tune.serve").exception("a page failed in %s", function.__qualname__)
        set_props("notice", {"data": "This part of the page failed; the server's messages say why."})
        return _nothing(no_update)


def _nothing(no_update: Any) -> Any:
    """Nothing for every output of the running callback."""
    from dash import ctx

    outputs = ctx.outputs_list
    if not isinstance(outputs, list):
        return no_update
    # an output of a pattern stands for as many as there are on the page
    return [[no_update] * len(one) if isinstance(one, list) else no_update for one in outputs]
