"""Check tables of configurations and single values against a workload's problem sizes and tunables."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pto_tune.model.nodes import Parameter, Tunable, Workload


class TableError(ValueError):
    """A table or setting names something unknown, or has a value out of range."""


def unknown_name(workload: Workload, name: str) -> str:
    """The sentence for a name that is neither a problem size nor a tunable."""
    known = workload.parameter_names()
    close = get_close_matches(name, known, 1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    return f"{workload.name} has no problem size or tunable {name!r}{hint}: it has {', '.join(known)}"


def parameters(workload: Workload) -> tuple[Parameter | Tunable, ...]:
    """Problem sizes, then tunables, in order."""
    return (*workload.problem, *workload.tunables)


def parameter(workload: Workload, name: str) -> Parameter | Tunable:
    """The problem size or tunable of this name; TableError otherwise."""
    for p in parameters(workload):
        if p.name == name:
            return p
    raise TableError(unknown_name(workload, name))


def parse_value(p: Parameter | Tunable, text: str) -> int:
    """A value as a person writes it: an integer, or one of the labels (UP_DOWN)."""
    word = text.strip()
    for i, label in enumerate(p.labels):
        if label and word.upper() in (label.upper(), f"TILE_{label}".upper(), f"DIR_{label}".upper()):
            return i
    try:
        return int(word)
    except ValueError:
        labels = [label for label in p.labels if label]
        expected = f"an integer or one of {', '.join(labels)}" if labels else "an integer"
        raise TableError(f"{p.name}: {text!r} is not a value: expected {expected}") from None


def label(p: Parameter | Tunable, value: int) -> int | str:
    """The value as shown: its label where it has one."""
    if 0 <= value < len(p.labels) and p.labels[value]:
        return p.labels[value]
    return value


def check_values(workload: Workload, table: Mapping[str, Any]) -> tuple[dict[str, NDArray[np.int64]], int]:
    """Int64 columns for every problem size and tunable (defaults where the table has none) and the number of rows.

    Labels may stand for values. TableError lists everything that is wrong.
    """
    import numpy as np

    errors = [unknown_name(workload, str(n)) for n in table if n not in workload.parameter_names()]
    lengths = {n: np.shape(v)[0] for n, v in table.items() if np.ndim(v) == 1}
    n = max(lengths.values(), default=1)
    errors += [f"column {c!r} has {k} rows and another has {n}" for c, k in lengths.items() if k != n]
    out: dict[str, NDArray[np.int64]] = {}
    for p in parameters(workload):
        raw = table.get(p.name, p.default)
        try:
            column = _integers(p, raw)
        except TableError as e:
            errors.append(str(e))
            continue
        bad = (column < p.minimum) | (column > p.maximum)
        if bad.any():
            value = int(np.atleast_1d(column)[np.atleast_1d(bad)][0])
            errors.append(f"{p.name} = {value} is out of range: expected {p.minimum} to {p.maximum}")
        if not errors:
            out[p.name] = np.broadcast_to(column, n).astype(np.int64)
    if errors:
        raise TableError("\n".join(errors))
    return out, n


def _integers(p: Parameter | Tunable, raw: Any) -> NDArray[np.int64]:
    import numpy as np

    a = np.asarray(raw, dtype=object if isinstance(raw, int | str) and not isinstance(raw, bool) else None)
    if a.dtype == bool:
        return a.astype(np.int64)
    if a.dtype.kind == "i" or (a.dtype.kind == "u" and a.dtype.itemsize < 8):
        return a.astype(np.int64)
    if a.dtype.kind == "u":
        a = a.astype(object)
    if a.dtype.kind == "f":
        if not np.isfinite(a).all() or (a != np.floor(a)).any() or (np.abs(a) > 2**53).any():
            raise TableError(f"{p.name}: expected integers, not {a.ravel()[:3].tolist()}")
        return a.astype(np.int64)
    values = [v if isinstance(v, int) else parse_value(p, str(v)) for v in a.ravel()]
    for v in values:
        if not p.minimum <= v <= p.maximum:  # before it has to fit into 64 bits
            raise TableError(f"{p.name} = {v} is out of range: expected {p.minimum} to {p.maximum}")
    return np.array(values, dtype=np.int64).reshape(a.shape)
