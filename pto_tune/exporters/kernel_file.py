"""The `.pto` file that a workload was read from, with the values of a recommendation in it.

The file has to be the one that was analysed, by its SHA-256 (line ends are no change); what is patched in it is said by
`pto_tune.kernels.patching`. It carries no signature and no comments: every other byte is as it was.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pto_tune.exporters.checks import ExportError
from pto_tune.exporters.notes import switch_calls
from pto_tune.model.nodes import SPLITS
from pto_tune.rule_sets import rule_sets

if TYPE_CHECKING:
    from pto_tune.exporters.recommendation import PipeRecommendation, Recommendation
    from pto_tune.kernels.patching import Wanted
    from pto_tune.kernels.pipes import PipeOf

NO_SOURCE = "format pto: no kernel file is given: the one that was analysed, by --source KERNEL.pto, would be right"


def losses(rec: Recommendation) -> list[str]:
    """What no .pto file has: a SyncPeriod, gates, switches, the unit flag."""
    rules = next((r for r in rule_sets(rec.family) if r.name == rec.rule_set), None)
    found = []
    for pipe in rec.pipes:
        if pipe.kind == "TMPipe":
            found.append(f"that {pipe.name!r} is a TMPipe with FiFoSyncT {pipe.sync_period} (a .pto has no such pipes)")
        elif rules is not None and pipe.sync_period != rules.derived_period(pipe.slot_num):
            found.append(f"SyncPeriod {pipe.sync_period} of {pipe.name!r} (a .pto has none: it follows from slot_num)")
        if pipe.switches_off:
            found.append(f"switches of {pipe.name!r} that are off: {', '.join(switch_calls(pipe))} (a .pto has none)")
        if pipe.en_unit_flag:
            found.append(f"EN_UNIT_FLAG of {pipe.name!r} (a .pto has none)")
    return found


def losses_of_source(rec: Recommendation, raw: bytes | None, name: str) -> list[str]:
    """What the kernel needs beside the file: more room for its rings in global memory.

    Nothing where the file is not the right one, which `body` says.
    """
    from pto_tune.kernels.faults import KernelError
    from pto_tune.kernels.reading import read_kernel_bytes

    if raw is None:
        return []
    try:
        kernel = read_kernel_bytes(raw, name, "price", rec.family, rec.workload)
    except KernelError:
        return []
    found = []
    before = {pipe.name: pipe for pipe in kernel.pipes}
    for pipe in rec.pipes:
        rings = sum(way.ring == "GM" for way in pipe.ways)
        if pipe.name in before and rings:
            first = before[pipe.name].first
            old = rings * int(first.value("slot_num") or 0) * first.numbers["slot_size"]
            if pipe.gm_bytes > old:
                said = f"that the ring of {pipe.name!r} in global memory takes {pipe.gm_bytes} bytes a block instead of"
                why = "who launches the kernel allocates it, and the kernel says where the ring of a block begins"
                found.append(f"{said} {old} ({why})")
    return found


def body(rec: Recommendation, raw: bytes | None, name: str) -> str:
    """The text of the patched file. ExportError: it is not the file that was analysed, or cannot be patched."""
    from pto_tune.kernels.faults import KernelError
    from pto_tune.kernels.guards import decoded, fingerprint
    from pto_tune.kernels.patching import patch
    from pto_tune.kernels.reading import read_kernel_bytes

    if rec.source_sha256 is None:
        raise ExportError(
            f"format pto: workload {rec.workload!r} was read from no .pto file: a run of one that 'pto-tune import' or "
            "'pto-tune tune KERNEL.pto' has read would be right"
        )
    if raw is None:
        raise ExportError(NO_SOURCE)
    try:
        found = fingerprint(decoded(raw, name))
        if found != rec.source_sha256:
            raise ExportError(
                f"{name} is not the file that was analysed (sha256 {found[:12]} instead of {rec.source_sha256[:12]}): "
                "that one, or a new run of this one, would be right"
            )
        pipes = {pipe.name: pipe for pipe in read_kernel_bytes(raw, name, "price", rec.family, rec.workload).pipes}
        strange = [pipe.name for pipe in rec.pipes if pipe.name not in pipes]
        if strange:
            listed, known = ", ".join(map(repr, strange)), ", ".join(pipes) or "none"
            raise ExportError(f"{name} has no pipe {listed}: one of its own ({known}) would be right")
        wanted = {p.name: _wanted(p, pipes[p.name]) for p in rec.pipes}
        return patch(raw, name, rec.family, wanted, rec.workload).decode()
    except KernelError as error:
        raise ExportError(str(error)) from None


def _wanted(pipe: PipeRecommendation, of: PipeOf) -> Wanted:
    from pto_tune.kernels.patching import Wanted

    used = any(way.ring == "GM" for way in pipe.ways) and not of.global_data
    split = SPLITS.index(pipe.split.removeprefix("TILE_"))
    return Wanted(pipe.slot_num, pipe.local_slot_num if used else None, pipe.slot_bytes, split)
