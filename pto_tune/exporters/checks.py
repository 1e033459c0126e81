"""What must hold before a recommendation becomes a header: every fault in one sentence, all at once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from pto_tune.exporters.names import constant_name, include_guard, namespace_fault, pipe_prefix
from pto_tune.exporters.pipe_checks import pipe_faults
from pto_tune.exporters.recommendation import Recommendation
from pto_tune.exporters.values import INT64_MAX, UINT32_MAX, range_faults


class ExportError(ValueError):
    """A recommendation that cannot be exported, or a file that cannot be written; one fault a line."""


def faults(rec: Recommendation, namespace: str) -> list[str]:
    """Everything that forbids to write this recommendation as a header, one sentence each."""
    found: list[str] = []
    if rec.verdict != "ok":
        found.append(f"verdict is {rec.verdict!r}: only a configuration with verdict 'ok' can be exported")
    if (fault := namespace_fault(namespace)) is not None:
        found.append(f"namespace {namespace!r}: {fault}; a name such as 'pto_tune_config' would be right")
    if not (math.isfinite(rec.predicted_us) and rec.predicted_us >= 0):
        found.append(f"predicted_us is {rec.predicted_us!r}: a finite time of 0 or more would be right")
    found += _interval_faults(rec)
    found += range_faults("predicted_cycles", rec.predicted_cycles, 0, INT64_MAX)
    found += _constant_faults(rec, namespace)
    found += _name_faults("pipe", ((pipe.name, pipe_prefix(pipe.name)) for pipe in rec.pipes))
    return [*found, *pipe_faults(rec)]


def _interval_faults(rec: Recommendation) -> Iterator[str]:
    if rec.interval_us is None:
        return
    low, high = rec.interval_us
    if not (math.isfinite(high) and 0 <= low <= high):
        yield f"interval_us is {low!r} to {high!r}: finite times of 0 or more, the lower one first, would be right"
    yield from range_faults("samples", rec.samples, 1, INT64_MAX)


def _constant_faults(rec: Recommendation, namespace: str) -> Iterator[str]:
    yield from _name_faults("constant", ((name, constant_name(name)) for name in rec.constants))
    taken = {f"{pipe_prefix(pipe.name)}_EN_UNIT_FLAG": pipe.name for pipe in rec.pipes}
    for name, value in rec.constants.items():
        yield from range_faults(f"constant {name!r}", value, 0, UINT32_MAX)
        identifier = constant_name(name)
        if identifier == include_guard(namespace):
            yield f"constant {name!r}: that is the header's include guard; another name would be right"
        if identifier in taken:
            yield f"constant {name!r}: pipe {taken[identifier]!r} has {identifier}; another name would be right"


def _name_faults(what: str, names: Iterable[tuple[str, str | None]]) -> Iterator[str]:
    taken: dict[str, str] = {}
    for name, identifier in names:
        if identifier is None:
            yield (
                f"{what} name {name!r} does not give a C++ identifier that a program may define: ASCII "
                "letters, digits and single underscores, a letter first, no keyword and no standard macro "
                "would be right"
            )
        elif identifier in taken:
            yield f"{what} names {taken[identifier]!r} and {name!r} both become {identifier!r}: rename one"
        else:
            taken[identifier] = name
