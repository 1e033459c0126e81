"""Pieces that pages are made of; every text that comes from outside becomes plain text, never markup."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dashboards.theme import Theme, theme_named

GRAPH_CONFIG: Any = {
    "displaylogo": False,
    "responsive": True,
    "modeBarButtonsToRemove": ["lasso2d", "select2d", "autoScale2d"],
    "toImageButtonOptions": {"format": "svg"},
}


def html() -> Any:
    """The module of HTML components, imported when a page is made."""
    from dash import html as module

    return module


def card(title: str, *children: Any, note: Any = "", actions: Sequence[Any] = (), **more: Any) -> Any:
    """A section with a heading, a sentence on how to read it, and buttons at its right."""
    h = html()
    head = [h.H2(title), *([h.Div(list(actions), className="actions")] if actions else [])]
    body = [h.P(note, className="note")] if note else []
    return h.Section([h.Div(head, className="card-head"), *body, *children], **more)


def facts(pairs: Iterable[tuple[str, Any]]) -> Any:
    """A list of names and values."""
    h = html()
    return h.Dl([h.Div([h.Dt(name), h.Dd(value)]) for name, value in pairs], className="facts")


def link(text: Any, href: str, **more: Any) -> Any:
    """A link inside the site, without loading it anew."""
    from dash import dcc

    return dcc.Link(text, href=href, **more)


def download(text: str, href: str) -> Any:
    """A link to a file that the server makes."""
    return html().A(text, href=href, className="button", download="")


def graph(id: Any, label: str, figure: Any = None, height: int = 420, **more: Any) -> Any:
    """A figure; `label` says to screen readers what it shows. Its place has the figure's height before it is drawn."""
    from dash import dcc

    figures = {} if figure is None else {"figure": figure}
    return html().Div(
        dcc.Graph(id=id, config=GRAPH_CONFIG, responsive=True, style={"height": f"{height}px"}, **figures, **more),
        className="plot",
        role="group",
        **{"aria-label": label},
    )


def themed(name: str | None) -> Theme:
    """The theme of a page's figures; nothing is drawn before it is known."""
    from dash.exceptions import PreventUpdate

    if name is None:
        raise PreventUpdate
    return theme_named(name)


def style_of(figure: Any) -> dict[str, str]:
    """The style of a figure's place: as high as the figure asks for. `figure` is plotly's or the same as plain data."""
    return {"height": f"{figure['layout']['height']:.0f}px"}


def choice(id: Any, label: str, options: Sequence[Any], value: Any, **more: Any) -> Any:
    """A labelled menu. Options are values, or {"label": ..., "value": ...}. Its own page keeps no other state."""
    from dash import dcc

    h = html()
    key = id if isinstance(id, str) else "-".join(str(v) for v in id.values())
    return h.Div(
        [
            h.Label(label, htmlFor=key, id=f"{key}-label"),
            dcc.Dropdown(options=list(options), value=value, id=id, clearable=False, searchable=False,
                         **more),
        ],
        className="choice",
    )  # fmt: skip


def button(id: Any, text: str, **more: Any) -> Any:
    """A button."""
    return html().Button(text, id=id, type="button", n_clicks=0, **{"className": "button", **more})


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], numbers: Iterable[str] = (), label: str = "") -> Any:
    """A plain table that scrolls sideways where it is wide; columns in `numbers` are right-aligned."""
    h = html()
    right = set(numbers)
    names = ["number" if name in right else "" for name in columns]
    return h.Div(
        h.Table([
            h.Thead(h.Tr([h.Th(c, className=n, scope="col") for c, n in zip(columns, names, strict=True)])),
            h.Tbody([h.Tr([h.Td(v, className=n) for v, n in zip(row, names, strict=True)]) for row in rows]),
        ]),
        className="scroll", tabIndex=0, role="region", **{"aria-label": label or "table"},
    )  # fmt: skip


def empty(sentence: Any, *more: Any) -> Any:
    """What a page shows where there is nothing, and what to do."""
    h = html()
    return h.Div([h.P(sentence), *more], className="empty", role="status")


def code(text: str, copy: bool = True, label: str = "text to copy") -> Any:
    """A text as it is, with a button that copies it."""
    from dash import dcc

    h = html()
    body = [h.Pre(h.Code(text), tabIndex=0)]
    if copy:
        body.append(dcc.Clipboard(content=text, title=f"Copy {label}", className="copy"))
    return h.Div(body, className="code")


def state_store(page: str) -> Any:
    """Where a page puts what its address is to say: a mapping of query names to values. See `site.address` in the
    script; the id is {"type": "address", "page": page}."""
    from dash import dcc

    return dcc.Store(id={"type": "address", "page": page})


def query(values: Mapping[str, Any]) -> dict[str, str]:
    """What `state_store` takes: values that are not None or empty, lists joined by commas."""
    return {
        name: ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
        for name, value in values.items()
        if value is not None and value != "" and value != []
    }
