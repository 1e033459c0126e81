"""What the hardware costs: platforms as data and latency models as functions of arrays.

Knows no workload. The names below are loaded on first use, so that importing this package costs nothing.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cost_models.number import Number
    from cost_models.platform import Platform, load_platform, platform_names
    from cost_models.schema import PlatformError

__all__ = ["PTO_TUNE_ROOM", "Number", "Platform", "PlatformError", "load_platform", "platform_names"]

PTO_TUNE_ROOM = "cost_models"

_EXPORTS = {
    "Number": "cost_models.number",
    "Platform": "cost_models.platform",
    "PlatformError": "cost_models.schema",
    "load_platform": "cost_models.platform",
    "platform_names": "cost_models.platform",
}


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_EXPORTS[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
