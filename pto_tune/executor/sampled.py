"""Columns of the same configurations on several platforms, side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cost_models.platform import Platform
from cost_models.sharing import RESOURCES, capacity_bytes_per_cycle
from pto_tune.lowering.columns import Columns, columns_of

if TYPE_CHECKING:
    from pto_tune.lowering.code import Code


class Stacked(Platform):
    """Several platforms as one: a number in which they differ is a column with a value a lane, `lanes` to a platform.

    Latency models are array functions of sizes, and those whose numbers are used the same way are array functions of
    these too. One that needs a plain number raises TypeError or ValueError for a column.
    """

    columns: Mapping[str, Any]

    @classmethod
    def of(cls, platforms: Sequence[Platform], lanes: int) -> Stacked:
        p = platforms[0]
        out = cls(p.name, p.family, p.soc, p.description, p.numbers, p.source_path)
        columns = {}
        for key in p:
            values = np.array([q[key] for q in platforms], dtype=np.float64)
            if (values != values[0]).any():
                columns[key] = np.repeat(values, lanes)
        object.__setattr__(out, "columns", columns)
        return out

    def __getitem__(self, key: str) -> Any:
        return self.columns[key] if key in self.columns else super().__getitem__(key)


def sampled_columns(code: Code, platforms: Sequence[Platform], env: Mapping[str, Any], lanes: int) -> Columns:
    """Columns of `lanes` lanes on each platform: lane s * lanes + i is lane i on platform s; `env` has them all.

    Bytes are scaled to the capacities of the first platform, so that demand over capacity is each platform's own, to
    half a byte an instruction.
    """
    if len(platforms) == 1:
        return columns_of(code, platforms[0], env, lanes)
    try:
        out = columns_of(code, Stacked.of(platforms, lanes), env, lanes * len(platforms), each_row=True)
    except (TypeError, ValueError):
        out = _one_by_one(code, platforms, env, lanes)
    capacity = np.array([[capacity_bytes_per_cycle(p, r) for r in RESOURCES] for p in platforms], dtype=np.float64)
    scale = np.repeat((capacity[0] / capacity).T, lanes, axis=1)
    return replace(out, kinds_bytes=np.rint(out.kinds_bytes * scale[:, None, :]).astype(np.int64))


def _one_by_one(code: Code, platforms: Sequence[Platform], env: Mapping[str, Any], lanes: int) -> Columns:
    own = {name: (c[:lanes] if np.ndim(c) else c) for name, c in env.items()}
    parts = [columns_of(code, p, own, lanes) for p in platforms]
    return Columns(
        structure=np.concatenate([c.structure for c in parts]),
        kinds=np.concatenate([c.durations for c in parts], axis=1),
        kinds_bytes=np.concatenate([c.bytes for c in parts], axis=2),
        pipe=parts[0].pipe,
    )
