"""What a format cannot express of a recommendation: one sentence each, so that nothing is left out unsaid."""

from __future__ import annotations

from pto_tune.exporters.notes import switch_calls
from pto_tune.exporters.recommendation import Recommendation


def none(rec: Recommendation) -> list[str]:  # noqa: ARG001
    """Of formats that carry everything."""
    return []


def of_definitions(rec: Recommendation) -> list[str]:
    """A list of definitions has no comments, functions and types."""
    found = [f"run-time gates of TMPipe {pipe.name!r} (definitions are no calls)" for pipe in rec.pipes if pipe.gated]
    found += [
        f"switches of pipe {pipe.name!r} that the kernel turns off: {', '.join(switch_calls(pipe))} (definitions are "
        "no calls)"
        for pipe in rec.pipes
        if pipe.switches_off
    ]
    return [*found, *(f"a warning (definitions have no comments): {warning}" for warning in rec.warnings)]


def of_python(rec: Recommendation) -> list[str]:
    """The pipe operations of DSL kernels have no period, no gates and no switches."""
    found = [
        f"TMPipe {pipe.name!r} with FiFoDepth {pipe.slot_num} and FiFoSyncT {pipe.sync_period}: the pipes of DSL "
        "kernels take no period, which follows from slot_num"
        for pipe in rec.pipes
        if pipe.kind == "TMPipe"
    ]
    return found + [
        f"switches of pipe {pipe.name!r} that the kernel turns off: {', '.join(switch_calls(pipe))} (the pipes of DSL "
        "kernels have none)"
        for pipe in rec.pipes
        if pipe.switches_off
    ]
