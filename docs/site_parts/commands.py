"""The page of the command line: every command with its options, from the commands themselves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from site_parts.markdown import code, fenced, prose, table

PREFORMATTED = "\b"
"""The line that the parser takes as: what follows keeps its lines."""


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command and group of commands with the words that call it, in the order of the help."""
    names = group.list_commands(None) if not path else list(group.commands)
    for name in names:
        command = group.commands[name]
        if getattr(command, "hidden", False):
            continue
        yield (*path, name), command
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))


def page() -> str:
    """All commands. A command of another package that cannot be loaded is not among them."""
    import typer

    from pto_tune.cli.main import build_app

    root = typer.main.get_command(build_app())
    found = list(commands(root))
    tops = [(path[0], command) for path, command in found if len(path) == 1]
    rows = [(f"[{code(f'pto-tune {name}')}](#{name})", prose(_short(command))) for name, command in tops]
    parts = [help_text(root.help), _parameters(root, ("pto-tune",)), "## All commands"]
    parts.append(table(("command", "what it does"), rows))
    for path, command in found:
        words = " ".join(path)
        level = "#" * (len(path) + 1)
        parts.append(f"{level} `pto-tune {words}` {{ #{'-'.join(path)} }}")
        parts.append(help_text(command.help))
        parts.append(_parameters(command, ("pto-tune", *path)))
    return "\n\n".join(part for part in parts if part)


def _short(command: Any) -> str:
    return str(command.short_help or str(command.help).splitlines()[0])


def help_text(text: str | None) -> str:
    """The help of a command: paragraphs, and what keeps its lines as code below its first line."""
    out = []
    for paragraph in re.split(r"\n\s*\n", (text or "").strip()):
        lines = [line for line in paragraph.splitlines() if line.strip()]
        if lines and lines[0].strip() == PREFORMATTED:
            title, *rest = lines[1:]
            out += [f"**{prose(title.strip().rstrip(':'))}**"] if rest else [prose(title.strip())]
            out += [fenced("\n".join(line.strip() for line in rest))] if rest else []
        elif lines:
            out.append(prose(" ".join(line.strip() for line in lines)))
    return "\n\n".join(out)


def _parameters(command: Any, path: tuple[str, ...]) -> str:
    """Arguments and options as the help shows them. Those that every command has (--help) are left out."""
    context = command.context_class(command, info_name=" ".join(path))
    rows = []
    for parameter in command.params:
        record = parameter.get_help_record(context)
        if record is not None:
            names, words = record
            # the help puts default and range behind two spaces, in brackets
            words, _, more = words.partition("  [")
            rows.append((_spelled(names), prose(words), prose(more.removesuffix("]").replace("default: ", ""))))
    return table(("argument or option", "what it is", "default and range"), rows)


def _spelled(names: str) -> str:
    """The spellings of an option with what it takes, each as code; an argument has its name alone."""
    if not names.startswith("-"):
        names = names.partition(" <")[0]
    return ", ".join(code(name.strip()) for name in names.split(", "))
