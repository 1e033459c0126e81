"""What all pages have in common: the head with the navigation, the theme, the notice, and the way from an address to
its page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dashboards.site.page import place
from dashboards.site.parts import empty, html, link

if TYPE_CHECKING:
    from dashboards.site.page import Callbacks, Page
    from dashboards.site.state import Site

INDEX = """<!DOCTYPE html>
<html lang="en">
  <head>
    {%metas%}
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>{%title%}</title>
    {%favicon%}
    {%css%}
    <script>
      // before the first paint, so that no page flashes in the other theme
      let theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
      try { theme = localStorage.getItem("pto-tune-theme") || theme; } catch (e) { /* private window */ }
      document.documentElement.dataset.theme = theme;
    </script>
  </head>
  <body>
    {%app_entry%}
    <footer>{%config%}{%scripts%}{%renderer%}</footer>
  </body>
</html>"""


def shell(pages: Sequence[Page]) -> Any:
    """The layout around every page."""
    from dash import dcc

    h = html()
    links = [link(page.nav, page.path, id={"type": "nav", "path": page.path}) for page in pages if page.nav]
    return h.Div([
        dcc.Location(id="url", refresh="callback-nav"),
        dcc.Store(id="theme"),
        dcc.Store(id="notice"),
        dcc.Store(id="address-sink"),
        dcc.Store(id="title"),
        dcc.Store(id="title-sink"),
        h.A("Skip to the content", href="#page", className="skip"),
        h.Header([
            link("pto-tune", "/", className="brand"),
            h.Nav(links, **{"aria-label": "Pages"}),
            h.Button("Theme", id="theme-button", type="button", className="button quiet", n_clicks=0,
                     title="Switch between the light and the dark theme"),
        ]),
        h.Div(id="notice-bar", role="alert"),
        h.Main(id="page", tabIndex=-1, children=h.P("Loading …", className="note")),
    ])  # fmt: skip


def callbacks(on: Callbacks, site: Site, pages: Sequence[Page]) -> None:
    """The callbacks of the shell."""
    from dash import ALL, Input, Output, State

    @on(Output("page", "children"), Output("title", "data"), Input("url", "pathname"), Input("url", "search"))
    def show(path: str | None, search: str | None) -> tuple[Any, str]:
        return page_for(site, pages, path or "/", search)

    on.client("site.theme", Output("theme", "data"), Input("theme-button", "n_clicks"))
    on.client("site.title", Output("title-sink", "data"), Input("title", "data"))
    on.client(
        "site.nav", Output({"type": "nav", "path": ALL}, "className"), Input("url", "pathname"),
        State({"type": "nav", "path": ALL}, "id"),
    )  # fmt: skip
    on.client("site.address", Output("address-sink", "data"), Input({"type": "address", "page": ALL}, "data"))
    on.client(
        "site.notice", Output("notice-bar", "children"), Input("notice", "data"), Input("url", "pathname"),
    )  # fmt: skip


def page_for(site: Site, pages: Sequence[Page], path: str, search: str | None) -> tuple[Any, str]:
    """The page at an address and its title; a message where there is none or it cannot be made."""
    for page in pages:
        args = page.match(path)
        if args is not None:
            try:
                return page.layout(site, place(args, search)), f"{page.title} – pto-tune"
            except ValueError as error:
                h = html()
                return [h.H1(page.title), empty(str(error), link("All runs", "/"))], f"{page.title} – pto-tune"
    h = html()
    return [h.H1("No such page"), empty(f"There is no page at {path}.", link("All runs", "/"))], "No such page"
