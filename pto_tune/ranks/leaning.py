"""The published and the assumed numbers behind a run on several ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cost_models import link
from pto_tune.model.communication import Tget

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cost_models.platform import Platform
    from pto_tune.lowering.code import Code


def numbers_used(code: Code, platform: Platform, kinds: Sequence[str]) -> list[str]:
    """Keys of the link and signal numbers that a workload with ranks uses over these kinds of link."""
    assert code.ranks is not None
    used: dict[str, None] = {}
    for call in code.ranks.transfers:
        direction = "get" if isinstance(call.node, Tget) else "put"
        for kind in kinds:
            engine = "sdma" if call.node.asynchronous else "core"
            if engine in link.engines(platform, kind):
                used.update(dict.fromkeys(link.number_keys(platform, kind, direction, engine)))
        if call.node.atomic != "AtomicNone":
            used["link.atomic_factor"] = None
    if code.ranks.signal_calls.shape[0]:
        used.update(dict.fromkeys(key for key in platform if key.startswith("signal.")))
        used.update(dict.fromkeys(f"link.{kind}.put.latency" for kind in kinds))
    return list(used)


def assumed(code: Code, platform: Platform, kinds: Sequence[str]) -> list[str]:
    """Those of `numbers_used` that nothing published stands behind."""
    return [key for key in numbers_used(code, platform, kinds) if platform.numbers[key].kind == "assumed"]


def assumed_sentence(code: Code, platform: Platform, kinds: Sequence[str]) -> str:
    """One sentence about them, "" where there are none."""
    keys = assumed(code, platform, kinds)
    if not keys:
        return ""
    groups: dict[str, int] = {}
    for key in keys:
        group = key.rpartition(".")[0]
        groups[group] = groups.get(group, 0) + 1
    listed = ", ".join(f"{group} ({n})" for group, n in groups.items())
    return f"the times lean on {len(keys)} assumed numbers of links and signals: {listed}"
