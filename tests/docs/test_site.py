"""The built site: whole, and without a request to another host."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

LOADS = {
    "script": "src",
    "link": "href",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "object": "data",
    "embed": "src",
    "form": "action",
    "base": "href",
}
"""What a page loads, or sends to, without being asked, by element."""

IN_CSS = re.compile(r"url\(\s*['\"]?([^'\")]+)|@import\s+['\"]([^'\"]+)")


class Page(HTMLParser):
    """What a page loads, where it links to, and which places of it have names."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.names: set[str] = set()
        self.in_style = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.in_style = tag == "style"
        if tag in LOADS and LOADS[tag] in given:
            self.loads.append(given[LOADS[tag]])
        self.loads += in_css(given.get("style", ""))
        self.loads += [part.split()[0] for part in given.get("srcset", "").split(",") if part.strip()]
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        self.names |= {given[name] for name in ("id", "name") if name in given}

    def handle_data(self, data: str) -> None:
        if self.in_style:
            self.loads += in_css(data)


def in_css(text: str) -> list[str]:
    return [a or b for a, b in IN_CSS.findall(text)]


def elsewhere(address: str) -> bool:
    parts = urlsplit(address)
    return bool(parts.netloc) or parts.scheme in ("http", "https", "ftp", "ws", "wss")


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path.read_text("utf-8")) for path in sorted(site.rglob("*.html"))}


def test_it_is_built_without_a_warning(site: Path) -> None:
    said = (site / "built.txt").read_text("utf-8")
    assert "Documentation built" in said
    assert "WARNING" not in said


def test_every_page_is_in_the_navigation(pages: dict[Path, Page], site: Path) -> None:
    linked = {(site / unquote(urlsplit(link).path)).resolve() for link in pages[site / "index.html"].links}
    for path in pages:
        if path.name != "404.html":
            assert path in linked, path


def test_no_page_loads_anything_from_another_host(pages: dict[Path, Page], site: Path) -> None:
    found = {str(path.relative_to(site)): [a for a in page.loads if elsewhere(a)] for path, page in pages.items()}
    assert {name: loads for name, loads in found.items() if loads} == {}
    assert all(page.loads for page in pages.values())


def test_no_style_loads_anything_from_another_host(site: Path) -> None:
    styles = list(site.rglob("*.css"))
    assert styles
    for path in styles:
        assert [a for a in in_css(path.read_text("utf-8")) if elsewhere(a)] == [], path


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://example.org/a.js"></script>',
        '<link rel="stylesheet" href="//example.org/a.css">',
        '<img src="http://example.org/a.png">',
        '<img srcset="a.png 1x, https://example.org/b.png 2x">',
        '<iframe src="https://example.org"></iframe>',
        "<style>a { background: url('https://example.org/a.png') }</style>",
        '<style>@import "https://example.org/a.css";</style>',
        '<p style="background: url(https://example.org/a.png)"></p>',
    ],
)
def test_the_search_for_other_hosts_finds_them(text: str) -> None:
    assert any(map(elsewhere, Page(text).loads))


def test_what_is_loaded_is_there(pages: dict[Path, Page]) -> None:
    for path, page in pages.items():
        if path.name == "404.html":  # its addresses begin at the root of a server
            continue
        for address in page.loads:
            if not address.startswith("data:"):
                assert (path.parent / unquote(urlsplit(address).path)).exists(), (path, address)


def test_every_link_leads_somewhere(pages: dict[Path, Page]) -> None:
    for path, page in pages.items():
        if path.name == "404.html":
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.netloc or parts.scheme:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path not in ("", ".") else path
            if target.is_dir():
                target = target / "index.html"
            assert target in pages, (path, link)
            if parts.fragment:
                assert unquote(parts.fragment) in pages[target].names, (path, link)


def test_every_figure_has_its_data_in_both_colours(site: Path) -> None:
    from site_parts.figures import FIGURES

    used = {
        key for path in site.rglob("*.html") for key in re.findall(r'data-figure="([\w-]+)"', path.read_text("utf-8"))
    }
    assert used == set(FIGURES)
    for key in used:
        script = (site / "assets" / "figures" / f"{key}.js").read_text("utf-8")
        assert script.startswith(f'(window.ptoFigures ??= {{}})["{key}"] = {{"light":')
        assert '"dark":{' in script
    assert (site / "assets" / "plotly.min.js").stat().st_size > 1_000_000


def test_no_wish_is_left(site: Path) -> None:
    for path in site.rglob("*.html"):
        assert not re.search(r"<!-- (readme|made|figure):", path.read_text("utf-8")), path
