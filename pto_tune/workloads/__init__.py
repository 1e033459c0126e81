"""Built-in workloads, by name."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pto_tune.model.nodes import Workload

DEFAULT_PLATFORMS = {"": "ascend910b2", "a2a3": "ascend910b2", "a5": "ascend950pr"}
"""Platform of a workload by the family that it is written for, where none is named."""

_MODULES = (
    "flash_attention",
    "flash_attention_950",
    "paged_attention",
    "gemm",
    "matmul_epilogue",
    "dequant_matmul",
    "bidirectional",
    "stream",
    "tget_bandwidth",
    "tput_pingpong",
    "gemm_allreduce",
    "allgather_gemm",
    "moe_dispatch",
    "datacopy",
    "bulk_transfer",
)


def workload_names() -> list[str]:
    """Names of the built-in workloads."""
    return list(_MODULES)


def workload(name: str) -> Workload:
    """A built-in workload. ValueError names the known ones where there is no such workload."""
    if name not in _MODULES:
        from difflib import get_close_matches

        close = get_close_matches(name, _MODULES, 1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        raise ValueError(f"unknown workload {name!r}{hint}: choose one of {', '.join(_MODULES)}")
    built: Workload = import_module(f"pto_tune.workloads.{name}").build()
    return built


def default_platform(of: Workload) -> str:
    """The platform of a workload where none is named."""
    return DEFAULT_PLATFORMS[of.family]


def is_built_in(found: Workload) -> bool:
    """Whether a workload is one of these, unchanged."""
    return found.name in _MODULES and found == workload(found.name)
