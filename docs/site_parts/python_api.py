"""The page of Python: the public functions and classes of the packages, from their signatures and docstrings."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from site_parts.markdown import docstring, fenced

SIGNATURE = "py"
"""Language of a signature: highlighted as Python, and no example to run."""

_LONGEST = 92
"""Characters of a signature in one line."""

_WORDS = {
    "pto_tune": "What most scripts need. Each name is loaded at its first use.",
    "pto_tune.api": "What the functions above are made of, and plain data in place of tables.",
    "pto_tune.tuning": "Searches: to go on with one, and what comes out of it.",
    "pto_tune.explaining.explanation": "What `pto_tune.explain` gives.",
    "dashboards.notebook": "Figures and reports in a notebook.",
    "db": "The store of runs and measurements.",
    "cost_models": "Platforms: what the hardware costs.",
    "pto_tune.model.vocabulary": "The words that workloads are written with.",
    "pto_tune.model.vocabulary_remote": "The words for ranks: remote transfers and signals.",
    "pto_tune.model.expr": "Expressions over problem sizes and tunables.",
    "pto_tune.model.serial": "Workloads as JSON.",
}


def public() -> dict[str, list[str]]:
    """The documented names by module, each where it is first to be found."""
    import pto_tune
    from pto_tune import api, tuning

    seen: set[int] = set()
    found: dict[str, list[str]] = {}
    asked: dict[str, list[str]] = {
        "pto_tune": sorted(pto_tune._PUBLIC),
        "pto_tune.api": list(api.__all__),
        "pto_tune.tuning": list(tuning.__all__),
        "pto_tune.explaining.explanation": ["Explanation"],
        "dashboards.notebook": _own("dashboards.notebook"),
        "db": list(import_module("db").__all__),
        "cost_models": list(import_module("cost_models").__all__),
        **{f"pto_tune.model.{name}": _own(f"pto_tune.model.{name}") for name in _MODEL},
    }
    for module, names in asked.items():
        home = import_module(module)
        for name in names:
            value = getattr(home, name)
            if id(value) in seen or not callable(value):
                continue
            seen.add(id(value))
            found.setdefault(module, []).append(name)
    return found


_MODEL = ("vocabulary", "vocabulary_remote", "expr", "serial")


def _own(module: str) -> list[str]:
    """Public functions and classes that a module defines itself, as written."""
    home = import_module(module)
    return [
        name
        for name, value in vars(home).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == module and callable(value)
        and (inspect.isfunction(value) or inspect.isclass(value))
    ]  # fmt: skip


def page() -> str:
    """All of them, by module."""
    parts = []
    for module, names in public().items():
        parts += [f"## `{module}` {{ #{module} }}", _WORDS[module]]
        for name in names:
            parts += _entry(module, name, getattr(import_module(module), name))
    return "\n\n".join(part for part in parts if part)


def _entry(module: str, name: str, value: Any) -> Iterator[str]:
    yield f"### `{name}` {{ #{module}.{name} }}"
    yield fenced(_signature(name, value), SIGNATURE)
    if not (inspect.isclass(value) and (value.__doc__ or "").startswith(f"{name}(")):
        yield docstring(value.__doc__)
    if inspect.isclass(value):
        for member, thing in _members(value):
            yield f"#### `{name}.{member}` {{ #{module}.{name}.{member} }}"
            if callable(thing):
                yield fenced(_signature(member, thing), SIGNATURE)
            yield docstring(inspect.getdoc(thing))


def _members(value: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties that a class defines itself and says something about."""
    for name, thing in vars(value).items():
        if name.startswith("_"):
            continue
        plain = thing.__func__ if isinstance(thing, classmethod | staticmethod) else thing
        # `attrname` is a cached property's
        shown = inspect.isfunction(plain) or isinstance(plain, property) or hasattr(plain, "attrname")
        if shown and inspect.getdoc(plain):
            yield name, plain


def _signature(name: str, value: Any) -> str:
    if inspect.isclass(value) and issubclass(value, BaseException):
        return f"class {name}({value.__bases__[0].__name__})"
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return name
    if inspect.isclass(value) and dataclasses.is_dataclass(value):
        lines = [f"class {name}:"]
        for field in dataclasses.fields(value):
            if not field.name.startswith("_"):
                lines.append(f"    {field.name}: {_annotation(field.type)}")
        return "\n".join(lines)
    head = f"class {name}" if inspect.isclass(value) else f"def {name}"
    texts = [_parameter(p) for p in found.parameters.values()]
    texts = _with_stars(texts, list(found.parameters.values()))
    back = "" if found.return_annotation is inspect.Signature.empty or inspect.isclass(value) else (
        f" -> {_annotation(found.return_annotation)}"
    )  # fmt: skip
    line = f"{head}({', '.join(texts)}){back}"
    if len(line) <= _LONGEST:
        return line
    return f"{head}(\n" + "".join(f"    {text},\n" for text in texts) + f"){back}"


def _with_stars(texts: list[str], parameters: list[inspect.Parameter]) -> list[str]:
    """With the star that begins what is given by name alone."""
    kinds = [p.kind for p in parameters]
    if inspect.Parameter.KEYWORD_ONLY in kinds and inspect.Parameter.VAR_POSITIONAL not in kinds:
        at = kinds.index(inspect.Parameter.KEYWORD_ONLY)
        return [*texts[:at], "*", *texts[at:]]
    return texts


def _parameter(p: inspect.Parameter) -> str:
    stars: dict[Any, str] = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    text = f"{stars.get(p.kind, '')}{p.name}"
    if p.annotation is not inspect.Parameter.empty:
        text += f": {_annotation(p.annotation)}"
    if p.default is not inspect.Parameter.empty:
        text += f" = {_value(p.default)}"
    return text


def _annotation(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def _value(value: Any) -> str:
    shown = repr(value)
    return "..." if " at 0x" in shown or len(shown) > 40 else shown
