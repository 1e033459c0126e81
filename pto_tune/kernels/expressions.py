"""Expressions anywhere in a part of a workload."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from pto_tune.model.expr import Expr, names_in


def uses(part: Any, name: str) -> bool:
    """Whether some expression of a part of a workload uses a name."""
    if isinstance(part, Expr):
        return name in names_in(part)
    if isinstance(part, tuple | list):
        return any(uses(p, name) for p in part)
    if is_dataclass(part) and not isinstance(part, type):
        return any(uses(getattr(part, f.name), name) for f in fields(part))
    return False
