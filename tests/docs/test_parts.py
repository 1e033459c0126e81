"""What the pages are made of: sections of the README, texts as Markdown, and wishes that cannot be fulfilled."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from html import unescape
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from site_parts import markdown, readme


def test_a_section_ends_at_the_next_heading_of_its_level() -> None:
    text = "# Title\nfirst\n## A\none\n### A1\ntwo\n```\n## no heading\n```\n## B\nthree\n"
    assert readme.sections(text) == {"A": "one\n### A1\ntwo\n```\n## no heading\n```", "B": "three"}


def test_an_unknown_section_is_named_with_those_that_there_are() -> None:
    with pytest.raises(readme.ReadmeError, match=r"no section 'Pumps': it has .*Pipes"):
        readme.section("Pumps", {})


def test_a_link_between_sections_becomes_one_between_pages() -> None:
    assert "](browser.md)" in readme.section("Quick start", {"in-a-browser": "browser.md"})
    with pytest.raises(readme.ReadmeError, match="#in-a-browser is on no page"):
        readme.section("Quick start", {})


def test_characters_of_a_sentence_mean_nothing_to_markdown() -> None:
    import markdown as library

    sentence = "a_b_c *x* [y](z) <b> & {#id} | ~~t~~ `f(*a)` \\n ^2"
    shown = library.markdown(markdown.prose(sentence), extensions=["attr_list", "tables"])
    assert unescape(shown) == f"<p>{sentence.replace('`f(*a)`', '<code>f(*a)</code>')}</p>"
    assert "<b>" not in shown


def test_a_docstring_keeps_its_parts() -> None:
    text = """First line.

    Second
    paragraph.

    Args:
        a: one
            and more.
        b, c: two.

    Raises:
        ValueError: never.

        code()
    """
    assert markdown.docstring(text).split("\n\n") == [
        "First line.",
        "Second paragraph.",
        "**Args**",
        "- `a`: one and more.\n- `b, c`: two.",
        "**Raises**",
        "- `ValueError`: never.",
        "```text\ncode()\n```",
    ]


def test_the_help_of_a_command_keeps_the_lines_of_its_examples() -> None:
    from site_parts.commands import help_text

    shown = help_text("Do it\nnow.\n\n\b\nExample:\n  pto-tune a\n  pto-tune b\n\nExit code 1: no.")
    assert shown == "Do it now.\n\n**Example**\n\n```text\npto-tune a\npto-tune b\n```\n\nExit code 1: no."


def hooks(docs: Path) -> Any:
    spec = spec_from_file_location("docs_hooks", docs / "hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("wish", "said"),
    [
        ("<!-- readme: Pumps -->", "no section 'Pumps'"),
        ("<!-- made: nothing -->", "there is no made 'nothing'"),
        ("<!-- figure: nothing -->", "there is no figure 'nothing'"),
    ],
)
def test_a_page_that_asks_for_what_is_not_there_ends_the_build(wish: str, said: str, docs: Path) -> None:
    from mkdocs.exceptions import PluginError

    page = SimpleNamespace(file=SimpleNamespace(src_uri="page.md"))
    with pytest.raises(PluginError, match=f"page.md: .*{said}"):
        hooks(docs).on_page_markdown(f"# Page\n\n{wish}\n", page)


@pytest.mark.parametrize("link", ["[x](nowhere.md)", "[x](#nowhere)", "[x](/absolute.html)"])
def test_a_link_to_nowhere_ends_the_build(
    link: str, docs: Path, builder: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    """With the settings of the site, over one page of which nothing is generated."""
    shutil.copytree(docs / "pages" / "assets", tmp_path / "pages" / "assets")
    (tmp_path / "pages" / "index.md").write_text(f"# Page\n\n{link}\n", encoding="utf-8")
    config = (docs / "mkdocs.yml").read_text("utf-8").partition("\nnav:")[0]
    (tmp_path / "mkdocs.yml").write_text(config.replace("hooks:\n  - hooks.py\n", ""), encoding="utf-8")
    done = builder(tmp_path / "site", tmp_path / "mkdocs.yml")
    assert done.returncode == 1
    assert done.stderr.count("WARNING") == 1
