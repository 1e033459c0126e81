"""Renders one template, in a process of its own: this file is run by `pto_tune.exporters.template`, and imports nothing
of pto-tune.

Reads a JSON object from stdin (template, data, memory_bytes, cpu_seconds, most_characters) and writes one to stdout:
`text`, or `error` with `line` (null where it has no place in the template).
"""

from __future__ import annotations

import json
import shlex
import sys
import traceback
from typing import Any

NAME = "<template>"
FILTERS: dict[str, Any] = {
    "json": lambda value: json.dumps(value, ensure_ascii=False, sort_keys=True),
    "python": repr,
    "shell": lambda value: shlex.quote(str(value)),
    "c_string": lambda value: _c_string(str(value)),
}


def main() -> None:
    """Render what stdin asks for."""
    asked = json.load(sys.stdin)
    _limit(asked["memory_bytes"], asked["cpu_seconds"])
    json.dump(render(asked["template"], asked["data"], asked["most_characters"]), sys.stdout)


def render(source: str, data: dict[str, Any], most_characters: int) -> dict[str, Any]:
    """The text, or the error with its line."""
    from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(
        undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True, newline_sequence="\n"
    )
    environment.filters.update(FILTERS)
    try:
        code = environment.compile(source, name=NAME, filename=NAME)
        template = environment.template_class.from_code(environment, code, environment.make_globals(None))
        parts: list[str] = []
        length = 0
        for part in template.generate(**data):
            length += len(part)
            if length > most_characters:
                return {"error": f"makes more than {most_characters:,} characters", "line": None}
            parts.append(part)
        return {"text": "".join(parts)}
    except TemplateSyntaxError as error:
        return {"error": str(error.message), "line": error.lineno}
    except MemoryError:
        return {"error": "takes too much memory", "line": None}
    except (
        TemplateError,
        ArithmeticError,
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
        RecursionError,
        AssertionError,  # Jinja's own filters check their arguments so
    ) as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == NAME]
        text = " ".join(str(error).split()) or type(error).__name__
        return {"error": text, "line": lines[-1] if lines else None}


def _c_string(text: str) -> str:
    out = []
    for byte in text.encode():
        char = chr(byte)
        plain = 0x20 <= byte < 0x7F and char not in '"\\?'
        out.append(char if plain else f"\\{byte:03o}")
    return '"' + "".join(out) + '"'


def _limit(memory_bytes: int, cpu_seconds: int) -> None:
    try:
        import resource
    except ImportError:  # no such limits on this system; the parent still ends what takes long
        return
    resource.setrlimit(resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    resource.setrlimit(resource.RLIMIT_CPU, (cpu_seconds, cpu_seconds))


if __name__ == "__main__":
    main()
