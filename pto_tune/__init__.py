"""Performance analysis and autotuning of PTO pipes and kernels on Huawei Ascend NPUs, without a board.

The public functions (`evaluate`, `tune`, `explain`, `export`, ...) are loaded at their first use.
"""

from typing import Any

from pto_tune._rooms import check_loaded, guard

guard()

__version__ = "0.1.0"

RESULT_SCHEMA = 1
"""Of what programs read, the JSON of commands and exports; it grows when something changes its meaning or goes."""

_PUBLIC = {
    "evaluate": "pto_tune.api",
    "explain": "pto_tune.api",
    "export": "pto_tune.api",
    "load_platform": "pto_tune.api",
    "platform_names": "pto_tune.api",
    "tune": "pto_tune.api",
    "workload": "pto_tune.api",
    "workload_names": "pto_tune.api",
}


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module 'pto_tune' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_PUBLIC[name]), name)
    check_loaded()
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_PUBLIC})
