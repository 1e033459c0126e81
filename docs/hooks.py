"""The hook of mkdocs: puts what is generated into the pages, and adds the pages that are generated as a whole.

A line of a page that is a comment asks for something:

    <!-- readme: Pipes -->        the section of the README under that heading
    <!-- made: platforms -->      what `MADE` makes of that name
    <!-- figure: one-slot -->     a figure of `site_parts.figures`

What is not there is an error, so that a build that ends has no holes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files
from site_parts import commands, figures, http_api, models, platforms, python_api, readme, rule_sets, workloads

HOMES = {
    "big-spaces-long-sweeps": "searching.md",
    "which-strategy": "searching.md#which-strategy",
    "in-a-browser": "browser.md",
    "in-a-build": "build.md",
    "pipes": "pipes.md",
    "several-ranks": "ranks.md",
    "measurements": "measuring.md",
    "calibration": "measuring.md#calibration",
    "how-sure": "measuring.md#how-sure",
    "from-a-script": "python.md",
    "how-it-works": "model.md",
    "how-close-how-fast": "accuracy.md",
    "built-in": "workloads/index.md",
    "from-the-shell": "start.md#from-the-shell",
}
"""The page of each section of the README that some section links to, by its anchor there."""

MADE: Mapping[str, Callable[[], str]] = {
    "accuracy": lambda: readme.between("<!-- validate -->", "<!-- /validate -->"),
    "commands": commands.page,
    "http-api": http_api.page,
    "latency-models": models.page,
    "platforms": platforms.overview,
    "python": python_api.page,
    "rule-sets": rule_sets.page,
    "workloads": workloads.overview,
}

PAGES: Mapping[str, tuple[Callable[[], list[str]], Callable[[str], str]]] = {
    "platforms": (platforms.names, platforms.page),
    "workloads": (workloads.names, workloads.page),
}
"""Folders of pages that are generated as a whole: the names of the pages, and the text of one."""

_WISH = re.compile(r"^<!-- (readme|made|figure): (.+?) -->$", re.MULTILINE)


def on_config(config: Any) -> Any:
    """List the generated pages below the page of their folder."""
    for entry in _groups(config.nav or []):
        for folder, (names, _) in PAGES.items():
            if f"{folder}/index.md" in entry:
                entry.extend(f"{folder}/{name}.md" for name in names())
    return config


def _groups(nav: list[Any]) -> list[list[Any]]:
    found = [nav]
    for entry in nav:
        if isinstance(entry, dict):
            for inner in entry.values():
                if isinstance(inner, list):
                    found += _groups(inner)
    return found


def on_files(files: Files, config: Any) -> Files:
    """Add the generated pages, the figures and plotly.js."""
    for folder, (names, text) in PAGES.items():
        for name in names():
            files.append(File.generated(config, f"{folder}/{name}.md", content=_made(folder, name, text)))
    for key in figures.FIGURES:
        files.append(File.generated(config, f"assets/figures/{key}.js", content=_script(key)))
    files.append(File.generated(config, "assets/plotly.min.js", content=_plotly()))
    return files


@cache
def _script(key: str) -> str:
    return figures.figure(key).script(key)


@cache
def _plotly() -> str:
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs())


_texts: dict[tuple[str, str], str] = {}


def _made(kind: str, name: str, make: Callable[[str], str]) -> str:
    if (kind, name) not in _texts:
        _texts[kind, name] = make(name)
    return _texts[kind, name]


@event_priority(-100)
def on_post_build(config: Any) -> None:
    """Put the index of the search into a script, too: a page that is opened as a file can read no other file."""
    folder = Path(config.site_dir) / "search"
    index = (folder / "search_index.json").read_text(encoding="utf-8")
    (folder / "search_index.js").write_text(f"var __index = {index}", encoding="utf-8")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Fulfil the wishes of a page."""

    def fulfilled(match: re.Match[str]) -> str:
        kind, name = match.groups()
        try:
            if kind == "readme":
                return readme.section(name, HOMES)
            if kind == "made":
                return _made(kind, name, lambda known: MADE[known]())
            return figures.figure(name).html(name)
        except KeyError as error:
            raise PluginError(f"{page.file.src_uri}: there is no {kind} {error}") from error
        except readme.ReadmeError as error:
            raise PluginError(f"{page.file.src_uri}: {error}") from error

    return _WISH.sub(fulfilled, markdown)
