"""Recommendations as a Python module with one dictionary, for kernels that are written in a DSL.

Pipes have the names of the attributes of PTO's pipe operations (dir_mask, slot_size, slot_num, local_slot_num,
flag_base, nosplit) beside the ISA's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from pto_tune.exporters.facts import comment, fact_lines, loss_lines, title
from pto_tune.exporters.names import constant_name
from pto_tune.exporters.recommendation import PipeRecommendation, Recommendation

DIR_MASKS = {"C2V": 1, "V2C": 2, "BOTH": 3}
"""dir_mask by the direction: a bit for each way."""


def body(recs: Sequence[Recommendation], left_out: Sequence[Sequence[str]]) -> str:
    """A module: CONFIGURATION is the first recommendation, CONFIGURATIONS has all. Nothing is imported or called."""
    out: list[str] = []
    for rec, losses in zip(recs, left_out, strict=True):
        out += [comment(title(rec)), "", *fact_lines(rec), *loss_lines(losses), ""]
    out = [f"# {line}".rstrip() for line in out]
    out += ["# The pipes of DSL kernels take no SyncPeriod: it follows from slot_num, as sync_period says.", ""]
    out += [f"CONFIGURATIONS = {_literal([_plain(rec) for rec in recs])}", "", "CONFIGURATION = CONFIGURATIONS[0]"]
    return "\n".join(out) + "\n"


def _plain(rec: Recommendation) -> dict[str, Any]:
    return {
        "workload": rec.workload,
        "platform": rec.platform,
        "rule_set": rec.rule_set,
        "problem": dict(sorted(rec.problem.items())),
        "tunables": dict(sorted(rec.configuration.items())),
        "constants": {constant_name(name) or name: int(value) for name, value in sorted(rec.constants.items())},
        "pipes": {pipe.name: _pipe(pipe) for pipe in rec.pipes},
        "predicted_us": float(rec.predicted_us),
        "warnings": list(rec.warnings),
    }


def _pipe(pipe: PipeRecommendation) -> dict[str, Any]:
    way = pipe.direction.removeprefix("DIR_").removesuffix("_GM")
    return {
        "kind": pipe.kind,
        "direction": pipe.direction,
        "dir_mask": DIR_MASKS[way],
        "in_gm": any(w.ring == "GM" for w in pipe.ways),
        "slot_size": pipe.slot_bytes,
        "slot_num": pipe.slot_num,
        "local_slot_num": pipe.local_slot_num,
        "flag_base": pipe.flag_id,
        "nosplit": pipe.is_no_split,
        "split": pipe.split,
        "sync_period": pipe.sync_period,
        "unit_flag": pipe.en_unit_flag,
        "gm_bytes": pipe.gm_bytes,
        "consumer_bytes": {w.name: w.consumer_bytes for w in pipe.ways},
        "tconfigs": [asdict(config) for config in pipe.configs],
    }


def _literal(value: Any, indent: str = "") -> str:
    """A value as Python writes it, an entry a line."""
    deeper = f"{indent}    "
    if isinstance(value, Mapping):
        lines = [f"{deeper}{_literal(key)}: {_literal(item, deeper)},\n" for key, item in value.items()]
        return "{\n" + "".join(lines) + f"{indent}}}" if lines else "{}"
    if isinstance(value, list):
        lines = [f"{deeper}{_literal(item, deeper)},\n" for item in value]
        return "[\n" + "".join(lines) + f"{indent}]" if lines else "[]"
    return repr(value)
