"""The latency models with their assumptions and limits, from the docstrings of `cost_models`."""

from __future__ import annotations

import inspect
from importlib import import_module
from types import ModuleType

from site_parts.markdown import docstring, prose

MODULES = ("scalar", "dma", "cube", "fixpipe", "vector", "flags", "sharing", "link", "signals", "bulk", "launch")


def page() -> str:
    """A section for each module, a part for each function that gives a time or a capacity."""
    parts = []
    for name in MODULES:
        module = import_module(f"cost_models.{name}")
        parts += [f"### `{name}` {{ #model-{name} }}", f"{_head(module)}."]
        for function in functions(module):
            value = getattr(module, function)
            parts += [f"**`cost_models.{name}.{function}`**", docstring(value.__doc__)]
    return "\n\n".join(parts)


def functions(module: ModuleType) -> list[str]:
    """The functions of a module that state a model: those whose arguments or results have units."""
    return [
        name
        for name, value in vars(module).items()
        if inspect.isfunction(value)
        and value.__module__ == module.__name__
        and not name.startswith("_")
        and name.endswith(("_cycles", "_us", "_per_cycle", "_overlap"))
    ]


def _head(module: ModuleType) -> str:
    return prose((module.__doc__ or "").splitlines()[0].rstrip("."))
